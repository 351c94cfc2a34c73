/* SPDX-License-Identifier: Apache-2.0 */
/* Reading of log-linear histograms (struct wire_hist). */
#ifndef TOOLS_HIST_H
#define TOOLS_HIST_H

#include "common/wire_user.h"

static inline void hist_add(struct wire_hist *hist, uint64_t value)
{
    int log = value ? 63 - __builtin_clzll(value) : 0, step = log - WIRE_HIST_STEP_BITS;
    uint64_t slot = value;

    if (value >= WIRE_HIST_STEPS)
        slot = (uint64_t)(step + 1) * WIRE_HIST_STEPS + (value >> step) % WIRE_HIST_STEPS;

    hist->slots[slot < WIRE_HIST_SLOTS ? slot : WIRE_HIST_SLOTS - 1]++;
    hist->count++;
    hist->sum += value;
    hist->max = value > hist->max ? value : hist->max;
}

/* The time of a result: the values that were counted, with shares in place of those that last over several. */
static inline uint64_t hist_time(const struct wire_hist *hist)
{
    return hist->sum + hist->shared;
}

/* The least value of a slot; of WIRE_HIST_SLOTS, where the last slot ends. */
uint64_t hist_slot_low(int slot);
/*
 * Whether so many values were counted that a `share` (0 to 1) of them means something: one value at least lies above.
 */
bool hist_has_percentile(const struct wire_hist *hist, double share);
/* The value below which `share` of the counts lie: the middle of its slot, at most 1/16 wrong; never above max. */
uint64_t hist_percentile(const struct wire_hist *hist, double share);
/* now - then, slot by slot; max stays that of `now`, cut to the highest slot that is left. */
void hist_subtract(struct wire_hist *now, const struct wire_hist *then);
/* Adds all that was counted; max is the greater. */
void hist_merge(struct wire_hist *to, const struct wire_hist *from);
/* Cuts a max that is older than the counts to the end of their highest slot. */
void hist_bound_max(struct wire_hist *hist);

/* The percentiles that every histogram is told with, their names in text and JSON: PERCENTILE(share, text, name). */
#define HIST_PERCENTILES(PERCENTILE)                                                               \
    PERCENTILE(0.5, "p50", "p50")                                                                  \
    PERCENTILE(0.99, "p99", "p99")                                                                 \
    PERCENTILE(0.999, "p99.9", "p99_9")

#endif
