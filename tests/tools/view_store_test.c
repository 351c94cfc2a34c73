/* SPDX-License-Identifier: Apache-2.0 */
/* Rows that come and go: what is dropped is gone, and nothing of it is in the row that takes its memory. */
#include <check.h>
#include <string.h>

#include "view/view_store.h"

enum { MANY = 200, ROW_WORDS = 3 };

static struct view_store t;

static void begin(void)
{
    t = (struct view_store){.row_bytes = ROW_WORDS * sizeof(uint64_t), .most = MANY};
}

static void fill(uint64_t vm)
{
    for (uint64_t key = 0; key < MANY; key++) {
        uint64_t *row = view_store_find(&t, vm, key, true);

        ck_assert_ptr_ne(row, NULL);
        for (size_t i = 0; i < ROW_WORDS; i++) {
            ck_assert_uint_eq(row[i], 0); /* a new row */
            row[i] = key + 1;
        }
    }
}

static int add_up(void *ctx, const struct view_store_row *row)
{
    *(uint64_t *)ctx += row->words[0];
    return 0;
}

static void leave(void *ctx, struct view_store_row *row)
{
    (void)row;
    ++*(uint64_t *)ctx;
}

START_TEST(test_a_new_row_is_zeros_whatever_was_dropped)
{
    begin();
    for (uint64_t vm = 1; vm < 4; vm++) {
        fill(vm);
        ck_assert_ptr_eq(view_store_find(&t, vm, MANY, true), NULL); /* there is no more room */
        for (uint64_t key = 0; key < MANY; key++) {
            view_store_drop(&t, vm, key);
            ck_assert_ptr_eq(view_store_find(&t, vm, key, false), NULL);
            view_store_drop(&t, vm, key); /* nothing */
        }
    }
    view_store_clear(&t);
}
END_TEST

/* As many as fit are there again, and those of the other VM were not touched. */
START_TEST(test_rows_of_a_vm_go_and_come)
{
    uint64_t sum = 0;

    begin();
    t.most = 2 * MANY;
    fill(1);
    fill(2);
    for (int i = 0; i < 5; i++) {
        view_store_drop_vm(&t, 1);
        fill(1);
    }
    ck_assert_int_eq(view_store_each(&t, add_up, &sum), 0);
    ck_assert_uint_eq(sum, 2 * MANY * (MANY + 1) / 2);
    view_store_clear(&t);
    ck_assert_int_eq(view_store_each(&t, add_up, &sum), 0);
    ck_assert_uint_eq(sum, 2 * MANY * (MANY + 1) / 2);
    fill(1);
    view_store_clear(&t);
}
END_TEST

/* A slice of a process begins and ends again and again. */
START_TEST(test_a_dropped_row_is_used_again)
{
    begin();
    for (int i = 0; i < 3; i++)
        for (uint64_t key = 0; key < 8; key++) {
            static uint64_t *rows[8];
            uint64_t *row = view_store_find(&t, 1, key, true), sum = 0;

            ck_assert(i == 0 || row == rows[key]);
            ck_assert_uint_eq(row[0], 0);
            row[0] = key + 1;
            rows[key] = row;
            ck_assert_int_eq(view_store_each(&t, add_up, &sum), 0);
            ck_assert_uint_eq(sum, key + 1); /* of those that were dropped nothing is seen */
            view_store_drop(&t, 1, key);
        }
    view_store_clear(&t);
}
END_TEST

/* Of many processes no more rows stay than were there at once, and some. */
START_TEST(test_many_dropped_rows_take_no_memory)
{
    uint64_t *rows[2 * MANY];
    size_t different = 0;

    begin();
    for (uint64_t key = 0; key < 2 * MANY; key++) {
        bool is_new = true;

        rows[key] = view_store_find(&t, 1, key, true);
        ck_assert_ptr_ne(rows[key], NULL);
        for (uint64_t before = 0; before < key; before++)
            is_new &= rows[before] != rows[key];
        different += is_new;
        view_store_drop(&t, 1, key);
    }
    ck_assert_uint_le(different, MANY / 2);
    view_store_clear(&t);
}
END_TEST

/* What was dropped is in nobody's way: not of a full table, not of a VM that ends, nor of the next with its number. */
START_TEST(test_dropped_rows_are_not_there)
{
    uint64_t sum = 0;

    begin();
    fill(1);
    view_store_drop(&t, 1, 0);
    ck_assert_ptr_ne(view_store_find(&t, 1, MANY, true), NULL);
    ck_assert_ptr_eq(view_store_find(&t, 1, 0, true), NULL); /* its room is taken */
    view_store_drop(&t, 1, 1);
    view_store_set_apart(&t, 1, leave, &sum);
    ck_assert_uint_eq(sum, MANY - 1);
    ck_assert_ptr_eq(view_store_find(&t, 1, 1, false), NULL);
    view_store_drop_vm(&t, 1);
    ck_assert_ptr_ne(view_store_find(&t, 1, 1, true), NULL);
    view_store_clear(&t);
}
END_TEST

Suite *view_store_suite(void)
{
    Suite *suite = suite_create("view_store");
    TCase *rows = tcase_create("rows");

    tcase_add_test(rows, test_a_new_row_is_zeros_whatever_was_dropped);
    tcase_add_test(rows, test_rows_of_a_vm_go_and_come);
    tcase_add_test(rows, test_a_dropped_row_is_used_again);
    tcase_add_test(rows, test_many_dropped_rows_take_no_memory);
    tcase_add_test(rows, test_dropped_rows_are_not_there);
    suite_add_tcase(suite, rows);
    return suite;
}
