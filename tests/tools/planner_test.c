/* SPDX-License-Identifier: Apache-2.0 */
/* VMs that are found while others are watched are planned by threads. */
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "probe/planner.h"
#include "support.h"

/* Opens the process anew, and has it planned. */
static bool start(struct planner *p, int pid)
{
    struct target_life life;
    struct target target;
    bool started;

    ck_assert_int_eq(target_open_pid(pid, &target), 0);
    ck_assert_int_eq(target_read_life(pid, &life), 0);
    started = planner_start(p, &target, &life, true, true);
    ck_assert_int_eq(target.elf == NULL, started);
    target_close(&target);
    return started;
}

/* The names that came with the plan are those that whoever attaches would have read. */
static void check_names(struct planner_job *job)
{
    struct names *names = names_new(), *own = names_new();
    uint32_t vm = job->plan->vm->layout.vm;
    uint64_t atom;

    ck_assert(names && own && job->names != NULL);
    names_take(names, job->names);
    job->names = NULL;
    ck_assert_int_eq(names_add(own, &job->plan->vm->layout, job->plan->vm->ours), 0);
    atom = names_find_atom(names, vm, "gen_server");
    ck_assert_uint_ne(atom, WIRE_NO_ATOM);
    ck_assert_uint_eq(atom, names_find_atom(own, vm, "gen_server"));
    ck_assert_str_eq(names_atom(names, vm, atom), "gen_server");
    ck_assert_uint_eq(names_atoms(names, vm), names_atoms(own, vm));
    names_free(names);
    names_free(own);
}

static struct planner_job *await_job(struct planner *p)
{
    struct planner_job *job;

    while (!(job = planner_next(p)))
        usleep(1000);
    return job;
}

/* As many at once as there is room for, each as whoever attaches would have planned it. */
START_TEST(test_planner_plans_as_if_it_was_waited_for)
{
    int pid = support_start_erl();
    struct planner planner = {0};
    struct target target;
    struct plan *plan;

    ck_assert_int_eq(target_open_pid(pid, &target), 0);
    do
        ck_assert_int_eq(plan_new(&target, true, &plan), 0);
    while (plan->early && (plan_free(plan), true));
    ck_assert(planner_is_idle(&planner) && !planner_has(&planner, pid) && !planner_next(&planner));
    for (int i = 0; i < PLANNER_JOBS; i++)
        ck_assert(start(&planner, pid));
    ck_assert(!start(&planner, pid));
    for (int i = 0; i < PLANNER_JOBS; i++) {
        struct planner_job *job = await_job(&planner);

        ck_assert(planner_has(&planner, pid));
        ck_assert_int_eq(job->err, 0);
        ck_assert_int_eq(job->life.pid, pid);
        ck_assert_uint_eq(job->plan->nhooks, plan->nhooks);
        ck_assert_uint_eq(plan_count(job->plan), plan_count(plan));
        if (i) /* those of the first are left, and go with it */
            check_names(job);
        planner_free(job);
    }
    ck_assert(planner_is_idle(&planner) && !planner_has(&planner, pid));
    ck_assert(start(&planner, pid));
    planner_close(&planner); /* which waits for it */
    ck_assert(planner_is_idle(&planner));
    plan_free(plan);
    target_close(&target);
    kill(-pid, SIGKILL);
    waitpid(pid, NULL, 0);
}
END_TEST

Suite *planner_suite(void)
{
    Suite *suite = suite_create("planner");
    TCase *threads = tcase_create("threads");

    tcase_set_timeout(threads, 60);
    tcase_add_test(threads, test_planner_plans_as_if_it_was_waited_for);
    suite_add_tcase(suite, threads);
    return suite;
}
