/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Ports and schedulers of a snapshot. Invariant: as of snapshot.c: a port that is told stands where its number says; a
 * scheduler is one that otp_schedulers.h vouches for, or the erlvm's table.
 */
#include <errno.h>
#include <stdlib.h>

#include "snapshot_state.h"

enum {
    MAX_SCHEDULERS = 4096,
    NAME_STEP = 32,
    MAX_CHAIN_BITS = 24,
    MAX_CHAIN = 4096, /* ports of a chain */
};

/* ---- ports of a stock emulator */

static bool read_port_slots(const struct snapshot *s, uint64_t *out)
{
    uint32_t most;

    if (!snapshot_read(s, s->layout->ports + s->layout->off[OTP_PTAB_MAX], &most, sizeof most))
        return false;
    *out = most;
    return true;
}

/* 0: it is no port. */
static ev_id stock_port_id(const struct snapshot *s, uint64_t term)
{
    return (term & 0xf) == OTP_TAG_PORT
               ? ev_id_of_port(snapshot_unpack(&s->layout->port_packing, term) & ((1ull << 60) - 1))
               : 0;
}

static bool read_port_id(const struct snapshot *s, const unsigned char *p, uint64_t slot, ev_id *out)
{
    uint64_t id = snapshot_member(s, p, OTP_PROC_ID), mask = s->layout->port_packing.pix_mask;

    *out = stock_port_id(s, id);
    return *out && (mask ? id >> 4 & mask : id >> 32) == slot;
}

static bool is_port_free(const struct snapshot *s, const unsigned char *p)
{
    uint64_t state = (uint32_t)snapshot_member(s, p, OTP_PORT_STATE);

    return snapshot_bit(s, state, OTP_PORT_STATE_FREE) || snapshot_bit(s, state, OTP_PORT_STATE_INITIALIZING);
}

/* Who is told of ports. */
struct port_taker {
    int (*take)(void *ctx, const struct snapshot_port *port);
    void *ctx;
};

static int visit_port(struct snapshot_walk *w, const struct snapshot_element *e)
{
    const struct port_taker *taker = w->taker;
    const struct snapshot *s = w->s;
    uint64_t flags = (uint32_t)snapshot_member(s, e->bytes, OTP_PORT_FLAGS), queue;
    uint64_t state = (uint32_t)snapshot_member(s, e->bytes, OTP_PORT_STATE);
    struct snapshot_port row = {
        .id = e->id,
        .address = e->address,
        .owner = snapshot_pid(s, snapshot_member(s, e->bytes, OTP_PORT_CONNECTED)),
        .queued_bytes = snapshot_member(s, e->bytes, OTP_PORT_QUEUED),
        .read_bytes = snapshot_member(s, e->bytes, OTP_PORT_READ),
        .written_bytes = snapshot_member(s, e->bytes, OTP_PORT_WRITTEN),
        .busy = snapshot_bit(s, flags, OTP_PORT_IS_BUSY),
        .full = snapshot_bit(s, flags, OTP_PORT_IS_FULL),
        .closing = snapshot_bit(s, flags, OTP_PORT_IS_EXIT) || snapshot_bit(s, state, OTP_PORT_STATE_CLOSING) ||
                   snapshot_bit(s, state, OTP_PORT_STATE_EXITING),
    };

    if (is_port_free(s, e->bytes)) {
        w->count.gone++;
        return 0;
    }
    queue = snapshot_member(s, e->bytes, OTP_PORT_COMMANDS);
    if (queue && !snapshot_read(s, queue + s->layout->off[OTP_COMMANDS_BYTES], &row.command_bytes,
                                sizeof row.command_bytes))
        row.command_bytes = 0;
    if (row.queued_bytes >> 48 || row.command_bytes >> 48) {
        w->count.unclear++;
        return 0;
    }
    w->count.read++;
    return taker->take(taker->ctx, &row);
}

static int take_stock_ports(struct snapshot *s, const struct port_taker *taker, struct snapshot_count *count)
{
    struct snapshot_table ports = {.address = s->layout->ports,
                                   .size = s->layout->off[OTP_PORT_SIZE],
                                   .slots = read_port_slots,
                                   .id = read_port_id,
                                   .is_free = is_port_free,
                                   .visit = visit_port};

    if (!s->layout->ports || !s->layout->port_packing.data_mask)
        return -ENOTSUP;
    return snapshot_walk_table(s, &ports, taker, count);
}

/* ---- ports of an erlvm: chains, of which one port of each is read at a time */

static uint64_t own_number(const struct snapshot *s, const unsigned char *p, enum erlvm_field field, size_t size)
{
    return snapshot_number(p, s->ours->numbers[field], size);
}

/* 0: no port stands there. */
static ev_id own_port_id(uint64_t term)
{
    return (term & 0xf) == OTP_TAG_PORT ? ev_id_of_port(term >> 4) : 0;
}

/* What was read of port `i` of the batch. */
static int visit_own_port(struct snapshot_walk *w, size_t i)
{
    const struct port_taker *taker = w->taker;
    const struct snapshot *s = w->s;
    const unsigned char *p = w->second[i];
    uint64_t state = own_number(s, p, ERLVM_PORT_STATE, 4), job_bytes = own_number(s, p, ERLVM_PORT_JOB_BYTES, 8);
    struct snapshot_port row = {
        .id = own_port_id(own_number(s, p, ERLVM_PORT_ID, 8)),
        .address = w->slots[w->at[i]],
        .owner = snapshot_pid(s, own_number(s, p, ERLVM_PORT_OWNER, 8)),
        .queued_bytes = own_number(s, p, ERLVM_PORT_QUEUED, 8),
        .command_bytes = own_number(s, p, ERLVM_PORT_COMMANDS, 8),
        .read_bytes = own_number(s, p, ERLVM_PORT_READ, 8),
        .written_bytes = own_number(s, p, ERLVM_PORT_WRITTEN, 8),
        .busy = own_number(s, p, ERLVM_PORT_BUSY, 1),
        .full = own_number(s, p, ERLVM_PORT_FULL, 1),
        .closing = state == s->ours->numbers[ERLVM_PORT_IS_FLUSHING],
        .callback = own_number(s, p, ERLVM_PORT_CALLBACK, 8),
        .callback_ns = own_number(s, p, ERLVM_PORT_CALLBACK_NS, 8),
    };

    if (!w->pieces[i].read || state == s->ours->numbers[ERLVM_PORT_IS_CLOSED] ||
        own_number(s, w->first[i], ERLVM_PORT_ID, 8) != own_number(s, p, ERLVM_PORT_ID, 8)) {
        w->count.gone++;
        return 0;
    }
    if (!row.id || (row.queued_bytes | job_bytes | row.command_bytes) >> 48) {
        w->count.unclear++;
        return 0;
    }
    row.queued_bytes += job_bytes;
    w->count.read++;
    return taker->take(taker->ctx, &row);
}

/* Tells `n` ports, whose addresses each becomes that of the next of its chain, or 0. */
static int take_links(struct snapshot_walk *w, uint64_t *ports, size_t n)
{
    int err = 0;

    for (w->n = 0; w->n < n; w->n++) {
        w->slots[w->n] = ports[w->n];
        w->at[w->n] = w->n;
    }
    snapshot_read_batch(w, w->first);
    snapshot_read_batch(w, w->second);
    for (size_t i = 0; i < n && !err; i++) {
        ports[i] = w->pieces[i].read ? own_number(w->s, w->second[i], ERLVM_PORT_NEXT, 8) : 0;
        err = visit_own_port(w, i);
    }
    return err;
}

/* Leaves out what is 0; returns how many remain. */
static size_t squeeze(uint64_t *ports, size_t n)
{
    size_t left = 0;

    for (size_t i = 0; i < n; i++)
        if (ports[i])
            ports[left++] = ports[i];
    return left;
}

static int take_chains(struct snapshot_walk *w, uint64_t *ports, size_t n)
{
    int err = 0;

    for (int depth = 0; (n = squeeze(ports, n)) > 0; depth++) {
        if (depth == MAX_CHAIN || w->count.unclear > w->count.read + SNAPSHOT_MOST)
            return -EBADMSG;
        for (size_t i = 0; i < n; i += SNAPSHOT_BATCH)
            if ((err = take_links(w, ports + i, n - i < SNAPSHOT_BATCH ? n - i : SNAPSHOT_BATCH)))
                return err;
    }
    return 0;
}

static int read_chains(struct snapshot_walk *w, uint64_t *ports, size_t n)
{
    const uint32_t *numbers = w->s->ours->numbers;
    uint64_t root = w->s->ours->roots[LAYOUT_ROOM_PORTS];

    if (!snapshot_read(w->s, root + numbers[ERLVM_PORTS_COUNT], &w->count.listed, sizeof w->count.listed) ||
        !snapshot_read(w->s, root + numbers[ERLVM_PORTS_BUCKETS], ports, n * sizeof *ports))
        return -ESRCH;
    return take_chains(w, ports, n);
}

static int take_own_ports(struct snapshot *s, const struct port_taker *taker, struct snapshot_count *count)
{
    uint32_t bits = s->ours->numbers[ERLVM_PORTS_BITS];
    struct snapshot_walk *w;
    uint64_t *ports;
    int err = -ENOMEM;

    if (!s->ours->roots[LAYOUT_ROOM_PORTS] || bits > MAX_CHAIN_BITS)
        return -ENOTSUP;
    w = calloc(1, sizeof *w);
    ports = malloc(sizeof *ports << bits);
    if (w && ports) {
        w->s = s;
        w->taker = taker;
        w->size = s->ours->numbers[ERLVM_PORT_SIZE] < SNAPSHOT_MOST ? s->ours->numbers[ERLVM_PORT_SIZE] : SNAPSHOT_MOST;
        err = read_chains(w, ports, (size_t)1 << bits);
        if (count)
            *count = w->count;
    }
    free(ports);
    free(w);
    return err;
}

/* ---- ports of both */

int snapshot_ports(struct snapshot *s, int (*take)(void *ctx, const struct snapshot_port *port), void *ctx,
                   struct snapshot_count *count)
{
    struct port_taker taker = {take, ctx};

    if (count)
        *count = (struct snapshot_count){0};
    return (s->ours ? take_own_ports : take_stock_ports)(s, &taker, count);
}

bool snapshot_text(const struct snapshot *s, uint64_t at, char *buf, size_t size)
{
    for (size_t done = 0; done + 1 < size; done += NAME_STEP) {
        size_t n = size - 1 - done < NAME_STEP ? size - 1 - done : NAME_STEP;
        size_t got = memory_file_read_some(memory_file(s->memory), at + done, buf + done, n);

        buf[done + got] = '\0';
        if (memchr(buf + done, 0, got))
            return true;
        if (got < n)
            return false;
    }
    return size > 0;
}

bool snapshot_port_name(struct snapshot *s, const struct snapshot_port *port, char *buf, size_t size)
{
    const uint16_t *off = s->layout->off;
    uint64_t name_at = port->address + (s->ours ? s->ours->numbers[ERLVM_PORT_NAME] : off[OTP_PORT_NAME]);
    uint64_t id_at = port->address + (s->ours ? s->ours->numbers[ERLVM_PORT_ID] : off[OTP_PROC_ID]), name, id;

    return snapshot_read(s, name_at, &name, sizeof name) && snapshot_text(s, name, buf, size) &&
           snapshot_read(s, id_at, &id, sizeof id) && (s->ours ? own_port_id(id) : stock_port_id(s, id)) == port->id;
}

/* ---- schedulers */

/* The process that stands at the address; 0: none does. */
static ev_id running_at(const struct snapshot *s, uint64_t process)
{
    uint64_t id;

    return process && snapshot_read(s, process + s->layout->off[OTP_PROC_ID], &id, sizeof id) ? snapshot_pid(s, id) : 0;
}

/* What the VM keeps of a scheduler. False: it cannot be read. */
static bool fill_scheduler(const struct snapshot *s, uint64_t data, struct snapshot_scheduler *out)
{
    const uint16_t *off = s->layout->off;
    uint64_t current, queue;
    uint32_t length;

    if (!snapshot_read(s, data + off[OTP_SCHED_CURRENT], &current, sizeof current) ||
        !snapshot_read(s, data + off[OTP_SCHED_QUEUE], &queue, sizeof queue) ||
        !snapshot_read(s, data + off[OTP_SCHED_REDS], &out->reductions, sizeof out->reductions) ||
        !snapshot_read(s, queue + off[OTP_QUEUE_LEN], &length, sizeof length))
        return false;
    out->running = running_at(s, current);
    out->address = data;
    out->queued = length;
    return true;
}

int snapshot_find_schedulers(struct snapshot *s)
{
    if (s->schedulers)
        return 0;
    return otp_schedulers_find(memory_file(s->memory), otp_symbols_image(s->vm->symbols), s->layout, &s->schedulers,
                               &s->nschedulers);
}

static int take_stock(struct snapshot *s, int (*take)(void *, const struct snapshot_scheduler *), void *ctx)
{
    const uint16_t *off = s->layout->off;
    int err = snapshot_find_schedulers(s);

    for (size_t i = 0; !err && i < s->nschedulers; i++) {
        uint64_t data = s->schedulers[i].data, number = 0;
        struct snapshot_scheduler row = {0};
        uint32_t type;

        if (!snapshot_read(s, data + off[OTP_SCHED_TYPE], &type, sizeof type) || type > SNAPSHOT_DIRTY_IO ||
            !snapshot_read(s, data + off[type ? OTP_SCHED_DIRTY_NO : OTP_SCHED_NO], &number, sizeof number) ||
            !fill_scheduler(s, data, &row))
            return -ESRCH;
        row.number = (uint32_t)number;
        row.type = (enum snapshot_scheduler_type)type;
        err = take(ctx, &row);
    }
    return err == -ENOENT ? -ESRCH : err;
}

/* What of a queue of dirty schedulers cannot be, or be read, are none. */
static int take_own_dirty(struct snapshot *s, uint64_t queue, enum snapshot_scheduler_type type,
                          int (*take)(void *, const struct snapshot_scheduler *), void *ctx)
{
    const uint32_t *numbers = s->ours->numbers;
    uint32_t count, length;
    uint64_t threads, process;
    int err = 0;

    if (!snapshot_read(s, queue + numbers[ERLVM_DIRTY_COUNT], &count, sizeof count) ||
        !snapshot_read(s, queue + numbers[ERLVM_DIRTY_LENGTH], &length, sizeof length) ||
        !snapshot_read(s, queue + numbers[ERLVM_DIRTY_THREADS], &threads, sizeof threads))
        return 0;
    for (uint32_t i = 0; i < count && i < MAX_SCHEDULERS && !err; i++) {
        struct snapshot_scheduler row = {.type = type, .number = i + 1, .queued = length};
        uint64_t at = threads + (uint64_t)i * numbers[ERLVM_DIRTY_THREAD_SIZE] + numbers[ERLVM_DIRTY_THREAD_PROCESS];

        if (!snapshot_read(s, at, &process, sizeof process))
            return 0;
        row.running = running_at(s, process);
        err = take(ctx, &row);
    }
    return err;
}

static int take_ours(struct snapshot *s, int (*take)(void *, const struct snapshot_scheduler *), void *ctx)
{
    uint64_t root = s->ours->roots[LAYOUT_ROOM_SCHEDULERS], all, data;
    uint32_t count, thread = s->ours->numbers[ERLVM_SCHED_THREAD]; /* 0: an erlvm that is older than that */
    int err = 0;

    if (!snapshot_read(s, root + s->ours->numbers[ERLVM_SCHEDS_COUNT], &count, sizeof count) ||
        !snapshot_read(s, root + s->ours->numbers[ERLVM_SCHEDS_ALL], &all, sizeof all))
        return -ESRCH;
    for (uint32_t i = 0; i < count && i < MAX_SCHEDULERS && !err; i++) {
        struct snapshot_scheduler row = {.number = i + 1};

        if (!snapshot_read(s, all + i * sizeof data, &data, sizeof data) || !fill_scheduler(s, data, &row) ||
            (thread && !snapshot_read(s, data + thread, &row.thread, sizeof row.thread)))
            return -ESRCH;
        err = take(ctx, &row);
    }
    root = s->ours->roots[LAYOUT_ROOM_DIRTY];
    for (int type = SNAPSHOT_DIRTY_CPU; root && type <= SNAPSHOT_DIRTY_IO && !err; type++)
        err = take_own_dirty(s, root + (uint64_t)(type - SNAPSHOT_DIRTY_CPU) * s->ours->numbers[ERLVM_DIRTY_QUEUE_SIZE],
                             (enum snapshot_scheduler_type)type, take, ctx);
    return err;
}

int snapshot_schedulers(struct snapshot *s, int (*take)(void *ctx, const struct snapshot_scheduler *scheduler),
                        void *ctx)
{
    return (s->ours ? take_ours : take_stock)(s, take, ctx);
}
