/* SPDX-License-Identifier: Apache-2.0 */
/* What erlsnoop report counts of events: by probe, and by time since the first. */
#ifndef TOOLS_REPORT_COUNTS_H
#define TOOLS_REPORT_COUNTS_H

#include "event/event.h"
#include "sink/sink.h"

struct report_counts {
    uint64_t by_event[BATCH_EVENTS], events;
    uint64_t first_ns, last_ns;
    uint64_t *fine, fine_ns;
    size_t nfine;
};

/* Fails: -ENOMEM, said. */
int report_counts_init(struct report_counts *c);
void report_counts_free(struct report_counts *c);
void report_counts_add(struct report_counts *c, const struct ev_head *head);
/* From the first to the last. */
double report_counts_seconds(const struct report_counts *c);
void report_counts_print_totals(const struct report_counts *c, struct sink *sink);
void report_counts_print_probes(const struct report_counts *c, struct sink *sink);
void report_counts_print_times(const struct report_counts *c, struct sink *sink);

#endif
