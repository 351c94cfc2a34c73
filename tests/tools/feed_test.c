/* SPDX-License-Identifier: Apache-2.0 */
/* Pages of VMs into views: VMs that end, numbers of VMs used again, gaps. */
#include <stdlib.h>
#include <string.h>

#include "source/feed.h"
#include "support.h"
#include "support_page.h"

enum { VM = 17 };
#define S_NS 1000000000ull

static struct feed *feed;
static struct sink sink;
static char *printed;
static size_t nprinted;

static void set_up(void)
{
    struct view_settings settings = {.on = {[VIEW_spawns] = 1, [VIEW_msglat] = 1}};

    sink_init(&sink, open_memstream(&printed, &nprinted), OPTIONS_FORM_jsonl, false);
    ck_assert_int_eq(feed_new(&settings, &feed), 0);
}

static void tear_down(void)
{
    feed_free(feed);
    fclose(sink.out);
    free(printed);
}

static const char *result(void)
{
    static const bool on[VIEW_COUNT] = {[VIEW_spawns] = true, [VIEW_msglat] = true};

    const struct result_source source = {
        .ctx = feed, .take = feed_counted, .name = feed_name, .sink = &sink, .seconds = 1, .whole_seconds = 1};
    struct result_reader reader = {0};

    ck_assert_int_eq(result_gather(&source, on, (struct result_reader *const[]){&reader}, 1), 0);
    ck_assert_int_eq(result_print(&source, on, &reader), 0);
    ck_assert_int_eq(sink_flush(&sink), 0);
    return printed;
}

/* A birth of process `number` as <name>:<name>/1. */
static void take_birth(uint32_t vm, uint64_t number, const char *name, uint64_t ns)
{
    struct support_page p;

    support_page_begin(&p, vm, 1, 1, 0, ns);
    support_page_atom(&p, 5, name);
    support_page_head(&p, BATCH_process__spawn, 2, ns);
    support_page_word(&p, (uint64_t)BATCH_PID << 60 | number);
    support_page_word(&p, (uint64_t)5 << 33 | 5 << 8 | 1);
    feed_take(feed, support_page_end(&p, ns + 10));
}

static void take_death(uint32_t vm, uint64_t number, uint64_t ns)
{
    struct support_page p;

    support_page_begin(&p, vm, 1, 2, 1, ns);
    support_page_head(&p, BATCH_process__exit, 2, ns);
    support_page_word(&p, (uint64_t)BATCH_PID << 60 | number);
    support_page_word(&p, (uint64_t)BATCH_SHAPE_NIL << 56);
    feed_take(feed, support_page_end(&p, ns + 10));
}

/* The VM's own last page. */
static void take_last(uint32_t vm, uint64_t ns)
{
    struct support_page p;

    support_page_begin(&p, vm, BATCH_NO_THREAD, 0, 0, ns);
    feed_take(feed, support_page_end(&p, ns));
}

/*
 * Another VM gets the number of one that ended: it has no process of the other, its atom 5 is another, and both are
 * told by name.
 */
START_TEST(test_feed_keeps_vms_of_one_number_apart)
{
    take_birth(VM, 7, "first", S_NS);
    take_last(VM, S_NS + 20);
    feed_until(feed, 2 * S_NS);
    ck_assert(!feed_has(feed, VM));
    take_birth(VM, 8, "second", 3 * S_NS);
    take_death(VM, 7, 4 * S_NS);
    feed_until(feed, 5 * S_NS);
    const char *out = result();

    ck_assert_int_eq(support_number(out, "\"mfa\":\"first:first/1\"", "count"), 1);
    ck_assert_int_eq(support_number(out, "\"mfa\":\"second:second/1\"", "count"), 1);
    ck_assert_int_eq(support_number(out, "\"type\":\"spawns\"", "unseen"), 1);
    ck_assert_int_eq(support_number(out, "\"type\":\"spawns\"", "births"), 2);
    nprinted = 0;
    take_birth(VM, 9, "third", 6 * S_NS);
    feed_until(feed, UINT64_MAX);
    ck_assert_int_eq(support_lines(result(), "first:first/1"), 1); /* not in the second result */
}
END_TEST

START_TEST(test_feed_knows_an_orderly_end_from_a_kill)
{
    feed_add_vm(feed, VM);
    feed_add_vm(feed, VM + 1);
    take_birth(VM, 7, "name", S_NS);
    take_last(VM, S_NS + 20);
    ck_assert(feed_end_vm(feed, VM, 2 * S_NS));
    ck_assert(!feed_end_vm(feed, VM + 1, 2 * S_NS));
    feed_until(feed, 3 * S_NS);
    ck_assert(!feed_has(feed, VM) && !feed_has(feed, VM + 1));
    ck_assert(feed_end_vm(feed, VM, 4 * S_NS)); /* which is forgotten */
}
END_TEST

static bool lives(int pid)
{
    return pid != VM;
}

/* It was killed before anybody looked which VMs there are; what it told stays told. */
START_TEST(test_feed_forgets_a_vm_that_nobody_knew)
{
    take_birth(VM, 7, "killed", S_NS);
    take_birth(VM + 1, 7, "living", S_NS);
    feed_look(feed, lives, 2 * S_NS);
    feed_until(feed, 3 * S_NS);
    ck_assert(feed_has(feed, VM)); /* a page of it may have come since */
    feed_look(feed, lives, 4 * S_NS);
    feed_until(feed, 5 * S_NS);
    ck_assert(!feed_has(feed, VM) && feed_has(feed, VM + 1));
    ck_assert_int_eq(support_number(result(), "\"mfa\":\"killed:killed/1\"", "count"), 1);
}
END_TEST

static void take_send(uint64_t sequence, uint64_t events, uint64_t ns)
{
    struct support_page p;

    support_page_begin(&p, VM, 1, sequence, events, ns);
    support_page_head(&p, BATCH_message__send, 2, ns);
    support_page_word(&p, 0);
    support_page_word(&p, (uint64_t)BATCH_PID << 60 | 3);
    feed_take(feed, support_page_end(&p, ns));
}

static void take_scheduled(uint64_t sequence, uint64_t events, uint64_t ns)
{
    struct support_page p;

    support_page_begin(&p, VM, 1, sequence, events, ns);
    support_page_head(&p, BATCH_process__scheduled, 1, ns);
    support_page_word(&p, (uint64_t)BATCH_PID << 60 | 3);
    feed_take(feed, support_page_end(&p, ns));
}

/* Where pages are missing, the receiver may have been scheduled: what came before is no wait. What follows is one. */
START_TEST(test_feed_measures_nothing_over_a_gap)
{
    struct feed_loss losses[FEED_LOSSES];

    take_send(1, 0, S_NS);
    take_send(4, 24, 5 * S_NS);
    take_scheduled(5, 25, 5 * S_NS + 2048);
    feed_until(feed, UINT64_MAX);
    feed_losses(feed, &(struct batch_unreceived){2, 0}, losses);
    const char *out = result();

    ck_assert_int_eq(support_number(out, "\"type\":\"msglat\"", "messages"), 2);
    ck_assert_int_eq(support_number(out, "msglat_latencies", "count"), 1);
    ck_assert_int_eq(support_number(out, "msglat_latencies", "max_ns"), 2048);
    ck_assert_uint_eq(losses[0].count, 23);
    ck_assert_uint_eq(losses[1].count, 2);
    ck_assert_uint_eq(losses[2].count, 2);
}
END_TEST

/* What a view keeps of a process's life stays: nothing can have ended it unseen but its end. */
START_TEST(test_feed_keeps_lives_over_a_gap)
{
    take_birth(VM, 7, "name", S_NS);
    take_send(4, 24, 2 * S_NS);
    take_death(VM, 7, 3 * S_NS);
    feed_until(feed, UINT64_MAX);
    ck_assert_int_eq(support_number(result(), "\"type\":\"spawns\"", "unseen"), 0);
}
END_TEST

START_TEST(test_feed_tells_only_what_is_in_its_bounds)
{
    feed_bound(feed, 2 * S_NS, 3 * S_NS);
    for (uint64_t s = 1; s <= 4; s++)
        take_birth(VM, s, "name", s * S_NS);
    feed_until(feed, UINT64_MAX);
    ck_assert_int_eq(support_number(result(), "\"type\":\"spawns\"", "births"), 2);
}
END_TEST

Suite *feed_suite(void)
{
    Suite *suite = suite_create("feed");
    TCase *all = tcase_create("all");

    tcase_add_checked_fixture(all, set_up, tear_down);
    tcase_add_test(all, test_feed_keeps_vms_of_one_number_apart);
    tcase_add_test(all, test_feed_knows_an_orderly_end_from_a_kill);
    tcase_add_test(all, test_feed_forgets_a_vm_that_nobody_knew);
    tcase_add_test(all, test_feed_measures_nothing_over_a_gap);
    tcase_add_test(all, test_feed_keeps_lives_over_a_gap);
    tcase_add_test(all, test_feed_tells_only_what_is_in_its_bounds);
    suite_add_tcase(suite, all);
    return suite;
}
