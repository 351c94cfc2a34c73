/* SPDX-License-Identifier: Apache-2.0 */
/* The translation of guard functions: arithmetic and a few others become operations of their own, the rest calls of C
 * functions. */
#include "code/emit.h"

enum { NO_OP = 0 };      /* OP_func_info is never wanted here */

/* Functions of two arguments by operand forms: x and small to x, y and small to x; x and x to x, registers; register
 * and small; any. */
static const struct {
	Term name;
	uint16_t xix, yix, xxx, rr, ri, ss;
} binary_ops[] = {
	{ am_op_plus, OP_add_xix, OP_add_yix, OP_add_xxx, OP_add_rr, OP_add_ri, OP_add_ss },
	{ am_op_minus, OP_sub_xix, OP_sub_yix, OP_sub_xxx, OP_sub_rr, OP_sub_ri, OP_sub_ss },
	{ am_op_times, OP_mul_xix, NO_OP, OP_mul_xxx, OP_mul_rr, OP_mul_ri, OP_mul_ss },
	{ am_div, NO_OP, NO_OP, NO_OP, OP_div_rr, OP_div_ri, OP_div_ss },
	{ am_rem, OP_rem_xix, NO_OP, NO_OP, OP_rem_rr, OP_rem_ri, OP_rem_ss },
	{ am_band, OP_band_xix, NO_OP, OP_band_xxx, OP_band_rr, OP_band_ri, OP_band_ss },
	{ am_bor, NO_OP, NO_OP, OP_bor_xxx, OP_bor_rr, NO_OP, OP_bor_ss },
	{ am_bxor, NO_OP, NO_OP, OP_bxor_xxx, OP_bxor_rr, NO_OP, OP_bxor_ss },
	{ am_bsl, NO_OP, NO_OP, OP_bsl_xxx, OP_bsl_rr, OP_bsl_ri, OP_bsl_ss },
	{ am_bsr, OP_bsr_xix, NO_OP, OP_bsr_xxx, OP_bsr_rr, OP_bsr_ri, OP_bsr_ss },
	{ am_op_divide, NO_OP, NO_OP, NO_OP, NO_OP, NO_OP, OP_divide },
};

/* Of one argument, any source. */
static const struct {
	Term name;
	uint16_t op;
} unary_ops[] = {
	{ am_op_minus, OP_negate },
	{ am_op_plus, OP_plus },
	{ am_bnot, OP_bnot },
};

/* Of one argument in a register: label, source, destination. */
static const struct {
	Term name;
	uint16_t op;
} register_ops[] = {
	{ am_hd, OP_bif_hd },
	{ am_tl, OP_bif_tl },
	{ am_tuple_size, OP_bif_tuple_size },
	{ am_byte_size, OP_bif_byte_size },
	{ am_bit_size, OP_bif_bit_size },
	{ am_not, OP_bif_not },
};

/* Of one argument in a register, never failing. */
static const struct {
	Term name;
	uint16_t op;
} type_ops[] = {
	{ am_is_list, OP_bif_is_list },
	{ am_is_atom, OP_bif_is_atom },
	{ am_is_integer, OP_bif_is_integer },
	{ am_is_tuple, OP_bif_is_tuple },
	{ am_is_map, OP_bif_is_map },
	{ am_is_binary, OP_bif_is_binary },
	{ am_is_bitstring, OP_bif_is_bitstr },
	{ am_is_float, OP_bif_is_float },
	{ am_is_number, OP_bif_is_number },
	{ am_is_pid, OP_bif_is_pid },
	{ am_is_reference, OP_bif_is_reference },
	{ am_is_port, OP_bif_is_port },
	{ am_is_boolean, OP_bif_is_boolean },
	{ am_is_function, OP_bif_is_function },
};

/* Of any two arguments, never failing. swapped: the operation takes them the other way round; xx: that of two x
 * registers. */
static const struct {
	Term name;
	uint16_t op, xx;
	bool swapped;
} order_ops[] = {
	{ am_eq_exact, OP_bif_eq_exact, OP_bif_eq_exact_xx, false },
	{ am_op_ne_exact, OP_bif_ne_exact, NO_OP, false },
	{ am_op_eq, OP_bif_eq, OP_bif_eq_xx, false },
	{ am_op_ne, OP_bif_ne, NO_OP, false },
	{ am_op_lt, OP_bif_lt, NO_OP, false },
	{ am_op_ge, OP_bif_ge, NO_OP, false },
	{ am_op_gt, OP_bif_lt, NO_OP, true },
	{ am_op_le, OP_bif_ge, NO_OP, true },
};

#define LENGTH(array) (sizeof(array) / sizeof((array)[0]))

struct guard {
	struct operand fail, live, function, to, from[3];
	unsigned arity;
};

static bool is_commutative(Term name)
{
	return name == am_op_plus || name == am_op_times || name == am_band;
}

static bool emit_binary(struct emitter *em, struct guard *q, Term name)
{
	for (size_t i = 0; i < LENGTH(binary_ops); i++) {
		struct operand a = q->from[0], b = q->from[1];

		if (binary_ops[i].name != name)
			continue;
		if (operand_is_small(&a) && operand_is_reg(&b) && is_commutative(name)) {
			a = q->from[1];
			b = q->from[0];
		}
		if (binary_ops[i].xix != NO_OP && a.kind == OPND_X && operand_is_small(&b) && q->to.kind == OPND_X &&
		    q->fail.u == 0)
			emit_instr(em, binary_ops[i].xix, (struct operand[]){ a, b, q->to, q->live });
		else if (binary_ops[i].yix != NO_OP && a.kind == OPND_Y && operand_is_small(&b) && q->to.kind == OPND_X)
			emit_instr(em, binary_ops[i].yix, (struct operand[]){ a, b, q->to, q->live, q->fail });
		else if (binary_ops[i].xxx != NO_OP && a.kind == OPND_X && b.kind == OPND_X && q->to.kind == OPND_X)
			emit_instr(em, binary_ops[i].xxx, (struct operand[]){ a, b, q->to, q->live, q->fail });
		else if (binary_ops[i].rr != NO_OP && operand_is_reg(&a) && operand_is_reg(&b))
			emit_instr(em, binary_ops[i].rr, (struct operand[]){ a, b, q->to, q->live, q->fail });
		else if (binary_ops[i].ri != NO_OP && operand_is_reg(&a) && operand_is_small(&b))
			emit_instr(em, binary_ops[i].ri, (struct operand[]){ a, b, q->to, q->live, q->fail });
		else
			emit_instr(em, binary_ops[i].ss,
				   (struct operand[]){ q->from[0], q->from[1], q->to, q->live, q->fail });
		return true;
	}
	return false;
}

static bool emit_unary(struct emitter *em, struct guard *q, Term name)
{
	for (size_t i = 0; i < LENGTH(unary_ops); i++)
		if (unary_ops[i].name == name) {
			emit_instr(em, unary_ops[i].op, (struct operand[]){ q->from[0], q->to, q->live, q->fail });
			return true;
		}
	if (!operand_is_reg(&q->from[0]))
		return false;
	for (size_t i = 0; i < LENGTH(register_ops); i++)
		if (register_ops[i].name == name) {
			emit_instr(em, register_ops[i].op, (struct operand[]){ q->fail, q->from[0], q->to });
			return true;
		}
	for (size_t i = 0; i < LENGTH(type_ops); i++)
		if (type_ops[i].name == name) {
			emit_instr(em, type_ops[i].op, (struct operand[]){ q->from[0], q->to });
			return true;
		}
	if (name == am_abs) {
		emit_instr(em, OP_abs, (struct operand[]){ q->from[0], q->to, q->live, q->fail });
		return true;
	}
	if (name == am_length) {
		emit_instr(em, OP_bif_length, (struct operand[]){ q->fail, q->from[0], q->to, q->live });
		return true;
	}
	return false;
}

static bool emit_order(struct emitter *em, struct guard *q, Term name)
{
	bool is_xx = q->from[0].kind == OPND_X && q->from[1].kind == OPND_X;

	for (size_t i = 0; i < LENGTH(order_ops); i++)
		if (order_ops[i].name == name) {
			unsigned first = order_ops[i].swapped;
			uint16_t op = is_xx && order_ops[i].xx != NO_OP ? order_ops[i].xx : order_ops[i].op;

			emit_instr(em, op, (struct operand[]){ q->from[first], q->from[1 - first], q->to });
			return true;
		}
	if (name == am_element && operand_is_small(&q->from[0]) && small_value(q->from[0].term) > 0 &&
	    operand_is_reg(&q->from[1])) {
		emit_instr(em, OP_bif_element, (struct operand[]){ q->fail, q->from[0], q->from[1], q->to });
		return true;
	}
	if (name == am_map_get) {
		emit_instr(em, OP_bif_map_get, (struct operand[]){ q->fail, q->from[0], q->from[1], q->to });
		return true;
	}
	return false;
}

static void emit_call(struct emitter *em, struct guard *q)
{
	switch (q->arity) {
	case 0:
		emit_instr(em, OP_bif0, (struct operand[]){ q->function, q->to });
		break;
	case 1:
		emit_instr(em, OP_bif1, (struct operand[]){ q->fail, q->function, q->from[0], q->to, q->live });
		break;
	case 2:
		emit_instr(em, OP_bif2,
			   (struct operand[]){ q->fail, q->function, q->from[0], q->from[1], q->to, q->live });
		break;
	default:
		emit_instr(
			em, OP_bif3,
			(struct operand[]){ q->fail, q->function, q->from[0], q->from[1], q->from[2], q->to, q->live });
		break;
	}
}

/* bifN: [label] function, sources, destination. gc_bifN: label, live, function, sources, destination. */
static struct guard read_guard(const struct genop *g)
{
	struct guard q = { .fail = { .kind = OPND_LABEL }, .live = operand_u(0) };
	unsigned i = 0;

	if (g->op != GENOP_bif0)
		q.fail = g->args[i++];
	if (g->op == GENOP_gc_bif1 || g->op == GENOP_gc_bif2 || g->op == GENOP_gc_bif3)
		q.live = g->args[i++];
	q.function = g->args[i++];
	while (i + 1 < g->count)
		q.from[q.arity++] = g->args[i++];
	q.to = g->args[i];
	return q;
}

size_t emit_guard(struct emitter *em, const struct genop *g, size_t count)
{
	struct guard q = read_guard(g);
	const struct export *e = q.function.export;
	bool done = false;

	(void)count;
	if (e->module == am_erlang) {
		if (q.arity == 2)
			done = emit_binary(em, &q, e->function) || emit_order(em, &q, e->function);
		else if (q.arity == 1)
			done = emit_unary(em, &q, e->function);
		else if (q.arity == 0 && e->function == am_self)
			emit_instr(em, OP_bif_self, &q.to), done = true;
	}
	if (done)
		return 1;
	emit_call(em, &q);
	return 1;
}
