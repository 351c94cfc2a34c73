/* SPDX-License-Identifier: Apache-2.0 */
/* tools/common/signals.c: what the first signal does, and what it does while nothing is watched yet. */
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/signals.h"
#include "support.h"

/* Returns the status of a process that catches signals, and sends itself `number`. */
static int send_itself(int number, bool at_once)
{
    int status = -1;
    pid_t pid = fork();

    if (pid == 0) {
        signal(SIGHUP, SIG_DFL); /* not ignored, as under nohup(1) */
        if (signals_open() < 0)
            _exit(2);
        signals_end_at_once(at_once);
        raise(number);
        _exit(signals_first_ns() ? 3 : 4);
    }
    ck_assert_int_gt(pid, 0);
    ck_assert_int_eq(waitpid(pid, &status, 0), pid);
    return status;
}

START_TEST(test_the_first_signal_is_noted)
{
    int status = send_itself(SIGTERM, false);

    ck_assert(WIFEXITED(status));
    ck_assert_int_eq(WEXITSTATUS(status), 3);
}
END_TEST

START_TEST(test_the_first_signal_ends_what_does_not_watch_yet)
{
    static const int numbers[] = {SIGINT, SIGTERM, SIGHUP};
    int status = send_itself(numbers[_i], true);

    ck_assert(WIFSIGNALED(status));
    ck_assert_int_eq(WTERMSIG(status), numbers[_i]);
}
END_TEST

Suite *signals_suite(void)
{
    Suite *s = suite_create("signals");
    TCase *c = tcase_create("signals");

    tcase_add_test(c, test_the_first_signal_is_noted);
    tcase_add_loop_test(c, test_the_first_signal_ends_what_does_not_watch_yet, 0, 3);
    suite_add_tcase(s, c);
    return s;
}
