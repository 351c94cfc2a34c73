/* SPDX-License-Identifier: Apache-2.0 */
/* Invariant: there are as many buckets as rows, at least, up to a doubling that found no memory. */
#include "view_store.h"

#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>

enum { FIRST_BUCKETS = 64 };

static uint64_t seed;

__attribute__((constructor)) static void choose_seed(void)
{
    memcpy(&seed, (const void *)getauxval(AT_RANDOM), sizeof seed);
}

/* Keys come from VMs: without the seed, one could choose those that all fall into one bucket. */
static size_t choose_bucket(const struct view_store *s, uint64_t vm, uint64_t key)
{
    uint64_t hash = (key ^ seed) * 0x9e3779b97f4a7c15u;

    hash = (hash ^ hash >> 32 ^ vm) * 0xd6e8feb86659fd93u;
    return (hash ^ hash >> 32) & (s->nbuckets - 1);
}

static void grow(struct view_store *s)
{
    size_t wanted = s->nbuckets ? 2 * s->nbuckets : FIRST_BUCKETS, before = s->nbuckets;
    struct view_store_row **old = s->buckets, **buckets = calloc(wanted, sizeof *buckets);

    if (!buckets)
        return;
    s->buckets = buckets;
    s->nbuckets = wanted;
    for (size_t i = 0; i < before; i++) {
        for (struct view_store_row *row = old[i], *next; row; row = next) {
            size_t at = choose_bucket(s, row->vm, row->key);

            next = row->next;
            row->next = buckets[at];
            buckets[at] = row;
        }
    }
    free(old);
}

void *view_store_find(struct view_store *s, uint64_t vm, uint64_t key, bool make)
{
    struct view_store_row *row = NULL;

    if (make && s->count >= s->nbuckets)
        grow(s);
    if (!s->nbuckets)
        return NULL;
    for (row = s->buckets[choose_bucket(s, vm, key)]; row; row = row->next)
        if (row->key == key && row->vm == vm)
            return row->words;
    row = make && s->count < s->most ? calloc(1, sizeof *row + s->row_bytes) : NULL;
    if (!row)
        return NULL;
    row->vm = vm;
    row->key = key;
    row->next = s->buckets[choose_bucket(s, vm, key)];
    s->buckets[choose_bucket(s, vm, key)] = row;
    s->count++;
    return row->words;
}

static void remove_row(struct view_store *s, struct view_store_row **at)
{
    struct view_store_row *row = *at;

    *at = row->next;
    free(row);
    s->count--;
}

void view_store_drop(struct view_store *s, uint64_t vm, uint64_t key)
{
    struct view_store_row **at = s->nbuckets ? &s->buckets[choose_bucket(s, vm, key)] : NULL;

    while (at && *at && ((*at)->key != key || (*at)->vm != vm))
        at = &(*at)->next;
    if (at && *at)
        remove_row(s, at);
}

void view_store_drop_vm(struct view_store *s, uint64_t vm)
{
    for (size_t i = 0; i < s->nbuckets; i++)
        for (struct view_store_row **at = &s->buckets[i]; *at;)
            if ((*at)->vm == vm)
                remove_row(s, at);
            else
                at = &(*at)->next;
}

void view_store_clear(struct view_store *s)
{
    for (size_t i = 0; i < s->nbuckets; i++)
        while (s->buckets[i])
            remove_row(s, &s->buckets[i]);
    free(s->buckets);
    s->buckets = NULL;
    s->nbuckets = 0;
}
