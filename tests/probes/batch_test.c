/* SPDX-License-Identifier: Apache-2.0 */
/* Batches when the VM does not end as it should: what its threads held is handed over all the same. */
#include <bpf/bpf.h>
#include <check.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../bpf.h"
#include "../erlvm_needed.h"
#include "target/child.h"
#include "support_batch.h"

enum { BIRTHS = 23 };

/* Sanitizers handle SIGSEGV themselves, and the VM leaves it to them. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
enum { WAYS = 1 };
#else
enum { WAYS = 2 };
#endif

/* How the VM ends after BIRTHS births: by itself, or by a signal to it once it has written a line. */
static const struct {
    const char *function;
    int sent, ends_by;
} ways[] = {{"crash", 0, SIGABRT}, {"rest", SIGSEGV, SIGSEGV}};

/* What else the VM prints before goes by. */
static void await_line(int fd, const char *line)
{
    char text[4096] = "";
    size_t n = 0;

    while (!strstr(text, line)) {
        ck_assert_msg(n < sizeof text - 1 && read(fd, text + n, 1) == 1, "'%s' instead of '%s'", text, line);
        text[++n] = 0;
    }
}

START_TEST(test_batches_are_handed_over_at_a_crash)
{
    const char *build = getenv("BUILD") ? getenv("BUILD") : "build";
    char vm[512], dir[512];
    char *argv[] = {vm, "-quick", "+S", "2", "-pa", dir, "-s", "probe_target", (char *)ways[_i].function, NULL};
    int pipe_fds[2], saved = dup(STDERR_FILENO), status;
    struct support_batch *batch;
    struct target target;
    struct child child;

    if (!bpf_allowed(__func__))
        return;
    erlvm_needed();
    setrlimit(RLIMIT_CORE, &(struct rlimit){0, 0});
    setenv("ERL_CRASH_DUMP_SECONDS", "0", 1);
    snprintf(vm, sizeof vm, "%s/erlvm", build);
    snprintf(dir, sizeof dir, "%s/tests/probe_beams", build);
    ck_assert_int_eq(target_open_file(vm, &target), 0);
    ck_assert_int_eq(pipe(pipe_fds), 0);
    dup2(pipe_fds[1], STDERR_FILENO);
    ck_assert_int_eq(child_start(argv, &child), 0);
    dup2(saved, STDERR_FILENO);
    batch = support_batch_new(&target, child.pid);
    support_batch_watch(batch, "process__spawn");
    support_batch_begin(batch);
    ck_assert_int_eq(child_release(&child), 0);
    if (ways[_i].sent) {
        await_line(pipe_fds[0], "rests\n");
        ck_assert_int_eq(kill(child.pid, ways[_i].sent), 0);
    }
    ck_assert_int_eq(waitpid(child.pid, &status, 0), child.pid);
    ck_assert(WIFSIGNALED(status) && WTERMSIG(status) == ways[_i].ends_by);
    support_batch_drain(batch);
    ck_assert_uint_eq(support_batch_count(batch, "process__spawn", 1, "probe_target:child/1"), BIRTHS);
    support_batch_free(batch);
    target_close(&target);
}
END_TEST

Suite *batch_suite(void)
{
    Suite *suite = suite_create("batch");
    TCase *live = tcase_create("live");

    tcase_set_timeout(live, 60);
    tcase_add_loop_test(live, test_batches_are_handed_over_at_a_crash, 0, WAYS);
    suite_add_tcase(suite, live);
    return suite;
}
