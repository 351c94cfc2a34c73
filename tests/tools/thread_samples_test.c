/* SPDX-License-Identifier: Apache-2.0 */
/* Where a thread is that runs, and what stands on its stack. */
#include <errno.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "support.h"
#include "target/thread_samples.h"

enum { ENOUGH = 5, MOST_ROUNDS = 2000 /* of 10 ms */, HALF_BYTES = 64 };

static const uint64_t mark = 0x5eed0000c0ffee97;

struct seen {
    uint64_t n, in_function, with_mark;
};

/* What follows it is another function, so it is no longer than that is away. */
__attribute__((noinline, noreturn)) static void spin(volatile uint64_t *on_stack)
{
    for (;;)
        on_stack[1]++;
}

__attribute__((noinline, noreturn)) static void spin_with_a_mark(void)
{
    volatile uint64_t words[] = {mark, 0};

    spin(words);
}

static void take(void *ctx, const struct thread_sample *sample)
{
    struct seen *seen = ctx;
    uint64_t at = (uint64_t)(uintptr_t)spin;

    seen->n++;
    seen->in_function += sample->ip >= at && sample->ip < at + HALF_BYTES;
    for (size_t i = 0; i < sample->n; i++)
        if (sample->words[i] == mark) {
            seen->with_mark++;
            break;
        }
}

START_TEST(test_thread_samples_of_one_that_spins)
{
    char why[THREAD_SAMPLES_WHY_BYTES] = "";
    struct thread_samples *samples;
    struct seen seen = {0};
    int pid = fork();

    if (!pid)
        spin_with_a_mark();
    ck_assert_msg(!thread_samples_new(&pid, 1, &samples, why), "%s", why);
    for (int i = 0; i < MOST_ROUNDS && seen.with_mark < ENOUGH; i++) {
        thread_samples_read(samples, take, &seen);
        usleep(10000);
    }
    kill(pid, SIGKILL);
    waitpid(pid, NULL, 0);
    thread_samples_read(samples, take, &seen);
    thread_samples_free(samples);
    ck_assert_uint_ge(seen.with_mark, ENOUGH);
    ck_assert_uint_ge(seen.in_function + 1, seen.n); /* the first may be of its way there */
}
END_TEST

START_TEST(test_thread_samples_of_what_ended)
{
    char why[THREAD_SAMPLES_WHY_BYTES] = "";
    struct thread_samples *samples;
    struct seen seen = {0};
    int pid = fork();

    if (!pid)
        _exit(0);
    waitpid(pid, NULL, 0);
    ck_assert_int_eq(thread_samples_new(&pid, 1, &samples, why), 0);
    thread_samples_read(samples, take, &seen);
    ck_assert_uint_eq(seen.n, 0);
    thread_samples_free(samples);
}
END_TEST

Suite *thread_samples_suite(void)
{
    Suite *suite = suite_create("thread_samples");
    TCase *all = tcase_create("all");

    tcase_add_test(all, test_thread_samples_of_one_that_spins);
    tcase_add_test(all, test_thread_samples_of_what_ended);
    suite_add_tcase(suite, all);
    return suite;
}
