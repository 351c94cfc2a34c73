/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Metrics as text: OpenMetrics 1.0, or for whoever asks for it the text format 0.0.4 of Prometheus, which has no units,
 * exemplars, times of creation and end.
 *
 *   struct openmetrics om = {out, false, NULL};
 *   openmetrics_family(&om, &family);
 *   openmetrics_value(&om, labels, 23, begun_ns);   for each of its series
 *   openmetrics_end(&om);
 */
#ifndef TOOLS_SINK_OPENMETRICS_H
#define TOOLS_SINK_OPENMETRICS_H

#include <stdbool.h>
#include <stdio.h>

#include "common/wire_user.h"

enum openmetrics_type { OPENMETRICS_COUNTER, OPENMETRICS_GAUGE, OPENMETRICS_HISTOGRAM, OPENMETRICS_INFO };

/* What numbers are given in; they are told in the base unit. */
enum openmetrics_unit {
    OPENMETRICS_ONE,
    OPENMETRICS_NS,    /* told in seconds */
    OPENMETRICS_WORDS, /* of 8 bytes, told in bytes */
    OPENMETRICS_BYTES,
    OPENMETRICS_BILLIONTHS, /* told as a ratio: 1 is all */
};

struct openmetrics_family {
    char name[96]; /* without the unit, _total and _info, which are added */
    enum openmetrics_type type;
    enum openmetrics_unit unit;
    const char *help; /* ours: without quotes and backslashes */
};

struct openmetrics {
    FILE *out;
    bool prometheus; /* text format 0.0.4 */
    const struct openmetrics_family *family;
};

/*
 * Buckets of a histogram end at powers of two, the same ones for all histograms of a unit, so that they can be added
 * up: of NS 2^10 (a microsecond) to 2^40 (18 minutes), else 2^0 to 2^24.
 */
enum { OPENMETRICS_BUCKETS = 32, OPENMETRICS_LABEL_BYTES = 256, OPENMETRICS_LABELS_BYTES = 2048 };

/* A value that was counted, and the process it is of; value 0: there is none. */
struct openmetrics_exemplar {
    uint64_t value, time_ns; /* time_ns: CLOCK_REALTIME */
    char pid[WIRE_PID_TEXT];
};

/* The bucket that a value falls into, less than OPENMETRICS_BUCKETS. */
size_t openmetrics_bucket(enum openmetrics_unit unit, uint64_t value);

/* Opens a family, whose series follow; it stays the caller's, until the next. */
void openmetrics_family(struct openmetrics *om, const struct openmetrics_family *family);
/* A label's value as it stands in the text, but for its escapes: harmless on a terminal, and cut. Two that are the same
 * here are one. */
void openmetrics_text(char out[OPENMETRICS_LABEL_BYTES], const char *untrusted);
/* Adds a label to those in `labels`, which begin empty; one that finds no room is left out. */
void openmetrics_label(char labels[OPENMETRICS_LABELS_BYTES], const char *name, const char *untrusted);
/* A series that is one number. created_ns: CLOCK_REALTIME when it was zero; 0: that is not told, nor of a gauge. */
void openmetrics_value(struct openmetrics *om, const char *labels, uint64_t value, uint64_t created_ns);
/* One that is a histogram; exemplars: OPENMETRICS_BUCKETS, or NULL. */
void openmetrics_hist(struct openmetrics *om, const char *labels, const struct wire_hist *hist,
                      const struct openmetrics_exemplar *exemplars, uint64_t created_ns);
void openmetrics_end(struct openmetrics *om);

#endif
