/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Messages by who receives them and where they come from: how many, how large, and the queues that they join. */
#ifndef BPF_VIEW_MESSAGES_H
#define BPF_VIEW_MESSAGES_H

VIEW_INLINE void view_messages_on_message__send(const struct ev_message__send *ev)
{
    struct row_messages_by_owner *row;
    VIEW_NAME(owner);

    VIEW_ADD(messages_totals_row(&ev->head), sent, 1);
    view_owner(&ev->head, ev->receiver, &owner);
    row = messages_by_owner_row(&ev->head, &owner);
    VIEW_ADD(row, sent, 1);
    if (ev->words != EV_NO_WORDS)
        VIEW_OBSERVE(row, size, ev->words);
}

VIEW_INLINE void view_messages_on_message__arrive(const struct ev_message__arrive *ev)
{
    struct row_messages_by_owner *row;
    VIEW_NAME(owner);

    VIEW_ADD(messages_totals_row(&ev->head), arrived, 1);
    VIEW_ADD(messages_by_origin_row(&ev->head, (__u64)ev->origin), count, 1);
    view_owner(&ev->head, ev->receiver, &owner);
    row = messages_by_owner_row(&ev->head, &owner);
    VIEW_ADD(row, sent, 1);
    VIEW_ADD(row, arrived, 1);
}

VIEW_INLINE void view_messages_on_message__queued(const struct ev_message__queued *ev)
{
    VIEW_NAME(owner);

    VIEW_ADD(messages_totals_row(&ev->head), queued, 1);
    view_owner(&ev->head, ev->receiver, &owner);
    VIEW_OBSERVE(messages_by_owner_row(&ev->head, &owner), queue, ev->queue_len);
}

VIEW_INLINE void view_messages_on_message__receive(const struct ev_message__receive *ev)
{
    VIEW_ADD(messages_totals_row(&ev->head), received, 1);
}

VIEW_INLINE void view_messages_on_message__drop(const struct ev_message__drop *ev)
{
    VIEW_ADD(messages_totals_row(&ev->head), dropped, 1);
}

#endif
