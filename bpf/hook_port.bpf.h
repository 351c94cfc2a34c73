/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Ports of a stock emulator: events from the functions that act on one. Whether such a function will do anything is
 * decided by what it looks at first itself, so that what is told is what happens.
 * Source: erts/emulator/beam/io.c and erl_port.h of OTP.
 */
#ifndef BPF_HOOK_PORT_BPF_H
#define BPF_HOOK_PORT_BPF_H

#include "hook.bpf.h"

static __always_inline bool hook_bit(const struct otp_layout *layout, __u32 flags, enum otp_field bit)
{
    return flags >> (layout->off[bit] & 31) & 1;
}

/* The number of the port at this address, as events tell it; 0 (counted): it cannot be read. */
static __noinline ev_id hook_port(const struct otp_layout *layout, __u64 port)
{
    __u64 term = 0;

    if (!layout || otp_read(layout, port, OTP_PROC_ID, &term, sizeof term))
        return 0;
    if ((term & 0xf) == OTP_TAG_PORT)
        return ev_id_of_port(otp_unpack(&layout->port_packing, term) & ((1ull << 60) - 1));
    probe_lose(LOSS_BAD_ARG);
    return 0;
}

static __always_inline struct ev_text hook_text(const struct otp_layout *layout, __u64 base, enum otp_field field)
{
    struct ev_text text = {EV_TEXT_UNKNOWN, 0};

    otp_read(layout, base, field, &text.at, sizeof text.at);
    return text;
}

/*
 * Begins an event of the port at this address: *number is how events tell it. Fails: it cannot be read, which is
 * counted.
 */
static __always_inline int hook_begin_port(const struct otp_layout *layout, __u64 port, struct ev_head *h,
                                           ev_id *number)
{
    view_begin(h, layout->vm);
    *number = hook_port(layout, port);
    return *number ? 0 : -1;
}

/* The same of what the process at that address does with the port. */
static __always_inline int hook_begin_used(struct pt_regs *ctx, const struct otp_layout *layout, __u64 port,
                                           __u64 process, struct ev_head *h, ev_id *number, ev_id *pid)
{
    if (hook_begin_port(layout, port, h, number))
        return -1;
    h->where = hook_where(ctx, process);
    return hook_pid(layout, process, pid);
}

/* The same of what happens to the port and its owner, who is none when that is no process of this node. */
static __always_inline int hook_begin_owned(struct pt_regs *ctx, const struct otp_layout *layout, __u64 port,
                                            struct ev_head *h, ev_id *number, ev_id *pid)
{
    struct wire_pid owner = {0};
    __u64 term = 0;

    if (hook_begin_port(layout, port, h, number))
        return -1;
    h->where = hook_where(ctx, 0);
    if (otp_read(layout, port, OTP_PORT_CONNECTED, &term, sizeof term) || (term & 0xf) != OTP_TAG_PID ||
        otp_decode_pid(layout, term, &owner))
        return 0;
    *pid = ev_id_of_pid(owner.id, owner.serial);
    h->where = hook_where(ctx, otp_find_process(layout, term));
    return 0;
}

/* What it reads of the port's flags; all ones (counted): they cannot be read. */
static __always_inline __u32 hook_port_flags(const struct otp_layout *layout, __u64 port)
{
    __u32 flags = 0;

    return otp_read(layout, port, OTP_PORT_FLAGS, &flags, sizeof flags) ? ~0u : flags;
}

/* ---- what processes do with ports */

/* erts_open_driver, driver_create_port: a port, or one of the addresses that stand for none. */
SEC("uprobe")
int ret_port__open(struct pt_regs *ctx)
{
    const struct otp_layout *layout = hook_layout(ctx);
    __u64 port = FIXES_CTX_LOAD(ctx, ax);
    struct ev_port__open ev = {};

    if (!layout || !port || port == ~0ull || hook_begin_owned(ctx, layout, port, &ev.head, &ev.port, &ev.pid))
        return 0;
    ev.port_name = hook_text(layout, port, OTP_PORT_NAME);
    tell_port__open(&ev);
    return 0;
}

static const char hook_command[] = "command";

/* Whether erts_port_output(process, flags, port, ...) does nothing now: it comes again when its process goes on. */
static __always_inline bool hook_waits(const struct otp_layout *layout, __u32 flags, __u32 port)
{
    return !hook_bit(layout, flags, OTP_PORT_FORCES) &&
           (hook_bit(layout, port, OTP_PORT_IS_BUSY) || hook_bit(layout, port, OTP_PORT_IS_FULL));
}

/* erts_port_output(process, flags, port, ...). No process: the emulator itself, which writes a crash dump. */
SEC("uprobe")
int at_port__command(struct pt_regs *ctx)
{
    const struct otp_layout *layout = hook_layout(ctx);
    __u64 process = FIXES_CTX_LOAD(ctx, di), port = FIXES_CTX_LOAD(ctx, dx);
    struct ev_port__command ev = {};
    __u32 flags;

    if (!layout || !process)
        return 0;
    flags = hook_port_flags(layout, port);
    if (hook_bit(layout, flags, OTP_PORT_IS_EXIT) || hook_waits(layout, FIXES_CTX_LOAD(ctx, si), flags) ||
        hook_begin_used(ctx, layout, port, process, &ev.head, &ev.port, &ev.pid))
        return 0;
    ev.port_name = hook_text(layout, port, OTP_PORT_NAME);
    ev.command = (struct ev_text){EV_TEXT_OURS, (__u64)hook_command};
    tell_port__command(&ev);
    return 0;
}

/* erts_port_control(process, port, command, ...) */
SEC("uprobe")
int at_port__control(struct pt_regs *ctx)
{
    const struct otp_layout *layout = hook_layout(ctx);
    __u64 process = FIXES_CTX_LOAD(ctx, di), port = FIXES_CTX_LOAD(ctx, si);
    struct ev_port__control ev = {};

    if (!layout || hook_bit(layout, hook_port_flags(layout, port), OTP_PORT_IS_EXIT) ||
        hook_begin_used(ctx, layout, port, process, &ev.head, &ev.port, &ev.pid))
        return 0;
    ev.port_name = hook_text(layout, port, OTP_PORT_NAME);
    ev.command = (__u32)FIXES_CTX_LOAD(ctx, dx);
    tell_port__control(&ev);
    return 0;
}

/* ---- what happens to ports */

/* Whether set_busy_port(port, on) changes what the port is: begins the event of that. */
static __always_inline bool hook_becomes(struct pt_regs *ctx, bool busy, struct ev_head *h, ev_id *number)
{
    const struct otp_layout *layout = hook_layout(ctx);
    __u64 port = FIXES_CTX_LOAD(ctx, di);

    return layout && port != ~0ull && !!(__u32)FIXES_CTX_LOAD(ctx, si) == busy &&
           hook_bit(layout, hook_port_flags(layout, port), OTP_PORT_IS_BUSY) != busy &&
           !hook_begin_port(layout, port, h, number);
}

SEC("uprobe")
int at_port__busy(struct pt_regs *ctx)
{
    struct ev_port__busy ev = {};

    if (hook_becomes(ctx, true, &ev.head, &ev.port))
        tell_port__busy(&ev);
    return 0;
}

SEC("uprobe")
int at_port__not_busy(struct pt_regs *ctx)
{
    struct ev_port__not_busy ev = {};

    if (hook_becomes(ctx, false, &ev.head, &ev.port))
        tell_port__not_busy(&ev);
    return 0;
}

/* Whether erts_deliver_port_exit(port, from, reason, send_closed, drop_normal) closes it. */
static __always_inline bool hook_closes(struct pt_regs *ctx, const struct otp_layout *layout, __u64 port)
{
    __u64 from = FIXES_CTX_LOAD(ctx, si), owner = 0, id = 0;
    __u32 state = 0;

    if (otp_read(layout, port, OTP_PORT_STATE, &state, sizeof state) ||
        hook_bit(layout, state, OTP_PORT_STATE_EXITING) || hook_bit(layout, state, OTP_PORT_STATE_CLOSING) ||
        hook_bit(layout, state, OTP_PORT_STATE_FREE) || hook_bit(layout, state, OTP_PORT_STATE_INITIALIZING))
        return false;
    if (!(__u32)FIXES_CTX_LOAD(ctx, r8) || !otp_is(layout, FIXES_CTX_LOAD(ctx, dx), OTP_KNOWN_NORMAL))
        return true;
    otp_read(layout, port, OTP_PORT_CONNECTED, &owner, sizeof owner);
    otp_read(layout, port, OTP_PROC_ID, &id, sizeof id);
    return from == owner || from == id;
}

SEC("uprobe")
int at_port__exit(struct pt_regs *ctx)
{
    const struct otp_layout *layout = hook_layout(ctx);
    __u64 port = FIXES_CTX_LOAD(ctx, di), reason = FIXES_CTX_LOAD(ctx, dx);
    struct ev_port__exit ev = {};

    if (!layout || !hook_closes(ctx, layout, port) ||
        hook_begin_owned(ctx, layout, port, &ev.head, &ev.port, &ev.pid))
        return 0;
    ev.port_name = hook_text(layout, port, OTP_PORT_NAME);
    if (otp_is(layout, reason, OTP_KNOWN_KILL))
        reason = otp_known_atom(layout, OTP_KNOWN_KILLED);
    ev.reason = HOOK_WANTS(port__exit, reason) ? hook_term(layout, reason) & ~EV_LATER_TERM : 0;
    tell_port__exit(&ev);
    return 0;
}

#endif
