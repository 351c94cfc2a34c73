/* SPDX-License-Identifier: Apache-2.0 */
/* The operations of native records. */
#include "exec/record_ops.h"

#include "code/module.h"
#include "exec/call.h"

Term record_read_reason(Process *p, Term t, Term id, Term field)
{
	if (record_is_readable(t, id))
		return definition_field_reason(&p->heap, am_badfield, record_definition(t), field);
	return heap_tuple(&p->heap, am_badrecord, t);
}

Term record_find_exported(Term id)
{
	Term declared = module_find_record(tuple_get(id, 1), tuple_get(id, 2));

	return declared != TERM_NONE && definition_is_exported(cons_head(declared)) ? declared : TERM_NONE;
}

/* Gives r the values of the list. */
static bool set_values(Process *p, struct record *r, const Term *x, const Inst *list, unsigned n)
{
	size_t from = 0;

	for (unsigned i = 0; i < n; i += 2) {
		int64_t field = definition_find(r->definition, list[i], &from);

		if (field < 0) {
			exc_error(p, definition_field_reason(&p->heap, am_badfield, r->definition, list[i]));
			return false;
		}
		r->values[field] = source_get(list[i + 1], x, p->heap.stop);
	}
	return true;
}

Term record_create(Process *p, Term declared, const Term *x, const Inst *list, unsigned n)
{
	Term definition = cons_head(declared);
	struct record *r = record_new(&p->heap, definition);
	size_t fields = definition_field_count(definition);

	term_copy(r->values, boxed_ptr(cons_tail(declared)) + 1, fields);
	if (!set_values(p, r, x, list, n))
		return TERM_NONE;
	for (size_t i = 0; i < fields; i++)
		if (r->values[i] == RECORD_NO_DEFAULT) {
			exc_error(p, definition_field_reason(&p->heap, am_novalue, definition,
							     definition_fields(definition)[i]));
			return TERM_NONE;
		}
	return term_from_boxed((Term *)r);
}

Term record_update(Process *p, Term old, const Term *x, const Inst *list, unsigned n)
{
	struct record *r = record_new(&p->heap, record_definition(old));

	term_copy(r->values, record_ptr(old)->values, record_field_count(old));
	return set_values(p, r, x, list, n) ? term_from_boxed((Term *)r) : TERM_NONE;
}
