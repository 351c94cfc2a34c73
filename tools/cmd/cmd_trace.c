/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Records the pages that erlvms hand over, and those that are made of other VMs' events. Invariant: pages go to the
 * file as they come; what they tell is looked at by erlsnoop report.
 */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "cmd.h"
#include "common/clock.h"
#include "common/fail.h"
#include "common/ready.h"
#include "common/signals.h"
#include "otp/owners.h"
#include "probe/watch.h"
#include "recording/recording_write.h"
#include "sink/sink.h"
#include "source/batch_source.h"
#include "source/feed.h"
#include "source/trap_source.h"
#include "view/untold.h"
#include "view/when.h"

#include "../../bpf/trap.h"

enum { LOOK_MS = 200, MAX_VMS = 1024 };
#define JUDGE_NS 1000000000ull
#define LEAST_NS 100000000ull /* that a file or the memory covers */
#define HALT_NS 250000000ull /* so often it is looked whether the VM was stopped */

/* A VM of which pages came. */
struct traced {
    uint32_t vm;
    bool hands, closed; /* the pages over itself; and told that no thread holds anything any more */
};

struct state {
    struct wanted wanted;
    bool chosen; /* words chose what is wanted */
    struct recording_plan plan;
    struct recording_writer *writer;
    struct batch_source *source;
    struct trap_source *traps; /* of VMs that hand no pages over; NULL: there can be none */
    bool notes_only;           /* erlvms too are asked by their notes */
    struct watch watch;
    int target;  /* descriptor whose reading tells that the target has ended, -1: none */
    struct when when; /* that asks for memory to be written; text NULL: none */
    struct feed *feed; /* with it: what pages tell is looked at */
    struct result_reader seen; /* in the last second */
    uint64_t judged_ns;
    bool kept; /* a file was written for it */
    struct untold untold;
    struct traced vms[MAX_VMS]; /* that the recording knows by name, the last MAX_VMS */
    size_t nvms;
    int err;     /* of writing; 1: the recording is as long as it may be */
    bool ended;
    bool announced; /* it was said that it records */
    uint64_t begun_ns;
    uint64_t halts_ns; /* when it is looked again whether the VM was stopped */
};

/* ---- pages */

static struct traced *find_vm(struct state *st, uint32_t vm)
{
    for (size_t i = 0; i < st->nvms && i < MAX_VMS; i++)
        if (st->vms[i].vm == vm)
            return &st->vms[i];
    return NULL;
}

/* A VM of which a page comes for the first time. With -a it may run a file that another one brought here. */
static int know_vm(struct state *st, uint32_t vm)
{
    struct target target;
    int err;

    if (find_vm(st, vm))
        return 0;
    st->vms[st->nvms++ % MAX_VMS] = (struct traced){.vm = vm};
    if (target_open_pid((int)vm, &target))
        return recording_vm(st->writer, vm, st->watch.only.name, untold_of(&st->untold, vm));
    err = recording_vm(st->writer, vm, target.name, untold_of(&st->untold, vm));
    target_close(&target);
    return err;
}

static void take_page(void *ctx, const struct batch_received *received)
{
    struct state *st = ctx;

    if (!st->err)
        st->err = know_vm(st, received->vm);
    if (!st->err)
        st->err = recording_page(st->writer, received);
    if (st->feed)
        feed_take(st->feed, received);
}

/* One that the VM itself handed over. */
static void take_handed(void *ctx, const struct batch_received *received)
{
    struct batch_header header = {0};
    struct traced *vm;

    take_page(ctx, received);
    vm = find_vm(ctx, received->vm);
    if (!vm || received->bytes < sizeof header)
        return;
    memcpy(&header, received + 1, sizeof header);
    vm->hands = true;
    vm->closed |= header.thread == BATCH_NO_THREAD;
}

/* A VM that ends as it should hands over what its threads hold. */
static void tell_killed(struct state *st, uint32_t vm)
{
    struct traced *traced = find_vm(st, vm);

    if (traced && traced->hands && !traced->closed && !batch_source_lost(st->source))
        note("the VM with pid %u was killed: what its threads did in their last tenth of a second may be missing", vm);
    if (traced)
        traced->hands = traced->closed = false; /* of another that gets its process id */
}

/* Returns whether more may wait. */
static bool read_pages(struct state *st)
{
    bool some = batch_source_read(st->source) > 0;

    if (st->traps)
        some |= trap_source_read(st->traps) > 0;
    recording_lost(st->writer, batch_source_lost(st->source));
    if (!st->err)
        st->err = recording_look(st->writer, clock_ns(CLOCK_MONOTONIC));
    return some;
}

static int record_atom(void *ctx, uint32_t vm, uint64_t index, const char *text, size_t bytes)
{
    return recording_atom(((struct state *)ctx)->writer, vm, index, text, bytes);
}

static int record_owner(void *ctx, uint32_t vm, ev_id id, const struct wire_name *name)
{
    return recording_owner(((struct state *)ctx)->writer, vm, id, name);
}

/* Births of its processes so far are in no recording, nor are the atoms that its threads told another erlsnoop alone. */
static int record_owners(struct state *st, const struct target *t)
{
    int err = owners_read(t, &(struct owners_ops){record_atom, record_owner, st, recording_has_room(st->writer)});

    return err ? err : recording_owners_told(st->writer, (uint32_t)t->pid);
}

/* Whether its events are received as pages that it hands over. */
static bool hands_pages(void *ctx, const struct target *t)
{
    return !((struct state *)ctx)->notes_only && batch_source_serves(t);
}

static int hook_target(void *ctx, const struct target *t, const struct plan *plan, uint32_t slot)
{
    struct state *st = ctx;
    int err = untold_learn_plan(&st->untold, (uint32_t)t->pid, plan);

    if (err)
        return fail(err, "out of memory");
    trap_source_hooked(st->traps, t, plan, slot);
    err = trap_source_owners(st->traps, t, &(struct owners_ops){record_atom, record_owner, st, false});
    return err ? err : recording_owners_told(st->writer, (uint32_t)t->pid);
}

static int attach_target(void *ctx, const struct target *t, int pid, bool noted)
{
    struct state *st = ctx;
    int sites = 1;

    if (!noted)
        sites = batch_source_attach(st->source, t, pid, &st->wanted);
    if (sites > 0)
        st->err = st->err ? st->err : record_owners(st, t);
    return st->err < 0 ? st->err : sites;
}

/* ---- memory that is written on request */

static volatile sig_atomic_t asked;

static void ask(int number)
{
    (void)number;
    asked = 1;
}

static void tell_dump(const struct state *st, const char *why)
{
    uint64_t covered = clock_ns(CLOCK_MONOTONIC) - st->begun_ns;

    note("%s: '%s' holds the last %.3g s", why, st->plan.path,
         (double)(covered < st->plan.ring_ns ? covered : st->plan.ring_ns) / 1e9);
}

/* What cannot be written now may be written later: recording goes on. Whether it was written. */
static bool dump(struct state *st, const char *why)
{
    bool written = !recording_dump(st->writer);

    asked = 0;
    if (written)
        tell_dump(st, why);
    return written;
}

/*
 * At the end. What a threshold asked for stays where it was said to be when we are told to end; the end of the VM is
 * worth a file too.
 */
static void dump_last(struct state *st, const char *why)
{
    if (st->kept && !st->ended) {
        note("%s: '%s' stays as '%s' asked for it", why, st->plan.path, st->when.text);
        return;
    }
    st->err = recording_dump_last(st->writer);
    if (st->err)
        return;
    tell_dump(st, why);
    if (st->kept && st->plan.files > 1)
        note("'%s.1' holds what '%s' asked for", st->plan.path, st->when.text);
}

/* ---- a threshold that asks for it */

static int begin_when(struct state *st)
{
    struct view_settings settings = {0};

    settings.on[st->when.view] = 1;
    return feed_new(&settings, &st->feed) ? fail(-ENOMEM, "out of memory") : 0;
}

static void end_vm(struct state *st, uint32_t vm)
{
    uint64_t now = clock_ns(CLOCK_MONOTONIC);

    tell_killed(st, vm);
    if (st->traps)
        trap_source_end(st->traps, vm);
    recording_vm_ended(st->writer, vm, now);
    untold_end_vm(&st->untold, vm);
    if (st->feed)
        feed_end_vm(st->feed, vm, now);
}

static void end_vms(void *ctx, const struct vm_set *vms)
{
    struct state *st = ctx;

    read_pages(st);
    for (size_t i = 0; i < vms->n; i++)
        end_vm(st, vms->vms[i]);
}

/* Whether the last second meets the threshold, and the one before did not. */
static bool look(struct state *st)
{
    const struct result_source source = {.ctx = st->feed, .take = feed_counted};
    bool on[VIEW_COUNT] = {false};

    on[st->when.view] = true;
    st->err = result_gather(&source, on, (struct result_reader *const[]){&st->seen}, 1);
    return !st->err && when_look(&st->when, &st->seen);
}

/* Each second is judged for itself. What is asked for once is not asked for again before it was not so for a second. */
static void judge(struct state *st, uint64_t now_ns)
{
    feed_until(st->feed, now_ns - BATCH_MERGE_PATIENCE_NS);
    if (now_ns < st->judged_ns + JUDGE_NS)
        return;
    st->judged_ns = now_ns;
    if (look(st))
        st->kept |= dump(st, st->when.text);
}

/* ---- the loop */

static int watch_end_of_target(struct state *st)
{
    int pid = watch_end(&st->watch);

    st->target = pid ? (int)syscall(SYS_pidfd_open, pid, 0) : -1;
    return pid && st->target < 0 ? fail(-errno, "cannot look at process %d: %s", pid, strerror(errno)) : 0;
}

static int look_for_targets(struct state *st, uint64_t *next_ns)
{
    uint64_t now = clock_ns(CLOCK_MONOTONIC), every = watch_interval_ns(&st->watch);

    if (!every || now < *next_ns)
        return 0;
    *next_ns = now + every;
    st->ended |= watch_replaced(&st->watch);
    return st->ended ? 0 : watch_again(&st->watch);
}

/* Probes are attached: what happens from now on is recorded. */
static void announce(struct state *st)
{
    const struct watch *w = &st->watch;
    const char *path = st->plan.path;

    if (st->announced || w->waits)
        return;
    st->announced = true;
    st->begun_ns = clock_ns(CLOCK_MONOTONIC);
    ready_tell(w->options->ready_fd);
    if (w->options->all)
        note("every Erlang VM is recorded in '%s'; Ctrl-C ends", path);
    else if (w->child.pid)
        note("'%s' is recorded in '%s'", w->child.path, path);
    else
        note("'%s' (process %d) is recorded in '%s'; Ctrl-C ends", w->only.name, w->only.pid, path);
}

static void tell_halts(struct state *st)
{
    uint64_t now = clock_ns(CLOCK_MONOTONIC);

    if (now < st->halts_ns)
        return;
    st->halts_ns = now + HALT_NS;
    watch_tell_halt(&st->watch);
}

static int loop(struct state *st)
{
    struct pollfd fds[] = {{.fd = batch_source_fd(st->source), .events = POLLIN},
                           {.fd = st->target, .events = POLLIN},
                           {.fd = st->traps ? trap_source_fd(st->traps) : -1, .events = POLLIN},
                           {.fd = watch_held_fd(&st->watch), .events = POLLIN}};
    int look_ms = st->traps ? TRAP_RING_LOOK_MS : LOOK_MS;
    uint64_t next_ns = 0;
    bool more = false;
    int err = 0;

    while (!err && !st->err && !st->ended && !signals_first_ns()) {
        announce(st);
        tell_halts(st);
        poll(fds, sizeof fds / sizeof *fds, more ? 0 : watch_interval_ns(&st->watch) && st->watch.waits ? 10 : look_ms);
        st->ended = fds[1].revents != 0;
        if (fds[3].revents)
            err = watch_see_held(&st->watch);
        fds[3].fd = watch_held_fd(&st->watch);
        more = read_pages(st);
        if (asked && !st->err)
            dump(st, "asked by a signal");
        if (st->feed && !st->err)
            judge(st, clock_ns(CLOCK_MONOTONIC));
        if (!st->ended && !err)
            err = look_for_targets(st, &next_ns);
    }
    return err;
}

/* What threads still hold comes within a moment, unless they are gone. */
static void drain(struct state *st)
{
    if (st->traps)
        trap_source_tell(st->traps, false);
    if (!st->ended && !st->err)
        batch_source_drain(st->source);
    batch_source_stop(st->source);
    while (batch_source_read(st->source) > 0 && !st->err)
        ;
    recording_lost(st->writer, batch_source_lost(st->source));
    if (st->traps) {
        watch_stop(&st->watch);
        trap_source_drain(st->traps);
    }
}

/* ---- the life of it */

static void print_loss(void *ctx, const char *why, uint64_t total)
{
    sink_lost(ctx, total, why);
}

static void print_result(const struct state *st, const struct options *o, const struct recording_told *told)
{
    static const struct sink_column columns[] = {
        {"events", "EVENTS", SINK_COUNT, 0},         {"pages", "PAGES", SINK_COUNT, 0},
        {"bytes", "BYTES", SINK_COUNT, 0},           {"stored_bytes", "STORED", SINK_COUNT, 0},
        {"lost_pages", "LOST PAGES", SINK_COUNT, 0}, {"file", "FILE", SINK_TEXT, -1}};
    static const struct sink_table table = {"trace", NULL, columns, sizeof columns / sizeof *columns};
    struct sink sink;

    sink_init(&sink, stdout, o->json, o->timestamps);
    sink_moment(&sink, clock_ns(CLOCK_MONOTONIC));
    sink_row(&sink, &table,
             (struct sink_value[]){SINK_N(told->events), SINK_N(told->pages), SINK_N(told->raw), SINK_N(told->stored),
                                   SINK_N(told->lost.pages), SINK_S(st->plan.path)});
    if (st->traps)
        trap_source_each_loss(st->traps, print_loss, &sink);
    sink_lost(&sink, told->lost.unnamed, RECORDING_UNNAMED);
    sink_end(&sink);
}

static int record(struct state *st)
{
    int err;

    if (st->traps && st->watch.options->all)
        trap_source_tell(st->traps, true);
    err = watch_begin(&st->watch);
    if (!err && st->traps)
        trap_source_tell(st->traps, true);
    if (!err)
        err = watch_end_of_target(st);
    if (!err)
        announce(st);
    if (!err && st->watch.child.pid)
        err = watch_release(&st->watch);
    if (!err)
        err = loop(st);
    drain(st);
    if (st->ended && !watch_replaced(&st->watch))
        tell_killed(st, (uint32_t)st->watch.pid);
    if (!st->err && st->plan.ring_ns)
        dump_last(st, st->ended ? "the VM ended" : "ended by a signal");
    if (!err && !st->ended && st->err == 1)
        note("'%s' is as long as it may be", st->plan.path);
    return err ? err : st->err < 0 ? st->err : 0;
}

static int run(struct state *st, const struct options *o)
{
    int fd = signals_open(), err;

    if (fd < 0)
        return fail(fd, "cannot wait for signals: %s", strerror(-fd));
    signal(SIGXFSZ, SIG_IGN); /* what cannot be written is said */
    if (st->plan.ring_ns)
        sigaction(SIGUSR1, &(struct sigaction){.sa_handler = ask}, NULL);
    err = watch_open(&st->watch, o,
                     &(struct watch_ops){.ctx = st, .ended = end_vms, .attach = attach_target, .hooked = hook_target,
                                         .serves = hands_pages});
    if (!err)
        err = batch_source_new(&(struct batch_source_ops){take_handed, st}, &st->source);
    if (!err && st->when.text)
        err = begin_when(st);
    /* before a recording of that name is written over */
    if (!err && st->watch.plan && !hands_pages(st, &st->watch.only))
        err = trap_source_require(&st->wanted, &st->watch.only, st->watch.plan);
    if (!err && !(st->watch.only.elf && hands_pages(st, &st->watch.only)))
        err =
            trap_source_new(&(struct trap_source_ops){take_page, st}, &st->wanted, &st->watch, &st->traps);
    if (!err)
        err = recording_begin(&st->plan, &st->writer);
    if (!err) {
        struct recording_told told;
        int ended;

        err = record(st);
        ended = recording_end(st->writer, &told);
        print_result(st, o, &told);
        err = err ? err : ended;
    }
    batch_source_free(st->source);
    feed_free(st->feed);
    result_forget(&st->seen);
    untold_free(&st->untold);
    watch_close(&st->watch);
    trap_source_free(st->traps);
    if (st->target >= 0)
        close(st->target);
    return err;
}

/* ---- the command line */

static int set_path(void *ctx, const char *value)
{
    ((struct state *)ctx)->plan.path = value;
    return 0;
}

static int set_bytes(void *ctx, const char *value)
{
    return options_bytes("--max-size", value, &((struct state *)ctx)->plan.max_bytes);
}

/* A file for each page, when it is shorter, takes so long to begin that the end is not come to while the VM is busy. */
static int set_length(const char *what, const char *value, uint64_t *out)
{
    int err = options_ns(what, value, out);

    return err || *out >= LEAST_NS ? err : fail(FAIL_USAGE, "%s must be 100ms or longer, not '%s'", what, value);
}

static int set_time(void *ctx, const char *value)
{
    return set_length("--max-time", value, &((struct state *)ctx)->plan.max_ns);
}

static int set_files(void *ctx, const char *value)
{
    uint64_t number;
    int err = options_number("--files", value, 1, RECORDING_MOST_FILES, &number);

    ((struct state *)ctx)->plan.files = (unsigned)number;
    return err;
}

static int set_ring(void *ctx, const char *value)
{
    return set_length("--ring", value, &((struct state *)ctx)->plan.ring_ns);
}

static int set_when(void *ctx, const char *value)
{
    return when_parse(value, &((struct state *)ctx)->when);
}

static int set_source(void *ctx, const char *value)
{
    unsigned chosen;
    int err = options_choice("--source", OPTIONS_SOURCES, value, &chosen);

    ((struct state *)ctx)->notes_only = chosen == 1;
    return err;
}

/* What was asked of a live view is not quietly left out of a recording. */
static int refuse_budget(void *ctx, const char *value)
{
    (void)ctx, (void)value;
    return fail(FAIL_USAGE,
                "trace keeps no budget, as a recording with holes is none; name the probes or views that are "
                "needed, or watch live");
}

static int add_wanted(void *ctx, const char *word)
{
    struct state *st = ctx;
    uint64_t ns;

    st->chosen = true;
    if (options_is_interval(word, &ns))
        return fail(FAIL_USAGE, "trace has no interval: --max-time %ss --files 1 ends a recording after that time",
                    word);
    for (struct wanted_word w = {.next = word}; wanted_next(&w);)
        if (!wanted_add_word(&st->wanted, &w))
            return fail(FAIL_USAGE, "no probe, family of probes or view is called '%.*s'; see erlsnoop trace -h",
                        (int)w.length, w.text);
    return 0;
}

int cmd_trace(int argc, char **argv)
{
    static struct state st = {.plan = {.files = 2, .writer = VERSION, .asked = &st.wanted}, .target = -1,
                              .seen.wants = RESULT_SUMS};
    static const struct options_extra extras[] = {
        {"", "[PROBE ...]", "probes, their families, views, all; or all but functions", add_wanted, false},
        {"o", "FILE", "the recording, which erlsnoop report reads", set_path, false},
        {"max-size", "SIZE", "at this size FILE becomes FILE.1, and a new one begins", set_bytes, false},
        {"max-time", "TIME", "likewise when FILE covers this time", set_time, false},
        {"files", "N", "so many are kept (2); 1: the recording ends with its first", set_files, false},
        {"ring", "TIME", "keep the last TIME in memory; SIGUSR1 and the end write it", set_ring, false},
        {"source", OPTIONS_SOURCES, "an erlvm's events by batches of them (unless said) or by notes", set_source,
         false},
        {"budget", "SHARE", NULL, refuse_budget, false},
        {"when", "WHAT", "with --ring: also write it when 'msglat.p99 > 50ms' or so", set_when, false},
        {0}};
    static const struct options_spec spec = {"trace", "Records events, for erlsnoop report.", OPTIONS_TARGET, extras,
                                             &st, NULL};
    struct options o;
    int err = options_parse(&spec, argc, argv, &o);

    if (err || o.done)
        return err;
    if (!st.plan.path)
        return fail(FAIL_USAGE, "a file is missing: -o FILE; see erlsnoop trace -h");
    if (st.plan.ring_ns && st.plan.max_ns)
        return fail(FAIL_USAGE, "choose one of --ring and --max-time");
    if (st.when.text && !st.plan.ring_ns)
        return fail(FAIL_USAGE, "--when needs --ring; see erlsnoop trace -h");
    if (!st.chosen)
        wanted_default(&st.wanted);
    if (st.when.text)
        wanted_add(&st.wanted, views[st.when.view].name);
    err = watch_require(&o);
    return err ? err : run(&st, &o);
}
