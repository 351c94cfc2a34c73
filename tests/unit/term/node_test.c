/* SPDX-License-Identifier: Apache-2.0 */
/* The table of nodes: an entry lives as long as a term that names it, wherever that term is copied to. */
#include "unit.h"

#include "data/extern_id.h"
#include "heap/copy.h"
#include "heap/gc.h"
#include "term/node.h"

enum { MANY = 100000 };

static Term make(struct heap *h, unsigned sub, uint32_t creation, uint32_t number)
{
	struct extern_facts f = { .node = { am_undefined, creation },
				  .count = sub == SUB_XREF ? 5 : 2,
				  .ids = { number } };

	return extern_id_put(h, sub, &f);
}

START_TEST(test_node_get_counts)
{
	struct node *a, *b;

	unit_init();
	a = node_get((struct node_name){ am_undefined, 1 });
	b = node_get((struct node_name){ am_undefined, 2 });
	ck_assert(a != b);
	ck_assert(node_get((struct node_name){ am_undefined, 1 }) == a);
	ck_assert_uint_eq(node_count(), 2);
	node_unref(a);
	node_unref(b);
	ck_assert_uint_eq(node_count(), 1);
	node_unref(a);
	ck_assert_uint_eq(node_count(), 0);
}
END_TEST

START_TEST(test_nodes_go_with_the_terms_of_a_heap)
{
	struct heap h;
	Term root;
	struct gc_root roots = { &root, 1 };
	struct gc_result result;

	unit_init();
	heap_init(&h, 233);
	root = NIL;
	for (uint32_t i = 1; i <= 23; i++) {
		Term id = make(&h, SUB_XPID + i % 3, i, 7);

		if (i == 5)
			root = id;
	}
	ck_assert_uint_eq(node_count(), 23);
	gc_run_gc(&h, 0, &roots, 1, &result);
	ck_assert_uint_eq(node_count(), 1);
	ck_assert_uint_eq(node_of(root).creation, 5);
	h.force_major = true;
	gc_run_gc(&h, 0, &roots, 1, &result);
	ck_assert_uint_eq(node_count(), 1);
	heap_free(&h);
	ck_assert_uint_eq(node_count(), 0);
}
END_TEST

START_TEST(test_nodes_are_counted_by_copies)
{
	struct fragment *f;
	struct heap h;
	Term copy;

	unit_init();
	heap_init(&h, 233);
	f = copy_to_fragment(heap_cons(&h, make(&h, SUB_XREF, 9, 1), make(&h, SUB_XPORT, 9, 1)), &copy);
	heap_free(&h);
	ck_assert_uint_eq(node_count(), 1);
	ck_assert_uint_eq(node_of(cons_head(copy)).creation, 9);
	fragment_free(f);
	ck_assert_uint_eq(node_count(), 0);
}
END_TEST

START_TEST(test_nodes_of_what_is_released_go)
{
	struct heap_mark m;
	struct heap h;

	unit_init();
	heap_init(&h, 233);
	make(&h, SUB_XPID, 1, 1);
	m = heap_mark(&h);
	for (uint32_t i = 2; i < 200; i++)
		make(&h, SUB_XPID, i, 1);
	ck_assert_uint_eq(node_count(), 199);
	heap_release(&h, &m);
	ck_assert_uint_eq(node_count(), 1);
	heap_free(&h);
}
END_TEST

START_TEST(test_table_of_many_nodes_grows_and_shrinks)
{
	static struct node *all[MANY];

	unit_init();
	for (uint32_t i = 0; i < MANY; i++)
		all[i] = node_get((struct node_name){ am_undefined, i });
	ck_assert_uint_eq(node_count(), MANY);
	for (uint32_t i = 0; i < MANY; i++) {
		ck_assert_uint_eq(all[i]->name.creation, i);
		node_unref(all[i]);
	}
	ck_assert_uint_eq(node_count(), 0);
	node_unref(node_get((struct node_name){ am_undefined, 1 }));
	ck_assert_uint_eq(node_count(), 0);
}
END_TEST

START_TEST(test_extern_id_same_looks_at_all_of_it)
{
	struct extern_facts f = { .node = { am_undefined, 1 }, .count = 5, .ids = { 1, 2, 3, 4, 5 } };
	Term a, b;

	unit_init();
	a = extern_id_put(unit_heap(), SUB_XREF, &f);
	b = extern_id_put(unit_heap(), SUB_XREF, &f);
	ck_assert(extern_id_same(a, b));
	ck_assert(extern_id_hash(a) == extern_id_hash(b));
	f.ids[4] = 6;
	ck_assert(!extern_id_same(a, extern_id_put(unit_heap(), SUB_XREF, &f)));
	f.count = 4;
	ck_assert(!extern_id_same(a, extern_id_put(unit_heap(), SUB_XREF, &f)));
	ck_assert(!extern_id_same(make(unit_heap(), SUB_XPID, 1, 1), make(unit_heap(), SUB_XPID, 2, 1)));
	ck_assert(!extern_id_same(make(unit_heap(), SUB_XPID, 1, 1), make(unit_heap(), SUB_XPORT, 1, 1)));
}
END_TEST

Suite *node_suite(void)
{
	Suite *s = suite_create("node");
	TCase *t = tcase_create("node");

	tcase_add_test(t, test_node_get_counts);
	tcase_add_test(t, test_nodes_go_with_the_terms_of_a_heap);
	tcase_add_test(t, test_nodes_are_counted_by_copies);
	tcase_add_test(t, test_nodes_of_what_is_released_go);
	tcase_add_test(t, test_table_of_many_nodes_grows_and_shrinks);
	tcase_add_test(t, test_extern_id_same_looks_at_all_of_it);
	suite_add_tcase(s, t);
	return s;
}
