/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* How often programs ran for each VM: what watching costs is shared among VMs by that. */
#ifndef BPF_HITS_BPF_H
#define BPF_HITS_BPF_H

#include "probe.bpf.h"
#include "otp.h"

/* By process id; user space makes the entries. */
SHARED struct {
    __uint(type, BPF_MAP_TYPE_PERCPU_HASH);
    __uint(max_entries, OTP_MAX_LAYOUTS);
    __type(key, __u32);
    __type(value, __u64);
} vm_hits SEC(".maps");

/* A program runs for this VM. Where there is only one, all runs are its own, and nothing is counted. */
static __always_inline void hits_count(__u32 vm)
{
    __u64 *hits = probe_config.vm ? 0 : bpf_map_lookup_elem(&vm_hits, &vm);

    if (hits)
        __sync_fetch_and_add(hits, 1);
}

#endif
