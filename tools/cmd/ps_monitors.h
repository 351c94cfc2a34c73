/* SPDX-License-Identifier: Apache-2.0 */
/* Who holds how many monitors, and how many more than before: the table of erlsnoop ps --monitors. */
#ifndef TOOLS_PS_MONITORS_H
#define TOOLS_PS_MONITORS_H

#include "ps_texts.h"

struct ps_monitors;

/* top: so many rows, 0: all. Owns: ps_monitors_free frees. NULL: out of memory. */
struct ps_monitors *ps_monitors_new(size_t top);
void ps_monitors_free(struct ps_monitors *monitors);
/*
 * Those who watch most, first; once it was printed before, those who watch most more than then. repeats: it is to be
 * printed again. Fails: as snapshot_processes; -ENOTSUP: an erlvm that is older than this.
 */
int ps_monitors_print(struct ps_monitors *monitors, const struct inspected *vm, bool repeats, struct sink *sink);

#endif
