/* SPDX-License-Identifier: Apache-2.0 */
/* The translation: generic operations that the table's rows cannot turn alone, and runs of them that become one
 * instruction. A run never crosses a label: whatever may be jumped to starts an instruction. */
#include "code/emit.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "data/record.h"

/* The next generic operation when it is `op`; NULL otherwise. */
static const struct genop *next_is(const struct genop *g, size_t count, unsigned op)
{
	return count > 1 && g[1].op == op ? &g[1] : NULL;
}

/* The local call right behind g, or with a line between; *used: how many operations it reaches to. */
static const struct genop *next_call(const struct genop *g, size_t count, size_t *used)
{
	size_t i = count > 2 && g[1].op == GENOP_line ? 2 : 1;

	*used = i + 1;
	if (i >= count || (g[i].op != GENOP_call && g[i].op != GENOP_call_only && g[i].op != GENOP_call_last))
		return NULL;
	return &g[i];
}

/* What goes into the instruction of the call is of the call's line. */
static void emit_call_line(struct emitter *em, const struct genop *call)
{
	if (call[-1].op == GENOP_line)
		emit_line(em, call[-1].args[0].u);
}

/* ---- calls */

/* What raises leaves the frame as it is: it may be another one than the call says. */
static enum opcode choose_external(unsigned genop, const struct export *e)
{
	bool native = e->bif != NULL;

	if (genop == GENOP_call_ext_last && export_is_raiser(e))
		genop = GENOP_call_ext_only;
	switch (genop) {
	case GENOP_call_ext: return native ? OP_call_bif : OP_call_ext;
	case GENOP_call_ext_only: return native ? OP_call_bif_only : OP_call_ext_only;
	default: return native ? OP_call_bif_last : OP_call_ext_last;
	}
}

static size_t emit_call_ext(struct emitter *em, const struct genop *g, size_t count)
{
	struct operand args[3] = { g->args[0], g->args[1] };

	(void)count;
	if (g->op == GENOP_call_ext_last)
		args[2] = g->args[2];
	args[1].export = export_direct(args[1].export);
	emit_instr(em, choose_external(g->op, args[1].export), args);
	return 1;
}

/* The fun stands behind the arguments, or is named (call_fun2). There is no generic tail call of a fun: it is a call
 * with the function's end behind it. */
static size_t emit_fun_call(struct emitter *em, const struct genop *g, size_t count)
{
	struct operand args[3];

	if (g->op == GENOP_call_fun2) { /* tag, arguments, fun */
		args[0] = g->args[1];
		args[1] = g->args[2];
	} else {
		args[0] = g->args[0];
		args[1] = operand_x((unsigned)g->args[0].u);
	}
	if (count <= 2 || g[1].op != GENOP_deallocate || g[2].op != GENOP_return) {
		emit_instr(em, OP_call_fun, args);
		return 1;
	}
	args[2] = g[1].args[0];
	emit_instr(em, OP_call_fun_last, args);
	return 3;
}

static size_t emit_deallocate(struct emitter *em, const struct genop *g, size_t count)
{
	static const uint16_t by_frame[] = { OP_deallocate_return_1, OP_deallocate_return_2, OP_deallocate_return_3,
					     OP_deallocate_return_4 };

	if (next_is(g, count, GENOP_return) == NULL)
		return 0;
	emit_instr(em, g->args[0].u > 0 && g->args[0].u <= 4 ? by_frame[g->args[0].u - 1] : OP_deallocate_return,
		   g->args);
	return 2;
}

/* ---- moves */

/* move Source x0, then return, or deallocate and return. */
static size_t emit_move_return(struct emitter *em, const struct genop *g, size_t count)
{
	const struct operand *from = &g->args[0];
	struct operand args[2] = { *from };

	if (!operand_is_x(&g->args[1], 0))
		return 0;
	if (next_is(g, count, GENOP_return) != NULL) {
		if (from->kind == OPND_Y)
			return 0;
		emit_instr(em, from->kind == OPND_CONST ? OP_move_c_return : OP_move_x_return, args);
		return 2;
	}
	if (count > 2 && g[1].op == GENOP_deallocate && g[2].op == GENOP_return) {
		static const uint16_t by_frame[2][3] = { /* from the stack, a constant */
			{ OP_move_y_deallocate_return_1, OP_move_y_deallocate_return_2, OP_move_y_deallocate_return_3 },
			{ OP_move_c_deallocate_return_1, OP_move_c_deallocate_return_2, OP_move_c_deallocate_return_3 },
		};
		uint64_t frame = g[1].args[0].u;

		args[1] = g[1].args[0];
		if (frame > 0 && frame <= 3 && from->kind != OPND_X)
			emit_instr(em, by_frame[from->kind == OPND_CONST][frame - 1], args);
		else
			emit_instr(em,
				   from->kind == OPND_CONST ? OP_move_c_deallocate_return : OP_move_r_deallocate_return,
				   args);
		return 3;
	}
	return 0;
}

static size_t emit_move_jump(struct emitter *em, const struct genop *g, size_t count)
{
	struct operand args[3] = { g->args[0], g->args[1] };
	const struct genop *jump = next_is(g, count, GENOP_jump);

	if (jump == NULL)
		return 0;
	args[2] = jump->args[0];
	emit_instr(em, args[0].kind == OPND_CONST ? OP_move_c_jump : OP_move_r_jump, args);
	return 2;
}

/* move, then a local call. */
static size_t emit_move_call(struct emitter *em, const struct genop *g, size_t count)
{
	struct operand args[4] = { g->args[0], g->args[1] };
	size_t used;
	const struct genop *call = next_call(g, count, &used);

	if (call == NULL || (args[0].kind == OPND_CONST && (call->op == GENOP_call_last || args[1].kind != OPND_X)))
		return 0;
	emit_call_line(em, call);
	args[2] = call->args[1];
	switch (call->op) {
	case GENOP_call:
		EMIT_FIRST(em, args, OP_move_xx_call, OP_move_yx_call, OP_move_cx_call, OP_move_rd_call);
		break;
	case GENOP_call_only:
		EMIT_FIRST(em, args, OP_move_xx_call_only, OP_move_cx_call_only, OP_move_rd_call_only);
		break;
	default:
		args[2] = call->args[2];
		args[3] = call->args[1];
		EMIT_FIRST(em, args, OP_move_yx_call_last, OP_move_rd_call_last);
		break;
	}
	return used;
}

static unsigned move_kind(const struct genop *g)
{
	enum { XX = 0, XY = 1, YX = 2, NEITHER = 3 };

	if (g->op != GENOP_move || !operand_is_reg(&g->args[0]))
		return NEITHER;
	if (g->args[0].kind == OPND_X)
		return g->args[1].kind == OPND_X ? XX : XY;
	return g->args[1].kind == OPND_X ? YX : NEITHER;
}

static size_t emit_moves(struct emitter *em, const struct genop *g, size_t count)
{
	static const uint16_t twice[3][3] = {
		{ OP_move2_xx_xx, OP_move2_xx_xy, OP_move2_xx_yx },
		{ OP_move2_xy_xx, OP_move2_xy_xy, OP_move2_xy_yx },
		{ OP_move2_yx_xx, OP_move2_yx_xy, OP_move2_yx_yx },
	};
	static const uint16_t thrice[3] = { OP_move3_xx, OP_move3_xy, OP_move3_yx };
	unsigned first = move_kind(g), second;
	struct operand args[6] = { g->args[0], g->args[1] };

	if (first == 3 || count < 2 || (second = move_kind(&g[1])) == 3)
		return 0;
	args[2] = g[1].args[0];
	args[3] = g[1].args[1];
	if (count > 2 && second == first && move_kind(&g[2]) == first) {
		args[4] = g[2].args[0];
		args[5] = g[2].args[1];
		emit_instr(em, thrice[first], args);
		return 3;
	}
	emit_instr(em, twice[first][second], args);
	return 2;
}

static size_t emit_move(struct emitter *em, const struct genop *g, size_t count)
{
	size_t used = emit_move_return(em, g, count);

	if (used == 0)
		used = emit_move_jump(em, g, count);
	if (used == 0)
		used = emit_move_call(em, g, count);
	return used != 0 ? used : emit_moves(em, g, count);
}

/* ---- frames */

static bool init_covers(const struct genop *g, uint64_t frame)
{
	return g != NULL && g->args[0].count == frame;
}

static void emit_test_heap_words(struct emitter *em, struct operand words, struct operand live)
{
	emit_instr(em, OP_test_heap, (struct operand[]){ live, words });
}

static bool is_move_to_stack(const struct genop *g)
{
	return g->op == GENOP_move && g->args[0].kind == OPND_X && g->args[1].kind == OPND_Y;
}

/* allocate, then one register or two are saved, and maybe a call. */
static size_t emit_allocate_moves(struct emitter *em, const struct genop *g, size_t count)
{
	static const uint16_t alone[] = { OP_allocate_move, OP_allocate_move2 },
			      with_call[] = { OP_allocate_move_call, OP_allocate_move2_call };
	struct operand args[7] = { g->args[0], g->args[1] };
	const struct genop *call;
	size_t moves = 0, used;

	for (; moves < 2 && count > moves + 1 && is_move_to_stack(&g[moves + 1]); moves++) {
		args[2 + 2 * moves] = g[moves + 1].args[0];
		args[3 + 2 * moves] = g[moves + 1].args[1];
	}
	if (moves == 0)
		return 0;
	call = next_call(&g[moves], count - moves, &used);
	if (call == NULL || call->op != GENOP_call) {
		emit_instr(em, alone[moves - 1], args);
		return 1 + moves;
	}
	emit_call_line(em, call);
	args[2 + 2 * moves] = call->args[1];
	emit_instr(em, with_call[moves - 1], args);
	return moves + used;
}

static size_t emit_allocate(struct emitter *em, const struct genop *g, size_t count)
{
	size_t used = emit_allocate_moves(em, g, count);

	if (used != 0)
		return used;
	if (!init_covers(next_is(g, count, GENOP_init_yregs), g->args[0].u))
		return 0;
	emit_instr(em, OP_allocate_init, g->args);
	return 2;
}

static size_t emit_allocate_heap(struct emitter *em, const struct genop *g, size_t count)
{
	struct operand args[] = { g->args[0], g->args[2], operand_u(g->args[1].u) };

	(void)count;
	if (args[2].u > 60000) {
		emit_test_heap_words(em, args[2], args[1]);
		emit_instr(em, OP_allocate, args);
		emit_test_heap_words(em, args[2], args[1]);
	} else {
		emit_instr(em, OP_allocate_heap, args);
	}
	return 1;
}

static size_t emit_allocate_zero(struct emitter *em, const struct genop *g, size_t count)
{
	(void)count;
	emit_instr(em, OP_allocate_init, g->args);
	return 1;
}

static size_t emit_allocate_heap_zero(struct emitter *em, const struct genop *g, size_t count)
{
	struct operand args[] = { g->args[0], g->args[2] };

	(void)count;
	emit_instr(em, OP_allocate_init, args);
	emit_test_heap_words(em, operand_u(g->args[1].u), args[1]);
	return 1;
}

/* test_heap, put_list of registers, and maybe the return with it in x0. */
static size_t emit_test_heap_put_list(struct emitter *em, const struct genop *g, size_t count)
{
	const struct genop *put = next_is(g, count, GENOP_put_list);
	struct operand args[5] = { g->args[1], operand_u(g->args[0].u) };

	if (put == NULL || !operand_is_reg(&put->args[0]) || !operand_is_reg(&put->args[1]) ||
	    g->args[0].u > UINT16_MAX)
		return 0;
	args[2] = put->args[0];
	args[3] = put->args[1];
	args[4] = put->args[2];
	if (count > 3 && operand_is_x(&args[4], 0) && g[2].op == GENOP_deallocate && g[3].op == GENOP_return) {
		args[4] = g[2].args[0];
		if (args[2].kind == OPND_Y && args[3].kind == OPND_X && args[4].u == 1)
			emit_instr(em, OP_test_heap_put_list_return_1, args);
		else
			EMIT_FIRST(em, args, OP_test_heap_put_list_return_yx, OP_test_heap_put_list_return_rr);
		return 4;
	}
	EMIT_FIRST(em, args, OP_test_heap_put_list_xxx, OP_test_heap_put_list_yxx, OP_test_heap_put_list_rrd);
	return 2;
}

static size_t emit_test_heap(struct emitter *em, const struct genop *g, size_t count)
{
	size_t used = emit_test_heap_put_list(em, g, count);

	if (used != 0)
		return used;
	emit_test_heap_words(em, operand_u(g->args[0].u), g->args[1]);
	return 1;
}

static size_t emit_init_y(struct emitter *em, const struct genop *g, size_t count)
{
	(void)count;
	emit_instr(em, OP_init_y, g->args);
	return 1;
}

static size_t emit_init_yregs(struct emitter *em, const struct genop *g, size_t count)
{
	const struct operand *items = g->args[0].items;
	uint32_t left = g->args[0].count;

	(void)count;
	while (left > 0) {
		uint32_t n = left > 3 ? 3 : left;

		emit_instr(em, n == 1 ? OP_init_y : n == 2 ? OP_init_y2 : OP_init_y3, items);
		items += n;
		left -= n;
	}
	return 1;
}

/* ---- lists and tuples */

static size_t emit_nonempty_allocate(struct emitter *em, const struct genop *g, size_t count)
{
	const struct genop *allocate = next_is(g, count, GENOP_allocate);
	struct operand args[7] = { g->args[0], g->args[1] };
	const struct genop *call;
	size_t used;

	if (allocate == NULL || g->args[1].kind != OPND_X ||
	    init_covers(next_is(allocate, count - 1, GENOP_init_yregs), allocate->args[0].u))
		return 0;
	args[2] = allocate->args[0];
	args[3] = allocate->args[1];
	if (count > 2 && g[2].op == GENOP_get_list && operand_same(&g[2].args[0], &g->args[1])) {
		args[4] = g[2].args[1];
		args[5] = g[2].args[2];
		call = next_call(&g[2], count - 2, &used);
		if (call != NULL && call->op == GENOP_call && args[4].kind == OPND_Y && args[5].kind == OPND_X) {
			emit_call_line(em, call);
			args[6] = call->args[1];
			emit_instr(em, OP_is_nonempty_list_allocate_get_list_yx_call, args);
			return 2 + used;
		}
		EMIT_FIRST(em, args, OP_is_nonempty_list_allocate_get_list_yx,
			   OP_is_nonempty_list_allocate_get_list_dd);
		return 3;
	}
	emit_instr(em, OP_is_nonempty_list_allocate, args);
	return 2;
}

static size_t emit_is_nonempty_list(struct emitter *em, const struct genop *g, size_t count)
{
	size_t allocated = emit_nonempty_allocate(em, g, count);

	static const struct { uint16_t genop, ops[2]; } fused[] = {
		{ GENOP_get_list, { OP_is_nonempty_list_get_list_xxx, OP_is_nonempty_list_get_list_rdd } },
		{ GENOP_get_hd, { OP_is_nonempty_list_get_hd_xx, OP_is_nonempty_list_get_hd_rd } },
		{ GENOP_get_tl, { OP_is_nonempty_list_get_tl_xx, OP_is_nonempty_list_get_tl_rd } },
	};
	struct operand args[4] = { g->args[0], g->args[1] };

	if (allocated != 0 || count < 2 || !operand_is_reg(&g->args[1]))
		return allocated;
	for (unsigned i = 0; i < 3; i++) {
		if (g[1].op != fused[i].genop || !operand_same(&g[1].args[0], &g->args[1]))
			continue;
		args[2] = g[1].args[1];
		if (g[1].count > 2)
			args[3] = g[1].args[2];
		emit_first(em, fused[i].ops, 2, args);
		return 2;
	}
	return 0;
}

static size_t emit_get_tuple_element(struct emitter *em, const struct genop *g, size_t count)
{
	const struct genop *next = next_is(g, count, GENOP_get_tuple_element);
	size_t used = emit_float_element(em, g, count);
	struct operand args[5];

	if (used != 0)
		return used;
	if (next == NULL || !operand_is_reg(&g->args[0]) || !operand_same(&g->args[0], &next->args[0]) ||
	    operand_same(&g->args[0], &g->args[2]))
		return 0;
	args[0] = g->args[0];
	args[1] = g->args[1];
	args[2] = g->args[2];
	args[3] = next->args[1];
	args[4] = next->args[2];
	emit_instr(em,
		   args[0].kind == OPND_X && args[2].kind == OPND_X && args[4].kind == OPND_X ? OP_get_tuple_element2_x
											      : OP_get_tuple_element2_r,
		   args);
	return 2;
}

static size_t emit_put_tuple2(struct emitter *em, const struct genop *g, size_t count)
{
	const struct operand *list = &g->args[1];

	(void)count;
	if (list->count == 2 && operand_is_reg(&list->items[1])) {
		struct operand args[] = { g->args[0], list->items[0], list->items[1] };

		EMIT_FIRST(em, args, OP_put_tuple2_xx, OP_put_tuple2_rr, OP_put_tuple2_cr);
		return 1;
	}
	emit_instr(em, OP_put_tuple2, (struct operand[]){ g->args[0], operand_u(list->count) });
	for (uint32_t i = 0; i < list->count; i++)
		emit_source(em, &list->items[i]);
	return 1;
}

/* {copy or reuse, Size, Source, Destination, [Index, Value...]} */
static size_t emit_update_record(struct emitter *em, const struct genop *g, size_t count)
{
	const struct operand *list = &g->args[4];

	(void)count;
	if (!operand_is_reg(&g->args[2])) {
		emit_fail(em, g, "the record is no register");
		return 1;
	}
	emit_instr(em, OP_update_record,
		   (struct operand[]){ g->args[2], g->args[3], g->args[1], operand_u(list->count) });
	for (uint32_t i = 0; i < list->count; i += 2) {
		emit_word(em,
			  list->items[i].kind == OPND_U ? list->items[i].u : (Inst)small_value(list->items[i].term));
		emit_source(em, &list->items[i + 1]);
	}
	return 1;
}

static size_t emit_test_arity(struct emitter *em, const struct genop *g, size_t count)
{
	(void)count;
	emit_instr(em, g->args[1].kind == OPND_X ? OP_test_arity_x : OP_test_arity_s, g->args);
	return 1;
}

static size_t emit_is_tuple(struct emitter *em, const struct genop *g, size_t count)
{
	const struct genop *next = next_is(g, count, GENOP_test_arity);

	if (next == NULL || !operand_same(&g->args[1], &next->args[1]) || g->args[0].u != next->args[0].u)
		return 0;
	emit_instr(em, g->args[1].kind == OPND_X ? OP_is_tuple_of_arity_x : OP_is_tuple_of_arity_s, next->args);
	return 2;
}

static size_t emit_is_tagged_tuple(struct emitter *em, const struct genop *g, size_t count)
{
	(void)count;
	emit_instr(em, g->args[1].kind == OPND_X ? OP_is_tagged_tuple_x : OP_is_tagged_tuple_s, g->args);
	return 1;
}

static size_t emit_is_integer(struct emitter *em, const struct genop *g, size_t count)
{
	const struct genop *next = next_is(g, count, GENOP_is_ge);

	if (next == NULL || g->args[1].kind != OPND_X || !operand_same(&g->args[1], &next->args[1]) ||
	    g->args[0].u != next->args[0].u || !operand_is_small(&next->args[2]))
		return 0;
	emit_instr(em, OP_is_integer_ge_xi, next->args);
	return 2;
}

/* ---- native records */

static void emit_fields(struct emitter *em, const struct operand *list, bool are_read)
{
	for (uint32_t i = 0; i < list->count; i += 2) {
		emit_word(em, list->items[i].term);
		if (are_read)
			emit_word(em, emit_encode_reg(&list->items[i + 1]));
		else
			emit_source(em, &list->items[i + 1]);
	}
}

/* What the module itself declares under that name; NULL: nothing. */
static const struct operand *find_declared(const struct beam_file *f, Term name)
{
	for (uint32_t i = 0; i < f->record_count; i++)
		if (tuple_get(cons_head(f->records[i].term), RECORD_NAME) == name)
			return &f->records[i];
	return NULL;
}

/* label, name, old record or [], destination, live, [Field, Value...] */
static size_t emit_put_record(struct emitter *em, const struct genop *g, size_t count)
{
	const struct operand *a = g->args, *list = &a[5], *declared = &a[1];
	struct operand args[] = { a[0], a[2], a[3], a[4], operand_u(list->count) };
	enum opcode op = OP_update_native_record;

	(void)count;
	if (operand_is_atom(&a[2], NIL)) {
		op = term_is_atom(a[1].term) ? OP_create_record : OP_create_record_of;
		if (op == OP_create_record)
			declared = find_declared(em->f, a[1].term);
		if (declared == NULL) {
			emit_fail(em, g, "a record that is not declared");
			return 1;
		}
		args[1] = *declared;
	}
	emit_instr(em, op, args);
	emit_fields(em, list, false);
	return 1;
}

static size_t emit_get_record_elements(struct emitter *em, const struct genop *g, size_t count)
{
	const struct operand *list = &g->args[2];

	(void)count;
	emit_instr(em, OP_get_record_elements, (struct operand[]){ g->args[0], g->args[1], operand_u(list->count) });
	emit_fields(em, list, true);
	return 1;
}

/* Of this module, or exported; `external`: exported. */
static size_t emit_is_record_accessible(struct emitter *em, const struct genop *g, size_t count)
{
	Term module = g->args[2].term == am_auto_local ? em->f->module : NIL;

	(void)count;
	emit_instr(em, OP_is_record_accessible, (struct operand[]){ g->args[0], g->args[1], operand_const(module) });
	return 1;
}

static size_t emit_make_fun3(struct emitter *em, const struct genop *g, size_t count)
{
	const struct beam_lambda *l = &em->f->lambdas[g->args[0].u];
	const struct operand *list = &g->args[2];
	struct operand args[] = { g->args[0], g->args[1], operand_u(l->arity - l->num_free), operand_u(list->count) };

	(void)count;
	emit_instr(em, OP_make_fun3, args);
	for (uint32_t i = 0; i < list->count; i++)
		emit_source(em, &list->items[i]);
	return 1;
}

static size_t emit_make_fun2(struct emitter *em, const struct genop *g, size_t count)
{
	const struct beam_lambda *l = &em->f->lambdas[g->args[0].u];

	(void)count;
	emit_instr(em, OP_make_fun2, (struct operand[]){ g->args[0], operand_u(2) });
	emit_word(em, l->arity - l->num_free);
	emit_word(em, l->num_free);
	return 1;
}

/* ---- exceptions */

static size_t emit_try(struct emitter *em, const struct genop *g, size_t count)
{
	(void)count;
	emit_instr(em, OP_catch, g->args);
	return 1;
}

static const emit_special specials[GENOP_LIMIT] = {
	[GENOP_call_ext] = emit_call_ext,
	[GENOP_call_ext_only] = emit_call_ext,
	[GENOP_call_ext_last] = emit_call_ext,
	[GENOP_call_fun] = emit_fun_call,
	[GENOP_call_fun2] = emit_fun_call,
	[GENOP_deallocate] = emit_deallocate,
	[GENOP_move] = emit_move,
	[GENOP_allocate] = emit_allocate,
	[GENOP_allocate_heap] = emit_allocate_heap,
	[GENOP_allocate_zero] = emit_allocate_zero,
	[GENOP_allocate_heap_zero] = emit_allocate_heap_zero,
	[GENOP_test_heap] = emit_test_heap,
	[GENOP_init] = emit_init_y,
	[GENOP_init_yregs] = emit_init_yregs,
	[GENOP_is_nonempty_list] = emit_is_nonempty_list,
	[GENOP_get_tuple_element] = emit_get_tuple_element,
	[GENOP_put_tuple2] = emit_put_tuple2,
	[GENOP_update_record] = emit_update_record,
	[GENOP_test_arity] = emit_test_arity,
	[GENOP_is_tuple] = emit_is_tuple,
	[GENOP_is_tagged_tuple] = emit_is_tagged_tuple,
	[GENOP_is_integer] = emit_is_integer,
	[GENOP_put_map_assoc] = emit_put_map,
	[GENOP_put_map_exact] = emit_put_map,
	[GENOP_has_map_fields] = emit_has_map_fields,
	[GENOP_get_map_elements] = emit_get_map_elements,
	[GENOP_put_record] = emit_put_record,
	[GENOP_get_record_elements] = emit_get_record_elements,
	[GENOP_is_record_accessible] = emit_is_record_accessible,
	[GENOP_make_fun2] = emit_make_fun2,
	[GENOP_make_fun3] = emit_make_fun3,
	[GENOP_try] = emit_try,
	[GENOP_fmove] = emit_fmove,
	[GENOP_fconv] = emit_fconv,
	[GENOP_fadd] = emit_float_op,
	[GENOP_fsub] = emit_float_op,
	[GENOP_fmul] = emit_float_op,
	[GENOP_fdiv] = emit_float_op,
	[GENOP_fnegate] = emit_fnegate,
	[GENOP_select_val] = emit_select_val,
	[GENOP_select_tuple_arity] = emit_select_arity,
	[GENOP_bif0] = emit_guard,
	[GENOP_bif1] = emit_guard,
	[GENOP_bif2] = emit_guard,
	[GENOP_bif3] = emit_guard,
	[GENOP_gc_bif1] = emit_guard,
	[GENOP_gc_bif2] = emit_guard,
	[GENOP_gc_bif3] = emit_guard,
	[GENOP_bs_create_bin] = emit_bs_create_bin,
	[GENOP_bs_match] = emit_bs_match,
	[GENOP_bs_init2] = emit_bs_init,
	[GENOP_bs_init_bits] = emit_bs_init,
	[GENOP_bs_put_string] = emit_bs_put_string,
	[GENOP_bs_match_string] = emit_bs_match_string,
	[GENOP_bs_get_integer2] = emit_bs_get_integer,
	[GENOP_bs_get_binary2] = emit_bs_get_binary,
	[GENOP_bs_skip_bits2] = emit_bs_skip_bits,
	[GENOP_bs_start_match3] = emit_bs_start_match3,
	[GENOP_bs_start_match4] = emit_bs_start_match4,
};

emit_special emit_special_of(unsigned genop)
{
	return specials[genop];
}
