/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Callbacks of the drivers that a stock emulator brings, as events: what goes through one, and how long each takes.
 * Source: erts/emulator/beam/erl_driver.h of OTP.
 */
#ifndef BPF_HOOK_DRIVER_BPF_H
#define BPF_HOOK_DRIVER_BPF_H

#include "hook_port.bpf.h"

/* Whether the port at this address is the one whose driver keeps this. */
static __always_inline bool hook_keeps(const struct otp_layout *layout, __u64 port, __u64 data)
{
    void *at = (void *)(port + layout->off[OTP_PORT_DATA]);
    __u64 kept = 0;

    return port && !bpf_probe_read_user(&kept, sizeof kept, at) && kept == data;
}

/*
 * The port that a callback is about, by what its driver keeps of it: the drivers of the emulator keep the port among
 * the first words there, or it is the port itself. The port must name the same. 0 (counted): there is none.
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

/*
 * Begins the event of a callback, whose first argument is what its driver keeps: the port and its name. Fails: nothing
 * is told now, or the port is not known, which is counted.
 */
static __always_inline int hook_begin_callback(struct pt_regs *ctx, struct ev_head *h, ev_id *number,
                                               struct ev_text *name)
{
    const struct otp_layout *layout = hook_layout(ctx);
    __u64 port = hook_port_of(layout, FIXES_CTX_LOAD(ctx, di));

    if (!layout || !port || hook_begin_port(layout, port, h, number))
        return -1;
    *name = hook_text(layout, port, OTP_PORT_NAME);
    return 0;
}

/* output(data, buffer, bytes) */
SEC("uprobe")
int at_driver__output(struct pt_regs *ctx)
{
    struct ev_driver__output ev = {};

    if (hook_begin_callback(ctx, &ev.head, &ev.port, &ev.port_name))
        return 0;
    ev.bytes = FIXES_CTX_LOAD(ctx, dx);
    tell_driver__output(&ev);
    return 0;
}

/* outputv(data, vector) */
SEC("uprobe")
int at_driver__outputv(struct pt_regs *ctx)
{
    struct ev_driver__outputv ev = {};

    if (hook_begin_callback(ctx, &ev.head, &ev.port, &ev.port_name))
        return 0;
    ev.bytes = hook_vector_size(FIXES_CTX_LOAD(ctx, si));
    tell_driver__outputv(&ev);
    return 0;
}

/* ready_input(data, event) */
SEC("uprobe")
int at_driver__ready_input(struct pt_regs *ctx)
{
    struct ev_driver__ready_input ev = {};

    if (!hook_begin_callback(ctx, &ev.head, &ev.port, &ev.port_name))
        tell_driver__ready_input(&ev);
    return 0;
}

/* Callbacks that are not back yet: one may close the port, whose driver's `stop` is called in it. */
struct hook_callback_key {
    hook_thread thread;
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

static const char hook_callbacks[OTP_NCALLBACKS][WIRE_CALLBACK_BYTES] = {
#define DRIVER_CALLBACK(name, offset) #name,
#include "driver_callbacks.def"
};

/* start(port, ...) is given the port itself, each other one what its driver keeps of it. */
SEC("uprobe")
int at_driver__return(struct pt_regs *ctx)
{
    struct hook_callback_key key = {bpf_get_current_pid_tgid(), otp_which(ctx)};
    const struct otp_layout *layout = hook_layout(ctx);
    __u64 port = FIXES_CTX_LOAD(ctx, di), driver = 0;
    struct hook_callback call = {};

    if (!layout)
        return 0;
    if (key.which != OTP_CALLBACK_start)
        port = hook_port_of(layout, port);
    if (!port || !(call.port = hook_port(layout, port)) ||
        otp_read(layout, port, OTP_PORT_DRIVER, &driver, sizeof driver))
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
    __u64 now, which = key.which;

    if (!call || !layout)
        return 0;
    now = bpf_ktime_get_ns();
    ev.took = now > call->begun_ns ? now - call->begun_ns : 0;
    ev.port = call->port;
    ev.name = (struct ev_text){EV_TEXT_UNKNOWN, call->driver};
    bpf_map_delete_elem(&calling_back, &key);
    if (!probe_runs)
        return 0;
    view_begin(&ev.head, layout->vm);
    ev.head.time_ns = now;
    FIXES_OPAQUE(which);
    if (which >= OTP_NCALLBACKS) /* here: the verifier of 5.15 forgets a bound of what waits on the stack */
        return 0;
    ev.callback = (struct ev_text){EV_TEXT_OURS, (__u64)hook_callbacks[which]};
    tell_driver__return(&ev);
    return 0;
}

#endif
