/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Code of a stock emulator, as events: who asks the code server for modules, what is loaded and purged. Who asks is
 * known by code_server:call/1, which watches the server, sends it a request, {What, Module}, and when it has the
 * answer, {code_server, error} or {code_server, {error, Why}} of what was not found, watches it no longer. Each stands
 * in its frame then, the second answer maybe without what is around it (vm/code/lookup.h).
 * Source: code_server.erl of OTP's kernel; erts_code_purger.erl of its preloaded modules;
 * erts/emulator/beam/beam_bif_load.c and beam_load.c of OTP.
 */
#ifndef BPF_HOOK_CODE_BPF_H
#define BPF_HOOK_CODE_BPF_H

#include "hook.bpf.h"

enum { CODE_FRAME_WORDS = 6 /* in which the request and the answer stand */, CODE_PAIR = 2 << 6 };

/* Who asks, and for which module: an index. What is killed meanwhile leaves its place when others need it. */
struct {
    __uint(type, BPF_MAP_TYPE_LRU_HASH);
    __uint(max_entries, 16384);
    __type(key, struct hook_away);
    __type(value, __u64);
} asking SEC(".maps");

/* Nonzero: the term is no pair. */
static __always_inline int code_pair(__u64 term, __u64 *pair)
{
    return (term & 3) != OTP_TAG_BOXED || bpf_probe_read_user(pair, 3 * sizeof *pair, (void *)(term & ~7ull)) ||
           pair[0] != CODE_PAIR;
}

static __always_inline int code_frame(const struct otp_layout *layout, __u64 process, __u64 *frame)
{
    __u64 stop = 0;

    return otp_read(layout, process, OTP_PROC_STOP, &stop, sizeof stop) ||
           bpf_probe_read_user(frame, CODE_FRAME_WORDS * sizeof *frame, (void *)stop);
}

/* What the process calls the server for: a module; WIRE_NO_ATOM: it is another request, or cannot be read. */
FIXES_GLOBAL __u64 code_request(const struct otp_layout *layout, __u64 process)
{
    __u64 frame[CODE_FRAME_WORDS] = {0}, pair[3];

    if (!layout || code_frame(layout, process, frame))
        return WIRE_NO_ATOM;
    for (__u32 i = 0; i < CODE_FRAME_WORDS; i++)
        if (!code_pair(frame[i], pair) &&
            (otp_is(layout, pair[1], OTP_KNOWN_ENSURE_LOADED) || otp_is(layout, pair[1], OTP_KNOWN_GET_CODE_TO_LOAD) ||
             otp_is(layout, pair[1], OTP_KNOWN_LOAD_FILE) || otp_is(layout, pair[1], OTP_KNOWN_GET_CODE)))
            return otp_atom(pair[2]);
    return WIRE_NO_ATOM;
}

/* Whether what the server answered is a refusal. */
FIXES_GLOBAL int code_is_refused(const struct otp_layout *layout, __u64 process)
{
    __u64 frame[CODE_FRAME_WORDS] = {0}, pair[3];

    if (!layout || code_frame(layout, process, frame))
        return false;
    for (__u32 i = 0; i < CODE_FRAME_WORDS; i++) {
        if (code_pair(frame[i], pair))
            continue;
        if (otp_is(layout, pair[1], OTP_KNOWN_CODE_SERVER)) {
            pair[1] = pair[2];
            code_pair(pair[2], pair);
        }
        if (otp_is(layout, pair[1], OTP_KNOWN_ERROR))
            return true;
    }
    return false;
}

/* monitor_2(process, arguments) */
SEC("uprobe")
int at_code__lookup__start(struct pt_regs *ctx)
{
    const struct otp_layout *layout = hook_layout(ctx);
    __u64 process = FIXES_CTX_LOAD(ctx, di), args[2] = {0}, module;
    struct ev_code__lookup__start ev = {};
    struct hook_away who = {};

    if (!layout || bpf_probe_read_user(args, sizeof args, (void *)FIXES_CTX_LOAD(ctx, si)) ||
        !otp_is(layout, args[1], OTP_KNOWN_CODE_SERVER))
        return 0;
    module = code_request(layout, process);
    if (module == WIRE_NO_ATOM || hook_pid(layout, process, &ev.pid))
        return 0;
    who = (struct hook_away){layout->vm, ev.pid};
    if (bpf_map_update_elem(&asking, &who, &module, BPF_ANY))
        probe_lose(LOSS_MAP_FULL);
    view_begin(&ev.head, layout->vm);
    ev.head.where = hook_where(ctx, process);
    ev.module = module + 1;
    tell_code__lookup__start(&ev);
    return 0;
}

/* demonitor_2(process, arguments), by whomever. */
SEC("uprobe")
int at_code__lookup__end(struct pt_regs *ctx)
{
    const struct otp_layout *layout = hook_layout(ctx);
    __u64 process = FIXES_CTX_LOAD(ctx, di), *module;
    struct ev_code__lookup__end ev = {};
    struct hook_away who = {};

    if (!layout || hook_pid(layout, process, &ev.pid))
        return 0;
    who = (struct hook_away){layout->vm, ev.pid};
    module = bpf_map_lookup_elem(&asking, &who);
    if (!module)
        return 0;
    ev.module = *module + 1;
    bpf_map_delete_elem(&asking, &who);
    view_begin(&ev.head, layout->vm);
    ev.head.where = hook_where(ctx, process);
    ev.found = !code_is_refused(layout, process);
    tell_code__lookup__end(&ev);
    return 0;
}

/* erts_internal_prepare_loading_2(process, arguments) */
SEC("uprobe")
int at_code__prepare__start(struct pt_regs *ctx)
{
    const struct otp_layout *layout = hook_layout(ctx);
    __u64 process = FIXES_CTX_LOAD(ctx, di), module = 0;
    struct ev_code__prepare__start ev = {};

    if (!layout || bpf_probe_read_user(&module, sizeof module, (void *)FIXES_CTX_LOAD(ctx, si)) ||
        otp_atom(module) == WIRE_NO_ATOM || hook_pid(layout, process, &ev.pid))
        return 0;
    view_begin(&ev.head, layout->vm);
    ev.head.where = hook_where(ctx, process);
    ev.module = otp_atom(module) + 1;
    tell_code__prepare__start(&ev);
    return 0;
}

/* Which 0: beam_make_current_old(process, locks, module), of code without an on_load function. Which 1:
 * finish_after_on_load_2(process, {module, whether it is kept}). */
SEC("uprobe")
int at_code__load(struct pt_regs *ctx)
{
    const struct otp_layout *layout = hook_layout(ctx);
    __u64 process = FIXES_CTX_LOAD(ctx, di), args[2] = {0, OTP_ATOM_TRUE};
    struct ev_code__load ev = {.words = EV_NO_WORDS};

    if (!layout)
        return 0;
    if (!otp_which(ctx))
        args[0] = FIXES_CTX_LOAD(ctx, dx);
    else if (bpf_probe_read_user(args, sizeof args, (void *)FIXES_CTX_LOAD(ctx, si)))
        return 0;
    if (args[1] != OTP_ATOM_TRUE || otp_atom(args[0]) == WIRE_NO_ATOM || hook_pid(layout, process, &ev.pid))
        return 0;
    view_begin(&ev.head, layout->vm);
    ev.head.where = hook_where(ctx, process);
    ev.module = otp_atom(args[0]) + 1;
    tell_code__load(&ev);
    return 0;
}

/* ---- purges */

/* The module that a VM purges: one at a time. An index. */
struct {
    __uint(type, BPF_MAP_TYPE_HASH);
    __uint(max_entries, OTP_MAX_LAYOUTS);
    __uint(map_flags, BPF_F_NO_PREALLOC);
    __type(key, hook_vm);
    __type(value, __u64);
} purging SEC(".maps");

/* erts_internal_purge_module_2(process, {module, step}): which step it is shows here. A step that has to wait for its
 * turn comes again. */
SEC("uprobe")
int at_code__purge__start(struct pt_regs *ctx)
{
    const struct otp_layout *layout = hook_layout(ctx);
    __u64 process = FIXES_CTX_LOAD(ctx, di), args[2] = {0}, module;
    struct ev_code__purge__end ev = {};
    hook_vm vm;

    if (!layout || bpf_probe_read_user(args, sizeof args, (void *)FIXES_CTX_LOAD(ctx, si)) ||
        otp_atom(args[0]) == WIRE_NO_ATOM || hook_pid(layout, process, &ev.pid))
        return 0;
    vm = layout->vm;
    module = otp_atom(args[0]);
    view_begin(&ev.head, layout->vm);
    ev.head.where = hook_where(ctx, process);
    ev.module = module + 1;
    if (otp_is(layout, args[1], OTP_KNOWN_PREPARE) || otp_is(layout, args[1], OTP_KNOWN_PREPARE_ON_LOAD)) {
        if (bpf_map_update_elem(&purging, &vm, &module, BPF_ANY))
            probe_lose(LOSS_MAP_FULL);
        tell_code__purge__start((const struct ev_code__purge__start *)&ev);
        return 0;
    }
    ev.purged = otp_is(layout, args[1], OTP_KNOWN_COMPLETE);
    if (!ev.purged && !otp_is(layout, args[1], OTP_KNOWN_ABORT))
        return 0;
    if (!bpf_map_delete_elem(&purging, &vm))
        tell_code__purge__end(&ev);
    return 0;
}

/* Whom a thread asks whether it runs old code: the address of the process, and the module's index. */
struct hook_asked {
    __u64 process, module;
};

struct {
    __uint(type, BPF_MAP_TYPE_HASH);
    __uint(max_entries, 4096);
    __uint(map_flags, BPF_F_NO_PREALLOC);
    __type(key, hook_thread);
    __type(value, struct hook_asked);
} being_asked SEC(".maps");

/* erts_check_process_code(process, module, ...) */
SEC("uprobe")
int at_code__linger(struct pt_regs *ctx)
{
    struct hook_asked asked = {FIXES_CTX_LOAD(ctx, di), otp_atom(FIXES_CTX_LOAD(ctx, si))};
    const struct otp_layout *layout = hook_layout(ctx);
    hook_thread thread = bpf_get_current_pid_tgid();

    if (layout && asked.module != WIRE_NO_ATOM && bpf_map_update_elem(&being_asked, &thread, &asked, BPF_ANY))
        probe_lose(LOSS_MAP_FULL);
    return 0;
}

/* Returns true or false. */
SEC("uprobe")
int ret_code__linger(struct pt_regs *ctx)
{
    const struct otp_layout *layout = otp_layout_of(ctx);
    hook_thread thread = bpf_get_current_pid_tgid();
    struct hook_asked asked, *kept = bpf_map_lookup_elem(&being_asked, &thread);
    struct ev_code__linger ev = {};

    if (!kept)
        return 0;
    asked = *kept;
    bpf_map_delete_elem(&being_asked, &thread);
    if (!probe_runs || !layout || FIXES_CTX_LOAD(ctx, ax) != OTP_ATOM_TRUE || hook_pid(layout, asked.process, &ev.pid))
        return 0;
    view_begin(&ev.head, layout->vm);
    ev.head.where = hook_where(ctx, asked.process);
    ev.module = asked.module + 1;
    tell_code__linger(&ev);
    return 0;
}

/* exit_2(process, {pid, reason}), by which erts_code_purger kills who runs what it purges. */
SEC("uprobe")
int at_code__kill(struct pt_regs *ctx)
{
    const struct otp_layout *layout = hook_layout(ctx);
    __u64 process = FIXES_CTX_LOAD(ctx, di), args[2] = {0}, *module;
    struct ev_code__kill ev = {};
    struct wire_pid pid = {0};
    hook_vm vm;

    if (!layout || bpf_probe_read_user(args, sizeof args, (void *)FIXES_CTX_LOAD(ctx, si)) ||
        !otp_is(layout, args[1], OTP_KNOWN_KILL) || (args[0] & 0xf) != OTP_TAG_PID ||
        !otp_is(layout, otp_registered(layout, process), OTP_KNOWN_CODE_PURGER))
        return 0;
    vm = layout->vm;
    module = bpf_map_lookup_elem(&purging, &vm);
    if (!module || otp_decode_pid(layout, args[0], &pid))
        return 0;
    ev.module = *module + 1;
    ev.pid = ev_id_of_pid(pid.id, pid.serial);
    process = otp_find_process(layout, args[0]);
    view_begin(&ev.head, layout->vm);
    ev.head.where = process ? hook_where(ctx, process) : 0;
    tell_code__kill(&ev);
    return 0;
}

#endif
