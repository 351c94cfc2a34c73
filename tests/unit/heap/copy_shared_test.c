/* SPDX-License-Identifier: Apache-2.0 */
/* Copies that are shared as their sources are: terms of lists and pairs, wherever their parts stand in memory. */
#include "heap/copy_shared.h"

#include <stdlib.h>
#include <string.h>

#include "unit.h"

enum { OBJECTS = 307, OBJECT_WORDS = 3, FAR_WORDS = 600 };

/* Object i is a list cell when i is even, else a pair; both of its terms are immediates or objects of lower numbers. */
static struct {
	Term objects[OBJECTS], copies[OBJECTS];
	bool is_reached[OBJECTS];
} graph;

static size_t first_word(size_t i) { return i % 2; } /* behind the header of a pair */
static size_t count_words(size_t i) { return 2 + i % 2; }

static size_t number_of(Term t)
{
	size_t i = 0;

	while (graph.objects[i] != t)
		i++;
	return i;
}

/* Makes them at the places of an order, so far from each other. back: from how many objects before its own a term is
 * taken. */
static void make_graph(const size_t *order, size_t stride, size_t back)
{
	Term *base = heap_alloc(unit_heap(), OBJECTS * stride);

	memset(&graph, 0, sizeof(graph));
	for (size_t i = 0; i < OBJECTS; i++) {
		Term *at = base + order[i] * stride;

		at[0] = HEADER(2, SUB_TUPLE);
		for (size_t k = first_word(i); k < count_words(i); k++) {
			size_t distance = 1 + (size_t)rand() % back;

			at[k] = distance > i || rand() % 5 == 0 ? SMALL(i) : graph.objects[i - distance];
		}
		graph.objects[i] = i % 2 == 0 ? term_from_cons(at) : term_from_boxed(at);
	}
}

/* Units: words of what object i consists of, less what was reached before. */
static size_t reach(size_t i)
{
	size_t words = count_words(i);

	if (graph.is_reached[i])
		return 0;
	graph.is_reached[i] = true;
	for (size_t k = first_word(i); k < count_words(i); k++)
		if (!term_is_immed(term_ptr(graph.objects[i])[k]))
			words += reach(number_of(term_ptr(graph.objects[i])[k]));
	return words;
}

/* Each object has one copy, wherever it is met. */
static void check_copy(Term from, Term to)
{
	size_t i;

	if (term_is_immed(from)) {
		ck_assert(to == from);
		return;
	}
	i = number_of(from);
	if (graph.copies[i] != 0) {
		ck_assert(graph.copies[i] == to);
		return;
	}
	graph.copies[i] = to;
	ck_assert(term_is_cons(to) == term_is_cons(from) && to != from);
	for (size_t k = first_word(i); k < count_words(i); k++)
		check_copy(term_ptr(from)[k], term_ptr(to)[k]);
}

/* Of two roots, of which one may be a part of the other. */
static void check_roots(size_t a, size_t b)
{
	struct shared_objects *s = shared_objects_new(true);
	size_t words = reach(a) + reach(b);
	Term *at = heap_alloc(unit_heap(), words), *top = at, *off_heap = NULL;

	shared_objects_add(s, graph.objects[a]);
	shared_objects_add(s, graph.objects[b]);
	ck_assert_uint_eq(shared_objects_words(s), words);
	shared_objects_copy(s, &top, &off_heap);
	ck_assert(top == at + words);
	check_copy(graph.objects[a], shared_objects_find(s, graph.objects[a]));
	check_copy(graph.objects[b], shared_objects_find(s, graph.objects[b]));
	shared_objects_free(s);
}

static int compare_random(const void *a, const void *b)
{
	uint64_t x = *(const size_t *)a * 0x9e3779b97f4a7c15u >> 20, y = *(const size_t *)b * 0x9e3779b97f4a7c15u >> 20;

	return x < y ? -1 : x > y;
}

START_TEST(test_shared_objects_copy_keeps_what_is_shared)
{
	static const size_t backs[] = { 1, 2, 7, OBJECTS };
	size_t rising[OBJECTS], falling[OBJECTS], mixed[OBJECTS];
	const size_t *orders[] = { rising, falling, mixed };

	unit_init();
	for (size_t i = 0; i < OBJECTS; i++) {
		rising[i] = mixed[i] = i;
		falling[i] = OBJECTS - 1 - i;
	}
	qsort(mixed, OBJECTS, sizeof(mixed[0]), compare_random);
	for (size_t order = 0; order < 3; order++) {
		for (size_t k = 0; k < 4; k++) {
			make_graph(orders[order], OBJECT_WORDS, backs[k]);
			check_roots(OBJECTS - 1, (size_t)rand() % OBJECTS);
			make_graph(orders[order], k % 2 == 0 ? 64 : 4, backs[k]);
			check_roots((size_t)rand() % OBJECTS, OBJECTS - 1);
		}
	}
	make_graph(falling, FAR_WORDS, 2); /* each object is far from all others */
	check_roots(OBJECTS - 1, 1);
}
END_TEST

Suite *copy_shared_suite(void)
{
	Suite *s = suite_create("copy_shared");
	TCase *t = tcase_create("copy_shared");

	tcase_add_test(t, test_shared_objects_copy_keeps_what_is_shared);
	suite_add_tcase(s, t);
	return s;
}
