/* SPDX-License-Identifier: Apache-2.0 */
/* What the tables and records of views hold, as rows of a sink; wherever they were counted. */
#ifndef TOOLS_RESULT_H
#define TOOLS_RESULT_H

#include "kept.h"
#include "open.h"
#include "shares.h"
#include "views.h"
#include "wanted.h"

struct result_row {
    uint32_t vm;
    uint64_t key;    /* a NUMBER table's number */
    uint64_t *words; /* struct row_<view>_<table> */
};

/* A table that was read. */
struct result_taken {
    struct result_row *rows;
    size_t nrows, row_bytes;
    uint64_t *rest;  /* what there was no room for; of a TOTAL table its row, or what is in no row of a VM */
    uint64_t *whole; /* what of it comes from VMs that were watched all the time though the others were not */
};
/* Adds a copy of a row. Fails: -ENOMEM. */
int result_add(struct result_taken *taken, uint32_t vm, uint64_t key, const uint64_t *words);

/* Where results come from, and go to. */
struct result_source {
    void *ctx;
    /* Reads a table and empties it: rows by result_add, the rest into *out->rest. Fails: -errno. */
    int (*take)(void *ctx, const struct view_table *table, struct result_taken *out);
    /* The text of a name: untrusted, good until the next. */
    const char *(*name)(void *ctx, uint32_t vm, const struct wire_name *name);
    struct sink *sink;
    double seconds;       /* that were watched */
    double whole_seconds; /* that the result covers */
    /* Reads the slowest and empties it, by kept_take, as many as were to be kept. Fails: -errno. NULL: there are
     * none. */
    int (*slowest)(void *ctx, enum view_slowest_id id, struct result_kept *out);
    const struct view_order *order; /* of the views of a result; NULL: that of views.def */
    const __u64 *shown; /* VIEW_NSLOWEST: of each so many are printed */
    /* What a VM, or some VM (0), does not tell, so that 0 says nothing of it. Good until the next. NULL: all tell
     * all. */
    const struct wanted *(*unavailable)(void *ctx, uint32_t vm);
    /* What is under way: tells the taker each state, and returns what that does. NULL: that is not told. */
    int (*open)(void *ctx, enum view_state_id state, const struct open_taker *taker);
    /* Whether the VM has ended: nothing is under way in it. NULL: none has. */
    bool (*ended)(void *ctx, uint32_t vm);
    uint64_t now_ns; /* CLOCK_MONOTONIC: when */
    struct open_shares *shares;
    struct before *before; /* what was under way before VMs were watched; NULL: nothing is known of it */
    struct quotas *quotas; /* of VMs that are watched; NULL: none is */
    struct connections *connections; /* of VMs that are watched; NULL: that is not known */
    bool by_vm; /* TOTAL tables have rows of VMs */
    /* Who the process is by now, as rows of an OWNER table call it. False: there is no more than its number. NULL: of
     * none there is. */
    bool (*owner)(void *ctx, uint32_t vm, const struct view_whom *whom, struct wire_name *out);
    /* A name that view_keep_name kept. False: it is not there. NULL: none is. */
    bool (*kept)(void *ctx, uint32_t vm, uint64_t kept, struct wire_name *out);
};

/* Adds the members of a row to those of another. */
void result_merge(const struct view_table *table, uint64_t *to, uint64_t *from);
/* What rows are ordered by: the first counter, else the first histogram's count. */
uint64_t result_weigh(const struct view_table *table, uint64_t *row);

/*
 * A reader of results holds what was counted and it has not read yet, with names as they were when it was gathered. So
 * several read one source, each at its own pace, and each finds exact maxima in what it reads.
 */
struct result_reader {
    enum { RESULT_ALL, RESULT_ROWS, RESULT_SUMS } wants; /* without the slowest; without names: result_sum alone */
    struct result_unread *unread;                        /* NULL: nothing was gathered since it read */
    size_t most;                                         /* lines of a table that are held, the heaviest; 0: all */
};
/*
 * Reads the tables and the slowest of the views that are on, which empties them, and adds them to each reader.
 * Fails: -errno.
 */
int result_gather(const struct result_source *source, const bool on[VIEW_COUNT],
                  struct result_reader *const readers[], size_t n);
/* Empties the reader. */
void result_forget(struct result_reader *reader);
/* Prints the tables of the views that are on, once they were gathered, and empties the reader. Fails: -errno. */
int result_print(const struct result_source *source, const bool on[VIEW_COUNT], struct result_reader *reader);
/* The sum of all rows of the table, good until it is emptied; NULL: it was not gathered. */
const uint64_t *result_sum(const struct result_reader *reader, const struct view_table *table);

struct result_visitor {
    /* A row with its members, good until the return: of a VM and a name (untrusted; of a TOTAL table empty), the
     * heaviest first; then one with vm 0 and no name (NULL): what is in no other row. */
    void (*row)(void *ctx, const struct view_table *table, uint32_t vm, const char *name, uint64_t *row);
    /* What is under way in a VM; NULL: nobody wants it. */
    void (*open)(void *ctx, enum view_open_id id, const struct open_vm *vm);
    void *ctx;
    /* One of the slowest, the slowest first: a struct told_<view>_<event>; NULL: nobody wants them. */
    void (*slow)(void *ctx, enum view_slowest_id id, const void *record);
};
/* Shows all that was gathered to somebody who prints otherwise, and empties the reader. */
void result_visit(struct result_reader *reader, const struct result_visitor *visitor);
/* Prints a record of a view; one that is too short, or none, is left out. */
void result_record(const struct result_source *source, const struct wire_header *header, size_t size);

#endif
