/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Tables of ETS: what is done to them, how long it takes, who does it; how many objects a match or select looks at for
 * each that it finds, and waits for locks. One event tells all of an operation.
 */
#ifndef BPF_VIEW_ETS_H
#define BPF_VIEW_ETS_H

/* took VIEW_UNKNOWN: it was seen to begin, but its end was not. */
VIEW_INLINE void view_ets_on_ets__end(const struct ev_ets__end *ev)
{
    bool timed = ev->took != VIEW_UNKNOWN;
    struct row_ets_totals *totals = ets_totals_row(&ev->head);
    struct row_ets_by_operation *row;
    struct row_ets_by_owner *owner;
    struct told_ets_operation *record;
    VIEW_NAME(name);

    VIEW_ADD(totals, ended, 1);
    record = !timed || ev->took < VIEW_FILTER(ets, slower) ? 0 : ets_operation_record(&ev->head, view_ns(&ev->head));
    view_owner(&ev->head, ev->pid, &name);
    owner = ets_by_owner_row(&ev->head, &name);
    VIEW_ADD(owner, ended, 1);
    if (record) {
        record->pid = ev->pid;
        record->took = ev->took;
        name_copy(&record->owner, &name);
    }
    view_operation(&ev->head, ev->table, ev->operation, &name);
    row = ets_by_operation_row(&ev->head, &name);
    VIEW_ADD(row, ended, 1);
    if (timed) {
        VIEW_ADD(totals, took, ev->took);
        VIEW_ADD(owner, total, ev->took);
        VIEW_OBSERVE(owner, took, ev->took);
        VIEW_ADD(row, total, ev->took);
        VIEW_OBSERVE(row, took, ev->took);
    }
    if (!record)
        return;
    name_copy(&record->operation, &name);
    VIEW_TELL(record);
}

/* One that finds nothing is counted as if it had found one. */
VIEW_INLINE void view_ets_on_ets__scan(const struct ev_ets__scan *ev)
{
    __u64 seen = ev->seen, found = ev->found;
    struct row_ets_by_scan *row;
    VIEW_NAME(name);

    view_term(&ev->head, ev->table, &name);
    row = ets_by_scan_row(&ev->head, &name);
    VIEW_ADD(row, seen, seen);
    VIEW_ADD(row, found, found);
    VIEW_OBSERVE(row, per_hit, found ? seen / found : seen);
}

VIEW_INLINE void view_ets_on_ets__wait(const struct ev_ets__wait *ev)
{
    struct row_ets_totals *totals = ets_totals_row(&ev->head);
    struct row_ets_by_lock *row;
    VIEW_NAME(name);

    VIEW_ADD(totals, waits, 1);
    VIEW_ADD(totals, waited, ev->waited);
    view_term(&ev->head, ev->table, &name);
    row = ets_by_lock_row(&ev->head, &name);
    VIEW_ADD(row, total, ev->waited);
    VIEW_OBSERVE(row, waited, ev->waited);
}

#endif
