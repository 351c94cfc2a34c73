/* SPDX-License-Identifier: Apache-2.0 */
/* Terms as text. What is still to be printed stands on a stack: terms, and marks (header words, which no term is).
 * Invariant: after a cut nothing more is written, and walks end at once. */
#include "data/print.h"

#include <stdarg.h>
#include <stdio.h>

#include "data/binary.h"
#include "data/bitcopy.h"
#include "data/extern_id.h"
#include "data/fun_link.h"
#include "data/map.h"
#include "data/number.h"
#include "data/record.h"
#include "data/word_stack.h"
#include "term/atom.h"

/* Marks. MARK_TEXT carries one or two characters; the others have what they need below them. */
enum { MARK_KIND_TEXT, MARK_KIND_TAIL, MARK_KIND_ARRAY };
#define MARK(kind, arg) HEADER((Term)(arg) << 4 | (kind), SUB_MATCH)
#define MARK_TEXT(a, b) MARK(MARK_KIND_TEXT, (Term)(b) << 8 | (a))

/* ---- the buffer */

void print_buffer_init(struct print_buffer *b, size_t limit_bytes)
{
	*b = (struct print_buffer){ .text = mem_alloc(128),
				    .room = 128,
				    .limit = limit_bytes != 0 ? limit_bytes : SIZE_MAX / 2 };
	b->text[0] = 0;
}

void print_buffer_fixed(struct print_buffer *b, char *text, size_t room)
{
	*b = (struct print_buffer){ .text = text, .room = room, .limit = room - 1, .fixed = true };
	text[0] = 0;
}

void print_buffer_free(struct print_buffer *b)
{
	if (!b->fixed)
		mem_free(b->text);
	b->text = NULL;
}

/* Ends the text at the limit, with dots, not inside a character. */
static void cut_text(struct print_buffer *b)
{
	size_t dots = b->limit >= 3 ? 3 : 0;

	if (b->used > b->limit - dots)
		b->used = b->limit - dots;
	while (b->used > 0 && ((unsigned char)b->text[b->used] & 0xc0) == 0x80)
		b->used--;
	memcpy(b->text + b->used, "...", dots);
	b->used += dots;
	b->text[b->used] = 0;
	b->cut = true;
}

void print_bytes(struct print_buffer *b, const char *text, size_t n)
{
	size_t fits = b->limit - b->used;

	if (b->cut)
		return;
	if (n < fits)
		fits = n;
	if (b->used + fits + 4 > b->room && !b->fixed) {
		b->room = (b->used + fits) * 2 + 4;
		b->text = mem_realloc(b->text, b->room);
	}
	memcpy(b->text + b->used, text, fits);
	b->used += fits;
	if (fits < n) {
		/* So that cut_text sees whether the last character is whole. */
		b->text[b->used] = text[fits];
		cut_text(b);
		return;
	}
	b->text[b->used] = 0;
}

void print_text(struct print_buffer *b, const char *text)
{
	print_bytes(b, text, strlen(text));
}

void print_format(struct print_buffer *b, const char *format, ...)
{
	char text[512];
	va_list args;
	int n;

	va_start(args, format);
	n = vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	if (n > 0)
		print_bytes(b, text, (size_t)n < sizeof(text) ? (size_t)n : sizeof(text) - 1);
}

static void print_char(struct print_buffer *b, char c)
{
	print_bytes(b, &c, 1);
}

/* ---- atoms */

static bool is_latin1_lower(unsigned c)
{
	return (c >= 'a' && c <= 'z') || (c >= 0xdf && c <= 0xff && c != 0xf7);
}

static bool is_latin1_name(unsigned c)
{
	return is_latin1_lower(c) || (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') ||
	       (c >= 0xc0 && c <= 0xde && c != 0xd7) || c == '_';
}

static bool needs_quotes(const unsigned char *s, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		size_t first = i;
		unsigned c = s[i];

		if (c >= 0x80) {
			if (c != 0xc2 && c != 0xc3)
				return true;
			c = (c & 0x1f) << 6 | (s[++i] & 0x3f);
		}
		if (first == 0 ? !is_latin1_lower(c) : !is_latin1_name(c))
			return true;
	}
	return n == 0;
}

static void print_atom_char(struct print_buffer *b, const char *s)
{
	static const char plain[] = "'\\\n\f\t\r\b\v", escaped[] = "'\\nftrbv";
	const char *found = strchr(plain, *s);
	unsigned char c = (unsigned char)*s;

	if (found != NULL && *s != 0)
		print_format(b, "\\%c", escaped[found - plain]);
	else if (c < ' ')
		print_format(b, "\\%03o", c);
	else
		print_char(b, *s);
}

void print_atom(struct print_buffer *b, Term atom)
{
	size_t n;
	const char *s = atom_text(atom, &n);
	bool quotes = needs_quotes((const unsigned char *)s, n);

	if (quotes)
		print_char(b, '\'');
	for (size_t i = 0; i < n; i++) {
		unsigned char next = (unsigned char)s[i + 1];
		size_t more = 0;

		if ((unsigned char)s[i] == 0xc2 && next < 0xa0) {
			print_format(b, "\\%03o", next);
			i++;
			continue;
		}
		while (((unsigned char)s[i + 1 + more] & 0xc0) == 0x80)
			more++;
		if (more == 0)
			print_atom_char(b, s + i);
		else
			print_bytes(b, s + i, more + 1);
		i += more;
	}
	if (quotes)
		print_char(b, '\'');
}

void print_mfa(struct print_buffer *b, Term module, Term function, unsigned arity)
{
	print_atom(b, module);
	print_char(b, ':');
	print_atom(b, function);
	print_format(b, "/%u", arity);
}

/* ---- leaves */

static void print_integer(struct print_buffer *b, Term t)
{
	char fixed[128];
	size_t size = num_text_size(t, 10);
	char *text = size <= sizeof(fixed) ? fixed : mem_alloc(size);

	print_bytes(b, text, num_text_put(t, 10, text));
	if (text != fixed)
		mem_free(text);
}

/* The number that stands for a node in printed pids: 0 for this one. */
static uint32_t channel_number(const struct extern_facts *f)
{
	return f->node.name == node_self().name ? 0 : atom_index(f->node.name);
}

static void print_id(struct print_buffer *b, Term t)
{
	struct extern_facts f;

	extern_id_describe(t, &f);
	if (term_is_pid(t)) {
		print_format(b, "<%u.%u.%u>", channel_number(&f), f.ids[0], f.ids[1]);
	} else if (term_is_port(t)) {
		print_format(b, "#Port<%u.%lu>", channel_number(&f),
			     (unsigned long)((uint64_t)f.ids[1] << 32 | f.ids[0]));
	} else {
		print_format(b, "#Ref<%u", channel_number(&f));
		for (unsigned i = f.count; i-- > 0;)
			print_format(b, ".%u", f.ids[i]);
		print_char(b, '>');
	}
}

static void print_bitstring(struct print_buffer *b, Term t)
{
	struct bits_view v = binary_view(t);
	uint64_t at = 0;
	bool printable = v.size > 0 && v.size % 8 == 0;

	for (; printable && at < v.size; at += 8) {
		uint64_t c = bitcopy_read(v.base, v.offset + at, 8);

		printable = c >= ' ' && c < 127;
	}
	print_text(b, printable ? "<<\"" : "<<");
	for (at = 0; at < v.size && !b->cut; at += 8) {
		unsigned bits = v.size - at < 8 ? (unsigned)(v.size - at) : 8;
		unsigned c = (unsigned)bitcopy_read(v.base, v.offset + at, bits);

		if (printable)
			print_format(b, c == '"' ? "\\%c" : "%c", c);
		else
			print_format(b, bits < 8 ? "%s%u:%u" : "%s%u", at > 0 ? "," : "", c, bits);
	}
	print_text(b, printable ? "\">>" : ">>");
}

static void print_fun(struct print_buffer *b, Term t)
{
	struct export_facts e;
	struct fun_facts f;

	if (term_has_sub(t, SUB_EXPORT)) {
		fun_link_describe_export(export_fun_ptr(t), &e);
		print_text(b, "fun ");
		print_mfa(b, e.module, e.function, e.arity);
		return;
	}
	fun_link_describe(fun_ptr(t)->entry, &f);
	print_text(b, "#Fun<");
	print_text(b, atom_text(f.module, NULL));
	print_format(b, ".%d.%d>", f.old_index, f.old_uniq);
}

/* ---- what holds other terms */

/* A list that is not empty, proper, and all characters of Latin-1 that can be printed. */
static bool is_string(Term t)
{
	for (; term_is_cons(t); t = cons_tail(t)) {
		int64_t c = small_value(cons_head(t));

		if (!term_is_small(cons_head(t)) || c < 0 || c > 255)
			return false;
		if ((c < ' ' || (c >= 127 && c < 160)) && c != '\n' && c != '\t' && c != '\r')
			return false;
	}
	return t == NIL;
}

static void print_string(struct print_buffer *b, Term t)
{
	print_char(b, '"');
	for (; term_is_cons(t) && !b->cut; t = cons_tail(t)) {
		int c = (int)small_value(cons_head(t));

		if (c == '\n')
			print_text(b, "\\n");
		else if (c >= 0x80)
			print_bytes(b, (char[]){ (char)(0xc0 | c >> 6), (char)(0x80 | (c & 0x3f)) }, 2);
		else
			print_format(b, c == '"' ? "\\%c" : "%c", c);
	}
	print_char(b, '"');
}

static void push_list(struct word_stack *s, Term t)
{
	Term tail = cons_tail(t);

	if (tail == NIL) {
		word_stack_push(s, MARK_TEXT(']', 0));
	} else {
		word_stack_push(s, tail);
		word_stack_push(s, MARK(MARK_KIND_TAIL, 0));
	}
	word_stack_push(s, cons_head(t));
}

static void push_array(struct word_stack *s, const Term *at, size_t n)
{
	if (n == 0)
		return;
	if (n > 1) {
		word_stack_push(s, (Term)(at + 1));
		word_stack_push(s, n - 1);
		word_stack_push(s, MARK(MARK_KIND_ARRAY, 0));
		word_stack_push(s, MARK_TEXT(',', 0));
	}
	word_stack_push(s, *at);
}

static void push_map(struct word_stack *s, const struct print_buffer *b, Term t)
{
	struct map_iter it;
	Term key, value;
	size_t first, left = b->limit;

	word_stack_push(s, MARK_TEXT('}', 0));
	first = s->count;
	map_iter_init(&it, t);
	/* A pair takes four bytes at least: what cannot be shown is not walked. */
	for (; left >= 4 && map_iter_next(&it, &key, &value); left -= 4) {
		if (s->count > first)
			word_stack_push(s, MARK_TEXT(',', 0));
		word_stack_push(s, key);
		word_stack_push(s, MARK_TEXT('=', '>'));
		word_stack_push(s, value);
	}
	for (size_t i = first, k = s->count; i + 1 < k; i++) {
		Term w = s->words[i];

		s->words[i] = s->words[--k];
		s->words[k] = w;
	}
}

/* #module:name{field=value,...} */
static void push_record(struct word_stack *s, struct print_buffer *b, Term t)
{
	const struct record *r = record_ptr(t);
	size_t n = record_field_count(t);

	print_char(b, '#');
	print_atom(b, tuple_get(r->definition, RECORD_MODULE));
	print_char(b, ':');
	print_atom(b, tuple_get(r->definition, RECORD_NAME));
	print_char(b, '{');
	word_stack_push(s, MARK_TEXT('}', 0));
	/* A field takes two bytes at least: what cannot be shown is not pushed. */
	for (size_t i = n < b->limit ? n : b->limit; i-- > 0;) {
		word_stack_push(s, r->values[i]);
		word_stack_push(s, MARK_TEXT('=', 0));
		word_stack_push(s, definition_fields(r->definition)[i]);
		if (i > 0)
			word_stack_push(s, MARK_TEXT(',', 0));
	}
}

static void print_boxed(struct print_buffer *b, struct word_stack *s, Term t)
{
	const Term *p = boxed_ptr(t);

	switch (header_sub(*p)) {
	case SUB_TUPLE:
		print_char(b, '{');
		word_stack_push(s, MARK_TEXT('}', 0));
		push_array(s, p + 1, header_arity(*p));
		break;
	case SUB_BIG_POS:
	case SUB_BIG_NEG:
		print_integer(b, t);
		break;
	case SUB_FLOAT:
		print_format(b, "%e", float_value(t));
		break;
	case SUB_MAP:
		print_text(b, "#{");
		push_map(s, b, t);
		break;
	case SUB_RECORD:
		push_record(s, b, t);
		break;
	case SUB_FUN:
	case SUB_EXPORT:
		print_fun(b, t);
		break;
	case SUB_REFBIN:
	case SUB_HEAPBIN:
	case SUB_SUBBIN:
		print_bitstring(b, t);
		break;
	case SUB_MATCH:
		print_text(b, "#MatchState");
		break;
	default:
		print_id(b, t);
		break;
	}
}

static void print_one(struct print_buffer *b, struct word_stack *s, Term t)
{
	if (t == TERM_NONE) {
		print_text(b, "<none>");
	} else if (term_is_cons(t)) {
		if (is_string(t)) {
			print_string(b, t);
			return;
		}
		print_char(b, '[');
		push_list(s, t);
	} else if (term_is_boxed(t)) {
		print_boxed(b, s, t);
	} else if (term_is_small(t)) {
		print_integer(b, t);
	} else if (term_is_atom(t)) {
		print_atom(b, t);
	} else if (t == NIL) {
		print_text(b, "[]");
	} else if (term_is_catch(t)) {
		print_text(b, "#Catch");
	} else {
		print_id(b, t);
	}
}

static void print_mark(struct print_buffer *b, struct word_stack *s, Term mark)
{
	Term arg = header_arity(mark) >> 4;
	size_t n;

	switch (header_arity(mark) & 15) {
	case MARK_KIND_TEXT:
		print_char(b, (char)arg);
		if (arg >> 8 != 0)
			print_char(b, (char)(arg >> 8));
		break;
	case MARK_KIND_ARRAY:
		n = word_stack_pop(s);
		push_array(s, (const Term *)word_stack_pop(s), n);
		break;
	default:
		arg = word_stack_pop(s);
		print_char(b, term_is_cons(arg) ? ',' : '|');
		if (term_is_cons(arg)) {
			push_list(s, arg);
		} else {
			word_stack_push(s, MARK_TEXT(']', 0));
			word_stack_push(s, arg);
		}
		break;
	}
}

void print_term(struct print_buffer *b, Term t)
{
	struct word_stack s;

	word_stack_init(&s);
	print_one(b, &s, t);
	while (s.count > 0 && !b->cut) {
		t = word_stack_pop(&s);
		if (t != TERM_NONE && term_is_header(t))
			print_mark(b, &s, t);
		else
			print_one(b, &s, t);
	}
	word_stack_free(&s);
}

size_t print_term_fixed(char *text, size_t room, Term t)
{
	struct print_buffer b;

	print_buffer_fixed(&b, text, room);
	print_term(&b, t);
	return b.used;
}
