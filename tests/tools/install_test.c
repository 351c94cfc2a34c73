/* SPDX-License-Identifier: Apache-2.0 */
/* What others get of us: a program that needs nothing but libc. */

#include "support.h"

/* A sanitizer brings libraries of its own. */
START_TEST(test_install_erlsnoop_needs_libc_alone)
{
    const struct support_run *r = support_run("readelf -d $ERLSNOOP | sed -n 's/.*(NEEDED).*\\[\\(.*\\)\\]/\\1/p' > needed\n"
                                              "grep -c '^libc\\.so' needed\n"
                                              "grep -vE '^(libc|libm|libgcc_s|lib[a-z]+san|ld-linux-x86-64)\\.so' needed; true");

    ck_assert_str_eq(r->err, "");
    ck_assert_str_eq(r->out, "1\n");
}
END_TEST

START_TEST(test_install_version_says_what_was_left_out)
{
    const struct support_run *r = support_run("$ERLSNOOP --version | sed 1d");

    ck_assert_str_eq(r->out, "Built without: TLS\n");
}
END_TEST

Suite *install_suite(void)
{
    Suite *suite = suite_create("install");
    TCase *files = tcase_create("files");

    tcase_add_test(files, test_install_erlsnoop_needs_libc_alone);
    tcase_add_test(files, test_install_version_says_what_was_left_out);
    suite_add_tcase(suite, files);
    return suite;
}
