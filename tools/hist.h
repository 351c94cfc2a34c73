/* SPDX-License-Identifier: Apache-2.0 */
/* Reading of power-of-two histograms (struct wire_hist). */
#ifndef TOOLS_HIST_H
#define TOOLS_HIST_H

#include "wire_user.h"

/* The value below which `share` (0 to 1) of the counts lie, interpolated in its slot; never above max. */
uint64_t hist_percentile(const struct wire_hist *hist, double share);
/* now - then, slot by slot; max stays that of `now`. */
void hist_subtract(struct wire_hist *now, const struct wire_hist *then);

#endif
