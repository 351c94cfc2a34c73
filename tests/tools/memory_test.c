/* SPDX-License-Identifier: Apache-2.0 */
/* The memory of this very process, read as that of another: what is kept, what is read anew, what cannot be read. */
#include <check.h>
#include <errno.h>
#include <linux/capability.h>
#include <linux/sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/clock.h"
#include "target/memory.h"

enum { PAGE = 4096, PAGES = 8 };

static struct memory *memory;
static unsigned char *pages; /* PAGES of them, one after which nothing is mapped */

static void setup(void)
{
    ck_assert_int_eq(memory_open(getpid(), &memory), 0);
    pages = mmap(NULL, (PAGES + 1) * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    ck_assert_ptr_ne(pages, MAP_FAILED);
    ck_assert_int_eq(munmap(pages + PAGES * PAGE, PAGE), 0);
    for (int i = 0; i < PAGES * PAGE; i++)
        pages[i] = (unsigned char)(i * 31 + i / PAGE);
}

static void teardown(void)
{
    memory_close(memory);
    munmap(pages, PAGES * PAGE);
}

static uint64_t address_of(const void *at)
{
    return (uint64_t)(uintptr_t)at;
}

START_TEST(test_memory_read_tells_bytes_of_any_place_and_size)
{
    static const struct {
        size_t at, size;
    } reads[] = {{0, 1}, {5, 24}, {PAGE - 3, 7}, {PAGE - 1, PAGE + 2}, {0, 4 * PAGE}, {1, 4 * PAGE + 1}, {0, PAGES * PAGE}, {PAGES * PAGE - 8, 8}};
    unsigned char out[PAGES * PAGE];

    for (size_t i = 0; i < sizeof reads / sizeof *reads; i++) {
        memset(out, 0, sizeof out);
        ck_assert_int_eq(memory_read(memory, address_of(pages + reads[i].at), out, reads[i].size), 0);
        ck_assert_mem_eq(out, pages + reads[i].at, reads[i].size);
    }
}
END_TEST

START_TEST(test_memory_read_past_the_mapping_fails)
{
    unsigned char out[PAGES * PAGE];
    uint64_t end = address_of(pages) + PAGES * PAGE;

    ck_assert_int_eq(memory_read(memory, end, out, 1), -EFAULT);
    ck_assert_int_eq(memory_read(memory, end - 4, out, 8), -EFAULT);
    ck_assert_int_eq(memory_read(memory, end - 5 * PAGE, out, 6 * PAGE), -EFAULT);
    ck_assert_int_eq(memory_read(memory, 0, out, 1), -EFAULT);
    ck_assert_int_eq(memory_read(memory, UINT64_MAX - 3, out, 8), -EFAULT);
    ck_assert_int_eq(memory_read(memory, 1ull << 63, out, 6 * PAGE), -EFAULT);
}
END_TEST

/* What was read answers until newer bytes are asked for: for what could not be read, too. */
START_TEST(test_memory_read_goes_to_the_process_once_a_moment)
{
    uint64_t moment = memory_moment(memory), begun = clock_ns(CLOCK_MONOTONIC), far = address_of(pages) + 3 * PAGE;
    unsigned char out = 0;

    pages[7] = 1;
    memory_since(memory, begun);
    ck_assert_uint_ne(memory_moment(memory), moment);
    moment = memory_moment(memory);
    ck_assert_int_eq(memory_read(memory, address_of(pages + 7), &out, 1), 0);
    ck_assert_int_eq(munmap(pages + 3 * PAGE, PAGE), 0);
    ck_assert_int_eq(memory_read(memory, far, &out, 1), -EFAULT);
    pages[7] = 2;
    ck_assert_ptr_eq(mmap(pages + 3 * PAGE, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0), pages + 3 * PAGE);
    memory_since(memory, begun);
    ck_assert_uint_eq(memory_moment(memory), moment);
    ck_assert_int_eq(memory_read(memory, address_of(pages + 7), &out, 1), 0);
    ck_assert_uint_eq(out, 1);
    ck_assert_int_eq(memory_read(memory, far, &out, 1), -EFAULT);
    memory_since(memory, clock_ns(CLOCK_MONOTONIC));
    ck_assert_int_eq(memory_read(memory, address_of(pages + 7), &out, 1), 0);
    ck_assert_uint_eq(out, 2);
    ck_assert_int_eq(memory_read(memory, far, &out, 1), 0);
}
END_TEST

START_TEST(test_memory_find_mapping_tells_bounds_and_sees_new_ones)
{
    struct memory_mapping found;
    unsigned char *more;

    memory_since(memory, clock_ns(CLOCK_MONOTONIC));
    ck_assert_int_eq(memory_find_mapping(memory, address_of(pages + 100), &found), 0);
    ck_assert_uint_le(found.start, address_of(pages));
    ck_assert_uint_ge(found.end, address_of(pages) + PAGES * PAGE);
    ck_assert(!found.executable);
    ck_assert_int_eq(memory_find_mapping(memory, address_of(&memory_open), &found), 0);
    ck_assert(found.executable);
    ck_assert_int_eq(memory_find_mapping(memory, 0, &found), -ENOENT);
    more = mmap(NULL, PAGE, PROT_READ | PROT_EXEC, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    do
        memory_since(memory, clock_ns(CLOCK_MONOTONIC));
    while (memory_find_mapping(memory, address_of(more), &found) == -ENOENT);
    ck_assert_uint_eq(found.end - found.start, PAGE);
    ck_assert(found.executable);
    munmap(more, PAGE);
}
END_TEST

START_TEST(test_memory_open_fails_without_a_process)
{
    struct memory *other;

    ck_assert_int_eq(memory_open(0x7fffffff, &other), -ENOENT);
}
END_TEST

/* ---- the memory of another user's process, without the right to open its file */

/* A process that is another user's, and of which one byte is `byte`; pid: which id it has, 0: any. */
static pid_t start_other(unsigned char byte, pid_t pid)
{
    struct clone_args args = {.exit_signal = SIGCHLD, .set_tid = pid ? (uintptr_t)&pid : 0, .set_tid_size = pid != 0};
    int ready[2];
    pid_t child;

    ck_assert_int_eq(pipe(ready), 0);
    child = (pid_t)syscall(SYS_clone3, &args, sizeof args);
    if (!child) {
        pages[0] = byte;
        if (setuid(4711) || prctl(PR_SET_DUMPABLE, 1) || write(ready[1], "r", 1) != 1)
            _exit(1);
        for (;;)
            pause();
    }
    ck_assert_int_gt(child, 0);
    ck_assert_int_eq(read(ready[0], &byte, 1), 1);
    close(ready[0]);
    close(ready[1]);
    return child;
}

static void end_other(pid_t pid)
{
    kill(pid, SIGKILL);
    waitpid(pid, NULL, 0);
}

/* The rights that we use of those that we have. */
static void use_rights(uint64_t mask)
{
    struct __user_cap_header_struct header = {_LINUX_CAPABILITY_VERSION_3, 0};
    struct __user_cap_data_struct data[2];

    ck_assert_int_eq(syscall(SYS_capget, &header, data), 0);
    for (int i = 0; i < 2; i++)
        data[i].effective = data[i].permitted & (uint32_t)(mask >> (32 * i));
    ck_assert_int_eq(syscall(SYS_capset, &header, data), 0);
}

/* What has the process's id after it ended is not read for it. */
START_TEST(test_memory_of_another_user_is_read_while_it_lives)
{
    struct memory *other;
    unsigned char byte;
    pid_t first, second;

    if (geteuid()) {
        printf("SKIP %s: not root\n", __func__);
        return;
    }
    first = start_other('a', 0);
    use_rights(1ull << CAP_SYS_PTRACE);
    ck_assert_int_eq(memory_open(first, &other), 0);
    ck_assert_int_eq(memory_read(other, address_of(pages), &byte, 1), 0);
    ck_assert_uint_eq(byte, 'a');
    use_rights(~0ull);
    end_other(first);
    second = start_other('b', first);
    ck_assert_int_eq(second, first);
    use_rights(1ull << CAP_SYS_PTRACE);
    memory_since(other, clock_ns(CLOCK_MONOTONIC));
    ck_assert_int_eq(memory_read(other, address_of(pages), &byte, 1), -EFAULT);
    use_rights(~0ull);
    end_other(second);
    memory_close(other);
}
END_TEST

Suite *memory_suite(void)
{
    Suite *suite = suite_create("memory");
    TCase *reads = tcase_create("reads");

    tcase_add_checked_fixture(reads, setup, teardown);
    tcase_add_test(reads, test_memory_read_tells_bytes_of_any_place_and_size);
    tcase_add_test(reads, test_memory_read_past_the_mapping_fails);
    tcase_add_test(reads, test_memory_read_goes_to_the_process_once_a_moment);
    tcase_add_test(reads, test_memory_find_mapping_tells_bounds_and_sees_new_ones);
    tcase_add_test(reads, test_memory_open_fails_without_a_process);
    tcase_add_test(reads, test_memory_of_another_user_is_read_while_it_lives);
    suite_add_tcase(suite, reads);
    return suite;
}
