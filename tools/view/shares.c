/* SPDX-License-Identifier: Apache-2.0 */
/* Invariant: the results up to now have told of each row what has ended, and told_ns of what is under way. */
#include "shares.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "common/table.h"
#include "event/hist.h"

struct open_share {
    uint64_t ages_ns, before_ns; /* in this result */
    bool vm_ended;
    uint64_t told_ns; /* of the spans under way at the last result */
    uint64_t owed_ns; /* to be taken from the next */
    UT_hash_handle hh;
    struct share_key {
        uint32_t time, vm;
        char name[];
    } key;
};

static void drop(struct open_shares *shares, struct open_share *share)
{
    HASH_DEL(shares->all, share);
    free(share);
}

void shares_begin(struct open_shares *shares)
{
    struct open_share *share, *next;

    HASH_ITER(hh, shares->all, share, next) {
        share->ages_ns = share->before_ns = 0;
        if (!share->told_ns && !share->owed_ns)
            drop(shares, share);
    }
}

static struct open_share *make(size_t time, uint32_t vm, const char *name)
{
    size_t size = strlen(name) + 1;
    struct open_share *share = calloc(1, sizeof *share + size);

    if (!share)
        return NULL;
    share->key.time = (uint32_t)time;
    share->key.vm = vm;
    memcpy(share->key.name, name, size);
    return share;
}

/* Takes what is new; NULL: out of memory. */
static struct open_share *know(struct open_shares *shares, struct open_share *fresh)
{
    size_t size = fresh ? sizeof fresh->key + strlen(fresh->key.name) + 1 : 0;
    struct open_share *known = NULL;

    if (fresh)
        HASH_FIND(hh, shares->all, &fresh->key, size, known);
    if (known || !fresh) {
        free(fresh);
        return known;
    }
    HASH_ADD(hh, shares->all, key, size, fresh);
    if (table_has(fresh))
        return fresh;
    free(fresh);
    return NULL;
}

int shares_add(struct open_shares *shares, size_t time, uint32_t vm, const char *name, uint64_t ages_ns,
               uint64_t before_ns, bool vm_ended)
{
    struct open_share *share = know(shares, make(time, vm, name));

    if (!share)
        return -ENOMEM;
    share->ages_ns += ages_ns;
    share->before_ns += before_ns;
    share->vm_ended = vm_ended;
    return 0;
}

/* ---- a result */

static struct wire_hist *hist_at(uint64_t *row, size_t at)
{
    return (struct wire_hist *)(row + at / sizeof *row);
}

static uint64_t time_of(const struct view_open_time *time, uint64_t *row)
{
    return time->hist ? hist_time(hist_at(row, time->at)) : row[time->at / sizeof *row];
}

/* by: modulo 2^64. */
static void change(const struct view_open_time *time, uint64_t *row, uint64_t by)
{
    if (time->hist) {
        hist_at(row, time->at)->shared += by;
        hist_at(row, time->at)->shares++;
    } else {
        row[time->at / sizeof *row] += by;
    }
}

/* What was under way as its VM ended has time in this result if it had in one before: that is not to be taken back. */
static uint64_t ages_of(const struct open_share *share)
{
    return share->vm_ended && !share->told_ns ? 0 : share->ages_ns;
}

/* The counter becomes what of it, and of those under way, was not told before. */
static uint64_t settle(struct open_share *share, uint64_t counter)
{
    uint64_t ages_ns = ages_of(share), have = counter + ages_ns, told = share->told_ns + share->owed_ns;
    uint64_t owed = told > have ? told - have : 0;

    share->owed_ns = owed < share->told_ns ? owed : share->told_ns; /* the rest was owed by the result before */
    share->told_ns = ages_ns;
    return (have > told ? have - told : 0) + share->before_ns;
}

static int settle_row(struct open_share *share, const struct view_open_time *time, const struct shares_table *table)
{
    bool under_way = share->ages_ns || share->before_ns;
    uint64_t *row = NULL, *from, by;
    int found = table->find(table->ctx, share->key.vm, share->key.name, under_way, &row);

    if (found > 0)
        settle(share, 0);
    if (found)
        return found < 0 ? found : 0;
    from = row ? row : table->all;
    by = time_of(time, from);
    by = settle(share, by) - by;
    if (row)
        change(time, row, by);
    change(time, table->all, by);
    return 0;
}

int shares_settle(struct open_shares *shares, const struct shares_table *table)
{
    struct open_share *share, *next;
    int err = 0;

    HASH_ITER(hh, shares->all, share, next) {
        const struct view_open_time *time = &view_open_times[share->key.time];

        if (!err && view_table(time->table) == table->is)
            err = settle_row(share, time, table);
    }
    return err;
}

void shares_forget(struct open_shares *shares, uint32_t vm)
{
    struct open_share *share, *next;

    HASH_ITER(hh, shares->all, share, next)
        if (!vm || share->key.vm == vm)
            drop(shares, share);
}

void shares_free(struct open_shares *shares)
{
    shares_forget(shares, 0);
}
