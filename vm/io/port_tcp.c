/* SPDX-License-Identifier: Apache-2.0 */
/* The driver tcp_inet: connections, and those who listen for them; over the internet, and within the machine (local).
 * Received bytes stay in s->in until they are a packet that somebody wants. What the kernel does not take at once is
 * queued in port->out; above the high watermark the port is busy and its sender has no answer yet, until the queue is
 * below the low one.
 * Invariant: a socket waits for input while it is active and connected, while somebody receives, or accepts; for
 * output while the queue or a file is not sent, or while it connects. */
#include "io/port_tcp.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "io/port_signal.h"
#include "io/posix.h"
#include "proc/timer.h"

enum { ACCEPT_AT_ONCE = 16, READS_AT_ONCE = 16 };

/* ---- time */

void tcp_want_timer(struct inet_socket *s, uint64_t deadline_ms)
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

void tcp_clear_input(struct inet_socket *s)
{
	if (s->in.binary != NULL)
		binary_unref(s->in.binary);
	s->in = (struct inet_buffer){ 0 };
}

void tcp_tell_empty(struct inet_socket *s)
{
	for (size_t k = 0; k < s->subscriber_count; k++)
		inet_tell(s, s->subscribers[k], am_empty_out_q, TERM_NONE);
	s->subscriber_count = 0;
}

static void clear_output(struct inet_socket *s)
{
	byte_queue_clear(&s->port->out);
	tcp_tell_empty(s);
}

void tcp_end_file(struct inet_socket *s)
{
	if (s->file.runs)
		close(s->file.fd);
	s->file.runs = false;
}

/* Nothing can be read or written any more; the port stays. */
void tcp_close_socket(struct inet_socket *s)
{
	tcp_clear_input(s);
	clear_output(s);
	tcp_end_file(s);
	inet_close_fd(s);
	s->state = 0;
}

void tcp_tell_closed(struct inet_socket *s)
{
	if (!s->closed_sent)
		inet_tell_owner(s, am_tcp_closed, TERM_NONE);
	s->closed_sent = true;
}

/* Returns who waited for the queue to get short, or TERM_NONE. */
Term tcp_end_busy(struct inet_socket *s)
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

void tcp_abort_file(struct inet_socket *s, int error)
{
	bool closed = error == ECONNRESET || error == ENOTCONN || error == EPIPE;

	if (s->file.runs)
		inet_tell_file(s, 0, closed ? (Term)am_closed : posix_error_atom(error));
	tcp_end_file(s);
}

/* exit_on_close: the port ends, when somebody was told that it is closed. */
static void end_connection(struct inet_socket *s, bool told)
{
	if (!s->exit_on_close)
		inet_want(s, WATCH_IN, false);
	else if (told)
		port_end(s->port);
	else
		tcp_close_socket(s);
}

/* The peer has closed, or (error != 0) reading failed. */
void tcp_end_input(struct inet_socket *s, int error)
{
	Term waiting = s->state & INET_BUSY ? s->busy_caller : TERM_NONE;
	bool sending = waiting != TERM_NONE || s->file.runs, active = s->active != INET_PASSIVE;

	if (waiting != TERM_NONE) {
		clear_output(s);
		tcp_end_busy(s);
		inet_reply_error(s, waiting, am_closed);
	}
	tcp_abort_file(s, error != 0 ? error : ENOTCONN);
	if (!sending && error == 0)
		s->closed_for_send = true;
	tcp_clear_input(s);
	if (active) {
		if (error != 0)
			inet_tell_owner(s, am_tcp_error, posix_error_atom(error));
		tcp_tell_closed(s);
		end_connection(s, true);
	} else {
		end_connection(s, false);
		inet_ops_error(s, error != 0 ? posix_error_atom(error) : (Term)am_closed);
	}
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
	tcp_want_timer(s, op->deadline_ms);
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
	tcp_want_timer(s, op->deadline_ms);
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
	tcp_close_socket(s);
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
		tcp_tell_closed(s);
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
	if (!tcp_deliver_whole(s) || s->active == INET_PASSIVE)
		return;
	if (change->was_passive && !change->packet && s->active != INET_ACTIVE)
		tcp_receive(s);
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
	{ TCP_REQ_RECV, tcp_ctl_recv }, { TCP_REQ_UNRECV, tcp_ctl_unrecv }, { TCP_REQ_SHUTDOWN, tcp_ctl_shutdown },
	{ TCP_REQ_SENDFILE, tcp_ctl_sendfile },
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
	for (int reads = 0; reads < READS_AT_ONCE && tcp_receive(s) && wants_input(s); reads++)
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
		tcp_write_file(s);
	else
		tcp_write_queue(s);
}

static void send_is_late(struct inet_socket *s)
{
	inet_reply_error(s, tcp_end_busy(s), am_timeout);
	if (s->send_timeout_close)
		tcp_close_socket(s);
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
		tcp_close_socket(s);
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
		tcp_want_timer(s, op->deadline_ms);
	tcp_want_timer(s, s->busy_deadline_ms);
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
	.outputv = tcp_output,
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
