/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * From a send to the moment when its receiver is scheduled. A process waits from the first message that comes to it
 * while it does not run, whoever sent it, until it is scheduled. Invariant: each message is in the totals, each wait in
 * one histogram.
 */
#ifndef BPF_VIEW_MSGLAT_H
#define BPF_VIEW_MSGLAT_H

/*
 * What a receiver's state is below: it does not run and nothing waits, it runs; greater: when the oldest waiting
 * message was sent.
 */
enum { MSGLAT_IDLE, MSGLAT_RUNS };

VIEW_INLINE void view_msglat_comes(const struct ev_head *h, ev_id receiver)
{
    bool told = h->tells & EV_TELLS_RUNNING, runs = h->tells & EV_RUNS;
    struct row_msglat_totals *totals = msglat_totals_row(h);
    struct state_msglat_receivers *r = runs ? 0 : msglat_receivers_upsert(h, receiver);
    __u64 state = r ? r->state : MSGLAT_IDLE;

    runs |= !told && state == MSGLAT_RUNS;
    VIEW_ADD(totals, messages, 1);
    if (runs)
        VIEW_ADD(totals, to_running, 1);
    if (runs || !r)
        return;
    r->whom.id = receiver;
    r->whom.where = h->where;
    if (state <= MSGLAT_RUNS)
        VIEW_REPLACE(&r->state, state, view_ns(h));
    VIEW_ADD(r, waiting, 1);
}

VIEW_INLINE void view_msglat_on_message__send(const struct ev_message__send *ev)
{
    view_msglat_comes(&ev->head, ev->receiver);
}

VIEW_INLINE void view_msglat_on_message__arrive(const struct ev_message__arrive *ev)
{
    view_msglat_comes(&ev->head, ev->receiver);
}

VIEW_INLINE void view_msglat_on_process__scheduled(const struct ev_process__scheduled *ev)
{
    bool told = ev->head.tells & EV_TELLS_RUNNING;
    struct state_msglat_receivers *r = told ? msglat_receivers_get(&ev->head, ev->pid)
                                            : msglat_receivers_upsert(&ev->head, ev->pid);
    __u64 first = r ? VIEW_SWAP(&r->state, MSGLAT_RUNS) : MSGLAT_IDLE, messages, now, latency;
    struct told_msglat_wait *record;
    VIEW_NAME(name); /* of the one, then of the other: there is no room for two */

    if (first <= MSGLAT_RUNS)
        return;
    messages = VIEW_SWAP(&r->waiting, 0);
    now = view_ns(&ev->head);
    latency = now > first ? now - first : 0;
    VIEW_ADD(msglat_totals_row(&ev->head), wakeups, 1);
    view_owner(&ev->head, ev->pid, &name);
    VIEW_OBSERVE(msglat_by_owner_row(&ev->head, &name), latency, latency);
    view_mfa(&ev->head, ev->mfa, &name);
    VIEW_OBSERVE(msglat_by_mfa_row(&ev->head, &name), latency, latency);
    record = latency < VIEW_FILTER(msglat, slower) ? 0 : msglat_wait_record(&ev->head, now);
    if (!record)
        return;
    record->event = 0;
    record->receiver = ev->pid;
    record->latency = latency;
    record->messages = messages;
    name_copy(&record->mfa, &name);
    VIEW_TELL(record);
}

VIEW_INLINE void view_msglat_on_process__unscheduled(const struct ev_process__unscheduled *ev)
{
    struct state_msglat_receivers *r = msglat_receivers_get(&ev->head, ev->pid);

    if (r && r->state == MSGLAT_RUNS) /* which only this process leaves */
        r->state = MSGLAT_IDLE;
}

VIEW_INLINE void view_msglat_on_process__exit(const struct ev_process__exit *ev)
{
    struct state_msglat_receivers gone;

    msglat_receivers_take(&ev->head, ev->pid, &gone);
}

#endif
