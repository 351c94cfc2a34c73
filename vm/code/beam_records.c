/* SPDX-License-Identifier: Apache-2.0 */
/* The chunk Recs: the native records that a module declares (format: OTP 29, lib/compiler/src/beam_asm.erl). A count of
 * records and one of fields, then for each record what looks like an operation of the code: its name, whether it is
 * exported, and a list of a name and a value for each field, the value 0 as a number where it has none. */
#include "code/beam_parse.h"
#include "data/record.h"

enum { RECORDS_VERSION = 0, DECLARES = GENOP_call_last };

static bool fail(struct beam_parse *p, uint32_t index)
{
	return beam_parse_fail(p, "Recs: record %u is damaged", index);
}

static bool is_atom(const struct operand *o) { return o->kind == OPND_CONST && term_is_atom(o->term); }

static bool are_fields(const struct operand *list)
{
	if (list->kind != OPND_LIST || list->count % 2 != 0)
		return false;
	for (uint32_t i = 0; i < list->count; i += 2) {
		const struct operand *value = &list->items[i + 1];

		if (!is_atom(&list->items[i]) ||
		    !(value->kind == OPND_CONST || (value->kind == OPND_U && value->u == 0)))
			return false;
	}
	return true;
}

/* [Definition | Defaults], on the scratch heap. */
static Term declare(struct beam_parse *p, Term name, bool exported, const struct operand *list)
{
	uint32_t n = list->count / 2;
	Term *definition = definition_new(&p->scratch, p->f->module, name, exported, n);
	Term *defaults = heap_alloc(&p->scratch, n + 1);

	defaults[0] = HEADER(n, SUB_TUPLE);
	for (uint32_t i = 0; i < n; i++) {
		const struct operand *value = &list->items[2 * i + 1];

		definition[RECORD_FIELDS + i] = list->items[2 * i].term;
		defaults[1 + i] = value->kind == OPND_CONST ? value->term : RECORD_NO_DEFAULT;
	}
	return heap_cons(&p->scratch, term_from_boxed(definition), term_from_boxed(defaults));
}

static bool parse_record(struct beam_parse *p, struct reader *r, uint32_t index)
{
	struct operand *name = beam_parse_take(p, 3, sizeof(*name)), *exported = name + 1, *fields = name + 2;
	struct operand *o = &p->f->records[index];

	if (reader_u8(r) != DECLARES || !beam_code_operand(p, r, name) || !beam_code_operand(p, r, exported) ||
	    !beam_code_operand(p, r, fields))
		return fail(p, index);
	if (!is_atom(name) || !is_atom(exported) || (exported->term != am_true && exported->term != am_false) ||
	    !are_fields(fields))
		return fail(p, index);
	*o = (struct operand){ .kind = OPND_CONST, .term = declare(p, name->term, exported->term == am_true, fields) };
	if (!definition_is_sound(cons_head(o->term)))
		return fail(p, index);
	beam_parse_constant(p, o);
	return true;
}

bool beam_records_parse(struct beam_parse *p, struct reader *r)
{
	uint32_t version, count;

	if (r->at == NULL)
		return true;
	version = reader_u32(r);
	count = reader_u32(r);
	reader_u32(r);
	if (r->bad || version != RECORDS_VERSION)
		return beam_parse_fail(p, "Recs: version %u is unknown", version);
	if (count > reader_left(r))
		return beam_parse_fail(p, "Recs: its header counts more than it holds");
	p->f->records = beam_parse_take(p, count, sizeof(*p->f->records));
	p->f->record_count = count;
	for (uint32_t i = 0; i < count; i++)
		if (!parse_record(p, r, i))
			return false;
	return true;
}
