/* SPDX-License-Identifier: Apache-2.0 */
/* I/O lists. A walk follows tails in place and keeps the tails of the lists it went down from on a stack of its own. */
#include "data/iolist.h"

#include "base/alloc.h"
#include "data/bitcopy.h"

void iolist_walker_init(struct iolist_walker *w, Term t)
{
	w->rest = t;
	word_stack_init(&w->above);
}

void iolist_walker_free(struct iolist_walker *w)
{
	word_stack_free(&w->above);
}

enum iolist_result iolist_walk_some(struct iolist_walker *w, iolist_visit visit, void *arg, int64_t *left)
{
	return iolist_walk_with(w, visit, arg, left);
}

enum iolist_result iolist_walk(Term t, iolist_visit visit, void *arg)
{
	struct iolist_walker w;
	enum iolist_result result;
	int64_t left = INT64_MAX;

	iolist_walker_init(&w, t);
	result = iolist_walk_some(&w, visit, arg, &left);
	iolist_walker_free(&w);
	return result;
}

static bool count_visited(void *arg, Term binary, uint8_t byte) { return iolist_count(arg, binary, byte); }

enum iolist_result iolist_size(Term t, size_t *bytes)
{
	struct iolist_count c = { 0, false };
	enum iolist_result result = iolist_walk(t, count_visited, &c);

	*bytes = c.bits / 8;
	if (result == IOLIST_ROOM)
		return IOLIST_LIMIT;
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
