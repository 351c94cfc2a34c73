/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Births and deaths of processes: by initial call and by reason, and how long processes lived. */
#ifndef BPF_VIEW_SPAWNS_H
#define BPF_VIEW_SPAWNS_H

enum { SPAWNS_BIRTH, SPAWNS_DEATH }; /* words of the column "event" */

VIEW_INLINE void view_spawns_tell(const struct ev_head *h, __u64 ns, ev_id pid, __u32 what, __u64 lived,
                                  const struct name_text *name)
{
    struct told_spawns_life *record = spawns_life_record(h, ns);

    if (!record)
        return;
    record->event = what;
    record->pid = pid;
    record->lived = lived;
    name_copy(&record->name, name);
    VIEW_TELL(record);
}

VIEW_INLINE void view_spawns_on_process__spawn(const struct ev_process__spawn *ev)
{
    struct state_spawns_births *birth = spawns_births_upsert(&ev->head, ev->pid);
    __u64 now = view_ns(&ev->head);
    VIEW_NAME(mfa);

    VIEW_ADD(spawns_totals_row(&ev->head), births, 1);
    if (birth)
        birth->born_ns = now;
    view_mfa(&ev->head, ev->mfa, &mfa);
    VIEW_ADD(spawns_by_mfa_row(&ev->head, &mfa), count, 1);
    view_spawns_tell(&ev->head, now, ev->pid, SPAWNS_BIRTH, VIEW_UNKNOWN, &mfa);
}

/* VIEW_UNKNOWN: its birth was not seen. */
VIEW_INLINE __u64 view_spawns_lifetime(const struct ev_head *h, ev_id pid, __u64 now)
{
    struct row_spawns_totals *totals = spawns_totals_row(h);
    struct state_spawns_births birth;
    __u64 lived;

    if (!spawns_births_take(h, pid, &birth)) {
        VIEW_ADD(totals, unseen, 1);
        return VIEW_UNKNOWN;
    }
    lived = now > birth.born_ns ? now - birth.born_ns : 1;
    VIEW_OBSERVE(totals, lifetime, lived);
    return lived;
}

VIEW_INLINE void view_spawns_on_process__exit(const struct ev_process__exit *ev)
{
    __u64 now = view_ns(&ev->head), lived = view_spawns_lifetime(&ev->head, ev->pid, now);
    VIEW_NAME(told);
    VIEW_NAME(reason);

    VIEW_ADD(spawns_totals_row(&ev->head), deaths, 1);
    view_term(&ev->head, ev->reason, &told);
    view_shape(&told, &reason);
    VIEW_ADD(spawns_by_reason_row(&ev->head, &reason), count, 1);
    view_spawns_tell(&ev->head, now, ev->pid, SPAWNS_DEATH, lived, &told);
}

#endif
