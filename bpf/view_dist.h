/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Distribution: what goes to each node and comes from it, how long the connection to it was busy, and whom that
 * suspended how long. A process waits for one node at a time.
 */
#ifndef BPF_VIEW_DIST_H
#define BPF_VIEW_DIST_H

enum { DIST_UP, DIST_DOWN, DIST_FREE, DIST_RESUMED }; /* words of the column "event" */

#define VIEW_DIST_UP 0x707565646f6eull   /* "nodeup", with its NUL */
#define VIEW_DIST_DOWN 0x776f6465646f6eull /* "nodedow", what eight bytes hold of "nodedown" with a NUL */

/* dist__output is not listened to: what carries connections takes vectors, in OTP and here. */
VIEW_INLINE void view_dist_on_dist__outputv(const struct ev_dist__outputv *ev)
{
    struct row_dist_totals *totals = dist_totals_row(&ev->head);
    struct row_dist_by_node *row;
    VIEW_NAME(name);

    VIEW_ADD(totals, out, 1);
    VIEW_ADD(totals, out_bytes, ev->bytes);
    view_node(&ev->head, ev->remote_node, &name);
    row = dist_by_node_row(&ev->head, &name);
    VIEW_ADD(row, out, 1);
    VIEW_ADD(row, out_bytes, ev->bytes);
}

VIEW_INLINE void view_dist_on_dist__input(const struct ev_dist__input *ev)
{
    struct row_dist_totals *totals = dist_totals_row(&ev->head);
    struct row_dist_by_node *row;
    VIEW_NAME(name);

    VIEW_ADD(totals, in, 1);
    VIEW_ADD(totals, in_bytes, ev->bytes);
    view_node(&ev->head, ev->remote_node, &name);
    row = dist_by_node_row(&ev->head, &name);
    VIEW_ADD(row, in, 1);
    VIEW_ADD(row, in_bytes, ev->bytes);
}

VIEW_INLINE struct told_dist_told *view_dist_record(const struct ev_head *h, __u64 now, __u32 what, ev_id pid,
                                                    __u64 took, const struct name_text *node)
{
    struct told_dist_told *record = dist_told_record(h, now);

    if (!record)
        return 0;
    record->event = what;
    record->pid = pid;
    record->took = took;
    name_copy(&record->node, node);
    return record;
}

VIEW_INLINE void view_dist_on_dist__port_busy(const struct ev_dist__port_busy *ev)
{
    __u64 now = view_ns(&ev->head), hash;
    struct state_dist_waits *wait;
    struct state_dist_busy *busy;
    VIEW_NAME(name);

    view_node(&ev->head, ev->remote_node, &name);
    VIEW_ADD(dist_links_row(&ev->head, &name), suspends, 1);
    hash = name_hash(&name);
    busy = dist_busy_get(&ev->head, 0, hash);
    if (!busy) {
        busy = dist_busy_make(&ev->head, 0, hash);
        if (busy) {
            busy->whom = (struct view_whom){ev->pid, ev->head.where};
            busy->begun_ns = now;
        }
    }
    wait = dist_waits_upsert(&ev->head, ev->pid);
    if (!wait)
        return;
    wait->whom = (struct view_whom){ev->pid, ev->head.where};
    wait->begun_ns = now;
    wait->node = view_keep_name(&ev->head, &name);
}

/* How long the connection was busy, which is counted; VIEW_UNKNOWN: it was not seen to be. */
VIEW_INLINE __u64 view_dist_free(const struct ev_head *h, const struct name_text *node, __u64 now)
{
    __u64 hash = name_hash(node), since, took;
    struct state_dist_busy *busy = dist_busy_get(h, 0, hash);
    struct row_dist_links *row;

    if (!busy)
        return VIEW_UNKNOWN;
    since = busy->begun_ns;
    dist_busy_drop(h, 0, hash);
    took = now > since ? now - since : 0;
    row = dist_links_row(h, node);
    VIEW_OBSERVE(row, busy, took);
    return took;
}

VIEW_INLINE void view_dist_on_dist__port_not_busy(const struct ev_dist__port_not_busy *ev)
{
    __u64 now = view_ns(&ev->head), took;
    struct told_dist_told *record;
    VIEW_NAME(name);

    view_node(&ev->head, ev->remote_node, &name);
    took = view_dist_free(&ev->head, &name, now);
    record = took == VIEW_UNKNOWN ? 0 : view_dist_record(&ev->head, now, DIST_FREE, 0, took, &name);
    if (!record)
        return;
    view_no_name(&record->reason);
    VIEW_TELL(record);
}

/* One that waited for another port has no state here. */
VIEW_INLINE void view_dist_on_process__port_unblocked(const struct ev_process__port_unblocked *ev)
{
    __u64 now = view_ns(&ev->head), took;
    struct row_dist_by_owner *row;
    struct told_dist_told *record;
    struct state_dist_waits wait;
    VIEW_NAME(name);

    if (!dist_waits_take(&ev->head, ev->pid, &wait))
        return;
    took = now > wait.begun_ns ? now - wait.begun_ns : 0;
    view_owner(&ev->head, ev->pid, &name);
    row = dist_by_owner_row(&ev->head, &name);
    VIEW_OBSERVE(row, suspended, took);
    if (view_kept_name(&ev->head, wait.node, &name))
        return;
    record = view_dist_record(&ev->head, now, DIST_RESUMED, ev->pid, took, &name);
    if (!record)
        return;
    view_no_name(&record->reason);
    VIEW_TELL(record);
}

VIEW_INLINE void view_dist_on_dist__monitor(const struct ev_dist__monitor *ev)
{
    struct row_dist_totals *totals = dist_totals_row(&ev->head);
    __u64 now = view_ns(&ev->head), what = 0, took = VIEW_UNKNOWN;
    struct told_dist_told *record;
    struct row_dist_by_node *row;
    VIEW_NAME(name);

    view_text(&ev->head, &ev->what, (char *)&what, sizeof what);
    if (what != VIEW_DIST_UP && what != VIEW_DIST_DOWN)
        return;
    view_node(&ev->head, ev->monitored_node, &name);
    row = dist_by_node_row(&ev->head, &name);
    VIEW_ADD(totals, up, what == VIEW_DIST_UP);
    VIEW_ADD(totals, down, what == VIEW_DIST_DOWN);
    VIEW_ADD(row, up, what == VIEW_DIST_UP);
    VIEW_ADD(row, down, what == VIEW_DIST_DOWN);
    if (what == VIEW_DIST_DOWN)
        took = view_dist_free(&ev->head, &name, now);
    record = view_dist_record(&ev->head, now, what == VIEW_DIST_UP ? DIST_UP : DIST_DOWN, 0, took, &name);
    if (!record)
        return;
    view_term(&ev->head, ev->reason, &name);
    name_copy(&record->reason, &name);
    VIEW_TELL(record);
}

VIEW_INLINE void view_dist_on_process__exit(const struct ev_process__exit *ev)
{
    struct state_dist_waits gone;

    dist_waits_take(&ev->head, ev->pid, &gone);
}

#endif
