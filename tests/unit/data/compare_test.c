/* SPDX-License-Identifier: Apache-2.0 */
#include "base/release.h"
#include "data/big.h"
#include "data/binary.h"
#include "data/compare.h"
#include "data/map.h"
#include "data/number.h"
#include "data/phash.h"
#include "unit.h"

static Term make_map(struct heap *h, int n, Term last_value)
{
	Term pairs[200];

	for (int i = 0; i < n; i++) {
		pairs[2 * i] = SMALL(i);
		pairs[2 * i + 1] = i == n - 1 ? last_value : SMALL(i);
	}
	return map_from_pairs(h, pairs, (size_t)n);
}

START_TEST(test_compare_types_in_order)
{
	struct heap *h = unit_heap();
	Term terms[] = {
		heap_float(h, -1.5),
		SMALL(0),
		num_bsl(h, SMALL(1), SMALL(70)),
		am_badarg,
		am_ok,
		heap_ref(h, 0),
		term_from_port(3),
		term_from_pid(9, 0),
		term_from_pid(1, 1),
		heap_tuple(h, am_ok),
		heap_tuple(h, SMALL(0), SMALL(0)),
		map_new(h),
		make_map(h, 1, NIL),
		NIL,
		heap_cons(h, SMALL(1), SMALL(5)),
		heap_cons(h, SMALL(1), NIL),
		binary_put(h, "", 0),
		binary_put(h, "ab", 2),
		binary_put(h, "b", 1),
	};
	int n = sizeof(terms) / sizeof(terms[0]);

	for (int i = 0; i < n; i++)
		for (int k = 0; k < n; k++) {
			ck_assert_int_eq((term_compare(terms[i], terms[k]) > 0) -
						 (term_compare(terms[i], terms[k]) < 0),
					 (i > k) - (i < k));
			ck_assert(term_equal(terms[i], terms[k]) == (i == k));
			ck_assert(term_same(terms[i], terms[k]) == (i == k));
			/* Exactly, a float is more than any integer. */
			if (i == 0 || k == 0)
				continue;
			ck_assert_int_eq((term_compare_exact(terms[i], terms[k]) > 0) -
					 (term_compare_exact(terms[i], terms[k]) < 0), (i > k) - (i < k));
		}
}
END_TEST

/* How two terms with the zeros in them stand to each other: exactly by the release, else equal. */
static void check_zeros(Term minus, Term plus, bool differ)
{
	ck_assert(term_same(minus, plus) == !differ);
	ck_assert(term_equal(minus, plus));
	ck_assert_int_eq(term_compare(minus, plus), 0);
	ck_assert((term_compare_exact(minus, plus) < 0) == differ);
	ck_assert((term_compare_exact(plus, minus) > 0) == differ);
}

START_TEST(test_compare_zeros_by_release)
{
	static const struct {
		int release;
		bool differ;
	} rows[] = { { 25, false }, { 27, true }, { 29, true }, { 25, false } };
	struct heap *h = unit_heap();
	Term minus = heap_float(h, -0.0), plus = heap_float(h, 0.0);

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		release_use(release_find(rows[i].release));
		check_zeros(minus, plus, rows[i].differ);
		check_zeros(heap_tuple(h, am_ok, minus), heap_tuple(h, am_ok, plus), rows[i].differ);
		check_zeros(heap_cons(h, minus, NIL), heap_cons(h, plus, NIL), rows[i].differ);
		check_zeros(make_map(h, 3, minus), make_map(h, 3, plus), rows[i].differ);
		check_zeros(make_map(h, 100, minus), make_map(h, 100, plus), rows[i].differ);
		ck_assert(term_same(heap_float(h, -0.0), minus) && term_same(heap_float(h, 1.5), heap_float(h, 1.5)));
		ck_assert_int_eq(map_size(map_from_pairs(h, (Term[]){ minus, SMALL(1), plus, SMALL(2) }, 2)),
				 rows[i].differ ? 2 : 1);
	}
}
END_TEST

/* Two magnitudes of each count that differ in one limb, each of them. */
START_TEST(test_compare_long_integers)
{
	struct heap *h = unit_heap();
	uint64_t limbs[21], other[21];

	for (size_t n = 2; n <= 21; n++) {
		for (size_t i = 0; i < n; i++)
			other[i] = limbs[i] = 1000 + i;
		ck_assert_int_eq(term_compare(big_from_limbs(h, limbs, n, true), big_from_limbs(h, limbs, n, true)), 0);
		for (size_t i = 0; i < n; i++) {
			Term less = big_from_limbs(h, limbs, n, false), more;

			other[i] = UINT64_MAX - i;
			more = big_from_limbs(h, other, n, false);
			ck_assert_int_lt(term_compare(less, more), 0);
			ck_assert_int_gt(term_compare(more, less), 0);
			ck_assert_int_gt(
				term_compare(big_from_limbs(h, limbs, n, true), big_from_limbs(h, other, n, true)), 0);
			other[i] = limbs[i];
		}
	}
}
END_TEST

/* Binaries of each size that differ in one byte, each of them. */
START_TEST(test_same_binaries)
{
	struct heap *h = unit_heap();
	uint8_t bytes[300];

	for (size_t i = 0; i < sizeof(bytes); i++)
		bytes[i] = (uint8_t)i;
	for (size_t n = 1; n <= sizeof(bytes); n++) {
		Term whole = binary_put(h, bytes, n);

		ck_assert(term_same(whole, binary_put(h, bytes, n)));
		for (size_t i = 0; i < n; i += n < 70 ? 1 : 7) {
			bytes[i] ^= 0x10;
			ck_assert(!term_same(whole, binary_put(h, bytes, n)));
			bytes[i] ^= 0x10;
		}
	}
}
END_TEST

START_TEST(test_compare_numbers_of_two_kinds)
{
	struct heap *h = unit_heap();
	Term one = heap_float(h, 1.0), half = heap_float(h, 0.5), zero = heap_float(h, 0.0),
	     minus = heap_float(h, -0.0);
	Term list = heap_cons(h, one, NIL), other = heap_cons(h, SMALL(1), NIL);

	ck_assert(term_equal(SMALL(1), one) && !term_same(SMALL(1), one));
	ck_assert_int_lt(term_compare_exact(SMALL(1), half), 0);
	ck_assert_int_gt(term_compare(SMALL(1), half), 0);
	ck_assert(term_same(zero, minus) && hash_internal(zero) == hash_internal(minus));
	ck_assert(term_equal(list, other) && !term_same(list, other));
}
END_TEST

enum { ORDERED = 11 };

/* Terms in ascending order; each call makes all of them anew. */
static void make_ordered(struct heap *h, Term t[ORDERED])
{
	Term ordered[ORDERED] = {
		num_bsl(h, SMALL(-1), SMALL(70)),
		heap_float(h, -1.5),
		SMALL(0),
		heap_float(h, 1e15),
		num_bsl(h, SMALL(1), SMALL(70)),
		am_ok,
		heap_tuple(h, am_ok, heap_float(h, 2.5)),
		make_map(h, 2, heap_float(h, 0.5)),
		heap_cons(h, SMALL(1), NIL),
		binary_put(h, "ab", 2),
		binary_put(h, "b", 1),
	};

	memcpy(t, ordered, sizeof(ordered));
}

enum { WRAPS = 10 };

/* A term in others that say nothing themselves, with what has to be looked into before it, behind it, or nowhere. */
static Term wrap(struct heap *h, int how, Term t)
{
	Term leaf = binary_put(h, "leaf", 4), list = heap_cons(h, leaf, NIL);

	switch (how) {
	case 0:
		return heap_tuple(h, t);
	case 1:
		return heap_tuple(h, leaf, t, SMALL(1));
	case 2:
		return heap_tuple(h, leaf, list, t);
	case 3:
		return heap_tuple(h, t, list, leaf);
	case 4:
		return make_map(h, 3, t);
	case 5:
		return map_from_pairs(h, (Term[]){ leaf, t, list, list }, 2);
	case 6:
		return heap_tuple(h, am_ok, heap_tuple(h, SMALL(1), t), SMALL(2));
	case 7:
		return heap_tuple(h, heap_tuple(h, heap_tuple(h, t, leaf), list), leaf);
	case 8: /* deeper than is looked into at first */
		return heap_tuple(h, heap_tuple(h, heap_tuple(h, heap_tuple(h, heap_tuple(h, heap_tuple(h, t))))), list);
	default:
		return map_from_pairs(h, (Term[]){ am_ok, heap_tuple(h, leaf), list, t }, 2);
	}
}

START_TEST(test_compare_wrapped_terms_as_the_terms)
{
	struct heap *h = unit_heap();
	Term a[ORDERED], b[ORDERED];

	make_ordered(h, a);
	make_ordered(h, b);
	for (int i = 0; i < ORDERED * ORDERED * WRAPS; i++) {
		int x = i % ORDERED, y = i / ORDERED % ORDERED, how = i / ORDERED / ORDERED;
		Term wa = wrap(h, how, a[x]), wb = wrap(h, how, b[y]);
		int order = term_compare(wa, wb), plain = term_compare(a[x], b[y]);

		ck_assert_int_eq((plain > 0) - (plain < 0), (x > y) - (x < y));
		ck_assert_int_eq((order > 0) - (order < 0), (x > y) - (x < y));
		ck_assert(term_equal(wa, wb) == (x == y) && term_same(wa, wb) == (x == y));
		ck_assert((term_compare_exact(wa, wb) == 0) == (x == y));
	}
}
END_TEST

START_TEST(test_compare_maps_keys_exact)
{
	struct heap *h = unit_heap();
	Term key[] = { SMALL(1), am_badarg }, float_key[] = { heap_float(h, 1.0), am_badarg };
	Term value[] = { am_badarg, SMALL(1) }, float_value[] = { am_badarg, heap_float(h, 1.0) };

	ck_assert(!term_equal(map_from_pairs(h, key, 1), map_from_pairs(h, float_key, 1)));
	ck_assert_int_lt(term_compare(map_from_pairs(h, key, 1), map_from_pairs(h, float_key, 1)), 0);
	ck_assert(term_equal(map_from_pairs(h, value, 1), map_from_pairs(h, float_value, 1)));
	ck_assert(!term_same(map_from_pairs(h, value, 1), map_from_pairs(h, float_value, 1)));
}
END_TEST

START_TEST(test_compare_large_maps)
{
	struct heap *h = unit_heap();
	Term one = make_map(h, 50, SMALL(1)), two = make_map(h, 50, SMALL(2)),
	     floats = make_map(h, 50, heap_float(h, 1.0));
	Term less = map_put(h, map_remove(h, one, SMALL(40), NULL), SMALL(-1), SMALL(0));

	ck_assert_int_lt(term_compare(one, two), 0);
	ck_assert_int_gt(term_compare(two, one), 0);
	ck_assert_int_eq(term_compare(one, floats), 0);
	ck_assert(term_equal(one, floats) && !term_same(one, floats));
	ck_assert_int_lt(term_compare_exact(one, floats), 0);
	ck_assert_int_lt(term_compare(less, one), 0);
	ck_assert_int_gt(term_compare(one, less), 0);
	ck_assert(term_same(one, make_map(h, 50, SMALL(1))));
	ck_assert(hash_internal(one) == hash_internal(make_map(h, 50, SMALL(1))));
}
END_TEST

/* A chain of large maps, each in the one before. */
static Term make_chain(struct heap *h, int depth, Term end)
{
	for (int i = 0; i < depth; i++)
		end = make_map(h, 33, end);
	return end;
}

START_TEST(test_compare_deep_maps_and_lists)
{
	struct heap h;
	Term a = NIL, b = NIL;

	unit_init();
	heap_init(&h, 20000000);
	ck_assert_int_lt(term_compare(make_chain(&h, 3000, SMALL(1)), make_chain(&h, 3000, SMALL(2))), 0);
	ck_assert(term_same(make_chain(&h, 3000, SMALL(1)), make_chain(&h, 3000, SMALL(1))));
	for (int i = 0; i < 1000000; i++) {
		a = heap_cons(&h, a, NIL);
		b = heap_cons(&h, b, NIL);
	}
	ck_assert(term_same(a, b));
	ck_assert_int_eq(term_compare(a, b), 0);
	ck_assert(phash2(a) == phash2(b) && hash_internal(a) == hash_internal(b));
	heap_free(&h);
}
END_TEST

/* A trie whose only child is a set of leaves that share a hash. */
static Term make_collision(struct heap *h, Term first, Term second)
{
	Term *at = heap_alloc(h, 3);

	at[0] = MAP_HEADER(MAP_HEAD_BITMAP, 1);
	at[1] = 2;
	at[2] = heap_tuple(h, first, second);
	return term_from_boxed(at);
}

START_TEST(test_compare_same_leaves_in_any_order)
{
	struct heap *h = unit_heap();
	Term a = heap_cons(h, am_badarg, heap_tuple(h, SMALL(1))), b = heap_cons(h, am_ok, heap_tuple(h, SMALL(2)));
	Term a2 = heap_cons(h, am_badarg, heap_tuple(h, SMALL(1))),
	     other = heap_cons(h, am_badarg, heap_tuple(h, SMALL(3)));
	Term map = make_collision(h, a, b);

	ck_assert(term_same(map, make_collision(h, a2, b)));
	ck_assert(term_same(map, make_collision(h, b, a2)));
	ck_assert(!term_same(map, make_collision(h, b, other)));
	ck_assert(!term_same(map, make_collision(h, b, heap_cons(h, am_error, SMALL(1)))));
}
END_TEST

/* ---- terms so large that the scheduler is lent */

static int lent, reclaimed;
static void note_lend(void) { lent++; }
static void note_reclaim(void) { reclaimed++; }

static Term make_integers(struct heap *h, int n, Term tail)
{
	while (n-- > 0)
		tail = heap_cons(h, SMALL(n), tail);
	return tail;
}

static Term make_tuples(struct heap *h, int n, Term tail)
{
	while (n-- > 0)
		tail = heap_cons(h, heap_tuple(h, SMALL(n), am_ok), tail);
	return tail;
}

static Term make_large_tuple(struct heap *h, int n, Term last)
{
	Term *at = heap_alloc(h, (size_t)n + 1);

	at[0] = HEADER((Term)n, SUB_TUPLE);
	for (int i = 1; i < n; i++)
		at[i] = SMALL(i);
	at[n] = last;
	return term_from_boxed(at);
}

static Term make_large_map(struct heap *h, int n, Term last)
{
	Term map = map_new(h);

	for (int i = 0; i < n; i++)
		map = map_put(h, map, SMALL(i), i == n - 1 ? last : SMALL(i));
	return map;
}

static Term make_bytes(struct heap *h, int n, Term last)
{
	uint8_t *bytes;
	Term t = binary_alloc(h, (size_t)n, &bytes);

	memset(bytes, 1, (size_t)n);
	bytes[n - 1] = (uint8_t)small_value(last);
	return t;
}

/* How often is the scheduler lent, and each time reclaimed, for that comparison? */
#define COUNT_LENT(expression) \
	({ lent = reclaimed = 0; ck_assert(expression); ck_assert_int_eq(lent, reclaimed); lent; })

static void check_lending(Term (*make)(struct heap *h, int n, Term last), int few, int many)
{
	struct heap *h = unit_heap();
	Term a = make(h, many, SMALL(1)), b = make(h, many, SMALL(1)), more = make(h, many, SMALL(2));
	Term small_a = make(h, few, SMALL(1)), small_b = make(h, few, SMALL(1));

	ck_assert_int_eq(COUNT_LENT(term_same_lending(a, b)), 1);
	ck_assert_int_eq(COUNT_LENT(term_equal_lending(a, b)), 1);
	ck_assert_int_eq(COUNT_LENT(!term_same_lending(a, more)), 1);
	ck_assert_int_eq(COUNT_LENT(term_compare_lending(a, b) == 0), 1);
	ck_assert_int_eq(COUNT_LENT(term_compare_lending(a, more) < 0), 1);
	ck_assert_int_eq(COUNT_LENT(term_compare_lending(more, a) > 0), 1);
	ck_assert_int_eq(COUNT_LENT(term_same(a, b) && !term_equal(a, more) && term_compare(a, more) < 0), 0);
	ck_assert_int_eq(COUNT_LENT(term_same_lending(small_a, small_b) && term_compare_lending(small_a, small_b) == 0),
			 0);
}

START_TEST(test_compare_lends_the_scheduler)
{
	compare_hooks = (struct compare_hooks){ note_lend, note_reclaim };
	check_lending(make_integers, 1000, 200000);
	check_lending(make_tuples, 1000, 100000);
	check_lending(make_large_tuple, 1000, 100000);
	check_lending(make_large_map, 1000, 100000);
	check_lending(make_bytes, 10000, 1000000);
}
END_TEST

Suite *compare_suite(void)
{
	Suite *s = suite_create("compare");
	TCase *c = tcase_create("compare");

	tcase_set_timeout(c, 60);
	tcase_add_test(c, test_compare_types_in_order);
	tcase_add_test(c, test_compare_zeros_by_release);
	tcase_add_test(c, test_compare_long_integers);
	tcase_add_test(c, test_same_binaries);
	tcase_add_test(c, test_compare_numbers_of_two_kinds);
	tcase_add_test(c, test_compare_wrapped_terms_as_the_terms);
	tcase_add_test(c, test_compare_maps_keys_exact);
	tcase_add_test(c, test_compare_large_maps);
	tcase_add_test(c, test_compare_deep_maps_and_lists);
	tcase_add_test(c, test_compare_same_leaves_in_any_order);
	tcase_add_test(c, test_compare_lends_the_scheduler);
	suite_add_tcase(s, c);
	return s;
}
