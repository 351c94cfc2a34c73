/* SPDX-License-Identifier: Apache-2.0 */
/* Objects are met by address: a list of them in the order they were met, which is also the order in which they are still to be looked into,
 * and a table that finds them. Invariant: a slot of the table is 0, or 1 more than an index of the list. */
#include "heap/copy_shared.h"

#include <string.h>

#include "base/alloc.h"
#include "base/hash.h"
#include "heap/copy.h"
#include "heap/literal.h"

enum { FIRST_ROOM = 128 };

struct met {
	Term from, to;       /* tagged pointers */
};

struct shared_objects {
	bool literals;
	struct met *met;
	size_t count, room;  /* room: a power of two */
	size_t *slots;       /* 2 * room */
	size_t seen;         /* so many of them have been looked into */
	size_t words;
};

struct shared_objects *shared_objects_new(bool literals)
{
	struct shared_objects *s = mem_zalloc(sizeof(*s));

	s->literals = literals;
	s->room = FIRST_ROOM;
	s->met = mem_alloc(s->room * sizeof(*s->met));
	s->slots = mem_zalloc(2 * s->room * sizeof(*s->slots));
	return s;
}

void shared_objects_free(struct shared_objects *s)
{
	mem_free(s->met);
	mem_free(s->slots);
	mem_free(s);
}

/* Of addresses: within a page, within the smallest object. */
enum { PAGE_BITS = 12, CELL_BITS = 4 };

/* Objects of one page of memory, which are mostly met one after the other, have their slots side by side; one whose slot is taken goes on
 * at steps of its own. */
static size_t *find_slot(const struct shared_objects *s, Term t)
{
	size_t mask = 2 * s->room - 1, step = 0, i = (hash_word(t >> PAGE_BITS) + (t >> CELL_BITS)) & mask;

	while (s->slots[i] != 0 && s->met[s->slots[i] - 1].from != t) {
		if (step == 0)
			step = hash_word(t) | 1;
		i = (i + step) & mask;
	}
	return &s->slots[i];
}

static void grow(struct shared_objects *s)
{
	s->room *= 4;
	s->met = mem_realloc(s->met, s->room * sizeof(*s->met));
	mem_free(s->slots);
	s->slots = mem_zalloc(2 * s->room * sizeof(*s->slots));
	for (size_t i = 0; i < s->count; i++)
		*find_slot(s, s->met[i].from) = i + 1;
}

static inline bool is_object(const struct shared_objects *s, Term t)
{
	return (term_is_cons(t) || term_is_boxed(t)) && (s->literals || !term_is_literal(t));
}

static void meet(struct shared_objects *s, Term t)
{
	size_t *slot;

	if (!is_object(s, t))
		return;
	slot = find_slot(s, t);
	if (*slot != 0)
		return;
	if (s->count == s->room) {
		grow(s);
		slot = find_slot(s, t);
	}
	s->met[s->count].from = t;
	*slot = ++s->count;
}

static struct object_shape shape_of(Term t)
{
	return term_is_cons(t) ? (struct object_shape){ 2, 0, 2 } : object_shape(boxed_ptr(t));
}

void shared_objects_add(struct shared_objects *s, Term t)
{
	meet(s, t);
	for (; s->seen < s->count; s->seen++) {
		Term from = s->met[s->seen].from;
		struct object_shape shape = shape_of(from);

		s->words += shape.words;
		for (uint32_t i = shape.first_term; i < shape.last_term; i++)
			meet(s, term_ptr(from)[i]);
	}
}

size_t shared_objects_words(const struct shared_objects *s)
{
	return s->words;
}

static Term copy_flat(Term t, Term **top, Term **off_heap)
{
	Term *at = *top;

	if (!term_is_cons(t))
		return copy_object(boxed_ptr(t), top, off_heap);
	memcpy(at, cons_ptr(t), 2 * sizeof(Term));
	*top = at + 2;
	return term_from_cons(at);
}

Term shared_objects_find(const struct shared_objects *s, Term t)
{
	return is_object(s, t) ? s->met[*find_slot(s, t) - 1].to : t;
}

/* As shared_objects_find, from the object that was first met after those already found: copies are looked through in the order in which
 * objects were met, so that this is the one, or it had been met before. */
static Term find_next(const struct shared_objects *s, Term t, size_t *next)
{
	size_t i = *next;

	if (!is_object(s, t))
		return t;
	if (i == s->count || s->met[i].from != t)
		i = *find_slot(s, t) - 1;
	if (i >= *next)
		*next = i + 1;
	return s->met[i].to;
}

void shared_objects_copy(struct shared_objects *s, Term **top, Term **off_heap)
{
	size_t next = 0;

	for (size_t i = 0; i < s->count; i++)
		s->met[i].to = copy_flat(s->met[i].from, top, off_heap);
	for (size_t i = 0; i < s->count; i++) {
		Term to = s->met[i].to;
		struct object_shape shape = shape_of(to);
		Term *at = (Term *)term_ptr(to);

		for (uint32_t k = shape.first_term; k < shape.last_term; k++)
			at[k] = find_next(s, at[k], &next);
	}
}
