/* SPDX-License-Identifier: Apache-2.0 */
/* ets:update_counter/3,4 and ets:update_element/3,4: all of an object's changes or none. */
#include "bif/bif.h"
#include "bif/ets/bif_ets.h"

#include <string.h>

#include "base/alloc.h"
#include "base/release.h"
#include "data/compare.h"
#include "data/number.h"

/* An object being changed: its elements, on their own as soon as one changes. */
struct update {
	struct ets_hold *hold;
	struct ets_object **place;
	Term *elements;      /* from 1; NULL: still as stored */
	Term cause;          /* of a failure, or NIL */
	bool in_place;       /* only immediates gave way to immediates */
	Term fixed[32];      /* not set at the start */
};

static void begin_update(struct update *u, struct ets_hold *hold, struct ets_object **place)
{
	u->hold = hold;
	u->place = place;
	u->elements = NULL;
	u->cause = NIL;
	u->in_place = false;
}

static struct ets_object **find_place(struct ets_hold *hold, Term key)
{
	struct ets_store *s = &hold->table->store;
	struct ets_object **at;

	if (s->is_tree)
		return tree_find(&s->tree, key);
	at = hash_find(&s->hash, hold->hash, key);
	return at != NULL && !(*at)->deleted ? at : NULL;
}

static Term get_element(const struct update *u, size_t position)
{
	return u->elements != NULL ? u->elements[position] : (*u->place)->words[position];
}

static void set_element(struct update *u, size_t position, Term value)
{
	struct ets_object *o = *u->place;
	size_t arity = object_arity(o);

	if (u->elements == NULL) {
		u->elements = arity < sizeof(u->fixed) / sizeof(u->fixed[0]) ? u->fixed
									     : mem_alloc((arity + 1) * sizeof(Term));
		memcpy(u->elements, o->words, (arity + 1) * sizeof(Term));
		u->in_place = true;
	}
	u->in_place = u->in_place && term_is_immed(value) && term_is_immed(o->words[position]);
	u->elements[position] = value;
}

static void write_object(struct update *u, struct ets_change *change)
{
	struct ets_object *o = *u->place;
	size_t arity = object_arity(o);
	struct ets_object *new;

	if (u->elements == NULL)
		return;
	if (u->in_place) {
		memcpy(o->words + 1, u->elements + 1, arity * sizeof(Term));
		return;
	}
	new = object_new_array(u->elements + 1, arity);
	if (table_is_tree(u->hold->table))
		tree_replace(&u->hold->table->store.tree, u->place, new, change);
	else
		hash_replace(u->place, new, change);
}

static void end_update(struct update *u)
{
	if (u->elements != u->fixed)
		mem_free(u->elements);
}

/* A position that may be changed? */
static bool check_position(struct update *u, Term position, size_t *n)
{
	if (!term_is_small(position))
		return false;
	*n = (size_t)small_value(position);
	if (small_value(position) < 1 || *n > object_arity(*u->place))
		u->cause = am_position;
	else if (*n == table_key(u->hold->table))
		u->cause = am_keypos;
	return u->cause == NIL;
}

/* ---- counters */
/* {Position, Increment} or {Position, Increment, Threshold, Value}. Fails: TERM_NONE. */
static Term count_once(struct update *u, struct heap *h, Term op)
{
	size_t arity = term_is_tuple(op) ? tuple_arity(op) : 0;
	Term increment, value;
	size_t position;

	if (arity != 2 && arity != 4)
		return TERM_NONE;
	increment = tuple_get(op, 2);
	if (!term_is_integer(increment) || !check_position(u, tuple_get(op, 1), &position))
		return TERM_NONE;
	value = get_element(u, position);
	if (!term_is_integer(value))
		return TERM_NONE;
	value = num_add(h, value, increment);
	if (value == TERM_NONE)
		return TERM_NONE;
	if (arity == 4) {
		Term threshold = tuple_get(op, 3);
		int order;

		if (!term_is_integer(threshold) || !term_is_integer(tuple_get(op, 4)))
			return TERM_NONE;
		order = term_compare(value, threshold);
		if (term_compare(increment, SMALL(0)) < 0 ? order < 0 : order > 0)
			value = tuple_get(op, 4);
	}
	set_element(u, position, value);
	return value;
}

/* Results in the order of the operations. */
static Term count_all(struct update *u, struct heap *h, Term ops)
{
	Term list = NIL, ordered = NIL;

	if (!term_is_list(ops))
		return count_once(u, h, ops);
	for (; term_is_cons(ops); ops = cons_tail(ops)) {
		Term value = count_once(u, h, cons_head(ops));

		if (value == TERM_NONE)
			return TERM_NONE;
		list = heap_cons(h, value, list);
	}
	if (ops != NIL)
		return TERM_NONE;
	for (; list != NIL; list = cons_tail(list))
		ordered = heap_cons(h, cons_head(list), ordered);
	return ordered;
}

/* The commonest: a small by a small, with a bare increment or {Position, Increment}. TERM_NONE: it is something else,
 * and nothing has changed. */
static Term count_quickly(struct ets_object *o, size_t key, Term ops)
{
	bool is_pair = term_is_tuple_of(ops, 2);
	Term position_term = is_pair ? tuple_get(ops, 1) : SMALL(key + 1);
	Term increment = is_pair ? tuple_get(ops, 2) : ops;
	Term value;
	size_t position;
	int64_t sum;

	if (!term_is_small(position_term) || small_value(position_term) < 1)
		return TERM_NONE;
	position = (size_t)small_value(position_term);
	if (position == key || position > object_arity(o))
		return TERM_NONE;
	value = o->words[position];
	if (!terms_both_small(value, increment))
		return TERM_NONE;
	sum = small_value(value) + small_value(increment);
	if (!small_fits(sum))
		return TERM_NONE;
	return o->words[position] = term_from_small(sum);
}

/* A bare integer counts the element behind the key. */
static Term spell_out(Process *p, const struct ets_table *t, Term ops)
{
	return term_is_integer(ops) ? heap_tuple(&p->heap, SMALL(table_key(t) + 1), ops) : ops;
}

/* Fails: TERM_NONE with an exception. */
static Term count_held(struct ets_hold *hold, Process *p, struct ets_object **place, Term ops,
		       struct ets_change *change)
{
	Term result = count_quickly(*place, table_key(hold->table), ops);
	struct update u;

	if (result != TERM_NONE)
		return result;
	begin_update(&u, hold, place);
	result = count_all(&u, &p->heap, spell_out(p, hold->table, ops));
	if (result != TERM_NONE)
		write_object(&u, change);
	else
		exc_badarg_cause(p, u.cause);
	end_update(&u);
	return result;
}

static bool takes_updates(const struct ets_table *t)
{
	return t->options.type == ETS_SET || t->options.type == ETS_ORDERED_SET;
}

/* Puts the default object, with the key asked for, into the table. */
static struct ets_object **insert_default(struct ets_hold *hold, Process *p, Term key, Term object,
					  struct ets_change *change)
{
	Term tuple = heap_tuple_array(&p->heap, tuple_arity(object), boxed_ptr(object) + 1);

	boxed_ptr(tuple)[table_key(hold->table)] = key;
	table_insert(hold, tuple, change);
	return find_place(hold, key);
}

static void delete_default(struct ets_hold *hold, Term key, struct ets_change *change)
{
	struct ets_store *s = &hold->table->store;

	if (s->is_tree)
		object_free(tree_remove(&s->tree, key, change));
	else
		hash_remove(&s->hash, find_place(hold, key), table_is_fixed(hold->table), change);
}

static Term update_counter(Process *p, Term table, Term key, Term ops, Term object)
{
	struct ets_change change = { 0, 0 };
	struct ets_object **place;
	struct ets_hold hold;
	Term result = TERM_NONE;

	if (table_hold_key(&hold, p, table, ETS_WRITE, key) != ETS_OK)
		return exc_hold(p, &hold);
	if (!takes_updates(hold.table)) {
		table_release(&hold);
		return exc_badarg_cause(p, am_table_type);
	}
	if (object != TERM_NONE && tuple_arity(object) < table_key(hold.table)) {
		table_release(&hold);
		return exc_badarg(p);
	}
	place = find_place(&hold, key);
	if (place != NULL) {
		result = count_held(&hold, p, place, ops, &change);
	} else if (object != TERM_NONE) {
		result = count_held(&hold, p, insert_default(&hold, p, key, object, &change), ops, &change);
		if (result == TERM_NONE)
			delete_default(&hold, key, &change);
	} else {
		exc_badarg_cause(p, am_badkey);
	}
	table_release_changed(&hold, &change);
	return result;
}

ETS_TOLD(ets_update_counter_3, UPDATE, GIVEN)
{
	return update_counter(p, args[0], args[1], args[2], TERM_NONE);
}

ETS_TOLD(ets_update_counter_4, UPDATE, GIVEN)
{
	if (!term_is_tuple(args[3]))
		return exc_badarg_beside(p, args[0], ETS_WRITE);
	return update_counter(p, args[0], args[1], args[2], args[3]);
}

/* ---- elements */
/* The commonest: one immediate by another. False: it is something else, and nothing has changed. */
static bool set_quickly(struct ets_object *o, size_t key, Term pair)
{
	size_t position;

	if (!term_is_tuple_of(pair, 2) || !term_is_small(tuple_get(pair, 1)) || !term_is_immed(tuple_get(pair, 2)))
		return false;
	position = (size_t)small_value(tuple_get(pair, 1));
	if (position == 0 || position > object_arity(o) || position == key || !term_is_immed(o->words[position]))
		return false;
	o->words[position] = tuple_get(pair, 2);
	return true;
}

static bool set_all(struct update *u, Term list)
{
	for (; term_is_cons(list); list = cons_tail(list)) {
		Term pair = cons_head(list);
		size_t position;

		if (!term_is_tuple_of(pair, 2) || !check_position(u, tuple_get(pair, 1), &position))
			return false;
		set_element(u, position, tuple_get(pair, 2));
	}
	return list == NIL;
}

/* Puts it in where the key is not there. TERM_NONE: nothing may be written with it. */
static Term change_elements(Process *p, struct update *u, const Term *args, Term list, Term object,
			    struct ets_change *change)
{
	bool is_new = u->place == NULL;
	Term result;

	if (is_new && object == TERM_NONE)
		return am_false;
	if (is_new && tuple_arity(object) < table_key(u->hold->table))
		return TERM_NONE;
	if (is_new)
		u->place = insert_default(u->hold, p, args[1], object, change);
	result = set_quickly(*u->place, table_key(u->hold->table), args[2]) || set_all(u, list) ? am_true : TERM_NONE;
	if (result != TERM_NONE)
		write_object(u, change);
	end_update(u);
	if (result == TERM_NONE && is_new)
		delete_default(u->hold, args[1], change);
	return result;
}

/* object: the default; TERM_NONE: there is none. */
static Term update_element(Process *p, Term *args, Term object)
{
	struct ets_change change = { 0, 0 };
	Term cell[2] = { args[2], NIL };
	Term list = term_is_tuple(args[2]) ? term_from_cons(cell) : args[2];
	struct ets_hold hold;
	struct update u;
	Term result = TERM_NONE;

	if (table_hold_key(&hold, p, args[0], ETS_WRITE, args[1]) != ETS_OK)
		return exc_hold(p, &hold);
	begin_update(&u, &hold, find_place(&hold, args[1]));
	if (takes_updates(hold.table))
		result = change_elements(p, &u, args, list, object, &change);
	table_release_changed(&hold, &change);
	if (u.cause == am_position && !release_tells_element_position()) /* the library tells by the element */
		u.cause = NIL;
	return result != TERM_NONE ? result : exc_badarg_cause(p, u.cause);
}

ETS_TOLD(ets_update_element_3, UPDATE, GIVEN) { return update_element(p, args, TERM_NONE); }

ETS_TOLD(ets_update_element_4, UPDATE, GIVEN)
{
	return term_is_tuple(args[3]) ? update_element(p, args, args[3]) : exc_badarg_beside(p, args[0], ETS_WRITE);
}
