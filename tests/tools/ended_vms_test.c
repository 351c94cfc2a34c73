/* SPDX-License-Identifier: Apache-2.0 */
/* VMs that end before their results are told. */
#include <string.h>

#include "otp/names.h"
#include "support.h"

/* What watching took of a VM's processor time is told though it ended before the result. */
START_TEST(test_ended_vms_are_told_what_watching_took)
{
    SUPPORT_BPF();
    const struct support_run *r = support_run(
        "cat > busy.erl <<'END'\n"
        "-module(busy).\n-export([main/0]).\n"
        "main() -> Pong = spawn(fun pong/0), file:write_file(\"up\", \"1\"), ping(Pong).\n"
        "pong() -> receive P -> P ! back, pong() end.\n"
        "ping(P) -> case filelib:is_file(\"stop\") of true -> halt(); false -> pass(P, 1000) end.\n"
        "pass(P, 0) -> ping(P);\n"
        "pass(P, N) -> P ! self(), receive back -> pass(P, N - 1) end.\n"
        "END\n"
        "erlc busy.erl; erl -noinput +S 1 -s busy main & p=$!; await up\n"
        "$ERLSNOOP msglat --json --budget 100%% -p $p > told & e=$!; attached $e; turns $e 10; touch stop; wait $p; "
        "wait $e; cat told");
    const char *cost = strstr(r->out, "\"type\":\"cost\"");

    ck_assert_msg(!r->status && cost && strstr(cost, "\"of_vm_percent\":"), "%d: %s%s", r->status, r->out, r->err);
}
END_TEST

/* An atom that was made just before the end is read while it can be, or it is said that it cannot be any more. */
START_TEST(test_ended_vms_atoms_are_read_or_said_to_be_gone)
{
    SUPPORT_BPF();
    const struct support_run *r = support_run(
        "cat > made.erl <<'END'\n"
        "-module(made).\n-export([main/0]).\n"
        "main() -> file:write_file(\"up\", \"1\"), await().\n"
        "await() -> case filelib:is_file(\"go\") of true -> die(); false -> receive after 10 -> await() end end.\n"
        "die() ->\n"
        "    {_, R} = spawn_monitor(fun() -> exit(list_to_atom(\"just_now_\" ++ os:getpid())) end),\n"
        "    receive {'DOWN', R, _, _, _} -> erlang:halt(0, [{flush, false}]) end.\n"
        "END\n"
        "erlc made.erl; for i in 1 2 3; do rm -f up go; erl -noinput +S 1 -s made main & p=$!; await up\n"
        "$ERLSNOOP spawns --json -p $p > told & e=$!; attached $e; touch go; wait $p; wait $e\n"
        "grep -oE '\"reason\":\"(just_now_'$p'|[(]atom of an ended VM[)]|atom#.*)\"' told; done");

    ck_assert_int_eq(support_lines(r->out, "\"reason\""), 3);
    ck_assert_msg(!strstr(r->out, "atom#"), "%s%s", r->out, r->err);
}
END_TEST

START_TEST(test_ended_vms_atoms_without_a_text_are_said_to_be_gone)
{
    enum { NO_PROCESS = 1 << 22 };
    const struct wire_name name = {.form = WIRE_REASON, .words = {WIRE_ATOM, 8446}};
    struct names *names = names_new();
    char text[100];

    ck_assert_str_eq(names_text(names, NO_PROCESS, &name, text, sizeof text), "(atom of an ended VM)");
    names_free(names);
}
END_TEST

/*
 * VMs that end at any moment while they are attached to leave no links, and take nothing of what another tells; nor
 * does the end of the session, in the midst of one. In a namespace with no VMs of others.
 */
START_TEST(test_ended_vms_that_come_and_go_leave_no_links)
{
    SUPPORT_BPF();
    const struct support_run *r = support_run(
        "cat > lives.erl <<'END'\n"
        "-module(lives).\n-export([main/0, child/0, rest/0]).\n"
        "main() -> file:write_file(\"up\", \"1\"), await(\"go\"), [spawn(lives, child, []) || _ <- lists:seq(1, 23)],\n"
        "    file:write_file(\"done\", \"1\"), rest().\n"
        "await(F) -> case filelib:is_file(F) of true -> ok; false -> receive after 10 -> await(F) end end.\n"
        "child() -> ok.\nrest() -> receive after infinity -> ok end.\n"
        "END\n"
        "erlc lives.erl; cat > storm.sh <<'END'\n"
        "erl -noinput +S 1 -s lives main & p=$!; await up\n"
        "$ERLSNOOP watch spawns,msglat,gc,ports --json -a > told & e=$!; attached $e; had=$(links $e); echo had $had\n"
        "ends() { erl -noinput +S 1 -s lives rest & q=$!; runs $q beam.smp; sleep $1; kill -KILL $q; wait $q; }\n"
        "for i in .1 .2 .3 .4 .6 .8; do ends $i & a=$!; ends $i & wait $a $!; done 2> storm.err\n"
        "until [ $(links $e) -le $had ]; do kill -0 $e || break; sleep .05; done\n"
        "touch go; await done; erl -noinput +S 1 -s lives rest & q=$!; runs $q beam.smp\n"
        "until [ $(links $e) -gt $had ]; do kill -0 $e || break; done; kill -INT $e; wait $e; s=$?; kill $p $q; cat told\n"
        "exit $s\nEND\n"
        "export -f attached links runs await wait_for; unshare --fork --pid --mount-proc bash storm.sh");

    ck_assert_msg(!r->status && support_number(r->out, "\"mfa\":\"lives:child/0\"", "count") == 23, "%d: %s%s",
                  r->status, r->out, r->err);
}
END_TEST

Suite *ended_vms_suite(void)
{
    Suite *suite = suite_create("ended_vms");
    TCase *live = tcase_create("live");

    tcase_set_timeout(live, 90);
    tcase_add_test(live, test_ended_vms_are_told_what_watching_took);
    tcase_add_test(live, test_ended_vms_atoms_are_read_or_said_to_be_gone);
    tcase_add_test(live, test_ended_vms_atoms_without_a_text_are_said_to_be_gone);
    tcase_add_test(live, test_ended_vms_that_come_and_go_leave_no_links);
    suite_add_tcase(suite, live);
    return suite;
}
