/* SPDX-License-Identifier: Apache-2.0 */
#include "report_counts.h"

#include <errno.h>
#include <stdlib.h>

#include "common/fail.h"

enum { TIMES = 20, MAX_FINE = 1 << 20 };
#define FINE_NS 10000000ull /* of the times that are counted; ten times as much where they get too many */

/* Ten of the times that are counted become one. */
static void coarsen(struct report_counts *c)
{
    for (size_t i = 0; i < c->nfine; i++) {
        uint64_t count = c->fine[i];

        c->fine[i] = 0;
        c->fine[i / 10] += count;
    }
    c->nfine = c->nfine / 10 + 1;
    c->fine_ns *= 10;
}

static void count_time(struct report_counts *c, uint64_t ns)
{
    uint64_t since, at;

    if (!c->events)
        c->first_ns = ns;
    if (ns > c->last_ns)
        c->last_ns = ns;
    since = ns > c->first_ns ? ns - c->first_ns : 0;
    while ((at = since / c->fine_ns) >= MAX_FINE)
        coarsen(c);
    if (at >= c->nfine)
        c->nfine = at + 1;
    c->fine[at]++;
}

void report_counts_add(struct report_counts *c, const struct ev_head *head)
{
    count_time(c, head->time_ns);
    c->events++;
    c->by_event[head->event]++;
}

int report_counts_init(struct report_counts *c)
{
    c->fine = calloc(MAX_FINE, sizeof *c->fine);
    c->fine_ns = FINE_NS;
    return c->fine ? 0 : fail(-ENOMEM, "out of memory");
}

void report_counts_free(struct report_counts *c)
{
    free(c->fine);
}

double report_counts_seconds(const struct report_counts *c)
{
    return (double)(c->last_ns - c->first_ns) / 1e9;
}

void report_counts_print_totals(const struct report_counts *c, struct sink *sink)
{
    static const struct sink_column columns[] = {{"events", "EVENTS", SINK_COUNT, 0}, {"events", "PER S", SINK_RATE, 0},
                                                 {"begun", "BEGUN", SINK_TIME, 0}, {"took", "TOOK", SINK_NS, 0}};
    static const struct sink_table table = {"report", NULL, columns, 4};
    double seconds = report_counts_seconds(c);

    sink_row(sink, &table,
             (struct sink_value[]){SINK_N(c->events), seconds > 0 ? SINK_R((double)c->events / seconds) : SINK_NONE,
                                   c->events ? SINK_N(c->first_ns) : SINK_NONE, SINK_N(c->last_ns - c->first_ns)});
}

struct count {
    enum batch_event event;
    uint64_t count;
};

static int compare_counts(const void *a, const void *b)
{
    const struct count *x = a, *y = b;

    return x->count != y->count ? (x->count < y->count) - (x->count > y->count) : (int)x->event - (int)y->event;
}

void report_counts_print_probes(const struct report_counts *c, struct sink *sink)
{
    static const struct sink_column columns[] = {
        {"events", "EVENTS", SINK_COUNT, 0}, {"events", "PER S", SINK_RATE, 0}, {"probe", "PROBE", SINK_TEXT, -1}};
    static const struct sink_table table = {"report_by_probe", NULL, columns, 3};
    struct count counts[BATCH_EVENTS];
    double seconds = report_counts_seconds(c);

    for (unsigned e = 0; e < BATCH_EVENTS; e++)
        counts[e] = (struct count){(enum batch_event)e, c->by_event[e]};
    qsort(counts, BATCH_EVENTS, sizeof *counts, compare_counts);
    for (unsigned i = 0; i < BATCH_EVENTS && counts[i].count; i++)
        sink_row(sink, &table,
                 (struct sink_value[]){SINK_N(counts[i].count),
                                       seconds > 0 ? SINK_R((double)counts[i].count / seconds) : SINK_NONE,
                                       SINK_S(event_row(counts[i].event)->name)});
}

/*
 * How many of the times that were counted make a row, so that rows are no more than TIMES, and of a width that reads
 * well.
 */
static size_t row_width(size_t nfine)
{
    static const size_t steps[] = {1, 2, 5};
    size_t width = 1;

    for (size_t i = 0, ten = 1; (nfine + width - 1) / width > TIMES; i++) {
        ten *= i && i % 3 == 0 ? 10 : 1;
        width = steps[i % 3] * ten;
    }
    return width;
}

void report_counts_print_times(const struct report_counts *c, struct sink *sink)
{
    static const struct sink_column columns[] = {
        {"from", "FROM", SINK_TIME, 0}, {"for", "FOR", SINK_NS, 0}, {"events", "EVENTS", SINK_COUNT, 0}};
    static const struct sink_table table = {"report_by_time", NULL, columns, 3};
    size_t width = row_width(c->nfine);

    for (size_t i = 0; i < c->nfine; i += width) {
        uint64_t count = 0;

        for (size_t j = i; j < i + width && j < c->nfine; j++)
            count += c->fine[j];
        sink_row(
            sink, &table,
            (struct sink_value[]){SINK_N(c->first_ns + i * c->fine_ns), SINK_N(width * c->fine_ns), SINK_N(count)});
    }
}
