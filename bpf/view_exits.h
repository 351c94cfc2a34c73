/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Exits for another reason than normal or a shutdown: of whom, of what, after how long; and exit signals with such
 * reasons.
 */
#ifndef BPF_VIEW_EXITS_H
#define BPF_VIEW_EXITS_H

VIEW_INLINE void view_exits_on_process__spawn(const struct ev_process__spawn *ev)
{
    struct state_exits_births *birth = exits_births_upsert(&ev->head, ev->pid);

    if (birth)
        birth->born_ns = view_ns(&ev->head);
}

VIEW_INLINE void view_exits_tell(const struct ev_process__exit *ev, __u64 now, __u64 lived,
                                 const struct name_text *owner, const struct name_text *reason)
{
    struct told_exits_end *record = exits_end_record(&ev->head, now);

    if (!record)
        return;
    record->pid = ev->pid;
    record->lived = lived;
    name_copy(&record->owner, owner);
    name_copy(&record->reason, reason);
    VIEW_TELL(record);
}

VIEW_INLINE void view_exits_on_process__exit(const struct ev_process__exit *ev)
{
    struct row_exits_totals *totals = exits_totals_row(&ev->head);
    struct state_exits_births birth = {0};
    bool seen = exits_births_take(&ev->head, ev->pid, &birth);
    __u64 now = view_ns(&ev->head), lived = VIEW_UNKNOWN;
    struct row_exits_by_owner *row;
    VIEW_NAME(told);
    VIEW_NAME(name);

    VIEW_ADD(totals, exits, 1);
    view_term(&ev->head, ev->reason, &told);
    view_shape(&told, &name);
    if (view_orderly(&ev->head, &name))
        return;
    VIEW_ADD(totals, abnormal, 1);
    VIEW_ADD(exits_by_reason_row(&ev->head, &name), count, 1);
    view_owner(&ev->head, ev->pid, &name);
    row = exits_by_owner_row(&ev->head, &name);
    VIEW_ADD(row, count, 1);
    if (seen) {
        lived = now > birth.born_ns ? now - birth.born_ns : 0;
        VIEW_OBSERVE(row, lifetime, lived);
    }
    view_exits_tell(ev, now, lived, &name, &told);
}

VIEW_INLINE void view_exits_on_process__exit_signal(const struct ev_process__exit_signal *ev)
{
    VIEW_NAME(told);
    VIEW_NAME(name);

    view_term(&ev->head, ev->reason, &told);
    view_shape(&told, &name);
    if (!view_orderly(&ev->head, &name))
        VIEW_ADD(exits_totals_row(&ev->head), signals, 1);
}

#endif
