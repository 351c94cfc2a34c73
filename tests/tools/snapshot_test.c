/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What is in a node, read from outside, held against what the node says of itself (snapshot_target.erl): this machine's
 * Erlang, erlvm, and what SNAPSHOT_ERLS names ("/path/to/erl ...", of other releases).
 */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "../erlvm_needed.h"
#include "otp/names.h"
#include "otp/snapshot.h"
#include "probe/plan.h"
#include "support.h"

enum { MOST = 4096, MESSAGES = 997, LATE = 89, HELD_WORDS = 23 * 100000 / 8,
       ANSWERING = 50 /* reductions that a process takes to say what it is, at most */,
       WORKERS = 8 };

/* What the node says of a process. */
struct said {
    unsigned number, serial;
    unsigned long long messages, reductions, heap, old_heap, fragments, binaries;
    char status[32], name[256], place[256];
};

struct node {
    int pid, group; /* of the emulator; of what it was started by */
    FILE *in, *out;
    bool ours;
    unsigned processes, atoms;
    struct said said[MOST];
    size_t nsaid;
    struct plan *plan;
    struct names *names;
    struct snapshot *snapshot;
};

struct rows {
    struct snapshot_process all[MOST];
    size_t n;
};

static int keep_row(void *ctx, const struct snapshot_process *p)
{
    struct rows *rows = ctx;

    ck_assert_uint_lt(rows->n, MOST);
    rows->all[rows->n++] = *p;
    return 0;
}

static void read_line(struct node *n, char *line, size_t size)
{
    ck_assert_msg(fgets(line, (int)size, n->out) != NULL, "the node has ended");
}

static void hear(struct node *n)
{
    char line[1024];

    for (read_line(n, line, sizeof line); strcmp(line, "ready\n"); read_line(n, line, sizeof line)) {
        struct said *s = &n->said[n->nsaid];

        ck_assert_uint_lt(n->nsaid, MOST);
        if (sscanf(line, "process <0.%u.%u> %llu %llu %llu %llu %llu %llu %31s %255s %255s", &s->number, &s->serial,
                   &s->messages, &s->reductions, &s->heap, &s->old_heap, &s->fragments, &s->binaries, s->status,
                   s->name, s->place) == 11)
            n->nsaid++;
        else if (!sscanf(line, "atoms %u", &n->atoms))
            sscanf(line, "node %d %u", &n->pid, &n->processes);
    }
}

static void start(struct node *n, const char *erl, const char *call)
{
    int in[2], out[2];
    char eval[256];

    snprintf(eval, sizeof eval,
             "{ok, M, B} = compile:file(\"tests/tools/snapshot_target\", [binary]), code:load_binary(M, \"\", B), %s.",
             call);
    ck_assert_int_eq(pipe(in) | pipe(out), 0);
    n->group = fork();
    if (!n->group) {
        setpgid(0, 0);
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        dup2(in[0], 0);
        dup2(out[1], 1);
        execlp(erl, erl, "-noshell", "-eval", eval, (char *)NULL);
        _exit(127);
    }
    close(in[0]);
    close(out[1]);
    n->in = fdopen(in[1], "w");
    n->out = fdopen(out[0], "r");
    hear(n);
    n->ours = strstr(erl, "erlvm") != NULL;
}

static void look(struct node *n)
{
    struct target target;

    ck_assert_int_eq(target_open_pid(n->pid, &target), 0);
    ck_assert_int_eq(plan_new(&target, true, &n->plan), 0);
    target_close(&target);
    ck_assert_msg(n->plan->vm != NULL, "%s", n->plan->refused);
    n->names = names_new();
    ck_assert_int_eq(names_add(n->names, &n->plan->vm->layout, n->plan->vm->ours), 0);
    ck_assert_int_eq(snapshot_new(n->plan->vm, n->names, &n->snapshot), 0);
}

static void end(struct node *n)
{
    snapshot_free(n->snapshot);
    names_free(n->names);
    plan_free(n->plan);
    kill(n->pid, SIGKILL);
    kill(-n->group, SIGKILL);
    waitpid(n->group, NULL, 0);
    fclose(n->in);
    fclose(n->out);
    free(n);
}

/* The Erlangs that are tried, by number: NULL behind the last. */
static const char *erl_of(int i)
{
    static char erlvm[4096], others[4096];
    const char *build = getenv("BUILD"), *named = getenv("SNAPSHOT_ERLS");
    char *word;

    if (!i)
        return "erl";
    snprintf(erlvm, sizeof erlvm, "%s/erlvm", build ? build : "build");
    if (i == 1)
        return erlvm;
    snprintf(others, sizeof others, "%s", named ? named : "");
    word = strtok(others, " ");
    for (i -= 2; word && i; i--)
        word = strtok(NULL, " ");
    return word;
}

enum { ERLS = 4 };

/* NULL: there is none of this number. */
static struct node *node_start(int i, const char *call)
{
    const char *erl = erl_of(i);
    struct node *n;

    if (!erl)
        return NULL;
    if (i == 1)
        erlvm_needed();
    n = calloc(1, sizeof *n);
    start(n, erl, call);
    look(n);
    return n;
}

static const struct snapshot_process *find_row(const struct rows *rows, const struct said *s)
{
    for (size_t i = 0; i < rows->n; i++)
        if (ev_id_number(rows->all[i].id) == s->number && ev_id_serial(rows->all[i].id) == s->serial)
            return &rows->all[i];
    return NULL;
}

static const struct said *find_said(const struct node *n, const char *name)
{
    for (size_t i = 0; i < n->nsaid; i++)
        if (!strcmp(n->said[i].name, name))
            return &n->said[i];
    ck_abort_msg("the node says of no %s", name);
    return NULL;
}

static struct rows *read_rows(struct node *n, struct snapshot_count *count)
{
    struct rows *rows = calloc(1, sizeof *rows);

    ck_assert_int_eq(snapshot_processes(n->snapshot, keep_row, rows, count), 0);
    ck_assert_uint_eq(rows->n, count->told);
    return rows;
}

static const char *owner_of(struct node *n, const struct snapshot_process *p, char *buf, size_t size)
{
    struct wire_name name;

    return snapshot_owner(n->snapshot, p, &name) ? names_text(n->names, (uint32_t)n->pid, &name, buf, size) : NULL;
}

/* ---- what rests is exact */

/* The few that the node says all this by work on while it does. */
static bool rested(const struct snapshot_process *p, const struct said *s)
{
    return p->reductions >= s->reductions && p->reductions <= s->reductions + ANSWERING;
}

static void assert_row(struct node *n, const struct snapshot_process *p, const struct said *s)
{
    bool frozen = !strcmp(s->name, "frozen"), holder = !strcmp(s->name, "holder");
    char text[512];
    uint64_t atom;

    ck_assert_uint_eq(p->messages, s->messages + (frozen ? LATE : 0));
    ck_assert_msg(!p->more && !p->moved, "%s", s->name);
    ck_assert_msg(p->heap_words == s->heap, "%s (%s): %llu words of heap, not %llu", s->name, s->place,
                  (unsigned long long)p->heap_words, s->heap);
    ck_assert_uint_eq(p->old_heap_words, s->old_heap);
    if (!s->messages) /* else process_info counts the words of messages, too */
        ck_assert_uint_eq(p->fragment_words, s->fragments);
    if (n->ours && holder)
        ck_assert_uint_ge(p->binary_words, HELD_WORDS);
    else if (!n->ours)
        ck_assert_uint_eq(p->binary_words, s->binaries);
    ck_assert_str_eq(snapshot_status_text(p->status), s->status);
    ck_assert_msg(p->hibernated == (strstr(s->place, "hibernate") != NULL), "%s in %s", s->name, s->place);
    ck_assert_int_eq(snapshot_registered(n->snapshot, p, &atom), strcmp(s->name, "nobody") != 0);
    if (strcmp(s->name, "nobody"))
        ck_assert_str_eq(owner_of(n, p, text, sizeof text), s->name);
    ck_assert(snapshot_place(n->snapshot, p, text, sizeof text));
    if (!strcmp(s->name, "sleeper"))
        ck_assert_str_eq(text, "snapshot_target:woken/0");
    else if (!p->hibernated)
        ck_assert_str_eq(text, s->place);
}

START_TEST(test_snapshot_tells_what_a_node_says_of_itself)
{
    struct node *n = node_start(_i, "M:main()");
    struct snapshot_count count;
    struct rows *rows;
    uint64_t atoms, most;
    size_t inits = 0, worked = 0;
    char text[512];

    if (!n)
        return;
    rows = read_rows(n, &count);
    ck_assert_uint_eq(count.told, n->processes);
    ck_assert_uint_eq(count.listed, n->processes);
    ck_assert_uint_eq(count.gone + count.unclear, 0);
    for (size_t i = 0; i < n->nsaid; i++) {
        const struct snapshot_process *p = find_row(rows, &n->said[i]);

        ck_assert_msg(p != NULL, "<0.%u.%u> is not told", n->said[i].number, n->said[i].serial);
        if (rested(p, &n->said[i]))
            assert_row(n, p, &n->said[i]);
        else
            worked++;
    }
    ck_assert_uint_le(worked, WORKERS);
    ck_assert_uint_eq(find_said(n, "box")->messages, MESSAGES);
    ck_assert(find_row(rows, find_said(n, "sleeper"))->hibernated);
    ck_assert_uint_ge(find_row(rows, find_said(n, "holder"))->binary_words, HELD_WORDS);
    for (size_t i = 0; i < rows->n; i++)
        inits += !strcmp(owner_of(n, &rows->all[i], text, sizeof text), "snapshot_target:init/1");
    ck_assert_uint_eq(inits, 1);
    ck_assert_int_eq(snapshot_atoms(n->snapshot, &atoms, &most), 0);
    ck_assert_uint_eq(atoms, n->atoms);
    ck_assert_uint_eq(most, 1 << 20);
    free(rows);
    end(n);
}
END_TEST

Suite *snapshot_suite(void)
{
    Suite *suite = suite_create("snapshot");
    TCase *live = tcase_create("live");

    tcase_set_timeout(live, 120);
    tcase_add_loop_test(live, test_snapshot_tells_what_a_node_says_of_itself, 0, ERLS);
    suite_add_tcase(suite, live);
    return suite;
}
