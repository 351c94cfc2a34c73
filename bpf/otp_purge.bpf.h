/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Purges of code of a stock emulator, the only way in which code goes: a function is told by its address, and from a
 * purge on another may have the address. They are numbered by the VM from 1. Invariant: a purge is counted before its
 * code goes, and each module's last one is in the map or its number in purged_others.
 */
#ifndef BPF_OTP_PURGE_BPF_H
#define BPF_OTP_PURGE_BPF_H

#include "otp.bpf.h"

/* The number of the last purge of each module that was in one. */
struct {
    __uint(type, BPF_MAP_TYPE_HASH);
    __uint(max_entries, 16384);
    __uint(map_flags, BPF_F_NO_PREALLOC);
    __type(key, struct otp_purge_key);
    __type(value, __u64);
} otp_purged SEC(".maps");

/* erts_internal:purge_module(module, what): the process, and a pointer to the arguments */
SEC("uprobe")
int at_code__purge(struct pt_regs *ctx)
{
    struct otp_layout *layout = otp_layout_of(ctx);
    struct otp_purge_key key = {.slot = bpf_get_attach_cookie(ctx)};
    __u64 module = 0, number;

    if (!layout)
        return 0;
    number = __sync_fetch_and_add(&layout->purges, 1) + 1;
    bpf_probe_read_user(&module, sizeof module, (void *)FIXES_CTX_LOAD(ctx, si));
    key.module = otp_atom(module);
    if (key.module == (__u32)WIRE_NO_ATOM || bpf_map_update_elem(&otp_purged, &key, &number, BPF_ANY))
        layout->purged_others = number;
    return 0;
}

#endif
