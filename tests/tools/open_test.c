/* SPDX-License-Identifier: Apache-2.0 */
/* What hangs while it is watched, and what hung before: programs that say what is stuck, on an erl and an erlvm. */
#include <string.h>

#include "support.h"

static const char *const vms[] = {"erl", "$ERLVM"};

enum { NVMS = sizeof vms / sizeof *vms };

/* Of the line with `mark` the member `key` is `value`. */
static void assert_text(const struct support_run *r, const char *mark, const char *key, const char *value)
{
    const char *at = strstr(r->out, mark), *end = at ? strchr(at, '\n') : NULL;
    char member[256];
    const char *found;

    snprintf(member, sizeof member, "\"%s\":\"%s", key, value);
    found = at ? strstr(at, member) : NULL;
    ck_assert_msg(found && end && found < end, "no %s of %s: %s%s", member, mark, r->out, r->err);
}

/* One waits for data, one for connections, a peer does not read what another sends it. */
START_TEST(test_open_tells_calls_of_sockets)
{
    SUPPORT_BPF();
    const struct support_run *r = support_run(
        "cat > calls.erl <<'END'\n"
        "-module(calls).\n-export([main/0]).\n"
        "main() ->\n"
        "    file:write_file(\"ready\", \"1\"),\n"
        "    wait(\"go\"),\n"
        "    {ok, L} = gen_tcp:listen(0, [binary, {active, false}, {recbuf, 4096}]),\n"
        "    {ok, Port} = inet:port(L),\n"
        "    spawn_link(fun() -> register(acceptor, self()), [gen_tcp:accept(L) || _ <- lists:seq(1, 3)] end),\n"
        "    Connect = fun() -> {ok, S} = gen_tcp:connect({127,0,0,1}, Port, [binary, {active, false}, {sndbuf, 4096}]), S end,\n"
        "    spawn_link(fun() -> register(receiver, self()), gen_tcp:recv(Connect(), 0) end),\n"
        "    spawn_link(fun() -> register(sender, self()), send(Connect()) end),\n"
        "    timer:sleep(300),\n"
        "    file:write_file(\"done\", \"1\"),\n"
        "    wait(\"end\"),\n"
        "    halt().\n"
        "send(S) -> gen_tcp:send(S, <<0:65536>>), send(S).\n"
        "wait(Name) ->\n"
        "    case filelib:is_file(Name) of\n"
        "        true -> ok;\n"
        "        false -> timer:sleep(20), wait(Name)\n"
        "    end.\nEND\n"
        "erlc calls.erl; %s -noshell -pa . -s calls main & p=$!; await ready\n"
        "$ERLSNOOP inet --json -p $p > told & e=$!; attached $e; touch go; await done; kill -INT $e; wait $e; s=$?\n"
        "touch end; wait $p; cat told; exit $s",
        vms[_i]);

    ck_assert_msg(!r->status, "%s", r->err);
    ck_assert_msg(support_number(r->out, "\"inet_open\"", "open") == 1, "%s", r->out);
    ck_assert_int_ge(support_number(r->out, "\"inet_open\"", "oldest_ns"), 200000000);
    assert_text(r, "\"inet_open\"", "owner", "sender\"");
    assert_text(r, "\"inet_open\"", "what", "send, #Port<");
    ck_assert_int_eq(support_number(r->out, "\"inet_waits_open\"", "open"), 2);
    ck_assert_int_ge(support_number(r->out, "\"inet_waits_open\"", "oldest_ns"), 200000000);
}
END_TEST

Suite *tools_open_suite(void);
Suite *tools_open_suite(void)
{
    Suite *suite = suite_create("open");
    TCase *all = tcase_create("all");

    tcase_set_timeout(all, 120);
    tcase_add_loop_test(all, test_open_tells_calls_of_sockets, 0, NVMS);
    suite_add_tcase(suite, all);
    return suite;
}
