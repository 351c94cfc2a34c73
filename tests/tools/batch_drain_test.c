/* SPDX-License-Identifier: Apache-2.0 */
/* Whose end is waited for: a process that runs, until it has told; none that sleeps. */
#include <check.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "source/batch_drain.h"

#include "../../vm/batch_format.h"

enum { SINCE_NS = 1000 };

struct page {
    struct batch_received received;
    struct batch_header header;
};

static pid_t start(bool runs)
{
    pid_t pid = fork();

    while (!pid)
        if (!runs)
            pause();
    ck_assert_int_gt(pid, 0);
    return pid;
}

static void end(pid_t pid)
{
    kill(pid, SIGKILL);
    waitpid(pid, NULL, 0);
}

static void tell(struct batch_drain *d, pid_t vm, pid_t thread, uint64_t begin_ns)
{
    const struct page page = {.received = {.vm = (uint32_t)vm, .bytes = sizeof page.header},
                              .header = {.tid = (uint32_t)thread, .begin_ns = begin_ns}};

    batch_drain_take(d, &page.received);
}

START_TEST(test_batch_drain_waits_for_who_runs)
{
    struct batch_drain d = {.since_ns = SINCE_NS};
    pid_t vm = start(true);

    ck_assert(batch_drain_waits(&d, vm));
    tell(&d, vm, vm, SINCE_NS);
    tell(&d, vm + 1, vm, SINCE_NS + 1);
    tell(&d, vm, vm + 1, SINCE_NS + 1);
    ck_assert(batch_drain_waits(&d, vm));
    tell(&d, vm, vm, SINCE_NS + 1);
    ck_assert(!batch_drain_waits(&d, vm));
    end(vm);
    batch_drain_free(&d);
}
END_TEST

START_TEST(test_batch_drain_waits_for_nobody_else)
{
    struct batch_drain d = {.since_ns = SINCE_NS};
    pid_t vm = start(false);

    while (batch_drain_waits(&d, vm)) /* until it has come to its pause */
        usleep(1000);
    end(vm);
    ck_assert(!batch_drain_waits(&d, vm));
    batch_drain_free(&d);
}
END_TEST

/* A page that is too short for its header, and all before somebody asks. */
START_TEST(test_batch_drain_takes_what_it_can_read)
{
    struct batch_drain d = {0};
    struct batch_received cut = {.vm = 1, .bytes = sizeof(struct batch_header) - 1};

    tell(&d, 1, 1, SINCE_NS + 1);
    d.since_ns = SINCE_NS;
    batch_drain_take(&d, &cut);
    ck_assert_uint_eq(d.n, 0);
    batch_drain_free(&d);
}
END_TEST

Suite *batch_drain_suite(void)
{
    Suite *suite = suite_create("batch_drain");
    TCase *drain = tcase_create("drain");

    tcase_add_test(drain, test_batch_drain_waits_for_who_runs);
    tcase_add_test(drain, test_batch_drain_waits_for_nobody_else);
    tcase_add_test(drain, test_batch_drain_takes_what_it_can_read);
    suite_add_tcase(suite, drain);
    return suite;
}
