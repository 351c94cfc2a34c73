/* SPDX-License-Identifier: Apache-2.0 */
/* Stored objects: copies in, copies out. */
#include "ets/object.h"

#include <string.h>

#include "base/alloc.h"
#include "heap/copy.h"
#include "heap/refbin.h"

static struct ets_object *alloc_object(size_t words)
{
	struct ets_object *o = mem_alloc(sizeof(*o) + words * sizeof(Term));

	o->off_heap = NULL;
	o->size_words = words;
	o->height = 1;
	return o;
}

struct ets_object *object_new(Term tuple)
{
	const Term *p = boxed_ptr(tuple);
	size_t arity = header_arity(*p);
	struct ets_object *o;
	size_t i = 1;
	Term *top;

	while (i <= arity && term_is_immed(p[i]))
		i++;
	if (i > arity) {
		o = alloc_object(arity + 1);
		memcpy(o->words, p, (arity + 1) * sizeof(Term));
		return o;
	}
	o = alloc_object(copy_flat_size_words(tuple));
	top = o->words;
	copy_term_whole(tuple, &top, &o->off_heap);
	ASSERT(top == o->words + o->size_words);
	return o;
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

bool object_is(const struct ets_object *o, Term tuple)
{
	const Term *p = boxed_ptr(tuple);
	size_t arity = header_arity(*p);

	/* Most objects of one key differ in an immediate: that is seen before any depth is looked into. */
	if (o->words[0] != *p)
		return false;
	for (size_t i = 1; i <= arity; i++)
		if (o->words[i] != p[i] && (term_is_immed(o->words[i]) || term_is_immed(p[i])))
			return false;
	return object_is_flat(o) || term_same(object_tuple(o), tuple);
}

Term object_copy(const struct ets_object *o, Term **top, Term **off_heap)
{
	Term *at = *top;

	if (!object_is_flat(o))
		return copy_term(object_tuple(o), top, off_heap);
	for (size_t i = 0; i < o->size_words; i++)
		at[i] = o->words[i];
	*top = at + o->size_words;
	return term_from_boxed(at);
}

Term object_copy_to_heap(const struct ets_object *o, struct heap *h)
{
	Term *top = heap_alloc(h, o->size_words);

	return object_copy(o, &top, &h->off_heap);
}
