/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Invariant: every list of the VM that is followed has a bound, and what is told of a process is of one that stands in
 * the table of processes. Source of a stock emulator's structures: erl_port.h, erl_node_tables.h, erl_process.h of OTP.
 */
#include "pending.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "common/clock.h"
#include "event/event.h"
#include "names.h"
#include "snapshot_state.h"
#include "target/thread_call.h"
#include "waits.h"

#define FILE_NATIVES "prim_file:" /* what is done with files: its native functions */

enum {
    MAX_WAITERS = 4096,
    MAX_CHANNELS = 4096,
    MAX_CHAINS = 4096,
    MAX_NODES = 65536,
    MAX_ASYNC = 1024,
    MAX_JOBS = 65536,
    ATOM_SHIFT = 6,
    NAME_BYTES = 192,
    CALLBACK_BYTES = 24,
    DRIVER_BYTES = 40,
};

struct reading {
    struct snapshot *s;
    const bool *wanted;
    int (*take)(void *ctx, const struct pending *pending);
    void *ctx;
    struct thread_name *threads; /* of the VM, once somebody asks */
    size_t nthreads;
    bool io_waits; /* somebody waits for a dirty I/O scheduler */
};

static bool read_word(const struct snapshot *s, uint64_t address, uint64_t *out)
{
    return address && snapshot_read(s, address, out, sizeof *out);
}

static bool read_number(const struct snapshot *s, uint64_t address, void *out, size_t size)
{
    return address && snapshot_read(s, address, out, size);
}

static int visit(struct reading *r, const struct pending *p)
{
    return r->wanted[p->kind] ? r->take(r->ctx, p) : 0;
}

/* ---- processes */

/* Where the process of this pid stands; 0: it has ended. */
static uint64_t find_process(const struct snapshot *s, uint64_t term)
{
    uint64_t slot = s->ours ? term >> 4 & 0xfffffff : otp_slot_of(s->layout, term), slots, tab, process, id;

    if ((term & 0xf) != OTP_TAG_PID || !s->kind->slots(s, &slots) || slot >= slots ||
        !read_word(s, s->layout->procs + s->layout->off[OTP_PTAB_TAB], &tab) ||
        !read_word(s, tab + slot * sizeof process, &process) ||
        !read_word(s, process + s->layout->off[OTP_PROC_ID], &id) || id != term)
        return 0;
    return process;
}

static void set_whose(const struct snapshot *s, struct pending *p, uint64_t term)
{
    p->id = snapshot_pid(s, term);
    p->address = p->id ? find_process(s, term) : 0;
}

/* False: nobody stands there. */
static bool set_process(const struct snapshot *s, struct pending *p, uint64_t address)
{
    uint64_t id;

    if (!read_word(s, address + s->layout->off[OTP_PROC_ID], &id) || !(p->id = snapshot_pid(s, id)))
        return false;
    p->address = address;
    return true;
}

static void name_atom(const struct snapshot *s, uint64_t term, char *buf, size_t size)
{
    const char *text = names_atom(s->names, s->layout->vm, term >> ATOM_SHIFT);

    snprintf(buf, size, "%s", text ? text : "");
}

/* Each pid of a list of a stock emulator, which is a circle. */
static int each_of_circle(const struct snapshot *s, uint64_t first, int (*see)(void *ctx, uint64_t term), void *ctx)
{
    uint64_t at = first, term;
    int err = 0;

    for (int i = 0; at && i < MAX_WAITERS && !err; i++) {
        if (!read_word(s, at + s->layout->off[OTP_WAITER_PID], &term) ||
            !read_word(s, at + s->layout->off[OTP_WAITER_NEXT], &at))
            break;
        err = see(ctx, term);
        if (at == first)
            break;
    }
    return err;
}

/* Each of an array. */
static int each_of_array(const struct snapshot *s, uint64_t array, uint64_t n, size_t step,
                         int (*see)(void *ctx, uint64_t term), void *ctx)
{
    uint64_t term;
    int err = 0;

    for (uint64_t i = 0; i < n && i < MAX_WAITERS && !err && read_word(s, array + i * step, &term); i++)
        err = see(ctx, term);
    return err;
}

/* ---- ports */

struct waiters {
    struct reading *r;
    struct pending p; /* of each that waits */
    uint64_t first;   /* the first's pid; 0: none waits */
};

static int see_waiter(void *ctx, uint64_t term)
{
    struct waiters *w = ctx;

    set_whose(w->r->s, &w->p, term);
    w->first = w->first ? w->first : term;
    w->p.key = w->p.id;
    return w->p.address ? visit(w->r, &w->p) : 0;
}

static int each_port_waiter(const struct snapshot *s, const struct snapshot_port *port, struct waiters *w)
{
    uint64_t at, process, id;
    int err = 0;

    if (!s->ours)
        return read_word(s, port->address + s->layout->off[OTP_PORT_WAITERS], &at)
                   ? each_of_circle(s, at, see_waiter, w) : 0;
    if (!read_word(s, port->address + s->ours->numbers[ERLVM_PORT_WAITERS], &at))
        return 0;
    for (int i = 0; at && i < MAX_WAITERS && !err; i++) {
        if (!read_word(s, at + s->ours->numbers[ERLVM_WAITER_PROCESS], &process) ||
            !read_word(s, process + s->layout->off[OTP_PROC_ID], &id) ||
            !read_word(s, at + s->ours->numbers[ERLVM_WAITER_NEXT], &at))
            break;
        err = see_waiter(w, id);
    }
    return err;
}

/* "#Port<0.8> tcp_inet" */
static void name_port(struct snapshot *s, const struct snapshot_port *port, char *buf, size_t size)
{
    char name[NAME_BYTES] = "";

    snapshot_port_name(s, port, name, sizeof name);
    snprintf(buf, size, "#Port<0.%llu> %s", (unsigned long long)ev_id_rest(port->id), name);
}

static bool is_socket(const char *what)
{
    return strstr(what, "> tcp_inet") || strstr(what, "> udp_inet") || strstr(what, "> sctp_inet");
}

/* A socket answers who sent too much once it has room again: that is its owner, which waits in a receive. */
static int visit_busy_port(struct reading *r, const struct snapshot_port *port)
{
    const struct snapshot *s = r->s;
    struct pending p = {.kind = PENDING_PORT, .key = port->id};
    struct waiters w = {.r = r, .p = {.kind = PENDING_PORT_WAIT}};
    uint64_t owner_at = port->address, owner = 0;
    int err;

    owner_at += s->ours ? s->ours->numbers[ERLVM_PORT_OWNER] : s->layout->off[OTP_PORT_CONNECTED];

    name_port(r->s, port, p.what, sizeof p.what);
    snprintf(w.p.what, sizeof w.p.what, "send, %.300s", p.what);
    if (!is_socket(p.what))
        w.p.kind = PENDING_NONE;
    err = each_port_waiter(s, port, &w);
    p.waits = w.first != 0;
    read_word(s, owner_at, &owner);
    if (!err && !w.first)
        err = see_waiter(&w, owner);
    set_whose(s, &p, w.first ? w.first : owner);
    return err ? err : visit(r, &p);
}

/* ---- connections to other nodes */

static int visit_node(struct reading *r, struct waiters *w)
{
    struct pending p = w->p;

    p.kind = PENDING_NODE;
    p.key = p.id = p.address = 0;
    if (w->first)
        set_whose(r->s, &p, w->first);
    return visit(r, &p);
}

/* Of a stock emulator. */
static int visit_node_at(struct reading *r, uint64_t node)
{
    const struct snapshot *s = r->s;
    const uint16_t *off = s->layout->off;
    struct waiters w = {.r = r, .p = {.kind = PENDING_NODE_WAIT}};
    uint64_t name, first;
    uint32_t queue;
    int err;

    if (!read_word(s, node + off[OTP_NODE_NAME], &name) ||
        !read_number(s, node + off[OTP_NODE_QUEUE], &queue, sizeof queue) ||
        !read_word(s, node + off[OTP_NODE_WAITERS], &first))
        return 0;
    name_atom(s, name, w.p.what, sizeof w.p.what);
    err = each_of_circle(s, first, see_waiter, &w);
    return !err && snapshot_bit(s, queue, OTP_QUEUE_BUSY) ? visit_node(r, &w) : err;
}

/* The node that the port leads to. */
static int visit_node_of_port(struct reading *r, uint64_t port)
{
    const struct snapshot *s = r->s;
    const uint16_t *off = s->layout->off;
    uint64_t specific, node;
    uint32_t state;

    if (!read_number(s, port + off[OTP_PORT_STATE], &state, sizeof state) ||
        !snapshot_bit(s, state, OTP_PORT_STATE_CONNECTION) || !read_word(s, port + off[OTP_PORT_SPECIFIC], &specific) ||
        !read_word(s, specific + off[OTP_PORT_NODE], &node))
        return 0;
    return visit_node_at(r, node);
}

/* Those that a process carries; the others are told with their ports. */
static int visit_nodes_of_processes(struct reading *r, uint64_t list)
{
    const struct snapshot *s = r->s;
    uint64_t node, controller;
    int err = 0;

    if (!read_word(s, list, &node))
        return 0;
    for (int i = 0; node && i < MAX_NODES && !err; i++) {
        if (!read_word(s, node + s->layout->off[OTP_NODE_CONTROLLER], &controller))
            break;
        if ((controller & 0xf) == OTP_TAG_PID)
            err = visit_node_at(r, node);
        if (!read_word(s, node + s->layout->off[OTP_NODE_NEXT], &node))
            break;
    }
    return err;
}

static int visit_channel(struct reading *r, uint64_t channel)
{
    const struct snapshot *s = r->s;
    const uint32_t *at = s->ours->numbers;
    struct waiters w = {.r = r, .p = {.kind = PENDING_NODE_WAIT}};
    uint64_t node, waiters, n, large, nlarge;
    uint8_t busy, waits;
    int err;

    if (!read_word(s, channel + at[ERLVM_CHANNEL_NODE], &node) ||
        !read_number(s, channel + at[ERLVM_CHANNEL_BUSY], &busy, sizeof busy) ||
        !read_word(s, channel + at[ERLVM_CHANNEL_WAITERS], &waiters) ||
        !read_word(s, channel + at[ERLVM_CHANNEL_WAITER_COUNT], &n) ||
        !read_word(s, channel + at[ERLVM_CHANNEL_LARGE], &large) ||
        !read_word(s, channel + at[ERLVM_CHANNEL_LARGE_COUNT], &nlarge))
        return 0;
    name_atom(s, node, w.p.what, sizeof w.p.what);
    err = each_of_array(s, waiters, n, sizeof(uint64_t), see_waiter, &w);
    for (uint64_t i = 0; i < nlarge && i < MAX_WAITERS && !err; i++) {
        uint64_t sender = large + i * at[ERLVM_LARGE_SIZE];

        if (read_number(s, sender + at[ERLVM_LARGE_WAITS], &waits, sizeof waits) && waits)
            err = each_of_array(s, sender + at[ERLVM_LARGE_PID], 1, 0, see_waiter, &w);
    }
    return !err && busy ? visit_node(r, &w) : err;
}

static int visit_channels(struct reading *r)
{
    const struct snapshot *s = r->s;
    const uint32_t *at = s->ours->numbers;
    uint64_t root = s->ours->roots[LAYOUT_ROOM_CHANNELS], channel;
    int err = 0;

    for (uint32_t i = 0; root && i < at[ERLVM_CHANNELS_COUNT] && i < MAX_CHAINS && !err; i++) {
        if (!read_word(s, root + at[ERLVM_CHANNELS_BUCKETS] + i * sizeof channel, &channel))
            break;
        for (int n = 0; channel && n < MAX_CHANNELS && !err; n++) {
            err = visit_channel(r, channel);
            if (!read_word(s, channel + at[ERLVM_CHANNEL_NEXT], &channel))
                break;
        }
    }
    return err;
}

/* How long ago that was, by the clock of the VM; 0: it was not yet, or is not known. */
static uint64_t age_since(uint64_t moment_ns)
{
    uint64_t now = clock_ns(CLOCK_MONOTONIC);

    return moment_ns && moment_ns < now ? now - moment_ns : 0;
}

/* A callback of an erlvm's driver. */
static int visit_own_callback(struct reading *r, const struct snapshot_port *port)
{
    struct snapshot *s = r->s;
    const uint32_t *at = s->ours->numbers;
    struct pending p = {.kind = PENDING_CALLBACK, .key = port->id, .mark = port->callback_ns,
                        .age_ns = age_since(port->callback_ns)};
    char callback[CALLBACK_BYTES] = "", driver[DRIVER_BYTES] = "", name[NAME_BYTES + 32] = "";
    unsigned long long number = ev_id_rest(port->id);
    uint64_t owner = 0, entry, text;

    if (!snapshot_text(s, port->callback, callback, sizeof callback) ||
        !read_word(s, port->address + at[ERLVM_PORT_DRIVER], &entry) ||
        !read_word(s, entry + at[ERLVM_DRIVER_NAME], &text) || !snapshot_text(s, text, driver, sizeof driver))
        return 0;
    name_port(s, port, name, sizeof name);
    snprintf(p.what, sizeof p.what, "%s, %s", callback, name);
    snprintf(p.port_row, sizeof p.port_row, "#Port<0.%llu> %s", number, driver);
    snprintf(p.callback_row, sizeof p.callback_row, "%s %s", driver, callback);
    read_word(s, port->address + at[ERLVM_PORT_OWNER], &owner);
    set_whose(s, &p, owner);
    return visit(r, &p);
}

static int see_port(void *ctx, const struct snapshot_port *port)
{
    struct reading *r = ctx;
    int err = port->busy || port->full ? visit_busy_port(r, port) : 0;

    if (!err && port->callback && r->wanted[PENDING_CALLBACK])
        err = visit_own_callback(r, port);
    return err || r->s->ours ? err : visit_node_of_port(r, port->address);
}

static int read_ports(struct reading *r)
{
    int err = snapshot_ports(r->s, see_port, r, NULL);

    if (err || !(r->wanted[PENDING_NODE] || r->wanted[PENDING_NODE_WAIT]))
        return err;
    if (r->s->ours)
        return visit_channels(r);
    for (size_t i = 0; i < sizeof r->s->vm->nodes / sizeof *r->s->vm->nodes && !err; i++)
        err = visit_nodes_of_processes(r, r->s->vm->nodes[i]);
    return err;
}

/* ---- threads */

/*
 * The thread of this kind and number; 0: there is none of that name, or of any, of a VM that left a core. Emulators
 * call them "3_dirty_io_sche" or, newer ones, "erts_dios_3"; an erlvm "async_3".
 */
static int find_thread(struct reading *r, enum snapshot_scheduler_type type, uint64_t number)
{
    static const char *const forms[][2] = {[SNAPSHOT_NORMAL] = {"async_%llu", NULL},
                                           [SNAPSHOT_DIRTY_CPU] = {"%llu_dirty_cpu_sch", "erts_dcpus_%llu"},
                                           [SNAPSHOT_DIRTY_IO] = {"%llu_dirty_io_sch", "erts_dios_%llu"}};
    char name[32];

    if (memory_file_is_core(memory_file(r->s->memory)))
        return 0;
    if (!r->threads && thread_names((int)r->s->layout->vm, &r->threads, &r->nthreads))
        return 0;
    for (size_t k = 0; k < 2 && forms[type][k]; k++) {
        snprintf(name, sizeof name, forms[type][k], (unsigned long long)number);
        for (size_t i = 0; i < r->nthreads; i++)
            if (!strncmp(r->threads[i].name, name, sizeof r->threads[i].name - 1) ||
                (k == 0 && type != SNAPSHOT_NORMAL && !strncmp(r->threads[i].name, name, strlen(name))))
                return r->threads[i].id;
    }
    return 0;
}

static bool read_call(struct reading *r, enum snapshot_scheduler_type type, uint64_t number, int *thread,
                      struct thread_call *out)
{
    *thread = find_thread(r, type, number);
    return *thread && thread_call_read((int)r->s->layout->vm, *thread, memory_file(r->s->memory), out);
}

static void set_call(struct pending *p, const struct thread_call *call)
{
    size_t used = strlen(p->what);

    snprintf(p->what + used, sizeof p->what - used, "%s%s%s%s", used ? ", in " : "", call->call,
             *call->about ? " " : "", call->about);
    p->age_ns = call->asleep_ns;
}

/* ---- operations on files */

/*
 * Which operation it is that a process asked for in this native function and a thread does in this system call; 0: not
 * known, as the function does several.
 */
static uint32_t command_of(const char *native, const struct thread_call *call)
{
    static const struct {
        const char *native, *call; /* call NULL: whichever */
        uint32_t command;
    } commands[] = {{"open_nif/2", NULL, EV_EFILE_OPEN},
                    {"close_nif/1", NULL, EV_EFILE_CLOSE},
                    {"read_nif/2", NULL, EV_EFILE_READ},
                    {"write_nif/2", NULL, EV_EFILE_WRITE},
                    {"pread_nif/3", NULL, EV_EFILE_PREADV},
                    {"pwrite_nif/3", NULL, EV_EFILE_PWRITEV},
                    {"sync_nif/2", "fsync", EV_EFILE_FSYNC},
                    {"sync_nif/2", "fdatasync", EV_EFILE_FDATASYNC},
                    {"truncate_nif/1", NULL, EV_EFILE_TRUNCATE},
                    {"allocate_nif/3", NULL, EV_EFILE_ALLOCATE},
                    {"list_dir_nif/1", NULL, EV_EFILE_READDIR},
                    {"rename_nif/2", NULL, EV_EFILE_RENAME},
                    {"make_dir_nif/1", NULL, EV_EFILE_MKDIR},
                    {"del_file_nif/1", NULL, EV_EFILE_DELETE},
                    {"del_dir_nif/1", NULL, EV_EFILE_RMDIR}};
    bool is_file = !strncmp(native, FILE_NATIVES, strlen(FILE_NATIVES));

    for (size_t i = 0; is_file && i < sizeof commands / sizeof *commands; i++)
        if (!strcmp(native + strlen(FILE_NATIVES), commands[i].native) &&
            (!commands[i].call || !strcmp(commands[i].call, call->call)))
            return commands[i].command;
    return 0;
}

/* A job of an erlvm's async pool, as it is kept. */
struct own_job {
    uint64_t asker, came_ns, began_ns, next;
};

static bool read_job(const struct snapshot *s, uint64_t job, struct own_job *out)
{
    const uint32_t *at = s->ours->numbers;

    return read_word(s, job + at[ERLVM_JOB_ASKER], &out->asker) &&
           read_word(s, job + at[ERLVM_JOB_CAME], &out->came_ns) &&
           read_word(s, job + at[ERLVM_JOB_BEGAN], &out->began_ns) &&
           read_word(s, job + at[ERLVM_JOB_NEXT], &out->next);
}

/* Of the pool's thread `number`, from 1: what it runs for a process; what drivers give it nobody waits for. */
static bool read_running(const struct snapshot *s, uint32_t number, uint64_t *job, struct own_job *out)
{
    uint64_t at = s->ours->roots[LAYOUT_ROOM_ASYNC] + s->ours->numbers[ERLVM_ASYNC_RUNNING] + 8ull * (number - 1);
    uint64_t again;

    return read_word(s, at, job) && *job && read_job(s, *job, out) && out->asker && read_word(s, at, &again) &&
           again == *job;
}

static int visit_async(struct reading *r, uint32_t number)
{
    struct pending p = {.kind = PENDING_FILE};
    struct snapshot_process process;
    char native[NAME_BYTES] = "";
    struct thread_call call;
    struct own_job job;
    uint64_t at, again;
    int thread;

    if (!read_running(r->s, number, &at, &job) || !read_call(r, SNAPSHOT_NORMAL, number, &thread, &call) ||
        !read_running(r->s, number, &again, &job) || again != at)
        return 0;
    set_whose(r->s, &p, job.asker);
    process = (struct snapshot_process){.id = p.id, .address = p.address};
    if (p.address && snapshot_place(r->s, &process, native, sizeof native))
        p.command = command_of(native, &call);
    p.key = (uint64_t)thread;
    p.mark = job.came_ns;
    set_call(&p, &call);
    p.age_ns = age_since(job.came_ns);
    return visit(r, &p);
}

/* The jobs of an erlvm that no thread has begun. What leaves the list while it is read is told or not. */
static int visit_waiting_jobs(struct reading *r)
{
    struct snapshot *s = r->s;
    uint64_t at;
    int err = 0;

    if (!read_word(s, s->ours->roots[LAYOUT_ROOM_ASYNC] + s->ours->numbers[ERLVM_ASYNC_FIRST], &at))
        return 0;
    for (int i = 0; at && i < MAX_JOBS && !err; i++) {
        struct pending p = {.kind = PENDING_FILE_QUEUE};
        struct snapshot_process process;
        struct own_job job;

        if (!read_job(s, at, &job))
            break;
        at = job.next;
        if (job.asker)
            set_whose(s, &p, job.asker);
        process = (struct snapshot_process){.id = p.id, .address = p.address};
        if (!p.address || job.began_ns || !snapshot_place(s, &process, p.what, NAME_BYTES))
            continue;
        p.key = p.id;
        p.mark = job.came_ns;
        p.age_ns = age_since(job.came_ns);
        err = visit(r, &p);
    }
    return err;
}

/* How many threads the pool has; 0: not known. */
static uint32_t async_threads(const struct snapshot *s)
{
    uint64_t root = s->ours ? s->ours->roots[LAYOUT_ROOM_ASYNC] : 0;
    uint32_t n;

    if (!root || !read_number(s, root + s->ours->numbers[ERLVM_ASYNC_STARTED], &n, sizeof n))
        return 0;
    return n < MAX_ASYNC ? n : MAX_ASYNC;
}

int pending_file_runs(struct snapshot *s, ev_id id, uint64_t *began_ns)
{
    uint32_t n = async_threads(s);
    struct own_job job;
    uint64_t at;

    for (uint32_t i = 1; i <= n; i++)
        if (read_running(s, i, &at, &job) && snapshot_pid(s, job.asker) == id) {
            if (began_ns)
                *began_ns = job.began_ns;
            return 1;
        }
    return n ? 0 : -ENOTSUP;
}

static int read_async(struct reading *r)
{
    uint32_t n = async_threads(r->s);
    int err = 0;

    for (uint32_t i = 1; i <= n && !err && r->wanted[PENDING_FILE]; i++)
        err = visit_async(r, i);
    return !err && r->wanted[PENDING_FILE_QUEUE] ? visit_waiting_jobs(r) : err;
}

/* ---- schedulers */

/* The native function that a dirty scheduler runs: what is done with files is an operation, once it is in a call. */
static int visit_dirty(struct reading *r, const struct snapshot_scheduler *scheduler, const struct pending *slice)
{
    const struct snapshot_process process = {.id = slice->id, .address = slice->address};
    struct pending p = *slice;
    struct thread_call call;
    int thread = 0;
    bool sleeps;

    if (!r->wanted[PENDING_NATIVE] && !r->wanted[PENDING_FILE])
        return 0;
    sleeps = read_call(r, scheduler->type, scheduler->number, &thread, &call);
    p.kind = PENDING_NATIVE;
    if (!snapshot_place(r->s, &process, p.what, NAME_BYTES))
        return 0;
    if (sleeps && !strncmp(p.what, FILE_NATIVES, strlen(FILE_NATIVES))) {
        p.kind = PENDING_FILE;
        p.command = command_of(p.what, &call);
        p.key = (uint64_t)thread;
        p.mark = call.switches;
        p.what[0] = '\0';
    }
    if (sleeps)
        set_call(&p, &call);
    return visit(r, &p);
}

/* A process that has this scheduler. */
static int visit_slice(struct reading *r, const struct snapshot_scheduler *scheduler, uint64_t process)
{
    const struct snapshot *s = r->s;
    struct pending p = {.kind = PENDING_SLICE, .mark = scheduler->reductions};
    uint32_t state;
    int err;

    if (!process || !set_process(s, &p, process) ||
        !read_number(s, process + s->layout->off[OTP_PROC_STATE], &state, sizeof state))
        return 0;
    p.key = p.id;
    err = visit(r, &p);
    if (!err && scheduler->type != SNAPSHOT_NORMAL)
        err = visit_dirty(r, scheduler, &p);
    if (err || !snapshot_bit(s, state, OTP_STATE_GC))
        return err;
    p.kind = PENDING_COLLECTION;
    return visit(r, &p);
}

/* A scheduler that works for a port. */
static int visit_callback(struct reading *r, const struct snapshot_scheduler *scheduler, uint64_t address)
{
    struct snapshot *s = r->s;
    struct snapshot_port port = {.address = address};
    struct pending p = {.kind = PENDING_CALLBACK, .mark = scheduler->reductions};
    uint64_t id, owner;

    if (!address || !read_word(s, address + s->layout->off[OTP_PROC_ID], &id) || (id & 0xf) != OTP_TAG_PORT ||
        !read_word(s, address + s->layout->off[OTP_PORT_CONNECTED], &owner))
        return 0;
    port.id = p.key = ev_id_of_port(snapshot_unpack(&s->layout->port_packing, id) & ((1ull << 60) - 1));
    set_whose(s, &p, owner);
    name_port(s, &port, p.what, sizeof p.what);
    return visit(r, &p);
}

static int see_scheduler(void *ctx, const struct snapshot_scheduler *scheduler)
{
    struct reading *r = ctx;
    const uint16_t *off = r->s->layout->off;
    uint64_t process = 0, port = 0;
    int err;

    r->io_waits |= scheduler->type == SNAPSHOT_DIRTY_IO && scheduler->queued;
    read_word(r->s, scheduler->address + off[OTP_SCHED_CURRENT], &process);
    err = visit_slice(r, scheduler, process);
    if (err || !r->wanted[PENDING_CALLBACK] || off[OTP_SCHED_PORT] == OTP_NOWHERE)
        return err;
    read_word(r->s, scheduler->address + off[OTP_SCHED_PORT], &port);
    return visit_callback(r, scheduler, port);
}

/* ---- calls */

static void name_server(struct snapshot *s, const struct wait *wait, char *buf, size_t size)
{
    struct wire_name name = {.form = WIRE_PROCESS, .words = {wait->whom}};
    struct snapshot_process server = {.id = wait->whom, .address = find_process(s, wait->term)};

    if (server.address)
        snapshot_owner(s, &server, &name);
    names_text(s->names, s->layout->vm, &name, buf, size);
}

/* request__step does not tell of what erpc asks. */
static int see_wait(void *ctx, const struct wait *wait)
{
    struct reading *r = ctx;
    struct pending p = {.kind = PENDING_ANSWER, .id = wait->id, .address = wait->address};

    if (wait->is_spawned || !wait->ref)
        return 0;
    p.key = r->s->ours ? wait->ref : ev_request_number(wait->ref);
    if (wait->whom)
        name_server(r->s, wait, p.what, sizeof p.what);
    else
        snprintf(p.what, sizeof p.what, "%s", wait->what);
    return visit(r, &p);
}

static int read_answers(struct reading *r)
{
    return waits_read_answers(r->s, see_wait, r);
}

/* ---- */

void pending_known(const struct snapshot *s, bool out[PENDING_NKINDS])
{
    bool ports = s->ours ? s->ours->roots[LAYOUT_ROOM_PORTS] : s->layout->ports && s->layout->port_packing.data_mask;

    out[PENDING_NONE] = false;
    out[PENDING_ANSWER] = s->ours ? s->ours->roots[LAYOUT_ROOM_PEERS] && s->ours->roots[LAYOUT_ROOM_MAILBOXES]
                                  : s->layout->off[OTP_PROC_LINKS] != OTP_NOWHERE;
    out[PENDING_PORT] = out[PENDING_PORT_WAIT] = ports;
    out[PENDING_NODE] = out[PENDING_NODE_WAIT] = s->ours ? s->ours->roots[LAYOUT_ROOM_CHANNELS] != 0 : ports;
    out[PENDING_SLICE] = true;
    out[PENDING_COLLECTION] = out[PENDING_NATIVE] = !s->ours;
    out[PENDING_CALLBACK] = ports;
    out[PENDING_FILE_QUEUE] = !s->ours || s->ours->roots[LAYOUT_ROOM_ASYNC];
    out[PENDING_FILE] = (!s->ours || s->ours->roots[LAYOUT_ROOM_ASYNC]) &&
                        !memory_file_is_core(memory_file(s->memory)) && !thread_calls_known((int)s->layout->vm);
}

/* A reading that nobody can do ends the others no more than one that found nothing. */
static int read_part(struct reading *r, const enum pending_kind *kinds, size_t n, int (*read)(struct reading *r))
{
    bool wanted = false;
    int err;

    for (size_t i = 0; i < n; i++)
        wanted |= r->wanted[kinds[i]];
    err = wanted ? read(r) : 0;
    return err == -ESRCH || err == -EBADMSG || err == -ENOTSUP ? 0 : err;
}

static int see_process(void *ctx, const struct snapshot_process *process)
{
    struct reading *r = ctx;
    struct pending p = {.kind = PENDING_FILE_QUEUE, .key = process->id, .id = process->id,
                        .address = process->address, .mark = process->reductions};

    if (!process->waits_io || !snapshot_place(r->s, process, p.what, NAME_BYTES) ||
        strncmp(p.what, "prim_file:", strlen("prim_file:")))
        return 0;
    return visit(r, &p);
}

static int read_schedulers(struct reading *r)
{
    int err = snapshot_schedulers(r->s, see_scheduler, r);

    return !err && r->io_waits && r->wanted[PENDING_FILE_QUEUE] ? snapshot_processes(r->s, see_process, r, NULL) : err;
}

int pending_read(struct snapshot *s, const bool wanted[PENDING_NKINDS],
                 int (*take)(void *ctx, const struct pending *pending), void *ctx)
{
    /* In each, those first that are so of a stock emulator, or of an erlvm, too. */
    static const enum pending_kind ports[] = {PENDING_PORT, PENDING_PORT_WAIT, PENDING_NODE, PENDING_NODE_WAIT,
                                              PENDING_CALLBACK},
                                   files[] = {PENDING_FILE, PENDING_FILE_QUEUE},
                                   schedulers[] = {PENDING_SLICE, PENDING_COLLECTION, PENDING_NATIVE, PENDING_CALLBACK,
                                                   PENDING_FILE_QUEUE, PENDING_FILE},
                                   answers[] = {PENDING_ANSWER};
    struct reading r = {.s = s, .wanted = wanted, .take = take, .ctx = ctx};
    bool ours = s->ours != NULL;
    int err = read_part(&r, ports, sizeof ports / sizeof *ports - !ours, read_ports);

    if (!err)
        err = read_part(&r, schedulers, ours ? 1 : sizeof schedulers / sizeof *schedulers, read_schedulers);
    if (!err && ours)
        err = read_part(&r, files, sizeof files / sizeof *files, read_async);
    if (!err)
        err = read_part(&r, answers, 1, read_answers);
    free(r.threads);
    return err;
}
