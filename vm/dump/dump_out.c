/* SPDX-License-Identifier: Apache-2.0 */
/* Buffered writing of a crash dump. */
#include "dump/dump_out.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "io/posix.h"

enum { BUFFER_BYTES = 1 << 16, LINE_BYTES = 1024 };

static struct {
	int fd;
	bool failed, is_full, is_borrowed;
	uint64_t left_bytes;
	size_t used;
	char buffer[BUFFER_BYTES];
} out;

static void write_all(const char *bytes, size_t n)
{
	if (!out.failed)
		out.failed = posix_write_all(out.fd, bytes, n) != 0;
}

static void flush(void)
{
	write_all(out.buffer, out.used);
	out.used = 0;
}

static void begin(int fd, uint64_t limit_bytes, bool is_borrowed)
{
	out.fd = fd;
	out.failed = out.is_full = false;
	out.is_borrowed = is_borrowed;
	out.left_bytes = limit_bytes != 0 ? limit_bytes : UINT64_MAX;
	out.used = 0;
}

void dump_open_fd(int fd)
{
	begin(fd, 0, true);
}

bool dump_vm_goes_on(void)
{
	return out.is_borrowed;
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
	begin(fd, limit_bytes, false);
	return out.fd >= 0;
}

bool dump_close(void)
{
	static const char full[] = "\n=abort:CRASH DUMP SIZE LIMIT REACHED\n";

	flush();
	if (out.is_full)
		write_all(full, sizeof(full) - 1);
	if (!out.is_borrowed && close(out.fd) != 0)
		out.failed = true;
	return !out.failed && !out.is_full;
}

void dump_bytes(const void *bytes, size_t n)
{
	if (out.is_full || n > out.left_bytes) {
		out.is_full = true;
		return;
	}
	out.left_bytes -= n;
	if (n > BUFFER_BYTES - out.used)
		flush();
	if (n > BUFFER_BYTES) {
		write_all(bytes, n);
		return;
	}
	memcpy(out.buffer + out.used, bytes, n);
	out.used += n;
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
		uint32_t v = (uint32_t)bytes[i] << 16 | (i + 1 < n ? (uint32_t)bytes[i + 1] << 8 : 0) | (i + 2 < n ? bytes[i + 2] : 0);
		char four[4] = { digits[v >> 18], digits[v >> 12 & 63], i + 1 < n ? digits[v >> 6 & 63] : '=', i + 2 < n ? digits[v & 63] : '=' };

		dump_bytes(four, sizeof(four));
	}
}
