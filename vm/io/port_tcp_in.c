/* SPDX-License-Identifier: Apache-2.0 */
/* What a connection receives: bytes stay in s->in until they are a packet that somebody wants. */
#include "io/port_tcp.h"

#include <errno.h>
#include <string.h>

#include "base/alloc.h"
#include "io/posix.h"
#include "proc/timer.h"

enum { GROW_BYTES = 64 << 10 };

static uint8_t *input_at(const struct inet_socket *s)
{
	return s->in.binary->data + s->in.start;
}

static size_t input_bytes(const struct inet_socket *s)
{
	return s->in.end - s->in.start;
}

/* Room for `bytes` in all behind `start`. Fails: false, no memory. What others share is not moved. */
static bool make_room(struct inet_socket *s, size_t bytes)
{
	size_t n = input_bytes(s);
	struct binary *b;

	if (s->in.binary != NULL && s->in.start + bytes <= s->in.binary->size_bytes) {
		if (s->in.start + bytes > s->in.room)
			s->in.room = s->in.start + bytes;
		return true;
	}
	b = binary_new(bytes);
	if (b == NULL)
		return false;
	if (n > 0)
		memcpy(b->data, input_at(s), n);
	if (s->in.binary != NULL)
		binary_unref(s->in.binary);
	s->in = (struct inet_buffer){ .binary = b, .end = n, .room = bytes, .wanted = s->in.wanted };
	return true;
}

static bool start_buffer(struct inet_socket *s, size_t bytes)
{
	s->in.binary = binary_new(bytes);
	s->in.start = s->in.end = s->in.wanted = 0;
	s->in.room = bytes;
	return s->in.binary != NULL;
}

/* How much is to be read before there is a packet; 0: there is one, of *size bytes; -1: there will be none. */
static int64_t missing(struct inet_socket *s, size_t *size)
{
	size_t n = input_bytes(s);
	struct packet_limits limits = { s->packet_bytes, (uint32_t)(s->in.room < UINT32_MAX ? s->in.room : UINT32_MAX),
					s->delimiter };
	int64_t known = packet_size(inet_packet_type(s), n > 0 ? input_at(s) : NULL, n, &limits);

	s->in.wanted = 0;
	if (known > 0 && (uint64_t)known <= n) {
		*size = (size_t)known;
		return 0;
	}
	if (known == PACKET_INVALID)
		return -1;
	if (known > 0) {
		s->in.wanted = (size_t)known - n;
		return (int64_t)s->in.wanted;
	}
	if (s->in.end < s->in.room)
		return (int64_t)(s->in.room - s->in.end);
	if (s->in.start > 0) /* as long as the whole buffer, once it is at its beginning */
		return make_room(s, s->in.room) && s->in.end < s->in.room ? (int64_t)(s->in.room - s->in.end) : -1;
	if (s->packet_bytes > n)
		return make_room(s, s->packet_bytes) ? (int64_t)(s->packet_bytes - n) : -1;
	return -1;
}

/* What is left goes to a buffer of its own: what comes is not written behind what was shared. */
static void move_rest(struct inet_socket *s)
{
	size_t n = input_bytes(s), room = s->in.room > n ? s->in.room : n;
	struct binary *b = binary_new(room);

	if (b == NULL) /* a large buffer, of which little is in use */
		b = binary_new(room = n);
	ENSURE(b != NULL);
	memcpy(b->data, input_at(s), n);
	binary_unref(s->in.binary);
	s->in = (struct inet_buffer){ .binary = b, .end = n, .room = room };
}

/* The first `size` bytes of the buffer. Where they are most of it they are not copied. */
static void deliver(struct inet_socket *s, size_t size)
{
	bool share = size * 4 >= s->in.binary->size_bytes * 3;
	struct binary *b = s->in.binary;
	const uint8_t *bytes = input_at(s);

	inet_count(&s->received, size);
	binary_ref(b);
	s->in.start += size;
	s->in.wanted = 0;
	s->length = 0;
	if (s->in.start == s->in.end)
		tcp_clear_input(s);
	else if (share)
		move_rest(s);
	if (s->active == INET_PASSIVE)
		inet_want(s, WATCH_IN, false);
	inet_deliver_packet(s, b, bytes, size, share);
	binary_unref(b);
}

/* Delivers what is whole, as long as somebody wants it. Returns false when the connection has ended. */
bool tcp_deliver_whole(struct inet_socket *s)
{
	size_t size;

	while (s->in.binary != NULL && input_bytes(s) > 0 && (s->active != INET_PASSIVE || s->ops != NULL)) {
		int64_t more = 0;

		if (s->length > 0 && input_bytes(s) >= s->length)
			size = s->length;
		else if (s->length > 0)
			return true;
		else
			more = missing(s, &size);
		if (more < 0) {
			tcp_end_input(s, EMSGSIZE);
			return false;
		}
		if (more > 0)
			return true;
		if (!inet_packet_fits(s, size)) {
			tcp_end_input(s, ENOMEM);
			return false;
		}
		deliver(s, size);
		if (s->port->state != PORT_OPEN || !inet_is_connected(s))
			return false;
	}
	return true;
}

/* A packet whose length is known. Its header may lie: the buffer grows with what has come, to more than twice as much,
 * so that little of it is copied often. */
static size_t prepare_wanted(struct inet_socket *s)
{
	size_t n = input_bytes(s), most = 2 * n + GROW_BYTES, all = n + s->in.wanted, left = s->in.room - s->in.end;

	if (left < s->in.wanted && left < GROW_BYTES && !make_room(s, all < most ? all : most))
		return 0;
	left = s->in.room - s->in.end;
	return s->in.wanted < left ? s->in.wanted : left;
}

/* How much to read now. Fails: 0, no memory. */
static size_t prepare_read(struct inet_socket *s)
{
	size_t ignored = 0;

	if (s->in.binary == NULL)
		return start_buffer(s, s->length > 0 ? s->length : s->buffer_bytes) ? s->in.room : 0;
	if (s->length > 0)
		return make_room(s, s->length) ? s->length - input_bytes(s) : 0;
	if (s->in.wanted > 0)
		return prepare_wanted(s);
	if (s->in.end == s->in.room && !make_room(s, s->in.room))
		return 0;
	return s->in.end < s->in.room ? s->in.room - s->in.end : (size_t)missing(s, &ignored);
}

/* Reads once, and delivers. Returns whether there may be more to read: all the room was filled, and the connection has
 * not ended. */
bool tcp_receive(struct inet_socket *s)
{
	size_t want = prepare_read(s);
	ssize_t n;

	if (want == 0) {
		tcp_end_input(s, ENOMEM);
		return false;
	}
	n = recv(s->fd, s->in.binary->data + s->in.end, want, 0);
	if (n < 0 && (errno == EAGAIN || errno == EINTR)) {
		if (input_bytes(s) == 0)
			tcp_clear_input(s);
		return false;
	}
	if (n <= 0) {
		tcp_end_input(s, n == 0 || (errno == ECONNRESET && !s->show_econnreset) ? 0 : errno);
		return false;
	}
	s->in.end += (size_t)n;
	if (s->in.wanted > 0)
		s->in.wanted -= (size_t)n < s->in.wanted ? (size_t)n : s->in.wanted;
	return tcp_deliver_whole(s) && (size_t)n == want;
}

void tcp_ctl_recv(struct inet_socket *s, const uint8_t *data, size_t n, struct port_answer *a)
{
	uint32_t timeout_ms, length;
	struct inet_op *op;

	if (!inet_is_connected(s)) {
		if (s->closed_for_recv)
			inet_answer_word(a, s->reset_seen ? "econnreset" : "closed");
		else
			inet_answer_error(a, ENOTCONN);
		s->closed_for_recv = s->closed_for_send = s->reset_seen = false;
		return;
	}
	if (s->active != INET_PASSIVE || n != 8) {
		inet_answer_error(a, EINVAL);
		return;
	}
	timeout_ms = inet_read32(data);
	length = inet_read32(data + 4);
	if (s->packet != PACKET_RAW && length != 0) {
		inet_answer_error(a, EINVAL);
		return;
	}
	if (length > INET_PACKET_MAX || s->ops != NULL) {
		inet_answer_error(a, s->ops != NULL ? EALREADY : ENOMEM);
		return;
	}
	op = inet_add_op(s, timeout_ms);
	inet_answer_op(a, op->id);
	s->length = length;
	s->in.wanted = 0;
	if (!tcp_deliver_whole(s) || s->ops == NULL)
		return;
	tcp_receive(s);
	if (s->ops == NULL)
		return;
	if (timeout_ms == 0) {
		inet_op_error(s, s->ops, am_timeout);
		return;
	}
	tcp_want_timer(s, op->deadline_ms);
	inet_want(s, WATCH_IN, true);
}

/* Bytes that are to be received again. */
void tcp_ctl_unrecv(struct inet_socket *s, const uint8_t *data, size_t n, struct port_answer *a)
{
	size_t rest = s->in.binary != NULL ? input_bytes(s) : 0;
	struct binary *b;

	if (!inet_is_connected(s)) {
		inet_answer_error(a, ENOTCONN);
		return;
	}
	b = binary_new(n + rest > s->buffer_bytes ? n + rest : s->buffer_bytes);
	if (b == NULL) {
		inet_answer_error(a, ENOMEM);
		return;
	}
	memcpy(b->data, data, n);
	if (rest > 0)
		memcpy(b->data + n, input_at(s), rest);
	tcp_clear_input(s);
	s->in = (struct inet_buffer){ .binary = b, .end = n + rest, .room = b->size_bytes };
	inet_answer_ok(a);
	if (s->active != INET_PASSIVE)
		tcp_deliver_whole(s);
}
