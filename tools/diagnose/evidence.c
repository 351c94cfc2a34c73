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
#include "otp/snapshot_one.h"
#include "target/target.h"

enum {
    WORTH_BYTES = 1 << 20, /* of memory */
    WORTH_LOOKS = 10,      /* so long it is remembered without being worth it */
    MOST_REMEMBERED = 1 << 18,
    MOST_KNOWN = 1 << 24,
};

static const uint64_t WAITS_NS = 1000000000; /* who waits for whom is read so far apart: it costs as much as the rest */

/*
 * Finds the entry with this key (the value of its member `member`) in a table of the evidence, or adds an empty one.
 * NULL: there is no room, which e->left counts; or no memory (-ENOMEM in `err`, else 0).
 */
#define FIND_OR_ADD(e, table, member, value, entry, err)                                                               \
    do {                                                                                                               \
        (err) = 0;                                                                                                     \
        HASH_FIND(hh, (e)->table, &(value), sizeof(value), entry);                                                     \
        if (entry)                                                                                                     \
            break;                                                                                                     \
        if (HASH_COUNT((e)->table) >= MOST_REMEMBERED) {                                                               \
            (e)->left++;                                                                                               \
            break;                                                                                                     \
        }                                                                                                              \
        (entry) = calloc(1, sizeof *(entry));                                                                          \
        if (entry) {                                                                                                   \
            (entry)->member = (value);                                                                                 \
            HASH_ADD(hh, (e)->table, member, sizeof(value), entry);                                                    \
        }                                                                                                              \
        if (!(entry) || !table_has(entry)) {                                                                           \
            free(entry);                                                                                               \
            (entry) = NULL;                                                                                            \
            (err) = -ENOMEM;                                                                                           \
        }                                                                                                              \
    } while (0)

/* Takes out, and frees, the entries of a table of the evidence of which that is so; `entry` is their name in it. */
#define DROP_IF(e, table, type, entry, so)                                                                             \
    do {                                                                                                               \
        struct type *entry, *next_;                                                                                    \
        HASH_ITER(hh, (e)->table, entry, next_) {                                                                      \
            if (so) {                                                                                                  \
                HASH_DEL((e)->table, entry);                                                                           \
                free(entry);                                                                                           \
            }                                                                                                          \
        }                                                                                                              \
    } while (0)

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
    *e = (struct evidence){.vm = vm, .names = names, .snapshot = snapshot, .sends = -1};
    pending_known(snapshot, e->has_open);
    return e;
}

void evidence_free(struct evidence *e)
{
    if (!e)
        return;
    DROP_IF(e, processes, evidence_process, p, true);
    DROP_IF(e, parents, evidence_parent, p, true);
    DROP_IF(e, ports, evidence_port, p, true);
    DROP_IF(e, tables, evidence_table, t, true);
    DROP_IF(e, open, evidence_open, o, true);
    DROP_IF(e, watchers, evidence_watcher, w, true);
    DROP_IF(e, held, evidence_held, h, true);
    if (e->sends >= 0)
        close(e->sends);
    blame_end(&e->waits);
    tripwires_free(&e->tripwires);
    contention_end(&e->contention);
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

static bool is_worth(const struct snapshot_process *is)
{
    return is->messages || is->status != SNAPSHOT_WAITING || snapshot_memory_bytes(is) >= WORTH_BYTES ||
           snapshot_binary_bytes(is) >= EVIDENCE_BINARIES;
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

static void see_again(struct evidence_process *p, const struct snapshot_process *is, uint64_t now_ns)
{
    bool runs = is->status == SNAPSHOT_RUNNING && !is->dirty;
    bool did_nothing = p->looks && p->last.reductions == is->reductions && p->last.status == is->status;

    p->grew += is->messages > p->last.messages;
    p->kept += p->looks && is->first_message && is->first_message == p->last.first_message;
    p->same_ns = did_nothing ? p->same_ns : now_ns;
    p->stuck = runs && did_nothing ? p->stuck + 1 : 0;
    p->unrun = is->status == SNAPSHOT_RUNNABLE && did_nothing ? p->unrun + 1 : 0;
    if (p->stuck > p->longest_stuck)
        p->longest_stuck = p->stuck;
    if (p->unrun > p->longest_unrun)
        p->longest_unrun = p->unrun;
    if (is->messages > p->most_messages)
        p->most_messages = is->messages;
    if (is->messages < p->least_messages)
        p->least_messages = is->messages;
    count_status(p, is);
    p->last = *is;
    p->looks++;
}

/* Who has ended is remembered no longer, and has no name then. */
static void see_end(struct evidence *e, const struct evidence_process *p, uint64_t now_ns)
{
    struct evidence_end *end = &e->slowest_end;

    if (p->last.status != SNAPSHOT_EXITING || p->exiting < end->looks)
        return;
    if (end->is.id != p->id)
        evidence_name(e, &p->last, end->name);
    end->is = p->last;
    end->looks = p->exiting;
    end->seconds = (double)(now_ns - p->first_ns) / 1e9 * p->exiting / p->looks;
}

static int remember(struct evidence *e, const struct snapshot_process *is, uint64_t now_ns)
{
    struct evidence_process *p;
    bool worth = is_worth(is);
    int err;

    if (!worth) {
        HASH_FIND(hh, e->processes, &is->id, sizeof is->id, p);
        err = 0;
    } else {
        FIND_OR_ADD(e, processes, id, is->id, p, err);
    }
    if (!p)
        return err;
    if (!p->looks) {
        p->first = p->last = *is;
        p->first_ns = now_ns;
        p->least_messages = is->messages;
    }
    see_again(p, is, now_ns);
    see_end(e, p, now_ns);
    p->seen = e->looks;
    p->worth = worth ? e->looks : p->worth;
    return 0;
}

/* One of the emulator's own processes, which are the first. */
static void see_sweeper(struct evidence *e, const struct snapshot_process *is, uint64_t now_ns)
{
    enum { FIRST_PROCESSES = 64 };
    struct evidence_sweeper *s = &e->sweeper;

    if (!s->id && !e->looks && ev_id_number(is->id) < FIRST_PROCESSES &&
        evidence_began_as(e, is, "erts_literal_area_collector:start/0"))
        *s = (struct evidence_sweeper){
            .id = is->id, .first = is->reductions, .last = is->reductions, .first_ns = now_ns};
    if (s->id != is->id)
        return;
    s->looks++;
    s->worked += is->reductions > s->last;
    s->last = is->reductions;
}

static int compare_known(const void *a, const void *b)
{
    const struct evidence_known *x = a, *y = b;

    return x->id < y->id ? -1 : x->id > y->id;
}

static int count_birth(struct evidence *e, const struct snapshot_process *is)
{
    struct evidence_parent *parent;
    int err;

    FIND_OR_ADD(e, parents, id, is->parent, parent, err);
    if (!parent)
        return err;
    if (!parent->births || snapshot_memory_bytes(is) <= snapshot_memory_bytes(&parent->child))
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

    look->now.memory += snapshot_memory_bytes(is);
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
    see_sweeper(e, is, look->now.ns);
    tripwires_see_process(e, is);
    return err ? err : remember(e, is, look->now.ns);
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

/* ---- ports, tables, schedulers, what is under way */

static int take_port(void *ctx, const struct snapshot_port *is)
{
    struct look *look = ctx;
    struct evidence *e = look->e;
    struct evidence_port *port;
    int err;
    uint64_t waiting = is->queued_bytes + is->command_bytes;

    look->now.ports++;
    if (!is->busy && !is->full)
        return 0;
    FIND_OR_ADD(e, ports, id, is->id, port, err);
    if (!port)
        return err;
    port->busy++;
    port->last = *is;
    if (waiting > port->most_waiting)
        port->most_waiting = waiting;
    return 0;
}

static int take_table(void *ctx, const struct snapshot_table_info *is)
{
    struct look *look = ctx;
    struct evidence *e = look->e;
    const struct evidence_table_key key = {is->address, {is->numbers[0], is->numbers[1], is->numbers[2]}};
    struct evidence_table *table;
    int err;

    look->now.tables++;
    FIND_OR_ADD(e, tables, key, key, table, err);
    if (!table)
        return err;
    if (!table->looks) {
        table->first = *is;
        table->first_ns = look->now.ns;
        table->is_new = e->looks > 0;
    }
    table->grew += table->looks && is->rows > table->last.rows;
    table->fixed += is->fixed > 0;
    table->looks++;
    table->last = *is;
    table->seen = e->looks;
    return 0;
}

struct counted_schedulers {
    struct evidence *e;
    uint64_t now_ns;
    uint64_t n[3], queued[3], running[3], longest[3], idle[3];
    ev_id one[3];
};

static int take_scheduler(void *ctx, const struct snapshot_scheduler *is)
{
    struct counted_schedulers *c = ctx;
    bool shared = is->type != SNAPSHOT_NORMAL && c->n[is->type]; /* dirty ones of a type have one queue */

    c->n[is->type]++;
    c->queued[is->type] += shared ? 0 : is->queued;
    c->running[is->type] += is->running != 0;
    c->one[is->type] = is->running ? is->running : c->one[is->type];
    c->idle[is->type] += !is->running && !is->queued;
    if (is->queued > c->longest[is->type])
        c->longest[is->type] = is->queued;
    return tripwires_see_scheduler(c->e, is, c->now_ns);
}

static void look_at_schedulers(struct evidence *e, uint64_t now_ns)
{
    enum { LONG = 2 };
    struct counted_schedulers c = {.e = e, .now_ns = now_ns};

    e->has_schedulers = !snapshot_schedulers(e->snapshot, take_scheduler, &c);
    for (int type = 0; e->has_schedulers && type < 3; type++) {
        struct evidence_schedulers *s = &e->schedulers[type];

        s->n = c.n[type];
        s->one = c.one[type];
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
    int err;

    memset(&key, 0, sizeof key);
    key.kind = is->kind;
    key.key = is->key;
    key.mark = is->mark;
    key.what = is->key ? 0 : table_hash(is->what, strlen(is->what));
    FIND_OR_ADD(e, open, key, key, open, err);
    if (!open)
        return err;
    if (!open->last_ns)
        open->first_ns = look->now.ns;
    open->last = *is;
    open->last_ns = look->now.ns;
    return 0;
}

/* ---- who waits for whom */

/* What cannot be read is not known; the rest of the look goes on. */
static int look_at_waits(struct evidence *e, uint64_t now_ns)
{
    struct blame now = {0};
    int err;

    if (e->looks && now_ns < e->waits_ns + WAITS_NS)
        return 0;
    err = blame_look(&now, e->snapshot, now_ns, &e->waits, NULL);
    if (err) {
        blame_end(&now);
        return err == -ENOMEM ? err : 0;
    }
    blame_end(&e->waits);
    e->waits = now;
    e->waits_ns = now_ns;
    return 0;
}

/* ---- monitors */

static int take_watcher(void *ctx, const struct snapshot_process *is)
{
    enum { MANY = 50 };
    struct evidence *e = ctx;
    struct evidence_watcher *watcher;
    struct snapshot_seen seen;
    int err;

    if (!is->watches)
        return 0;
    err = snapshot_monitors(e->snapshot, is, &seen);

    if (err || seen.moved || seen.read < MANY)
        return err == -ENOTSUP ? err : 0;
    FIND_OR_ADD(e, watchers, id, is->id, watcher, err);
    if (!watcher)
        return err;
    if (!watcher->readings) {
        watcher->first = watcher->last = seen.read;
        watcher->first_ns = e->waits_ns;
    }
    watcher->is = *is;
    watcher->grew += seen.read > watcher->last;
    watcher->last = seen.read;
    watcher->readings++;
    watcher->seen = e->looks;
    return 0;
}

/* In the looks in which it was read who waits for whom, too. What cannot be read is not known. */
static int look_at_monitors(struct evidence *e, uint64_t now_ns)
{
    int err = e->waits_ns == now_ns ? snapshot_processes(e->snapshot, take_watcher, e, NULL) : 0;

    if (e->waits_ns == now_ns)
        DROP_IF(e, watchers, evidence_watcher, w, w->seen != e->looks);
    return err == -ENOMEM ? err : 0;
}

/* ---- calls that wait in mailboxes */

static bool may_hold_calls(const struct evidence *e, const struct evidence_process *p)
{
    return p->seen == e->looks && p->last.messages >= EVIDENCE_BOX_MESSAGES;
}

/* The fullest, the fullest first. Returns how many. */
static size_t find_boxes(const struct evidence *e, struct evidence_process *boxes[EVIDENCE_BOXES])
{
    size_t n = 0;

    for (struct evidence_process *p = e->processes; p; p = p->hh.next) {
        size_t at = n < EVIDENCE_BOXES ? n : EVIDENCE_BOXES - 1;

        if (!may_hold_calls(e, p) || (n == EVIDENCE_BOXES && boxes[at]->last.messages >= p->last.messages))
            continue;
        for (; at && boxes[at - 1]->last.messages < p->last.messages; at--)
            boxes[at] = boxes[at - 1];
        boxes[at] = p;
        n += n < EVIDENCE_BOXES;
    }
    return n;
}

/* In the looks in which it was read who waits for whom, too. What cannot be read is not known. */
static int look_at_calls(struct evidence *e, uint64_t now_ns)
{
    struct evidence_process *boxes[EVIDENCE_BOXES];
    const struct snapshot_process *processes[EVIDENCE_BOXES];
    struct letters letters[EVIDENCE_BOXES];
    size_t n = e->waits_ns == now_ns ? find_boxes(e, boxes) : 0;
    int err;

    for (size_t i = 0; i < n; i++)
        processes[i] = &boxes[i]->last;
    err = n ? letters_read(e->snapshot, processes, n, letters) : 0;
    for (size_t i = 0; i < n && !err; i++) {
        const struct letters *l = &letters[i];

        boxes[i]->calls = l->calls ? *l : boxes[i]->calls;
        boxes[i]->calls_read++;
        boxes[i]->abandoned += l->calls >= EVIDENCE_CALLS && (l->gave_up + l->ended) * 2 >= l->calls;
    }
    return err == -ENOMEM ? err : 0;
}

/* ---- what the kernel says */

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

static void read_quota(struct evidence *e, struct evidence_moment *now)
{
    int err = quota_read((int)e->vm, &now->quota, e->no_quota);

    now->has_quota = !err;
    if (!err || err == -ENOENT || err == -ESRCH)
        e->no_quota[0] = '\0';
}

static int take_held(void *ctx, const struct held_send *is)
{
    struct evidence *e = ctx;
    struct evidence_held *held;
    int err;

    FIND_OR_ADD(e, held, socket, is->socket, held, err);
    if (!held)
        return err;
    if (!held->looks)
        held->is_ours = held_sends_is_of((int)e->vm, is->socket);
    held->looks++;
    held->last = *is;
    held->most_ms = is->since_ms > held->most_ms ? is->since_ms : held->most_ms;
    return 0;
}

/* Where a machine has so many connections that it costs much to ask for them, they are looked at less often. */
static int look_at_sends(struct evidence *e, uint64_t now_ns)
{
    enum { PAUSES = 20 };
    uint64_t began_ns = clock_ns(CLOCK_THREAD_CPUTIME_ID);
    int err;

    if (e->no_sends[0] || now_ns < e->next_sends_ns)
        return 0;
    if (e->sends < 0 && (e->sends = held_sends_open((int)e->vm, e->no_sends)) < 0)
        return 0;
    err = held_sends_read(e->sends, take_held, e);
    if (err && err != -ENOMEM)
        snprintf(e->no_sends, sizeof e->no_sends, "what the kernel says of connections: %s", strerror(-err));
    e->held_looks += !err;
    e->next_sends_ns = now_ns + PAUSES * (clock_ns(CLOCK_THREAD_CPUTIME_ID) - began_ns);
    return err == -ENOMEM ? err : 0;
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
    look->now.processes = count.read;
    e->unclear += count.unclear;
    e->running += look->running;
    keep_known(e, look);
    /* what has ended, or has long not been worth it and was never suspended, is of no further interest */
    DROP_IF(e, processes, evidence_process, p,
            p->seen != e->looks || (e->looks - p->worth > WORTH_LOOKS && !p->suspended));
    err = snapshot_ports(e->snapshot, take_port, look, NULL);
    look->now.has_ports = !err;
    if (err == -ENOMEM)
        return err;
    err = snapshot_tables(e->snapshot, take_table, look, NULL);
    look->now.has_tables = !err;
    if (err == -ENOMEM)
        return err;
    DROP_IF(e, tables, evidence_table, t, t->seen != e->looks);
    err = e->samples ? contention_look(e) : 0;
    if (err)
        return err;
    look_at_schedulers(e, look->now.ns);
    look->now.has_atoms = !snapshot_atoms(e->snapshot, &look->now.atoms, &e->atom_limit);
    if (snapshot_process_limit(e->snapshot, &e->process_limit))
        e->process_limit = 0;
    err = look_at_waits(e, look->now.ns);
    err = err ? err : look_at_monitors(e, look->now.ns);
    err = err ? err : look_at_calls(e, look->now.ns);
    err = err ? err : pending_read(e->snapshot, wanted, take_open, look);
    DROP_IF(e, open, evidence_open, o, o->last_ns != look->now.ns); /* what is not found any more is over */
    return err;
}

int evidence_look(struct evidence *e)
{
    struct look look = {.e = e, .now.ns = clock_ns(CLOCK_MONOTONIC)};
    int err;

    names_since(e->names, look.now.ns);
    err = look_at_memory(e, &look);
    err = err ? err : look_at_sends(e, look.now.ns);
    free(look.known);
    if (err)
        return err;
    look.now.resident = target_resident_bytes((int)e->vm);
    add_threads(e->vm, &look.now);
    read_quota(e, &look.now);
    e->halted = target_halt((int)e->vm);
    if (!e->looks)
        e->first = look.now;
    e->atoms_grew += e->looks && look.now.atoms > e->last.atoms;
    e->processes_grew += e->looks && look.now.processes > e->last.processes;
    e->ports_grew += e->looks && look.now.ports > e->last.ports;
    e->tables_grew += e->looks && look.now.tables > e->last.tables;
    e->last = look.now;
    tripwires_end_look(e, look.now.ns);
    e->looks++;
    return 0;
}
