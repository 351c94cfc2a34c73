/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Filling a log-linear histogram (struct wire_hist). Several CPUs may add to one.
 */
#ifndef BPF_HIST_BPF_H
#define BPF_HIST_BPF_H

#include "probe.bpf.h"

/* The place of the highest bit that is set. */
static __always_inline __u32 hist_log2(__u64 v)
{
    __u32 log = 0;

    for (__u32 bits = 32; bits; bits >>= 1) {
        if (v >> bits) {
            v >>= bits;
            log += bits;
        }
    }
    return log;
}

static __always_inline __u32 hist_slot(__u64 v)
{
    __u32 log = hist_log2(v), step;

    if (v < WIRE_HIST_STEPS)
        return v;
    step = log - WIRE_HIST_STEP_BITS;
    return (step + 1) * WIRE_HIST_STEPS + (v >> (step & 63)) % WIRE_HIST_STEPS;
}

static __always_inline void hist_add(struct wire_hist *hist, __u64 value)
{
    __u32 slot = hist_slot(value);

    if (slot >= WIRE_HIST_SLOTS)
        slot = WIRE_HIST_SLOTS - 1;
    FIXES_OPAQUE(slot);
    if (slot < WIRE_HIST_SLOTS)
        __sync_fetch_and_add(&hist->slots[slot], 1);
    __sync_fetch_and_add(&hist->count, 1);
    __sync_fetch_and_add(&hist->sum, value);
    /* 4 tries: a value that loses them all is beaten by a greater one nearly always */
    for (int i = 0; i < 4; i++) {
        __u64 max = hist->max;

        if (value <= max || __sync_val_compare_and_swap(&hist->max, max, value) == max)
            break;
    }
}

#endif
