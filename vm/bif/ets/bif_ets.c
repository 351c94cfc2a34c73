/* SPDX-License-Identifier: Apache-2.0 */
/* ets: objects and keys. Tables themselves: bif_ets_table.c; patterns: bif_ets_select.c.
 * Invariant: a table is held from its look-up to its release, and nothing between them blocks or traps. */
#include "bif/bif.h"
#include "bif/ets/bif_ets.h"
#include "proc/sched.h"

#include <limits.h>

/* ---- insert */
static bool is_object(const struct ets_table *t, Term term)
{
	return term_is_tuple(term) && tuple_arity(term) >= table_key(t);
}

static bool is_member(const struct ets_hold *hold, Term key)
{
	const struct ets_store *s = &hold->table->store;

	return s->is_tree ? tree_lookup(&s->tree, key) != NULL : hash_lookup(&s->hash, hold->hash, key) != NULL;
}

static Term insert_one(Process *p, Term table, Term tuple, bool only_new)
{
	struct ets_change change = { 0, 0 };
	struct ets_hold hold;

	if (table_hold_tuple(&hold, p, table, ETS_WRITE, tuple) != ETS_OK)
		return exc_hold(p, &hold);
	if (only_new && is_member(&hold, tuple_get(tuple, table_key(hold.table)))) {
		table_release(&hold);
		return am_false;
	}
	table_insert(&hold, tuple, &change);
	table_release_changed(&hold, &change);
	return am_true;
}

/* Length of a proper list of objects, or -1. */
static long count_objects(const struct ets_table *t, Term list)
{
	long n = 0;

	for (; term_is_cons(list); list = cons_tail(list), n++)
		if (!is_object(t, cons_head(list)))
			return -1;
	return list == NIL ? n : -1;
}

static void aim(struct ets_hold *hold, Term key)
{
	if (!hold->table->store.is_tree)
		hold->hash = object_hash_key(key);
}

static Term insert_list(Process *p, Term table, Term list, bool only_new)
{
	struct ets_change change = { 0, 0 };
	struct ets_hold hold;
	unsigned key;
	long n;

	if (table_hold(&hold, p, table, ETS_WRITE) != ETS_OK)
		return exc_hold(p, &hold);
	n = count_objects(hold.table, list);
	if (n < 0) {
		table_release(&hold);
		return exc_badarg(p);
	}
	process_bump(p, (int)(n / 4 + 1));
	key = table_key(hold.table);
	for (Term l = list; only_new && l != NIL; l = cons_tail(l)) {
		aim(&hold, tuple_get(cons_head(l), key));
		if (is_member(&hold, tuple_get(cons_head(l), key))) {
			table_release(&hold);
			return am_false;
		}
	}
	for (; list != NIL; list = cons_tail(list)) {
		aim(&hold, tuple_get(cons_head(list), key));
		table_insert(&hold, cons_head(list), &change);
		table_take_change(hold.table, &change);
	}
	table_release(&hold);
	return am_true;
}

/* ---- a list so long, or an object so large, that it takes long: with the scheduler lent, under the table's lock, as
 * nobody may see a part of it */
enum { LONG_LIST = 5000 };

static bool is_long_list(Term list)
{
	size_t n = 0;

	for (; term_is_cons(list) && n < LONG_LIST; list = cons_tail(list))
		n++;
	return n == LONG_LIST;
}

/* Most objects have only numbers, atoms and binaries in them: those are not looked through. */
static bool is_large_object(Term tuple)
{
	const Term *p = boxed_ptr(tuple);
	size_t arity = tuple_arity(tuple);

	if (unlikely(arity > EXC_WORDS_AT_ONCE))
		return true;
	for (size_t i = 1; i <= arity; i++)
		if (term_is_cons(p[i]) || term_is_tuple(p[i]) || term_is_map(p[i]) || term_is_fun(p[i]))
			return copy_is_longer(tuple, EXC_WORDS_AT_ONCE);
	return false;
}

static Term insert_large(Process *p, Term *args) { return insert_one(p, args[0], args[1], false); }
static Term insert_large_new(Process *p, Term *args) { return insert_one(p, args[0], args[1], true); }
static Term insert_all(Process *p, Term *args) { return insert_list(p, args[0], args[1], false); }
static Term insert_all_new(Process *p, Term *args) { return insert_list(p, args[0], args[1], true); }

ETS_TOLD(ets_insert_2, INSERT, OF_OBJECT)
{
	if (term_is_tuple(args[1]))
		return is_large_object(args[1]) ? exc_run_lent(p, insert_large, args)
						: insert_one(p, args[0], args[1], false);
	return is_long_list(args[1]) ? exc_run_lent(p, insert_all, args) : insert_all(p, args);
}

ETS_TOLD(ets_insert_new_2, INSERT, OF_OBJECT)
{
	if (term_is_tuple(args[1]))
		return is_large_object(args[1]) ? exc_run_lent(p, insert_large_new, args)
						: insert_one(p, args[0], args[1], true);
	return is_long_list(args[1]) ? exc_run_lent(p, insert_all_new, args) : insert_all_new(p, args);
}

/* ---- look up */
/* Words of the object and of those of its key after it in a bag (NULL: there are none), as a list. When they are more
 * than `most`: more than that, and no more of them are looked at. */
static inline size_t count_words(const struct ets_object *first, const struct ets_hash *bag, size_t most)
{
	size_t words = 0;

	for (const struct ets_object *o = first; o != NULL && words <= most;
	     o = bag != NULL ? hash_lookup_next(bag, o) : NULL)
		words += o->size_words + 2;
	return words;
}

/* A list of them, the last first. words: by count_words, all of them. */
static Term list_counted(const struct ets_object *first, const struct ets_hash *bag, size_t words, struct heap *h)
{
	Term *top, list = NIL;

	if (words == 0)
		return NIL;
	top = heap_alloc(h, words);
	for (const struct ets_object *o = first; o != NULL; o = bag != NULL ? hash_lookup_next(bag, o) : NULL) {
		Term *cell = top;

		top += 2;
		cell[0] = object_copy(o, &top, &h->off_heap);
		cell[1] = list;
		list = term_from_cons(cell);
	}
	return list;
}

static Term list_objects(const struct ets_object *first, const struct ets_hash *bag, struct heap *h)
{
	return list_counted(first, bag, count_words(first, bag, SIZE_MAX), h);
}

static bool is_bag(const struct ets_store *s)
{
	return !s->is_tree && s->hash.duplicates != HASH_SET;
}

/* The first object of the key, as list_objects wants it. */
static inline const struct ets_object *find_key(const struct ets_hold *hold, Term key, const struct ets_hash **bag)
{
	const struct ets_store *s = &hold->table->store;

	*bag = is_bag(s) ? &s->hash : NULL;
	return s->is_tree ? tree_lookup(&s->tree, key) : hash_lookup(&s->hash, hold->hash, key);
}

/* Large objects, or many, are looked up once more, under the table's lock: a scheduler lends itself only while it
 * holds no table. */
ETS_TOLD(ets_lookup_2, LOOKUP, GIVEN)
{
	const struct ets_object *first;
	const struct ets_hash *bag;
	struct ets_hold hold;
	size_t words;
	Term list;

	if (table_hold_key(&hold, p, args[0], ETS_READ, args[1]) != ETS_OK)
		return exc_hold(p, &hold);
	first = find_key(&hold, args[1], &bag);
	words = count_words(first, bag, EXC_WORDS_AT_ONCE);
	if (unlikely(words > EXC_WORDS_AT_ONCE)) {
		if (sched_on_duty()) {
			table_release(&hold);
			return exc_run_lent(p, ets_lookup_2, args);
		}
		words = count_words(first, bag, SIZE_MAX);
	}
	list = list_counted(first, bag, words, &p->heap);
	table_release(&hold);
	return list;
}

ETS_TOLD(ets_member_2, LOOKUP, GIVEN)
{
	struct ets_hold hold;
	bool is;

	if (table_hold_key(&hold, p, args[0], ETS_READ, args[1]) != ETS_OK)
		return exc_hold(p, &hold);
	is = is_member(&hold, args[1]);
	table_release(&hold);
	return term_from_bool(is);
}

/* TERM_NONE: no such key, or an object is too short. */
static Term list_elements(struct ets_hold *hold, struct heap *h, Term key, size_t position)
{
	const struct ets_store *s = &hold->table->store;
	const struct ets_object *o = s->is_tree ? tree_lookup(&s->tree, key) : hash_lookup(&s->hash, hold->hash, key);
	Term list = NIL;

	if (o == NULL)
		return TERM_NONE;
	for (; o != NULL; o = hash_lookup_next(&s->hash, o)) {
		Term element;

		if (object_arity(o) < position)
			return TERM_NONE;
		element = copy_to_heap(o->words[position], h);
		if (s->is_tree || s->hash.duplicates == HASH_SET)
			return element;
		list = heap_cons(h, element, list);
	}
	return list;
}

/* missing: what is returned where there is no such key; TERM_NONE: badarg then. */
static Term lookup_element(Process *p, const Term *args, Term missing)
{
	struct ets_hold hold;
	Term result;

	if (!term_is_small(args[2]) || small_value(args[2]) < 1)
		return exc_badarg_beside(p, args[0], ETS_READ);
	if (table_hold_key(&hold, p, args[0], ETS_READ, args[1]) != ETS_OK)
		return exc_hold(p, &hold);
	result = list_elements(&hold, &p->heap, args[1], (size_t)small_value(args[2]));
	if (result == TERM_NONE) {
		bool is_there = is_member(&hold, args[1]);

		result = is_there ? TERM_NONE : missing;
		if (result == TERM_NONE)
			exc_badarg_cause(p, is_there ? NIL : am_badkey);
	}
	table_release(&hold);
	return result;
}

ETS_TOLD(ets_lookup_element_3, LOOKUP, GIVEN) { return lookup_element(p, args, TERM_NONE); }
ETS_TOLD(ets_lookup_element_4, LOOKUP, GIVEN) { return lookup_element(p, args, args[3]); }

/* ---- delete */
/* Removes the key's objects, or those of them equal to `object`. */
static void delete_from_hash(struct ets_hold *hold, Term key, Term object, struct ets_change *change)
{
	struct ets_hash *h = &hold->table->store.hash;
	struct ets_object **at = hash_find(h, hold->hash, key);
	bool is_fixed = table_is_fixed(hold->table);

	while (at != NULL && *at != NULL && hash_has_key(h, *at, hold->hash, key)) {
		bool stays = (*at)->deleted || (object != TERM_NONE && !object_is(*at, object));

		if (!stays)
			hash_remove(h, at, is_fixed, change);
		if (stays || is_fixed)
			at = &(*at)->next;
	}
}

static void delete_object(struct ets_hold *hold, Term key, Term object, struct ets_change *change)
{
	struct ets_tree *t = &hold->table->store.tree;
	const struct ets_object *o;

	if (!hold->table->store.is_tree) {
		delete_from_hash(hold, key, object, change);
		return;
	}
	o = tree_lookup(t, key);
	if (o != NULL && object_is(o, object))
		object_free(tree_remove(t, key, change));
}

static void delete_key(struct ets_hold *hold, Term key, struct ets_change *change)
{
	struct ets_store *s = &hold->table->store;
	struct ets_object *o;

	if (!s->is_tree) {
		delete_from_hash(hold, key, TERM_NONE, change);
		return;
	}
	o = tree_remove(&s->tree, key, change);
	if (o != NULL)
		object_free(o);
}

/* As ets_lookup_2: many objects, or large ones that are copied, are looked up once more with the scheduler lent,
 * by `again`. */
static Term delete_or_take(Process *p, Term *args, bool is_taken, Term (*again)(Process *p, Term *args))
{
	struct ets_change change = { 0, 0 };
	const struct ets_object *first = NULL;
	const struct ets_hash *bag = NULL;
	struct ets_hold hold;
	Term result = am_true;

	if (table_hold_key(&hold, p, args[0], ETS_WRITE, args[1]) != ETS_OK)
		return exc_hold(p, &hold);
	if (is_taken || is_bag(&hold.table->store))
		first = find_key(&hold, args[1], &bag);
	if (unlikely(count_words(first, bag, EXC_WORDS_AT_ONCE) > EXC_WORDS_AT_ONCE) && sched_on_duty()) {
		table_release(&hold);
		return exc_run_lent(p, again, args);
	}
	if (is_taken)
		result = list_objects(first, bag, &p->heap);
	delete_key(&hold, args[1], &change);
	table_release_changed(&hold, &change);
	return result;
}

ETS_TOLD(ets_delete_2, DELETE, GIVEN) { return delete_or_take(p, args, false, ets_delete_2); }
ETS_TOLD(ets_take_2, DELETE, GIVEN) { return delete_or_take(p, args, true, ets_take_2); }

ETS_TOLD(ets_delete_object_2, DELETE, OF_OBJECT)
{
	struct ets_change change = { 0, 0 };
	struct ets_hold hold;

	if (!term_is_tuple(args[1]))
		return exc_badarg_beside(p, args[0], ETS_WRITE);
	if (table_hold_tuple(&hold, p, args[0], ETS_WRITE, args[1]) != ETS_OK)
		return exc_hold(p, &hold);
	delete_object(&hold, tuple_get(args[1], table_key(hold.table)), args[1], &change);
	table_release_changed(&hold, &change);
	return am_true;
}

/* ---- one key after the other. Raw: objects that are deleted and wait for the last fixation to end are seen too. */
static const struct ets_object *first_from(const struct ets_hash *h, uint32_t bucket, bool is_raw)
{
	uint32_t active = atomic_load(&h->active);

	for (; bucket < active; bucket++)
		for (const struct ets_object *o = *hash_chain(h, bucket); o != NULL; o = o->next)
			if (is_raw || !o->deleted)
				return o;
	return NULL;
}

struct walk {
	bool is_back, is_raw;
	/* the native that wants the key's objects as well; NULL: the key alone */
	Term (*lookup)(Process *p, Term *args);
};

/* Lets the table go. The key of o (NULL: the end), or {Key, Objects}; these as ets_lookup_2 does it. */
static Term put_found(Process *p, struct ets_hold *hold, const struct ets_object *o, struct walk w, Term *args)
{
	const struct ets_store *s = &hold->table->store;
	const struct ets_hash *bag = is_bag(s) ? &s->hash : NULL;
	Term result = am_end_of_table;

	if (o != NULL && w.lookup != NULL && sched_on_duty() &&
	    count_words(o, bag, EXC_WORDS_AT_ONCE) > EXC_WORDS_AT_ONCE) {
		table_release(hold);
		return exc_run_lent(p, w.lookup, args);
	}
	if (o != NULL)
		result = copy_to_heap(o->words[table_key(hold->table)], &p->heap);
	if (o != NULL && w.lookup != NULL)
		result = heap_tuple(&p->heap, result, list_objects(o, bag, &p->heap));
	table_release(hold);
	return result;
}

static Term find_end(Process *p, Term *args, struct walk w)
{
	const struct ets_object *o;
	struct ets_hold hold;
	const struct ets_store *s;

	if (table_hold(&hold, p, args[0], ETS_READ) != ETS_OK)
		return exc_hold(p, &hold);
	s = &hold.table->store;
	if (s->is_tree)
		o = w.is_back ? tree_last(&s->tree) : tree_first(&s->tree);
	else
		o = first_from(&s->hash, 0, w.is_raw);
	return put_found(p, &hold, o, w, args);
}

ETS_TOLD(ets_first_1, NEXT, NONE) { return find_end(p, args, (struct walk){ 0 }); }
ETS_TOLD(ets_last_1, NEXT, NONE) { return find_end(p, args, (struct walk){ .is_back = true }); }
Term bif_erts_internal_ets_raw_first_1(Process *p, Term *args)
{
	return find_end(p, args, (struct walk){ .is_raw = true });
}
ETS_TOLD(ets_first_lookup_1, NEXT, NONE)
{
	return find_end(p, args, (struct walk){ .lookup = ets_first_lookup_1 });
}
ETS_TOLD(ets_last_lookup_1, NEXT, NONE)
{
	return find_end(p, args, (struct walk){ .is_back = true, .lookup = ets_last_lookup_1 });
}

/* Past all objects of the key, the dead ones too. Fails: false when the key is not there. */
static bool next_in_hash(const struct ets_hash *h, uint32_t hash, Term key, bool is_raw, const struct ets_object **next)
{
	struct ets_object **at = hash_find(h, hash, key);

	if (at == NULL)
		return false;
	for (*next = *at; *next != NULL; *next = (*next)->next)
		if (!hash_has_key(h, *next, hash, key) && (is_raw || !(*next)->deleted))
			return true;
	*next = first_from(h, hash_bucket(h, hash) + 1, is_raw);
	return true;
}

static Term find_neighbour(Process *p, Term *args, struct walk w)
{
	const struct ets_object *next = NULL;
	struct ets_hold hold;
	const struct ets_store *s;
	Term key = args[1];

	if (table_hold(&hold, p, args[0], ETS_READ) != ETS_OK)
		return exc_hold(p, &hold);
	s = &hold.table->store;
	aim(&hold, key);
	if (s->is_tree && key != am_end_of_table) {
		next = w.is_back ? tree_prev(&s->tree, key) : tree_next(&s->tree, key);
	} else if (s->is_tree || !next_in_hash(&s->hash, hold.hash, key, w.is_raw, &next)) {
		table_release(&hold);
		return exc_badarg(p);
	}
	return put_found(p, &hold, next, w, args);
}

ETS_TOLD(ets_next_2, NEXT, GIVEN) { return find_neighbour(p, args, (struct walk){ 0 }); }
ETS_TOLD(ets_prev_2, NEXT, GIVEN) { return find_neighbour(p, args, (struct walk){ .is_back = true }); }
Term bif_erts_internal_ets_raw_next_2(Process *p, Term *args)
{
	return find_neighbour(p, args, (struct walk){ .is_raw = true });
}
ETS_TOLD(ets_next_lookup_2, NEXT, GIVEN)
{
	return find_neighbour(p, args, (struct walk){ .lookup = ets_next_lookup_2 });
}
ETS_TOLD(ets_prev_lookup_2, NEXT, GIVEN)
{
	return find_neighbour(p, args, (struct walk){ .is_back = true, .lookup = ets_prev_lookup_2 });
}

static Term list_bucket(const struct ets_hash *h, struct heap *heap, uint32_t bucket)
{
	Term list = NIL;

	for (const struct ets_object *o = *hash_chain(h, bucket); o != NULL; o = o->next)
		if (!o->deleted)
			list = heap_cons(heap, object_copy_to_heap(o, heap), list);
	return list;
}

static Term list_nth(Process *p, struct ets_tree *t, size_t n)
{
	size_t steps;
	const struct ets_object *o = tree_nth(t, n, &steps);

	process_bump(p, (int)(steps < INT_MAX / ETS_REDUCTIONS_AN_OBJECT ? steps * ETS_REDUCTIONS_AN_OBJECT : INT_MAX));
	return list_objects(o, NULL, &p->heap);
}

ETS_TOLD(ets_slot_2, NEXT, NONE)
{
	struct ets_hold hold;
	struct ets_store *s;
	size_t n, end;
	Term result = am_end_of_table;

	if (!term_is_small(args[1]) || small_value(args[1]) < 0)
		return exc_badarg_beside(p, args[0], ETS_READ);
	if (table_hold(&hold, p, args[0], ETS_READ) != ETS_OK)
		return exc_hold(p, &hold);
	s = &hold.table->store;
	n = (size_t)small_value(args[1]);
	end = s->is_tree ? table_objects(hold.table) : atomic_load(&s->hash.active);
	if (n < end)
		result = s->is_tree ? list_nth(p, &s->tree, n) : list_bucket(&s->hash, &p->heap, (uint32_t)n);
	table_release(&hold);
	return n <= end ? result : exc_badarg(p);
}
