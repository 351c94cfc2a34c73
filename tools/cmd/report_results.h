/* SPDX-License-Identifier: Apache-2.0 */
/* What erlsnoop report prints: events that are taken in order of time, and results of them. */
#ifndef TOOLS_REPORT_RESULTS_H
#define TOOLS_REPORT_RESULTS_H

#include "report_state.h"

/* Makes st->feed, which the caller frees. Fails: said. */
int report_results_begin(struct report_state *st);
/* Tells what happened until then, and on the way each result that ends. Fails: said. */
int report_results_until(struct report_state *st, uint64_t until_ns);
/*
 * The empty results of a long time in which nothing was recorded (between two files, or of a VM that stood still) are
 * not told: a line says how many. `newest_ns`: of the page that comes behind it. Fails: said.
 */
int report_results_skip_gap(struct report_state *st, uint64_t newest_ns);
/* What is left to tell when all was taken. Returns the exit status. */
int report_results_print(struct report_state *st);
/*
 * The first of what is needed that was not recorded; BATCH_EVENTS: none. *found: something was. The births and ends of
 * processes are not enough for a view that needs something else as well.
 */
size_t report_results_missing(const struct report_state *st, const struct wanted *needed, bool *found);

#endif
