/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Invariant: whatever way it ends, probes are detached first, then what is still in the ring
 * buffer is read, then the last result is printed: nothing that was counted is lost.
 */
#include "session.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

#include "clock.h"
#include "fail.h"
#include "outlet.h"
#include "signals.h"
#include "watch.h"

/* A turn of reading the ring buffer ends with the first of the two; after a signal what is left is read for END_NS. */
enum { TURN_RECORDS = 1024, TURN_NS = 20000000, END_NS = 150000000 };
enum { FILES_NEEDED = 64 };

enum source { SOURCE_SIGNAL, SOURCE_TARGET, SOURCE_TICK, SOURCE_SCAN, SOURCE_RING, NSOURCES };

struct session {
    const struct options *options;
    struct bpf_object_skeleton *skeleton;
    const struct session_ops *ops;
    void *ctx;
    struct outlet outlet;
    struct sink sink;
    struct watch watch;
    int epoll, fds[NSOURCES];
    struct ring_buffer *ring;
    uint64_t begin_ns, now_ns, results;
    uint64_t turn, turn_ns; /* records read in this turn, and when it began */
    uint64_t left;          /* records that were not read before the end */
    uint64_t losses[WIRE_NLOSSES];
    bool ending, halted;
    char name[4096]; /* of the row being printed */
};

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

double session_seconds(const struct session *s)
{
    return (double)(s->now_ns - s->begin_ns) / 1e9;
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

/* ---- results */

/* Whether the time of the result differs from what was asked for by more than a twentieth. */
static bool is_off_pace(const struct session *s)
{
    uint64_t asked = s->options->interval_ns, took = s->now_ns - s->begin_ns, off = took > asked ? took - asked : asked - took;

    return asked && off > asked / 20;
}

static void print_losses(struct session *s)
{
    static const struct sink_column columns[] = {{"count", "LOST", SINK_COUNT, 0},
                                                 {"why", "WHY", SINK_TEXT, 0}};
    static const struct sink_table table = {"lost", NULL, columns, 2};
    static const char *const texts[] = {
#define TEXT(name, text) text,
        WIRE_LOSSES(TEXT)
#undef TEXT
    };

    for (uint32_t i = 0; i < WIRE_NLOSSES; i++) {
        uint64_t total;

        if (session_read_percpu(s, "losses", i, &total, 1))
            continue;
        total += i == LOSS_LATE ? s->left : 0;
        if (total == s->losses[i])
            continue;
        sink_row(&s->sink, &table,
                 (struct sink_value[]){SINK_N(total - s->losses[i]), SINK_S(texts[i])});
        s->losses[i] = total;
    }
}

/* How long the result took, where that is not what was asked for: a signal or the VM ended it, or the machine was busy. */
static void print_interval(struct session *s)
{
    static const struct sink_column columns[] = {{"took", "TOOK", SINK_NS, 0}, {"asked", "ASKED", SINK_NS, 0}};
    static const struct sink_table table = {"interval", NULL, columns, 2};

    if (is_off_pace(s))
        sink_row(&s->sink, &table, (struct sink_value[]){SINK_N(s->now_ns - s->begin_ns), SINK_N(s->options->interval_ns)});
}

/* A VM that is stopped tells nothing: it is said when that begins. */
static void tell_halts(struct session *s)
{
    const char *halt = watch_halt(&s->watch);

    if (halt && !s->halted)
        note("%s", halt);
    s->halted = halt != NULL;
}

/* The terminal shows a Ctrl-C at the place where the first line of the result would begin. */
static void leave_line(struct session *s)
{
    if (signals_first_ns() && !s->results && !s->options->json && isatty(STDOUT_FILENO))
        fputc('\n', s->sink.out);
}

static int print_result(struct session *s)
{
    int err;

    leave_line(s);
    names_since(s->watch.names, s->now_ns);
    sink_moment(&s->sink, s->now_ns);
    err = s->ops->result(s->ctx, s);
    if (err)
        return fail(err, "cannot read results: %s", strerror(-err));
    print_interval(s);
    print_losses(s);
    s->begin_ns = s->now_ns;
    s->results++;
    tell_halts(s);
    return sink_flush(&s->sink);
}

/* Whether what is still to be read is only counted: somebody waits for the end. */
static bool is_late(const struct session *s)
{
    uint64_t told_ns = signals_first_ns(), from_ns = told_ns > s->turn_ns ? told_ns : s->turn_ns;

    return told_ns && clock_ns(CLOCK_MONOTONIC) > from_ns + END_NS;
}

/* -EAGAIN ends the turn: what is left is read in the next one. */
static int take_record(void *ctx, void *data, size_t size)
{
    struct session *s = ctx;
    const struct wire_header *header = data;

    if (s->ending && is_late(s)) {
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
    ring_buffer__consume(s->ring);
    return sink_flush(&s->sink);
}

/* ---- set-up */

static void configure(struct session *s)
{
    struct bpf_map *map = bpf_object__find_map_by_name(*s->skeleton->obj, ".rodata.session");
    struct wire_config config = attach_config((uint32_t)s->watch.only.pid);

    if (!map || bpf_map__set_initial_value(map, &config, sizeof config)) {
        fail(-EINVAL, "the program has no settings of the session");
        abort();
    }
}

/* With -a each hook of each process is a file: as many as may be are allowed. libbpf does not always say that they ran out. */
static int check_files(const struct options *options)
{
    struct rlimit limit;

    if (getrlimit(RLIMIT_NOFILE, &limit))
        return 0;
    if (options->all) {
        limit.rlim_cur = limit.rlim_max;
        setrlimit(RLIMIT_NOFILE, &limit);
    }
    if (limit.rlim_cur >= FILES_NEEDED)
        return 0;
    return fail(-EMFILE, "only %d open files are allowed; raise ulimit -n to %d at least", (int)limit.rlim_cur, FILES_NEEDED);
}

static int open_sources(struct session *s)
{
    signal(SIGPIPE, SIG_IGN);
    signal(SIGXFSZ, SIG_IGN); /* what cannot be written is said */
    s->epoll = epoll_create1(EPOLL_CLOEXEC);
    s->fds[SOURCE_SIGNAL] = signals_open();
    s->fds[SOURCE_TICK] = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
    s->fds[SOURCE_SCAN] = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
    for (int i = 0; i < NSOURCES; i++) {
        struct epoll_event event = {.events = EPOLLIN, .data.u32 = (uint32_t)i};

        if (i == SOURCE_TARGET || i == SOURCE_RING)
            continue;
        if (s->fds[i] < 0 || epoll_ctl(s->epoll, EPOLL_CTL_ADD, s->fds[i], &event))
            return fail(-errno, "cannot wait for events: %s", strerror(errno));
    }
    return 0;
}

static int open_ring(struct session *s)
{
    struct epoll_event event = {.events = EPOLLIN, .data.u32 = SOURCE_RING};

    s->ring = ring_buffer__new(session_map(s, "records"), take_record, s, NULL);
    if (!s->ring)
        return fail(-errno, "no ring buffer: %s", strerror(errno));
    return epoll_ctl(s->epoll, EPOLL_CTL_ADD, ring_buffer__epoll_fd(s->ring), &event) ? -errno : 0;
}

/* For whoever sits and waits for the one result. */
static void announce(const struct session *s)
{
    if (s->options->interval_ns || !isatty(STDERR_FILENO))
        return;
    if (s->options->all)
        note("watching every Erlang VM; Ctrl-C ends");
    else if (s->watch.child.pid)
        note("watching '%s'; Ctrl-C ends", s->watch.child.path);
    else
        note("watching '%s' (process %d); Ctrl-C ends", s->watch.only.name, s->watch.only.pid);
}

static int set_timer(struct session *s, enum source source, uint64_t every_ns)
{
    struct timespec ts = {(time_t)(every_ns / 1000000000u), (long)(every_ns % 1000000000u)};

    return timerfd_settime(s->fds[source], 0, &(struct itimerspec){ts, ts}, NULL) ? -errno : 0;
}

static int watch_end_of(struct session *s, int pid)
{
    struct epoll_event event = {.events = EPOLLIN, .data.u32 = SOURCE_TARGET};
    int fd = (int)syscall(SYS_pidfd_open, pid, 0);

    if (fd < 0)
        return fail(-errno, "cannot look at process %d: %s", pid, strerror(errno));
    s->fds[SOURCE_TARGET] = fd;
    return epoll_ctl(s->epoll, EPOLL_CTL_ADD, fd, &event) ? -errno : 0;
}

static int tell_hooked(void *ctx, const struct target *t, const struct plan *plan, uint32_t slot)
{
    struct session *s = ctx;

    return s->ops->hooked ? s->ops->hooked(s->ctx, s, t, plan, slot) : 0;
}

static void tell_ended(void *ctx, int pid)
{
    struct session *s = ctx;

    if (s->ops->ended)
        s->ops->ended(s->ctx, s, pid);
}

static int load(struct session *s)
{
    int err;

    configure(s);
    if (s->ops->opened)
        s->ops->opened(s->ctx, watch_processes(&s->watch));
    watch_prepare(&s->watch, *s->skeleton->obj);
    err = bpf_object__load_skeleton(s->skeleton);
    return err ? attach_explain(err, "cannot load the BPF program") : open_ring(s);
}

static int begin(struct session *s)
{
    int err = watch_begin(&s->watch);

    if (!err && watch_end(&s->watch))
        err = watch_end_of(s, watch_end(&s->watch));
    if (!err)
        err = set_timer(s, SOURCE_SCAN, watch_interval_ns(&s->watch));
    if (!err && s->options->interval_ns)
        err = set_timer(s, SOURCE_TICK, s->options->interval_ns);
    return err;
}

/* Lets the programs count, or not: the moment when the first result begins, and when the last ends. */
static void set_counting(struct session *s, bool on)
{
    struct bpf_map *map = s->watch.attach.object ? bpf_object__find_map_by_name(s->watch.attach.object, ".data.session") : NULL;
    uint32_t zero = 0, stopped = !on;

    if (map && bpf_map__fd(map) >= 0)
        bpf_map_update_elem(bpf_map__fd(map), &zero, &stopped, BPF_ANY);
    s->now_ns = clock_ns(CLOCK_MONOTONIC);
}

static int start(struct session *s)
{
    int err;

    attach_hush();
    err = open_sources(s);
    if (!err)
        err = outlet_open(&s->outlet, STDOUT_FILENO, s->fds[SOURCE_SIGNAL]);
    if (err)
        return err;
    sink_init(&s->sink, s->outlet.file, s->options->json, s->options->timestamps);
    s->sink.one_vm = !s->options->all && !s->options->child;
    err = watch_open(&s->watch, s->options, &(struct watch_ops){.hooked = tell_hooked, .ended = tell_ended, .ctx = s, .hooks_only = s->ops->hooks_only});
    s->watch.attach.clock_hz = s->ops->clock_hz;
    if (!err)
        err = load(s);
    if (!err && s->options->all)
        set_counting(s, true); /* each VM counts for itself: none waits for the others */
    if (!err)
        err = begin(s);
    if (err)
        return err;
    if (!s->options->all)
        set_counting(s, true);
    s->begin_ns = s->now_ns;
    announce(s);
    tell_halts(s);
    return s->watch.child.pid ? child_release(&s->watch.child) : 0;
}

/* ---- the loop */

static void drain(int fd)
{
    char bytes[256];
    ssize_t got = read(fd, bytes, sizeof bytes);

    (void)got;
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
    return err ? err : set_timer(s, SOURCE_SCAN, watch_interval_ns(&s->watch));
}

static int on_tick(struct session *s)
{
    /* The last result is told when nothing is counted any more. */
    s->ending = s->options->count && s->results + 1 == s->options->count;
    if (s->ending)
        return 0;
    s->now_ns = clock_ns(CLOCK_MONOTONIC);
    if (is_off_pace(s)) /* the next one is as long as asked, though late */
        set_timer(s, SOURCE_TICK, s->options->interval_ns);
    return print_result(s);
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
        s->ending = true;
        return 0;
    case SOURCE_TICK: drain(s->fds[source]); return on_tick(s);
    case SOURCE_SCAN: drain(s->fds[source]); return on_scan(s);
    case SOURCE_RING: return read_ring(s);
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
    ring_buffer__free(s->ring);
    watch_close(&s->watch);
    outlet_close(&s->outlet);
    for (int i = 0; i < NSOURCES; i++)
        if (s->fds[i] >= 0 && i != SOURCE_SIGNAL)
            close(s->fds[i]);
    if (s->epoll >= 0)
        close(s->epoll);
}

int session_run(const struct options *options, struct bpf_object_skeleton *skeleton,
                const struct session_ops *ops, void *ctx)
{
    struct session s = {.options = options, .skeleton = skeleton, .ops = ops, .ctx = ctx, .epoll = -1};
    int err;

    for (int i = 0; i < NSOURCES; i++)
        s.fds[i] = -1;
    if (!skeleton)
        return fail(-ENOMEM, "cannot open the BPF program: %s", strerror(errno));
    if (!target_proc_is_ours())
        return fail(-ENOTSUP, "/proc here is of another pid namespace; mount its own (unshare --mount-proc, mount -t proc proc /proc), or "
                              "run where /proc is mounted");
    err = check_files(options);
    if (!err)
        err = start(&s);
    if (!err)
        err = loop(&s);
    set_counting(&s, false);
    watch_stop(&s.watch);
    s.ending = true;
    if (!err && s.ring)
        err = read_ring(&s);
    if (!err)
        err = print_result(&s);
    if (err < 0 && s.outlet.failed)
        err = -s.outlet.failed;
    if (err == -ETIMEDOUT)
        fail(err, "told to end before the results were read");
    else if (err < 0 && err != -EPIPE && s.outlet.failed)
        fail(err, "cannot write results: %s", strerror(-err));
    finish(&s);
    return err == -EPIPE ? 0 : err;
}
