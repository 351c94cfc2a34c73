/* SPDX-License-Identifier: Apache-2.0 */
/* Tables of links and monitors: an only entry, a table, and the ways between. */
#include "proc/fake.h"

enum { MANY = 100 };

static Term id_of(unsigned i) { return term_from_pid(i + 1, 0); }

static struct peer *insert(struct peers *t, unsigned i)
{
	return peer_insert(t, PEER_LINK, id_of(i), id_of(i), TERM_NONE);
}

struct seen {
	Term ids[MANY];
	size_t n;
};

static void note(const struct peer *n, void *arg)
{
	struct seen *s = arg;

	ck_assert_uint_lt(s->n, MANY);
	s->ids[s->n++] = n->peer;
}

/* Those from `first` on, in that order, are all there. */
static void check_all(const struct peers *t, unsigned first, unsigned n)
{
	struct seen s = { .n = 0 };

	ck_assert_uint_eq(peer_count(t), n);
	peer_each(t, note, &s);
	ck_assert_uint_eq(s.n, n);
	for (unsigned i = 0; i < n; i++) {
		ck_assert(s.ids[i] == id_of(first + i));
		ck_assert(peer_find(t, id_of(first + i)) != NULL);
	}
	ck_assert(peer_find(t, id_of(first + n)) == NULL);
}

START_TEST(test_only_entry_has_no_table)
{
	struct peers t = { 0 };

	ck_assert(peer_find(&t, id_of(0)) == NULL);
	ck_assert_uint_eq(peer_size_bytes(&t), 0);
	for (int turn = 0; turn < 2; turn++) {
		struct peer *n = insert(&t, 0);

		check_all(&t, 0, 1);
		ck_assert(peer_find(&t, id_of(0)) == n);
		ck_assert_uint_eq(peer_size_bytes(&t), sizeof(*n));
		peer_remove(&t, n);
		ck_assert_uint_eq(peer_count(&t), 0);
		ck_assert_uint_eq(peer_size_bytes(&t), 0);
	}
}
END_TEST

START_TEST(test_entries_come_and_go_in_order)
{
	struct peers t = { 0 };

	for (unsigned n = 1; n <= MANY; n++) {
		insert(&t, n - 1);
		check_all(&t, 0, n);
	}
	for (unsigned gone = 1; gone <= MANY; gone++) {
		peer_remove(&t, peer_find(&t, id_of(gone - 1)));
		check_all(&t, gone, MANY - gone);
	}
	ck_assert_uint_eq(peer_size_bytes(&t), 0);
}
END_TEST

START_TEST(test_taken_all_the_oldest_first)
{
	for (unsigned n = 0; n <= 3; n++) {
		struct peers t = { 0 };
		unsigned taken = 0;

		for (unsigned i = 0; i < n; i++)
			insert(&t, i);
		for (struct peer *next, *at = peer_take_all(&t); at != NULL; at = next) {
			next = at->next;
			ck_assert(at->peer == id_of(taken++));
			peer_free(at);
		}
		ck_assert_uint_eq(taken, n);
		ck_assert_uint_eq(peer_count(&t), 0);
	}
}
END_TEST

Suite *peer_suite(void)
{
	Suite *s = suite_create("peer");
	TCase *t = tcase_create("peer");

	tcase_add_checked_fixture(t, fake_init, NULL);
	tcase_add_test(t, test_only_entry_has_no_table);
	tcase_add_test(t, test_entries_come_and_go_in_order);
	tcase_add_test(t, test_taken_all_the_oldest_first);
	suite_add_tcase(s, t);
	return s;
}
