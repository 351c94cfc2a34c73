/* SPDX-License-Identifier: Apache-2.0 */
/* The process table, names, the dictionary, what a process at rest takes. */
#include "proc/fake.h"

#include "data/compare.h"
#include "proc/dict.h"
#include "proc/process_gc.h"
#include "proc/process_life.h"
#include "proc/registry.h"

START_TEST(test_process_spawn_gives_numbers_in_turn)
{
	Process *a, *b;
	uint32_t first;

	a = fake_process();
	b = fake_process();
	first = pid_number(a->id);
	ck_assert_uint_eq(pid_number(b->id), first + 1);
	process_exit(a, am_normal);
	/* A freed number is used again only after all others, and then with a new serial. */
	for (int i = 0; i < 62; i++)
		ck_assert_uint_ne(pid_number(fake_process()->id), first);
	a = fake_process();
	ck_assert_uint_eq(pid_number(a->id), first);
	ck_assert_uint_eq(pid_serial(a->id), 1);
}
END_TEST

START_TEST(test_process_spawn_with_a_full_table)
{
	struct spawn_options o = SPAWN_OPTIONS_DEFAULT;

	for (int i = 0; i < 64; i++)
		ck_assert(process_spawn(NULL, am_erlang, am_apply, NIL, &o, NULL) != TERM_NONE);
	ck_assert(process_spawn(NULL, am_erlang, am_apply, NIL, &o, NULL) == TERM_NONE);
	ck_assert_uint_eq(process_count(), 64);
}
END_TEST

START_TEST(test_process_find_only_the_living)
{
	Process *p, *found;
	Term id;

	p = fake_process();
	id = p->id;
	found = process_find(id);
	ck_assert(found == p);
	ck_assert(process_find(term_from_pid(pid_number(id), pid_serial(id) + 1)) == NULL);
	process_exit(p, am_normal);
	ck_assert(process_find(id) == NULL);
	process_unref(found);
}
END_TEST

START_TEST(test_process_memory_is_not_reused_while_counted)
{
	Process *p, *q;

	p = fake_process();
	process_ref(p);
	process_exit(p, am_normal);
	q = fake_process();
	ck_assert(q != p);
	process_unref(p);
	ck_assert(fake_process() == p);
}
END_TEST

START_TEST(test_process_at_rest_is_small)
{
	ck_assert_uint_le(sizeof(struct process) + HEAP_MIN_WORDS * sizeof(Term), 2600);
}
END_TEST

START_TEST(test_process_spawn_copies_arguments)
{
	struct spawn_options o = SPAWN_OPTIONS_DEFAULT;
	Process *a, *b;
	Term args;

	a = fake_process();
	args = heap_cons(&a->heap, heap_tuple(&a->heap, am_ok, SMALL(7)), NIL);
	o.link = true;
	b = process_peek(process_spawn(a, am_erlang, am_apply, args, &o, NULL));
	ck_assert(b->x[2] != args);
	ck_assert(term_same(b->x[2], args));
	ck_assert_uint_eq(b->initial_arity, 1);
	ck_assert(b->parent == a->id);
	ck_assert(peer_find(&a->links, b->id) != NULL);
	ck_assert(peer_find(&b->links, a->id) != NULL);
}
END_TEST

START_TEST(test_registry_register_once)
{
	Process *a, *b;
	Term id;

	a = fake_process();
	b = fake_process();
	id = a->id;
	ck_assert(registry_register(am_user, a));
	ck_assert(!registry_register(am_user, b));
	ck_assert(!registry_register(am_ok, a));
	ck_assert(registry_whereis(am_user) == id);
	process_exit(a, am_normal);
	ck_assert(registry_whereis(am_user) == TERM_NONE);
	ck_assert(registry_register(am_user, b));
	ck_assert(registry_unregister(am_user));
	ck_assert(!registry_unregister(am_user));
	ck_assert(registry_register(am_ok, b));
}
END_TEST

START_TEST(test_dict_put_get_erase)
{
	Process *p = fake_process();

	for (uint64_t i = 0; i < 1000; i++)
		ck_assert(dict_put(p, SMALL(i), SMALL(i * 2)) == TERM_NONE);
	for (uint64_t i = 0; i < 1000; i += 2)
		ck_assert(dict_erase(p, SMALL(i)) == SMALL(i * 2));
	for (uint64_t i = 0; i < 1000; i++)
		ck_assert(dict_get(p, SMALL(i)) == (i % 2 == 0 ? TERM_NONE : SMALL(i * 2)));
	ck_assert(dict_put(p, SMALL(1), am_ok) == SMALL(2));
	for (uint64_t i = 1; i < 1000; i += 2)
		ck_assert(dict_erase(p, SMALL(i)) != TERM_NONE);
	ck_assert(p->dict == NULL);
}
END_TEST

START_TEST(test_process_collect_keeps_dictionary_and_registers)
{
	Process *p;
	Term x[2], key;

	p = fake_process();
	key = heap_tuple(&p->heap, am_ok, SMALL(1));
	dict_put(p, key, heap_list_bytes(&p->heap, "value", 5, NIL));
	x[0] = heap_float(&p->heap, 2.5);
	x[1] = heap_cons(&p->heap, x[0], NIL);
	p->heap.force_major = true;
	ck_assert(process_collect_gc(p, 1000, x, 2));
	ck_assert((size_t)(p->heap.stop - p->heap.top) >= 1000);
	ck_assert(float_value(x[0]) == 2.5);
	ck_assert(cons_head(x[1]) == x[0]);
	key = heap_tuple(&p->heap, am_ok, SMALL(1));
	ck_assert(cons_head(dict_get(p, key)) == SMALL('v'));
}
END_TEST

START_TEST(test_process_collect_over_max_heap_size)
{
	Process *p = fake_process();

	p->heap.max_words = 500;
	ck_assert(!process_collect_gc(p, 1000, NULL, 0));
	ck_assert(p->exc_kind == EXC_EXITED);
	ck_assert(p->exc_reason == am_killed);
}
END_TEST

Suite *process_suite(void)
{
	Suite *s = suite_create("process");
	TCase *t = tcase_create("process");

	tcase_add_checked_fixture(t, fake_init, NULL);
	tcase_add_test(t, test_process_spawn_gives_numbers_in_turn);
	tcase_add_test(t, test_process_spawn_with_a_full_table);
	tcase_add_test(t, test_process_find_only_the_living);
	tcase_add_test(t, test_process_memory_is_not_reused_while_counted);
	tcase_add_test(t, test_process_at_rest_is_small);
	tcase_add_test(t, test_process_spawn_copies_arguments);
	tcase_add_test(t, test_registry_register_once);
	tcase_add_test(t, test_dict_put_get_erase);
	tcase_add_test(t, test_process_collect_keeps_dictionary_and_registers);
	tcase_add_test(t, test_process_collect_over_max_heap_size);
	suite_add_tcase(s, t);
	return s;
}
