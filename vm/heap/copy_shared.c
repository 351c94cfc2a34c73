/* SPDX-License-Identifier: Apache-2.0 */
/* Objects are met by address: a list of them in the order they were met, which is also the order in which they are
 * still to be looked into, and a table that finds them. Most terms were built from one end to the other, so a few
 * ranges of addresses are kept that grow at their ends: an object that lies in none was not met yet. As long as that is
 * so of each there is no table.
 * Invariant: a slot of the table is 0, or 1 more than an index of the list. Without a table each object was met once.
 * Ranges are disjoint, and every object that was met lies in one. */
#include "heap/copy_shared.h"

#include <string.h>

#include "base/alloc.h"
#include "base/hash.h"
#include "heap/copy.h"
#include "heap/literal.h"
#include "term/object.h"

enum { FIRST_ROOM = 128 };

struct met {
	Term from, to;       /* tagged pointers */
};

/* An object that is no farther than NEAR_BYTES from a range makes that longer, not a range of its own. */
enum { RANGES = 8, NEAR_BYTES = 4096 };
/* Of addresses, both ends included. */
struct range {
	uintptr_t low, high;
};

struct shared_objects {
	bool literals;
	struct range ranges[RANGES];
	struct range *last;  /* the one that grew last */
	struct range space;  /* from its neighbour below to that above, both excluded */
	unsigned range_count;
	struct met *met;
	size_t root;         /* of met: what was entered last */
	size_t count, room;  /* room: a power of two */
	size_t *slots;       /* 2 * room, or NULL */
	size_t seen;         /* so many of them have been looked into */
	size_t words;
};

struct shared_objects *shared_objects_new(bool literals)
{
	struct shared_objects *s = mem_zalloc(sizeof(*s));

	s->literals = literals;
	s->last = s->ranges;
	s->ranges[0] = (struct range){ UINTPTR_MAX, UINTPTR_MAX };
	s->space = (struct range){ 0, UINTPTR_MAX };
	s->range_count = 1;
	s->room = FIRST_ROOM;
	s->met = mem_alloc(s->room * sizeof(*s->met));
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

/* Objects of one page of memory, which are mostly met one after the other, have their slots side by side; one whose
 * slot is taken goes on at steps of its own. */
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

static void make_table(struct shared_objects *s)
{
	mem_free(s->slots);
	s->slots = mem_zalloc(2 * s->room * sizeof(*s->slots));
	for (size_t i = 0; i < s->count; i++)
		*find_slot(s, s->met[i].from) = i + 1;
}

static void grow(struct shared_objects *s)
{
	s->room *= 4;
	s->met = mem_realloc(s->met, s->room * sizeof(*s->met));
	if (s->slots != NULL)
		make_table(s);
}

static uintptr_t distance(const struct range *r, uintptr_t at)
{
	return at < r->low ? r->low - at : at - r->high;
}

/* `at`, which lies in no range: the nearest grows, or it gets one of its own. */
static void extend_ranges(struct shared_objects *s, uintptr_t at)
{
	struct range *nearest = s->ranges;

	for (unsigned i = 1; i < s->range_count; i++)
		if (distance(&s->ranges[i], at) < distance(nearest, at))
			nearest = &s->ranges[i];
	if (distance(nearest, at) > NEAR_BYTES && s->range_count < RANGES) {
		nearest = &s->ranges[s->range_count++];
		*nearest = (struct range){ at, at };
	}
	nearest->low = at < nearest->low ? at : nearest->low;
	nearest->high = at > nearest->high ? at : nearest->high;
	s->last = nearest;
	s->space = (struct range){ 0, UINTPTR_MAX };
	for (unsigned i = 0; i < s->range_count; i++) {
		const struct range *r = &s->ranges[i];

		if (r->high < nearest->low && r->high > s->space.low)
			s->space.low = r->high;
		if (r->low > nearest->high && r->low < s->space.high)
			s->space.high = r->low;
	}
}

static __attribute__((noinline)) bool is_in_no_range(struct shared_objects *s, uintptr_t at)
{
	for (unsigned i = 0; i < s->range_count; i++)
		if (at >= s->ranges[i].low && at <= s->ranges[i].high)
			return false;
	extend_ranges(s, at);
	return true;
}

/* Lies t in no range? From now on it does in one. */
static inline bool is_outside(struct shared_objects *s, Term t)
{
	struct range *r = s->last;
	uintptr_t at = (uintptr_t)term_ptr(t);

	if (at > r->high && at - r->high <= NEAR_BYTES && at < s->space.high)
		r->high = at;
	else if (at < r->low && r->low - at <= NEAR_BYTES && at > s->space.low)
		r->low = at;
	else
		return is_in_no_range(s, at);
	return true;
}

static inline bool is_object(const struct shared_objects *s, Term t)
{
	return (term_is_cons(t) || term_is_boxed(t)) && (s->literals || !term_is_literal(t));
}

static void append(struct shared_objects *s, Term t)
{
	if (unlikely(s->count == s->room))
		grow(s);
	s->met[s->count++].from = t;
}

static __attribute__((noinline)) void meet_in_table(struct shared_objects *s, Term t)
{
	if (s->slots == NULL)
		make_table(s);
	if (*find_slot(s, t) != 0)
		return;
	append(s, t);
	*find_slot(s, t) = s->count;
}

static inline void meet(struct shared_objects *s, Term t)
{
	if (!is_object(s, t))
		return;
	if (is_outside(s, t) && s->slots == NULL)
		append(s, t);
	else
		meet_in_table(s, t);
}

static struct object_shape shape_of(Term t)
{
	return term_is_cons(t) ? (struct object_shape){ 2, 0, 2 } : object_shape(boxed_ptr(t));
}

void shared_objects_add(struct shared_objects *s, Term t)
{
	s->root = s->count;
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

static size_t find_index(struct shared_objects *s, Term t)
{
	if (s->met[0].from == t)
		return 0;
	if (s->root < s->count && s->met[s->root].from == t)
		return s->root;
	if (s->slots == NULL)
		make_table(s);
	return *find_slot(s, t) - 1;
}

Term shared_objects_find(struct shared_objects *s, Term t)
{
	return is_object(s, t) ? s->met[find_index(s, t)].to : t;
}

/* As shared_objects_find, from the object that was first met after those already found: copies are looked through in
 * the order in which objects were met, so that this is the one, or it had been met before. */
static Term find_next(struct shared_objects *s, Term t, size_t *next)
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

		if (next <= i) /* what was entered is in no object before it */
			next = i + 1;
		for (uint32_t k = shape.first_term; k < shape.last_term; k++)
			at[k] = find_next(s, at[k], &next);
	}
}
