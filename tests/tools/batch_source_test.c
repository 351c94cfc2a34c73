/* SPDX-License-Identifier: Apache-2.0 */
/* Pages received from an erlvm that tells more than anybody reads. */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "../erlvm_needed.h"
#include "event/batch_merge.h"
#include "source/batch_source.h"
#include "target/child.h"
#include "support.h"

static struct batch_merge *merge;
static struct batch_names *names;
static bool named; /* an event came whose function has a name */

static void on_event(void *ctx, const union ev_any *ev)
{
    (void)ctx;
    if (ev->head.event == BATCH_process__spawn)
        named |= batch_names_find(names, ev->head.vm, ev_mfa_function(ev->process__spawn.mfa)) != NULL;
}

static void take_page(void *ctx, const struct batch_received *received)
{
    (void)ctx;
    if (merge)
        batch_merge_take(merge, received);
}

/* The names of atoms that events hold were told long ago, in pages that nobody kept: they are told again. */
START_TEST(test_batch_source_learns_names_again_after_a_loss)
{
    SUPPORT_BPF();
    static const char busy[] = "F = fun F() -> spawn(lists, reverse, [[]]), F() end, F().";
    const char *build = getenv("BUILD") ? getenv("BUILD") : "build";
    struct wanted wanted = {.events = {[BATCH_process__spawn] = true, [BATCH_process__scheduled] = true}};
    struct batch_source *source;
    struct target target;
    struct child child;
    char vm[512];
    char *argv[] = {vm, "+S", "1", "-noinput", "-eval", (char *)busy, NULL};

    erlvm_needed();
    snprintf(vm, sizeof vm, "%s/erlvm", build);
    ck_assert_int_eq(target_open_file(vm, &target), 0);
    ck_assert_int_eq(child_start(argv, &child), 0);
    ck_assert_int_eq(batch_source_new(&(struct batch_source_ops){take_page, NULL}, &source), 0);
    ck_assert_int_eq(batch_source_attach(source, &target, child.pid, &wanted), 2);
    ck_assert_int_eq(child_release(&child), 0);
    while (!batch_source_lost(source))
        usleep(10000);
    batch_source_read(source); /* and nobody keeps what names are told in */
    names = batch_names_new();
    merge = batch_merge_new(names, &(struct batch_merge_ops){.event = on_event});
    while (!named) { /* as long as it takes */
        usleep(1000);
        batch_source_read(source);
        batch_merge_until(merge, UINT64_MAX);
    }
    batch_source_free(source);
    child_finish(&child);
    target_close(&target);
    batch_merge_free(merge);
    batch_names_free(names);
}
END_TEST

Suite *batch_source_suite(void)
{
    Suite *suite = suite_create("batch_source");
    TCase *live = tcase_create("live");

    tcase_set_timeout(live, 60);
    tcase_add_test(live, test_batch_source_learns_names_again_after_a_loss);
    suite_add_tcase(suite, live);
    return suite;
}
