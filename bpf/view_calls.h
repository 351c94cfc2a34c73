/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Calls of functions: each is counted when it begins, and timed to its return. A call is known by its process and the
 * frames that stand on the stack then; a built-in function has no frame, and a process is in one at a time. A function
 * that ends by calling another leaves its frame to that one, which alone returns; a function that an exception leaves
 * does not return either. Both are seen when the next call begins at the same depth.
 */
#ifndef BPF_VIEW_CALLS_H
#define BPF_VIEW_CALLS_H

/* Where a call of a process stands: its depth, or CALLS_BUILT_IN. Deeper ones are counted, not timed: a function that
 * walks a long list by recursion would take all the room there is. */
enum { CALLS_DEPTHS = 64, CALLS_BUILT_IN = CALLS_DEPTHS, CALLS_TOO_DEEP };

VIEW_INLINE __u32 view_calls_place(__u64 depth)
{
    return depth < CALLS_DEPTHS ? (__u32)depth : CALLS_TOO_DEEP;
}

VIEW_INLINE void view_calls_count(const struct ev_head *h, ev_mfa called)
{
    struct row_calls_by_mfa *row;
    VIEW_NAME(mfa);

    view_mfa(h, called, &mfa);
    row = calls_by_mfa_row(h, &mfa);
    VIEW_ADD(row, calls, 1);
}

/* 1: there was a call there already, which has left. */
VIEW_APART int view_calls_begin(const struct ev_head *h, ev_id pid, ev_mfa called, __u32 place)
{
    struct state_calls_begun *begun = calls_begun_get(h, place, pid);
    int left = begun != 0;

    if (!begun)
        begun = calls_begun_make(h, place, pid);
    if (!begun)
        return 0;
    begun->mfa = called;
    begun->whom = (struct view_whom){pid, h->where};
    begun->begun_ns = view_ns(h);
    return left;
}

VIEW_INLINE void view_calls_enter(const struct ev_head *h, ev_id pid, ev_mfa called, __u32 place)
{
    struct row_calls_totals *totals = calls_totals_row(h);

    VIEW_ADD(totals, calls, 1);
    if (place == CALLS_TOO_DEEP)
        VIEW_ADD(totals, deep, 1);
    else
        VIEW_ADD(totals, left, view_calls_begin(h, pid, called, place));
    view_calls_count(h, called);
}

VIEW_INLINE void view_calls_leave(const struct ev_head *h, ev_id pid, ev_mfa called, __u32 place)
{
    struct row_calls_totals *totals = calls_totals_row(h);
    __u64 now = view_ns(h), took;
    struct state_calls_begun *begun;
    struct told_calls_call *record;
    struct row_calls_by_mfa *row;
    VIEW_NAME(mfa);

    VIEW_ADD(totals, returned, 1);
    if (place == CALLS_TOO_DEEP)
        return;
    begun = calls_begun_get(h, place, pid);
    if (!begun) {
        VIEW_ADD(totals, unseen, 1);
        return;
    }
    took = now > begun->begun_ns ? now - begun->begun_ns : 0;
    calls_begun_drop(h, place, pid);
    view_mfa(h, called, &mfa);
    row = calls_by_mfa_row(h, &mfa);
    VIEW_ADD(row, total, took);
    VIEW_OBSERVE(row, took, took);
    record = took < VIEW_FILTER(calls, slower) ? 0 : calls_call_record(h, now);
    if (!record)
        return;
    record->pid = pid;
    record->took = took;
    name_copy(&record->mfa, &mfa);
    VIEW_TELL(record);
}

VIEW_INLINE void view_calls_on_local__function__entry(const struct ev_local__function__entry *ev)
{
    view_calls_enter(&ev->head, ev->pid, ev->mfa, view_calls_place(ev->depth));
}

VIEW_INLINE void view_calls_on_global__function__entry(const struct ev_global__function__entry *ev)
{
    view_calls_enter(&ev->head, ev->pid, ev->mfa, view_calls_place(ev->depth));
}

VIEW_INLINE void view_calls_on_function__return(const struct ev_function__return *ev)
{
    view_calls_leave(&ev->head, ev->pid, ev->mfa, view_calls_place(ev->depth));
}

VIEW_INLINE void view_calls_on_bif__entry(const struct ev_bif__entry *ev)
{
    view_calls_enter(&ev->head, ev->pid, ev->mfa, CALLS_BUILT_IN);
}

VIEW_INLINE void view_calls_on_bif__return(const struct ev_bif__return *ev)
{
    view_calls_leave(&ev->head, ev->pid, ev->mfa, CALLS_BUILT_IN);
}

VIEW_INLINE void view_calls_on_process__exit(const struct ev_process__exit *ev)
{
    for (__u32 place = 0; place <= CALLS_BUILT_IN; place++)
        calls_begun_drop(&ev->head, place, ev->pid);
}

#endif
