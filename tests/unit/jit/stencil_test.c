/* SPDX-License-Identifier: Apache-2.0 */
/* Stencils: what the table holds, that a filled one does what its operation does, and that what makes them refuses what it
 * cannot prove. */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>

#include "code/export.h"
#include "code/opcodes.h"
#include "stencils/stencil_code.h"
#include "proc/message.h"
#include "proc/process.h"
#include "proc/sched.h"
#include "unit.h"

/* The compilers whose stencils are known; another one may make fewer. */
#define IS_KNOWN_COMPILER (HAS_STENCILS && __GNUC__ >= 12 && __GNUC__ <= 14 && !VARIANT_GC_STRESS && !VARIANT_DEBUG)

/* Where a stencil leaves to: stubs that return their number. */
enum way { WAY_NEXT, WAY_LEAVE, WAY_PREEMPT, WAY_PREEMPT_RETURN, WAY_LABEL, WAY_EXIT, WAY_PREEMPT_AT, WAY_FAILED, WAY_TAIL_FAILED,
	WAY_COLLECT, WAY_EXITED, WAY_SHARED, WAY_NATIVE, WAY_COUNT };
enum { STUB_BYTES = 16, PAGE_BYTES = 4096, HEAP_WORDS = 64 };

/* The registers that stencils and the loop share. */
struct registers {
	const Inst *i;       /* rbx */
	Term *e, *top;       /* r12, r13 */
	Process *p;
	Term *x;
};

static struct {
	uint8_t *page;       /* stubs, then the stencil */
	const Inst *label;   /* of the way out that was asked for last */
	Inst code[8];
	Term heap[HEAP_WORDS];
	Term *x;             /* of sched */
	struct sched sched;
	Process process;
	struct registers r;
} bench;

static uintptr_t stub(enum way way) { return (uintptr_t)bench.page + way * STUB_BYTES; }
static uintptr_t way_label(void *arg, const Inst *at) { *(const Inst **)arg = at; return stub(WAY_LABEL); }
static uintptr_t way_exit(void *arg, const Inst *at) { *(const Inst **)arg = at; return stub(WAY_EXIT); }
static uintptr_t way_preempt(void *arg, const Inst *at) { (void)arg, (void)at; return stub(WAY_PREEMPT_AT); }
static uintptr_t way_function(void *arg, unsigned number)
{
	(void)arg;
	return (uintptr_t)stencil_functions[number].call;
}

static void set_up(void)
{
	unit_init();
	opcodes_init();
	bench.page = mmap((char *)((uintptr_t)&bench & -(uintptr_t)PAGE_BYTES) - (64 << 20), PAGE_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	ck_assert_ptr_ne(bench.page, MAP_FAILED);
	for (unsigned way = 0; way < WAY_COUNT; way++)
		memcpy((void *)stub(way), (uint8_t[]){ 0xb8, (uint8_t)way, 0, 0, 0, 0xc3 }, 6); /* mov $way,%eax; ret */
	bench.process.reds_left = 10;
	bench.x = bench.sched.x;
	for (unsigned i = 0; i < 8; i++)
		bench.x[i] = SMALL(100 + i);
	bench.r = (struct registers){ NULL, bench.heap + HEAP_WORDS - 8, bench.heap, &bench.process, bench.x };
}

/* Fields as they stand in an operation. */
static void put_16(unsigned n, unsigned value) { ((uint16_t *)bench.code)[n] = (uint16_t)value; }
static void put_32(unsigned n, int32_t value) { ((int32_t *)bench.code)[n] = value; }

/* The stencil of the operation that stands there. */
static enum way run_stencil(const struct stencil *s, const Inst *operation)
{
	uintptr_t shared[STENCIL_SHARED_COUNT];
	uint8_t *at = bench.page + WAY_COUNT * STUB_BYTES;
	struct stencil_ways ways = {
		(uintptr_t)at + (s != NULL ? s->size : 0), stub(WAY_LEAVE), stub(WAY_PREEMPT), stub(WAY_PREEMPT_RETURN),
		&bench.label, way_label, way_exit, way_preempt, way_function,
		shared, stub(WAY_FAILED), stub(WAY_TAIL_FAILED), stub(WAY_COLLECT), stub(WAY_EXITED),
	};
	struct registers *r = &bench.r;
	void *code = at;
	uint32_t way;

	for (unsigned i = 0; i < STENCIL_SHARED_COUNT; i++)
		shared[i] = stub(WAY_SHARED);
	ck_assert_ptr_nonnull(s);
	ck_assert(stencil_fill(s, operation, &ways, at, (uintptr_t)at));
	memcpy(at + s->size, (uint8_t[]){ 0xb8, WAY_NEXT, 0, 0, 0, 0xc3 }, 6);
	ck_assert_int_eq(mprotect(bench.page, PAGE_BYTES, PROT_READ | PROT_EXEC), 0);
	__asm__ volatile("pushq %[r]; subq $8,%%rsp; movq (%[r]),%%rbx; movq 8(%[r]),%%r12; movq 16(%[r]),%%r13;"
			 "movq 24(%[r]),%%r14; movq 32(%[r]),%%r15; call *%%rax; addq $8,%%rsp; popq %%rcx;"
			 "movq %%rbx,(%%rcx); movq %%r12,8(%%rcx); movq %%r13,16(%%rcx)"
			 : "+a"(code), [r] "+c"(r)
			 :
			 : "rbx", "r12", "r13", "r14", "r15", "rdx", "rsi", "rdi", "r8", "r9", "r10", "r11", "memory", "cc");
	way = (uint32_t)(uintptr_t)code;
	ck_assert_int_eq(mprotect(bench.page, PAGE_BYTES, PROT_READ | PROT_WRITE), 0);
	return way;
}

static enum way run(enum opcode op)
{
	return run_stencil(stencil_find(op, bench.code), bench.code);
}

static bool has_stencil(enum opcode op)
{
	for (size_t n = 0; n < stencil_count; n++)
		if (stencils[n].op == op)
			return true;
	return false;
}

START_TEST(test_stencil_table_is_sound)
{
	ck_assert(HAS_STENCILS || stencil_count == 0);
	for (size_t n = 0; n < stencil_count; n++) {
		const struct stencil *s = &stencils[n];

		ck_assert_uint_lt(s->op, OP_COUNT);
		ck_assert(n == 0 || s[-1].op <= s->op);
		for (unsigned i = 0; i < s->patch_count; i++) {
			const struct stencil_patch *p = &s->patches[i];

			ck_assert_uint_le(p->at + (p->form == STENCIL_ABS64 ? 8u : 4u), s->size);
			ck_assert_uint_lt(p->hole, STENCIL_HOLE_COUNT);
			ck_assert(p->hole != STENCIL_FUNCTION || p->number < stencil_function_count);
		}
	}
}
END_TEST

START_TEST(test_stencil_table_covers_what_is_frequent)
{
	static const enum opcode wanted[] = {
		OP_move_xx, OP_move_yx, OP_move_cx, OP_call, OP_call_only, OP_call_last, OP_call_ext, OP_return, OP_allocate,
		OP_deallocate_return_1, OP_test_heap, OP_get_list_xxx, OP_put_list_xxx, OP_get_tuple_element_x, OP_is_tuple_x,
		OP_is_tagged_tuple_x, OP_is_eq_exact_xk, OP_is_eq_exact_rr, OP_is_lt_xx, OP_is_ge_xi, OP_select_2_x, OP_add_xix,
		OP_sub_rr, OP_mul_ss, OP_band_xix, OP_bif_element, OP_bif_map_get, OP_catch, OP_try_end, OP_fadd, OP_call_fun,
		OP_call_fun_last, OP_get_map_element_rk, OP_put_tuple2, OP_get_map_elements, OP_has_map_fields, OP_make_fun3,
		OP_bif1, OP_bif2, OP_put_map_assoc, OP_put_map_exact, OP_bs_start_match3, OP_bs_get_integer_8, OP_bs_get_utf8,
		OP_bs_get_binary_all, OP_bs_test_tail, OP_bs_scan, OP_bs_create_bin_append, OP_bs_create_bin_small, OP_fload2_fmul,
		OP_fmul_fadd, OP_fload_element_fadd, OP_fnegate, OP_call_bif, OP_call_bif_only, OP_call_bif_last,
		OP_apply, OP_apply_last, OP_send, OP_loop_rec, OP_loop_rec_end, OP_remove_message, OP_wait_timeout, OP_timeout,
	};

	if (!IS_KNOWN_COMPILER)
		return;
	for (size_t i = 0; i < sizeof wanted / sizeof wanted[0]; i++)
		ck_assert_msg(has_stencil(wanted[i]), "%s", opcode_info(wanted[i])->name);
}
END_TEST

/* What collects, raises, waits, or calls natives of libraries. */
START_TEST(test_stencil_table_leaves_to_the_loop)
{
	static const enum opcode unwanted[] = {
		OP_func_info, OP_call_nif, OP_breakpoint, OP_badmatch, OP_wait, OP_bs_create_bin, OP_bs_put_integer,
		OP_int_code_end,
	};

	for (size_t i = 0; i < sizeof unwanted / sizeof unwanted[0]; i++)
		ck_assert_msg(!has_stencil(unwanted[i]), "%s", opcode_info(unwanted[i])->name);
}
END_TEST

/* Code whose operations have a place for machine code, as those of loaded modules. */
static Inst *code_with_places(void)
{
	char *at = mmap(NULL, CODE_RANGE_BYTES + PAGE_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	ck_assert_ptr_ne(at, MAP_FAILED);
	return (Inst *)at;
}

START_TEST(test_stencil_moves_registers)
{
	if (!IS_KNOWN_COMPILER)
		return;
	set_up();
	bench.r.e[3] = SMALL(7);
	put_16(1, reg_y(2));
	put_16(2, reg_x(5));
	ck_assert_int_eq(run(OP_move_yx), WAY_NEXT);
	ck_assert_uint_eq(bench.x[5], SMALL(7));
	put_16(1, reg_x(1)); /* one move gives the other its value */
	put_16(2, reg_x(2));
	put_16(3, reg_x(2));
	put_16(4, reg_y(0));
	ck_assert_int_eq(run(OP_move2_xx_xy), WAY_NEXT);
	ck_assert_uint_eq(bench.r.e[1], SMALL(101));
	put_16(1, reg_x(3)); /* a register with itself */
	put_16(2, reg_x(3));
	ck_assert_int_eq(run(OP_swap), WAY_NEXT);
	ck_assert_uint_eq(bench.x[3], SMALL(103));
}
END_TEST

START_TEST(test_stencil_puts_constants_of_any_size)
{
	static const Term constants[] = { NIL, SMALL(1), SMALL(-1), SMALL(1 << 27), SMALL(SMALL_MAX), SMALL(SMALL_MIN) };

	if (!IS_KNOWN_COMPILER)
		return;
	set_up();
	for (unsigned i = 0; i < sizeof constants / sizeof constants[0]; i++) {
		put_16(1, reg_x(4));
		bench.code[1] = constants[i];
		ck_assert_int_eq(run(OP_move_cx), WAY_NEXT);
		ck_assert_uint_eq(bench.x[4], constants[i]);
	}
}
END_TEST

START_TEST(test_stencil_adds_small_integers_alone)
{
	if (!IS_KNOWN_COMPILER)
		return;
	set_up();
	put_16(1, reg_x(1));
	put_16(2, reg_x(2));
	put_16(3, 2);
	bench.code[1] = SMALL(-200);
	ck_assert_int_eq(run(OP_add_xix), WAY_NEXT);
	ck_assert_uint_eq(bench.x[2], SMALL(-99));
	bench.x[1] = SMALL(SMALL_MIN);
	bench.x[2] = NIL;
	ck_assert_int_eq(run(OP_add_xix), WAY_EXIT);
	ck_assert_ptr_eq(bench.label, bench.code);
	ck_assert_uint_eq(bench.x[2], NIL);
	bench.x[1] = NIL;
	ck_assert_int_eq(run(OP_add_xix), WAY_EXIT);
}
END_TEST

START_TEST(test_stencil_branches_to_its_label)
{
	if (!IS_KNOWN_COMPILER)
		return;
	set_up();
	put_16(1, reg_x(0));
	put_32(1, 6);
	bench.code[1] = SMALL(100);
	ck_assert_int_eq(run(OP_is_eq_exact_xk), WAY_NEXT);
	bench.code[1] = SMALL(SMALL_MAX);
	ck_assert_int_eq(run(OP_is_eq_exact_xk), WAY_LABEL);
	ck_assert_ptr_eq(bench.label, bench.code + 6);
	put_16(1, reg_x(1));
	put_16(2, reg_x(2));
	put_16(3, reg_x(1)); /* its own source */
	put_32(2, -3);
	ck_assert_int_eq(run(OP_is_nonempty_list_get_list_xxx), WAY_LABEL);
	ck_assert_ptr_eq(bench.label, bench.code - 3);
	bench.heap[0] = SMALL(1);
	bench.heap[1] = NIL;
	bench.x[1] = term_from_cons(bench.heap);
	ck_assert_int_eq(run(OP_is_nonempty_list_get_list_xxx), WAY_NEXT);
	ck_assert_uint_eq(bench.x[2], SMALL(1));
	ck_assert_uint_eq(bench.x[1], NIL);
}
END_TEST

START_TEST(test_stencil_leaves_before_it_collects)
{
	Term *e;

	if (!IS_KNOWN_COMPILER)
		return;
	set_up();
	e = bench.r.e;
	put_16(1, 3 * sizeof(Term));
	put_16(2, 0);
	ck_assert_int_eq(run(OP_allocate), WAY_NEXT);
	ck_assert_ptr_eq(bench.r.e, e - 3);
	ck_assert_uint_eq(bench.r.e[0], TERM_NONE);
	bench.r.top = bench.r.e - 2;
	e = bench.r.e;
	ck_assert_int_eq(run(OP_allocate), WAY_EXIT);
	ck_assert_ptr_eq(bench.r.e, e);
}
END_TEST

START_TEST(test_stencil_calls_and_returns_are_reductions)
{
	Inst *caller;

	if (!IS_KNOWN_COMPILER)
		return;
	set_up();
	put_32(1, 4);
	ck_assert_int_eq(run(OP_call), WAY_LABEL);
	ck_assert_ptr_eq(bench.label, bench.code + 4);
	ck_assert_uint_eq(bench.r.e[0], (Term)(bench.code + OPWORDS_call));
	ck_assert_int_eq(bench.process.reds_left, 9);
	bench.process.reds_left = 0;
	ck_assert_int_eq(run(OP_call), WAY_PREEMPT_AT);
	bench.process.reds_left = 2;
	caller = code_with_places();
	bench.r.e[0] = (Term)caller;
	ck_assert_int_eq(run(OP_return), WAY_LEAVE);
	ck_assert_ptr_eq(bench.r.i, caller);
	ck_assert_uint_eq(bench.r.e[0], TERM_NONE);
	bench.r.e[0] = (Term)caller;
	*code_native_at(caller) = stub(WAY_NATIVE);
	ck_assert_int_eq(run(OP_return), WAY_NATIVE);
	ck_assert_int_eq(run(OP_return), WAY_PREEMPT_RETURN);
}
END_TEST

static Term answer;

static Term give_answer(Process *p, Term *x)
{
	ck_assert_uint_eq(x[1], SMALL(101));
	ck_assert_ptr_eq(p->heap.top, bench.heap);
	p->heap.top += 2;
	return answer;
}

/* A call of a native goes to the text that all share, which goes on behind it: in machine code where there is some, else
 * in the loop, and where a collection is due, or the native failed, in its tails. */
START_TEST(test_stencil_calls_natives)
{
	struct export e = { .call = give_answer };
	Inst *code;

	if (!IS_KNOWN_COMPILER)
		return;
	set_up();
	bench.code[1] = (Inst)&e;
	ck_assert_int_eq(run(OP_call_bif), WAY_SHARED);
	ck_assert_ptr_eq(bench.r.i, bench.code);
	code = code_with_places();
	code[1] = (Inst)&e;
	bench.r.i = code;
	answer = TERM_NONE;
	ck_assert_int_eq(run_stencil(stencil_shared(0), code), WAY_FAILED);
	ck_assert_ptr_eq(bench.r.i, code);
	ck_assert_ptr_eq(bench.process.i, code);
	ck_assert_ptr_eq(bench.process.heap.stop, bench.r.e);
	ck_assert_uint_eq(bench.x[0], SMALL(100));
	ck_assert_int_eq(bench.process.reds_left, 9);
	bench.r.top = bench.heap;
	answer = SMALL(7);
	ck_assert_int_eq(run_stencil(stencil_shared(0), code), WAY_LEAVE);
	ck_assert_ptr_eq(bench.r.i, code + OPWORDS_call_bif);
	ck_assert_ptr_eq(bench.r.top, bench.heap + 2);
	ck_assert_uint_eq(bench.x[0], SMALL(7));
	*code_native_at(code + OPWORDS_call_bif) = stub(WAY_NATIVE);
	bench.r.i = code;
	bench.r.top = bench.heap;
	ck_assert_int_eq(run_stencil(stencil_shared(0), code), WAY_NATIVE);
	bench.r.i = code;
	bench.r.top = bench.heap;
	bench.process.flags = PF_NEED_GC;
	ck_assert_int_eq(run_stencil(stencil_shared(0), code), WAY_COLLECT);
	ck_assert_ptr_eq(bench.r.i, code + OPWORDS_call_bif);
	ck_assert_int_eq(bench.process.reds_left, 6);
}
END_TEST

START_TEST(test_stencil_calls_natives_as_last_calls)
{
	enum { FRAME_WORDS = 3 };
	struct export e = { .call = give_answer };
	Term *frame;
	Inst *caller;

	if (!IS_KNOWN_COMPILER)
		return;
	set_up();
	put_16(1, FRAME_WORDS * sizeof(Term));
	bench.code[1] = (Inst)&e;
	bench.r.i = bench.code;
	frame = bench.r.e;
	caller = code_with_places();
	frame[FRAME_WORDS] = (Term)caller;
	answer = TERM_NONE;
	ck_assert_int_eq(run_stencil(stencil_shared(2), bench.code), WAY_TAIL_FAILED);
	ck_assert_ptr_eq(bench.r.i, bench.code);
	ck_assert_ptr_eq(bench.r.e, frame);
	bench.r.top = bench.heap;
	answer = SMALL(7);
	ck_assert_int_eq(run_stencil(stencil_shared(2), bench.code), WAY_LEAVE);
	ck_assert_ptr_eq(bench.r.e, frame + FRAME_WORDS);
	ck_assert_ptr_eq(bench.r.i, caller);
	ck_assert_uint_eq(*bench.r.e, TERM_NONE);
	bench.r.i = bench.code;
	bench.r.top = bench.heap;
	*bench.r.e = (Term)(caller + 1);
	ck_assert_int_eq(run_stencil(stencil_shared(1), bench.code), WAY_LEAVE);
	ck_assert_ptr_eq(bench.r.i, caller + 1);
	ck_assert_ptr_eq(bench.r.e, frame + FRAME_WORDS);
}
END_TEST

START_TEST(test_stencil_receives)
{
	struct signal second = { .term = SMALL(2), .token = NIL };
	struct signal first = { .next = &second, .term = SMALL(1), .token = SMALL(3) };
	Process *p = &bench.process;

	if (!IS_KNOWN_COMPILER)
		return;
	set_up();
	p->seq_token = p->dt_utag = NIL;
	p->msg_first = &first;
	p->msg_save = &p->msg_first;
	put_16(1, reg_x(3));
	put_32(1, 5);
	ck_assert_int_eq(run(OP_loop_rec), WAY_NEXT);
	ck_assert_uint_eq(bench.x[3], SMALL(1));
	ck_assert_int_eq(run(OP_remove_message), WAY_EXIT); /* a tracer is told of its token */
	ck_assert_int_eq(run(OP_loop_rec_end), WAY_LABEL);
	ck_assert_ptr_eq(bench.label, bench.code + 5);
	ck_assert_ptr_eq(p->msg_save, &first.next);
	ck_assert_int_eq(p->reds_left, 9);
	p->reds_left = 1;
	ck_assert_int_eq(run(OP_loop_rec_end), WAY_EXIT);
	ck_assert_ptr_eq(p->msg_save, &first.next);
	ck_assert_int_eq(p->reds_left, 1);
	ck_assert_int_eq(run(OP_timeout), WAY_NEXT);
	ck_assert_ptr_eq(p->msg_save, &p->msg_first);
	p->msg_save = &second.next;
	ck_assert_int_eq(run(OP_loop_rec), WAY_SHARED);
	ck_assert_ptr_eq(bench.r.i, bench.code);
	ck_assert_int_eq(run(OP_send), WAY_SHARED);
	bench.code[1] = SMALL(0);
	ck_assert_int_eq(run(OP_wait_timeout), WAY_NEXT);
	bench.code[1] = SMALL(1);
	ck_assert_int_eq(run(OP_wait_timeout), WAY_EXIT);
	bench.code[1] = SMALL(0);
	atomic_store(&p->state, PS_TIMEOUT);
	ck_assert_int_eq(run(OP_wait_timeout), WAY_EXIT);
}
END_TEST

/* Nothing has come: the receive goes on where it waits. */
START_TEST(test_stencil_receives_nothing)
{
	Inst *code;

	if (!IS_KNOWN_COMPILER)
		return;
	set_up();
	code = code_with_places();
	((int32_t *)code)[1] = 5;
	bench.r.i = code;
	bench.process.msg_save = &bench.process.msg_first;
	ck_assert_int_eq(run_stencil(stencil_shared(4), code), WAY_LEAVE);
	ck_assert_ptr_eq(bench.r.i, code + 5);
	*code_native_at(code + 5) = stub(WAY_NATIVE);
	bench.r.i = code;
	ck_assert_int_eq(run_stencil(stencil_shared(4), code), WAY_NATIVE);
	bench.process.exc_kind = EXC_EXITED;
	bench.r.i = code;
	ck_assert_int_eq(run_stencil(stencil_shared(4), code), WAY_EXITED);
}
END_TEST

START_TEST(test_stencil_of_messages_leaves_when_somebody_watches)
{
	static const enum opcode all[] = { OP_send, OP_loop_rec, OP_loop_rec_end, OP_remove_message, OP_timeout };
	struct signal first = { .term = SMALL(1), .token = NIL };

	if (!IS_KNOWN_COMPILER)
		return;
	set_up();
	bench.process.msg_first = &first;
	bench.process.msg_save = &bench.process.msg_first;
	bench.sched.watch = WATCH_MESSAGES;
	put_32(1, 5);
	for (size_t i = 0; i < sizeof all / sizeof all[0]; i++)
		ck_assert_msg(run(all[i]) == WAY_EXIT, "%s", opcode_info(all[i])->name);
}
END_TEST

START_TEST(test_stencil_fill_refuses_what_does_not_fit)
{
	static const struct stencil_patch far = { 0, STENCIL_WORD, STENCIL_ABS32, 1, 0 };
	static const uint8_t four[4];
	const struct stencil s = { .size = 4, .patch_count = 1, .code = four, .patches = &far };
	struct stencil_ways ways = { 0 };
	uint8_t to[4];

	bench.code[1] = (1u << 31) - 1;
	ck_assert(stencil_fill(&s, bench.code, &ways, to, 0));
	ck_assert(stencil_fits(&s, bench.code));
	bench.code[1]++;
	ck_assert(!stencil_fill(&s, bench.code, &ways, to, 0));
	ck_assert(!stencil_fits(&s, bench.code));
	bench.code[1] = (Inst)-1;
	ck_assert(!stencil_fill(&s, bench.code, &ways, to, 0));
}
END_TEST

/* ---- what makes them */

static struct code made;

/* The bytes are a function; it may have one way out, at byte `at` (0: none). */
static bool make(const uint8_t *bytes, size_t n, size_t at, enum stencil_hole hole)
{
	struct code_reloc way = { .at = at, .patch = { .hole = (uint8_t)hole, .form = STENCIL_REL32, .addend = -4 } };

	return code_make(&made, bytes, n, &way, at != 0);
}
#define MAKE(at, hole, ...) make((const uint8_t[]){ __VA_ARGS__ }, sizeof((const uint8_t[]){ __VA_ARGS__ }), at, hole)
#define JMP 0xe9, 0, 0, 0, 0
#define JE(to) 0x74, to
#define STORE 0x49, 0x89, 0x07            /* mov %rax,(%r15) */
#define LOAD 0x49, 0x8b, 0x07             /* mov (%r15),%rax */

START_TEST(test_stencil_code_takes_what_is_proven)
{
	ck_assert_msg(MAKE(7, STENCIL_NEXT, LOAD, STORE, JMP), "%s", made.why);
	ck_assert_uint_eq(made.size, 6); /* the jump to what follows is not needed */
	ck_assert_msg(MAKE(4, STENCIL_EXIT, LOAD, JMP), "%s", made.why);
	ck_assert_uint_eq(made.size, 8);
	ck_assert_uint_eq(made.patch_count, 1);
	/* je over; jmp out; over: jmp out -- a branch goes where its jump goes */
	ck_assert_msg(MAKE(4, STENCIL_LEAVE, LOAD, 0xe9, 0, 0, 0, 0), "%s", made.why);
	/* sub $8,%rsp; call out; add $8,%rsp; ret -- add $8,%rsp; jmp out */
	ck_assert_msg(MAKE(5, STENCIL_LEAVE, 0x48, 0x83, 0xec, 8, 0xe8, 0, 0, 0, 0, 0x48, 0x83, 0xc4, 8, 0xc3), "%s", made.why);
	ck_assert_uint_eq(made.size, 4 + 4 + 5);
	ck_assert_int_eq(memcmp(made.bytes + 4, (const uint8_t[]){ 0x48, 0x83, 0xc4, 8, 0xe9 }, 5), 0);
	ck_assert_uint_eq(made.patches[0].at, 9);
	/* sub $8,%rsp; mov %rsp,%rsi; add $8,%rsp */
	ck_assert_msg(MAKE(12, STENCIL_LEAVE, 0x48, 0x83, 0xec, 8, 0x48, 0x89, 0xe6, 0x48, 0x83, 0xc4, 8, JMP), "%s", made.why);
	/* sub $8,%rsp; add $8,%rsp */
	ck_assert_msg(MAKE(9, STENCIL_LEAVE, 0x48, 0x83, 0xec, 8, 0x48, 0x83, 0xc4, 8, JMP), "%s", made.why);
}
END_TEST

START_TEST(test_stencil_code_refuses_what_is_not)
{
	ck_assert(!MAKE(0, 0, LOAD, 0xc3));                            /* ret */
	ck_assert_str_eq(made.why, "returns");
	ck_assert(!MAKE(0, 0, LOAD));                                  /* and on */
	ck_assert_str_eq(made.why, "runs past its end");
	ck_assert(!MAKE(1, STENCIL_EXIT, JMP));                        /* no work is done */
	ck_assert_str_eq(made.why, "is the loop's");
	ck_assert(!MAKE(7, STENCIL_EXIT, STORE, LOAD, JMP));           /* done again, it would store twice */
	ck_assert(!MAKE(5, STENCIL_EXIT, 0x49, 0x83, 0xc4, 8, JMP));   /* add $8,%r12 */
	ck_assert(!MAKE(2, STENCIL_LEAVE, 0x55, JMP));                 /* push %rbp */
	ck_assert(!MAKE(5, STENCIL_LEAVE, 0x48, 0x8b, 0x45, 0, JMP));  /* mov 0(%rbp),%rax */
	ck_assert(!MAKE(4, STENCIL_LEAVE, 0x48, 0x89, 0xe0, JMP));     /* mov %rsp,%rax */
	ck_assert(!MAKE(5, STENCIL_LEAVE, 0x48, 0x83, 0xec, 8, JMP));  /* sub $8,%rsp */
	ck_assert(!MAKE(5, STENCIL_LEAVE, 0x48, 0x8b, 0x04, 0x24, JMP)); /* mov (%rsp),%rax */
	ck_assert(!MAKE(5, STENCIL_LEAVE, 0x49, 0x83, 0xc6, 8, JMP));  /* add $8,%r14 */
	ck_assert(!MAKE(6, STENCIL_LEAVE, 0x64, 0x48, 0x8b, 0x00, 0x90, JMP)); /* mov %fs:(%rax),%rax */
	ck_assert(!MAKE(1, STENCIL_FUNCTION, 0xe8, 0, 0, 0, 0, LOAD)); /* a call with a stack that is not aligned */
	ck_assert(!MAKE(3, STENCIL_LEAVE, LOAD, JMP));                 /* a relocation between instructions */
	ck_assert(!MAKE(4, STENCIL_FIELD, LOAD, JMP));
	ck_assert(!MAKE(0, 0, JE(5), LOAD, 0xeb, 0xfb));               /* out of itself */
	ck_assert(!MAKE(0, 0, 0x0f, 0x0b));                            /* ud2 */
	ck_assert(!MAKE(0, 0, 0xcd, 0x80));                            /* int */
	ck_assert(!MAKE(0, 0, 0x0f, 0x05));                            /* syscall, and past its end */
	ck_assert(!MAKE(0, 0, 0x06, 0x06));                            /* no instruction */
	ck_assert(!MAKE(0, 0, 0x49));
}
END_TEST

/* ---- the tool */

static const char *built(const char *name)
{
	static char path[2][256];
	static unsigned turn;
	const char *build = getenv("BUILD");

	turn ^= 1;
	snprintf(path[turn], sizeof path[turn], "%s/%s", build != NULL ? build : "build", name);
	return path[turn];
}

/* Runs the tool over a file; what it said. Returns its exit status; -1: it was killed. */
static int run_tool(const char *object, char *said, size_t room)
{
	char command[1024];
	FILE *out;
	size_t n;
	int status;

	snprintf(command, sizeof command, "%s '%s' /dev/null /dev/null 2>&1", built("stencil_tool"), object);
	out = popen(command, "r");
	ck_assert_ptr_nonnull(out);
	n = fread(said, 1, room - 1, out);
	said[n] = 0;
	status = pclose(out);
	return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static void assert_refused(const char *object)
{
	char said[512];

	ck_assert_int_eq(run_tool(object, said, sizeof said), 1);
	ck_assert_int_eq(strncmp(said, "stencil_tool: ", 14), 0);
	ck_assert_ptr_eq(strchr(said, '\n'), said + strlen(said) - 1);
}

static void write_file(const char *path, const void *bytes, size_t n)
{
	FILE *f = fopen(path, "wb");

	ck_assert_ptr_nonnull(f);
	ck_assert_uint_eq(fwrite(bytes, 1, n, f), n);
	fclose(f);
}

START_TEST(test_stencil_tool_refuses_other_files)
{
	char path[] = "/tmp/stencil-test-XXXXXX";
	int fd = mkstemp(path);

	ck_assert_int_ge(fd, 0);
	assert_refused("/nowhere");
	assert_refused(path);
	write_file(path, "\177ELF\2\1\1", 7);
	assert_refused(path);
	assert_refused(built("obj/vm/base/log.o")); /* no stencils in it */
	assert_refused(built("erlvm"));             /* no object file */
	unlink(path);
}
END_TEST

/* An object file with wrong bytes in it: stencils, fewer, or a line; never a crash. */
START_TEST(test_stencil_tool_survives_damaged_files)
{
	char path[] = "/tmp/stencil-test-XXXXXX", said[512];
	static uint8_t bytes[4 << 20];
	FILE *f = fopen(built("obj/stencil_ops.o"), "rb");
	int fd = mkstemp(path);
	size_t n;

	if (f == NULL)
		return; /* a build without */
	n = fread(bytes, 1, sizeof bytes, f);
	fclose(f);
	ck_assert_int_ge(fd, 0);
	srand(23);
	for (unsigned round = 0; round < 23; round++) {
		for (unsigned i = 0; i < 64; i++)
			bytes[(size_t)rand() % (round % 2 ? n : 4096)] = (uint8_t)rand();
		memcpy(bytes, "\177ELF\2\1\1", 7);
		write_file(path, bytes, round % 3 == 0 ? n / 2 : n);
		ck_assert_int_ge(run_tool(path, said, sizeof said), 0);
	}
	unlink(path);
}
END_TEST

Suite *stencil_suite(void)
{
	Suite *s = suite_create("stencil");
	TCase *t = tcase_create("stencils");

	tcase_set_timeout(t, 60);
	tcase_add_test(t, test_stencil_table_is_sound);
	tcase_add_test(t, test_stencil_table_covers_what_is_frequent);
	tcase_add_test(t, test_stencil_table_leaves_to_the_loop);
	tcase_add_test(t, test_stencil_moves_registers);
	tcase_add_test(t, test_stencil_puts_constants_of_any_size);
	tcase_add_test(t, test_stencil_adds_small_integers_alone);
	tcase_add_test(t, test_stencil_branches_to_its_label);
	tcase_add_test(t, test_stencil_leaves_before_it_collects);
	tcase_add_test(t, test_stencil_calls_and_returns_are_reductions);
	tcase_add_test(t, test_stencil_calls_natives);
	tcase_add_test(t, test_stencil_calls_natives_as_last_calls);
	tcase_add_test(t, test_stencil_receives);
	tcase_add_test(t, test_stencil_receives_nothing);
	tcase_add_test(t, test_stencil_of_messages_leaves_when_somebody_watches);
	tcase_add_test(t, test_stencil_fill_refuses_what_does_not_fit);
	tcase_add_test(t, test_stencil_code_takes_what_is_proven);
	tcase_add_test(t, test_stencil_code_refuses_what_is_not);
	tcase_add_test(t, test_stencil_tool_refuses_other_files);
	tcase_add_test(t, test_stencil_tool_survives_damaged_files);
	suite_add_tcase(s, t);
	return s;
}
