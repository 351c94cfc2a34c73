/* SPDX-License-Identifier: Apache-2.0 */
/* The fd driver: {fd, In, Out}. The descriptors belong to somebody else, are shared with other programs and so keep
 * their mode: input is read when epoll says so, output is written by the async pool, which may block.
 * Invariant: one write job runs at a time; bytes leave in the order they came. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/log.h"
#include "io/io_probe.h"
#include "io/posix.h"

#define READ_BYTES (64 << 10)
/* What a port_control of this number asks for, as user.erl of OTP 25 does. */
#define CONTROL_GET_WINDOW_SIZE (0x018b0900 + 100)
/* The owner has this many messages it has not even looked at: rest a little before the next read. */
#define OWNER_QUEUE_LONG 128
#define PAUSE_NS 5000000

static struct port *port_of_read(struct poll_watch *w)
{
	return (struct port *)((char *)w - offsetof(struct port, read_watch));
}

static bool owner_is_behind(struct port *port)
{
	Process *p = process_find(port->owner);
	bool behind;

	if (p == NULL)
		return false;
	behind = __atomic_load_n(&p->in_length, __ATOMIC_RELAXED) > OWNER_QUEUE_LONG;
	process_unref(p);
	return behind;
}

static struct {
	atomic_bool held;
	_Atomic(struct poll_watch *) waiting; /* found its input held */
} standard_in;

void port_hold_stdin(bool on)
{
	struct poll_watch *w;

	atomic_store(&standard_in.held, on);
	if (!on && (w = atomic_exchange(&standard_in.waiting, NULL)) != NULL)
		poll_want(w, WATCH_IN);
}

static bool is_held(struct poll_watch *w)
{
	if (likely(!atomic_load_explicit(&standard_in.held, memory_order_relaxed)) || w->fd != STDIN_FILENO)
		return false;
	atomic_store(&standard_in.waiting, w);
	if (!atomic_load(&standard_in.held)) /* let go meanwhile */
		port_hold_stdin(false);
	return true;
}

static void read_ready(struct poll_watch *w, unsigned events)
{
	static _Thread_local uint8_t buffer[READ_BYTES];
	struct port *port = port_of_read(w);
	ssize_t n;
	int error;

	(void)events;
	if (is_held(w))
		return;
	n = read(w->fd, buffer, sizeof(buffer));
	error = errno;
	if (n < 0 && (error == EINTR || error == EAGAIN)) {
		poll_want(w, WATCH_IN);
		return;
	}
	port_enter(port, SMALL(0));
	if (n > 0)
		port_input(port, buffer, (size_t)n);
	else if (n == 0)
		port_input_end(port);
	else
		port_exit(port, posix_error_atom(error));
	port_leave(port, SMALL(0));
	if (n <= 0)
		return;
	if (owner_is_behind(port))
		poll_pause(w, PAUSE_NS);
	else
		poll_want(w, WATCH_IN);
}

static void read_dropped(struct poll_watch *w)
{
	port_unref(port_of_read(w));
}

static struct port *port_of_job(struct async_job *job)
{
	return (struct port *)((char *)job - offsetof(struct port, write_job));
}

static void start_write(struct port *port)
{
	byte_queue_move(&port->write_job_bytes, &port->out);
	port->write_job_runs = true;
	port_ref(port);
	async_submit(&port->write_job);
}

/* On the pool: write_job_bytes is the job's alone while write_job_runs. */
static int write_queue(struct byte_queue *q, int fd)
{
	while (q->size_bytes > 0) {
		struct iovec iov[16];
		int count = byte_queue_peek(q, iov, 16);
		ssize_t n = writev(fd, iov, count);

		if (n >= 0) {
			byte_queue_drop(q, (size_t)n);
		} else if (errno == EAGAIN) {
			struct pollfd ready = { .fd = fd, .events = POLLOUT };

			poll(&ready, 1, -1);
		} else if (errno != EINTR) {
			return errno;
		}
	}
	return 0;
}

static void run_write(struct async_job *job)
{
	struct port *port = port_of_job(job);
	int error = write_queue(&port->write_job_bytes, port->write_watch.fd);

	byte_queue_clear(&port->write_job_bytes);
	lock_acquire(&port->lock);
	if (PROBE_ON(driver__ready_async))
		probe_driver__ready_async(port, port->owner);
	port->write_job_runs = false;
	if (error != 0) {
		byte_queue_clear(&port->out);
		port_exit(port, posix_error_atom(error));
	} else if (port->out.size_bytes > 0) {
		start_write(port);
	}
	port_output_done(port);
	lock_release(&port->lock);
	port_unref(port);
}

static int start_fd(struct port *port, const struct port_options *o)
{
	if (o->fd_in < 0 || o->fd_out < 0)
		return -EINVAL;
	port->write_watch.fd = o->fd_out;
	port->writes = o->out;
	port->write_job.run = run_write;
	port->write_job.port = port->id;
	if (o->in) {
		int error;

		port->read_watch.fd = o->fd_in;
		port->read_watch.ready = read_ready;
		port->read_watch.dropped = read_dropped;
		error = poll_add(&port->read_watch, 0);
		if (error != 0)
			return error;
		port_ref(port);
		port->reads = true;
	}
	return 0;
}

static void output_fd(struct port *port)
{
	if (!port->write_job_runs)
		start_write(port);
}

static bool control_fd(struct port *port, unsigned command, const uint8_t *data, size_t n, uint8_t *reply,
		       size_t *reply_bytes)
{
	struct winsize size;
	uint32_t answer[2];

	(void)data;
	(void)n;
	if (command != CONTROL_GET_WINDOW_SIZE)
		return false;
	if ((!port->writes || ioctl(port->write_watch.fd, TIOCGWINSZ, &size) < 0) &&
	    (!port->reads || ioctl(port->read_watch.fd, TIOCGWINSZ, &size) < 0))
		return false;
	answer[0] = size.ws_col;
	answer[1] = size.ws_row;
	ENSURE(*reply_bytes >= sizeof(answer));
	memcpy(reply, answer, sizeof(answer));
	*reply_bytes = sizeof(answer);
	return true;
}

static void stop_fd(struct port *port)
{
	if (port->reads)
		poll_drop(&port->read_watch);
	port->reads = false;
}

const struct port_driver port_fd_driver = {
	.name = "fd",
	.start = start_fd,
	.output = output_fd,
	.control = control_fd,
	.flushes = true,
	.tells_list = true,
	.stop = stop_fd,
};
