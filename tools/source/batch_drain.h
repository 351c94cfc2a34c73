/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Whether threads of VMs may still hold events of before a moment. A thread that sleeps holds nothing once
 * BATCH_PATIENCE_MS are over, as it wakes to hand its page over; one that runs, or waits for a processor, holds
 * nothing of before when it has told a page that was begun since.
 */
#ifndef TOOLS_BATCH_DRAIN_H
#define TOOLS_BATCH_DRAIN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/wire_user.h"

#include "../../bpf/batch.h"

struct batch_drain {
    uint64_t since_ns; /* CLOCK_MONOTONIC; 0: nobody asks */
    struct batch_drained {
        uint32_t vm, tid;
    } *threads; /* that told such a page */
    size_t n;
};

/* A page came. */
void batch_drain_take(struct batch_drain *drain, const struct batch_received *received);
/* Of that VM, when BATCH_PATIENCE_MS are over since. */
bool batch_drain_waits(const struct batch_drain *drain, int vm);
void batch_drain_free(struct batch_drain *drain);

#endif
