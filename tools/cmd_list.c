/* SPDX-License-Identifier: Apache-2.0 */
/* Erlang VMs that run here. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cmd.h"
#include "fail.h"
#include "options.h"
#include "plan.h"
#include "sink.h"

static const struct sink_column columns[] = {
    {"pid", "PID", SINK_COUNT, 7},      {"name", "NAME", SINK_TEXT, 24},
    {"provider", "PROVIDER", SINK_TEXT, 10}, {"release", "RELEASE", SINK_TEXT, 8},
    {"events", "EVENTS", SINK_COUNT, 6}, {"build_id", "BUILD-ID", SINK_TEXT, 0}};
static const struct sink_table table = {"vm", NULL, columns, 6};

static const struct sink_column refusal_columns[] = {{"pid", "PID", SINK_COUNT, 7}, {"why", "NOT HOOKED, BECAUSE", SINK_TEXT, -1}};
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
        sink_row(&st->sink, &refusal_table, (struct sink_value[]){SINK_N((uint64_t)refusal->pid), SINK_S(refusal->why)});
        free(refusal);
    }
}

static int print_target(void *ctx, struct target *t)
{
    struct state *st = ctx;
    char release[16];
    struct plan *plan;
    int err;

    err = plan_new(t, false, &plan);
    if (err)
        return err;
    st->found++;
    t->provider->ops->release(t->elf, release, sizeof release);
    sink_row(&st->sink, &table,
             (struct sink_value[]){SINK_N((uint64_t)t->pid), SINK_S(t->name),
                                   SINK_S(t->provider->name),
                                   release[0] ? SINK_S(release) : SINK_NONE,
                                   SINK_N(plan_count(plan)),
                                   t->elf->build_id[0] ? SINK_S(t->elf->build_id) : SINK_NONE});
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
        "list", "Lists Erlang VMs: their provider, release, and how many events they serve.",
        OPTIONS_PID, NULL, NULL, NULL};
    struct state st = {0};
    struct options o;
    int err = options_parse(&spec, argc, argv, &o);

    if (err || o.done)
        return err;
    sink_init(&st.sink, stdout, o.json, false);
    st.last = &st.refusals;
    err = o.pid ? print_only(&st, o.pid) : target_each(&(struct target_visitor){.found = print_target, .ctx = &st});
    print_refusals(&st);
    if (!err)
        err = sink_end(&st.sink);
    if (!err && !st.found)
        note(geteuid() == 0 ? "no Erlang VM runs here" : "no Erlang VM runs here that you may look at; run as root to see those of others");
    return err;
}
