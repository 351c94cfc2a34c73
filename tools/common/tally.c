/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Invariant: an entry's `before` is the map's value at the last update, 0 when the map was emptied since; entries never
 * move.
 */
#include "tally.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "table.h"

struct entry {
    UT_hash_handle hh;
    uint64_t *before, *delta;
    unsigned char key[];
};

struct tally {
    size_t key_size, words, additive, sort_word;
    struct entry *entries;
    struct tally_row *rows;
};

struct tally *tally_new(size_t key_size, size_t words, size_t additive)
{
    struct tally *t = calloc(1, sizeof *t);

    if (t) {
        t->key_size = key_size;
        t->words = words;
        t->additive = additive;
    }
    return t;
}

static void free_entry(struct entry *e)
{
    if (!e)
        return;
    free(e->before);
    free(e->delta);
    free(e);
}

static void free_entries(struct tally *t)
{
    struct entry *e, *next;

    HASH_ITER(hh, t->entries, e, next) {
        HASH_DEL(t->entries, e);
        free_entry(e);
    }
}

void tally_free(struct tally *t)
{
    if (!t)
        return;
    free_entries(t);
    free(t->rows);
    free(t);
}

static struct entry *make_entry(const struct tally *t, const void *key)
{
    struct entry *e = calloc(1, sizeof *e + t->key_size);

    if (!e)
        return NULL;
    e->before = calloc(t->words, sizeof *e->before);
    e->delta = calloc(t->words, sizeof *e->delta);
    memcpy(e->key, key, t->key_size);
    if (e->before && e->delta)
        return e;
    free_entry(e);
    return NULL;
}

static struct entry *find_entry(struct tally *t, const void *key)
{
    struct entry *e;

    HASH_FIND(hh, t->entries, key, t->key_size, e);
    if (e)
        return e;
    e = make_entry(t, key);
    if (!e)
        return NULL;
    HASH_ADD(hh, t->entries, key, t->key_size, e);
    if (table_has(e))
        return e;
    free_entry(e);
    return NULL;
}

static void subtract(const struct tally *t, struct entry *e, const uint64_t *now)
{
    for (size_t i = 0; i < t->words; i++)
        e->delta[i] = i < t->additive && now[i] >= e->before[i] ? now[i] - e->before[i] : now[i];
    memcpy(e->before, now, t->words * sizeof *now);
}

/* Walks over the map, whose keys go out of it behind the walk when it is `emptied`. */
static int read_map(struct tally *t, int map_fd, bool emptied)
{
    unsigned char *key = calloc(2, t->key_size ? t->key_size : 1), *next = key ? key + t->key_size : NULL, *from = NULL;
    uint64_t *now = calloc(t->words, sizeof *now);
    int err = key && now ? 0 : -ENOMEM;

    while (!err && !bpf_map_get_next_key(map_fd, from, next)) {
        struct entry *e = find_entry(t, next);

        if (from && emptied)
            bpf_map_delete_elem(map_fd, from);
        from = memcpy(key, next, t->key_size);
        if (!e)
            err = -ENOMEM;
        else if (!bpf_map_lookup_elem(map_fd, key, now))
            subtract(t, e, now);
    }
    if (from && emptied)
        bpf_map_delete_elem(map_fd, from);
    free(key);
    free(now);
    return err;
}

int tally_update(struct tally *t, int map_fd)
{
    if (!t)
        return -ENOMEM;
    for (struct entry *e = t->entries; e; e = e->hh.next)
        memset(e->delta, 0, t->words * sizeof *e->delta);
    return read_map(t, map_fd, false);
}

int tally_take(struct tally *t, int map_fd)
{
    if (!t)
        return -ENOMEM;
    free_entries(t);
    return read_map(t, map_fd, true);
}

static int compare_rows(const void *a, const void *b, void *ctx)
{
    const struct tally *t = ctx;
    uint64_t x = ((const struct tally_row *)a)->values[t->sort_word];
    uint64_t y = ((const struct tally_row *)b)->values[t->sort_word];

    if (x != y)
        return x < y ? 1 : -1;
    return memcmp(((const struct tally_row *)a)->key, ((const struct tally_row *)b)->key, t->key_size);
}

size_t tally_all(struct tally *t, const struct tally_row **rows)
{
    struct tally_row *all = realloc(t->rows, (HASH_COUNT(t->entries) + 1) * sizeof *all);
    size_t n = 0;

    *rows = all;
    if (!all)
        return 0;
    t->rows = all;
    for (struct entry *e = t->entries; e; e = e->hh.next)
        all[n++] = (struct tally_row){e->key, e->delta};
    return n;
}

size_t tally_rows(struct tally *t, size_t word, const struct tally_row **rows)
{
    size_t all = tally_all(t, rows), n = 0;

    for (size_t i = 0; i < all; i++)
        if (t->rows[i].values[word])
            t->rows[n++] = t->rows[i];
    t->sort_word = word;
    if (n)
        qsort_r(t->rows, n, sizeof *t->rows, compare_rows, t);
    return n;
}
