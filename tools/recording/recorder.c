/* SPDX-License-Identifier: Apache-2.0 */
/* Invariant: once writing has failed, or the recording is as long as it may be, nothing more is written. */
#include "recorder.h"

#include <signal.h>
#include <string.h>

#include "common/clock.h"
#include "common/fail.h"
#include "target/target.h"

#define LEAST_NS 100000000ull /* that a file or the memory covers */

/* ---- pages */

static struct recorder_vm *find_vm(struct recorder *r, uint32_t vm)
{
    for (size_t i = 0; i < r->nvms && i < RECORDER_VMS; i++)
        if (r->vms[i].vm == vm)
            return &r->vms[i];
    return NULL;
}

/* A VM of which a page comes for the first time. With -a it may run a file that another one brought here. */
static int know_vm(struct recorder *r, uint32_t vm)
{
    struct target target;
    int err;

    if (find_vm(r, vm))
        return 0;
    r->vms[r->nvms++ % RECORDER_VMS] = (struct recorder_vm){.vm = vm};
    if (target_open_pid((int)vm, &target))
        return recording_vm(r->writer, vm, r->name, unavailable_of(&r->unavailable, vm));
    err = recording_vm(r->writer, vm, target.name, unavailable_of(&r->unavailable, vm));
    target_close(&target);
    return err;
}

void recorder_page(struct recorder *r, const struct batch_received *received, bool handed)
{
    struct batch_header header = {0};
    struct recorder_vm *vm;

    if (!r->err)
        r->err = know_vm(r, received->vm);
    if (!r->err)
        r->err = recording_page(r->writer, received);
    vm = find_vm(r, received->vm);
    if (!handed || !vm || received->bytes < sizeof header)
        return;
    memcpy(&header, received + 1, sizeof header);
    vm->hands = true;
    vm->closed |= header.thread == BATCH_NO_THREAD;
}

bool recorder_is_whole(struct recorder *r, uint32_t vm)
{
    const struct recorder_vm *known = find_vm(r, vm);

    return !known || !known->hands || known->closed;
}

void recorder_end_vm(struct recorder *r, uint32_t vm)
{
    struct recorder_vm *known = find_vm(r, vm);
    bool closed = !known || known->closed; /* or there is nothing of it */

    if (known)
        known->hands = known->closed = false; /* of another that gets its process id */
    if (!r->err)
        r->err = recording_vm_ended(r->writer, vm, clock_ns(CLOCK_MONOTONIC), closed);
    unavailable_end_vm(&r->unavailable, vm);
}

/* ---- names */

int recorder_learn(struct recorder *r, uint32_t vm, const struct plan *plan)
{
    int err = unavailable_learn_plan(&r->unavailable, vm, plan);

    return err ? fail(err, "out of memory") : 0;
}

int recorder_atom(void *recorder, uint32_t vm, uint64_t index, const char *text, size_t bytes)
{
    return recording_atom(((struct recorder *)recorder)->writer, vm, index, text, bytes);
}

int recorder_owner(void *recorder, uint32_t vm, ev_id id, const struct wire_name *name)
{
    return recording_owner(((struct recorder *)recorder)->writer, vm, id, name);
}

/* Births of its processes so far are in no recording, nor are the atoms that its threads told another erlsnoop
 * alone. */
int recorder_owners(struct recorder *r, const struct target *t)
{
    int err = owners_read(t, &(struct owners_ops){recorder_atom, recorder_owner, r, recording_has_room(r->writer)});

    return err ? err : recording_owners_known(r->writer, (uint32_t)t->pid);
}

/* ---- memory that is written on request */

static volatile sig_atomic_t asked;

static void ask(int number)
{
    (void)number;
    asked = 1;
}

static void print_dump(const struct recorder *r, const char *why)
{
    uint64_t covered = clock_ns(CLOCK_MONOTONIC) - r->begun_ns;

    note("%s: '%s' holds the last %.3g s", why, r->plan.path,
         (double)(covered < r->plan.ring_ns ? covered : r->plan.ring_ns) / 1e9);
}

static bool dump(struct recorder *r, const char *why)
{
    bool written = !r->err && r->plan.ring_ns && !recording_dump(r->writer);

    if (written)
        print_dump(r, why);
    return written;
}

void recorder_dump(struct recorder *r, const char *why)
{
    if (dump(r, why))
        r->kept = why;
}

void recorder_look(struct recorder *r, uint64_t lost)
{
    recording_lost(r->writer, lost);
    if (!r->err)
        r->err = recording_look(r->writer, clock_ns(CLOCK_MONOTONIC));
    if (asked)
        dump(r, "asked by a signal");
    asked = 0;
}

/*
 * At the end. What was asked for stays where it was said to be when we are told to end; the end of the VM is worth a
 * file too.
 */
static void dump_last(struct recorder *r, bool vm_ended)
{
    const char *why = vm_ended ? "the VM ended" : "ended by a signal";

    if (r->kept && !vm_ended) {
        note("%s: '%s' stays as '%s' asked for it", why, r->plan.path, r->kept);
        return;
    }
    r->err = recording_dump_last(r->writer);
    if (r->err)
        return;
    print_dump(r, why);
    if (r->kept && r->plan.files > 1)
        note("'%s.1' holds what '%s' asked for", r->plan.path, r->kept);
}

/* ---- its life */

int recorder_begin(struct recorder *r, const char *name)
{
    r->name = name;
    r->plan.writer = VERSION;
    r->plan.asked = &r->wanted;
    if (r->plan.ring_ns)
        sigaction(SIGUSR1, &(struct sigaction){.sa_handler = ask}, NULL);
    recorder_start(r);
    return recording_begin(&r->plan, &r->writer);
}

void recorder_start(struct recorder *r)
{
    r->begun_ns = clock_ns(CLOCK_MONOTONIC);
}

static void print_totals(const struct recorder *r, const struct recording_totals *totals, struct sink *sink)
{
    static const struct sink_column columns[] = {
        {"events", "EVENTS", SINK_COUNT, 0},         {"pages", "PAGES", SINK_COUNT, 0},
        {"bytes", "BYTES", SINK_COUNT, 0},           {"stored_bytes", "STORED", SINK_COUNT, 0},
        {"lost_pages", "LOST PAGES", SINK_COUNT, 0}, {"file", "FILE", SINK_TEXT, -1}};
    static const struct sink_table table = {"trace", NULL, columns, sizeof columns / sizeof *columns};

    sink_row(sink, &table,
             (struct sink_value[]){SINK_N(totals->events), SINK_N(totals->pages), SINK_N(totals->raw),
                                   SINK_N(totals->stored), SINK_N(totals->lost.pages), SINK_S(r->plan.path)});
    sink_lost(sink, totals->lost.unnamed, RECORDING_UNNAMED);
}

void recorder_end(struct recorder *r, bool vm_ended, struct sink *sink)
{
    struct recording_totals totals;
    int err;

    for (size_t i = 0; r->writer && vm_ended && i < RECORDER_VMS; i++)
        if (r->vms[i].vm)
            recorder_end_vm(r, r->vms[i].vm);
    unavailable_free(&r->unavailable);
    r->unavailable = (struct unavailable){0};
    if (!r->writer)
        return;
    if (r->err == 1 && !vm_ended)
        note("'%s' is as long as it may be", r->plan.path);
    if (!r->err && r->plan.ring_ns)
        dump_last(r, vm_ended);
    err = recording_end(r->writer, &totals);
    r->err = r->err < 0 ? r->err : err;
    r->writer = NULL;
    if (sink)
        print_totals(r, &totals, sink);
}

/* ---- the command line */

static struct recording_plan *plan_of(void *ctx)
{
    return &((struct recorder *)ctx)->plan;
}

static int set_path(void *ctx, const char *value)
{
    plan_of(ctx)->path = value;
    return 0;
}

static int set_bytes(void *ctx, const char *value)
{
    return options_bytes("--max-size", value, &plan_of(ctx)->max_bytes);
}

/* A file for each page, when it is shorter, takes so long to begin that the end is not come to while the VM is busy. */
static int set_length(const char *what, const char *value, uint64_t *out)
{
    int err = options_ns(what, value, out);

    return err || *out >= LEAST_NS ? err : fail(FAIL_USAGE, "%s must be 100ms or longer, not '%s'", what, value);
}

static int set_time(void *ctx, const char *value)
{
    return set_length("--max-time", value, &plan_of(ctx)->max_ns);
}

static int set_files(void *ctx, const char *value)
{
    uint64_t number;
    int err = options_number("--files", value, 1, RECORDING_MOST_FILES, &number);

    plan_of(ctx)->files = (unsigned)number;
    return err;
}

static int set_ring(void *ctx, const char *value)
{
    return set_length("--ring", value, &plan_of(ctx)->ring_ns);
}

const struct options_extra recorder_options[RECORDER_NOPTIONS] = {
    {"o", "FILE", "the recording, which erlsnoop report reads", set_path, false},
    {"max-size", "SIZE", "at this size FILE becomes FILE.1, and a new one begins", set_bytes, false},
    {"max-time", "TIME", "likewise when FILE covers this time", set_time, false},
    {"files", "N", "so many are kept (2); 1: the recording ends with its first", set_files, false},
    {"ring", "TIME", "keep the last TIME in memory; SIGUSR1 and the end write it", set_ring, false}};

int recorder_check(const struct recorder *r, const char *command)
{
    const struct recording_plan *p = &r->plan;

    if (!p->path)
        return fail(FAIL_USAGE, "a file is missing: -o FILE; see erlsnoop %s -h", command);
    if (p->ring_ns && p->max_ns)
        return fail(FAIL_USAGE, "choose one of --ring and --max-time");
    return 0;
}
