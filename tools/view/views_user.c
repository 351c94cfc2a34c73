/* SPDX-License-Identifier: Apache-2.0 */
/* Invariant: a table's row of what it had no room for is there as long as the views are. */
#include "views_user.h"

#include <errno.h>
#include <stdlib.h>

#include "view_user.h"

/* of all views, of bpf/views.def */
#define FAMILY_EVERY
#include "handlers.h"

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

void views_user_tell(struct views_user *views, const union ev_any *event)
{
    static void (*const tells[1 << 8])(const union ev_any *event) = {
#define TELL(probe, family, calls) [BATCH_##probe] = tell_##probe,
#include "tells.def"
    };
    void (*tell)(const union ev_any *event) = tells[event->head.event & 0xff];

    view_user = views;
    if (tell)
        tell(event);
}

/* Rows and states that there is room for. */
static void size_stores(struct views_user *v)
{
    static const size_t most[VIEW_NTABLES] = {
#define TABLE(view, table, json, title, key, size, top) size,
#include "../../bpf/views.def"
    };

    for (size_t i = 0; i < VIEW_NTABLES; i++) {
        const struct view_table *t = view_table((enum view_table_id)i);

        v->tables[i] =
            (struct view_store){.row_bytes = t->row_bytes, .most = t->key == VIEW_TOTAL ? VIEW_VMS : most[i]};
    }
    for (size_t i = 0; i < VIEW_NSTATES; i++)
        v->states[i] = (struct view_store){.row_bytes = view_states[i].bytes,
                                           .most = view_states[i].keyed ? VIEW_USER_KEYED : VIEW_USER_STATES};
    v->names = (struct view_store){.row_bytes = sizeof(struct wire_name), .most = VIEW_USER_NAMES};
    v->atoms = (struct view_store){.row_bytes = sizeof(uint64_t), .most = VIEW_USER_NAMES};
}

int views_user_new(const struct view_settings *settings,
                   void (*told)(void *ctx, const struct wire_header *record, size_t size), void *ctx,
                   struct views_user **out)
{
    struct views_user *v = calloc(1, sizeof *v);
    int err = v ? 0 : -ENOMEM;

    *out = v;
    if (!v)
        return err;
    v->settings = *settings;
    v->told = told;
    v->ctx = ctx;
    size_stores(v);
    for (size_t i = 0; i < view_nuses; i++)
        v->settings.on[view_uses[i].helper] |= v->settings.on[view_uses[i].view];
    for (size_t i = 0; i < VIEW_NTABLES; i++) {
        v->rest[i] = calloc(1, view_table((enum view_table_id)i)->row_bytes);
        err = v->rest[i] ? err : -ENOMEM;
    }
    return err;
}

static int add_row(void *ctx, const struct view_store_row *row)
{
    return result_add(ctx, (uint32_t)row->vm, row->key, row->words);
}

int views_user_take(struct views_user *v, const struct view_table *table, struct result_taken *out)
{
    size_t id = 0;
    int err;

    while (view_table((enum view_table_id)id) != table)
        id++;
    result_merge(table, out->rest, v->rest[id]);
    memset(v->rest[id], 0, table->row_bytes);
    err = view_store_each(&v->tables[id], add_row, out);
    view_store_clear(&v->tables[id]);
    return err;
}

/* The places of the slowest records of a kind, behind a floor. */
static char *slowest_of(struct views_user *v, enum view_slowest_id id, size_t *bytes)
{
    switch (id) {
#define SLOWEST(view, event, json, title, by, most, shown)                                         \
    case VIEW_SLOWEST_##view##_##event:                                                            \
        *bytes = sizeof v->view##_##event##_slowest;                                        \
        return (char *)&v->view##_##event##_slowest;
#include "../../bpf/views.def"
    default: return NULL;
    }
}

int views_user_slowest(struct views_user *v, enum view_slowest_id id, struct result_kept *out)
{
    size_t bytes = 0;
    char *all = slowest_of(v, id, &bytes);
    int err = kept_take(out, view_slowest(id), all);

    memset(all, 0, bytes);
    return err;
}

static int tell_state(void *ctx, const struct view_store_row *row)
{
    const struct open_taker *taker = ctx;

    return taker->take(taker->ctx, &(struct open_state){(uint32_t)row->vm, row->key, row->words, 0});
}

int views_user_open(struct views_user *v, enum view_state_id state, const struct open_taker *taker)
{
    return view_store_each(&v->states[state], tell_state, (void *)taker);
}

bool views_user_kept(struct views_user *v, uint32_t vm, uint64_t kept, struct wire_name *out)
{
    struct name_text name;
    bool found;

    view_user = v;
    found = !view_kept_name(&(struct ev_head){.vm = vm}, kept, &name);
    if (found)
        name_copy(out, &name);
    return found;
}

bool views_user_whose(struct views_user *v, uint32_t vm, const struct view_whom *whom, struct wire_name *out)
{
    struct name_text name;

    view_user = v;
    view_owner(&(struct ev_head){.vm = vm}, whom->id, &name);
    name_copy(out, &name);
    return true;
}

void views_user_gap(struct views_user *v, uint32_t vm)
{
    for (size_t i = 0; i < VIEW_NSTATES; i++)
        if (view_states[i].span)
            view_store_drop_vm(&v->states[i], vm);
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
static void leave_slowest(struct views_user *v, uint32_t vm, const struct leaving *leaving)
{
    for (size_t i = 0; i < VIEW_NSLOWEST; i++) {
        const struct view_slowest *s = view_slowest((enum view_slowest_id)i);
        size_t bytes;
        char *at = slowest_of(v, (enum view_slowest_id)i, &bytes) + sizeof(uint64_t);

        for (size_t k = 0; k < s->most; k++, at += s->record_bytes) {
            at += sizeof(struct view_slowest_place);
            for (int c = 0; ((struct wire_header *)at)->vm == vm && c < s->sink.ncolumns; c++)
                if (s->attrs[c].kind == VIEW_ATTR_OWNER)
                    name_at((struct wire_name *)(at + s->attrs[c].at), vm, leaving->name_text, leaving->ctx);
        }
    }
}

void views_user_drop_vm(struct views_user *v, uint32_t vm,
                        const char *(*name_text)(void *ctx, uint32_t vm, const struct wire_name *name), void *ctx)
{
    struct leaving leaving = {name_text, ctx};

    for (size_t i = 0; i < VIEW_NTABLES; i++) {
        enum view_key key = view_table((enum view_table_id)i)->key;

        view_store_set_apart(&v->tables[i], vm,
                             key == VIEW_NUMBER || key == VIEW_TOTAL ? leave_unnamed : leave_name, &leaving);
    }
    leave_slowest(v, vm, &leaving);
    for (size_t i = 0; i < VIEW_NSTATES; i++)
        view_store_drop_vm(&v->states[i], vm);
    view_store_drop_vm(&v->names, vm);
    view_store_drop_vm(&v->atoms, vm);
}

void views_user_atom(void *views, uint32_t vm, uint32_t index, const char *text, size_t bytes)
{
    static const char *const known[VIEW_USER_KNOWN] = {"normal", "shutdown"};
    struct views_user *v = views;

    for (uint64_t i = 0; i < VIEW_USER_KNOWN; i++) {
        uint64_t *atom = strlen(known[i]) == bytes && !memcmp(known[i], text, bytes)
                             ? view_store_find(&v->atoms, vm, i, true) : NULL;

        if (atom)
            *atom = index;
    }
}

bool views_user_wants_owners(const struct views_user *v)
{
    return v->settings.on[VIEW_owners];
}

/* 0: it is none that says anything. */
static __u64 keep_label(const struct ev_head *h, struct name_text *label)
{
    label->form = WIRE_REASON;
    return label->words[0] == WIRE_ATOM || label->words[0] == WIRE_SMALL ? view_keep_name(h, label) : 0;
}

void views_user_owner(struct views_user *v, uint32_t vm, ev_id id, const struct wire_name *name)
{
    const struct ev_head head = {.vm = vm};
    struct state_owners_calls *call;
    struct name_text text;

    view_user = v;
    call = owners_calls_upsert(&head, id);
    if (!call)
        return;
    view_words(&text, (uint32_t)name->form, name->words[0], name->words[1], name->words[2]);
    if (name->form == WIRE_MFA)
        call->name = view_keep_name(&head, &text);
    else if (name->form == WIRE_LABEL)
        call->label = keep_label(&head, &text);
    else
        call->registered = name->words[1] == EV_NO_ATOM ? 0 : view_keep_name(&head, &text);
}

uint64_t views_user_lost(const struct views_user *v)
{
    return v->lost;
}

void views_user_free(struct views_user *v)
{
    if (!v)
        return;
    for (size_t i = 0; i < VIEW_NTABLES; i++) {
        view_store_clear(&v->tables[i]);
        free(v->rest[i]);
    }
    for (size_t i = 0; i < VIEW_NSTATES; i++)
        view_store_clear(&v->states[i]);
    view_store_clear(&v->names);
    view_store_clear(&v->atoms);
    free(v);
}
