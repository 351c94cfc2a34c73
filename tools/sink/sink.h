/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where results go: a row of common/sinks.def. A subcommand describes its tables once; rows, histograms and events look
 * right in every sink.
 *
 * Units: SINK_NS durations in nanoseconds, SINK_TIME CLOCK_MONOTONIC in nanoseconds; SINK_SIZE bytes, for people with
 * a unit that fits.
 */
#ifndef TOOLS_SINK_H
#define TOOLS_SINK_H

#include <stdio.h>

#include "common/options.h"
#include "common/wire_user.h"

enum sink_type {
    SINK_TEXT,
    SINK_COUNT,
    SINK_PERCENT,
    SINK_RATE,
    SINK_NS,
    SINK_WORDS,
    SINK_BYTES,
    SINK_SIZE,
    SINK_TIME
};

struct sink_column {
    const char *name; /* the key for programs, with sink_unit behind it; "time" is the object's own */
    const char *head;
    enum sink_type type;
    int width; /* at least; 0: by type, and for SINK_TEXT what stands in it; or, of the last column, one of these */
};

enum {
    SINK_WHOLE = -1,  /* never cut */
    SINK_FOLDED = -2, /* in a line of its own where it has no room */
};

enum { SINK_MAX_COLUMNS = 17, SINK_PAGE_BYTES = 1 << 17 };

/* Widths, with a space between, add up to 80 at most; what is wider makes its column wider. */
struct sink_table {
    const char *name;  /* "type", for programs */
    const char *title; /* line above the head, or NULL */
    const struct sink_column *columns;
    int ncolumns;
};

/* One cell. Text is untrusted, ends at its NUL, and is copied. */
struct sink_value {
    enum { SINK_NUMBER, SINK_REAL, SINK_STRING, SINK_ABSENT } kind;
    union {
        uint64_t number;
        double real;
        const char *text;
    };
};

#define SINK_N(v) ((struct sink_value){SINK_NUMBER, {.number = (v)}})
#define SINK_R(v) ((struct sink_value){SINK_REAL, {.real = (v)}})
#define SINK_S(v) ((struct sink_value){SINK_STRING, {.text = (v)}})
#define SINK_NONE ((struct sink_value){SINK_ABSENT, {0}})

/* Of a text that is empty where it is not known. */
static inline struct sink_value sink_text(const char *text)
{
    return *text ? SINK_S(text) : SINK_NONE;
}

/* Rows of one table that wait to be printed. */
struct sink_page {
    const struct sink_table *table;
    int widths[SINK_MAX_COLUMNS]; /* columns of the widest cell so far */
    size_t used;
    char cells[SINK_PAGE_BYTES]; /* row by row; each ends with its NUL */
};

struct sink {
    const struct sink_ops *ops;
    FILE *out;
    bool timestamps;
    bool one_vm; /* there is no other: text tables leave out the column "vm". Set it after sink_init */
    unsigned sampled; /* one of so many seconds was watched, which every line says; 0: all were. Set by sink_sample */
    uint64_t wall_offset_ns;         /* CLOCK_REALTIME - CLOCK_MONOTONIC at the start */
    uint64_t now_ns;                 /* CLOCK_MONOTONIC of the result being printed */
    const struct sink_table *headed; /* the table whose head was printed last */
    bool printed;                    /* something, since the result was opened */
    struct sink_page page;
};

struct sink_ops {
    bool for_programs; /* who reads wants all of it: no list is cut, no text folded */
    void (*moment)(struct sink *sink); /* may be NULL */
    void (*heading)(struct sink *sink, const char *name, const char *text); /* may be NULL */
    void (*row)(struct sink *sink, const struct sink_table *table, const struct sink_value *values);
    void (*hist)(struct sink *sink, const char *name, const char *title, enum sink_type type,
                 const struct wire_hist *hist);
    void (*flush)(struct sink *sink); /* what waits goes to `out`; may be NULL */
};

/* Results go to `out`, which leads to standard output: where that is a terminal, lines fit it. Ends with sink_flush or
 * sink_end. */
void sink_init(struct sink *sink, FILE *out, enum options_form form, bool timestamps);
/* Opens a result: what is printed until the next belongs to `now_ns`. */
void sink_moment(struct sink *sink, uint64_t now_ns);
/* What is printed from now on is of one of so many seconds; 0: of all. */
void sink_sample(struct sink *sink, unsigned sampled);
/* What stands below answers this question: a line for people, nothing for programs. */
void sink_heading(struct sink *sink, const char *name, const char *text);
void sink_row(struct sink *sink, const struct sink_table *table, const struct sink_value *values);
/* A histogram of SINK_NS or SINK_COUNT, with its percentiles; nothing when it is empty. */
void sink_hist(struct sink *sink, const char *name, const char *title, enum sink_type type,
               const struct wire_hist *hist);
/* A row of the table of what was not told, and why; nothing when it is 0. */
void sink_lost(struct sink *sink, uint64_t count, const char *why);
/* A cell with that percentile; absent when too few values were counted for it. */
struct sink_value sink_percentile(const struct wire_hist *hist, double share);
/* What was printed so far leaves. Fails: -EPIPE when the reader is gone, another -errno when writing failed. */
int sink_flush(struct sink *sink);
/* The same at the end, with the message; a reader that is gone is no failure. */
int sink_end(struct sink *sink);

/* "2.34 ms", 9 columns at most. */
void sink_format_ns(char *out, size_t size, uint64_t ns);
/* "1.23 MB", 7 columns at most; units are powers of 1,000. */
void sink_format_size(char *out, size_t size, uint64_t bytes);
/* CLOCK_MONOTONIC as local "12:34:56.123456", or with its date as ISO 8601. */
void sink_format_time(const struct sink *sink, char *out, size_t size, uint64_t ns, bool iso);

/* What is added to the key of such a column: "_ns", "_per_s", ..., "". */
const char *sink_unit(enum sink_type type);
/* The time of a row, CLOCK_MONOTONIC: its own; without, that of the result or record it belongs to. */
uint64_t sink_row_time(const struct sink *sink, const struct sink_table *table, const struct sink_value *values);
void sink_hist_print(struct sink *sink, const char *name, const char *title, enum sink_type type,
                     const struct wire_hist *hist);

#endif
