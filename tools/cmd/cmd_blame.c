/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Who waits for whom in a VM, and for how long at least: whom everybody waits for stands first. Its memory is looked at
 * twice; nothing is probed or stopped.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cmd.h"
#include "common/array.h"
#include "common/clock.h"
#include "common/fail.h"
#include "common/options.h"
#include "common/signals.h"
#include "diagnose/blame.h"
#include "otp/names.h"
#include "ps_texts.h"

enum {
    TOP = 10,
    MOST_TOP = 1 << 20,
    DEEPEST = 8,      /* from a root, for people */
    BRANCHES = 5,     /* of a process, for people: those of one name are one */
    NAMED = 20000,    /* who wait for one process and are named, for people */
    WHO_COLUMNS = 34,
    WHO_BYTES = PS_NAME_BYTES + 64,
    TEXT_BYTES = PS_NAME_BYTES + 1024,
};

static const uint64_t DEFAULT_NS = 1000000000u;

struct state {
    struct options options;
    uint64_t for_ns, top, now_ns; /* now_ns: of the second look */
    struct inspected vm;
    struct sink sink;
    struct blame before, now;
    struct snapshot_count count;
    struct ps_known known;
    struct pending *works; /* what processes do that takes long: files, native functions, collections */
    size_t nworks, room;
};

/* ---- options */

static int set_for(void *ctx, const char *value)
{
    if (options_is_interval(value, &((struct state *)ctx)->for_ns))
        return 0;
    return fail(FAIL_USAGE, "-d must be seconds up to 86400, not '%s'", value);
}

static int set_top(void *ctx, const char *value)
{
    return options_number("--top", value, 1, MOST_TOP, &((struct state *)ctx)->top);
}

/* ---- looking */

static int add_work(void *ctx, const struct pending *work)
{
    struct state *st = ctx;
    int err = array_room((void **)&st->works, st->nworks, &st->room, sizeof *st->works);

    if (!err)
        st->works[st->nworks++] = *work;
    return err;
}

static int explain(const struct state *st, int err)
{
    switch (err) {
    case -ENOMEM: return fail(err, "out of memory");
    case -ENOTSUP: return fail(err, "this erlvm is older than what tells of monitors");
    case -EBADMSG: return fail(err, "most of what stands in the memory of process %u makes no sense", st->vm.pid);
    default: return fail(err, "process %u has ended", st->vm.pid);
    }
}

static int look(struct state *st, struct blame *blame, const struct blame *before)
{
    st->now_ns = clock_ns(CLOCK_MONOTONIC);
    names_since(st->vm.names, st->now_ns);
    return blame_look(blame, st->vm.snapshot, st->now_ns, before, &st->count);
}

/* Twice; a signal between ends the time, not the answer. */
static int gather(struct state *st)
{
    static const bool works[PENDING_NKINDS] = {
        [PENDING_FILE] = true, [PENDING_NATIVE] = true, [PENDING_COLLECTION] = true};
    int err = signals_open();

    if (err < 0)
        return err;
    err = look(st, &st->before, NULL);
    if (!err) {
        signals_wait(st->for_ns);
        err = look(st, &st->now, &st->before);
    }
    err = err ? err : pending_read(st->vm.snapshot, works, add_work, st);
    return err ? explain(st, err) : 0;
}

/* ---- words */

static const struct blame_node *node_at(const struct state *st, int64_t number)
{
    return number < 0 ? NULL : &st->now.nodes[number];
}

/* "name <0.1.0>", or what it is that is no process. */
static void who_text(const struct state *st, const struct blame_node *node, char *buf, size_t size)
{
    char pid[SNAPSHOT_PID_BYTES], name[PS_NAME_BYTES];

    if (node->thing) {
        snprintf(buf, size, "%s", node->thing);
        return;
    }
    ps_known_name(&st->vm, &st->known, node->id, name);
    snapshot_pid_text(node->id, pid);
    snprintf(buf, size, "%s%s%s", name, name[0] ? " " : "", pid);
}

static const struct pending *find_work(const struct state *st, ev_id id)
{
    for (size_t i = 0; i < st->nworks; i++)
        if (st->works[i].id == id)
            return &st->works[i];
    return NULL;
}

static const char *const work_texts[PENDING_NKINDS] = {
    [PENDING_FILE] = "a file operation", [PENDING_NATIVE] = "native", [PENDING_COLLECTION] = "a collection"};

/* What who waits for nobody does. */
static void work_text(const struct state *st, const struct blame_node *node, char *buf, size_t size)
{
    const struct snapshot_process *is = ps_known_process(&st->known, node->id);
    const struct pending *work = find_work(st, node->id);
    char place[PS_NAME_BYTES], age[16] = "";

    if (node->thing)
        snprintf(buf, size, "takes no more");
    else if (!is)
        snprintf(buf, size, "has ended, or is not told");
    else if (work) {
        if (work->age_ns)
            sink_format_ns(age, sizeof age, work->age_ns);
        snprintf(buf, size, "in %s%s%s%s%s", work_texts[work->kind], work->what[0] ? ": " : "", work->what,
                 age[0] ? ", for " : "", age);
    } else if (snapshot_place(st->vm.snapshot, is, place, sizeof place))
        snprintf(buf, size, "%s in %s", ps_status_text(is), place);
    else
        snprintf(buf, size, "%s", ps_status_text(is));
}

static void wait_text(const struct blame_node *node, uint64_t held_ns, char *buf, size_t size)
{
    static const char *const texts[] = {
        [WAIT_ANSWER] = "asked it", [WAIT_PORT] = "sends to it", [WAIT_NODE] = "sends to it"};
    char age[16], more[32] = "";

    sink_format_ns(age, sizeof age, held_ns);
    if (node->wait.of > 1)
        snprintf(more, sizeof more, " and %u others", node->wait.of - 1);
    snprintf(buf, size, "%s%s%s%s%s", texts[node->wait.kind], more, held_ns ? ", for " : "", held_ns ? age : "",
             held_ns ? " at least" : "");
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

static void print_row(struct state *st, uint64_t waiters, unsigned depth, const char *who, const char *does)
{
    char text[TEXT_BYTES];

    snprintf(text, sizeof text, "%*s%s", (int)(2 * depth), "", who);
    shorten(text, WHO_COLUMNS);
    sink_row(&st->sink, &table, (struct sink_value[]){SINK_N(waiters), SINK_S(text), SINK_S(does)});
}

/* Those of one name that wait for the same, as one: by who waits for how many, the most first. */
struct branch {
    char name[256];
    int64_t first;
    uint64_t processes, waiters, held_ns; /* held_ns: what each of them has waited at least */
};

static int compare_branches(const void *a, const void *b)
{
    const struct branch *x = a, *y = b;
    uint64_t more = x->waiters + x->processes, other = y->waiters + y->processes;

    return more != other ? more < other ? 1 : -1 : x->first < y->first ? -1 : x->first > y->first;
}

static struct branch *find_branch(struct branch *all, size_t n, const char *name)
{
    for (size_t i = 0; i < n; i++)
        if (!strcmp(all[i].name, name))
            return &all[i];
    return NULL;
}

/* At most `room` names; *rest: processes that have another. */
static size_t gather_branches(const struct state *st, const struct blame_node *of, struct branch *all, size_t room,
                              uint64_t *rest)
{
    size_t n = 0;

    for (int64_t at = of->child; at >= 0; at = st->now.nodes[at].sibling) {
        const struct blame_node *node = node_at(st, at);
        struct branch *branch;
        char name[PS_NAME_BYTES];

        if (node->in_circle)
            continue;
        ps_known_name(&st->vm, &st->known, node->id, name);
        if (!name[0])
            snapshot_pid_text(node->id, name);
        name[sizeof all->name - 1] = '\0';
        branch = find_branch(all, n, name);
        if (!branch && n < room) {
            branch = &all[n++];
            *branch = (struct branch){.first = at, .held_ns = UINT64_MAX};
            strcpy(branch->name, name);
        }
        if (!branch) {
            ++*rest;
            continue;
        }
        branch->processes++;
        branch->waiters += node->waiters;
        if (st->now_ns - node->since_ns < branch->held_ns)
            branch->held_ns = st->now_ns - node->since_ns;
    }
    qsort(all, n, sizeof *all, compare_branches);
    return n;
}

static void print_waiters(struct state *st, const struct blame_node *of, unsigned depth); /* calls this, and that it */

static void print_branch(struct state *st, const struct branch *branch, unsigned depth)
{
    const struct blame_node *node = node_at(st, branch->first);
    char who[WHO_BYTES], does[TEXT_BYTES];

    if (branch->processes == 1)
        who_text(st, node, who, sizeof who);
    else
        snprintf(who, sizeof who, "%" PRIu64 " x %s", branch->processes, branch->name);
    wait_text(node, branch->held_ns, does, sizeof does);
    print_row(st, branch->waiters, depth, who, does);
    if (branch->processes == 1 && depth < DEEPEST)
        print_waiters(st, node, depth + 1);
}

static void print_waiters(struct state *st, const struct blame_node *of, unsigned depth)
{
    enum { MOST_BRANCHES = 256 };
    struct branch *all = calloc(MOST_BRANCHES, sizeof *all);
    uint64_t rest = 0;
    size_t n = all ? gather_branches(st, of, all, MOST_BRANCHES, &rest) : 0;
    char text[64];

    for (size_t i = 0; i < n; i++)
        if (i < BRANCHES)
            print_branch(st, &all[i], depth);
        else
            rest += all[i].processes;
    if (rest) {
        snprintf(text, sizeof text, "(%" PRIu64 " others)", rest);
        print_row(st, 0, depth, text, "");
    }
    free(all);
}

static void print_circle(struct state *st, const struct blame_node *first)
{
    const struct blame_node *node = first;
    char who[WHO_BYTES], next[WHO_BYTES], does[TEXT_BYTES];

    do {
        const struct blame_node *after = node_at(st, node->next);

        who_text(st, node, who, sizeof who);
        who_text(st, after, next, sizeof next);
        snprintf(does, sizeof does, "DEADLOCK: waits for %s", next);
        print_row(st, node->waiters, 0, who, does);
        print_waiters(st, node, 1);
        node = after;
    } while (node != first);
}

static void print_root(struct state *st, const struct blame_node *root)
{
    char who[WHO_BYTES], does[TEXT_BYTES];

    if (root->in_circle) {
        print_circle(st, root);
        return;
    }
    who_text(st, root, who, sizeof who);
    work_text(st, root, does, sizeof does);
    print_row(st, root->waiters, 0, who, does);
    print_waiters(st, root, 1);
}

/* ---- for programs */

static void print_wait(struct state *st, const struct blame_node *node)
{
    static const char *const kinds[] = {[WAIT_ANSWER] = "answer", [WAIT_PORT] = "port", [WAIT_NODE] = "node"};
    static const struct sink_column whole_columns[] = {
        {"vm", NULL, SINK_COUNT, 0},   {"process", NULL, SINK_TEXT, 0},       {"owner", NULL, SINK_TEXT, 0},
        {"for", NULL, SINK_TEXT, 0},   {"whom", NULL, SINK_TEXT, 0},          {"whom_owner", NULL, SINK_TEXT, 0},
        {"what", NULL, SINK_TEXT, 0},  {"at_least", NULL, SINK_NS, 0},        {"asked", NULL, SINK_COUNT, 0},
        {"root", NULL, SINK_TEXT, 0},  {"root_does", NULL, SINK_TEXT, 0},     {"deadlock", NULL, SINK_TEXT, 0},
        {"waiters", NULL, SINK_COUNT, 0}};
    static const struct sink_table whole_table = {"wait", NULL, whole_columns, 13};
    const struct blame_node *whom = node_at(st, node->next), *root = node_at(st, node->root);
    char pid[SNAPSHOT_PID_BYTES], whom_pid[SNAPSHOT_PID_BYTES], name[PS_NAME_BYTES], whom_name[PS_NAME_BYTES];
    char root_text[WHO_BYTES], does[TEXT_BYTES] = "";

    ps_known_name(&st->vm, &st->known, node->id, name);
    ps_known_name(&st->vm, &st->known, whom->id, whom_name);
    who_text(st, root, root_text, sizeof root_text);
    if (!root->in_circle)
        work_text(st, root, does, sizeof does);
    sink_row(&st->sink, &whole_table,
             (struct sink_value[]){SINK_N(st->vm.pid), SINK_S(snapshot_pid_text(node->id, pid)), sink_text(name),
                                   SINK_S(kinds[node->wait.kind]), sink_text(snapshot_pid_text(whom->id, whom_pid)),
                                   sink_text(whom_name), sink_text(node->wait.what),
                                   st->now_ns > node->since_ns ? SINK_N(st->now_ns - node->since_ns) : SINK_NONE,
                                   SINK_N(node->wait.of),
                                   SINK_S(root_text), sink_text(does), SINK_S(root->in_circle ? "true" : "false"),
                                   SINK_N(node->waiters)});
}

/* ---- all of it */

static const struct blame_node **find_roots(const struct state *st, size_t *n)
{
    const struct blame_node **roots = calloc(st->now.n + 1, sizeof *roots);

    *n = 0;
    for (size_t i = 0; roots && i < st->now.n; i++) {
        const struct blame_node *node = &st->now.nodes[i];

        if (node->in_circle ? node->root == (int64_t)i : !node->waits)
            roots[(*n)++] = node;
    }
    return roots;
}

/* A deadlock does not end, so it stands before what may. */
static int compare_roots(const void *a, const void *b)
{
    const struct blame_node *x = *(const struct blame_node *const *)a, *y = *(const struct blame_node *const *)b;

    if (x->in_circle != y->in_circle)
        return x->in_circle ? -1 : 1;
    return x->waiters != y->waiters ? x->waiters < y->waiters ? 1 : -1 : x->id < y->id ? -1 : x->id > y->id;
}

/* Those who wait for it, and for them, whose names are printed. */
static int add_names(struct state *st, const struct blame_node *of, unsigned depth)
{
    unsigned added = 0;
    int err = ps_known_add(&st->known, of->id);

    for (int64_t at = of->child; at >= 0 && !err && added < NAMED; at = st->now.nodes[at].sibling, added++)
        if (!st->now.nodes[at].in_circle && depth < DEEPEST)
            err = add_names(st, node_at(st, at), depth + 1);
    return err;
}

static int add_names_of(struct state *st, const struct blame_node *root)
{
    const struct blame_node *node = root;
    int err;

    do
        err = add_names(st, node, 0);
    while (!err && root->in_circle && (node = node_at(st, node->next)) != root);
    return err;
}

static int name_them(struct state *st, const struct blame_node **roots, size_t n)
{
    int err = 0;

    if (st->sink.ops->for_programs)
        for (size_t i = 0; i < st->now.n && !err; i++)
            err = ps_known_add(&st->known, st->now.nodes[i].id);
    else
        for (size_t i = 0; i < n && i < st->top && !err; i++)
            err = add_names_of(st, roots[i]);
    if (!err)
        ps_known_find(&st->known, &st->vm);
    return err;
}

static void print(struct state *st, const struct blame_node **roots, size_t n)
{
    sink_moment(&st->sink, clock_ns(CLOCK_MONOTONIC));
    if (st->sink.ops->for_programs) {
        for (size_t i = 0; i < st->now.n; i++)
            if (st->now.nodes[i].waits)
                print_wait(st, &st->now.nodes[i]);
    } else {
        for (size_t i = 0; i < n && i < st->top; i++)
            print_root(st, roots[i]);
    }
}

static void say_what_was_done(const struct state *st, size_t roots)
{
    bool has[PENDING_NKINDS];

    note("%zu of %" PRIu64 " processes of '%s' (process %u) wait for another, a port or a node%s", st->now.waiting,
         st->count.told, st->vm.name, st->vm.pid, roots > st->top ? "; --top prints more of those they wait for" : "");
    pending_known(st->vm.snapshot, has);
    if (!has[PENDING_PORT] || !has[PENDING_NODE])
        note("who waits for a port or a node is not known of this VM%s%s", st->vm.from->no_ports[0] ? ": " : "",
             st->vm.from->no_ports);
}

static int tell(struct state *st)
{
    size_t n;
    const struct blame_node **roots = find_roots(st, &n);
    int err = roots ? 0 : -ENOMEM;

    if (!err) {
        qsort(roots, n, sizeof *roots, compare_roots);
        err = name_them(st, roots, n);
    }
    if (err) {
        free(roots);
        return explain(st, err);
    }
    print(st, roots, n);
    err = sink_end(&st->sink);
    say_what_was_done(st, n);
    free(roots);
    return err;
}

static int run(struct state *st)
{
    int err = inspect_open(&st->options, &st->vm);

    if (err)
        return err;
    sink_init(&st->sink, stdout, st->options.form, st->options.timestamps);
    err = gather(st);
    return err ? err : tell(st);
}

int cmd_blame(int argc, char **argv)
{
    struct state st = {.for_ns = DEFAULT_NS, .top = TOP};
    const struct options_extra extras[] = {
        {"d", "SECONDS", "how far its two looks are apart (1)", set_for, false},
        {"top", "N", "how many of those that others wait for (10)", set_top, false},
        {0}};
    const struct options_spec spec = {
        "blame",
        "Tells who waits for whom in a VM, and whom all of them wait for: answers of calls, busy ports, full "
        "connections, deadlocks. Its memory is read twice; nothing is probed or stopped.",
        OPTIONS_PID,
        extras,
        &st,
        NULL};
    int err = options_parse(&spec, argc, argv, &st.options);

    if (err || st.options.done)
        return err;
    err = run(&st);
    blame_end(&st.before);
    blame_end(&st.now);
    ps_known_end(&st.known);
    free(st.works);
    inspect_close(&st.vm);
    return err;
}
