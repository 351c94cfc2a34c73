/* SPDX-License-Identifier: Apache-2.0 */
/* Invariant: of each VM one state is kept beside the counts, the oldest's; it is named once all were seen. */
#include "open.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "before.h"
#include "result.h"
#include "sched_parts.h"

enum { TEXT_BYTES = 4096, NOT_OPEN = 1 /* greatest `since` of a state that is not under way */ };

/* While states are seen. */
struct seen {
    const struct result_source *source;
    const struct view_open *open;
    enum view_open_id id;
    const bool *on; /* views */
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
    const struct wanted *unavailable = s->unavailable ? s->unavailable(s->ctx, vm) : NULL;

    if (open->state == VIEW_NSTATES)
        return !open_knows_before(s, open, vm);
    return unavailable && (unavailable->events[open->event] || unavailable->events[open->ends]);
}

/* Of an erlvm it is known with what its threads do. */
bool open_knows_queued(const struct result_source *s, uint32_t vm)
{
    return s->before && (before_knows(s->before, vm, PENDING_FILE_QUEUE) || before_knows(s->before, vm, PENDING_FILE));
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

/* What has begun while we watch is another one than that of before. Of QUEUED the process tells, elsewhere the key. */
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
    if (a->seen->open->queued) {
        item->over |= item->is.key == word_at(a->state->at, a->seen->open->pid_at);
        return 0;
    }
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

/* ---- shares of their time */

static const char *name_owner_row(const struct result_source *s, uint32_t vm, const struct view_whom *whom)
{
    struct wire_name name;

    return whom->id && s->owner && s->owner(s->ctx, vm, whom, &name) ? s->name(s->ctx, vm, &name) : NULL;
}

/* A state whose time is shared. */
struct sharing {
    const struct seen *seen;
    const struct open_state *state;
    bool has_thread;          /* it keeps what its thread had done when it began, */
    bool has_parts;           /* and what that did since is known */
    struct sched_parts parts;
    const struct view_open *queued; /* of operations that wait for a thread first; NULL: they are none */
    int runs;                       /* of pages: 1: a thread does it, since began_ns; 0: none; -errno: not known */
    uint64_t began_ns;
};

/*
 * The name of a keyed table's row that the state's time will be counted in; NULL: it is not known before the end. Good
 * until the next name.
 */
static const char *name_row(const struct sharing *s, const struct view_open_time *time)
{
    const struct result_source *source = s->seen->source;
    const struct view_open *open = s->seen->open;
    const struct view_table *table = view_table(time->table);
    struct oldest as = {.key = s->state->key, .state = (void *)s->state->at};
    struct view_whom whom;

    switch (table->key) {
    case VIEW_TOTAL: return "";
    case VIEW_OWNER:
        memcpy(&whom, (const char *)s->state->at + open->whose_at, sizeof whom);
        return name_owner_row(source, s->state->vm, &whom);
    case VIEW_PORT: return name_port(source, open, s->state->vm, &as);
    case VIEW_NUMBER:
        return table->number(time->what == VIEW_TIME_PART ? word_at(s->state->at, time->number_at) : s->parts.kind);
    default:
        return open->about == VIEW_ABOUT_KEY ? name_kept(source, s->state->vm, s->state->key)
                                             : name_mfa(source, s->state->vm, word_at(s->state->at, open->about_at));
    }
}

static uint64_t from_to(uint64_t from, uint64_t until)
{
    return from > NOT_OPEN && from < until ? until - from : 0;
}

/* What began behind the result is no share of it. */
static uint64_t whole_of(const struct sharing *s)
{
    return from_to(word_at(s->state->at, s->seen->open->since_at), s->seen->now_ns);
}

/*
 * Of pages a part whose end was not told may be over, or may not have begun: a thread that hangs keeps its page, and so
 * that it has begun. The VM's memory says what its threads do.
 */
static uint64_t part_of(const struct sharing *s, const struct view_open_time *time)
{
    uint64_t from = word_at(s->state->at, time->from_at), until = word_at(s->state->at, time->until_at);
    bool waits = s->queued && time->until_at == s->queued->begun_at;

    if (!until && !s->state->seen_ns) {
        if (s->runs < 0 || (!s->runs && !waits))
            return 0;
        if (waits)
            until = s->runs ? s->began_ns : 0;
        else
            from = from ? from : s->began_ns;
    }
    return from_to(from, until && until < s->seen->now_ns ? until : s->seen->now_ns);
}

static uint64_t time_of(const struct sharing *s, const struct view_open_time *time)
{
    switch (time->what) {
    case VIEW_TIME_WHOLE: return whole_of(s);
    case VIEW_TIME_PART: return part_of(s, time);
    case VIEW_TIME_ALL: return s->parts.all_ns;
    case VIEW_TIME_ON_CPU: return s->parts.cpu_ns;
    case VIEW_TIME_WAITING: return s->parts.waited_ns;
    default: return s->parts.asleep_ns;
    }
}

static bool is_shared(const struct seen *s, size_t time)
{
    return view_open_times[time].open == s->id && s->on[s->open->view] && s->source->shares;
}

static void read_parts(struct sharing *s, const struct view_open_time *time)
{
    struct view_thread before;

    memcpy(&before, (const char *)s->state->at + time->thread_at, sizeof before);
    s->has_thread = before.thread != 0;
    s->has_parts = s->has_thread && sched_parts_read(&before, whole_of(s), &s->parts);
}

/* Of rows that have parts the whole is told with them, so that they add up. */
static bool is_known(const struct sharing *s, const struct view_open_time *time)
{
    if (time->what >= VIEW_TIME_ALL)
        return s->has_parts;
    return view_table(time->table)->key == VIEW_TOTAL || !s->has_thread || s->has_parts;
}

static const struct view_open *find_queued(enum view_state_id state)
{
    for (size_t i = 0; i < VIEW_NOPENS; i++)
        if (view_open((enum view_open_id)i)->queued && view_open((enum view_open_id)i)->state == state)
            return view_open((enum view_open_id)i);
    return NULL;
}

/* Of pages. */
static void read_job(struct sharing *s)
{
    struct before *before = s->seen->source->before;
    uint64_t pid = s->queued ? word_at(s->state->at, s->queued->pid_at) : 0;

    s->runs = -ENOTSUP;
    if (pid && before && !s->state->seen_ns)
        s->runs = before_file_runs(before, s->state->vm, pid, &s->began_ns);
}

static int share_state(const struct seen *seen, const struct open_state *state, bool ended)
{
    struct sharing s = {.seen = seen, .state = state, .queued = find_queued(seen->open->state)};
    int err = 0;

    read_job(&s);
    for (size_t i = 0; i < VIEW_NOPEN_TIMES && !s.has_thread; i++)
        if (is_shared(seen, i) && view_open_times[i].what >= VIEW_TIME_ALL)
            read_parts(&s, &view_open_times[i]);
    for (size_t i = 0; i < VIEW_NOPEN_TIMES && !err; i++) {
        const struct view_open_time *time = &view_open_times[i];
        const char *name = is_shared(seen, i) && is_known(&s, time) ? name_row(&s, time) : NULL;

        if (name && (*name || view_table(time->table)->key == VIEW_TOTAL))
            err = shares_add(seen->source->shares, i, state->vm, name, time_of(&s, time), 0, ended);
    }
    return err;
}

/* Of READ an item has the names itself, where they are known. */
static const char *name_row_of_read(const struct view_open_time *time, const struct before_item *item)
{
    switch (view_table(time->table)->key) {
    case VIEW_TOTAL: return item->is.callback_row[0] ? "" : NULL;
    case VIEW_PORT: return item->is.port_row;
    default: return item->is.callback_row;
    }
}

/* A thread does what is read: it is no part of what waits for one. */
static const char *name_row_of_part(const struct seen *s, const struct view_open_time *time,
                                    const struct before_item *item)
{
    const struct view_open *queued = find_queued(s->open->state);

    if (!item->is.command || (queued && time->until_at == queued->begun_at))
        return NULL;
    return view_table(time->table)->number(item->is.command);
}

/* What it is about is the row's name where that is a port or a node. */
static const char *name_row_of_item(const struct seen *s, const struct view_open_time *time, uint32_t vm,
                                    const struct before_item *item)
{
    if (time->what == VIEW_TIME_PART)
        return name_row_of_part(s, time, item);
    if (time->what != VIEW_TIME_WHOLE)
        return NULL;
    if (s->open->state == VIEW_NSTATES)
        return name_row_of_read(time, item);
    switch (view_table(time->table)->key) {
    case VIEW_TOTAL: return "";
    case VIEW_OWNER: return name_owner_row(s->source, vm, &(struct view_whom){item->is.id, item->is.address});
    case VIEW_PORT: return item->is.what;
    case VIEW_NAME: return s->open->about == VIEW_ABOUT_KEY ? item->is.what : NULL;
    default: return NULL;
    }
}

/* What is read, and is known to have begun then, is told by an event as it ends, and then is taken from that. */
static int share_item(const struct seen *s, uint32_t vm, const struct before_item *item)
{
    bool has_end = s->open->state == VIEW_NSTATES && item->exact;
    uint64_t age_ns = from_to(item->since_ns, s->now_ns), share_ns = before_share(s->source->before, item);
    int err = 0;

    for (size_t i = 0; i < VIEW_NOPEN_TIMES && !err; i++) {
        const struct view_open_time *time = &view_open_times[i];
        const char *name = is_shared(s, i) ? name_row_of_item(s, time, vm, item) : NULL;

        if (name && (*name || view_table(time->table)->key == VIEW_TOTAL))
            err = shares_add(s->source->shares, i, vm, name, has_end ? age_ns : 0, has_end ? 0 : share_ns, false);
    }
    return err;
}

/* ---- */

/* Of QUEUED, whether it has begun, or may have. Notes tell that at once, pages do not. */
static bool has_begun(const struct seen *s, const struct open_state *state)
{
    uint64_t pid = word_at(state->at, s->open->pid_at);

    if (word_at(state->at, s->open->begun_at))
        return true;
    if (state->seen_ns)
        return false;
    return !pid || !s->source->before || before_file_runs(s->source->before, state->vm, pid, NULL) != 0;
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
    end_items(s, state);
    if (s->open->queued && has_begun(s, state))
        return 0;
    i = know_vm(s, state->vm);
    if (i == SIZE_MAX)
        return -ENOMEM;
    age = seen_ns - since;
    vm = &s->out->vms[i];
    if (!vm->ended && is_older(vm, age)) {
        vm->oldest_ns = age;
        s->oldest[i].key = state->key;
        memcpy(s->oldest[i].state, state->at, view_states[s->open->state].bytes);
    }
    return share_state(s, state, vm->ended);
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
    vm->before += s->open->state != VIEW_NSTATES && !item->joined;
    if (is_older(vm, age)) {
        vm->oldest_ns = age;
        vm->at_least = !item->exact;
        s->oldest[i].item = item;
    }
    return share_item(s, id, item);
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

static int read_list(const struct result_source *source, const bool on[VIEW_COUNT], enum view_open_id id,
                     struct open_list *out)
{
    struct seen seen = {source, view_open(id), id, on, source->now_ns, out, NULL};
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
    uint64_t begun_ns = s->now_ns - (uint64_t)(s->whole_seconds * 1e9);
    int err = s->open && s->before ? before_look(s->before, begun_ns, s->now_ns) : 0;

    if (s->shares)
        shares_begin(s->shares);
    for (size_t i = 0; s->open && i < VIEW_NOPENS && !err; i++)
        if (on[view_open((enum view_open_id)i)->view])
            err = read_list(s, on, (enum view_open_id)i, &out[i]);
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
