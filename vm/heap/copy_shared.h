/* SPDX-License-Identifier: Apache-2.0 */
/* Copies of terms whose parts are shared as the source's are, and what such terms take. */
#ifndef VM_HEAP_COPY_SHARED_H
#define VM_HEAP_COPY_SHARED_H

#include "heap/heap.h"

/* The objects of one term or of several, each once. */
struct shared_objects;
/* literals: are they counted and copied as well? Owns: the caller. */
struct shared_objects *shared_objects_new(bool literals);
void shared_objects_free(struct shared_objects *s);
/* Enters what t consists of. */
void shared_objects_add(struct shared_objects *s, Term t);
/* Units: words of all that was entered. */
size_t shared_objects_words(const struct shared_objects *s);
/* Copies all to *top, which has room for that, moves *top on, links refbins and magic refs into *off_heap. Once;
 * nothing more is entered then. */
void shared_objects_copy(struct shared_objects *s, Term **top, Term **off_heap);
/* After the copy: the copy of t, which was entered. */
Term shared_objects_find(struct shared_objects *s, Term t);

#endif
