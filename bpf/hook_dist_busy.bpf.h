/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Processes of a stock emulator that a busy connection to another node suspends, and that go on.
 * Source: erts/emulator/beam/dist.c and erl_process.c of OTP.
 */
#ifndef BPF_HOOK_DIST_BUSY_BPF_H
#define BPF_HOOK_DIST_BUSY_BPF_H

#include "hook_node.bpf.h"

/* Processes of a list that are resumed at once: more are not told, and counted as lost. */
enum { HOOK_MOST_WAITERS = 1024 };

/* What threads send to a node, or sent last: the address of its ErtsDSigSendContext, by pid and tgid. */
struct {
    __uint(type, BPF_MAP_TYPE_HASH);
    __uint(max_entries, 4096);
    __uint(map_flags, BPF_F_NO_PREALLOC);
    __type(key, hook_thread);
    __type(value, __u64);
} sending SEC(".maps");

struct hook_waiter {
    hook_vm vm;
    __u64 pid; /* the term */
};

/* Processes that wait for a connection, with the node. */
struct {
    __uint(type, BPF_MAP_TYPE_HASH);
    __uint(max_entries, 65536);
    __uint(map_flags, BPF_F_NO_PREALLOC);
    __type(key, struct hook_waiter);
    __type(value, ev_node);
} waiting SEC(".maps");

/*
 * The DistEntry that this process is sending to just now, as this thread began to last; 0: to none. What the thread has
 * done with has nothing left to be put out, and its memory may be another's.
 */
static __always_inline __u64 hook_sends_to(const struct otp_layout *layout, __u64 process)
{
    __u64 thread = bpf_get_current_pid_tgid(), *kept = bpf_map_lookup_elem(&sending, &thread), at;
    __u64 sender = 0, left = 0, node = 0;

    if (!kept)
        return 0;
    at = *kept;
    bpf_map_delete_elem(&sending, &thread);
    bpf_probe_read_user(&sender, sizeof sender, (void *)(at + layout->off[OTP_SENDING_PROCESS]));
    bpf_probe_read_user(&left, sizeof left, (void *)(at + layout->off[OTP_SENDING_OUTPUT]));
    bpf_probe_read_user(&node, sizeof node, (void *)(at + layout->off[OTP_SENDING_NODE]));
    return sender == process && left ? node : 0;
}

/*
 * Which 0: erts_dsig_send(context), which each signal to another node goes through. Which 1: erts_suspend(process,
 * locks, port) in it, which it does before others can find the process to resume it.
 */
SEC("uprobe")
int at_dist__port_busy(struct pt_regs *ctx)
{
    const struct otp_layout *layout = hook_layout(ctx);
    __u64 first = FIXES_CTX_LOAD(ctx, di), thread = bpf_get_current_pid_tgid(), node;
    struct hook_waiter waiter = {};
    struct ev_dist__port_busy ev = {};

    if (!layout)
        return 0;
    if (!otp_which(ctx)) {
        if (bpf_map_update_elem(&sending, &thread, &first, BPF_ANY))
            probe_lose(LOSS_MAP_FULL);
        return 0;
    }
    node = FIXES_CTX_LOAD(ctx, dx) ? 0 : hook_sends_to(layout, first);
    if (!node)
        return 0;
    view_begin(&ev.head, layout->vm);
    ev.head.where = hook_where(ctx, first);
    if (hook_connected_node(layout, node, &ev.remote_node) || hook_pid(layout, first, &ev.pid))
        return 0;
    waiter.vm = layout->vm;
    otp_read(layout, first, OTP_PROC_ID, &waiter.pid, sizeof waiter.pid);
    if (bpf_map_update_elem(&waiting, &waiter, &ev.remote_node, BPF_ANY))
        probe_lose(LOSS_MAP_FULL);
    tell_dist__port_busy(&ev);
    return 0;
}

/* The node that the process waited for, which it does not any more; 0: it did not. */
static __always_inline ev_node hook_ends_wait(const struct otp_layout *layout, __u64 pid)
{
    struct hook_waiter waiter = {layout->vm, pid};
    ev_node *node = bpf_map_lookup_elem(&waiting, &waiter), waited;

    if (!node)
        return 0;
    waited = *node;
    bpf_map_delete_elem(&waiting, &waiter);
    return waited;
}

/*
 * These are neither inlined nor static: so the kernel verifies them once, and not for each process of a list, and only
 * one's stack is in use.
 */

/* A connection is busy no more. */
FIXES_GLOBAL int hook_tell_free(const struct otp_layout *layout, ev_node node)
{
    struct ev_dist__port_not_busy ev = {};

    if (!layout)
        return 0;
    view_begin(&ev.head, layout->vm);
    ev.remote_node = node;
    tell_dist__port_not_busy(&ev);
    return 0;
}

/* A process may go on that a connection suspended. */
FIXES_GLOBAL int hook_tell_resumed(const struct otp_layout *layout, __u64 pid, __u32 slot)
{
    struct ev_process__port_unblocked ev = {};
    struct wire_pid who = {0};

    if (!layout || otp_decode_pid(layout, pid, &who))
        return 0;
    view_begin(&ev.head, layout->vm);
    ev.head.where = view_later_resume(otp_find_process(layout, pid), slot);
    ev.pid = ev_id_of_pid(who.id, who.serial);
    tell_process__port_unblocked(&ev);
    return 0;
}

static __always_inline void hook_resumed(const struct otp_layout *layout, __u64 pid, __u32 slot)
{
    ev_node node = hook_ends_wait(layout, pid);

    if (!node)
        return;
    hook_tell_free(layout, node);
    hook_tell_resumed(layout, pid, slot);
}

/* The process of this entry of a list is resumed. Returns the next entry; 0: there is none, or it cannot be read. */
FIXES_GLOBAL __u64 hook_resume_waiter(const struct otp_layout *layout, __u64 at, __u32 slot)
{
    __u64 pid = 0, next = 0;

    if (!layout || otp_read(layout, at, OTP_WAITER_PID, &pid, sizeof pid))
        return 0;
    hook_resumed(layout, pid, slot);
    return otp_read(layout, at, OTP_WAITER_NEXT, &next, sizeof next) ? 0 : next;
}

/*
 * Which 0: erts_resume_processes(list), of all that waited for a connection, or a port. Which 1: erts_resume(process,
 * locks), of one that finds the connection free when it is to wait.
 */
SEC("uprobe")
int at_process__port_unblocked(struct pt_regs *ctx)
{
    const struct otp_layout *layout = hook_layout(ctx);
    __u64 at = FIXES_CTX_LOAD(ctx, di), pid = 0;
    __u32 slot = bpf_get_attach_cookie(ctx);

    if (!layout)
        return 0;
    if (otp_which(ctx)) {
        if (!otp_read(layout, at, OTP_PROC_ID, &pid, sizeof pid))
            hook_resumed(layout, pid, slot);
        return 0;
    }
    for (__u32 i = 0; at && i < HOOK_MOST_WAITERS; i++)
        at = hook_resume_waiter(layout, at, slot);
    if (at)
        probe_lose(LOSS_BAD_ARG);
    return 0;
}

#endif
