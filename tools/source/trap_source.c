/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Invariant: a record is told with what its VM's memory said when it was read; names become atoms of the recording's
 * own at once, while the code that they name is there.
 */
#include "trap_source.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/clock.h"
#include "common/fail.h"
#include "common/table.h"
#include "event/batch_ring.h"
#include "event/event.h"
#include "otp/otp_code.h"
#include "otp/otp_threads.h"
#include "probe/attach.h"
#include "probe/vm_maps.h"
#include "trap_names.h"
#include "trap_pages.h"
#include "verdict.h"
#include "view/views.h"

#include "../../bpf/stacks.h"
#include "../../bpf/trap.h"
#include "trap.skel.h"

enum {
    MOST_RUNNING = 1 << 16,
    MOST_NAMED = 1 << 16,
    TURN_RECORDS = 65536,
    /* of an event, its texts behind its arguments */
    EVENT_WORDS = BATCH_MAX_ARGS + EV_MAX_TEXTS * PROBE_TEXT_BYTES / 8,
};
#define SECOND_NS 1000000000ull
#define FLUSH_NS 10000000ull

/* A process that is scheduled, of a VM whose sends do not tell whether their receiver runs. */
struct running {
    struct {
        uint64_t vm, id;
    } key;
    UT_hash_handle hh;
};

/* A process whose registered name was told. */
struct named {
    struct {
        uint64_t vm, id;
    } key;
    uint64_t registered; /* the atom's index in the VM; WIRE_NO_ATOM: that it has none was told */
    UT_hash_handle hh;
};

struct trap_source {
    struct trap_source_ops ops;
    struct wanted wanted;
    struct watch *watch;
    struct trap *skeleton;
    struct batch_ring *ring;
    struct trap_names *names;
    struct trap_pages *pages;
    struct running *running;
    struct named *named;
    uint64_t now_ns;   /* of the record in hand */
    uint64_t flushed_ns, second_ns;
    int taken;         /* records, in this turn */
    uint64_t lost;     /* records that made no sense */
    uint64_t runs_lost, named_lost; /* events of processes that there was no room for in `running`, in `named` */
};

/* Where the arguments of an event stand in its record; their units are those of event_row. */
static const struct record_row {
    size_t size;
    size_t args[BATCH_MAX_ARGS];
} records[BATCH_EVENTS] = {
#define PROBE(probe, family, nargs, watch, text) [BATCH_##probe].size = sizeof(struct trap_##probe),
#define PROBE_RANGE(prefix, family, nargs, first, last, text) PROBE(prefix, family, nargs, NOTHING, text)
#define ARG(probe, index, arg, type, unit) [BATCH_##probe].args[index] = offsetof(struct trap_##probe, arg),
#include "../../vm/probes.def"
};

/* ---- who runs */

static void set_running(struct trap_source *s, uint32_t vm, uint64_t id, bool runs)
{
    struct running *r, fresh = {.key = {vm, id}};

    HASH_FIND(hh, s->running, &fresh.key, sizeof fresh.key, r);
    if (r && !runs) {
        HASH_DEL(s->running, r);
        free(r);
    }
    if (r || !runs)
        return;
    r = HASH_COUNT(s->running) < MOST_RUNNING ? malloc(sizeof *r) : NULL;
    if (r) {
        *r = fresh;
        HASH_ADD(hh, s->running, key, sizeof r->key, r);
    }
    if (r && table_has(r))
        return;
    free(r);
    s->runs_lost++;
}

static bool is_running(const struct trap_source *s, uint32_t vm, uint64_t id)
{
    struct running *r, fresh = {.key = {vm, id}};

    HASH_FIND(hh, s->running, &fresh.key, sizeof fresh.key, r);
    return r != NULL;
}

/* All that were scheduled, of a VM; 0: of all. */
static void drop_running(struct trap_source *s, uint32_t vm)
{
    struct running *r, *next;

    HASH_ITER(hh, s->running, r, next)
    {
        if (vm && r->key.vm != vm)
            continue;
        HASH_DEL(s->running, r);
        free(r);
    }
}

/* A page's send says whether the receiver runs; notes do not, but those of schedulers tell. */
static void follow_running(struct trap_source *s, const struct trap_head *head, uint64_t words[])
{
    uint64_t *receiver = &words[head->header.kind == BATCH_message__send];

    switch (head->header.kind) {
    case BATCH_process__scheduled: set_running(s, head->header.vm, words[0], true); return;
    case BATCH_process__unscheduled:
    case BATCH_process__exit: set_running(s, head->header.vm, words[0], false); return;
    case BATCH_message__send:
    case BATCH_message__arrive: break;
    default: return;
    }
    if (head->tells & EV_TELLS_RUNNING ? head->tells & EV_RUNS : is_running(s, head->header.vm, *receiver))
        *receiver = (*receiver & (~0ull >> 4)) | (uint64_t)BATCH_RUNNING << 60;
}

/* ---- registered names */

static void drop_name(struct trap_source *s, struct named *n)
{
    HASH_DEL(s->named, n);
    free(n);
}

/* Of a VM; 0: of all. */
static void drop_named(struct trap_source *s, uint32_t vm)
{
    struct named *n, *next;

    HASH_ITER(hh, s->named, n, next)
    {
        if (!vm || n->key.vm == vm)
            drop_name(s, n);
    }
}

/* NULL: out of memory, or there are too many. */
static struct named *know_named(struct trap_source *s, const struct named *fresh)
{
    struct named *n;

    HASH_FIND(hh, s->named, &fresh->key, sizeof fresh->key, n);
    if (n)
        return n;
    n = HASH_COUNT(s->named) < MOST_NAMED ? malloc(sizeof *n) : NULL;
    if (n) {
        *n = *fresh;
        HASH_ADD(hh, s->named, key, sizeof n->key, n);
    }
    if (n && table_has(n))
        return n;
    free(n);
    s->named_lost++;
    return NULL;
}

/* The name by which the recording's pages have it; EV_NO_ATOM when there is none, or no room. */
static uint64_t number_name(struct trap_source *s, uint32_t vm, uint64_t registered)
{
    const char *text = registered == WIRE_NO_ATOM ? NULL : names_atom(s->watch->names, vm, registered);

    return text ? trap_names_atom(s->names, vm, text, strlen(text)) : EV_NO_ATOM;
}

/* That the process has this name is written before its event, in the same page. */
static void learn_name(struct trap_source *s, const struct trap_head *head, ev_id id)
{
    struct named fresh = {.key = {head->header.vm, id}, .registered = WIRE_NO_ATOM}, *n;
    uint64_t words[] = {id, EV_NO_ATOM};

    HASH_FIND(hh, s->named, &fresh.key, sizeof fresh.key, n);
    if (!n && head->registered == WIRE_NO_ATOM)
        return;
    n = n ? n : know_named(s, &fresh);
    if (!n || n->registered == head->registered)
        return;
    words[1] = number_name(s, head->header.vm, head->registered);
    if (head->registered != WIRE_NO_ATOM && words[1] == EV_NO_ATOM)
        return;
    n->registered = head->registered;
    trap_pages_add(s->pages, &(struct trap_event){head->header.vm, head->thread, BATCH_NAMED, head->header.time_ns,
                                                  head->before, words, 2});
}

/* Which argument of each event is the process that it is about: who gets a message, else the one called pid; -1:
 * none. */
static const int *subjects(void)
{
    static int subjects[BATCH_EVENTS];
    static bool known;

    for (enum batch_event e = 0; e < BATCH_EVENTS && !known; e++) {
        const struct event_row *row = event_row(e);

        subjects[e] = -1;
        for (int i = 0; i < (int)row->nargs; i++)
            if (!strcmp(row->args[i].name, "receiver") || (!strcmp(row->args[i].name, "pid") && subjects[e] < 0))
                subjects[e] = i;
    }
    known = true;
    return subjects;
}

/* Hooks tell the name that the process of the event has: as the live views call it. */
static void follow_name(struct trap_source *s, const struct trap_head *head, const uint64_t words[])
{
    int subject = subjects()[head->header.kind];
    ev_id id = subject < 0 ? 0 : words[subject];
    struct named *n, fresh = {.key = {head->header.vm, id}};

    if (head->registered != TRAP_NAME_UNKNOWN && ev_id_kind(id) == BATCH_PID)
        learn_name(s, head, id);
    if (head->header.kind != BATCH_process__exit)
        return;
    HASH_FIND(hh, s->named, &fresh.key, sizeof fresh.key, n);
    if (n)
        drop_name(s, n);
}

/* ---- records to events */

/* The text into the words at `at`, PROBE_TEXT_BYTES of them at most. Returns how many words it took. */
static unsigned add_text(const struct trap_text *text, uint64_t *argument, uint64_t *at)
{
    unsigned bytes = text->bytes < sizeof text->text ? (unsigned)text->bytes : 0;

    *argument = bytes;
    at[bytes / 8] = 0; /* filled up */
    memcpy(at, text->text, bytes);
    return (bytes + 7) / 8;
}

static struct wire_name read_name(const struct trap_name *told)
{
    struct wire_name name = {.form = told->form};

    memcpy(name.words, told->words, told->used < sizeof name.words ? told->used : sizeof name.words);
    return name;
}

static uint64_t read_word(struct trap_source *s, uint32_t vm, enum event_unit unit, const char *at)
{
    struct wire_name name;
    uint64_t word;

    switch (unit) {
    case EVENT_UNIT_mfa:
        name = read_name((const struct trap_name *)at);
        return trap_names_mfa(s->names, vm, &name);
    case EVENT_UNIT_term:
        name = read_name((const struct trap_name *)at);
        return trap_names_term(s->names, vm, &name);
    case EVENT_UNIT_module:
    case EVENT_UNIT_node:
        name = read_name((const struct trap_name *)at);
        return trap_names_node(s->names, vm, &name);
    default:
        memcpy(&word, at, sizeof word);
        return word;
    }
}

static void take_event(struct trap_source *s, const char *record)
{
    const struct trap_head *head = (const struct trap_head *)record;
    enum batch_event event = (enum batch_event)head->header.kind;
    const struct event_row *row = event_row(event);
    uint64_t words[EVENT_WORDS];
    unsigned n = row->nargs;

    for (unsigned i = 0; i < row->nargs; i++) {
        const char *at = record + records[event].args[i];

        if (row->args[i].unit == EVENT_UNIT_text)
            n += add_text((const struct trap_text *)at, &words[i], &words[n]);
        else
            words[i] = read_word(s, head->header.vm, row->args[i].unit, at);
    }
    follow_name(s, head, words);
    follow_running(s, head, words);
    trap_pages_add(s->pages, &(struct trap_event){head->header.vm, head->thread, event, head->header.time_ns,
                                                  head->before, words, n});
}

/* By the time of records, however late they are read: pages come in an order that can be merged. */
static void flush(struct trap_source *s, uint64_t now_ns)
{
    trap_pages_flush(s->pages, now_ns - BATCH_PATIENCE_MS * 1000000ull, now_ns);
    s->flushed_ns = now_ns;
}

static int take_record(void *ctx, void *data, size_t size)
{
    struct trap_source *s = ctx;
    const struct trap_head *head = data;
    unsigned kind = size >= sizeof *head ? head->header.kind : BATCH_EVENTS;

    if (kind <= BATCH_LAST_NAME || kind >= BATCH_EVENTS || size < records[kind].size) {
        s->lost++;
        return 0;
    }
    s->now_ns = head->header.time_ns;
    if (s->now_ns > s->flushed_ns + FLUSH_NS)
        flush(s, s->now_ns);
    names_since(s->watch->names, s->now_ns);
    take_event(s, data);
    return ++s->taken < TURN_RECORDS ? 0 : -EAGAIN;
}

/* ---- names */

static bool tell_code(void *ctx, uint32_t vm, const struct wire_name *code, struct wire_name *out)
{
    struct trap_source *s = ctx;
    struct otp_code_place place;
    char text[WIRE_NAME_BYTES];

    if (names_place(s->watch->names, vm, code->words[0], code->words[1], &place, text, sizeof text))
        return false;
    *out = (struct wire_name){.form = WIRE_MFA, .words = {place.module >> 6, place.function >> 6, place.arity}};
    if (place.kind == OTP_CODE_FUNCTION)
        return true;
    *out = (struct wire_name){.form = WIRE_TEXT};
    memcpy(out->text, text, strnlen(text, sizeof out->text - 1));
    return true;
}

static const char *tell_atom(void *ctx, uint32_t vm, uint64_t index)
{
    return names_atom(((struct trap_source *)ctx)->watch->names, vm, index);
}

static void take_atom(void *ctx, uint32_t vm, uint32_t index, const char *text, size_t bytes)
{
    struct trap_source *s = ctx;

    trap_pages_atom(s->pages, vm, index, text, bytes, s->now_ns);
}

struct owners_reader {
    struct trap_source *source;
    const struct owners_ops *ops;
};

static int skip_atom(void *ctx, uint32_t vm, uint64_t index, const char *text, size_t bytes)
{
    (void)ctx, (void)vm, (void)index, (void)text, (void)bytes;
    return 0;
}

/* By the number that pages have for it; it stands in the recording before the owner does. */
static int number_atom(struct owners_reader *r, uint32_t vm, __u64 *word)
{
    const char *text = tell_atom(r->source, vm, *word);

    *word = text ? trap_names_atom(r->source->names, vm, text, strlen(text)) : EV_NO_ATOM;
    return text ? r->ops->atom(r->ops->ctx, vm, *word, text, strlen(text)) : 0;
}

static int tell_owner(void *ctx, uint32_t vm, ev_id id, const struct wire_name *name)
{
    struct owners_reader *r = ctx;
    struct wire_name told = *name;
    struct named named = {.key = {vm, id}, .registered = name->words[1]};
    int err = number_atom(r, vm, name->form == WIRE_MFA ? &told.words[0] : &told.words[1]);

    if (!err && name->form == WIRE_REASON)
        know_named(r->source, &named);
    if (!err && name->form == WIRE_MFA)
        err = number_atom(r, vm, &told.words[1]);
    return err ? err : r->ops->owner(r->ops->ctx, vm, id, &told);
}

int trap_source_owners(struct trap_source *s, const struct target *t, const struct owners_ops *ops)
{
    struct owners_reader reader = {s, ops};

    s->now_ns = clock_ns(CLOCK_MONOTONIC);
    return owners_read(t, &(struct owners_ops){skip_atom, tell_owner, &reader, false});
}

/* ---- what is loaded */

static struct bpf_object *object_of(const struct trap_source *s)
{
    return *s->skeleton->skeleton->obj;
}

/* Sends of notes do not say whether their receiver runs: who runs is followed by what schedulers do. */
static bool follows(const struct wanted *w)
{
    return (w->events[BATCH_message__send] || w->events[BATCH_message__arrive]) && w->events[BATCH_process__scheduled];
}

static bool is_loaded(const struct wanted *w, const char *program)
{
    const char *probe = strchr(program, '_') + 1;
    enum batch_event event = event_find(probe);

    if (event == BATCH_ATOM) /* none of the catalogue's: purges, which names by address depend on */
        return w->events[BATCH_process__scheduled];
    if (event == BATCH_process__unscheduled && !strncmp(program, "on_", 3) && follows(w))
        return true;
    return w->events[event];
}

/* What views read of each probe. */
static void configure(struct trap_source *s)
{
    struct wire_config config = attach_config((uint32_t)s->watch->only.pid);
    struct view_settings settings = {.events[VIEW_efile] = 1};
    uint32_t wanted[PLAN_NPROBES] = {0};
    struct bpf_program *program;

    for (size_t v = 0; v < VIEW_COUNT; v++)
        for (size_t i = 0; i < PLAN_NPROBES; i++)
            wanted[i] |= view_reads((enum view_id)v, plan_probe_name((enum plan_probe)i));
    attach_set_constants(object_of(s), ".rodata.session", &config, sizeof config);
    attach_set_constants(object_of(s), ".rodata.views", &settings, sizeof settings);
    attach_set_constants(object_of(s), ".rodata.events", wanted, sizeof wanted);
    bpf_object__for_each_program(program, object_of(s))
        bpf_program__set_autoload(program, is_loaded(&s->wanted, bpf_program__name(program)));
    bpf_map__set_autocreate(bpf_object__find_map_by_name(object_of(s), "mailboxes_in"),
                            s->wanted.events[BATCH_message__waited]);
    bpf_map__set_max_entries(bpf_object__find_map_by_name(object_of(s), "records"), TRAP_RING_BYTES);
}

static int map_of(const struct trap_source *s, const char *name)
{
    return bpf_object__find_map_fd_by_name(object_of(s), name);
}

static int load(struct trap_source *s)
{
    int err;

    s->skeleton = trap__open();
    if (!s->skeleton)
        return fail(-ENOMEM, "cannot open the BPF program: %s", strerror(errno));
    configure(s);
    watch_prepare(s->watch, object_of(s));
    err = bpf_object__load_skeleton(s->skeleton->skeleton);
    if (err)
        return attach_explain(err, "cannot load the BPF program");
    attach_forget_file(s->skeleton->skeleton);
    s->ring = batch_ring_new(map_of(s, "records"), TRAP_RING_BYTES, BATCH_RING_MOST_BYTES);
    return s->ring ? 0 : fail(-errno, "no ring buffer: %s", strerror(errno));
}

int trap_source_new(const struct trap_source_ops *ops, const struct wanted *wanted, struct watch *watch,
                    struct trap_source **out)
{
    struct trap_source *s = calloc(1, sizeof *s);

    *out = s;
    if (!s)
        return fail(-ENOMEM, "out of memory");
    s->ops = *ops;
    s->wanted = *wanted;
    s->watch = watch;
    s->names = trap_names_new(&(struct trap_names_ops){tell_code, tell_atom, take_atom, s});
    s->pages = trap_pages_new(&(struct trap_pages_ops){ops->page, ops->ctx});
    return s->names && s->pages ? load(s) : fail(-ENOMEM, "out of memory");
}

void trap_source_free(struct trap_source *s)
{
    if (!s)
        return;
    batch_ring_free(s->ring);
    trap__destroy(s->skeleton);
    trap_names_free(s->names);
    trap_pages_free(s->pages);
    drop_running(s, 0);
    drop_named(s, 0);
    free(s);
}

/* ---- the life of it */

int trap_source_require(const struct wanted *wanted, const struct target *t, const struct plan *plan)
{
    if (plan->early)
        return 0;
    if (plan->refused[0] && !target_lives(t->pid))
        return fail(-ESRCH, "the process with pid %d has ended", t->pid);
    if (plan->refused[0])
        return fail(-ENOTSUP, "'%s' cannot be watched: %s", t->name, plan->refused);
    for (size_t v = 0; v < view_nons; v++) {
        enum batch_event event = view_ons[v].args ? event_find(view_ons[v].probe) : BATCH_ATOM;

        if (event != BATCH_ATOM && wanted->events[event] &&
            plan->events[plan_find_probe(view_ons[v].probe)].source != PLAN_NONE)
            return 0;
    }
    return fail(-ENOTSUP,
                "'%s' (%s) has none of the events to record; erlsnoop doctor -p %d shows which it has",
                t->name, t->provider->text, t->pid);
}

/* Whether an event is wanted that the view is told of and the VM cannot tell. */
static bool lacks_wanted(const struct trap_source *s, const struct plan *plan, enum view_id view)
{
    for (size_t i = 0; i < view_nons; i++) {
        enum batch_event event = view_ons[i].args ? event_find(view_ons[i].probe) : BATCH_ATOM;

        if (view_ons[i].view == view && event != BATCH_ATOM && s->wanted.events[event] &&
            plan->events[plan_find_probe(view_ons[i].probe)].source == PLAN_NONE)
            return true;
    }
    return false;
}

/* The wanted views that it has no event for. */
static void tell_unserved(const struct trap_source *s, const struct target *t, const struct plan *plan)
{
    char unserved[VIEWS_NAMES_BYTES] = "";

    for (size_t v = 0; v < VIEW_COUNT; v++)
        if (views[v].text && lacks_wanted(s, plan, (enum view_id)v) && !verdict_serves(plan, (enum view_id)v))
            snprintf(unserved + strlen(unserved), sizeof unserved - strlen(unserved), "%s%s", *unserved ? ", " : "",
                     views[v].name);
    if (*unserved)
        note(VERDICT_UNSERVED, t->name, t->pid, unserved);
}

void trap_source_hooked(struct trap_source *s, const struct target *t, const struct plan *plan, uint32_t slot)
{
    int err = 0;

    if (plan->vm->ours)
        return;
    tell_unserved(s, t, plan);
    if (s->wanted.events[BATCH_efile_drv__entry])
        err = otp_threads_put(names_memory(s->watch->names, (uint32_t)t->pid), &plan->vm->layout, plan->vm->symbols,
                              slot, map_of(s, "efile_threads"));
    if (err)
        note("who asks for operations of '%s' (process %d) is not known: %s", t->name, t->pid, strerror(-err));
}

int trap_source_fd(const struct trap_source *s)
{
    return map_of(s, "records");
}

int trap_source_read(struct trap_source *s)
{
    uint64_t now;

    s->taken = 0;
    batch_ring_read(s->ring, NULL, take_record, s);
    now = clock_ns(CLOCK_MONOTONIC);
    if (s->taken < TURN_RECORDS)
        flush(s, now);
    if (now > s->second_ns + SECOND_NS) {
        names_end_result(s->watch->names);
        s->second_ns = now;
    }
    return s->taken;
}

struct last_gaps {
    struct trap_source *source;
    int map;
    uint32_t vm;
    uint64_t now_ns;
};

static void tell_last_gap(void *ctx, const void *at)
{
    const struct last_gaps *gaps = ctx;
    struct trap_thread thread;
    uint64_t key;

    memcpy(&key, at, sizeof key);
    if (bpf_map_lookup_elem(gaps->map, &key, &thread) || (gaps->vm && thread.vm != gaps->vm))
        return;
    trap_pages_told(gaps->source->pages, thread.vm, (uint32_t)key, thread.told, gaps->now_ns);
    if (gaps->vm)
        bpf_map_delete_elem(gaps->map, &key);
}

/*
 * Threads whose last events were lost: of all VMs (0), or of one that has ended, whose threads go: another's begins to
 * count anew.
 */
static void tell_last_gaps(struct trap_source *s, uint32_t vm, uint64_t now_ns)
{
    int map = map_of(s, "threads");

    vm_maps_each_key(map, tell_last_gap, &(struct last_gaps){s, map, vm, now_ns});
}

void trap_source_drain(struct trap_source *s)
{
    uint64_t now;

    while (trap_source_read(s) == TURN_RECORDS)
        ;
    now = clock_ns(CLOCK_MONOTONIC);
    trap_pages_flush(s->pages, UINT64_MAX, now);
    tell_last_gaps(s, 0, now);
}

void trap_source_end(struct trap_source *s, uint32_t vm)
{
    uint64_t now;

    trap_source_read(s);
    now = clock_ns(CLOCK_MONOTONIC);
    tell_last_gaps(s, vm, now);
    trap_pages_end(s->pages, vm, now);
    vm_maps_drop(object_of(s), &(struct vm_set){&vm, 1});
    trap_names_forget(s->names, vm);
    drop_running(s, vm);
    drop_named(s, vm);
}

static uint64_t read_loss(const struct trap_source *s, uint32_t why)
{
    int cpus = libbpf_num_possible_cpus();
    uint64_t *each = cpus > 0 ? calloc((size_t)cpus, sizeof *each) : NULL, sum = 0;

    if (each && !bpf_map_lookup_elem(map_of(s, "losses"), &why, each))
        for (int i = 0; i < cpus; i++)
            sum += each[i];
    free(each);
    return sum;
}

void trap_source_each_loss(struct trap_source *s, void (*loss)(void *ctx, const char *why, uint64_t total), void *ctx)
{
    static const char *const texts[] = {
#define TEXT(name, text) text,
        WIRE_LOSSES(TEXT)
#undef TEXT
    };

    for (uint32_t i = 0; i < WIRE_NLOSSES; i++)
        loss(ctx, texts[i], read_loss(s, i));
    loss(ctx, "records that made no sense", s->lost);
    loss(ctx, "names for which there was no room", trap_names_lost(s->names));
    loss(ctx, "turns of processes for which there was no room (who runs)", s->runs_lost);
    loss(ctx, "registered names for which there was no room", s->named_lost);
}
