/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What a person calls a process at an event: the name that it is registered by then, else its label, else what it was
 * to do when it began, else its pid. The VM's memory says the first three where the event says where the process is,
 * or the process is found by its number (view_owner_now); pages of an erlvm tell names as they are registered and given
 * up. What memory does not tell, since the process ends or has not begun, was told by its birth if that was seen.
 */
#ifndef BPF_VIEW_OWNERS_H
#define BPF_VIEW_OWNERS_H

VIEW_INLINE void view_owners_on_process__spawn(const struct ev_process__spawn *ev)
{
    struct state_owners_calls *call = owners_calls_upsert(&ev->head, ev->pid);
    VIEW_NAME(mfa);

    if (!call || call->name) /* its memory, or a recording, may tell of a process before its birth */
        return;
    view_mfa(&ev->head, ev->mfa, &mfa);
    call->name = view_keep_name(&ev->head, &mfa);
}

VIEW_INLINE void view_owners_on_process__exit(const struct ev_process__exit *ev)
{
    struct state_owners_calls gone;

    owners_calls_take(&ev->head, ev->pid, &gone);
}

/* The name of the process that the event is about, or what else processes are to be told apart by. */
VIEW_INLINE void view_owner(const struct ev_head *h, ev_id id, struct name_text *out)
{
    int known = VIEW_BY == VIEW_BY_PID ? EV_OWNER_UNKNOWN : view_owner_now(h, id, out);
    struct state_owners_calls *call = known == EV_OWNER_KNOWN || VIEW_BY == VIEW_BY_PID ? 0 : owners_calls_get(h, id);

    if (call && !view_kept_name(h, call->name, out))
        return;
    if (known == EV_OWNER_UNKNOWN)
        view_pid(id, out);
}

/* Of what has no name. */
VIEW_INLINE void view_no_name(struct wire_name *to)
{
    __builtin_memset(to, 0, sizeof *to);
}

#endif
