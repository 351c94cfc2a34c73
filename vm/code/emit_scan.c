/* SPDX-License-Identifier: Apache-2.0 */
/* Functions that are loops over the bytes of a binary: skip(<<$\s, R/binary>>) -> skip(R), or
 * count(<<C, R/binary>>, N) when C >= $a, C =< $z -> count(R, N + 1). In front of such a function goes bs_scan, with a
 * table that says of each byte whether the function then only calls itself with what is behind that byte, and what it
 * adds to one argument, the counter, as it does. The table is found by running the function here for each byte from 0
 * to 255, as far as what it does follows from that byte alone. Whatever else it does ends the run: at such a byte the
 * function's own code runs.
 * Assumed here, and checked by bs_scan when it runs: the argument is a match context already, which begins and ends at
 * bytes and has a byte left, and the counter is a small integer. */
#include "code/emit.h"

#include <string.h>

#include "base/alloc.h"
#include "data/bits.h"

enum { SCAN_REGS = 32, SCAN_OPS_MAX = 64, NO_ARGUMENT = SCAN_REGS, NUMBER_MAX = 1 << 30 };

/* What is known of a register. */
struct known {
	enum { NOTHING, ARGUMENT, CONTEXT, POSITION, NUMBER } kind;
	unsigned argument;   /* ARGUMENT: which one, and n more than it */
	int64_t n;           /* POSITION: bits behind where the function began */
};

struct scan {
	const struct emitter *em;
	uint32_t entry, arity; /* of the function */
	unsigned context, counter; /* which arguments; NO_ARGUMENT: not known yet */
	/* the run: */
	uint8_t byte;
	int64_t at;          /* of the context. Units: bits from where the function began */
	struct known x[SCAN_REGS];
	bool looped;         /* it came to the call of itself */
	int64_t step;        /* of the counter */
};

/* ---- registers and operands */

static struct known read_operand(const struct scan *s, const struct operand *o)
{
	if (operand_is_small(o))
		return (struct known){ .kind = NUMBER, .n = small_value(o->term) };
	if (o->kind == OPND_X && o->u < SCAN_REGS)
		return s->x[o->u];
	return (struct known){ .kind = NOTHING };
}

/* Goes on at `next` with a value put in a register; NULL: in none of those that are followed. */
static const struct genop *put(struct scan *s, const struct operand *to, struct known value, const struct genop *next)
{
	if (to->kind != OPND_X || to->u >= SCAN_REGS)
		return NULL;
	s->x[to->u] = value;
	return next;
}

static const struct genop *put_number(struct scan *s, const struct operand *to, int64_t n, const struct genop *next)
{
	return put(s, to, (struct known){ .kind = NUMBER, .n = n }, next);
}

static bool is_context(const struct scan *s, const struct operand *o)
{
	return read_operand(s, o).kind == CONTEXT;
}

static const struct genop *go_to(const struct scan *s, const struct operand *label)
{
	return label->kind == OPND_LABEL && label->u != 0 ? &s->em->f->ops[s->em->label_op[label->u]] : NULL;
}

/* ---- matching: these return where to go on, NULL at the end of the run */

/* {Source, Destination} */
static const struct genop *start_match(struct scan *s, const struct operand *from, const struct operand *to,
					 const struct genop *next)
{
	struct known source = read_operand(s, from);

	if (source.kind == ARGUMENT && source.n == 0 && (s->context == NO_ARGUMENT || s->context == source.argument)) {
		s->context = source.argument;
		source.kind = CONTEXT;
	}
	return source.kind == CONTEXT ? put(s, to, source, next) : NULL;
}

/* May the next byte be read or skipped, and is it the one that is known? */
static bool is_at_byte(const struct scan *s, const struct operand *context, uint64_t bits)
{
	return is_context(s, context) && s->at == 0 && bits == 8;
}

static const struct genop *take_byte(struct scan *s, const struct operand *to, const struct genop *next)
{
	s->at = 8;
	return put_number(s, to, s->byte, next);
}

static const struct genop *skip_byte(struct scan *s, const struct genop *g, uint64_t bits)
{
	if (!is_at_byte(s, &g->args[1], bits))
		return NULL;
	s->at = 8;
	return g + 1;
}

static bool is_unsigned(const struct scan *s, const struct operand *context, uint64_t bits, const struct operand *flags)
{
	return is_at_byte(s, context, bits) && (emit_bits_flags(flags) & BITS_SIGNED) == 0;
}

static uint64_t bits_of(const struct operand *size, uint64_t unit)
{
	return operand_is_small(size) ? (uint64_t)small_value(size->term) * unit : 0;
}

/* The next bits are those of the text? */
static const struct genop *match_text(struct scan *s, const struct genop *g, uint64_t bits, uint8_t first)
{
	if (!is_context(s, &g->args[1]) || s->at != 0 || bits < 8)
		return NULL;
	if (first != s->byte)
		return go_to(s, &g->args[0]);
	s->at = 8;
	return bits == 8 ? g + 1 : NULL;
}

/* {Fail, Context, Unit}: what is left is whole bytes. */
static const struct genop *test_unit(const struct scan *s, const struct genop *g)
{
	return is_context(s, &g->args[1]) && g->args[2].u != 0 && 8 % g->args[2].u == 0 ? g + 1 : NULL;
}

/* {Fail, Context, Bits}: a byte at least is left at the beginning. */
static const struct genop *test_tail(const struct scan *s, const struct genop *g)
{
	return is_context(s, &g->args[1]) && s->at == 0 && g->args[2].u < 8 ? go_to(s, &g->args[0]) : NULL;
}

static const struct genop *set_position(struct scan *s, const struct genop *g)
{
	struct known position = read_operand(s, &g->args[1]);

	if (!is_context(s, &g->args[0]) || position.kind != POSITION)
		return NULL;
	s->at = position.n;
	return g + 1;
}

/* ---- bs_match (OTP 26): {Fail, Context, [Command, Operands...]} */

static uint64_t number_of(const struct operand *o)
{
	return o->kind == OPND_CONST ? (uint64_t)small_value(o->term) : o->u;
}

/* Size, Unit */
static bool has_at_least(const struct scan *s, uint64_t size, uint64_t unit)
{
	return size == 8 - (uint64_t)s->at && unit != 0 && 8 % unit == 0;
}

/* Does one command, of which *used operands are its own. Returns where the run goes on. */
static const struct genop *match_command(struct scan *s, const struct genop *g, const struct operand *o, unsigned *used)
{
	if (operand_is_atom(o, am_ensure_at_least)) {
		*used = 2;
		return has_at_least(s, number_of(&o[1]), number_of(&o[2])) ? g + 1 : NULL;
	}
	if (operand_is_atom(o, am_integer)) {
		*used = 5;
		return is_unsigned(s, &g->args[1], number_of(&o[3]) * number_of(&o[4]), &o[2])
			       ? take_byte(s, &o[5], g + 1)
			       : NULL;
	}
	if (operand_is_atom(o, am_skip)) {
		*used = 1;
		return skip_byte(s, g, number_of(&o[1]));
	}
	if (operand_is_atom(o, am_eq_exact)) {
		*used = 3;
		return number_of(&o[2]) == 8 ? match_text(s, g, 8, (uint8_t)number_of(&o[3])) : NULL;
	}
	return NULL;
}

static const struct genop *match_commands(struct scan *s, const struct genop *g)
{
	const struct operand *list = &g->args[2];
	const struct genop *next = g + 1;
	unsigned used = 0;

	for (uint32_t i = 0; i < list->count && next == g + 1; i += 1 + used)
		next = match_command(s, g, &list->items[i], &used);
	return next;
}

/* ---- what depends on the byte alone */

/* {Fail, A, B} */
static const struct genop *compare(const struct scan *s, const struct genop *g)
{
	struct known a = read_operand(s, &g->args[1]), b = read_operand(s, &g->args[2]);
	bool holds;

	if (a.kind != NUMBER || b.kind != NUMBER)
		return NULL;
	switch (g->op) {
	case GENOP_is_lt: holds = a.n < b.n; break;
	case GENOP_is_ge: holds = a.n >= b.n; break;
	case GENOP_is_ne: case GENOP_is_ne_exact: holds = a.n != b.n; break;
	default: holds = a.n == b.n; break;
	}
	return holds ? g + 1 : go_to(s, &g->args[0]);
}

/* {Source, Fail, [Value, Label...]} */
static const struct genop *select_value(const struct scan *s, const struct genop *g)
{
	struct known a = read_operand(s, &g->args[0]);
	const struct operand *list = &g->args[2];

	if (a.kind != NUMBER)
		return NULL;
	for (uint32_t i = 0; i < list->count; i += 2)
		if (list->items[i].term == term_from_small(a.n))
			return go_to(s, &list->items[i + 1]);
	return go_to(s, &g->args[1]);
}

/* {Fail, Live, Function, A, B, Destination}. Numbers stay small: a byte, a constant, or what a few of them make. */
static const struct genop *calculate(struct scan *s, const struct genop *g)
{
	Term function = g->args[2].export->module == am_erlang ? g->args[2].export->function : TERM_NONE;
	struct known a = read_operand(s, &g->args[3]), b = read_operand(s, &g->args[4]);

	if (function == am_op_plus && a.kind == NUMBER && b.kind == ARGUMENT) {
		struct known swapped = a;

		a = b;
		b = swapped;
	}
	if (b.kind != NUMBER || (a.kind != NUMBER && a.kind != ARGUMENT))
		return NULL;
	if (a.n < -NUMBER_MAX || a.n > NUMBER_MAX || b.n < -NUMBER_MAX || b.n > NUMBER_MAX)
		return NULL;
	if (function == am_op_plus)
		a.n += b.n;
	else if (function == am_op_minus)
		a.n -= b.n;
	else if (function == am_band && a.kind == NUMBER)
		a.n &= b.n;
	else
		return NULL;
	return put(s, &g->args[5], a, g + 1);
}

/* The end of the run: is all as it was at the beginning, but for the byte and the counter? */
static void call_self(struct scan *s)
{
	s->step = 0;
	if (s->at != 8 || s->x[s->context].kind != CONTEXT)
		return;
	for (unsigned i = 0; i < s->arity; i++) {
		struct known a = s->x[i];

		if (i == s->context)
			continue;
		if (a.kind != ARGUMENT || a.argument != i || (a.n != 0 && s->counter != NO_ARGUMENT && s->counter != i))
			return;
		if (a.n == 0)
			continue;
		s->counter = i;
		s->step = a.n;
	}
	s->looped = s->step >= BITS_SCAN_STEP_MIN && s->step <= BITS_SCAN_STEP_MAX;
}

/* ---- the run */

/* Does one operation. Returns the next one; NULL at the end of the run. */
static const struct genop *run_op(struct scan *s, const struct genop *g)
{
	const struct operand *a = g->args;

	switch (g->op) {
	case GENOP_label: case GENOP_line: case GENOP_executable_line: case GENOP_debug_line:
		return g + 1;
	case GENOP_bs_start_match3:
		return start_match(s, &a[1], &a[3], g + 1);
	case GENOP_bs_start_match4:
		return start_match(s, &a[2], &a[3], g + 1);
	case GENOP_bs_get_position:
		return is_context(s, &a[0]) ? put(s, &a[1], (struct known){ .kind = POSITION, .n = s->at }, g + 1)
					    : NULL;
	case GENOP_bs_set_position:
		return set_position(s, g);
	case GENOP_bs_get_integer2:
		return is_unsigned(s, &a[1], bits_of(&a[3], a[4].u), &a[5]) ? take_byte(s, &a[6], g + 1) : NULL;
	case GENOP_bs_get_utf8:
		return s->byte < 0x80 && is_at_byte(s, &a[1], 8) ? take_byte(s, &a[4], g + 1) : NULL;
	case GENOP_bs_skip_utf8:
		return s->byte < 0x80 ? skip_byte(s, g, 8) : NULL;
	case GENOP_bs_skip_bits2:
		return skip_byte(s, g, bits_of(&a[2], a[3].u));
	case GENOP_bs_match_string:
		return match_text(s, g, a[2].u, a[2].u >= 8 ? a[3].bytes[0] : 0);
	case GENOP_bs_test_unit:
		return test_unit(s, g);
	case GENOP_bs_test_tail2:
		return test_tail(s, g);
	case GENOP_bs_match:
		return match_commands(s, g);
	case GENOP_is_eq_exact:
	case GENOP_is_ne_exact:
	case GENOP_is_eq:
	case GENOP_is_ne:
	case GENOP_is_lt:
	case GENOP_is_ge:
		return compare(s, g);
	case GENOP_is_integer:
		return read_operand(s, &a[1]).kind == NUMBER ? g + 1 : NULL;
	case GENOP_select_val:
		return select_value(s, g);
	case GENOP_gc_bif2:
		return calculate(s, g);
	case GENOP_move:
		return put(s, &a[1], read_operand(s, &a[0]), g + 1);
	case GENOP_jump:
		return go_to(s, &a[0]);
	case GENOP_call_only:
		if (a[1].u == s->entry)
			call_self(s);
		return NULL;
	default:
		return NULL;
	}
}

/* Runs the function, which begins with g, for one byte. */
static void run(struct scan *s, const struct genop *g, uint8_t byte)
{
	s->byte = byte;
	s->at = 0;
	s->looped = false;
	for (unsigned i = 0; i < SCAN_REGS; i++)
		s->x[i] = (struct known){ .kind = i < s->arity ? ARGUMENT : NOTHING, .argument = i };
	for (unsigned i = 0; g != NULL && i < SCAN_OPS_MAX; i++)
		g = run_op(s, g);
}

/* May the function be such a loop? It begins with a match, and so few arguments are followed. */
static bool may_loop(const struct scan *s, const struct genop *g)
{
	while (g->op == GENOP_line || g->op == GENOP_executable_line || g->op == GENOP_debug_line)
		g++;
	return (g->op == GENOP_bs_start_match3 || g->op == GENOP_bs_start_match4) && s->arity <= SCAN_REGS;
}

void emit_scan(struct emitter *em, const struct genop *g, uint32_t entry)
{
	const Inst *info = em->words + em->functions[em->function_count - 1];
	struct scan s = {
		.em = em, .entry = entry, .arity = func_info_arity(info), .context = NO_ARGUMENT, .counter = NO_ARGUMENT
	};
	union { int8_t steps[BITS_SCAN_BYTES]; Inst words[BITS_SCAN_BYTES / sizeof(Inst)]; } table;
	unsigned looped = 0;

	if (!may_loop(&s, g))
		return;
	for (unsigned byte = 0; byte < BITS_SCAN_BYTES; byte++) {
		run(&s, g, (uint8_t)byte);
		table.steps[byte] = s.looped ? (int8_t)s.step : BITS_SCAN_STOP;
		looped += s.looped;
	}
	if (looped == 0)
		return;
	if (s.counter == NO_ARGUMENT)
		s.counter = s.context;
	emit_instr(em, OP_bs_scan,
		   (struct operand[]){ operand_x(s.context), operand_x(s.counter),
				       operand_u(BITS_SCAN_BYTES / sizeof(Inst)) });
	for (size_t i = 0; i < BITS_SCAN_BYTES / sizeof(Inst); i++)
		emit_word(em, table.words[i]);
}
