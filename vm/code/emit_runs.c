/* SPDX-License-Identifier: Apache-2.0 */
/* The translation: runs of internal operations that are done as one.
 * The first operation of a run gets another number and keeps its fields; the others stay behind it. The joined operation
 * does all of them in the usual case, and otherwise goes to the code of the first one alone. So a label may stand inside
 * a run, and unusual cases, errors and traces are left to the single operations. */
#include "code/emit.h"

/* A field of 16 bits. */
static unsigned half(const Inst *at, unsigned n)
{
	return (unsigned)(*at >> 16 * n) & 0xffff;
}

static bool is_x(unsigned reg) { return !(reg & REG_Y_BIT); }

/* bs_start_match3 {live, to | source}, bs_get_integer {context, to}, bs_test_unit {context, unit} */
static bool joins_start(const Inst *start, const Inst *get, const Inst *test)
{
	unsigned context = half(start, 2);

	return is_x(context) && start[2] == source_from_reg(context) && half(get, 1) == context && is_x(half(get, 2)) &&
	       half(test, 1) == context && half(test, 2) == 8;
}

/* bs_start_match3_position {live, to, position | source}, bs_get_integer_8 {context, to} */
static bool joins_start_position(const Inst *start, const Inst *get, const Inst *last)
{
	unsigned context = half(start, 2);

	(void)last;
	return source_is_reg(start[2]) && is_x((unsigned)(start[2] >> 2)) && is_x(context) && is_x(half(start, 3)) &&
	       half(get, 1) == context && is_x(half(get, 2));
}

/* The same, joined before; bs_get_position {context, position} */
static bool joins_position(const Inst *start, const Inst *get, const Inst *last)
{
	(void)get;
	return half(last, 1) == half(start, 2) && is_x(half(last, 2));
}

/* bs_set_position {context}, bs_test_unit {context} */
static bool joins_same(const Inst *first, const Inst *second, const Inst *last)
{
	(void)second;
	return half(first, 1) == half(last, 1);
}

static bool joins_always(const Inst *first, const Inst *second, const Inst *third)
{
	(void)first;
	(void)second;
	(void)third;
	return true;
}

/* second: OP_COUNT when the run is of two operations, the first and the last. */
static const struct run {
	uint16_t first, second, last, joined;
	bool (*fits)(const Inst *first, const Inst *second, const Inst *last);
} runs[] = {
#define WHOLE(name, bits, is_little, is_signed) \
	{ OP_bs_start_match3, OP_bs_get_integer_##name, OP_bs_test_unit, OP_bs_start_get_##name, joins_start },
#include "data/bits_whole.def"
	{ OP_bs_start_match3_position, OP_COUNT, OP_bs_get_integer_8, OP_bs_start_position_get_8, joins_start_position },
	{ OP_bs_start_position_get_8, OP_bs_get_integer_8, OP_bs_get_position, OP_bs_start_position_get_8_position,
	  joins_position },
	{ OP_bs_set_position, OP_COUNT, OP_bs_test_unit, OP_bs_set_position_test_unit, joins_same },
	{ OP_add_xxx, OP_COUNT, OP_call_only, OP_add_xxx_call_only, joins_always },
	{ OP_add_xix, OP_COUNT, OP_call_only, OP_add_xix_call_only, joins_always },
};

static bool ends_run[OP_COUNT];

void emit_runs_init(void)
{
	for (size_t i = 0; i < sizeof(runs) / sizeof(runs[0]); i++)
		ends_run[runs[i].last] = true;
}

static uint16_t op_at(const struct emitter *em, size_t at)
{
	return (uint16_t)em->words[at];
}

/* Does the instruction at `next` stand right behind the one at `at`? */
static bool follows(const struct emitter *em, size_t at, size_t next)
{
	return at + opcode_info(op_at(em, at))->words == next;
}

static bool is_run(const struct emitter *em, const struct run *r)
{
	size_t last = em->base, before = em->bases[1], first = em->bases[0];

	if (op_at(em, last) != r->last || !follows(em, before, last))
		return false;
	if (r->second == OP_COUNT)
		return op_at(em, before) == r->first;
	return op_at(em, before) == r->second && follows(em, first, before) && op_at(em, first) == r->first;
}

void emit_join_run(struct emitter *em)
{
	if (!ends_run[op_at(em, em->base)])
		return;
	for (size_t i = 0; i < sizeof(runs) / sizeof(runs[0]); i++) {
		const struct run *r = &runs[i];
		Inst *at = em->words + (r->second == OP_COUNT ? em->bases[1] : em->bases[0]);

		if (!is_run(em, r))
			continue;
		if (r->fits(at, em->words + em->bases[1], em->words + em->base))
			*at = (*at & ~(Inst)0xffff) | r->joined;
		return;
	}
}
