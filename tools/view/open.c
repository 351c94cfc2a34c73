/* SPDX-License-Identifier: Apache-2.0 */
/* Invariant: of each VM one state is kept beside the counts, the oldest's; it is named once all were seen. */
#include "open.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "before.h"
#include "result.h"

enum { TEXT_BYTES = 4096, NOT_OPEN = 1 /* greatest `since` of a state that is not under way */ };

struct open_share {
    enum view_open_id id;
    uint32_t vm;
    uint64_t told_ns; /* of the spans under way at the last result */
    uint64_t owed_ns; /* to be taken from the next */
};

/* While states are seen. */
struct seen {
    const struct result_source *source;
    const struct view_open *open;
    uint64_t now_ns;
    struct open_list *out;
    struct oldest {
        uint64_t key;
        void *state;
        const struct before_item *item; /* NULL: the state is it */
    } *oldest; /* by VM, as in *out */
};

static uint64_t word_at(const void *state, size_t at)
{
    uint64_t word;

    memcpy(&word, (const char *)state + at, sizeof word);
    return word;
}

/* ---- reading */

bool open_knows_before(const struct result_source *s, const struct view_open *open, uint32_t vm)
{
    return s->before && open->before != PENDING_NONE && before_knows(s->before, vm, open->before);
}

bool open_unknown(const struct result_source *s, const struct view_open *open, uint32_t vm)
{
    const struct wanted *untold = s->untold ? s->untold(s->ctx, vm) : NULL;

    if (open->state == VIEW_NSTATES)
        return !open_knows_before(s, open, vm);
    return untold && (untold->events[open->event] || untold->events[open->ends]);
}

static size_t state_bytes(const struct view_open *open)
{
    return open->state == VIEW_NSTATES ? 1 : view_states[open->state].bytes;
}

/* Its place in the lists; SIZE_MAX: out of memory. */
static size_t know_vm(struct seen *s, uint32_t vm)
{
    struct open_list *list = s->out;
    struct open_vm *vms;
    struct oldest *oldest;
    size_t i = 0;

    while (i < list->nvms && list->vms[i].vm != vm)
        i++;
    if (i < list->nvms)
        return i;
    vms = realloc(list->vms, (list->nvms + 1) * sizeof *vms);
    list->vms = vms ? vms : list->vms;
    oldest = vms ? realloc(s->oldest, (list->nvms + 1) * sizeof *oldest) : NULL;
    s->oldest = oldest ? oldest : s->oldest;
    if (!oldest)
        return SIZE_MAX;
    oldest[i] = (struct oldest){0, calloc(1, state_bytes(s->open)), NULL};
    vms[i] = (struct open_vm){.vm = vm, .ended = s->source->ended && s->source->ended(s->source->ctx, vm)};
    list->nvms++;
    return oldest[i].state ? i : SIZE_MAX;
}

static const char *name_text(const struct result_source *s, uint32_t vm, const struct wire_name *name)
{
    return name->form == WIRE_TEXT && !name->text[0] ? "" : s->name(s->ctx, vm, name);
}

/* Who the process is; good until the next name. */
static const char *name_process(const struct result_source *s, uint32_t vm, const struct view_whom *whom)
{
    struct wire_name name = {.form = WIRE_PROCESS, .words = {whom->id}};

    if ((!s->owner || !s->owner(s->ctx, vm, whom, &name)) && !whom->id)
        return "";
    return s->name(s->ctx, vm, &name);
}

static const char *name_owner(const struct result_source *s, const struct view_open *open, uint32_t vm,
                              const struct oldest *oldest)
{
    const char *at = (const char *)oldest->state + open->whose_at;
    struct view_whom whom;
    struct wire_name name;

    if (oldest->item && !oldest->item->is.id)
        return "";
    if (oldest->item)
        return name_process(s, vm, &(struct view_whom){oldest->item->is.id, oldest->item->is.address});
    switch (open->whose) {
    case VIEW_WHOSE_WHOM:
        memcpy(&whom, at, sizeof whom);
        return name_process(s, vm, &whom);
    case VIEW_WHOSE_NAME:
        memcpy(&name, at, sizeof name);
        return name_text(s, vm, &name);
    default: return "";
    }
}

static const char *name_port(const struct result_source *s, const struct view_open *open, uint32_t vm,
                             const struct oldest *oldest)
{
    struct wire_name name, number = {.form = WIRE_PORT_NAME, .words = {oldest->key}};

    memcpy(&name, (const char *)oldest->state + open->about_at, sizeof name);
    return s->name(s->ctx, vm, name.form == WIRE_PORT_NAME ? &name : &number);
}

static const char *name_kept(const struct result_source *s, uint32_t vm, uint64_t kept)
{
    struct wire_name name;

    return s->kept && s->kept(s->ctx, vm, kept, &name) ? name_text(s, vm, &name) : "";
}

/* One that was to be read when it was told cannot be read any more. */
static const char *name_mfa(const struct result_source *s, uint32_t vm, ev_mfa mfa)
{
    struct wire_name name = {.form = WIRE_MFA,
                             .words = {ev_mfa_module(mfa), ev_mfa_function(mfa), ev_mfa_arity(mfa)}};

    return mfa && !(mfa & EV_LATER_MFA) ? s->name(s->ctx, vm, &name) : "";
}

/* What has begun while we watch is another one than that of before. */
struct anew {
    const struct seen *seen;
    const struct open_state *state;
    const char *node; /* its name, where items have no other key; NULL: not looked up yet */
};

static int end_item(void *ctx, uint32_t vm, struct before_item *item)
{
    struct anew *a = ctx;

    if (vm != a->state->vm)
        return 0;
    if (!item->is.key && !a->node)
        a->node = name_kept(a->seen->source, vm, a->state->key);
    item->over |= item->is.key ? item->is.key == a->state->key : !strcmp(item->is.what, a->node);
    return 0;
}

static void end_items(const struct seen *s, const struct open_state *state)
{
    struct anew anew = {s, state, NULL};

    if (s->source->before && s->open->before != PENDING_NONE)
        before_each(s->source->before, s->open->before, end_item, &anew);
}

static bool is_older(struct open_vm *vm, uint64_t age)
{
    return !vm->count++ || age > vm->oldest_ns;
}

static int see_state(void *ctx, const struct open_state *state)
{
    struct seen *s = ctx;
    uint64_t since = word_at(state->at, s->open->since_at), age;
    uint64_t seen_ns = state->seen_ns > s->now_ns ? state->seen_ns : s->now_ns;
    struct open_vm *vm;
    size_t i;

    if (since <= NOT_OPEN || since > seen_ns || open_unknown(s->source, s->open, state->vm))
        return 0;
    i = know_vm(s, state->vm);
    if (i == SIZE_MAX)
        return -ENOMEM;
    end_items(s, state);
    age = seen_ns - since;
    vm = &s->out->vms[i];
    vm->sum_ns += since < s->now_ns ? s->now_ns - since : 0; /* what began behind the result is no share of it */
    if (!vm->ended && is_older(vm, age)) {
        vm->oldest_ns = age;
        s->oldest[i].key = state->key;
        memcpy(s->oldest[i].state, state->at, view_states[s->open->state].bytes);
    }
    return 0;
}

static int see_item(void *ctx, uint32_t id, struct before_item *item)
{
    struct seen *s = ctx;
    uint64_t age = s->now_ns > item->since_ns ? s->now_ns - item->since_ns : 0;
    size_t i = know_vm(s, id);
    struct open_vm *vm;

    if (i == SIZE_MAX)
        return -ENOMEM;
    vm = &s->out->vms[i];
    if (vm->ended)
        return 0;
    vm->before += s->open->state != VIEW_NSTATES;
    vm->before_ns += before_share(s->source->before, item);
    if (is_older(vm, age)) {
        vm->oldest_ns = age;
        vm->at_least = !item->exact;
        s->oldest[i].item = item;
    }
    return 0;
}

static const char *make_about(const struct result_source *s, const struct view_open *open, uint32_t vm,
                              const struct oldest *oldest, char *buf, size_t size)
{
    struct wire_header *told = (struct wire_header *)((char *)oldest->state + open->about_at);

    told->vm = vm;
    buf[0] = '\0';
    open->make(buf, size, told, &(struct view_namer){s->name, s->ctx});
    return buf;
}

static const char *name_about(const struct result_source *s, const struct view_open *open, uint32_t vm,
                              const struct oldest *oldest, char *buf, size_t size)
{
    if (oldest->item)
        return oldest->item->is.what;
    switch (open->about) {
    case VIEW_ABOUT_PORT: return name_port(s, open, vm, oldest);
    case VIEW_ABOUT_KEPT: return name_kept(s, vm, word_at(oldest->state, open->about_at));
    case VIEW_ABOUT_KEY: return name_kept(s, vm, oldest->key);
    case VIEW_ABOUT_MFA: return name_mfa(s, vm, word_at(oldest->state, open->about_at));
    case VIEW_ABOUT_MADE: return make_about(s, open, vm, oldest, buf, size);
    default: return "";
    }
}

static int name_oldest(const struct result_source *source, const struct seen *s)
{
    char buf[TEXT_BYTES];

    for (size_t i = 0; i < s->out->nvms; i++) {
        struct open_vm *vm = &s->out->vms[i];

        vm->owner = strdup(vm->ended ? "" : name_owner(source, s->open, vm->vm, &s->oldest[i]));
        vm->what = strdup(vm->ended ? "" : name_about(source, s->open, vm->vm, &s->oldest[i], buf, sizeof buf));
        if (!vm->owner || !vm->what)
            return -ENOMEM;
    }
    return 0;
}

static int read_list(const struct result_source *source, enum view_open_id id, struct open_list *out)
{
    struct seen seen = {source, view_open(id), source->now_ns, out, NULL};
    bool kept = seen.open->state != VIEW_NSTATES;
    int err = kept ? source->open(source->ctx, seen.open->state, &(struct open_taker){see_state, &seen}) : 0;

    if (!err && source->before && seen.open->before != PENDING_NONE)
        err = before_each(source->before, seen.open->before, see_item, &seen);
    if (!err)
        err = name_oldest(source, &seen);
    for (size_t i = 0; i < out->nvms; i++)
        free(seen.oldest[i].state);
    free(seen.oldest);
    return err;
}

int open_read(const struct result_source *s, const bool on[VIEW_COUNT], struct open_list out[VIEW_NOPENS])
{
    int err = s->open && s->before ? before_look(s->before, s->now_ns) : 0;

    for (size_t i = 0; s->open && i < VIEW_NOPENS && !err; i++)
        if (on[view_open((enum view_open_id)i)->view])
            err = read_list(s, (enum view_open_id)i, &out[i]);
    return err;
}

int open_copy(const struct open_list *from, struct open_list *out)
{
    struct open_list copy = {calloc(from->nvms + 1, sizeof *copy.vms), 0};
    int err = copy.vms ? 0 : -ENOMEM;

    for (size_t i = 0; i < from->nvms && !err; i++) {
        struct open_vm *vm = &copy.vms[copy.nvms++];

        *vm = from->vms[i];
        vm->owner = strdup(vm->owner);
        vm->what = strdup(vm->what);
        err = vm->owner && vm->what ? 0 : -ENOMEM;
    }
    if (err) {
        open_free(&copy);
        return err;
    }
    open_free(out);
    *out = copy;
    return 0;
}

void open_free(struct open_list *list)
{
    for (size_t i = 0; i < list->nvms; i++) {
        free(list->vms[i].owner);
        free(list->vms[i].what);
    }
    free(list->vms);
    *list = (struct open_list){NULL, 0};
}

const struct open_vm *open_oldest(const struct open_list *list)
{
    const struct open_vm *oldest = NULL;

    for (size_t i = 0; i < list->nvms; i++)
        if (list->vms[i].count && (!oldest || list->vms[i].oldest_ns > oldest->oldest_ns))
            oldest = &list->vms[i];
    return oldest;
}

uint64_t open_count(const struct open_list *list)
{
    uint64_t count = 0;

    for (size_t i = 0; i < list->nvms; i++)
        count += list->vms[i].count;
    return count;
}

uint64_t open_count_before(const struct open_list *list)
{
    uint64_t count = 0;

    for (size_t i = 0; i < list->nvms; i++)
        count += list->vms[i].before;
    return count;
}

/* ---- shares */

static struct open_share *know_share(struct open_shares *shares, enum view_open_id id, uint32_t vm)
{
    struct open_share *all;

    for (size_t i = 0; i < shares->nvms; i++)
        if (shares->vms[i].id == id && shares->vms[i].vm == vm)
            return &shares->vms[i];
    all = realloc(shares->vms, (shares->nvms + 1) * sizeof *all);
    if (!all)
        return NULL;
    shares->vms = all;
    all[shares->nvms] = (struct open_share){.id = id, .vm = vm};
    return &all[shares->nvms++];
}

/* What was under way as its VM ended has time in this result if it had in one before: that is not to be taken back. */
static uint64_t sum_of(const struct open_list *list, const struct open_share *share)
{
    for (size_t i = 0; i < list->nvms; i++)
        if (list->vms[i].vm == share->vm)
            return list->vms[i].ended && !share->told_ns ? 0 : list->vms[i].sum_ns;
    return 0;
}

static uint64_t before_sum_of(const struct open_list *list, uint32_t vm)
{
    for (size_t i = 0; i < list->nvms; i++)
        if (list->vms[i].vm == vm)
            return list->vms[i].before_ns;
    return 0;
}

/* The counter becomes what of it, and of those under way, was not told before. */
static void settle(struct open_share *share, uint64_t sum_ns, uint64_t *counter)
{
    uint64_t have = *counter + sum_ns, told = share->told_ns + share->owed_ns, owed = told > have ? told - have : 0;

    *counter = have > told ? have - told : 0;
    share->owed_ns = owed < share->told_ns ? owed : share->told_ns; /* the rest was owed by the result before */
    share->told_ns = sum_ns;
}

struct settling {
    struct result_taken *taken;
    size_t at; /* of the counter in the row */
    bool by_vm;
};

/* Of the VM's row, or of the one of all. */
static int find_counter(const struct settling *s, uint32_t vm, uint64_t **out)
{
    struct result_taken *t = s->taken;
    size_t i = 0;

    *out = t->rest + s->at / sizeof **out;
    while (s->by_vm && i < t->nrows && t->rows[i].vm != vm)
        i++;
    if (s->by_vm && i == t->nrows) {
        uint64_t *zeros = calloc(1, t->row_bytes);
        int err = zeros ? result_add(t, vm, 0, zeros) : -ENOMEM;

        free(zeros);
        if (err)
            return err;
    }
    if (s->by_vm)
        *out = t->rows[i].words + s->at / sizeof **out;
    return 0;
}

static int settle_all(struct open_shares *shares, enum view_open_id id, const struct open_list *list,
                      const struct settling *settling)
{
    size_t kept = 0;
    int err = 0;

    for (size_t i = 0; i < list->nvms && !err; i++)
        err = know_share(shares, id, list->vms[i].vm) ? 0 : -ENOMEM;
    for (size_t i = 0; i < shares->nvms; i++) {
        struct open_share *share = &shares->vms[i];
        uint64_t *counter = NULL;

        if (share->id == id && !err)
            err = find_counter(settling, share->vm, &counter);
        if (share->id == id && !err)
            settle(share, sum_of(list, share), counter);
        if (share->id == id && !err)
            *counter += before_sum_of(list, share->vm);
        if (share->id != id || share->told_ns || share->owed_ns)
            shares->vms[kept++] = *share;
    }
    shares->nvms = kept;
    return err;
}

int open_settle(const struct result_source *s, const struct view_table *table,
                const struct open_list open[VIEW_NOPENS], struct result_taken *taken)
{
    int err = 0;

    for (size_t i = 0; s->open && i < VIEW_NOPEN_TIMES && !err; i++) {
        const struct view_open_time *time = &view_open_times[i];

        if (view_table(time->table) == table)
            err = settle_all(s->shares, time->open, &open[time->open], &(struct settling){taken, time->at, s->by_vm});
    }
    return err;
}

void open_forget(struct open_shares *shares, uint32_t vm)
{
    size_t kept = 0;

    for (size_t i = 0; i < shares->nvms; i++)
        if (vm && shares->vms[i].vm != vm)
            shares->vms[kept++] = shares->vms[i];
    shares->nvms = kept;
}

void open_shares_free(struct open_shares *shares)
{
    free(shares->vms);
    *shares = (struct open_shares){NULL, 0};
}
