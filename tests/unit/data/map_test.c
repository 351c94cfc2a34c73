/* SPDX-License-Identifier: Apache-2.0 */
/* Maps, against an array that remembers what was put. */
#include "data/map.h"

#include "data/binary.h"
#include "data/compare.h"
#include "data/map_trie.h"
#include "unit.h"

enum { KEYS = 2000 };

/* Every pair is found, the walk gives each key once, and the trie is canonical in size. */
static void check_map(Term map, const Term *keys, const Term *values, size_t n)
{
	size_t size = 0, seen = 0;
	struct map_iter it;
	Term key, value;

	for (size_t i = 0; i < n; i++) {
		ck_assert(map_get(map, keys[i]) == values[i]);
		size += values[i] != TERM_NONE;
	}
	ck_assert_uint_eq(map_size(map), size);
	ck_assert_int_eq(map_is_flat(map), size <= MAP_FLAT_MAX);
	map_iter_init(&it, map);
	while (map_iter_next(&it, &key, &value)) {
		ck_assert(map_get(map, key) == value);
		seen++;
	}
	ck_assert_uint_eq(seen, size);
}

static Term make_key(struct heap *h, unsigned i)
{
	switch (i % 4) {
	case 0:
		return SMALL((int64_t)i);
	case 1:
		return heap_float(h, i);
	case 2:
		return binary_put(h, &i, sizeof(i));
	default:
		return heap_tuple(h, SMALL((int64_t)i), am_ok);
	}
}

START_TEST(test_put_remove_random)
{
	struct heap *h = unit_heap();
	static Term keys[KEYS], values[KEYS];
	Term map = map_new(h), removed;
	uint32_t seed = 7;

	for (unsigned i = 0; i < KEYS; i++)
		keys[i] = make_key(h, i);
	for (unsigned round = 0; round < 12000; round++) {
		unsigned i = (seed = seed * 1664525 + 1013904223) >> 8;

		i %= KEYS;
		if (round % 3 == 2 || round > 9000) {
			map = map_remove(h, map, keys[i], &removed);
			ck_assert(removed == values[i]);
			values[i] = TERM_NONE;
		} else {
			Term updated = map_update(h, map, keys[i], SMALL((int64_t)round));

			ck_assert((updated == TERM_NONE) == (values[i] == TERM_NONE));
			values[i] = SMALL((int64_t)round);
			map = map_put(h, map, keys[i], values[i]);
			ck_assert(updated == TERM_NONE || term_same(map, updated));
		}
		if (round % 2000 == 0)
			check_map(map, keys, values, KEYS);
	}
	check_map(map, keys, values, KEYS);
	for (unsigned i = 0; i < KEYS; i++) {
		map = map_remove(h, map, keys[i], NULL);
		values[i] = TERM_NONE;
		if (map_size(map) < 40)
			check_map(map, keys, values, KEYS);
	}
	ck_assert_uint_eq(map_size(map), 0);
}
END_TEST

START_TEST(test_from_pairs_equals_puts)
{
	struct heap *h = unit_heap();

	for (unsigned n = 0; n < 200; n += 7) {
		Term pairs[400], keys[200], values[200];
		Term map = map_new(h);

		for (unsigned i = 0; i < n; i++) {
			pairs[2 * i] = keys[i] = make_key(h, i % (n / 2 + 1));
			pairs[2 * i + 1] = SMALL((int64_t)i);
			map = map_put(h, map, pairs[2 * i], pairs[2 * i + 1]);
		}
		for (unsigned i = 0; i < n; i++)
			values[i] = map_get(map, keys[i]);
		for (unsigned i = 0; i < n; i++)
			ck_assert(map_get(map_from_pairs(h, pairs, n), keys[i]) == values[i]);
		ck_assert_uint_eq(map_size(map_from_pairs(h, pairs, n)), map_size(map));
		ck_assert_int_eq(map_from_unique_pairs(h, pairs, n) == TERM_NONE, map_size(map) != n);
	}
}
END_TEST

START_TEST(test_merge_sizes)
{
	static const unsigned sizes[] = { 0, 1, 20, 32, 33, 100, 1000 };
	struct heap *h = unit_heap();
	static Term keys[KEYS], values[KEYS];

	for (unsigned i = 0; i < KEYS; i++)
		keys[i] = make_key(h, i);
	for (unsigned x = 0; x < 7; x++)
		for (unsigned y = 0; y < 7; y++) {
			Term a = map_new(h), b = map_new(h);
			unsigned shift = sizes[x] / 2;

			memset(values, 0, sizeof(values));
			for (unsigned i = 0; i < sizes[x]; i++) {
				values[i] = SMALL(1);
				a = map_put(h, a, keys[i], SMALL(1));
			}
			for (unsigned i = shift; i < shift + sizes[y]; i++) {
				values[i] = SMALL(2);
				b = map_put(h, b, keys[i], SMALL(2));
			}
			check_map(map_merge(h, a, b), keys, values, KEYS);
		}
}
END_TEST

START_TEST(test_flat_keys_are_sorted_and_shared)
{
	struct heap *h = unit_heap();
	Term one = heap_float(h, 1.0),
	     pairs[] = { am_ok, SMALL(1), one, SMALL(2), SMALL(1), SMALL(3), SMALL(-4), SMALL(4) };
	Term map = map_from_pairs(h, pairs, 4), keys[4], values[4], updated, missing;

	map_sorted_pairs(map, keys, values);
	ck_assert(keys[0] == SMALL(-4) && keys[1] == SMALL(1) && keys[2] == one && keys[3] == am_ok);
	ck_assert(values[0] == SMALL(4) && values[1] == SMALL(3) && values[2] == SMALL(2) && values[3] == SMALL(1));
	updated = map_update_pairs(h, map, (Term[]){ am_ok, SMALL(9), SMALL(1), SMALL(8) }, 2, &missing);
	ck_assert(map_get(updated, am_ok) == SMALL(9) && map_get(updated, SMALL(1)) == SMALL(8));
	ck_assert(((struct flatmap *)boxed_ptr(updated))->keys == ((struct flatmap *)boxed_ptr(map))->keys);
	ck_assert(map_update_pairs(h, map, (Term[]){ am_ok, SMALL(9), am_error, SMALL(8) }, 2, &missing) == TERM_NONE);
	ck_assert(missing == am_error);
	ck_assert(map_put(h, map, am_ok, SMALL(1)) == map);
}
END_TEST

START_TEST(test_put_pairs_over_the_limit)
{
	struct heap *h = unit_heap();
	Term pairs[200], map = map_new(h), keys[100], values[100];

	for (unsigned i = 0; i < 100; i++) {
		keys[i] = pairs[2 * i] = make_key(h, i);
		values[i] = pairs[2 * i + 1] = SMALL((int64_t)i);
	}
	map = map_put_pairs(h, map, pairs, 20);
	map = map_put_pairs(h, map, pairs + 40, 15);
	check_map(map, keys, values, 35);
	check_map(map_put_pairs(h, map_put(h, map_new(h), am_ok, am_ok), pairs, 1), (Term[]){ am_ok, keys[0] },
		  (Term[]){ am_ok, values[0] }, 2);
	map = map_put_pairs(h, map_from_pairs(h, pairs, 10), pairs, 100);
	check_map(map, keys, values, 100);
}
END_TEST

START_TEST(test_seek_goes_on_where_it_stopped)
{
	struct heap *h = unit_heap();
	Term map = map_new(h), key, value;
	struct map_iter it, from;
	unsigned seen = 0;

	for (unsigned i = 0; i < 700; i++)
		map = map_put(h, map, make_key(h, i), SMALL((int64_t)i));
	map_iter_init(&it, map);
	while (map_iter_next(&it, &key, &value)) {
		Term again_key, again_value;

		map_trie_seek(&from, map, map_hash(key));
		ck_assert(map_iter_next(&from, &again_key, &again_value));
		ck_assert(again_key == key && again_value == value);
		map_trie_seek(&from, map, map_hash(key) - 1);
		ck_assert(map_iter_next(&from, &again_key, &again_value));
		ck_assert(again_key == key);
		seen++;
	}
	ck_assert_uint_eq(seen, 700);
}
END_TEST

/* In steps of any size, with doubles: as map_from_pairs makes it. */
START_TEST(test_builder_makes_the_same)
{
	enum { PAIRS = 5000 };
	static Term pairs[2 * PAIRS];
	struct heap *h = unit_heap();

	for (int64_t keys = 20; keys <= PAIRS; keys *= 5) {
		struct map_builder *b = map_builder_new();
		int64_t steps = 0, most = keys / 10;
		Term map;

		for (int64_t i = 0; i < PAIRS; i++) {
			pairs[2 * i] = i % 3 == 0 ? heap_float(h, (double)(i % keys)) : SMALL(i * 7919 % keys);
			pairs[2 * i + 1] = SMALL(i);
			map_builder_add(b, pairs[2 * i], pairs[2 * i + 1]);
		}
		do {
			int64_t left = most;

			map = map_builder_step(b, h, &left);
			steps++;
		} while (map == TERM_NONE);
		ck_assert_int_gt(steps, PAIRS / most);
		ck_assert(term_same(map, map_from_pairs(h, pairs, PAIRS)));
		ck_assert(map_is_flat(map) == (map_size(map) <= MAP_FLAT_MAX));
		map_builder_free(b);
	}
}
END_TEST

START_TEST(test_lists)
{
	struct heap *h = unit_heap();
	Term map = map_from_pairs(h, (Term[]){ SMALL(1), am_ok, SMALL(2), am_error }, 2), list;

	list = map_list(h, map, MAP_PAIRS);
	ck_assert(tuple_get(cons_head(list), 1) == SMALL(1) && tuple_get(cons_head(cons_tail(list)), 2) == am_error);
	ck_assert(term_is_nil(cons_tail(cons_tail(list))));
	ck_assert(cons_head(map_list(h, map, MAP_KEYS)) == SMALL(1));
	ck_assert(cons_head(cons_tail(map_list(h, map, MAP_VALUES))) == am_error);
	ck_assert(term_is_nil(map_list(h, map_new(h), MAP_PAIRS)));
}
END_TEST

Suite *map_suite(void)
{
	Suite *s = suite_create("map");
	TCase *t = tcase_create("map");

	tcase_add_test(t, test_put_remove_random);
	tcase_add_test(t, test_from_pairs_equals_puts);
	tcase_add_test(t, test_merge_sizes);
	tcase_add_test(t, test_flat_keys_are_sorted_and_shared);
	tcase_add_test(t, test_put_pairs_over_the_limit);
	tcase_add_test(t, test_seek_goes_on_where_it_stopped);
	tcase_add_test(t, test_builder_makes_the_same);
	tcase_add_test(t, test_lists);
	suite_add_tcase(s, t);
	return s;
}
