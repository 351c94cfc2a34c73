/* SPDX-License-Identifier: Apache-2.0 */
/* Erlang VMs that run here. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cmd.h"
#include "common/fail.h"
#include "common/options.h"
#include "otp/otp_vm.h"
#include "probe/plan.h"
#include "probe/watch.h"
#include "sink/sink.h"
#include "source/verdict.h"
#include "target/target_find.h"
#include "target/thread_call.h"

static const struct sink_column columns[] = {
    {"pid", "PID", SINK_COUNT, 7},         {"name", "NAME", SINK_TEXT, 12},
    {"vm", "VM", SINK_TEXT, 11},           {"up", "UP", SINK_TEXT, 8},
    {"processes", "PROCS", SINK_COUNT, 7}, {"schedulers", "SCHEDS", SINK_COUNT, 6},
    {"commands", "COMMANDS", SINK_TEXT, 0}};
static const struct sink_table table = {"vm", NULL, columns, 7};

/* The same for programs, whole. */
static const struct sink_column whole_columns[] = {
    {"pid", NULL, SINK_COUNT, 0},        {"name", NULL, SINK_TEXT, 0},     {"provider", NULL, SINK_TEXT, 0},
    {"release", NULL, SINK_TEXT, 0},     {"up", NULL, SINK_NS, 0},         {"processes", NULL, SINK_COUNT, 0},
    {"schedulers", NULL, SINK_COUNT, 0}, {"commands", NULL, SINK_TEXT, 0}, {"events", NULL, SINK_COUNT, 0},
    {"build_id", NULL, SINK_TEXT, 0}};
static const struct sink_table whole_table = {"vm", NULL, whole_columns, 10};

static const struct sink_column refusal_columns[] = {{"pid", "PID", SINK_COUNT, 7},
                                                     {"why", "NOT HOOKED, BECAUSE", SINK_TEXT, -1}};
static const struct sink_table refusal_table = {"refusal", NULL, refusal_columns, 2};

struct refusal {
    struct refusal *next;
    int pid;
    char why[];
};

struct state {
    struct sink sink;
    struct refusal *refusals, **last;
    int found;
};

/* For below the table. */
static int keep_refusal(struct state *st, int pid, const char *why)
{
    struct refusal *refusal = malloc(sizeof *refusal + strlen(why) + 1);

    if (!refusal)
        return fail(-ENOMEM, "out of memory");
    *refusal = (struct refusal){.pid = pid};
    strcpy(refusal->why, why);
    *st->last = refusal;
    st->last = &refusal->next;
    return 0;
}

static void print_refusals(struct state *st)
{
    for (struct refusal *refusal = st->refusals, *next; refusal; refusal = next) {
        next = refusal->next;
        sink_row(&st->sink, &refusal_table,
                 (struct sink_value[]){SINK_N((uint64_t)refusal->pid), SINK_S(refusal->why)});
        free(refusal);
    }
}

/* "3 d 04 h": the two units that matter. */
static void format_age(char *out, size_t size, double seconds)
{
    unsigned long s = (unsigned long)seconds;

    if (s >= 86400)
        snprintf(out, size, "%lu d %02lu h", s / 86400, s / 3600 % 24);
    else if (s >= 3600)
        snprintf(out, size, "%lu h %02lu m", s / 3600, s / 60 % 60);
    else if (s >= 60)
        snprintf(out, size, "%lu m %02lu s", s / 60, s % 60);
    else
        snprintf(out, size, "%lu s", s);
}

static unsigned count_schedulers(int pid)
{
    struct thread_name *threads;
    unsigned schedulers = 0;
    size_t n;

    if (thread_names(pid, &threads, &n))
        return 0;
    for (size_t i = 0; i < n; i++)
        schedulers += thread_name_is_scheduler(&threads[i]);
    free(threads);
    return schedulers;
}

enum { LACKS_NAMED = 2 };

/* "all", "all but calls, user", "3 of 5" or "none". */
static void format_commands(char *out, size_t size, const struct target *t, const struct plan *plan)
{
    struct verdict verdicts[VERDICT_COMMANDS];
    const char *lacks[LACKS_NAMED] = {"", ""};
    unsigned lacking = 0;

    verdict_all(t, plan, verdicts);
    for (size_t i = 0; i < VERDICT_COMMANDS; i++) {
        if (verdicts[i].works)
            continue;
        if (lacking < LACKS_NAMED)
            lacks[lacking] = verdict_commands[i];
        lacking++;
    }
    if (!lacking || lacking == VERDICT_COMMANDS)
        snprintf(out, size, "%s", lacking ? "none" : "all");
    else if (lacking <= LACKS_NAMED)
        snprintf(out, size, "all but %s%s%s", lacks[0], lacking > 1 ? ", " : "", lacks[1]);
    else
        snprintf(out, size, "%u of %u", VERDICT_COMMANDS - lacking, (unsigned)VERDICT_COMMANDS);
}

static void print_vm(struct state *st, const struct target *t, const struct plan *plan)
{
    char release[16], vm[32], up[32], commands[64];
    double age = target_age_s(t->pid);
    unsigned schedulers = count_schedulers(t->pid);
    uint64_t processes;
    bool counted = plan->vm && !otp_vm_processes(plan->vm, &processes);

    t->provider->ops->release(t->elf, release, sizeof release);
    snprintf(vm, sizeof vm, "%s%s%s", !strcmp(t->provider->name, "erlvm") ? "erlvm" : "OTP", release[0] ? " " : "",
             release);
    format_age(up, sizeof up, age);
    format_commands(commands, sizeof commands, t, plan);
    if (st->sink.ops->for_programs)
        sink_row(&st->sink, &whole_table,
                 (struct sink_value[]){SINK_N((uint64_t)t->pid), SINK_S(t->name), SINK_S(t->provider->name),
                                       release[0] ? SINK_S(release) : SINK_NONE, SINK_N((uint64_t)(age * 1e9)),
                                       counted ? SINK_N(processes) : SINK_NONE,
                                       schedulers ? SINK_N(schedulers) : SINK_NONE, SINK_S(commands),
                                       SINK_N(plan_count(plan)),
                                       t->elf->build_id[0] ? SINK_S(t->elf->build_id) : SINK_NONE});
    else
        sink_row(&st->sink, &table,
                 (struct sink_value[]){SINK_N((uint64_t)t->pid), SINK_S(t->name), SINK_S(vm), SINK_S(up),
                                       counted ? SINK_N(processes) : SINK_NONE,
                                       schedulers ? SINK_N(schedulers) : SINK_NONE, SINK_S(commands)});
}

static int print_target(void *ctx, struct target *t)
{
    struct state *st = ctx;
    struct plan *plan;
    int err = plan_new(t, false, &plan);

    if (err)
        return err;
    st->found++;
    print_vm(st, t, plan);
    err = plan->refused[0] ? keep_refusal(st, t->pid, plan->refused) : 0;
    plan_free(plan);
    return err;
}

static int print_only(struct state *st, int pid)
{
    struct target t;
    int err = target_require(pid, &t);

    if (err)
        return err;
    err = print_target(st, &t);
    target_close(&t);
    return err;
}

int cmd_list(int argc, char **argv)
{
    static const struct options_spec spec = {
        "list", "Lists Erlang VMs: what they are, how long they run, and which commands work.",
        OPTIONS_PID, NULL, NULL, NULL};
    struct state st = {0};
    struct options o;
    int err = options_parse(&spec, argc, argv, &o);

    if (err || o.done)
        return err;
    if ((err = watch_require_files(&o)))
        return err;
    if (o.name && (err = target_find(o.name, &o.pid)))
        return err;
    sink_init(&st.sink, stdout, o.form, false);
    st.last = &st.refusals;
    err = o.pid ? print_only(&st, o.pid) : target_each(&(struct target_visitor){.found = print_target, .ctx = &st});
    print_refusals(&st);
    if (!err)
        err = sink_end(&st.sink);
    if (!err && !st.found)
        note(geteuid() == 0 ? "no Erlang VM runs here"
                            : "no Erlang VM runs here that you may look at; run as root to see those of others");
    return err;
}
