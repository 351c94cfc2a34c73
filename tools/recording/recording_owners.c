/* SPDX-License-Identifier: Apache-2.0 */
/* Invariant: an entry that has ended stands in the table and in the list of the ended; any other in the table alone. */
#include "recording_owners.h"

#include <errno.h>
#include <stdlib.h>

#include "common/table.h"

enum { MOST_ENDED = 1 << 16 };

struct entry {
    struct {
        uint64_t vm, id;
    } key;
    struct recording_owner call, label, registered; /* form 0 (WIRE_TEXT): it is not known, it has none */
    uint64_t ended_ns;            /* 0: it lives */
    struct entry *next;           /* that ended after it */
    UT_hash_handle hh;
};

struct recording_owners {
    struct entry *table, *ended, **ended_end;
    size_t most, nended;
    uint64_t keep_ns;
};

struct recording_owners *recording_owners_new(size_t most, uint64_t keep_ns)
{
    struct recording_owners *owners = malloc(sizeof *owners);

    if (!owners)
        return NULL;
    *owners = (struct recording_owners){.most = most, .keep_ns = keep_ns};
    owners->ended_end = &owners->ended;
    return owners;
}

static void drop_ended(struct recording_owners *owners)
{
    struct entry *e = owners->ended;

    owners->ended = e->next;
    if (!owners->ended)
        owners->ended_end = &owners->ended;
    owners->nended--;
    HASH_DEL(owners->table, e);
    free(e);
}

void recording_owners_free(struct recording_owners *owners)
{
    struct entry *e, *next;

    if (!owners)
        return;
    HASH_ITER(hh, owners->table, e, next)
    {
        HASH_DEL(owners->table, e);
        free(e);
    }
    free(owners);
}

/* The entry, a new one where there is none; of the ended the first gives its place. NULL in *out: no room. */
static int find_entry(struct recording_owners *owners, uint32_t vm, uint64_t id, struct entry **out)
{
    struct entry *e, fresh = {.key = {vm, id}};

    HASH_FIND(hh, owners->table, &fresh.key, sizeof fresh.key, e);
    *out = e;
    if (e)
        return 0;
    if (HASH_COUNT(owners->table) >= owners->most && owners->ended)
        drop_ended(owners);
    if (HASH_COUNT(owners->table) >= owners->most)
        return 0;
    e = malloc(sizeof *e);
    if (!e)
        return -ENOMEM;
    *e = fresh;
    HASH_ADD(hh, owners->table, key, sizeof e->key, e);
    if (!table_has(e)) {
        free(e);
        return -ENOMEM;
    }
    *out = e;
    return 0;
}

static struct recording_owner *place_of(struct entry *e, uint32_t form)
{
    return form == WIRE_REASON ? &e->registered : form == WIRE_LABEL ? &e->label : &e->call;
}

int recording_owners_add(struct recording_owners *owners, const struct recording_owner *owner)
{
    struct entry *e;
    int err = find_entry(owners, owner->vm, owner->id, &e);

    if (!err && e)
        *place_of(e, owner->form) = *owner;
    return err ? err : !e;
}

void recording_owners_name(struct recording_owners *owners, const struct recording_owner *name)
{
    struct entry *e, fresh = {.key = {name->vm, name->id}};
    bool gone = (name->form == WIRE_REASON && name->words[1] == EV_NO_ATOM) ||
                (name->form == WIRE_LABEL && name->words[0] == WIRE_OTHER);

    HASH_FIND(hh, owners->table, &fresh.key, sizeof fresh.key, e);
    if (e)
        *place_of(e, name->form) = gone ? (struct recording_owner){.form = WIRE_TEXT} : *name;
}

static void end_entry(struct recording_owners *owners, struct entry *e, uint64_t now_ns)
{
    if (e->ended_ns)
        return;
    e->ended_ns = now_ns ? now_ns : 1;
    *owners->ended_end = e;
    owners->ended_end = &e->next;
    owners->nended++;
}

int recording_owners_exit(struct recording_owners *owners, uint32_t vm, uint64_t id, uint64_t now_ns)
{
    struct entry *e;
    int err = find_entry(owners, vm, id, &e);

    if (!err && e)
        end_entry(owners, e, now_ns);
    return err;
}

void recording_owners_exit_vm(struct recording_owners *owners, uint32_t vm, uint64_t now_ns)
{
    struct entry *e, *next;

    HASH_ITER(hh, owners->table, e, next)
        if (e->key.vm == vm)
            end_entry(owners, e, now_ns);
}

void recording_owners_pass(struct recording_owners *owners, uint64_t now_ns)
{
    while (owners->ended && (owners->nended > MOST_ENDED || owners->ended->ended_ns + owners->keep_ns < now_ns))
        drop_ended(owners);
}

int recording_owners_each(const struct recording_owners *owners, uint32_t vm,
                          int (*visit)(void *ctx, const struct recording_owner *owner), void *ctx)
{
    struct entry *e, *next;
    int err = 0;

    HASH_ITER(hh, owners->table, e, next)
    {
        if (vm && e->key.vm != vm)
            continue;
        if (!err && e->call.form)
            err = visit(ctx, &e->call);
        if (!err && e->label.form)
            err = visit(ctx, &e->label);
        if (!err && e->registered.form)
            err = visit(ctx, &e->registered);
    }
    return err;
}
