/* SPDX-License-Identifier: Apache-2.0 */
/* I/O lists. A walk follows tails in place and keeps the tails of the lists it went down from on a stack of its own. */
#include "data/iolist.h"

#include "base/alloc.h"
#include "data/bitcopy.h"
#include "data/word_stack.h"

static inline bool is_byte(Term t) { return term_is_small(t) && (t >> 4) < 256; }

static enum iolist_result walk_tails(struct word_stack *s, Term t, iolist_visit visit, void *arg)
{
	for (;;) {
		while (term_is_cons(t)) {
			Term head = cons_head(t);

			t = cons_tail(t);
			if (is_byte(head)) {
				if (!visit(arg, TERM_NONE, (uint8_t)small_value(head)))
					return IOLIST_ROOM;
			} else if (term_is_bitstring(head)) {
				if (!visit(arg, head, 0))
					return IOLIST_ROOM;
			} else if (term_is_cons(head)) {
				if (!term_is_nil(t))
					word_stack_push(s, t);
				t = head;
			} else if (!term_is_nil(head)) {
				return IOLIST_BADARG;
			}
		}
		if (term_is_bitstring(t)) {
			if (!visit(arg, t, 0))
				return IOLIST_ROOM;
		} else if (!term_is_nil(t)) {
			return IOLIST_BADARG;
		}
		if (s->count == 0)
			return IOLIST_OK;
		t = word_stack_pop(s);
	}
}

enum iolist_result iolist_walk(Term t, iolist_visit visit, void *arg)
{
	struct word_stack s;
	enum iolist_result result;

	word_stack_init(&s);
	result = walk_tails(&s, t, visit, arg);
	word_stack_free(&s);
	return result;
}

struct count {
	uint64_t bits;
	bool partial; /* a bitstring of no whole bytes was seen */
};

static bool count_bits(void *arg, Term binary, uint8_t byte)
{
	struct count *c = arg;
	uint64_t bits = binary != TERM_NONE ? binary_size_bits(binary) : 8;

	(void)byte;
	if (bits & 7)
		c->partial = true;
	return !__builtin_add_overflow(c->bits, bits, &c->bits);
}

static enum iolist_result measure(Term t, struct count *c)
{
	enum iolist_result result = iolist_walk(t, count_bits, c);

	return result == IOLIST_ROOM ? IOLIST_LIMIT : result;
}

enum iolist_result iolist_size_bits(Term t, uint64_t *bits)
{
	struct count c = { 0, false };
	enum iolist_result result = measure(t, &c);

	*bits = c.bits;
	return result;
}

enum iolist_result iolist_size(Term t, size_t *bytes)
{
	struct count c = { 0, false };
	enum iolist_result result = measure(t, &c);

	*bytes = c.bits / 8;
	return result == IOLIST_OK && c.partial ? IOLIST_BADARG : result;
}

struct sink {
	uint8_t *at, *end;
	bool partial;
};

static bool copy_bytes(void *arg, Term binary, uint8_t byte)
{
	struct sink *s = arg;
	struct bits_view v;

	if (binary == TERM_NONE) {
		if (s->at == s->end)
			return false;
		*s->at++ = byte;
		return true;
	}
	v = binary_view(binary);
	if (v.size & 7) {
		s->partial = true;
		return false;
	}
	if (v.size / 8 > (size_t)(s->end - s->at))
		return false;
	bitcopy_copy(s->at, 0, v.base, v.offset, v.size);
	s->at += v.size / 8;
	return true;
}

enum iolist_result iolist_copy(Term t, uint8_t *to, size_t room)
{
	struct sink s = { to, to + room, false };
	enum iolist_result result = iolist_walk(t, copy_bytes, &s);

	return s.partial ? IOLIST_BADARG : result;
}

enum iolist_result iolist_to_binary(struct heap *h, Term t, Term *out)
{
	enum iolist_result result;
	uint8_t *bytes;
	size_t n;

	if (term_is_binary(t)) {
		*out = t;
		return IOLIST_OK;
	}
	result = iolist_size(t, &n);
	if (result != IOLIST_OK)
		return result;
	*out = binary_alloc(h, n, &bytes);
	if (*out == TERM_NONE)
		return IOLIST_LIMIT;
	return iolist_copy(t, bytes, n);
}

uint8_t *iolist_to_bytes(Term t, size_t *n)
{
	uint8_t *bytes;

	if (iolist_size(t, n) != IOLIST_OK)
		return NULL;
	bytes = mem_try_alloc(*n + 1);
	if (bytes == NULL)
		return NULL;
	if (iolist_copy(t, bytes, *n) != IOLIST_OK) {
		mem_free(bytes);
		return NULL;
	}
	bytes[*n] = 0;
	return bytes;
}
