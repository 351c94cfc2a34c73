/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>

#include "ets/tree.h"
#include "unit.h"

static struct ets_change change;

static void insert(struct ets_tree *t, Term key)
{
	tree_insert(t, heap_tuple(unit_heap(), key, am_ok), &change);
}

/* Height of a sound tree. */
static unsigned check_balance(const struct ets_tree *t, const struct ets_object *o)
{
	unsigned l, r;

	if (o == NULL)
		return 0;
	l = check_balance(t, o->left);
	r = check_balance(t, o->right);
	ck_assert(l <= r + 1 && r <= l + 1);
	ck_assert_uint_eq(o->height, (l > r ? l : r) + 1);
	if (o->left != NULL)
		ck_assert(object_compare_keys(tree_object_key(t, o->left), tree_object_key(t, o)) < 0);
	if (o->right != NULL)
		ck_assert(object_compare_keys(tree_object_key(t, o->right), tree_object_key(t, o)) > 0);
	return o->height;
}

/* 7919 is prime: i * 7919 mod n visits all of 0 .. n-1 when n is no multiple of it. */
static void fill(struct ets_tree *t, int n)
{
	change = (struct ets_change){ 0, 0 };
	for (int i = 0; i < n; i++)
		insert(t, SMALL((long)i * 7919 % n));
	ck_assert_int_eq(change.objects, n);
}

static void drain(struct ets_tree *t)
{
	struct tree_drain d;

	tree_drain_start(&d, t);
	ck_assert(tree_drain(&d, SIZE_MAX));
}

START_TEST(test_insert_keeps_order_and_balance)
{
	struct ets_tree t = { .key = 1 };
	struct tree_walk w;
	struct ets_object *o;
	int n = 0;

	unit_init();
	fill(&t, 10007);
	ck_assert_uint_le(check_balance(&t, t.root), 19);
	for (o = tree_walk_start(&w, &t, false, NULL, NULL); o != NULL; o = tree_walk_step(&w, false))
		ck_assert(tree_object_key(&t, o) == SMALL(n++));
	ck_assert_int_eq(n, 10007);
	for (o = tree_walk_start(&w, &t, true, NULL, NULL); o != NULL; o = tree_walk_step(&w, true))
		ck_assert(tree_object_key(&t, o) == SMALL(--n));
	ck_assert_int_eq(n, 0);
	drain(&t);
}
END_TEST

START_TEST(test_insert_replaces_equal_number)
{
	struct ets_tree t = { .key = 1 };

	change = (struct ets_change){ 0, 0 };
	insert(&t, SMALL(1));
	insert(&t, heap_float(unit_heap(), 1.0));
	ck_assert(term_is_float(tree_object_key(&t, tree_lookup(&t, SMALL(1)))));
	insert(&t, SMALL(1));
	ck_assert(tree_object_key(&t, tree_lookup(&t, heap_float(unit_heap(), 1.0))) == SMALL(1));
	ck_assert_int_eq(change.objects, 1);
	ck_assert_int_eq(change.words, (long)object_memory_words(t.root));
	drain(&t);
}
END_TEST

/* The order of small integers and of others is told without a look into the others. */
START_TEST(test_keys_of_several_kinds_stand_in_order)
{
	struct heap *h = unit_heap();
	Term keys[] = { heap_int(h, -(1LL << 62)),
			heap_float(h, -3.5),
			SMALL(-3),
			SMALL(2),
			heap_float(h, 2.5),
			SMALL(3),
			heap_int(h, 1LL << 62),
			am_ok,
			heap_tuple(h, SMALL(0)),
			NIL,
			heap_cons(h, SMALL(0), NIL) };
	int n = sizeof(keys) / sizeof(keys[0]);

	for (int i = 0; i < n; i++)
		for (int j = 0; j < n; j++) {
			int order = object_compare_keys(keys[i], keys[j]);

			ck_assert_int_eq((order > 0) - (order < 0), (i > j) - (i < j));
		}
}
END_TEST

START_TEST(test_remove_keeps_balance)
{
	struct ets_tree t = { .key = 1 };

	unit_init();
	fill(&t, 2003);
	for (int i = 0; i < 2003; i++) {
		Term key = SMALL((long)i * 7 % 2003);
		struct ets_object *o = tree_remove(&t, key, &change);

		ck_assert(o != NULL && tree_object_key(&t, o) == key);
		ck_assert(tree_lookup(&t, key) == NULL);
		ck_assert(tree_remove(&t, key, &change) == NULL);
		object_free(o);
		if (i % 97 == 0)
			check_balance(&t, t.root);
	}
	ck_assert(t.root == NULL);
}
END_TEST

START_TEST(test_next_prev_between_keys)
{
	struct ets_tree t = { .key = 1 };
	struct tree_walk w;

	unit_init();
	for (int i = 0; i < 100; i++)
		insert(&t, SMALL(i * 10));
	ck_assert(tree_object_key(&t, tree_next(&t, SMALL(55))) == SMALL(60));
	ck_assert(tree_object_key(&t, tree_next(&t, SMALL(50))) == SMALL(60));
	ck_assert(tree_object_key(&t, tree_prev(&t, SMALL(55))) == SMALL(50));
	ck_assert(tree_object_key(&t, tree_prev(&t, SMALL(50))) == SMALL(40));
	ck_assert(tree_next(&t, SMALL(990)) == NULL && tree_prev(&t, SMALL(0)) == NULL);
	ck_assert(tree_object_key(&t, tree_first(&t)) == SMALL(0) && tree_object_key(&t, tree_last(&t)) == SMALL(990));
	ck_assert(tree_object_key(&t, tree_walk_after(&w, &t, false, SMALL(55))) == SMALL(60));
	ck_assert(tree_object_key(&t, tree_walk_step(&w, false)) == SMALL(70));
	ck_assert(tree_object_key(&t, tree_walk_after(&w, &t, true, SMALL(55))) == SMALL(50));
	ck_assert(tree_object_key(&t, tree_walk_step(&w, true)) == SMALL(40));
	drain(&t);
}
END_TEST

static int place_in_decade(const void *sought, Term key)
{
	long decade = *(const long *)sought, n = small_value(key) / 10;

	return (n > decade) - (n < decade);
}

START_TEST(test_walk_start_finds_range)
{
	struct ets_tree t = { .key = 1 };
	struct tree_walk w;
	long decade = 31;
	struct ets_object *o;

	unit_init();
	fill(&t, 1009);
	o = tree_walk_start(&w, &t, false, place_in_decade, &decade);
	ck_assert(tree_object_key(&t, o) == SMALL(310));
	o = tree_walk_start(&w, &t, true, place_in_decade, &decade);
	ck_assert(tree_object_key(&t, o) == SMALL(319));
	ck_assert(tree_object_key(&t, tree_walk_step(&w, true)) == SMALL(318));
	decade = 200;
	ck_assert(tree_walk_start(&w, &t, false, place_in_decade, &decade) == NULL);
	drain(&t);
}
END_TEST

/* Is the n-th of an untouched tree of the keys 0 .. count - 1, for places near and far from the one before? */
static void check_places(struct ets_tree *t, size_t count, size_t stride)
{
	size_t steps, before = 0;

	for (size_t i = 0, n = 0; i < count; i++, n = (n + stride) % count) {
		ck_assert(tree_object_key(t, tree_nth(t, n, &steps)) == SMALL((long)n));
		ck_assert_uint_le(steps, n);
		if (i > 0)
			ck_assert_uint_le(steps, n > before ? n - before : before - n);
		before = n;
	}
}

START_TEST(test_nth_counts_from_the_place_before)
{
	struct ets_tree t = { .key = 1 };
	size_t steps;

	unit_init();
	ck_assert(tree_nth(&t, 0, &steps) == NULL);
	fill(&t, 1009);
	check_places(&t, 1009, 1);
	check_places(&t, 1009, 1008);
	check_places(&t, 1009, 389);
	ck_assert(tree_nth(&t, 1009, &steps) == NULL);
	drain(&t);
}
END_TEST

START_TEST(test_nth_sees_changes)
{
	struct ets_tree t = { .key = 1 };
	struct ets_change c = { 0, 0 };
	size_t steps;

	unit_init();
	fill(&t, 1009);
	for (long i = 0; i < 500; i++) {
		ck_assert(tree_object_key(&t, tree_nth(&t, 500, &steps)) == SMALL(500 + i));
		object_free(tree_remove(&t, SMALL(i), &c));
	}
	for (long i = 1; i <= 500; i++) {
		insert(&t, SMALL(-i));
		ck_assert(tree_object_key(&t, tree_nth(&t, 0, &steps)) == SMALL(-i));
		ck_assert(tree_object_key(&t, tree_nth(&t, (size_t)i, &steps)) == SMALL(500));
	}
	for (long i = 500; i < 1009; i++) {
		Term tuple = heap_tuple(unit_heap(), SMALL(i), am_true, am_false);

		tree_replace(&t, tree_find(&t, SMALL(i)), object_new(tuple), &c);
		ck_assert_uint_eq(object_arity(tree_nth(&t, (size_t)i, &steps)), 3);
	}
	drain(&t);
}
END_TEST

START_TEST(test_drain_goes_in_slices)
{
	struct ets_tree t = { .key = 1 };
	struct tree_drain d;
	int slices = 1;

	unit_init();
	fill(&t, 1009);
	tree_drain_start(&d, &t);
	ck_assert(t.root == NULL);
	while (!tree_drain(&d, 100))
		slices++;
	ck_assert_int_eq(slices, 11);
}
END_TEST

Suite *ets_tree_suite(void)
{
	Suite *s = suite_create("ets tree");
	TCase *c = tcase_create("tree");

	tcase_add_test(c, test_insert_keeps_order_and_balance);
	tcase_add_test(c, test_insert_replaces_equal_number);
	tcase_add_test(c, test_keys_of_several_kinds_stand_in_order);
	tcase_add_test(c, test_remove_keeps_balance);
	tcase_add_test(c, test_next_prev_between_keys);
	tcase_add_test(c, test_walk_start_finds_range);
	tcase_add_test(c, test_drain_goes_in_slices);
	tcase_add_test(c, test_nth_counts_from_the_place_before);
	tcase_add_test(c, test_nth_sees_changes);
	suite_add_tcase(s, c);
	return s;
}
