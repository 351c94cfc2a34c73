/* SPDX-License-Identifier: Apache-2.0 */
/* File names. Invariant: what is given to the system has no NUL inside. */
#include "io/filename.h"

#include <langinfo.h>
#include <locale.h>
#include <string.h>

#include "base/alloc.h"
#include "data/binary.h"
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

/* ---- names to bytes */

struct text {
	char *bytes;
	size_t n, room;
};

static void add_byte(struct text *t, unsigned byte)
{
	if (t->n + 1 >= t->room) {
		t->room = t->room * 2 + 64;
		t->bytes = mem_realloc(t->bytes, t->room);
	}
	t->bytes[t->n++] = (char)byte;
}

static bool add_char(struct text *t, int64_t c)
{
	if (c <= 0 || c > 0x10ffff || (c >= 0xd800 && c <= 0xdfff))
		return false;
	if (!filename.utf8) {
		add_byte(t, (unsigned)c);
		return c <= 255;
	}
	if (c < 0x80) {
		add_byte(t, (unsigned)c);
	} else if (c < 0x800) {
		add_byte(t, 0xc0 | (unsigned)c >> 6);
		add_byte(t, 0x80 | (c & 0x3f));
	} else if (c < 0x10000) {
		add_byte(t, 0xe0 | (unsigned)c >> 12);
		add_byte(t, 0x80 | (c >> 6 & 0x3f));
		add_byte(t, 0x80 | (c & 0x3f));
	} else {
		add_byte(t, 0xf0 | (unsigned)c >> 18);
		add_byte(t, 0x80 | (c >> 12 & 0x3f));
		add_byte(t, 0x80 | (c >> 6 & 0x3f));
		add_byte(t, 0x80 | (c & 0x3f));
	}
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

/* A deep list, its tails proper. */
static bool add_list(struct text *t, Term list)
{
	struct rest rest = { 0 };
	bool ok = true;

	for (;;) {
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

static bool add_binary(struct text *t, Term name)
{
	uint8_t *scratch = NULL;
	const uint8_t *bytes;
	size_t n;

	if (!term_is_binary(name))
		return false;
	bytes = binary_bytes(name, &n, &scratch);
	t->room = n + 1;
	t->bytes = mem_realloc(t->bytes, t->room);
	memcpy(t->bytes, bytes, n);
	t->n = n;
	mem_free(scratch);
	return true;
}

static bool add_atom(struct text *t, Term name)
{
	size_t n;
	const char *bytes = atom_text(name, &n);

	t->room = n + 1;
	t->bytes = mem_realloc(t->bytes, t->room);
	memcpy(t->bytes, bytes, n);
	t->n = n;
	return true;
}

char *filename_from_term(Term name, bool atoms, size_t *n)
{
	struct text t = { .bytes = mem_alloc(64), .room = 64 };
	bool ok;

	if (term_is_list(name))
		ok = add_list(&t, name);
	else if (term_is_atom(name))
		ok = atoms && add_atom(&t, name);
	else
		ok = add_binary(&t, name);
	if (!ok || memchr(t.bytes, 0, t.n) != NULL) {
		mem_free(t.bytes);
		return NULL;
	}
	t.bytes[t.n] = '\0';
	*n = t.n;
	return t.bytes;
}

/* ---- bytes to names */

/* The character at *at, which moves behind it; -1 when it is no UTF-8. */
static int32_t next_char(const uint8_t **at, const uint8_t *end)
{
	static const int32_t least[] = { 0, 0x80, 0x800, 0x10000 };
	const uint8_t *p = *at;
	int32_t c = *p++;
	int more = 0;

	if (c >= 0x80) {
		more = c >= 0xf0 ? 3 : c >= 0xe0 ? 2 : 1;
		if (c < 0xc2 || c > 0xf4 || end - p < more)
			return -1;
		c &= 0x3f >> more;
	}
	for (int k = 0; k < more; k++, p++) {
		if ((*p & 0xc0) != 0x80)
			return -1;
		c = c << 6 | (*p & 0x3f);
	}
	if (c < least[more] || c > 0x10ffff || (c >= 0xd800 && c <= 0xdfff))
		return -1;
	*at = p;
	return c;
}

bool filename_check_utf8(const uint8_t *bytes, size_t n, size_t *chars)
{
	const uint8_t *at = bytes;
	size_t count = 0;

	for (; at < bytes + n; count++) {
		if (next_char(&at, bytes + n) < 0)
			return false;
	}
	if (chars != NULL)
		*chars = count;
	return true;
}

Term filename_put(struct heap *h, const char *text, size_t n)
{
	const uint8_t *bytes = (const uint8_t *)text, *at = bytes;
	size_t chars;
	Term *p, list;

	if (!filename.utf8)
		return heap_list_bytes(h, bytes, n, NIL);
	if (!filename_check_utf8(bytes, n, &chars))
		return TERM_NONE;
	if (chars == 0)
		return NIL;
	p = heap_alloc(h, 2 * chars);
	list = term_from_cons(p);
	for (; chars > 0; chars--, p += 2) {
		p[0] = SMALL((int64_t)next_char(&at, bytes + n));
		p[1] = chars == 1 ? NIL : term_from_cons(p + 2);
	}
	return list;
}
