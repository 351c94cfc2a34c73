/* SPDX-License-Identifier: Apache-2.0 */
/* The driver tcp_inet: connections, and those who listen for them; over the internet, and within the machine (local).
 * Received bytes stay in s->in until they are a packet that somebody wants. What the kernel does not take at once is
 * queued in port->out; above the high watermark the port is busy and its sender has no answer yet, until the queue is
 * below the low one.
 * Invariant: a socket waits for input while it is active and connected, while somebody receives, or accepts; for
 * output while the queue or a file is not sent, or while it connects. */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/sendfile.h>
#include <sys/uio.h>
#include <unistd.h>

#include "base/alloc.h"
#include "io/inet.h"
#include "io/port_signal.h"
#include "io/posix.h"
#include "proc/timer.h"

enum { SEND_PIECES = 64, FILE_CHUNK_BYTES = (1 << 30) - 1, ACCEPT_AT_ONCE = 16, READS_AT_ONCE = 16,
       GROW_BYTES = 64 << 10 };

static void write_queue(struct inet_socket *s);

/* ---- time */

/* The port's timer runs for the earliest deadline. It is left running when that is gone: most often the next one is
 * later. */
static void want_timer(struct inet_socket *s, uint64_t deadline_ms)
{
	uint64_t now = timer_now_ms();

	if (deadline_ms != 0 && (s->port->timer == 0 || deadline_ms < s->port->timer_ms))
		port_set_timer(s->port, deadline_ms > now ? deadline_ms - now : 0);
}

static bool is_over(uint64_t deadline_ms, uint64_t now)
{
	return deadline_ms != 0 && deadline_ms <= now;
}

/* ---- the end of a connection */

static void clear_input(struct inet_socket *s)
{
	if (s->in.binary != NULL)
		binary_unref(s->in.binary);
	s->in = (struct inet_buffer){ 0 };
}

static void tell_empty(struct inet_socket *s)
{
	for (size_t k = 0; k < s->subscriber_count; k++)
		inet_tell(s, s->subscribers[k], am_empty_out_q, TERM_NONE);
	s->subscriber_count = 0;
}

static void clear_output(struct inet_socket *s)
{
	byte_queue_clear(&s->port->out);
	tell_empty(s);
}

static void end_file(struct inet_socket *s)
{
	if (s->file.runs)
		close(s->file.fd);
	s->file.runs = false;
}

/* Nothing can be read or written any more; the port stays. */
static void close_socket(struct inet_socket *s)
{
	clear_input(s);
	clear_output(s);
	end_file(s);
	inet_close_fd(s);
	s->state = 0;
}

static void tell_closed(struct inet_socket *s)
{
	if (!s->closed_sent)
		inet_tell_owner(s, am_tcp_closed, TERM_NONE);
	s->closed_sent = true;
}

/* Returns who waited for the queue to get short, or TERM_NONE. */
static Term end_busy(struct inet_socket *s)
{
	Term caller = s->busy_caller;

	if (!(s->state & INET_BUSY))
		return TERM_NONE;
	s->state &= ~(unsigned)INET_BUSY;
	s->tag = s->busy_tag;
	s->busy_caller = TERM_NONE;
	s->busy_deadline_ms = 0;
	port_set_busy(s->port, false);
	return caller;
}

static void abort_file(struct inet_socket *s, int error)
{
	bool closed = error == ECONNRESET || error == ENOTCONN || error == EPIPE;

	if (s->file.runs)
		inet_tell_file(s, 0, closed ? (Term)am_closed : posix_error_atom(error));
	end_file(s);
}

/* exit_on_close: the port ends, when somebody was told that it is closed. */
static void end_connection(struct inet_socket *s, bool told)
{
	if (!s->exit_on_close)
		inet_want(s, WATCH_IN, false);
	else if (told)
		port_end(s->port);
	else
		close_socket(s);
}

/* The peer has closed, or (error != 0) reading failed. */
static void end_input(struct inet_socket *s, int error)
{
	Term waiting = s->state & INET_BUSY ? s->busy_caller : TERM_NONE;
	bool sending = waiting != TERM_NONE || s->file.runs, active = s->active != INET_PASSIVE;

	if (waiting != TERM_NONE) {
		clear_output(s);
		end_busy(s);
		inet_reply_error(s, waiting, am_closed);
	}
	abort_file(s, error != 0 ? error : ENOTCONN);
	if (!sending && error == 0)
		s->closed_for_send = true;
	clear_input(s);
	if (active) {
		if (error != 0)
			inet_tell_owner(s, am_tcp_error, posix_error_atom(error));
		tell_closed(s);
		end_connection(s, true);
	} else {
		end_connection(s, false);
		inet_ops_error(s, error != 0 ? posix_error_atom(error) : (Term)am_closed);
	}
}

/* ---- receiving */

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
	struct packet_limits limits = { s->packet_bytes, (uint32_t)(s->in.room < UINT32_MAX ? s->in.room : UINT32_MAX), s->delimiter };
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
		clear_input(s);
	else if (share)
		move_rest(s);
	if (s->active == INET_PASSIVE)
		inet_want(s, WATCH_IN, false);
	inet_deliver_packet(s, b, bytes, size, share);
	binary_unref(b);
}

/* Delivers what is whole, as long as somebody wants it. Returns false when the connection has ended. */
static bool deliver_whole(struct inet_socket *s)
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
			end_input(s, EMSGSIZE);
			return false;
		}
		if (more > 0)
			return true;
		if (!inet_packet_fits(s, size)) {
			end_input(s, ENOMEM);
			return false;
		}
		deliver(s, size);
		if (s->port->state != PORT_OPEN || !inet_is_connected(s))
			return false;
	}
	return true;
}

/* A packet whose length is known. Its header may lie: the buffer grows with what has come. */
static size_t prepare_wanted(struct inet_socket *s)
{
	size_t n = input_bytes(s), most = 2 * n + GROW_BYTES, all = n + s->in.wanted;

	if (!make_room(s, all < most ? all : most))
		return 0;
	return s->in.wanted < s->in.room - s->in.end ? s->in.wanted : s->in.room - s->in.end;
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
static bool receive(struct inet_socket *s)
{
	size_t want = prepare_read(s);
	ssize_t n;

	if (want == 0) {
		end_input(s, ENOMEM);
		return false;
	}
	n = recv(s->fd, s->in.binary->data + s->in.end, want, 0);
	if (n < 0 && (errno == EAGAIN || errno == EINTR)) {
		if (input_bytes(s) == 0)
			clear_input(s);
		return false;
	}
	if (n <= 0) {
		end_input(s, n == 0 || (errno == ECONNRESET && !s->show_econnreset) ? 0 : errno);
		return false;
	}
	s->in.end += (size_t)n;
	if (s->in.wanted > 0)
		s->in.wanted -= (size_t)n < s->in.wanted ? (size_t)n : s->in.wanted;
	return deliver_whole(s) && (size_t)n == want;
}

static void ctl_recv(struct inet_socket *s, const uint8_t *data, size_t n, struct port_answer *a)
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
	if (!deliver_whole(s) || s->ops == NULL)
		return;
	receive(s);
	if (s->ops == NULL)
		return;
	if (timeout_ms == 0) {
		inet_op_error(s, s->ops, am_timeout);
		return;
	}
	want_timer(s, op->deadline_ms);
	inet_want(s, WATCH_IN, true);
}

/* Bytes that are to be received again. */
static void ctl_unrecv(struct inet_socket *s, const uint8_t *data, size_t n, struct port_answer *a)
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
	clear_input(s);
	s->in = (struct inet_buffer){ .binary = b, .end = n + rest, .room = b->size_bytes };
	inet_answer_ok(a);
	if (s->active != INET_PASSIVE)
		deliver_whole(s);
}

/* ---- sending */

/* Nothing can be sent any more. */
static void end_output(struct inet_socket *s, int error)
{
	Term caller = end_busy(s);
	bool file = s->file.runs, shown;
	Term why;

	if (s->port->state != PORT_OPEN) { /* it waits for nothing else */
		close_socket(s);
		return;
	}
	if (error == EPIPE && !s->write_shut)
		error = ECONNRESET;
	shown = error == ECONNRESET && s->show_econnreset;
	why = shown ? (Term)am_econnreset : (Term)am_closed;
	if (caller == TERM_NONE)
		caller = s->port->caller;
	abort_file(s, error);
	if (s->active != INET_PASSIVE) {
		if (shown)
			inet_tell_owner(s, am_tcp_error, am_econnreset);
		tell_closed(s);
		if (!file)
			inet_reply_error(s, caller, why);
		if (s->exit_on_close)
			port_end(s->port);
		else
			close_socket(s);
		return;
	}
	inet_ops_error(s, am_closed);
	if (caller == TERM_NONE)
		s->closed_for_send = true;
	else if (!file)
		inet_reply_error(s, caller, why);
	close_socket(s);
	s->closed_for_recv = true; /* whoever ignores the answer to a send hears of it there */
	s->reset_seen = shown;
}

/* Writes from q what goes at once. Fails: errno. */
static int write_some(struct inet_socket *s, struct byte_queue *q, size_t most)
{
	while (most > 0 && q->size_bytes > 0) {
		struct iovec iov[SEND_PIECES];
		struct msghdr m = { .msg_iov = iov, .msg_iovlen = (size_t)byte_queue_peek(q, iov, SEND_PIECES) };
		ssize_t n;

		if (most < q->size_bytes) {
			m.msg_iovlen = 1;
			if (iov[0].iov_len > most)
				iov[0].iov_len = most;
		}
		n = sendmsg(s->fd, &m, MSG_NOSIGNAL);
		if (n < 0 && errno == EAGAIN)
			return 0;
		if (n < 0 && errno != EINTR)
			return errno;
		if (n > 0) {
			byte_queue_drop(q, (size_t)n);
			most -= (size_t)n;
		}
	}
	return 0;
}

static void shut(struct inet_socket *s, int how)
{
	s->shutdown_waits = 0;
	if (shutdown(s->fd, how) < 0)
		end_output(s, errno);
	else
		s->write_shut = true;
}

/* The queue is shorter, or empty. */
static void output_sent(struct inet_socket *s)
{
	Term waiting;

	if (s->port->out.size_bytes <= s->low_bytes) {
		waiting = end_busy(s);
		inet_reply_ok(s, waiting);
	}
	if (s->port->out.size_bytes > 0)
		return;
	inet_want(s, WATCH_OUT, false);
	tell_empty(s);
	if (s->shutdown_waits != 0)
		shut(s, s->shutdown_waits - 1);
}

/* Sends of the file what goes at once; then the queue. */
static void write_file(struct inet_socket *s)
{
	size_t before = s->port->out.size_bytes;
	int error = write_some(s, &s->port->out, s->file.skip);

	s->file.skip -= before - s->port->out.size_bytes;
	while (error == 0 && s->file.skip == 0 && s->file.length > 0) {
		off_t offset = (off_t)s->file.offset;
		ssize_t n = sendfile(s->fd, s->file.fd, &offset, s->file.length < FILE_CHUNK_BYTES ? (size_t)s->file.length : FILE_CHUNK_BYTES);

		if (n < 0 && errno == EAGAIN)
			return;
		if (n < 0 && errno != EINTR)
			error = errno;
		if (n == 0)
			s->file.length = 0;
		if (n > 0) {
			s->file.sent += n;
			s->file.offset += n;
			s->file.length -= n;
		}
	}
	if (error != 0) {
		end_output(s, error);
		return;
	}
	if (s->file.length > 0)
		return;
	end_file(s);
	output_sent(s);
	inet_tell_file(s, s->file.sent, TERM_NONE);
	if (s->port->out.size_bytes > 0)
		write_queue(s);
}

static void write_queue(struct inet_socket *s)
{
	int error = write_some(s, &s->port->out, SIZE_MAX);

	if (error != 0)
		end_output(s, error);
	else
		output_sent(s);
}

/* The length before what is sent. */
static void put_header(const struct inet_socket *s, struct byte_queue *q, size_t n)
{
	unsigned bytes = s->packet == PACKET_1 ? 1 : s->packet == PACKET_2 ? 2 : s->packet == PACKET_4 ? 4 : 0;
	uint8_t header[4];

	for (unsigned k = 0; k < bytes; k++)
		header[k] = (uint8_t)(n >> (8 * (bytes - 1 - k)));
	if (bytes > 0)
		byte_queue_put(q, header, bytes);
}

/* Behind what is in the queue. The sender has its answer when the queue is short. */
static void enqueue(struct inet_socket *s, struct byte_queue *data)
{
	byte_queue_move(&s->port->out, data);
	if (s->port->out.size_bytes < s->high_bytes || (s->state & INET_BUSY)) {
		inet_reply_ok(s, s->port->caller);
		return;
	}
	if (s->send_timeout_ms == 0) {
		inet_reply_error(s, s->port->caller, am_timeout);
		return;
	}
	s->state |= INET_BUSY;
	s->busy_caller = s->port->caller;
	s->busy_tag = s->tag;
	port_set_busy(s->port, true);
	if (s->send_timeout_ms != INET_INFINITY) {
		s->busy_deadline_ms = timer_now_ms() + s->send_timeout_ms;
		want_timer(s, s->busy_deadline_ms);
	}
}

static void send_now(struct inet_socket *s, struct byte_queue *data)
{
	int error = s->delay_send ? 0 : write_some(s, data, SIZE_MAX);

	if (error != 0) {
		end_output(s, error);
		return;
	}
	if (data->size_bytes > 0) {
		byte_queue_move(&s->port->out, data);
		inet_want(s, WATCH_OUT, true);
	}
	inet_reply_ok(s, s->port->caller);
}

static void output_tcp(struct port *port, struct byte_queue *data)
{
	struct inet_socket *s = port->driver_data;
	struct byte_queue all;
	size_t n;

	if (!inet_take_tag(s, data))
		return;
	n = data->size_bytes;
	if (!inet_is_connected(s)) {
		Term why = !s->closed_for_send ? (Term)am_enotconn : s->reset_seen ? (Term)am_econnreset : (Term)am_closed;

		s->closed_for_send = false;
		inet_reply_error(s, port->caller, why);
		return;
	}
	if (s->shutdown_waits != 0) {
		end_output(s, EPIPE);
		return;
	}
	byte_queue_init(&all);
	if (!port->framed)
		put_header(s, &all, n);
	byte_queue_move(&all, data);
	inet_count(&s->sent, all.size_bytes);
	if (port->out.size_bytes > 0 || s->file.runs)
		enqueue(s, &all);
	else
		send_now(s, &all);
	byte_queue_clear(&all);
}

static void ctl_shutdown(struct inet_socket *s, const uint8_t *data, size_t n, struct port_answer *a)
{
	if (!inet_is_connected(s)) {
		inet_answer_error(a, ENOTCONN);
	} else if (n != 1 || data[0] > SHUT_RDWR) {
		inet_answer_error(a, EINVAL);
	} else if (data[0] != SHUT_RD && s->port->out.size_bytes > 0) {
		s->shutdown_waits = data[0] + 1;
		inet_answer_ok(a);
	} else if (shutdown(s->fd, data[0]) < 0) {
		s->write_shut |= data[0] != SHUT_RD;
		inet_answer_error(a, errno);
	} else {
		inet_answer_ok(a);
	}
}

/* The descriptor as the machine's int (prim_file:get_handle_nif/1), offset, length. */
static void ctl_sendfile(struct inet_socket *s, const uint8_t *data, size_t n, struct port_answer *a)
{
	int fd;

	if (n != sizeof(fd) + 16 || s->file.runs || !inet_is_connected(s)) {
		inet_answer_error(a, n == sizeof(fd) + 16 && !s->file.runs ? ENOTCONN : EINVAL);
		return;
	}
	memcpy(&fd, data, sizeof(fd));
	fd = fcntl(fd, F_DUPFD_CLOEXEC, 0);
	if (fd < 0) {
		inet_answer_error(a, errno);
		return;
	}
	s->file.runs = true;
	s->file.fd = fd;
	s->file.offset = (int64_t)inet_read64(data + sizeof(fd));
	s->file.length = (int64_t)inet_read64(data + sizeof(fd) + 8);
	s->file.sent = 0;
	s->file.skip = s->port->out.size_bytes;
	inet_answer_ok(a);
	write_file(s);
	if (s->file.runs)
		inet_want(s, WATCH_OUT, true);
}

/* ---- connecting */

static void connected(struct inet_socket *s)
{
	s->state = (s->state & ~(unsigned)INET_CONNECTS) | INET_CONNECTED;
	s->connect_deadline_ms = 0;
	inet_want(s, WATCH_OUT, false);
	inet_want(s, WATCH_IN, s->active != INET_PASSIVE);
	inet_op_ok(s, s->ops);
}

static void ctl_connect(struct inet_socket *s, const uint8_t *data, size_t n, struct port_answer *a)
{
	const char *wrong = NULL;
	uint32_t timeout_ms = n >= 4 ? inet_read32(data) : 0;
	struct inet_op *op;
	int result;

	if (!(s->state & INET_OPEN))
		wrong = "exbadport";
	else if (inet_is_connected(s))
		wrong = "eisconn";
	else if ((s->state & INET_CONNECTS) || n < 6 || s->ops != NULL)
		wrong = "einval";
	if (wrong == NULL) {
		data += 4;
		n -= 4;
		wrong = inet_address_read(&s->remote, s->family, &data, &n);
	}
	if (wrong != NULL) {
		inet_answer_word(a, wrong);
		return;
	}
	result = connect(s->fd, &s->remote.any, s->remote.size);
	if (result < 0 && errno != EINPROGRESS) {
		inet_answer_error(a, errno);
		return;
	}
	op = inet_add_op(s, timeout_ms);
	inet_answer_op(a, op->id);
	if (result == 0) {
		connected(s);
		return;
	}
	s->state |= INET_CONNECTS;
	s->connect_deadline_ms = op->deadline_ms;
	want_timer(s, op->deadline_ms);
	inet_want(s, WATCH_OUT, true);
}

static void connect_ready(struct inet_socket *s)
{
	int error = 0;
	socklen_t size = sizeof(error);

	if (getsockopt(s->fd, SOL_SOCKET, SO_ERROR, &error, &size) < 0)
		error = errno;
	if (error == 0) {
		connected(s);
		return;
	}
	s->state = INET_OPEN;
	s->connect_deadline_ms = 0;
	inet_want(s, WATCH_OUT, false);
	inet_op_error(s, s->ops, posix_error_atom(error));
}

/* ---- listening */

static void settle_accepts(struct inet_socket *s)
{
	unsigned bits = s->ops == NULL ? 0 : s->ops->next == NULL ? INET_ACCEPTS : INET_ACCEPTS | INET_MANY_ACCEPT;

	s->state = INET_OPEN | INET_LISTENS | bits;
	inet_want(s, WATCH_IN, s->ops != NULL);
}

/* For the first who waits. Returns false when there is no connection. */
static bool accept_one(struct inet_socket *s)
{
	struct inet_address remote = { .size = offsetof(struct inet_address, size) };
	int fd = accept4(s->fd, &remote.any, &remote.size, SOCK_CLOEXEC | SOCK_NONBLOCK);
	struct inet_op *op = s->ops;
	struct inet_socket *c;
	struct port *port;
	Term id;

	if (fd < 0 && (errno == EAGAIN || errno == EINTR))
		return false;
	if (fd < 0) {
		inet_op_error(s, op, posix_error_atom(errno));
		return true;
	}
	c = inet_new_like(s, fd, op->caller, &remote);
	if (c == NULL) {
		close(fd);
		inet_op_error(s, op, am_system_limit);
		return true;
	}
	id = c->port->id;
	port = c->port;
	port_let_go(port); /* that ends it, where its owner has ended */
	port_unref(port);
	inet_op_ok_port(s, op, id);
	return true;
}

static void accept_ready(struct inet_socket *s)
{
	for (int k = 0; k < ACCEPT_AT_ONCE && s->ops != NULL && accept_one(s); k++)
		;
	settle_accepts(s);
}

static void ctl_accept(struct inet_socket *s, const uint8_t *data, size_t n, struct port_answer *a)
{
	struct inet_op *op;
	uint16_t id;

	if (!(s->state & INET_LISTENS) || n != 4) {
		inet_answer_error(a, EINVAL);
		return;
	}
	op = inet_add_op(s, inet_read32(data));
	id = op->id;
	op->monitor = port_monitor(s->port, op->caller);
	if (op->monitor == 0) {
		inet_end_op(s, op);
		inet_answer_word(a, "noproc");
		return;
	}
	want_timer(s, op->deadline_ms);
	inet_answer_op(a, id);
	if (s->ops == op)
		accept_ready(s);
	else
		settle_accepts(s);
}

/* An acceptor has ended. */
static void exit_tcp(struct port *port, Term pid, uint64_t monitor)
{
	struct inet_socket *s = port->driver_data;

	for (struct inet_op *op = s->ops; op != NULL; op = op->next) {
		if (op->monitor != monitor || op->caller != pid)
			continue;
		op->monitor = 0;
		inet_end_op(s, op);
		settle_accepts(s);
		return;
	}
}

/* ---- the driver */

static void ctl_close(struct inet_socket *s, const uint8_t *data, size_t n, struct port_answer *a)
{
	(void)data;
	(void)n;
	inet_ops_error(s, am_closed);
	close_socket(s);
	inet_answer_ok(a);
}

static void ctl_open(struct inet_socket *s, const uint8_t *data, size_t n, struct port_answer *a)
{
	inet_open(s, data, n, SOCK_STREAM, a);
}

static void ctl_fdopen(struct inet_socket *s, const uint8_t *data, size_t n, struct port_answer *a)
{
	inet_fdopen(s, data, n, SOCK_STREAM, a);
	if (inet_is_connected(s))
		inet_want(s, WATCH_IN, s->active != INET_PASSIVE);
}

/* Whether the descriptor is looked at: somebody else reads and writes meanwhile. */
static void ctl_ignore(struct inet_socket *s, const uint8_t *data, size_t n, struct port_answer *a)
{
	if (!inet_is_connected(s)) {
		inet_answer_error(a, ENOTCONN);
	} else if (n != 1 || data[0] > 1) {
		inet_answer_error(a, EINVAL);
	} else {
		bool look = data[0] == 0;

		inet_want(s, WATCH_IN, look && (s->active != INET_PASSIVE || s->ops != NULL));
		inet_want(s, WATCH_OUT, look && s->port->out.size_bytes > 0);
		inet_answer_ok(a);
	}
}

/* Made active: what waits is delivered, and what has come is read. */
static void options_changed(struct inet_socket *s, const struct inet_change *change)
{
	if (change->closed) {
		if (s->reset_seen)
			inet_tell_owner(s, am_tcp_error, am_econnreset);
		s->reset_seen = false;
		tell_closed(s);
		if (s->exit_on_close)
			port_end(s->port);
		return;
	}
	if (!inet_is_connected(s) || !(change->active || change->packet))
		return;
	inet_want(s, WATCH_IN, s->active != INET_PASSIVE || s->ops != NULL);
	if (s->active == INET_PASSIVE)
		return;
	s->in.wanted = 0;
	if (!deliver_whole(s) || s->active == INET_PASSIVE)
		return;
	if (change->was_passive && !change->packet && s->active != INET_ACTIVE)
		receive(s);
}

static void ctl_setopts(struct inet_socket *s, const uint8_t *data, size_t n, struct port_answer *a)
{
	struct inet_change change;

	if (!inet_options_set(s, data, n, &change)) {
		inet_answer_error(a, EINVAL);
		return;
	}
	options_changed(s, &change);
	inet_answer_ok(a);
}

static const struct inet_command_row commands[] = {
	{ INET_REQ_OPEN, ctl_open }, { INET_REQ_FDOPEN, ctl_fdopen }, { INET_REQ_CLOSE, ctl_close },
	{ INET_REQ_CONNECT, ctl_connect },
	{ INET_REQ_LISTEN, inet_listen }, { INET_REQ_ACCEPT, ctl_accept }, { INET_REQ_SETOPTS, ctl_setopts },
	{ INET_REQ_IGNOREFD, ctl_ignore },
	{ TCP_REQ_RECV, ctl_recv }, { TCP_REQ_UNRECV, ctl_unrecv }, { TCP_REQ_SHUTDOWN, ctl_shutdown },
	{ TCP_REQ_SENDFILE, ctl_sendfile },
};

static bool control_tcp(struct port *port, unsigned command, const uint8_t *data, size_t n, struct port_answer *a)
{
	inet_run(port, commands, sizeof(commands) / sizeof(commands[0]), command, data, n, a);
	return true;
}

static bool wants_input(const struct inet_socket *s)
{
	return inet_is_connected(s) && (s->active != INET_PASSIVE || s->ops != NULL);
}

/* What has come: the descriptor is asked for once for several reads. */
static void receive_some(struct inet_socket *s)
{
	for (int reads = 0; reads < READS_AT_ONCE && receive(s) && wants_input(s); reads++)
		;
}

static void input_tcp(struct port *port, struct port_watch *w)
{
	struct inet_socket *s = port->driver_data;

	if (s->state & INET_LISTENS)
		accept_ready(s);
	else if (wants_input(s))
		receive_some(s);
	else
		port_watch_want(w, WATCH_IN, false);
}

static void ready_tcp(struct port *port, struct port_watch *w)
{
	struct inet_socket *s = port->driver_data;

	if (s->state & INET_CONNECTS)
		connect_ready(s);
	else if (!inet_is_connected(s))
		port_watch_want(w, WATCH_OUT, false);
	else if (s->file.runs)
		write_file(s);
	else
		write_queue(s);
}

static void send_is_late(struct inet_socket *s)
{
	inet_reply_error(s, end_busy(s), am_timeout);
	if (s->send_timeout_close)
		close_socket(s);
}

static void timeout_tcp(struct port *port)
{
	struct inet_socket *s = port->driver_data;
	uint64_t now = timer_now_ms();
	struct inet_op *next;

	if (is_over(s->busy_deadline_ms, now))
		send_is_late(s);
	if ((s->state & INET_CONNECTS) && is_over(s->connect_deadline_ms, now)) {
		s->connect_deadline_ms = 0;
		close_socket(s);
		inet_ops_error(s, am_timeout);
	}
	for (struct inet_op *op = s->ops; op != NULL; op = next) {
		next = op->next;
		if (is_over(op->deadline_ms, now))
			inet_op_error(s, op, am_timeout);
	}
	if (s->state & INET_LISTENS)
		settle_accepts(s);
	else if (s->ops == NULL && s->active == INET_PASSIVE)
		inet_want(s, WATCH_IN, false);
	for (struct inet_op *op = s->ops; op != NULL; op = op->next)
		want_timer(s, op->deadline_ms);
	want_timer(s, s->busy_deadline_ms);
}

static int start_tcp(struct port *port, const struct port_options *o)
{
	(void)o;
	port->driver_data = inet_new(port, IPPROTO_TCP);
	return 0;
}

/* What cannot be sent, or is not to be, does not hold the port. */
static void flush_tcp(struct port *port)
{
	struct inet_socket *s = port->driver_data;

	if (s->fd < 0 || s->linger_zero || s->file.runs || !(port->read_watch.wants & WATCH_OUT))
		clear_output(s);
	inet_want(s, WATCH_IN, false);
}

const struct port_driver port_tcp_driver = {
	.name = "tcp_inet",
	.start = start_tcp,
	.outputv = output_tcp,
	.control = control_tcp,
	.ready_input = input_tcp,
	.ready_output = ready_tcp,
	.timeout = timeout_tcp,
	.flush = flush_tcp,
	.process_exit = exit_tcp,
	.flushes = true,
	.drops_at_halt = true,
	.tells_list = true,
	.soft_busy = true,
	.takes_framed = true,
	.stop = inet_stop,
};
