/* SPDX-License-Identifier: Apache-2.0 */
/* Sizes and copies of whole terms. Literals are shared, not copied, unless said, or unless they are leaving
 * (heap/literal.h). Depth costs no C stack. */
#ifndef VM_HEAP_COPY_H
#define VM_HEAP_COPY_H

#include "heap/heap.h"

/* Units: words the term's objects take, shared ones counted each time, literals and immediates 0. */
size_t copy_size_words(Term t);
/* The same; passed is called once, when more than so many are counted. */
size_t copy_size_telling(Term t, size_t most, void (*passed)(void));
/* The same; *literals: are there some in t, which are not counted? */
size_t copy_size_literals(Term t, size_t most, void (*passed)(void), bool *literals);
/* copy_size_words with literals counted (erts_debug:flat_size/1). */
size_t copy_flat_size_words(Term t);
/* Is that more than so many words? Looks at no more of them. */
bool copy_is_longer(Term t, size_t words);
/* Copies t to *top (which has room for copy_size_words(t)), moves *top on, links refbins and magic refs into *off_heap
 * (and takes their references). */
Term copy_term(Term t, Term **top, Term **off_heap);
/* One boxed object to *top as it is, with the counts of what it refers to; its terms are the source's still. */
Term copy_object(const Term *boxed, Term **top, Term **off_heap);
/* Literals are copied too (needs copy_flat_size_words). */
Term copy_term_whole(Term t, Term **top, Term **off_heap);
/* Onto a heap. GC: none. */
Term copy_to_heap(Term t, struct heap *h);
/* A fragment that holds a copy of t, literals too: it may outlive them. *copy is the term. NULL fragment when t needs
 * no words. */
struct fragment *copy_to_fragment(Term t, Term *copy);

#endif
