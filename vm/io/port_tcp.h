/* SPDX-License-Identifier: Apache-2.0 */
/* What the files of the driver tcp_inet share (port_tcp.c). The port is held. */
#ifndef VM_IO_PORT_TCP_H
#define VM_IO_PORT_TCP_H

#include "io/inet.h"

/* ---- port_tcp.c */

/* The port's timer runs for the earliest deadline, of timer_now_ms; 0: none. It is left running when that is gone: most
 * often the next one is later. */
void tcp_want_timer(struct inet_socket *s, uint64_t deadline_ms);
void tcp_clear_input(struct inet_socket *s);
/* Tells who subscribed to it that the queue of output is empty. */
void tcp_tell_empty(struct inet_socket *s);
void tcp_tell_closed(struct inet_socket *s);
/* The file that is being sent, if one is: it is not sent any further, and nobody is told. */
void tcp_end_file(struct inet_socket *s);
/* The same, told to who sends it. */
void tcp_abort_file(struct inet_socket *s, int error);
/* Returns who waited for the queue to get short, or TERM_NONE. */
Term tcp_end_busy(struct inet_socket *s);
/* The peer has closed, or (error != 0) reading failed. */
void tcp_end_input(struct inet_socket *s, int error);
/* Nothing can be read or written any more; the port stays. */
void tcp_close_socket(struct inet_socket *s);

/* ---- port_tcp_in.c */

/* Delivers what is whole, as long as somebody wants it. Returns false when the connection has ended. */
bool tcp_deliver_whole(struct inet_socket *s);
/* Reads once, and delivers. Returns whether there may be more to read: all the room was filled, and the connection has
 * not ended. */
bool tcp_receive(struct inet_socket *s);
/* The commands of prim_inet:recv/3 and unrecv/2; the answer goes to a, of recv also later, to its caller. */
void tcp_ctl_recv(struct inet_socket *s, const uint8_t *data, size_t n, struct port_answer *a);
/* Bytes that are to be received again. */
void tcp_ctl_unrecv(struct inet_socket *s, const uint8_t *data, size_t n, struct port_answer *a);

/* ---- port_tcp_out.c */

/* Writes what goes at once. */
void tcp_write_queue(struct inet_socket *s);
/* Sends of the file what goes at once; then the queue. */
void tcp_write_file(struct inet_socket *s);
/* As outputv of struct port_driver: takes the bytes of data. */
void tcp_output(struct port *port, struct byte_queue *data);
/* The commands of prim_inet:shutdown/2 and sendfile/4; the answer goes to a. */
void tcp_ctl_shutdown(struct inet_socket *s, const uint8_t *data, size_t n, struct port_answer *a);
/* The descriptor as the machine's int (prim_file:get_handle_nif/1), offset, length. */
void tcp_ctl_sendfile(struct inet_socket *s, const uint8_t *data, size_t n, struct port_answer *a);

#endif
