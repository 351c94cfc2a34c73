/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What the program that receives erlvm's batches hands on: a record of its ring buffer, a page of vm/batch_format.h
 * behind it.
 */
#ifndef BPF_BATCH_H
#define BPF_BATCH_H

#include "wire.h"

enum {
    BATCH_RING_SMALL_BYTES = 512,
    BATCH_RING_BYTES = 16 << 20,
    BATCH_RING_WAKE_BYTES = 1 << 20, /* so much waiting wakes the reader, who otherwise looks every BATCH_RING_LOOK_MS */
    BATCH_RING_LOOK_MS = 50,
};

struct batch_received {
    __u64 time_ns; /* CLOCK_MONOTONIC, when the page was handed over: the kernel's word, not the VM's */
    __u32 vm;
    __u32 bytes;   /* of the page behind this */
};

#endif
