/* SPDX-License-Identifier: Apache-2.0 */
/* The plan for the machine's own Erlang: what is hooked, and where. */
#include <signal.h>
#include <stdio.h>
#include <sys/wait.h>

#include "probe/plan.h"
#include "support.h"

/* How many hooks of one side of a probe have a hook of the other side of another at the same place. */
static int count_pairs(const struct plan *p, enum plan_probe back, enum plan_probe entry, int *all)
{
    int pairs = 0;

    *all = 0;
    for (size_t i = 0; i < p->nhooks; i++) {
        if (p->hooks[i].probe != back || p->hooks[i].side != OTP_RETURN)
            continue;
        ++*all;
        for (size_t k = 0; k < p->nhooks; k++)
            pairs += p->hooks[k].probe == entry && p->hooks[k].side == OTP_ENTRY && p->hooks[k].site.offset == p->hooks[i].site.offset;
    }
    return pairs;
}

START_TEST(test_plan_has_one_place_for_entry_and_return)
{
    static const enum plan_probe functions[][2] = {{PLAN_process__spawn, PLAN_process__spawn},
                                                   {PLAN_efile_drv__return, PLAN_efile_drv__entry},
                                                   {PLAN_driver__return, PLAN_driver__return}};
    struct target target;
    struct plan *plan;
    int pid, all;

    pid = support_start_erl();
    ck_assert_int_eq(target_open_pid(pid, &target), 0);
    do
        ck_assert_int_eq(plan_new(&target, true, &plan), 0);
    while (plan->early && (plan_free(plan), true));
    ck_assert_msg(plan->vm != NULL, "%s", plan->refused);
    for (size_t i = 0; i < sizeof functions / sizeof *functions; i++) {
        ck_assert_int_eq(count_pairs(plan, functions[i][0], functions[i][1], &all), all);
        ck_assert_int_gt(all, 0);
    }
    /* A callback is hooked once in each driver that has it, whatever else is told of it. */
    ck_assert_int_gt(count_pairs(plan, PLAN_driver__return, PLAN_driver__output, &all), 2);
    ck_assert_int_gt(count_pairs(plan, PLAN_driver__return, PLAN_driver__outputv, &all), 1);
    ck_assert_int_gt(all, 20);
    for (size_t i = 0; i < plan->nhooks; i++)
        for (size_t k = 0; k < i; k++)
            ck_assert(plan->hooks[i].probe != plan->hooks[k].probe || plan->hooks[i].side != plan->hooks[k].side ||
                      plan->hooks[i].site.offset != plan->hooks[k].site.offset);
    plan_free(plan);
    target_close(&target);
    kill(-pid, SIGKILL);
    waitpid(pid, NULL, 0);
}
END_TEST

/* Threads that are in the function already when the hook is set are seen to leave it. */
START_TEST(test_plan_knows_where_a_process_is_scheduled)
{
    struct target target;
    struct plan *plan;
    int pid = support_start_erl(), n = 0;

    ck_assert_int_eq(target_open_pid(pid, &target), 0);
    do
        ck_assert_int_eq(plan_new(&target, true, &plan), 0);
    while (plan->early && (plan_free(plan), true));
    ck_assert_msg(plan->vm != NULL, "%s", plan->refused);
    for (const struct plan_hook *hook = plan->hooks; hook < plan->hooks + plan->nhooks; hook++) {
        if (hook->probe != PLAN_process__scheduled)
            continue;
        n++;
        ck_assert_int_eq(hook->side, OTP_EXIT);
        ck_assert_msg(hook->site.result != OTP_RESULT_RETURNED && hook->site.slid > 1000 && hook->site.cost == OTP_COST_EMULATED,
                      "+%u %s, %d", hook->site.slid, hook->site.instruction, hook->site.result);
    }
    ck_assert_int_eq(n, 1);
    plan_free(plan);
    target_close(&target);
    kill(-pid, SIGKILL);
    waitpid(pid, NULL, 0);
}
END_TEST

Suite *plan_suite(void)
{
    Suite *suite = suite_create("plan");
    TCase *live = tcase_create("live");

    tcase_set_timeout(live, 60);
    tcase_add_test(live, test_plan_has_one_place_for_entry_and_return);
    tcase_add_test(live, test_plan_knows_where_a_process_is_scheduled);
    suite_add_tcase(suite, live);
    return suite;
}
