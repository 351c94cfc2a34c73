/* SPDX-License-Identifier: Apache-2.0 */
/* What a connection sends: data, and files. */
#include "io/port_tcp.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/sendfile.h>
#include <sys/uio.h>
#include <unistd.h>

#include "io/port_signal.h"
#include "io/posix.h"
#include "proc/timer.h"

enum { SEND_PIECES = 64, FILE_CHUNK_BYTES = (1 << 30) - 1 };

/* Nothing can be sent any more. */
static void end_output(struct inet_socket *s, int error)
{
	Term caller = tcp_end_busy(s);
	bool file = s->file.runs, shown;
	Term why;

	if (s->port->state != PORT_OPEN) { /* it waits for nothing else */
		tcp_close_socket(s);
		return;
	}
	if (error == EPIPE && !s->write_shut)
		error = ECONNRESET;
	shown = error == ECONNRESET && s->show_econnreset;
	why = shown ? (Term)am_econnreset : (Term)am_closed;
	if (caller == TERM_NONE)
		caller = s->port->caller;
	tcp_abort_file(s, error);
	if (s->active != INET_PASSIVE) {
		if (shown)
			inet_tell_owner(s, am_tcp_error, am_econnreset);
		tcp_tell_closed(s);
		if (!file)
			inet_reply_error(s, caller, why);
		if (s->exit_on_close)
			port_end(s->port);
		else
			tcp_close_socket(s);
		return;
	}
	inet_ops_error(s, am_closed);
	if (caller == TERM_NONE)
		s->closed_for_send = true;
	else if (!file)
		inet_reply_error(s, caller, why);
	tcp_close_socket(s);
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
		waiting = tcp_end_busy(s);
		inet_reply_ok(s, waiting);
	}
	if (s->port->out.size_bytes > 0)
		return;
	inet_want(s, WATCH_OUT, false);
	tcp_tell_empty(s);
	if (s->shutdown_waits != 0)
		shut(s, s->shutdown_waits - 1);
}

/* Sends of the file what goes at once; then the queue. */
void tcp_write_file(struct inet_socket *s)
{
	size_t before = s->port->out.size_bytes;
	int error = write_some(s, &s->port->out, s->file.skip);

	s->file.skip -= before - s->port->out.size_bytes;
	while (error == 0 && s->file.skip == 0 && s->file.length > 0) {
		off_t offset = (off_t)s->file.offset;
		ssize_t n = sendfile(s->fd, s->file.fd, &offset,
				     s->file.length < FILE_CHUNK_BYTES ? (size_t)s->file.length : FILE_CHUNK_BYTES);

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
	tcp_end_file(s);
	output_sent(s);
	inet_tell_file(s, s->file.sent, TERM_NONE);
	if (s->port->out.size_bytes > 0)
		tcp_write_queue(s);
}

void tcp_write_queue(struct inet_socket *s)
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
		tcp_want_timer(s, s->busy_deadline_ms);
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

void tcp_output(struct port *port, struct byte_queue *data)
{
	struct inet_socket *s = port->driver_data;
	struct byte_queue all;
	size_t n;

	if (!inet_take_tag(s, data))
		return;
	n = data->size_bytes;
	if (!inet_is_connected(s)) {
		Term why = !s->closed_for_send ? (Term)am_enotconn
			   : s->reset_seen     ? (Term)am_econnreset
					       : (Term)am_closed;

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

void tcp_ctl_shutdown(struct inet_socket *s, const uint8_t *data, size_t n, struct port_answer *a)
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
void tcp_ctl_sendfile(struct inet_socket *s, const uint8_t *data, size_t n, struct port_answer *a)
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
	tcp_write_file(s);
	if (s->file.runs)
		inet_want(s, WATCH_OUT, true);
}
