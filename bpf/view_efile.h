/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * File operations, each by {thread, tag}: from the scheduler's hand-over through the async worker back to the caller;
 * on a stock emulator, whose callers run on dirty I/O schedulers, from when its process asked for one of these, where
 * that was seen, to the return of the operation.
 * Invariant: an operation is among the states from its entry to its return.
 */
#ifndef BPF_VIEW_EFILE_H
#define BPF_VIEW_EFILE_H

VIEW_INLINE __u64 view_efile_span(__u64 from, __u64 to)
{
    return to > from ? to - from : 0;
}

/* The process that asks is looked at while it waits for the operation: later it may be gone. */
VIEW_INLINE void view_efile_name(const struct ev_head *h, ev_id pid, struct state_efile_ops *op)
{
    struct name_text *owner = (struct name_text *)&op->scratch;

    _Static_assert(sizeof *owner == sizeof op->scratch, "a name has room there");
    view_owner(h, pid, owner);
    name_copy(&op->told.story.owner, owner);
}

VIEW_INLINE void view_efile_int(struct efile_story *story, __u32 i, __s64 value)
{
    story->ints[i] = value;
    story->known |= (__u32)(value != EV_NO_NUMBER) << i;
}

VIEW_INLINE void view_efile_describe(const struct ev_efile_drv__entry *ev, struct state_efile_ops *op)
{
    struct efile_story *story = &op->told.story;

    view_efile_int(story, 0, ev->i1);
    view_efile_int(story, 1, ev->i2);
    view_efile_int(story, 2, ev->i3);
    view_efile_int(story, 3, ev->i4);
    view_text(&ev->head, &ev->s1, story->s1, sizeof story->s1);
    view_text(&ev->head, &ev->s2, story->s2, sizeof story->s2);
    view_text(&ev->head, &ev->user_tag, story->user_tag, sizeof story->user_tag);
    story->pid = ev->pid;
    if (ev->pid)
        view_efile_name(&ev->head, ev->pid, op);
}

VIEW_INLINE void view_efile_on_efile_drv__entry(const struct ev_efile_drv__entry *ev)
{
    struct state_efile_ops *op = efile_ops_make(&ev->head, ev->thread, ev->tag);
    __u64 now = view_ns(&ev->head);
    struct efile_story *story;

    VIEW_ADD(efile_totals_row(&ev->head), started, 1);
    if (!op)
        return;
    op->told.began = now;
    story = &op->told.story;
    story->tag = ev->tag;
    story->thread = ev->thread;
    story->command = ev->command;
    if ((__u64)ev->tag == EFILE_NO_TAG)
        story->work_ns = now;
    else
        story->entry_ns = now;
    if (VIEW_DETAILS(efile, op))
        view_efile_describe(ev, op);
}

VIEW_INLINE void view_efile_on_efile_drv__int_entry(const struct ev_efile_drv__int_entry *ev)
{
    struct state_efile_ops *op = efile_ops_get(&ev->head, ev->thread, ev->tag);

    if (!op)
        return;
    if ((__u64)ev->tag == EFILE_NO_TAG) /* its entry was then when its process asked for a thread */
        op->told.story.entry_ns = op->told.story.work_ns;
    op->told.story.work_ns = view_ns(&ev->head);
}

VIEW_INLINE void view_efile_on_efile_drv__int_return(const struct ev_efile_drv__int_return *ev)
{
    struct state_efile_ops *op = efile_ops_get(&ev->head, ev->thread, ev->tag);

    if (op)
        op->told.story.worked_ns = view_ns(&ev->head);
}

VIEW_INLINE void view_efile_count(const struct ev_head *h, const struct told_efile_op *told)
{
    struct row_efile_by_op *row = efile_by_op_row(h, told->story.command);

    VIEW_OBSERVE(row, total, told->total);
    VIEW_ADD(row, errors, !told->story.success);
    if (told->queued != VIEW_UNKNOWN)
        VIEW_OBSERVE(row, queued, told->queued);
    if (told->work != VIEW_UNKNOWN)
        VIEW_OBSERVE(row, work, told->work);
}

/* From the first to the last step that was seen. */
VIEW_INLINE void view_efile_measure(struct told_efile_op *told)
{
    const struct efile_story *story = &told->story;
    __u64 last = story->return_ns ? story->return_ns : story->worked_ns;

    told->total = view_efile_span(told->began, last);
    told->queued = story->entry_ns && story->work_ns ? view_efile_span(story->entry_ns, story->work_ns) : VIEW_UNKNOWN;
    told->work = story->work_ns && story->worked_ns ? view_efile_span(story->work_ns, story->worked_ns) : VIEW_UNKNOWN;
}

VIEW_INLINE void view_efile_tell(const struct ev_head *h, struct told_efile_op *told, __u64 now)
{
    struct told_efile_op *record;

    told->header = (struct wire_header){now, h->vm, VIEW_RECORD_efile_op};
    efile_op_keep(h, told, told->total);
    /* Looked at as soon as it is had: 6.1 forgets that it cannot be NULL, and misses the end of one that was. */
    record = told->total < VIEW_FILTER(efile, slower) ? 0 : efile_op_record(h, now);
    if (!record)
        return;
    VIEW_COPY(record, told);
    VIEW_TELL(record);
}

VIEW_INLINE void view_efile_on_efile_drv__return(const struct ev_efile_drv__return *ev)
{
    struct state_efile_ops *op = efile_ops_get(&ev->head, ev->thread, ev->tag);
    struct row_efile_totals *totals = efile_totals_row(&ev->head);
    __u64 now = view_ns(&ev->head);

    VIEW_ADD(totals, ended, 1);
    if (!op) {
        VIEW_ADD(totals, unseen, 1);
        return;
    }
    if ((__u64)ev->tag == EFILE_NO_TAG)
        op->told.story.worked_ns = now;
    else
        op->told.story.return_ns = now;
    op->told.story.success = ev->success != 0;
    op->told.story.err = ev->error;
    view_efile_measure(&op->told);
    view_efile_count(&ev->head, &op->told);
    view_efile_tell(&ev->head, &op->told, now);
    efile_ops_drop(&ev->head, ev->thread, ev->tag);
}

#endif
