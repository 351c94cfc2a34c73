/* SPDX-License-Identifier: Apache-2.0 */
/* Conversions of atoms, numbers and identifiers to text and back, as lists or as binaries. */
#include <stdio.h>

#include "base/alloc.h"
#include "base/release.h"
#include "bif/bif.h"
#include "data/binary.h"
#include "data/extern_id.h"
#include "data/float_text.h"
#include "data/number.h"
#include "data/print.h"
#include "dist/channel.h"
#include "proc/sched.h"
#include "term/atom.h"

/* Text taken from a term. Owns: bytes, unless they stand in `fixed`. */
struct text {
	char *bytes;
	size_t size;
	char fixed[1024];
};

static void free_text(struct text *t)
{
	if (t->bytes != t->fixed)
		mem_free(t->bytes);
}

/* A proper list of Latin-1 characters. Fails: false, nothing to free. */
static bool text_from_list(Term list, struct text *t)
{
	size_t n = 0;
	Term rest = list;

	for (; n < sizeof(t->fixed) && term_is_cons(rest); rest = cons_tail(rest), n++) {
		Term c = cons_head(rest);

		if (!term_is_small(c) || (uint64_t)small_value(c) > 255)
			return false;
		t->fixed[n] = (char)small_value(c);
	}
	if (rest == NIL) {
		t->bytes = t->fixed;
		t->size = n;
		return true;
	}
	for (; term_is_cons(rest); rest = cons_tail(rest), n++)
		if (!term_is_small(cons_head(rest)) || (uint64_t)small_value(cons_head(rest)) > 255)
			return false;
	if (rest != NIL)
		return false;
	t->bytes = n <= sizeof(t->fixed) ? t->fixed : mem_alloc(n);
	t->size = n;
	for (size_t i = 0; i < n; i++, list = cons_tail(list))
		t->bytes[i] = (char)small_value(cons_head(list));
	return true;
}

/* A binary's bytes. Fails: false. */
static bool text_from_binary(Term binary, struct text *t)
{
	struct bits_view v;

	if (!term_is_binary(binary))
		return false;
	v = binary_view(binary);
	t->size = v.size / 8;
	t->bytes = t->size <= sizeof(t->fixed) ? t->fixed : mem_alloc(t->size);
	if (v.offset == 0) {
		memcpy(t->bytes, v.base, t->size);
		return true;
	}
	for (size_t i = 0; i < t->size; i++)
		t->bytes[i] = (char)(v.base[i] << v.offset | v.base[i + 1] >> (8 - v.offset));
	return true;
}

static Term put_list(Process *p, const char *text, size_t n)
{
	return heap_list_bytes(&p->heap, text, n, NIL);
}

static Term put_binary(Process *p, const char *text, size_t n)
{
	return binary_put(&p->heap, text, n);
}

/* Where the text goes: put_list or put_binary. */
typedef Term (*put_text)(Process *p, const char *text, size_t n);

/* ---- atoms */

/* Reads one character of valid UTF-8 and moves on. */
static uint32_t next_char(const unsigned char **at)
{
	const unsigned char *s = *at;
	unsigned more = s[0] < 0x80 ? 0 : s[0] < 0xe0 ? 1 : s[0] < 0xf0 ? 2 : 3;
	uint32_t c = more == 0 ? s[0] : s[0] & (0x3fu >> more);

	for (unsigned i = 1; i <= more; i++)
		c = c << 6 | (s[i] & 0x3f);
	*at += more + 1;
	return c;
}

static size_t put_char(char *to, uint32_t c)
{
	if (c < 0x80) {
		to[0] = (char)c;
		return 1;
	}
	if (c < 0x800) {
		to[0] = (char)(0xc0 | c >> 6);
		to[1] = (char)(0x80 | (c & 0x3f));
		return 2;
	}
	if (c < 0x10000) {
		to[0] = (char)(0xe0 | c >> 12);
		to[1] = (char)(0x80 | (c >> 6 & 0x3f));
		to[2] = (char)(0x80 | (c & 0x3f));
		return 3;
	}
	to[0] = (char)(0xf0 | c >> 18);
	to[1] = (char)(0x80 | (c >> 12 & 0x3f));
	to[2] = (char)(0x80 | (c >> 6 & 0x3f));
	to[3] = (char)(0x80 | (c & 0x3f));
	return 4;
}

/* The characters of an atom; returns how many. */
static size_t split_atom(Term atom, uint32_t chars[ATOM_MAX_CHARS])
{
	size_t n, count = 0;
	const unsigned char *at = (const unsigned char *)atom_text(atom, &n), *end = at + n;

	while (at < end)
		chars[count++] = next_char(&at);
	return count;
}

Term bif_erlang_atom_to_list_1(Process *p, Term *args)
{
	return term_is_atom(args[0]) ? heap_list_atom(&p->heap, args[0]) : exc_badarg(p);
}

static __attribute__((noinline)) Term put_latin1(Process *p, Term atom)
{
	uint32_t chars[ATOM_MAX_CHARS];
	char latin1[ATOM_MAX_CHARS];
	size_t n = split_atom(atom, chars);

	for (size_t i = 0; i < n; i++) {
		if (chars[i] > 255)
			return exc_badarg(p);
		latin1[i] = (char)chars[i];
	}
	return binary_put(&p->heap, latin1, n);
}

Term bif_erlang_atom_to_binary_2(Process *p, Term *args)
{
	const char *text;
	size_t n;

	if (unlikely(!term_is_atom(args[0])))
		return exc_badarg(p);
	if (unlikely(args[1] != am_utf8 && args[1] != am_unicode))
		return args[1] == am_latin1 ? put_latin1(p, args[0]) : exc_badarg(p);
	text = atom_text(args[0], &n);
	return binary_put(&p->heap, text, n);
}

/* The UTF-8 of a proper list of characters, at most `max` of them. Returns bytes; -1: no such list; -2: too long. */
static int join_chars(Term list, char *to)
{
	size_t n = 0, chars = 0;

	for (; term_is_cons(list); list = cons_tail(list), chars++) {
		int64_t c = small_value(cons_head(list));

		if (!term_is_small(cons_head(list)) || c < 0 || c > 0x10ffff || (c >= 0xd800 && c <= 0xdfff))
			return -1;
		if (chars < ATOM_MAX_CHARS)
			n += put_char(to + n, (uint32_t)c);
	}
	if (list != NIL)
		return -1;
	return chars <= ATOM_MAX_CHARS ? (int)n : -2;
}

/* The atom of valid UTF-8 not too long; the table full is system_limit. */
static Term make_atom(Process *p, const char *text, size_t n)
{
	Term t = atom_from_utf8(text, n, NULL);

	return t != TERM_NONE ? t : exc_system_limit(p);
}

Term bif_erlang_list_to_atom_1(Process *p, Term *args)
{
	char text[ATOM_MAX_BYTES];
	int n = join_chars(args[0], text);

	if (n < 0)
		return n == -2 ? exc_system_limit(p) : exc_badarg(p);
	return make_atom(p, text, (size_t)n);
}

Term bif_erlang_list_to_existing_atom_1(Process *p, Term *args)
{
	char text[ATOM_MAX_BYTES];
	int n = join_chars(args[0], text);
	Term t = n >= 0 ? atom_existing_utf8(text, (size_t)n) : TERM_NONE;

	return t != TERM_NONE ? t : exc_badarg(p);
}

/* The characters of n bytes of UTF-8, not counted on when they are too many for an atom; -1 when they are not valid. */
static int count_chars(const char *text, size_t n)
{
	const unsigned char *at = (const unsigned char *)text, *end = at + n;
	int chars = 0;

	for (; at < end && chars <= ATOM_MAX_CHARS; chars++) {
		char again[4];
		const unsigned char *start = at;
		size_t more = *at < 0x80 ? 0 : *at < 0xc2 ? 9 : *at < 0xe0 ? 1 : *at < 0xf0 ? 2 : *at < 0xf5 ? 3 : 9;
		uint32_t c;

		if (more >= (size_t)(end - at))
			return -1;
		c = next_char(&at);
		/* Whatever is not the form that the character is written in is not valid. */
		if (c > 0x10ffff || (c >= 0xd800 && c <= 0xdfff) || put_char(again, c) != more + 1 ||
		    memcmp(again, start, more + 1) != 0)
			return -1;
	}
	return chars;
}

/* The name in a binary as UTF-8. Returns bytes; -1: bad arguments; -2: too long. */
static int read_name(const Term *args, char *to)
{
	struct text t;
	int chars, n = 0;

	if (args[1] != am_latin1 && args[1] != am_utf8 && args[1] != am_unicode)
		return -1;
	if (!text_from_binary(args[0], &t))
		return -1;
	chars = args[1] == am_latin1 || atom_is_ascii(t.bytes, t.size) ? (int)(t.size < 256 ? t.size : 256)
								       : count_chars(t.bytes, t.size);
	if (chars < 0 || chars > ATOM_MAX_CHARS) {
		n = chars < 0 ? -1 : -2;
	} else if (args[1] == am_latin1) {
		for (size_t i = 0; i < t.size; i++)
			n += (int)put_char(to + n, (unsigned char)t.bytes[i]);
	} else {
		memcpy(to, t.bytes, t.size);
		n = (int)t.size;
	}
	free_text(&t);
	return n;
}

Term bif_erlang_binary_to_atom_2(Process *p, Term *args)
{
	char text[ATOM_MAX_BYTES];
	int n = read_name(args, text);

	if (n < 0)
		return n == -2 ? exc_system_limit(p) : exc_badarg(p);
	return make_atom(p, text, (size_t)n);
}

Term bif_erlang_binary_to_existing_atom_2(Process *p, Term *args)
{
	char text[ATOM_MAX_BYTES];
	int n = read_name(args, text);
	Term t = n >= 0 ? atom_existing_utf8(text, (size_t)n) : TERM_NONE;

	return t != TERM_NONE ? t : exc_badarg(p);
}

/* ---- integers */

static bool get_base(Term t, int *base)
{
	*base = (int)small_value(t);
	return term_is_small(t) && small_value(t) >= 2 && small_value(t) <= 36;
}

enum { LONG_TEXT = 8192, DIGITS_A_REDUCTION = 16 };

/* The digits of t. The scheduler is lent where they are many: 90,000 take milliseconds. Returns characters. */
static size_t put_digits(Process *p, Term t, int base, char *text, size_t size)
{
	size_t n;

	if (likely(size <= LONG_TEXT))
		return num_text_put(t, base, text);
	sched_lend();
	n = num_text_put(t, base, text);
	sched_reclaim();
	process_bump(p, (int)(n / DIGITS_A_REDUCTION));
	return n;
}

static Term write_integer(Process *p, Term t, int base, put_text put)
{
	char fixed[512];
	char *text;
	size_t size;
	Term result;

	if (!term_is_integer(t))
		return exc_badarg(p);
	size = num_text_size(t, base);
	text = size <= sizeof(fixed) ? fixed : mem_alloc(size);
	result = put(p, text, put_digits(p, t, base, text, size));
	if (text != fixed)
		mem_free(text);
	return result;
}

Term bif_erlang_integer_to_list_1(Process *p, Term *args)
{
	return write_integer(p, args[0], 10, put_list);
}

Term bif_erlang_integer_to_list_2(Process *p, Term *args)
{
	int base;

	return get_base(args[1], &base) ? write_integer(p, args[0], base, put_list) : exc_badarg(p);
}

Term bif_erlang_integer_to_binary_1(Process *p, Term *args)
{
	return write_integer(p, args[0], 10, put_binary);
}

Term bif_erlang_integer_to_binary_2(Process *p, Term *args)
{
	int base;

	return get_base(args[1], &base) ? write_integer(p, args[0], base, put_binary) : exc_badarg(p);
}

/* Takes: the text. */
static Term read_integer(Process *p, struct text *t, int base)
{
	Term result = num_from_text(&p->heap, t->bytes, t->size, base);

	if (result == TERM_NONE && num_text_is_integer(t->bytes, t->size, base))
		exc_system_limit(p);
	else if (result == TERM_NONE)
		exc_badarg(p);
	free_text(t);
	return result;
}

static __attribute__((noinline)) Term long_from_list(Process *p, Term list, int base)
{
	struct text t;

	return text_from_list(list, &t) ? read_integer(p, &t, base) : exc_badarg(p);
}

static __attribute__((noinline)) Term long_from_binary(Process *p, Term binary, int base)
{
	struct text t;

	return text_from_binary(binary, &t) ? read_integer(p, &t, base) : exc_badarg(p);
}

/* The digits of an unsigned number, as many as make a small integer in any base, are read where they are. */
static Term integer_from_list(Process *p, Term list, int base)
{
	uint64_t sum = 0;
	unsigned n = 0;
	Term rest = list;

	for (; n < NUM_SHORT_DIGITS && term_is_cons(rest); rest = cons_tail(rest), n++) {
		Term c = cons_head(rest);
		unsigned digit = term_is_small(c) ? num_digit((uint64_t)small_value(c)) : NUM_NO_DIGIT;

		if (digit >= (unsigned)base)
			break;
		sum = sum * (unsigned)base + digit;
	}
	return likely(rest == NIL && n > 0) ? term_from_small((int64_t)sum) : long_from_list(p, list, base);
}

static Term integer_from_binary(Process *p, Term binary, int base)
{
	Term t = TERM_NONE;
	struct bits_view v;

	if (unlikely(!term_is_binary(binary)))
		return exc_badarg(p);
	v = binary_view(binary);
	if (likely(v.offset == 0 && v.size <= NUM_SHORT_DIGITS * 8))
		t = num_from_text(&p->heap, (const char *)v.base, v.size / 8, base);
	return likely(t != TERM_NONE) ? t : long_from_binary(p, binary, base);
}

Term bif_erlang_list_to_integer_1(Process *p, Term *args)
{
	return integer_from_list(p, args[0], 10);
}

Term bif_erlang_list_to_integer_2(Process *p, Term *args)
{
	int base;

	return get_base(args[1], &base) ? integer_from_list(p, args[0], base) : exc_badarg(p);
}

Term bif_erlang_binary_to_integer_1(Process *p, Term *args)
{
	return integer_from_binary(p, args[0], 10);
}

Term bif_erlang_binary_to_integer_2(Process *p, Term *args)
{
	int base;

	return get_base(args[1], &base) ? integer_from_binary(p, args[0], base) : exc_badarg(p);
}

/* What erlang.erl of OTP 27 calls: the number, or why not, as an atom. */
Term bif_erts_internal_binary_to_integer_2(Process *p, Term *args)
{
	struct text t;
	Term result;
	int base;

	if (!get_base(args[1], &base) || !text_from_binary(args[0], &t))
		return am_badarg;
	result = num_from_text(&p->heap, t.bytes, t.size, base);
	if (result == TERM_NONE)
		result = num_text_is_integer(t.bytes, t.size, base) ? am_big : am_badarg;
	free_text(&t);
	return result;
}

/* The value of a list's element as a digit. */
static unsigned digit_of(Term c)
{
	return term_is_small(c) ? num_digit((uint64_t)small_value(c)) : NUM_NO_DIGIT;
}

/* {Number, what follows its digits}, or why not. `big` says that erlang.erl may try the text as a binary. */
Term bif_erts_internal_list_to_integer_2(Process *p, Term *args)
{
	Term rest = args[0];
	bool negative = false;
	uint64_t sum = 0;
	unsigned n = 0, zeros = 0;
	int base;

	if (!term_is_list(rest) || rest == NIL)
		return rest == NIL ? am_no_integer : am_not_a_list;
	if (!get_base(args[1], &base))
		return am_badarg;
	if (cons_head(rest) == SMALL('-') || cons_head(rest) == SMALL('+')) {
		negative = cons_head(rest) == SMALL('-');
		rest = cons_tail(rest);
	}
	for (; term_is_cons(rest) && cons_head(rest) == SMALL('0'); rest = cons_tail(rest))
		zeros = 1;
	for (; term_is_cons(rest) && digit_of(cons_head(rest)) < (unsigned)base; rest = cons_tail(rest)) {
		if (++n > NUM_SHORT_DIGITS)
			return am_big;
		sum = sum * (unsigned)base + digit_of(cons_head(rest));
	}
	if (n + zeros == 0)
		return am_no_integer;
	return heap_tuple(&p->heap, term_from_small(negative ? -(int64_t)sum : (int64_t)sum), rest);
}

/* ---- floats */

enum float_form { FORM_SCIENTIFIC, FORM_DECIMALS, FORM_SHORT };

struct float_format {
	enum float_form form;
	int decimals;
	bool compact;
};

static bool read_float_option(Term option, struct float_format *f)
{
	Term name;

	if (option == am_compact) {
		f->compact = true;
		return true;
	}
	if (option == am_short) {
		f->form = FORM_SHORT;
		return true;
	}
	if (!term_is_tuple_of(option, 2) || !term_is_small(tuple_get(option, 2)))
		return false;
	name = tuple_get(option, 1);
	if (name != am_decimals && name != am_scientific)
		return false;
	if (small_value(tuple_get(option, 2)) < -1 || small_value(tuple_get(option, 2)) > 255)
		return false;
	f->form = name == am_decimals ? FORM_DECIMALS : FORM_SCIENTIFIC;
	f->decimals = (int)small_value(tuple_get(option, 2));
	return true;
}

static Term write_float(Process *p, Term t, Term options, put_text put)
{
	struct float_format f = { FORM_SCIENTIFIC, 20, false };
	char text[FLOAT_TEXT_MAX];
	size_t n;

	if (!term_is_float(t))
		return exc_badarg(p);
	for (; term_is_cons(options); options = cons_tail(options))
		if (!read_float_option(cons_head(options), &f))
			return exc_badarg(p);
	if (options != NIL)
		return exc_badarg(p);
	if (f.form == FORM_SHORT)
		n = float_text_short(float_value(t), text);
	else if (f.form == FORM_DECIMALS)
		n = float_text_decimals(float_value(t), f.decimals, f.compact, text);
	else
		n = float_text_scientific(float_value(t), f.decimals, text);
	return n > 0 ? put(p, text, n) : exc_badarg(p);
}

Term bif_erlang_float_to_list_1(Process *p, Term *args)
{
	return write_float(p, args[0], NIL, put_list);
}

Term bif_erlang_float_to_list_2(Process *p, Term *args)
{
	return write_float(p, args[0], args[1], put_list);
}

Term bif_erlang_float_to_binary_1(Process *p, Term *args)
{
	return write_float(p, args[0], NIL, put_binary);
}

Term bif_erlang_float_to_binary_2(Process *p, Term *args)
{
	return write_float(p, args[0], args[1], put_binary);
}

/* Takes: the text. A NUL ends it, as in OTP. */
static Term read_float(Process *p, struct text *t)
{
	double d;
	bool sound = float_text_read(t->bytes, strnlen((const char *)t->bytes, t->size), &d);

	free_text(t);
	return sound ? heap_float(&p->heap, d) : exc_badarg(p);
}

Term bif_erlang_list_to_float_1(Process *p, Term *args)
{
	struct text t;

	return text_from_list(args[0], &t) ? read_float(p, &t) : exc_badarg(p);
}

Term bif_erlang_binary_to_float_1(Process *p, Term *args)
{
	struct text t;

	return text_from_binary(args[0], &t) ? read_float(p, &t) : exc_badarg(p);
}

/* ---- numbers at the front of a list */

enum { IN_INTEGER = 1, IN_FLOAT = 2 };

static const unsigned char number_characters[128] = {
	['0' ... '9'] = IN_INTEGER | IN_FLOAT, ['+'] = IN_INTEGER | IN_FLOAT, ['-'] = IN_INTEGER | IN_FLOAT,
	['.'] = IN_FLOAT, [','] = IN_FLOAT, ['e'] = IN_FLOAT, ['E'] = IN_FLOAT,
};

/* The characters at the front of list that numbers of a kind (IN_*) are written with. Owns: *t. */
static void text_from_front(Term list, unsigned kind, struct text *t)
{
	size_t room = sizeof(t->fixed);

	t->bytes = t->fixed;
	t->size = 0;
	for (; term_is_cons(list); list = cons_tail(list)) {
		uint64_t c = (uint64_t)small_value(cons_head(list));

		if (!term_is_small(cons_head(list)) || c >= sizeof(number_characters) || !(number_characters[c] & kind))
			break;
		if (t->size == room) {
			char *more = mem_alloc(room * 2);

			memcpy(more, t->bytes, room);
			free_text(t);
			t->bytes = more;
			room *= 2;
		}
		t->bytes[t->size++] = (char)c;
	}
}

/* {Number, what follows the n characters}, or {error, reason}. */
static Term put_front(Process *p, Term number, Term list, size_t n, Term reason)
{
	if (number == TERM_NONE)
		return heap_tuple(&p->heap, am_error, reason);
	for (size_t i = 0; i < n; i++)
		list = cons_tail(list);
	return heap_tuple(&p->heap, number, list);
}

static __attribute__((noinline)) Term long_from_front(Process *p, Term list)
{
	struct text t;
	Term number;
	size_t n;

	text_from_front(list, IN_INTEGER, &t);
	n = t.size > 0 && (t.bytes[0] == '+' || t.bytes[0] == '-');
	while (n < t.size && t.bytes[n] >= '0' && t.bytes[n] <= '9')
		n++;
	number = num_from_text(&p->heap, t.bytes, n, 10);
	if (number == TERM_NONE && num_text_is_integer(t.bytes, n, 10)) {
		free_text(&t);
		return release_returns_integer_limit() ? put_front(p, TERM_NONE, list, 0, am_system_limit)
						       : exc_system_limit(p);
	}
	free_text(&t);
	return put_front(p, number, list, n, am_no_integer);
}

Term bif_string_list_to_integer_1(Process *p, Term *args)
{
	uint64_t sum = 0;
	Term rest = args[0];
	unsigned n = 0;

	if (!term_is_list(args[0]))
		return heap_tuple(&p->heap, am_error, am_not_a_list);
	for (; n <= NUM_SHORT_DIGITS && term_is_cons(rest); rest = cons_tail(rest), n++) {
		Term c = cons_head(rest);

		if (!term_is_small(c) || (uint64_t)small_value(c) - '0' > 9)
			break;
		sum = sum * 10 + (uint64_t)small_value(c) - '0';
	}
	if (unlikely(n == 0 || n > NUM_SHORT_DIGITS)) /* a sign, or many digits */
		return long_from_front(p, args[0]);
	return heap_tuple(&p->heap, term_from_small((int64_t)sum), rest);
}

Term bif_string_list_to_float_1(Process *p, Term *args)
{
	struct text t;
	double d;
	size_t n;
	bool sound;

	if (!term_is_list(args[0]))
		return heap_tuple(&p->heap, am_error, am_not_a_list);
	text_from_front(args[0], IN_FLOAT, &t);
	n = float_text_span(t.bytes, t.size);
	sound = float_text_read(t.bytes, n, &d);
	free_text(&t);
	return put_front(p, sound ? heap_float(&p->heap, d) : TERM_NONE, args[0], n, am_no_float);
}

/* ---- identifiers */

static Term write_printed(Process *p, Term t)
{
	struct print_buffer b;
	Term result;

	print_buffer_init(&b, 0);
	print_term(&b, t);
	result = put_list(p, b.text, b.used);
	print_buffer_free(&b);
	return result;
}

Term bif_erlang_pid_to_list_1(Process *p, Term *args)
{
	return term_is_pid(args[0]) ? write_printed(p, args[0]) : exc_badarg(p);
}

Term bif_erlang_port_to_list_1(Process *p, Term *args)
{
	return term_is_port(args[0]) ? write_printed(p, args[0]) : exc_badarg(p);
}

Term bif_erlang_ref_to_list_1(Process *p, Term *args)
{
	return term_is_ref(args[0]) ? write_printed(p, args[0]) : exc_badarg(p);
}

Term bif_erlang_fun_to_list_1(Process *p, Term *args)
{
	return term_is_fun(args[0]) ? write_printed(p, args[0]) : exc_badarg(p);
}

/* The node that a first number stands for in a printed identifier: 0 for this one, else the place of its name in the
 * table of atoms. Fails: false, that is no node that is connected. */
static bool find_numbered_node(uint64_t number, struct node_name *node)
{
	struct channel *c;

	*node = node_self();
	if (number == 0)
		return true;
	c = number < atom_count() ? channel_find(term_from_atom((uint32_t)number)) : NULL;
	if (c == NULL)
		return false;
	*node = (struct node_name){ c->node, atomic_load(&c->creation) };
	channel_unref(c);
	return node->creation != 0;
}

/* Reads `prefix`, then `count` numbers with points between, then '>'; the first says the node. */
static bool read_numbers(Term list, const char *prefix, unsigned count, uint64_t *numbers, struct node_name *node)
{
	struct text t;
	size_t at = strlen(prefix);
	bool sound;

	if (!text_from_list(list, &t))
		return false;
	sound = t.size > at && memcmp(t.bytes, prefix, at) == 0;
	for (unsigned i = 0; sound && i < count; i++) {
		size_t start = at;

		numbers[i] = 0;
		for (; at < t.size && t.bytes[at] >= '0' && t.bytes[at] <= '9' && at - start < 18; at++)
			numbers[i] = numbers[i] * 10 + (uint64_t)(t.bytes[at] - '0');
		sound = at > start && at < t.size && t.bytes[at++] == (i + 1 < count ? '.' : '>');
	}
	sound = sound && at == t.size && find_numbered_node(numbers[0], node);
	free_text(&t);
	return sound;
}

Term bif_erlang_list_to_pid_1(Process *p, Term *args)
{
	struct extern_facts f = { .count = 2 };
	uint64_t n[3];

	if (!read_numbers(args[0], "<", 3, n, &f.node) || n[1] >> ID_NUMBER_BITS != 0 || n[2] > UINT32_MAX)
		return exc_badarg(p);
	if (n[0] == 0)
		return term_from_pid((uint32_t)n[1], (uint32_t)n[2]);
	f.ids[0] = (uint32_t)n[1];
	f.ids[1] = (uint32_t)n[2];
	return extern_id_put(&p->heap, SUB_XPID, &f);
}

Term bif_erlang_list_to_port_1(Process *p, Term *args)
{
	struct extern_facts f = { .count = 2 };
	uint64_t n[2];

	if (!read_numbers(args[0], "#Port<", 2, n, &f.node))
		return exc_badarg(p);
	if (n[0] == 0)
		return term_from_port(n[1]);
	f.ids[0] = (uint32_t)n[1];
	f.ids[1] = (uint32_t)(n[1] >> 32);
	return extern_id_put(&p->heap, SUB_XPORT, &f);
}

Term bif_erlang_list_to_ref_1(Process *p, Term *args)
{
	struct extern_facts f = { .count = 3 };
	uint64_t n[4];

	if (!read_numbers(args[0], "#Ref<", 4, n, &f.node))
		return exc_badarg(p);
	for (unsigned i = 0; i < 3; i++) {
		if (n[3 - i] > UINT32_MAX)
			return exc_badarg(p);
		f.ids[i] = (uint32_t)n[3 - i];
	}
	return extern_id_put(&p->heap, SUB_XREF, &f);
}
