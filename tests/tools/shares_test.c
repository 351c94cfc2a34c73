/* SPDX-License-Identifier: Apache-2.0 */
/* Spans that last over several results: each has its share, and all of them together what there was, by row. */
#include <check.h>
#include <string.h>

#include "event/hist.h"
#include "tools/view/shares.h"

enum { VM = 17 };
#define S UINT64_C(1000000000)

static struct open_shares shares;
static struct row_nifs_by_mfa counter_rows[2], counter_all; /* of two functions */
static struct row_dist_by_owner hist_row, hist_all;
static bool there; /* whether the table has the rows by now */

static int find_counter(void *ctx, uint32_t vm, const char *name, bool make, uint64_t **row)
{
    (void)ctx;
    ck_assert_uint_eq(vm, VM);
    there |= make;
    *row = (uint64_t *)&counter_rows[strcmp(name, "a:a/0") != 0];
    return !there;
}

static int find_hist(void *ctx, uint32_t vm, const char *name, bool make, uint64_t **row)
{
    (void)ctx, (void)name, (void)make;
    ck_assert_uint_eq(vm, VM);
    *row = (uint64_t *)&hist_row;
    return 0;
}

static int find_none(void *ctx, uint32_t vm, const char *name, bool make, uint64_t **row)
{
    (void)ctx, (void)vm, (void)name, (void)make;
    *row = NULL;
    return 0;
}

static size_t time_of(enum view_table_id table)
{
    size_t i = 0;

    while (view_open_times[i].table != table)
        i++;
    return i;
}

/* A result with so much of spans that ended, and these ages under way of the first function. */
static void next(uint64_t ended, uint64_t age, uint64_t before)
{
    const struct shares_table table = {view_table(VIEW_TABLE_nifs_by_mfa), (uint64_t *)&counter_all, find_counter, NULL};

    memset(counter_rows, 0, sizeof counter_rows);
    memset(&counter_all, 0, sizeof counter_all);
    there = ended;
    counter_rows[0].total = counter_all.total = ended;
    shares_begin(&shares);
    if (age || before)
        ck_assert_int_eq(shares_add(&shares, time_of(VIEW_TABLE_nifs_by_mfa), VM, "a:a/0", age, before, false), 0);
    ck_assert_int_eq(shares_settle(&shares, &table), 0);
    ck_assert_uint_eq(counter_all.total, counter_rows[0].total);
    ck_assert_uint_eq(counter_rows[1].total, 0);
}

START_TEST(test_shares_of_a_counter_hold_each_interval_and_the_sum)
{
    uint64_t sum = 0;

    for (uint64_t i = 1; i <= 8; i++) { /* begun half a second before the first ends */
        next(0, i * S - S / 2, 0);
        ck_assert_uint_eq(counter_rows[0].total, i == 1 ? S / 2 : S);
        sum += counter_rows[0].total;
    }
    next(8 * S, 0, 0); /* it ends, and is counted whole */
    ck_assert_uint_eq(counter_rows[0].total, S / 2);
    ck_assert_uint_eq(sum + counter_rows[0].total, 8 * S);
    next(3, 0, 0);
    ck_assert_uint_eq(counter_rows[0].total, 3);
    shares_free(&shares);
}
END_TEST

/* One of two ends while the other lasts; and one of before, which nobody sees the end of. */
START_TEST(test_shares_of_several_spans)
{
    next(0, 2 * S + S, 0);
    ck_assert_uint_eq(counter_rows[0].total, 3 * S);
    next(3 * S, 2 * S, 0); /* the first after 3 s, the other goes on */
    ck_assert_uint_eq(counter_rows[0].total, 2 * S);
    next(0, 3 * S, S);
    ck_assert_uint_eq(counter_rows[0].total, 2 * S);
    next(0, 4 * S, S / 4);
    ck_assert_uint_eq(counter_rows[0].total, S + S / 4);
    shares_free(&shares);
}
END_TEST

/* It is not seen to end: what was told is owed by the next result alone, and nothing gets negative or makes a row. */
START_TEST(test_shares_of_a_span_that_is_lost)
{
    next(0, 3 * S, 0);
    next(0, 0, 0);
    ck_assert(!there);
    ck_assert_uint_eq(counter_rows[0].total, 0);
    next(S, 0, 0);
    ck_assert_uint_eq(counter_rows[0].total, 0);
    next(S, 0, 0);
    ck_assert_uint_eq(counter_rows[0].total, S);
    next(0, 2 * S, 0);
    shares_forget(&shares, VM + 1);
    next(0, 3 * S, 0);
    ck_assert_uint_eq(counter_rows[0].total, S);
    shares_forget(&shares, VM);
    next(5 * S, 0, 0);
    ck_assert_uint_eq(counter_rows[0].total, 5 * S);
    shares_free(&shares);
}
END_TEST

/* Of a histogram the values stay whole, and the time told is shared; the sums of rows without names are, too. */
START_TEST(test_shares_of_a_histogram)
{
    for (int apart = 1; apart >= 0; apart--) {
        const struct shares_table table = {view_table(VIEW_TABLE_dist_by_owner), (uint64_t *)&hist_all,
                                           apart ? find_hist : find_none, NULL};
        struct wire_hist *told = apart ? &hist_row.suspended : &hist_all.suspended;

        for (uint64_t i = 1; i <= 4; i++) {
            memset(&hist_row, 0, sizeof hist_row);
            memset(&hist_all, 0, sizeof hist_all);
            shares_begin(&shares);
            if (i < 4) {
                ck_assert_int_eq(shares_add(&shares, time_of(VIEW_TABLE_dist_by_owner), VM, "me", i * S, 0, false), 0);
            } else {
                hist_add(&hist_row.suspended, 4 * S - S / 2);
                hist_add(&hist_all.suspended, 4 * S - S / 2);
            }
            ck_assert_int_eq(shares_settle(&shares, &table), 0);
            ck_assert_uint_eq(hist_time(told), i < 4 ? S : S / 2);
            ck_assert_uint_eq(hist_time(&hist_all.suspended), hist_time(told));
            ck_assert_uint_eq(told->count, i == 4);
            ck_assert_uint_eq(told->sum, i == 4 ? 4 * S - S / 2 : 0);
        }
        shares_free(&shares);
    }
}
END_TEST

Suite *shares_suite(void)
{
    Suite *suite = suite_create("shares");
    TCase *all = tcase_create("all");

    tcase_add_test(all, test_shares_of_a_counter_hold_each_interval_and_the_sum);
    tcase_add_test(all, test_shares_of_several_spans);
    tcase_add_test(all, test_shares_of_a_span_that_is_lost);
    tcase_add_test(all, test_shares_of_a_histogram);
    suite_add_tcase(suite, all);
    return suite;
}
