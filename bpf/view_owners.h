/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What a person calls a process: its registered name, else what it was to do when it began, else its pid. A stock
 * emulator's memory tells the two first, and so does that of an erlvm for processes that were there before; its pages
 * tell names that are registered since (views_user_owner). With notes a process is known by its initial call when its
 * birth was seen.
 */
#ifndef BPF_VIEW_OWNERS_H
#define BPF_VIEW_OWNERS_H

VIEW_INLINE void view_owners_on_process__spawn(const struct ev_process__spawn *ev)
{
    struct state_owners_calls *call = owners_calls_upsert(&ev->head, ev->pid);
    VIEW_NAME(mfa);

    if (!call || call->name) /* a recording may tell its registered name before its birth */
        return;
    view_mfa(&ev->head, ev->mfa, &mfa);
    call->name = view_keep_name(&ev->head, &mfa);
}

VIEW_INLINE void view_owners_on_process__exit(const struct ev_process__exit *ev)
{
    struct state_owners_calls gone;

    owners_calls_take(&ev->head, ev->pid, &gone);
}

/* The name of the process that the event is about. */
VIEW_INLINE void view_owner(const struct ev_head *h, ev_id id, struct name_text *out)
{
    struct state_owners_calls *call = h->where ? 0 : owners_calls_get(h, id);
    __u64 where = h->where;

    if (call && !view_kept_name(h, call->name, out))
        return;
    if (!where)
        where = view_where(h->vm, id);
    if (!where || view_owner_at(where, out))
        view_pid(id, out);
}

/* Of what has no name. */
VIEW_INLINE void view_no_name(struct wire_name *to)
{
    __builtin_memset(to, 0, sizeof *to);
}

#endif
