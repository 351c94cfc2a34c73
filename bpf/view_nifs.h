/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Native functions: from the entry of a call to its return, by function. A process is in one call at a time. */
#ifndef BPF_VIEW_NIFS_H
#define BPF_VIEW_NIFS_H

VIEW_INLINE void view_nifs_on_nif__entry(const struct ev_nif__entry *ev)
{
    struct state_nifs_calls *call = nifs_calls_upsert(&ev->head, ev->pid);

    if (!call)
        return;
    call->mfa = ev->mfa;
    call->whom = (struct view_whom){ev->pid, ev->head.where};
    call->begun_ns = view_ns(&ev->head);
}

VIEW_INLINE void view_nifs_on_nif__return(const struct ev_nif__return *ev)
{
    /* before a function is given `ev`: until then the compiler knows which bits hooks have cleared */
    ev_mfa called = ev->mfa;
    struct row_nifs_totals *totals = nifs_totals_row(&ev->head);
    __u64 now = view_ns(&ev->head), took;
    struct told_nifs_call *record;
    struct row_nifs_by_mfa *row;
    struct state_nifs_calls call;
    VIEW_NAME(mfa);

    VIEW_ADD(totals, calls, 1);
    if (!nifs_calls_take(&ev->head, ev->pid, &call)) {
        VIEW_ADD(totals, unseen, 1);
        return;
    }
    took = now > call.begun_ns ? now - call.begun_ns : 0;
    VIEW_ADD(totals, took, took);
    view_mfa(&ev->head, called, &mfa);
    row = nifs_by_mfa_row(&ev->head, &mfa);
    VIEW_ADD(row, total, took);
    VIEW_OBSERVE(row, took, took);
    record = took < VIEW_FILTER(nifs, slower) ? 0 : nifs_call_record(&ev->head, now);
    if (!record)
        return;
    record->pid = ev->pid;
    record->took = took;
    name_copy(&record->mfa, &mfa);
    VIEW_TELL(record);
}

VIEW_INLINE void view_nifs_on_process__exit(const struct ev_process__exit *ev)
{
    struct state_nifs_calls gone;

    nifs_calls_take(&ev->head, ev->pid, &gone);
}

#endif
