/* SPDX-License-Identifier: Apache-2.0 */
/* Lines on standard error. Invariant: one write(2) a line where the line fits. */
#include "base/log.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

void log_text(const char *text, size_t bytes)
{
	while (bytes > 0) {
		ssize_t n = write(STDERR_FILENO, text, bytes);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return;
		text += n;
		bytes -= (size_t)n;
	}
}

void log_line(const char *format, ...)
{
	char line[4096];
	va_list args;
	int n;

	va_start(args, format);
	n = vsnprintf(line, sizeof(line) - 1, format, args);
	va_end(args);
	if (n < 0)
		return;
	if ((size_t)n > sizeof(line) - 2)
		n = sizeof(line) - 2;
	line[n] = '\n';
	log_text(line, (size_t)n + 1);
}

void log_refused(const char *what, int error)
{
	log_line("erlvm: cannot %s: %s", what, strerror(error));
	_exit(EXIT_FAILURE);
}

void (*log_crash_dump)(const char *slogan);

void log_slogan(const char *slogan)
{
	log_line("%s", slogan);
	if (log_crash_dump != NULL)
		log_crash_dump(slogan);
}

void log_abort(const char *file, int line, const char *what)
{
	char slogan[512];

	snprintf(slogan, sizeof(slogan), "%s:%d: broken invariant: %s", file, line, what);
	log_line("erlvm: %s", slogan);
	if (log_crash_dump != NULL)
		log_crash_dump(slogan);
	abort();
}
