/* SPDX-License-Identifier: Apache-2.0 */
/* File names. Invariant: what is given to the system has no NUL inside. */
#include "io/filename.h"

#include <langinfo.h>
#include <locale.h>
#include <string.h>

#include "base/alloc.h"
#include "data/binary.h"
#include "data/utf8.h"
#include "term/atom.h"

static struct {
	bool utf8;
} filename;

void filename_init(void)
{
	/* As OTP on Linux: the locale's codeset decides. */
	filename.utf8 = setlocale(LC_CTYPE, "") != NULL && strcmp(nl_langinfo(CODESET), "UTF-8") == 0;
}

bool filename_is_utf8(void)
{
	return filename.utf8;
}

void filename_set_utf8(bool utf8)
{
	filename.utf8 = utf8;
}

/* ---- names to bytes */

/* Units: bytes that t has room for from now on, at least. */
static void make_room(struct filename_text *t, size_t room)
{
	bool is_here = t->bytes == t->here;

	if (room <= t->room)
		return;
	t->bytes = mem_realloc(is_here ? NULL : t->bytes, room);
	if (is_here)
		memcpy(t->bytes, t->here, t->n);
	t->room = room;
}

static bool add_char(struct filename_text *t, int64_t c)
{
	if (c <= 0 || !utf8_is_scalar((uint64_t)c) || (!filename.utf8 && c > 255))
		return false;
	if (t->n + UTF8_MAX_BYTES + 1 > t->room)
		make_room(t, t->room * 2 + 64);
	if (filename.utf8)
		t->n += utf8_encode((uint32_t)c, (uint8_t *)t->bytes + t->n);
	else
		t->bytes[t->n++] = (char)c;
	return true;
}

struct rest {
	Term *terms;
	size_t n, room;
};

static void push_rest(struct rest *r, Term t)
{
	if (r->n == r->room) {
		r->room = r->room * 2 + 16;
		r->terms = mem_realloc(r->terms, r->room * sizeof(Term));
	}
	r->terms[r->n++] = t;
}

/* The characters of ASCII that list begins with, as many as there is room for. Returns what is behind them. */
static Term add_ascii(struct filename_text *t, Term list)
{
	char *to = t->bytes + t->n, *end = t->bytes + t->room - 1;

	for (; to < end && term_is_cons(list); list = cons_tail(list)) {
		Term head = cons_head(list);

		if (!term_is_small(head) || small_value(head) <= 0 || small_value(head) >= 0x80)
			break;
		*to++ = (char)small_value(head);
	}
	t->n = (size_t)(to - t->bytes);
	return list;
}

/* A deep list, its tails proper. */
static bool add_list(struct filename_text *t, Term list)
{
	struct rest rest = { 0 };
	bool ok = true;

	for (;;) {
		list = add_ascii(t, list);
		if (term_is_cons(list)) {
			Term head = cons_head(list);

			list = cons_tail(list);
			if (term_is_small(head)) {
				ok = add_char(t, small_value(head));
			} else if (term_is_list(head)) {
				push_rest(&rest, list);
				list = head;
			} else {
				ok = false;
			}
		} else if (list != NIL) {
			ok = false;
		} else if (rest.n > 0) {
			list = rest.terms[--rest.n];
		} else {
			break;
		}
		if (!ok)
			break;
	}
	mem_free(rest.terms);
	return ok;
}

static bool add_binary(struct filename_text *t, Term name)
{
	uint8_t *scratch = NULL;
	const uint8_t *bytes;
	size_t n;

	if (!term_is_binary(name))
		return false;
	bytes = binary_bytes(name, &n, &scratch);
	make_room(t, n + 1);
	memcpy(t->bytes, bytes, n);
	t->n = n;
	mem_free(scratch);
	return true;
}

static bool add_atom(struct filename_text *t, Term name)
{
	size_t n;
	const char *bytes = atom_text(name, &n);

	make_room(t, n + 1);
	memcpy(t->bytes, bytes, n);
	t->n = n;
	return true;
}

bool filename_read(struct filename_text *t, Term name, bool atoms)
{
	bool ok;

	t->bytes = t->here;
	t->n = 0;
	t->room = sizeof(t->here);
	if (term_is_list(name))
		ok = add_list(t, name);
	else if (term_is_atom(name))
		ok = atoms && add_atom(t, name);
	else
		ok = add_binary(t, name);
	if (!ok || (!term_is_list(name) && memchr(t->bytes, 0, t->n) != NULL)) {
		filename_text_free(t);
		return false;
	}
	t->bytes[t->n] = '\0';
	return true;
}

void filename_text_free(struct filename_text *t)
{
	if (t->bytes != t->here)
		mem_free(t->bytes);
}

char *filename_from_term(Term name, bool atoms, size_t *n)
{
	struct filename_text t;
	char *bytes;

	if (!filename_read(&t, name, atoms))
		return NULL;
	*n = t.n;
	if (t.bytes != t.here)
		return t.bytes;
	bytes = mem_alloc(t.n + 1);
	memcpy(bytes, t.bytes, t.n + 1);
	return bytes;
}

/* ---- bytes to names */

Term filename_put(struct heap *h, const char *text, size_t n)
{
	size_t chars;

	if (!filename.utf8)
		return heap_list_bytes(h, text, n, NIL);
	if (utf8_valid_prefix((const uint8_t *)text, n, &chars) < n)
		return TERM_NONE;
	return chars == n ? heap_list_bytes(h, text, n, NIL) : utf8_put_list(h, (const uint8_t *)text, chars);
}
