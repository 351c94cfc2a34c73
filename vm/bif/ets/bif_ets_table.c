/* SPDX-License-Identifier: Apache-2.0 */
/* ets: tables as such: new, delete, owners, fixations, info. */
#include "bif/bif.h"
#include "bif/ets/bif_ets.h"

#include "base/clock.h"
#include "code/export.h"
#include "proc/message.h"
#include "proc/sched.h"
#include "term/node.h"

/* ---- new */
static bool read_boolean(Term t, bool *value)
{
	*value = t == am_true;
	return t == am_true || t == am_false;
}

static bool read_write_concurrency(struct ets_options *o, Term value)
{
	o->auto_concurrency = value == am_auto;
	o->fixed_locks = 0;
	if (value == am_auto) {
		o->write_concurrency = o->decentralized_counters = true;
		return true;
	}
	if (term_is_tuple_of(value, 2)) {
		Term n = tuple_get(value, 2);

		if (tuple_get(value, 1) != am_debug_hash_fixed_number_of_locks || !term_is_small(n) ||
		    small_value(n) < 1 || small_value(n) > 32768)
			return false;
		o->fixed_locks = (UINT32_MAX / 2 + 1) >> __builtin_clz((unsigned)small_value(n)); /* a power of two */
		o->write_concurrency = o->decentralized_counters = true;
		return true;
	}
	if (value == am_true)
		o->decentralized_counters = o->type == ETS_ORDERED_SET;
	return read_boolean(value, &o->write_concurrency);
}

/* {Name, Value} and {heir, Pid, Data}. */
static bool read_pair(struct ets_options *o, Term option, int *decentralized)
{
	Term name = tuple_get(option, 1), value = tuple_get(option, 2);
	bool flag;

	if (tuple_arity(option) == 3) {
		o->heir = value;
		o->heir_data = tuple_get(option, 3);
		return name == am_heir && term_is_local_pid(value);
	}
	if (name == am_keypos && term_is_small(value) && small_value(value) > 0 && small_value(value) <= INT32_MAX) {
		o->key_position = (unsigned)small_value(value);
		return true;
	}
	if (name == am_write_concurrency)
		return read_write_concurrency(o, value);
	if (name == am_read_concurrency)
		return read_boolean(value, &o->read_concurrency);
	if (name == am_decentralized_counters) {
		bool ok = read_boolean(value, &flag);

		*decentralized = flag;
		return ok;
	}
	o->heir = am_none;
	return name == am_heir && value == am_none;
}

static bool read_word(struct ets_options *o, Term option)
{
	if (option == am_set)
		o->type = ETS_SET;
	else if (option == am_ordered_set)
		o->type = ETS_ORDERED_SET;
	else if (option == am_bag)
		o->type = ETS_BAG;
	else if (option == am_duplicate_bag)
		o->type = ETS_DUPLICATE_BAG;
	else if (option == am_public)
		o->protection = ETS_PUBLIC;
	else if (option == am_protected)
		o->protection = ETS_PROTECTED;
	else if (option == am_private)
		o->protection = ETS_PRIVATE;
	else if (option == am_named_table)
		o->is_named = true;
	else if (option == am_compressed)
		o->is_compressed = true;
	else
		return false;
	return true;
}

static bool read_options(struct ets_options *o, Term list)
{
	int decentralized = -1;

	for (; term_is_cons(list); list = cons_tail(list)) {
		Term option = cons_head(list);
		bool ok = term_is_tuple_of(option, 2) || term_is_tuple_of(option, 3) ?
			  read_pair(o, option, &decentralized) : read_word(o, option);

		if (!ok)
			return false;
	}
	if (decentralized >= 0)
		o->decentralized_counters = decentralized;
	if (o->type == ETS_ORDERED_SET && o->fixed_locks != 0)
		return false;
	if (o->protection == ETS_PRIVATE)
		o->write_concurrency = o->auto_concurrency = o->read_concurrency = false;
	o->decentralized_counters = o->decentralized_counters && o->write_concurrency;
	return list == NIL;
}

ETS_TOLD(ets_new_2, NEW, NONE)
{
	struct ets_options o = { .type = ETS_SET, .protection = ETS_PROTECTED, .key_position = 1, .heir = am_none };
	struct ets_table *t;

	if (!term_is_atom(args[0]) || !read_options(&o, args[1]))
		return exc_badarg(p);
	t = table_new(p, args[0], &o);
	return t != NULL ? table_id(t, &p->heap) : exc_badarg_cause(p, am_already_exists);
}

/* ---- delete. What stood in the table is freed in slices, by whoever deleted it. */
static Term drain_slices(Process *p, Term contents_ref, struct resource *contents, Term result)
{
	Term args[2] = { contents_ref, result };

	process_bump(p, ETS_SLICE_OBJECTS * ETS_REDUCTIONS_AN_OBJECT);
	if (contents_drain(contents, ETS_SLICE_OBJECTS))
		return result;
	return exc_trap(p, export_get(am_erts_internal, am_ets_drain, 2), 2, args);
}

static Term start_draining(Process *p, struct resource *contents, Term result)
{
	Term ref;

	if (contents_drain(contents, ETS_SLICE_OBJECTS)) {
		resource_unref(contents);
		return result;
	}
	ref = resource_put(&p->heap, contents);
	resource_unref(contents);
	return drain_slices(p, ref, contents, result);
}

Term bif_erts_internal_ets_drain_2(Process *p, Term *args)
{
	struct resource *contents = contents_get(args[0]);

	return contents != NULL ? drain_slices(p, args[0], contents, args[1]) : exc_badarg(p);
}

ETS_TOLD(ets_delete_1, DROP, NONE)
{
	struct resource *contents;
	struct ets_hold hold;

	if (table_hold(&hold, p, args[0], ETS_WRITE) != ETS_OK)
		return exc_hold(p, &hold);
	/* Of the last slice: each of those before costs its own. */
	process_bump(p, (int)(table_objects(hold.table) % ETS_SLICE_OBJECTS) * ETS_REDUCTIONS_AN_OBJECT);
	table_delete(&hold, &contents);
	return start_draining(p, contents, am_true);
}

ETS_TOLD(ets_internal_delete_all_2, CLEAR, NONE)
{
	struct resource *contents;
	struct ets_hold hold;
	size_t objects;

	if (table_hold(&hold, p, args[0], ETS_WRITE) != ETS_OK)
		return exc_hold(p, &hold);
	if (args[1] != am_undefined) {
		table_release(&hold);
		return args[1];
	}
	objects = table_objects(hold.table);
	contents = table_clear(&hold);
	table_release(&hold);
	if (contents == NULL)
		return term_from_small((int64_t)objects);
	return start_draining(p, contents, term_from_small((int64_t)objects));
}

/* ---- names and owners */
Term bif_ets_rename_2(Process *p, Term *args)
{
	struct ets_hold hold;
	bool ok;
	Term id;

	if (!term_is_atom(args[1]))
		return exc_badarg_beside(p, args[0], ETS_WRITE);
	if (table_hold(&hold, p, args[0], ETS_WRITE) != ETS_OK)
		return exc_hold(p, &hold);
	ok = table_rename(&hold, args[1]);
	id = hold.table->options.is_named ? args[1] : args[0];
	table_release(&hold);
	return ok ? id : exc_badarg(p);
}

Term bif_ets_whereis_1(Process *p, Term *args)
{
	return term_is_atom(args[0]) ? table_whereis(p, args[0]) : exc_badarg(p);
}

Term bif_ets_give_away_3(Process *p, Term *args)
{
	struct ets_hold hold;

	bool is_owner;

	if (!term_is_local_pid(args[1]))
		return exc_badarg_beside(p, args[0], ETS_WRITE);
	if (table_hold(&hold, p, args[0], ETS_WRITE) != ETS_OK)
		return exc_hold(p, &hold);
	is_owner = atomic_load(&hold.table->owner) == p->id;
	if (is_owner && args[1] != p->id && table_give_away(&hold, p, args[1], args[2]))
		return am_true;
	table_release(&hold);
	return exc_badarg_cause(p, !is_owner ? am_not_owner : args[1] == p->id ? am_owner : NIL);
}

struct wishes {
	Term heir, heir_data;
	int protection;      /* -1: none */
};

static bool read_wish(struct wishes *w, Term option)
{
	size_t arity = term_is_tuple(option) ? tuple_arity(option) : 0;
	Term value = arity >= 2 ? tuple_get(option, 2) : NIL;

	if (arity < 2)
		return false;
	if (tuple_get(option, 1) == am_heir) {
		bool ok = w->heir == TERM_NONE &&
			  ((arity == 2 && value == am_none) || (arity == 3 && term_is_local_pid(value)));

		w->heir = value;
		w->heir_data = arity == 3 ? tuple_get(option, 3) : am_undefined;
		return ok;
	}
	if (tuple_get(option, 1) != am_protection || arity != 2 || w->protection >= 0)
		return false;
	w->protection = value == am_public ? ETS_PUBLIC : value == am_protected ? ETS_PROTECTED : ETS_PRIVATE;
	return value == am_public || value == am_protected || value == am_private;
}

Term bif_ets_setopts_2(Process *p, Term *args)
{
	struct wishes w = { TERM_NONE, am_undefined, -1 };
	Term cell[2] = { args[1], NIL };
	Term list = term_is_tuple(args[1]) ? term_from_cons(cell) : args[1];
	struct ets_hold hold;
	bool ok;

	for (; term_is_cons(list); list = cons_tail(list))
		if (!read_wish(&w, cons_head(list)))
			return exc_badarg_beside(p, args[0], ETS_WRITE);
	if (list != NIL)
		return exc_badarg_beside(p, args[0], ETS_WRITE);
	if (table_hold(&hold, p, args[0], ETS_WRITE) != ETS_OK)
		return exc_hold(p, &hold);
	ok = atomic_load(&hold.table->owner) == p->id;
	if (ok && w.heir != TERM_NONE)
		table_set_heir(hold.table, w.heir, w.heir_data);
	if (ok && w.protection >= 0)
		hold.table->options.protection = (enum ets_protection)w.protection;
	table_release(&hold);
	return ok ? am_true : exc_badarg(p);
}

static Term fix_table(Process *p, Term *args)
{
	struct ets_hold hold;

	if (table_hold_exclusive(&hold, p, args[0], ETS_READ) != ETS_OK)
		return exc_hold(p, &hold);
	table_fix(hold.table, p->id);
	table_release(&hold);
	return am_true;
}

/* With the last fixation goes all that was deleted meanwhile. */
static Term unfix_table(Process *p, Term *args)
{
	struct ets_hold hold;

	if (table_hold_exclusive(&hold, p, args[0], ETS_READ) != ETS_OK)
		return exc_hold(p, &hold);
	table_unfix(hold.table, p->id);
	table_release(&hold);
	return am_true;
}

Term bif_ets_safe_fixtable_2(Process *p, Term *args)
{
	switch (args[1]) {
	case am_true: return fix_table(p, args);
	case am_false: return exc_run_lent(p, unfix_table, args);
	default: return exc_badarg_beside(p, args[0], ETS_READ);
	}
}

/* ---- info */
static Term text_type(enum ets_type type)
{
	static const Term names[] = {
		[ETS_SET] = am_set, [ETS_ORDERED_SET] = am_ordered_set, [ETS_BAG] = am_bag,
		[ETS_DUPLICATE_BAG] = am_duplicate_bag,
	};

	return names[type];
}

static Term text_protection(enum ets_protection protection)
{
	static const Term names[] = {
		[ETS_PUBLIC] = am_public, [ETS_PROTECTED] = am_protected, [ETS_PRIVATE] = am_private,
	};

	return names[protection];
}

static Term text_write_concurrency(const struct ets_options *o, struct heap *h)
{
	if (o->fixed_locks != 0 && o->write_concurrency)
		return heap_tuple(h, am_debug_hash_fixed_number_of_locks, SMALL(o->fixed_locks));
	return o->auto_concurrency ? am_auto : term_from_bool(o->write_concurrency);
}

/* {Since, [{Pid, Count}]}, or false. */
static Term list_fixations(const struct ets_table *t, struct heap *h, bool monotonic)
{
	Term list = NIL, since;

	if (t->fixations == NULL)
		return am_false;
	for (const struct ets_fixation *f = t->fixations; f != NULL; f = f->next)
		list = heap_cons(h, heap_tuple(h, f->pid, heap_uint(h, f->count)), list);
	if (monotonic) {
		since = heap_int(h, t->fixed_since_ns);
	} else {
		int64_t us = t->fixed_system_ns / 1000;

		since = heap_tuple(h, SMALL(us / 1000000000000), SMALL(us / 1000000 % 1000000), SMALL(us % 1000000));
	}
	return heap_tuple(h, since, list);
}

/* {Buckets, Average, Deviation, Expected deviation, Shortest, Longest, Deleted, Locks}: the lengths of the chains, and
 * how many deleted objects wait in them for the last fixation to end. */
static Term list_stats(const struct ets_table *t, struct heap *h)
{
	const struct ets_hash *hash = &t->store.hash;
	uint32_t active;
	size_t sum = 0, shortest = SIZE_MAX, longest = 0, deleted = 0;
	double squares = 0, average, variance;

	if (t->store.is_tree)
		return am_false;
	active = atomic_load(&hash->active);
	for (uint32_t bucket = 0; bucket < active; bucket++) {
		size_t n = 0;

		for (const struct ets_object *o = *hash_chain(hash, bucket); o != NULL; o = o->next) {
			n++;
			deleted += o->deleted;
		}
		sum += n;
		squares += (double)n * (double)n;
		shortest = n < shortest ? n : shortest;
		longest = n > longest ? n : longest;
	}
	average = (double)sum / active;
	variance = sum > 0 ? (squares - (double)sum * average) / active : 0;
	return heap_tuple(h, SMALL(active), heap_float(h, average), heap_float(h, __builtin_sqrt(variance)),
			  heap_float(h, __builtin_sqrt(average * (1 - 1.0 / active))), SMALL(shortest), SMALL(longest),
			  SMALL(deleted), SMALL(t->stripes != NULL ? ETS_STRIPES : 1));
}

/* One item. TERM_NONE when there is no such item. */
static Term describe(struct ets_table *t, struct heap *h, Term item)
{
	const struct ets_options *o = &t->options;

	switch (item) {
	case am_id: return table_ref(t, h);
	case am_decentralized_counters: return term_from_bool(o->decentralized_counters);
	case am_read_concurrency: return term_from_bool(o->read_concurrency);
	case am_write_concurrency: return text_write_concurrency(o, h);
	case am_compressed: return term_from_bool(o->is_compressed);
	case am_memory: return heap_uint(h, table_memory_words(t));
	case am_owner: return atomic_load(&t->owner);
	case am_heir: return o->heir;
	case am_name: return t->name;
	case am_size: return heap_uint(h, table_objects(t));
	case am_node: return node_self().name;
	case am_named_table: return term_from_bool(o->is_named);
	case am_type: return text_type(o->type);
	case am_keypos: return heap_uint(h, o->key_position);
	case am_protection: return text_protection(o->protection);
	case am_fixed: return term_from_bool(table_is_fixed(t));
	case am_safe_fixed: return list_fixations(t, h, false);
	case am_safe_fixed_monotonic_time: return list_fixations(t, h, true);
	case am_stats: return list_stats(t, h);
	default: return TERM_NONE;
	}
}

/* What info/1 tells, last to first. */
static const Term info_items[] = {
	am_protection, am_keypos, am_type, am_named_table, am_node, am_size, am_name, am_heir, am_owner, am_memory,
	am_compressed, am_write_concurrency, am_read_concurrency, am_decentralized_counters, am_id,
};

ETS_TOLD(ets_info_1, INFO, NONE)
{
	enum { ITEMS = sizeof(info_items) / sizeof(info_items[0]), ITEM_WORDS = 2 + 3 };
	struct ets_hold hold;
	Term *at, list = NIL;

	switch (table_hold(&hold, p, args[0], ETS_INFO)) {
	case ETS_OK:
		break;
	case ETS_NO_TABLE:
		return am_undefined;
	default:
		return exc_hold(p, &hold);
	}
	at = heap_alloc(&p->heap, ITEMS * ITEM_WORDS);
	for (size_t i = 0; i < ITEMS; i++, at += ITEM_WORDS) {
		at[0] = term_from_boxed(at + 2);
		at[1] = list;
		at[2] = HEADER(2, SUB_TUPLE);
		at[3] = info_items[i];
		at[4] = describe(hold.table, &p->heap, info_items[i]);
		list = term_from_cons(at);
	}
	table_release(&hold);
	return list;
}

ETS_TOLD(ets_info_2, INFO, NONE)
{
	struct ets_hold hold;
	Term value;

	if (args[1] == am_binary)
		return exc_trap(p, export_get(am_erts_internal, am_ets_info_binary, 1), 1, args);
	switch (table_hold(&hold, p, args[0], ETS_INFO)) {
	case ETS_OK:
		break;
	case ETS_NO_TABLE:
		return am_undefined;
	default:
		return exc_hold(p, &hold);
	}
	value = describe(hold.table, &p->heap, args[1]);
	table_release(&hold);
	return value != TERM_NONE ? value : exc_badarg(p);
}

/* ets:all/0 waits for a {Ref, Tables} from every scheduler; one of them knows all. */
Term bif_ets_internal_request_all_0(Process *p, Term *args)
{
	Term ref = heap_ref(&p->heap, 0);

	(void)args;
	message_send(p, p->id, heap_tuple(&p->heap, ref, table_list(&p->heap)));
	for (unsigned i = 1; i < sched_count(); i++)
		message_send(p, p->id, heap_tuple(&p->heap, ref, NIL));
	return ref;
}

/* ---- for debugging: tables seen by one who may see all */
Term bif_erts_internal_ets_super_user_1(Process *p, Term *args)
{
	if (args[0] != am_true && args[0] != am_false)
		return exc_badarg(p);
	table_set_super_user(p, args[0] == am_true);
	return am_ok;
}
