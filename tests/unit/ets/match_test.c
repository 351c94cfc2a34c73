/* SPDX-License-Identifier: Apache-2.0 */
/* Expected values are those of OTP 25.2. */
#include <string.h>

#include "data/compare.h"
#include "data/map.h"
#include "data/number.h"
#include "ets/match.h"
#include "ets/match_compile.h"
#include "unit.h"

static Process process;

static struct heap *heap(void) { return &process.heap; }

#define T(...) heap_tuple(heap(), __VA_ARGS__)
#define L(...) heap_list_array(heap(), sizeof((Term[]){ __VA_ARGS__ }) / sizeof(Term), (Term[]){ __VA_ARGS__ }, NIL)
#define A(text) atom_from_text(text)
#define N(n) SMALL(n)
#define V(n) atom_from_text("$" #n)
#define ANY am_underscore

static Term add(Process *p, Term *args)
{
	return num_add(&p->heap, args[0], args[1]);
}

static Term head(Process *p, Term *args)
{
	if (term_is_cons(args[0]))
		return cons_head(args[0]);
	p->exc_kind = EXC_ERROR;
	return TERM_NONE;
}

static match_fn find(Term function, unsigned arity)
{
	if (function == A("+") && arity == 2)
		return add;
	return function == A("hd") && arity == 1 ? head : NULL;
}

static void set_up(void)
{
	unit_init();
	match_init();
	heap_init(&process.heap, 1 << 16);
	process.id = term_from_pid(7, 0);
}

static void tear_down(void)
{
	heap_free(&process.heap);
}

/* The value of [{Head, Guards, Body}] on the subject, TERM_NONE without a match. */
static Term run(Term subject, Term h, Term guards, Term body)
{
	struct match_program *m = match_compile(L(T(h, guards, body)), MATCH_TABLE, find, NULL);
	struct match_context c;
	Term result;

	ck_assert(m != NULL);
	match_begin(&c, &process, m, true);
	result = match_run(&c, subject);
	match_end(&c);
	resource_unref(&m->resource);
	ck_assert(process.exc_kind == EXC_NONE);
	return result;
}

static void assert_result(Term result, Term expected)
{
	ck_assert(result != TERM_NONE);
	ck_assert(term_same(result, expected));
}

static void assert_refused(Term h, Term guards, Term body)
{
	ck_assert(match_compile(L(T(h, guards, body)), MATCH_TABLE, find, NULL) == NULL);
}

START_TEST(test_run_binds_variables)
{
	assert_result(run(T(N(1), A("a")), T(V(1), V(2)), NIL, L(V(2))), A("a"));
	assert_result(run(T(N(1), A("a")), T(V(2), V(1)), NIL, L(am_dollar_dollar)), L(A("a"), N(1)));
	assert_result(run(T(N(1), A("a")), T(V(20), V(3)), NIL, L(am_dollar_dollar)), L(A("a"), N(1)));
	assert_result(run(T(N(1), N(1)), T(V(1), V(1)), NIL, L(V(1))), N(1));
	ck_assert(run(T(N(1), A("a")), T(V(1), V(1)), NIL, L(V(1))) == TERM_NONE);
	assert_result(run(T(N(1), N(2)), V(1), NIL, L(V(1))), T(N(1), N(2)));
	/* '$01' is an atom like any other. */
	ck_assert(run(T(N(1), A("a")), T(V(01), V(1)), NIL, L(V(1))) == TERM_NONE);
}
END_TEST

START_TEST(test_run_walks_nested_patterns)
{
	Term subject = T(T(A("k"), N(1)), L(N(1), T(N(2), N(3)), N(4)), A("end"));

	assert_result(run(subject, T(T(A("k"), V(1)), L(N(1), T(N(2), V(2)), V(3)), V(4)), NIL, L(am_dollar_dollar)),
		      L(N(1), N(3), N(4), A("end")));
	assert_result(run(subject, T(ANY, heap_cons(heap(), ANY, V(1)), ANY), NIL, L(V(1))), L(T(N(2), N(3)), N(4)));
	ck_assert(run(subject, T(T(A("k"), V(1)), L(N(1), T(N(9), V(2)), V(3)), V(4)), NIL, L(V(1))) == TERM_NONE);
	ck_assert(run(subject, T(ANY, ANY), NIL, L(am_true)) == TERM_NONE);
	assert_result(run(T(heap_cons(heap(), N(1), N(2))), T(heap_cons(heap(), V(1), V(2))), NIL, L(am_dollar_dollar)),
		      L(N(1), N(2)));
}
END_TEST

START_TEST(test_run_matches_part_of_a_map)
{
	Term map = map_from_pairs(heap(), (Term[]){ A("a"), N(1), A("b"), T(N(2), N(3)) }, 2);
	Term subject = T(map, A("z"));

	assert_result(
		run(subject, T(map_from_pairs(heap(), (Term[]){ A("a"), V(1) }, 1), V(2)), NIL, L(am_dollar_dollar)),
		L(N(1), A("z")));
	assert_result(run(subject, T(map_from_pairs(heap(), (Term[]){ A("b"), T(ANY, V(1)) }, 1), V(2)), NIL,
			  L(am_dollar_dollar)), L(N(3), A("z")));
	assert_result(run(subject, T(map_from_pairs(heap(), (Term[]){ A("a"), N(1) }, 1), V(2)), NIL, L(V(2))), A("z"));
	ck_assert(run(subject, T(map_from_pairs(heap(), (Term[]){ A("c"), V(1) }, 1), ANY), NIL, L(V(1))) == TERM_NONE);
	assert_refused(T(map_from_pairs(heap(), (Term[]){ V(1), N(1) }, 1)), NIL, L(am_true));
}
END_TEST

START_TEST(test_run_evaluates_guards)
{
	Term subject = T(N(5), N(7));
	Term h = T(V(1), V(2));

	assert_result(run(subject, h, L(T(A("<"), V(1), V(2))), L(V(1))), N(5));
	ck_assert(run(subject, h, L(T(A(">"), V(1), V(2))), L(V(1))) == TERM_NONE);
	assert_result(run(subject, h, L(T(A("=:="), T(A("+"), V(1), N(2)), V(2))), L(am_ok)), am_ok);
	ck_assert(run(subject, h, L(T(A("hd"), V(1))), L(V(1))) == TERM_NONE);
	ck_assert(run(subject, h, L(A("foo")), L(V(1))) == TERM_NONE);
	assert_result(
		run(subject, h, L(T(A("andalso"), T(A("=="), V(1), N(5)), T(A("orelse"), am_false, am_true))), L(V(1))),
		N(5));
	ck_assert(run(subject, h, L(T(A("and"), am_true, am_true, am_false)), L(V(1))) == TERM_NONE);
	assert_result(run(subject, h, L(T(A("or"), am_false, am_true)), L(T(A("self")))), process.id);
}
END_TEST

START_TEST(test_run_gives_exit_for_failures_of_a_body)
{
	Term subject = T(N(5), N(7));
	Term h = T(V(1), V(2));

	assert_result(run(subject, h, NIL, L(T(A("hd"), V(1)))), am_EXIT);
	assert_result(run(subject, h, NIL, L(T(T(A("x"), T(A("hd"), V(1)))))), T(A("x"), am_EXIT));
	assert_result(run(subject, h, NIL, L(T(A("and"), A("foo")))), am_EXIT);
	assert_result(run(subject, h, NIL, L(T(A("andalso"), A("foo")))), A("foo"));
	assert_result(run(subject, h, NIL, L(T(A("andalso"), am_true, A("foo")))), A("foo"));
	assert_result(run(subject, h, NIL, L(T(A("andalso"), A("foo"), am_true))), am_EXIT);
	assert_result(run(subject, h, NIL, L(T(A("orelse"), am_false, A("foo")))), A("foo"));
}
END_TEST

START_TEST(test_run_builds_bodies)
{
	Term subject = T(N(5), N(7));
	Term h = T(V(1), V(2));
	Term empty = heap_tuple_array(heap(), 0, (Term[]){ NIL });

	assert_result(run(subject, h, NIL, L(am_dollar_dots)), subject);
	assert_result(run(subject, h, NIL, L(T(T(V(2), V(1))))), T(N(7), N(5)));
	assert_result(run(subject, h, NIL, L(T(empty))), empty);
	assert_result(run(subject, h, NIL, L(V(1), V(2))), N(7));
	assert_result(run(subject, h, NIL, L(L(V(1), A("b")))), L(N(5), A("b")));
	assert_result(run(subject, h, NIL, L(T(A("const"), T(A("hd"), NIL)))), T(A("hd"), NIL));
	assert_result(run(subject, h, NIL, L(map_from_pairs(heap(), (Term[]){ A("a"), V(1), T(T(A("b"))), N(2) }, 2))),
		      map_from_pairs(heap(), (Term[]){ A("a"), N(5), T(A("b")), N(2) }, 2));
}
END_TEST

START_TEST(test_compile_refuses_nonsense)
{
	Term h = T(V(1), V(2));

	assert_refused(h, NIL, NIL);
	assert_refused(h, NIL, L(V(3)));
	assert_refused(h, am_true, L(V(1)));
	assert_refused(h, NIL, L(heap_tuple_array(heap(), 0, (Term[]){ NIL })));
	assert_refused(h, NIL, L(T(N(1), N(2))));
	assert_refused(h, NIL, L(T(A("tuple_size"), V(1))));
	assert_refused(h, NIL, L(T(A("hd"), V(1), V(2))));
	assert_refused(h, NIL, L(T(A("return_trace"))));
	assert_refused(h, heap_cons(heap(), am_true, am_ok), L(V(1)));
	ck_assert(match_compile(L(T(h, NIL)), MATCH_TABLE, find, NULL) == NULL);
	ck_assert(match_compile(am_ok, MATCH_TABLE, find, NULL) == NULL);
}
END_TEST

START_TEST(test_compile_tells_all_errors)
{
	struct match_errors e = { 0 };

	ck_assert(match_compile(L(T(T(V(1), ANY), NIL, L(V(3), T(A("foo"), N(1))))), MATCH_TABLE, find, &e) == NULL);
	ck_assert_uint_eq(e.count, 2);
	ck_assert_str_eq(e.texts[0].text, "Variable $3 is unbound.");
	ck_assert_str_eq(e.texts[1].text, "Function foo/1 does_not_exist.");
	match_errors_free(&e);
}
END_TEST

START_TEST(test_compile_survives_depth)
{
	Term deep = V(1), subject = N(3), result;

	for (int i = 0; i < 100000; i++) {
		deep = T(deep, ANY);
		subject = T(subject, N(i));
	}
	result = run(subject, deep, NIL, L(V(1)));
	assert_result(result, N(3));
}
END_TEST

static enum match_key_kind key_kind(Term h, Term *key)
{
	struct match_program *m = match_compile(L(T(h, NIL, L(am_true))), MATCH_TABLE, find, NULL);
	enum match_key_kind kind = match_clause_key(m, 0, 1, key);

	resource_unref(&m->resource);
	return kind;
}

START_TEST(test_clause_key_tells_what_is_known)
{
	Term key;

	ck_assert_int_eq(key_kind(ANY, &key), MATCH_KEY_ANY);
	ck_assert_int_eq(key_kind(V(1), &key), MATCH_KEY_ANY);
	ck_assert_int_eq(key_kind(T(V(1), N(2)), &key), MATCH_KEY_ANY);
	ck_assert_int_eq(key_kind(A("foo"), &key), MATCH_KEY_NEVER);
	ck_assert_int_eq(key_kind(T(T(A("a"), V(1)), N(2)), &key), MATCH_KEY_PARTIAL);
	ck_assert_int_eq(key_kind(T(map_new(heap()), N(2)), &key), MATCH_KEY_BOUND);
	ck_assert_int_eq(key_kind(T(map_put(heap(), map_new(heap()), N(1), V(1)), N(2)), &key), MATCH_KEY_ANY);
	ck_assert_int_eq(key_kind(T(T(map_new(heap()), V(1)), N(2)), &key), MATCH_KEY_PARTIAL);
	ck_assert_int_eq(key_kind(T(A("a"), V(2)), &key), MATCH_KEY_BOUND);
	ck_assert(key == A("a"));
}
END_TEST

START_TEST(test_compare_partial_stops_at_open_place)
{
	struct match_program *m = match_compile(L(T(T(T(N(5), V(1), N(9))), NIL, L(am_true))), MATCH_TABLE, find, NULL);
	Term key;

	match_clause_key(m, 0, 1, &key);
	ck_assert(match_compare_partial(m, key, T(N(5), N(0), N(0))) == 0);
	ck_assert(match_compare_partial(m, key, T(N(4), N(0), N(0))) > 0);
	ck_assert(match_compare_partial(m, key, T(N(6), N(0), N(0))) < 0);
	ck_assert(match_compare_partial(m, key, T(N(9), N(0))) > 0);
	ck_assert(match_compare_partial(m, key, A("a")) > 0);
	ck_assert(match_compare_partial(m, key, NIL) < 0);
	resource_unref(&m->resource);
}
END_TEST

/* A map without variables is the key itself where it stands alone, a pattern where something else is open. */
START_TEST(test_compare_partial_takes_maps_as_keys_and_as_patterns)
{
	Term one = map_put(heap(), map_new(heap()), N(1), N(1)), two = map_put(heap(), one, N(2), N(2)), key;
	struct match_program *m = match_compile(L(T(T(one), NIL, L(am_true)), T(T(T(one, V(1))), NIL, L(am_true))),
						MATCH_TABLE, find, NULL);

	match_clause_key(m, 0, 1, &key);
	ck_assert(match_compare_partial(m, key, one) == 0);
	ck_assert(match_compare_partial(m, key, two) < 0);
	match_clause_key(m, 1, 1, &key);
	ck_assert(match_compare_partial(m, key, T(one, N(0))) == 0);
	ck_assert(match_compare_partial(m, key, T(two, N(0))) == 0);
	resource_unref(&m->resource);
}
END_TEST

START_TEST(test_run_tells_zeros_apart)
{
	Term plus = heap_float(heap(), 0.0), minus = heap_float(heap(), -0.0);
	Term holding = map_put(heap(), map_new(heap()), N(1), L(plus));

	assert_result(run(plus, plus, NIL, L(am_true)), am_true);
	ck_assert(run(minus, plus, NIL, L(am_true)) == TERM_NONE);
	ck_assert(run(plus, minus, NIL, L(am_true)) == TERM_NONE);
	ck_assert(run(T(N(1), T(minus)), T(V(1), T(plus)), NIL, L(am_true)) == TERM_NONE);
	assert_result(run(T(N(1), T(plus)), T(V(1), T(plus)), NIL, L(V(1))), N(1));
	assert_result(run(map_put(heap(), holding, N(2), N(2)), holding, NIL, L(am_true)), am_true);
	ck_assert(run(map_put(heap(), holding, N(1), L(minus)), holding, NIL, L(am_true)) == TERM_NONE);
	ck_assert(run(A("a"), plus, NIL, L(am_true)) == TERM_NONE);
	/* A variable, and =:= in a guard, do not. */
	assert_result(run(T(plus, minus), T(V(1), V(1)), L(T(A("=:="), V(1), minus)), L(am_true)), am_true);
}
END_TEST

static bool keeps(Term h, Term body)
{
	struct match_program *m = match_compile(L(T(h, NIL, L(body))), MATCH_TABLE, find, NULL);
	bool keeps = match_keeps_key(m, 1);

	resource_unref(&m->resource);
	return keeps;
}

START_TEST(test_keeps_key_sees_the_same_key)
{
	Term h = T(V(1), V(2));

	ck_assert(keeps(h, am_dollar_dots));
	ck_assert(keeps(h, T(T(V(1), N(9)))));
	ck_assert(!keeps(h, T(T(V(2), N(9)))));
	ck_assert(!keeps(h, T(T(N(9), N(9)))));
	ck_assert(!keeps(h, V(1)));
	ck_assert(keeps(T(N(1), ANY), T(T(N(1), N(7)))));
	ck_assert(keeps(T(N(1), ANY), T(am_const, T(N(1), N(7)))));
	ck_assert(!keeps(V(1), T(T(N(1), N(7)))));
	ck_assert(keeps(T(T(N(1), V(1)), ANY), T(T(T(T(N(1), V(1))), N(7)))));
	ck_assert(!keeps(T(T(N(1), ANY), ANY), T(T(T(T(N(1), ANY)), N(7)))));
}
END_TEST

Suite *ets_match_suite(void)
{
	Suite *s = suite_create("ets match");
	TCase *c = tcase_create("match");

	tcase_add_checked_fixture(c, set_up, tear_down);
	tcase_add_test(c, test_run_binds_variables);
	tcase_add_test(c, test_run_walks_nested_patterns);
	tcase_add_test(c, test_run_matches_part_of_a_map);
	tcase_add_test(c, test_run_tells_zeros_apart);
	tcase_add_test(c, test_run_evaluates_guards);
	tcase_add_test(c, test_run_gives_exit_for_failures_of_a_body);
	tcase_add_test(c, test_run_builds_bodies);
	tcase_add_test(c, test_compile_refuses_nonsense);
	tcase_add_test(c, test_compile_tells_all_errors);
	tcase_add_test(c, test_compile_survives_depth);
	tcase_add_test(c, test_clause_key_tells_what_is_known);
	tcase_add_test(c, test_compare_partial_stops_at_open_place);
	tcase_add_test(c, test_compare_partial_takes_maps_as_keys_and_as_patterns);
	tcase_add_test(c, test_keeps_key_sees_the_same_key);
	suite_add_tcase(s, c);
	return s;
}
