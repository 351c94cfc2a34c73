/* SPDX-License-Identifier: Apache-2.0 */
/* Whole copies of terms. A copy is breadth first: objects are copied flat to the end, and the scan that follows
 * replaces each pointer by a copy of what it points to, so that the depth of a term costs no stack. Lists of immediates
 * are not scanned.
 * Invariant: between `scan` and `top` the copied words still point to the source. */
#include "heap/copy.h"

#include <string.h>

#include "base/alloc.h"
#include "heap/literal.h"
#include "heap/refbin.h"
#include "term/object.h"

/* A stack of terms still to be looked at. */
struct pending {
	Term fixed[256];
	Term *terms;
	size_t count, room;
};

static __attribute__((noinline)) void make_room(struct pending *s)
{
	Term *more = mem_alloc(s->room * 2 * sizeof(Term));

	memcpy(more, s->terms, s->count * sizeof(Term));
	if (s->terms != s->fixed)
		mem_free(s->terms);
	s->terms = more;
	s->room *= 2;
}

static inline void push_pending(struct pending *s, Term t)
{
	if (unlikely(s->count == s->room))
		make_room(s);
	s->terms[s->count++] = t;
}

/* Of what is known to be a pointer. */
static inline __attribute__((always_inline)) bool is_pointed_copied(Term t, bool whole)
{
	return whole || likely(!term_is_literal(t)) || literal_is_leaving(term_ptr(t));
}

static inline __attribute__((always_inline)) bool is_copied(Term t, bool whole)
{
	return (term_is_cons(t) || term_is_boxed(t)) && is_pointed_copied(t, whole);
}

static inline __attribute__((always_inline)) bool is_cell_copied(Term t, bool whole)
{
	return term_is_cons(t) && is_pointed_copied(t, whole);
}

/* The same; *literals (not wanted: NULL) becomes true when it is a literal that is not. */
static inline bool is_counted(Term t, bool whole, bool *literals)
{
	bool copied = is_copied(t, whole);

	if (literals != NULL && !copied && !term_is_immed(t))
		*literals = true;
	return copied;
}

/* Adds what stands at t itself. What has terms in it is put on the stack. */
static inline void measure_part(struct pending *s, Term t, bool whole, size_t *words, bool *literals)
{
	struct object_shape shape;

	if (!is_counted(t, whole, literals))
		return;
	if (term_is_boxed(t)) {
		shape = object_shape(boxed_ptr(t));
		if (shape.first_term == shape.words) {
			*words += shape.words;
			return;
		}
	}
	push_pending(s, t);
}

/* May more be counted? */
static inline bool goes_on(size_t words, size_t *most, void (*passed)(void))
{
	if (likely(words <= *most))
		return true;
	if (passed == NULL)
		return false;
	passed();
	*most = SIZE_MAX;
	return true;
}

/* When more than `most` words are counted, passed is called and the rest counted too; without passed, the rest is
 * not. literals: see is_counted. */
static inline __attribute__((always_inline)) size_t measure(Term t, bool whole, size_t most, void (*passed)(void),
							    bool *literals)
{
	struct pending s;
	size_t words = 0;

	s.terms = s.fixed;
	s.count = 0;
	s.room = sizeof(s.fixed) / sizeof(s.fixed[0]);
	while (goes_on(words, &most, passed)) {
		if (is_cell_copied(t, whole)) {
			Term head = cons_head(t);

			words += 2;
			t = cons_tail(t);
			if (!term_is_immed(head))
				measure_part(&s, head, whole, &words, literals);
			continue;
		}
		if (is_counted(t, whole, literals)) {
			const Term *p = boxed_ptr(t);
			struct object_shape shape = object_shape(p);

			words += shape.words;
			for (uint32_t i = shape.first_term; i < shape.last_term && goes_on(words, &most, passed); i++)
				measure_part(&s, p[i], whole, &words, literals);
		}
		if (s.count == 0)
			break;
		t = s.terms[--s.count];
	}
	if (s.terms != s.fixed)
		mem_free(s.terms);
	return words;
}

size_t copy_size_words(Term t)
{
	return is_copied(t, false) ? measure(t, false, SIZE_MAX, NULL, NULL) : 0;
}

size_t copy_size_telling(Term t, size_t most, void (*passed)(void))
{
	return is_copied(t, false) ? measure(t, false, most, passed, NULL) : 0;
}

size_t copy_flat_size_words(Term t)
{
	return is_copied(t, true) ? measure(t, true, SIZE_MAX, NULL, NULL) : 0;
}

size_t copy_size_literals(Term t, size_t most, void (*passed)(void), bool *literals)
{
	*literals = false;
	return measure(t, false, most, passed, literals);
}

bool copy_is_longer(Term t, size_t words)
{
	return is_copied(t, true) && measure(t, true, words, NULL, NULL) > words;
}

/* A writable binary may be moved by its owner: shared, it is so no more. */
static void end_writing(struct refbin *source, struct refbin *copy)
{
	if (source->flags != 0)
		source->flags = 0;
	copy->flags = 0;
}

Term copy_object(const Term *p, Term **top, Term **off_heap)
{
	Term *at = *top;
	uint32_t words = object_shape(p).words;

	for (uint32_t i = 0; i < words; i++)
		at[i] = p[i];
	*top = at + words;
	switch (header_sub(*p)) {
	case SUB_REFBIN:
		end_writing((struct refbin *)p, (struct refbin *)at);
		off_heap_link(at, off_heap);
		break;
	case SUB_REF:
		if (words == MAGIC_WORDS)
			off_heap_link(at, off_heap);
		break;
	case SUB_XPID:
	case SUB_XPORT:
	case SUB_XREF:
		off_heap_link(at, off_heap);
		break;
	case SUB_SUBBIN:
		((struct subbin *)at)->writable = 0;
		break;
	default:
		break;
	}
	return term_from_boxed(at);
}

/* Part of a copy, whose words the scan need not look at, as nothing in them points to the source. */
struct leaves {
	const Term *from, *to;
};

static inline void add_leaf(struct leaves *l, const Term *from, const Term *to)
{
	if (l->to != from)
		l->from = from;
	l->to = to;
}

/* Copies a list's spine, its cells one after the other. */
static inline __attribute__((always_inline)) Term copy_spine(Term t, Term **top, bool whole, struct leaves *l)
{
	Term *from = *top, *at = from;
	Term all = ~(Term)0; /* bits that all words have that are no links */

	for (;;) {
		Term head = cons_head(t);

		t = cons_tail(t);
		at[0] = head;
		all &= head;
		at += 2;
		if (!is_cell_copied(t, whole))
			break;
		at[-1] = term_from_cons(at);
	}
	at[-1] = t;
	*top = at;
	if (term_is_immed(all & t))
		add_leaf(l, from, at);
	return term_from_cons(from);
}

static inline __attribute__((always_inline)) Term copy_flat(Term t, Term **top, Term **off_heap, bool whole,
							    struct leaves *l)
{
	return term_is_cons(t) ? copy_spine(t, top, whole, l) : copy_object(boxed_ptr(t), top, off_heap);
}

static inline __attribute__((always_inline)) Term copy_all(Term t, Term **top, Term **off_heap, bool whole)
{
	struct leaves leaves = { NULL, NULL };
	Term *scan = *top;
	Term *from = *top;
	Term copy;

	if (!is_copied(t, whole))
		return t;
	copy = copy_flat(t, top, off_heap, whole, &leaves);
	while (scan < *top) {
		Term w = *scan;

		if (scan == leaves.from) {
			scan = from + (leaves.to - from);
			continue;
		}
		if (term_is_header(w)) {
			struct object_shape shape = object_shape(scan);

			if (shape.first_term == 1) {
				scan++;
				continue;
			}
			for (uint32_t i = shape.first_term; i < shape.last_term; i++)
				if (is_copied(scan[i], whole))
					scan[i] = copy_flat(scan[i], top, off_heap, whole, &leaves);
			scan += shape.words;
			continue;
		}
		/* The links that copy_spine made point into the copy already. */
		if (is_copied(w, whole) && !(term_ptr(w) >= from && term_ptr(w) < *top))
			*scan = copy_flat(w, top, off_heap, whole, &leaves);
		scan++;
	}
	return copy;
}

Term copy_term(Term t, Term **top, Term **off_heap)
{
	return copy_all(t, top, off_heap, false);
}

Term copy_term_whole(Term t, Term **top, Term **off_heap)
{
	return copy_all(t, top, off_heap, true);
}

Term copy_to_heap(Term t, struct heap *h)
{
	size_t words = copy_size_words(t);
	Term *top, *at;
	Term copy;

	if (words == 0)
		return t;
	at = top = heap_alloc(h, words);
	copy = copy_term(t, &top, &h->off_heap);
	ASSERT(top == at + words);
	return copy;
}

struct fragment *copy_to_fragment(Term t, Term *copy)
{
	size_t words = copy_flat_size_words(t);
	struct fragment *f;
	Term *top;

	*copy = t;
	if (words == 0)
		return NULL;
	f = fragment_new(words);
	top = f->words;
	*copy = copy_term_whole(t, &top, &f->off_heap);
	return f;
}
