/* SPDX-License-Identifier: Apache-2.0 */
/* What the scripts of tests wait by: they end, and say why, when what they wait for does not come. */
#include <string.h>

#include "support.h"

START_TEST(test_support_script_says_what_has_not_come)
{
    static const char *const waits[] = {"await", "comes"};
    const struct support_run *r = support_run("WAIT_SECONDS=0; : > empty; %s %s; echo went on", waits[_i], _i ? "none" : "empty");

    ck_assert_int_eq(r->status, 99);
    ck_assert_str_eq(r->out, "");
    ck_assert_str_eq(r->err, _i ? "none has not come\n" : "empty has not come\n");
}
END_TEST

START_TEST(test_support_script_goes_on_with_what_has_come)
{
    const struct support_run *r = support_run(": > empty; (sleep .2; echo 1 > full) & comes empty; await full; echo went on");

    ck_assert_int_eq(r->status, 0);
    ck_assert_str_eq(r->out, "went on\n");
}
END_TEST

Suite *support_suite(void)
{
    Suite *suite = suite_create("support");
    TCase *scripts = tcase_create("scripts");

    tcase_add_loop_test(scripts, test_support_script_says_what_has_not_come, 0, 2);
    tcase_add_test(scripts, test_support_script_goes_on_with_what_has_come);
    suite_add_tcase(suite, scripts);
    return suite;
}
