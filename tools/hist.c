/* SPDX-License-Identifier: Apache-2.0 */
/* Invariant: a percentile lies in the slot that holds it. */
#include "hist.h"

uint64_t hist_percentile(const struct wire_hist *hist, double share)
{
    uint64_t total = 0, seen = 0;

    for (int i = 0; i < WIRE_HIST_SLOTS; i++)
        total += hist->slots[i];

    double wanted = share * (double)total;

    for (int i = 0; i < WIRE_HIST_SLOTS; i++) {
        uint64_t here = hist->slots[i];

        if (here && (double)(seen + here) >= wanted) {
            double low = i ? (double)(1ull << i) : 0, width = i ? low : 2;
            double value = low + width * (wanted - (double)seen) / (double)here;

            return value > (double)hist->max ? hist->max : (uint64_t)value;
        }
        seen += here;
    }
    return hist->max;
}

void hist_subtract(struct wire_hist *now, const struct wire_hist *then)
{
    for (int i = 0; i < WIRE_HIST_SLOTS; i++)
        now->slots[i] -= then->slots[i];
    now->count -= then->count;
    now->sum -= then->sum;
    hist_bound_max(now);
}

void hist_merge(struct wire_hist *to, const struct wire_hist *from)
{
    for (int i = 0; i < WIRE_HIST_SLOTS; i++)
        to->slots[i] += from->slots[i];
    to->count += from->count;
    to->sum += from->sum;
    to->max = from->max > to->max ? from->max : to->max;
}

void hist_bound_max(struct wire_hist *hist)
{
    int top = WIRE_HIST_SLOTS - 1;

    while (top >= 0 && !hist->slots[top])
        top--;
    if (top < 0)
        hist->max = 0;
    else if (top < WIRE_HIST_SLOTS - 1 && hist->max > (2ull << top) - 1)
        hist->max = (2ull << top) - 1;
}
