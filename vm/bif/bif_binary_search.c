/* SPDX-License-Identifier: Apache-2.0 */
/* Module binary: compile_pattern, match, matches, split. A compiled pattern is {bm | ac, Ref} with a magic reference. */
#include "base/alloc.h"
#include "bif/bif.h"
#include "data/binary.h"
#include "data/search.h"

enum { BYTES_A_REDUCTION = 512, WORDS_ON_STACK = 16 };

struct pattern {
	struct resource resource;
	struct search *search;
};

static void release_pattern(struct resource *r)
{
	search_free(((struct pattern *)r)->search);
	mem_free(r);
}

static const struct resource_type pattern_type = { "binary pattern", release_pattern };

/* ---- patterns */

/* The words of a pattern and the copies made of those not at a byte. */
struct words {
	struct search_word fixed[WORDS_ON_STACK], *words;
	uint8_t **scratch;
	size_t count, room;
};

static bool add_word(struct words *w, Term t)
{
	struct search_word *word = &w->words[w->count];

	word->bytes = binary_bytes(t, &word->n, &w->scratch[w->count]);
	if (word->bytes == NULL)
		return false;
	w->count++;
	return word->n > 0;
}

static bool add_words(struct words *w, Term t)
{
	if (!term_is_cons(t))
		return add_word(w, t);
	for (; term_is_cons(t); t = cons_tail(t))
		if (!add_word(w, cons_head(t)))
			return false;
	return term_is_nil(t);
}

/* A search for a binary or a list of binaries. Owns: the caller. Fails: NULL. */
static struct search *make_search(Term t)
{
	struct words w = { .count = 0, .room = 1 };
	struct search *s = NULL;

	for (Term list = t; term_is_cons(list); list = cons_tail(list))
		w.room++;
	w.words = w.room <= WORDS_ON_STACK ? w.fixed : mem_alloc(w.room * sizeof(*w.words));
	w.scratch = mem_zalloc(w.room * sizeof(*w.scratch));
	if (add_words(&w, t) && w.count > 0)
		s = search_new(w.words, w.count);
	for (size_t i = 0; i < w.room; i++)
		mem_free(w.scratch[i]);
	mem_free(w.scratch);
	if (w.words != w.fixed)
		mem_free(w.words);
	return s;
}

/* The search of a pattern of any form; *own: to be freed. Fails: NULL. */
static struct search *get_search(Term t, bool *own)
{
	struct resource *r;
	struct search *s;

	*own = false;
	if (!term_is_tuple_of(t, 2)) {
		*own = true;
		return make_search(t);
	}
	r = resource_get(tuple_get(t, 2), &pattern_type);
	if (r == NULL)
		return NULL;
	s = ((struct pattern *)r)->search;
	return tuple_get(t, 1) == (search_is_single(s) ? (Term)am_bm : (Term)am_ac) ? s : NULL;
}

Term bif_binary_compile_pattern_1(Process *p, Term *args)
{
	struct search *s = make_search(args[0]);
	struct pattern *pattern;
	Term ref;

	if (s == NULL)
		return exc_badarg(p);
	pattern = mem_alloc(sizeof(*pattern));
	resource_init(&pattern->resource, &pattern_type);
	pattern->search = s;
	ref = resource_put(&p->heap, &pattern->resource);
	resource_unref(&pattern->resource);
	return heap_tuple(&p->heap, search_is_single(s) ? am_bm : am_ac, ref);
}

/* ---- options */

struct options {
	bool global, trim, trim_all;
	size_t from, to;     /* the scope, bytes */
};

static bool set_scope(struct options *o, Term scope, size_t size)
{
	int64_t at, n;

	if (!term_is_tuple_of(scope, 2) || !term_is_small(tuple_get(scope, 1)) || !term_is_small(tuple_get(scope, 2)))
		return false;
	at = small_value(tuple_get(scope, 1));
	n = small_value(tuple_get(scope, 2));
	if (n < 0) {
		at += n;
		n = -n;
	}
	if (at < 0 || at > (int64_t)size || n > (int64_t)size - at)
		return false;
	o->from = (size_t)at;
	o->to = (size_t)(at + n);
	return true;
}

static bool get_options(struct options *o, Term list, size_t size, bool split)
{
	*o = (struct options){ .to = size };
	for (; term_is_cons(list); list = cons_tail(list)) {
		Term option = cons_head(list);

		if (term_is_tuple_of(option, 2) && tuple_get(option, 1) == am_scope) {
			if (!set_scope(o, tuple_get(option, 2), size))
				return false;
		} else if (split && option == am_global) {
			o->global = true;
		} else if (split && option == am_trim) {
			o->trim = true;
		} else if (split && option == am_trim_all) {
			o->trim_all = true;
		} else {
			return false;
		}
	}
	return term_is_nil(list);
}

/* ---- searches */

/* All that the functions have in common: a subject, a search and options. */
struct subject {
	Process *p;
	Term binary;
	const uint8_t *bytes;
	size_t n;
	uint8_t *scratch;
	struct search *search; /* NULL: there is nothing to search in */
	bool own_search;
	struct options o;
};

static bool subject_open(struct subject *s, Process *p, Term *args, Term options, bool split)
{
	s->p = p;
	s->binary = args[0];
	s->bytes = binary_bytes(args[0], &s->n, &s->scratch);
	if (s->bytes == NULL)
		return false;
	s->search = NULL;
	s->own_search = false;
	if (get_options(&s->o, options, s->n, split)) {
		if (s->o.to == 0) /* whatever the pattern is */
			return true;
		s->search = get_search(args[1], &s->own_search);
	}
	if (s->search == NULL)
		mem_free(s->scratch);
	return s->search != NULL;
}

/* The next place at or behind `from`. */
static bool subject_find(const struct subject *s, size_t from, size_t *at, size_t *n)
{
	return s->search != NULL && search_find(s->search, s->bytes, from, s->o.to, at, n);
}

static Term subject_close(struct subject *s, Term result)
{
	if (s->own_search)
		search_free(s->search);
	mem_free(s->scratch);
	process_bump(s->p, (int)(s->n / BYTES_A_REDUCTION));
	return result;
}

static Term put_place(Process *p, size_t at, size_t n)
{
	return heap_tuple(&p->heap, term_from_small((int64_t)at), term_from_small((int64_t)n));
}

static Term match(Process *p, Term *args, Term options)
{
	struct subject s;
	size_t at, n;
	bool found;

	if (!subject_open(&s, p, args, options, false))
		return exc_badarg(p);
	found = subject_find(&s, s.o.from, &at, &n);
	return subject_close(&s, found ? put_place(p, at, n) : (Term)am_nomatch);
}

static Term matches(Process *p, Term *args, Term options)
{
	struct subject s;
	Term list = NIL, *link = &list;
	size_t at, n;

	if (!subject_open(&s, p, args, options, false))
		return exc_badarg(p);
	for (size_t from = s.o.from; subject_find(&s, from, &at, &n); from = at + n) {
		*link = heap_cons(&p->heap, put_place(p, at, n), NIL);
		link = &cons_ptr(*link)[1];
	}
	return subject_close(&s, list);
}

Term bif_binary_match_2(Process *p, Term *args) { return match(p, args, NIL); }
Term bif_binary_match_3(Process *p, Term *args) { return match(p, args, args[2]); }
Term bif_binary_matches_2(Process *p, Term *args) { return matches(p, args, NIL); }
Term bif_binary_matches_3(Process *p, Term *args) { return matches(p, args, args[2]); }

/* The list of a split's parts. Empty ones at the end are held back until another follows, so that `trim` can drop them. */
struct parts {
	const struct subject *s;
	Term list, *link;
	size_t held_back;    /* empty parts */
};

static void link_part(struct parts *q, size_t from, size_t to)
{
	struct heap *h = &q->s->p->heap;

	*q->link = heap_cons(h, binary_sub(h, q->s->binary, (uint64_t)from * 8, (uint64_t)(to - from) * 8), NIL);
	q->link = &cons_ptr(*q->link)[1];
}

static void add_part(struct parts *q, size_t from, size_t to)
{
	if (from == to && q->s->o.trim_all)
		return;
	if (from == to && q->s->o.trim) {
		q->held_back++;
		return;
	}
	for (; q->held_back > 0; q->held_back--)
		link_part(q, 0, 0);
	link_part(q, from, to);
}

static Term split(Process *p, Term *args, Term options)
{
	struct subject s;
	struct parts q = { .s = &s, .list = NIL };
	size_t from = 0, search_from, at, n;

	if (!subject_open(&s, p, args, options, true))
		return exc_badarg(p);
	q.link = &q.list;
	search_from = s.o.from;
	while (subject_find(&s, search_from, &at, &n)) {
		add_part(&q, from, at);
		from = search_from = at + n;
		if (!s.o.global)
			break;
	}
	add_part(&q, from, s.n);
	return subject_close(&s, q.list);
}

Term bif_binary_split_2(Process *p, Term *args) { return split(p, args, NIL); }
Term bif_binary_split_3(Process *p, Term *args) { return split(p, args, args[2]); }
