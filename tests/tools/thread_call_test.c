/* SPDX-License-Identifier: Apache-2.0 */
/* What the kernel tells of threads: which one is meant by a number of a PID namespace, and whether it sleeps. */
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "support.h"
#include "target/thread_call.h"

START_TEST(test_thread_find_here)
{
    ck_assert_int_eq(thread_find(getpid(), gettid()), gettid());
    ck_assert_int_eq(thread_find(getpid(), 1 << 30), 0);
}
END_TEST

/* A process that is the first of a namespace of its own, and sleeps. */
START_TEST(test_thread_find_in_a_namespace)
{
    struct thread_time time;
    int pid;

    ck_assert_int_eq(unshare(CLONE_NEWPID), 0);
    pid = fork();
    if (!pid) {
        pause();
        _exit(0);
    }
    ck_assert_int_eq(thread_find(pid, 1), pid);
    ck_assert_int_eq(thread_find(pid, 2), 0);
    for (int i = 0; i < 1000 && thread_time_read(pid, pid, &time) && time.state != 'S'; i++)
        usleep(1000);
    ck_assert_int_eq(time.state, 'S');
    kill(pid, SIGKILL);
    waitpid(pid, NULL, 0);
    ck_assert_int_eq(thread_find(pid, 1), 0);
}
END_TEST

Suite *thread_call_suite(void)
{
    Suite *suite = suite_create("thread_call");
    TCase *all = tcase_create("all");

    tcase_add_test(all, test_thread_find_here);
    tcase_add_test(all, test_thread_find_in_a_namespace);
    suite_add_tcase(suite, all);
    return suite;
}
