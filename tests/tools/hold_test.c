/* SPDX-License-Identifier: Apache-2.0 */
/* What a command starts is let go of when it is no longer held, whatever happened to it meanwhile. */
#include <check.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "hold.h"

enum { TRIES = 2000, STEP_US = 5000, LOOKS = 40 };

static void ignore(void *ctx, pid_t pid)
{
    (void)ctx, (void)pid;
}

/* A row of /proc/PID/status; empty: there is none. */
static const char *status_row(pid_t pid, const char *name)
{
    static char row[200];
    char path[64];
    FILE *file;

    snprintf(path, sizeof path, "/proc/%d/status", pid);
    file = fopen(path, "r");
    while (file && fgets(row, sizeof row, file))
        if (!strncmp(row, name, strlen(name)))
            break;
        else
            row[0] = 0;
    if (file)
        fclose(file);
    return row;
}

static void await_row(pid_t pid, const char *name, const char *mark, struct hold *h)
{
    for (int i = 0; i < TRIES && !strstr(status_row(pid, name), mark); i++) {
        if (h)
            hold_look(h, ignore, NULL);
        usleep(STEP_US);
    }
    ck_assert_msg(strstr(status_row(pid, name), mark) != NULL, "%s, not %s", status_row(pid, name), mark);
}

/* A command that starts two more when it is held; their ids come through the pipe. */
static pid_t start_command(struct hold *h, pid_t started[2])
{
    int go[2], tell[2];
    pid_t command;

    ck_assert(!pipe(go) && !pipe(tell));
    command = fork();
    if (!command) {
        char byte;

        if (read(go[0], &byte, 1) != 1)
            _exit(1);
        for (int i = 0; i < 2; i++) {
            pid_t pid = fork();

            if (!pid)
                for (;;)
                    pause();
            if (write(tell[1], &pid, sizeof pid) != sizeof pid)
                _exit(1);
        }
        for (;;)
            pause();
    }
    ck_assert_int_eq(hold_open(h, command), 0);
    ck_assert_int_eq(write(go[1], "g", 1), 1);
    for (int i = 0; i < TRIES && h->n < 3; i++) {
        hold_look(h, ignore, NULL);
        usleep(STEP_US);
    }
    ck_assert_uint_eq(h->n, 3);
    ck_assert_int_eq(read(tell[0], started, 2 * sizeof *started), 2 * sizeof *started);
    await_row(started[1], "State:", "S (", h);
    return command;
}

static void end_command(pid_t command, const pid_t started[2])
{
    for (int i = 0; i < 2; i++)
        kill(started[i], SIGKILL);
    kill(command, SIGKILL);
    waitpid(command, NULL, 0);
}

START_TEST(test_hold_close_lets_go_beside_one_that_ends)
{
    struct hold h;
    pid_t started[2], command = start_command(&h, started);

    kill(started[0], SIGKILL);
    await_row(started[0], "State:", "Z (", NULL);
    hold_close(&h);
    await_row(started[1], "TracerPid:", "\t0\n", NULL);
    await_row(command, "TracerPid:", "\t0\n", NULL);
    end_command(command, started);
}
END_TEST

START_TEST(test_hold_close_lets_go_of_one_that_others_stopped)
{
    struct hold h;
    pid_t started[2], command = start_command(&h, started);

    kill(started[0], SIGSTOP);
    await_row(started[0], "State:", "t (", NULL);
    for (int i = 0; i < LOOKS; i++) { /* the signal, then the stop */
        hold_look(&h, ignore, NULL);
        usleep(STEP_US);
    }
    hold_close(&h);
    await_row(started[0], "TracerPid:", "\t0\n", NULL);
    await_row(started[0], "State:", "T (", NULL);
    kill(started[0], SIGCONT);
    await_row(started[0], "State:", "S (", NULL);
    end_command(command, started);
}
END_TEST

Suite *hold_suite(void)
{
    Suite *suite = suite_create("hold");
    TCase *close = tcase_create("close");

    tcase_set_timeout(close, 60);
    tcase_add_test(close, test_hold_close_lets_go_beside_one_that_ends);
    tcase_add_test(close, test_hold_close_lets_go_of_one_that_others_stopped);
    suite_add_tcase(suite, close);
    return suite;
}
