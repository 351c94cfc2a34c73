/* SPDX-License-Identifier: Apache-2.0 */
/* Invariant: a table's row of what it had no room for is there from begin to end. */
#include "views_user.h"

#include <errno.h>
#include <stdlib.h>

#include "view_user.h"

#include "../../bpf/view_owners.h"

#include "../../bpf/view_dist.h"
#include "../../bpf/view_drivers.h"
#include "../../bpf/view_efile.h"
#include "../../bpf/view_exits.h"
#include "../../bpf/view_gc.h"
#include "../../bpf/view_messages.h"
#include "../../bpf/view_msglat.h"
#include "../../bpf/view_nifs.h"
#include "../../bpf/view_ports.h"
#include "../../bpf/view_inet.h"
#include "../../bpf/view_sched.h"
#include "../../bpf/view_spawns.h"
#include "../../bpf/view_user.h"

#define CALL(view, family, probe)                                                                          \
    if (VIEW_ON(view))                                                                             \
        view_##view##_on_##probe(ev);
#define TELL(probe, family, calls)                                                                         \
    static void tell_##probe(const union ev_any *event)                                            \
    {                                                                                              \
        const struct ev_##probe *ev = &event->probe;                                               \
                                                                                                   \
        calls                                                                                      \
    }
#include "tells.def"

void views_user_tell(const union ev_any *event)
{
    static void (*const tells[1 << 8])(const union ev_any *event) = {
#define TELL(probe, family, calls) [BATCH_##probe] = tell_##probe,
#include "tells.def"
    };
    void (*tell)(const union ev_any *event) = tells[event->head.event & 0xff];

    if (tell)
        tell(event);
}

int views_user_begin(const struct view_settings *settings, void (*told)(void *ctx, const struct wire_header *record, size_t size), void *ctx)
{
    static const size_t most[VIEW_NTABLES] = {
#define TABLE(view, table, json, title, key, size, top) size,
#include "../../bpf/views.def"
    };
    int err = 0;

    view_user = (struct view_user){.settings = *settings, .told = told, .ctx = ctx,
                                   .names = {.row_bytes = sizeof(struct wire_name), .most = VIEW_USER_NAMES},
                                   .atoms = {.row_bytes = sizeof(uint64_t), .most = VIEW_USER_NAMES}};
    for (size_t i = 0; i < view_nuses; i++)
        view_user.settings.on[view_uses[i].helper] |= view_user.settings.on[view_uses[i].view];
    for (size_t i = 0; i < VIEW_NTABLES; i++) {
        const struct view_table *t = view_table((enum view_table_id)i);

        view_user.tables[i] = (struct view_store){.row_bytes = t->row_bytes,
                                                  .most = t->key == VIEW_TOTAL ? VIEW_VMS : most[i]};
        view_user.rest[i] = calloc(1, t->row_bytes);
        err = view_user.rest[i] ? err : -ENOMEM;
    }
    for (size_t i = 0; i < VIEW_NSTATES; i++)
        view_user.states[i] = (struct view_store){.row_bytes = view_states[i].bytes, .most = view_states[i].keyed ? VIEW_USER_KEYED : VIEW_USER_STATES};
    return err;
}

static int add_row(void *ctx, const struct view_store_row *row)
{
    return result_add(ctx, (uint32_t)row->vm, row->key, row->words);
}

int views_user_take(void *ctx, const struct view_table *table, struct result_taken *out)
{
    size_t id = 0;
    int err;

    (void)ctx;
    while (view_table((enum view_table_id)id) != table)
        id++;
    result_merge(table, out->rest, view_user.rest[id]);
    memset(view_user.rest[id], 0, table->row_bytes);
    err = view_store_each(&view_user.tables[id], add_row, out);
    view_store_clear(&view_user.tables[id]);
    return err;
}

/* The places of the slowest records of a kind, behind a floor. */
static char *slowest_of(enum view_slowest_id id, size_t *bytes)
{
    switch (id) {
#define SLOWEST(view, event, json, title, by, most, shown)                                         \
    case VIEW_SLOWEST_##view##_##event:                                                            \
        *bytes = sizeof view_user.view##_##event##_slowest;                                        \
        return (char *)&view_user.view##_##event##_slowest;
#include "../../bpf/views.def"
    default: return NULL;
    }
}

int views_user_slowest(void *ctx, enum view_slowest_id id, struct result_kept *out)
{
    size_t bytes;
    char *all = slowest_of(id, &bytes);
    int err = result_keep(out, view_slowest(id), all);

    (void)ctx;
    memset(all, 0, bytes);
    return err;
}

void views_user_gap(uint32_t vm)
{
    for (size_t i = 0; i < VIEW_NSTATES; i++)
        if (view_states[i].span)
            view_store_drop_vm(&view_user.states[i], vm);
}

/* ---- VMs that end */

/* The text of the name in place of it: nobody can tell it later. */
static void name_at(struct wire_name *name, uint32_t vm,
                    const char *(*name_text)(void *ctx, uint32_t vm, const struct wire_name *name), void *ctx)
{
    const char *text = name_text(ctx, vm, name);

    *name = (struct wire_name){.form = WIRE_TEXT};
    memcpy(name->text, text, strnlen(text, sizeof name->text - 1));
}

struct leaving {
    const char *(*name_text)(void *ctx, uint32_t vm, const struct wire_name *name);
    void *ctx;
};

static void leave_name(void *ctx, struct view_store_row *row)
{
    const struct leaving *leaving = ctx;

    /* a row that is by name begins with it */
    name_at((struct wire_name *)row->words, (uint32_t)row->vm, leaving->name_text, leaving->ctx);
}

static void leave_unnamed(void *ctx, struct view_store_row *row)
{
    (void)ctx, (void)row;
}

/* The names in those of the slowest records that are of the VM. */
static void leave_slowest(uint32_t vm, const struct leaving *leaving)
{
    for (size_t i = 0; i < VIEW_NSLOWEST; i++) {
        const struct view_slowest *s = view_slowest((enum view_slowest_id)i);
        size_t bytes;
        char *at = slowest_of((enum view_slowest_id)i, &bytes) + sizeof(uint64_t);

        for (size_t k = 0; k < s->most; k++, at += s->record_bytes) {
            at += sizeof(struct view_slowest_place);
            for (int c = 0; ((struct wire_header *)at)->vm == vm && c < s->sink.ncolumns; c++)
                if (s->attrs[c].kind == VIEW_ATTR_OWNER)
                    name_at((struct wire_name *)(at + s->attrs[c].at), vm, leaving->name_text, leaving->ctx);
        }
    }
}

void views_user_drop_vm(uint32_t vm, const char *(*name_text)(void *ctx, uint32_t vm, const struct wire_name *name),
                        void *ctx)
{
    struct leaving leaving = {name_text, ctx};

    for (size_t i = 0; i < VIEW_NTABLES; i++) {
        enum view_key key = view_table((enum view_table_id)i)->key;

        view_store_set_apart(&view_user.tables[i], vm,
                             key == VIEW_NUMBER || key == VIEW_TOTAL ? leave_unnamed : leave_name, &leaving);
    }
    leave_slowest(vm, &leaving);
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

bool views_user_wants_owners(void)
{
    return VIEW_ON(owners);
}

void views_user_owner(uint32_t vm, ev_id id, const struct wire_name *name)
{
    const struct ev_head head = {.vm = vm};
    struct state_owners_calls *call = owners_calls_upsert(&head, id);
    struct name_text text;

    if (!call)
        return;
    view_words(&text, (uint32_t)name->form, name->words[0], name->words[1], name->words[2]);
    call->name = view_keep_name(&head, &text);
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
