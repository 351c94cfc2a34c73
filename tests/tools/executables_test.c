/* SPDX-License-Identifier: Apache-2.0 */
/* What is kept of executables that were looked at has a bound; those of VMs stay. */
#include <check.h>

#include "probe/executables.h"

enum { VMS = 7 };

static struct stat make_stat(unsigned long ino, long changed)
{
    struct stat st = {.st_dev = 3, .st_ino = ino};

    st.st_ctim.tv_sec = changed;
    return st;
}

START_TEST(test_executables_forgets_the_first_but_those_of_vms)
{
    struct executables files = {0};
    struct executable *file;
    struct stat st;

    for (unsigned long i = 1; i <= 3 * EXECUTABLES_MOST; i++) {
        st = make_stat(i, 1);
        file = executables_add(&files, &st);
        ck_assert_ptr_nonnull(file);
        file->watched = i <= VMS;
        file->hooks = i > VMS && i <= 2 * VMS;
    }
    ck_assert_uint_eq(HASH_COUNT(files.table), EXECUTABLES_MOST);
    for (unsigned long i = 1; i <= 3 * EXECUTABLES_MOST; i++) {
        st = make_stat(i, 1);
        ck_assert_int_eq(executables_find(&files, &st) != NULL,
                         i <= 2 * VMS || i > 2 * EXECUTABLES_MOST + 2 * VMS);
    }
    executables_free(&files);
}
END_TEST

START_TEST(test_executables_knows_a_file_by_its_inode_and_when_it_changed)
{
    struct stat first = make_stat(1, 1), changed = make_stat(1, 2), other = {.st_dev = 4, .st_ino = 1};
    struct executables files = {0};
    struct executable *file = executables_add(&files, &first);

    ck_assert_ptr_nonnull(file);
    ck_assert_ptr_eq(executables_find(&files, &changed), file);
    ck_assert_int_eq(file->changed.tv_sec, 1);
    ck_assert_ptr_eq(executables_add(&files, &changed), file);
    ck_assert_int_eq(file->changed.tv_sec, 2);
    ck_assert_ptr_null(executables_find(&files, &other));
    executables_free(&files);
}
END_TEST

Suite *executables_suite(void)
{
    Suite *suite = suite_create("executables");
    TCase *kept = tcase_create("kept");

    tcase_add_test(kept, test_executables_forgets_the_first_but_those_of_vms);
    tcase_add_test(kept, test_executables_knows_a_file_by_its_inode_and_when_it_changed);
    suite_add_tcase(suite, kept);
    return suite;
}
