/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Invariant: whatever way it ends, probes are detached first, then what is still in the ring
 * buffers is read, then the last result is printed: nothing that was counted is lost.
 */
#include "session_state.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <limits.h>
#include <linux/membarrier.h>
#include <malloc.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

#include "common/clock.h"
#include "common/fail.h"
#include "common/ready.h"
#include "common/signals.h"
#include "event/batch_ring.h"
#include "probe/kernel.h"
#include "probe/vm_maps.h"
#include "recording/recorder.h"
#include "source/batch_source.h"
#include "source/trap_source.h"

/*
 * A turn of reading the ring buffer ends with the first of the two; after a signal what is left is read for END_NS.
 */
enum { TURN_RECORDS = 1024, TURN_NS = 20000000, END_NS = 150000000 };

/*
 * How long a result may last before what it has by now is read: EARLY_STEP_NS once its tables are EARLY_FULL percent
 * full, a step longer each time that they are nearly empty.
 */
enum { EARLY_NS = 1000000000, EARLY_STEP_NS = 100000000, EARLY_FULL = 50, EARLY_EMPTY = 10 };

struct sink *session_sink(struct session *s)
{
    return &s->sink;
}

struct names *session_names(struct session *s)
{
    return s->watch.names;
}

const char *session_name(struct session *s, uint32_t vm, const struct wire_name *name)
{
    return names_text(s->watch.names, vm, name, s->name, sizeof s->name);
}

void session_each_vm(struct session *s, void (*vm)(void *ctx, const struct target_life *life, bool watched), void *ctx)
{
    watch_each(&s->watch, vm, ctx);
}

void session_cost(const struct session *s, struct session_cost *out)
{
    uint64_t took = s->now_ns - s->begin_ns, watched = budget_watched_ns(&s->budget, s->begin_ns, s->now_ns);

    *out = (struct session_cost){s->watched_ns + watched, took ? (double)watched / (double)took : 1, s->budget.kept,
                                 s->budget.paid.ns, s->budget.paid.hits};
}

double session_seconds(const struct session *s)
{
    uint64_t watched = budget_watched_ns(&s->budget, s->begin_ns, s->now_ns);

    return (double)(watched ? watched : 1) / 1e9;
}

double session_whole_seconds(const struct session *s)
{
    return (double)(s->now_ns > s->begin_ns ? s->now_ns - s->begin_ns : 1) / 1e9;
}

uint64_t session_now_ns(const struct session *s)
{
    return s->now_ns;
}

bool session_ends(const struct session *s)
{
    return s->last;
}

uint32_t session_vm(const struct session *s)
{
    return (uint32_t)s->watch.only.pid;
}

bool session_vm_ended(const struct session *s)
{
    return s->ended;
}

bool session_saw_nothing(const struct session *s)
{
    return session_was_left_alone(s) && !s->pages;
}

bool session_loaded(const struct session *s)
{
    return s->ring != NULL;
}

int session_map(struct session *s, const char *name)
{
    int fd = bpf_object__find_map_fd_by_name(s->watch.attach.object, name);

    if (fd < 0) {
        fail(fd, "no map %s in this program", name);
        abort();
    }
    return fd;
}

static void each_program(const struct bpf_object *object, void (*program)(void *ctx, int fd), void *ctx)
{
    struct bpf_program *p;

    bpf_object__for_each_program(p, object) {
        if (bpf_program__fd(p) >= 0)
            program(ctx, bpf_program__fd(p));
    }
}

void session_each_program(struct session *s, void (*program)(void *ctx, int fd), void *ctx)
{
    if (s->watch.attach.object)
        each_program(s->watch.attach.object, program, ctx);
    if (s->pages)
        each_program(batch_source_object(s->pages), program, ctx);
}

void session_forget(struct session *s, const char *map)
{
    vm_maps_clear(s->watch.attach.object, map);
}

int session_read_percpu(struct session *s, const char *map, uint32_t slot, uint64_t *out, size_t words)
{
    int cpus = libbpf_num_possible_cpus();
    uint64_t *all = cpus > 0 ? calloc((size_t)cpus, words * sizeof *all) : NULL;
    int err = all ? 0 : -ENOMEM;

    memset(out, 0, words * sizeof *out);
    if (!err && bpf_map_lookup_elem(session_map(s, map), &slot, all))
        err = -errno;
    for (size_t i = 0; !err && i < (size_t)cpus * words; i++)
        out[i % words] += all[i];
    free(all);
    return err;
}

/*
 * Programs run under RCU, whose readers membarrier waits for. Where that call is not to be had (a filter of system
 * calls, processors without ticks), a change of a map of maps waits for the same: the kernel promises that no program
 * uses the old map when it returns.
 */
static int wait_for_programs(void)
{
    static int inner = -1, outer = -1;
    LIBBPF_OPTS(bpf_map_create_opts, opts);
    uint32_t zero = 0;

    if (!syscall(SYS_membarrier, MEMBARRIER_CMD_GLOBAL, 0, 0))
        return 0;
    if (inner < 0)
        inner = bpf_map_create(BPF_MAP_TYPE_ARRAY, "inner", sizeof zero, sizeof zero, 1, NULL);
    opts.inner_map_fd = (uint32_t)inner;
    if (inner >= 0 && outer < 0)
        outer = bpf_map_create(BPF_MAP_TYPE_ARRAY_OF_MAPS, "outer", sizeof zero, sizeof zero, 1, &opts);
    return outer < 0 || bpf_map_update_elem(outer, &zero, &inner, BPF_ANY) ? -errno : 0;
}

/* A program that began before may count in the other side: it has ended when this returns. */
uint32_t session_change_sides(volatile uint32_t *side)
{
    uint32_t counted = *side;

    *side = !counted;
    if (wait_for_programs())
        note("the kernel cannot be asked whether its programs have ended (%s): an event may be "
             "missing", strerror(errno));
    return counted;
}

int session_wait_for(const struct session *s, enum source source, int fd)
{
    struct epoll_event event = {.events = EPOLLIN, .data.u32 = source};

    if (epoll_ctl(s->epoll, EPOLL_CTL_ADD, fd, &event))
        return fail(-errno, "cannot wait for events: %s", strerror(errno));
    return 0;
}

int session_set_timer(struct session *s, enum source source, uint64_t every_ns)
{
    struct timespec ts = {(time_t)(every_ns / 1000000000u), (long)(every_ns % 1000000000u)};

    return timerfd_settime(s->fds[source], 0, &(struct itimerspec){ts, ts}, NULL) ? -errno : 0;
}

/* ---- results */

/* The terminal shows a Ctrl-C at the place where the first line of the result would begin. */
static void leave_line(struct session *s)
{
    if (signals_first_ns() && !s->results && !s->sink.ops->for_programs && isatty(STDOUT_FILENO))
        fputc('\n', s->sink.out);
}

static int print_result(struct session *s)
{
    const struct budget_cost cost = budget_take(&s->budget, s->begin_ns, s->now_ns);
    int err;

    leave_line(s);
    names_since(s->watch.names, s->now_ns);
    sink_moment(&s->sink, s->now_ns);
    sink_sample(&s->sink, budget_sampled(&s->budget, s->begin_ns, s->now_ns));
    err = s->ops->result(s->ctx, s);
    if (err)
        return fail(err, "cannot read results: %s", strerror(-err));
    err = session_print_about(s, &cost);
    if (err)
        return err;
    s->watched_ns += budget_watched_ns(&s->budget, s->begin_ns, s->now_ns);
    s->begin_ns = s->now_ns;
    budget_end_result(&s->budget, s->now_ns);
    names_end_result(s->watch.names);
    s->results++;
    watch_notify_halt(&s->watch);
    return sink_flush(&s->sink);
}

bool session_is_late(const struct session *s)
{
    uint64_t signal_ns = signals_first_ns(), from_ns = signal_ns > s->turn_ns ? signal_ns : s->turn_ns;

    return signal_ns && clock_ns(CLOCK_MONOTONIC) > from_ns + END_NS;
}

/* -EAGAIN ends the turn: what is left is read in the next one. */
static int take_record(void *ctx, void *data, size_t size)
{
    struct session *s = ctx;
    const struct wire_header *header = data;

    if (s->ending && session_is_late(s)) {
        s->left++;
        return 0;
    }
    names_since(s->watch.names, header->time_ns);
    if (size >= sizeof(struct wire_resolve) && header->kind == WIRE_RESOLVE) {
        names_see(s->watch.names, header->vm, &((const struct wire_resolve *)data)->name);
    } else if (s->ops->record && size >= sizeof *header && header->kind != WIRE_RESOLVE) {
        s->sink.now_ns = header->time_ns;
        s->ops->record(s->ctx, s, data, size);
    }
    if (s->ending || (++s->turn < TURN_RECORDS && clock_ns(CLOCK_MONOTONIC) < s->turn_ns + TURN_NS))
        return 0;
    return -EAGAIN;
}

static int read_ring(struct session *s)
{
    s->turn = 0;
    s->turn_ns = clock_ns(CLOCK_MONOTONIC);
    batch_ring_read(s->ring, NULL, take_record, s);
    return sink_flush(&s->sink);
}

/* The result that was cut, of what is there of it by now. */
static int print_cut(struct session *s)
{
    int err = session_read_pages(s);

    s->now_ns = s->cut_ns;
    s->cut_ns = 0;
    session_set_timer(s, SOURCE_LATE, 0);
    return err ? err : print_result(s);
}

/* A result ends: it is printed when the threads of all VMs have told what belongs to it. */
static int cut_result(struct session *s)
{
    s->cut_ns = s->now_ns;
    s->ops->cut(s->ctx, s);
    return session_set_timer(s, SOURCE_LATE, BATCH_MERGE_PATIENCE_NS);
}

/* Nobody wants events any more. */
static int finish_pages(struct session *s)
{
    uint64_t end_ns = s->now_ns;
    int err;

    session_drain_pages(s);
    err = s->cut_ns ? print_cut(s) : 0;
    s->turn_ns = clock_ns(CLOCK_MONOTONIC);
    if (s->ops->feed)
        feed_until(s->ops->feed, UINT64_MAX);
    s->now_ns = end_ns;
    return err;
}

/* ---- set-up */

static void configure(struct session *s)
{
    struct wire_config config = attach_config((uint32_t)s->watch.only.pid);

    attach_set_constants(*s->skeleton->obj, ".rodata.session", &config, sizeof config);
}

static int open_sources(struct session *s)
{
    static const enum source timers[] = {SOURCE_TICK, SOURCE_SCAN,  SOURCE_LOOK, SOURCE_LATE,
                                         SOURCE_COST, SOURCE_EARLY, SOURCE_BEAT};
    int err = 0;

    signal(SIGPIPE, SIG_IGN);
    signal(SIGXFSZ, SIG_IGN); /* what cannot be written is said */
    s->epoll = epoll_create1(EPOLL_CLOEXEC);
    s->fds[SOURCE_SIGNAL] = signals_open();
    for (size_t i = 0; i < sizeof timers / sizeof *timers; i++)
        s->fds[timers[i]] = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
    for (int i = 0; i < NSOURCES && !err; i++)
        if (i != SOURCE_TARGET && i != SOURCE_RING && i != SOURCE_PAGES && i != SOURCE_TRAPS && i != SOURCE_HELD)
            err = session_wait_for(s, (enum source)i, s->fds[i]);
    return err;
}

static int open_ring(struct session *s)
{
    const struct bpf_map *map = bpf_object__find_map_by_name(*s->skeleton->obj, "records");

    s->ring = batch_ring_new(session_map(s, "records"), bpf_map__max_entries(map), BATCH_RING_MOST_BYTES);
    if (!s->ring)
        return fail(-errno, "no ring buffer: %s", strerror(errno));
    return session_wait_for(s, SOURCE_RING, bpf_map__fd(map));
}

/*
 * Every probe is on. It is said to whoever sits and waits for the one result or for a recording, and to whoever reads
 * results from a pipe, which say nothing before the first; by a metrics page's address to who asks that.
 */
static void announce(struct session *s)
{
    const struct options *o = s->options;
    const struct watch *w = &s->watch;
    char what[PATH_MAX + 32] = "every Erlang VM";

    if (s->announced || w->waits)
        return;
    s->announced = true;
    ready_notify(o->ready_fd);
    if (w->child.pid)
        snprintf(what, sizeof what, "'%s'", w->child.path);
    else if (!o->all)
        snprintf(what, sizeof what, "'%s' (process %d)", w->only.name, w->only.pid);
    if (s->ops->recorder)
        recorder_start(s->ops->recorder);
    if (s->ops->recorder)
        note("%s is recorded in '%s'%s", what, s->ops->recorder->plan.path, w->child.pid ? "" : "; Ctrl-C ends");
    else if (!s->ops->silent && !(o->interval_ns && isatty(STDOUT_FILENO)))
        note("watching %s; Ctrl-C ends", what);
}

static int watch_end_of(struct session *s, int pid)
{
    int fd = (int)syscall(SYS_pidfd_open, pid, 0);

    if (fd < 0)
        return fail(-errno, "cannot look at process %d: %s", pid, strerror(errno));
    s->fds[SOURCE_TARGET] = fd;
    return session_wait_for(s, SOURCE_TARGET, fd);
}

static int on_hooked(void *ctx, const struct target *t, const struct plan *plan, uint32_t slot)
{
    struct session *s = ctx;
    int err = s->ops->hooked ? s->ops->hooked(s->ctx, s, t, plan, slot) : 0;

    return err || !s->traps ? err : session_hook_traps(s, t, plan, slot);
}

static int on_found(void *ctx, const struct plan *plan)
{
    struct session *s = ctx;

    return s->ops->found(s->ctx, s, plan);
}

static void on_ended(void *ctx, const struct vm_set *vms)
{
    struct session *s = ctx;

    for (size_t i = 0; s->pages && i < vms->n; i++)
        session_end_vm(s, (int)vms->vms[i]);
    if (s->ops->ended)
        s->ops->ended(s->ctx, s, vms);
}

/* Whether something is, or may be, watched by the object's programs. */
static bool needs_object(struct session *s)
{
    return !s->ops->pages_only && !(s->watch.only.elf && session_serves_pages(s, &s->watch.only));
}

static int load(struct session *s)
{
    int err;

    if (s->ops->recorder)
        return session_open_recorder(s, needs_object(s));
    if (!needs_object(s))
        return 0;
    err = kernel_require(s->ops->needs);
    if (err)
        return err;
    budget_open(&s->budget, s->options->budget);
    configure(s);
    if (s->ops->opened)
        s->ops->opened(s->ctx, watch_processes(&s->watch));
    watch_prepare(&s->watch, *s->skeleton->obj);
    signals_end_at_once(!s->options->child); /* seconds for many views; a child would be left standing */
    err = bpf_object__load_skeleton(s->skeleton);
    signals_end_at_once(false);
    if (err)
        return attach_explain(err, "cannot load the BPF program");
    attach_forget_file(s->skeleton);
    err = attach_join(*s->skeleton->obj);
    return err ? err : open_ring(s);
}

/* With -a the first result begins before VMs are attached to, as each counts for itself: so does its time. */
static int begin(struct session *s)
{
    bool all = s->options->all;
    int err = all && s->options->interval_ns ? session_set_timer(s, SOURCE_TICK, s->options->interval_ns) : 0;

    if (!err)
        err = watch_begin(&s->watch);
    if (!err && watch_end(&s->watch))
        err = watch_end_of(s, watch_end(&s->watch));
    if (!err)
        err = session_set_timer(s, SOURCE_SCAN, watch_interval_ns(&s->watch));
    if (!err && !all && s->options->interval_ns)
        err = session_set_timer(s, SOURCE_TICK, s->options->interval_ns);
    if (!err && s->ops->early)
        err = session_set_timer(s, SOURCE_EARLY, s->early_ns);
    return err;
}

/* Lets the programs count, or not: the moment when the first result begins, and when the last ends. */
static void set_counting(struct session *s, bool on)
{
    struct bpf_map *map = s->watch.attach.object ? bpf_object__find_map_by_name(s->watch.attach.object, ".data.session")
                                                 : NULL;
    uint32_t zero = 0, runs = on;

    if (map && bpf_map__fd(map) >= 0)
        bpf_map_update_elem(bpf_map__fd(map), &zero, &runs, BPF_ANY);
    s->now_ns = clock_ns(CLOCK_MONOTONIC);
}

static int start(struct session *s)
{
    int err = open_sources(s);

    if (!err)
        err = output_open(&s->output, STDOUT_FILENO, s->fds[SOURCE_SIGNAL]);
    if (err)
        return err;
    sink_init(&s->sink, s->output.file, s->options->form, s->options->timestamps);
    s->sink.one_vm = !s->options->all && !s->options->child;
    err = watch_open(&s->watch, s->options,
                     &(struct watch_ops){.hooked = on_hooked,
                                         .found = s->ops->found ? on_found : NULL,
                                         .ended = on_ended,
                                         .ctx = s,
                                         .hooks_only = s->ops->hooks_only,
                                         .serves = session_serves_pages,
                                         .attach = session_attach_pages});
    s->watch.attach.clock_hz = s->ops->clock_hz;
    if (!err)
        err = load(s);
    if (!err)
        budget_begin(&s->budget, &s->watch);
    if (!err && s->options->all)
        set_counting(s, true); /* each VM counts for itself: none waits for the others */
    if (!err)
        err = begin(s);
    if (err)
        return err;
    if (s->budget.kept)
        session_set_timer(s, SOURCE_COST, budget_next_ns(&s->budget));
    if (!s->options->all)
        set_counting(s, true);
    s->begin_ns = s->from_ns = s->now_ns;
    if (s->ops->feed)
        feed_bound(s->ops->feed, s->from_ns, UINT64_MAX);
    announce(s);
    malloc_trim(0); /* plans, and what loading took */
    watch_notify_halt(&s->watch);
    if (s->ops->beat)
        err = session_set_timer(s, SOURCE_BEAT, 1);
    if (!err && s->watch.child.pid)
        err = watch_release(&s->watch);
    return err || watch_held_fd(&s->watch) < 0 ? err : session_wait_for(s, SOURCE_HELD, watch_held_fd(&s->watch));
}

/* ---- the loop */

static void drain(int fd)
{
    char bytes[256];
    ssize_t got = read(fd, bytes, sizeof bytes);

    (void)got;
}

static int on_held(struct session *s)
{
    int err = watch_see_held(&s->watch);

    announce(s);
    return err;
}

static int on_scan(struct session *s)
{
    int err;

    if (watch_replaced(&s->watch)) {
        note("process %d runs another program now", s->watch.only.pid);
        s->ending = true;
        return 0;
    }
    err = watch_again(&s->watch);
    names_keep_up(s->watch.names);
    announce(s);
    watch_notify_halt(&s->watch);
    if (s->pages && s->ops->feed && s->options->all) {
        batch_source_read(s->pages);
        feed_look(s->ops->feed, target_lives, clock_ns(CLOCK_MONOTONIC));
    }
    return err ? err : session_set_timer(s, SOURCE_SCAN, watch_interval_ns(&s->watch));
}

/* The traps are gone when this returns. */
static void leave_alone(struct session *s)
{
    set_counting(s, false);
    budget_leave(&s->budget, s->now_ns);
    attach_pause(&s->watch.attach);
}

static int come_back(struct session *s)
{
    int err;

    if (s->ops->missed)
        s->ops->missed(s->ctx, s);
    err = attach_resume(&s->watch.attach);
    set_counting(s, true);
    budget_return(&s->budget, s->now_ns);
    sink_sample(&s->sink, budget_sampled(&s->budget, s->begin_ns, s->now_ns));
    return err;
}

/* The governor looks again once what it said is done. */
static int on_cost(struct session *s)
{
    enum governor_says says = budget_look(&s->budget);
    int err = 0;

    names_keep_up(s->watch.names);
    while (!err && !s->ending && says != GOVERNOR_GOES_ON) {
        if (says == GOVERNOR_RESUMES)
            err = come_back(s);
        else if (says == GOVERNOR_PAUSES || budget_leave_dear(&s->budget, &s->watch))
            leave_alone(s);
        else
            s->ending = s->given_up = true;
        says = s->ending ? GOVERNOR_GOES_ON : budget_look(&s->budget);
    }
    return err ? err : session_set_timer(s, SOURCE_COST, budget_next_ns(&s->budget));
}

/* A result that has just begun, or is about to be printed, is not read twice. */
static bool is_early(const struct session *s)
{
    uint64_t now_ns = clock_ns(CLOCK_MONOTONIC), end_ns = s->begin_ns + s->options->interval_ns;

    return !s->cut_ns && now_ns > s->begin_ns + s->early_ns / 2 &&
           (!s->options->interval_ns || now_ns + s->early_ns / 2 < end_ns);
}

/*
 * The time up to which all is told by now: threads tell by pages later. What lasts is as old as it was then, as by now
 * it may be over.
 */
static uint64_t known_until(const struct session *s)
{
    uint64_t until_ns = clock_ns(CLOCK_MONOTONIC) - (s->pages ? BATCH_MERGE_PATIENCE_NS : 0);

    return until_ns > s->now_ns ? until_ns : s->now_ns;
}

static int on_early(struct session *s)
{
    int percent;

    if (!is_early(s))
        return 0;
    s->now_ns = known_until(s);
    percent = s->ops->early(s->ctx, s);
    if (percent < 0)
        return fail(percent, "cannot read results: %s", strerror(-percent));
    if (percent >= EARLY_FULL)
        s->early_ns = EARLY_STEP_NS;
    else if (percent < EARLY_EMPTY && s->early_ns < EARLY_NS)
        s->early_ns += EARLY_STEP_NS;
    return session_set_timer(s, SOURCE_EARLY, s->early_ns);
}

static int on_beat(struct session *s)
{
    uint64_t pause_ns = s->ops->beat(s->ctx, s);

    s->ending = !pause_ns;
    return session_set_timer(s, SOURCE_BEAT, pause_ns);
}

static int on_tick(struct session *s)
{
    int err = s->cut_ns ? print_cut(s) : 0;

    /* The last result is told when nothing is counted any more. */
    s->ending = s->options->count && s->results + 1 == s->options->count;
    if (s->ending || err)
        return err;
    s->now_ns = clock_ns(CLOCK_MONOTONIC);
    if (session_is_off_pace(s)) /* the next one is as long as asked, though late */
        session_set_timer(s, SOURCE_TICK, s->options->interval_ns);
    return s->pages ? cut_result(s) : print_result(s);
}

static int handle(struct session *s, enum source source)
{
    switch (source) {
    case SOURCE_SIGNAL: s->ending = true; return 0;
    case SOURCE_TARGET:
        if (!s->watch.child.pid)
            note("the VM with pid %d ended", s->watch.only.pid);
        else if (!s->watch.vms)
            return fail(-ESRCH, "'%s' started no Erlang VM, or none that lived long enough", s->watch.child.path);
        s->ending = s->ended = true;
        return 0;
    case SOURCE_TICK: drain(s->fds[source]); return on_tick(s);
    case SOURCE_SCAN: drain(s->fds[source]); return on_scan(s);
    case SOURCE_COST: drain(s->fds[source]); return on_cost(s);
    case SOURCE_EARLY: drain(s->fds[source]); return on_early(s);
    case SOURCE_BEAT: drain(s->fds[source]); return on_beat(s);
    case SOURCE_HELD: return on_held(s);
    case SOURCE_RING: return read_ring(s);
    case SOURCE_LOOK: drain(s->fds[source]); return session_read_pages(s);
    case SOURCE_PAGES:
    case SOURCE_TRAPS: return session_read_pages(s);
    case SOURCE_LATE: drain(s->fds[source]); return s->cut_ns ? print_cut(s) : 0;
    default: return 0;
    }
}

static int loop(struct session *s)
{
    struct epoll_event events[NSOURCES];
    int err = 0;

    while (!err && !s->ending) {
        int n = epoll_wait(s->epoll, events, NSOURCES, -1);

        if (n < 0 && errno != EINTR)
            return fail(-errno, "cannot wait for events: %s", strerror(errno));
        for (int i = 0; i < n && !err && !s->ending; i++)
            err = handle(s, events[i].data.u32);
        s->ending |= signals_first_ns() != 0;
    }
    return err;
}

static void finish(struct session *s)
{
    batch_ring_free(s->ring);
    batch_source_free(s->pages);
    budget_close(&s->budget);
    watch_close(&s->watch);
    trap_source_free(s->traps);
    output_close(&s->output);
    for (int i = 0; i < NSOURCES; i++)
        if (s->fds[i] >= 0 && i != SOURCE_SIGNAL)
            close(s->fds[i]);
    if (s->epoll >= 0)
        close(s->epoll);
}

int session_run(const struct options *options, struct bpf_object_skeleton *skeleton,
                const struct session_ops *ops, void *ctx)
{
    struct session s = {.options = options, .skeleton = skeleton, .ops = ops, .ctx = ctx, .epoll = -1,
                        .early_ns = EARLY_STEP_NS};
    int why = errno, err;

    for (int i = 0; i < NSOURCES; i++)
        s.fds[i] = -1;
    err = watch_require(options); /* first: it knows what to do where files are too few to open a program */
    if (!err && !skeleton && !ops->recorder)
        err = fail(-ENOMEM, "cannot open the BPF program: %s", strerror(why));
    if (!err)
        err = kernel_require(0);
    if (!err)
        err = start(&s);
    if (!err)
        err = loop(&s);
    set_counting(&s, false);
    watch_stop(&s.watch);
    s.ending = true;
    if (!err && s.ring)
        err = read_ring(&s);
    if (!err && s.pages)
        err = finish_pages(&s);
    s.last = true; /* one that was cut before the end is not */
    if (!err)
        err = print_result(&s);
    if (!err && s.given_up)
        err = budget_give_up(&s.budget);
    if (err < 0 && s.output.failed)
        err = -s.output.failed;
    if (err == -ETIMEDOUT)
        fail(err, "a signal came before the results were read");
    else if (err < 0 && err != -EPIPE && s.output.failed)
        fail(err, "cannot write results: %s", strerror(-err));
    finish(&s);
    return err == -EPIPE ? 0 : err;
}
