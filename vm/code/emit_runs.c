/* SPDX-License-Identifier: Apache-2.0 */
/* The translation: runs of internal operations that are done as one. The first operation of a run gets another number
 * and keeps its fields; the others stay behind it. The joined operation does all of them in the usual case, and
 * otherwise goes to the code of the first one alone. So a label may stand inside a run, and unusual cases, errors and
 * traces are left to the single operations. */
#include "code/emit.h"

/* A field of 16 bits. */
static unsigned half(const Inst *at, unsigned n)
{
	return (unsigned)(*at >> 16 * n) & 0xffff;
}

static bool is_x(unsigned reg) { return !(reg & REG_Y_BIT); }

enum { RUN_MAX = 5 };

/* bs_start_match3 {live, to | source}, an operation that gets something from that context to `to`, bs_test_unit
 * {context, unit} */
static bool is_start(const Inst *const at[], unsigned to)
{
	const Inst *start = at[0], *get = at[1], *test = at[2];
	unsigned context = half(start, 2);

	return is_x(context) && start[2] == source_from_reg(context) && half(get, 1) == context && is_x(to) &&
	       half(test, 1) == context && half(test, 2) == 8;
}

/* bs_get_integer or bs_get_utf8 {context, to} */
static bool joins_start(const Inst *const at[]) { return is_start(at, half(at[1], 2)); }

/* bs_get_utf16 {context, flags, to} */
static bool joins_start_utf16(const Inst *const at[]) { return is_start(at, half(at[1], 3)); }

/* The same, joined before; add {a, what was got, to}, call_only */
static bool joins_sum(const Inst *const at[])
{
	unsigned got = half(at[1], 2);

	return half(at[3], 1) != got && half(at[3], 2) == got;
}

/* bs_start_match3_position {live, to, position | source}, bs_get_integer_8 {context, to} */
static bool joins_start_position(const Inst *const at[])
{
	const Inst *start = at[0], *get = at[1];
	unsigned context = half(start, 2);

	return source_is_reg(start[2]) && is_x((unsigned)(start[2] >> 2)) && is_x(context) && is_x(half(start, 3)) &&
	       half(get, 1) == context && is_x(half(get, 2));
}

/* The same, joined before; bs_get_position {context, position} */
static bool joins_position(const Inst *const at[])
{
	return half(at[2], 1) == half(at[0], 2) && is_x(half(at[2], 2));
}

/* The same, joined before; is_eq_exact {what was got} */
static bool joins_eq(const Inst *const at[])
{
	return half(at[3], 1) == half(at[1], 2) && half(at[2], 2) != half(at[1], 2);
}

/* bs_set_position {context}, bs_test_unit {context} */
static bool joins_same(const Inst *const at[]) { return half(at[0], 1) == half(at[1], 1); }

static bool joins_always(const Inst *const at[])
{
	(void)at;
	return true;
}

/* A row whose first operation is another row's joined one goes on from there. */
static const struct run {
	uint8_t count;
	uint16_t ops[RUN_MAX], joined;
	bool (*fits)(const Inst *const at[]);
} runs[] = {
#define WHOLE(name, bits, is_little, is_signed) \
	{ 3, { OP_bs_start_match3, OP_bs_get_integer_##name, OP_bs_test_unit }, OP_bs_start_get_##name, joins_start }, \
	{ 5, { OP_bs_start_get_##name, OP_bs_get_integer_##name, OP_bs_test_unit, OP_add_xxx, OP_call_only }, \
	  OP_bs_start_get_##name##_sum, joins_sum },
#include "data/bits_whole.def"
	{ 3, { OP_bs_start_match3, OP_bs_get_utf8, OP_bs_test_unit }, OP_bs_start_get_utf8, joins_start },
	{ 3, { OP_bs_start_match3, OP_bs_get_utf16, OP_bs_test_unit }, OP_bs_start_get_utf16, joins_start_utf16 },
	{ 2, { OP_bs_start_match3_position, OP_bs_get_integer_8 }, OP_bs_start_position_get_8, joins_start_position },
	{ 3, { OP_bs_start_position_get_8, OP_bs_get_integer_8, OP_bs_get_position },
	  OP_bs_start_position_get_8_position,
	  joins_position },
	{ 4, { OP_bs_start_position_get_8_position, OP_bs_get_integer_8, OP_bs_get_position, OP_is_eq_exact_xk },
	  OP_bs_start_position_get_8_eq, joins_eq },
	{ 2, { OP_bs_set_position, OP_bs_test_unit }, OP_bs_set_position_test_unit, joins_same },
	{ 2, { OP_add_xxx, OP_call_only }, OP_add_xxx_call_only, joins_always },
	{ 2, { OP_add_xix, OP_call_only }, OP_add_xix_call_only, joins_always },
	{ 2, { OP_add_xix, OP_move_xx_call_only }, OP_add_xix_move_call_only, joins_always },
};

static bool ends_run[OP_COUNT];

void emit_runs_init(void)
{
	for (size_t i = 0; i < sizeof(runs) / sizeof(runs[0]); i++)
		ends_run[runs[i].ops[runs[i].count - 1]] = true;
}

static bool is_run(const struct emitter *em, const struct run *r)
{
	const Inst *at[RUN_MAX];
	size_t end = em->base;

	at[r->count - 1] = em->words + em->base;
	if ((uint16_t)em->words[em->base] != r->ops[r->count - 1])
		return false;
	for (unsigned i = r->count - 1; i-- > 0;) {
		size_t base = em->bases[r->count - 2 - i];
		uint16_t op = (uint16_t)em->words[base];

		if (op != r->ops[i] || base + opcode_info(op)->words != end)
			return false;
		at[i] = em->words + base;
		end = base;
	}
	return r->fits(at);
}

void emit_join_run(struct emitter *em)
{
	if (!ends_run[(uint16_t)em->words[em->base]])
		return;
	for (size_t i = 0; i < sizeof(runs) / sizeof(runs[0]); i++) {
		const struct run *r = &runs[i];
		Inst *first = em->words + em->bases[r->count - 2];

		if (is_run(em, r))
			*first = (*first & ~(Inst)0xffff) | r->joined;
	}
}
