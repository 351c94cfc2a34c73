/* SPDX-License-Identifier: Apache-2.0 */
/* The driver udp_inet: datagrams, over the internet and within the machine (local). A datagram is sent at once or not
 * at all.
 * Invariant: a socket waits for input while it is active, or somebody receives. */
#include <errno.h>
#include <string.h>

#include "base/alloc.h"
#include "io/inet.h"
#include "io/posix.h"

enum { CONTROL_BYTES = 256 };

/* ---- receiving */

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
		inet_read_control(&m, control);
	return n;
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
		inet_packet_failed(s, errno, am_udp_error);
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
	size_t n;
	uint8_t *bytes;
	Term wrong = am_einval;

	if (!inet_take_tag(s, data))
		return;
	n = data->size_bytes;
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
	inet_packet_want(s);
}

static void ctl_fdopen(struct inet_socket *s, const uint8_t *data, size_t n, struct port_answer *a)
{
	inet_fdopen(s, data, n, SOCK_DGRAM, a);
	inet_packet_want(s);
}

static void ctl_unknown(struct inet_socket *s, const uint8_t *data, size_t n, struct port_answer *a)
{
	(void)s;
	(void)data;
	(void)n;
	inet_answer_word(a, "exbadport");
}

static const struct inet_command_row commands[] = {
	{ INET_REQ_OPEN, ctl_open },
	{ INET_REQ_FDOPEN, ctl_fdopen },
	{ INET_REQ_CLOSE, inet_packet_close },
	{ INET_REQ_CONNECT, ctl_connect },
	{ INET_REQ_SETOPTS, inet_packet_setopts },
	{ INET_REQ_LISTEN, ctl_unknown },
	{ PACKET_REQ_RECV, inet_packet_recv },
};

static bool control_udp(struct port *port, unsigned command, const uint8_t *data, size_t n, struct port_answer *a)
{
	inet_run(port, commands, sizeof(commands) / sizeof(commands[0]), command, data, n, a);
	return true;
}

static int start_udp(struct port *port, const struct port_options *o)
{
	struct inet_socket *s = inet_new(port, IPPROTO_UDP);

	(void)o;
	s->receive_one = receive_one;
	port->driver_data = s;
	return 0;
}

const struct port_driver port_udp_driver = {
	.name = "udp_inet",
	.start = start_udp,
	.outputv = output_udp,
	.control = control_udp,
	.ready_input = inet_packet_input,
	.timeout = inet_packet_timeout,
	.tells_list = true,
	.stop = inet_stop,
};
