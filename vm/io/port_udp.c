/* SPDX-License-Identifier: Apache-2.0 */
/* The driver udp_inet: datagrams, over the internet and within the machine (local). A datagram is sent at once or not
 * at all.
 * Invariant: a socket waits for input while it is active, or somebody receives. */
#include <errno.h>
#include <string.h>

#include "base/alloc.h"
#include "io/inet.h"
#include "io/posix.h"
#include "proc/timer.h"

enum { CONTROL_BYTES = 256 };

/* ---- receiving */

static int read_number(const struct cmsghdr *c)
{
	size_t n = c->cmsg_len - CMSG_LEN(0);
	int value = 0;

	if (n == 1)
		return *CMSG_DATA(c);
	memcpy(&value, CMSG_DATA(c), n < sizeof(value) ? n : sizeof(value));
	return value;
}

static void read_control(struct msghdr *m, struct inet_control_data *to)
{
	static const struct { int level, type; Term name; } kinds[] = {
		{ IPPROTO_IP, IP_TOS, am_tos }, { IPPROTO_IPV6, IPV6_TCLASS, am_tclass },
		{ IPPROTO_IP, IP_TTL, am_ttl },
	};

	to->count = 0;
	for (struct cmsghdr *c = CMSG_FIRSTHDR(m); c != NULL; c = CMSG_NXTHDR(m, c))
		for (size_t k = 0; k < sizeof(kinds) / sizeof(kinds[0]); k++)
			if (c->cmsg_level == kinds[k].level && c->cmsg_type == kinds[k].type && to->count < 4) {
				to->items[to->count].name = kinds[k].name;
				to->items[to->count++].value = read_number(c);
			}
}

/* One datagram. Fails: -1 and errno. */
static ssize_t read_datagram(struct inet_socket *s, struct binary *b, struct inet_address *from,
			     struct inet_control_data *control)
{
	union {
		struct cmsghdr align;
		char bytes[CONTROL_BYTES];
	} raw;
	struct iovec iov = { b->data, s->buffer_bytes };
	struct msghdr m = { .msg_name = &from->any, .msg_namelen = offsetof(struct inet_address, size), .msg_iov = &iov,
			    .msg_iovlen = 1 };
	ssize_t n;

	if (s->control_options != 0) {
		m.msg_control = raw.bytes;
		m.msg_controllen = sizeof(raw.bytes);
	}
	n = recvmsg(s->fd, &m, 0);
	from->size = m.msg_namelen;
	if (s->state & INET_CONNECTED)
		*from = s->remote;
	if (n >= 0 && s->control_options != 0)
		read_control(&m, control);
	return n;
}

static void receive_failed(struct inet_socket *s, int error)
{
	if (error == EAGAIN || error == EINTR)
		return;
	if (s->active != INET_PASSIVE)
		inet_tell_owner(s, am_udp_error, posix_error_atom(error));
	else
		inet_op_error(s, s->ops, posix_error_atom(error));
}

/* Returns false when there was none. */
static bool receive_one(struct inet_socket *s)
{
	struct inet_address from = { .size = 0 };
	struct inet_control_data control;
	struct binary *b = binary_new(s->buffer_bytes);
	ssize_t n = -1;

	if (b == NULL)
		errno = ENOMEM;
	else
		n = read_datagram(s, b, &from, &control);
	if (n < 0) {
		receive_failed(s, errno);
	} else {
		inet_count(&s->received, (size_t)n);
		if ((size_t)n < s->buffer_bytes - s->buffer_bytes / 4)
			b = binary_resize(b, (size_t)n); /* never fails when it gets smaller */
		inet_deliver_datagram(s, &from, b, (size_t)n, s->control_options != 0 ? &control : NULL);
	}
	if (b != NULL)
		binary_unref(b);
	return n >= 0;
}

static void receive(struct inet_socket *s)
{
	for (uint32_t k = 0; k < s->read_packets && (s->active != INET_PASSIVE || s->ops != NULL) && s->port->state == PORT_OPEN; k++)
		if (!receive_one(s))
			break;
	inet_want(s, WATCH_IN, s->active != INET_PASSIVE || s->ops != NULL);
}

static void ctl_recv(struct inet_socket *s, const uint8_t *data, size_t n, struct port_answer *a)
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

/* ---- sending */

/* Options of one datagram: a number and an integer, over and over. Fails: false. */
static bool put_control(struct msghdr *m, const uint8_t *data, size_t n)
{
	static const struct { uint8_t number; int level, type; } kinds[] = {
		{ 9, IPPROTO_IP, IP_TOS }, { 46, IPPROTO_IP, IP_TTL }, { 41, IPPROTO_IPV6, IPV6_TCLASS },
	};
	struct cmsghdr *c = CMSG_FIRSTHDR(m);
	size_t used = 0;

	for (; n > 0; data += 5, n -= 5) {
		size_t k = 0;
		int value;

		while (k < sizeof(kinds) / sizeof(kinds[0]) && kinds[k].number != data[0])
			k++;
		if (n < 5 || c == NULL || k == sizeof(kinds) / sizeof(kinds[0]))
			return false;
		value = (int)inet_read32(data + 1);
		c->cmsg_level = kinds[k].level;
		c->cmsg_type = kinds[k].type;
		c->cmsg_len = CMSG_LEN(sizeof(value));
		memcpy(CMSG_DATA(c), &value, sizeof(value));
		used += CMSG_SPACE(sizeof(value));
		c = CMSG_NXTHDR(m, c);
	}
	m->msg_controllen = used;
	return true;
}

/* To whom, options, data. Fails: what is wrong. */
static Term send_datagram(struct inet_socket *s, const uint8_t *data, size_t n)
{
	union {
		struct cmsghdr align;
		char bytes[4 * CMSG_SPACE(sizeof(int))];
	} raw = { 0 };
	struct inet_address to;
	struct iovec iov;
	struct msghdr m = { .msg_iov = &iov, .msg_iovlen = 1 };
	const char *wrong = inet_address_read(&to, s->family, &data, &n);
	uint32_t options;

	if (wrong != NULL)
		return atom_from_text(wrong);
	if (n < 4 || inet_read32(data) > n - 4)
		return am_einval;
	options = inet_read32(data);
	if (options > 0) {
		m.msg_control = raw.bytes;
		m.msg_controllen = sizeof(raw.bytes);
		if (!put_control(&m, data + 4, options))
			return am_einval;
	}
	if (!(s->state & INET_CONNECTED)) {
		m.msg_name = &to.any;
		m.msg_namelen = to.size;
	}
	iov = (struct iovec){ (void *)(data + 4 + options), n - 4 - options };
	inet_count(&s->sent, iov.iov_len);
	return sendmsg(s->fd, &m, MSG_NOSIGNAL) < 0 ? posix_error_atom(errno) : TERM_NONE;
}

static void output_udp(struct port *port, struct byte_queue *data)
{
	struct inet_socket *s = port->driver_data;
	size_t n = data->size_bytes;
	uint8_t *bytes;
	Term wrong = am_einval;

	if (s->state & INET_OPEN) {
		bytes = mem_alloc(n + 1);
		byte_queue_copy(data, bytes, n);
		wrong = send_datagram(s, bytes, n);
		mem_free(bytes);
	}
	if (wrong == TERM_NONE)
		inet_reply_ok(s, port->caller);
	else
		inet_reply_error(s, port->caller, wrong);
}

/* ---- commands */

static void forget_peer(struct inet_socket *s)
{
	const struct sockaddr none = { .sa_family = AF_UNSPEC };

	connect(s->fd, &none, sizeof(none));
	s->state &= ~(unsigned)INET_CONNECTED;
}

/* Only the peer from now on; without an address nobody in particular. */
static void ctl_connect(struct inet_socket *s, const uint8_t *data, size_t n, struct port_answer *a)
{
	const char *wrong = NULL;
	struct inet_address to;
	struct inet_op *op;
	int error;

	if (!(s->state & INET_OPEN))
		wrong = "exbadport";
	else if ((n > 0 && n < 6) || s->ops != NULL)
		wrong = "einval";
	if (wrong == NULL && n > 0) {
		data += 4;
		n -= 4;
		wrong = inet_address_read(&to, s->family, &data, &n);
	} else {
		to.size = 0;
	}
	if (wrong != NULL) {
		inet_answer_word(a, wrong);
		return;
	}
	if ((s->state & INET_CONNECTED) || to.size == 0)
		forget_peer(s); /* else the source address stays that of the peer before */
	if (to.size > 0 && connect(s->fd, &to.any, to.size) < 0) {
		error = errno;
		forget_peer(s);
		inet_answer_error(a, error);
		return;
	}
	if (to.size > 0) {
		s->remote = to;
		s->state |= INET_CONNECTED;
	}
	op = inet_add_op(s, INET_INFINITY);
	inet_answer_op(a, op->id);
	inet_op_ok(s, op);
}

static void ctl_open(struct inet_socket *s, const uint8_t *data, size_t n, struct port_answer *a)
{
	inet_open(s, data, n, SOCK_DGRAM, a);
	inet_want(s, WATCH_IN, s->active != INET_PASSIVE);
}

static void ctl_fdopen(struct inet_socket *s, const uint8_t *data, size_t n, struct port_answer *a)
{
	inet_fdopen(s, data, n, SOCK_DGRAM, a);
	inet_want(s, WATCH_IN, s->active != INET_PASSIVE);
}

static void ctl_close(struct inet_socket *s, const uint8_t *data, size_t n, struct port_answer *a)
{
	(void)data;
	(void)n;
	inet_close_fd(s);
	s->state = 0;
	inet_answer_ok(a);
}

static void ctl_setopts(struct inet_socket *s, const uint8_t *data, size_t n, struct port_answer *a)
{
	struct inet_change change;

	if (!inet_options_set(s, data, n, &change)) {
		inet_answer_error(a, EINVAL);
		return;
	}
	if ((s->state & INET_OPEN) && change.active)
		inet_want(s, WATCH_IN, s->active != INET_PASSIVE || s->ops != NULL);
	inet_answer_ok(a);
}

static void ctl_unknown(struct inet_socket *s, const uint8_t *data, size_t n, struct port_answer *a)
{
	(void)s;
	(void)data;
	(void)n;
	inet_answer_word(a, "exbadport");
}

static const struct inet_command_row commands[] = {
	{ INET_REQ_OPEN, ctl_open }, { INET_REQ_FDOPEN, ctl_fdopen }, { INET_REQ_CLOSE, ctl_close },
	{ INET_REQ_CONNECT, ctl_connect },
	{ INET_REQ_SETOPTS, ctl_setopts }, { INET_REQ_LISTEN, ctl_unknown }, { PACKET_REQ_RECV, ctl_recv },
};

static bool control_udp(struct port *port, unsigned command, const uint8_t *data, size_t n, struct port_answer *a)
{
	inet_run(port, commands, sizeof(commands) / sizeof(commands[0]), command, data, n, a);
	return true;
}

static void input_udp(struct port *port, struct port_watch *w)
{
	(void)w;
	receive(port->driver_data);
}

static void timeout_udp(struct port *port)
{
	struct inet_socket *s = port->driver_data;

	if (s->ops == NULL || s->ops->deadline_ms == 0)
		return;
	if (s->ops->deadline_ms > timer_now_ms()) { /* another receive began since */
		port_set_timer(port, s->ops->deadline_ms - timer_now_ms());
		return;
	}
	inet_op_error(s, s->ops, am_timeout);
	inet_want(s, WATCH_IN, s->active != INET_PASSIVE);
}

static int start_udp(struct port *port, const struct port_options *o)
{
	(void)o;
	port->driver_data = inet_new(port, IPPROTO_UDP);
	return 0;
}

const struct port_driver port_udp_driver = {
	.name = "udp_inet",
	.start = start_udp,
	.outputv = output_udp,
	.control = control_udp,
	.ready_input = input_udp,
	.timeout = timeout_udp,
	.tells_list = true,
	.stop = inet_stop,
};
