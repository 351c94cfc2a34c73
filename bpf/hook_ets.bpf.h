/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Operations on tables of a stock emulator, as events: from the entry of a native function of ets_hooks.def to its
 * return. One that goes on in a later time slice returns nothing, as one that fails does: it has no time. A walk
 * through an ordered table goes on as if its next chunk was asked for, and is followed to its end; where others go on
 * in the same function they are not counted again.
 * Source: erts/emulator/beam/erl_db.c, erl_db_tree.c and erl_term.h of OTP.
 */
#ifndef BPF_HOOK_ETS_BPF_H
#define BPF_HOOK_ETS_BPF_H

#include "hook.bpf.h"

enum {
    HOOK_REF_WORDS = 5,
    HOOK_HEADER_KIND = 0x3f, /* the low bits of what a boxed term begins with; 0: a tuple */
    HOOK_TREE_WALK = 8 << 6, /* what a walk through an ordered table goes on by begins with: a tuple of eight */
};

/* An operation that a thread is in. */
struct hook_ets {
    __u64 begun_ns;
    ev_id pid;
    ev_term table;
    __u64 where;
    __u64 args, first; /* where its arguments stand, and the first of them */
};

struct {
    __uint(type, BPF_MAP_TYPE_HASH);
    __uint(max_entries, 4096);
    __uint(map_flags, BPF_F_NO_PREALLOC);
    __type(key, hook_thread);
    __type(value, struct hook_ets);
} in_ets SEC(".maps");

/* When walks began that are to go on, by process. One that ends meanwhile leaves its own, until others need room. */
struct hook_walker {
    hook_vm vm;
    ev_id pid;
};

struct {
    __uint(type, BPF_MAP_TYPE_LRU_HASH);
    __uint(max_entries, 16384);
    __type(key, struct hook_walker);
    __type(value, __u64);
} ets_walks SEC(".maps");

static __always_inline bool hook_read_boxed(__u64 term, __u64 words[HOOK_REF_WORDS])
{
    return (term & 3) == OTP_TAG_BOXED &&
           !bpf_probe_read_user(words, HOOK_REF_WORDS * sizeof *words, (void *)(term & ~7ull));
}

/* The name of the table that this leads to, if it is a magic binary whose table leads back to it; else 0. */
static __always_inline __u64 hook_table_name(const struct otp_layout *layout, __u64 magic)
{
    __u64 table = 0, back = 0, name = 0;

    if (!magic || magic & 7 ||
        bpf_probe_read_user(&table, sizeof table, (void *)(magic + layout->off[OTP_MAGIC_DATA])) || !table ||
        bpf_probe_read_user(&back, sizeof back, (void *)(table + layout->off[OTP_TABLE_ID])) || back != magic ||
        bpf_probe_read_user(&name, sizeof name, (void *)(table + layout->off[OTP_TABLE_NAME])))
        return 0;
    return name;
}

/*
 * The name of the table that is told by it, by a reference, or by what a walk goes on by, which begins with one of
 * both; a reference whose table is gone is told as one. Neither inlined nor static: so the kernel verifies it once.
 */
FIXES_GLOBAL __u64 hook_table(const struct otp_layout *layout, __u64 id)
{
    __u64 words[HOOK_REF_WORDS] = {0};
    bool boxed;

    if (!layout)
        return 0;
    boxed = hook_read_boxed(id, words);
    if (boxed && !(words[0] & HOOK_HEADER_KIND)) {
        id = words[1];
        boxed = hook_read_boxed(id, words);
    }
    for (int i = 1; boxed && i < HOOK_REF_WORDS; i++) {
        __u64 name = hook_table_name(layout, words[i]);

        if (name)
            return ev_term_of(BATCH_SHAPE_ATOM, 0, hook_atom(name));
    }
    return boxed ? ev_term_of(BATCH_SHAPE_REF, 0, 0) : ev_term_of(BATCH_SHAPE_ATOM, 0, hook_atom(id));
}

/*
 * Whether it is the rest of an operation that took more than one time slice: of a list to be inserted a reference is in
 * its place, and of what cleared a table the number of its objects.
 */
static __always_inline bool hook_ets_goes_on(__u32 operation, __u64 argument)
{
    __u64 header = 0;

    if (operation == ETS_OPERATION_CLEAR)
        return (argument & 0x3f) != OTP_TAG_ATOM;
    return operation == ETS_OPERATION_INSERT && (argument & 3) == OTP_TAG_BOXED &&
           !bpf_probe_read_user(&header, sizeof header, (void *)(argument & ~7ull)) && header & HOOK_HEADER_KIND;
}

/* When it began: the walk that goes on with it, or the operation itself. */
static __always_inline __u64 hook_ets_begun(const struct otp_layout *layout, ev_id pid, __u32 operation)
{
    struct hook_walker who = {layout->vm, pid};
    __u64 *walk = operation == ETS_OPERATION_SELECT ? bpf_map_lookup_elem(&ets_walks, &who) : 0, begun;

    if (!walk)
        return bpf_ktime_get_ns();
    begun = *walk;
    bpf_map_delete_elem(&ets_walks, &who);
    return begun;
}

/* Whether the walk, which has returned nothing, goes on: in place of its first argument is what it goes on by. */
static __always_inline bool hook_walk_goes_on(const struct otp_layout *layout, const struct hook_ets *call)
{
    struct hook_walker who = {layout->vm, call->pid};
    __u64 argument = 0, header = 0, begun = call->begun_ns;

    if (bpf_probe_read_user(&argument, sizeof argument, (void *)call->args) || argument == call->first ||
        (argument & 3) != OTP_TAG_BOXED ||
        bpf_probe_read_user(&header, sizeof header, (void *)(argument & ~7ull)) || header != HOOK_TREE_WALK)
        return false;
    if (bpf_map_update_elem(&ets_walks, &who, &begun, BPF_ANY))
        probe_lose(LOSS_MAP_FULL);
    return true;
}

/* f(process, arguments) */
SEC("uprobe")
int at_ets__end(struct pt_regs *ctx)
{
    const struct otp_layout *layout = hook_layout(ctx);
    __u64 process = FIXES_CTX_LOAD(ctx, di), thread = bpf_get_current_pid_tgid(), args[2] = {0};
    struct hook_ets call = {};

    if (!layout || bpf_probe_read_user(args, sizeof args, (void *)FIXES_CTX_LOAD(ctx, si)) ||
        hook_ets_goes_on(otp_which(ctx), args[1]) || hook_pid(layout, process, &call.pid))
        return 0;
    call.table = hook_table(layout, args[0]);
    call.where = hook_where(ctx, process);
    call.args = FIXES_CTX_LOAD(ctx, si);
    call.first = args[0];
    call.begun_ns = hook_ets_begun(layout, call.pid, otp_which(ctx));
    if (bpf_map_update_elem(&in_ets, &thread, &call, BPF_ANY))
        probe_lose(LOSS_MAP_FULL);
    return 0;
}

SEC("uprobe")
int ret_ets__end(struct pt_regs *ctx)
{
    const struct otp_layout *layout = otp_layout_of(ctx);
    __u64 thread = bpf_get_current_pid_tgid(), now = bpf_ktime_get_ns();
    struct hook_ets *call = bpf_map_lookup_elem(&in_ets, &thread);
    struct ev_ets__end ev = {};

    if (!call || !layout)
        return 0;
    if (!FIXES_CTX_LOAD(ctx, ax) && otp_which(ctx) == ETS_OPERATION_SELECT && hook_walk_goes_on(layout, call)) {
        bpf_map_delete_elem(&in_ets, &thread);
        return 0;
    }
    view_begin(&ev.head, layout->vm);
    ev.head.time_ns = now;
    ev.head.where = call->where;
    ev.pid = call->pid;
    ev.table = call->table & ~EV_LATER_TERM;
    ev.operation = otp_which(ctx);
    ev.took = !FIXES_CTX_LOAD(ctx, ax) ? VIEW_UNKNOWN : now > call->begun_ns ? now - call->begun_ns : 0;
    bpf_map_delete_elem(&in_ets, &thread);
    if (!probe_runs)
        return 0;
    tell_ets__end(&ev);
    return 0;
}

#endif
