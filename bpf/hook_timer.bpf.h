/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Timers of a stock emulator that send messages, as events: calls of the natives that set and cancel them, but those
 * that fail, and messages of the service that fires them. Whether one that is cancelled was still there is not known:
 * who cancels a timer of another scheduler gets the answer by a message, later. Nor is when one that fires was due.
 * Source: erts/emulator/beam/erl_hl_timer.c of OTP.
 */
#ifndef BPF_HOOK_TIMER_BPF_H
#define BPF_HOOK_TIMER_BPF_H

#include "hook.bpf.h"

#define TIMER_MS_NS 1000000ll
#define TIMER_MOST_MS (0x7fffffffffffffffll / TIMER_MS_NS) /* what is later fails: the VM's time ends before */

static __always_inline bool timer_is_reference(__u64 term)
{
    __u64 header = 0;

    if ((term & 3) != OTP_TAG_BOXED || bpf_probe_read_user(&header, sizeof header, (void *)(term & ~7ull)))
        return false;
    header &= 0x3f;
    return header == OTP_HEADER_REF || header == OTP_HEADER_REMOTE_REF;
}

/* Whether a timer may be set for it: a process of this node, or a name. */
static __always_inline bool timer_is_receiver(__u64 term)
{
    return (term & 0xf) == OTP_TAG_PID || (term & 0x3f) == OTP_TAG_ATOM;
}

/*
 * f(process, arguments): a time, a receiver and a message; which 1: and options, by which the time may be a moment: how
 * far off that is is not known.
 */
SEC("uprobe")
int at_timer__set(struct pt_regs *ctx)
{
    const struct otp_layout *layout = hook_layout(ctx);
    __u64 process = FIXES_CTX_LOAD(ctx, di), at = FIXES_CTX_LOAD(ctx, si), args[2] = {0}, options = OTP_NIL;
    struct ev_timer__set ev = {};
    __s64 ms;

    if (!layout || bpf_probe_read_user(args, sizeof args, (void *)at) ||
        (otp_which(ctx) && bpf_probe_read_user(&options, sizeof options, (void *)(at + 3 * sizeof options))) ||
        !timer_is_receiver(args[1]) || (args[0] & 0xf) != OTP_TAG_SMALL)
        return 0;
    ms = (__s64)args[0] >> 4;
    if (ms > TIMER_MOST_MS || (ms < 0 && options == OTP_NIL) || hook_pid(layout, process, &ev.pid))
        return 0;
    view_begin(&ev.head, layout->vm);
    ev.head.where = hook_where(ctx, process);
    ev.after = options == OTP_NIL ? (__u64)(ms * TIMER_MS_NS) : VIEW_UNKNOWN;
    tell_timer__set(&ev);
    return 0;
}

/* f(process, arguments) */
SEC("uprobe")
int at_timer__cancel(struct pt_regs *ctx)
{
    const struct otp_layout *layout = hook_layout(ctx);
    __u64 process = FIXES_CTX_LOAD(ctx, di), reference = 0;
    struct ev_timer__cancel ev = {.left = EV_NO_NUMBER};

    if (!layout || bpf_probe_read_user(&reference, sizeof reference, (void *)FIXES_CTX_LOAD(ctx, si)) ||
        !timer_is_reference(reference) || hook_pid(layout, process, &ev.pid))
        return 0;
    view_begin(&ev.head, layout->vm);
    ev.head.where = hook_where(ctx, process);
    tell_timer__cancel(&ev);
    return 0;
}

/* erts_queue_message(receiver, locks, message, term, from) */
SEC("uprobe")
int at_timer__fire(struct pt_regs *ctx)
{
    const struct otp_layout *layout = hook_layout(ctx);
    __u64 process = FIXES_CTX_LOAD(ctx, di);
    struct ev_timer__fire ev = {.late = VIEW_UNKNOWN};

    if (!layout || !otp_is(layout, FIXES_CTX_LOAD(ctx, r8), OTP_KNOWN_CLOCK_SERVICE) ||
        hook_pid(layout, process, &ev.receiver))
        return 0;
    view_begin(&ev.head, layout->vm);
    ev.head.where = hook_where(ctx, process);
    tell_timer__fire(&ev);
    return 0;
}

#endif
