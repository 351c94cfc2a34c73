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
#include "ps_parts.h"
#include "ps_processes.h"
#include "inspect.h"

enum { TOP = 20, MOST_TOP = 1 << 27 };

struct ps {
    unsigned sort;
    uint64_t top;
    bool top_said, ports, schedulers;
    const char *core, *emulator, *process;
    struct options options;
    uint64_t interval_ns, count;
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

static int set_ports(void *ctx, const char *value)
{
    (void)value;
    ((struct ps *)ctx)->ports = true;
    return 0;
}

static int set_schedulers(void *ctx, const char *value)
{
    (void)value;
    ((struct ps *)ctx)->schedulers = true;
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

static const char *find_clash(const struct ps *ps)
{
    if (ps->core && (ps->options.pid || ps->options.name))
        return "choose one of -p PID and --core FILE";
    if (ps->emulator && !ps->core)
        return "--emulator needs --core; see erlsnoop ps -h";
    if (ps->core && ps->interval_ns)
        return "a core file does not change: it has no interval";
    if (!!ps->process + ps->ports + ps->schedulers > 1)
        return "choose one of a process, --ports and --schedulers";
    if ((ps->process || ps->ports || ps->schedulers) && (ps->top_said || ps->sort))
        return "--sort and --top are of the table of processes";
    return NULL;
}

/* ---- results */

static int explain(const struct ps *ps, int err)
{
    switch (err) {
    case 0: return 0;
    case -ENOENT: return fail(err, "no process '%s' is in the VM", ps->process);
    case -ENOMEM: return fail(err, "out of memory");
    case -EBADMSG: return fail(err, "most of what stands in the memory of process %u makes no sense", ps->vm.pid);
    case -ENOTSUP: return fail(err, "%s", ps_ports_missing(ps->vm.from));
    default:
        return ps->core ? fail(err, "'%s' lacks memory that is needed: was it cut off?", ps->core)
                        : fail(err, "process %u has ended", ps->vm.pid);
    }
}

static int print_processes(struct ps *ps, struct ps_processes *processes)
{
    struct snapshot_count count;
    int err = ps_processes_look(processes, &ps->vm, ps->interval_ns > 0, &count);

    if (err && !count.told)
        return err;
    ps_print_summary(&ps->vm, processes, &count, &ps->sink);
    ps_processes_print(processes, &ps->vm, &ps->sink);
    sink_lost(&ps->sink, count.unclear, "processes whose memory makes no sense");
    if (ps->core && count.told + count.gone + count.unclear < count.listed)
        sink_lost(&ps->sink, count.listed - count.told - count.gone - count.unclear, "processes are not in the file");
    return err;
}

static int print_result(struct ps *ps, struct ps_processes *processes)
{
    int err;

    sink_moment(&ps->sink, clock_ns(CLOCK_MONOTONIC));
    names_since(ps->vm.names, ps->core ? 0 : ps->sink.now_ns);
    err = ps->process      ? ps_process_print(&ps->vm, ps->process, &ps->sink)
          : ps->ports      ? ps_ports_print(&ps->vm, &ps->sink)
          : ps->schedulers ? ps_schedulers_print(&ps->vm, &ps->sink)
                           : print_processes(ps, processes);
    names_end_result(ps->vm.names);
    return explain(ps, err);
}

/* The first result is printed at once, which makes one more than there are intervals. */
static int print_results(struct ps *ps, struct ps_processes *processes)
{
    int err = print_result(ps, processes);

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
    err = processes ? print_results(ps, processes) : fail(-ENOMEM, "out of memory");
    ps_processes_free(processes);
    ended = sink_end(&ps->sink);
    return err ? err : ended;
}

int cmd_ps(int argc, char **argv)
{
    struct ps ps = {.top = TOP};
    const struct options_extra extras[] = {
        {"", "[PROCESS] [interval [count]]", "all of one: 0.93.0 or its name; seconds between results", add_word,
         false},
        {"sort", PS_SORTS_TEXT, "what the first processes have most of (mailbox)", set_sort, false},
        {"top", "N", "how many processes (20; for programs all)", set_top, false},
        {"ports", NULL, "ports: who owns them, what waits in them", set_ports, false},
        {"schedulers", NULL, "schedulers: what runs, and what waits", set_schedulers, false},
        {"core", "FILE", "of a VM that left this core file", set_core, false},
        {"emulator", "FILE", "the executable that it ran, if it is not where it was", set_emulator, false},
        {"T", NULL, "print the time with each result", NULL, false}, /* options_parse itself sets `timestamps` */
        {0}};
    const struct options_spec spec = {"ps",
                                      "Tells what is in a VM now: processes, ports, schedulers, one process. "
                                      "Nothing is probed or stopped; one that hangs answers, too.",
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
    err = run(&ps);
    inspect_close(&ps.vm);
    return err;
}
