/* SPDX-License-Identifier: Apache-2.0 */
/* The translation of float registers. Loads join the operation that uses them: a load cannot fail, so that one
 * instruction with the operation's line does for both. */
#include "code/emit.h"

enum { FLOAT_OPS = 4 };
/* One for each of fadd, fsub, fmul, fdiv. */
typedef uint16_t float_row[FLOAT_OPS];

#define ROW(prefix) { OP_##prefix##fadd, OP_##prefix##fsub, OP_##prefix##fmul, OP_##prefix##fdiv }

/* fmove Source fr. */
static bool is_load(const struct genop *g)
{
	return g->op == GENOP_fmove && g->args[0].kind != OPND_FR && g->args[1].kind == OPND_FR;
}

static bool is_store(const struct genop *g)
{
	return g->op == GENOP_fmove && g->args[0].kind == OPND_FR && g->args[1].kind != OPND_FR;
}

/* An operation that raises when it fails. */
static bool is_op(const struct genop *g)
{
	return g->op >= GENOP_fadd && g->op <= GENOP_fdiv && g->args[0].u == 0;
}

static struct operand number(const struct operand *o)
{
	return operand_u(o->u);
}

/* What stands behind `at` generic operations, with its line emitted, when it is an operation; else NULL. */
static const struct genop *find_op(struct emitter *em, const struct genop *g, size_t count, size_t *at)
{
	const struct genop *line = NULL;

	if (*at < count && g[*at].op == GENOP_line)
		line = &g[(*at)++];
	if (*at >= count || !is_op(&g[*at]))
		return NULL;
	if (line != NULL)
		emit_line(em, line->args[0].u);
	return &g[(*at)++];
}

/* The three registers of op, behind the n operands of its loads. */
static void emit_joined(struct emitter *em, const float_row ops, const struct genop *op, struct operand *args,
			unsigned n)
{
	for (unsigned i = 0; i < 3; i++)
		args[n + i] = number(&op->args[1 + i]);
	emit_instr(em, ops[op->op - GENOP_fadd], args);
}

static size_t emit_load(struct emitter *em, const struct genop *g, size_t count)
{
	static const float_row one = ROW(fload_), two = ROW(fload2_);
	struct operand args[7] = { g->args[0], number(&g->args[1]) };
	const struct genop *op;
	size_t used = 1;

	if (operand_is_reg(&args[0]) && count > 1 && is_load(&g[1]) && operand_is_reg(&g[1].args[0])) {
		used = 2;
		op = find_op(em, g, count, &used);
		if (op != NULL) {
			args[2] = g[1].args[0];
			args[3] = number(&g[1].args[1]);
			emit_joined(em, two, op, args, 4);
			return used;
		}
		used = 1;
	}
	op = find_op(em, g, count, &used);
	if (op != NULL) {
		emit_joined(em, one, op, args, 2);
		return used;
	}
	emit_instr(em, OP_fload, args);
	return 1;
}

static size_t emit_store(struct emitter *em, const struct genop *g, size_t count)
{
	struct operand args[4] = { number(&g->args[0]), g->args[1] };

	if (count < 2 || !is_store(&g[1])) {
		emit_instr(em, OP_fstore, args);
		return 1;
	}
	args[2] = number(&g[1].args[0]);
	args[3] = g[1].args[1];
	emit_instr(em, OP_fstore2, args);
	return 2;
}

size_t emit_fmove(struct emitter *em, const struct genop *g, size_t count)
{
	if (is_load(g))
		return emit_load(em, g, count);
	if (is_store(g))
		return emit_store(em, g, count);
	emit_instr(em, OP_fcopy, (struct operand[]){ number(&g->args[0]), number(&g->args[1]) });
	return 1;
}

size_t emit_float_element(struct emitter *em, const struct genop *g, size_t count)
{
	static const float_row ops = ROW(fload_element_);
	struct operand args[7] = { g->args[0], g->args[1], g->args[2] };
	const struct genop *op;
	size_t used = 2;

	if (count < 2 || !is_load(&g[1]) || !operand_is_reg(&g->args[0]) || !operand_same(&g->args[2], &g[1].args[0]))
		return 0;
	args[3] = number(&g[1].args[1]);
	op = find_op(em, g, count, &used);
	if (op != NULL) {
		emit_joined(em, ops, op, args, 4);
		return used;
	}
	/* Two loads and an operation are better joined with each other. */
	if (count > 2 && is_load(&g[2]))
		return 0;
	emit_instr(em, OP_fload_element, args);
	return 2;
}

size_t emit_fconv(struct emitter *em, const struct genop *g, size_t count)
{
	(void)count;
	emit_instr(em, OP_fconv, (struct operand[]){ g->args[0], number(&g->args[1]) });
	return 1;
}

size_t emit_float_op(struct emitter *em, const struct genop *g, size_t count)
{
	static const float_row ops = ROW(), behind_fmul = { OP_fmul_fadd, OP_fmul_fsub, OP_fmul_fmul };
	struct operand args[] = {
		number(&g->args[1]), number(&g->args[2]), number(&g->args[3]), g->args[0], { 0 }, { 0 }
	};

	if (g->op == GENOP_fmul && is_op(g) && count > 1 && is_op(&g[1]) && g[1].op != GENOP_fdiv) {
		emit_joined(em, behind_fmul, &g[1], args, 3);
		return 2;
	}
	emit_instr(em, ops[g->op - GENOP_fadd], args);
	return 1;
}

size_t emit_fnegate(struct emitter *em, const struct genop *g, size_t count)
{
	(void)count;
	emit_instr(em, OP_fnegate, (struct operand[]){ number(&g->args[1]), number(&g->args[2]), g->args[0] });
	return 1;
}
