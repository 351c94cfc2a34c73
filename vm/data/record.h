/* SPDX-License-Identifier: Apache-2.0 */
/* Native records, which OTP 29 brought: what stands in struct record (term/term.h). Their definition is a tuple of
 * atoms, {Module, Name, IsExported, Field...}, the fields as they were declared; records share it, those that a module
 * makes the one in its literals. A record's values stand in the same order. Where a module declares a record, its
 * literals have [Definition | Defaults] (RECORD_NO_DEFAULT: a field must be given). */
#ifndef VM_DATA_RECORD_H
#define VM_DATA_RECORD_H

#include "heap/heap.h"
#include "term/atom.h"

/* Elements of a definition, as those of a tuple; the fields begin at RECORD_FIELDS. */
enum { RECORD_MODULE = 1, RECORD_NAME, RECORD_EXPORTED, RECORD_FIELDS };
enum { RECORD_HEAD_WORDS = 2 };
/* Not a term: the field has no value unless it is given one. */
#define RECORD_NO_DEFAULT ((Term)TAG_CATCH)

static inline struct record *record_ptr(Term t) { return (struct record *)boxed_ptr(t); }
static inline Term record_definition(Term t) { return record_ptr(t)->definition; }
static inline size_t definition_field_count(Term definition) { return tuple_arity(definition) - RECORD_FIELDS + 1; }
static inline size_t record_field_count(Term t) { return header_arity(*boxed_ptr(t)) - 1; }
static inline const Term *definition_fields(Term definition) { return boxed_ptr(definition) + RECORD_FIELDS; }
static inline bool definition_is(Term definition, Term module, Term name)
{
	return tuple_get(definition, RECORD_MODULE) == module && tuple_get(definition, RECORD_NAME) == name;
}
static inline bool definition_is_exported(Term definition) { return tuple_get(definition, RECORD_EXPORTED) == am_true; }

/* Do two definitions say the same? */
bool definition_same(Term a, Term b);
/* Which field has that name, from 0; -1: none. *from: where to look first, as who asks for several in about their order
 * does. */
int64_t definition_find(Term definition, Term field, size_t *from);
/* The value of that field; TERM_NONE: it has none of that name. */
Term record_get(Term record, Term field);
/* Room for a record; its values are []. */
struct record *record_new(struct heap *h, Term definition);
/* A definition with room for that many fields, which are false. */
Term *definition_new(struct heap *h, Term module, Term name, bool exported, size_t fields);
/* Is no name there twice? */
bool definition_is_sound(Term definition);
/* {badfield or novalue, {{Module, Name}, Field}} */
Term definition_field_reason(struct heap *h, Term why, Term definition, Term field);
/* By module, name, whether they are exported, number of fields and names. */
int definition_compare(Term a, Term b);

#endif
