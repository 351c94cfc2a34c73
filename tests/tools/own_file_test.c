/* SPDX-License-Identifier: Apache-2.0 */
/* Files that erlsnoop fills: its own alone, and what is no file, through links too. */
#include <check.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "common/own_file.h"
#include "common/whole_file.h"

static char dir[64], path[96], other[96];

static void set_up(void)
{
    strcpy(dir, "/tmp/own_file.XXXXXX");
    ck_assert(mkdtemp(dir) != NULL);
    snprintf(path, sizeof path, "%s/file", dir);
    snprintf(other, sizeof other, "%s/other", dir);
    umask(0);
}

static void tear_down(void)
{
    unlink(path);
    unlink(other);
    ck_assert_int_eq(rmdir(dir), 0);
}

static void make(const char *name, mode_t mode)
{
    int fd = open(name, O_CREAT | O_WRONLY, mode);

    ck_assert_int_eq(write(fd, "kept", 4), 4);
    close(fd);
}

static void assert_file(const char *name, mode_t mode, off_t size)
{
    struct stat st;

    ck_assert_int_eq(lstat(name, &st), 0);
    ck_assert_int_eq(st.st_mode & 07777, mode);
    ck_assert_int_eq(st.st_size, size);
}

START_TEST(test_own_file_is_made_for_its_user_alone)
{
    close(own_file_open(path));
    assert_file(path, 0600, 0);
}
END_TEST

START_TEST(test_own_file_is_emptied_and_keeps_its_rights)
{
    make(path, 0644);
    close(own_file_open(path));
    assert_file(path, 0644, 0);
}
END_TEST

START_TEST(test_own_file_follows_no_link_to_a_file)
{
    make(other, 0600);
    ck_assert_int_eq(symlink(other, path), 0);
    ck_assert_int_eq(own_file_open(path), -ELOOP);
    assert_file(other, 0600, 4);
    ck_assert_int_eq(unlink(other), 0);
    ck_assert_int_eq(own_file_open(path), -ELOOP); /* nor is one made at its end */
    ck_assert_int_eq(access(other, F_OK), -1);
}
END_TEST

START_TEST(test_own_file_follows_a_link_to_a_device)
{
    int fd;

    ck_assert_int_eq(symlink("/dev/null", path), 0);
    fd = own_file_open(path);
    ck_assert_int_ge(fd, 0);
    close(fd);
}
END_TEST

START_TEST(test_own_file_fills_no_file_of_others)
{
    if (geteuid()) {
        printf("SKIP %s: not root\n", __func__);
        return;
    }
    make(path, 0666);
    ck_assert_int_eq(chown(path, 4711, 4711), 0);
    ck_assert_int_eq(own_file_open(path), -EUSERS);
    assert_file(path, 0666, 4);
}
END_TEST

START_TEST(test_own_file_fills_none_that_has_other_names)
{
    make(other, 0600);
    ck_assert_int_eq(link(other, path), 0);
    ck_assert_int_eq(own_file_open(path), -EMLINK);
    assert_file(other, 0600, 4);
}
END_TEST

/* Nor does a file that is written as a whole. */
START_TEST(test_own_file_whole_files_keep_to_it)
{
    struct whole_file f;

    ck_assert_int_eq(whole_file_open(&f, path), 0);
    ck_assert_int_eq(fputs("new", whole_file_begin(&f)) < 0, 0);
    ck_assert_int_eq(whole_file_end(&f, 0), 0);
    assert_file(path, 0600, 3);
    ck_assert_int_eq(symlink(path, other), 0);
    ck_assert_int_eq(whole_file_open(&f, other), -ELOOP);
    if (geteuid()) {
        printf("SKIP %s: not root\n", __func__);
        return;
    }
    ck_assert_int_eq(chown(path, 4711, 4711), 0);
    ck_assert_int_eq(whole_file_open(&f, path), -EUSERS);
}
END_TEST

/* What was a pipe or a device when it was checked may be another's by the time it is opened. */
START_TEST(test_own_file_checks_what_it_opened)
{
    int both, fd;

    make(other, 0600);
    ck_assert_int_eq(symlink(other, path), 0);
    ck_assert_int_eq(own_file_open_special(path), -ESTALE);
    ck_assert_int_eq(own_file_open_special(other), -ESTALE);
    assert_file(other, 0600, 4);
    ck_assert(!unlink(path) && !mkfifo(path, 0666));
    both = open(path, O_RDWR);
    fd = own_file_open_special(path);
    ck_assert_int_ge(fd, 0);
    close(fd);
    if (!geteuid()) {
        ck_assert_int_eq(chown(path, 4711, 4711), 0);
        ck_assert_int_eq(own_file_open_special(path), -EUSERS);
    }
    close(both);
}
END_TEST

/* erlsnoop ... --svg /dev/stdout | ..., typed behind sudo: the pipe is that of who typed it. */
START_TEST(test_own_file_a_pipe_that_was_given_is_filled_whoever_made_it)
{
    char path[64];
    int ends[2], fd;

    if (geteuid()) {
        puts("SKIP test_own_file_a_pipe_that_was_given_is_filled_whoever_made_it: not root");
        return;
    }
    ck_assert_int_eq(seteuid(4711), 0);
    ck_assert_int_eq(pipe(ends), 0);
    ck_assert_int_eq(seteuid(0), 0);
    snprintf(path, sizeof path, "/proc/self/fd/%d", ends[1]);
    fd = own_file_open(path);
    ck_assert_int_ge(fd, 0);
    ck_assert_int_eq(write(fd, "x", 1), 1);
    close(fd);
    close(ends[0]);
    close(ends[1]);
}
END_TEST

Suite *own_file_suite(void)
{
    Suite *suite = suite_create("own_file");
    TCase *tests = tcase_create("tests");

    tcase_add_checked_fixture(tests, set_up, tear_down);
    tcase_add_test(tests, test_own_file_is_made_for_its_user_alone);
    tcase_add_test(tests, test_own_file_is_emptied_and_keeps_its_rights);
    tcase_add_test(tests, test_own_file_follows_no_link_to_a_file);
    tcase_add_test(tests, test_own_file_follows_a_link_to_a_device);
    tcase_add_test(tests, test_own_file_fills_no_file_of_others);
    tcase_add_test(tests, test_own_file_fills_none_that_has_other_names);
    tcase_add_test(tests, test_own_file_whole_files_keep_to_it);
    tcase_add_test(tests, test_own_file_checks_what_it_opened);
    tcase_add_test(tests, test_own_file_a_pipe_that_was_given_is_filled_whoever_made_it);
    suite_add_tcase(suite, tests);
    return suite;
}
