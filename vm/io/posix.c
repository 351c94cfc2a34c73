/* SPDX-License-Identifier: Apache-2.0 */
/* Errors of the operating system, and writes that end. */
#include "io/posix.h"

#include <ctype.h>
#include <errno.h>
#include <poll.h>
#include <string.h>
#include <unistd.h>

#include "term/atom.h"

Term posix_error_atom(int error)
{
	const char *name = strerrorname_np(error);
	char text[32];
	size_t i = 0;

	if (error == ENOTSUP)
		name = "ENOTSUP";
	if (name == NULL)
		name = "UNKNOWN";
	for (; name[i] != '\0' && i < sizeof(text) - 1; i++)
		text[i] = (char)tolower((unsigned char)name[i]);
	text[i] = '\0';
	return atom_from_text(text);
}

Term posix_error_tuple(struct heap *h, int error)
{
	return heap_tuple(h, am_error, posix_error_atom(error));
}

int posix_write_all(int fd, const void *bytes, size_t n)
{
	const char *at = bytes;

	while (n > 0) {
		ssize_t written = write(fd, at, n);

		if (written >= 0) {
			at += written;
			n -= (size_t)written;
		} else if (errno == EAGAIN) {
			struct pollfd ready = { .fd = fd, .events = POLLOUT };

			poll(&ready, 1, -1);
		} else if (errno != EINTR) {
			return -errno;
		}
	}
	return 0;
}
