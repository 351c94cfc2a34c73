/* SPDX-License-Identifier: Apache-2.0 */
/* A process's heap: one block, the heap growing up from `start`, the stack growing down from `end`, and fragments.
 * Invariant: start <= high <= top <= stop <= end. Objects below `high` survived a collection.
 * heap_alloc never moves terms: without room it takes a fragment, which the next collection folds in.
 * So a BIF holds raw terms freely; only functions named _gc move them. */
#ifndef VM_HEAP_HEAP_H
#define VM_HEAP_HEAP_H

#include <string.h>

#include "base/log.h"
#include "base/variant.h"
#include "term/term.h"

/* Words copied for somebody else, or taken when the heap was full. Also the body of a message in transit. */
struct fragment {
	struct fragment *next;
	Term *off_heap;      /* list of refbins and magic refs among the words */
	size_t used_words;
	size_t size_words;
	Term words[];
};

struct heap {
	Term *top;           /* next free word */
	Term *stop;          /* top of the stack: its lowest used word */
	Term *start;
	Term *end;
	Term *high;          /* objects below are old enough to be tenured */
	struct fragment *fragments;
	Term *off_heap;      /* refbins and magic refs of heap and fragments */
	Term *old_off_heap;  /* those of the old generation */
	size_t fragment_words; /* used words in fragments */
	size_t binary_words; /* sizes of the off-heap binaries taken since the last collection */
	size_t old_binary_words; /* sizes of the old generation's */
	size_t young_binary_words; /* sizes of those that the last collection left outside of it */
	size_t binary_limit_words; /* above it wants_gc is set */
	size_t binary_min_words; /* min_bin_vheap_size: what that limit begins with */
	Term *old_start, *old_top, *old_end; /* NULL without an old generation */
	const Term *guest_start; /* words of a message that is being matched, not part of the heap yet: */
	size_t guest_bytes;  /* a collection leaves pointers to them as they are */
	/* of areas that leave, by their index; NULL but between gc_take_literals and the collection */
	struct fragment **literal_copies;
	size_t min_words;    /* smallest size */
	size_t max_words;    /* max_heap_size; 0: none */
	uint16_t minor_count; /* since the last major one */
	uint16_t minor_limit; /* fullsweep_after */
	bool force_major;
	/* collect at the next safe point: much garbage in few words, or fragments outgrew the block */
	bool wants_gc;
};

#define HEAP_MIN_WORDS 233
#define HEAP_BINARY_MIN_WORDS 46422

/* Whoever lets a program choose a heap's least size asks first: could a block of so many words be had now? Of up to
 * HEAP_SURE_WORDS nobody needs to ask. */
enum { HEAP_SURE_WORDS = 1 << 22 };
bool heap_can_be_had(size_t words);
/* Empty, with room for min_words. Owns: the caller, until heap_free. */
void heap_init(struct heap *h, size_t min_words);
/* min_bin_vheap_size: words of off-heap binaries from which on a collection is due. */
void heap_set_binary_min(struct heap *h, size_t words);
/* Frees everything, drops the references of its binaries and resources. */
void heap_free(struct heap *h);

/* Out of line: words from a fragment. */
Term *heap_alloc_fragment(struct heap *h, size_t words);

/* Where a heap is full up to. heap_release drops what was put there since, with its binaries; nobody may have collected
 * meanwhile, nor given it fragments (heap_adopt_fragment). */
struct heap_mark {
	Term *top, *off_heap;
	struct fragment *fragments;
	size_t used_words, fragment_words, binary_words;
	bool wants_gc;
};
struct heap_mark heap_mark(const struct heap *h);
void heap_release(struct heap *h, const struct heap_mark *m);

/* Room for `words` words, to be filled at once with whole objects. GC: none. */
static inline Term *heap_alloc(struct heap *h, size_t words)
{
	Term *at = h->top;

	if (unlikely((size_t)(h->stop - at) < words))
		return heap_alloc_fragment(h, words);
	h->top = at + words;
	return at;
}

/* Gives back the words from `end` up of the last heap_alloc, which was of `words` words at `at`. */
void heap_trim(struct heap *h, Term *at, size_t words, Term *end);

static inline Term heap_cons(struct heap *h, Term head, Term tail)
{
	Term *at = heap_alloc(h, 2);

	at[0] = head;
	at[1] = tail;
	return term_from_cons(at);
}

static inline Term heap_tuple_array(struct heap *h, size_t arity, const Term *elements)
{
	Term *at = heap_alloc(h, arity + 1);

	at[0] = HEADER(arity, SUB_TUPLE);
	if (__builtin_constant_p(arity)) { /* each from where it is, not by way of an array */
#pragma GCC unroll 16
		for (size_t i = 0; i < arity; i++)
			at[1 + i] = elements[i];
	} else {
		term_copy(at + 1, elements, arity);
	}
	return term_from_boxed(at);
}
/* heap_tuple(h, a, b, c): a tuple of the terms given. */
#define heap_tuple(h, ...) \
	heap_tuple_array(h, sizeof((Term[]){ __VA_ARGS__ }) / sizeof(Term), (Term[]){ __VA_ARGS__ })
/* A list of n elements. */
Term heap_list_array(struct heap *h, size_t n, const Term *elements, Term tail);
/* A list of the bytes as small integers, before tail. */
Term heap_list_bytes(struct heap *h, const void *bytes, size_t n, Term tail);
/* A list of the characters of an atom. */
Term heap_list_atom(struct heap *h, Term atom);
static inline Term heap_float(struct heap *h, double d)
{
	return float_put(heap_alloc(h, FLOAT_WORDS), d);
}
/* A bignum of one limb, which must not fit a small. */
Term heap_big(struct heap *h, uint64_t limb, bool negative);
/* An integer, small or big. */
static inline Term heap_int(struct heap *h, int64_t n)
{
	return likely(small_fits(n)) ? term_from_small(n) : heap_big(h, n < 0 ? -(uint64_t)n : (uint64_t)n, n < 0);
}
static inline Term heap_uint(struct heap *h, uint64_t n)
{
	return likely(n <= (uint64_t)SMALL_MAX) ? term_from_small((int64_t)n) : heap_big(h, n, false);
}
/* A new unique reference. tag: 0, or the pid it is an alias of. */
Term heap_ref(struct heap *h, Term tag);
uint64_t ref_next_number(void);

/* For VARIANT_GC_STRESS: collect at this chance? Always when the heap is small; its size bounds the work at the
 * others. */
bool heap_is_stressed(const struct heap *h);
/* Is the pointer in heap, old heap or a fragment of h? (Debug and tests.) */
bool heap_owns(const struct heap *h, const Term *p);

/* ---- fragments by themselves: messages, timers, tables */
struct fragment *fragment_new(size_t words);
/* Drops binaries and resources, frees. */
void fragment_free(struct fragment *f);
/* The fragment becomes part of h: its terms live as h's. Takes: f. */
void heap_adopt_fragment(struct heap *h, struct fragment *f);
/* The same for all that `made` has, whose block is empty: it has nothing afterwards. */
void heap_adopt(struct heap *h, struct heap *made);

#endif
