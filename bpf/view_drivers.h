/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Callbacks of drivers: how long each takes, by driver and callback and by port. One event tells all of a call. */
#ifndef BPF_VIEW_DRIVERS_H
#define BPF_VIEW_DRIVERS_H

VIEW_INLINE void view_drivers_on_driver__return(const struct ev_driver__return *ev)
{
    struct row_drivers_totals *totals = drivers_totals_row(&ev->head);
    struct row_drivers_by_callback *row;
    struct row_drivers_by_port *port;
    struct told_drivers_call *record;
    VIEW_NAME(name);

    VIEW_ADD(totals, calls, 1);
    VIEW_ADD(totals, took, ev->took);
    record = ev->took < VIEW_FILTER(drivers, slower) ? 0 : drivers_call_record(&ev->head, view_ns(&ev->head));
    if (record) {
        record->took = ev->took;
        view_no_name(&record->port);
    }
    if (ev->port) {
        view_port(&ev->head, ev->port, &ev->name, &name);
        port = drivers_by_port_row(&ev->head, &name);
        VIEW_ADD(port, total, ev->took);
        VIEW_OBSERVE(port, took, ev->took);
        if (record)
            name_copy(&record->port, &name);
    }
    view_callback(&ev->head, &ev->callback, &ev->name, &name);
    row = drivers_by_callback_row(&ev->head, &name);
    VIEW_ADD(row, total, ev->took);
    VIEW_OBSERVE(row, took, ev->took);
    if (!record)
        return;
    name_copy(&record->callback, &name);
    VIEW_TELL(record);
}

#endif
