/* SPDX-License-Identifier: Apache-2.0 */
/* Reading of power-of-two histograms (struct wire_hist). */
#ifndef TOOLS_HIST_H
#define TOOLS_HIST_H

#include "wire_user.h"

/* The value below which `share` (0 to 1) of the counts lie, interpolated in its slot; never above max. */
uint64_t hist_percentile(const struct wire_hist *hist, double share);
/* now - then, slot by slot; max stays that of `now`, cut to the highest slot that is left. */
void hist_subtract(struct wire_hist *now, const struct wire_hist *then);
void hist_merge(struct wire_hist *to, const struct wire_hist *from);
/* Cuts a max that is older than the counts to the end of their highest slot. */
void hist_bound_max(struct wire_hist *hist);

#endif
