/* SPDX-License-Identifier: Apache-2.0 */
/* Invariant: a VM that has ended is forgotten when its last event was told, not before. */
#include "feed.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "event/event_text.h"
#include "otp/owners.h"
#include "view/views_user.h"

enum { TEXT_BYTES = 4096 };

struct feed_vm {
    uint32_t vm;
    bool closed;       /* its last page has come */
    bool dead;         /* it was at the last look */
    uint64_t ended_ns; /* 0: it has not ended, as far as we know */
};

struct feed {
    struct views_user *views;
    struct batch_names *names;
    struct batch_merge *merge;
    struct wanted wanted;
    uint64_t from_ns, to_ns;
    struct feed_ops ops;
    struct feed_vm *vms; /* of which pages came */
    size_t nvms;
    char text[TEXT_BYTES]; /* of the last name asked for */
};

/* ---- what comes */

static void on_event(void *ctx, const union ev_any *ev)
{
    const struct feed *f = ctx;

    if (ev->head.time_ns < f->from_ns || ev->head.time_ns > f->to_ns)
        return;
    if (f->ops.event)
        f->ops.event(f->ops.ctx, ev);
    views_user_tell(f->views, ev);
}

static void on_record(void *ctx, const struct wire_header *record, size_t size)
{
    const struct feed *f = ctx;

    if (f->ops.record)
        f->ops.record(f->ops.ctx, record, size);
}

static void on_gap(void *ctx, uint32_t vm)
{
    views_user_gap(((struct feed *)ctx)->views, vm);
}

static struct feed_vm *find_vm(const struct feed *f, uint32_t vm)
{
    for (size_t i = 0; i < f->nvms; i++)
        if (f->vms[i].vm == vm)
            return &f->vms[i];
    return NULL;
}

static void on_closed(void *ctx, uint32_t vm)
{
    struct feed_vm *known = find_vm(ctx, vm);

    if (known)
        known->closed = true;
}

static void forget_vm(struct feed *f, struct feed_vm *vm)
{
    views_user_drop_vm(f->views, vm->vm, feed_name, f);
    batch_merge_forget(f->merge, vm->vm);
    *vm = f->vms[--f->nvms];
}

/* NULL: out of memory. */
static struct feed_vm *know_vm(struct feed *f, uint32_t vm)
{
    struct feed_vm *known = find_vm(f, vm), *all;

    if (known && known->ended_ns) { /* the number is used again */
        forget_vm(f, known);
        known = NULL;
    }
    if (known)
        return known;
    all = realloc(f->vms, (f->nvms + 1) * sizeof *all);
    if (!all)
        return NULL;
    f->vms = all;
    all[f->nvms] = (struct feed_vm){.vm = vm};
    return &all[f->nvms++];
}

void feed_add_vm(struct feed *f, uint32_t vm)
{
    know_vm(f, vm);
}

void feed_take(struct feed *f, const struct batch_received *page)
{
    struct feed_vm *vm = know_vm(f, page->vm);

    batch_merge_take(f->merge, page);
    if (vm && vm->closed)
        vm->ended_ns = page->time_ns;
}

void feed_until(struct feed *f, uint64_t time_ns)
{
    batch_merge_until(f->merge, time_ns);
    for (size_t i = 0; i < f->nvms && time_ns != UINT64_MAX;)
        if (f->vms[i].ended_ns && f->vms[i].ended_ns <= time_ns)
            forget_vm(f, &f->vms[i]);
        else
            i++;
}

bool feed_end_vm(struct feed *f, uint32_t vm, uint64_t now_ns)
{
    struct feed_vm *known = find_vm(f, vm);

    if (!known)
        return true;
    known->ended_ns = now_ns;
    return known->closed;
}

void feed_look(struct feed *f, bool (*lives)(int pid), uint64_t now_ns)
{
    for (struct feed_vm *vm = f->vms; vm < f->vms + f->nvms; vm++) {
        bool dead = !vm->ended_ns && !lives((int)vm->vm);

        if (dead && vm->dead)
            vm->ended_ns = now_ns;
        vm->dead = dead;
    }
}

static bool is_over(void *ctx)
{
    const struct feed *f = ctx;

    return f->ops.is_over && f->ops.is_over(f->ops.ctx);
}

/* ---- names of processes */

void feed_owner(struct feed *f, uint32_t vm, ev_id id, const struct wire_name *name)
{
    if (views_user_wants_owners(f->views))
        views_user_owner(f->views, vm, id, name);
}

static void on_named(void *ctx, uint32_t vm, ev_id id, const struct wire_name *name)
{
    feed_owner(ctx, vm, id, name);
}

int feed_atom(struct feed *f, uint32_t vm, uint64_t index, const char *text, size_t bytes)
{
    int err = batch_names_find(f->names, vm, index) ? 0 : batch_names_tell(f->names, vm, index, text, bytes);

    return err == -ENOMEM ? err : 0;
}

static int tell_atom(void *ctx, uint32_t vm, uint64_t index, const char *text, size_t bytes)
{
    return feed_atom(ctx, vm, index, text, bytes);
}

static int tell_owner(void *ctx, uint32_t vm, ev_id id, const struct wire_name *name)
{
    feed_owner(ctx, vm, id, name);
    return 0;
}

int feed_read_owners(struct feed *f, const struct target *t)
{
    return owners_read(t,
                       &(struct owners_ops){tell_atom, views_user_wants_owners(f->views) ? tell_owner : NULL, f, true});
}

/* ---- what is asked */

const struct wanted *feed_wanted(const struct feed *f)
{
    return &f->wanted;
}

void feed_bound(struct feed *f, uint64_t from_ns, uint64_t to_ns)
{
    f->from_ns = from_ns;
    f->to_ns = to_ns;
}

void feed_listen(struct feed *f, const struct feed_ops *ops)
{
    f->ops = *ops;
}

bool feed_has(const struct feed *f, uint32_t vm)
{
    return find_vm(f, vm) != NULL;
}

int feed_counted(void *feed, const struct view_table *table, struct result_taken *out)
{
    return views_user_take(((struct feed *)feed)->views, table, out);
}

int feed_slowest(void *feed, enum view_slowest_id id, struct result_kept *out)
{
    return views_user_slowest(((struct feed *)feed)->views, id, out);
}

int feed_open(void *feed, enum view_state_id state, const struct open_taker *taker)
{
    return views_user_open(((struct feed *)feed)->views, state, taker);
}

bool feed_ended(void *feed, uint32_t vm)
{
    const struct feed_vm *known = find_vm(feed, vm);

    return known && known->ended_ns;
}

bool feed_kept(void *feed, uint32_t vm, uint64_t kept, struct wire_name *out)
{
    return views_user_kept(((struct feed *)feed)->views, vm, kept, out);
}

bool feed_whose(void *feed, uint32_t vm, const struct view_whom *whom, struct wire_name *out)
{
    return views_user_whose(((struct feed *)feed)->views, vm, whom, out);
}

const char *feed_name(void *ctx, uint32_t vm, const struct wire_name *name)
{
    struct feed *f = ctx;

    f->text[0] = '\0';
    event_text_name(&(struct term_text){f->text, sizeof f->text, 0}, f->names, vm, name);
    return f->text;
}

struct batch_names *feed_names(struct feed *f)
{
    return f->names;
}

void feed_losses(const struct feed *f, const struct batch_unreceived *unreceived, struct feed_loss out[FEED_LOSSES])
{
    const struct batch_counts *c = batch_merge_counts(f->merge);
    const struct feed_loss losses[] = {{c->lost_events, "events of pages that nobody received"},
                                       {c->lost_pages, "pages that nobody received"},
                                       {unreceived->no_room, "pages for which the ring buffer had no room"},
                                       {unreceived->unreadable, "pages that could not be read"},
                                       {c->damaged, "pages that made no sense, from some event on"},
                                       {c->refused, "pages or names for which there was no room"},
                                       {c->late, "events out of their order (they are counted)"},
                                       {c->unwanted, "events that were not counted before the end"},
                                       {views_user_lost(f->views),
                                        "names, counts or states for which the views had no room"}};

    _Static_assert(sizeof losses / sizeof *losses == FEED_LOSSES, "a reason each");
    memcpy(out, losses, sizeof losses);
}

/* ---- its life */

int feed_new(const struct view_settings *settings, struct feed **out)
{
    struct feed *f = calloc(1, sizeof *f);

    if (!f)
        return -ENOMEM;
    f->to_ns = UINT64_MAX;
    f->names = batch_names_new();
    if (f->names)
        f->merge = batch_merge_new(f->names,
                                   &(struct batch_merge_ops){on_event, on_named, on_gap, on_closed, is_over, f});
    if (!f->merge || views_user_new(settings, on_record, f, &f->views)) {
        feed_free(f);
        return -ENOMEM;
    }
    batch_names_follow(f->names, views_user_atom, f->views);
    for (size_t v = 0; v < VIEW_COUNT; v++)
        if (settings->on[v])
            wanted_add(&f->wanted, views[v].name);
    *out = f;
    return 0;
}

void feed_free(struct feed *f)
{
    if (!f)
        return;
    views_user_free(f->views);
    batch_merge_free(f->merge);
    batch_names_free(f->names);
    free(f->vms);
    free(f);
}
