/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * How long messages stand in mailboxes, from when they join the queue until a receive takes them out, by receiver; and
 * how many a receive looked at to find the one it took, by the function that receives.
 */
#ifndef BPF_VIEW_MAILBOXES_H
#define BPF_VIEW_MAILBOXES_H

VIEW_INLINE void view_mailboxes_on_message__waited(const struct ev_message__waited *ev)
{
    struct row_mailboxes_totals *totals = mailboxes_totals_row(&ev->head);
    struct row_mailboxes_by_owner *row;
    struct told_mailboxes_taken *record;
    VIEW_NAME(owner);

    VIEW_ADD(totals, received, 1);
    if (ev->waited == VIEW_UNKNOWN) {
        VIEW_ADD(totals, unknown, 1);
        return;
    }
    view_owner(&ev->head, ev->receiver, &owner);
    row = mailboxes_by_owner_row(&ev->head, &owner);
    VIEW_OBSERVE(row, waited, ev->waited);
    if ((__u64)ev->queue_len != VIEW_UNKNOWN)
        VIEW_OBSERVE(row, queue, (__u64)ev->queue_len);
    record = ev->waited < VIEW_FILTER(mailboxes, slower) ? 0 : mailboxes_taken_record(&ev->head, view_ns(&ev->head));
    if (!record)
        return;
    record->event = 0;
    record->receiver = ev->receiver;
    record->waited = ev->waited;
    record->queue = (__u64)ev->queue_len;
    name_copy(&record->owner, &owner);
    VIEW_TELL(record);
}

VIEW_INLINE void view_mailboxes_on_receive__scan(const struct ev_receive__scan *ev)
{
    struct row_mailboxes_by_function *row;
    VIEW_NAME(mfa);

    view_mfa(&ev->head, ev->mfa, &mfa);
    row = mailboxes_by_function_row(&ev->head, &mfa);
    VIEW_ADD(row, total, (__u64)ev->walked);
    VIEW_OBSERVE(row, walked, (__u64)ev->walked);
}

#endif
