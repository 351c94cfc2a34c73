/* SPDX-License-Identifier: Apache-2.0 */
#include "blame.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "common/array.h"
#include "common/table.h"

static const uint32_t DONE = UINT32_MAX; /* in place of how many are still to be counted */

/* Finds a node by its process, or by what it is. */
struct blame_index {
    uint64_t key;
    size_t number;
    UT_hash_handle hh;
};

/* Of a thing a number that no process has: the highest bit is of no pid (enum batch_identity). */
static uint64_t key_of(ev_id id, const char *thing)
{
    return id ? id : 1ull << 63 | table_hash(thing, strlen(thing));
}

/* NULL: it is not there; then *key is what it is to have. Texts of one hash have keys that follow each other. */
static const struct blame_index *find(const struct blame *b, ev_id id, const char *thing, uint64_t *key)
{
    struct blame_index *entry;

    for (*key = key_of(id, thing);; ++*key) {
        HASH_FIND(hh, b->index, key, sizeof *key, entry);
        if (!entry || id || !strcmp(b->nodes[entry->number].thing, thing))
            return entry;
    }
}

/* The number of the node, which is made when it is not there. Fails: -ENOMEM. */
static int64_t node_of(struct blame *b, ev_id id, const char *thing)
{
    uint64_t key;
    const struct blame_index *known = find(b, id, thing, &key);
    struct blame_index *entry;
    char *copy = NULL;

    if (known)
        return (int64_t)known->number;
    if (array_room((void **)&b->nodes, b->n, &b->room, sizeof *b->nodes) || (!id && !(copy = strdup(thing))))
        return -ENOMEM;
    entry = calloc(1, sizeof *entry);
    if (entry) {
        *entry = (struct blame_index){.key = key, .number = b->n};
        HASH_ADD(hh, b->index, key, sizeof entry->key, entry);
    }
    if (!entry || !table_has(entry)) {
        free(entry);
        free(copy);
        return -ENOMEM;
    }
    b->nodes[b->n] = (struct blame_node){.id = id, .thing = copy, .next = BLAME_NOBODY};
    return (int64_t)b->n++;
}

int blame_add(struct blame *b, const struct wait *wait)
{
    int64_t who = node_of(b, wait->id, ""), whom;

    if (who < 0)
        return (int)who;
    if (b->nodes[who].waits)
        return 0;
    whom = node_of(b, wait->whom, wait->what);
    if (whom < 0)
        return (int)whom;
    b->nodes[who].waits = true;
    b->nodes[who].wait = *wait;
    b->nodes[who].next = whom;
    b->waiting++;
    return 0;
}

/* ---- trees and circles */

static void link_children(struct blame *b)
{
    for (size_t i = 0; i < b->n; i++)
        b->nodes[i].child = b->nodes[i].sibling = b->nodes[i].root = BLAME_NOBODY;
    for (size_t i = b->n; i-- > 0;) {
        struct blame_node *node = &b->nodes[i];

        if (!node->waits)
            continue;
        node->sibling = b->nodes[node->next].child;
        b->nodes[node->next].child = (int64_t)i;
    }
}

/*
 * Each is counted once all who wait for it are, beginning with those for whom nobody waits. Those in circles remain:
 * left[i] is how many of them are still to come.
 */
static void count_waiters(struct blame *b, uint32_t *left)
{
    for (size_t i = 0; i < b->n; i++)
        if (b->nodes[i].waits)
            left[b->nodes[i].next]++;
    for (size_t i = 0; i < b->n; i++) {
        int64_t at = (int64_t)i;

        while (at != BLAME_NOBODY && !left[at]) {
            const struct blame_node *node = &b->nodes[at];

            left[at] = DONE;
            if (node->next != BLAME_NOBODY) {
                b->nodes[node->next].waiters += node->waiters + 1;
                left[node->next]--;
            }
            at = node->next;
        }
    }
}

static void close_circles(struct blame *b, const uint32_t *left)
{
    for (size_t i = 0; i < b->n; i++) {
        uint64_t all = 0;
        int64_t at = (int64_t)i;

        if (left[i] == DONE || b->nodes[i].in_circle)
            continue;
        do {
            all += b->nodes[at].waiters + 1;
            at = b->nodes[at].next;
        } while (at != (int64_t)i);
        do {
            b->nodes[at].in_circle = true;
            b->nodes[at].waiters = all;
            b->nodes[at].root = (int64_t)i;
            at = b->nodes[at].next;
        } while (at != (int64_t)i);
    }
}

/* Down each tree from its root: a tree may be deep, so its branches are followed without a call each. */
static void tell_roots(struct blame *b)
{
    for (size_t i = 0; i < b->n; i++) {
        int64_t at = b->nodes[i].child;

        if (b->nodes[i].waits && !b->nodes[i].in_circle)
            continue;
        if (!b->nodes[i].waits)
            b->nodes[i].root = (int64_t)i;
        while (at >= 0) {
            struct blame_node *node = &b->nodes[at];

            if (!node->in_circle)
                node->root = b->nodes[i].root;
            if (!node->in_circle && node->child >= 0) {
                at = node->child;
                continue;
            }
            while (at >= 0 && at != (int64_t)i && b->nodes[at].sibling < 0)
                at = b->nodes[at].next;
            at = at < 0 || at == (int64_t)i ? BLAME_NOBODY : b->nodes[at].sibling;
        }
    }
}

static bool is_same_wait(const struct blame_node *node, const struct blame_node *was)
{
    return was && was->waits && was->wait.kind == node->wait.kind && was->wait.whom == node->wait.whom &&
           was->wait.reductions == node->wait.reductions && !strcmp(was->wait.what, node->wait.what);
}

int blame_link(struct blame *b, uint64_t now_ns, const struct blame *before)
{
    uint32_t *left = calloc(b->n + 1, sizeof *left);

    if (!left)
        return -ENOMEM;
    link_children(b);
    count_waiters(b, left);
    close_circles(b, left);
    free(left);
    tell_roots(b);
    for (size_t i = 0; i < b->n; i++) {
        struct blame_node *node = &b->nodes[i];
        const struct blame_node *was = before && node->waits ? blame_find(before, node->id) : NULL;

        node->since_ns = is_same_wait(node, was) ? was->since_ns : now_ns;
    }
    return 0;
}

static int take_wait(void *ctx, const struct wait *wait)
{
    return blame_add(ctx, wait);
}

int blame_look(struct blame *b, struct snapshot *snapshot, uint64_t now_ns, const struct blame *before,
               struct snapshot_count *count)
{
    int err = waits_read(snapshot, take_wait, b, count);

    return err ? err : blame_link(b, now_ns, before);
}

const struct blame_node *blame_find(const struct blame *b, ev_id id)
{
    uint64_t key;
    const struct blame_index *entry = id ? find(b, id, NULL, &key) : NULL;

    return entry ? &b->nodes[entry->number] : NULL;
}

void blame_end(struct blame *b)
{
    struct blame_index *entry, *next;

    HASH_ITER(hh, b->index, entry, next) {
        HASH_DEL(b->index, entry);
        free(entry);
    }
    for (size_t i = 0; i < b->n; i++)
        free(b->nodes[i].thing);
    free(b->nodes);
    *b = (struct blame){0};
}
