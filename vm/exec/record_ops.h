/* SPDX-License-Identifier: Apache-2.0 */
/* What the operations of native records do. A list: n words, names of fields and sources of their values by turns. */
#ifndef VM_EXEC_RECORD_OPS_H
#define VM_EXEC_RECORD_OPS_H

#include "code/opcodes.h"
#include "data/record.h"
#include "proc/process.h"

/* May code read fields of t that names it by id? An atom is a record's name, in whatever module, or _, which is every
 * record; {Module, Name}: of an exported one. */
static inline bool record_is_readable(Term t, Term id)
{
	Term definition;

	if (!term_is_record(t))
		return false;
	definition = record_definition(t);
	if (term_is_atom(id))
		return id == am_underscore || tuple_get(definition, RECORD_NAME) == id;
	return definition_is(definition, tuple_get(id, 1), tuple_get(id, 2)) && definition_is_exported(definition);
}

/* Why a field was not read. */
Term record_read_reason(Process *p, Term t, Term id, Term field);
/* What {Module, Name} is declared as, when it is exported; TERM_NONE else. */
Term record_find_exported(Term id);
/* With room on the heap, the stack swapped out. Fail: TERM_NONE with the exception set. */
Term record_create(Process *p, Term declared, const Term *x, const Inst *list, unsigned n);
Term record_update(Process *p, Term old, const Term *x, const Inst *list, unsigned n);

#endif
