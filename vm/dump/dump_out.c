/* SPDX-License-Identifier: Apache-2.0 */
/* Buffered writing of a crash dump. */
#include "dump/dump_out.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "io/posix.h"

enum { BUFFER_BYTES = 1 << 16, LINE_BYTES = 1024 };

struct out {
	int fd;
	bool failed, is_full;
	uint64_t left_bytes;
	size_t used;
	char buffer[BUFFER_BYTES];
};
static struct out file;
static _Thread_local struct out *borrowed; /* from dump_open_fd to dump_close */

static struct out *current(void)
{
	return borrowed != NULL ? borrowed : &file;
}

static void write_all(struct out *o, const char *bytes, size_t n)
{
	if (!o->failed)
		o->failed = posix_write_all(o->fd, bytes, n) != 0;
}

static void flush(struct out *o)
{
	write_all(o, o->buffer, o->used);
	o->used = 0;
}

static void begin(struct out *o, int fd, uint64_t limit_bytes)
{
	o->fd = fd;
	o->failed = o->is_full = false;
	o->left_bytes = limit_bytes != 0 ? limit_bytes : UINT64_MAX;
	o->used = 0;
}

void dump_open_fd(int fd)
{
	borrowed = mem_alloc(sizeof(*borrowed));
	begin(borrowed, fd, 0);
}

bool dump_vm_goes_on(void)
{
	return borrowed != NULL;
}

bool dump_open(const char *path, uint64_t limit_bytes)
{
	/* As OTP makes it: readable by its owner and the group. */
	const int how = O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC;
	int fd = open(path, how, 0640);

	if (fd < 0 && errno == EMFILE) {
		close(STDIN_FILENO); /* the VM ends and reads no more */
		fd = open(path, how, 0640);
	}
	borrowed = NULL; /* it crashed in the middle of a text */
	begin(&file, fd, limit_bytes);
	return fd >= 0;
}

bool dump_close(void)
{
	static const char full[] = "\n=abort:CRASH DUMP SIZE LIMIT REACHED\n";
	struct out *o = current();
	bool ok;

	flush(o);
	if (o->is_full)
		write_all(o, full, sizeof(full) - 1);
	if (borrowed == NULL && close(o->fd) != 0)
		o->failed = true;
	ok = !o->failed && !o->is_full;
	mem_free(borrowed);
	borrowed = NULL;
	return ok;
}

void dump_bytes(const void *bytes, size_t n)
{
	struct out *o = current();

	if (o->is_full || n > o->left_bytes) {
		o->is_full = true;
		return;
	}
	o->left_bytes -= n;
	if (n > BUFFER_BYTES - o->used)
		flush(o);
	if (n > BUFFER_BYTES) {
		write_all(o, bytes, n);
		return;
	}
	memcpy(o->buffer + o->used, bytes, n);
	o->used += n;
}

void dump_text(const char *text)
{
	dump_bytes(text, strlen(text));
}

void dump_format(const char *format, ...)
{
	char line[LINE_BYTES];
	va_list args;
	int n;

	va_start(args, format);
	n = vsnprintf(line, sizeof(line), format, args);
	va_end(args);
	if (n > 0)
		dump_bytes(line, (size_t)n < sizeof(line) ? (size_t)n : sizeof(line) - 1);
}

void dump_base64(const uint8_t *bytes, size_t n)
{
	static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

	for (size_t i = 0; i < n; i += 3) {
		uint32_t v = (uint32_t)bytes[i] << 16 | (i + 1 < n ? (uint32_t)bytes[i + 1] << 8 : 0) |
			     (i + 2 < n ? bytes[i + 2] : 0);
		char four[4] = { digits[v >> 18], digits[v >> 12 & 63], i + 1 < n ? digits[v >> 6 & 63] : '=',
				 i + 2 < n ? digits[v & 63] : '=' };

		dump_bytes(four, sizeof(four));
	}
}
