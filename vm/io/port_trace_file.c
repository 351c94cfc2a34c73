/* SPDX-License-Identifier: Apache-2.0 */
/* The trace_file_drv driver, behind dbg:trace_port(file, _): commands go to a file, each with its size before it, or to
 * a run of files of which the oldest is dropped. Source of the port's name, of the files' form and names:
 * runtime_tools' dbg.erl, which reads them back.
 *   name:  "trace_file_drv n FILE" or "trace_file_drv w SIZE FILES MS AT n FILE": a new file at SIZE bytes, or every MS
 *          milliseconds where that is not 0; its number stands at the place AT of FILE. Numbers go from 0 to FILES, and
 *          around.
 *   file:  a byte 0, the size as 32 bits, the highest byte first, the bytes of the command; over and over. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "io/port.h"
#include "io/posix.h"

enum { BUFFER_BYTES = 64 << 10, NUMBER_BYTES = 12, HEADER_BYTES = 5, CONTROL_FLUSH = 'f' };

struct trace_file {
	int fd;
	char *name;
	/* of a run: */
	bool wraps;
	unsigned size_max, files_max, ms, at; /* as the port's name says */
	/* of the one that is written, of the first that is kept; how many there are */
	unsigned number, oldest, files;
	size_t bytes;                         /* in this one */
	size_t used;
	uint8_t buffer[BUFFER_BYTES];         /* not yet written */
};

/* ---- files. Fail: -errno */

/* Owns: the caller. */
static char *make_name(const struct trace_file *f, unsigned number)
{
	size_t n = strlen(f->name) + NUMBER_BYTES;
	char *name = mem_alloc(n);

	if (f->wraps)
		snprintf(name, n, "%.*s%u%s", (int)f->at, f->name, number, f->name + f->at);
	else
		strcpy(name, f->name);
	return name;
}

static int open_file(struct trace_file *f)
{
	char *name = make_name(f, f->number);
	int error;

	f->fd = open(name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
	error = f->fd < 0 ? -errno : 0;
	mem_free(name);
	return error;
}

static int write_all(int fd, const uint8_t *bytes, size_t n)
{
	while (n > 0) {
		ssize_t wrote = write(fd, bytes, n);

		if (wrote < 0 && errno != EINTR)
			return -errno;
		if (wrote > 0) {
			bytes += wrote;
			n -= (size_t)wrote;
		}
	}
	return 0;
}

static int flush(struct trace_file *f)
{
	size_t n = f->used;

	f->used = 0;
	return write_all(f->fd, f->buffer, n);
}

static int put(struct trace_file *f, const void *bytes, size_t n)
{
	int error = 0;

	if (n > sizeof(f->buffer) - f->used)
		error = flush(f);
	if (error != 0)
		return error;
	f->bytes += n;
	if (n > sizeof(f->buffer))
		return write_all(f->fd, bytes, n);
	memcpy(f->buffer + f->used, bytes, n);
	f->used += n;
	return 0;
}

static unsigned next_number(const struct trace_file *f, unsigned number)
{
	return number < f->files_max ? number + 1 : 0;
}

/* On to the next file of the run. */
static int wrap(struct trace_file *f)
{
	int error = flush(f);

	close(f->fd);
	f->fd = -1;
	if (error != 0)
		return error;
	f->number = next_number(f, f->number);
	f->bytes = 0;
	if (f->files < f->files_max) {
		f->files++;
	} else {
		char *name = make_name(f, f->oldest);

		unlink(name);
		mem_free(name);
		f->oldest = next_number(f, f->oldest);
	}
	return open_file(f);
}

/* ---- the driver */

/* Fails: false. */
static bool read_name(const char *text, struct trace_file *f)
{
	int n = 0;

	if (sscanf(text, "trace_file_drv w %u %u %u %u %n", &f->size_max, &f->files_max, &f->ms, &f->at, &n) == 4 &&
	    n > 0)
		f->wraps = true;
	else
		n = (int)strlen("trace_file_drv ");
	if (strlen(text) < (size_t)n || strncmp(text + n, "n ", 2) != 0)
		return false;
	f->name = mem_strdup(text + n + 2);
	return f->name[0] != '\0' &&
	       (!f->wraps || (f->at <= strlen(f->name) && f->files_max > 0 && f->files_max < UINT32_MAX));
}

static void free_file(struct trace_file *f)
{
	if (f->fd >= 0)
		close(f->fd);
	mem_free(f->name);
	mem_free(f);
}

static void fail(struct port *port, int error)
{
	if (error != 0)
		port_exit(port, posix_error_atom(-error));
}

static void timeout_trace_file(struct port *port)
{
	struct trace_file *f = port->driver_data;

	if (port->state == PORT_OPEN)
		fail(port, wrap(f));
	if (port->state == PORT_OPEN)
		port_set_timer(port, f->ms);
}

static int start_trace_file(struct port *port, const struct port_options *o)
{
	struct trace_file *f = mem_zalloc(sizeof(*f));
	int error = -EINVAL;

	f->fd = -1;
	f->files = 1;
	if (read_name(o->name, f))
		error = open_file(f);
	if (error != 0) {
		free_file(f);
		return error;
	}
	port->driver_data = f;
	if (f->ms != 0)
		port_set_timer(port, f->ms);
	port->writes = true;
	return 0;
}

/* port->out is one command. */
static void output_trace_file(struct port *port)
{
	struct trace_file *f = port->driver_data;
	size_t n = port->out.size_bytes;
	uint8_t header[HEADER_BYTES] = { 0, (uint8_t)(n >> 24), (uint8_t)(n >> 16), (uint8_t)(n >> 8), (uint8_t)n };
	int error = n <= UINT32_MAX ? put(f, header, sizeof(header)) : -EFBIG;
	struct iovec piece;

	while (error == 0 && byte_queue_peek(&port->out, &piece, 1) > 0) {
		error = put(f, piece.iov_base, piece.iov_len);
		byte_queue_drop(&port->out, piece.iov_len);
	}
	byte_queue_clear(&port->out);
	if (error == 0 && f->wraps && f->ms == 0 && f->bytes >= f->size_max)
		error = wrap(f);
	fail(port, error);
}

/* Control CONTROL_FLUSH: [0]. */
static bool control_trace_file(struct port *port, unsigned command, const uint8_t *data, size_t n,
			       struct port_answer *a)
{
	(void)data;
	(void)n;
	if (command != CONTROL_FLUSH)
		return false;
	fail(port, flush(port->driver_data));
	answer_put_byte(a, 0);
	return true;
}

static void stop_trace_file(struct port *port)
{
	struct trace_file *f = port->driver_data;

	if (f->fd >= 0)
		flush(f);
	free_file(f);
	port->driver_data = NULL;
}

const struct port_driver port_trace_file_driver = {
	.name = "trace_file_drv",
	.start = start_trace_file,
	.output = output_trace_file,
	.control = control_trace_file,
	.timeout = timeout_trace_file,
	.stop = stop_trace_file,
};
