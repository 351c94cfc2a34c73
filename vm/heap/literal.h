/* SPDX-License-Identifier: Apache-2.0 */
/* Literal areas: terms outside every heap, shared by all, never copied by messages.
 * All areas stand in one reserved range of addresses, so that one comparison tells a literal. */
#ifndef VM_HEAP_LITERAL_H
#define VM_HEAP_LITERAL_H

#include "heap/heap.h"

#define LITERAL_RANGE_BYTES ((uintptr_t)1 << 30)
extern uintptr_t literal_base; /* set once by literal_init */

static inline bool literal_owns(const void *p)
{
	return (uintptr_t)p - literal_base < LITERAL_RANGE_BYTES;
}
/* t is boxed or cons. */
static inline bool term_is_literal(Term t) { return literal_owns(term_ptr(t)); }

struct literal_area {
	struct literal_area *next;
	Term *off_heap;
	Term *top, *end;
	Term words[];
};

void literal_init(void);
/* Owns: the caller. Fails: NULL when the range is full. */
struct literal_area *literal_new(size_t words);
/* Frees the area and drops its binaries. No heap may point into it any more. */
void literal_free(struct literal_area *a);
/* A copy of t (whole) in the area, which must have copy_flat_size_words(t) free. */
Term literal_put(struct literal_area *a, Term t);

#endif
