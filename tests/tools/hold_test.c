/* SPDX-License-Identifier: Apache-2.0 */
/* What a command starts is followed, and let go of when it is no longer held, whatever happened to it meanwhile. */
#include <check.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/hold.h"

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
    for (int i = 0; i < 2; i++)
        ck_assert_int_eq(read(tell[0], &started[i], sizeof *started), sizeof *started);
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

/* The first of those that were started was stopped, and goes on. */
static void go_on_and_end(pid_t command, const pid_t started[2])
{
    kill(started[0], SIGCONT);
    await_row(started[0], "State:", "S (", NULL);
    end_command(command, started);
}

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
    go_on_and_end(command, started);
}
END_TEST

/* It stands already: waiting until it stops once more would never end. */
START_TEST(test_hold_stop_passes_one_that_others_stopped)
{
    struct hold h;
    pid_t started[2], command = start_command(&h, started);

    kill(started[0], SIGSTOP);
    await_row(started[0], "State:", "t (", NULL);
    hold_stop(&h, started[0]);
    await_row(started[0], "State:", "t (", NULL);
    hold_close(&h);
    go_on_and_end(command, started);
}
END_TEST

/*
 * One that waits in the kernel, where it cannot be stopped: its child, which it lent its memory, ends when the pipe is
 * written to. Before that it is still held, and nothing waits for it; afterwards it is let go of.
 */
START_TEST(test_hold_lets_go_of_one_that_waits_in_the_kernel)
{
    struct hold h;
    int go[2], end[2];
    pid_t command;

    ck_assert(!pipe(go) && !pipe(end));
    command = fork();
    if (!command) {
        static char byte;

        if (read(go[0], &byte, 1) != 1)
            _exit(1);
        if (!vfork()) {
            while (read(end[0], &byte, 1) != 1)
                ;
            _exit(0);
        }
        for (;;)
            pause();
    }
    ck_assert_int_eq(hold_open(&h, command), 0);
    ck_assert_int_eq(write(go[1], "g", 1), 1);
    await_row(command, "State:", "D (", &h);
    hold_let_go(&h);
    ck_assert_int_ge(hold_fd(&h), 0);
    ck_assert_int_eq(write(end[1], "e", 1), 1);
    await_row(command, "TracerPid:", "\t0\n", &h);
    await_row(command, "State:", "S (", &h);
    ck_assert_int_lt(hold_fd(&h), 0);
    kill(command, SIGKILL);
    waitpid(command, NULL, 0);
}
END_TEST

/* Nor does its being held keep a child from going on: the two would wait for each other. */
START_TEST(test_hold_lets_go_of_a_child_and_then_of_who_waits_for_it)
{
    struct hold h;
    int go[2], tell[2];
    pid_t command, child;

    ck_assert(!pipe(go) && !pipe(tell));
    command = fork();
    if (!command) {
        static char byte;

        if (read(go[0], &byte, 1) != 1)
            _exit(1);
        if (!vfork()) {
            pid_t self = getpid();

            _exit(write(tell[1], &self, sizeof self) != sizeof self);
        }
        for (;;)
            pause();
    }
    ck_assert_int_eq(hold_open(&h, command), 0);
    ck_assert_int_eq(write(go[1], "g", 1), 1);
    for (int i = 0; i < TRIES && h.n < 2; i++, usleep(STEP_US)) /* the child stands at its first instruction */
        hold_look(&h, ignore, NULL);
    ck_assert_uint_eq(h.n, 2);
    hold_let_go(&h);
    ck_assert_int_lt(hold_fd(&h), 0);
    ck_assert_int_eq(read(tell[0], &child, sizeof child), sizeof child);
    await_row(command, "TracerPid:", "\t0\n", NULL);
    kill(command, SIGKILL);
    waitpid(command, NULL, 0);
}
END_TEST

/*
 * Who was born to one that was killed before it could tell so stands at its first instruction, as nobody knows of it.
 */
START_TEST(test_hold_finds_one_whose_parent_was_killed)
{
    struct hold h;
    int go[2], ends[2];
    pid_t command;
    char byte;

    ck_assert(!pipe(go) && !pipe(ends));
    command = fork();
    if (!command) {
        close(ends[0]);
        if (read(go[0], &byte, 1) != 1)
            _exit(1);
        _exit(fork() < 0);
    }
    close(ends[1]);
    ck_assert_int_eq(hold_open(&h, command), 0);
    ck_assert_int_eq(write(go[1], "g", 1), 1);
    await_row(command, "State:", "t (", NULL);
    kill(command, SIGKILL);
    await_row(command, "State:", "Z (", NULL);
    for (int i = 0; i < LOOKS; i++, usleep(STEP_US))
        hold_look(&h, ignore, NULL);
    ck_assert_int_eq(read(ends[0], &byte, 1), 0); /* it has ended, too */
    waitpid(command, NULL, 0);
    hold_close(&h);
}
END_TEST

/* A command sees the end of what it started, though we are told of it first. */
START_TEST(test_hold_leaves_ends_to_parents)
{
    struct hold h;
    int go[2], tell[2], status = 0;
    pid_t command;

    ck_assert(!pipe(go) && !pipe2(tell, O_NONBLOCK));
    command = fork();
    if (!command) {
        pid_t child;
        char byte;

        if (read(go[0], &byte, 1) != 1)
            _exit(1);
        child = fork();
        if (!child)
            _exit(7);
        if (waitpid(child, &status, 0) != child || write(tell[1], &status, sizeof status) != sizeof status)
            _exit(1);
        for (;;)
            pause();
    }
    ck_assert_int_eq(hold_open(&h, command), 0);
    ck_assert_int_eq(write(go[1], "g", 1), 1);
    for (int i = 0; i < TRIES && read(tell[0], &status, sizeof status) != sizeof status; i++, usleep(STEP_US))
        hold_look(&h, ignore, NULL);
    ck_assert(WIFEXITED(status) && WEXITSTATUS(status) == 7);
    hold_close(&h);
    kill(command, SIGKILL);
    waitpid(command, NULL, 0);
}
END_TEST

static void *spin(void *arg)
{
    for (;;)
        ++*(volatile unsigned long *)arg;
    return NULL;
}

/* All threads stand until they are let go of. */
START_TEST(test_hold_stops_every_thread)
{
    enum { NTHREADS = 3 };
    volatile unsigned long *counts = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    unsigned long before[NTHREADS];
    struct hold h;
    pid_t command = fork();

    if (!command) {
        pthread_t thread;

        for (int i = 0; i < NTHREADS; i++)
            pthread_create(&thread, NULL, spin, (void *)&counts[i]);
        for (;;)
            pause();
    }
    for (int i = 0; i < NTHREADS; i++)
        while (!counts[i])
            usleep(STEP_US);
    ck_assert_int_eq(hold_open(&h, command), 0);
    hold_stop(&h, command);
    ck_assert_uint_eq(h.n, NTHREADS + 1);
    memcpy(before, (void *)counts, sizeof before);
    usleep(10 * STEP_US);
    ck_assert_mem_eq(before, (void *)counts, sizeof before);
    hold_let_go(&h);
    ck_assert_int_lt(hold_fd(&h), 0);
    for (int i = 0; i < NTHREADS; i++)
        while (counts[i] == before[i])
            usleep(STEP_US);
    kill(command, SIGKILL);
    waitpid(command, NULL, 0);
}
END_TEST

Suite *hold_suite(void)
{
    Suite *suite = suite_create("hold");
    TCase *close = tcase_create("close");

    tcase_set_timeout(close, 60);
    tcase_add_test(close, test_hold_close_lets_go_beside_one_that_ends);
    tcase_add_test(close, test_hold_close_lets_go_of_one_that_others_stopped);
    tcase_add_test(close, test_hold_stop_passes_one_that_others_stopped);
    tcase_add_test(close, test_hold_lets_go_of_one_that_waits_in_the_kernel);
    tcase_add_test(close, test_hold_lets_go_of_a_child_and_then_of_who_waits_for_it);
    tcase_add_test(close, test_hold_finds_one_whose_parent_was_killed);
    tcase_add_test(close, test_hold_leaves_ends_to_parents);
    tcase_add_test(close, test_hold_stops_every_thread);
    suite_add_tcase(suite, close);
    return suite;
}
