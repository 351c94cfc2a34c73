/* SPDX-License-Identifier: Apache-2.0 */
/* Patterns of module re: compiled, exported, asked about. A compiled pattern is {re_pattern, Groups, Unicode, CrLf,
 * Bytes}, see data/regex_cache.h. */
#include <zlib.h>

#include "base/alloc.h"
#include "bif/bif.h"
#include "bif/data/bif_re.h"
#include "code/export.h"
#include "data/iolist.h"
#include "proc/sched.h"

enum {
	ERROR_CHARS = 256,
	COMPILED_AT_ONCE = 2048
};

/* {error, {Text, Place}}, or {error, {compile, {Text, Place}}}. */
static Term put_compile_error(Process *p, int error, size_t offset, bool in_run)
{
	struct heap *h = &p->heap;
	char text[ERROR_CHARS];
	Term t = heap_list_bytes(h, text, regex_error_text(error, text, sizeof(text)), NIL);

	t = heap_tuple(h, t, term_from_small((int64_t)offset));
	if (in_run)
		t = heap_tuple(h, am_compile, t);
	return heap_tuple(h, am_error, t);
}

Term re_put_pattern(Process *p, const struct regex *regex, bool unicode)
{
	uint8_t *bytes;
	Term image = binary_alloc(&p->heap, regex_image_bytes(regex), &bytes), t = TERM_NONE;

	if (image != TERM_NONE) {
		regex_image_put(regex, bytes);
		t = heap_tuple(&p->heap, am_re_pattern, SMALL(regex_captures(regex)), SMALL(unicode),
			       SMALL(regex_has_crlf(regex)),
			       image);
	}
	regex_release(regex);
	return t != TERM_NONE ? t : exc_system_limit(p);
}

/* The bytes of a pattern's text: its own, or a copy here or in scratch. */
struct source {
	const uint8_t *bytes;
	size_t n;
	uint8_t *scratch;    /* owned, or NULL */
	uint8_t here[256];
};

/* Owns: the caller, s->scratch. Fails: false. */
static bool read_source(struct source *s, Term text)
{
	s->bytes = binary_bytes(text, &s->n, &s->scratch);
	if (s->bytes == NULL) {
		if (iolist_size(text, &s->n) != IOLIST_OK)
			return false;
		s->bytes = s->n <= sizeof(s->here) ? s->here : (s->scratch = mem_try_alloc(s->n));
		if (s->bytes == NULL)
			return false;
		iolist_copy(text, (uint8_t *)s->bytes, s->n);
	}
	s->n = strnlen((const char *)s->bytes, s->n); /* a NUL ends a pattern, as in OTP */
	return true;
}

const struct regex *re_compile_text(Process *p, Term text, const struct re_options *o, bool in_run,
					   Term *failure)
{
	struct source source;
	const struct regex *regex;
	size_t offset;
	int error;

	if (!read_source(&source, text)) {
		*failure = exc_badarg(p);
		return NULL;
	}
	sched_go_outside();
	regex = regex_obtain(source.bytes, source.n, &o->compile, &error, &offset);
	sched_go_inside();
	mem_free(source.scratch);
	if (regex == NULL)
		*failure = in_run && !o->report_errors ? exc_badarg(p) : put_compile_error(p, error, offset, in_run);
	return regex;
}

/* What PCRE2 has to read often, for its bad escapes (data/regex.c), takes as long as the square of its length. */
static bool is_long_pattern(Term text)
{
	size_t n;

	return term_is_bitstring(text) ? binary_size_bytes(text) > COMPILED_AT_ONCE
				       : iolist_size(text, &n) == IOLIST_OK && n > COMPILED_AT_ONCE;
}

/* {re_exported_pattern, Head, Text, Options, Compiled}: any node makes a pattern of it, by re:import/1. The head is
 * OTP's: a name, the checksum of what is compiled, a version, and whether it is of Unicode. By another version than its
 * own OTP compiles the text again. */
enum { EXPORT_HEAD_BYTES = 14, EXPORT_VERSION = 0 };
static const uint8_t export_name[] = { 'r', 'e', '-', 'P', 'C', 'R', 'E', '2' };

static void put_export_head(uint8_t *head, Term compiled, bool unicode)
{
	uint8_t *scratch;
	size_t n;
	const uint8_t *bytes = binary_bytes(compiled, &n, &scratch);
	uint32_t sum = __builtin_bswap32((uint32_t)crc32_z(0, bytes, n));

	memcpy(head, export_name, sizeof(export_name));
	memcpy(head + sizeof(export_name), &sum, sizeof(sum));
	head[EXPORT_HEAD_BYTES - 2] = EXPORT_VERSION;
	head[EXPORT_HEAD_BYTES - 1] = unicode;
	mem_free(scratch);
}

static Term put_exported(Process *p, Term *args, Term pattern, bool unicode)
{
	Term compiled = tuple_get(pattern, 5), text;
	uint8_t head[EXPORT_HEAD_BYTES];
	struct source source;

	if (!read_source(&source, args[0]))
		return exc_badarg(p);
	put_export_head(head, compiled, unicode);
	text = binary_put(&p->heap, source.bytes, source.n);
	mem_free(source.scratch);
	return heap_tuple(&p->heap, am_re_exported_pattern, binary_put(&p->heap, head, sizeof(head)), text, args[1],
			  compiled);
}

/* What re:compile/2 gives, or, of what was exported, the pattern alone. */
static Term compile_whole(Process *p, Term *args)
{
	const struct regex *regex;
	struct re_options o;
	Term failure, pattern;

	re_get_options(&o, args[1]);
	regex = re_compile_text(p, args[0], &o, false, &failure);
	pattern = regex != NULL ? re_put_pattern(p, regex, o.unicode) : TERM_NONE;
	if (regex == NULL)
		return failure;
	if (pattern != TERM_NONE && o.exported)
		pattern = put_exported(p, args, pattern, o.unicode);
	return pattern != TERM_NONE ? heap_tuple(&p->heap, am_ok, pattern) : TERM_NONE;
}

static Term import_whole(Process *p, Term *args)
{
	struct re_options o;
	const struct regex *regex;
	Term failure;

	re_get_options(&o, tuple_get(args[0], 4));
	regex = re_compile_text(p, tuple_get(args[0], 3), &o, false, &failure);
	if (regex != NULL)
		return re_put_pattern(p, regex, o.unicode);
	return p->exc_kind != EXC_NONE ? TERM_NONE : exc_badarg(p);
}

/* Is it that of what is compiled, of whatever version? */
static bool is_export_head(Term head, Term compiled, bool unicode)
{
	uint8_t wanted[EXPORT_HEAD_BYTES], *scratch;
	const uint8_t *bytes;
	bool is;
	size_t n;

	if (!term_is_binary(head) || !term_is_binary(compiled))
		return false;
	put_export_head(wanted, compiled, unicode);
	bytes = binary_bytes(head, &n, &scratch);
	is = n == sizeof(wanted) && memcmp(bytes, wanted, n - 2) == 0 && bytes[n - 1] == unicode;
	mem_free(scratch);
	return is;
}

Term bif_re_import_1(Process *p, Term *args)
{
	struct re_options o;
	Term t = args[0];

	if (!term_is_tuple_of(t, 5) || tuple_get(t, 1) != am_re_exported_pattern || !term_is_binary(tuple_get(t, 3)) ||
	    !re_get_options(&o, tuple_get(t, 4)) || o.only_run ||
	    !is_export_head(tuple_get(t, 2), tuple_get(t, 5), o.unicode))
		return exc_badarg(p);
	return is_long_pattern(tuple_get(t, 3)) ? exc_run_lent(p, import_whole, args) : import_whole(p, args);
}

Term bif_re_compile_2(Process *p, Term *args)
{
	struct re_options o;

	if (!re_get_options(&o, args[1]) || o.only_run)
		return exc_badarg_cause(p, am_badopt);
	if (o.unicode && !term_is_binary(args[0]))
		return exc_trap(p, export_get(am_re, am_ucompile, 2), 2, args);
	return is_long_pattern(args[0]) ? exc_run_lent(p, compile_whole, args) : compile_whole(p, args);
}

Term bif_re_compile_1(Process *p, Term *args)
{
	return bif_re_compile_2(p, (Term[]){ args[0], NIL });
}

const struct regex *re_get_pattern(Term t, bool *unicode)
{
	const struct regex *regex;
	const uint8_t *image;
	uint8_t *scratch;
	size_t n;

	if (!term_is_tuple_of(t, 5) || tuple_get(t, 1) != am_re_pattern)
		return NULL;
	image = binary_bytes(tuple_get(t, 5), &n, &scratch);
	if (image == NULL)
		return NULL;
	regex = regex_acquire(image, n);
	mem_free(scratch);
	*unicode = tuple_get(t, 3) != SMALL(0);
	return regex;
}

bool re_may_share_names(const struct regex *r)
{
	return (r->options.flags & PCRE2_DUPNAMES) != 0;
}

Term bif_re_inspect_2(Process *p, Term *args)
{
	bool unicode;
	const struct regex *regex = re_get_pattern(args[0], &unicode);
	struct regex_names names;
	Term list = NIL, *link = &list;
	const char *name, *last = NULL;
	uint32_t group;
	bool has_option;

	if (regex == NULL)
		return exc_badarg(p);
	if (args[1] != am_namelist) {
		regex_release(regex);
		return exc_badarg(p);
	}
	names = regex_names(regex);
	has_option = re_may_share_names(regex);
	for (uint32_t i = 0; (name = regex_name(&names, i, &group)) != NULL; i++) {
		if (!has_option || last == NULL || strcmp(name, last) != 0) {
			*link = heap_cons(&p->heap, binary_put(&p->heap, name, strlen(name)), NIL);
			link = &cons_ptr(*link)[1];
		}
		last = name;
	}
	regex_release(regex);
	return heap_tuple(&p->heap, am_namelist, list);
}

Term bif_re_version_0(Process *p, Term *args)
{
	static _Thread_local char text[64];
	static _Thread_local int n; /* with the NUL */

	(void)args;
	if (n == 0)
		n = pcre2_config(PCRE2_CONFIG_VERSION, text);
	return binary_put(&p->heap, text, n > 0 ? (size_t)n - 1 : 0);
}
