/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Sockets: the ports whose name is that of OTP's drivers for them. What a process asks one for is answered by a message
 * from a port: until the next one comes to it, its call is under way. A process makes one such call at a time (who
 * sends many before it looks at the answers has its last one here).
 */
#ifndef BPF_VIEW_INET_H
#define BPF_VIEW_INET_H

#define VIEW_INET_TCP 0x74656e695f706374ull  /* "tcp_inet" */
#define VIEW_INET_UDP 0x74656e695f706475ull  /* "udp_inet" */
#define VIEW_INET_SCTP 0x656e695f70746373ull /* "sctp_inet" without its last letter */

/* Whether the port is a socket; then its name, else 0s. */
VIEW_INLINE bool view_inet_name(const struct ev_head *h, ev_id port, const struct ev_text *text, struct name_text *name)
{
    __u64 word, rest;

    view_port(h, port, text, name);
    word = name->words[1];
    rest = name->words[2] & 0xffff;
    return ((word == VIEW_INET_TCP || word == VIEW_INET_UDP) && !(rest & 0xff)) ||
           (word == VIEW_INET_SCTP && rest == 't');
}

/* The process waits for an answer from now on. */
#define VIEW_INET_ASK(kept, ev, asked)                                                             \
    do {                                                                                           \
        struct state_inet_##kept *call = inet_##kept##_upsert(&(ev)->head, (ev)->pid);             \
                                                                                                   \
        if (call) {                                                                                \
            call->begun_ns = view_ns(&(ev)->head);                                                 \
            call->whom.id = (ev)->pid;                                                             \
            call->whom.where = (ev)->head.where;                                                   \
            call->told.command = asked;                                                            \
            call->told.port = (ev)->port;                                                          \
        }                                                                                          \
    } while (0)

VIEW_INLINE void view_inet_answered(const struct ev_head *h, ev_id pid)
{
    struct state_inet_asks *ask = inet_asks_get(h, pid);
    struct state_inet_waits *wait = inet_waits_get(h, pid);

    if (ask)
        ask->begun_ns = 0;
    if (wait)
        wait->begun_ns = 0;
}

VIEW_INLINE void view_inet_on_message__arrive(const struct ev_message__arrive *ev)
{
    if (ev->origin == MESSAGE_FROM_PORT)
        view_inet_answered(&ev->head, ev->receiver);
}

VIEW_INLINE void view_inet_on_process__exit(const struct ev_process__exit *ev)
{
    struct state_inet_asks ask;
    struct state_inet_waits wait;

    inet_asks_take(&ev->head, ev->pid, &ask);
    inet_waits_take(&ev->head, ev->pid, &wait);
}

VIEW_INLINE void view_inet_on_port__open(const struct ev_port__open *ev)
{
    VIEW_NAME(name);

    if (!view_inet_name(&ev->head, 0, &ev->port_name, &name))
        return;
    VIEW_ADD(inet_totals_row(&ev->head), opened, 1);
    view_owner(&ev->head, ev->pid, &name);
    VIEW_ADD(inet_by_owner_row(&ev->head, &name), opened, 1);
}

VIEW_INLINE void view_inet_on_port__exit(const struct ev_port__exit *ev)
{
    struct row_inet_totals *totals = inet_totals_row(&ev->head);
    VIEW_NAME(name);
    VIEW_NAME(reason);

    if (!view_inet_name(&ev->head, 0, &ev->port_name, &name))
        return;
    VIEW_ADD(totals, closed, 1);
    view_term(&ev->head, ev->reason, &reason);
    view_shape(&reason, &name);
    if (!view_orderly(&ev->head, &name))
        VIEW_ADD(totals, abnormal, 1);
}

VIEW_INLINE void view_inet_on_port__command(const struct ev_port__command *ev)
{
    VIEW_NAME(name);
    __u64 type = 0;

    view_text(&ev->head, &ev->command, (char *)&type, sizeof type);
    if (type != VIEW_PORTS_COMMAND || !view_inet_name(&ev->head, ev->port, &ev->port_name, &name))
        return;
    VIEW_ADD(inet_totals_row(&ev->head), sends, 1);
    VIEW_ADD(inet_by_socket_row(&ev->head, &name), sends, 1);
    VIEW_INET_ASK(asks, ev, INET_SEND);
    view_owner(&ev->head, ev->pid, &name);
    VIEW_ADD(inet_by_owner_row(&ev->head, &name), sends, 1);
}

VIEW_INLINE void view_inet_on_port__control(const struct ev_port__control *ev)
{
    __u64 connects = ev->command == INET_CONNECT, accepts = ev->command == INET_ACCEPT;
    __u64 recvs = ev->command == INET_RECV || ev->command == INET_RECV_PACKET;
    struct row_inet_totals *totals = inet_totals_row(&ev->head);
    struct row_inet_by_socket *socket;
    struct row_inet_by_owner *owner;
    VIEW_NAME(name);

    if (!(connects | accepts | recvs) || !view_inet_name(&ev->head, ev->port, &ev->port_name, &name))
        return;
    VIEW_ADD(totals, connects, connects);
    VIEW_ADD(totals, accepts, accepts);
    socket = inet_by_socket_row(&ev->head, &name);
    VIEW_ADD(socket, accepts, accepts);
    VIEW_ADD(socket, recvs, recvs);
    if (connects)
        VIEW_INET_ASK(asks, ev, ev->command);
    else
        VIEW_INET_ASK(waits, ev, ev->command);
    view_owner(&ev->head, ev->pid, &name);
    owner = inet_by_owner_row(&ev->head, &name);
    VIEW_ADD(owner, connects, connects);
    VIEW_ADD(owner, accepts, accepts);
    VIEW_ADD(owner, recvs, recvs);
}

VIEW_INLINE void view_inet_output(const struct ev_head *h, ev_id port, const struct ev_text *text, __u64 bytes)
{
    VIEW_NAME(name);

    if (!view_inet_name(h, port, text, &name))
        return;
    VIEW_ADD(inet_totals_row(h), output, bytes);
    VIEW_ADD(inet_by_socket_row(h, &name), output, bytes);
}

VIEW_INLINE void view_inet_on_driver__output(const struct ev_driver__output *ev)
{
    view_inet_output(&ev->head, ev->port, &ev->port_name, ev->bytes);
}

VIEW_INLINE void view_inet_on_driver__outputv(const struct ev_driver__outputv *ev)
{
    view_inet_output(&ev->head, ev->port, &ev->port_name, ev->bytes);
}

VIEW_INLINE void view_inet_on_driver__ready_input(const struct ev_driver__ready_input *ev)
{
    VIEW_NAME(name);

    if (view_inet_name(&ev->head, ev->port, &ev->port_name, &name))
        VIEW_ADD(inet_by_socket_row(&ev->head, &name), reads, 1);
}

#endif
