/* SPDX-License-Identifier: Apache-2.0 */
/* `make demo` after its build: where erlvm does not run the library, and where the VM ends before it was watched. */
#include "support.h"

/* The sentence that says what is missing, and all that the first screen shows, of the stock erl. */
START_TEST(test_demo_watches_erl_where_erlvm_refuses_the_library)
{
    const struct support_run *r;

    SUPPORT_BPF();
    r = support_run("mkdir -p other/erts-18.0; cd $SOURCE; here=$OLDPWD; "
                    "ERLVM_ROOT=$here/other BUILD=${ERLSNOOP%%/*} bash bench/demo.sh");
    ck_assert_msg(r->status == 0, "status %d: %s", r->status, r->err);
    ck_assert_ptr_nonnull(strstr(r->out, "other is of Erlang/OTP 30, and erlvm runs that of 25, 27 and 29, so the stock erl is "
                                         "watched here.\n"));
    for (const char *const *shown = (const char *const[]){"-noinput -kernel", " OTP 2", "INITIAL CALL\n",
                                                           "demo:job/1\n", "From send to receiver scheduled\n", "By operation:",
                                                           "The slowest\n", "work begins", NULL}; *shown; shown++)
        ck_assert_msg(strstr(r->out, *shown) != NULL, "not shown: %s", *shown);
}
END_TEST

/* A VM that ends once it has begun, in the place of erlvm. */
START_TEST(test_demo_stops_when_its_vm_has_ended)
{
    const char *last; /* before it stands what the commands said that found no VM any more */
    const struct support_run *r = support_run(
        "mkdir b; ln -s $ERLSNOOP b/erlsnoop; printf '%%s\\n' '#!/bin/sh' 'case \"$*\" in *halt) exit 0;; esac' "
        "'mkdir /tmp/erlsnoop-demo.$$; exit 7' > b/erlvm; chmod +x b/erlvm; b=$PWD/b; cd $SOURCE; "
        "BUILD=$b bash bench/demo.sh > /dev/null");

    ck_assert_int_eq(r->status, 1);
    last = strstr(r->err, "demo: ");
    ck_assert_msg(last && strstr(last, "/erlvm (process ") &&
                      strstr(last, ") has ended with status 7, so there is nothing to watch\n"), "%s", r->err);
}
END_TEST

Suite *demo_suite(void)
{
    Suite *s = suite_create("demo");
    TCase *c = tcase_create("demo");

    tcase_set_timeout(c, 120);
    tcase_add_test(c, test_demo_watches_erl_where_erlvm_refuses_the_library);
    tcase_add_test(c, test_demo_stops_when_its_vm_has_ended);
    suite_add_tcase(s, c);
    return s;
}
