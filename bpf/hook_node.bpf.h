/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Nodes of a stock emulator: by DistEntry, by the port that is the connection to one, and by the handle with which a
 * process that carries a connection fetches what goes out; how much that is.
 * Source: erts/emulator/beam/dist.c, erl_node_tables.c, erl_binary.h and erl_term.h of OTP.
 */
#ifndef BPF_HOOK_NODE_BPF_H
#define BPF_HOOK_NODE_BPF_H

#include "hook.bpf.h"

/* The node whose DistEntry is at this address. Fails: that has no name, which is counted. */
static __always_inline int hook_node(const struct otp_layout *layout, __u64 at, ev_node *out)
{
    __u64 name = 0;

    if (otp_read(layout, at, OTP_NODE_NAME, &name, sizeof name))
        return -1;
    *out = otp_atom(name) + 1;
    if (otp_atom(name) != WIRE_NO_ATOM)
        return 0;
    probe_lose(LOSS_BAD_ARG);
    return -1;
}

/* The same of a node that there is, or was until now, a connection to. */
static __always_inline int hook_connected_node(const struct otp_layout *layout, __u64 at, ev_node *out)
{
    __u32 state = 0;

    if (otp_read(layout, at, OTP_NODE_STATE, &state, sizeof state))
        return -1;
    if (state == OTP_NODE_CONNECTED || state == OTP_NODE_EXITING)
        return hook_node(layout, at, out);
    probe_lose(LOSS_BAD_ARG);
    return -1;
}

/* The node that the port at this address is a connection to: the node must name the port. */
static __always_inline int hook_port_node(const struct otp_layout *layout, __u64 port, ev_node *out)
{
    __u64 specific = 0, node = 0, controller = 0, id = 0;

    if (otp_read(layout, port, OTP_PORT_SPECIFIC, &specific, sizeof specific) ||
        otp_read(layout, specific, OTP_PORT_NODE, &node, sizeof node) ||
        otp_read(layout, node, OTP_NODE_CONTROLLER, &controller, sizeof controller) ||
        otp_read(layout, port, OTP_PROC_ID, &id, sizeof id))
        return -1;
    if (controller == id)
        return hook_node(layout, node, out);
    probe_lose(LOSS_BAD_ARG);
    return -1;
}

/* ---- connections that a process carries */

/* What a process that carries a connection (over TLS, say) fetches its output for: the node, by pid and tgid. */
struct {
    __uint(type, BPF_MAP_TYPE_HASH);
    __uint(max_entries, 4096);
    __uint(map_flags, BPF_F_NO_PREALLOC);
    __type(key, hook_thread);
    __type(value, ev_node);
} fetching SEC(".maps");

/*
 * Where the memory of a magic reference keeps what is its own, the DistEntry of a connection's handle: from OTP 27 on
 * and before. The later place is tried first: a word before the one that names who carries the connection often names
 * it too.
 */
static const __u8 hook_magic_data[] = {56, 48};

/* How many binaries of one message are looked at: more are not told of, and counted as lost. */
enum { HOOK_MOST_BINARIES = 256 };

/*
 * The DistEntry of a connection's handle, {number, magic reference}. Which of the places it has is told by the process
 * that carries the connection, whom it must name. 0: none does.
 */
static __always_inline __u64 hook_handle_node(const struct otp_layout *layout, __u64 process, __u64 handle)
{
    __u64 pid = 0, controller = 0, tuple[3] = {0}, reference[2] = {0};

    if (otp_read(layout, process, OTP_PROC_ID, &pid, sizeof pid) || (handle & 3) != OTP_TAG_BOXED ||
        bpf_probe_read_user(tuple, sizeof tuple, (void *)(handle & ~7ull)) || tuple[0] != 2 << 6 ||
        (tuple[2] & 3) != OTP_TAG_BOXED ||
        bpf_probe_read_user(reference, sizeof reference, (void *)(tuple[2] & ~7ull)))
        return 0;
    for (__u32 i = 0; i < sizeof hook_magic_data; i++) {
        __u64 node = reference[1] + hook_magic_data[i];

        bpf_probe_read_user(&controller, sizeof controller, (void *)(node + layout->off[OTP_NODE_CONTROLLER]));
        if (controller == pid)
            return node;
    }
    return 0;
}

/* dist_ctrl_get_data_1(process, arguments). */
static __always_inline void hook_begin_fetch(const struct otp_layout *layout, __u64 process, __u64 arguments)
{
    __u64 handle = 0, thread = bpf_get_current_pid_tgid(), at;
    ev_node node = 0;

    bpf_probe_read_user(&handle, sizeof handle, (void *)arguments);
    at = hook_handle_node(layout, process, handle);
    if (!at)
        probe_lose(LOSS_BAD_ARG);
    else if (!hook_node(layout, at, &node) && bpf_map_update_elem(&fetching, &thread, &node, BPF_ANY))
        probe_lose(LOSS_MAP_FULL);
}

/* The bytes of a binary that is no part of another: a ProcBin, or from OTP 27 on what says where it starts and ends. */
static __always_inline __u64 hook_binary_size(const struct otp_layout *layout, __u64 term)
{
    bool has_ends = layout->off[OTP_SUB_BITS_START] != OTP_NOWHERE;
    __u64 words[2] = {0}, at = (term & ~7ull) + (has_ends ? layout->off[OTP_SUB_BITS_START] : 8);

    if (bpf_probe_read_user(words, sizeof words, (void *)at))
        probe_lose(LOSS_BAD_ARG);
    return has_ends ? (words[1] - words[0]) / 8 : words[0];
}

/* The bytes of what dist_ctrl_get_data_1 returned, {size, binaries} or the binaries alone. */
static __always_inline __u64 hook_fetched_size(const struct otp_layout *layout, __u64 term)
{
    __u64 words[2] = {0}, bytes = 0;

    if ((term & 3) == OTP_TAG_BOXED) {
        bpf_probe_read_user(words, sizeof words, (void *)(term & ~7ull));
        return words[0] == 2 << 6 ? words[1] >> 4 : 0;
    }
    for (__u32 i = 0; (term & 3) == OTP_TAG_LIST && i < HOOK_MOST_BINARIES; i++) {
        if (bpf_probe_read_user(words, sizeof words, (void *)(term & ~7ull)))
            break;
        bytes += hook_binary_size(layout, words[0]);
        term = words[1];
    }
    if (term != OTP_NIL)
        probe_lose(LOSS_BAD_ARG);
    return bytes;
}

#endif
