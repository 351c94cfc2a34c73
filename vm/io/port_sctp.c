/* SPDX-License-Identifier: Apache-2.0 */
/* The driver sctp_inet: messages over associations, many of one socket (seqpacket) or one (stream). Where the kernel
 * has no SCTP it says so when a socket is opened. What libsctp's functions do are options of sockets, asked for here.
 * A message that is larger than the buffer comes in pieces, which are put together in s->in, up to INET_PACKET_MAX;
 * nothing else comes meanwhile but a notification that no more of it will. */
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "io/inet_sctp.h"
#include "io/posix.h"

enum { CONTROL_BYTES = 512, ADDRESSES_BYTES = 64 << 10 };

/* ---- receiving */

static void clear_input(struct inet_socket *s)
{
	if (s->in.binary != NULL)
		binary_unref(s->in.binary);
	s->in = (struct inet_buffer){ 0 };
	s->sctp.event = s->sctp.skips = false;
}

static size_t piece_bytes(const struct inet_socket *s)
{
	return s->buffer_bytes < INET_PACKET_MAX ? s->buffer_bytes : INET_PACKET_MAX;
}

/* Room for one more piece behind what has come. Fails: false, no memory. */
static bool make_room(struct inet_socket *s)
{
	size_t wanted = s->in.end + piece_bytes(s);
	struct binary *b;

	if (s->in.binary == NULL)
		b = binary_new(wanted);
	else if (s->in.binary->size_bytes >= wanted)
		return true;
	else
		b = binary_resize(s->in.binary, s->in.end + wanted);
	if (b != NULL)
		s->in.binary = b;
	return b != NULL;
}

/* n bytes came behind what had come; more: they are not the last. Returns the bytes of a message that is whole now, and
 * how many; NULL: there is none. */
static const uint8_t *take_piece(struct inet_socket *s, size_t n, bool event, bool more, size_t *size)
{
	uint8_t *data = s->in.binary->data;

	if (s->in.end > 0 && event != s->sctp.event) { /* no more comes of the message before */
		memmove(data, data + s->in.end, n);
		s->in.end = 0;
		s->sctp.skips = false;
	}
	s->sctp.event = event;
	if (s->in.end + n > INET_PACKET_MAX) { /* its bytes are dropped from now on, those of before at its end */
		s->sctp.skips = true;
		s->in.end = 1;
	} else {
		s->in.end += n;
	}
	*size = s->in.end;
	return more ? NULL : data;
}

/* A whole message of `size` bytes. */
static void deliver(struct inet_socket *s, const struct inet_address *from, struct msghdr *m, size_t size)
{
	bool event = s->sctp.event, skips = s->sctp.skips;
	struct binary *b = s->in.binary;

	s->in.binary = NULL; /* it may be shared from now on */
	clear_input(s);
	if (skips) {
		inet_packet_failed(s, EMSGSIZE, am_sctp_error);
	} else if (!inet_packet_fits(s, size)) {
		inet_packet_failed(s, ENOMEM, am_sctp_error);
	} else {
		if (size < b->size_bytes - b->size_bytes / 4)
			b = binary_resize(b, size); /* never fails when it gets smaller */
		inet_sctp_deliver(s, from, m, b, b->data, size, event);
	}
	binary_unref(b);
}

/* Nothing comes any more: the one association of a socket has ended. */
static void end_input(struct inet_socket *s)
{
	clear_input(s);
	s->closed_for_recv = true;
	if (s->active == INET_PASSIVE && s->ops != NULL)
		inet_op_error(s, s->ops, am_closed);
}

static bool receive_one(struct inet_socket *s)
{
	union {
		struct cmsghdr align;
		char bytes[CONTROL_BYTES];
	} raw;
	struct inet_address from = { .size = 0 };
	struct iovec iov;
	struct msghdr m = { .msg_name = &from.any, .msg_namelen = offsetof(struct inet_address, size), .msg_iov = &iov,
			    .msg_iovlen = 1, .msg_control = raw.bytes, .msg_controllen = sizeof(raw.bytes) };
	size_t size;
	ssize_t n;

	if (!make_room(s)) {
		inet_packet_failed(s, ENOMEM, am_sctp_error);
		return false;
	}
	iov = (struct iovec){ s->in.binary->data + s->in.end, piece_bytes(s) };
	n = recvmsg(s->fd, &m, 0);
	if (n < 0) {
		int error = errno;

		if (s->in.end == 0)
			clear_input(s);
		inet_packet_failed(s, error, am_sctp_error);
		return false;
	}
	if (n == 0 && !(m.msg_flags & (MSG_EOR | MSG_NOTIFICATION))) {
		end_input(s);
		return false;
	}
	from.size = m.msg_namelen;
	inet_count(&s->received, (size_t)n);
	if (take_piece(s, (size_t)n, m.msg_flags & MSG_NOTIFICATION, !(m.msg_flags & MSG_EOR), &size) != NULL)
		deliver(s, &from, &m, size);
	return true;
}

/* ---- sending */

/* A record of how, and data. Fails: what is wrong. */
static Term send_message(struct inet_socket *s, const uint8_t *data, size_t n)
{
	union {
		struct cmsghdr head;
		char bytes[CMSG_SPACE(sizeof(struct sctp_sndrcvinfo))];
	} raw = { 0 };
	struct iovec iov;
	struct msghdr m = {
		.msg_iov = &iov, .msg_iovlen = 1, .msg_control = raw.bytes, .msg_controllen = sizeof(raw.bytes)
	};

	if (sctp_read_record(&sctp_record_sndrcvinfo, SCTP_READ_ALL, s->family, CMSG_DATA(&raw.head), &data, &n) !=
	    NULL)
		return am_einval;
	raw.head.cmsg_level = IPPROTO_SCTP;
	raw.head.cmsg_type = SCTP_SNDRCV;
	raw.head.cmsg_len = CMSG_LEN(sizeof(struct sctp_sndrcvinfo));
	iov = (struct iovec){ (void *)data, n };
	inet_count(&s->sent, n);
	return sendmsg(s->fd, &m, MSG_NOSIGNAL) < 0 ? posix_error_atom(errno) : TERM_NONE;
}

static void output_sctp(struct port *port, struct byte_queue *data)
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
		wrong = send_message(s, bytes, n);
		mem_free(bytes);
	}
	if (wrong == TERM_NONE)
		inet_reply_ok(s, port->caller);
	else
		inet_reply_error(s, port->caller, wrong);
}

/* ---- opening, addresses */

static int wanted_type(const uint8_t *data, size_t n)
{
	return n >= 2 && data[1] == INET_TYPE_STREAM ? SOCK_STREAM : SOCK_SEQPACKET;
}

static void ctl_open(struct inet_socket *s, const uint8_t *data, size_t n, struct port_answer *a)
{
	inet_open(s, data, n, wanted_type(data, n), a);
	inet_packet_want(s);
}

static void ctl_fdopen(struct inet_socket *s, const uint8_t *data, size_t n, struct port_answer *a)
{
	inet_fdopen(s, data, n, wanted_type(data, n), a);
	inet_packet_want(s);
}

/* Addresses are added, or (the first byte 0) removed, one after the other; what was done remains when one fails. */
static void ctl_bindx(struct inet_socket *s, const uint8_t *data, size_t n, struct port_answer *a)
{
	int option;

	if (!(s->state & INET_OPEN) || n < 1) {
		inet_answer_word(a, n < 1 ? "einval" : "exbadport");
		return;
	}
	option = *data++ != 0 ? SCTP_SOCKOPT_BINDX_ADD : SCTP_SOCKOPT_BINDX_REM;
	for (n--; n > 0;) {
		struct inet_address address;
		const char *wrong = inet_address_read(&address, s->family, &data, &n);

		if (wrong != NULL) {
			inet_answer_word(a, wrong);
			return;
		}
		if (setsockopt(s->fd, IPPROTO_SCTP, option, &address, address.size) < 0) {
			inet_answer_error(a, errno);
			return;
		}
	}
	s->state = INET_OPEN;
	inet_answer_ok(a);
}

/* All addresses of an association, or of the socket. */
static void answer_addresses(struct inet_socket *s, int option, const uint8_t *data, size_t n, struct port_answer *a)
{
	struct sctp_getaddrs *list;
	socklen_t size = ADDRESSES_BYTES;
	size_t at = 0;

	if (n != 4 || !(s->state & INET_OPEN)) {
		inet_answer_word(a, n != 4 ? "einval" : "exbadport");
		return;
	}
	list = mem_zalloc(size);
	list->assoc_id = (sctp_assoc_t)inet_read32(data);
	if (getsockopt(s->fd, IPPROTO_SCTP, option, list, &size) < 0) {
		inet_answer_error(a, errno);
		mem_free(list);
		return;
	}
	inet_answer_ok(a);
	for (uint32_t k = 0; k < list->addr_num; k++) {
		struct inet_address address;

		if (at + sizeof(address.in6) > ADDRESSES_BYTES - sizeof(*list))
			break;
		memcpy(&address, list->addrs + at, sizeof(address.in6));
		address.size = address.any.sa_family == AF_INET6 ? sizeof(address.in6) : sizeof(address.in);
		at += address.size;
		if (!inet_address_put(a, &address))
			break;
	}
	mem_free(list);
}

static void ctl_paddrs(struct inet_socket *s, const uint8_t *data, size_t n, struct port_answer *a)
{
	answer_addresses(s, SCTP_GET_PEER_ADDRS, data, n, a);
}

static void ctl_laddrs(struct inet_socket *s, const uint8_t *data, size_t n, struct port_answer *a)
{
	answer_addresses(s, SCTP_GET_LOCAL_ADDRS, data, n, a);
}

/* ---- associations */

/* A list of addresses of one peer, behind their number. Fails: what is wrong; *error: the kernel's. */
static const char *connect_to_list(struct inet_socket *s, const uint8_t *data, size_t n, sctp_assoc_t *association,
				   int *error)
{
	struct inet_address address;
	struct sctp_getaddrs_old asked = { 0 };
	unsigned count = n > 0 ? *data : 0;
	socklen_t size = sizeof(asked);
	uint8_t *list;

	if (count == 0)
		return "einval";
	data++;
	n--;
	list = mem_alloc(count * sizeof(address.un));
	asked.addrs = (struct sockaddr *)list;
	while (count-- > 0) {
		const char *wrong = inet_address_read(&address, s->family, &data, &n);

		if (wrong != NULL) {
			mem_free(list);
			return wrong;
		}
		memcpy(list + asked.addr_num, &address, address.size);
		asked.addr_num += (int)address.size; /* the kernel means bytes here */
	}
	*error = getsockopt(s->fd, IPPROTO_SCTP, SCTP_SOCKOPT_CONNECTX3, &asked, &size) < 0 ? errno : 0;
	*association = asked.assoc_id;
	mem_free(list);
	return NULL;
}

static const char *connect_to_one(struct inet_socket *s, const uint8_t *data, size_t n, int *error)
{
	struct inet_address to;
	const char *wrong = inet_address_read(&to, s->family, &data, &n);

	if (wrong == NULL)
		*error = connect(s->fd, &to.any, to.size) < 0 ? errno : 0;
	return wrong;
}

/* Begins an association; that it is there is told later, as a notification. The timeout that is given is for who
 * waits for that. */
static void ctl_connect(struct inet_socket *s, const uint8_t *data, size_t n, struct port_answer *a)
{
	sctp_assoc_t association = 0;
	bool list = n >= 6 && data[4] == INET_AF_LIST;
	const char *wrong = NULL;
	struct inet_op *op;
	int error = 0;

	if (!(s->state & INET_OPEN))
		wrong = "exbadport";
	else if (n < 6)
		wrong = "einval";
	else if (list)
		wrong = connect_to_list(s, data + 5, n - 5, &association, &error);
	else
		wrong = connect_to_one(s, data + 4, n - 4, &error);
	if (wrong != NULL) {
		inet_answer_word(a, wrong);
		return;
	}
	if (error != 0 && error != EINPROGRESS) {
		inet_answer_error(a, error);
		return;
	}
	s->closed_for_recv = false;
	inet_packet_want(s);
	op = inet_add_op(s, INET_INFINITY);
	inet_answer_op(a, op->id);
	if (list)
		inet_sctp_connected(s, op, association);
	else
		inet_op_ok(s, op);
}

/* An association gets a socket of its own, of the caller. */
static void ctl_peeloff(struct inet_socket *s, const uint8_t *data, size_t n, struct port_answer *a)
{
	sctp_peeloff_flags_arg_t asked = { .flags = SOCK_NONBLOCK | SOCK_CLOEXEC };
	socklen_t size = sizeof(asked);
	struct inet_socket *own;
	struct port *port;
	struct heap h;

	if (!(s->state & INET_OPEN) || n != 4) {
		inet_answer_word(a, n != 4 ? "einval" : "exbadport");
		return;
	}
	asked.p_arg.associd = (sctp_assoc_t)inet_read32(data);
	if (getsockopt(s->fd, IPPROTO_SCTP, SCTP_SOCKOPT_PEELOFF_FLAGS, &asked, &size) < 0) {
		inet_answer_error(a, errno);
		return;
	}
	own = inet_new_like(s, asked.p_arg.sd, s->port->caller, &s->remote);
	if (own == NULL) {
		close(asked.p_arg.sd);
		inet_answer_error(a, ENFILE);
		return;
	}
	own->type = SOCK_STREAM;
	port = own->port;
	heap_init(&h, HEAP_MIN_WORDS);
	inet_sctp_reply(s, s->port->caller, &h, port->id);
	heap_free(&h);
	inet_answer_later(a);
	port_let_go(port); /* that ends it, where its owner has ended */
	port_unref(port);
}

/* ---- the driver */

static const struct inet_command_row commands[] = {
	{ INET_REQ_OPEN, ctl_open }, { INET_REQ_FDOPEN, ctl_fdopen }, { INET_REQ_CLOSE, inet_packet_close },
	{ INET_REQ_CONNECT, ctl_connect }, { INET_REQ_LISTEN, inet_listen }, { INET_REQ_SETOPTS, inet_packet_setopts },
	{ INET_REQ_GETOPTS, inet_sctp_getopts }, { INET_REQ_GETLADDRS, ctl_laddrs }, { INET_REQ_GETPADDRS, ctl_paddrs },
	{ PACKET_REQ_RECV, inet_packet_recv }, { SCTP_REQ_BINDX, ctl_bindx }, { SCTP_REQ_PEELOFF, ctl_peeloff },
};

static bool control_sctp(struct port *port, unsigned command, const uint8_t *data, size_t n, struct port_answer *a)
{
	inet_run(port, commands, sizeof(commands) / sizeof(commands[0]), command, data, n, a);
	return true;
}

static int start_sctp(struct port *port, const struct port_options *o)
{
	struct inet_socket *s = inet_new(port, IPPROTO_SCTP);

	(void)o;
	s->receive_one = receive_one;
	port->driver_data = s;
	return 0;
}

const struct port_driver port_sctp_driver = {
	.name = "sctp_inet",
	.start = start_sctp,
	.outputv = output_sctp,
	.control = control_sctp,
	.ready_input = inet_packet_input,
	.timeout = inet_packet_timeout,
	.tells_list = true,
	.stop = inet_stop,
};
