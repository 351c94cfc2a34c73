/* SPDX-License-Identifier: Apache-2.0 */
/* Literal areas: terms outside every heap, shared by all, never copied by messages.
 * All areas stand in one reserved range of addresses, so that one comparison tells a literal.
 *
 * The end of an area that others may point into: it is released (literal_release), and leaves from the next
 * literal_switch on. Copies made since then hold copies of its terms (heap/copy.h); every process copies what its heap
 * and its messages still point to (gc_take_literals). When all have, the switch after that frees the area. One round
 * takes along whatever was released before it.
 * Invariant: the terms of an area point into that area, or into areas that are never released. What is neither a
 * process's heap nor a signal on its way (tables, timers, ports...) holds no literals but copies (copy_term_whole). */
#ifndef VM_HEAP_LITERAL_H
#define VM_HEAP_LITERAL_H

#include "heap/heap.h"

#define LITERAL_RANGE_BYTES ((uintptr_t)1 << 30)
#define LITERAL_GRANULE_BYTES ((uintptr_t)64)
#define LITERAL_GRANULES (LITERAL_RANGE_BYTES / LITERAL_GRANULE_BYTES)
extern uintptr_t literal_base; /* set once by literal_init */
extern uint64_t literal_leaving[LITERAL_GRANULES / 64]; /* a bit a granule; set while the world is stopped */

static inline bool literal_owns(const void *p)
{
	return (uintptr_t)p - literal_base < LITERAL_RANGE_BYTES;
}
/* t is boxed or cons. */
static inline bool term_is_literal(Term t) { return literal_owns(term_ptr(t)); }
/* p: any word, as it stands. */
static inline bool literal_is_leaving(const void *p)
{
	uintptr_t granule = ((uintptr_t)p - literal_base) / LITERAL_GRANULE_BYTES;

	return granule < LITERAL_GRANULES &&
	       __atomic_load_n(&literal_leaving[granule / 64], __ATOMIC_RELAXED) >> granule % 64 & 1;
}

struct literal_area {
	struct literal_area *next;
	Term *off_heap;
	Term *top, *end;
	Term words[];
};

void literal_init(void);
/* Owns: the caller. Fails: NULL when the range is full. */
struct literal_area *literal_new(size_t words);
/* Frees the area and those chained to it, and drops their binaries. No heap may point into them. */
void literal_free(struct literal_area *chain);
/* A copy of t (whole) in the area, which must have copy_flat_size_words(t) free. */
Term literal_put(struct literal_area *a, Term t);

/* ---- the end of areas */
/* Takes: the areas. Any thread. */
void literal_release(struct literal_area *chain);
/* What a switch exchanges: before it the areas that are to leave, by address; after it those that left. */
struct literal_change {
	const struct literal_area **areas;
	size_t *ends; /* granule after each area that is to leave */
	size_t count;
};

/* What was released so far is to leave. Only the one thread that switches. literal_switch and literal_finish must
 * follow. */
void literal_prepare(struct literal_change *c);
/* Nobody points into the areas that left since the last switch any more; those of c leave now. The world is stopped. */
void literal_switch(struct literal_change *c);
/* Returns: the areas that left, for the caller to free (literal_free). The world goes on. */
struct literal_area *literal_finish(struct literal_change *c);
/* Units: words of areas and of their binaries that are released and not yet gone. */
size_t literal_released_words(void);
/* The areas that leave, by address; p: literal_is_leaving. Valid until the next switch. */
size_t literal_leaving_count(void);
/* Calls see for each area that leaves, or is about to: while the world is stopped. */
void literal_each_leaving(void (*see)(const struct literal_area *a, void *arg), void *arg);
size_t literal_leaving_index(const void *p);
const struct literal_area *literal_leaving_area(size_t index);

#endif
