/* SPDX-License-Identifier: Apache-2.0 */
/* Invariant: whatever a VM's memory says, no more is remembered than there is room for; what was left is counted. */
#include "evidence.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/array.h"
#include "common/clock.h"
#include "otp/names.h"
#include "target/target.h"

enum {
    WORD = 8,
    WORTH_BYTES = 1 << 20, /* of memory, or of binaries */
    WORTH_LOOKS = 10,      /* so long it is remembered without being worth it */
    MOST_REMEMBERED = 1 << 18,
    MOST_KNOWN = 1 << 24,
};

struct evidence_known {
    ev_id id, parent;
};

struct look {
    struct evidence *e;
    struct evidence_moment now;
    struct evidence_known *known;
    size_t n, room;
    uint64_t running;
};

struct evidence *evidence_new(uint32_t vm, struct names *names, struct snapshot *snapshot)
{
    struct evidence *e = calloc(1, sizeof *e);

    if (!e)
        return NULL;
    *e = (struct evidence){.vm = vm, .names = names, .snapshot = snapshot};
    pending_known(snapshot, e->has_open);
    return e;
}

void evidence_free(struct evidence *e)
{
    struct evidence_process *process, *next_process;
    struct evidence_parent *parent, *next_parent;
    struct evidence_port *port, *next_port;
    struct evidence_open *open, *next_open;

    if (!e)
        return;
    HASH_ITER(hh, e->processes, process, next_process) {
        HASH_DEL(e->processes, process);
        free(process);
    }
    HASH_ITER(hh, e->parents, parent, next_parent) {
        HASH_DEL(e->parents, parent);
        free(parent);
    }
    HASH_ITER(hh, e->ports, port, next_port) {
        HASH_DEL(e->ports, port);
        free(port);
    }
    HASH_ITER(hh, e->open, open, next_open) {
        HASH_DEL(e->open, open);
        free(open);
    }
    free(e->known);
    free(e);
}

double evidence_seconds(const struct evidence *e)
{
    return e->last.ns > e->first.ns ? (double)(e->last.ns - e->first.ns) / 1e9 : 1e-9;
}

bool evidence_threads(const struct evidence *e, double *ran, double *waited)
{
    *ran = ((double)e->last.ran_ns - (double)e->first.ran_ns) / 1e9;
    *waited = ((double)e->last.waited_ns - (double)e->first.waited_ns) / 1e9;
    return e->first.has_threads && e->last.has_threads && *ran >= 0 && *waited >= 0;
}

/* ---- processes */

static uint64_t memory_of(const struct snapshot_process *is)
{
    return (is->heap_words + is->old_heap_words + is->fragment_words) * WORD;
}

static bool is_worth(const struct snapshot_process *is)
{
    return is->messages || is->status != SNAPSHOT_WAITING || memory_of(is) >= WORTH_BYTES ||
           is->binary_words * WORD >= WORTH_BYTES;
}

static void count_status(struct evidence_process *p, const struct snapshot_process *is)
{
    unsigned *const looks[] = {
        [SNAPSHOT_WAITING] = &p->waiting,     [SNAPSHOT_RUNNABLE] = &p->runnable,     [SNAPSHOT_RUNNING] = &p->running,
        [SNAPSHOT_SUSPENDED] = &p->suspended, [SNAPSHOT_COLLECTING] = &p->collecting, [SNAPSHOT_EXITING] = &p->exiting};

    ++*looks[is->status];
    p->ignoring += is->status == SNAPSHOT_WAITING && is->messages > 0;
    p->skipping += is->skips && is->messages > 0;
}

static void see_again(struct evidence_process *p, const struct snapshot_process *is)
{
    bool runs = is->status == SNAPSHOT_RUNNING && !is->dirty;

    p->grew += is->messages > p->last.messages;
    p->kept += p->looks && is->first_message && is->first_message == p->last.first_message;
    p->stuck = p->looks && runs && p->last.status == SNAPSHOT_RUNNING && p->last.reductions == is->reductions
                   ? p->stuck + 1
                   : 0;
    if (p->stuck > p->longest_stuck)
        p->longest_stuck = p->stuck;
    if (is->messages > p->most_messages)
        p->most_messages = is->messages;
    if (is->messages < p->least_messages)
        p->least_messages = is->messages;
    count_status(p, is);
    p->last = *is;
    p->looks++;
}

static int remember(struct evidence *e, const struct snapshot_process *is, uint64_t now_ns)
{
    struct evidence_process *p;
    bool worth = is_worth(is);

    HASH_FIND(hh, e->processes, &is->id, sizeof is->id, p);
    if (!p && !worth)
        return 0;
    if (!p && HASH_COUNT(e->processes) >= MOST_REMEMBERED) {
        e->left++;
        return 0;
    }
    if (!p) {
        p = calloc(1, sizeof *p);
        if (!p)
            return -ENOMEM;
        *p = (struct evidence_process){
            .id = is->id, .first = *is, .last = *is, .first_ns = now_ns, .least_messages = is->messages};
        HASH_ADD(hh, e->processes, id, sizeof p->id, p);
        if (!table_has(p)) {
            free(p);
            return -ENOMEM;
        }
    }
    see_again(p, is);
    p->seen = e->looks;
    p->worth = worth ? e->looks : p->worth;
    return 0;
}

static int compare_known(const void *a, const void *b)
{
    const struct evidence_known *x = a, *y = b;

    return x->id < y->id ? -1 : x->id > y->id;
}

/* NULL, with e->left counted: there is no room. Fails: -ENOMEM in *err. */
static struct evidence_parent *add_parent(struct evidence *e, ev_id id, int *err)
{
    struct evidence_parent *parent;

    *err = 0;
    HASH_FIND(hh, e->parents, &id, sizeof id, parent);
    if (parent)
        return parent;
    if (HASH_COUNT(e->parents) >= MOST_REMEMBERED) {
        e->left++;
        return NULL;
    }
    parent = calloc(1, sizeof *parent);
    if (parent) {
        parent->id = id;
        HASH_ADD(hh, e->parents, id, sizeof parent->id, parent);
    }
    if (parent && table_has(parent))
        return parent;
    free(parent);
    *err = -ENOMEM;
    return NULL;
}

static int count_birth(struct evidence *e, const struct snapshot_process *is)
{
    int err;
    struct evidence_parent *parent = add_parent(e, is->parent, &err);

    if (!parent)
        return err;
    if (!parent->births || memory_of(is) <= memory_of(&parent->child))
        parent->child = *is;
    parent->births++;
    return 0;
}

/* Of one that has ended. */
static void count_death(struct evidence *e, const struct evidence_known *known)
{
    struct evidence_parent *parent;

    HASH_FIND(hh, e->parents, &known->parent, sizeof known->parent, parent);
    if (parent)
        parent->deaths++;
}

static void see_parent(struct evidence *e, const struct snapshot_process *is)
{
    struct evidence_parent *parent;

    HASH_FIND(hh, e->parents, &is->id, sizeof is->id, parent);
    if (!parent)
        return;
    parent->is = *is;
    parent->lives = true;
}

static int take_process(void *ctx, const struct snapshot_process *is)
{
    struct look *look = ctx;
    struct evidence *e = look->e;
    bool knew = e->known &&
                bsearch(&(struct evidence_known){.id = is->id}, e->known, e->nknown, sizeof *e->known, compare_known);
    int err = 0;

    look->now.memory += memory_of(is);
    look->running += is->status == SNAPSHOT_RUNNING || is->status == SNAPSHOT_COLLECTING;
    if (look->n >= MOST_KNOWN) {
        e->left++;
        return 0;
    }
    err = array_room((void **)&look->known, look->n, &look->room, sizeof *look->known);
    if (err)
        return err;
    look->known[look->n++] = (struct evidence_known){is->id, is->parent};
    err = e->looks && !knew ? count_birth(e, is) : 0;
    see_parent(e, is);
    return err ? err : remember(e, is, look->now.ns);
}

/* Those that have ended, or have long not been worth it, are of no further interest. */
static void forget(struct evidence *e)
{
    struct evidence_process *p, *next;

    HASH_ITER(hh, e->processes, p, next) {
        if (p->seen != e->looks || e->looks - p->worth > WORTH_LOOKS) {
            HASH_DEL(e->processes, p);
            free(p);
        }
    }
}

static void keep_known(struct evidence *e, struct look *look)
{
    if (look->n)
        qsort(look->known, look->n, sizeof *look->known, compare_known);
    for (size_t i = 0, k = 0; i < e->nknown; i++) {
        while (k < look->n && look->known[k].id < e->known[i].id)
            k++;
        if (k == look->n || look->known[k].id != e->known[i].id)
            count_death(e, &e->known[i]);
    }
    free(e->known);
    e->known = look->known;
    e->nknown = look->n;
    look->known = NULL;
}

/* ---- ports, schedulers, what is under way */

static int take_port(void *ctx, const struct snapshot_port *is)
{
    struct look *look = ctx;
    struct evidence *e = look->e;
    struct evidence_port *port;
    uint64_t waiting = is->queued_bytes + is->command_bytes;

    look->now.ports++;
    if (!is->busy && !is->full)
        return 0;
    HASH_FIND(hh, e->ports, &is->id, sizeof is->id, port);
    if (!port && HASH_COUNT(e->ports) >= MOST_REMEMBERED) {
        e->left++;
        return 0;
    }
    if (!port) {
        port = calloc(1, sizeof *port);
        if (!port)
            return -ENOMEM;
        port->id = is->id;
        HASH_ADD(hh, e->ports, id, sizeof port->id, port);
        if (!table_has(port)) {
            free(port);
            return -ENOMEM;
        }
    }
    port->busy++;
    port->last = *is;
    if (waiting > port->most_waiting)
        port->most_waiting = waiting;
    return 0;
}

struct counted_schedulers {
    uint64_t n[3], queued[3], running[3], longest[3], idle[3];
};

static int take_scheduler(void *ctx, const struct snapshot_scheduler *is)
{
    struct counted_schedulers *c = ctx;
    bool shared = is->type != SNAPSHOT_NORMAL && c->n[is->type]; /* dirty ones of a type have one queue */

    c->n[is->type]++;
    c->queued[is->type] += shared ? 0 : is->queued;
    c->running[is->type] += is->running != 0;
    c->idle[is->type] += !is->running && !is->queued;
    if (is->queued > c->longest[is->type])
        c->longest[is->type] = is->queued;
    return 0;
}

static void look_at_schedulers(struct evidence *e)
{
    enum { LONG = 2 };
    struct counted_schedulers c = {0};

    e->has_schedulers = !snapshot_schedulers(e->snapshot, take_scheduler, &c);
    for (int type = 0; e->has_schedulers && type < 3; type++) {
        struct evidence_schedulers *s = &e->schedulers[type];

        s->n = c.n[type];
        s->queued += c.queued[type];
        s->full += c.n[type] && c.running[type] == c.n[type];
        s->uneven += c.longest[type] >= LONG && c.idle[type];
        if (c.queued[type] > s->most_queued)
            s->most_queued = c.queued[type];
    }
}

static int take_open(void *ctx, const struct pending *is)
{
    struct look *look = ctx;
    struct evidence *e = look->e;
    struct evidence_open_key key;
    struct evidence_open *open;

    memset(&key, 0, sizeof key);
    key.kind = is->kind;
    key.key = is->key;
    key.mark = is->mark;
    key.what = is->key ? 0 : table_hash(is->what, strlen(is->what));
    HASH_FIND(hh, e->open, &key, sizeof key, open);
    if (!open && HASH_COUNT(e->open) >= MOST_REMEMBERED) {
        e->left++;
        return 0;
    }
    if (!open) {
        open = calloc(1, sizeof *open);
        if (!open)
            return -ENOMEM;
        open->key = key;
        open->first_ns = look->now.ns;
        HASH_ADD(hh, e->open, key, sizeof open->key, open);
        if (!table_has(open)) {
            free(open);
            return -ENOMEM;
        }
    }
    open->last = *is;
    open->last_ns = look->now.ns;
    return 0;
}

/* What this look did not find is over. */
static void forget_over(struct evidence *e, uint64_t now_ns)
{
    struct evidence_open *open, *next;

    HASH_ITER(hh, e->open, open, next) {
        if (open->last_ns != now_ns) {
            HASH_DEL(e->open, open);
            free(open);
        }
    }
}

/* ---- what the kernel says */

static uint64_t resident_bytes(uint32_t vm)
{
    char path[64];
    unsigned long long size, resident = 0;
    FILE *file;

    snprintf(path, sizeof path, "/proc/%u/statm", vm);
    file = fopen(path, "re");
    if (file && fscanf(file, "%llu %llu", &size, &resident) != 2)
        resident = 0;
    if (file)
        fclose(file);
    return resident * (uint64_t)sysconf(_SC_PAGESIZE);
}

/* Source: Documentation/scheduler/sched-stats.rst of Linux, /proc/PID/task/TID/schedstat. */
static void add_threads(uint32_t vm, struct evidence_moment *now)
{
    char path[64 + sizeof((struct dirent *)0)->d_name];
    DIR *dir;

    snprintf(path, sizeof path, "/proc/%u/task", vm);
    dir = opendir(path);
    for (struct dirent *entry; dir && (entry = readdir(dir));) {
        unsigned long long ran, waited;
        FILE *file;

        snprintf(path, sizeof path, "/proc/%u/task/%s/schedstat", vm, entry->d_name);
        file = atoi(entry->d_name) > 0 ? fopen(path, "re") : NULL;
        if (file && fscanf(file, "%llu %llu", &ran, &waited) == 2) {
            now->ran_ns += ran;
            now->waited_ns += waited;
            now->has_threads = true;
        }
        if (file)
            fclose(file);
    }
    if (dir)
        closedir(dir);
}

/* ---- a look */

static const bool wanted[PENDING_NKINDS] = {
    [PENDING_PORT] = true,      [PENDING_PORT_WAIT] = true, [PENDING_NODE] = true,
    [PENDING_NODE_WAIT] = true, [PENDING_NATIVE] = true,    [PENDING_FILE] = true,
};

static int look_at_memory(struct evidence *e, struct look *look)
{
    struct snapshot_count count = {0};
    int err;

    for (struct evidence_parent *parent = e->parents; parent; parent = parent->hh.next)
        parent->lives = false;
    err = snapshot_processes(e->snapshot, take_process, look, &count);
    if (err)
        return err;
    look->now.processes = count.told;
    e->unclear += count.unclear;
    e->running += look->running;
    keep_known(e, look);
    forget(e);
    err = snapshot_ports(e->snapshot, take_port, look, NULL);
    look->now.has_ports = !err;
    if (err == -ENOMEM)
        return err;
    look_at_schedulers(e);
    look->now.has_atoms = !snapshot_atoms(e->snapshot, &look->now.atoms, &e->atom_limit);
    if (snapshot_process_limit(e->snapshot, &e->process_limit))
        e->process_limit = 0;
    err = pending_read(e->snapshot, wanted, take_open, look);
    forget_over(e, look->now.ns);
    return err;
}

int evidence_look(struct evidence *e)
{
    struct look look = {.e = e, .now.ns = clock_ns(CLOCK_MONOTONIC)};
    int err;

    names_since(e->names, look.now.ns);
    err = look_at_memory(e, &look);
    free(look.known);
    if (err)
        return err;
    look.now.resident = resident_bytes(e->vm);
    add_threads(e->vm, &look.now);
    look.now.has_quota = quota_read((int)e->vm, &look.now.quota);
    e->halted = target_halt((int)e->vm);
    if (!e->looks)
        e->first = look.now;
    e->atoms_grew += e->looks && look.now.atoms > e->last.atoms;
    e->processes_grew += e->looks && look.now.processes > e->last.processes;
    e->ports_grew += e->looks && look.now.ports > e->last.ports;
    e->last = look.now;
    e->looks++;
    return 0;
}
