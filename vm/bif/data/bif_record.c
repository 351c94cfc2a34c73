/* SPDX-License-Identifier: Apache-2.0 */
/* Built-in functions of native records: those of the module records. */
#include "bif/bif.h"
#include "code/module.h"
#include "data/map.h"
#include "data/record.h"

static Term fail_badrecord(Process *p, Term t)
{
	return exc_error(p, heap_tuple(&p->heap, am_badrecord, t));
}

static Term fail_badfield(Process *p, Term definition, Term field)
{
	return exc_error(p, definition_field_reason(&p->heap, am_badfield, definition, field));
}

Term bif_erlang_is_record_1(Process *p, Term *args)
{
	(void)p;
	return term_from_bool(term_is_record(args[0]));
}

/* ---- create */

/* #{is_exported := boolean()} */
static bool read_options(Term options, bool *exported)
{
	Term t = map_size(options) == 1 ? map_get(options, am_is_exported) : TERM_NONE;

	*exported = t == am_true;
	return t == am_true || t == am_false;
}

/* [{Name, Value}]: the names into the definition. Returns TERM_NONE with the exception set when it is no such list. */
static Term read_names(Process *p, Term fields, Term *definition)
{
	for (size_t i = RECORD_FIELDS; fields != NIL; fields = cons_tail(fields), i++) {
		Term pair = cons_head(fields);

		if (!term_is_tuple_of(pair, 2))
			return exc_badarg(p);
		if (!term_is_atom(tuple_get(pair, 1)))
			return fail_badfield(p, term_from_boxed(definition), tuple_get(pair, 1));
		definition[i] = tuple_get(pair, 1);
	}
	return definition_is_sound(term_from_boxed(definition)) ? am_ok : exc_badarg(p);
}

Term bif_records_create_4(Process *p, Term *args)
{
	int64_t n = list_length(args[2]);
	Term *definition;
	struct record *r;
	bool exported;

	if (!term_is_atom(args[0]) || !term_is_atom(args[1]))
		return fail_badrecord(p, args[1]);
	if (!term_is_map(args[3]))
		return exc_error(p, heap_tuple(&p->heap, am_badmap, args[3]));
	if (!read_options(args[3], &exported) || n < 0)
		return exc_badarg(p);
	definition = definition_new(&p->heap, args[0], args[1], exported, (size_t)n);
	if (read_names(p, args[2], definition) == TERM_NONE)
		return TERM_NONE;
	r = record_new(&p->heap, term_from_boxed(definition));
	for (int64_t i = 0; i < n; i++, args[2] = cons_tail(args[2]))
		r->values[i] = tuple_get(cons_head(args[2]), 2);
	return term_from_boxed((Term *)r);
}

/* ---- update */

Term bif_records_update_4(Process *p, Term *args)
{
	Term definition, key, value;
	struct map_iter it;
	struct record *r;
	size_t from = 0;

	if (!term_is_record(args[0]))
		return fail_badrecord(p, args[0]);
	definition = record_definition(args[0]);
	if (args[2] != am_underscore && !definition_is(definition, args[1], args[2]))
		return fail_badrecord(p, args[2]);
	if (!term_is_map(args[3]))
		return exc_error(p, heap_tuple(&p->heap, am_badmap, args[3]));
	if (map_size(args[3]) == 0)
		return args[0];
	r = record_new(&p->heap, definition);
	term_copy(r->values, record_ptr(args[0])->values, record_field_count(args[0]));
	map_iter_init(&it, args[3]);
	while (map_iter_next(&it, &key, &value)) {
		int64_t at = definition_find(definition, key, &from);

		if (at < 0)
			return fail_badfield(p, definition, key);
		r->values[at] = value;
	}
	return term_from_boxed((Term *)r);
}

/* ---- what a record is */

Term bif_records_get_2(Process *p, Term *args)
{
	Term value = term_is_record(args[1]) && term_is_atom(args[0]) ? record_get(args[1], args[0]) : TERM_NONE;

	return value != TERM_NONE ? value : exc_badarg(p);
}

Term bif_records_get_module_1(Process *p, Term *args)
{
	return term_is_record(args[0]) ? tuple_get(record_definition(args[0]), RECORD_MODULE) : exc_badarg(p);
}

Term bif_records_get_name_1(Process *p, Term *args)
{
	return term_is_record(args[0]) ? tuple_get(record_definition(args[0]), RECORD_NAME) : exc_badarg(p);
}

Term bif_records_get_field_names_1(Process *p, Term *args)
{
	Term definition;

	if (!term_is_record(args[0]))
		return fail_badrecord(p, args[0]);
	definition = record_definition(args[0]);
	return heap_list_array(&p->heap, definition_field_count(definition), definition_fields(definition), NIL);
}

Term bif_records_is_exported_1(Process *p, Term *args)
{
	if (!term_is_record(args[0]))
		return fail_badrecord(p, args[0]);
	return tuple_get(record_definition(args[0]), RECORD_EXPORTED);
}

/* {#{is_exported => boolean()}, [{Field, Default} or Field]} */
Term bif_records_get_definition_2(Process *p, Term *args)
{
	struct heap *h = &p->heap;
	Term declared, definition, keys[] = { am_is_exported }, values[1], list = NIL;

	declared = term_is_atom(args[0]) && term_is_atom(args[1]) ? module_find_record(args[0], args[1]) : TERM_NONE;
	if (declared == TERM_NONE)
		return exc_badarg(p);
	definition = cons_head(declared);
	for (size_t i = definition_field_count(definition); i-- > 0;) {
		Term field = definition_fields(definition)[i], value = boxed_ptr(cons_tail(declared))[1 + i];

		list = heap_cons(h, value == RECORD_NO_DEFAULT ? field : heap_tuple(h, field, value), list);
	}
	values[0] = tuple_get(definition, RECORD_EXPORTED);
	return heap_tuple(h, map_from_atoms(h, 1, keys, values), list);
}
