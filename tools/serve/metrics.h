/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What views counted since the start, by VM, as metrics: results are added, whoever asks prints them. Times are
 * CLOCK_MONOTONIC in nanoseconds.
 *
 *   metrics_new(&settings, &m);
 *   at each result:  metrics_begin(m, now_ns);  metrics_see(m, &vm) for each VM;
 *                    result_visit(reader, &visitor);  of metrics_row, metrics_open and m
 *                    metrics_finish(m, &own);
 *   for a scrape:    metrics_print(m, out, prometheus);
 */
#ifndef TOOLS_METRICS_H
#define TOOLS_METRICS_H

#include "session/session.h"
#include "view/result.h"

struct metrics;

struct metrics_settings {
    const bool *on; /* VIEW_COUNT; stays the caller's */
    const char *version;
    uint64_t start_ns, wall_offset_ns; /* CLOCK_REALTIME - CLOCK_MONOTONIC */
    uint64_t linger_ns;                /* a VM that ended is served for so long */
    /* The name of a VM, untrusted; empty: it has none. */
    void (*name)(int pid, char *out, size_t size);
};

/* A VM that runs. */
struct metrics_vm {
    int pid;
    unsigned long long started; /* what tells it from others of that pid */
    bool watched;               /* else it is there, and cannot be watched */
    struct wanted unavailable;       /* as of struct result_source */
};

/* Of erlsnoop itself, since the start. */
struct metrics_own {
    struct {
        const char *why; /* stays */
        uint64_t count;
    } losses[SESSION_LOSSES];
    size_t nlosses;
    uint64_t cpu_ns, resident_bytes;
    struct session_cost cost;
    uint64_t bpf_ns, bpf_runs;
    bool bpf_known; /* else the kernel does not measure its programs */
};

/* Fails: -ENOMEM. */
int metrics_new(const struct metrics_settings *settings, struct metrics **out);
void metrics_free(struct metrics *m);
void metrics_begin(struct metrics *m, uint64_t now_ns);
void metrics_see(struct metrics *m, const struct metrics_vm *vm);
/* As of struct result_visitor. */
void metrics_row(void *ctx, const struct view_table *table, uint32_t vm, const char *name, uint64_t *row);
void metrics_open(void *ctx, enum view_open_id id, const struct open_vm *vm);
/* A record of a view: an exemplar of a row of the next result. */
void metrics_record(struct metrics *m, const struct result_source *source, const struct wire_header *header,
                    size_t size);
void metrics_finish(struct metrics *m, const struct metrics_own *own);
/* All of it. prometheus: text format 0.0.4, else OpenMetrics. */
void metrics_print(const struct metrics *m, FILE *out, bool prometheus);

#endif
