/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Invariant: a call is told to be waited for by nobody when its caller could not be answered at a moment at which the
 * call stood in the mailbox. So mailboxes are read first, then callers, then mailboxes again: what is not there any
 * more was taken, and may have been answered, before its caller was looked at.
 * Source: gen:call/4 of stdlib, {Label, {Caller, Tag}, Request}; bpf/hook_request.bpf.h and vm/proc/request.c read it
 * in the same way.
 */
#include "letters.h"

#include <errno.h>
#include <stdlib.h>

#include "common/array.h"
#include "snapshot_one.h"
#include "snapshot_state.h"
#include "snapshot_terms.h"

struct letter {
    ev_id caller;
    uint64_t ref;
    size_t box;     /* the place of its mailbox */
    bool alias;     /* the caller can be answered as long as it has the reference */
    bool lives;     /* the caller */
    bool waits;     /* it has the reference, or that is not known */
    bool stays;     /* the call is still in the mailbox */
};

struct reading {
    struct snapshot *s;
    struct letter *all; /* once callers are looked at, in order, and no two alike */
    size_t n, room, box;
    struct letters *out; /* of `box` */
    struct letter *first, *last; /* of the caller that is looked at; last: behind them */
};

/* ---- what a message says */

static bool read_tuple(struct snapshot *s, uint64_t term, uint64_t arity, uint64_t *elements)
{
    enum { MOST = 3, HEADER_SHIFT = 6 };
    uint64_t words[1 + MOST];

    if ((term & 3) != OTP_TAG_BOXED || !snapshot_read(s, term & ~7ull, words, (1 + arity) * sizeof *words) ||
        words[0] != arity << HEADER_SHIFT)
        return false;
    memcpy(elements, words + 1, arity * sizeof *elements);
    return true;
}

static bool read_cell(struct snapshot *s, uint64_t term, uint64_t cell[2])
{
    return (term & 3) == OTP_TAG_LIST && snapshot_read(s, term & ~7ull, cell, 2 * sizeof *cell);
}

/* Ref, [alias | Ref], [[alias | Ref] | _]. */
static bool read_tag(struct snapshot *s, uint64_t tag, struct letter *out)
{
    uint64_t cell[2];

    for (int depth = 0; depth < 2 && read_cell(s, tag, cell); depth++) {
        out->alias = (cell[0] & 0x3f) == OTP_TAG_ATOM;
        tag = (cell[0] & 3) == OTP_TAG_LIST ? cell[0] : cell[1];
    }
    return snapshot_reference(s, tag, &out->ref);
}

/* Of a caller of another node the id is 0. */
static bool read_call(struct snapshot *s, uint64_t message, struct letter *out)
{
    uint64_t call[3], from[2], header;

    *out = (struct letter){0};
    if (!read_tuple(s, message, 3, call) || !read_tuple(s, call[1], 2, from))
        return false;
    if ((from[0] & 0xf) == OTP_TAG_PID) {
        out->caller = snapshot_pid(s, from[0]);
        return out->caller && read_tag(s, from[1], out);
    }
    return (from[0] & 3) == OTP_TAG_BOXED && snapshot_read(s, from[0] & ~7ull, &header, sizeof header) &&
           (header & 0x3f) == OTP_HEADER_REMOTE_PID && read_tag(s, from[1], out);
}

/* ---- mailboxes */

static int keep_call(void *ctx, uint64_t message)
{
    struct reading *r = ctx;
    struct letter letter;
    int err;

    if (!message || !read_call(r->s, message, &letter))
        return 0;
    if (!letter.caller) {
        r->out->elsewhere++;
        return 0;
    }
    err = array_room((void **)&r->all, r->n, &r->room, sizeof *r->all);
    if (err)
        return err;
    letter.box = r->box;
    r->all[r->n++] = letter;
    return 0;
}

static int compare(const void *a, const void *b)
{
    const struct letter *x = a, *y = b;

    if (x->caller != y->caller)
        return x->caller < y->caller ? -1 : 1;
    if (x->ref != y->ref)
        return x->ref < y->ref ? -1 : 1;
    return x->box < y->box ? -1 : x->box > y->box;
}

static int see_again(void *ctx, uint64_t message)
{
    struct reading *r = ctx;
    struct letter letter, *found;

    if (!message || !read_call(r->s, message, &letter) || !letter.caller)
        return 0;
    letter.box = r->box;
    found = bsearch(&letter, r->all, r->n, sizeof *r->all, compare);
    if (found)
        found->stays = true;
    return 0;
}

/* A process that has ended has no messages. */
static int read_boxes(struct reading *r, const struct snapshot_process *const *processes, size_t n,
                      struct letters *out, int (*take)(void *ctx, uint64_t message))
{
    struct snapshot_seen seen;
    int err = 0;

    for (r->box = 0; r->box < n && !err; r->box++) {
        r->out = &out[r->box];
        err = snapshot_messages(r->s, processes[r->box], LETTERS_LOOKED_AT, take, r, &seen);
        err = err == -ESRCH ? 0 : err;
    }
    return err;
}

/* A call that was met twice while the mailbox moved is one. */
static void sort(struct reading *r)
{
    size_t n = 0;

    if (r->n)
        qsort(r->all, r->n, sizeof *r->all, compare);
    for (size_t i = 0; i < r->n; i++)
        if (!n || compare(&r->all[n - 1], &r->all[i]))
            r->all[n++] = r->all[i];
    r->n = n;
}

/* ---- callers */

/* The first one that does not stand before the call. */
static struct letter *first_from(const struct reading *r, const struct letter *call)
{
    size_t low = 0, high = r->n;

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (compare(&r->all[middle], call) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return r->all + low;
}

static int see_reference(void *ctx, uint64_t ref)
{
    struct reading *r = ctx;
    const struct letter call = {.caller = r->first->caller, .ref = ref};

    for (struct letter *letter = first_from(r, &call); letter < r->last && letter->ref == ref; letter++)
        letter->waits = true;
    return 0;
}

static bool all_wait(const struct reading *r)
{
    for (const struct letter *letter = r->first; letter < r->last; letter++)
        if (!letter->waits)
            return false;
    return true;
}

/* A tree may be turned while it is read, which can hide a part of it: what was not met is looked for once more. */
static int look_for_references(struct reading *r, const struct snapshot_process *is)
{
    struct snapshot_seen seen = {0};
    int err = 0;

    for (int i = 0; i < 2 && !err && !all_wait(r); i++) {
        err = snapshot_references(r->s, is, see_reference, r, &seen);
        for (struct letter *letter = r->first; letter < r->last; letter++)
            letter->waits |= err || seen.more || seen.moved;
    }
    return err == -ESRCH ? 0 : err;
}

static int see_caller(void *ctx, const struct snapshot_process *is)
{
    struct reading *r = ctx;

    if (is->status == SNAPSHOT_EXITING)
        return 0;
    r->first = r->last = first_from(r, &(struct letter){.caller = is->id});
    while (r->last < r->all + r->n && r->last->caller == is->id)
        r->last++;
    for (struct letter *letter = r->first; letter < r->last; letter++) {
        letter->lives = true;
        letter->waits = !letter->alias;
    }
    return look_for_references(r, is);
}

/* Of processes whose memory made no sense one may be the caller. */
static int look_at_callers(struct reading *r)
{
    struct snapshot_count count;
    int err = r->n ? snapshot_processes(r->s, see_caller, r, &count) : 0;

    for (size_t i = 0; i < r->n && !err && count.unclear; i++)
        r->all[i].waits |= !r->all[i].lives;
    return err;
}

static void count(const struct reading *r, struct letters *out)
{
    for (size_t i = 0; i < r->n; i++) {
        const struct letter *letter = &r->all[i];
        struct letters *box = &out[letter->box];

        box->calls += letter->stays;
        box->gave_up += letter->stays && letter->lives && !letter->waits;
        box->ended += letter->stays && !letter->lives && !letter->waits;
    }
}

int letters_read(struct snapshot *s, const struct snapshot_process *const *processes, size_t n, struct letters *out)
{
    struct reading r = {.s = s};
    int err;

    memset(out, 0, n * sizeof *out);
    err = read_boxes(&r, processes, n, out, keep_call);
    sort(&r);
    err = err ? err : look_at_callers(&r);
    err = err || !r.n ? err : read_boxes(&r, processes, n, out, see_again);
    if (!err)
        count(&r, out);
    free(r.all);
    return err;
}
