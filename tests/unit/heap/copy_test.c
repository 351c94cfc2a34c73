/* SPDX-License-Identifier: Apache-2.0 */
/* Whole copies: of lists and tuples within each other, with and without immediates, that nothing of the source is left
 * in. */
#include "heap/copy.h"

#include <stdlib.h>

#include "base/alloc.h"
#include "unit.h"

enum { TERMS = 2003, CELLS_MAX = 7, DEPTH_MAX = 6 };

static Term make_term(unsigned depth)
{
	unsigned kind = (unsigned)rand() % 4;
	size_t n = (size_t)rand() % CELLS_MAX;
	Term elements[CELLS_MAX], list = rand() % 4 == 0 ? SMALL(17) : NIL, *at;

	if (depth == 0 || kind == 0)
		return SMALL(rand() % 1000);
	for (size_t i = 0; i < n; i++) /* kind 1: a list of immediates */
		elements[i] = make_term(kind == 1 ? 0 : depth - 1);
	if (kind == 2) {
		at = heap_alloc(unit_heap(), n + 1);
		at[0] = HEADER(n, SUB_TUPLE);
		term_copy(at + 1, elements, n);
		return term_from_boxed(at);
	}
	for (size_t i = 0; i < n; i++) {
		at = heap_alloc(unit_heap(), 2);
		at[0] = elements[i];
		at[1] = list;
		list = term_from_cons(at);
	}
	return list;
}

/* The same, of words of its own. */
static void check_copy(Term from, Term to, const Term *first, const Term *end)
{
	for (; term_is_cons(from); from = cons_tail(from), to = cons_tail(to)) {
		ck_assert(term_is_cons(to) && cons_ptr(to) >= first && cons_ptr(to) + 2 <= end);
		check_copy(cons_head(from), cons_head(to), first, end);
	}
	if (!term_is_boxed(from)) {
		ck_assert(from == to);
		return;
	}
	ck_assert(term_is_boxed(to) && boxed_ptr(to) >= first && boxed_ptr(to) < end);
	ck_assert(*boxed_ptr(from) == *boxed_ptr(to));
	for (size_t i = 1; i <= tuple_arity(from); i++)
		check_copy(tuple_get(from, i), tuple_get(to, i), first, end);
}

START_TEST(test_copy_term_leaves_nothing_of_the_source)
{
	unit_init();
	for (unsigned n = 0; n < TERMS; n++) {
		Term from = make_term(n % DEPTH_MAX + 1), to, *top, *off_heap = NULL;
		size_t words = copy_size_words(from);
		Term *room = top = mem_alloc((words + 1) * sizeof(Term));

		to = copy_term(from, &top, &off_heap);
		ck_assert(top == room + words);
		check_copy(from, to, room, top);
		mem_free(room);
	}
}
END_TEST

Suite *copy_suite(void)
{
	Suite *s = suite_create("copy");
	TCase *t = tcase_create("copy");

	tcase_add_test(t, test_copy_term_leaves_nothing_of_the_source);
	suite_add_tcase(s, t);
	return s;
}
