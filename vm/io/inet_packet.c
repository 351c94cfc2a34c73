/* SPDX-License-Identifier: Apache-2.0 */
/* Sockets of whole messages: what the drivers udp_inet and sctp_inet share. How one message is read is the driver's
 * (receive_one of struct inet_socket).
 * Invariant: a socket waits for input while it is active, or somebody receives, until its input has ended. */
#include <errno.h>

#include "io/inet.h"
#include "io/posix.h"
#include "proc/timer.h"

void inet_packet_want(struct inet_socket *s)
{
	inet_want(s, WATCH_IN, !s->closed_for_recv && (s->active != INET_PASSIVE || s->ops != NULL));
}

void inet_packet_failed(struct inet_socket *s, int error, Term tag)
{
	if (error == EAGAIN || error == EINTR)
		return;
	if (s->active != INET_PASSIVE)
		inet_tell_owner(s, tag, posix_error_atom(error));
	else
		inet_op_error(s, s->ops, posix_error_atom(error));
}

static void receive(struct inet_socket *s)
{
	for (uint32_t k = 0; k < s->read_packets; k++)
		if ((s->active == INET_PASSIVE && s->ops == NULL) || s->port->state != PORT_OPEN || !s->receive_one(s))
			break;
	inet_packet_want(s);
}

void inet_packet_recv(struct inet_socket *s, const uint8_t *data, size_t n, struct port_answer *a)
{
	struct inet_op *op;

	if (!(s->state & INET_OPEN)) {
		inet_answer_word(a, "exbadport");
	} else if (s->active != INET_PASSIVE || n != 8) {
		inet_answer_error(a, EINVAL);
	} else if (s->ops != NULL) {
		inet_answer_error(a, EALREADY);
	} else {
		op = inet_add_op(s, inet_read32(data));
		inet_answer_op(a, op->id);
		receive(s);
		if (s->ops != NULL && op->deadline_ms != 0)
			port_set_timer(s->port, inet_read32(data));
	}
}

void inet_packet_close(struct inet_socket *s, const uint8_t *data, size_t n, struct port_answer *a)
{
	(void)data;
	(void)n;
	inet_close_fd(s);
	s->state = 0;
	inet_answer_ok(a);
}

void inet_packet_setopts(struct inet_socket *s, const uint8_t *data, size_t n, struct port_answer *a)
{
	struct inet_change change;

	if (!inet_options_set(s, data, n, &change)) {
		inet_answer_error(a, EINVAL);
		return;
	}
	if ((s->state & INET_OPEN) && change.active)
		inet_packet_want(s);
	inet_answer_ok(a);
}

void inet_packet_input(struct port *port, struct port_watch *w)
{
	(void)w;
	receive(port->driver_data);
}

void inet_packet_timeout(struct port *port)
{
	struct inet_socket *s = port->driver_data;

	if (s->ops == NULL || s->ops->deadline_ms == 0)
		return;
	if (s->ops->deadline_ms > timer_now_ms()) { /* another receive began since */
		port_set_timer(port, s->ops->deadline_ms - timer_now_ms());
		return;
	}
	inet_op_error(s, s->ops, am_timeout);
	inet_packet_want(s);
}
