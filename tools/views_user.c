/* SPDX-License-Identifier: Apache-2.0 */
/* Invariant: a table's row of what it had no room for is there from begin to end. */
#include "views_user.h"

#include <errno.h>
#include <stdlib.h>

#include "view_user.h"

#include "../bpf/view_owners.h"

#include "../bpf/view_exits.h"
#include "../bpf/view_gc.h"
#include "../bpf/view_messages.h"
#include "../bpf/view_msglat.h"
#include "../bpf/view_sched.h"
#include "../bpf/view_spawns.h"

#define CALL(view, probe)                                                                          \
    if (VIEW_ON(view))                                                                             \
        view_##view##_on_##probe(ev);
#define TELL(probe, calls)                                                                         \
    static void tell_##probe(const struct ev_##probe *ev)                                          \
    {                                                                                              \
        calls                                                                                      \
    }
#include "tells.def"

void views_user_tell(const union ev_any *event)
{
    switch (event->head.event) {
#define TELL(probe, calls)                                                                         \
    case BATCH_##probe:                                                                            \
        tell_##probe(&event->probe);                                                               \
        break;
#include "tells.def"
    }
}

int views_user_begin(const struct view_settings *settings, void (*told)(void *ctx, const struct wire_header *record, size_t size), void *ctx)
{
    static const size_t most[VIEW_NTABLES] = {
#define TABLE(view, table, json, title, key, size, top) size,
#include "../bpf/views.def"
    };
    int err = 0;

    view_user = (struct view_user){.settings = *settings, .told = told, .ctx = ctx, .names = {sizeof(struct wire_name), VIEW_USER_NAMES, 0, 0, NULL},
                                    .atoms = {sizeof(uint64_t), VIEW_USER_NAMES, 0, 0, NULL}};
    for (size_t i = 0; i < view_nuses; i++)
        view_user.settings.on[view_uses[i].helper] |= view_user.settings.on[view_uses[i].view];
    for (size_t i = 0; i < VIEW_NTABLES; i++) {
        const struct view_table *t = view_table((enum view_table_id)i);

        view_user.tables[i] = (struct view_store){.row_bytes = t->row_bytes, .most = most[i]};
        view_user.rest[i] = calloc(1, t->row_bytes);
        err = view_user.rest[i] ? err : -ENOMEM;
    }
    for (size_t i = 0; i < VIEW_NSTATES; i++)
        view_user.states[i] = (struct view_store){.row_bytes = view_states[i].bytes, .most = VIEW_USER_STATES};
    return err;
}

int views_user_take(void *ctx, const struct view_table *table, struct result_taken *out)
{
    size_t id = 0;
    int err = 0;

    (void)ctx;
    while (view_table((enum view_table_id)id) != table)
        id++;
    memcpy(out->rest, view_user.rest[id], table->row_bytes);
    memset(view_user.rest[id], 0, table->row_bytes);
    for (size_t i = 0; i < view_user.tables[id].nbuckets && !err; i++)
        for (struct view_store_row *row = view_user.tables[id].buckets[i]; row && !err; row = row->next)
            err = result_add(out, (uint32_t)row->vm, row->key, row->words);
    view_store_clear(&view_user.tables[id]);
    return err;
}

void views_user_drop_vm(uint32_t vm)
{
    for (size_t i = 0; i < VIEW_NSTATES; i++)
        view_store_drop_vm(&view_user.states[i], vm);
    view_store_drop_vm(&view_user.names, vm);
    view_store_drop_vm(&view_user.atoms, vm);
}

void views_user_atom(uint32_t vm, uint32_t index, const char *text, size_t bytes)
{
    static const char *const known[VIEW_USER_KNOWN] = {"normal", "shutdown"};

    for (uint64_t i = 0; i < VIEW_USER_KNOWN; i++) {
        uint64_t *atom = strlen(known[i]) == bytes && !memcmp(known[i], text, bytes) ? view_store_find(&view_user.atoms, vm, i, true) : NULL;

        if (atom)
            *atom = index;
    }
}

uint64_t views_user_lost(void)
{
    return view_user.lost;
}

void views_user_end(void)
{
    for (size_t i = 0; i < VIEW_NTABLES; i++) {
        view_store_clear(&view_user.tables[i]);
        free(view_user.rest[i]);
    }
    for (size_t i = 0; i < VIEW_NSTATES; i++)
        view_store_clear(&view_user.states[i]);
    view_store_clear(&view_user.names);
    view_store_clear(&view_user.atoms);
    view_user = (struct view_user){0};
}
