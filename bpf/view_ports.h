/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Ports: what is asked of each and by whom, and how long its driver says that it is busy. Which port is busy is told by
 * number alone, so the name is kept that was told first, and who sent to it last: that made it busy. Invariant: a port
 * is among the states until it closes.
 */
#ifndef BPF_VIEW_PORTS_H
#define BPF_VIEW_PORTS_H

enum { PORTS_OPEN, PORTS_CLOSE, PORTS_FREE }; /* words of the column "event" */

#define VIEW_PORTS_COMMAND 0x646e616d6d6f63ull /* "command", with its NUL */

/* Makes the port's name, which is kept. NULL: there is no room. */
VIEW_INLINE struct state_ports_known *view_ports_know(const struct ev_head *h, ev_id port, const struct ev_text *text,
                                                      struct name_text *name)
{
    struct state_ports_known *known = ports_known_get(h, 0, port);

    view_port(h, port, text, name);
    if (!known)
        known = ports_known_make(h, 0, port);
    if (known && !known->name_bytes) {
        name_copy(&known->name, name);
        known->name_bytes = name->used;
    }
    return known;
}

/* The name that was kept; of a port that nothing else was told of, its number. */
VIEW_INLINE void view_ports_name(const struct state_ports_known *known, ev_id port, struct name_text *name)
{
    __builtin_memcpy(name->words, known->name.words, sizeof name->words);
    name->form = WIRE_PORT_NAME;
    name->used = known->name_bytes;
    if (known->name_bytes)
        return;
    name->words[0] = port;
    name->words[1] = 0;
    name->used = 9;
}

VIEW_INLINE struct told_ports_life *view_ports_record(const struct ev_head *h, __u64 now, __u32 what, ev_id owner,
                                                      __u64 busy, const struct name_text *port)
{
    struct told_ports_life *record = ports_life_record(h, now);

    if (!record)
        return 0;
    record->event = what;
    record->owner = owner;
    record->busy = busy;
    name_copy(&record->port, port);
    return record;
}

VIEW_INLINE void view_ports_used(const struct ev_head *h, struct state_ports_known *known, ev_id pid)
{
    if (!known)
        return;
    known->sender.id = pid;
    known->sender.where = h->where;
}

VIEW_INLINE void view_ports_on_port__open(const struct ev_port__open *ev)
{
    struct told_ports_life *record;
    VIEW_NAME(name);

    VIEW_ADD(ports_totals_row(&ev->head), opened, 1);
    view_ports_used(&ev->head, view_ports_know(&ev->head, ev->port, &ev->port_name, &name), ev->pid);
    record = view_ports_record(&ev->head, view_ns(&ev->head), PORTS_OPEN, ev->pid, VIEW_UNKNOWN, &name);
    if (record) {
        view_no_name(&record->reason);
        VIEW_TELL(record);
    }
    view_owner(&ev->head, ev->pid, &name);
    VIEW_ADD(ports_by_owner_row(&ev->head, &name), opened, 1);
}

VIEW_INLINE void view_ports_on_port__command(const struct ev_port__command *ev)
{
    VIEW_NAME(name);
    __u64 type = 0;

    view_text(&ev->head, &ev->command, (char *)&type, sizeof type);
    if (type != VIEW_PORTS_COMMAND)
        return;
    VIEW_ADD(ports_totals_row(&ev->head), commands, 1);
    view_ports_used(&ev->head, view_ports_know(&ev->head, ev->port, &ev->port_name, &name), ev->pid);
    VIEW_ADD(ports_by_port_row(&ev->head, &name), commands, 1);
    view_owner(&ev->head, ev->pid, &name);
    VIEW_ADD(ports_by_owner_row(&ev->head, &name), commands, 1);
}

VIEW_INLINE void view_ports_on_port__control(const struct ev_port__control *ev)
{
    VIEW_NAME(name);

    VIEW_ADD(ports_totals_row(&ev->head), controls, 1);
    view_ports_know(&ev->head, ev->port, &ev->port_name, &name);
    VIEW_ADD(ports_by_port_row(&ev->head, &name), controls, 1);
    view_owner(&ev->head, ev->pid, &name);
    VIEW_ADD(ports_by_owner_row(&ev->head, &name), controls, 1);
}

VIEW_INLINE void view_ports_output(const struct ev_head *h, ev_id port, const struct ev_text *text, __u64 bytes)
{
    VIEW_NAME(name);

    VIEW_ADD(ports_totals_row(h), output, bytes);
    view_ports_know(h, port, text, &name);
    VIEW_ADD(ports_by_port_row(h, &name), output, bytes);
}

VIEW_INLINE void view_ports_on_driver__output(const struct ev_driver__output *ev)
{
    view_ports_output(&ev->head, ev->port, &ev->port_name, ev->bytes);
}

VIEW_INLINE void view_ports_on_driver__outputv(const struct ev_driver__outputv *ev)
{
    view_ports_output(&ev->head, ev->port, &ev->port_name, ev->bytes);
}

VIEW_INLINE void view_ports_on_driver__ready_input(const struct ev_driver__ready_input *ev)
{
    VIEW_NAME(name);

    VIEW_ADD(ports_totals_row(&ev->head), reads, 1);
    view_ports_know(&ev->head, ev->port, &ev->port_name, &name);
    VIEW_ADD(ports_by_port_row(&ev->head, &name), reads, 1);
}

VIEW_INLINE void view_ports_on_port__busy(const struct ev_port__busy *ev)
{
    struct state_ports_known *known = ports_known_get(&ev->head, 0, ev->port);

    if (!known)
        known = ports_known_make(&ev->head, 0, ev->port);
    if (known)
        known->busy_ns = view_ns(&ev->head);
}

/* How long it has been busy, which is counted; VIEW_UNKNOWN: it was not seen to be. */
VIEW_INLINE __u64 view_ports_free(const struct ev_head *h, struct state_ports_known *known,
                                  const struct name_text *name, __u64 now)
{
    __u64 since = known ? known->busy_ns : 0, busy = now > since ? now - since : 0;
    struct row_ports_by_port *row;

    if (!known || !since)
        return VIEW_UNKNOWN;
    known->busy_ns = 0;
    VIEW_ADD(ports_totals_row(h), busy, busy);
    row = ports_by_port_row(h, name);
    VIEW_OBSERVE(row, busy, busy);
    return busy;
}

VIEW_INLINE void view_ports_on_port__not_busy(const struct ev_port__not_busy *ev)
{
    struct state_ports_known *known = ports_known_get(&ev->head, 0, ev->port);
    __u64 now = view_ns(&ev->head), busy;
    struct told_ports_life *record;
    VIEW_NAME(name);

    if (!known || !known->busy_ns)
        return;
    view_ports_name(known, ev->port, &name);
    busy = view_ports_free(&ev->head, known, &name, now);
    record = view_ports_record(&ev->head, now, PORTS_FREE, 0, busy, &name);
    if (!record)
        return;
    view_no_name(&record->reason);
    VIEW_TELL(record);
}

VIEW_INLINE void view_ports_on_port__exit(const struct ev_port__exit *ev)
{
    struct state_ports_known *known;
    __u64 now = view_ns(&ev->head), busy;
    struct told_ports_life *record;
    VIEW_NAME(name);
    VIEW_NAME(reason);

    VIEW_ADD(ports_totals_row(&ev->head), closed, 1);
    known = view_ports_know(&ev->head, ev->port, &ev->port_name, &name);
    busy = view_ports_free(&ev->head, known, &name, now);
    ports_known_drop(&ev->head, 0, ev->port);
    record = view_ports_record(&ev->head, now, PORTS_CLOSE, ev->pid, busy, &name);
    view_term(&ev->head, ev->reason, &reason);
    if (record) {
        name_copy(&record->reason, &reason);
        VIEW_TELL(record);
    }
    view_shape(&reason, &name);
    VIEW_ADD(ports_by_reason_row(&ev->head, &name), count, 1);
}

#endif
