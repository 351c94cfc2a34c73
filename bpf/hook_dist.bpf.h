/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Other nodes of a stock emulator: what goes to them and comes from them, and nodes that come and go. A node is known
 * by its DistEntry, and believed when that says what it must.
 * Source: erts/emulator/beam/dist.c, erl_node_tables.c and erl_process.c of OTP.
 */
#ifndef BPF_HOOK_DIST_BPF_H
#define BPF_HOOK_DIST_BPF_H

#include "hook_node.bpf.h"

/* ---- what goes and comes */

/*
 * Which 0: dist_port_commandv(port, output), before the driver puts its own header in front. Which 1:
 * dist_ctrl_get_data_1(process, arguments), by which a process gets what is to go through the connection it carries.
 */
SEC("uprobe")
int at_dist__outputv(struct pt_regs *ctx)
{
    const struct otp_layout *layout = hook_layout(ctx);
    __u64 first = FIXES_CTX_LOAD(ctx, di), second = FIXES_CTX_LOAD(ctx, si), vector = 0;
    struct ev_dist__outputv ev = {};

    if (!layout || !second)
        return 0;
    if (otp_which(ctx)) {
        hook_begin_fetch(layout, first, second);
        return 0;
    }
    view_begin(&ev.head, layout->vm);
    if (hook_port_node(layout, first, &ev.remote_node) ||
        otp_read(layout, second, OTP_OUTPUT_VECTOR, &vector, sizeof vector))
        return 0;
    ev.bytes = hook_vector_size(vector);
    tell_dist__outputv(&ev);
    return 0;
}

/* A message; an atom when there is none, or nothing when the call goes on later, or fails. */
SEC("uprobe")
int ret_dist__outputv(struct pt_regs *ctx)
{
    const struct otp_layout *layout = hook_layout(ctx);
    __u64 thread = bpf_get_current_pid_tgid(), result = FIXES_CTX_LOAD(ctx, ax);
    ev_node *node = bpf_map_lookup_elem(&fetching, &thread);
    struct ev_dist__outputv ev = {};

    if (!layout || !node)
        return 0;
    ev.remote_node = *node;
    bpf_map_delete_elem(&fetching, &thread);
    if ((result & 3) != OTP_TAG_BOXED && (result & 3) != OTP_TAG_LIST)
        return 0;
    view_begin(&ev.head, layout->vm);
    ev.bytes = hook_fetched_size(layout, result);
    tell_dist__outputv(&ev);
    return 0;
}

/*
 * erts_net_message(port, node, connection, header, its bytes (0), binary, data, bytes): the last two stand on the
 * stack, above where it returns to. Which 1: a function that it is the rest of, (node, connection, binary, data,
 * bytes). No bytes are a tick.
 */
SEC("uprobe")
int at_dist__input(struct pt_regs *ctx)
{
    const struct otp_layout *layout = hook_layout(ctx);
    __u64 node = FIXES_CTX_LOAD(ctx, si), bytes = 0;
    struct ev_dist__input ev = {};

    if (!layout)
        return 0;
    if (otp_which(ctx)) {
        node = FIXES_CTX_LOAD(ctx, di);
        bytes = FIXES_CTX_LOAD(ctx, r8);
    } else if (bpf_probe_read_user(&bytes, sizeof bytes, (void *)(FIXES_CTX_LOAD(ctx, sp) + 16))) {
        probe_lose(LOSS_BAD_ARG);
    }
    if (!bytes)
        return 0;
    view_begin(&ev.head, layout->vm);
    if (hook_connected_node(layout, node, &ev.remote_node))
        return 0;
    ev.bytes = bytes;
    tell_dist__input(&ev);
    return 0;
}

/* ---- nodes that come and go */

static const char hook_node_up[] = "nodeup", hook_node_down[] = "nodedown";

/* Why a connection ends, as who watches nodes is told: a controller that is a process may end with {shutdown,
 * Reason}. */
static __always_inline __u64 hook_down_reason(const struct otp_layout *layout, __u64 node, __u64 reason)
{
    __u64 controller = 0, tuple[3] = {0};

    otp_read(layout, node, OTP_NODE_CONTROLLER, &controller, sizeof controller);
    if ((controller & 0xf) == OTP_TAG_PID && (reason & 3) == OTP_TAG_BOXED &&
        !bpf_probe_read_user(tuple, sizeof tuple, (void *)(reason & ~7ull)) && tuple[0] == 2 << 6 &&
        otp_is(layout, tuple[1], OTP_KNOWN_SHUTDOWN))
        reason = tuple[2];
    if (otp_is(layout, reason, OTP_KNOWN_NORMAL))
        return otp_known_atom(layout, OTP_KNOWN_CONNECTION_CLOSED);
    return reason;
}

/* Why the VM stops being a node: its net kernel ends for that reason. */
static __always_inline __u64 hook_own_down_reason(const struct otp_layout *layout, __u64 reason)
{
    return otp_is(layout, reason, OTP_KNOWN_NO_NETWORK) ? reason
                                                        : otp_known_atom(layout, OTP_KNOWN_NET_KERNEL_TERMINATED);
}

/* The VM becomes the node of that name; that of no node is told by who ends its being one. */
static __always_inline int hook_own_name(const struct otp_layout *layout, __u64 name, ev_node *out)
{
    *out = otp_atom(name) + 1;
    return otp_is(layout, name, OTP_KNOWN_NO_NODE) || otp_atom(name) == WIRE_NO_ATOM ? -1 : 0;
}

/*
 * Which 0: erts_set_dist_entry_connected(node, ...). Which 1: erts_do_net_exits(node, reason), which is called for the
 * VM's own node, too, to which there is no connection, when that stops being one. Which 2: erts_set_this_node(name,
 * ...).
 */
SEC("uprobe")
int at_dist__monitor(struct pt_regs *ctx)
{
    const struct otp_layout *layout = hook_layout(ctx);
    __u64 node = FIXES_CTX_LOAD(ctx, di), reason = OTP_NIL;
    struct ev_dist__monitor ev = {};
    __u32 which = otp_which(ctx), state = 0;
    bool down = which == 1;

    if (!layout)
        return 0;
    view_begin(&ev.head, layout->vm);
    ev.head.where = hook_where(ctx, 0);
    if (which == 2 ? hook_own_name(layout, node, &ev.monitored_node)
                   : otp_read(layout, node, OTP_NODE_STATE, &state, sizeof state) ||
                         hook_node(layout, node, &ev.monitored_node))
        return 0;
    if (down && state != OTP_NODE_CONNECTED && state != OTP_NODE_EXITING)
        reason = hook_own_down_reason(layout, FIXES_CTX_LOAD(ctx, si));
    else if (down)
        reason = hook_down_reason(layout, node, FIXES_CTX_LOAD(ctx, si));
    ev.what = (struct ev_text){EV_TEXT_OURS, (__u64)(down ? hook_node_down : hook_node_up)};
    ev.reason = HOOK_WANTS(dist__monitor, reason) ? hook_term(layout, reason) & ~EV_LATER_TERM : 0;
    tell_dist__monitor(&ev);
    return 0;
}

#endif
