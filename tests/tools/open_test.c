/* SPDX-License-Identifier: Apache-2.0 */
/* What hangs while it is watched, and what hung before: programs that say what is stuck, on an erl and an erlvm. */
#include <string.h>

#include "support.h"

static const char *const vms[] = {"erl", "$ERLVM"}, *const executables[] = {"beam.smp", "erlvm"};

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

/* So many are under way, all since before, and the oldest's age is what it is said to be. */
static void assert_before(const struct support_run *r, const char *mark, long open, const char *age)
{
    ck_assert_msg(support_number(r->out, mark, "open") == open, "not %ld in %s: %s", open, mark, r->out);
    ck_assert_int_eq(support_number(r->out, mark, "before"), open);
    assert_text(r, mark, "age", age);
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
        "    Main = self(),\n"
        "    Acceptor = spawn_link(fun() -> register(acceptor, self()), [Main ! {ok, gen_tcp:accept(L)} || _ <- lists:seq(1, 3)] end),\n"
        "    Connect = fun() -> {ok, S} = gen_tcp:connect({127,0,0,1}, Port, [binary, {active, false}, {sndbuf, 4096}]), S end,\n"
        "    Receiver = spawn_link(fun() -> register(receiver, self()), S = Connect(), Main ! {ok, S}, gen_tcp:recv(S, 0) end),\n"
        "    spawn_link(fun() -> register(sender, self()), S = Connect(), Main ! {full, S}, send(S) end),\n"
        "    receive {full, S} -> full(S) end, [receive {ok, _} -> ok end || _ <- lists:seq(1, 3)],\n"
        "    stands(Acceptor), stands(Receiver), stands(whereis(sender)),\n"
        "    file:write_file(\"done\", \"1\"),\n"
        "    wait(\"end\"),\n"
        "    halt().\n"
        "send(S) -> gen_tcp:send(S, <<0:65536>>), send(S).\n"
        "wait(Name) ->\n"
        "    case filelib:is_file(Name) of\n"
        "        true -> ok;\n"
        "        false -> timer:sleep(20), wait(Name)\n"
        "    end.\n" SUPPORT_ERL_STANDS SUPPORT_ERL_FULL "END\n"
        "erlc calls.erl; %s -noshell -pa . -s calls main & p=$!; await ready\n"
        "$ERLSNOOP inet --json -p $p > told & e=$!; attached $e; touch go; await done; begun=$(date +%%s%%N); sleep .2\n"
        "least=$(($(date +%%s%%N) - begun)); kill -INT $e; wait $e; s=$?\n"
        "touch end; wait $p; cat told; echo \"{\\\"least\\\":$least}\"; exit $s",
        vms[_i]);

    ck_assert_msg(!r->status, "%s", r->err);
    if (!strcmp(vms[_i], "erl") && !support_emulator_exports()) { /* it does not tell that an answer has come */
        ck_assert_int_eq(support_lines(r->out, "\"type\":\"inet_open\",\"before\":0}"), 1);
        ck_assert_int_eq(support_lines(r->out, "\"type\":\"inet_waits_open\"}"), 1);
        return;
    }
    ck_assert_msg(support_number(r->out, "\"inet_open\"", "open") == 1, "%s", r->out);
    ck_assert_int_ge(support_number(r->out, "\"inet_open\"", "oldest_ns"), support_number(r->out, "\"least\"", "least"));
    assert_text(r, "\"inet_open\"", "owner", "sender\"");
    assert_text(r, "\"inet_open\"", "what", "send, #Port<");
    ck_assert_int_eq(support_number(r->out, "\"inet_waits_open\"", "open"), 2);
    ck_assert_int_ge(support_number(r->out, "\"inet_waits_open\"", "oldest_ns"), support_number(r->out, "\"least\"", "least"));
}
END_TEST

/* Two connections to one that reads nothing: of both ends it is told whom they are with, and what waits where. */
START_TEST(test_open_tells_peers)
{
    SUPPORT_BPF();
    const struct support_run *r = support_run(
        "cat > peers.erl <<'END'\n"
        "-module(peers).\n-export([main/0]).\n"
        "main() ->\n"
        "    {ok, L} = gen_tcp:listen(0, [binary, {active, false}, {recbuf, 4096}, {ip, {127, 0, 0, 1}}]),\n"
        "    {ok, Port} = inet:port(L),\n"
        "    {ok, L6} = gen_tcp:listen(0, [inet6, {ip, {0, 0, 0, 0, 0, 0, 0, 1}}]),\n"
        "    {ok, Port6} = inet:port(L6),\n"
        "    [C | _] = Open = [begin\n"
        "        {ok, S} = gen_tcp:connect({127, 0, 0, 1}, Port, [binary, {active, false}, {sndbuf, 4096}]),\n"
        "        {ok, A} = gen_tcp:accept(L), [S, A] end || _ <- [1, 2]],\n"
        "    {ok, _} = gen_tcp:connect({0, 0, 0, 0, 0, 0, 0, 1}, Port6, [inet6]),\n"
        "    spawn(fun() -> gen_tcp:send(hd(C), <<0:800000>>) end), full(hd(C)),\n"
        "    io:format(\"~p ~p ~p~n\", [Port, Port6, Open]), receive never -> ok end.\n" SUPPORT_ERL_FULL
        "END\n"
        "erlc peers.erl; %s -noshell -noinput -pa . -s peers main > ports & p=$!; await ports\n"
        "$ERLSNOOP inet --json -p $p .2 1; s=$?; kill $p; cat ports; exit $s",
        vms[_i]);
    const char *ports = strrchr(r->out, '}');
    char to[64], from[64], to_6[64];
    int port, port_6;

    ck_assert_msg(!r->status, "%s", r->err);
    ck_assert_int_eq(sscanf(ports + 1, "%d %d", &port, &port_6), 2);
    snprintf(to, sizeof to, "\"to 127.0.0.1:%d\"", port);
    snprintf(from, sizeof from, "\"from 127.0.0.1, at port %d\"", port);
    snprintf(to_6, sizeof to_6, "\"to [::1]:%d\"", port_6);
    ck_assert_msg(support_number(r->out, to, "connections") == 2, "%s", r->out);
    ck_assert_msg(support_number(r->out, from, "connections") == 2, "%s", r->out);
    ck_assert_msg(support_number(r->out, to_6, "connections") == 1, "%s", r->out);
    ck_assert_int_gt(support_number(r->out, to, "unsent_bytes"), 0);
    ck_assert_int_eq(support_number(r->out, to, "unread_bytes"), 0);
    ck_assert_int_gt(support_number(r->out, from, "unread_bytes"), 0);
    ck_assert_int_eq(support_number(r->out, to_6, "unsent_bytes"), 0);
}
END_TEST

/*
 * Results of half a second while a port is busy, and an open of a fifo and the slice of the thread that does it last,
 * for four of them and more: rows by port, by operation and by process have their time in each result in which it goes by.
 */
START_TEST(test_open_shares_the_time_of_rows_among_results)
{
    static const struct {
        const char *rows, *key, *max;
        long least, most; /* of all results together */
        bool erlvm;
    } told[] = {{"./holds\"}", "busy_ns", "busy_max_ns", 1000, 3990, true},
                {"\"op\":\"OPEN\"", "work_ns", NULL, 1000, 3990, true},
                {"\"owner\":\"opener\"", "ran_ns", "max_ns", 1000, 3990, false},
                {"\"owner\":\"opener\"", "asleep_ns", NULL, 1000, 3990, false},
                {"\"kind\":\"dirty I/O schedulers\"", "ran_ns", NULL, 1000, 3990, false},
                {"\"kind\":\"dirty I/O schedulers\"", "asleep_ns", NULL, 1000, 3990, false}};

    SUPPORT_BPF();
    SUPPORT_EXPORTS();
    const struct support_run *r = support_run(
        "mkfifo fifo; echo 'until [ -e drain ]; do sleep .05; done' > holds; cat > lasts.erl <<'END'\n"
        "-module(lasts).\n-export([main/0]).\n"
        "main() ->\n"
        "    P = open_port({spawn, \"sh ./holds\"}, []), file:write_file(\"up\", \"1\"), go(),\n"
        "    spawn(fun() -> port_command(P, binary:copy(<<0>>, 200000)) end),\n"
        "    spawn(fun() -> register(opener, self()), {ok, _} = file:open(\"fifo\", [read, raw]), rest() end), rest().\n"
        "go() -> case filelib:is_file(\"go\") of true -> ok; false -> timer:sleep(20), go() end.\n"
        "rest() -> receive never -> ok end.\n"
        "END\n"
        "erlc lasts.erl; %s -noinput -pa . -s lasts main & p=$!; await up\n"
        "results() { grep -c '\"type\":\"sched\",' told; }; busy() { grep -c '\"ports_open\",\"open\":1' told; }\n"
        "until_has() { until [ $($1) -ge $2 ]; do kill -0 $e || break; sleep .05; done; }\n"
        "$ERLSNOOP watch ports,efile,sched --json -p $p .5 > told & e=$!; until_has results 1; touch go; until_has busy 4\n"
        "touch drain; echo > fifo; until_has results $(($(results) + 2)); kill -INT $e; wait $e; s=$?; kill -9 $p; cat told; exit $s",
        vms[_i]);

    ck_assert_msg(!r->status, "%s", r->err);
    for (size_t i = 0; i < sizeof told / sizeof *told; i++) {
        long sum = 0, longest = 0, results = 0, largest = 0;

        if (_i && !told[i].erlvm)
            continue;
        for (const char *at = r->out; (at = strstr(at, told[i].rows)); at++) {
            const char *line = at;
            long took, max;

            while (line > r->out && line[-1] != '\n')
                line--;
            took = support_number(line, told[i].rows, told[i].key);
            max = told[i].max ? support_number(line, told[i].rows, told[i].max) : 0;
            results += took > 400000000;
            sum += took > 0 ? took : 0;
            largest = took > largest ? took : largest;
            longest = max > longest ? max : longest;
        }
        ck_assert_msg(results >= 2 && largest < sum / 4 * 3, "%ld results of %s %s, %ld at most: %s", results,
                      told[i].rows, told[i].key, largest, r->out);
        ck_assert_msg(sum > told[i].least * 1000000 && sum < told[i].most * 1000000, "%ld of %s: %s", sum, told[i].key, r->out);
        if (longest) /* an end that a busy machine tells late has time behind it */
            ck_assert_msg(sum > longest - 10000000 && sum < longest + 500000000, "%ld, %ld: %s", sum, longest, r->out);
        if (!i)
            ck_assert_int_eq(sum, support_sum(r->out, "\"type\":\"ports\"", "busy_ns"));
    }
}
END_TEST

/*
 * A callback of a driver that hangs for some two seconds, in results of half a second: it is told while it lasts. An
 * erlvm says which it is, and its time is in each result in which it goes by; its histogram has it once.
 */
START_TEST(test_open_tells_a_callback_that_hangs)
{
    bool ours = _i == 1;
    long sum;

    SUPPORT_BPF();
    SUPPORT_EXPORTS();
    const struct support_run *r = support_run(
        "I=/usr/lib/erlang/usr/include; [ -e $I/erl_driver.h ] || exit 77; mkfifo fifo; cat > hang_drv.c <<'END'\n"
        "#include <erl_driver.h>\n#include <fcntl.h>\n#include <unistd.h>\n"
        "static ErlDrvData start(ErlDrvPort port, char *command) { (void)command; return (ErlDrvData)port; }\n"
        "static ErlDrvSSizeT control(ErlDrvData d, unsigned int c, char *b, ErlDrvSizeT n, char **to, ErlDrvSizeT room)\n"
        "{ (void)d, (void)c, (void)b, (void)n, (void)to, (void)room; close(open(\"fifo\", O_RDONLY)); return 0; }\n"
        "static ErlDrvEntry entry = {.start = start, .driver_name = \"hang_drv\", .control = control,\n"
        "    .extended_marker = ERL_DRV_EXTENDED_MARKER, .major_version = ERL_DRV_EXTENDED_MAJOR_VERSION,\n"
        "    .minor_version = ERL_DRV_EXTENDED_MINOR_VERSION, .driver_flags = ERL_DRV_FLAG_USE_PORT_LOCKING};\n"
        "DRIVER_INIT(hang_drv) { return &entry; }\nEND\n"
        "cat > hangs.erl <<'END'\n"
        "-module(hangs).\n-export([main/0]).\n"
        "main() ->\n"
        "    ok = erl_ddll:load(\".\", hang_drv), P = open_port({spawn_driver, hang_drv}, []),\n"
        "    register(holder, self()), file:write_file(\"up\", \"1\"), go(), port_control(P, 7, \"\"), rest().\n"
        "go() -> case filelib:is_file(\"go\") of true -> ok; false -> timer:sleep(20), go() end.\n"
        "rest() -> receive never -> ok end.\n"
        "END\n"
        "cc -shared -fPIC -I $I -o hang_drv.so hang_drv.c && erlc hangs.erl || exit 99\n"
        "%s -noinput -pa . -s hangs main & p=$!; await up\n"
        "$ERLSNOOP drivers --json -p $p .5 8 > told & e=$!; attached $e; touch go; sleep 2.6; : > fifo\n"
        "wait $e; s=$?; kill -9 $p; cat told; exit $s",
        vms[_i]);

    if (r->status == 77) {
        printf("SKIP %s: there is no erl_driver.h\n", __func__);
        return;
    }
    ck_assert_msg(!r->status, "%d: %s", r->status, r->err);
    ck_assert_int_ge(support_lines(r->out, "\"type\":\"drivers_open\",\"open\":1,"), 3);
    ck_assert_int_ge(support_lines(r->out, "hang_drv\"}"), 1);
    ck_assert_int_ge(support_lines(r->out, "\"owner\":\"holder\",\"what\":\""), 3);
    if (!ours)
        return;
    ck_assert_int_ge(support_lines(r->out, "\"age\":\"exact\""), 3);
    ck_assert_int_ge(support_lines(r->out, "\"owner\":\"holder\",\"what\":\"control, #Port<"), 3);
    ck_assert_int_ge(support_lines(r->out, "\"callback\":\"hang_drv control\"}"), 4);
    sum = support_sum(r->out, "\"callback\":\"hang_drv control\"}", "total_ns");
    ck_assert_msg(sum > 1500000000 && sum < 3990000000, "%ld: %s", sum, r->out);
    for (const char *at = r->out; (at = strstr(at, "\"type\":\"drivers\",")); at++)
        ck_assert_msg(support_number(at, "", "took_ns") < 1200000000, "%s", r->out);
}
END_TEST

/* Files of /proc that cannot be opened, as those that a hardened kernel hides: no zero stands for what is in them. */
START_TEST(test_open_says_once_what_it_cannot_read)
{
    SUPPORT_BPF();
    const struct support_run *r = support_run(
        "cat > rests.erl <<'END'\n"
        "-module(rests).\n-export([main/0]).\n"
        "main() ->\n"
        "    {ok, L} = gen_tcp:listen(0, []), {ok, Port} = inet:port(L), {ok, _} = gen_tcp:connect(\"localhost\", Port, []),\n"
        "    file:write_file(\"up\", \"1\"), receive never -> ok end.\n"
        "END\n"
        "cat > hidden.sh <<'END'\n"
        "mkdir hidden && mount -t tmpfs -o nodev hidden hidden && mknod hidden/tcp c 1 3 && mknod hidden/tcp6 c 1 3 &&\n"
        "    ! : 2> /dev/null < hidden/tcp || exit 77\n"
        "mount --bind hidden /proc/$p/net; for f in cgroup task/$p/syscall; do mount --bind hidden/tcp /proc/$p/$f; done\n"
        "$ERLSNOOP watch inet,sched,efile --json -p $p .2 3 && $ERLSNOOP inet -p $p .2 1 2> /dev/null &&\n"
        "    { $ERLSNOOP diagnose --looks -d 1 -p $p 2> /dev/null || [ $? = 3 ]; }\n" /* 3: on a busy machine it finds something */
        "END\n"
        "erlc rests.erl; %s -noinput -pa . -s rests main & export p=$!; await up\n"
        "unshare -m bash hidden.sh; s=$?; kill $p; exit $s",
        vms[_i]);

    if (r->status == 77 || strstr(r->err, "unshare failed")) {
        printf("SKIP %s: nothing can be mounted here\n", __func__);
        return;
    }
    ck_assert_msg(!r->status, "%s", r->err);
    ck_assert_int_eq(support_lines(r->out, "\"type\":\"inet_peers\",\"vm\":"), 3);
    ck_assert_int_eq(support_lines(r->out, "\"connections\""), 0);
    ck_assert_int_eq(support_lines(r->err, "/net/tcp: Permission denied"), 1);
    ck_assert_int_eq(support_lines(r->out, "\"type\":\"sched_quota\",\"vm\":"), 3);
    ck_assert_int_eq(support_lines(r->err, "/cgroup: Permission denied"), 1);
    ck_assert_int_eq(support_lines(r->out, "\"type\":\"efile_open\",\"open\":0}"), 3); /* no "before" */
    ck_assert_int_eq(support_lines(r->err, "/syscall: Permission denied"), 1);
    ck_assert_msg(strstr(r->out, "         -          -      -        - -\n") != NULL, "%s", r->out);
    ck_assert_msg(strstr(r->out, "\nthrottled       /proc/") && strstr(r->out, "\nfiles  "), "%s", r->out);
}
END_TEST

/* A VM that is killed says nothing of its end; the recording does. */
START_TEST(test_open_recording_of_a_killed_vm)
{
    SUPPORT_BPF();
    const struct support_run *r = support_run(
        "mkfifo pipe\ncat > hangs.erl <<'END'\n"
        "-module(hangs).\n-export([main/0]).\n"
        "main() -> file:write_file(\"ready\", \"1\"), wait(), spawn(fun() -> file:open(\"pipe\", [read, raw]) end),\n"
        "    receive never -> ok end.\n"
        "wait() -> case filelib:is_file(\"go\") of true -> ok; false -> timer:sleep(20), wait() end.\n"
        "END\n"
        "erlc hangs.erl; %s -noshell -noinput -pa . -s hangs main & p=$!; await ready\n"
        "$ERLSNOOP trace -o r -p $p efile > told 2> said & e=$!; until grep -q 'is recorded' said; do sleep .02; done\n"
        "touch go; until grep -q wait_for_partner /proc/$p/task/*/wchan; do kill -0 $p || break; sleep .02; done\n"
        "begun() { $ERLSNOOP report r efile --json 2> /dev/null | grep -q '\"started\":[1-9]'; }\n"
        "until begun; do kill -0 $e || break; sleep .05; done\n"
        "kill -9 $p; wait $e; s=$?; $ERLSNOOP report r efile --json; exit $s",
        vms[_i]);

    ck_assert_msg(!r->status, "%s", r->err);
    ck_assert_msg(support_number(r->out, "\"efile_open\"", "open") == 0, "%s", r->out);
    ck_assert_int_gt(support_number(r->out, "\"efile_totals\"", "started"), 0);
}
END_TEST

/* ---- what hung before it was watched */

#define STUCK                                                                                                          \
    "cat > stuck.erl <<'END'\n"                                                                                        \
    "-module(stuck).\n-export([socket/0, files/0, mailbox/0, node/0, calls/0]).\n"                                    \
    "socket() ->\n"                                                                                                    \
    "    {ok, L} = gen_tcp:listen(0, [binary, {active, false}, {recbuf, 4096}]),\n"                                    \
    "    {ok, Port} = inet:port(L), Main = self(),\n"                                                                  \
    "    spawn_link(fun() ->\n"                                                                                        \
    "        register(sender, self()),\n"                                                                              \
    "        {ok, S} = gen_tcp:connect({127,0,0,1}, Port, [binary, {sndbuf, 4096}]), Main ! S, send(S) end),\n"        \
    "    receive S -> full(S), stands(whereis(sender)) end, file:write_file(\"up\", \"1\"), rest().\n"                 \
    "files() ->\n"                                                                                                     \
    "    Prim = fun(N) -> register(N, self()), file:open(\"fifo\", [read, raw]) end,\n"                                \
    "    [spawn(fun() -> Prim(N) end) || N <- [reader_1, reader_2, reader_3]],\n"                                      \
    "    rest().\n"                                                                                                    \
    "mailbox() ->\n"                                                                                                   \
    "    register(the_pool, spawn(fun rest/0)), register(other, spawn(fun rest/0)),\n"                                 \
    "    [the_pool ! {job, N} || N <- lists:seq(1, 5207)], [other ! N || N <- lists:seq(1, 23)],\n"                    \
    "    file:write_file(\"up\", \"1\"), rest().\n"                                                                    \
    "node() ->\n"                                                                                                      \
    "    true = net_kernel:connect_node(there@localhost), file:write_file(\"linked\", \"1\"), stopped(),\n"            \
    "    Casters = [spawn(fun() -> register(N, self()), cast() end) || N <- [caster_1, caster_2, caster_3]],\n"        \
    "    [stands(P) || P <- Casters], file:write_file(\"held\", \"1\"), rest().\n"                                     \
    "calls() ->\n"                                                                                                     \
    "    register(quiet_server, spawn(fun rest/0)), register(slow_server, spawn(fun answer/0)),\n"                     \
    "    Call = fun(N, Server, Time) -> spawn(fun() -> register(N, self()), gen_server:call(Server, N, Time) end) end,\n" \
    "    First = Call(asker_1, quiet_server, infinity), stands(First),\n"                                              \
    "    Others = [Call(asker_2, quiet_server, infinity), Call(asker_3, quiet_server, 60000), Call(served, slow_server, 60000)],\n" \
    "    Apart = spawn(fun() -> erpc:call(erlang:node(), fun rest/0) end),\n"                                                 \
    "    [stands(P) || P <- [Apart | Others]], file:write_file(\"up\", \"1\"),\n"                                      \
    "    prim_file:read_file(\"again\"), stands(Call(asker_4, quiet_server, infinity)), file:write_file(\"asked\", \"1\"), rest().\n" \
    "answer() -> receive {'$gen_call', From, _} -> {ok, _} = prim_file:read_file(\"go\"), gen_server:reply(From, ok), answer() end.\n" \
    "stopped() -> case filelib:is_file(\"stopped\") of true -> ok; false -> timer:sleep(20), stopped() end.\n"         \
    "send(S) -> gen_tcp:send(S, <<0:65536>>), send(S).\n"                                                              \
    "cast() -> {nobody, there@localhost} ! binary:copy(<<0>>, 30000), cast().\n"                                       \
    "rest() -> receive after infinity -> ok end.\n" SUPPORT_ERL_STANDS SUPPORT_ERL_FULL "END\n"           \
    "erlc stuck.erl\n"

/* A peer does not read: who sends, on which socket, and the time that the port was busy while it was watched. */
START_TEST(test_open_tells_a_port_that_was_busy_before)
{
    SUPPORT_BPF();
    const struct support_run *r = support_run(
        STUCK
        "%s -noinput -pa . -s stuck socket & p=$!; await up\n"
        "$ERLSNOOP watch ports,inet --json -p $p .5 2; s=$?; kill -9 $p; exit $s",
        vms[_i]);

    ck_assert_msg(!r->status, "%s", r->err);
    assert_before(r, "\"ports_open\"", 1, "at least");
    assert_text(r, "\"ports_open\"", "owner", "sender\"");
    assert_text(r, "\"ports_open\"", "what", "#Port<0.");
    assert_before(r, "\"inet_open\"", 1, "at least");
    assert_text(r, "\"inet_open\"", "owner", "sender\"");
    assert_text(r, "\"inet_open\"", "what", "send, #Port<0.");
    ck_assert_int_ge(support_sum(r->out, "\"type\":\"ports\"", "busy_ns"), 900000000);
    ck_assert_int_le(support_sum(r->out, "\"type\":\"ports\"", "busy_ns"), support_sum(r->out, "\"ports_open\"", "oldest_ns"));
}
END_TEST

/* Three opens of a FIFO that nobody writes to: how long they have waited is the kernel's to tell. */
START_TEST(test_open_tells_file_operations_of_before_and_their_age)
{
    SUPPORT_BPF();
    const struct support_run *r = support_run(
        STUCK
        "now() { date +%%s%%N; }; begun=$(now); mkfifo fifo; %s -noinput -pa . -s stuck files & p=$!; runs $p %s\n"
        "blocked() { cat /proc/$p/task/*/wchan 2> /dev/null | grep -o wait_for_partner | wc -l; }\n"
        "for i in $(seq 400); do [ $(blocked) = 3 ] && break; sleep .05; done; blocked=$(now); sleep 2\n"
        "least=$(($(now) - blocked)); $ERLSNOOP efile --json -p $p .5 1; s=$?\n"
        "echo \"{\\\"least\\\":$least,\\\"most\\\":$(($(now) - begun))}\"; kill -9 $p; exit $s",
        vms[_i], executables[_i]);
    const char *open = strstr(r->out, "\"efile_open\"");
    long oldest, work, most;

    ck_assert_msg(!r->status, "%s", r->err);
    assert_before(r, "\"efile_open\"", 3, "exact");
    work = support_number(r->out, "\"op\":\"OPEN\"", "work_ns"); /* of each the half second that it was watched */
    most = support_number(r->out, "\"least\"", "most") - support_number(r->out, "\"least\"", "least");
    ck_assert_msg(work > 3 * 450000000L && work < 3 * most, "%ld: %s", work, r->out);
    ck_assert_msg(support_number(r->out, "\"op\":\"OPEN\"", "queued_ns") <= 0, "%s", r->out);
    ck_assert_msg(strstr(open, "\"owner\":\"reader_"), "%s", r->out);
    ck_assert_msg(strstr(open, "openat ") && strstr(open, "fifo\""), "%s", r->out);
    oldest = support_number(r->out, "\"efile_open\"", "oldest_ns");
    ck_assert_msg(oldest * 10 > support_number(r->out, "\"least\"", "least") * 9, "%ld: %s", oldest, r->out);
    ck_assert_msg(oldest < support_number(r->out, "\"least\"", "most"), "%ld: %s", oldest, r->out);
}
END_TEST

/* One thread for files, three who want one: who has it, and who waits, of before it was watched and of since. */
START_TEST(test_open_tells_file_operations_that_wait_for_a_thread)
{
    static const char *const one_thread[] = {"+SDio 1", "+A 1"};
    bool before = _i >= NVMS, ours = _i % NVMS;

    SUPPORT_BPF();
    SUPPORT_EXPORTS();
    const struct support_run *r = support_run(
        "mkfifo fifo; cat > queues.erl <<'END'\n"
        "-module(queues).\n-export([main/0]).\n"
        "main() ->\n"
        "    file:write_file(\"up\", \"1\"), go(),\n"
        "    Open = fun(N) -> register(N, self()), file:open(\"fifo\", [read, raw]) end,\n"
        "    [runs(spawn(fun() -> Open(N) end), {prim_file, open_nif, 2}) || N <- [opener_1, opener_2, opener_3]],\n"
        "    erlang:display(queued), receive never -> ok end.\n" SUPPORT_ERL_RUNS
        "go() -> case prim_file:read_file_info(\"go\") of {ok, _} -> ok; _ -> timer:sleep(20), go() end.\n"
        "END\n"
        "erlc queues.erl; %s %s -noinput -pa . -s queues main > queue & p=$!; await up\n"
        "results() { grep -c '\"efile_queued_open\"' told; }\n"
        "%s$ERLSNOOP efile --json -p $p .5 > told & e=$!; attached $e; touch go; await queue; n=$(($(results) + 2))\n"
        "until [ $(results) -ge $n ]; do kill -0 $e || break; sleep .05; done\n"
        "now=$(date +%%s%%N); kill -INT $e; wait $e; s=$?; kill -9 $p\n"
        "tail -n +1 told; echo '\"waited\" \"ns\":'$((now - ${since:-now})); exit $s",
        vms[_i % NVMS], one_thread[_i % NVMS], before ? "touch go; await queue; since=$(date +%s%N); " : "");
    const char *last = r->out;

    ck_assert_msg(!r->status, "%s", r->err);
    for (const char *at; (at = strstr(last + 1, "\"efile_queued_open\""));)
        last = at;
    ck_assert_msg(support_number(last, "", "open") == 2, "%s", r->out);
    ck_assert_int_eq(support_number(last, "", "before"), before ? 2 : 0);
    ck_assert_int_ge(support_number(last, "", "oldest_ns"), 400000000);
    ck_assert_msg(support_in_order(last, "\"owner\":\"opener_2\"", "\n"), "%s", r->out);
    ck_assert_msg(strstr(last, ours && !before ? "\"what\":\"OPEN (1) fifo" : "\"what\":\"prim_file:open_nif/2\""),
                  "%s", r->out);
    ck_assert_msg(support_in_order(last, ours ? "\"age\":\"exact\"" : "\"age\":\"at least\"", "\n"), "%s", r->out);
    if (ours && before) /* opener_2 waits since before erlsnoop was started */
        ck_assert_int_ge(support_number(last, "", "oldest_ns"), support_number(r->out, "\"waited\"", "ns"));
    ck_assert_msg(strstr(r->out, "\"efile_open\"") && strstr(r->out, "\"owner\":\"opener_1\""), "%s", r->out);
}
END_TEST

START_TEST(test_open_tells_how_full_mailboxes_were)
{
    bool other = support_emulator_exports() || !strcmp(vms[_i % NVMS], "$ERLVM");

    SUPPORT_BPF();
    const struct support_run *r = support_run(
        STUCK
        "%s -noinput -pa . -s stuck mailbox & p=$!; await up\n"
        "$ERLSNOOP %s --json -p $p .3 2; s=$?; kill -9 $p; exit $s",
        vms[_i % NVMS], _i < NVMS || !other ? "messages" : "mailboxes");

    ck_assert_msg(!r->status, "%s", r->err);
    ck_assert_int_eq(support_lines(r->out, "\"messages_before\""), 2); /* of the first result */
    ck_assert_int_eq(support_number(r->out, "\"owner\":\"the_pool\"", "messages"), 5207);
    ck_assert_int_eq(support_number(r->out, "\"owner\":\"other\"", "messages"), 23);
}
END_TEST

/*
 * Four calls that wait since before, one of which is answered then; what erpc asks is none of them. Another begins, and is
 * told beside them.
 */
START_TEST(test_open_tells_calls_of_before)
{
    SUPPORT_BPF();
    if (!_i && !support_emulator_exports()) {
        printf("SKIP %s: the emulator of this Erlang does not export its functions\n", __func__);
        return;
    }
    const struct support_run *r = support_run(
        STUCK
        "last() { until grep requests_open told | tail -1 | grep -q '\"open\":'$1,; do kill -0 $e || break; sleep .05; done; }\n"
        "mkfifo go again; %s -noinput -pa . -s stuck calls & p=$!; await up\n"
        "$ERLSNOOP requests --json -p $p .5 > told & e=$!; last 4; echo > go; last 3; echo > again; await asked; last 4\n"
        "kill -INT $e; wait $e; s=$?; kill -9 $p; cat told; exit $s",
        vms[_i]);
    const char *served, *asked;

    ck_assert_msg(!r->status, "%s", r->err);
    assert_before(r, "\"requests_open\"", 4, "at least");
    assert_text(r, "\"requests_open\"", "what", "quiet_server");
    assert_text(r, "\"requests_open\"", "owner", "asker_");
    served = strstr(r->out, "\"open\":3,\"before\":3");
    asked = served ? strstr(served, "\"open\":4,\"before\":3") : NULL;
    ck_assert_msg(asked != NULL, "%s", r->out);
}
END_TEST

/* Three processes that a full connection to the other node holds, since before it was watched. */
static void assert_connection_held(const struct support_run *r)
{
    ck_assert_msg(!r->status, "%s", r->err);
    assert_before(r, "\"dist_open\"", 3, "at least");
    ck_assert_msg(strstr(strstr(r->out, "\"dist_open\""), "\"owner\":\"caster_"), "%s", r->out);
    assert_text(r, "\"dist_open\"", "what", "there@localhost\"");
    assert_before(r, "\"dist_busy_open\"", 1, "at least");
    assert_text(r, "\"dist_busy_open\"", "what", "there@localhost\"");
}

/* The other node is stopped: whom the connection holds, as the kernel's buffers are full. */
START_TEST(test_open_tells_whom_a_busy_connection_held_before)
{
    SUPPORT_BPF();
    const struct support_run *r = support_run(
        STUCK
        "node=\"-noinput -pa . -start_epmd false -erl_epmd_port $((20000 + $$ %% 20000)) -setcookie open\"\n"
        "erl $node -sname there@localhost -eval 'file:write_file(\"up\", \"1\")' & t=$!; await up\n"
        "%s $node -sname here@localhost -dist_listen false -s stuck node & p=$!\n"
        "await linked; kill -STOP $t; touch stopped; await held\n"
        "$ERLSNOOP dist --json -p $p .5 1; s=$?; kill -9 $p $t; exit $s",
        vms[_i]);

    assert_connection_held(r);
    ck_assert_msg(strstr(strstr(r->out, "\"dist_busy_open\""), "\"owner\":\"caster_"), "%s", r->out);
}
END_TEST

/* The same of a connection over TLS, which a process carries and no port. */
START_TEST(test_open_tells_whom_a_busy_connection_over_tls_held_before)
{
    SUPPORT_BPF();
    SUPPORT_EXPORTS();
    const struct support_run *r = support_run(
        STUCK
        "openssl req -x509 -newkey rsa:2048 -nodes -keyout key -out cert -subj /CN=localhost -days 2 2> /dev/null || exit 77\n"
        "erl -noinput -eval 'halt(case application:load(ssl) of ok -> 0; _ -> 77 end)' || exit 77\n"
        "cat cert key > both; node=\"-noinput -pa . -start_epmd false -erl_epmd_port $((20000 + $$ %% 20000)) -setcookie open\"\n"
        "node=\"$node -proto_dist inet_tls -ssl_dist_opt server_certfile both client_verify verify_none\"\n"
        "erl $node -sname there@localhost -eval 'file:write_file(\"up\", \"1\")' & t=$!; await up\n"
        "erl $node -sname here@localhost -dist_listen false -s stuck node & p=$!\n"
        "await linked; kill -STOP $t; touch stopped; await held\n"
        "$ERLSNOOP dist --json -p $p .5 1; s=$?; kill -9 $p $t; exit $s");

    if (r->status == 77) {
        printf("SKIP %s: there is no openssl, or no ssl of Erlang\n", __func__);
        return;
    }
    assert_connection_held(r);
}
END_TEST

Suite *open_suite(void)
{
    Suite *suite = suite_create("open");
    TCase *all = tcase_create("all");

    tcase_set_timeout(all, 120);
    tcase_add_loop_test(all, test_open_tells_calls_of_sockets, 0, NVMS);
    tcase_add_loop_test(all, test_open_tells_peers, 0, NVMS);
    tcase_add_loop_test(all, test_open_shares_the_time_of_rows_among_results, 0, NVMS);
    tcase_add_loop_test(all, test_open_tells_a_callback_that_hangs, 0, NVMS);
    tcase_add_loop_test(all, test_open_says_once_what_it_cannot_read, 0, NVMS);
    tcase_add_loop_test(all, test_open_recording_of_a_killed_vm, 0, NVMS);
    tcase_add_loop_test(all, test_open_tells_a_port_that_was_busy_before, 0, NVMS);
    tcase_add_loop_test(all, test_open_tells_file_operations_of_before_and_their_age, 0, NVMS);
    tcase_add_loop_test(all, test_open_tells_file_operations_that_wait_for_a_thread, 0, 2 * NVMS);
    tcase_add_loop_test(all, test_open_tells_how_full_mailboxes_were, 0, 2 * NVMS);
    tcase_add_loop_test(all, test_open_tells_calls_of_before, 0, NVMS);
    tcase_add_loop_test(all, test_open_tells_whom_a_busy_connection_held_before, 0, NVMS);
    tcase_add_test(all, test_open_tells_whom_a_busy_connection_over_tls_held_before);
    suite_add_tcase(suite, all);
    return suite;
}
