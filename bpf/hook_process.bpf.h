/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Processes of a stock emulator: events of their births and ends, of messages, of schedulers, of collections and
 * copies.
 * Source: erts/emulator/beam/erl_process.c, erl_message.c, erl_proc_sig_queue.c, erl_gc.c and copy.c of OTP.
 */
#ifndef BPF_HOOK_PROCESS_BPF_H
#define BPF_HOOK_PROCESS_BPF_H

#include "hook.bpf.h"

/* The spawns that threads are in the middle of, by pid and tgid. */
struct {
    __uint(type, BPF_MAP_TYPE_HASH);
    __uint(max_entries, 4096);
    __uint(map_flags, BPF_F_NO_PREALLOC);
    __type(key, hook_thread);
    __type(value, struct otp_call);
} spawning SEC(".maps");

/* erl_create_process(parent, module, function, arguments, options) */
SEC("uprobe")
int at_process__spawn(struct pt_regs *ctx)
{
    struct otp_call call = {FIXES_CTX_LOAD(ctx, si), FIXES_CTX_LOAD(ctx, dx), 0};
    __u64 thread = bpf_get_current_pid_tgid();
    const struct otp_layout *layout = hook_layout(ctx);

    if (!layout)
        return 0;
    otp_call_translate(layout, &call, FIXES_CTX_LOAD(ctx, cx));
    if (bpf_map_update_elem(&spawning, &thread, &call, BPF_ANY))
        probe_lose(LOSS_MAP_FULL);
    return 0;
}

/* Returns a pid, or 0 when the process could not be made. */
SEC("uprobe")
int ret_process__spawn(struct pt_regs *ctx)
{
    __u64 term = FIXES_CTX_LOAD(ctx, ax), thread = bpf_get_current_pid_tgid();
    struct otp_call call = {WIRE_NO_ATOM << 6, WIRE_NO_ATOM << 6, OTP_MAX_ARITY}, *kept;
    const struct otp_layout *layout = otp_layout_of(ctx);
    struct ev_process__spawn ev;
    struct wire_pid pid = {0};

    kept = bpf_map_lookup_elem(&spawning, &thread);
    if (kept) {
        call = *kept;
        bpf_map_delete_elem(&spawning, &thread);
    }
    if (!probe_runs || !term || !layout || otp_decode_pid(layout, term, &pid))
        return 0;
    view_begin(&ev.head, layout->vm);
    ev.pid = ev_id_of_pid(pid.id, pid.serial);
    ev.mfa = hook_mfa(&call);
    tell_process__spawn(&ev);
    return 0;
}

/* erts_continue_exit_process(process), which comes again for a process that has much to clean up. */
SEC("uprobe")
int at_process__exit(struct pt_regs *ctx)
{
    const struct otp_layout *layout = hook_layout(ctx);
    __u64 process = FIXES_CTX_LOAD(ctx, di);
    struct ev_process__exit ev = {.reason = 0}; /* what is read goes through the reason's place: the stack is small */

    if (!layout)
        return 0;
    if (otp_read(layout, process, OTP_PROC_TERMINATE, &ev.reason, sizeof ev.reason) || ev.reason ||
        hook_pid(layout, process, &ev.pid) ||
        otp_read(layout, process, OTP_PROC_FVALUE, &ev.reason, sizeof ev.reason))
        return 0;
    bpf_map_delete_elem(&in_dirty, &(struct hook_away){layout->vm, ev.pid});
    view_begin(&ev.head, layout->vm);
    ev.head.where = hook_where(ctx, process);
    ev.reason = HOOK_WANTS(process__exit, reason) ? hook_term(layout, ev.reason) & ~EV_LATER_TERM : 0;
    tell_process__exit(ctx, &ev);
    return 0;
}

/*
 * erts_send_message(sender, receiver, locks, message), and which 1: erts_proc_sig_send_to_alias(sender, from, to,
 * message, token)
 */
SEC("uprobe")
int at_message__send(struct pt_regs *ctx)
{
    const struct otp_layout *layout = hook_layout(ctx);
    __u64 process = FIXES_CTX_LOAD(ctx, si);
    struct ev_message__send ev;
    __u32 state, runs;

    if (!layout)
        return 0;
    if (otp_which(ctx))
        process = otp_find_alias(layout, FIXES_CTX_LOAD(ctx, dx));
    if (!process || otp_read(layout, process, OTP_PROC_STATE, &state, sizeof state))
        return 0;
    view_begin(&ev.head, layout->vm);
    runs = (state >> (layout->off[OTP_STATE_RUNNING] & 31) | state >> (layout->off[OTP_STATE_DIRTY] & 31)) & 1;
    ev.head.tells = EV_TELLS_RUNNING | (runs ? EV_RUNS : 0);
    ev.head.where = hook_where(ctx, process);
    ev.words = EV_NO_WORDS; /* without a walk through it */
    if (hook_pid(layout, process, &ev.receiver))
        return 0;
    tell_message__send(&ev);
    return 0;
}

/* erts_schedule returns the process that is to run. */
SEC("uprobe")
int out_process__scheduled(struct pt_regs *ctx)
{
    const struct otp_layout *layout = hook_layout(ctx);
    __u64 process = otp_result(ctx);
    struct ev_process__scheduled ev;

    if (!layout || hook_pid(layout, process, &ev.pid))
        return 0;
    view_begin(&ev.head, layout->vm);
    ev.head.tells = EV_TELLS_RUNNING;
    ev.head.where = hook_where(ctx, process);
    ev.mfa = view_later_resume(process, bpf_get_attach_cookie(ctx));
    tell_process__scheduled(&ev);
    return 0;
}

/* erts_schedule(scheduler, process, calls): no process when the scheduler ran none. */
SEC("uprobe")
int at_process__unscheduled(struct pt_regs *ctx)
{
    const struct otp_layout *layout = hook_layout(ctx);
    __u64 process = FIXES_CTX_LOAD(ctx, si);
    struct ev_process__unscheduled ev;

    if (!layout || !process || hook_pid(layout, process, &ev.pid))
        return 0;
    view_begin(&ev.head, layout->vm);
    ev.head.where = hook_where(ctx, process);
    tell_process__unscheduled(&ev);
    return 0;
}

/* ---- collections */

/* One that a thread is in. */
struct hook_collection {
    __u64 process, words; /* in use when it began */
};

struct {
    __uint(type, BPF_MAP_TYPE_HASH);
    __uint(max_entries, 4096);
    __uint(map_flags, BPF_F_NO_PREALLOC);
    __type(key, hook_thread);
    __type(value, struct hook_collection);
} collecting SEC(".maps");

/* What the heaps of a process hold, in words: what other processes sent stands beside them. */
static __always_inline int hook_heap(const struct otp_layout *layout, __u64 process, struct hook_collection *out)
{
    __u64 heap, top, old, old_top;

    if (otp_read(layout, process, OTP_PROC_HEAP, &heap, sizeof heap) ||
        otp_read(layout, process, OTP_PROC_HTOP, &top, sizeof top) ||
        otp_read(layout, process, OTP_PROC_OLD_HEAP, &old, sizeof old) ||
        otp_read(layout, process, OTP_PROC_OLD_HTOP, &old_top, sizeof old_top))
        return -1;
    out->process = process;
    out->words = (top - heap) / 8 + (old_top - old) / 8;
    return 0;
}

/* garbage_collect(process, ...): of which kind it is shows at its end. */
SEC("uprobe")
int at_gc_minor__start(struct pt_regs *ctx)
{
    __u64 process = FIXES_CTX_LOAD(ctx, di), thread = bpf_get_current_pid_tgid();
    const struct otp_layout *layout = hook_layout(ctx);
    struct hook_collection now;
    struct ev_gc_minor__start ev;

    if (!layout || hook_pid(layout, process, &ev.pid) || hook_heap(layout, process, &now))
        return 0;
    if (bpf_map_update_elem(&collecting, &thread, &now, BPF_ANY))
        probe_lose(LOSS_MAP_FULL);
    view_begin(&ev.head, layout->vm);
    ev.head.where = hook_where(ctx, process);
    ev.needed_words = 0;
    tell_gc_minor__start(&ev);
    return 0;
}

/* Of which kind it was shows in how many young ones there were since the last full one. */
SEC("uprobe")
int ret_gc_minor__end(struct pt_regs *ctx)
{
    __u64 thread = bpf_get_current_pid_tgid();
    const struct otp_layout *layout = otp_layout_of(ctx);
    struct hook_collection before, now, *kept = bpf_map_lookup_elem(&collecting, &thread);
    struct ev_gc_minor__end ev;
    __u16 young;

    if (!kept)
        return 0;
    before = *kept;
    bpf_map_delete_elem(&collecting, &thread);
    if (!probe_runs || !layout || hook_pid(layout, before.process, &ev.pid) ||
        hook_heap(layout, before.process, &now) ||
        otp_read(layout, before.process, OTP_PROC_GEN_GCS, &young, sizeof young))
        return 0;
    view_begin(&ev.head, layout->vm);
    ev.head.where = hook_where(ctx, before.process);
    ev.reclaimed_words = before.words > now.words ? before.words - now.words : 0;
    if (!young)
        tell_gc_major__end((const struct ev_gc_major__end *)&ev);
    else
        tell_gc_minor__end(&ev);
    return 0;
}

/* ---- heaps: of which size each is before a collection and behind it, the young one alone */

struct hook_resize {
    __u64 process, words;
};

struct {
    __uint(type, BPF_MAP_TYPE_HASH);
    __uint(max_entries, 4096);
    __uint(map_flags, BPF_F_NO_PREALLOC);
    __type(key, hook_thread);
    __type(value, struct hook_resize);
} resizing SEC(".maps");

/* garbage_collect(process, ...) */
SEC("uprobe")
int at_process__heap_grow(struct pt_regs *ctx)
{
    struct hook_resize now = {.process = FIXES_CTX_LOAD(ctx, di)};
    const struct otp_layout *layout = hook_layout(ctx);
    hook_thread thread = bpf_get_current_pid_tgid();

    if (!layout || otp_read(layout, now.process, OTP_PROC_HEAP_SZ, &now.words, sizeof now.words))
        return 0;
    if (bpf_map_update_elem(&resizing, &thread, &now, BPF_ANY))
        probe_lose(LOSS_MAP_FULL);
    return 0;
}

/* Which of the two it is shows here. */
SEC("uprobe")
int ret_process__heap_grow(struct pt_regs *ctx)
{
    hook_thread thread = bpf_get_current_pid_tgid();
    const struct otp_layout *layout = otp_layout_of(ctx);
    struct hook_resize before, *kept = bpf_map_lookup_elem(&resizing, &thread);
    struct ev_process__heap_grow ev;

    if (!kept)
        return 0;
    before = *kept;
    bpf_map_delete_elem(&resizing, &thread);
    if (!probe_runs || !layout || hook_pid(layout, before.process, &ev.pid) ||
        otp_read(layout, before.process, OTP_PROC_HEAP_SZ, &ev.new_words, sizeof ev.new_words))
        return 0;
    view_begin(&ev.head, layout->vm);
    ev.head.where = hook_where(ctx, before.process);
    ev.old_words = before.words;
    if (ev.new_words > ev.old_words)
        tell_process__heap_grow(&ev);
    else if (ev.new_words < ev.old_words)
        tell_process__heap_shrink((const struct ev_process__heap_shrink *)&ev);
    return 0;
}

/* ---- copies */

/* Who began to send on a thread, until what it sends is copied: the address of its process. */
struct {
    __uint(type, BPF_MAP_TYPE_HASH);
    __uint(max_entries, 4096);
    __uint(map_flags, BPF_F_NO_PREALLOC);
    __type(key, hook_thread);
    __type(value, __u64);
} copying SEC(".maps");

/*
 * The process that sends what this thread copies; 0: nobody does. A send to an alias that is not there any more copies
 * nothing: who began it is believed only while it runs, for then the next copy of its thread is its own, too.
 */
static __always_inline __u64 hook_copies_for(const struct otp_layout *layout)
{
    hook_thread thread = bpf_get_current_pid_tgid();
    __u64 *kept = bpf_map_lookup_elem(&copying, &thread), process;
    __u32 state;

    if (!kept)
        return 0;
    process = *kept;
    bpf_map_delete_elem(&copying, &thread);
    if (otp_read(layout, process, OTP_PROC_STATE, &state, sizeof state))
        return 0;
    return (state >> (layout->off[OTP_STATE_RUNNING] & 31) | state >> (layout->off[OTP_STATE_DIRTY] & 31)) & 1 ? process
                                                                                                               : 0;
}

/*
 * copy_struct_x(term, words, ...), of no words when all of it is constants; which 1: erts_send_message(sender,
 * receiver, locks, message) and erts_proc_sig_send_to_alias(sender, from, to, message, token), which copy the message
 * next unless it is one word.
 */
SEC("uprobe")
int at_copy__struct(struct pt_regs *ctx)
{
    const struct otp_layout *layout = hook_layout(ctx);
    hook_thread thread = bpf_get_current_pid_tgid();
    struct ev_copy__struct ev;
    __u64 process;

    if (!layout)
        return 0;
    if (otp_which(ctx)) {
        process = FIXES_CTX_LOAD(ctx, di);
        if (process && (FIXES_CTX_LOAD(ctx, cx) & 3) != OTP_TAG_IMMEDIATE)
            bpf_map_update_elem(&copying, &thread, &process, BPF_ANY);
        return 0;
    }
    process = hook_copies_for(layout);
    ev.words = FIXES_CTX_LOAD(ctx, si);
    if (!ev.words)
        return 0;
    view_begin(&ev.head, layout->vm);
    ev.head.where = process ? hook_where(ctx, process) : 0;
    tell_copy__struct(&ev);
    return 0;
}

#endif
