/* SPDX-License-Identifier: Apache-2.0 */
/* ets: match, select and their family. A long walk goes on by a trap to erts_internal:ets_select/1; a hash table is
 * fixed for its process meanwhile. What a chunk hands to the user has the shape that ets:repair_continuation/2 knows:
 *   {Table, Bucket, Limit, Program, Rest, length(Rest)}                        hash
 *   {Table, LastKey, [], Limit, Program, Rest, 0 or 1 (reverse), length(Rest)} ordered_set */
#include "bif/bif.h"
#include "bif/ets/bif_ets.h"

#include <string.h>

#include "code/export.h"
#include "ets/match.h"
#include "ets/select.h"
#include "trace/action.h"

static bif_fn find_guard(Term function, unsigned arity)
{
	const struct export *e = export_find(am_erlang, function, arity);

	return e != NULL ? e->bif : NULL;
}

static struct match_program *compile(Term spec)
{
	return match_compile(spec, MATCH_TABLE, find_guard, NULL);
}

/* ---- results */
/* The first n cells copied before `tail`. */
static Term copy_cells(struct heap *h, Term list, size_t n, Term tail)
{
	Term *at = heap_alloc(h, 2 * n);
	Term first = n > 0 ? term_from_cons(at) : tail;

	for (size_t i = 0; i < n; i++, at += 2, list = cons_tail(list)) {
		at[0] = cons_head(list);
		at[1] = i + 1 < n ? term_from_cons(at + 2) : tail;
	}
	return first;
}

static Term reverse_list(struct heap *h, Term list, size_t n)
{
	Term *at = heap_alloc(h, 2 * n);
	Term result = NIL;

	for (; list != NIL; list = cons_tail(list), at += 2) {
		at[0] = cons_head(list);
		at[1] = result;
		result = term_from_cons(at);
	}
	return result;
}

static Term make_continuation(Process *p, struct ets_table *t, const struct select *s, Term rest, size_t rest_length)
{
	struct heap *h = &p->heap;
	/* of a hash table not the name, which may be another table's by then */
	Term table = table_is_tree(t) ? table_id(t, h) : table_ref(t, h);
	Term program = resource_put(h, &s->program->resource);

	if (table_is_tree(t))
		return heap_tuple(h, table, s->last_key, NIL, SMALL(s->limit), program, rest, SMALL(s->reverse),
				  SMALL(rest_length));
	return heap_tuple(h, table, SMALL(s->is_done ? UINT32_MAX : s->bucket), SMALL(s->limit), program, rest,
			  SMALL(rest_length));
}

/* {Results, Continuation}, or '$end_of_table'. */
static Term finish_chunk(Process *p, struct ets_table *t, struct select *s)
{
	struct heap *h = &p->heap;
	Term list = s->list, rest = NIL, continuation = am_end_of_table;
	size_t extra = s->count > s->limit ? s->count - s->limit : 0;

	if (s->count == 0)
		return am_end_of_table;
	if (table_is_tree(t)) {
		list = reverse_list(h, list, s->count);
	} else if (extra > 0) {
		rest = copy_cells(h, list, extra, NIL);
		for (size_t i = 0; i < extra; i++)
			list = cons_tail(list);
	}
	if (!s->is_done || extra > 0)
		continuation = make_continuation(p, t, s, rest, extra);
	return heap_tuple(h, list, continuation);
}

static Term finish(Process *p, struct ets_table *t, struct select *s)
{
	if (s->kind != SELECT_LIST)
		return term_from_small((int64_t)s->count);
	return s->limit != 0 ? finish_chunk(p, t, s) : s->list;
}

/* ---- slices */
enum { STATE_TABLE = 1, STATE_PROGRAM, STATE_KIND, STATE_REVERSE, STATE_LIMIT, STATE_PLACE, STATE_LIST, STATE_COUNT,
       STATE_SEEN, STATE_CARRIED, STATE_BEGAN, /* ets_probe_leave */
       STATE_WORDS = STATE_BEGAN };

static Term trap_on(Process *p, struct ets_table *t, const struct select *s)
{
	struct heap *h = &p->heap;
	Term place = table_is_tree(t) ? heap_cons(h, s->last_key, NIL) : SMALL(s->bucket);
	Term table = table_ref(t, h);
	Term program = resource_put(h, &s->program->resource);
	Term state = heap_tuple(h, table, program, SMALL(s->kind), SMALL(s->reverse), SMALL(s->limit), place, s->list,
				SMALL(s->count), SMALL(s->seen), SMALL(s->carried), SMALL(ets_probe_leave()));

	return exc_trap(p, export_get(am_erts_internal, am_ets_select, 1), 1, &state);
}

/* The table is held. Runs one slice, and ends the hold. */
static Term run_slice(Process *p, struct ets_hold *hold, struct select *s, bool is_resumed)
{
	struct ets_table *t = hold->table;
	struct ets_change change = { 0, 0 };
	bool wants_fix = !table_is_tree(t) && hold->is_write;
	Term result;

	s->has_fixed = is_resumed && wants_fix;
	process_bump(p, (int)select_run(s, t, p, ETS_SLICE_OBJECTS, &change) * ETS_REDUCTIONS_AN_OBJECT + 1);
	if (s->is_done || (s->limit != 0 && s->count >= s->limit)) {
		/* What a trap carried may be forged; the count matters where results are parted into chunks. */
		bool forged = is_resumed && s->kind == SELECT_LIST && s->limit != 0 &&
			      list_length(s->list) != (int64_t)s->count;

		result = forged ? exc_badarg(p) : finish(p, t, s);
		if (PROBE_ON(ets__scan))
			probe_ets__scan(p, t, s->seen, s->count - s->carried);
		if (is_resumed && wants_fix)
			table_unfix(t, p->id);
	} else {
		result = trap_on(p, t, s);
		if (!is_resumed && wants_fix)
			table_fix(t, p->id);
	}
	if (hold->is_write)
		table_release_changed(hold, &change);
	else
		table_release(hold);
	return result;
}

static enum ets_access walk_access(enum select_kind kind)
{
	return kind == SELECT_DELETE || kind == SELECT_REPLACE ? ETS_WRITE : ETS_READ;
}

/* A hash table too large for one slice will have to be fixed: that takes the table exclusively. */
static bool hold_for_walk(struct ets_hold *hold, Process *p, Term table, enum select_kind kind)
{
	enum ets_access access = walk_access(kind);
	struct ets_table *t;

	if (table_hold(hold, p, table, access) != ETS_OK)
		return false;
	t = hold->table;
	if (hold->is_write || table_is_tree(t))
		return true;
	/* A mutex or all stripes are exclusive as they are. */
	if (!t->is_shared) {
		hold->is_write = true;
		return true;
	}
	if (table_objects(t) + atomic_load(&t->store.hash.active) < ETS_SLICE_OBJECTS)
		return true;
	table_release(hold);
	return table_hold_exclusive(hold, p, table, access) == ETS_OK;
}

/* badarg for what was to be walked with; the table is blamed first, nothing replaces in bags. */
static Term exc_no_walk(Process *p, Term table, enum select_kind kind)
{
	struct ets_hold hold;
	bool is_bag;

	if (table_hold(&hold, p, table, walk_access(kind)) != ETS_OK)
		return exc_hold(p, &hold);
	is_bag = hold.table->options.type == ETS_BAG;
	table_release(&hold);
	return exc_badarg_cause(p, kind == SELECT_REPLACE && is_bag ? am_table_type : NIL);
}

/* Takes: the program's reference. */
static Term start_walk(Process *p, Term table, struct match_program *m, enum select_kind kind, size_t limit,
		       bool reverse)
{
	struct select s = { .kind = kind, .limit = limit, .reverse = reverse, .program = m, .list = NIL };
	struct ets_hold hold;
	Term result;

	if (m == NULL)
		return exc_no_walk(p, table, kind);
	if (!hold_for_walk(&hold, p, table, kind)) {
		resource_unref(&m->resource);
		return exc_hold(p, &hold);
	}
	if (kind == SELECT_REPLACE &&
	    (hold.table->options.type == ETS_BAG || !match_keeps_key(m, table_key(hold.table)))) {
		table_release(&hold);
		result = exc_no_walk(p, table, kind);
	} else {
		result = run_slice(p, &hold, &s, false);
	}
	resource_unref(&m->resource);
	return result;
}

static bool is_count(Term t, int64_t max) { return term_is_small(t) && small_value(t) >= 0 && small_value(t) <= max; }

/* What trap_on made? The list is looked at in the end, where its length matters. */
static bool is_state(Term t)
{
	return term_is_tuple_of(t, STATE_WORDS) && match_get(tuple_get(t, STATE_PROGRAM)) != NULL &&
	       is_count(tuple_get(t, STATE_KIND), SELECT_REPLACE) && is_count(tuple_get(t, STATE_REVERSE), 1) &&
	       is_count(tuple_get(t, STATE_LIMIT), SMALL_MAX) && is_count(tuple_get(t, STATE_COUNT), SMALL_MAX) &&
	       is_count(tuple_get(t, STATE_SEEN), SMALL_MAX) && is_count(tuple_get(t, STATE_CARRIED), SMALL_MAX) &&
	       is_count(tuple_get(t, STATE_BEGAN), SMALL_MAX) &&
	       term_is_list(tuple_get(t, STATE_LIST)) &&
	       (term_is_cons(tuple_get(t, STATE_PLACE)) || is_count(tuple_get(t, STATE_PLACE), UINT32_MAX));
}

static Term resume_walk(Process *p, Term state)
{
	Term place;
	struct select s;
	struct ets_hold hold;

	place = tuple_get(state, STATE_PLACE);
	s = (struct select){
		.kind = (enum select_kind)small_value(tuple_get(state, STATE_KIND)),
		.reverse = small_value(tuple_get(state, STATE_REVERSE)) != 0,
		.limit = (size_t)small_value(tuple_get(state, STATE_LIMIT)),
		.program = match_get(tuple_get(state, STATE_PROGRAM)),
		.list = tuple_get(state, STATE_LIST),
		.count = (size_t)small_value(tuple_get(state, STATE_COUNT)),
		.seen = (size_t)small_value(tuple_get(state, STATE_SEEN)),
		.carried = (size_t)small_value(tuple_get(state, STATE_CARRIED)),
	};
	if (term_is_cons(place))
		s.last_key = cons_head(place);
	else
		s.bucket = (uint32_t)small_value(place);
	if (!hold_for_walk(&hold, p, tuple_get(state, STATE_TABLE), s.kind))
		return exc_hold(p, &hold);
	/* The table may have shrunk below one slice: it is fixed all the same. */
	if (!table_is_tree(hold.table) && !hold.is_write) {
		table_release(&hold);
		if (table_hold_exclusive(&hold, p, tuple_get(state, STATE_TABLE), ETS_READ) != ETS_OK)
			return exc_hold(p, &hold);
	}
	return run_slice(p, &hold, &s, true);
}

Term bif_erts_internal_ets_select_1(Process *p, Term *args)
{
	Term state = args[0], result;

	if (!is_state(state))
		return exc_badarg(p);
	ets_probe_resume((uint64_t)small_value(tuple_get(state, STATE_BEGAN)));
	result = resume_walk(p, state);
	ets_probe_resumed(p, tuple_get(state, STATE_TABLE));
	return result;
}

/* ---- what users call */
static bool check_limit(Term limit)
{
	return term_is_small(limit) && small_value(limit) > 0;
}

static struct match_program *compile_match(Term pattern)
{
	return match_compile_pattern(pattern, am_dollar_dollar, find_guard);
}

static struct match_program *compile_match_object(Term pattern)
{
	return match_compile_pattern(pattern, am_dollar_dots, find_guard);
}

/* args: the table, what `make` compiles, how many results a chunk has. */
static Term start_chunks(Process *p, Term *args, struct match_program *(*make)(Term), bool reverse)
{
	if (!check_limit(args[2]))
		return exc_badarg_beside(p, args[0], ETS_READ);
	return start_walk(p, args[0], make(args[1]), SELECT_LIST, (size_t)small_value(args[2]), reverse);
}

ETS_TOLD(ets_select_2, SELECT, NONE)
{
	return start_walk(p, args[0], compile(args[1]), SELECT_LIST, 0, false);
}

ETS_TOLD(ets_select_reverse_2, SELECT, NONE)
{
	return start_walk(p, args[0], compile(args[1]), SELECT_LIST, 0, true);
}

ETS_TOLD(ets_select_count_2, SELECT, NONE)
{
	return start_walk(p, args[0], compile(args[1]), SELECT_COUNT, 0, false);
}

ETS_TOLD(ets_internal_select_delete_2, SELECT, NONE)
{
	return start_walk(p, args[0], compile(args[1]), SELECT_DELETE, 0, false);
}

ETS_TOLD(ets_select_replace_2, SELECT, NONE)
{
	return start_walk(p, args[0], compile(args[1]), SELECT_REPLACE, 0, false);
}

ETS_TOLD(ets_match_2, SELECT, NONE)
{
	return start_walk(p, args[0], compile_match(args[1]), SELECT_LIST, 0, false);
}

ETS_TOLD(ets_match_object_2, SELECT, NONE)
{
	return start_walk(p, args[0], compile_match_object(args[1]), SELECT_LIST, 0, false);
}

ETS_TOLD(ets_select_3, SELECT, NONE) { return start_chunks(p, args, compile, false); }
ETS_TOLD(ets_select_reverse_3, SELECT, NONE) { return start_chunks(p, args, compile, true); }
ETS_TOLD(ets_match_3, SELECT, NONE) { return start_chunks(p, args, compile_match, false); }
ETS_TOLD(ets_match_object_3, SELECT, NONE) { return start_chunks(p, args, compile_match_object, false); }

/* ---- the next chunk */
/* Reads a continuation from the user's hands. */
static bool read_continuation(Term c, struct select *s)
{
	size_t arity = term_is_tuple(c) ? tuple_arity(c) : 0;
	bool is_tree = arity == 8;
	Term limit, program, rest;
	long n;

	if (arity != 6 && arity != 8)
		return false;
	limit = tuple_get(c, is_tree ? 4 : 3);
	program = tuple_get(c, is_tree ? 5 : 4);
	rest = tuple_get(c, is_tree ? 6 : 5);
	n = list_length(rest);
	if (!check_limit(limit) || match_get(program) == NULL || n < 0)
		return false;
	if (!is_tree && (!term_is_small(tuple_get(c, 2)) || small_value(tuple_get(c, 2)) < 0 ||
			 small_value(tuple_get(c, 2)) > UINT32_MAX))
		return false;
	*s = (struct select){
		.kind = SELECT_LIST, .limit = (size_t)small_value(limit), .program = match_get(program),
		.list = rest, .count = (size_t)n, .carried = (size_t)n,
	};
	if (is_tree) {
		s->last_key = tuple_get(c, 2);
		s->reverse = tuple_get(c, 7) != SMALL(0);
	} else {
		s->bucket = (uint32_t)small_value(tuple_get(c, 2));
	}
	return true;
}

static Term next_chunk(Process *p, Term continuation)
{
	struct select s;
	struct ets_hold hold;

	if (continuation == am_end_of_table)
		return continuation;
	if (!term_is_tuple(continuation) || tuple_arity(continuation) == 0)
		return exc_badarg(p);
	if (!read_continuation(continuation, &s))
		return exc_badarg_beside(p, tuple_get(continuation, 1), ETS_READ);
	if (!hold_for_walk(&hold, p, tuple_get(continuation, 1), SELECT_LIST))
		return exc_hold(p, &hold);
	if (table_is_tree(hold.table) != (tuple_arity(continuation) == 8)) {
		table_release(&hold);
		return exc_badarg(p);
	}
	return run_slice(p, &hold, &s, false);
}

ETS_TOLD(ets_select_1, SELECT, NONE) { return next_chunk(p, args[0]); }
ETS_TOLD(ets_select_reverse_1, SELECT, NONE) { return next_chunk(p, args[0]); }
ETS_TOLD(ets_match_1, SELECT, NONE) { return next_chunk(p, args[0]); }
ETS_TOLD(ets_match_object_1, SELECT, NONE) { return next_chunk(p, args[0]); }

/* ---- match specifications by themselves */
Term bif_ets_match_spec_compile_1(Process *p, Term *args)
{
	struct match_program *m = args[0] != NIL ? compile(args[0]) : NULL;
	Term ref;

	if (m == NULL)
		return exc_badarg(p);
	ref = resource_put(&p->heap, &m->resource);
	resource_unref(&m->resource);
	return ref;
}

Term bif_ets_is_compiled_ms_1(Process *p, Term *args)
{
	(void)p;
	return term_from_bool(match_get(args[0]) != NULL);
}

/* The results before args[2], the last first; what is left of a long list by a trap to itself. */
Term bif_ets_match_spec_run_r_3(Process *p, Term *args)
{
	struct match_program *m = match_get(args[1]);
	Term list = args[0], results = args[2];
	struct match_context c;
	int n = 0;

	if (m == NULL)
		return exc_badarg(p);
	match_begin(&c, p, m, false);
	for (; term_is_cons(list) && n < ETS_SLICE_OBJECTS; list = cons_tail(list), n++) {
		Term result = match_run(&c, cons_head(list));

		if (result != TERM_NONE)
			results = heap_cons(&p->heap, result, results);
	}
	match_end(&c);
	process_bump(p, n * ETS_REDUCTIONS_AN_OBJECT);
	if (term_is_cons(list)) {
		Term more[3] = { list, args[1], results };

		return exc_trap(p, export_get(am_ets, am_match_spec_run_r, 3), 3, more);
	}
	return list == NIL ? results : exc_badarg(p);
}

/* ---- erlang:match_spec_test/3 */
static Term list_errors(struct heap *h, const struct match_errors *e)
{
	Term list = NIL;

	for (uint32_t i = e->count; i-- > 0;) {
		Term text = heap_list_bytes(h, e->texts[i].text, e->texts[i].used, NIL);

		list = heap_cons(h, heap_tuple(h, e->warnings[i] ? am_warning : am_error, text), list);
	}
	return list;
}

/* The message, and what of returns is to be traced, as flags. */
static Term test_trace(Process *p, struct match_program *m, Term arguments, Term *flags)
{
	struct trace_outcome o;

	if (list_length(arguments) < 0)
		return am_false;
	o = trace_run_test(p, m, arguments);
	if (o.is_exception_traced)
		*flags = heap_cons(&p->heap, am_exception_trace, *flags);
	if (o.is_return_traced)
		*flags = heap_cons(&p->heap, am_return_trace, *flags);
	return o.message;
}

static Term test_table(Process *p, struct match_program *m, Term subject)
{
	struct match_context c;
	Term result;

	match_begin(&c, p, m, false);
	result = match_run(&c, subject);
	match_end(&c);
	return result != TERM_NONE ? result : am_false;
}

Term bif_erlang_match_spec_test_3(Process *p, Term *args)
{
	enum match_dialect dialect = args[2] == am_trace ? MATCH_TRACE : MATCH_TABLE;
	struct match_errors errors = { 0 };
	struct match_program *m;
	Term result, flags = NIL;

	if ((args[2] != am_trace && args[2] != am_table) || (dialect == MATCH_TRACE && !term_is_list(args[0])))
		return exc_badarg(p);
	m = match_compile(args[1], dialect, find_guard, &errors);
	if (m == NULL) {
		Term list = list_errors(&p->heap, &errors);

		match_errors_free(&errors);
		return heap_tuple(&p->heap, am_error, list);
	}
	result = dialect == MATCH_TRACE ? test_trace(p, m, args[0], &flags) : test_table(p, m, args[0]);
	resource_unref(&m->resource);
	return heap_tuple(&p->heap, am_ok, result, flags, NIL);
}

/* ---- for ets:info(Table, binary): what binaries the objects of a key hold, the deleted ones too */
static Term list_binaries(struct heap *h, const struct ets_object *o, Term list)
{
	for (const Term *at = o->off_heap; at != NULL; at = *off_heap_next((Term *)at)) {
		const struct refbin *r = (const struct refbin *)at;

		if (header_sub(*at) != SUB_REFBIN)
			continue;
		list = heap_cons(h,
				 heap_tuple(h, heap_uint(h, (uintptr_t)r->binary), heap_uint(h, r->binary->size_bytes),
					    heap_uint(h, binary_refs(r->binary))),
				 list);
	}
	return list;
}

Term bif_erts_internal_ets_lookup_binary_info_2(Process *p, Term *args)
{
	struct ets_hold hold;
	const struct ets_store *s;
	struct ets_object *o, **at;
	Term list = NIL;

	if (table_hold_key(&hold, p, args[0], ETS_READ, args[1]) != ETS_OK)
		return exc_hold(p, &hold);
	s = &hold.table->store;
	if (s->is_tree) {
		o = tree_lookup(&s->tree, args[1]);
		if (o != NULL)
			list = list_binaries(&p->heap, o, list);
	} else {
		at = hash_find(&s->hash, hold.hash, args[1]);
		for (; at != NULL && *at != NULL && hash_has_key(&s->hash, *at, hold.hash, args[1]); at = &(*at)->next)
			list = list_binaries(&p->heap, *at, list);
	}
	table_release(&hold);
	return list;
}
