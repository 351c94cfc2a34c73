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

#include "base/alloc.h"
#include "base/log.h"
#include "io/io_probe.h"
#include "io/posix.h"

#define READ_BYTES (64 << 10)
/* What a port_control of this number asks for, as user.erl of OTP 25 does. */
#define CONTROL_GET_WINDOW_SIZE (0x018b0900 + 100)
/* The owner has this many messages it has not even looked at: rest a little before the next read. */
#define OWNER_QUEUE_LONG 128
#define PAUSE_NS 5000000

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
	_Atomic(struct port *) waiting; /* found its input held; counted */
} standard_in;

/* Its turn to read comes again. */
static void read_again(struct port *port, struct port_task *task)
{
	(void)task;
	port_watch_want(&port->read_watch, WATCH_IN, true);
}

void port_hold_stdin(bool on)
{
	static struct port_task task = { .run = read_again };
	struct port *port;

	atomic_store(&standard_in.held, on);
	if (on || (port = atomic_exchange(&standard_in.waiting, NULL)) == NULL)
		return;
	port_submit(port, &task);
	port_unref(port);
}

/* Somebody else reads. */
static void wait_until_free(struct port *port, struct port_watch *w)
{
	struct port *before;

	port_watch_want(w, WATCH_IN, false);
	port_ref(port);
	before = atomic_exchange(&standard_in.waiting, port);
	if (before != NULL)
		port_unref(before);
	if (!atomic_load(&standard_in.held)) /* let go meanwhile */
		port_hold_stdin(false);
}

/* What a poll thread has read: the descriptor is shared, so that a read may wait although there was input a moment
 * before, and no scheduler waits. */
struct fd_input {
	ssize_t n;
	int error;
	uint8_t bytes[];
};

static void read_ready(struct poll_watch *poll, unsigned events)
{
	uint8_t buffer[READ_BYTES];
	struct port_watch *w = (struct port_watch *)poll;
	struct fd_input *input;
	ssize_t n;

	if (!atomic_load_explicit(&standard_in.held, memory_order_relaxed) || poll->fd != STDIN_FILENO) {
		n = read(poll->fd, buffer, sizeof(buffer));
		input = mem_alloc(sizeof(*input) + (n > 0 ? (size_t)n : 0));
		input->n = n;
		input->error = errno;
		if (n > 0)
			memcpy(input->bytes, buffer, (size_t)n);
		w->port->fd_input = input;
	}
	port_watch_ready(poll, events);
}

static void take_input(struct port *port, struct port_watch *w, const struct fd_input *input)
{
	if (input->n < 0 && (input->error == EINTR || input->error == EAGAIN))
		return;
	if (input->n <= 0)
		port_watch_want(w, WATCH_IN, false);
	if (input->n > 0)
		port_input(port, input->bytes, (size_t)input->n);
	else if (input->n == 0)
		port_input_end(port);
	else
		port_exit(port, posix_error_atom(input->error));
	if (input->n > 0 && owner_is_behind(port)) {
		port_watch_want(w, WATCH_IN, false);
		port_watch_pause(w, PAUSE_NS);
	}
}

static void input_fd(struct port *port, struct port_watch *w)
{
	struct fd_input *input = port->fd_input;

	port->fd_input = NULL;
	if (input != NULL)
		take_input(port, w, input);
	else
		wait_until_free(port, w);
	mem_free(input);
}

static void start_write(struct port *port)
{
	byte_queue_move(&port->write_job_bytes, &port->out);
	port_async_start(port);
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
	struct port *port = (struct port *)((char *)job - offsetof(struct port, write_job));

	port->write_job_error = write_queue(&port->write_job_bytes, port->write_watch.poll.fd);
	byte_queue_clear(&port->write_job_bytes);
	port_async_done(port);
}

static void async_fd(struct port *port)
{
	if (port->write_job_error != 0) {
		byte_queue_clear(&port->out);
		port_exit(port, posix_error_atom(port->write_job_error));
	} else if (port->out.size_bytes > 0 && !port->killed) {
		start_write(port);
	}
	port_output_done(port);
}

static int start_fd(struct port *port, const struct port_options *o)
{
	int error;

	if (o->fd_in < 0 || o->fd_out < 0)
		return -EINVAL;
	port->write_watch.poll.fd = o->fd_out;
	port->writes = o->out;
	port->write_job.run = run_write;
	if (o->in) {
		error = port_watch_add_shared(port, &port->read_watch, o->fd_in, read_ready);
		if (error != 0)
			return error;
		port->reads = true;
	}
	return 0;
}

static void output_fd(struct port *port)
{
	if (!port->write_job_runs)
		start_write(port);
}

static bool control_fd(struct port *port, unsigned command, const uint8_t *data, size_t n, struct port_answer *a)
{
	struct winsize size;
	uint32_t answer[2];

	(void)data;
	(void)n;
	if (command != CONTROL_GET_WINDOW_SIZE)
		return false;
	if ((!port->writes || ioctl(port->write_watch.poll.fd, TIOCGWINSZ, &size) < 0) &&
	    (!port->reads || ioctl(port->read_watch.poll.fd, TIOCGWINSZ, &size) < 0))
		return false;
	answer[0] = size.ws_col;
	answer[1] = size.ws_row;
	answer_put(a, answer, sizeof(answer));
	return true;
}

static void stop_fd(struct port *port)
{
	port_watch_drop(&port->read_watch);
	port->reads = false;
}

const struct port_driver port_fd_driver = {
	.name = "fd",
	.start = start_fd,
	.output = output_fd,
	.control = control_fd,
	.ready_input = input_fd,
	.ready_async = async_fd,
	.flushes = true,
	.tells_list = true,
	.stop = stop_fd,
};
