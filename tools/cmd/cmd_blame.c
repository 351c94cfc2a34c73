/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Who waits for whom in a VM, and for how long at least: whom everybody waits for stands first. Its memory is looked at
 * twice; nothing is probed or stopped. What a VM left in a core file is looked at once.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "blame_picture.h"
#include "blame_tree.h"
#include "cmd.h"
#include "common/clock.h"
#include "common/fail.h"
#include "common/options.h"
#include "common/signals.h"
#include "common/whole_file.h"
#include "otp/names.h"
#include "otp/pending.h"
#include "sink/sink.h"

enum {
    TOP = 10,
    MOST_TOP = 1 << 20,
    WHO_COLUMNS = 34,
};

static const uint64_t DEFAULT_NS = 1000000000u;

struct state {
    struct options options;
    uint64_t for_ns, top;
    bool for_said;
    const char *core, *emulator, *picture_path;
    struct whole_file picture;
    struct inspected vm;
    struct sink sink;
    struct blame before;
    struct blame_tree tree;
    struct snapshot_count count;
};

/* ---- options */

static int set_for(void *ctx, const char *value)
{
    struct state *st = ctx;

    st->for_said = true;
    if (options_is_interval(value, &st->for_ns))
        return 0;
    return fail(FAIL_USAGE, "-d must be seconds up to 86400, not '%s'", value);
}

static int set_top(void *ctx, const char *value)
{
    return options_number("--top", value, 1, MOST_TOP, &((struct state *)ctx)->top);
}

static int set_picture(void *ctx, const char *value)
{
    ((struct state *)ctx)->picture_path = value;
    return 0;
}

static int set_core(void *ctx, const char *value)
{
    ((struct state *)ctx)->core = value;
    return 0;
}

static int set_emulator(void *ctx, const char *value)
{
    ((struct state *)ctx)->emulator = value;
    return 0;
}

static const char *find_clash(const struct state *st)
{
    if (st->core && (st->options.pid || st->options.name))
        return "choose one of -p PID and --core FILE";
    if (st->emulator && !st->core)
        return "--emulator needs --core; see erlsnoop blame -h";
    if (st->core && st->for_said)
        return "a core file does not change: it is looked at once, without -d";
    return NULL;
}

/* ---- looking */

static int explain(const struct state *st, int err)
{
    switch (err) {
    case -ENOMEM: return fail(err, "out of memory");
    case -ENOTSUP: return fail(err, "this erlvm is too old to show monitors");
    case -EBADMSG: return fail(err, "most of what stands in the memory of process %u makes no sense", st->vm.pid);
    default:
        return st->core ? fail(err, "'%s' lacks memory that is needed: was it cut off?", st->core)
                        : fail(err, "process %u has ended", st->vm.pid);
    }
}

static int look(struct state *st, struct blame *blame, const struct blame *before)
{
    uint64_t now_ns = clock_ns(CLOCK_MONOTONIC);

    st->tree.now_ns = now_ns;
    names_since(st->vm.names, st->core ? 0 : now_ns);
    return blame_look(blame, st->vm.snapshot, now_ns, before, &st->count);
}

/* Twice, or a core once; a signal between ends the time, not the answer. */
static int gather(struct state *st)
{
    int err = st->core ? 0 : signals_open();

    if (err < 0)
        return err;
    err = st->core ? 0 : look(st, &st->before, NULL);
    if (!err) {
        if (!st->core)
            signals_wait(st->for_ns);
        err = look(st, &st->tree.waits, st->core ? NULL : &st->before);
    }
    err = err ? err : blame_tree_grow(&st->tree);
    return err ? explain(st, err) : 0;
}

/* ---- for people */

static const struct sink_column columns[] = {
    {"waiters", "WAITERS", SINK_COUNT, 7},
    {"who", "WHO", SINK_TEXT, WHO_COLUMNS},
    {"does", "WHAT IT DOES", SINK_TEXT, 0}};
static const struct sink_table table = {"blame", NULL, columns, 3};

/* What it does is worth more than all of a long name: of that stays what fits the column. */
static void shorten(char *text, size_t most)
{
    size_t end = most - 2;

    if (strlen(text) <= most)
        return;
    while (end && (text[end] & 0xc0) == 0x80) /* inside of a character */
        end--;
    strcpy(text + end, "..");
}

static void print_row(void *ctx, const struct blame_row *row)
{
    char text[BLAME_TEXT_BYTES];

    snprintf(text, sizeof text, "%*s%s", (int)(2 * row->depth), "", row->who);
    shorten(text, WHO_COLUMNS);
    sink_row(ctx, &table, (struct sink_value[]){SINK_N(row->waiters), SINK_S(text), SINK_S(row->does)});
}

/* ---- for programs */

static void print_wait(struct sink *sink, const struct blame_tree *t, const struct blame_node *node)
{
    static const char *const kinds[] = {[WAIT_ANSWER] = "answer", [WAIT_PORT] = "port", [WAIT_NODE] = "node"};
    static const struct sink_column whole_columns[] = {
        {"vm", NULL, SINK_COUNT, 0},   {"process", NULL, SINK_TEXT, 0},       {"owner", NULL, SINK_TEXT, 0},
        {"for", NULL, SINK_TEXT, 0},   {"whom", NULL, SINK_TEXT, 0},          {"whom_owner", NULL, SINK_TEXT, 0},
        {"what", NULL, SINK_TEXT, 0},  {"at_least", NULL, SINK_NS, 0},        {"asked", NULL, SINK_COUNT, 0},
        {"root", NULL, SINK_TEXT, 0},  {"root_does", NULL, SINK_TEXT, 0},     {"deadlock", NULL, SINK_TEXT, 0},
        {"waiters", NULL, SINK_COUNT, 0}};
    static const struct sink_table whole_table = {"wait", NULL, whole_columns, 13};
    const struct blame_node *whom = blame_tree_node(t, node->next), *root = blame_tree_node(t, node->root);
    char pid[SNAPSHOT_PID_BYTES], whom_pid[SNAPSHOT_PID_BYTES], name[PS_NAME_BYTES], whom_name[PS_NAME_BYTES];
    char root_text[BLAME_WHO_BYTES], does[BLAME_TEXT_BYTES] = "";

    ps_known_name(t->vm, &t->known, node->id, name);
    ps_known_name(t->vm, &t->known, whom->id, whom_name);
    blame_tree_who(t, root, root_text, sizeof root_text);
    if (!root->in_circle)
        blame_tree_work(t, root, does, sizeof does);
    sink_row(sink, &whole_table,
             (struct sink_value[]){SINK_N(t->vm->pid), SINK_S(snapshot_pid_text(node->id, pid)), sink_text(name),
                                   SINK_S(kinds[node->wait.kind]), sink_text(snapshot_pid_text(whom->id, whom_pid)),
                                   sink_text(whom_name), sink_text(node->wait.what),
                                   t->now_ns > node->since_ns ? SINK_N(t->now_ns - node->since_ns) : SINK_NONE,
                                   SINK_N(node->wait.of),
                                   SINK_S(root_text), sink_text(does), SINK_S(root->in_circle ? "true" : "false"),
                                   SINK_N(node->waiters)});
}

/* ---- all of it */

static void print(struct state *st)
{
    sink_moment(&st->sink, clock_ns(CLOCK_MONOTONIC));
    if (st->sink.ops->for_programs) {
        for (size_t i = 0; i < st->tree.waits.n; i++)
            if (st->tree.waits.nodes[i].waits)
                print_wait(&st->sink, &st->tree, &st->tree.waits.nodes[i]);
    } else {
        blame_tree_walk(&st->tree, st->top, print_row, &st->sink);
    }
}

static int write_picture(struct state *st)
{
    time_t now = time(NULL);
    char when[64] = "", title[512];
    FILE *out = st->picture_path ? whole_file_begin(&st->picture) : NULL;

    if (!st->picture_path)
        return 0;
    strftime(when, sizeof when, "%Y-%m-%d %H:%M:%S UTC", gmtime(&now));
    if (st->core)
        snprintf(title, sizeof title, "Who waits for whom: process %u, of a core file", st->vm.pid);
    else
        snprintf(title, sizeof title, "Who waits for whom: %s (process %u), %s", st->vm.name, st->vm.pid, when);
    return whole_file_end(&st->picture, out ? blame_picture_write(&st->tree, st->top, title, out) : -ENOMEM);
}

static void say_what_was_done(const struct state *st)
{
    bool has[PENDING_NKINDS];

    note("%zu of %" PRIu64 " processes of '%s' (process %u) wait for another, a port or a node%s",
         st->tree.waits.waiting, st->count.read, st->core ? st->core : st->vm.name, st->vm.pid,
         st->tree.nroots > st->top ? "; --top prints more of those they wait for" : "");
    if (st->core && st->count.read + st->count.gone + st->count.unclear < st->count.listed)
        note("%" PRIu64 " processes are not in the file",
             st->count.listed - st->count.read - st->count.gone - st->count.unclear);
    pending_known(st->vm.snapshot, has);
    if (!has[PENDING_PORT] || !has[PENDING_NODE])
        note("who waits for a port or a node is not known of this VM%s%s", st->vm.from->no_ports[0] ? ": " : "",
             st->vm.from->no_ports);
}

static int answer(struct state *st)
{
    bool all = st->sink.ops->for_programs;
    int err = blame_tree_name(&st->tree, all, st->top), other;

    if (err)
        return explain(st, err);
    print(st);
    err = sink_end(&st->sink);
    other = write_picture(st);
    say_what_was_done(st);
    return err ? err : other;
}

static int run(struct state *st)
{
    int err = whole_file_open(&st->picture, st->picture_path);

    if (!err)
        err = st->core ? inspect_open_core(st->core, st->emulator, &st->vm) : inspect_open(&st->options, &st->vm);
    if (err)
        return err;
    st->tree.vm = &st->vm;
    sink_init(&st->sink, stdout, st->options.form, st->options.timestamps);
    err = gather(st);
    return err ? err : answer(st);
}

int cmd_blame(int argc, char **argv)
{
    struct state st = {.for_ns = DEFAULT_NS, .top = TOP};
    const struct options_extra extras[] = {
        {"d", "SECONDS", "how far its two looks are apart (1)", set_for, false},
        {"top", "N", "how many of those that others wait for (10)", set_top, false},
        {"svg", "FILE", "the same as a picture", set_picture, false},
        {"core", "FILE", "of a VM that left this core file", set_core, false},
        {"emulator", "FILE", "the executable that it ran, if it is not where it was", set_emulator, false},
        {0}};
    const struct options_spec spec = {
        "blame",
        "Shows who waits for whom in a VM, and whom all of them wait for: answers of calls, busy ports, full "
        "connections, deadlocks. Its memory is read twice; nothing is probed or stopped.",
        OPTIONS_PID,
        extras,
        &st,
        NULL};
    const char *clash;
    int err = options_parse(&spec, argc, argv, &st.options);

    if (err || st.options.done)
        return err;
    clash = find_clash(&st);
    if (clash)
        return fail(FAIL_USAGE, "%s", clash);
    err = run(&st);
    blame_end(&st.before);
    blame_tree_end(&st.tree);
    inspect_close(&st.vm);
    return err;
}
