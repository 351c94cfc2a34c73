/* SPDX-License-Identifier: Apache-2.0 */
/* Module binary: compile_pattern, match, matches, split. A compiled pattern is {bm | ac, Ref} with a magic
 * reference. */
#include "base/alloc.h"
#include "base/release.h"
#include "bif/bif.h"
#include "data/binary.h"
#include "data/search.h"

/* what to note a place costs as much as so many bytes */
enum { BYTES_A_REDUCTION = 128, PLACE_BYTES = 32, WORDS_ON_STACK = 16 };

/* ---- patterns */

/* The words of a pattern and the copies made of those not at a byte. */
struct words {
	struct search_word fixed[WORDS_ON_STACK], *words;
	uint8_t *fixed_scratch[WORDS_ON_STACK], **scratch;
	size_t count, room;
};

static bool add_word(struct words *w, Term t)
{
	struct search_word *word = &w->words[w->count];

	word->bytes = binary_bytes(t, &word->n, &w->scratch[w->count]);
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
	struct words w;
	struct search *s = NULL;

	w.count = 0;
	w.room = 1;
	for (Term list = t; term_is_cons(list); list = cons_tail(list))
		w.room++;
	w.words = w.room <= WORDS_ON_STACK ? w.fixed : mem_alloc(w.room * sizeof(*w.words));
	w.scratch = w.room <= WORDS_ON_STACK ? w.fixed_scratch : mem_alloc(w.room * sizeof(*w.scratch));
	if (add_words(&w, t) && w.count > 0)
		s = search_new(w.words, w.count);
	for (size_t i = 0; i < w.count; i++)
		mem_free(w.scratch[i]);
	if (w.words != w.fixed) {
		mem_free(w.scratch);
		mem_free(w.words);
	}
	return s;
}

static Term name_kind(const struct search *s)
{
	return search_is_single(s) ? am_bm : am_ac;
}

/* The search of a pattern of any form; *own: to be freed. Fails: NULL. */
static struct search *get_search(Term t, bool *own)
{
	struct search *s;

	*own = false;
	if (!term_is_tuple_of(t, 2)) {
		*own = true;
		return make_search(t);
	}
	s = search_get(tuple_get(t, 2));
	return s != NULL && tuple_get(t, 1) == name_kind(s) ? s : NULL;
}

Term bif_binary_compile_pattern_1(Process *p, Term *args)
{
	struct search *s = make_search(args[0]);
	Term kind;

	if (s == NULL)
		return exc_badarg(p);
	kind = name_kind(s);
	return heap_tuple(&p->heap, kind, search_put(&p->heap, s));
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

/* ---- searches, in steps where a time slice does not do */

enum wanted { FIRST, ALL, PARTS };

struct search_steps {
	struct exc_steps steps;
	enum wanted wanted;
	Term binary;
	const uint8_t *bytes;
	size_t n;
	uint8_t *scratch;
	struct search *search; /* NULL: there is nothing to search in */
	bool own_search;
	struct options o;
	struct search_run run;
	Term result, *link;  /* link: where a list goes on */
	size_t part;         /* where the next part starts */
	size_t held_back;    /* empty parts at the end, until another follows: `trim` drops them */
};

/* False: nothing needs freeing. */
static bool open_search(struct search_steps *s, const Term *args, Term options)
{
	s->binary = args[0];
	s->bytes = binary_bytes(args[0], &s->n, &s->scratch);
	if (s->bytes == NULL)
		return false;
	s->search = NULL;
	s->own_search = false;
	if (get_options(&s->o, options, s->n, s->wanted == PARTS)) {
		s->run = (struct search_run){ .from = s->o.from };
		if (s->o.to == 0 && !release_reads_needless_patterns())
			return true;
		s->search = get_search(args[1], &s->own_search);
	}
	if (s->search == NULL)
		mem_free(s->scratch);
	return s->search != NULL;
}

static void end_search(struct exc_steps *steps)
{
	struct search_steps *s = (struct search_steps *)steps;

	if (s->own_search)
		search_free(s->search);
	mem_free(s->scratch);
}

static Term put_place(struct heap *h, size_t at, size_t n)
{
	return heap_tuple(h, term_from_small((int64_t)at), term_from_small((int64_t)n));
}

static void link_element(struct search_steps *s, struct heap *h, Term element)
{
	*s->link = heap_cons(h, element, NIL);
	s->link = &cons_ptr(*s->link)[1];
}

static void link_part(struct search_steps *s, struct heap *h, size_t from, size_t to)
{
	link_element(s, h, binary_sub(h, s->binary, (uint64_t)from * 8, (uint64_t)(to - from) * 8));
}

static void add_part(struct search_steps *s, struct heap *h, size_t from, size_t to)
{
	if (from == to && s->o.trim_all)
		return;
	if (from == to && s->o.trim) {
		s->held_back++;
		return;
	}
	for (; s->held_back > 0; s->held_back--)
		link_part(s, h, 0, 0);
	link_part(s, h, from, to);
}

/* True: there is more to be found. */
static bool take_place(struct search_steps *s, struct heap *h, size_t at, size_t n)
{
	switch (s->wanted) {
	case FIRST:
		s->result = put_place(h, at, n);
		return false;
	case ALL:
		link_element(s, h, put_place(h, at, n));
		return true;
	case PARTS:
		add_part(s, h, s->part, at);
		s->part = at + n;
		return s->o.global;
	}
	return false;
}

static Term search_step(Process *p, struct exc_steps *steps)
{
	struct search_steps *s = (struct search_steps *)steps;
	int64_t had = (int64_t)(p->reds_left > 0 ? p->reds_left : 1) * BYTES_A_REDUCTION, left = had;
	enum search_result found = SEARCH_NONE;
	size_t at, n;

	while (s->search != NULL &&
	       (found = search_some(s->search, s->bytes, s->o.to, &s->run, &left, &at, &n)) == SEARCH_FOUND) {
		left -= PLACE_BYTES;
		if (!take_place(s, &p->heap, at, n))
			break;
	}
	process_bump(p, (int)((had - left) / BYTES_A_REDUCTION));
	if (found == SEARCH_MORE)
		return EXC_MORE;
	if (s->wanted == PARTS)
		add_part(s, &p->heap, s->part, s->n);
	return s->result;
}

/* args: the native's. The first step is made here, without an allocation. */
static Term search(Process *p, Term *args, unsigned arity, enum wanted wanted)
{
	struct search_steps s, *kept;
	Term t;

	s.steps = (struct exc_steps){ .step = search_step,
				      .end = end_search,
				      .place = { am_erlang, am_binary_find_trap, 3 } };
	s.wanted = wanted;
	if (!open_search(&s, args, arity == 3 ? args[2] : NIL))
		return exc_badarg(p);
	s.result = wanted == FIRST ? (Term)am_nomatch : NIL;
	s.link = &s.result;
	s.part = s.held_back = 0;
	t = search_step(p, &s.steps);
	if (t != EXC_MORE) {
		end_search(&s.steps);
		return t;
	}
	kept = mem_alloc(sizeof(*kept));
	*kept = s;
	if (s.link == &s.result)
		kept->link = &kept->result;
	return exc_run_steps(p, &kept->steps, args, arity);
}

Term bif_binary_match_2(Process *p, Term *args) { return search(p, args, 2, FIRST); }
Term bif_binary_match_3(Process *p, Term *args) { return search(p, args, 3, FIRST); }
Term bif_binary_matches_2(Process *p, Term *args) { return search(p, args, 2, ALL); }
Term bif_binary_matches_3(Process *p, Term *args) { return search(p, args, 3, ALL); }
Term bif_binary_split_2(Process *p, Term *args) { return search(p, args, 2, PARTS); }
Term bif_binary_split_3(Process *p, Term *args) { return search(p, args, 3, PARTS); }
