/* SPDX-License-Identifier: Apache-2.0 */
/* Small programs of generic operations, translated and run: what they exit with is the result. */
#include <check.h>
#include <string.h>

#include "bif/bif.h"
#include "code/breakpoint.h"
#include "code/emit.h"
#include "code/line_break.h"
#include "exec/call.h"
#include "exec/exec.h"
#include "heap/copy.h"
#include "proc/process_life.h"
#include "proc/registry.h"
#include "proc/sched.h"
#include "unit.h"

enum { OPS_MAX = 64 };

static struct {
	bool ready;
	Term module;
	struct genop ops[OPS_MAX];
	struct operand args[OPS_MAX * 8];
	uint32_t op_count, arg_count;
	struct beam_label labels[16];
	struct code_instance instance;
	Term result;
	bool ended;
} prog;

static void note_exit(Process *p)
{
	prog.result = copy_to_heap(p->exc_reason, unit_heap());
	prog.ended = true;
}

static void program_start(void)
{
	unit_init();
	process_table_init(1000);
	registry_init();
	sched_init(1, 1);
	export_init();
	fun_init();
	module_init();
	exec_init();
	bif_init();
	process_at_exit(note_exit);
	prog.module = atom_from_text("prog");
}

/* Adds one generic operation. */
#define GEN(name, ...) gen_add(GENOP_##name, sizeof((struct operand[]){ __VA_ARGS__ }) / sizeof(struct operand), \
			       (struct operand[]){ __VA_ARGS__ })
#define GEN0(name) gen_add(GENOP_##name, 0, NULL)

static void gen_add(unsigned op, unsigned count, const struct operand *args)
{
	struct genop *g = &prog.ops[prog.op_count++];

	g->op = (uint16_t)op;
	g->count = (uint16_t)count;
	g->args = prog.args + prog.arg_count;
	if (count > 0)
		memcpy(g->args, args, count * sizeof(*args));
	prog.arg_count += count;
}

static struct operand x(unsigned n) { return operand_x(n); }
static struct operand y(unsigned n) { return (struct operand){ .kind = OPND_Y, .u = n }; }
static struct operand u(uint64_t n) { return operand_u(n); }
static struct operand c(Term t) { return operand_const(t); }
static struct operand i(int64_t n) { return operand_const(term_from_small(n)); }
static struct operand label(unsigned n) { return (struct operand){ .kind = OPND_LABEL, .u = n }; }
static struct operand export(const char *function, unsigned arity)
{
	return (struct operand){ .kind = OPND_EXPORT,
				 .export = export_get(am_erlang, atom_from_text(function), arity) };
}

/* prog:main(X) begins: labels 1 (function clause) and 2 (entry). */
static void program_begin(void)
{
	GEN(label, u(1));
	GEN(func_info, c(prog.module), c(atom_from_text("main")), u(1));
	GEN(label, u(2));
}

/* Leaves x0 as the process's exit reason. */
static void program_end(void)
{
	GEN(call_ext_only, u(1), export("exit", 1));
	GEN0(int_code_end);
}

static Term program_run(Term argument)
{
	struct beam_file f = { .module = prog.module,
			       .ops = prog.ops,
			       .op_count = prog.op_count,
			       .labels = prog.labels,
			       .label_count = 16 };
	struct spawn_options o = SPAWN_OPTIONS_DEFAULT;
	struct beam_error error = { "" };
	struct sched *s = sched_get(1);
	Process *p;
	Term pid;

	prog.labels[2].entry = true;
	prog.instance.module = prog.module;
	ck_assert_msg(emit_module(&f, &prog.instance, &error) == 0, "%s", error.text);
	atomic_store(&export_get(prog.module, atom_from_text("main"), 1)->address, prog.instance.label_address[2]);
	pid = process_spawn(NULL, prog.module, atom_from_text("main"), heap_cons(unit_heap(), argument, NIL), &o, NULL);
	p = process_find(pid);
	ck_assert_ptr_nonnull(p);
	s->current = p;
	for (int slices = 0; !prog.ended && slices < 1000; slices++) {
		p->reds_left = SCHED_REDS;
		exec_run(s, p);
	}
	ck_assert(prog.ended);
	return prog.result;
}

START_TEST(test_loop_adds)
{
	program_start();
	program_begin();
	GEN(gc_bif2, label(0), u(1), export("+", 2), x(0), i(5), x(0));
	program_end();
	ck_assert_uint_eq(program_run(SMALL(37)), SMALL(42));
}
END_TEST

START_TEST(test_loop_add_overflows_to_bignum)
{
	Term big;

	program_start();
	program_begin();
	GEN(gc_bif2, label(0), u(1), export("+", 2), x(0), i(1), x(0));
	program_end();
	big = program_run(term_from_small(SMALL_MAX));
	ck_assert(term_is_big(big));
	ck_assert_uint_eq(boxed_ptr(big)[1], (uint64_t)SMALL_MAX + 1);
}
END_TEST

START_TEST(test_loop_guard_failure_takes_label)
{
	program_start();
	program_begin();
	GEN(gc_bif2, label(3), u(1), export("div", 2), i(1), x(0), x(0));
	GEN(label, u(3));
	GEN(move, c(am_error), x(0));
	program_end();
	ck_assert_uint_eq(program_run(SMALL(0)), am_error);
}
END_TEST

START_TEST(test_loop_catch_keeps_frame)
{
	Term result;

	program_start();
	program_begin();
	GEN(allocate, u(2), u(1));
	GEN(move, x(0), y(1));
	GEN(catch, y(0), label(3));
	GEN(call_ext, u(1), export("throw", 1));
	GEN(label, u(3));
	GEN(catch_end, y(0));
	GEN(test_heap, u(2), u(1));
	GEN(put_list, x(0), y(1), x(0));
	GEN(deallocate, u(2));
	program_end();
	result = program_run(am_ok);
	ck_assert(term_is_cons(result));
	ck_assert_uint_eq(cons_head(result), am_ok);
	ck_assert_uint_eq(cons_tail(result), am_ok);
}
END_TEST

START_TEST(test_loop_counts_down_through_slices)
{
	program_start();
	program_begin();
	GEN(is_ne_exact, label(3), x(0), i(0));
	GEN(gc_bif2, label(0), u(1), export("-", 2), x(0), i(1), x(0));
	GEN(call_only, u(1), label(2));
	GEN(label, u(3));
	program_end();
	ck_assert_uint_eq(program_run(SMALL(10007)), SMALL(0));
}
END_TEST

static struct operand choices[16];

static void program_select(unsigned n, const Term *values)
{
	struct operand list = { .kind = OPND_LIST, .count = 2 * n, .items = choices };

	for (unsigned k = 0; k < n; k++) {
		choices[2 * k] = c(values[k]);
		choices[2 * k + 1] = label(4 + k);
	}
	program_begin();
	GEN(select_val, x(0), label(3), list);
	GEN(label, u(3));
	GEN(move, c(am_undefined), x(0));
	GEN(call_ext_only, u(1), export("exit", 1));
	for (unsigned k = 0; k < n; k++) {
		GEN(label, u(4 + k));
		GEN(move, i(100 + k), x(0));
		GEN(call_ext_only, u(1), export("exit", 1));
	}
	GEN0(int_code_end);
}

START_TEST(test_loop_select_table_takes_value)
{
	Term values[] = { SMALL(7), SMALL(3), SMALL(5), SMALL(4) };

	program_start();
	program_select(4, values);
	ck_assert_uint_eq(program_run(SMALL(5)), SMALL(102));
}
END_TEST

START_TEST(test_loop_select_table_gap_takes_default)
{
	Term values[] = { SMALL(7), SMALL(3), SMALL(5), SMALL(4) };

	program_start();
	program_select(4, values);
	ck_assert_uint_eq(program_run(SMALL(6)), am_undefined);
}
END_TEST

START_TEST(test_loop_select_binary_takes_value)
{
	Term values[] = { am_ok, am_error, am_badarg, am_exit, am_throw, am_true, am_false, am_kill };

	program_start();
	program_select(8, values);
	ck_assert_uint_eq(program_run(am_true), SMALL(105));
}
END_TEST

START_TEST(test_loop_function_clause_has_arguments)
{
	Term reason, trace, entry;

	program_start();
	program_begin();
	GEN(is_atom, label(1), x(0));
	program_end();
	reason = program_run(SMALL(1));
	ck_assert(term_is_tuple_of(reason, 2));
	ck_assert_uint_eq(tuple_get(reason, 1), am_function_clause);
	trace = tuple_get(reason, 2);
	ck_assert(term_is_cons(trace));
	entry = cons_head(trace);
	ck_assert_uint_eq(tuple_get(entry, 1), prog.module);
	ck_assert_uint_eq(cons_head(tuple_get(entry, 3)), SMALL(1));
}
END_TEST

/* Machine code looks there for what it returns to. */
START_TEST(test_loop_stubs_to_return_to_are_in_the_range_of_code)
{
	program_start();

	const Inst *const all[] = { call_exit_code(), breakpoint_return, line_return };

	for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) {
		ck_assert((uintptr_t)all[i] - (uintptr_t)code_area_last() < 4096);
		ck_assert(call_is_stub(all[i]));
		ck_assert_ptr_null(code_area_owner(all[i]));
	}
}
END_TEST

Suite *loop_suite(void)
{
	Suite *s = suite_create("loop");
	TCase *t = tcase_create("programs");

	tcase_add_test(t, test_loop_adds);
	tcase_add_test(t, test_loop_add_overflows_to_bignum);
	tcase_add_test(t, test_loop_guard_failure_takes_label);
	tcase_add_test(t, test_loop_catch_keeps_frame);
	tcase_add_test(t, test_loop_counts_down_through_slices);
	tcase_add_test(t, test_loop_select_table_takes_value);
	tcase_add_test(t, test_loop_select_table_gap_takes_default);
	tcase_add_test(t, test_loop_select_binary_takes_value);
	tcase_add_test(t, test_loop_function_clause_has_arguments);
	tcase_add_test(t, test_loop_stubs_to_return_to_are_in_the_range_of_code);
	suite_add_tcase(s, t);
	return s;
}
