/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Ports of a stock emulator: events from the functions that act on one, and from the callbacks of the drivers that it
 * brings. Whether such a function will do anything is decided by what it looks at first itself, so that what is told is
 * what happens.
 * Source: erts/emulator/beam/io.c, erl_port.h and erl_driver.h of OTP.
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

/* The process at this address, whom the event is about. */
static __always_inline int hook_who(struct pt_regs *ctx, const struct otp_layout *layout, __u64 process, struct ev_head *h, ev_id *pid)
{
    h->where = hook_where(ctx, process);
    return hook_pid(layout, process, pid);
}

/* The owner of a port; none when that is no process of this node. */
static __always_inline void hook_owner(struct pt_regs *ctx, const struct otp_layout *layout, __u64 port, struct ev_head *h, ev_id *pid)
{
    struct wire_pid owner = {0};
    __u64 term = 0;

    h->where = hook_where(ctx, 0);
    if (otp_read(layout, port, OTP_PORT_CONNECTED, &term, sizeof term) || (term & 0xf) != OTP_TAG_PID ||
        otp_decode_pid(layout, term, &owner))
        return;
    *pid = ev_id_of_pid(owner.id, owner.serial);
    h->where = hook_where(ctx, otp_find_process(layout, term));
}

/* erts_open_driver, driver_create_port: a port, or one of the addresses that stand for none. */
SEC("uprobe")
int ret_port__open(struct pt_regs *ctx)
{
    const struct otp_layout *layout = otp_layout_of(ctx);
    __u64 port = FIXES_CTX_LOAD(ctx, ax);
    struct ev_port__open ev = {};

    if (probe_stopped || !layout || !port || port == ~0ull)
        return 0;
    view_begin(&ev.head, layout->vm);
    ev.port = hook_port(layout, port);
    if (!ev.port)
        return 0;
    hook_owner(ctx, layout, port, &ev.head, &ev.pid);
    ev.port_name = hook_text(layout, port, OTP_PORT_NAME);
    tell_port__open(&ev);
    return 0;
}

/* What it reads of the port's flags; all ones (counted): they cannot be read. */
static __always_inline __u32 hook_port_flags(const struct otp_layout *layout, __u64 port)
{
    __u32 flags = 0;

    return otp_read(layout, port, OTP_PORT_FLAGS, &flags, sizeof flags) ? ~0u : flags;
}

static const char hook_command[] = "command";

/*
 * erts_port_output(process, flags, port, ...): one that finds the port busy does nothing, and comes again when its
 * process goes on. No process: the emulator itself, which writes a crash dump.
 */
SEC("uprobe")
int at_port__command(struct pt_regs *ctx)
{
    const struct otp_layout *layout = otp_layout_of(ctx);
    __u64 process = FIXES_CTX_LOAD(ctx, di), port = FIXES_CTX_LOAD(ctx, dx);
    struct ev_port__command ev = {};
    __u32 flags;

    if (probe_stopped || !layout || !process)
        return 0;
    flags = hook_port_flags(layout, port);
    if (hook_bit(layout, flags, OTP_PORT_IS_EXIT))
        return 0;
    if (!hook_bit(layout, FIXES_CTX_LOAD(ctx, si), OTP_PORT_FORCES) &&
        (hook_bit(layout, flags, OTP_PORT_IS_BUSY) || hook_bit(layout, flags, OTP_PORT_IS_FULL)))
        return 0;
    view_begin(&ev.head, layout->vm);
    ev.port = hook_port(layout, port);
    if (!ev.port || hook_who(ctx, layout, process, &ev.head, &ev.pid))
        return 0;
    ev.port_name = hook_text(layout, port, OTP_PORT_NAME);
    ev.type = (struct ev_text){EV_TEXT_OURS, (__u64)hook_command};
    tell_port__command(&ev);
    return 0;
}

/* erts_port_control(process, port, command, ...) */
SEC("uprobe")
int at_port__control(struct pt_regs *ctx)
{
    const struct otp_layout *layout = otp_layout_of(ctx);
    __u64 process = FIXES_CTX_LOAD(ctx, di), port = FIXES_CTX_LOAD(ctx, si);
    struct ev_port__control ev = {};

    if (probe_stopped || !layout || hook_bit(layout, hook_port_flags(layout, port), OTP_PORT_IS_EXIT))
        return 0;
    view_begin(&ev.head, layout->vm);
    ev.port = hook_port(layout, port);
    if (!ev.port || hook_who(ctx, layout, process, &ev.head, &ev.pid))
        return 0;
    ev.port_name = hook_text(layout, port, OTP_PORT_NAME);
    ev.command = (__u32)FIXES_CTX_LOAD(ctx, dx);
    tell_port__control(&ev);
    return 0;
}

/* Whether set_busy_port(port, on) changes what the port is. */
static __always_inline bool hook_changes_busy(struct pt_regs *ctx, const struct otp_layout *layout, __u64 port, bool on)
{
    return port != ~0ull && !!(__u32)FIXES_CTX_LOAD(ctx, si) == on &&
           hook_bit(layout, hook_port_flags(layout, port), OTP_PORT_IS_BUSY) != on;
}

SEC("uprobe")
int at_port__busy(struct pt_regs *ctx)
{
    const struct otp_layout *layout = otp_layout_of(ctx);
    __u64 port = FIXES_CTX_LOAD(ctx, di);
    struct ev_port__busy ev = {};

    if (probe_stopped || !layout || !hook_changes_busy(ctx, layout, port, true))
        return 0;
    view_begin(&ev.head, layout->vm);
    ev.port = hook_port(layout, port);
    if (ev.port)
        tell_port__busy(&ev);
    return 0;
}

SEC("uprobe")
int at_port__not_busy(struct pt_regs *ctx)
{
    const struct otp_layout *layout = otp_layout_of(ctx);
    __u64 port = FIXES_CTX_LOAD(ctx, di);
    struct ev_port__not_busy ev = {};

    if (probe_stopped || !layout || !hook_changes_busy(ctx, layout, port, false))
        return 0;
    view_begin(&ev.head, layout->vm);
    ev.port = hook_port(layout, port);
    if (ev.port)
        tell_port__not_busy(&ev);
    return 0;
}

/* Whether erts_deliver_port_exit(port, from, reason, send_closed, drop_normal) closes it. */
static __always_inline bool hook_closes(struct pt_regs *ctx, const struct otp_layout *layout, __u64 port)
{
    __u64 from = FIXES_CTX_LOAD(ctx, si), owner = 0, id = 0;
    __u32 state = 0;

    if (otp_read(layout, port, OTP_PORT_STATE, &state, sizeof state) || hook_bit(layout, state, OTP_PORT_STATE_EXITING) ||
        hook_bit(layout, state, OTP_PORT_STATE_CLOSING) || hook_bit(layout, state, OTP_PORT_STATE_FREE) ||
        hook_bit(layout, state, OTP_PORT_STATE_INITIALIZING))
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
    const struct otp_layout *layout = otp_layout_of(ctx);
    __u64 port = FIXES_CTX_LOAD(ctx, di), reason = FIXES_CTX_LOAD(ctx, dx);
    struct ev_port__exit ev = {};

    if (probe_stopped || !layout || !hook_closes(ctx, layout, port))
        return 0;
    view_begin(&ev.head, layout->vm);
    ev.port = hook_port(layout, port);
    if (!ev.port)
        return 0;
    hook_owner(ctx, layout, port, &ev.head, &ev.pid);
    ev.port_name = hook_text(layout, port, OTP_PORT_NAME);
    if (otp_is(layout, reason, OTP_KNOWN_KILL))
        reason = otp_known_atom(layout, OTP_KNOWN_KILLED);
    ev.reason = HOOK_WANTS(port__exit, reason) ? hook_term(reason) & ~EV_LATER_TERM : 0;
    tell_port__exit(&ev);
    return 0;
}

/* ---- callbacks */

/* Whether the port at this address is the one whose driver keeps this. */
static __always_inline bool hook_keeps(const struct otp_layout *layout, __u64 port, __u64 data)
{
    __u64 kept = 0;

    return port && !bpf_probe_read_user(&kept, sizeof kept, (void *)(port + layout->off[OTP_PORT_DATA])) && kept == data;
}

/*
 * The port that a callback is about, by what its driver keeps of it: the drivers of the emulator keep the port among the
 * first words there, or it is the port itself. The port must name the same. 0 (counted): there is none.
 */
static __noinline __u64 hook_port_of(const struct otp_layout *layout, __u64 data)
{
    __u64 words[OTP_DRIVER_WORDS] = {0};

    if (!layout)
        return 0;
    if (!bpf_probe_read_user(words, sizeof words, (void *)data))
        for (int i = 0; i < OTP_DRIVER_WORDS; i++)
            if (hook_keeps(layout, words[i], data))
                return words[i];
    if (hook_keeps(layout, data, data))
        return data;
    probe_lose(LOSS_BAD_ARG);
    return 0;
}

/* output(data, buffer, bytes) */
SEC("uprobe")
int at_driver__output(struct pt_regs *ctx)
{
    const struct otp_layout *layout = otp_layout_of(ctx);
    struct ev_driver__output ev = {};
    __u64 port;

    if (probe_stopped || !layout)
        return 0;
    view_begin(&ev.head, layout->vm);
    port = hook_port_of(layout, FIXES_CTX_LOAD(ctx, di));
    if (!port || !(ev.port = hook_port(layout, port)))
        return 0;
    ev.port_name = hook_text(layout, port, OTP_PORT_NAME);
    ev.bytes = FIXES_CTX_LOAD(ctx, dx);
    tell_driver__output(&ev);
    return 0;
}

/* outputv(data, vector): the bytes of a vector stand behind a word in it, whatever the release (ErlIOVec). */
SEC("uprobe")
int at_driver__outputv(struct pt_regs *ctx)
{
    const struct otp_layout *layout = otp_layout_of(ctx);
    struct ev_driver__outputv ev = {};
    __u64 port;

    if (probe_stopped || !layout)
        return 0;
    view_begin(&ev.head, layout->vm);
    port = hook_port_of(layout, FIXES_CTX_LOAD(ctx, di));
    if (!port || !(ev.port = hook_port(layout, port)))
        return 0;
    ev.port_name = hook_text(layout, port, OTP_PORT_NAME);
    if (bpf_probe_read_user(&ev.bytes, sizeof ev.bytes, (void *)(FIXES_CTX_LOAD(ctx, si) + 8)))
        probe_lose(LOSS_BAD_ARG);
    tell_driver__outputv(&ev);
    return 0;
}

/* ready_input(data, event) */
SEC("uprobe")
int at_driver__ready_input(struct pt_regs *ctx)
{
    const struct otp_layout *layout = otp_layout_of(ctx);
    struct ev_driver__ready_input ev = {};
    __u64 port;

    if (probe_stopped || !layout)
        return 0;
    view_begin(&ev.head, layout->vm);
    port = hook_port_of(layout, FIXES_CTX_LOAD(ctx, di));
    if (!port || !(ev.port = hook_port(layout, port)))
        return 0;
    ev.port_name = hook_text(layout, port, OTP_PORT_NAME);
    tell_driver__ready_input(&ev);
    return 0;
}

/* Callbacks that are not back yet: one may close the port, whose driver's `stop` is called in it. */
struct hook_callback_key {
    __u64 thread;
    __u64 which;
};

struct hook_callback {
    __u64 begun_ns, driver; /* the address of the driver's name */
    ev_id port;
};

struct {
    __uint(type, BPF_MAP_TYPE_HASH);
    __uint(max_entries, 4096);
    __uint(map_flags, BPF_F_NO_PREALLOC);
    __type(key, struct hook_callback_key);
    __type(value, struct hook_callback);
} calling_back SEC(".maps");

static const char hook_callbacks[OTP_NCALLBACKS][16] = {
#define DRIVER_CALLBACK(name, offset) #name,
#include "driver_callbacks.def"
};

/* start(port, ...) is given the port itself, each other one what its driver keeps of it. */
SEC("uprobe")
int at_driver__return(struct pt_regs *ctx)
{
    struct hook_callback_key key = {bpf_get_current_pid_tgid(), otp_which(ctx)};
    const struct otp_layout *layout = otp_layout_of(ctx);
    __u64 port = FIXES_CTX_LOAD(ctx, di), driver = 0;
    struct hook_callback call = {};

    if (probe_stopped || !layout)
        return 0;
    if (key.which != OTP_CALLBACK_start)
        port = hook_port_of(layout, port);
    if (!port || !(call.port = hook_port(layout, port)) || otp_read(layout, port, OTP_PORT_DRIVER, &driver, sizeof driver))
        return 0;
    call.driver = hook_text(layout, driver, OTP_DRIVER_NAME).at;
    call.begun_ns = bpf_ktime_get_ns();
    if (bpf_map_update_elem(&calling_back, &key, &call, BPF_ANY))
        probe_lose(LOSS_MAP_FULL);
    return 0;
}

SEC("uprobe")
int ret_driver__return(struct pt_regs *ctx)
{
    struct hook_callback_key key = {bpf_get_current_pid_tgid(), otp_which(ctx)};
    const struct otp_layout *layout = otp_layout_of(ctx);
    struct hook_callback *call = bpf_map_lookup_elem(&calling_back, &key);
    struct ev_driver__return ev = {};
    __u64 now;

    if (!call || !layout || key.which >= OTP_NCALLBACKS)
        return 0;
    now = bpf_ktime_get_ns();
    ev.took = now > call->begun_ns ? now - call->begun_ns : 0;
    ev.port = call->port;
    ev.name = (struct ev_text){EV_TEXT_UNKNOWN, call->driver};
    bpf_map_delete_elem(&calling_back, &key);
    if (probe_stopped)
        return 0;
    view_begin(&ev.head, layout->vm);
    ev.head.time_ns = now;
    ev.callback = (struct ev_text){EV_TEXT_OURS, (__u64)hook_callbacks[key.which]};
    tell_driver__return(&ev);
    return 0;
}

#endif
