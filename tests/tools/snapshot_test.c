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
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../erlvm_needed.h"
#include "otp/names.h"
#include "otp/otp_check.h"
#include "otp/snapshot.h"
#include "probe/plan.h"
#include "support.h"

enum { MOST = 4096, MESSAGES = 997, LATE = 89, PORT_BYTES = 1000003, HELD_WORDS = 23 * 100000 / 8,
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
    bool ours, ended;
    unsigned processes, atoms, ports, schedulers[3];
    struct said said[MOST], busy[4]; /* busy: of them only number and name are said */
    size_t nsaid, nbusy;
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

static int stop_after(void *ctx, const struct snapshot_process *p)
{
    int *left = ctx;

    (void)p;
    return --*left ? 0 : -ECANCELED;
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
        else if (sscanf(line, "busy %u %u %31s", &s->number, &s->serial, s->name) == 3)
            n->nbusy++, n->busy[n->nbusy - 1] = *s;
        else if (!sscanf(line, "atoms %u", &n->atoms))
            sscanf(line, "node %d %u %u %u %u %u", &n->pid, &n->processes, &n->ports, &n->schedulers[0],
                   &n->schedulers[1], &n->schedulers[2]);
    }
}

/* `source`: the folder that the node finds its module in. It leaves its core in `dir`, unless that is NULL. */
static void start(struct node *n, const char *erl, const char *source, const char *dir, const char *call)
{
    const struct rlimit all = {RLIM_INFINITY, RLIM_INFINITY};
    char eval[4500], path[4096];
    int in[2], out[2];

    snprintf(eval, sizeof eval,
             "{ok, M, B} = compile:file(\"%s/snapshot_target\", [binary]), code:load_binary(M, \"\", B), %s.",
             source, call);
    if (!strchr(erl, '/'))
        strcpy(path, erl); /* of PATH */
    else
        ck_assert_ptr_ne(realpath(erl, path), NULL);
    ck_assert_int_eq(pipe(in) | pipe(out), 0);
    n->group = fork();
    if (!n->group) {
        setpgid(0, 0);
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        dup2(in[0], 0);
        dup2(out[1], 1);
        if (dir && (chdir(dir) || setrlimit(RLIMIT_CORE, &all)))
            _exit(126);
        execlp(path, erl, "-noshell", "-eval", eval, (char *)NULL);
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
    if (!n->ended)
        kill(n->pid, SIGKILL);
    if (!n->ended || n->pid != n->group)
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
static struct node *node_start_in(const char *dir, int i, const char *call)
{
    const char *erl = erl_of(i);
    char here[4000], source[4096];
    struct node *n;

    if (!erl)
        return NULL;
    if (i == 1)
        erlvm_needed();
    n = calloc(1, sizeof *n);
    ck_assert_ptr_ne(getcwd(here, sizeof here), NULL);
    snprintf(source, sizeof source, "%s/tests/tools", i < 2 ? here : "."); /* others are in a root of their own */
    start(n, erl, source, dir, call);
    look(n);
    return n;
}

static struct node *node_start(int i, const char *call)
{
    return node_start_in(NULL, i, call);
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
    for (size_t i = 0; i < n->nbusy; i++)
        if (!strcmp(n->busy[i].name, name))
            return &n->busy[i];
    ck_abort_msg("the node says of no %s", name);
    return NULL;
}

static struct rows *read_rows(struct node *n, struct snapshot_count *count)
{
    struct rows *rows = calloc(1, sizeof *rows);

    ck_assert_int_eq(snapshot_processes(n->snapshot, keep_row, rows, count), 0);
    ck_assert_uint_eq(rows->n, count->read);
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

/* The target's own, which nobody wakes. */
static bool of_ours(const struct said *s)
{
    return strstr(s->place, "snapshot_target") || !strcmp(s->name, "sleeper");
}

static void assert_memory(const struct node *n, const struct snapshot_process *p, const struct said *s)
{
    ck_assert_msg(p->heap_words == s->heap, "%s (%s): %llu words of heap, not %llu", s->name, s->place,
                  (unsigned long long)p->heap_words, s->heap);
    ck_assert_uint_eq(p->old_heap_words, s->old_heap);
    if (!s->messages) /* else process_info counts the words of messages, too */
        ck_assert_uint_eq(p->fragment_words, s->fragments);
    if (n->ours && !strcmp(s->name, "holder"))
        ck_assert_uint_ge(p->binary_words, HELD_WORDS);
    else if (!n->ours)
        ck_assert_uint_eq(p->binary_words, s->binaries);
}

static void assert_row(struct node *n, const struct snapshot_process *p, const struct said *s)
{
    bool frozen = !strcmp(s->name, "frozen");
    char text[512];
    uint64_t atom;

    if (of_ours(s) || frozen)
        ck_assert_uint_eq(p->messages, s->messages + (frozen ? LATE : 0));
    else /* one of OTP's own may have got one since, and not run yet */
        ck_assert_uint_ge(p->messages, s->messages);
    ck_assert_msg(!p->more && !p->moved, "%s", s->name);
    if (of_ours(s)) { /* OTP's own may have collected since, or hibernate */
        assert_memory(n, p, s);
        ck_assert_msg(p->hibernated == (strstr(s->place, "hibernate") != NULL), "%s in %s", s->name, s->place);
    }
    ck_assert_str_eq(snapshot_status_text(p->status), s->status);
    ck_assert_int_eq(snapshot_registered(n->snapshot, p, &atom), strcmp(s->name, "nobody") != 0);
    if (strcmp(s->name, "nobody"))
        ck_assert_str_eq(owner_of(n, p, text, sizeof text), s->name);
    ck_assert(snapshot_place(n->snapshot, p, text, sizeof text));
    if (!strcmp(s->name, "sleeper"))
        ck_assert_str_eq(text, "snapshot_target:woken/0");
    else if (!p->hibernated && (of_ours(s) || !strstr(text, "hibernate"))) /* OTP's own may be about to */
        ck_assert_str_eq(text, s->place);
}

struct schedulers {
    unsigned count[3], ones[3]; /* by type; of those with number 1 */
    bool spins;                 /* one runs it */
    ev_id spinner;
};

static int count_scheduler(void *ctx, const struct snapshot_scheduler *scheduler)
{
    struct schedulers *all = ctx;

    all->count[scheduler->type]++;
    all->ones[scheduler->type] += scheduler->number == 1;
    all->spins |= scheduler->running == all->spinner;
    return 0;
}

/* The one that spins runs somewhere whenever somebody looks, but while it is being scheduled. */
static void assert_schedulers(struct node *n)
{
    const struct said *spinner = find_said(n, "spinner");
    struct schedulers all = {.spinner = ev_id_of_pid(spinner->number, spinner->serial)};

    for (int i = 0; i < 1000 && !all.spins; i++) {
        memset(all.count, 0, sizeof all.count);
        memset(all.ones, 0, sizeof all.ones);
        ck_assert_int_eq(snapshot_schedulers(n->snapshot, count_scheduler, &all), 0);
        for (int type = 0; type < 3; type++) {
            ck_assert_uint_eq(all.count[type], n->schedulers[type]);
            ck_assert_uint_eq(all.ones[type], n->schedulers[type] > 0);
        }
        usleep(1000);
    }
    ck_assert(all.spins);
}

struct ports {
    struct node *node;
    unsigned count, sleeps;
    ev_id holder;
};

static int count_port(void *ctx, const struct snapshot_port *port)
{
    struct ports *all = ctx;
    char name[256];

    all->count++;
    ck_assert(snapshot_port_name(all->node->snapshot, port, name, sizeof name));
    if (strncmp(name, "sh -c 'while", 12))
        return 0;
    all->sleeps++;
    ck_assert_uint_eq(port->owner, all->holder);
    ck_assert_uint_eq(port->written_bytes, PORT_BYTES);
    ck_assert_uint_gt(port->queued_bytes, 0); /* nobody reads them; a pipe takes some */
    ck_assert_uint_lt(port->queued_bytes, PORT_BYTES);
    ck_assert(port->busy && !port->closing);
    return 0;
}

static void assert_ports(struct node *n)
{
    const struct said *main = find_said(n, "main");
    struct ports all = {.node = n, .holder = ev_id_of_pid(main->number, main->serial)};
    struct snapshot_count count;

    ck_assert_int_eq(snapshot_ports(n->snapshot, count_port, &all, &count), 0);
    ck_assert_uint_eq(all.count, n->ports);
    ck_assert_uint_eq(count.read, n->ports);
    ck_assert_uint_eq(count.listed, n->ports);
    ck_assert_uint_eq(all.sleeps, 1);
}

START_TEST(test_snapshot_tells_what_a_node_says_of_itself)
{
    struct node *n = node_start(_i, "M:main()");
    struct snapshot_count count;
    struct rows *rows;
    uint64_t atoms, most;
    size_t inits = 0, tagged = 0, worked = 0;
    char text[512];

    if (!n)
        return;
    rows = read_rows(n, &count);
    ck_assert_uint_eq(count.read, n->processes);
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
    for (size_t i = 0; i < rows->n; i++) {
        inits += !strcmp(owner_of(n, &rows->all[i], text, sizeof text), "snapshot_target:init/1");
        tagged += !strcmp(text, "{tagged,...}");
    }
    ck_assert_uint_eq(inits, 1);
    ck_assert_uint_eq(tagged, 1);
    ck_assert_int_eq(snapshot_atoms(n->snapshot, &atoms, &most), 0);
    ck_assert_uint_eq(atoms, n->atoms);
    ck_assert_uint_eq(most, 1 << 20);
    assert_schedulers(n);
    assert_ports(n);
    free(rows);
    end(n);
}
END_TEST

/* ---- what changes, hangs, ends */

static int compare_ids(const void *a, const void *b)
{
    const struct snapshot_process *x = a, *y = b;

    return x->id < y->id ? -1 : x->id > y->id;
}

/* Nobody is told twice, who rests each time, and the others are called what they are. */
static void assert_true(struct node *n, struct rows *rows)
{
    char text[512];
    size_t known = 0;

    qsort(rows->all, rows->n, sizeof *rows->all, compare_ids);
    for (size_t i = 1; i < rows->n; i++)
        ck_assert_uint_ne(rows->all[i].id, rows->all[i - 1].id);
    for (size_t i = 0; i < n->nsaid; i++)
        known += find_row(rows, &n->said[i]) != NULL;
    ck_assert_uint_eq(known, n->nsaid);
    for (size_t i = 0; i < rows->n; i++) {
        const char *owner = owner_of(n, &rows->all[i], text, sizeof text);
        bool said = false;

        for (size_t j = 0; j < n->nsaid && !said; j++)
            said = ev_id_number(rows->all[i].id) == n->said[j].number &&
                   ev_id_serial(rows->all[i].id) == n->said[j].serial;
        ck_assert_msg(said || !owner || !strncmp(owner, "snapshot_target:", 16) || !strcmp(owner, "spinner") ||
                          !strcmp(owner, "erlang:apply/2") || strstr(owner, "-fun-") || !strcmp(owner, "init:start_it/1"),
                      "%s", owner);
    }
}

START_TEST(test_snapshot_tells_who_is_there_while_others_come_and_go)
{
    enum { READINGS = 50, BORN = 30 };
    struct node *n = node_start(_i, "M:main()");
    struct snapshot_count count;
    struct rows *rows;
    char line[64];

    if (!n)
        return;
    fputs("more\n", n->in);
    fflush(n->in);
    read_line(n, line, sizeof line);
    for (int i = 0; i < READINGS; i++) {
        rows = read_rows(n, &count);
        assert_true(n, rows);
        ck_assert_uint_le(count.unclear, 1); /* a thread may be preempted while it gives a process another heap */
        ck_assert_uint_ge(count.read, n->processes);
        ck_assert_uint_le(count.read, n->processes + 1 + 2 * BORN);
        free(rows);
    }
    end(n);
}
END_TEST

/* Opened only when it is stopped, too. */
START_TEST(test_snapshot_tells_of_a_node_that_is_stopped)
{
    struct node *n = node_start(_i, "M:main()");
    struct snapshot_count count;
    struct rows *rows;

    if (!n)
        return;
    kill(n->pid, SIGSTOP);
    for (int i = 0; i < 2; i++) {
        rows = read_rows(n, &count);
        ck_assert_uint_eq(count.read, n->processes);
        assert_true(n, rows);
        free(rows);
        snapshot_free(n->snapshot);
        names_free(n->names);
        plan_free(n->plan);
        look(n);
    }
    kill(n->pid, SIGCONT);
    end(n);
}
END_TEST

static int end_node(void *ctx, const struct snapshot_process *p)
{
    struct node *n = ctx;

    (void)p;
    if (n->ended)
        return 0;
    n->ended = true;
    kill(n->pid, SIGKILL);
    if (n->pid == n->group)
        waitpid(n->group, NULL, 0);
    while (!kill(n->pid, 0))
        usleep(1000);
    return 0;
}

START_TEST(test_snapshot_says_when_the_node_ends_under_it)
{
    struct node *n = node_start(_i, "M:main()");
    struct snapshot_count count;
    struct rows *rows;
    char text[512];

    if (!n)
        return;
    rows = read_rows(n, &count);
    ck_assert_int_eq(snapshot_processes(n->snapshot, end_node, n, &count), -ESRCH);
    ck_assert_uint_gt(count.read, 0);
    ck_assert(!owner_of(n, &rows->all[0], text, sizeof text));
    ck_assert(!snapshot_place(n->snapshot, &rows->all[0], text, sizeof text));
    ck_assert_int_eq(snapshot_processes(n->snapshot, end_node, n, &count), -ESRCH);
    ck_assert_uint_eq(count.read, 0);
    free(rows);
    end(n);
}
END_TEST

START_TEST(test_snapshot_ends_when_it_is_told_to)
{
    struct node *n = node_start(_i, "M:main()");

    if (!n)
        return;
    struct snapshot_count count;
    int left = 3;

    ck_assert_int_eq(snapshot_processes(n->snapshot, stop_after, &left, &count), -ECANCELED);
    ck_assert_uint_eq(count.read, 3);
    end(n);
}
END_TEST

/* ---- what a node has left */

/* The core of a node that SIGABRT ended: in its folder, where this machine leaves them so. */
static bool find_core(const char *dir, int pid, char *path, size_t size)
{
    struct stat st;

    snprintf(path, size, "%s/core", dir);
    if (!stat(path, &st))
        return true;
    snprintf(path, size, "%s/core.%d", dir, pid);
    return !stat(path, &st);
}

struct named {
    struct snapshot_process row;
    char owner[512], place[512];
};

/* Owner and place of each. */
static struct named *name_rows(struct snapshot *s, struct names *names, uint32_t vm, const struct rows *rows)
{
    struct named *all = calloc(MOST, sizeof *all);
    struct wire_name name;

    for (size_t i = 0; i < rows->n; i++) {
        char buf[512];

        all[i].row = rows->all[i];
        if (snapshot_owner(s, &rows->all[i], &name))
            snprintf(all[i].owner, sizeof all[i].owner, "%s", names_text(names, vm, &name, buf, sizeof buf));
        ck_assert(snapshot_place(s, &rows->all[i], all[i].place, sizeof all[i].place));
    }
    return all;
}

static void remove_folder(const char *dir)
{
    char command[128];

    snprintf(command, sizeof command, "rm -r %s", dir);
    ck_assert_int_eq(system(command), 0);
}

/* What rested is told from the core as it was told when the node lived. */
static void assert_core(struct node *n, const struct rows *rows, const struct named *told, const char *core)
{
    struct names *names = names_new();
    struct rows *later = calloc(1, sizeof *later);
    struct snapshot_count count;
    struct memory *memory;
    struct snapshot *s;
    struct named *again;
    struct otp_vm *vm;
    char why[512];
    size_t rested = 0;
    int err = otp_vm_new_core(core, NULL, &vm, &memory, why, sizeof why);

    ck_assert_msg(!err, "%s", why);
    ck_assert_uint_eq(vm->layout.vm, n->pid);
    ck_assert_int_eq(names_add_memory(names, &vm->layout, vm->ours, memory), 0);
    ck_assert_int_eq(snapshot_new(vm, names, &s), 0);
    ck_assert_int_eq(snapshot_processes(s, keep_row, later, &count), 0);
    ck_assert_uint_eq(count.read, n->processes);
    ck_assert_uint_eq(count.gone + count.unclear, 0);
    again = name_rows(s, names, vm->layout.vm, later);
    for (size_t i = 0; i < rows->n; i++) {
        if (told[i].row.reductions != again[i].row.reductions || told[i].row.status == SNAPSHOT_RUNNING)
            continue;
        rested++;
        ck_assert_uint_eq(told[i].row.id, again[i].row.id);
        ck_assert_uint_eq(told[i].row.messages, again[i].row.messages);
        ck_assert_uint_eq(told[i].row.heap_words, again[i].row.heap_words);
        ck_assert_str_eq(told[i].owner, again[i].owner);
        ck_assert_str_eq(told[i].place, again[i].place);
    }
    ck_assert_uint_gt(rested, rows->n - WORKERS);
    snapshot_free(s);
    names_free(names);
    otp_vm_free(vm);
    free(later);
    free(again);
}

/* Of a core that was cut short less is told, or why not. */
static void assert_cut_cores(const char *core)
{
    struct stat st;
    char why[512];

    ck_assert_int_eq(stat(core, &st), 0);
    for (off_t size = st.st_size * 15 / 16; size > 100; size = size * 3 / 5) {
        struct otp_vm *vm = NULL;
        struct memory *memory;

        ck_assert_int_eq(truncate(core, size), 0);
        why[0] = '\0';
        if (!otp_vm_new_core(core, NULL, &vm, &memory, why, sizeof why)) {
            memory_close(memory);
            otp_vm_free(vm);
        } else {
            ck_assert(why[0] && !strchr(why, '\n'));
        }
    }
}

static void assert_refused(const char *core, const char *executable, const char *because)
{
    struct otp_vm *vm;
    struct memory *memory;
    char why[512];

    ck_assert_int_ne(otp_vm_new_core(core, executable, &vm, &memory, why, sizeof why), 0);
    ck_assert_msg(strstr(why, because) != NULL, "%s", why);
}

START_TEST(test_snapshot_of_a_core_tells_what_the_node_told)
{
    char dir[] = "/tmp/erlsnoop-core-XXXXXX", core[64];
    struct snapshot_count count;
    struct named *told;
    struct rows *rows;
    struct node *n;

    ck_assert_ptr_ne(mkdtemp(dir), NULL);
    n = node_start_in(dir, _i, "M:main()");
    rows = read_rows(n, &count);
    told = name_rows(n->snapshot, n->names, (uint32_t)n->pid, rows);
    kill(n->pid, SIGABRT);
    waitpid(n->group, NULL, 0);
    n->ended = true;
    if (find_core(dir, n->pid, core, sizeof core)) {
        assert_core(n, rows, told, core);
        assert_refused(core, "/bin/true", "/bin/true");
        assert_refused("/bin/true", NULL, "no core file");
        assert_cut_cores(core);
    } else {
        printf("SKIP %s: /proc/sys/kernel/core_pattern leads cores elsewhere\n", __func__);
    }
    end(n);
    free(told);
    free(rows);
    remove_folder(dir);
}
END_TEST

/* ---- a VM that lies: a table of processes as OTP 27 lays it out, in this process */

enum { FAKE_SIZE = 1 << 20, GUARD = 4096, SLOT_COUNT = 1024, PTAB = 0x1000, TABLE = 0x2000, SIGNALS = 0x8000, FIRST = 0x10000,
       FAKE_ATOMS = 0x60000 };

static struct otp_vm fake;
static char *fake_memory;

static uint64_t fake_at(uint64_t offset)
{
    return (uint64_t)(uintptr_t)fake_memory + offset;
}

static void put(uint64_t offset, uint64_t word, size_t size)
{
    ck_assert_uint_le(offset + size, FAKE_SIZE);
    memcpy(fake_memory + offset, &word, size);
}

static uint64_t process_at(unsigned slot)
{
    return FIRST + 0x400 * (uint64_t)slot;
}

static void put_member(unsigned slot, enum otp_field field, uint64_t word, size_t size)
{
    put(process_at(slot) + fake.layout.off[field], word, size);
}

/* SLOT_COUNT slots, of which each fourth holds a process of 100 words of heap and `slot` messages. */
static void lay_fake(void)
{
    const uint16_t *off = fake.layout.off;

    fake_memory = mmap(NULL, FAKE_SIZE + GUARD, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    ck_assert_ptr_ne(fake_memory, MAP_FAILED);
    ck_assert_int_eq(munmap(fake_memory + FAKE_SIZE, GUARD), 0);
    fake = (struct otp_vm){.layout = {.vm = (uint32_t)getpid(), .release = 27, .procs = fake_at(PTAB),
                                      .atoms = fake_at(FAKE_ATOMS), .packing = {.data_mask = ~0ull,
                                      .pix_mask = SLOT_COUNT - 1, .cl_mask = SLOT_COUNT - 1, .number_bits = 28}}};
    memcpy(fake.layout.off, otp_layout_find(27, true, false), OTP_NFIELDS * sizeof *off);
    put(PTAB + off[OTP_PTAB_TAB], fake_at(TABLE), 8);
    put(PTAB + off[OTP_PTAB_MAX], SLOT_COUNT, 4);
    put(PTAB + off[OTP_PTAB_COUNT], SLOT_COUNT / 4, 4);
    put(PTAB + off[OTP_PTAB_INVALID], fake_at(8), 8);
    for (unsigned slot = 0; slot < SLOT_COUNT; slot += 4) {
        put(TABLE + 8 * (uint64_t)slot, fake_at(process_at(slot / 4)), 8);
        put_member(slot / 4, OTP_PROC_ID, (uint64_t)slot << 4 | OTP_TAG_PID, 8);
        put_member(slot / 4, OTP_PROC_HEAP, 0x1000, 8);
        put_member(slot / 4, OTP_PROC_HEND, 0x1000 + 800, 8);
        put_member(slot / 4, OTP_PROC_MQ_LEN, slot, 8);
    }
}

struct lie {
    void (*lay)(void);
    int err;
    uint64_t told, gone, unclear;
};

static void lay_nothing(void)
{
}

static void lay_one_process_in_all_slots(void)
{
    for (unsigned slot = 0; slot < SLOT_COUNT; slot++)
        put(TABLE + 8 * (uint64_t)slot, fake_at(process_at(1)), 8);
}

static void lay_wild_pointers(void)
{
    for (unsigned slot = 0; slot < SLOT_COUNT; slot += 8)
        put(TABLE + 8 * (uint64_t)slot, slot % 16 ? 0x7fffffff0000 : UINT64_MAX - 5, 8);
}

static void lay_heaps_that_end_before_they_begin(void)
{
    for (unsigned i = 0; i < 10; i++)
        put_member(i, OTP_PROC_HEND, 8, 8);
}

static void lay_numbers_beyond_all_bounds(void)
{
    put_member(0, OTP_PROC_MQ_LEN, 1ull << 60, 8);
    put_member(1, OTP_PROC_BINARIES, UINT64_MAX, 8);
    put_member(2, OTP_PROC_FRAGMENTS, UINT64_MAX / 2, 8);
    put_member(3, OTP_PROC_OLD_HEND, UINT64_MAX, 8);
}

static void lay_a_table_that_goes_on_beyond_its_memory(void)
{
    put(PTAB + fake.layout.off[OTP_PTAB_MAX], UINT32_MAX, 4);
}

static void lay_a_table_that_is_nowhere(void)
{
    put(PTAB + fake.layout.off[OTP_PTAB_TAB], UINT64_MAX - 7, 8);
}

static void lay_the_free(void)
{
    for (unsigned i = 0; i < 5; i++)
        put_member(i, OTP_PROC_STATE, 1u << fake.layout.off[OTP_STATE_FREE], 4);
}

/* Each has two messages before it, and leads to itself. */
static void lay_signals_without_end(void)
{
    for (unsigned i = 0; i < 7; i++)
        put_member(i, OTP_PROC_OUTER_SIGNALS, fake_at(SIGNALS), 8);
    put(SIGNALS, fake_at(SIGNALS + 64), 8);
    put(SIGNALS + 64 + fake.layout.off[OTP_SIGNAL_NEXT], fake_at(SIGNALS), 8);
    put(SIGNALS + 64 + fake.layout.off[OTP_SIGNAL_MESSAGES], 2, 8);
}

static const struct lie lies[] = {
    {lay_nothing, 0, 256, 0, 0},
    {lay_one_process_in_all_slots, 0, 1, 0, SLOT_COUNT - 1},
    {lay_wild_pointers, 0, 128, 128, 0},
    {lay_heaps_that_end_before_they_begin, 0, 246, 0, 10},
    {lay_numbers_beyond_all_bounds, 0, 252, 0, 4},
    {lay_a_table_that_goes_on_beyond_its_memory, -ESRCH, 0, 0, 0},
    {lay_a_table_that_is_nowhere, -ESRCH, 0, 0, 0},
    {lay_the_free, 0, 251, 5, 0},
    {lay_signals_without_end, 0, 256, 0, 0},
};

START_TEST(test_snapshot_of_a_vm_that_lies_is_bounded)
{
    const struct lie *lie = &lies[_i];
    struct rows *rows = calloc(1, sizeof *rows);
    struct snapshot_count count;
    struct snapshot *s;
    struct names *names = names_new();
    size_t more = 0;
    char text[512];

    lay_fake();
    lie->lay();
    ck_assert_int_eq(names_add(names, &fake.layout, NULL), 0);
    ck_assert_int_eq(snapshot_new(&fake, names, &s), 0);
    ck_assert_int_eq(snapshot_processes(s, keep_row, rows, &count), lie->err);
    if (!lie->err) {
        ck_assert_uint_eq(count.read, lie->told);
        ck_assert_uint_eq(count.gone, lie->gone);
        ck_assert_uint_eq(count.unclear, lie->unclear);
    }
    for (size_t i = 0; i < rows->n; i++) {
        struct wire_name name;

        more += rows->all[i].more;
        ck_assert_uint_eq(rows->all[i].heap_words, 100);
        if (!rows->all[i].more)
            ck_assert_uint_eq(rows->all[i].messages, ev_id_number(rows->all[i].id));
        snapshot_owner(s, &rows->all[i], &name);
        ck_assert(snapshot_place(s, &rows->all[i], text, sizeof text));
    }
    ck_assert_uint_eq(more, lie->lay == lay_signals_without_end ? 7 : 0);
    snapshot_free(s);
    names_free(names);
    free(rows);
}
END_TEST

Suite *snapshot_suite(void)
{
    Suite *suite = suite_create("snapshot");
    TCase *live = tcase_create("live"), *lying = tcase_create("lies");

    tcase_add_loop_test(lying, test_snapshot_of_a_vm_that_lies_is_bounded, 0, sizeof lies / sizeof *lies);
    suite_add_tcase(suite, lying);

    tcase_set_timeout(live, 120);
    tcase_add_loop_test(live, test_snapshot_tells_what_a_node_says_of_itself, 0, ERLS);
    tcase_add_loop_test(live, test_snapshot_tells_who_is_there_while_others_come_and_go, 0, ERLS);
    tcase_add_loop_test(live, test_snapshot_tells_of_a_node_that_is_stopped, 0, ERLS);
    tcase_add_loop_test(live, test_snapshot_says_when_the_node_ends_under_it, 0, ERLS);
    tcase_add_loop_test(live, test_snapshot_ends_when_it_is_told_to, 0, ERLS);
    tcase_add_loop_test(live, test_snapshot_of_a_core_tells_what_the_node_told, 0, 2); /* whose cores are this machine's */
    suite_add_tcase(suite, live);
    return suite;
}
