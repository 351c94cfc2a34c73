/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Timers that send messages: who sets them and for how long, who takes them back, in time or too late, to whom they
 * fire and how late. Nothing is kept by timer.
 */
#ifndef BPF_VIEW_TIMERS_H
#define BPF_VIEW_TIMERS_H

/* Words of the column "event". */
enum { TIMERS_SET, TIMERS_CANCELLED, TIMERS_FIRED, TIMERS_DROPPED };

/* VIEW_UNKNOWN: time is not known. */
VIEW_APART int view_timers_tell(const struct ev_head *h, __u32 what, ev_id pid, __u64 time,
                                const struct name_text *owner)
{
    struct told_timers_told *record = timers_told_record(h, view_ns(h));

    if (!record)
        return 0;
    record->event = what;
    record->pid = pid;
    record->span = time;
    name_copy(&record->owner, owner);
    VIEW_TELL(record);
    return 0;
}

VIEW_INLINE void view_timers_on_timer__set(const struct ev_timer__set *ev)
{
    struct row_timers_by_owner *row;
    VIEW_NAME(owner);

    VIEW_ADD(timers_totals_row(&ev->head), set, 1);
    view_owner(&ev->head, ev->pid, &owner);
    row = timers_by_owner_row(&ev->head, &owner);
    VIEW_ADD(row, set, 1);
    if (ev->after != VIEW_UNKNOWN)
        VIEW_OBSERVE(row, after, ev->after);
    view_timers_tell(&ev->head, TIMERS_SET, ev->pid, ev->after, &owner);
}

/* left: -1 of a timer that was not there; EV_NO_NUMBER: it is not known whether it was. */
VIEW_INLINE void view_timers_on_timer__cancel(const struct ev_timer__cancel *ev)
{
    bool missed = (__s64)ev->left == -1;
    struct row_timers_totals *totals = timers_totals_row(&ev->head);
    struct row_timers_by_owner *row;
    VIEW_NAME(owner);

    VIEW_ADD(totals, cancels, 1);
    VIEW_ADD(totals, missed, missed);
    view_owner(&ev->head, ev->pid, &owner);
    row = timers_by_owner_row(&ev->head, &owner);
    VIEW_ADD(row, cancels, 1);
    VIEW_ADD(row, missed, missed);
    view_timers_tell(&ev->head, TIMERS_CANCELLED, ev->pid, (__s64)ev->left < 0 ? VIEW_UNKNOWN : ev->left, &owner);
}

VIEW_INLINE void view_timers_on_timer__fire(const struct ev_timer__fire *ev)
{
    struct row_timers_totals *totals = timers_totals_row(&ev->head);
    struct row_timers_by_receiver *row;
    VIEW_NAME(owner);

    VIEW_ADD(totals, fired, 1);
    VIEW_ADD(totals, unwanted, !ev->receiver);
    if (ev->receiver)
        view_owner(&ev->head, ev->receiver, &owner);
    else
        view_term(&ev->head, ev->to, &owner);
    row = timers_by_receiver_row(&ev->head, &owner);
    VIEW_ADD(row, fired, 1);
    if (ev->late != VIEW_UNKNOWN)
        VIEW_OBSERVE(row, late, ev->late);
    view_timers_tell(&ev->head, TIMERS_FIRED, ev->receiver, ev->late, &owner);
}

VIEW_INLINE void view_timers_on_timer__drop(const struct ev_timer__drop *ev)
{
    VIEW_NAME(owner);

    VIEW_ADD(timers_totals_row(&ev->head), dropped, 1);
    view_owner(&ev->head, ev->receiver, &owner);
    view_timers_tell(&ev->head, TIMERS_DROPPED, ev->receiver, ev->left, &owner);
}

#endif
