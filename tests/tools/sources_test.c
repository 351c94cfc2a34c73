/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What views tell of one run of an erlvm does not depend on how they are told: by its notes, which programs in the
 * kernel count, or by its pages of events, which are counted in user space.
 */
#include <stdio.h>
#include <string.h>

#include "support.h"
#include "support_late.h"
#include "view/views.h"

/*
 * both.erl: rests, "ready", until something is written into the fifo "go", then does some of everything and ends, on
 * one scheduler: what happens at the same time on two has no order. same NOTES PAGES: says "same" and how many lines,
 * of results without what differs from run to run: times.
 */
static const char setting[] =
    "cat > both.erl << 'END'\n"
    "-module(both).\n-export([start/0, child/1, take/2, hop/1, grow/1, ask/1, talk/0, node/0, flood/2, call/2, serve/0, code/0, refuse/0]).\n"
    "start() ->\n"
    "    ok = prim_file:write_file(\"ready\", \"1\"),\n"
    "    {ok, _} = prim_file:read_file(\"go\"),\n"
    "    Reasons = [normal, shutdown, {shutdown, 1}, {a, 1}, killed, \"s\", #{}, 7 | lists:duplicate(23, {odd, [x]})],\n"
    "    [wait(spawn_monitor(both, child, [X])) || X <- Reasons],\n"
    "    Taker = spawn(both, take, [self(), 29]),\n"
    "    [Taker ! {message, lists:seq(1, N)} || N <- lists:seq(1, 29)],\n"
    "    receive taken -> ok end,\n"
    "    First = lists:foldl(fun(_, Next) -> spawn(both, hop, [Next]) end, self(), lists:seq(1, 17)),\n"
    "    ring(First, 50),\n"
    "    wait(spawn_monitor(both, grow, [5])),\n"
    "    [ok = prim_file:write_file(\"written\", \"1\") || _ <- lists:seq(1, 5)],\n"
    "    wait(spawn_monitor(prim_file, delete, [\"missing\"])),\n"
    "    [wait(spawn_monitor(both, ask, [N])) || N <- lists:seq(1, 7)],\n"
    "    wait(spawn_monitor(both, call, [spawn(both, serve, []), 13])),\n"
    "    wait(spawn_monitor(both, talk, [])),\n"
    "    wait(spawn_monitor(both, node, [])),\n"
    "    wait(spawn_monitor(both, code, [])),\n"
    "    halt().\n"
    "wait({P, R}) -> receive {'DOWN', R, process, P, _} -> ok end.\n"
    "child(X) -> exit(X).\n"
    "take(Main, 0) -> Main ! taken;\n"
    "take(Main, N) -> receive {message, _} -> take(Main, N - 1) end.\n"
    "hop(Next) -> receive token -> Next ! token, hop(Next) end.\n"
    "ring(_, 0) -> ok;\n"
    "ring(First, N) -> First ! token, receive token -> ring(First, N - 1) end.\n"
    "grow(0) -> table();\n"
    "grow(N) -> L = lists:seq(1, 20000), true = erlang:garbage_collect(), 20000 = length(L), grow(N - 1).\n"
    "ask(N) ->\n"
    "    P = open_port({spawn, \"cat\"}, [binary]),\n"
    "    true = port_command(P, lists:duplicate(N, $x)),\n"
    "    receive {P, {data, _}} -> ok end,\n"
    "    P ! {self(), {command, <<>>}},\n"
    "    true = port_close(P).\n"
    /* as gen:call/4 does */
    "call(_, 0) -> ok;\n"
    "call(Server, N) ->\n"
    "    R = monitor(process, Server, [{alias, demonitor}]),\n"
    "    Server ! {'$gen_call', {self(), [alias | R]}, N},\n"
    "    receive {[alias | R], N} -> demonitor(R, [flush]) end,\n"
    "    call(Server, N - 1).\n"
    "serve() -> receive {'$gen_call', {_, [alias | A] = Tag}, N} -> A ! {Tag, N}, serve() end.\n"
    "table() ->\n"
    "    T = ets:new('both-table', []),\n"
    "    [true = ets:insert(T, {N, a}) || N <- lists:seq(1, 23)],\n"
    "    [[] = ets:lookup(T, -N) || N <- lists:seq(1, 7)],\n"
    "    [23 = ets:select_count(T, [{{'_', a}, [], [true]}]) || _ <- lists:seq(1, 5)],\n"
    "    [{_, _} = ets:match_object(T, {'_', '_'}, N) || N <- lists:seq(7, 9)],\n"
    "    timers().\n"
    "timers() ->\n"
    "    [true = is_integer(erlang:cancel_timer(erlang:start_timer(60000, self(), N))) || N <- lists:seq(1, 13)],\n"
    "    [begin R = erlang:send_after(1, self(), N), receive N -> ok end, false = erlang:cancel_timer(R) end || N <- lists:seq(1, 11)].\n"
    "talk() ->\n"
    "    {ok, L} = prim_inet:open(tcp, inet, stream),\n"
    "    {ok, Port} = prim_inet:bind(L, {127, 0, 0, 1}, 0),\n"
    "    ok = prim_inet:listen(L, 5),\n"
    "    {ok, C} = prim_inet:open(tcp, inet, stream),\n"
    "    ok = prim_inet:connect(C, {127, 0, 0, 1}, Port, -1),\n"
    "    {ok, S} = prim_inet:accept(L, -1),\n"
    "    ok = prim_inet:setopt(S, active, false),\n"
    "    [begin ok = prim_inet:send(C, \"hello\", []), {ok, _} = prim_inet:recv(S, 5) end || _ <- lists:seq(1, 11)],\n"
    "    dyntrace:put_tag(<<\"told by both:talk\">>),\n"
    "    [dyntrace:p(N, -N, \"alpha\", <<\"both:\">>) || N <- lists:seq(1, 13)], dyntrace:p(), dyntrace:user_trace_s1(\"both: alone\"),\n"
    "    [ok = prim_inet:close(X) || X <- [C, S, L]].\n"
    /* The other node is the end of a connection that this process reads itself. */
    "node() ->\n"
    "    true = register(net_kernel, self()),\n"
    "    true = erlang:setnode('both@here', 1),\n"
    "    {ok, L} = prim_inet:open(tcp, inet, stream, [{packet, 4}]),\n"
    "    {ok, Port} = prim_inet:bind(L, {127, 0, 0, 1}, 0),\n"
    "    ok = prim_inet:listen(L),\n"
    "    {ok, C} = prim_inet:open(tcp, inet, stream, [{active, false}, {packet, 4}]),\n"
    "    ok = prim_inet:connect(C, {127, 0, 0, 1}, Port, -1),\n"
    "    {ok, S} = prim_inet:accept(L, -1),\n"
    "    ok = prim_inet:setopts(S, [{active, false}]),\n"
    "    _ = erts_internal:new_connection('both@there'),\n"
    "    _ = erlang:setnode('both@there', C, {element(2, erts_internal:get_dflags()) band bnot 16#802000 bor 1, 7}),\n"
    "    receive {dist_ctrlr, C, 'both@there', _} -> ok end,\n"
    "    Remote = binary_to_term(<<131, 88, 119, 10, \"both@there\", 0:32, 9:32, 7:32>>, []),\n"
    "    [begin {name, 'both@there'} ! {a, N}, {ok, _} = prim_inet:recv(S, 0) end || N <- lists:seq(1, 23)],\n"
    "    ok = prim_inet:setopts(C, [{active, true}, {deliver, port}]),\n"
    "    Message = [112, term_to_binary({6, Remote, '', net_kernel}), term_to_binary(hello)],\n"
    "    [begin ok = prim_inet:send(S, Message, []), receive hello -> ok end end || _ <- lists:seq(1, 11)],\n"
    "    {P, R} = spawn_monitor(both, flood, [Remote, 5]),\n"
    "    [{ok, _} = prim_inet:recv(S, 0) || _ <- lists:seq(1, 5)],\n"
    "    wait({P, R}), ok = prim_inet:close(L).\n"
    "flood(_, 0) -> ok;\n"
    "flood(To, N) -> To ! binary:copy(<<\"x\">>, 1 bsl 20), flood(To, N - 1).\n"
    /* A code server that has nothing, and says how it loads as that of OTP 26 and later does; this process runs the
     * code that it tries to purge. */
    "code() ->\n"
    "    [M:module_info() || M <- [code, code_server, error_handler]],\n"
    "    true = register(code_server, spawn(both, refuse, [])),\n"
    "    persistent_term:put(code_server, interactive),\n"
    "    [{error, nofile} = code:ensure_loaded(absent) || _ <- lists:seq(1, 7)],\n"
    "    true = register(erts_code_purger, self()),\n"
    "    {ok, Code} = prim_file:read_file(\"both.beam\"),\n"
    "    ok = erlang:finish_loading([erlang:prepare_loading(both, Code)]),\n"
    "    true = erts_internal:purge_module(both, prepare),\n"
    "    true = erts_internal:check_process_code(both),\n"
    "    false = erts_internal:purge_module(both, abort).\n"
    "refuse() -> receive {code_call, From, _} -> From ! {code_server, {error, nofile}}, refuse() end.\n"
    "END\n"
    "same() { python3 - $1 $2 << 'END'\n"
    "import json, sys\n"
    "def rows(name):\n"
    "    out, calls = [], [0, 0]\n"
    "    for o in map(json.loads, open(name)):\n"
    "        if o.get('unit') == 'ns': o.pop('slots')\n"
    "        for k in [k for k in o if k in ('time', 'began', 'ran_percent', 'total_percent') or k.endswith(('_ns', '_per_s'))]: del o[k]\n"
    /* the slowest, and of owners those that ran longest: others here and there */
    "        if o['type'] == 'sched_by_owner': o = {'type': o['type']}\n"
    "        if o['type'] != 'calls_by_mfa': out.append(json.dumps(o))\n"
    "        if o['type'] == 'calls_by_mfa': calls[:] = [calls[0] + o['calls'], calls[1] + o['returned']]\n"
    "    return sorted(out) + calls\n"
    "a, b = rows(sys.argv[1]), rows(sys.argv[2])\n"
    "print(*(['same', len(a)] if a == b else ['one has', set(a) ^ set(b)]))\n"
    "END\n"
    "}\n"
    "erlc both.erl; mkfifo go; cp $(dirname $(dirname $(which erlc)))/lib/erlang/lib/runtime_tools-*/ebin/dyntrace.beam .\n";

/* A view, or all at once. */
static const char *const asked[] = {
#define VIEW(view, family, text, what) #view,
#include "../../bpf/views.def"
    "watch "
#define VIEW(view, family, text, what) #view ","
#include "../../bpf/views.def"
};

/* Whether one of them shows the slowest. */
static bool view_keeps(const char *named)
{
    return strstr(named, "efile") || strstr(named, "requests");
}

START_TEST(test_sources_tell_the_same)
{
    char command[256];

    /* of file operations and of calls there are less than 32: all are the slowest, in whatever order */
    snprintf(command, sizeof command, "%.*s%s", (int)(strlen(asked[_i]) - (strchr(asked[_i], ',') != NULL)), asked[_i],
             view_keeps(asked[_i]) ? " --top 32" : "");
    SUPPORT_BPF();
    const struct support_run *r = support_run(
        "%s$ERLVM -quick +S 1 -pa . -s both & p=$!; await ready\n"
        "$ERLSNOOP %s --json --source notes -p $p > notes & a=$!; $ERLSNOOP %s --json --source batches -p $p > pages & b=$!\n"
        "attached $a; attached $b; echo > go; wait $a; s=$?; wait $b; t=$?\n"
        "same notes pages; grep -c '\"lost\"' notes pages; echo status $s $t",
        setting, command, command);
    int lines = 0;

    ck_assert_msg(sscanf(r->out, "same %d", &lines) == 1, "%s%s", r->out, r->err);
    ck_assert_int_gt(lines, 3);
    ck_assert_ptr_ne(strstr(r->out, "notes:0\npages:0\nstatus 0 0\n"), NULL);
    ck_assert_ptr_eq(strstr(r->err, "killed"), NULL);
}
END_TEST

/*
 * A recording tells what the view told while it was made, byte for byte, but for the time of day and what is by second:
 * the one began a moment before the other, and for the widths of columns: live rows are as wide as what came together.
 * What was under way before is read from the VM's memory, which a recording has not.
 * Owners are those of processes that were there before, too.
 */
START_TEST(test_sources_recording_tells_the_same)
{
    const char *view = asked[_i];
    bool several = strchr(view, ',') != NULL;
    char views[256];

    snprintf(views, sizeof views, "%.*s", (int)strlen(several ? strchr(view, ' ') + 1 : view) - several, several ? strchr(view, ' ') + 1 : view);
    SUPPORT_BPF();
    const struct support_run *r = support_run(
        "before_apart() { sed -E '/^ OPEN BEFORE /{n; s/^( [0-9-]+) [0-9-]+ /\\1 B /}; /^(Waiting for a thread|In a callback) now/,/^$/s/^ [0-]+ B /Z B /' | sed -z -E 's/In mailboxes when watching began\\n MESSAGES OWNER\\n( [0-9]+ [^\\n]*\\n)+\\n//'; }\n"
        "%splain() { sed -E 's/([0-9.]+) (ns|us|ms|s)( |$)/\\1\\2\\3/g; s/[0-9]{2}:[0-9]{2}:[0-9]{2}[.][0-9]{6}/T/g; s/ +[0-9]+[.][0-9]( |$)/ R\\1/g; s/ +/ /g' $1 | before_apart; }\n"
        /* a thread that was put off for long hands its events over out of their order: once more */
        "for i in 1 2 3 4 5; do\n"
        "$ERLVM -quick +S 2 -pa . -s both & p=$!; await ready\n"
        "o='%s %s'; $ERLSNOOP %s%s $o -p $p > live & a=$!; $ERLSNOOP trace -o r -p $p $(tr , ' ' <<< %s) > t & b=$!\n"
        "attached $a; attached $b; echo > go; wait $a; s=$?; wait $b; u=$?; $ERLSNOOP report r %s $o > told; echo status $s $u $?\n"
        "grep -q 'out of their order' live told || break; rm -f r ready\n"
        "done\n"
        "plain live > l; plain told > o; cmp l o && echo same $(wc -l < l) $(grep -c both: l); diff l o | head -20",
        setting, strcmp(views, "messages") && strcmp(views, "inet") ? "--events" : "", /* these two have none */
        view_keeps(views) ? "--top 32" : "", several ? "watch " : "", views, views, views);
    int lines = 0, named = 0;

    ck_assert_msg(strstr(r->out, "status 0 0 0\n") && strstr(r->out, "same "), "%s%s", r->out, r->err);
    ck_assert_int_eq(sscanf(strstr(r->out, "same "), "same %d %d", &lines, &named), 2);
    ck_assert_int_ge(lines, 10);
    ck_assert_int_ge(named, strcmp(view, "nifs") && strcmp(view, "drivers")); /* which have no names of processes */
}
END_TEST

/* Batches are what an erlvm is asked by when nothing is said: the programs for notes are not even loaded. */
START_TEST(test_sources_batches_are_the_default)
{
    SUPPORT_BPF();
    const struct support_run *r = support_run(
        "%s$ERLVM -quick +S 1 -pa . -s both & p=$!; await ready; $ERLSNOOP msglat --json -p $p > told & a=$!; attached $a\n"
        "ls -l /proc/$a/fd | grep -c bpf_link; echo > go; wait $a; cat told", setting);

    /* One, to the pages and to all sites that say which events are wanted. */
    ck_assert_msg(!strncmp(r->out, "1\n", 2), "%s", r->out);
    ck_assert_int_gt(support_number(r->out, "\"type\":\"msglat\"", "messages"), 900);
}
END_TEST

/* A process that was there before has its registered name, or what proc_lib is to do in it, either way. */
START_TEST(test_sources_tell_owners_that_were_there_before)
{
    SUPPORT_BPF();
    static const char *const ways[] = {"", "--source notes"};
    const struct support_run *r = support_run(
        "erlc $SOURCE/tests/tools/stacks_target.erl; $ERLVM -noshell -pa . -s stacks_target servers > vm.log 2>&1 & p=$!\n"
        "comes ready; $ERLSNOOP sched -p $p %s --json 1 1; s=$?; kill $p; exit $s", ways[_i]);

    ck_assert_int_eq(r->status, 0);
    ck_assert_msg(support_lines(r->out, "\"owner\":\"stacks_target:init/1\"") > 0, "%s", r->out);
    ck_assert_msg(support_lines(r->out, "\"owner\":\"stacks_target:nap/1\"") > 0, "%s", r->out);
    ck_assert_msg(support_lines(r->out, "\"owner\":\"<0.") == 0, "%s", r->out);
}
END_TEST

/* Pages tell the names that processes register while somebody watches: of one born before, and of one born since. */
START_TEST(test_sources_pages_tell_names_that_are_registered_later)
{
    SUPPORT_BPF();
    const struct support_run *r = support_run(
        SUPPORT_LATE_NAMES
        "$ERLSNOOP sched -p $p --json 3 1 > told & a=$!; attached $a; touch go; wait $a; echo status $?; kill $p; cat told");

    ck_assert_msg(strstr(r->out, "status 0\n") != NULL, "%s%s", r->out, r->err);
    ck_assert_msg(support_lines(r->out, "\"owner\":\"known\"") > 0, "%s", r->out);
    ck_assert_msg(support_lines(r->out, "\"owner\":\"young\"") > 0, "%s", r->out);
}
END_TEST

START_TEST(test_sources_vm_without_pages_is_refused_them)
{
    SUPPORT_BPF();
    const struct support_run *r = support_run("$ERLSNOOP spawns --source batches -- $EMITTER process__spawn=1");

    ck_assert_int_eq(r->status, 1);
    ck_assert_msg(strstr(r->err, "hands no pages of events over; leave --source out") != NULL, "%s", r->err);
}
END_TEST

/* One that has pages and one that has not, in one result. */
START_TEST(test_sources_are_merged_with_all_vms)
{
    SUPPORT_BPF();
    const struct support_run *r = support_run(
        "%s$ERLVM -quick +S 1 -pa . -s both & p=$!; await ready; $EMITTER -w go -e 'process__spawn=11||both:child/1' & q=$!; runs $q emitter\n"
        "$ERLSNOOP spawns --json -a > told & a=$!; attached $a; echo > go; wait $p $q; kill -INT $a; wait $a; s=$?\n"
        "sed \"s/:$p,/:1,/; s/:$q,/:2,/\" told; exit $s", setting);

    ck_assert_int_eq(r->status, 0);
    ck_assert_int_eq(support_number(r->out, "\"vm\":1,\"mfa\":\"both:child/1\"", "count"), 31);
    ck_assert_int_eq(support_number(r->out, "\"vm\":2,\"mfa\":\"both:child/1\"", "count"), 11);
    ck_assert_int_ge(support_number(r->out, "\"type\":\"spawns\"", "births"), 50 + 11);
}
END_TEST

/* A program that does `step` 23 times, 20 ms between them. */
#define STEPS(step)                                                                                     \
    "printf '%%s\\n' '-module(steps).' '-export([start/0, c/0]).' 'start() -> steps(23).' 'c() -> ok.' \\\n" \
    "'steps(0) -> halt();' 'steps(N) -> " step ", receive after 20 -> steps(N - 1) end.' > steps.erl; erlc steps.erl\n"

/* Each event is in one result, though results come before all threads have told theirs. */
START_TEST(test_sources_intervals_add_up)
{
    static const char *const intervals[] = {"0.1", "0.3"};

    SUPPORT_BPF();
    const struct support_run *r = support_run(
        STEPS("spawn(steps, c, [])") "$ERLSNOOP spawns --json %s -- $ERLVM -quick -pa . -s steps > told; echo status $?\n"
        "grep '\"mfa\":\"steps:c/0\"' told | grep -o 'count\":[0-9]*' | cut -d: -f2 |\n"
        "awk '{ s += $1; n++ } END { print \"{\\\"sum\\\":\" s \",\\\"n\\\":\" n \"}\" }'",
        intervals[_i]);

    ck_assert_msg(!strncmp(r->out, "status 0\n", 9), "%s%s", r->out, r->err);
    ck_assert_int_eq(support_number(r->out, "sum", "sum"), 23);
    ck_assert_int_gt(support_number(r->out, "sum", "n"), 1);
}
END_TEST

START_TEST(test_sources_events_are_told_in_order)
{
    SUPPORT_BPF();
    const struct support_run *r = support_run(
        STEPS("spawn(steps, c, [])") "$ERLSNOOP spawns --json --events -- $ERLVM -quick -pa . -s steps > told; echo status $?\n"
        "grep '\"name\":\"steps:c/0\"' told | wc -l; grep spawns_event told | cut -d, -f1 | sort -c && echo in order");

    ck_assert_msg(!strcmp(r->out, "status 0\n23\nin order\n"), "%s%s", r->out, r->err);
}
END_TEST

/* A VM that is killed keeps what its threads held, and it is said; one that ends hands it over. No other VM runs there. */
START_TEST(test_sources_kill_is_told)
{
    static const char *const ends[] = {"kill -9 $p; wait $p; until grep -q \"pid $p was killed\" said; do kill -0 $a || break; sleep .05; done",
                                       "echo > go; wait $p; let_go $a process__spawn > let_go.out"};

    SUPPORT_BPF();
    const struct support_run *r = support_run(
        "cat > all.sh <<'ALL'\n"
        "%s$ERLVM -quick +S 1 -pa . -s both & p=$!; await ready; $ERLSNOOP spawns --json %s > told 2> said & a=$!\n"
        "until ls -l /proc/$a/fd | grep -q /proc/$p/mem; do kill -0 $a || break; sleep .05; done; attached $a\n" /* others may come first with -a */
        "%s; kill -INT $a; wait $a; echo status $?; grep \"pid $p was killed\" said; sed \"s/:$p,/:17,/\" told\nALL\n"
        "export -f links attached let_go wait_for await erlc; unshare -pf --mount-proc bash all.sh",
        setting, _i < 2 ? "-p $p" : "-a", ends[_i % 2]);
    bool killed = strstr(r->out, "was killed: what its threads did in their last tenth of a second may be missing") != NULL;

    ck_assert_ptr_ne(strstr(r->out, "status 0\n"), NULL);
    ck_assert_msg(killed == !(_i % 2), "%s%s", r->out, r->err);
    if (_i % 2)
        ck_assert_int_eq(support_number(r->out, "\"vm\":17,\"mfa\":\"both:child/1\"", "count"), 31);
}
END_TEST

/* Nobody reads while the VM tells more than there is room for: what is missing is counted, to the event. */
START_TEST(test_sources_losses_have_sizes)
{
    SUPPORT_BPF();
    const struct support_run *r = support_run(
        "cat > many.erl << 'END'\n"
        "-module(many).\n-export([start/0, c/0]).\n"
        "start() ->\n"
        "    ok = prim_file:write_file(\"ready\", \"1\"), {ok, _} = prim_file:read_file(\"go\"), many(600000),\n"
        "    ok = prim_file:write_file(\"full\", \"1\"), {ok, _} = prim_file:read_file(\"end\"), many(1000), halt().\n"
        "c() -> ok.\n"
        "many(0) -> ok;\n"
        "many(N) -> {P, R} = spawn_monitor(many, c, []), receive {_, R, _, P, _} -> many(N - 1) end.\n"
        "END\n"
        "erlc many.erl; mkfifo go end; $ERLVM -quick +S 1 -pa . -s many & p=$!; await ready\n"
        "$ERLSNOOP spawns --json -p $p .2 > told & a=$!; attached $a\n"
        "kill -STOP $a; echo > go; await full; kill -CONT $a; await told\n"
        "until grep '\"type\":\"spawns\"' told | tail -1 | grep -q '\"births\":0,'; do kill -0 $a || break; sleep .05; done; echo > end; wait $a; echo status $?\n"
        "python3 -c 'import json\n"
        "rows = [json.loads(line) for line in open(\"told\")]\n"
        "told = sum(row[\"births\"] + row[\"deaths\"] for row in rows if row[\"type\"] == \"spawns\")\n"
        "lost = sum(row[\"count\"] for row in rows if row.get(\"why\") == \"events of pages that nobody received\")\n"
        "print(lost > 0, told + lost)\n"
        "told + lost == 1202000 or print(*[row for row in rows if row[\"type\"] in (\"spawns\", \"lost\")], sep=chr(10))'");

    ck_assert_msg(!strcmp(r->out, "status 0\nTrue 1202000\n"), "%s%s", r->out, r->err);
}
END_TEST

/*
 * An erlvm that tells as much as it can, to a reader that is slow: the prompt is back soon all the same. Before the signal
 * erlsnoop is stopped for a second, so that more waits than it can read before the end, however busy the machine is.
 */
START_TEST(test_sources_one_signal_ends_a_flood)
{
    SUPPORT_BPF();
    const struct support_run *r = support_run(
        "printf '%%s\\n' '-module(flood).' '-export([start/0, c/0]).' 'start() -> spawn(flood, c, []), start().' 'c() -> ok.'\\\n"
        " > flood.erl; erlc flood.erl; $ERLVM -quick -pa . -s flood & p=$!; runs $p erlvm; mkfifo f\n"
        "python3 -c 'import os, time\n"
        "source, sink = os.open(\"f\", os.O_RDONLY), open(\"out\", \"wb\")\n"
        "while data := os.read(source, 20000):\n"
        "    sink.write(data)\n"
        "    time.sleep(0 if os.path.exists(\"asked\") else .02)' & reader=$!\n"
        "$ERLSNOOP spawns --events --json -p $p > f & a=$!; await out\n"
        "kill -STOP $a; sleep 1; kill -INT $a; touch asked; kill -CONT $a\n"
        "wait $a; echo status $?; wait $reader; kill $p\n"
        "grep -v '\"spawns_event\"' out");

    ck_assert_msg(strstr(r->out, "status 0\n") != NULL, "%.500s%s", r->out, r->err);
    ck_assert_int_gt(support_number(r->out, "\"type\":\"spawns\"", "births"), 0);
    ck_assert_msg(support_sum(r->out, "before the end", "count") > 0, "%.2000s", r->out);
}
END_TEST

Suite *sources_suite(void)
{
    Suite *suite = suite_create("sources");
    TCase *live = tcase_create("live");

    tcase_set_timeout(live, 60);
    tcase_add_loop_test(live, test_sources_tell_the_same, 0, sizeof asked / sizeof *asked);
    tcase_add_loop_test(live, test_sources_recording_tells_the_same, 0, sizeof asked / sizeof *asked);
    tcase_add_test(live, test_sources_batches_are_the_default);
    tcase_add_loop_test(live, test_sources_tell_owners_that_were_there_before, 0, 2);
    tcase_add_test(live, test_sources_pages_tell_names_that_are_registered_later);
    tcase_add_test(live, test_sources_vm_without_pages_is_refused_them);
    tcase_add_test(live, test_sources_are_merged_with_all_vms);
    tcase_add_loop_test(live, test_sources_intervals_add_up, 0, 2);
    tcase_add_test(live, test_sources_events_are_told_in_order);
    tcase_add_loop_test(live, test_sources_kill_is_told, 0, 4);
    tcase_add_test(live, test_sources_losses_have_sizes);
    tcase_add_test(live, test_sources_one_signal_ends_a_flood);
    suite_add_tcase(suite, live);
    return suite;
}
