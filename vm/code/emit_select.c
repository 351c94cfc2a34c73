/* SPDX-License-Identifier: Apache-2.0 */
/* The translation of select_val and select_tuple_arity: a table for dense small integers, binary search for many
 * immediate values, a linear one for few, one comparison after the other for values that are no single word. */
#include "code/emit.h"

#include <stdlib.h>

#include "base/alloc.h"

enum { LINEAR_MAX = 6, TABLE_MAX_WORDS = 4096 };

struct choice {
	Term value;
	uint32_t label;
};

static int compare_choices(const void *a, const void *b)
{
	Term x = ((const struct choice *)a)->value, y = ((const struct choice *)b)->value;

	return x < y ? -1 : x > y;
}

static bool all_immediate(const struct operand *list)
{
	for (uint32_t i = 0; i < list->count; i += 2)
		if (!operand_is_immed(&list->items[i]))
			return false;
	return true;
}

static bool all_small(const struct operand *list)
{
	for (uint32_t i = 0; i < list->count; i += 2)
		if (!operand_is_small(&list->items[i]))
			return false;
	return true;
}

static void emit_pairs(struct emitter *em, enum opcode op, const struct genop *g, const struct choice *c, uint32_t n)
{
	emit_instr(em, op, (struct operand[]){ g->args[0], g->args[1], operand_u(2 * n) });
	for (uint32_t i = 0; i < n; i++) {
		emit_word(em, c[i].value);
		emit_list_label(em, c[i].label);
	}
}

/* c is sorted as words; smalls of one sign are then in order of value. Returns false when a table would be sparse. */
static bool emit_table(struct emitter *em, const struct genop *g, const struct choice *c, uint32_t n)
{
	int64_t first = small_value(c[0].value), last = small_value(c[n - 1].value);
	uint64_t span = (uint64_t)(last - first) + 1;

	if (last < first || span > TABLE_MAX_WORDS || span > (uint64_t)n * 3)
		return false;
	emit_instr(em, OP_select_table,
		   (struct operand[]){ g->args[0], g->args[1], operand_u(span), operand_const(c[0].value) });
	for (uint32_t i = 0; i < n; i++) {
		while (em->count - em->base - OPWORDS_select_table < (uint64_t)(small_value(c[i].value) - first))
			emit_list_label(em, (uint32_t)g->args[1].u);
		emit_list_label(em, c[i].label);
	}
	return true;
}

/* Values that are no single word (floats, bignums), or a constant source. */
static void emit_chain(struct emitter *em, const struct genop *g)
{
	const struct operand *list = &g->args[2];

	for (uint32_t i = 0; i < list->count; i += 2) {
		struct operand args[] = { list->items[i + 1], g->args[0], list->items[i] };

		/* Where the values differ go on, else to the label: the test is the other way round. */
		emit_instr(em, OP_is_ne_exact_ss, args);
	}
	emit_instr(em, OP_jump, &g->args[1]);
}

static size_t emit_choices(struct emitter *em, const struct genop *g)
{
	const struct operand *list = &g->args[2];
	uint32_t n = list->count / 2;
	struct choice *c = mem_alloc((n + 1) * sizeof(*c));

	for (uint32_t i = 0; i < n; i++)
		c[i] = (struct choice){ list->items[2 * i].term, (uint32_t)list->items[2 * i + 1].u };
	if (n > 2)
		qsort(c, n, sizeof(*c), compare_choices);
	if (n == 2)
		emit_pairs(em, g->args[0].kind == OPND_X ? OP_select_2_x : OP_select_2_r, g, c, n);
	else if (n > 3 && all_small(list) && emit_table(em, g, c, n))
		;
	else
		emit_pairs(em, n <= LINEAR_MAX ? OP_select_linear : OP_select_binary, g, c, n);
	mem_free(c);
	return 1;
}

size_t emit_select_val(struct emitter *em, const struct genop *g, size_t count)
{
	const struct operand *list = &g->args[2];

	(void)count;
	if (list->count == 0 || !operand_is_reg(&g->args[0]) || !all_immediate(list)) {
		emit_chain(em, g);
		return 1;
	}
	return emit_choices(em, g);
}

size_t emit_select_arity(struct emitter *em, const struct genop *g, size_t count)
{
	const struct operand *list = &g->args[2];

	(void)count;
	if (!operand_is_reg(&g->args[0])) {
		emit_fail(em, g, "the tuple is no register");
		return 1;
	}
	emit_instr(em, OP_select_arity, (struct operand[]){ g->args[0], g->args[1], operand_u(list->count) });
	for (uint32_t i = 0; i < list->count; i += 2) {
		const struct operand *arity = &list->items[i];

		emit_word(em,
			  HEADER(arity->kind == OPND_CONST ? (uint64_t)small_value(arity->term) : arity->u, SUB_TUPLE));
		emit_list_label(em, (uint32_t)list->items[i + 1].u);
	}
	return 1;
}
