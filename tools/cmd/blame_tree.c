/* SPDX-License-Identifier: Apache-2.0 */
/* Invariant: however many wait, the rows of a root are bounded; those left out are a row that says how many. */
#include "blame_tree.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/array.h"
#include "otp/pending.h"
#include "ps_texts.h"
#include "sink/sink.h"

enum {
    DEEPEST = 8,    /* from a root */
    BRANCHES = 5,   /* of a process: those of one name are one */
    CIRCLE = 50,    /* members of a circle */
    NAMED = 20000,  /* who wait for one process and are named */
};

const struct blame_node *blame_tree_node(const struct blame_tree *t, int64_t number)
{
    return number < 0 ? NULL : &t->waits.nodes[number];
}

/* ---- words */

void blame_tree_who(const struct blame_tree *t, const struct blame_node *node, char *buf, size_t size)
{
    char pid[SNAPSHOT_PID_BYTES], name[PS_NAME_BYTES];

    if (node->thing) {
        snprintf(buf, size, "%s", node->thing);
        return;
    }
    ps_known_name(t->vm, &t->known, node->id, name);
    snapshot_pid_text(node->id, pid);
    snprintf(buf, size, "%s%s%s", name, name[0] ? " " : "", pid);
}

static const struct pending *find_work(const struct blame_tree *t, ev_id id)
{
    for (size_t i = 0; i < t->nworks; i++)
        if (t->works[i].id == id)
            return &t->works[i];
    return NULL;
}

static const char *const work_texts[PENDING_NKINDS] = {
    [PENDING_FILE] = "a file operation", [PENDING_NATIVE] = "native", [PENDING_COLLECTION] = "a collection"};

void blame_tree_work(const struct blame_tree *t, const struct blame_node *node, char *buf, size_t size)
{
    const struct snapshot_process *is = ps_known_process(&t->known, node->id);
    const struct pending *work = find_work(t, node->id);
    char place[PS_NAME_BYTES], age[16] = "";

    if (node->thing)
        snprintf(buf, size, "takes no more");
    else if (!is)
        snprintf(buf, size, "has ended, or is not known");
    else if (work) {
        if (work->age_ns)
            sink_format_ns(age, sizeof age, work->age_ns);
        snprintf(buf, size, "in %s%s%s%s%s", work_texts[work->kind], work->what[0] ? ": " : "", work->what,
                 age[0] ? ", for " : "", age);
    } else if (snapshot_place(t->vm->snapshot, is, place, sizeof place))
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

/* ---- branches: those of one name that wait for the same, by who waits for how many, the most first */

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
static size_t gather_branches(const struct blame_tree *t, const struct blame_node *of, struct branch *all, size_t room,
                              uint64_t *rest)
{
    size_t n = 0;

    for (int64_t at = of->child; at >= 0; at = t->waits.nodes[at].sibling) {
        const struct blame_node *node = blame_tree_node(t, at);
        struct branch *branch;
        char name[PS_NAME_BYTES];

        if (node->in_circle)
            continue;
        ps_known_name(t->vm, &t->known, node->id, name);
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
        if (t->now_ns - node->since_ns < branch->held_ns)
            branch->held_ns = t->now_ns - node->since_ns;
    }
    qsort(all, n, sizeof *all, compare_branches);
    return n;
}

/* ---- rows */

struct walker {
    const struct blame_tree *tree;
    void (*take)(void *ctx, const struct blame_row *row);
    void *ctx;
};

static void walk_rest(const struct walker *t, unsigned depth, uint64_t rest)
{
    char text[64];

    if (!rest)
        return;
    snprintf(text, sizeof text, "(%" PRIu64 " others)", rest);
    t->take(t->ctx, &(struct blame_row){.depth = depth, .is_rest = true, .who = text, .does = ""});
}

/* Tells a branch of each name, and what waits for those in turn. */
static void walk_waiters(const struct walker *t, const struct blame_node *of, unsigned depth);

static void walk_branch(const struct walker *t, const struct branch *branch, unsigned depth)
{
    const struct blame_node *node = blame_tree_node(t->tree, branch->first);
    char who[BLAME_WHO_BYTES], does[BLAME_TEXT_BYTES];

    if (branch->processes == 1)
        blame_tree_who(t->tree, node, who, sizeof who);
    else
        snprintf(who, sizeof who, "%" PRIu64 " x %s", branch->processes, branch->name);
    wait_text(node, branch->held_ns, does, sizeof does);
    t->take(t->ctx, &(struct blame_row){.depth = depth, .waiters = branch->waiters, .who = who, .does = does});
    if (branch->processes == 1 && depth < DEEPEST)
        walk_waiters(t, node, depth + 1);
}

static void walk_waiters(const struct walker *t, const struct blame_node *of, unsigned depth)
{
    enum { MOST_BRANCHES = 256 };
    struct branch *all = calloc(MOST_BRANCHES, sizeof *all);
    uint64_t rest = 0;
    size_t n = all ? gather_branches(t->tree, of, all, MOST_BRANCHES, &rest) : 0;

    for (size_t i = 0; i < n; i++)
        if (i < BRANCHES)
            walk_branch(t, &all[i], depth);
        else
            rest += all[i].processes;
    walk_rest(t, depth, rest);
    free(all);
}

static void walk_circle(const struct walker *t, const struct blame_node *first, uint64_t number)
{
    const struct blame_node *node = first;
    char who[BLAME_WHO_BYTES], next[BLAME_WHO_BYTES], does[BLAME_TEXT_BYTES];
    uint64_t shown = 0, rest = 0;

    do {
        const struct blame_node *after = blame_tree_node(t->tree, node->next);

        if (shown++ < CIRCLE) {
            blame_tree_who(t->tree, node, who, sizeof who);
            blame_tree_who(t->tree, after, next, sizeof next);
            snprintf(does, sizeof does, "DEADLOCK: waits for %s", next);
            t->take(t->ctx, &(struct blame_row){
                                .waiters = node->waiters, .circle = number, .who = who, .does = does});
            walk_waiters(t, node, 1);
        } else {
            rest++;
        }
        node = after;
    } while (node != first);
    walk_rest(t, 0, rest);
}

static void walk_root(const struct walker *t, const struct blame_node *root)
{
    char who[BLAME_WHO_BYTES], does[BLAME_TEXT_BYTES];

    blame_tree_who(t->tree, root, who, sizeof who);
    blame_tree_work(t->tree, root, does, sizeof does);
    t->take(t->ctx, &(struct blame_row){.waiters = root->waiters, .who = who, .does = does});
    walk_waiters(t, root, 1);
}

void blame_tree_walk(const struct blame_tree *tree, size_t top,
                     void (*take)(void *ctx, const struct blame_row *row), void *ctx)
{
    const struct walker t = {tree, take, ctx};

    for (size_t i = 0; i < tree->nroots && i < top; i++)
        if (tree->roots[i]->in_circle)
            walk_circle(&t, tree->roots[i], i + 1);
        else
            walk_root(&t, tree->roots[i]);
}

/* ---- all of it */

static int add_work(void *ctx, const struct pending *work)
{
    struct blame_tree *t = ctx;
    int err = array_room((void **)&t->works, t->nworks, &t->room, sizeof *t->works);

    if (!err)
        t->works[t->nworks++] = *work;
    return err;
}

/* A deadlock does not end, so it stands before what may. */
static int compare_roots(const void *a, const void *b)
{
    const struct blame_node *x = *(const struct blame_node *const *)a, *y = *(const struct blame_node *const *)b;

    if (x->in_circle != y->in_circle)
        return x->in_circle ? -1 : 1;
    return x->waiters != y->waiters ? x->waiters < y->waiters ? 1 : -1 : x->id < y->id ? -1 : x->id > y->id;
}

int blame_tree_grow(struct blame_tree *t)
{
    static const bool works[PENDING_NKINDS] = {
        [PENDING_FILE] = true, [PENDING_NATIVE] = true, [PENDING_COLLECTION] = true};
    int err = pending_read(t->vm->snapshot, works, add_work, t);

    t->roots = calloc(t->waits.n + 1, sizeof *t->roots);
    if (err || !t->roots)
        return -ENOMEM;
    for (size_t i = 0; i < t->waits.n; i++) {
        const struct blame_node *node = &t->waits.nodes[i];

        if (node->in_circle ? node->root == (int64_t)i : !node->waits)
            t->roots[t->nroots++] = node;
    }
    qsort(t->roots, t->nroots, sizeof *t->roots, compare_roots);
    return 0;
}

/* Those who wait for it, and for them, whose names are told. */
static int add_names(struct blame_tree *t, const struct blame_node *of, unsigned depth)
{
    unsigned added = 0;
    int err = ps_known_add(&t->known, of->id);

    for (int64_t at = of->child; at >= 0 && !err && added < NAMED; at = t->waits.nodes[at].sibling, added++)
        if (!t->waits.nodes[at].in_circle && depth < DEEPEST)
            err = add_names(t, blame_tree_node(t, at), depth + 1);
    return err;
}

static int add_names_of(struct blame_tree *t, const struct blame_node *root)
{
    const struct blame_node *node = root;
    int err;

    do
        err = add_names(t, node, 0);
    while (!err && root->in_circle && (node = blame_tree_node(t, node->next)) != root);
    return err;
}

int blame_tree_name(struct blame_tree *t, bool all, size_t top)
{
    int err = 0;

    for (size_t i = 0; all && i < t->waits.n && !err; i++)
        err = ps_known_add(&t->known, t->waits.nodes[i].id);
    for (size_t i = 0; !all && i < t->nroots && i < top && !err; i++)
        err = add_names_of(t, t->roots[i]);
    if (!err)
        ps_known_find(&t->known, t->vm);
    return err;
}

void blame_tree_end(struct blame_tree *t)
{
    blame_end(&t->waits);
    ps_known_end(&t->known);
    free(t->works);
    free(t->roots);
}
