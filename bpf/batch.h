/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What the program that receives erlvm's batches hands on: a record of a ring buffer, a page of vm/batch_format.h
 * behind it. The ring buffer is small, so that its bytes are still in the processor's cache when they are written
 * again: a page is copied there in a quarter of the time. While it is full, pages go to a second one, large enough for
 * what a flood brings until a busy reader comes.
 */
#ifndef BPF_BATCH_H
#define BPF_BATCH_H

#include "wire.h"

enum {
    BATCH_RING_SMALL_BYTES = 512,
    BATCH_RING_BYTES = 2 << 20,
    BATCH_SPILL_BYTES = 16 << 20,
    /* So much waiting wakes the reader, who otherwise looks every BATCH_RING_LOOK_MS. */
    BATCH_RING_WAKE_BYTES = 512 << 10,
    BATCH_RING_LOOK_MS = 50,
};

struct batch_received {
    __u64 time_ns; /* CLOCK_MONOTONIC, before there was room for this: the kernel's word, not the VM's */
    __u32 vm;
    __u32 bytes;   /* of the page behind this */
};

#endif
