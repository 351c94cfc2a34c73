/* SPDX-License-Identifier: Apache-2.0 */
#include "blame.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "common/array.h"
#include "common/table.h"

/* Finds a node by its process, or by what it is. */
struct blame_index {
    uint64_t key;
    size_t number;
    UT_hash_handle hh;
};

/* A pid as a number is no hash of a text: those have the highest bit, which no pid has. */
static uint64_t key_of(ev_id id, const char *thing)
{
    return id ? id : 1ull << 63 | table_hash(thing, strlen(thing));
}

static const struct blame_index *find(const struct blame *b, uint64_t key)
{
    struct blame_index *entry;

    HASH_FIND(hh, b->index, &key, sizeof key, entry);
    return entry;
}

/* The number of the node, which is made when it is not there. Fails: -ENOMEM. */
static int64_t node_of(struct blame *b, ev_id id, const char *thing)
{
    const struct blame_index *known = find(b, key_of(id, thing));
    struct blame_index *entry;

    if (known)
        return (int64_t)known->number;
    if (array_room((void **)&b->nodes, b->n, &b->room, sizeof *b->nodes))
        return -ENOMEM;
    entry = calloc(1, sizeof *entry);
    if (entry) {
        *entry = (struct blame_index){.key = key_of(id, thing), .number = b->n};
        HASH_ADD(hh, b->index, key, sizeof entry->key, entry);
    }
    if (!entry || !table_has(entry)) {
        free(entry);
        return -ENOMEM;
    }
    b->nodes[b->n] = (struct blame_node){.id = id, .thing = id ? NULL : strdup(thing), .next = BLAME_NOBODY};
    return id || b->nodes[b->n].thing ? (int64_t)b->n++ : -ENOMEM;
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

/* From those for whom nobody waits on, each once all who wait for it are counted; those in circles remain. */
static void count_waiters(struct blame *b, uint32_t *left)
{
    for (size_t i = 0; i < b->n; i++)
        if (b->nodes[i].waits)
            left[b->nodes[i].next]++;
    for (size_t i = 0; i < b->n; i++) {
        int64_t at = (int64_t)i;

        while (at >= 0 && !left[at] && b->nodes[at].root == BLAME_NOBODY) {
            struct blame_node *node = &b->nodes[at];

            node->root = at; /* for now: it is done */
            if (node->next == BLAME_NOBODY)
                break;
            b->nodes[node->next].waiters += node->waiters + 1;
            left[node->next]--;
            at = node->next;
        }
    }
}

static void close_circles(struct blame *b)
{
    for (size_t i = 0; i < b->n; i++) {
        uint64_t all = 0;
        int64_t at = (int64_t)i;

        if (b->nodes[i].root != BLAME_NOBODY)
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
        int64_t root = b->nodes[i].root, at;

        if (b->nodes[i].waits && !b->nodes[i].in_circle)
            continue;
        at = b->nodes[i].child;
        while (at >= 0) {
            struct blame_node *node = &b->nodes[at];

            if (!node->in_circle)
                node->root = root;
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
    free(left);
    close_circles(b);
    tell_roots(b);
    for (size_t i = 0; i < b->n; i++) {
        struct blame_node *node = &b->nodes[i];
        const struct blame_node *was = before && node->waits ? blame_find(before, node->id) : NULL;

        node->since_ns = is_same_wait(node, was) ? was->since_ns : now_ns;
    }
    return 0;
}

const struct blame_node *blame_find(const struct blame *b, ev_id id)
{
    const struct blame_index *entry = id ? find(b, key_of(id, NULL)) : NULL;

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
