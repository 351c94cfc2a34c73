/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Ports and schedulers of a snapshot. Invariant: as of snapshot.c: a port that is told stands where its number says; a
 * scheduler is one that otp_schedulers.h vouches for, or the erlvm's table.
 */
#include <errno.h>
#include <stdlib.h>

#include "snapshot_state.h"

enum { MAX_SCHEDULERS = 4096, NAME_STEP = 32 };

/* ---- ports */

static bool read_port_slots(const struct snapshot *s, uint64_t *out)
{
    uint32_t most;

    if (!snapshot_read(s, s->layout->ports + s->layout->off[OTP_PTAB_MAX], &most, sizeof most))
        return false;
    *out = most;
    return true;
}

static bool read_port_id(const struct snapshot *s, const unsigned char *p, uint64_t slot, ev_id *out)
{
    uint64_t id = snapshot_member(s, p, OTP_PROC_ID), mask = s->layout->port_packing.pix_mask;

    if ((id & 0xf) != OTP_TAG_PORT || (mask ? id >> 4 & mask : id >> 32) != slot)
        return false;
    *out = ev_id_of_port(snapshot_unpack(&s->layout->port_packing, id) & ((1ull << 60) - 1));
    return true;
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

static int tell_port(struct snapshot_walk *w, const struct snapshot_element *e)
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
    w->count.told++;
    return taker->take(taker->ctx, &row);
}

int snapshot_ports(struct snapshot *s, int (*take)(void *ctx, const struct snapshot_port *port), void *ctx,
                   struct snapshot_count *count)
{
    struct snapshot_table ports = {.address = s->layout->ports,
                                   .size = s->layout->off[OTP_PORT_SIZE],
                                   .slots = read_port_slots,
                                   .id = read_port_id,
                                   .is_free = is_port_free,
                                   .tell = tell_port};

    if (s->ours || !s->layout->ports || !s->layout->port_packing.data_mask) {
        if (count)
            *count = (struct snapshot_count){0};
        return -ENOTSUP;
    }
    return snapshot_walk_table(s, &ports, &(struct port_taker){take, ctx}, count);
}

/* A text of the VM, cut. False: it cannot be read to its end. */
static bool read_text(const struct snapshot *s, uint64_t at, char *buf, size_t size)
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
    uint64_t name, id;

    return snapshot_read(s, port->address + off[OTP_PORT_NAME], &name, sizeof name) &&
           read_text(s, name, buf, size) &&
           snapshot_read(s, port->address + off[OTP_PROC_ID], &id, sizeof id) && (id & 0xf) == OTP_TAG_PORT &&
           ev_id_of_port(snapshot_unpack(&s->layout->port_packing, id) & ((1ull << 60) - 1)) == port->id;
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
    out->queued = length;
    return true;
}

static int find_schedulers(struct snapshot *s)
{
    if (s->schedulers)
        return 0;
    return otp_schedulers_find(memory_file(s->memory), otp_symbols_image(s->vm->symbols), s->layout, &s->schedulers,
                               &s->nschedulers);
}

static int take_stock(struct snapshot *s, int (*take)(void *, const struct snapshot_scheduler *), void *ctx)
{
    const uint16_t *off = s->layout->off;
    int err = find_schedulers(s);

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

static int take_ours(struct snapshot *s, int (*take)(void *, const struct snapshot_scheduler *), void *ctx)
{
    uint64_t root = s->ours->roots[LAYOUT_ROOM_SCHEDULERS], all, data;
    uint32_t count;
    int err = 0;

    if (!snapshot_read(s, root + s->ours->numbers[ERLVM_SCHEDS_COUNT], &count, sizeof count) ||
        !snapshot_read(s, root + s->ours->numbers[ERLVM_SCHEDS_ALL], &all, sizeof all))
        return -ESRCH;
    for (uint32_t i = 0; i < count && i < MAX_SCHEDULERS && !err; i++) {
        struct snapshot_scheduler row = {.number = i + 1};

        if (!snapshot_read(s, all + i * sizeof data, &data, sizeof data) || !fill_scheduler(s, data, &row))
            return -ESRCH;
        err = take(ctx, &row);
    }
    return err;
}

int snapshot_schedulers(struct snapshot *s, int (*take)(void *ctx, const struct snapshot_scheduler *scheduler),
                        void *ctx)
{
    return (s->ours ? take_ours : take_stock)(s, take, ctx);
}
