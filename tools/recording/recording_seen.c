/* SPDX-License-Identifier: Apache-2.0 */
/* Invariant: a page is known by its VM, its thread, its number there, and when it was begun. */
#include "recording_seen.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "common/table.h"

struct key {
    uint32_t vm, thread;
    uint64_t sequence, begin_ticks, begin_ns;
};

struct entry {
    struct key key;
    UT_hash_handle hh;
};

struct recording_seen {
    struct entry *table;
};

struct recording_seen *recording_seen_new(void)
{
    return calloc(1, sizeof(struct recording_seen));
}

void recording_seen_free(struct recording_seen *seen)
{
    struct entry *e, *next;

    if (!seen)
        return;
    HASH_ITER(hh, seen->table, e, next)
    {
        HASH_DEL(seen->table, e);
        free(e);
    }
    free(seen);
}

/* False: it is too short to be a page. */
static bool key_of(const struct batch_received *page, struct key *out)
{
    struct batch_header head;

    if (page->bytes < sizeof head)
        return false;
    memcpy(&head, page + 1, sizeof head);
    *out = (struct key){page->vm, head.thread, head.sequence, head.begin_ticks, head.begin_ns};
    return true;
}

int recording_seen_add(struct recording_seen *seen, const struct batch_received *page)
{
    struct key key;
    struct entry *e;

    if (!key_of(page, &key) || recording_seen_has(seen, page))
        return 0;
    e = malloc(sizeof *e);
    if (!e)
        return -ENOMEM;
    *e = (struct entry){.key = key};
    HASH_ADD(hh, seen->table, key, sizeof e->key, e);
    if (table_has(e))
        return 0;
    free(e);
    return -ENOMEM;
}

bool recording_seen_has(const struct recording_seen *seen, const struct batch_received *page)
{
    struct key key;
    struct entry *e = NULL;

    if (seen->table && key_of(page, &key))
        HASH_FIND(hh, seen->table, &key, sizeof key, e);
    return e != NULL;
}
