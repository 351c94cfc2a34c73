/* SPDX-License-Identifier: Apache-2.0 */
/* Walks over a table with a match program. */
#include "ets/select.h"

#include "heap/copy.h"

struct walk {
	struct select *s;
	struct ets_table *t;
	struct match_context match;
	struct ets_change *change;
	size_t budget;
	/* a hash table: what is deleted has to stay in its chain. This walk stands between two buckets. */
	bool others_walk;
};

/* ---- one object */
static bool try_object(struct walk *w, const struct ets_object *o, Term *result)
{
	struct select *s = w->s;

	w->budget -= w->budget > 0;
	s->seen++;
	*result = match_run_object(&w->match, o);
	if (*result == TERM_NONE)
		return false;
	if (s->kind == SELECT_LIST)
		s->list = heap_cons(&w->match.p->heap, *result, s->list);
	else if (s->kind == SELECT_REPLACE ? !term_is_tuple(*result) : *result != am_true)
		return false;
	s->count++;
	return true;
}

/* ---- hash tables */
/* Returns where the walk goes on. */
static struct ets_object **visit_place(struct walk *w, struct ets_object **at)
{
	struct ets_hash *h = &w->t->store.hash;
	Term result;

	if ((*at)->deleted || !try_object(w, *at, &result) || w->s->kind == SELECT_LIST || w->s->kind == SELECT_COUNT)
		return &(*at)->next;
	if (w->s->kind == SELECT_REPLACE) {
		hash_replace(at, object_new(result), w->change);
		return &(*at)->next;
	}
	hash_remove(h, at, w->others_walk, w->change);
	return w->others_walk ? &(*at)->next : at;
}

static void visit_key(struct walk *w, Term key)
{
	struct ets_hash *h = &w->t->store.hash;
	uint32_t hash = object_hash_key(key);
	struct ets_object **at = hash_find(h, hash, key);

	while (at != NULL && *at != NULL && hash_has_key(h, *at, hash, key))
		at = visit_place(w, at);
}

/* All clauses name their keys: those are looked up. */
static bool visit_bound_keys(struct walk *w)
{
	const struct match_program *m = w->s->program;
	unsigned position = table_key(w->t);
	Term key, other;

	for (uint32_t i = 0; i < m->clause_count; i++)
		if (match_clause_key(m, i, position, &key) == MATCH_KEY_ANY ||
		    match_clause_key(m, i, position, &key) == MATCH_KEY_PARTIAL)
			return false;
	for (uint32_t i = 0; i < m->clause_count; i++) {
		bool is_new = match_clause_key(m, i, position, &key) == MATCH_KEY_BOUND;

		for (uint32_t j = 0; j < i && is_new; j++)
			is_new = match_clause_key(m, j, position, &other) != MATCH_KEY_BOUND || !term_same(key, other);
		if (is_new)
			visit_key(w, key);
	}
	w->s->is_done = true;
	return true;
}

static void visit_buckets(struct walk *w)
{
	struct select *s = w->s;
	struct ets_hash *h = &w->t->store.hash;
	uint32_t active = atomic_load(&h->active);

	while (s->bucket < active) {
		struct ets_object **at = hash_chain(h, s->bucket);

		if (w->budget == 0 || (s->limit != 0 && s->count >= s->limit))
			return;
		w->budget--;
		while (*at != NULL)
			at = visit_place(w, at);
		s->bucket++;
	}
	s->is_done = true;
}

/* ---- trees */
struct range {
	const struct match_program *program;
	unsigned position;
};

/* All keys that any clause may mean lie between the least and the greatest for which this is 0. */
static int place_in_range(const void *sought, Term key)
{
	const struct range *r = sought;
	bool all_before = true, all_behind = true;
	Term pattern;

	for (uint32_t i = 0; i < r->program->clause_count; i++) {
		int order;

		if (match_clause_key(r->program, i, r->position, &pattern) == MATCH_KEY_NEVER)
			continue;
		order = match_compare_partial(r->program, pattern, key);
		all_before = all_before && order > 0;
		all_behind = all_behind && order < 0;
	}
	return all_before ? -1 : all_behind ? 1 : 0;
}

enum range_kind { RANGE_NONE, RANGE_ALL, RANGE_PART, RANGE_ONE };

static enum range_kind find_range(const struct range *r)
{
	enum range_kind kind = RANGE_NONE;
	Term key;

	for (uint32_t i = 0; i < r->program->clause_count; i++) {
		switch (match_clause_key(r->program, i, r->position, &key)) {
		case MATCH_KEY_NEVER:
			break;
		case MATCH_KEY_ANY:
			return RANGE_ALL;
		case MATCH_KEY_PARTIAL:
			kind = RANGE_PART;
			break;
		case MATCH_KEY_BOUND:
			kind = kind == RANGE_NONE ? RANGE_ONE : RANGE_PART;
			break;
		}
	}
	return kind;
}

/* Deletes or replaces o, which matched; returns the next object. */
static struct ets_object *change_object(struct walk *w, struct tree_walk *steps, struct ets_object *o, Term result)
{
	struct ets_tree *tree = &w->t->store.tree;
	Term key = tree_object_key(tree, o);
	struct ets_object *next;

	if (w->s->kind == SELECT_REPLACE) {
		key = tuple_get(result, tree->key);
		tree_replace(tree, tree_find(tree, key), object_new(result), w->change);
		o = NULL;
	} else {
		tree_remove(tree, key, w->change);
	}
	next = tree_walk_after(steps, tree, false, key);
	if (w->budget == 0 && next != NULL)
		w->s->last_key = copy_to_heap(key, &w->match.p->heap);
	if (o != NULL)
		object_free(o);
	return next;
}

static void visit_tree(struct walk *w)
{
	struct select *s = w->s;
	struct ets_tree *tree = &w->t->store.tree;
	struct range range = { s->program, table_key(w->t) };
	enum range_kind kind = find_range(&range);
	tree_place_fn place = kind == RANGE_ALL ? NULL : place_in_range;
	/* An unlimited list is built from its end. */
	bool backward = s->kind == SELECT_LIST && (s->limit != 0 ? s->reverse : !s->reverse);
	struct tree_walk steps;
	struct ets_object *o = NULL;

	if (kind != RANGE_NONE)
		o = s->last_key == TERM_NONE ? tree_walk_start(&steps, tree, backward, place, &range) :
		    tree_walk_after(&steps, tree, backward, s->last_key);
	while (o != NULL && (place == NULL || place(&range, tree_object_key(tree, o)) == 0)) {
		bool matched;
		Term result;

		matched = try_object(w, o, &result);
		if (matched && (s->kind == SELECT_DELETE || s->kind == SELECT_REPLACE)) {
			o = change_object(w, &steps, o, result);
			if (w->budget == 0 && o != NULL)
				return;
			continue;
		}
		if (w->budget == 0 || (s->limit != 0 && s->count >= s->limit)) {
			s->last_key = copy_to_heap(tree_object_key(tree, o), &w->match.p->heap);
			s->is_done = kind == RANGE_ONE;
			return;
		}
		o = tree_walk_step(&steps, backward);
	}
	s->is_done = true;
}

size_t select_run(struct select *s, struct ets_table *t, Process *p, size_t budget, struct ets_change *change)
{
	struct walk w = {
		.s = s, .t = t, .change = change, .budget = budget, .others_walk = atomic_load(&t->fixed) > s->has_fixed
	};

	match_begin(&w.match, p, s->program, true);
	if (table_is_tree(t))
		visit_tree(&w);
	else if (s->bucket != 0 || !visit_bound_keys(&w))
		visit_buckets(&w);
	match_end(&w.match);
	return budget - w.budget;
}
