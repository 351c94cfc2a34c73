/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Memory: what is copied and by whom, and whose heaps grow and shrink. A copy says how large it is and not whose: its
 * sender is told by the send, of erlvm and of notes, or by the source, where it knows (ev_head.where).
 */
#ifndef BPF_VIEW_MEMORY_H
#define BPF_VIEW_MEMORY_H

enum { MEMORY_GREW, MEMORY_SHRANK }; /* words of the column "event" */

VIEW_INLINE void view_memory_sent(const struct ev_head *h, ev_id sender, __u64 words)
{
    struct row_memory_by_sender *row;
    VIEW_NAME(owner);

    view_owner(h, sender, &owner);
    row = memory_by_sender_row(h, &owner);
    VIEW_ADD(row, sent, words);
    VIEW_OBSERVE(row, size, words);
}

VIEW_INLINE void view_memory_on_copy__struct(const struct ev_copy__struct *ev)
{
    struct row_memory_totals *totals = memory_totals_row(&ev->head);

    VIEW_ADD(totals, copies, 1);
    VIEW_ADD(totals, copied, ev->words);
    VIEW_OBSERVE(totals, size, ev->words);
    if (ev->head.where)
        view_memory_sent(&ev->head, view_process_at(ev->head.where), ev->words);
}

/* What is one word is not copied. */
VIEW_INLINE void view_memory_on_message__send(const struct ev_message__send *ev)
{
    if (ev->words && ev->words != EV_NO_WORDS)
        view_memory_sent(&ev->head, ev->sender, ev->words);
}

VIEW_INLINE void view_memory_tell(const struct ev_head *h, __u32 what, ev_id pid, __u64 before, __u64 after,
                                  const struct name_text *owner)
{
    struct told_memory_heap *record = memory_heap_record(h, view_ns(h));

    if (!record)
        return;
    record->event = what;
    record->pid = pid;
    record->before = before;
    record->after = after;
    name_copy(&record->owner, owner);
    VIEW_TELL(record);
}

VIEW_INLINE void view_memory_on_process__heap_grow(const struct ev_process__heap_grow *ev)
{
    __u64 words = ev->new_words - ev->old_words;
    struct row_memory_totals *totals = memory_totals_row(&ev->head);
    struct row_memory_by_owner *row;
    VIEW_NAME(owner);

    VIEW_ADD(totals, grew, 1);
    VIEW_ADD(totals, grown, words);
    view_owner(&ev->head, ev->pid, &owner);
    row = memory_by_owner_row(&ev->head, &owner);
    VIEW_ADD(row, grown, words);
    VIEW_OBSERVE(row, heap, ev->new_words);
    view_memory_tell(&ev->head, MEMORY_GREW, ev->pid, ev->old_words, ev->new_words, &owner);
}

VIEW_INLINE void view_memory_on_process__heap_shrink(const struct ev_process__heap_shrink *ev)
{
    __u64 words = ev->old_words - ev->new_words;
    struct row_memory_totals *totals = memory_totals_row(&ev->head);
    struct row_memory_by_owner *row;
    VIEW_NAME(owner);

    VIEW_ADD(totals, shrank, 1);
    VIEW_ADD(totals, shrunk, words);
    view_owner(&ev->head, ev->pid, &owner);
    row = memory_by_owner_row(&ev->head, &owner);
    VIEW_ADD(row, shrank, 1);
    VIEW_ADD(row, shrunk, words);
    view_memory_tell(&ev->head, MEMORY_SHRANK, ev->pid, ev->old_words, ev->new_words, &owner);
}

#endif
