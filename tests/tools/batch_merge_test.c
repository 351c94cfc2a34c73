/* SPDX-License-Identifier: Apache-2.0 */
/* Streams of threads merged: in order, with gaps, damaged, and from hostile VMs. */
#include <check.h>
#include <errno.h>

#include "event/batch_merge.h"
#include "support_page.h"

enum { VM = 17, MAX_TOLD = 20000 };

static struct batch_names *names;
static struct batch_merge *merge;
static struct {
    uint64_t ns, number;
    uint32_t vm;
} told[MAX_TOLD];
static size_t ntold;

static void on_event(void *ctx, const union ev_any *ev)
{
    (void)ctx;
    ck_assert_uint_lt(ntold, MAX_TOLD);
    told[ntold].ns = ev->head.time_ns;
    told[ntold].vm = ev->head.vm;
    told[ntold++].number = ev->copy__struct.words;
}

static void set_up(void)
{
    ntold = 0;
    names = batch_names_new();
    merge = batch_merge_new(names, &(struct batch_merge_ops){.event = on_event});
}

static void tear_down(void)
{
    batch_merge_free(merge);
    batch_names_free(names);
}

static const struct batch_counts *counts(void)
{
    return batch_merge_counts(merge);
}

/* A page of two events, `ns` and 10 later, whose numbers are their times. */
static void take_pair(uint32_t thread, uint64_t sequence, uint64_t events, uint64_t ns)
{
    struct support_page p;

    support_page_begin(&p, VM, thread, sequence, events, ns);
    support_page_number(&p, BATCH_copy__struct, ns, ns);
    support_page_number(&p, BATCH_copy__struct, ns + 10, ns + 10);
    batch_merge_take(merge, support_page_end(&p, ns + 10));
}

static void check_told(const uint64_t *times, size_t n)
{
    ck_assert_uint_eq(ntold, n);
    for (size_t i = 0; i < n; i++) {
        ck_assert_uint_eq(told[i].ns, times[i]);
        ck_assert_uint_eq(told[i].number, times[i]);
    }
}

START_TEST(test_batch_merge_orders_threads_by_time)
{
    take_pair(1, 1, 0, 1000);
    take_pair(1, 2, 2, 1020);
    take_pair(2, 1, 0, 1005);
    take_pair(3, 1, 0, 1025);
    batch_merge_until(merge, UINT64_MAX);
    check_told((uint64_t[]){1000, 1005, 1010, 1015, 1020, 1025, 1030, 1035}, 8);
    ck_assert_uint_eq(counts()->events, 8);
    ck_assert_uint_eq(counts()->pages, 4);
    ck_assert_uint_eq(counts()->late + counts()->lost_pages + counts()->damaged + counts()->refused, 0);
}
END_TEST

static void on_named(void *ctx, uint32_t vm, ev_id id, const struct wire_name *name)
{
    size_t *before = ctx;

    ck_assert_uint_eq(vm, VM);
    ck_assert_uint_eq(id, 77);
    ck_assert_int_eq(name->form, WIRE_REASON);
    ck_assert_uint_eq(name->words[1], 5);
    ck_assert_uint_eq(*before, SIZE_MAX);
    *before = ntold;
}

/* A name that a process registers comes between what happened before and after, and is no event. */
START_TEST(test_batch_merge_tells_names_of_processes_in_order)
{
    size_t before = SIZE_MAX;
    const struct batch_merge_ops ops = {.event = on_event, .named = on_named, .ctx = &before};
    struct batch_merge *m = batch_merge_new(names, &ops);
    struct support_page p;

    support_page_begin(&p, VM, 1, 1, 0, 1000);
    support_page_number(&p, BATCH_copy__struct, 1000, 1000);
    support_page_head(&p, BATCH_NAMED, 2, 1007);
    support_page_word(&p, 77);
    support_page_word(&p, 5);
    batch_merge_take(m, support_page_end(&p, 1008));
    support_page_begin(&p, VM, 1, 3, 1, 1010); /* a page of no events is missing before it */
    support_page_number(&p, BATCH_copy__struct, 1010, 1010);
    batch_merge_take(m, support_page_end(&p, 1010));
    support_page_begin(&p, VM, 2, 1, 0, 1005);
    support_page_number(&p, BATCH_copy__struct, 1005, 1005);
    batch_merge_take(m, support_page_end(&p, 1005));
    batch_merge_until(m, UINT64_MAX);
    check_told((uint64_t[]){1000, 1005, 1010}, 3);
    ck_assert_uint_eq(before, 2);
    ck_assert_uint_eq(batch_merge_counts(m)->events, 3);
    ck_assert_uint_eq(batch_merge_counts(m)->lost_pages, 1);
    ck_assert_uint_eq(batch_merge_counts(m)->lost_events + batch_merge_counts(m)->damaged, 0);
    batch_merge_free(m);
}
END_TEST

static bool is_over(void *ctx)
{
    return *(bool *)ctx;
}

/* What waits when nothing more is wanted, and what comes then, is counted. It is asked for every 256th event. */
START_TEST(test_batch_merge_counts_what_is_not_wanted_any_more)
{
    enum { PAIRS = 1000, ASKED_EVERY = 256 };
    bool over = false;

    tear_down();
    names = batch_names_new();
    merge = batch_merge_new(names, &(struct batch_merge_ops){.event = on_event, .is_over = is_over, .ctx = &over});
    for (uint64_t i = 0; i < PAIRS; i++)
        take_pair(1, i + 1, 2 * i, 1000 + 20 * i);
    batch_merge_until(merge, 1010);
    ck_assert_uint_eq(ntold, 2);
    over = true;
    batch_merge_until(merge, UINT64_MAX);
    ck_assert_uint_eq(ntold, ASKED_EVERY);
    take_pair(1, PAIRS + 1, 2 * PAIRS, 1000 + 20 * PAIRS);
    batch_merge_until(merge, UINT64_MAX);
    ck_assert_uint_eq(ntold, ASKED_EVERY);
    ck_assert_uint_eq(counts()->events, ASKED_EVERY);
    ck_assert_uint_eq(counts()->unwanted, 2 * PAIRS + 2 - ASKED_EVERY);
    ck_assert_uint_eq(counts()->lost_pages + counts()->lost_events, 0);
}
END_TEST

START_TEST(test_batch_merge_tells_up_to_the_time_asked_for)
{
    take_pair(1, 1, 0, 1000);
    take_pair(2, 1, 0, 1005);
    batch_merge_until(merge, 1005);
    check_told((uint64_t[]){1000, 1005}, 2);
    take_pair(3, 1, 0, 1007);
    batch_merge_until(merge, 1012);
    check_told((uint64_t[]){1000, 1005, 1007, 1010}, 4);
    batch_merge_until(merge, UINT64_MAX);
    check_told((uint64_t[]){1000, 1005, 1007, 1010, 1015, 1017}, 6);
}
END_TEST

/* What comes when its time is over is told all the same, and counted. */
START_TEST(test_batch_merge_counts_what_comes_late)
{
    take_pair(1, 1, 0, 1000);
    batch_merge_until(merge, UINT64_MAX);
    take_pair(2, 1, 0, 1005);
    batch_merge_until(merge, UINT64_MAX);
    check_told((uint64_t[]){1000, 1010, 1005, 1015}, 4);
    ck_assert_uint_eq(counts()->late, 1);
}
END_TEST

START_TEST(test_batch_merge_counts_what_is_lost)
{
    take_pair(1, 5, 100, 1000); /* what came before we began to watch is no loss */
    take_pair(1, 8, 125, 1100);
    take_pair(1, 9, 127, 1200);
    take_pair(2, 1, 0, 1000);
    batch_merge_until(merge, UINT64_MAX);
    ck_assert_uint_eq(counts()->lost_pages, 2);
    ck_assert_uint_eq(counts()->lost_events, 23);
    ck_assert_uint_eq(ntold, 8);
}
END_TEST

START_TEST(test_batch_merge_learns_names)
{
    struct support_page p;

    support_page_begin(&p, VM, 1, 1, 0, 1000);
    support_page_atom(&p, 5, "lists");
    support_page_atom(&p, 33554431, "last");
    batch_merge_take(merge, support_page_end(&p, 1000));
    ck_assert_str_eq(batch_names_find(names, VM, 5), "lists");
    ck_assert_str_eq(batch_names_find(names, VM, 33554431), "last");
    ck_assert_ptr_null(batch_names_find(names, VM, 6));
    ck_assert_ptr_null(batch_names_find(names, VM + 1, 5));
    support_page_begin(&p, VM, 1, 2, 0, 2000);
    support_page_atom(&p, 5, "other");
    support_page_atom(&p, 33554432, "no such index");
    batch_merge_take(merge, support_page_end(&p, 2000));
    ck_assert_str_eq(batch_names_find(names, VM, 5), "other");
    ck_assert_uint_eq(counts()->refused, 1);
}
END_TEST

START_TEST(test_batch_merge_forgets_a_vm)
{
    struct support_page p;

    support_page_begin(&p, VM + 1, 1, 1, 0, 990);
    support_page_number(&p, BATCH_copy__struct, 990, 990);
    batch_merge_take(merge, support_page_end(&p, 990));
    support_page_begin(&p, VM, 2, 1, 0, 1000);
    support_page_atom(&p, 5, "lists");
    batch_merge_take(merge, support_page_end(&p, 1000));
    take_pair(1, 7, 50, 1000);
    batch_merge_forget(merge, VM);
    ck_assert_ptr_null(batch_names_find(names, VM, 5));
    take_pair(1, 1, 0, 2000);
    batch_merge_until(merge, UINT64_MAX);
    check_told((uint64_t[]){990, 2000, 2010}, 3);
    ck_assert_uint_eq(told[0].vm, VM + 1);
    ck_assert_uint_eq(counts()->lost_pages + counts()->damaged, 0);
}
END_TEST

/* ---- clocks */

/* Threads and VMs that have ended make room for those that come: what 5000 VMs tell, one after the other, is told. */
START_TEST(test_batch_merge_has_room_for_many_short_lives)
{
    struct support_page p;

    for (uint32_t vm = 1; vm <= 5000; vm++) {
        support_page_begin(&p, vm, 1, 1, 0, vm * 1000);
        support_page_atom(&p, 7, "name");
        support_page_number(&p, BATCH_copy__struct, vm * 1000, vm);
        batch_merge_take(merge, support_page_end(&p, vm * 1000 + 10));
        batch_merge_until(merge, vm * 1000 + 10);
        ck_assert_str_eq(batch_names_find(names, vm, 7), "name");
    }
    ck_assert_uint_eq(counts()->events, 5000);
    ck_assert_uint_eq(counts()->refused, 0);
}
END_TEST

/* A name is counted as what it takes, a NUL as the two bytes it becomes: told twice, it does not make room for others. */
START_TEST(test_batch_merge_bounds_the_names_of_a_vm)
{
    static const char nuls[BATCH_TEXT_BYTES];
    uint64_t told = 0;
    int err = 0;

    for (; told < 1 << 20 && !err; told++) {
        err = batch_names_tell(names, VM, told, nuls, sizeof nuls);
        if (!err)
            err = batch_names_tell(names, VM, told, nuls, sizeof nuls);
    }
    ck_assert_int_eq(err, -E2BIG);
    ck_assert_uint_lt(told, 1 << 18);
    ck_assert_int_eq(batch_names_tell(names, VM, 0, "short", 5), 0);
    ck_assert_str_eq(batch_names_find(names, VM, 0), "short");
}
END_TEST

/* A VM of another time namespace: its clock is hours away from ours. */
START_TEST(test_batch_merge_believes_our_clock)
{
    struct support_page p;

    support_page_begin(&p, VM, 1, 1, 0, 1000);
    support_page_number(&p, BATCH_copy__struct, 1000, 1);
    support_page_number(&p, BATCH_copy__struct, 1400, 2);
    support_page_end(&p, 1500);
    p.received.time_ns = 9000000000000;
    batch_merge_take(merge, &p.received);
    support_page_begin(&p, VM, 2, 1, 0, 20000000000000);
    support_page_number(&p, BATCH_copy__struct, 20000000000000, 3);
    support_page_end(&p, 20000000000000);
    p.received.time_ns = 8999999999900;
    batch_merge_take(merge, &p.received);
    batch_merge_until(merge, UINT64_MAX);
    ck_assert_uint_eq(ntold, 3);
    ck_assert_uint_eq(told[0].ns, 9000000000000 - 500);
    ck_assert_uint_eq(told[1].number, 2);
    ck_assert_uint_eq(told[1].ns, 9000000000000 - 100);
    ck_assert_uint_eq(told[2].number, 3);
    ck_assert_uint_eq(told[2].ns, 8999999999900);
}
END_TEST

/* A page that is said to have begun at the beginning of time holds nothing up. */
START_TEST(test_batch_merge_outlives_a_page_of_all_times)
{
    struct support_page p;

    support_page_begin(&p, VM, 1, 1, 0, 0);
    support_page_number(&p, BATCH_copy__struct, 0, 1);
    support_page_end(&p, UINT64_MAX);
    p.received.time_ns = 5000;
    batch_merge_take(merge, &p.received);
    batch_merge_until(merge, 5000);
    ck_assert_uint_eq(ntold, 1);
    ck_assert_uint_le(told[0].ns, 5000);
}
END_TEST

/* ---- hostile pages */

START_TEST(test_batch_merge_tells_what_stands_before_the_damage)
{
    struct support_page p;

    support_page_begin(&p, VM, 1, 1, 0, 1000);
    support_page_number(&p, BATCH_copy__struct, 1000, 1000);
    support_page_head(&p, BATCH_message__send, 255, 1000);
    batch_merge_take(merge, support_page_end(&p, 1000));
    take_pair(1, 4, 90, 2000); /* how much was lost is not known after damage */
    batch_merge_until(merge, UINT64_MAX);
    check_told((uint64_t[]){1000, 2000, 2010}, 3);
    ck_assert_uint_eq(counts()->damaged, 1);
    ck_assert_uint_eq(counts()->lost_pages, 2);
    ck_assert_uint_eq(counts()->lost_events, 0);
}
END_TEST

START_TEST(test_batch_merge_takes_no_damaged_page)
{
    struct support_page p;

    support_page_begin(&p, VM, 1, 1, 0, 1000);
    support_page_number(&p, BATCH_copy__struct, 1000, 1000);
    support_page_end(&p, 1000);
    p.header.magic++;
    batch_merge_take(merge, &p.received);
    p.header.magic--;
    p.header.bytes += 8; /* more than was received */
    batch_merge_take(merge, &p.received);
    p.received.bytes = sizeof p.header - 1;
    batch_merge_take(merge, &p.received);
    p.received.bytes = UINT32_MAX;
    batch_merge_take(merge, &p.received);
    batch_merge_until(merge, UINT64_MAX);
    ck_assert_uint_eq(counts()->damaged, 4);
    ck_assert_uint_eq(ntold, 0);
}
END_TEST

/* Numbers that run backwards, or forward by more than can be, are no loss. */
START_TEST(test_batch_merge_believes_no_impossible_gap)
{
    take_pair(1, 5, 1000, 1000);
    take_pair(1, 1, 0, 2000);
    take_pair(1, UINT64_MAX, UINT64_MAX, 3000);
    take_pair(1, 1, 5, 4000);
    batch_merge_until(merge, UINT64_MAX);
    ck_assert_uint_eq(ntold, 8);
    ck_assert_uint_eq(counts()->lost_pages, 0);
    ck_assert_uint_eq(counts()->lost_events, 0);
}
END_TEST

START_TEST(test_batch_merge_bounds_threads)
{
    for (uint32_t thread = 1; thread <= 5000; thread++)
        take_pair(thread, 1, 0, 1000);
    batch_merge_until(merge, UINT64_MAX);
    ck_assert_uint_eq(counts()->refused, 5000 - 4096);
    ck_assert_uint_eq(ntold, 2 * 4096);
    for (size_t i = 1; i < ntold; i++)
        ck_assert_uint_ge(told[i].ns, told[i - 1].ns);
}
END_TEST

/* When too much waits, the earliest is told before its time. */
START_TEST(test_batch_merge_bounds_what_waits)
{
    enum { WORDS = SUPPORT_PAGE_WORDS - 2, PAGE = sizeof(struct batch_header) + WORDS * 8, PAGES = BATCH_MERGE_BYTES / PAGE + 23 };
    struct support_page p;

    for (uint64_t i = 0; i < PAGES; i++) {
        support_page_begin(&p, VM, 1 + i % 2, 1 + i / 2, i / 2, 1000 + i);
        support_page_number(&p, BATCH_copy__struct, 1000 + i, 1000 + i);
        while (p.n < WORDS) /* names take the room, and are no events */
            support_page_atom(&p, 5, "a");
        batch_merge_take(merge, support_page_end(&p, 1000 + i));
    }
    ck_assert_uint_ge(ntold, 23);
    ck_assert_uint_lt(ntold, 40);
    batch_merge_until(merge, UINT64_MAX);
    ck_assert_uint_eq(ntold, PAGES);
    ck_assert_uint_eq(counts()->late + counts()->lost_events, 0);
}
END_TEST

Suite *batch_merge_suite(void)
{
    Suite *suite = suite_create("batch_merge");
    TCase *tests = tcase_create("merge");

    tcase_add_checked_fixture(tests, set_up, tear_down);
    tcase_add_test(tests, test_batch_merge_orders_threads_by_time);
    tcase_add_test(tests, test_batch_merge_tells_names_of_processes_in_order);
    tcase_add_test(tests, test_batch_merge_counts_what_is_not_wanted_any_more);
    tcase_add_test(tests, test_batch_merge_tells_up_to_the_time_asked_for);
    tcase_add_test(tests, test_batch_merge_counts_what_comes_late);
    tcase_add_test(tests, test_batch_merge_counts_what_is_lost);
    tcase_add_test(tests, test_batch_merge_learns_names);
    tcase_add_test(tests, test_batch_merge_bounds_the_names_of_a_vm);
    tcase_add_test(tests, test_batch_merge_has_room_for_many_short_lives);
    tcase_add_test(tests, test_batch_merge_forgets_a_vm);
    tcase_add_test(tests, test_batch_merge_believes_our_clock);
    tcase_add_test(tests, test_batch_merge_outlives_a_page_of_all_times);
    tcase_add_test(tests, test_batch_merge_tells_what_stands_before_the_damage);
    tcase_add_test(tests, test_batch_merge_takes_no_damaged_page);
    tcase_add_test(tests, test_batch_merge_believes_no_impossible_gap);
    tcase_add_test(tests, test_batch_merge_bounds_threads);
    tcase_add_test(tests, test_batch_merge_bounds_what_waits);
    suite_add_tcase(suite, tests);
    return suite;
}
