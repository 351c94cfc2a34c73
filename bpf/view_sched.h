/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Time on schedulers: from the moment when a process is scheduled in to the one when it is scheduled out; what the
 * scheduler's thread did meanwhile; and how long processes that can run wait for a scheduler. Invariant: time on a
 * processor, waiting for one and asleep are all of a slice.
 */
#ifndef BPF_VIEW_SCHED_H
#define BPF_VIEW_SCHED_H

VIEW_INLINE void view_sched_on_process__scheduled(const struct ev_process__scheduled *ev)
{
    struct state_sched_slices *slice = sched_slices_upsert(&ev->head, ev->pid);

    if (!slice)
        return;
    *slice = (struct state_sched_slices){view_ns(&ev->head), 0, {ev->pid, ev->head.where}, {0}};
    view_thread_now(&slice->thread);
}

struct sched_parts {
    __u64 cpu, waited, asleep;
};

/*
 * What a slice was spent on. A thread that did not sleep was on a processor, or waited for one, all of the time; of one
 * that did, the kernel's count of the processor time is up to a tick old at each end. Fails: false, it is not known.
 */
VIEW_INLINE bool view_sched_split(const struct view_thread *before, __u64 ran, struct sched_parts *out)
{
    struct view_thread now = {0};
    __u64 left;

    view_thread_now(&now);
    if (!before->thread || now.thread != before->thread)
        return false;
    out->waited = now.queued_ns - before->queued_ns;
    if (out->waited > ran)
        out->waited = ran;
    left = ran - out->waited;
    out->cpu = now.sleeps == before->sleeps ? left : now.cpu_ns - before->cpu_ns;
    if (out->cpu > left)
        out->cpu = left;
    out->asleep = left - out->cpu;
    return true;
}

VIEW_INLINE void view_sched_count_kind(const struct ev_head *h, __u64 ran, bool known, const struct sched_parts *parts)
{
    struct row_sched_by_kind *row = sched_by_kind_row(h, view_scheduler_now());

    VIEW_ADD(row, slices, 1);
    VIEW_ADD(row, ran, ran);
    if (!known)
        return;
    VIEW_OBSERVE(row, cpu, parts->cpu);
    VIEW_OBSERVE(row, waited, parts->waited);
    VIEW_OBSERVE(row, asleep, parts->asleep);
}

VIEW_INLINE void view_sched_on_process__unscheduled(const struct ev_process__unscheduled *ev)
{
    struct row_sched_totals *totals = sched_totals_row(&ev->head);
    __u64 now = view_ns(&ev->head), ran;
    struct row_sched_by_owner *row;
    struct state_sched_slices slice;
    struct told_sched_slice *record;
    struct sched_parts parts = {0};
    bool known;
    VIEW_NAME(owner);

    VIEW_ADD(totals, slices, 1);
    if (!sched_slices_take(&ev->head, ev->pid, &slice)) {
        VIEW_ADD(totals, unseen, 1);
        return;
    }
    ran = now > slice.begun_ns ? now - slice.begun_ns : 0;
    VIEW_ADD(totals, ran, ran);
    known = view_sched_split(&slice.thread, ran, &parts);
    view_sched_count_kind(&ev->head, ran, known, &parts);
    if (!slice.ended || view_kept_name(&ev->head, slice.ended, &owner))
        view_owner(&ev->head, ev->pid, &owner);
    row = sched_by_owner_row(&ev->head, &owner);
    VIEW_ADD(row, ran, ran);
    VIEW_OBSERVE(row, slice, ran);
    if (known) {
        VIEW_OBSERVE(row, cpu, parts.cpu);
        VIEW_OBSERVE(row, waited, parts.waited);
        VIEW_OBSERVE(row, asleep, parts.asleep);
    }
    record = ran < VIEW_FILTER(sched, slower) ? 0 : sched_slice_record(&ev->head, now);
    if (!record)
        return;
    record->pid = ev->pid;
    record->ran = ran;
    name_copy(&record->owner, &owner);
    VIEW_TELL(record);
}

/* How long a process that runs now could have run. */
VIEW_INLINE void view_sched_on_process__taken(const struct ev_process__taken *ev)
{
    VIEW_NAME(owner);

    if (ev->waited == VIEW_UNKNOWN)
        return;
    VIEW_ADD(sched_totals_row(&ev->head), runnable, ev->waited);
    view_owner(&ev->head, ev->pid, &owner);
    VIEW_OBSERVE(sched_runnable_row(&ev->head, &owner), waited, ev->waited);
}

/* The births that owners are told of by a stock emulator: its memory loses what a process was spawned with as it
 * ends. */
VIEW_INLINE void view_sched_on_process__spawn(const struct ev_process__spawn *ev)
{
    (void)ev;
}

/* It is scheduled out once more: of its last slice only the name is kept, which nobody can tell later. */
VIEW_INLINE void view_sched_on_process__exit(const struct ev_process__exit *ev)
{
    struct state_sched_slices *slice = sched_slices_get(&ev->head, ev->pid);
    VIEW_NAME(owner);

    if (!slice)
        return;
    view_owner(&ev->head, ev->pid, &owner);
    slice->ended = view_keep_name(&ev->head, &owner);
}

#endif
