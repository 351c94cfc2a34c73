/* SPDX-License-Identifier: Apache-2.0 */
/* Invariant: an event is handed to all views that are on by the one program of its site. */
#include "engine.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "common/clock.h"
#include "common/fail.h"
#include "common/tally.h"
#include "otp/otp_threads.h"
#include "probe/attach.h"
#include "probe/plan.h"
#include "probe/vm_maps.h"
#include "recording/recorder.h"
#include "session.h"
#include "source/feed.h"
#include "source/verdict.h"
#include "view/before.h"
#include "view/connections.h"
#include "view/quotas.h"
#include "view/result.h"
#include "view/unavailable.h"
#include "view/view_places.h"
#include "view/view_select.h"

#include "views.skel.h"

#define LEAST_PACE_NS 900000000ull /* of readers, which are to read once a second */

struct engine {
    struct views *skeleton;
    bool on[VIEW_COUNT];
    struct view_settings settings;
    struct engine_question *question;
    struct session *session;
    struct result_reader printed;
    uint64_t begun_ns; /* of the first result; 0: nobody has read */
    struct feed *feed; /* of VMs that hand pages of events over; NULL: their notes are asked for */
    bool prints_events;
    bool one_vm; /* there will be no other: what it cannot tell is left out of results */
    struct unavailable unavailable;
    char unserved[VIEWS_NAMES_BYTES]; /* views that the last VM cannot tell */
    bool said_missing[VIEW_COUNT];    /* what some VM lacks of it */
    /*
     * Programs count in one of two sides of each map while the other is read (session_change_sides). side: the one
     * whose counts belong to the result that is printed next. cut: that result has ended (on_cut), and programs left
     * its side then; otherwise they leave it when the result is printed.
     */
    uint32_t side;
    bool cut;
    struct counted_vm *counted; /* VMs that something was counted of, those too that no look found */
    size_t ncounted;
    struct open_shares shares;
    struct {
        struct view_kept kept;
        bool open;
    } states[VIEW_NSTATES]; /* once somebody asked for them */
    struct before *before;
    struct quotas *quotas;
    struct connections *connections;
    uint32_t percent_full; /* the fullest table of names that was read last */
};

struct counted_vm {
    uint32_t vm;
    bool dead; /* it was at the last result */
};

/* Tells the programs which views are on, and which arguments to read. */
static void configure(struct engine *e)
{
    struct bpf_object *object = *e->skeleton->skeleton->obj;
    uint32_t wanted[PLAN_NPROBES] = {0};

    for (size_t v = 0; v < VIEW_COUNT; v++) {
        for (size_t i = 0; e->on[v] && i < PLAN_NPROBES; i++)
            wanted[i] |= view_reads((enum view_id)v, plan_probe_name((enum plan_probe)i));
    }
    attach_set_constants(object, ".rodata.views", &e->settings, sizeof e->settings);
    attach_set_constants(object, ".rodata.events", wanted, sizeof wanted);
    view_select(object, e->on, e->settings.by_vm);
}

/* ---- states: tables by process */

enum { LEAST_PLACES = 16384, MOST_PLACES = 1 << 22, DEFAULT_PLACES = 65536 };

static struct bpf_map *find_map(const struct engine *e, const char *state, const char *part)
{
    char name[64];

    snprintf(name, sizeof name, "%s_%s", state, part);
    return bpf_object__find_map_by_name(*e->skeleton->skeleton->obj, name);
}

/* A place for each process that the target may have. */
static void size_states(void *ctx, uint64_t processes)
{
    struct engine *e = ctx;
    uint32_t places = processes ? LEAST_PLACES : DEFAULT_PLACES;
    struct view_places constants = {0};

    while (places < processes && places < MOST_PLACES)
        places *= 2;
    constants.mask = places - 1;
    if (getrandom(&constants.secret, sizeof constants.secret, 0) != sizeof constants.secret)
        constants.secret = clock_ns(CLOCK_REALTIME);
    constants.secret |= 1;
    attach_set_constants(*e->skeleton->skeleton->obj, ".rodata.places", &constants, sizeof constants);
    for (size_t i = 0; i < VIEW_NSTATES; i++)
        if (!view_states[i].keyed)
            bpf_map__set_max_entries(find_map(e, view_states[i].map, "at"), places);
}

/* What the programs, which were loaded, keep. Fails: -errno. */
static int find_kept_states(struct engine *e, enum view_state_id id, const struct view_kept **out)
{
    const char *map = view_states[id].map;
    int err = 0;

    if (!e->states[id].open)
        err = view_places_open(&e->states[id].kept, find_map(e, map, "at"), find_map(e, map, "more"));
    e->states[id].open = !err;
    *out = &e->states[id].kept;
    return err;
}

static void drop_state(struct engine *e, enum view_state_id id, const struct vm_set *vms)
{
    const struct view_kept *kept;

    if (!find_kept_states(e, id, &kept))
        view_places_drop(kept, vms);
}

/* Removes what was kept of VMs that have ended: nothing of it is there for one that gets a process id of theirs. */
static void drop_states(struct engine *e, struct session *s, const struct vm_set *vms)
{
    for (size_t i = 0; session_loaded(s) && i < VIEW_NSTATES; i++) {
        if (e->on[view_states[i].view])
            drop_state(e, (enum view_state_id)i, vms);
    }
    if (!session_loaded(s))
        return;
    vm_maps_drop(*e->skeleton->skeleton->obj, vms);
    vm_maps_drop_keys(session_map(s, "view_names"), 0, vms);
}

/* What helpers know of processes stays true. */
static void on_missed(void *ctx, struct session *s)
{
    struct engine *e = ctx;

    if (!session_loaded(s))
        return;
    for (size_t i = 0; i < VIEW_NSTATES; i++) {
        const struct view_state *state = &view_states[i];

        if (e->on[state->view] && views[state->view].text)
            drop_state(e, (enum view_state_id)i, NULL);
    }
    vm_maps_miss(*e->skeleton->skeleton->obj);
    shares_forget(&e->shares, 0);
}

/*
 * What is asked beside what it can tell: its figures would be zeros that say nothing. Where there is one VM and it can
 * tell nothing of all that is asked, that is an error.
 */
static int print_unserved(struct engine *e, const struct target *t, const struct plan *plan)
{
    char unserved[sizeof e->unserved] = "";
    bool serves = false;

    for (size_t v = 0; v < VIEW_COUNT; v++) {
        if (!e->on[v] || !views[v].text)
            continue;
        if (verdict_serves(plan, (enum view_id)v)) {
            serves = true;
            continue;
        }
        snprintf(unserved + strlen(unserved), sizeof unserved - strlen(unserved), "%s%s", *unserved ? ", " : "",
                 views[v].name);
        e->on[v] = !e->one_vm;
    }
    if (!serves && e->one_vm)
        return fail(-ENOTSUP, VERDICT_UNSERVED, t->name, t->pid, unserved);
    if (*unserved && strcmp(unserved, e->unserved)) /* once, where VMs come and go */
        note(VERDICT_UNSERVED, t->name, t->pid, unserved);
    strcpy(e->unserved, unserved);
    return 0;
}

/* Why '-' stands where it does, once for a view: as doctor says it. */
static void print_missing(struct engine *e, const struct target *t, const struct plan *plan)
{
    char missing[VERDICT_BYTES];

    for (size_t v = 0; v < VIEW_COUNT; v++) {
        if (!e->on[v] || !views[v].text || e->said_missing[v])
            continue;
        verdict_missing(t, plan, (enum view_id)v, missing);
        e->said_missing[v] = *missing;
        if (*missing)
            note("%s of '%s' (process %d): no %s", views[v].name, t->name, t->pid, missing);
    }
}

/* File operations of a stock emulator go by the thread that does them, which tells whose they are. */
static int on_hooked(void *ctx, struct session *s, const struct target *t, const struct plan *plan, uint32_t slot)
{
    struct engine *e = ctx;
    int err = unavailable_learn_plan(&e->unavailable, (uint32_t)t->pid, plan);

    if (err)
        return fail(err, "out of memory");
    if (!session_loaded(s))
        return 0;
    err = plan->vm->ours ? 0 : print_unserved(e, t, plan);
    if (err)
        return err;
    if (!plan->vm->ours)
        print_missing(e, t, plan);
    if (e->on[VIEW_efile] && !plan->vm->ours)
        err = otp_threads_put(names_memory(session_names(s), (uint32_t)t->pid), &plan->vm->layout, plan->vm->symbols,
                              slot, session_map(s, "efile_threads"));
    if (err)
        note("who asks for operations of '%s' (process %d) is not known: %s", t->name, t->pid, strerror(-err));
    return 0;
}

static void print_missing_of_pages(struct engine *e, uint32_t vm)
{
    char missing[VERDICT_BYTES];

    for (size_t v = 0; v < VIEW_COUNT; v++) {
        if (!e->on[v] || !views[v].text || e->said_missing[v])
            continue;
        verdict_missing_of_pages((enum view_id)v, missing);
        e->said_missing[v] = *missing;
        if (*missing)
            note("%s of process %u: no %s; --source notes has them", views[v].name, vm, missing);
    }
}

static int on_found(void *ctx, struct session *s, const struct plan *plan)
{
    struct engine *e = ctx;
    uint32_t vm = plan->vm->layout.vm;

    if (e->feed && feed_has(e->feed, vm))
        print_missing_of_pages(e, vm);
    if (before_add(e->before, plan->vm, session_names(s)) || quotas_add(e->quotas, vm) ||
        connections_add(e->connections, vm))
        return fail(-ENOMEM, "out of memory");
    return 0;
}

/* ---- VMs that no look found */

static void count_vm(struct engine *e, uint32_t vm)
{
    struct counted_vm *all;

    for (size_t i = 0; i < e->ncounted; i++)
        if (e->counted[i].vm == vm)
            return;
    all = vm ? realloc(e->counted, (e->ncounted + 1) * sizeof *all) : NULL;
    if (!all)
        return;
    e->counted = all;
    e->counted[e->ncounted++] = (struct counted_vm){vm, false};
}

static void forget_counted(struct engine *e, const struct vm_set *vms)
{
    size_t kept = 0;

    for (size_t i = 0; i < e->ncounted; i++)
        if (!vm_set_has(vms, e->counted[i].vm))
            e->counted[kept++] = e->counted[i];
    e->ncounted = kept;
}

/*
 * A VM by notes that ended before any look is not told to have ended. Once it was dead at two results the rows that its
 * last events made were read, and what programs keep of it goes.
 */
static void drop_dead(struct engine *e, struct session *s)
{
    uint32_t *dead = e->ncounted ? calloc(e->ncounted, sizeof *dead) : NULL;
    struct vm_set set = {dead, 0};

    for (size_t i = 0; dead && i < e->ncounted; i++) {
        bool lives = target_lives((int)e->counted[i].vm);

        if (!lives && e->counted[i].dead)
            dead[set.n++] = e->counted[i].vm;
        e->counted[i].dead = !lives;
    }
    if (set.n) {
        drop_states(e, s, &set);
        forget_counted(e, &set);
    }
    free(dead);
}

/* ---- results */

static uint32_t change_sides(struct engine *e)
{
    return session_change_sides(&e->skeleton->data_views->view_side);
}

/* The row of a TOTAL table, CPU by CPU; zero from then on. */
static int take_total(struct engine *e, const struct view_table *t, struct result_taken *out)
{
    int cpus = libbpf_num_possible_cpus(), map = session_map(e->session, t->map), err = 0;
    uint64_t *each = cpus > 0 ? calloc((size_t)cpus, t->row_bytes) : NULL;

    if (!each)
        return -ENOMEM;
    if (bpf_map_lookup_elem(map, &e->side, each))
        err = -errno;
    for (int i = 0; !err && i < cpus; i++)
        result_merge(t, out->rest, each + (size_t)i * (t->row_bytes / sizeof *each));
    memset(each, 0, (size_t)cpus * t->row_bytes);
    if (!err && bpf_map_update_elem(map, &e->side, each, BPF_EXIST))
        err = -errno;
    free(each);
    return err;
}

/* Its rows by VM, each CPU by CPU; they go. */
static int take_vms(struct engine *e, const struct view_table *t, struct result_taken *out)
{
    size_t cpus = (size_t)libbpf_num_possible_cpus(), words = t->row_bytes / 8, n;
    struct tally *tally = tally_new(sizeof(uint32_t), cpus * words, 0);
    const struct tally_row *rows;
    char name[64];
    int err;

    snprintf(name, sizeof name, "%s_%u", t->map, e->side);
    err = tally_take(tally, session_map(e->session, name));
    n = err ? 0 : tally_all(tally, &rows);
    for (size_t i = 0; i < n && !err; i++) {
        err = result_add(out, *(const uint32_t *)rows[i].key, 0, rows[i].values);
        for (size_t cpu = 1; cpu < cpus && !err; cpu++)
            result_merge(t, out->rows[out->nrows - 1].words, (uint64_t *)rows[i].values + cpu * words);
    }
    tally_free(tally);
    return err;
}

/* What a keyed table had no room for; zero from then on. */
static int take_rest(struct engine *e, const struct view_table *t, struct result_taken *out)
{
    uint64_t *zeros = calloc(1, t->row_bytes);
    char name[64];
    int map, err = zeros ? 0 : -ENOMEM;

    snprintf(name, sizeof name, "%s_rest", t->map);
    map = session_map(e->session, name);
    if (!err && (bpf_map_lookup_elem(map, &e->side, out->rest) || bpf_map_update_elem(map, &e->side, zeros, BPF_EXIST)))
        err = -errno;
    free(zeros);
    return err;
}

/* Of a map's room so many rows were taken. */
static void see_full(struct engine *e, size_t rows, const char *map)
{
    uint32_t room = bpf_map__max_entries(bpf_object__find_map_by_name(*e->skeleton->skeleton->obj, map));
    uint32_t percent = (uint32_t)(rows * 100 / room);

    e->percent_full = percent > e->percent_full ? percent : e->percent_full;
}

static int take_rows(struct engine *e, const struct view_table *t, struct result_taken *out)
{
    struct tally *tally = tally_new(sizeof(struct wire_name_key), t->row_bytes / 8, 0);
    const struct tally_row *rows;
    char name[64];
    size_t n;
    int err;

    snprintf(name, sizeof name, "%s_%u", t->map, e->side);
    err = tally_take(tally, session_map(e->session, name));
    n = err ? 0 : tally_all(tally, &rows);
    see_full(e, n, name);
    for (size_t i = 0; i < n && !err; i++) {
        const struct wire_name_key *key = rows[i].key;

        count_vm(e, key->vm);
        err = result_add(out, key->vm, key->hash, rows[i].values);
    }
    tally_free(tally);
    return err;
}

static int take_maps(struct engine *e, const struct view_table *t, struct result_taken *out)
{
    int err;

    if (t->key == VIEW_TOTAL) {
        err = e->settings.by_vm ? take_vms(e, t, out) : 0;
        return err ? err : take_total(e, t, out);
    }
    err = take_rows(e, t, out);
    return err ? err : take_rest(e, t, out);
}

/* VMs that tell by pages are watched all the time. */
static int take_feed(struct engine *e, const struct view_table *t, struct result_taken *out)
{
    uint64_t *rest = out->rest;
    size_t at = out->nrows;
    int err;

    out->rest = out->whole;
    err = feed_counted(e->feed, t, out);
    out->rest = rest;
    result_merge(t, out->rest, out->whole);
    for (; t->key == VIEW_TOTAL && at < out->nrows; at++)
        result_merge(t, out->whole, out->rows[at].words);
    return err;
}

/* What was counted in the kernel, and in user space. All of a TOTAL table is of the VM, if there is but one. */
static int take(void *ctx, const struct view_table *t, struct result_taken *out)
{
    struct engine *e = ctx;
    int err = session_loaded(e->session) ? take_maps(e, t, out) : 0;

    if (!err && e->feed)
        err = take_feed(e, t, out);
    if (err || t->key != VIEW_TOTAL || !e->one_vm)
        return err;
    err = result_add(out, session_vm(e->session), 0, out->rest);
    memset(out->rest, 0, t->row_bytes);
    return err;
}

/* The slowest of the kernel's side. */
static int take_slowest_map(struct engine *e, const struct view_slowest *slowest, struct result_kept *out)
{
    int map = session_map(e->session, slowest->map), err = 0;
    size_t bytes = bpf_map__value_size(bpf_object__find_map_by_name(*e->skeleton->skeleton->obj, slowest->map));
    char *all = calloc(2, bytes);

    if (!all)
        return -ENOMEM;
    if (bpf_map_lookup_elem(map, &e->side, all) || bpf_map_update_elem(map, &e->side, all + bytes, BPF_EXIST))
        err = -errno;
    if (!err)
        err = kept_take(out, slowest, all);
    free(all);
    return err;
}

static int take_slowest(void *ctx, enum view_slowest_id id, struct result_kept *out)
{
    struct engine *e = ctx;
    int err = session_loaded(e->session) ? take_slowest_map(e, view_slowest(id), out) : 0;

    return !err && e->feed ? feed_slowest(e->feed, id, out) : err;
}

static const char *name(void *ctx, uint32_t vm, const struct wire_name *told)
{
    struct engine *e = ctx;

    return e->feed && feed_has(e->feed, vm) ? feed_name(e->feed, vm, told) : session_name(e->session, vm, told);
}

static const struct wanted *unavailable(void *ctx, uint32_t vm)
{
    return unavailable_of(&((struct engine *)ctx)->unavailable, vm);
}

/* ---- what is under way */

static int give_open(void *ctx, enum view_state_id id, const struct open_taker *taker)
{
    struct engine *e = ctx;
    const struct view_kept *kept;
    int err = session_loaded(e->session) ? find_kept_states(e, id, &kept) : 0;

    if (!err && session_loaded(e->session))
        err = view_places_each(kept, taker);
    return !err && e->feed ? feed_open(e->feed, id, taker) : err;
}

static bool vm_ended(void *ctx, uint32_t vm)
{
    const struct engine *e = ctx;

    return (e->one_vm && session_vm_ended(e->session)) || !target_lives((int)vm);
}

/*
 * As rows call it. Of a VM that tells by hooks, its memory says it, and of one that tells by pages, where views are not
 * told of owners; of others with notes there are only numbers.
 */
static bool name_owner(void *ctx, uint32_t vm, const struct view_whom *whom, struct wire_name *out)
{
    struct engine *e = ctx;
    bool of_pages = e->feed && feed_has(e->feed, vm), known;

    *out = (struct wire_name){.form = WIRE_PROCESS, .words = {whom->id}};
    if (e->settings.by == VIEW_BY_PID)
        return whom->id != 0;
    known = of_pages && feed_whose(e->feed, vm, whom, out);
    if (of_pages && (out->form != WIRE_PROCESS || !whom->where))
        return known;
    return names_owner(session_names(e->session), vm, whom->where & VIEW_WHERE_ADDRESS, whom->id,
                       e->settings.by == VIEW_BY_MFA, out);
}

static bool find_kept(void *ctx, uint32_t vm, uint64_t kept, struct wire_name *out)
{
    struct engine *e = ctx;
    const struct wire_name_key key = {.vm = vm, .hash = kept};

    if (e->feed && feed_has(e->feed, vm))
        return feed_kept(e->feed, vm, kept, out);
    return session_loaded(e->session) && !bpf_map_lookup_elem(session_map(e->session, "view_names"), &key, out);
}

/* What is read is of now, but when a result was cut. */
static struct result_source source_of(struct engine *e, struct session *s)
{
    e->session = s;
    return (struct result_source){.ctx = e,
                                  .take = take,
                                  .name = name,
                                  .sink = session_sink(s),
                                  .seconds = session_seconds(s),
                                  .whole_seconds = session_whole_seconds(s),
                                  .slowest = take_slowest,
                                  .order = &e->question->order,
                                  .shown = e->settings.slowest,
                                  .unavailable = unavailable,
                                  .open = give_open,
                                  .ended = vm_ended,
                                  .now_ns = session_now_ns(s),
                                  .shares = &e->shares,
                                  .before = e->before,
                                  .quotas = e->quotas,
                                  .connections = e->connections,
                                  .by_vm = e->one_vm || e->settings.by_vm,
                                  .owner = name_owner,
                                  .kept = find_kept};
}

static void on_cut(void *ctx, struct session *s)
{
    struct engine *e = ctx;

    if (session_loaded(s))
        e->side = change_sides(e);
    e->cut = true;
}

/* What was counted so far goes to all who read. Once a result was cut, what is counted since belongs to the next. */
static int gather(struct engine *e, const struct result_source *source)
{
    struct engine_question *q = e->question;
    struct result_reader *readers[ENGINE_READERS + 1];
    size_t n = 0;

    if (!e->cut && session_loaded(e->session))
        e->side = change_sides(e);
    if (!q->silent)
        readers[n++] = &e->printed;
    for (size_t i = 0; i < q->nreaders; i++)
        readers[n++] = &q->readers[i].gathered;
    return result_gather(source, e->on, readers, n);
}

/* Each who is due reads; ended: those do who want what is of less than a second. */
static int let_read(struct engine *e, const struct result_source *source, bool ended)
{
    uint64_t now_ns = clock_ns(CLOCK_MONOTONIC);
    int err = 0;

    e->begun_ns = e->begun_ns ? e->begun_ns : now_ns - (uint64_t)(source->whole_seconds * 1e9);
    for (struct engine_reader *r = e->question->readers; r < e->question->readers + e->question->nreaders && !err; r++)
        if ((ended && !r->whole) || now_ns >= (r->read_ns ? r->read_ns : e->begun_ns) + LEAST_PACE_NS) {
            r->read_ns = now_ns;
            err = r->result(r->ctx, e->session, source, &r->gathered);
        }
    return err;
}

static int on_result(void *ctx, struct session *s)
{
    struct engine *e = ctx;
    struct result_source source = source_of(e, s);
    bool silent = e->question->silent;
    int err = gather(e, &source);

    e->cut = false;
    if (!err)
        err = let_read(e, &source, session_ends(s));
    if (e->question->recorder && session_ends(s))
        recorder_end(e->question->recorder, session_vm_ended(s), silent ? session_sink(s) : NULL);
    if (!silent && session_saw_nothing(s))
        return err;
    if (!err && !silent)
        err = result_print(&source, e->on, &e->printed);
    if (!e->one_vm && !session_ends(s))
        drop_dead(e, s);
    return err;
}

/*
 * Tables of the kernel's side have room for some thousand names, which a long result may have more of: a function of a
 * stock emulator has another after each purge of code.
 */
static int on_early(void *ctx, struct session *s)
{
    struct engine *e = ctx;
    struct result_source source = source_of(e, s);
    int err;

    e->percent_full = 0;
    err = gather(e, &source);
    if (!err)
        err = let_read(e, &source, false);
    return err ? err : (int)e->percent_full;
}

/* What was counted of them is taken before another VM has a process id of theirs. */
static void on_ended(void *ctx, struct session *s, const struct vm_set *vms)
{
    struct engine *e = ctx;
    struct result_source source = source_of(e, s);

    if (e->question->nreaders && !gather(e, &source))
        let_read(e, &source, true);
    drop_states(e, s, vms);
    forget_counted(e, vms);
    for (size_t i = 0; i < vms->n; i++) {
        unavailable_end_vm(&e->unavailable, vms->vms[i]);
        before_drop(e->before, vms->vms[i]);
        quotas_drop(e->quotas, vms->vms[i]);
        connections_drop(e->connections, vms->vms[i]);
        shares_forget(&e->shares, vms->vms[i]);
    }
}

static uint64_t on_beat(void *ctx, struct session *s)
{
    struct engine *e = ctx;

    (void)s;
    return e->question->beat(e->question->beat_ctx);
}

static void on_record(void *ctx, struct session *s, const struct wire_header *header, size_t size)
{
    struct engine *e = ctx;
    struct result_source source = source_of(e, s);

    for (struct engine_reader *r = e->question->readers; r < e->question->readers + e->question->nreaders; r++)
        if (r->record)
            r->record(r->ctx, &source, header, size);
    if (e->prints_events)
        result_record(&source, header, size);
}

/* ---- a run */

static void apply_question(struct engine *e, struct engine_question *q, const struct options *o)
{
    bool exemplars = false;

    for (size_t i = 0; i < q->nreaders; i++)
        exemplars |= q->readers[i].record != NULL;
    memcpy(e->on, q->on, sizeof e->on);
    e->settings = q->settings;
    e->question = q;
    e->prints_events = o->events;
    e->one_vm = !o->all && !o->child;
    e->settings.by_vm &= !e->one_vm; /* which costs a look-up an event */
    for (size_t v = 0; v < VIEW_COUNT; v++)
        e->settings.events[v] = o->events || (exemplars && view_has_exemplars((enum view_id)v));
    for (size_t i = 0; i < view_nuses; i++)
        e->on[view_uses[i].helper] |= e->on[view_uses[i].view];
    for (size_t v = 0; v < VIEW_COUNT; v++)
        e->settings.on[v] = e->on[v];
}

int engine_run(struct engine_question *question, const struct options *options)
{
    struct engine e = {0};
    struct session_ops ops = {.record = on_record, .result = on_result, .hooked = on_hooked,
                              .found = on_found, .opened = size_states,
                              .ended = on_ended, .cut = on_cut, .missed = on_missed,
                              .early = question->silent ? NULL : on_early,
                              .beat = question->beat ? on_beat : NULL, .pages_only = question->pages_only,
                              .silent = question->silent, .recorder = question->recorder,
                              .notes_only = question->notes_only};
    bool reads = !question->silent || question->nreaders;
    int err;

    apply_question(&e, question, options);
    if (!question->recorder)
        e.skeleton = views__open();
    if (e.skeleton)
        configure(&e);
    e.before = before_new(e.on);
    e.quotas = quotas_new(e.on);
    e.connections = connections_new(e.on);
    if (!e.before || !e.quotas || !e.connections)
        return fail(-ENOMEM, "out of memory");
    if (reads && (question->recorder || !question->notes_only) && feed_new(&e.settings, &e.feed))
        return fail(-ENOMEM, "out of memory");
    ops.feed = e.feed;
    err = session_run(options, e.skeleton ? e.skeleton->skeleton : NULL, &ops, &e);
    for (size_t v = 0; v < VIEW_COUNT; v++)
        question->on[v] &= e.on[v];
    result_forget(&e.printed);
    for (size_t i = 0; i < question->nreaders; i++)
        result_forget(&question->readers[i].gathered);
    for (size_t i = 0; i < VIEW_NSTATES; i++)
        view_places_close(&e.states[i].kept);
    unavailable_free(&e.unavailable);
    shares_free(&e.shares);
    before_free(e.before);
    quotas_free(e.quotas);
    connections_free(e.connections);
    free(e.counted);
    feed_free(e.feed);
    views__destroy(e.skeleton);
    return err;
}
