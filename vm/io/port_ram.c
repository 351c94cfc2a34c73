/* SPDX-License-Identifier: Apache-2.0 */
/* The ram_file_drv driver: a file in memory, behind file:open(Data, [ram | _]). Source of the commands and replies:
 * kernel's ram_file.erl. A command is a code and its arguments, numbers as 32 bits, the highest byte first; each has
 * one reply.
 * Invariant: end <= room; the bytes from end to room are 0. */
#include <errno.h>
#include <string.h>

#include "base/alloc.h"
#include "io/port.h"
#include "io/posix.h"

enum { MODE_READ = 1, MODE_WRITE = 2 };
enum { REPLY_OK, REPLY_ERROR, REPLY_DATA, REPLY_NUMBER };
enum { ROOM_MIN = 1024, ROOM_MAX = INT32_MAX };

struct ram_file {
	uint8_t *bytes;
	size_t room, end, at;
	uint32_t mode;
};

static int32_t read_number(const uint8_t *at)
{
	return (int32_t)((uint32_t)at[0] << 24 | (uint32_t)at[1] << 16 | (uint32_t)at[2] << 8 | at[3]);
}

/* ---- replies */

static void reply_ok(struct port *port)
{
	port_reply(port, (const uint8_t[]){ REPLY_OK }, 1, NULL, 0);
}

static void reply_error(struct port *port, int error)
{
	uint8_t reply[32] = { REPLY_ERROR };
	size_t n;
	const char *text = atom_text(posix_error_atom(error), &n);

	ENSURE(n < sizeof(reply));
	memcpy(reply + 1, text, n);
	port_reply(port, reply, 1 + n, NULL, 0);
}

static size_t put_head(uint8_t head[5], uint8_t kind, size_t number)
{
	head[0] = kind;
	for (unsigned k = 0; k < 4; k++)
		head[1 + k] = (uint8_t)(number >> (24 - 8 * k));
	return 5;
}

static void reply_number(struct port *port, size_t number)
{
	uint8_t head[5];

	port_reply(port, head, put_head(head, REPLY_NUMBER, number), NULL, 0);
}

static void reply_data(struct port *port, const uint8_t *bytes, size_t n)
{
	uint8_t head[5];

	port_reply(port, head, put_head(head, REPLY_DATA, n), n > 0 ? bytes : head, n);
}

/* ---- the file */

/* Fails: errno. */
static int make_room(struct ram_file *f, size_t wanted)
{
	size_t room = f->room < ROOM_MIN ? ROOM_MIN : f->room;
	uint8_t *bytes;

	if (wanted <= f->room)
		return 0;
	if (wanted > ROOM_MAX)
		return EINVAL;
	while (room < wanted)
		room *= 2;
	bytes = mem_try_alloc(room);
	if (bytes == NULL)
		return ENOMEM;
	if (f->end > 0)
		memcpy(bytes, f->bytes, f->end);
	memset(bytes + f->end, 0, room - f->end);
	mem_free(f->bytes);
	f->bytes = bytes;
	f->room = room;
	return 0;
}

static int put_bytes(struct ram_file *f, size_t at, const uint8_t *bytes, size_t n)
{
	int error = (f->mode & MODE_WRITE) == 0 ? EBADF : make_room(f, at + n);

	if (error != 0)
		return error;
	if (n > 0)
		memcpy(f->bytes + at, bytes, n);
	if (at + n > f->end)
		f->end = at + n;
	return 0;
}

/* Replies with up to n bytes from `at`; returns how many, or -1. */
static int64_t send_bytes(struct port *port, const struct ram_file *f, int64_t at, int64_t n)
{
	if ((f->mode & MODE_READ) == 0 || at < 0 || n < 0) {
		reply_error(port, (f->mode & MODE_READ) == 0 ? EBADF : EINVAL);
		return -1;
	}
	if (at > (int64_t)f->end)
		at = (int64_t)f->end;
	if (n > (int64_t)f->end - at)
		n = (int64_t)f->end - at;
	reply_data(port, f->bytes + at, (size_t)n);
	return n;
}

/* ---- commands: n bytes of arguments */

static void cmd_open(struct port *port, struct ram_file *f, const uint8_t *args, size_t n)
{
	int error;

	mem_free(f->bytes);
	*f = (struct ram_file){ .mode = MODE_WRITE };
	error = put_bytes(f, 0, args + 4, n - 4);
	f->mode = error == 0 ? (uint32_t)read_number(args) & (MODE_READ | MODE_WRITE) : 0;
	if (error == 0)
		reply_number(port, 0);
	else
		reply_error(port, error);
}

static void cmd_read(struct port *port, struct ram_file *f, const uint8_t *args, size_t n)
{
	int64_t sent = send_bytes(port, f, (int64_t)f->at, read_number(args));

	(void)n;
	if (sent > 0)
		f->at += (size_t)sent;
}

static void cmd_pread(struct port *port, struct ram_file *f, const uint8_t *args, size_t n)
{
	(void)n;
	send_bytes(port, f, read_number(args), read_number(args + 4));
}

static void cmd_write(struct port *port, struct ram_file *f, const uint8_t *args, size_t n)
{
	int error = put_bytes(f, f->at, args, n);

	if (error != 0) {
		reply_error(port, error);
		return;
	}
	f->at += n;
	reply_number(port, n);
}

static void cmd_pwrite(struct port *port, struct ram_file *f, const uint8_t *args, size_t n)
{
	int64_t at = read_number(args);
	int error = at < 0 ? EINVAL : put_bytes(f, (size_t)at, args + 4, n - 4);

	if (error != 0)
		reply_error(port, error);
	else
		reply_number(port, n - 4);
}

static void cmd_seek(struct port *port, struct ram_file *f, const uint8_t *args, size_t n)
{
	const int64_t origins[] = { 0, (int64_t)f->at, (int64_t)f->end };
	uint32_t origin = (uint32_t)read_number(args + 4);
	int64_t at = origin < 3 ? origins[origin] + read_number(args) : -1;

	(void)n;
	if (f->mode == 0 || at < 0 || at > ROOM_MAX) {
		reply_error(port, f->mode == 0 ? EBADF : EINVAL);
		return;
	}
	f->at = (size_t)at;
	reply_number(port, f->at);
}

static void cmd_truncate(struct port *port, struct ram_file *f, const uint8_t *args, size_t n)
{
	int error = (f->mode & MODE_WRITE) == 0 ? EACCES : make_room(f, f->at);

	(void)args;
	(void)n;
	if (error != 0) {
		reply_error(port, error);
		return;
	}
	if (f->end > f->at)
		memset(f->bytes + f->at, 0, f->end - f->at);
	f->end = f->at;
	reply_ok(port);
}

static void cmd_get(struct port *port, struct ram_file *f, const uint8_t *args, size_t n)
{
	(void)args;
	(void)n;
	reply_data(port, f->bytes, f->end);
}

static void cmd_size(struct port *port, struct ram_file *f, const uint8_t *args, size_t n)
{
	(void)args;
	(void)n;
	reply_number(port, f->end);
}

/* What there is nothing to do for in memory. */
static void cmd_settled(struct port *port, struct ram_file *f, const uint8_t *args, size_t n)
{
	(void)args;
	(void)n;
	if (f->mode == 0)
		reply_error(port, EBADF);
	else
		reply_ok(port);
}

static const struct {
	void (*run)(struct port *port, struct ram_file *f, const uint8_t *args, size_t n);
	size_t args_bytes;   /* at least */
} commands[] = {
	[1] = { cmd_open, 4 },
	[2] = { cmd_read, 4 },
	[3] = { cmd_seek, 8 },
	[4] = { cmd_write, 0 },
	[9] = { cmd_settled, 0 }, /* fsync */
	[14] = { cmd_truncate, 0 },
	[17] = { cmd_pread, 8 },
	[18] = { cmd_pwrite, 4 },
	[19] = { cmd_settled, 0 }, /* fdatasync */
	[30] = { cmd_get, 0 },
	[37] = { cmd_size, 0 },
	[38] = { cmd_settled, 0 }, /* advise */
	[39] = { cmd_settled, 0 }, /* allocate */
};

/* ---- the driver */

static int start_ram(struct port *port, const struct port_options *o)
{
	(void)o;
	port->driver_data = mem_zalloc(sizeof(struct ram_file));
	port->writes = true;
	return 0;
}

/* port->out is one command: the one before was taken whole. */
static void output_ram(struct port *port)
{
	size_t n = port->out.size_bytes;
	uint8_t *bytes = mem_try_alloc(n);

	if (bytes != NULL)
		byte_queue_copy(&port->out, bytes, n);
	byte_queue_clear(&port->out);
	if (bytes == NULL)
		reply_error(port, ENOMEM);
	else if (bytes[0] >= sizeof(commands) / sizeof(commands[0]) || commands[bytes[0]].run == NULL ||
		 n - 1 < commands[bytes[0]].args_bytes)
		reply_error(port, EINVAL);
	else
		commands[bytes[0]].run(port, port->driver_data, bytes + 1, n - 1);
	mem_free(bytes);
}

static void stop_ram(struct port *port)
{
	struct ram_file *f = port->driver_data;

	mem_free(f->bytes);
	mem_free(f);
}

const struct port_driver port_ram_driver = {
	.name = "ram_file_drv",
	.start = start_ram,
	.output = output_ram,
	.stop = stop_ram,
};
