/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Garbage collections: how long each process stands still for them, and how much they give back. */
#ifndef BPF_VIEW_GC_H
#define BPF_VIEW_GC_H

enum { GC_MINOR, GC_MAJOR }; /* words of the column "kind" */

VIEW_INLINE void view_gc_begin(const struct ev_head *h, ev_id pid)
{
    struct state_gc_pauses *pause = gc_pauses_upsert(h, pid);

    if (!pause)
        return;
    pause->whom = (struct view_whom){pid, h->where};
    pause->begun_ns = view_ns(h);
}

VIEW_INLINE void view_gc_end(const struct ev_head *h, ev_id pid, __u32 kind, __u64 reclaimed)
{
    struct row_gc_totals *totals = gc_totals_row(h);
    struct row_gc_by_owner *row;
    struct state_gc_pauses pause;
    struct told_gc_pause *record;
    VIEW_NAME(owner);
    __u64 now = view_ns(h), took;

    if (kind == GC_MINOR)
        VIEW_ADD(totals, minor, 1);
    else
        VIEW_ADD(totals, major, 1);
    VIEW_ADD(totals, reclaimed, reclaimed);
    if (!gc_pauses_take(h, pid, &pause)) {
        VIEW_ADD(totals, unseen, 1);
        return;
    }
    took = now > pause.begun_ns ? now - pause.begun_ns : 0;
    VIEW_ADD(totals, paused, took);
    view_owner(h, pid, &owner);
    row = gc_by_owner_row(h, &owner);
    VIEW_OBSERVE(row, pause, took);
    VIEW_ADD(row, reclaimed, reclaimed);
    record = took < VIEW_FILTER(gc, slower) ? 0 : gc_pause_record(h, now);
    if (!record)
        return;
    record->kind = kind;
    record->pid = pid;
    record->took = took;
    record->reclaimed = reclaimed;
    name_copy(&record->owner, &owner);
    VIEW_TELL(record);
}

VIEW_INLINE void view_gc_on_gc_minor__start(const struct ev_gc_minor__start *ev)
{
    view_gc_begin(&ev->head, ev->pid);
}

VIEW_INLINE void view_gc_on_gc_major__start(const struct ev_gc_major__start *ev)
{
    view_gc_begin(&ev->head, ev->pid);
}

VIEW_INLINE void view_gc_on_gc_minor__end(const struct ev_gc_minor__end *ev)
{
    view_gc_end(&ev->head, ev->pid, GC_MINOR, ev->reclaimed_words);
}

VIEW_INLINE void view_gc_on_gc_major__end(const struct ev_gc_major__end *ev)
{
    view_gc_end(&ev->head, ev->pid, GC_MAJOR, ev->reclaimed_words);
}

VIEW_INLINE void view_gc_on_process__exit(const struct ev_process__exit *ev)
{
    struct state_gc_pauses gone;

    gc_pauses_take(&ev->head, ev->pid, &gone);
}

#endif
