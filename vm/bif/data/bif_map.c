/* SPDX-License-Identifier: Apache-2.0 */
/* Maps: module maps, the map functions of erlang and erts_internal. */
#include "base/alloc.h"
#include "base/release.h"
#include "bif/bif.h"
#include "data/binary.h"
#include "data/map.h"
#include "data/map_trie.h"
#include "data/number.h"
#include "heap/refbin.h"
#include "proc/sched.h"

enum { PAIRS_A_REDUCTION = 8, ITER_BATCH = 32 };

static Term fail_badmap(Process *p, Term t)
{
	return exc_error(p, heap_tuple(&p->heap, am_badmap, t));
}

static Term fail_badkey(Process *p, Term key)
{
	return exc_error(p, heap_tuple(&p->heap, am_badkey, key));
}

static void bump_pairs(Process *p, size_t n)
{
	process_bump(p, (int)(n / PAIRS_A_REDUCTION));
}

Term bif_erlang_map_size_1(Process *p, Term *args)
{
	if (!term_is_map(args[0]))
		return fail_badmap(p, args[0]);
	return term_from_small((int64_t)map_size(args[0]));
}

Term bif_maps_get_2(Process *p, Term *args)
{
	Term value;

	if (!term_is_map(args[1]))
		return fail_badmap(p, args[1]);
	value = map_get(args[1], args[0]);
	return value != TERM_NONE ? value : fail_badkey(p, args[0]);
}

Term bif_maps_find_2(Process *p, Term *args)
{
	Term value;

	if (!term_is_map(args[1]))
		return fail_badmap(p, args[1]);
	value = map_get(args[1], args[0]);
	return value != TERM_NONE ? heap_tuple(&p->heap, am_ok, value) : (Term)am_error;
}

Term bif_maps_is_key_2(Process *p, Term *args)
{
	if (!term_is_map(args[1]))
		return fail_badmap(p, args[1]);
	return term_from_bool(map_get(args[1], args[0]) != TERM_NONE);
}

Term bif_maps_put_3(Process *p, Term *args)
{
	if (!term_is_map(args[2]))
		return fail_badmap(p, args[2]);
	return map_put(&p->heap, args[2], args[0], args[1]);
}

Term bif_maps_update_3(Process *p, Term *args)
{
	Term map;

	if (!term_is_map(args[2]))
		return fail_badmap(p, args[2]);
	map = map_update(&p->heap, args[2], args[0], args[1]);
	return map != TERM_NONE ? map : fail_badkey(p, args[0]);
}

Term bif_maps_remove_2(Process *p, Term *args)
{
	if (!term_is_map(args[1]))
		return fail_badmap(p, args[1]);
	return map_remove(&p->heap, args[1], args[0], NULL);
}

Term bif_maps_take_2(Process *p, Term *args)
{
	Term map, value;

	if (!term_is_map(args[1]))
		return fail_badmap(p, args[1]);
	map = map_remove(&p->heap, args[1], args[0], &value);
	return value != TERM_NONE ? heap_tuple(&p->heap, value, map) : (Term)am_error;
}

/* ---- maps merged, lists of what is in a map, maps of what is in a list; large ones in steps */

static int64_t pairs_left(const Process *p)
{
	return (int64_t)(p->reds_left > 0 ? p->reds_left : 1) * PAIRS_A_REDUCTION;
}

struct merge_steps {
	struct exc_steps steps;
	struct map_merger merger;
};

static Term merge_step(Process *p, struct exc_steps *steps)
{
	int64_t had = pairs_left(p), left = had;
	Term map = map_merge_some(&((struct merge_steps *)steps)->merger, &left);

	bump_pairs(p, (size_t)(had - left));
	return map != TERM_NONE ? map : EXC_MORE;
}

/* What costs more than a few pairs: two tries. */
static Term merge_tries(Process *p, const Term *args)
{
	struct merge_steps *s = mem_alloc(sizeof(*s));

	s->steps = (struct exc_steps){ .step = merge_step, .place = { am_maps, am_merge_trap, 1 } };
	map_merge_begin(&s->merger, &p->heap, args[0], args[1]);
	return exc_run_steps(p, &s->steps, args, 2);
}

Term bif_maps_merge_2(Process *p, Term *args)
{
	if (!term_is_map(args[0]))
		return fail_badmap(p, args[0]);
	if (!term_is_map(args[1]))
		return fail_badmap(p, args[1]);
	if (!map_is_flat(args[0]) && !map_is_flat(args[1]) && args[0] != args[1])
		return merge_tries(p, args);
	bump_pairs(p, map_size(args[0]) < map_size(args[1]) ? map_size(args[0]) : map_size(args[1]));
	return map_merge(&p->heap, args[0], args[1]);
}

struct list_steps {
	struct exc_steps steps;
	struct map_lister lister;
};

static Term list_step(Process *p, struct exc_steps *steps)
{
	struct map_lister *l = &((struct list_steps *)steps)->lister;
	size_t before = l->left;
	bool done = map_list_some(l, (size_t)pairs_left(p));

	bump_pairs(p, before - l->left);
	return done ? l->list : EXC_MORE;
}

/* args: the native's. */
static Term put_list(Process *p, Term map, enum map_part part, Term tail, const Term *args, unsigned arity)
{
	struct list_steps *s = mem_alloc(sizeof(*s));

	s->steps = (struct exc_steps){ .step = list_step };
	map_list_begin(&s->lister, &p->heap, map, part, tail);
	return exc_run_steps(p, &s->steps, args, arity);
}

static Term put_parts(Process *p, const Term *args, enum map_part part)
{
	if (!term_is_map(args[0]))
		return fail_badmap(p, args[0]);
	if (!map_is_flat(args[0]))
		return put_list(p, args[0], part, NIL, args, 1);
	bump_pairs(p, map_size(args[0]));
	return map_list(&p->heap, args[0], part);
}

Term bif_maps_keys_1(Process *p, Term *args) { return put_parts(p, args, MAP_KEYS); }
Term bif_maps_values_1(Process *p, Term *args) { return put_parts(p, args, MAP_VALUES); }

/* The pair that an element of the list stands for; value TERM_NONE: the element is a pair itself. Fails: false. */
static bool get_pair(Term element, Term value, Term pair[2])
{
	if (value == TERM_NONE && !term_is_tuple_of(element, 2))
		return false;
	pair[0] = value == TERM_NONE ? tuple_get(element, 1) : element;
	pair[1] = value == TERM_NONE ? tuple_get(element, 2) : value;
	return true;
}

struct build_steps {
	struct exc_steps steps;
	struct map_builder *builder;
	Term list, value;    /* still to be added */
};

static Term build_step(Process *p, struct exc_steps *steps)
{
	struct build_steps *s = (struct build_steps *)steps;
	int64_t had = pairs_left(p), left = had;
	Term map = TERM_NONE, pair[2];

	for (; left > 0 && term_is_cons(s->list); left--, s->list = cons_tail(s->list)) {
		if (!get_pair(cons_head(s->list), s->value, pair))
			return exc_badarg(p);
		map_builder_add(s->builder, pair[0], pair[1]);
	}
	if (left > 0 && !term_is_nil(s->list))
		return exc_badarg(p);
	if (left > 0)
		map = map_builder_step(s->builder, &p->heap, &left);
	bump_pairs(p, (size_t)(had - left));
	return map != TERM_NONE ? map : EXC_MORE;
}

static void build_end(struct exc_steps *steps)
{
	sched_lend();
	map_builder_free(((struct build_steps *)steps)->builder);
	sched_reclaim();
}

/* Of less than MAP_BUILDER_MIN elements. */
static Term build_small(Process *p, Term list, Term value)
{
	Term pairs[2 * MAP_BUILDER_MIN];
	size_t n = 0;

	for (; term_is_cons(list); list = cons_tail(list), n++)
		if (!get_pair(cons_head(list), value, pairs + 2 * n))
			return exc_badarg(p);
	if (!term_is_nil(list))
		return exc_badarg(p);
	bump_pairs(p, n);
	return map_from_pairs(&p->heap, pairs, n);
}

static bool is_short(Term list)
{
	size_t n = 0;

	for (; n < MAP_BUILDER_MIN && term_is_cons(list); list = cons_tail(list))
		n++;
	return n < MAP_BUILDER_MIN;
}

static Term build_map(Process *p, Term value, const Term *args, unsigned arity)
{
	struct build_steps *s;

	if (is_short(args[0]))
		return build_small(p, args[0], value);
	s = mem_alloc(sizeof(*s));
	*s = (struct build_steps){ { .step = build_step, .end = build_end }, map_builder_new(), args[0], value };
	return exc_run_steps(p, &s->steps, args, arity);
}

Term bif_maps_from_list_1(Process *p, Term *args) { return build_map(p, TERM_NONE, args, 1); }
Term bif_maps_from_keys_2(Process *p, Term *args) { return build_map(p, args[1], args, 2); }

/* {K1, V1, {K2, V2, ... Rest}}: a few pairs of a trie from the hash `from` on. Rest is [Hash | Map] or none; pairs
 * whose keys share a hash are never parted. */
static Term put_iterator(Process *p, Term map, uint64_t from)
{
	struct map_iter it;
	Term first = am_none, *link = &first, key, value;
	uint64_t hash = 0;

	map_trie_seek(&it, map, from);
	for (unsigned n = 0; map_iter_next(&it, &key, &value); n++) {
		if (n >= ITER_BATCH && map_hash(key) != hash) {
			*link = heap_cons(&p->heap, heap_uint(&p->heap, map_hash(key)), map);
			break;
		}
		hash = map_hash(key);
		*link = heap_tuple(&p->heap, key, value, am_none);
		link = &boxed_ptr(*link)[3];
	}
	return first;
}

static Term put_flat_iterator(Process *p, Term map)
{
	struct map_iter it;
	Term first = am_none, *link = &first, key, value;

	map_iter_init(&it, map);
	while (map_iter_next(&it, &key, &value)) {
		*link = heap_tuple(&p->heap, key, value, am_none);
		link = &boxed_ptr(*link)[3];
	}
	return first;
}

/* Where an iterator stands in a map: a hash (flat maps: a place), or the keys still to come in their order. */
static bool is_path(Term path, Term map)
{
	uint64_t from;

	if (!term_is_map(map))
		return false;
	if (term_is_list(path))
		return term_is_nil(path) || map_get(map, cons_head(path)) != TERM_NONE;
	return num_get_uint64(path, &from) && (!map_is_flat(map) || from <= map_size(map));
}

/* The pairs from a path (is_path) on: {Key, Value, Next}, or none. */
static Term put_from_path(Process *p, Term path, Term map)
{
	uint64_t from;

	if (term_is_cons(path)) {
		Term key = cons_head(path);

		return heap_tuple(&p->heap, key, map_get(map, key), heap_cons(&p->heap, cons_tail(path), map));
	}
	if (term_is_nil(path))
		return am_none;
	num_get_uint64(path, &from);
	return map_is_flat(map) ? put_flat_iterator(p, map) : put_iterator(p, map, from);
}

Term bif_erts_internal_map_next_3(Process *p, Term *args)
{
	if (!is_path(args[0], args[1]))
		return exc_badarg(p);
	if (term_is_list(args[2]))
		return put_list(p, args[1], MAP_PAIRS, args[2], args, 3);
	return args[2] == am_iterator ? put_from_path(p, args[0], args[1]) : exc_badarg(p);
}

/* ---- generators over maps, as the compilers since OTP 26 call them */

static bool is_iterator(Term t)
{
	while (term_is_tuple_of(t, 3))
		t = tuple_get(t, 3);
	return t == am_none || (term_is_cons(t) && is_path(cons_head(t), cons_tail(t)));
}

/* What a generator begins with; [] when it is neither map nor iterator. */
Term bif_erts_internal_mc_iterator_1(Process *p, Term *args)
{
	Term t = args[0];

	if (term_is_map(t))
		return put_from_path(p, SMALL(0), t);
	if (!is_iterator(t))
		return NIL;
	return term_is_cons(t) ? put_from_path(p, cons_head(t), cons_tail(t)) : t;
}

Term bif_erts_internal_mc_refill_1(Process *p, Term *args)
{
	if (!term_is_cons(args[0]) || !is_path(cons_head(args[0]), cons_tail(args[0])))
		return exc_badarg(p);
	return put_from_path(p, cons_head(args[0]), cons_tail(args[0]));
}

Term bif_erts_internal_map_to_tuple_keys_1(Process *p, Term *args)
{
	if (!term_is_map(args[0]))
		return fail_badmap(p, args[0]);
	if (!map_is_flat(args[0]))
		return exc_badarg(p);
	return ((struct flatmap *)boxed_ptr(args[0]))->keys;
}

static Term type_of_binary(Term t)
{
	if (release_cuts_long_binaries())
		return binary_size_bits(t) <= HEAPBIN_LIMIT * 8 ? am_heap_binary : am_sub_binary;
	switch (header_sub(*boxed_ptr(t))) {
	case SUB_REFBIN:
		return am_refc_binary;
	case SUB_HEAPBIN:
		return am_heap_binary;
	default:
		return am_sub_binary;
	}
}

static Term type_of_boxed(Term t)
{
	switch (header_sub(*boxed_ptr(t))) {
	case SUB_TUPLE:
		return am_tuple;
	case SUB_BIG_POS:
	case SUB_BIG_NEG:
		return am_bignum;
	case SUB_REF:
		return am_reference;
	case SUB_FUN:
		return am_fun;
	case SUB_FLOAT:
		return am_hfloat;
	case SUB_EXPORT:
		return am_export;
	case SUB_REFBIN:
	case SUB_HEAPBIN:
	case SUB_SUBBIN:
		return type_of_binary(t);
	case SUB_MAP:
		return map_is_flat(t)                               ? am_flatmap
		       : map_kind(*boxed_ptr(t)) == MAP_NODE_BITMAP ? am_hashmap_node
								    : am_hashmap;
	case SUB_RECORD:
		return am_record;
	case SUB_XPID:
		return am_external_pid;
	case SUB_XPORT:
		return am_external_port;
	default:
		return am_external_reference;
	}
}

Term bif_erts_internal_term_type_1(Process *p, Term *args)
{
	Term t = args[0];

	(void)p;
	if (term_is_cons(t))
		return am_list;
	if (term_is_boxed(t))
		return type_of_boxed(t);
	if (term_is_small(t))
		return am_fixnum;
	if (term_is_atom(t))
		return am_atom;
	if (term_is_local_pid(t))
		return am_pid;
	return term_is_local_port(t) ? am_port : am_nil;
}
