/* SPDX-License-Identifier: Apache-2.0 */
/* Stored objects: copies in, copies out. */
#include "ets/ets_object.h"

#include <string.h>

#include "base/alloc.h"
#include "heap/copy.h"
#include "heap/refbin.h"
#include "term/object.h"

/* Words of a tuple that is copied whole. */
static size_t measure_tuple(Term tuple)
{
	const Term *p = boxed_ptr(tuple);
	size_t arity = header_arity(*p), i = 1;

	while (i <= arity && term_is_immed(p[i]))
		i++;
	return i > arity ? arity + 1 : copy_flat_size_words(tuple);
}

/* o's words, size_words of them, become those of the tuple. */
static void fill_object(struct ets_object *o, Term tuple)
{
	Term *top = o->words;

	if (o->size_words == tuple_arity(tuple) + 1) {
		memcpy(o->words, boxed_ptr(tuple), o->size_words * sizeof(Term));
		return;
	}
	copy_term_whole(tuple, &top, &o->off_heap);
	ASSERT(top == o->words + o->size_words);
}

struct ets_object *object_new(Term tuple)
{
	size_t words = measure_tuple(tuple);
	struct ets_object *o = mem_alloc(sizeof(*o) + words * sizeof(Term));

	o->off_heap = NULL;
	o->size_words = words;
	fill_object(o, tuple);
	return o;
}

bool object_overwrite(struct ets_object *o, Term tuple)
{
	if (o->off_heap != NULL || measure_tuple(tuple) != o->size_words)
		return false;
	fill_object(o, tuple);
	return true;
}

struct ets_object *object_new_array(const Term *elements, size_t arity)
{
	Term fixed[32];
	Term *tuple = arity < 32 ? fixed : mem_alloc((arity + 1) * sizeof(Term));
	struct ets_object *o;

	tuple[0] = HEADER(arity, SUB_TUPLE);
	memcpy(tuple + 1, elements, arity * sizeof(Term));
	o = object_new(term_from_boxed(tuple));
	if (tuple != fixed)
		mem_free(tuple);
	return o;
}

void object_free(struct ets_object *o)
{
	if (o->off_heap != NULL)
		off_heap_free(o->off_heap);
	mem_free(o);
}

bool object_has_same(const struct ets_object *o, Term tuple)
{
	size_t i = object_arity(o);

	while (i > 0 && term_same(o->words[i], tuple_get(tuple, i)))
		i--;
	return i == 0;
}

/* By subtag: have no terms in them and no count. */
enum { RAW_SUBS = 1 << SUB_BIG_POS | 1 << SUB_BIG_NEG | 1 << SUB_FLOAT | 1 << SUB_EXPORT | 1 << SUB_HEAPBIN };
/* Have a count, as magic references have. */
enum { COUNTED_SUBS = 1 << SUB_REFBIN | 1 << SUB_XPID | 1 << SUB_XPORT | 1 << SUB_XREF };

/* Copies the term of an object that stands at `from` to `at`, which is `distance` away, as all it points to will be.
 * Returns its words. */
static uint32_t move_term(const Term *from, Term *at, Term distance, Term **off_heap)
{
	struct object_shape shape = object_shape(from);
	unsigned sub = header_sub(*from);

	for (uint32_t i = 0; i < shape.words; i++)
		at[i] = from[i];
	for (uint32_t i = shape.first_term; i < shape.last_term; i++)
		at[i] += term_is_immed(at[i]) ? 0 : distance;
	if ((COUNTED_SUBS >> sub & 1) || (sub == SUB_REF && shape.words == MAGIC_WORDS))
		off_heap_link(at, off_heap);
	return shape.words;
}

Term object_copy(const struct ets_object *o, Term **top, Term **off_heap)
{
	const Term *from = o->words, *end = from + o->size_words;
	Term *start = *top, *to = start;
	Term distance = (Term)to - (Term)from;

	while (from < end) {
		Term w = *from;

		if (term_is_immed(w) || w == HEADER(header_arity(w), SUB_TUPLE)) {
			*to++ = w;
			from++;
		} else if (!term_is_header(w)) {
			*to++ = w + distance;
			from++;
		} else if ((RAW_SUBS >> header_sub(w)) & 1) {
			for (size_t n = header_arity(w) + 1; n > 0; n--)
				*to++ = *from++;
		} else {
			uint32_t n = move_term(from, to, distance, off_heap);

			from += n;
			to += n;
		}
	}
	*top = to;
	return term_from_boxed(start);
}

Term object_copy_to_heap(const struct ets_object *o, struct heap *h)
{
	Term *top = heap_alloc(h, o->size_words);

	return object_copy(o, &top, &h->off_heap);
}
