/* SPDX-License-Identifier: Apache-2.0 */
/* Text straight to standard output and error (erlang:display/1 and its kin), and erlang:load_nif/2. */
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "bif/bif.h"
#include "data/print.h"
#include "data/utf8.h"
#include "io/filename.h"
#include "io/posix.h"

/* ---- display */

static void display_term(struct print_buffer *b, Term t)
{
	print_buffer_init(b, 0);
	print_term(b, t);
	print_bytes(b, "\n", 1);
	posix_write_all(STDOUT_FILENO, b->text, b->used);
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

Term bif_erlang_display_nl_0(Process *p, Term *args)
{
	(void)p;
	(void)args;
	posix_write_all(STDERR_FILENO, "\n", 1);
	return am_true;
}

/* ---- load_nif */

static const char *const bif_modules[] = {
#define BIF(module, function, arity, name) #module,
#include "bif/bifs.def"
};

/* The module's natives are BIFs of ours: loading them again finds them there. */
static bool is_built_in(const char *name)
{
	for (size_t k = 0; k < sizeof(bif_modules) / sizeof(bif_modules[0]); k++) {
		if (strcmp(bif_modules[k], name) == 0)
			return true;
	}
	return false;
}

static Term load_failure(Process *p, const char *path)
{
	struct print_buffer b;
	Term text;

	print_buffer_init(&b, 0);
	print_format(&b, "Failed to load NIF library: '%s.so': this machine loads no native libraries", path);
	text = heap_list_bytes(&p->heap, b.text, b.used, NIL);
	print_buffer_free(&b);
	return heap_tuple(&p->heap, am_error, heap_tuple(&p->heap, am_load_failed, text));
}

Term bif_erlang_load_nif_2(Process *p, Term *args)
{
	size_t n;
	char *path = filename_from_term(args[0], false, &n);
	Term result;

	if (path == NULL)
		return exc_badarg(p);
	result = is_built_in(path) ? am_ok : load_failure(p, path);
	mem_free(path);
	return result;
}
