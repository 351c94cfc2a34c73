/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What is in a VM now, or was in it when it left a core file. Nothing is probed and nothing stops: a VM that hangs
 * answers as well.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "cmd.h"
#include "common/clock.h"
#include "common/fail.h"
#include "common/options.h"
#include "common/signals.h"
#include "otp/names.h"
#include "ps_monitors.h"
#include "ps_parts.h"
#include "ps_process.h"
#include "ps_processes.h"
#include "ps_tables.h"
#include "inspect.h"

enum { TOP = 20, MOST_TOP = 1 << 27, CPU_NS = 1000000000 /* --sort cpu without an interval looks so far apart */ };

/* What may be asked for in place of the table of processes. */
enum part { PART_PORTS, PART_SCHEDULERS, PART_ETS, PART_MEMORY, PART_ATOMS, PART_MONITORS, PART_COUNT };

struct ps {
    unsigned sort;
    uint64_t top;
    bool top_said, contents;
    bool parts[PART_COUNT]; /* that were asked for */
    const char *core, *emulator, *process;
    struct options options;
    uint64_t interval_ns, count;
    struct ps_atoms atoms;
    struct ps_monitors *monitors;
    struct inspected vm;
    struct sink sink;
};

/* ---- options */

static int set_sort(void *ctx, const char *value)
{
    return options_choice("--sort", PS_SORTS_TEXT, value, &((struct ps *)ctx)->sort);
}

static int set_top(void *ctx, const char *value)
{
    struct ps *ps = ctx;

    ps->top_said = true;
    return options_number("--top", value, 1, MOST_TOP, &ps->top);
}

#define SET_PART(name, part)                                                                                           \
    static int set_##name(void *ctx, const char *value)                                                                \
    {                                                                                                                  \
        (void)value;                                                                                                   \
        ((struct ps *)ctx)->parts[part] = true;                                                                        \
        return 0;                                                                                                      \
    }
SET_PART(ports, PART_PORTS)
SET_PART(schedulers, PART_SCHEDULERS)
SET_PART(ets, PART_ETS)
SET_PART(memory, PART_MEMORY)
SET_PART(atoms, PART_ATOMS)
SET_PART(monitors, PART_MONITORS)

static int set_contents(void *ctx, const char *value)
{
    (void)value;
    ((struct ps *)ctx)->contents = true;
    return 0;
}

static int set_core(void *ctx, const char *value)
{
    ((struct ps *)ctx)->core = value;
    return 0;
}

static int set_emulator(void *ctx, const char *value)
{
    ((struct ps *)ctx)->emulator = value;
    return 0;
}

/* As an interval or a count is: 0.93.0 is none. */
static bool is_number(const char *word)
{
    const char *point = strchr(word, '.');

    return !word[strspn(word, "0123456789.-")] && (!point || !strchr(point + 1, '.'));
}

/* An interval, how many results, or a process. */
static int add_word(void *ctx, const char *word)
{
    struct ps *ps = ctx;

    if (!ps->interval_ns && options_is_interval(word, &ps->interval_ns))
        return 0;
    if (ps->interval_ns && !ps->count && !word[strspn(word, "0123456789")])
        return options_number("count", word, 1, UINT32_MAX, &ps->count);
    if (ps->process || is_number(word))
        return fail(FAIL_USAGE, "unexpected argument '%s'; see erlsnoop ps -h", word);
    ps->process = word;
    return 0;
}

/* How many of the parts were asked for, and a process. */
static unsigned count_parts(const struct ps *ps)
{
    unsigned n = ps->process != NULL;

    for (int part = 0; part < PART_COUNT; part++)
        n += ps->parts[part];
    return n;
}

static const char *find_clash(const struct ps *ps)
{
    bool has_top = ps->parts[PART_ETS] || ps->parts[PART_ATOMS] || ps->parts[PART_MONITORS];

    if (ps->core && (ps->options.pid || ps->options.name))
        return "choose one of -p PID and --core FILE";
    if (ps->emulator && !ps->core)
        return "--emulator needs --core; see erlsnoop ps -h";
    if (ps->core && ps->interval_ns)
        return "a core file does not change: it has no interval";
    if (ps->core && ps->sort == PS_CPU)
        return "a core file does not change: nobody in it uses a processor (--sort cpu)";
    if (count_parts(ps) > 1)
        return "choose one of a process, --ports, --schedulers, --ets, --memory, --atoms and --monitors";
    if (count_parts(ps) && ps->sort)
        return "--sort is of the table of processes";
    if (count_parts(ps) && ps->top_said && !has_top)
        return "--top is of the tables of processes, of ETS tables, of atoms and of monitors";
    if (ps->contents && !ps->process)
        return "--contents is of one process: say which";
    return NULL;
}

/* ---- results */

static int explain(const struct ps *ps, int err)
{
    switch (err) {
    case 0: return 0;
    case -ENOTUNIQ: return err;
    case -ENOENT: return fail(err, "no process '%s' is in the VM", ps->process);
    case -ENOMEM: return fail(err, "out of memory");
    case -EBADMSG: return fail(err, "most of what stands in the memory of process %u makes no sense", ps->vm.pid);
    case -ENOTSUP:
        return fail(err, "%s", ps->parts[PART_ETS]        ? "this erlvm is too old to show ETS tables"
                               : ps->parts[PART_MONITORS] ? "this erlvm is too old to show monitors"
                                                          : ps_ports_missing(ps->vm.from));
    default:
        return ps->core ? fail(err, "'%s' lacks memory that is needed: was it cut off?", ps->core)
                        : fail(err, "process %u has ended", ps->vm.pid);
    }
}

static int print_processes(struct ps *ps, struct ps_processes *processes)
{
    struct snapshot_count count;
    int err = ps_processes_look(processes, &ps->vm, ps->interval_ns > 0, &count);

    if (err && !count.read)
        return err;
    ps_print_summary(&ps->vm, processes, &count, &ps->sink);
    ps_processes_print(processes, &ps->vm, &ps->sink);
    sink_lost(&ps->sink, count.unclear, "processes whose memory makes no sense");
    if (ps->core && count.read + count.gone + count.unclear < count.listed)
        sink_lost(&ps->sink, count.listed - count.read - count.gone - count.unclear, "processes are not in the file");
    return err;
}

static int print_part(struct ps *ps, struct ps_processes *processes)
{
    if (ps->process)
        return ps_process_print(&ps->vm, ps->process, ps->contents, &ps->sink);
    if (ps->parts[PART_PORTS])
        return ps_ports_print(&ps->vm, &ps->sink);
    if (ps->parts[PART_SCHEDULERS])
        return ps_schedulers_print(&ps->vm, &ps->sink);
    if (ps->parts[PART_ETS])
        return ps_ets_print(&ps->vm, ps->top, &ps->sink);
    if (ps->parts[PART_MEMORY])
        return ps_memory_print(&ps->vm, &ps->sink);
    if (ps->parts[PART_ATOMS])
        return ps_atoms_print(&ps->vm, ps->top, &ps->atoms, &ps->sink);
    if (ps->parts[PART_MONITORS])
        return ps_monitors_print(ps->monitors, &ps->vm, ps->interval_ns > 0, &ps->sink);
    return print_processes(ps, processes);
}

static int print_result(struct ps *ps, struct ps_processes *processes)
{
    int err;

    sink_moment(&ps->sink, clock_ns(CLOCK_MONOTONIC));
    names_since(ps->vm.names, ps->core ? 0 : ps->sink.now_ns);
    err = print_part(ps, processes);
    names_end_result(ps->vm.names);
    return explain(ps, err);
}

/* What they do from now on until the first result is what that is sorted by. Positive: a signal came. */
static int wait_for_rates(struct ps *ps, struct ps_processes *processes)
{
    struct snapshot_count count;
    int err = ps_processes_look(processes, &ps->vm, true, &count);

    return err ? explain(ps, err) : signals_wait(ps->interval_ns);
}

/* The first result is printed at once, which makes one more than there are intervals. */
static int print_results(struct ps *ps, struct ps_processes *processes)
{
    int err = ps->sort == PS_CPU ? wait_for_rates(ps, processes) : 0;

    if (err)
        return err < 0 ? err : 0;
    err = print_result(ps, processes);
    for (uint64_t n = 1; !err && ps->interval_ns && (!ps->count || n < ps->count); n++) {
        err = sink_flush(&ps->sink);
        if (err)
            return err == -EPIPE ? 0 : fail(err, "cannot write results: %s", strerror(-err));
        if (signals_wait(ps->interval_ns))
            break;
        err = print_result(ps, processes);
    }
    return err;
}

static int run(struct ps *ps)
{
    struct ps_processes *processes;
    int err = ps->core ? inspect_open_core(ps->core, ps->emulator, &ps->vm) : inspect_open(&ps->options, &ps->vm),
        ended;

    if (!err && ps->interval_ns && (err = signals_open()) > 0)
        err = 0;
    if (err)
        return err;
    sink_init(&ps->sink, stdout, ps->options.form, ps->options.timestamps);
    if (ps->sink.ops->for_programs && !ps->top_said)
        ps->top = 0;
    processes = ps_processes_new((enum ps_sort)ps->sort, ps->top);
    ps->monitors = ps_monitors_new(ps->top);
    err = processes && ps->monitors ? print_results(ps, processes) : fail(-ENOMEM, "out of memory");
    ps_processes_free(processes);
    ps_monitors_free(ps->monitors);
    ended = sink_end(&ps->sink);
    return err ? err : ended;
}

int cmd_ps(int argc, char **argv)
{
    struct ps ps = {.top = TOP};
    const struct options_extra extras[] = {
        {"", "[PROCESS] [interval [count]]", "all of one: 0.93.0 or its name; seconds between results", add_word,
         false},
        {"contents", NULL, "what is in its messages and its dictionary, not only of which shape", set_contents, false},
        {"sort", PS_SORTS_TEXT, "what the first processes have most of; age: who is oldest (mailbox)", set_sort, false},
        {"top", "N", "how many rows (20; for programs all)", set_top, false},
        {"ports", NULL, "ports: who owns them, what waits in them", set_ports, false},
        {"schedulers", NULL, "schedulers: what runs, and what waits", set_schedulers, false},
        {"ets", NULL, "ETS tables: whose, of how many rows, how large", set_ets, false},
        {"memory", NULL, "what memory is for, as erlang:memory/0 says it", set_memory, false},
        {"atoms", NULL, "how many atoms there are, and the newest", set_atoms, false},
        {"monitors", NULL, "who holds how many monitors, and how many more with an interval", set_monitors, false},
        {"core", "FILE", "of a VM that left this core file", set_core, false},
        {"emulator", "FILE", "the executable that it ran, if it is not where it was", set_emulator, false},
        {"T", NULL, "print the time with each result", NULL, false}, /* options_parse itself sets `timestamps` */
        {0}};
    const struct options_spec spec = {"ps",
                                      "Shows what is in a VM now: processes, ports, schedulers, ETS tables, memory, "
                                      "atoms, one process. Nothing is probed or stopped; one that hangs answers, too.",
                                      OPTIONS_PID,
                                      extras,
                                      &ps,
                                      NULL};
    const char *clash;
    int err = options_parse(&spec, argc, argv, &ps.options);

    if (err || ps.options.done)
        return err;
    clash = find_clash(&ps);
    if (clash)
        return fail(FAIL_USAGE, "%s", clash);
    if (ps.sort == PS_CPU && !ps.interval_ns) {
        ps.interval_ns = CPU_NS;
        ps.count = 1;
    }
    ps.atoms.again = ps.interval_ns > 0;
    err = run(&ps);
    inspect_close(&ps.vm);
    return err;
}
