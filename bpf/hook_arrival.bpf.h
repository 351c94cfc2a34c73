/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Messages of a stock emulator that no process sends, and signals of which their receivers make messages.
 * Source: erts/emulator/beam/erl_message.c and erl_proc_sig_queue.c of OTP.
 */
#ifndef BPF_HOOK_ARRIVAL_BPF_H
#define BPF_HOOK_ARRIVAL_BPF_H

#include "hook.bpf.h"

/* Which function tells of one, by the number of its hook. */
enum hook_arrival {
    ARRIVAL_QUEUED,       /* erts_queue_message(receiver, locks, message, term, from) */
    ARRIVAL_OF_NODE,      /* erts_queue_dist_message(receiver, ...) */
    ARRIVAL_TO_ALIAS,     /* erts_proc_sig_send_dist_to_alias(from, alias, ...) */
    ARRIVAL_EXIT,         /* erts_proc_sig_send_exit(sender, from, to, reason, ...) */
    ARRIVAL_LINK,         /* erts_proc_sig_send_link_exit(sender, from, link, ...) */
    ARRIVAL_EXIT_OF_NODE, /* erts_proc_sig_send_dist_exit, erts_proc_sig_send_dist_link_exit(node, from, to, ...) */
    ARRIVAL_LINK_LOST,    /* erts_proc_sig_send_link_exit_noconnection(link) */
    ARRIVAL_DOWN,         /* erts_proc_sig_send_monitor_down(sender, from, monitor, ...) */
    ARRIVAL_DOWN_OF_NODE, /* erts_proc_sig_send_dist_monitor_down(node, reference, from, to, ...) */
};

/* The pid that a signal goes to; of a link or a monitor the end that stands with its target tells it. */
static __always_inline __u64 hook_signal_to(struct pt_regs *ctx, const struct otp_layout *layout, __u32 which)
{
    bool first = which == ARRIVAL_LINK_LOST, ends = first || which == ARRIVAL_LINK || which == ARRIVAL_DOWN;
    __u64 third = FIXES_CTX_LOAD(ctx, dx), end = first ? FIXES_CTX_LOAD(ctx, di) : third, pid = 0;

    if (!ends)
        return which == ARRIVAL_DOWN_OF_NODE ? FIXES_CTX_LOAD(ctx, cx) : third;
    otp_read(layout, end, OTP_PEER_OTHER, &pid, sizeof pid);
    return pid;
}

/* The process that makes a message of the signal; 0: there is none, or it does not. */
static __always_inline __u64 hook_signalled(struct pt_regs *ctx, const struct otp_layout *layout, __u32 which)
{
    __u64 pid = hook_signal_to(ctx, layout, which), process;
    __u32 flags;

    if ((pid & 0xf) != OTP_TAG_PID ||
        (which == ARRIVAL_EXIT && otp_is(layout, FIXES_CTX_LOAD(ctx, cx), OTP_KNOWN_KILL)))
        return 0;
    process = otp_find_process(layout, pid);
    if (!process || which >= ARRIVAL_DOWN)
        return process;
    if (otp_read(layout, process, OTP_PROC_FLAGS, &flags, sizeof flags))
        return 0;
    return flags >> (layout->off[OTP_FLAG_TRAPS] & 31) & 1 ? process : 0;
}

static __always_inline __u64 hook_arrives_at(struct pt_regs *ctx, const struct otp_layout *layout, __u32 which)
{
    if (which == ARRIVAL_TO_ALIAS)
        return otp_find_alias(layout, FIXES_CTX_LOAD(ctx, si));
    return which < ARRIVAL_TO_ALIAS ? FIXES_CTX_LOAD(ctx, di) : hook_signalled(ctx, layout, which);
}

/* Of erts_queue_message, by who sends: a port, a service or a node of this name, a process of another node. */
static __always_inline __s64 hook_origin(const struct otp_layout *layout, __u64 from)
{
    if ((from & 0xf) == OTP_TAG_PORT)
        return MESSAGE_FROM_PORT;
    if ((from & 3) == OTP_TAG_BOXED)
        return MESSAGE_FROM_NODE;
    return otp_is(layout, from, OTP_KNOWN_CLOCK_SERVICE) ? MESSAGE_FROM_TIMER : MESSAGE_FROM_SYSTEM;
}

SEC("uprobe")
int at_message__arrive(struct pt_regs *ctx)
{
    const struct otp_layout *layout = hook_layout(ctx);
    __u32 which = otp_which(ctx), state, runs;
    struct ev_message__arrive ev;
    __u64 process;

    process = layout ? hook_arrives_at(ctx, layout, which) : 0;
    if (!process || otp_read(layout, process, OTP_PROC_STATE, &state, sizeof state) ||
        hook_pid(layout, process, &ev.receiver))
        return 0;
    view_begin(&ev.head, layout->vm);
    runs = (state >> (layout->off[OTP_STATE_RUNNING] & 31) | state >> (layout->off[OTP_STATE_DIRTY] & 31)) & 1;
    ev.head.tells = EV_TELLS_RUNNING | (runs ? EV_RUNS : 0);
    ev.head.where = hook_where(ctx, process);
    ev.origin = which == ARRIVAL_QUEUED     ? hook_origin(layout, FIXES_CTX_LOAD(ctx, r8))
                : which <= ARRIVAL_TO_ALIAS ? MESSAGE_FROM_NODE
                                            : MESSAGE_FROM_EXIT;
    tell_message__arrive(&ev);
    return 0;
}

enum { ALIAS_DROPPED = 2 /* a number of its own among those that handle_alias_message returns */ };

/*
 * handle_alias_message(receiver, signal, ...) returns what it cost: 1, or 8 and more, of what becomes a message. Where
 * all ways out of it meet nothing says who the receiver is: nobody.
 */
SEC("uprobe")
int out_message__drop(struct pt_regs *ctx)
{
    const struct otp_layout *layout = hook_layout(ctx);
    struct ev_message__drop ev = {.receiver = 0};

    if (!layout || (__u32)otp_result(ctx) != ALIAS_DROPPED)
        return 0;
    view_begin(&ev.head, layout->vm);
    tell_message__drop(&ev);
    return 0;
}

#endif
