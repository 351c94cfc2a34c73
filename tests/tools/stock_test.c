/* SPDX-License-Identifier: Apache-2.0 */
/* The tools on this machine's own Erlang, unmodified: held against what stock_target.erl really did. */
#include <string.h>

#include "stock_counts.h"
#include "support.h"

/* $P is a VM that ERL starts and that is about to do `work`; `erlsnoop COMMAND` watches it, with SETTINGS before it, and is interrupted afterwards. */
static const struct support_run *run_on(const char *erl, const char *work, const char *settings, const char *command)
{
    return support_run("erlc $SOURCE/tests/tools/stock_target.erl\n"
                       "%s -noshell -pa . -s stock_target work %s & P=$!; comes ready\n"
                       "%s $ERLSNOOP %s --json -p $P & E=$!; attached $E; touch go; while [ ! -e done ] && kill -0 $P; do sleep .05; done\n"
                       "kill -INT $E; wait $E; s=$?; kill -0 $P || s=77; touch end; wait $P || s=78; exit $s",
                       erl, work, settings, command);
}

static const struct support_run *run_work(const char *work, const char *settings, const char *command)
{
    return run_on("erl", work, settings, command);
}

static const char *const erls[] = {"erl +S 1", "$ERLVM +S 1"};
enum { OF_MACHINE };
static const char *const ways[] = {"", "ERLSNOOP_PERF_EVENTS=1"};

START_TEST(test_stock_spawns_counts_births_and_deaths)
{
    SUPPORT_BPF();
    const struct support_run *r = run_work("spawns", ways[_i], "spawns");

    ck_assert_int_eq(r->status, 0);
    stock_counts_spawns(r->out);
    ck_assert_int_eq(support_lines(r->out, "\"lost\""), 0);
}
END_TEST

/*
 * Reasons that are all different are one row by kind, and rows add up, result for result, to the deaths: on this machine's Erlang,
 * whose terms are read, and on erlvm, whose notes tell them as text. The script adds up the rows of all results.
 */
START_TEST(test_stock_spawns_counts_reasons_that_are_all_different)
{
    static const char rows[] =
        "#{...} 503\n-17 67\n<<...>> 199\n[...] 307\n[] 73\n[a|...] 401\nfloat() 601\ninteger() 1009\n{#Fun<...>,...} 97\n"
        "{#Ref<...>,...} 104\n{#Ref<...>,return,...} 59\n{'it\\'s \\\\ odd',...} 79\n{[...],...} 211\n{bye,...} 30018\n{integer(),...} 701\n{pid(),...} 89\n"
        "{{bad,...},...} 9001\n{{{...},...},...} 83\n{} 71\n";

    SUPPORT_BPF();
    const struct support_run *r = support_run(
        "erlc $SOURCE/tests/tools/stock_target.erl\n"
        "%s -noshell -pa . -s stock_target work reasons & P=$!; while [ ! -e ready ] && kill -0 $P; do sleep .05; done\n"
        "$ERLSNOOP spawns --json -p $P 0.3 > told & E=$!; attached $E; touch go; while [ ! -e done ] && kill -0 $P; do sleep .05; done\n"
        "kill -INT $E; wait $E; s=$?; touch end; wait $P; python3 - <<'END'\n"
        "import collections, json\n"
        "results, told = [], collections.Counter()\n"
        "for row in map(json.loads, open('told')):\n"
        "    if row['type'] == 'spawns': results.append([row['births'], row['deaths']])\n"
        "    if row['type'] == 'spawns_by_mfa': results[-1][0] -= row['count']\n"
        "    if row['type'] == 'spawns_by_reason':\n"
        "        results[-1][1] -= row['count']\n"
        "        told[row['reason']] += row['count']\n"
        "    assert row['type'] != 'lost' and row.get('share_percent', 0) <= 100, row\n"
        "assert not any(map(any, results)), results\n"
        "for reason in sorted(told): print(reason, told[reason])\n"
        "END\nexit $s", erls[_i]);

    ck_assert_msg(!r->status, "%s", r->err);
    ck_assert_str_eq(r->out, rows);
}
END_TEST

/* Processes that proc_lib begins are told by what they are, not all as proc_lib:init_p/5: by this machine's Erlang, and by erlvm. */
START_TEST(test_stock_spawns_tells_what_proc_lib_begins)
{
    SUPPORT_BPF();
    const struct support_run *r = run_on(erls[_i], "behaviours", "", "spawns");
    bool ours = strstr(erls[_i], "ERLVM") != NULL;

    ck_assert_int_eq(r->status, 0);
    ck_assert_int_eq(support_number(r->out, "\"mfa\":\"stock_target:init/1\"", "count"), 11);
    ck_assert_int_eq(support_number(r->out, "\"mfa\":\"supervisor:stock_target/1\"", "count"), 2);
    ck_assert_int_eq(support_number(r->out, "\"mfa\":\"gen_event:init_it/6\"", "count"), 5);
    ck_assert_int_eq(support_number(r->out, "\"mfa\":\"stock_target:child/0\"", "count"), ours ? 13 + 7 : 13);
    ck_assert_int_eq(support_number(r->out, "\"mfa\":\"proc_lib:init_p/3\"", "count"), ours ? -1 : 7); /* with a fun */
    ck_assert_int_eq(support_lines(r->out, "proc_lib:init_p/5"), 0);
    ck_assert_int_eq(support_lines(r->out, "\"lost\""), 0);
}
END_TEST

/*
 * A command is hooked before it has loaded proc_lib and gen: the first processes of behaviours are those of its own start. It
 * begins with a boot file that reads a FIFO, and so waits until it is watched, before any other module is loaded.
 */
START_TEST(test_stock_command_tells_what_proc_lib_begins_first)
{
    SUPPORT_BPF();
    const struct support_run *r = support_run(
        "mkfifo go\n"
        "erl -noshell -eval '{ok, B} = file:read_file(filename:join(code:root_dir(), \"bin/start_clean.boot\")),\n"
        "    {script, N, Steps} = binary_to_term(B),\n"
        "    {First, [PreLoaded | Rest]} = lists:splitwith(fun(S) -> element(1, S) =/= preLoaded end, Steps),\n"
        "    Wait = {apply, {prim_file, read_file, [\"go\"]}},\n"
        "    ok = file:write_file(\"w.boot\", term_to_binary({script, N, First ++ [PreLoaded, Wait | Rest]})), halt().'\n"
        "$ERLSNOOP spawns --json --events -- erl -boot \"$PWD/w\" -noshell -eval 'halt().' 2>err & e=$!\n"
        "until grep -q 'is watched' err || ! kill -0 $e; do sleep 0.05; done\n"
        "timeout 20 bash -c 'echo go >go'; wait $e; s=$?; cat err >&2; exit $s");

    ck_assert_msg(!r->status, "status %d: %s", r->status, r->err);
    ck_assert_int_ge(support_lines(r->out, ":init/1\"}"), 5);
    ck_assert_int_ge(support_lines(r->out, "\"supervisor:kernel/1\"}"), 1);
    ck_assert_int_eq(support_lines(r->out, "proc_lib:init_p/5"), 0);
}
END_TEST

/* On one scheduler a message is there before its receiver begins. */
START_TEST(test_stock_msglat_tells_what_proc_lib_begins)
{
    SUPPORT_BPF();
    const struct support_run *r = run_on(erls[_i], "begun", "", "msglat");

    ck_assert_int_eq(support_number(r->out, "\"mfa\":\"stock_target:child/0\"", "wakeups"), 13);
    ck_assert_int_eq(support_lines(r->out, "\"lost\""), 0);
}
END_TEST

START_TEST(test_stock_spawns_events_tell_pids_and_names)
{
    SUPPORT_BPF();
    const struct support_run *r = run_work("spawns", "", "spawns --events");

    ck_assert_int_eq(support_lines(r->out, "\"event\":\"birth\",\"pid\":\"<0."), 35);
    ck_assert_int_eq(support_lines(r->out, "\"event\":\"death\",\"pid\":\"<0."), 35);
    ck_assert_int_eq(support_lines(r->out, "\"lived_ns\""), 35);
}
END_TEST

/* What no function of it tells is said once, and is no table of zeros. */
START_TEST(test_stock_watch_leaves_out_what_it_cannot_tell)
{
    SUPPORT_BPF();
    const struct support_run *r = run_work("spawns", "", "watch spawns,inet,user");

    ck_assert_int_eq(r->status, 0);
    ck_assert_int_eq(support_number(r->out, "\"type\":\"spawns\"", "births"), 35);
    ck_assert_int_eq(support_lines(r->out, "\"type\":\"inet\""), 1);
    ck_assert_int_eq(support_lines(r->out, "\"type\":\"user"), 0);
    ck_assert_int_eq(support_lines(r->err, "does not have user: "), 1);
}
END_TEST

/* Nor is a column of them: what joins queues and leaves them, and signals of exits, are of VMs with notes. */
START_TEST(test_stock_leaves_out_counters_that_it_cannot_tell)
{
    SUPPORT_BPF();
    const struct support_run *r = run_work("ring", "", "watch messages,exits");

    ck_assert_int_eq(r->status, 0);
    ck_assert_int_ge(support_number(r->out, "\"type\":\"messages\"", "sent"), 2018);
    ck_assert_int_eq(support_lines(r->out, "\"abnormal\":"), 1);
    ck_assert_int_eq(support_lines(r->out, "\"queued\":"), 0);
    ck_assert_int_eq(support_lines(r->err, ", QUEUED, RECEIVED"), 1);
    ck_assert_int_eq(support_lines(r->err, "): no SIGNALS"), 1);
    ck_assert_int_eq(support_lines(r->out, "\"received\":"), 0);
    ck_assert_int_eq(support_lines(r->out, "\"signals\":"), 0);
}
END_TEST

/* A process of erpc ends with what it has to return. 14 of them, 5 of which throw. */
START_TEST(test_stock_exits_knows_what_erpc_returns)
{
    SUPPORT_BPF();
    const struct support_run *r = run_on(erls[_i], "erpc", "", "exits");

    ck_assert_msg(!r->status, "%s", r->err);
    ck_assert_int_ge(support_number(r->out, "\"type\":\"exits\"", "exits"), 14);
    ck_assert_int_eq(support_number(r->out, "\"type\":\"exits\"", "abnormal"), 5);
    ck_assert_int_eq(support_number(r->out, "\"reason\":\"{#Ref<...>,...}\"", "count"), 5);
    ck_assert_int_eq(support_lines(r->out, "return"), 0);
}
END_TEST

/* What a process asks for is of all of its heap, the first time too. */
START_TEST(test_stock_gc_tells_collections_of_all_of_a_heap)
{
    SUPPORT_BPF();
    const struct support_run *r = run_on(erls[_i], "collections", "", "gc");

    ck_assert_msg(!r->status, "%s", r->err);
    ck_assert_int_ge(support_number(r->out, "\"type\":\"gc\"", "major"), 23);
    ck_assert_msg(support_number(r->out, "\"owner\":\"stock_target:collect/1\"", "pauses") == 23, "%s", r->out);
}
END_TEST

/* Messages that no process sends come from ports, timers, exits and monitors; signals that become none are not counted. */
START_TEST(test_stock_messages_tells_those_that_no_process_sends)
{
    static const struct {
        const char *owner;
        long sent, arrived; /* sent: at least */
    } owners[] = {{"datagrams", 102, 101}, {"timed", 54, 53}, {"trapping", 32, 31}, {"deaf", 2, 0}, {"watching", 18, 17}};
    char row[64];

    SUPPORT_BPF();
    if (_i == OF_MACHINE)
        SUPPORT_EXPORTS(); /* the function that all messages come through */
    const struct support_run *r = run_on(erls[_i], "origins", "", "messages");

    ck_assert_msg(!r->status, "%s", r->err);
    for (size_t i = 0; i < sizeof owners / sizeof *owners; i++) {
        snprintf(row, sizeof row, "\"owner\":\"%s\"", owners[i].owner);
        ck_assert_msg(support_number(r->out, row, "sent") >= owners[i].sent, "%s: %s", row, r->out);
        ck_assert_msg(support_number(r->out, row, "arrived") == owners[i].arrived, "%s: %s", row, r->out);
    }
    ck_assert_int_ge(support_number(r->out, "\"origin\":\"timers\"", "count"), 53); /* and those of OTP's own processes */
    ck_assert_int_ge(support_number(r->out, "\"origin\":\"ports\"", "count"), 101);
    /* and those of who waits for the five */
    ck_assert_int_eq(support_number(r->out, "\"origin\":\"exits and monitors\"", "count"), 31 + 17 + 5);
    ck_assert_int_eq(support_lines(r->out, "\"lost\""), 0);
}
END_TEST

/* They wake who waits for them. */
START_TEST(test_stock_msglat_tells_who_waits_for_timers_and_ports)
{
    SUPPORT_BPF();
    if (_i == OF_MACHINE)
        SUPPORT_EXPORTS(); /* the function that all messages come through */
    const struct support_run *r = run_on(erls[_i], "origins", "", "msglat");

    ck_assert_msg(!r->status, "%s", r->err);
    ck_assert_msg(support_number(r->out, "\"owner\":\"timed\"", "wakeups") >= 30, "%s", r->out);
    ck_assert_msg(support_number(r->out, "\"owner\":\"datagrams\"", "wakeups") >= 50, "%s", r->out);
}
END_TEST

START_TEST(test_stock_msglat_counts_messages_and_waits)
{
    SUPPORT_BPF();
    const struct support_run *r = run_work("ring", ways[_i], "msglat");

    ck_assert_int_eq(r->status, 0);
    stock_counts_ring(r->out);
    ck_assert_int_gt(support_number(r->out, "stock_target:echo/2", "wakeups"), 0);
    ck_assert_int_eq(support_lines(r->out, "\"mfa\":\"stock_target:echo/2\""), 1);
    ck_assert_int_eq(support_lines(r->out, "\"lost\""), 0);
}
END_TEST

/* Its answers go to aliases, as those of gen_server:call do. */
START_TEST(test_stock_msglat_counts_messages_to_aliases)
{
    SUPPORT_BPF();
    const struct support_run *r = run_work("calls", "", "msglat");

    stock_counts_calls(r->out);
    ck_assert_int_eq(support_lines(r->out, "\"lost\""), 0);
}
END_TEST

/* Who is sent to while it is on its way to a dirty scheduler, or back, goes on in that native. */
START_TEST(test_stock_msglat_names_natives_that_go_on)
{
    SUPPORT_BPF();
    const struct support_run *r = run_work("natives", "", "msglat");

    ck_assert_int_eq(r->status, 0);
    ck_assert_msg(support_number(r->out, "\"mfa\":\"prim_file:read_info_nif/2\"", "wakeups") > 0, "%s", r->out);
    ck_assert_msg(!support_lines(r->out, "\"mfa\":\"0x"), "%s", r->out);
}
END_TEST

/* Other code comes and goes hundreds of times: what stays keeps its name and its one row, what came is never told as another. */
START_TEST(test_stock_msglat_names_what_stays_while_code_is_purged)
{
    SUPPORT_BPF();
    const struct support_run *r = run_work("reload", "", "msglat");

    ck_assert_int_eq(r->status, 0);
    ck_assert_int_gt(support_number(r->out, "\"mfa\":\"stock_target:echo/2\"", "wakeups"), 100);
    ck_assert_int_gt(support_number(r->out, "\"mfa\":\"code_server:loop/1\"", "wakeups"), 100);
    ck_assert_int_gt(support_number(r->out, "\"mfa\":\"erts_code_purger:wait_for_request/0\"", "wakeups"), 100);
    ck_assert_int_eq(support_lines(r->out, "\"mfa\":\"stock_target:echo/2\""), 1);
    ck_assert_int_eq(support_lines(r->out, "\"mfa\":\"code_server:loop/1\""), 1);
    /* 100 and 101 times two versions waited, at one place; it is a number where it went before it was looked at, never the other's name */
    ck_assert_int_le(support_number(r->out, "\"mfa\":\"reloaded:wait1/0\"", "wakeups"), 101);
    ck_assert_int_le(support_number(r->out, "\"mfa\":\"reloaded:wait2/0\"", "wakeups"), 101);
    ck_assert_int_le(support_lines(r->out, "\"mfa\":\"0x"), 2);
}
END_TEST

/* A function has another row after each purge: together these are more than a table has room for. */
START_TEST(test_stock_msglat_has_room_for_all_while_code_is_purged)
{
    SUPPORT_BPF();
    const struct support_run *r = run_work("purges", "", "msglat");

    ck_assert_int_eq(r->status, 0);
    ck_assert_int_ge(support_number(r->out, "\"mfa\":\"code_server:loop/1\"", "wakeups"), 5003);
    ck_assert_int_ge(support_number(r->out, "\"mfa\":\"erts_code_purger:wait_for_request/0\"", "wakeups"), 5003);
    ck_assert_msg(!support_lines(r->out, "map full"), "%s", r->out);
    ck_assert_msg(!support_lines(r->out, "\"mfa\":\"(other)\""), "%s", r->out);
}
END_TEST

START_TEST(test_stock_efile_counts_operations_and_errors)
{
    SUPPORT_BPF();
    const struct support_run *r = run_work("files", "", "efile");
    const struct {
        const char *op;
        int count, errors;
    } rows[] = {{"\"op\":\"PREADV\"", 7, 0}, {"\"op\":\"RENAME\"", 13, 2}, {"\"op\":\"DELETE\"", 11, 6},
                {"\"op\":\"MKDIR\"", 2, 0},  {"\"op\":\"RMDIR\"", 2, 0},   {"\"op\":\"WRITE\"", 29 + 1, 0}};

    ck_assert_int_eq(r->status, 0);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        ck_assert_int_eq(support_number(r->out, rows[i].op, "count"), rows[i].count);
        ck_assert_int_eq(support_number(r->out, rows[i].op, "errors"), rows[i].errors);
        ck_assert_int_gt(support_number(r->out, rows[i].op, "queued_ns"), 0);
        ck_assert_int_gt(support_number(r->out, rows[i].op, "max_ns"), 0);
    }
    /* The look for the file "go" that was under way when the probes were attached. */
    ck_assert_int_le(support_number(r->out, "efile_totals", "unseen"), 1);
}
END_TEST

START_TEST(test_stock_efile_events_tell_what_was_asked)
{
    SUPPORT_BPF();
    const struct support_run *r = run_work("files", "", "efile --events --top 0");

    ck_assert_int_eq(support_lines(r->out, "RENAME (12) f1 f1"), 11);
    ck_assert_int_eq(support_lines(r->out, "RENAME (12) missing new"), 2);
    ck_assert_int_eq(support_lines(r->out, "size=31"), 29);
    ck_assert_int_eq(support_lines(r->out, "offset=7"), 1);
    ck_assert_int_eq(support_lines(r->out, "MKDIR (10) d2"), 1);
    ck_assert_int_ge(support_lines(r->out, "ENOENT (errno 2)"), 3 + 2 + 6);
}
END_TEST

/* Each of two processes, one of which has a name, opens a file of its own. */
START_TEST(test_stock_efile_tells_who_asked)
{
    SUPPORT_BPF();
    const struct support_run *r = support_run(
        "cat > who.erl << 'END'\n-module(who).\n-export([main/0, open/2]).\n"
        "main() ->\n"
        "    register(writer, spawn(who, open, [self(), \"w1\"])), Other = spawn(who, open, [self(), \"w2\"]),\n"
        "    ok = file:write_file(\"ready\", \"1\"), wait(), writer ! go, Other ! go,\n"
        "    receive done -> receive done -> halt() end end.\n"
        "wait() -> case filelib:is_file(\"go\") of true -> ok; false -> timer:sleep(20), wait() end.\n"
        "open(Main, Name) ->\n"
        "    receive go -> [{ok, _} = file:open(Name, [write, raw]) || _ <- lists:seq(1, 23)], Main ! done end.\n"
        "END\n"
        "erlc who.erl; erl -noinput -s who main > vm & p=$!; await ready\n"
        "$ERLSNOOP efile --json --events --top 32 -p $p > told & e=$!; attached $e; touch go; wait $p $e; cat told");

    ck_assert_int_gt(support_lines(r->out, "\"owner\":\"writer\",\"what\":\"OPEN (1) w1 "), 0);
    ck_assert_int_gt(support_lines(r->out, "\"owner\":\"who:open/2\",\"what\":\"OPEN (1) w2 "), 0);
    ck_assert_int_eq(support_lines(r->out, "\"owner\":\"writer\",\"what\":\"OPEN (1) w2 "), 0);
    ck_assert_int_eq(support_lines(r->out, "OPEN (1) w1 flags=2 by writer\""), 23);
    ck_assert_int_eq(support_lines(r->out, "OPEN (1) w2 flags=2 by who:open/2\""), 23);
}
END_TEST

/*
 * The only thread for files opens a fifo that nobody writes to. What another process asks for waits as long as that: it
 * tells how long, in ns. The second and third operation of its last call find the thread theirs.
 */
START_TEST(test_stock_efile_tells_how_long_operations_were_queued)
{
    SUPPORT_BPF();
    const char *holds = "\"owner\":\"holder\"", *waits = "\"owner\":\"waiter\",\"what\":\"FSTAT ";
    const struct support_run *r = support_run(
        "cat > line.erl << 'END'\n-module(line).\n-export([main/0]).\n"
        "main() ->\n"
        "    register(waiter, self()), code:ensure_loaded(timer), ok = file:write_file(\"ready\", \"1\"), wait(),\n"
        "    runs(spawn(fun() -> register(holder, self()), prim_file:open(\"fifo\", [read]) end), {prim_file, open_nif, 2}), Me = self(),\n"
        "    spawn(fun() -> runs(Me, {prim_file, read_info_nif, 2}), erlang:display(asks) end),\n"
        "    Began = erlang:monotonic_time(nanosecond), {ok, _} = prim_file:read_file_info(\"ready\"),\n"
        "    Took = erlang:monotonic_time(nanosecond) - Began, {ok, _} = prim_file:read_file(\"ready\"),\n"
        "    ok = file:write_file(\"took\", [\"{\\\"took_ns\\\":\", integer_to_list(Took), \"}\\n\"]), halt().\n"
        "wait() -> case filelib:is_file(\"go\") of true -> ok; false -> timer:sleep(20), wait() end.\n" SUPPORT_ERL_RUNS
        "END\n"
        "erlc line.erl; mkfifo fifo; erl +SDio 1 -noinput -s line main > vm & p=$!; await ready\n"
        "$ERLSNOOP efile --json --top 32 -p $p > told & e=$!; attached $e; touch go; await vm; sleep 1; timeout 9 sh -c 'echo > fifo'\n"
        "wait $p $e; cat told took");
    int64_t took = support_number(r->out, "took_ns", "took_ns"), queued = support_number(r->out, waits, "queued_ns");

    ck_assert_int_gt(queued, 200000000);
    ck_assert_int_le(queued, took);
    ck_assert_int_ge(queued, took - took / 10);
    ck_assert_int_gt(support_number(r->out, holds, "work_ns"), queued);
    ck_assert_int_lt(support_number(r->out, holds, "queued_ns"), queued / 2);
    ck_assert_int_eq(support_number(r->out, "\"what\":\"READ ", "queued_ns"), 0);
}
END_TEST

/* The node begins when erlsnoop says that it watches, and ends when it is done. */
#define GO_WHEN_WATCHED                                                                                                     \
    "touch err; (until grep -q 'is watched from' err; do sleep .05; done; touch go\n"                                       \
    "comes done; touch end) &\n"

/* Both from their first process that matters: it waits until it is watched. */
START_TEST(test_stock_all_sees_vms_that_start_later)
{
    SUPPORT_BPF();
    const struct support_run *r = support_run(
        "erlc $SOURCE/tests/tools/stock_target.erl; $ERLSNOOP spawns --json -a --ready-fd 3 3> ready > seen & E=$!\n"
        "await ready\n"
        "for i in 1 2; do (mkdir $i; cd $i; exec erl -noshell -pa .. -s stock_target work spawns) & vms=\"$vms $!\"; done\n"
        "comes 1/ready; comes 2/ready\n"
        "for vm in $vms; do until ls -l /proc/$E/fd | grep -q \"/proc/$vm/mem\"; do kill -0 $E || exit 1; sleep .05; done; done\n"
        "attached $E\n"
        "touch 1/go 2/go; comes 1/done; comes 2/done; kill -INT $E; wait $E; s=$?\n"
        "touch 1/end 2/end; wait; grep '\"count\":23,' seen; exit $s");

    ck_assert_int_eq(r->status, 0);
    ck_assert_int_eq(support_lines(r->out, "\"mfa\":\"stock_target:crash/1\""), 2);
    ck_assert_int_eq(support_lines(r->out, "\"reason\":\"{stock_reason,...}\""), 2);
}
END_TEST

/* However many VMs come and go, and though one ends while it is attached to: nothing of those that have ended stays
 * open. */
START_TEST(test_stock_all_forgets_vms_that_have_ended)
{
    SUPPORT_BPF();
    const struct support_run *r = support_run(
        "opened() { ls -l /proc/$E/fd | grep -q \"/proc/$1/mem\"; }\n"
        "$ERLSNOOP spawns --json -a 0.2 > seen 2>&1 & E=$!\n"
        "for i in 1 2 3 4 5 6; do erl -noshell & p=$!; until opened $p; do kill -0 $E || exit 1; sleep .05; done; kill -9 $p; wait $p\n"
        "for t in $(seq 300); do opened $p || break; sleep .1; done; opened $p && echo still open; done\n"
        "kill $E; wait $E");

    ck_assert_int_eq(r->status, 0);
    ck_assert_str_eq(r->out, "");
}
END_TEST

/* A VM that is killed while a driver's callback runs: what was kept of the callback's beginning is not there any more. */
START_TEST(test_stock_all_forgets_callbacks_of_vms_that_have_ended)
{
    SUPPORT_BPF();
    const struct support_run *r = stock_kills_in_callback("drivers --json -a 0.2", "calling_back");

    ck_assert_int_eq(r->status, 0);
    ck_assert_str_eq(r->out, "0\n");
}
END_TEST

/* A VM that is killed while a connection suspends one of its processes: what was kept of both is not there any more.
 * Until the buffers of both ends are full, the process is let go again and again: it waits for good when ten looks in
 * a row say so. */
START_TEST(test_stock_all_forgets_who_waited_in_vms_that_have_ended)
{
    SUPPORT_BPF();
    const struct support_run *r = support_run(
        STOCK_KEPT
        "node=\"erl -noinput -start_epmd false -erl_epmd_port $((20000 + $$ %% 20000)) -setcookie stock\"\n"
        "$node -sname there@localhost -eval 'file:write_file(\"up\", \"1\")' & t=$!; await up\n"
        "$node +zdbbl 1 -sname here@localhost -dist_listen false "
        "-eval 'true = net_kernel:connect_node(there@localhost), "
        "(fun F() -> {nobody, there@localhost} ! binary:copy(<<0>>, 30000), F() end)().' & p=$!\n"
        "$ERLSNOOP dist --json -a 0.2 > seen 2>&1 & E=$!\n"
        "until grep -q '\"dist_by_node\".*there@localhost' seen; do kill -0 $E || exit 1; sleep .05; done\n"
        "kill -STOP $t\n"
        "held=0; for i in $(seq 300); do n=$(kept waiting $p 0)\n"
        "[ $n -gt 0 ] && held=$((held + 1)) || held=0; [ $held = 10 ] && break; sleep .1; done\n"
        "echo $n; kill -9 $p; wait $p; kill -9 $t\n"
        "for i in $(seq 300); do n=$(kept waiting $p 0)$(kept sending $p 4); [ $n = 00 ] && break; sleep .1; done\n"
        "echo $n\n"
        "kill $E; wait $E");

    ck_assert_int_eq(r->status, 0);
    ck_assert_str_eq(r->out, "1\n00\n");
}
END_TEST

/*
 * Two processes are in native functions on dirty schedulers. One is killed, then the VM: what was kept of both is not
 * there any more.
 */
START_TEST(test_stock_all_forgets_natives_of_those_that_have_ended)
{
    SUPPORT_BPF();
    const struct support_run *r = support_run(
        STOCK_KEPT
        "cc -shared -fPIC -I /usr/lib/erlang/usr/include -o stock_nif.so $SOURCE/tests/stock/stock_nif.c\n"
        "erlc $SOURCE/tests/stock/stock_nif.erl; mkfifo in\n"
        "erl -noshell -eval 'ok = stock_nif:load(\"./stock_nif\"), file:write_file(\"up\", \"1\"), io:get_line(\"\"), "
        "[P | _] = [spawn(fun() -> stock_nif:dirty_for_ever(I) end) || I <- [1, 2]], "
        "io:get_line(\"\"), exit(P, kill)' < in & p=$!\n"
        "exec 3> in; await up\n"
        "$ERLSNOOP nifs -a > seen 2>&1 & E=$!; attached $E\n"
        "for n in 2 1; do echo >&3\n"
        "for i in $(seq 300); do [ $(kept in_dirty $p 0) -eq $n ] && break; sleep .1; done; kept in_dirty $p 0; done\n"
        "kill -9 $p; wait $p\n"
        "for i in $(seq 300); do [ $(kept in_dirty $p 0) -eq 0 ] && break; sleep .1; done; kept in_dirty $p 0\n"
        "kill -INT $E; wait $E");

    ck_assert_int_eq(r->status, 0);
    ck_assert_str_eq(r->out, "2\n1\n0\n");
}
END_TEST

START_TEST(test_stock_command_is_watched_when_it_is_up)
{
    SUPPORT_BPF();
    const struct support_run *r = support_run(
        "erlc $SOURCE/tests/tools/stock_target.erl; " GO_WHEN_WATCHED
        "$ERLSNOOP spawns --json -- erl -noshell -pa . -s stock_target work spawns 2> err; s=$?; cat err >&2; exit $s");

    ck_assert_msg(!r->status, "status %d: %s", r->status, r->err);
    ck_assert_int_eq(support_number(r->out, "\"mfa\":\"stock_target:crash/1\"", "count"), 23);
    ck_assert_msg(strstr(r->err, "is watched from") != NULL, "%s", r->err);
}
END_TEST

/* The command is held back while programs are loaded, which is no part of the time that it was not watched. */
START_TEST(test_stock_command_is_late_by_its_own_time_alone)
{
    SUPPORT_BPF();
    const struct support_run *r = support_run(
        "touch err; (until grep -q 'is watched from' err; do sleep .01; done; date +%%s.%%N > told) & begun=$EPOCHREALTIME\n"
        "$ERLSNOOP watch spawns,msglat,gc,sched,exits,messages,efile,ports,inet,drivers "
        "-- sh -c 'date +%%s.%%N > went; sleep 0.1; exec erl -noinput -eval \""
        "W = fun W() -> filelib:is_file(told) orelse begin timer:sleep(20), W() end end, W(), halt().\"' 2> err; wait\n"
        "late=$(sed -n 's/.*is watched from \\(.*\\) s after its start.*/\\1/p' err); cat err >&2\n"
        "awk -v begun=$begun -v went=$(cat went) -v told=$(cat told) -v late=$late 'BEGIN { held = went - begun\n"
        "print (late >= .1 && late < told - went + held / 2) ? \"late\" : \"not\", late, \"held\", held }'");

    ck_assert_msg(strstr(r->out, "late ") != NULL, "%s%s", r->out, r->err);
}
END_TEST

/* The first VM of the command ends before it can be watched. */
START_TEST(test_stock_command_may_start_vms_one_after_the_other)
{
    SUPPORT_BPF();
    const struct support_run *r = support_run(
        "erlc $SOURCE/tests/tools/stock_target.erl; " GO_WHEN_WATCHED
        "$ERLSNOOP spawns --json -- bash -c 'beam=$(ls /usr/lib/erlang/erts-*/bin/beam.smp); $beam; erl -noshell -pa . -s stock_target work spawns; true' 2> err");

    ck_assert_int_eq(r->status, 0);
    ck_assert_int_eq(support_number(r->out, "\"mfa\":\"stock_target:crash/1\"", "count"), 23);
}
END_TEST

/* As a package that is upgraded leaves it: the VM runs a file that has no name any more, another has its name. */
START_TEST(test_stock_vm_whose_file_was_replaced_is_watched)
{
    SUPPORT_BPF();
    const struct support_run *r = support_run(
        "erlc $SOURCE/tests/tools/stock_target.erl; b=$(ls /usr/lib/erlang/erts-*/bin/beam.smp | head -1); cp -r ${b%%/*} bin\n"
        "ROOTDIR=/usr/lib/erlang BINDIR=$PWD/bin EMU=beam PROGNAME=erl bin/erlexec -noshell -pa . -s stock_target work spawns & P=$!; comes ready\n"
        "cp /bin/true bin/new; mv bin/new bin/beam.smp; readlink /proc/$P/exe\n"
        "$ERLSNOOP spawns --json -p $P & E=$!; attached $E; touch go; while [ ! -e done ] && kill -0 $P; do sleep .05; done\n"
        "kill -INT $E; wait $E; s=$?; touch end; wait $P; exit $s");

    ck_assert_int_eq(r->status, 0);
    ck_assert_int_eq(support_lines(r->out, "beam.smp (deleted)"), 1);
    ck_assert_int_eq(support_number(r->out, "\"mfa\":\"stock_target:crash/1\"", "count"), 23);
}
END_TEST

/* A VM watched by two at once, again and again, stays what it was. */
START_TEST(test_stock_vm_survives_attaching_under_load)
{
    SUPPORT_BPF();
    const struct support_run *r = support_run(
        "erlc $SOURCE/tests/tools/stock_target.erl; erl -noshell -pa . -s stock_target work load & P=$!; comes ready\n"
        "for i in $(seq 7); do $ERLSNOOP msglat -p $P 0.1 1 > m & $ERLSNOOP spawns -p $P 0.05 2 > s || exit 9; wait $! || exit 8; done\n"
        "touch go; while [ ! -e done ] && kill -0 $P; do sleep .05; done; touch end; wait $P");

    ck_assert_int_eq(r->status, 0);
}
END_TEST

START_TEST(test_stock_refuses_a_file_that_is_not_as_it_should_be)
{
    SUPPORT_BPF();
    SUPPORT_EXPORTS();
    /* another release's number in a copy of the emulator: no offsets are known of it */
    const struct support_run *r = support_run(
        "b=$(ls /usr/lib/erlang/erts-*/bin/beam.smp | head -1); cp -r ${b%%/*} bin\n"
        "a=$(nm -D $b | awk '$3 == \"etp_otp_release\" { print $1 }')\n"
        "python3 -c \"f = open('bin/beam.smp', 'r+b'); f.seek(0x$a); f.write(b'19')\"\n"
        "ROOTDIR=/usr/lib/erlang BINDIR=$PWD/bin EMU=beam PROGNAME=erl bin/erlexec -noshell -noinput -eval 'file:write_file(\"up\", \"up\")' & P=$!; await up\n"
        "$ERLSNOOP spawns -p $P; s=$?; $ERLSNOOP list -p $P; $ERLSNOOP list --json -p $P; $ERLSNOOP doctor --json -p $P\n"
        "kill -0 $P && kill $P; exit $s");

    ck_assert_int_eq(r->status, 1);
    ck_assert_int_eq(support_lines(r->out, "no offsets are known of OTP 19 (JIT)\n"), 1);
    ck_assert_int_eq(support_lines(r->out, "\"type\":\"refusal\""), 1);
    ck_assert_int_eq(support_lines(r->out, "none: no offsets are known of OTP 19"), 1);
    ck_assert_msg(strstr(r->err, "no offsets are known of OTP 19") != NULL, "%s", r->err);
    ck_assert_int_eq(support_lines(r->err, "erlsnoop:"), 2); /* of spawns, and of doctor, whose check says no */
}
END_TEST

/*
 * What `make check-stock` holds other Erlangs against, on the machine's own: what is sent to programs and sockets,
 * by whom, how many bytes, and how long ports are busy.
 */
START_TEST(test_stock_tells_ports_as_the_work_says)
{
    static const char *const works[] = {"ports", "drivers", "sockets"};

    SUPPORT_BPF();
    const struct support_run *r = support_run(
        "BUILD=$(dirname $ERLSNOOP) PYTHONPATH=$SOURCE/tests/stock python3 - <<'END'\n"
        "import check_stock\n"
        "result, = [check_stock.run_case(check_stock.Otp('here'), case) for case in check_stock.CASES if case[0] == '%s']\n"
        "print(result.line(), *result.wrong, sep='\\n')\n"
        "END", works[_i]);

    ck_assert_int_eq(r->status, 0);
    ck_assert_msg(support_lines(r->out, "  exact") == 1, "%s %s", r->out, r->err);
}
END_TEST

Suite *stock_suite(void)
{
    Suite *suite = suite_create("stock");
    TCase *live = tcase_create("live");

    tcase_set_timeout(live, 90);
    tcase_add_loop_test(live, test_stock_spawns_counts_births_and_deaths, 0, 2);
    tcase_add_loop_test(live, test_stock_spawns_counts_reasons_that_are_all_different, 0, 2);
    tcase_add_loop_test(live, test_stock_spawns_tells_what_proc_lib_begins, 0, 2);
    tcase_add_test(live, test_stock_command_tells_what_proc_lib_begins_first);
    tcase_add_loop_test(live, test_stock_msglat_tells_what_proc_lib_begins, 0, 2);
    tcase_add_test(live, test_stock_spawns_events_tell_pids_and_names);
    tcase_add_test(live, test_stock_watch_leaves_out_what_it_cannot_tell);
    tcase_add_loop_test(live, test_stock_gc_tells_collections_of_all_of_a_heap, 0, 2);
    tcase_add_loop_test(live, test_stock_messages_tells_those_that_no_process_sends, 0, 2);
    tcase_add_loop_test(live, test_stock_msglat_tells_who_waits_for_timers_and_ports, 0, 2);
    tcase_add_loop_test(live, test_stock_exits_knows_what_erpc_returns, 0, 2);
    tcase_add_test(live, test_stock_leaves_out_counters_that_it_cannot_tell);
    tcase_add_loop_test(live, test_stock_msglat_counts_messages_and_waits, 0, 2);
    tcase_add_test(live, test_stock_msglat_counts_messages_to_aliases);
    tcase_add_test(live, test_stock_msglat_names_natives_that_go_on);
    tcase_add_test(live, test_stock_msglat_names_what_stays_while_code_is_purged);
    tcase_add_test(live, test_stock_msglat_has_room_for_all_while_code_is_purged);
    tcase_add_test(live, test_stock_efile_counts_operations_and_errors);
    tcase_add_test(live, test_stock_efile_events_tell_what_was_asked);
    tcase_add_test(live, test_stock_efile_tells_who_asked);
    tcase_add_test(live, test_stock_efile_tells_how_long_operations_were_queued);
    tcase_add_loop_test(live, test_stock_tells_ports_as_the_work_says, 0, 3);
    tcase_add_test(live, test_stock_all_sees_vms_that_start_later);
    tcase_add_test(live, test_stock_all_forgets_vms_that_have_ended);
    tcase_add_test(live, test_stock_all_forgets_callbacks_of_vms_that_have_ended);
    tcase_add_test(live, test_stock_all_forgets_who_waited_in_vms_that_have_ended);
    tcase_add_test(live, test_stock_all_forgets_natives_of_those_that_have_ended);
    tcase_add_test(live, test_stock_command_is_watched_when_it_is_up);
    tcase_add_test(live, test_stock_command_is_late_by_its_own_time_alone);
    tcase_add_test(live, test_stock_command_may_start_vms_one_after_the_other);
    tcase_add_test(live, test_stock_vm_whose_file_was_replaced_is_watched);
    tcase_add_test(live, test_stock_vm_survives_attaching_under_load);
    tcase_add_test(live, test_stock_refuses_a_file_that_is_not_as_it_should_be);
    suite_add_tcase(suite, live);
    return suite;
}
