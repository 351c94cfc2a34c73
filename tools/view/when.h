/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A threshold of a view: `msglat.p99 > 50ms`.
 */
#ifndef TOOLS_WHEN_H
#define TOOLS_WHEN_H

#include "result.h"

struct when {
    const char *text;  /* as it was written */
    enum view_id view;
    const struct view_column *column; /* over all rows of its table */
    bool above;        /* it is met above the limit, else below */
    uint64_t limit;    /* nanoseconds, or a number */
    bool met;          /* at the last look, by `value` */
    uint64_t value;
};

/* `text` stays the caller's. Fails: FAIL_USAGE, said. */
int when_parse(const char *text, struct when *out);
/*
 * Whether what the reader (RESULT_SUMS) gathered since the last look meets it, and the look before did not. A
 * percentile that too few values were counted for meets nothing, nor does a greatest of none. Empties the reader.
 */
bool when_look(struct when *w, struct result_reader *reader);
/* Says on standard error by what it was met. */
void when_tell(const struct when *w);

/* Whether columns of the kind are numbers of a row, which may be compared. */
bool when_is_value(enum view_kind kind);
/* The column's value in the row: nanoseconds, words, bytes, or a number; false: it has none. */
bool when_value(const struct view_column *column, const uint64_t *row, uint64_t *out);

#endif
