/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What views (bpf/views.def) counted of a VM while it was looked at: rows, by the structs of bpf/views.h. Names are
 * texts already, so that they are known of what has ended, too.
 */
#ifndef TOOLS_COUNTED_H
#define TOOLS_COUNTED_H

#include "view/result.h"

struct counted_row {
    char *name; /* untrusted; of a TOTAL table "" */
    void *row;  /* struct row_<view>_<table> */
};

struct counted_table {
    struct counted_row *rows; /* the heaviest first */
    size_t n, room;
};

/* One of the slowest. */
struct counted_slow {
    void *record;       /* struct told_<view>_<event> */
    char *owner, *what; /* untrusted, "": not known; what: of a call its server */
};

struct counted_slowest {
    struct counted_slow *records; /* the slowest first */
    size_t n, room;
};

struct counted {
    bool asked[VIEW_COUNT], told[VIEW_COUNT]; /* told: the VM tells it, and what it told was read */
    char why[256];                            /* why what was asked was not told, or not to the end; "": it was */
    double seconds;                           /* that were watched; never 0 */
    double share;                             /* of the time, that was watched */
    struct counted_table tables[VIEW_NTABLES];
    struct counted_slowest slowest[VIEW_NSLOWEST];
    int err; /* -ENOMEM: something is not there */
};

/* Takes what a reader has gathered. `source`: where it comes from, for the names of the slowest. Fails: -ENOMEM. */
int counted_take(struct counted *counted, const struct result_source *source, struct result_reader *gathered);
void counted_free(struct counted *counted);

/* Row number i of a table; NULL: there are no more. name: may be NULL. All of `counted` may be NULL: there is none. */
const void *counted_row(const struct counted *counted, enum view_table_id table, size_t i, const char **name);
/* The row of that name, or number; NULL: there is none. */
const void *counted_find(const struct counted *counted, enum view_table_id table, const char *name);
const void *counted_number(const struct counted *counted, enum view_table_id table, uint64_t number);
const struct counted_slow *counted_slow(const struct counted *counted, enum view_slowest_id id, size_t i);

/* The words of `needs` of findings.def: views, one that the rule can do without with a '?' behind it. */
struct counted_need {
    const char *next; /* begins as the words; NULL: there is none */
    enum view_id view;
    bool must;
};
bool counted_next_need(struct counted_need *need);
/* Whether all that must be told was. `lacks`: the first that was not; may be NULL. */
bool counted_serves(const struct counted *counted, const char *needs, enum view_id *lacks);

#endif
