/* SPDX-License-Identifier: Apache-2.0 */
/* Text straight to standard output and error (erlang:display/1 and its kin), and small answers to io and its
 * servers. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "bif/system/bif_info.h"
#include "data/binary.h"
#include "data/print.h"
#include "data/utf8.h"
#include "dist/channel.h"
#include "dist/control.h"
#include "io/posix.h"
#include "term/node.h"

/* Lines end as terminals in raw mode want them, as with OTP. What is left in b ends with a line feed alone. */
static void display_term(struct print_buffer *b, Term t)
{
	print_buffer_init(b, 0);
	print_term(b, t);
	print_bytes(b, "\r\n", 2);
	posix_write_all(STDOUT_FILENO, b->text, b->used);
	b->text[--b->used - 1] = '\n';
	b->text[b->used] = 0;
}

Term bif_erlang_display_1(Process *p, Term *args)
{
	struct print_buffer b;

	display_term(&b, args[0]);
	process_bump(p, (int)(b.used >> 6));
	print_buffer_free(&b);
	return am_true;
}

/* The text as well, for those who check display/1. */
Term bif_erts_debug_display_1(Process *p, Term *args)
{
	struct print_buffer b;
	Term text;

	display_term(&b, args[0]);
	text = heap_list_bytes(&p->heap, b.text, b.used, NIL);
	print_buffer_free(&b);
	return text;
}

/* A flat list of characters as UTF-8. Fails: false. */
static bool print_characters(struct print_buffer *b, Term list)
{
	for (; term_is_cons(list); list = cons_tail(list)) {
		Term head = cons_head(list);
		uint8_t utf8[UTF8_MAX_BYTES];

		if (!term_is_small(head) || !utf8_is_scalar((uint64_t)small_value(head)))
			return false;
		print_bytes(b, (char *)utf8, utf8_encode((uint32_t)small_value(head), utf8));
	}
	return list == NIL;
}

Term bif_erlang_display_string_1(Process *p, Term *args)
{
	struct print_buffer b;
	bool ok;

	print_buffer_init(&b, 0);
	ok = print_characters(&b, args[0]);
	if (ok)
		posix_write_all(STDERR_FILENO, b.text, b.used);
	print_buffer_free(&b);
	return ok ? am_true : exc_badarg(p);
}

/* A string as above, or a binary as it is. Fails: false. */
static bool print_string(struct print_buffer *b, Term string)
{
	struct bits_view v;

	if (!term_is_binary(string))
		return print_characters(b, string);
	v = binary_view(string);
	for (size_t i = 0; i < v.size / 8; i++)
		print_bytes(b,
			    &(char){ (char)(v.offset == 0 ? v.base[i]
							  : v.base[i] << v.offset | v.base[i + 1] >> (8 - v.offset)) },
			    1);
	return true;
}

/* As if the bytes were typed at the terminal: kernels may forbid that. Fails: -errno. */
static int type_bytes(const struct print_buffer *b)
{
	int fd = open("/dev/tty", O_RDONLY | O_CLOEXEC), status = fd < 0 ? -errno : 0;

	for (size_t i = 0; i < b->used && status == 0; i++)
		if (ioctl(fd, TIOCSTI, &b->text[i]) != 0)
			status = -errno;
	if (fd >= 0)
		close(fd);
	return status;
}

Term bif_erlang_display_string_2(Process *p, Term *args)
{
	struct print_buffer b;
	int status = -EINVAL;

	if (args[0] != am_stdin && args[0] != am_stdout && args[0] != am_stderr)
		return exc_badarg(p);
	print_buffer_init(&b, 0);
	if (print_string(&b, args[1]))
		status = args[0] == am_stdin ? type_bytes(&b)
					     : posix_write_all(args[0] == am_stdout ? STDOUT_FILENO : STDERR_FILENO,
							       b.text, b.used);
	print_buffer_free(&b);
	return status == 0 ? am_true : exc_badarg(p);
}

/* As erlang:display/1 prints it; of a limit that many characters, and "...". */
Term bif_erts_internal_term_to_string_2(Process *p, Term *args)
{
	struct print_buffer b;
	Term text;

	if (args[1] != am_undefined &&
	    (!term_is_small(args[1]) || small_value(args[1]) <= 1 || small_value(args[1]) >= INT_MAX))
		return exc_badarg(p);
	print_buffer_init(&b, args[1] == am_undefined ? 0 : (size_t)small_value(args[1]));
	print_term(&b, args[0]);
	text = heap_list_bytes(&p->heap, b.text, b.used, NIL);
	print_buffer_free(&b);
	return text;
}

Term bif_erlang_display_nl_0(Process *p, Term *args)
{
	(void)p;
	(void)args;
	posix_write_all(STDERR_FILENO, "\n", 1);
	return am_true;
}

/* ---- what io servers ask */

Term bif_io_printable_range_0(Process *p, Term *args)
{
	(void)p;
	(void)args;
	return info_settings.printable_range;
}

static bool node_takes_unicode(Term node)
{
	struct channel *c = channel_find(node);
	bool takes;

	if (c == NULL)
		return false;
	lock_acquire(&c->lock);
	takes = c->state == CHANNEL_UP && c->flags & DIST_UNICODE_IO;
	lock_release(&c->lock);
	channel_unref(c);
	return takes;
}

/* Does the process's node take Unicode in io requests? This one does; others say so when they connect. */
Term bif_net_kernel_dflag_unicode_io_1(Process *p, Term *args)
{
	if (!term_is_pid(args[0]))
		return exc_badarg(p);
	return term_from_bool(term_is_local_pid(args[0]) || node_takes_unicode(node_of(args[0]).name));
}

Term bif_error_logger_warning_map_0(Process *p, Term *args)
{
	(void)p;
	(void)args;
	return info_settings.warning_map;
}
