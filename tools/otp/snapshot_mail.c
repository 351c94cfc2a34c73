/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Messages and dictionary of one process. Invariant: no queue is followed for more than a bounded number of signals,
 * nor a table of pairs beyond its bounded size. A message is told while the queue begins as it did: what is taken from
 * its front meanwhile ends the walk.
 * Source: erl_message.h, erl_proc_sig_queue.h and erl_process_dict.c of OTP; proc/message.h and proc/dict.h.
 */
#include <errno.h>

#include "snapshot_one.h"
#include "snapshot_state.h"

enum {
    MOST_OTHERS = 4096,   /* signals that are no messages */
    MOST_BUFFERS = 64,    /* of messages in front of a queue */
    MOST_SLOTS = 1 << 20, /* of a dictionary */
    MOST_CHAIN = 4096,    /* pairs of a slot */
    SIGNAL_BYTES = 256,   /* of an erlvm's signal, up to the end of what is read */
    FOREIGN = 0x18,       /* from OTP 27 on, in place of a term; before that 0 */
};

struct walk {
    struct snapshot *s;
    const struct snapshot_process *p;
    int (*take)(void *ctx, uint64_t term);
    void *ctx;
    struct snapshot_seen *seen;
    uint64_t most;
    unsigned others; /* other signals so far */
    uint64_t head_at, head; /* where the first message's address stands, and what stood there */
};

/* The first message is still that of the beginning: nothing was taken from the front. */
static bool is_as_it_was(struct walk *w)
{
    uint64_t head;

    if (snapshot_read(w->s, w->head_at, &head, sizeof head) && head == w->head)
        return true;
    w->seen->moved = true;
    return false;
}

/* Tells the message when it may be told. *stops: the walk is over. */
static int visit(struct walk *w, uint64_t term, bool *stops)
{
    int err;

    if (w->seen->read == w->most) {
        *stops = w->seen->more = true;
        return 0;
    }
    if (!is_as_it_was(w)) {
        *stops = true;
        return 0;
    }
    err = w->take(w->ctx, term);
    w->seen->read++;
    return err;
}

static bool is_spent(struct walk *w)
{
    if (w->others++ < MOST_OTHERS)
        return false;
    return w->seen->more = true;
}

/* ---- a stock emulator */

/* Begins like ErtsMessage: next, data, first term. */
struct signal {
    uint64_t next, data, term;
};

static int walk_stock(struct walk *w, uint64_t at, bool *stops)
{
    struct signal signal;
    int err = 0;

    for (; at && !err && !*stops; at = signal.next) {
        if (at & 7 || !snapshot_read(w->s, at, &signal, sizeof signal)) {
            *stops = w->seen->moved = true;
            return 0;
        }
        if ((signal.term & 3) != 0)
            err = visit(w, signal.term, stops);
        else if (!signal.term || signal.term == FOREIGN)
            err = visit(w, 0, stops);
        else
            *stops = is_spent(w);
    }
    return err;
}

/* Those that senders have put in front of the outer queue, when many send. */
static int walk_buffers(struct walk *w, uint64_t buffers, bool *stops)
{
    const uint16_t *off = w->s->layout->off;
    uint64_t first;
    int err = 0;

    for (uint64_t i = 0; buffers && i < MOST_BUFFERS && !err && !*stops; i++) {
        if (!snapshot_read(w->s, buffers + i * off[OTP_BUFFER_SIZE] + off[OTP_BUFFER_FIRST], &first, sizeof first))
            return 0;
        err = walk_stock(w, first, stops);
    }
    return err;
}

static int walk_stock_queues(struct walk *w)
{
    static const enum otp_field fields[] = {OTP_PROC_QUEUE, OTP_PROC_MIDDLE, OTP_PROC_OUTER, OTP_PROC_BUFFERS};
    const uint16_t *off = w->s->layout->off;
    uint64_t first[sizeof fields / sizeof *fields];
    bool stops = false;
    int err = 0;

    if (off[OTP_PROC_MIDDLE] == OTP_NOWHERE)
        return -ENOTSUP;
    for (size_t i = 0; i < sizeof fields / sizeof *fields; i++)
        if (!snapshot_read(w->s, w->p->address + off[fields[i]], &first[i], sizeof first[i]))
            return -ESRCH;
    w->head_at = w->p->address + off[OTP_PROC_QUEUE];
    w->head = first[0];
    for (size_t i = 0; i < 3 && !err && !stops; i++)
        err = walk_stock(w, first[i], &stops);
    return err || stops ? err : walk_buffers(w, first[3], &stops);
}

/* ---- an erlvm */

static uint64_t part(const struct walk *w, const unsigned char *bytes, enum erlvm_field field, size_t size)
{
    return snapshot_part(bytes, SIGNAL_BYTES, w->s->ours->numbers[field], size);
}

static int walk_own(struct walk *w, uint64_t at, bool *stops)
{
    const uint32_t *numbers = w->s->ours->numbers;
    unsigned char bytes[SIGNAL_BYTES];
    size_t size = numbers[ERLVM_SIGNAL_TERM] + sizeof(uint64_t);
    int err = 0;

    for (; at && !err && !*stops; at = part(w, bytes, ERLVM_SIGNAL_NEXT, 8)) {
        if (at & 7 || size > sizeof bytes || !snapshot_read(w->s, at, bytes, size)) {
            *stops = w->seen->moved = true;
            return 0;
        }
        if (part(w, bytes, ERLVM_SIGNAL_KIND, 1) == numbers[ERLVM_SIGNAL_IS_MESSAGE])
            err = visit(w, part(w, bytes, ERLVM_SIGNAL_TERM, 8), stops);
        else
            *stops = is_spent(w);
    }
    return err;
}

static int walk_own_queues(struct walk *w)
{
    const uint32_t *numbers = w->s->ours->numbers;
    uint64_t first, incoming;
    bool stops = false;
    int err;

    if (!w->s->ours->roots[LAYOUT_ROOM_MAILBOXES])
        return -ENOTSUP;
    w->head_at = w->p->address + numbers[ERLVM_PROC_FIRST];
    if (!snapshot_read(w->s, w->head_at, &first, sizeof first) ||
        !snapshot_read(w->s, w->p->address + numbers[ERLVM_PROC_IN_FIRST], &incoming, sizeof incoming))
        return -ESRCH;
    w->head = first;
    err = walk_own(w, first, &stops);
    return err || stops ? err : walk_own(w, incoming, &stops);
}

/* ---- both */

int snapshot_messages(struct snapshot *s, const struct snapshot_process *p, uint64_t most,
                      int (*take)(void *ctx, uint64_t term), void *ctx, struct snapshot_seen *seen)
{
    struct walk w = {.s = s, .p = p, .take = take, .ctx = ctx, .seen = seen, .most = most};
    int err;

    *seen = (struct snapshot_seen){0};
    err = (s->ours ? walk_own_queues : walk_stock_queues)(&w);
    if (err)
        return err;
    is_as_it_was(&w);
    return snapshot_lives(s, p) ? 0 : -ESRCH;
}

/* ---- the dictionary */

struct pairs {
    struct snapshot *s;
    int (*take)(void *ctx, uint64_t key, uint64_t value);
    void *ctx;
    struct snapshot_seen *seen;
};

static int visit_pair(struct pairs *d, uint64_t key, uint64_t value)
{
    d->seen->read++;
    return d->take(d->ctx, key, value);
}

/* {Key, Value} */
static int visit_tuple(struct pairs *d, uint64_t term)
{
    uint64_t tuple[3];

    if ((term & 3) != OTP_TAG_BOXED)
        return 0;
    if (!snapshot_read(d->s, term & ~7ull, tuple, sizeof tuple) || tuple[0] != 2 << 6) {
        d->seen->moved = true;
        return 0;
    }
    return visit_pair(d, tuple[1], tuple[2]);
}

/* A slot is a pair, a list of pairs, or nil. */
static int visit_slot(struct pairs *d, uint64_t slot)
{
    uint64_t cell[2];
    int err = 0;

    for (int i = 0; (slot & 3) == OTP_TAG_LIST && !err; i++, slot = cell[1]) {
        if (i == MOST_CHAIN || !snapshot_read(d->s, slot & ~7ull, cell, sizeof cell)) {
            d->seen->moved = true;
            return 0;
        }
        err = visit_tuple(d, cell[0]);
    }
    return err ? err : visit_tuple(d, slot);
}

/* Source: bpf/otp_call.bpf.h. */
struct stock_dictionary {
    uint32_t mask, used, size, split;
    uint64_t n;
};

static int visit_stock_pairs(struct pairs *d, uint64_t at)
{
    struct stock_dictionary dictionary;
    uint64_t slot;
    int err = 0;

    if (!snapshot_read(d->s, at, &dictionary, sizeof dictionary))
        return -ESRCH;
    for (uint32_t i = 0; i < dictionary.used && !err; i++) {
        if (i == MOST_SLOTS || !snapshot_read(d->s, at + sizeof dictionary + i * sizeof slot, &slot, sizeof slot)) {
            d->seen->moved = true;
            return 0;
        }
        err = visit_slot(d, slot);
    }
    return err;
}

static int visit_own_pairs(struct pairs *d, uint64_t at)
{
    const uint32_t *numbers = d->s->ours->numbers;
    uint64_t pair[2];
    uint32_t room;
    int err = 0;

    if (!snapshot_read(d->s, at + numbers[ERLVM_DICT_ROOM], &room, sizeof room))
        return -ESRCH;
    for (uint32_t i = 0; i < room && !err; i++) {
        if (i == MOST_SLOTS ||
            !snapshot_read(d->s, at + numbers[ERLVM_DICT_PAIRS] + i * sizeof pair, pair, sizeof pair)) {
            d->seen->moved = true;
            return 0;
        }
        err = pair[0] ? visit_pair(d, pair[0], pair[1]) : 0;
    }
    return err;
}

int snapshot_dictionary(struct snapshot *s, const struct snapshot_process *p,
                        int (*take)(void *ctx, uint64_t key, uint64_t value), void *ctx, struct snapshot_seen *seen)
{
    struct pairs d = {s, take, ctx, seen};
    uint64_t at;
    int err = 0;

    *seen = (struct snapshot_seen){0};
    if (!snapshot_read(s, p->address + s->layout->off[OTP_PROC_DICTIONARY], &at, sizeof at))
        return -ESRCH;
    if (at)
        err = (s->ours ? visit_own_pairs : visit_stock_pairs)(&d, at);
    return err ? err : snapshot_lives(s, p) ? 0 : -ESRCH;
}
