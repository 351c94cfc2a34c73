/* SPDX-License-Identifier: Apache-2.0 */
/* Definitions of native records, and records made by them. */
#include "data/record.h"

#include <stdlib.h>

#include "base/alloc.h"

bool definition_same(Term a, Term b)
{
	const Term *p = boxed_ptr(a), *q = boxed_ptr(b);

	return p == q || (*p == *q && memcmp(p + 1, q + 1, header_arity(*p) * sizeof(Term)) == 0);
}

int64_t definition_find(Term definition, Term field, size_t *from)
{
	const Term *fields = definition_fields(definition);
	size_t n = definition_field_count(definition);

	for (size_t i = 0, at = *from < n ? *from : 0; i < n; i++, at = at + 1 < n ? at + 1 : 0)
		if (fields[at] == field) {
			*from = at + 1;
			return (int64_t)at;
		}
	return -1;
}

Term record_get(Term record, Term field)
{
	size_t from = 0;
	int64_t at = definition_find(record_definition(record), field, &from);

	return at >= 0 ? record_ptr(record)->values[at] : TERM_NONE;
}

struct record *record_new(struct heap *h, Term definition)
{
	size_t n = definition_field_count(definition);
	struct record *r = (struct record *)heap_alloc(h, RECORD_HEAD_WORDS + n);

	r->header = HEADER(RECORD_HEAD_WORDS - 1 + n, SUB_RECORD);
	r->definition = definition;
	for (size_t i = 0; i < n; i++)
		r->values[i] = NIL;
	return r;
}

Term *definition_new(struct heap *h, Term module, Term name, bool exported, size_t fields)
{
	Term *at = heap_alloc(h, RECORD_FIELDS + fields);

	at[0] = HEADER(RECORD_FIELDS - 1 + fields, SUB_TUPLE);
	at[RECORD_MODULE] = module;
	at[RECORD_NAME] = name;
	at[RECORD_EXPORTED] = term_from_bool(exported);
	for (size_t i = 0; i < fields; i++)
		at[RECORD_FIELDS + i] = am_false;
	return at;
}

static int compare_words(const void *a, const void *b)
{
	Term x = *(const Term *)a, y = *(const Term *)b;

	return (x > y) - (x < y);
}

bool definition_is_sound(Term definition)
{
	size_t n = definition_field_count(definition), i = 1;
	Term fixed[32], *sorted = n <= 32 ? fixed : mem_alloc(n * sizeof(Term));

	memcpy(sorted, definition_fields(definition), n * sizeof(Term));
	qsort(sorted, n, sizeof(Term), compare_words);
	while (i < n && sorted[i] != sorted[i - 1])
		i++;
	if (sorted != fixed)
		mem_free(sorted);
	return i >= n;
}

Term definition_field_reason(struct heap *h, Term why, Term definition, Term field)
{
	Term id = heap_tuple(h, tuple_get(definition, RECORD_MODULE), tuple_get(definition, RECORD_NAME));

	return heap_tuple(h, why, heap_tuple(h, id, field));
}

int definition_compare(Term a, Term b)
{
	size_t n = tuple_arity(a), other = tuple_arity(b);
	int order = 0;

	for (size_t i = RECORD_MODULE; i < RECORD_FIELDS && order == 0; i++)
		order = atom_compare(tuple_get(a, i), tuple_get(b, i));
	if (order == 0 && n != other)
		order = n < other ? -1 : 1;
	for (size_t i = RECORD_FIELDS; i <= n && order == 0; i++)
		order = atom_compare(tuple_get(a, i), tuple_get(b, i));
	return order;
}
