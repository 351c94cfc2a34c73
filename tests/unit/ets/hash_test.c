/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "data/map.h"
#include "ets/ets_hash.h"
#include "heap/refbin.h"
#include "unit.h"

static void put(struct ets_hash *h, Term key, Term value, struct ets_change *change)
{
	hash_insert(h, heap_tuple(unit_heap(), key, value), object_hash_key(key), change);
}

static struct ets_object *get(struct ets_hash *h, Term key)
{
	return hash_lookup(h, object_hash_key(key), key);
}

static void take_away(struct ets_hash *h)
{
	uint32_t from = 0;

	ck_assert(hash_drain(h, &from, SIZE_MAX));
	hash_free(h);
}

START_TEST(test_split_and_join_lose_nothing)
{
	struct ets_change change = { 0, 0 };
	struct ets_hash h;

	unit_init();
	hash_init(&h, 1, HASH_SET);
	for (int i = 0; i < 5003; i++) {
		put(&h, SMALL(i), SMALL(-i), &change);
		if (hash_wants_split(&h, (size_t)change.objects))
			hash_split(&h);
	}
	ck_assert_int_eq(change.objects, 5003);
	ck_assert_uint_eq(atomic_load(&h.active), 5003);
	for (int i = 0; i < 5003; i++)
		ck_assert(get(&h, SMALL(i))->words[2] == SMALL(-i));
	while (atomic_load(&h.active) > HASH_SEGMENT)
		hash_join(&h);
	for (int i = 0; i < 5003; i++)
		ck_assert(get(&h, SMALL(i))->words[2] == SMALL(-i));
	ck_assert(get(&h, SMALL(5003)) == NULL);
	take_away(&h);
}
END_TEST

START_TEST(test_insert_set_replaces)
{
	struct ets_change change = { 0, 0 };
	struct heap *heap = unit_heap();
	struct ets_hash h;

	hash_init(&h, 1, HASH_SET);
	put(&h, heap_float(heap, 1.0), am_ok, &change);
	put(&h, SMALL(1), am_true, &change);
	put(&h, heap_float(heap, 1.0), am_error, &change);
	ck_assert_int_eq(change.objects, 2);
	ck_assert(get(&h, heap_float(heap, 1.0))->words[2] == am_error);
	ck_assert(get(&h, SMALL(1))->words[2] == am_true);
	take_away(&h);
}
END_TEST

START_TEST(test_insert_bag_keeps_one_of_equal_objects)
{
	struct ets_change change = { 0, 0 };
	struct ets_hash bag, duplicates;
	struct ets_object *o;

	unit_init();
	hash_init(&bag, 1, HASH_BAG);
	hash_init(&duplicates, 1, HASH_DUPLICATES);
	for (int i = 0; i < 9; i++)
		put(&bag, am_ok, SMALL(i % 3), &change);
	ck_assert_int_eq(change.objects, 3);
	o = get(&bag, am_ok);
	ck_assert(o->words[2] == SMALL(2));
	o = hash_lookup_next(&bag, o);
	ck_assert(o->words[2] == SMALL(1));
	o = hash_lookup_next(&bag, o);
	ck_assert(o->words[2] == SMALL(0) && hash_lookup_next(&bag, o) == NULL);
	change.objects = 0;
	for (int i = 0; i < 9; i++)
		put(&duplicates, am_ok, SMALL(i % 3), &change);
	ck_assert_int_eq(change.objects, 9);
	take_away(&bag);
	take_away(&duplicates);
}
END_TEST

START_TEST(test_remove_while_fixed_waits_for_burial)
{
	struct ets_change change = { 0, 0 };
	struct ets_object **place;
	struct ets_hash h;
	long words;

	unit_init();
	hash_init(&h, 1, HASH_SET);
	put(&h, am_ok, SMALL(1), &change);
	put(&h, am_true, SMALL(2), &change);
	words = change.words;
	place = hash_find(&h, object_hash_key(am_ok), am_ok);
	hash_remove(&h, place, true, &change);
	ck_assert_int_eq(change.objects, 1);
	ck_assert_int_eq(change.words, words);
	ck_assert(get(&h, am_ok) == NULL);
	ck_assert(hash_find(&h, object_hash_key(am_ok), am_ok) == place);
	hash_bury(&h, &change);
	ck_assert(hash_find(&h, object_hash_key(am_ok), am_ok) == NULL);
	ck_assert_int_eq(change.words, words / 2);
	/* One that comes back before the burial counts again. */
	hash_remove(&h, hash_find(&h, object_hash_key(am_true), am_true), true, &change);
	put(&h, am_true, SMALL(3), &change);
	ck_assert_int_eq(change.objects, 1);
	hash_bury(&h, &change);
	ck_assert(get(&h, am_true)->words[2] == SMALL(3));
	take_away(&h);
}
END_TEST

START_TEST(test_object_copy_is_whole)
{
	struct heap *h = unit_heap();
	Term list = heap_cons(h, heap_tuple(h, SMALL(1), heap_float(h, 2.5)), NIL);
	Term t = heap_tuple(h, am_ok, list, am_true);
	struct ets_object *o = object_new(t);
	Term copy = object_copy_to_heap(o, h);

	ck_assert_uint_eq(o->size_words, 4 + 2 + 3 + 2);
	ck_assert(term_same(copy, t) && term_same(object_tuple(o), t));
	ck_assert(tuple_get(copy, 2) != list && tuple_get(object_tuple(o), 2) != list);
	object_free(o);
}
END_TEST

/* What takes the same room is put where the old object stood; a counted binary is let go with it. */
START_TEST(test_overwrite_takes_the_same_room)
{
	struct heap *h = unit_heap();
	struct binary *b = binary_new(100);
	Term counted = refbin_put(h, b, 100);
	struct ets_object *o = object_new(heap_tuple(h, am_ok, heap_float(h, 2.5), SMALL(1)));
	Term shorter = heap_tuple(h, am_ok, SMALL(7), SMALL(1)),
	     same = heap_tuple(h, am_ok, SMALL(8), heap_float(h, 3.5));
	struct ets_object *with_binary = object_new(heap_tuple(h, am_ok, counted));

	ck_assert(!object_overwrite(o, shorter));
	ck_assert(tuple_get(object_tuple(o), 3) == SMALL(1));
	ck_assert(object_overwrite(o, same));
	ck_assert(term_same(object_tuple(o), same) && tuple_get(object_tuple(o), 3) != tuple_get(same, 3));
	ck_assert(!object_overwrite(with_binary, heap_tuple(h, am_ok, counted)));
	ck_assert_uint_eq(atomic_load(&b->refs), 2);
	object_free(with_binary);
	ck_assert_uint_eq(atomic_load(&b->refs), 1);
	object_free(o);
}
END_TEST

/* Each kind of thing with words that are no terms, with counts, with pointers; all lead into the copy. */
START_TEST(test_object_copy_of_every_kind)
{
	struct heap *h = unit_heap();
	struct binary *b = binary_new(100);
	Term keys[40], map = NIL, t;
	struct ets_object *o;

	memset(b->data, 'x', 100);
	for (int i = 0; i < 40; i++)
		keys[i] = SMALL(i);
	map = heap_tuple(h, map_from_pairs(h, keys, 3), map_from_pairs(h, keys, 20));
	t = heap_tuple(h, heap_float(h, 2.5), refbin_put(h, b, 100), heap_int(h, 1LL << 62), heap_ref(h, 0), map,
		       heap_cons(h, SMALL(1), heap_cons(h, heap_list_bytes(h, "ab", 2, NIL), am_ok)));
	o = object_new(t);
	ck_assert_uint_eq(atomic_load(&b->refs), 2);
	for (int i = 0; i < 3; i++) {
		Term *top = heap_alloc(h, o->size_words), *at = top;
		Term copy = object_copy(o, &top, &h->off_heap);

		ck_assert(top == at + o->size_words && copy == term_from_boxed(at));
		ck_assert(term_same(copy, t));
		ck_assert_uint_eq(atomic_load(&b->refs), 3 + (unsigned)i);
		for (size_t e = 1; e <= 6; e++)
			ck_assert(term_ptr(tuple_get(copy, e)) > at && term_ptr(tuple_get(copy, e)) < top);
	}
	object_free(o);
	ck_assert_uint_eq(atomic_load(&b->refs), 4);
}
END_TEST

Suite *ets_hash_suite(void)
{
	Suite *s = suite_create("ets hash");
	TCase *c = tcase_create("hash");

	tcase_add_test(c, test_split_and_join_lose_nothing);
	tcase_add_test(c, test_insert_set_replaces);
	tcase_add_test(c, test_insert_bag_keeps_one_of_equal_objects);
	tcase_add_test(c, test_remove_while_fixed_waits_for_burial);
	tcase_add_test(c, test_object_copy_is_whole);
	tcase_add_test(c, test_overwrite_takes_the_same_room);
	tcase_add_test(c, test_object_copy_of_every_kind);
	suite_add_tcase(s, c);
	return s;
}
