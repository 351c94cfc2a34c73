/* SPDX-License-Identifier: Apache-2.0 */
/* I/O lists: bytes, binaries and lists of them, of any depth and with any tail. Depth costs no C stack. */
#ifndef VM_DATA_IOLIST_H
#define VM_DATA_IOLIST_H

#include "data/binary.h"
#include "data/word_stack.h"

enum iolist_result {
	IOLIST_OK,
	IOLIST_BADARG,  /* something in it is no I/O list */
	IOLIST_LIMIT,   /* too large to count or to hold */
	IOLIST_ROOM,    /* the buffer was too small */
	IOLIST_MORE,    /* a walk in steps is not at its end */
};

/* Units: *bytes. A binary alone is an I/O list here. */
enum iolist_result iolist_size(Term t, size_t *bytes);
/* Writes all of it at `to`. */
enum iolist_result iolist_copy(Term t, uint8_t *to, size_t room);
/* A new binary on h; t itself when it is a binary. *out is set when IOLIST_OK. GC: none. */
enum iolist_result iolist_to_binary(struct heap *h, Term t, Term *out);
/* The same into memory. Owns: the caller (mem_free). NUL-terminated, *n without it. Fails: NULL. */
uint8_t *iolist_to_bytes(Term t, size_t *n);

/* Walks in order. Called for each byte (binary TERM_NONE, byte set) and each bitstring; false stops the walk
 * (IOLIST_ROOM). */
typedef bool (*iolist_visit)(void *arg, Term binary, uint8_t byte);
enum iolist_result iolist_walk(Term t, iolist_visit visit, void *arg);

/* A walk in steps; the list must not move meanwhile. */
struct iolist_walker {
	Term rest;
	struct word_stack above;
};
void iolist_walker_init(struct iolist_walker *w, Term t);
void iolist_walker_free(struct iolist_walker *w);
/* Takes what was done from *left, about a unit a byte of a list, 64 bytes of a binary, or a list. IOLIST_MORE when that
 * is used up. */
enum iolist_result iolist_walk_some(struct iolist_walker *w, iolist_visit visit, void *arg, int64_t *left);

/* Sizes: visits for iolist_count, which counts bits. */
struct iolist_count {
	uint64_t bits;
	bool partial;        /* a bitstring of no whole bytes was seen */
};
static inline bool iolist_count(struct iolist_count *c, Term binary, uint8_t byte)
{
	uint64_t bits = binary != TERM_NONE ? binary_size_bits(binary) : 8;

	(void)byte;
	if (binary != TERM_NONE && (bits & 7) != 0)
		c->partial = true;
	return !__builtin_add_overflow(c->bits, bits, &c->bits);
}

/* t is no cons. */
static inline __attribute__((always_inline)) enum iolist_result iolist_visit_end(Term t, iolist_visit visit, void *arg,
										 int64_t *left)
{
	if (term_is_nil(t))
		return IOLIST_OK;
	if (!term_is_bitstring(t))
		return IOLIST_BADARG;
	*left -= 1 + (int64_t)(binary_size_bytes(t) / 64);
	return visit(arg, t, 0) ? IOLIST_OK : IOLIST_ROOM;
}

/* iolist_walk_some, for callers whose visit is to be compiled into the walk. */
static inline __attribute__((always_inline)) enum iolist_result
iolist_walk_with(struct iolist_walker *w, iolist_visit visit, void *arg, int64_t *left)
{
	enum iolist_result result;
	int64_t units = *left;
	Term t = w->rest;

	for (;;) {
		while (term_is_cons(t)) {
			Term head = cons_head(t);

			if (unlikely(units-- <= 0)) {
				*left = 0;
				w->rest = t;
				return IOLIST_MORE;
			}
			t = cons_tail(t);
			if (likely(term_is_small(head) && (head >> 4) < 256)) {
				if (!visit(arg, TERM_NONE, (uint8_t)small_value(head)))
					return IOLIST_ROOM;
			} else if (term_is_cons(head)) {
				if (!term_is_nil(t))
					word_stack_push(&w->above, t);
				t = head;
			} else {
				result = iolist_visit_end(head, visit, arg, &units);
				if (result != IOLIST_OK)
					return result;
			}
		}
		result = iolist_visit_end(t, visit, arg, &units);
		if (result != IOLIST_OK || w->above.count == 0) {
			*left = units > 0 ? units : 0;
			return result;
		}
		t = word_stack_pop(&w->above);
	}
}

#endif
