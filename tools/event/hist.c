/* SPDX-License-Identifier: Apache-2.0 */
/* Invariant: a percentile lies in the slot that holds it. */
#include "hist.h"

uint64_t hist_slot_low(int slot)
{
    int step = slot / WIRE_HIST_STEPS;

    if (step == 0)
        return (uint64_t)slot;
    return (uint64_t)(WIRE_HIST_STEPS + slot % WIRE_HIST_STEPS) << (step - 1);
}

static uint64_t count_all(const struct wire_hist *hist)
{
    uint64_t total = 0;

    for (int i = 0; i < WIRE_HIST_SLOTS; i++)
        total += hist->slots[i];
    return total;
}

bool hist_has_percentile(const struct wire_hist *hist, double share)
{
    /* shares are no binary fractions: 0.999 of 1,000 leaves one */
    return (double)count_all(hist) * (1 - share) > 1 - 1e-6;
}

static uint64_t middle(int slot)
{
    uint64_t low = hist_slot_low(slot);

    return low + (hist_slot_low(slot + 1) - low) / 2;
}

uint64_t hist_percentile(const struct wire_hist *hist, double share)
{
    double wanted = share * (double)count_all(hist);
    uint64_t seen = 0;

    for (int i = 0; i < WIRE_HIST_SLOTS; i++) {
        seen += hist->slots[i];
        if (hist->slots[i] && (double)seen >= wanted)
            return i == WIRE_HIST_SLOTS - 1 || middle(i) > hist->max ? hist->max : middle(i);
    }
    return hist->max;
}

void hist_subtract(struct wire_hist *now, const struct wire_hist *then)
{
    for (int i = 0; i < WIRE_HIST_SLOTS; i++)
        now->slots[i] -= then->slots[i];
    now->count -= then->count;
    now->sum -= then->sum;
    now->shared -= then->shared;
    now->shares -= then->shares;
    hist_bound_max(now);
}

void hist_merge(struct wire_hist *to, const struct wire_hist *from)
{
    for (int i = 0; i < WIRE_HIST_SLOTS; i++)
        to->slots[i] += from->slots[i];
    to->count += from->count;
    to->sum += from->sum;
    to->shared += from->shared;
    to->shares += from->shares;
    to->max = from->max > to->max ? from->max : to->max;
}

void hist_bound_max(struct wire_hist *hist)
{
    int top = WIRE_HIST_SLOTS - 1;

    while (top >= 0 && !hist->slots[top])
        top--;
    if (top < 0)
        hist->max = 0;
    else if (top < WIRE_HIST_SLOTS - 1 && hist->max >= hist_slot_low(top + 1))
        hist->max = hist_slot_low(top + 1) - 1;
}
