/* SPDX-License-Identifier: Apache-2.0 */
/* Generational copying collection of one heap. Minor: objects younger than one collection move to the new
 * block, older ones to the old generation. Major: everything live moves to one new block.
 * Cheney's scan: C. J. Cheney, "A nonrecursive list compacting algorithm", CACM 13(11), 1970. */
#ifndef VM_HEAP_GC_H
#define VM_HEAP_GC_H

#include "heap/heap.h"

/* A run of root words outside the heap; each is rewritten when its object moves. */
struct gc_root {
	Term *terms;
	size_t count;
};

struct gc_result {
	bool major;
	size_t reclaimed_words;
	size_t old_size_words; /* the block's size before and after, for heap_grow / heap_shrink */
	size_t new_size_words;
};

/* Collects; afterwards at least need_words are free between top and stop. The stack is a root by itself.
 * _gc: moves every term of h. Fails: false when max_words does not allow it (nothing moved is lost). */
bool gc_run_gc(struct heap *h, size_t need_words, const struct gc_root *roots, size_t count, struct gc_result *result);
/* Cuts the block down to what is on it, until it is wanted again; h has no stack, and was collected. */
void gc_fit(struct heap *h);
/* Is what the heap holds, with so many words more, within max_words? */
bool gc_fits_limit(const struct heap *h, size_t more_words);
/* Will the next gc_run_gc be a major one? */
bool gc_next_is_major(const struct heap *h, size_t need_words);
/* Will it take milliseconds? */
bool gc_is_long(const struct heap *h);
/* Next size of the growth sequence that is at least `words`. Units: words. */
size_t gc_next_size_words(size_t words);
/* Gives h copies of its own of the literal areas that leave (heap/literal.h) and that a word of h or of the roots may
 * point into; the collection that must follow at once puts them in place. Returns the words copied; 0: nothing is to be
 * done. */
size_t gc_take_literals(struct heap *h, const struct gc_root *roots, size_t count);

#endif
