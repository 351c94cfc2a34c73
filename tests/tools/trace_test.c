/* SPDX-License-Identifier: Apache-2.0 */
/* erlsnoop trace and report on erlvms that run: what the programs did is in the recording, exactly. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "recording/recording_write.h"
#include "support.h"
#include "support_late.h"
#include "support_page.h"

#define VM "$ERLVM -quick +S 2 -pa $BEAMS -s probe_target"

/* 23 children end with probe_reason; each is told by one birth and one death, in this order. */
START_TEST(test_trace_records_what_happened)
{
    SUPPORT_BPF();
    const struct support_run *r = support_run("$ERLSNOOP trace --json -o r processes -- " VM " spawn\n"
                                              "$ERLSNOOP report --json r; $ERLSNOOP report --json --events r | grep -v report > e\n"
                                              "echo deaths $(grep -c 'process__exit\".*\"reason\":\"probe_reason\"' e)\n"
                                              "echo births $(grep -c 'process__spawn\".*\"mfa\":\"probe_target:child/1\"' e)\n"
                                              "cut -d, -f1 e | sort -c && echo in order");

    ck_assert_int_eq(r->status, 0);
    ck_assert(strstr(r->out, "deaths 23\nbirths 23\nin order\n") != NULL);
    ck_assert_int_eq(support_number(r->out, "\"type\":\"trace\"", "lost_pages"), 0);
    ck_assert_int_eq(support_number(r->out, "\"type\":\"trace\"", "events"), support_number(r->out, "\"type\":\"report\"", "events"));
    ck_assert_ptr_null(strstr(r->out, "\"type\":\"lost\""));
    ck_assert_ptr_null(strstr(r->out, "message__send"));
    ck_assert_msg(support_lines(r->err, "is recorded in 'r'") == 1, "%s", r->err);
    ck_assert(strstr(r->out, "\"name\":\"probe_target\"") || strstr(r->out, "\"name\":\"erlvm\""));
}
END_TEST

/* What programs get says the same in both forms: file:consult/1 reads the terms, and each is the object of its line. */
START_TEST(test_terms_say_what_json_says)
{
    SUPPORT_BPF();
    const struct support_run *r = support_run(
        "cat > j << 'E'\n#!/usr/bin/env escript\n"
        "main([File]) -> io:setopts([{encoding, unicode}]), {ok, Terms} = file:consult(File),\n"
        "  [io:format(\"~ts~n\", [[\"{\", lists:join(\",\", [[$\", atom_to_list(K), \"\\\":\", json(V)] || {K, V} <- maps:to_list(T)]), \"}\"]]) || T <- Terms].\n"
        "json(V) when is_integer(V), V > 1 bsl 60 -> [$\", calendar:system_time_to_rfc3339(V div 1000, [{unit, microsecond}, {offset, \"Z\"}]), $\"];\n"
        "json(V) when is_list(V) -> [\"[\", lists:join(\",\", [json(E) || E <- V]), \"]\"];\n"
        "json(V) when is_tuple(V) -> json(tuple_to_list(V));\n"
        "json(V) when is_atom(V) -> [$\", atom_to_list(V), $\"];\n"
        "json(V) when is_float(V) -> float_to_list(V, [{decimals, 3}]);\n"
        "json(V) -> io_lib:format(\"~tp\", [if is_binary(V) -> unicode:characters_to_list(V); true -> V end]).\nE\n"
        "chmod +x j; $ERLSNOOP trace -o r -- " VM " spawn > t\n"
        "for o in spawns,msglat,exits '--events all'; do $ERLSNOOP report r --json $o > json; $ERLSNOOP report r --terms $o > terms; ./j terms > both\n"
        "python3 -c \"\n"
        "import json\n"
        "a, b = ([json.loads(line) for line in open(name)] for name in ('json', 'both'))\n"
        "print([(x, y) for x, y in zip(a, b) if x != y], len(a) == len(b), len(a) > 4, {'slots', 'time', 'type'} <= {k for x in a for k in x} or '$o')\"; done");

    ck_assert_msg(!strcmp(r->out, "[] True True True\n[] True True --events all\n"), "%s%s", r->out, r->err);
}
END_TEST

/* The same run, told by notes with texts to the view, and by the recording: the same rows. Both begin once the VM
 * has. */
START_TEST(test_report_of_a_view_tells_what_the_view_told)
{
    SUPPORT_BPF();
    const struct support_run *r = support_run(
        "cat > w.erl << 'E'\n-module(w).\n-export([start/0, c/1, d/0]).\n"
        "start() -> receive after 20 -> ok end, prim_file:write_file(\"up\", \"1\"), idle().\n"
        "idle() -> case prim_file:read_file_info(\"go\") of {ok, _} -> work(23); _ -> receive after 20 -> idle() end end.\n"
        "work(0) -> halt();\n"
        "work(N) -> [wait(spawn_monitor(?MODULE, c, [X])) || X <- [normal, {a, N}, {N + 1000, a}, [a], \"s\", #{}, 1.0, 1000, 7, {b}, self()]],\n"
        "  wait(spawn_monitor(?MODULE, d, [])), work(N - 1).\n"
        "wait({P, R}) -> receive {'DOWN', R, process, P, _} -> ok end.\nc(X) -> exit(X).\nd() -> ok.\nE\nerlc w.erl\n"
        "$ERLVM -quick +S 2 -pa . -s w & p=$!; await up; $ERLSNOOP spawns --source notes --json -p $p > live & a=$!\n"
        "$ERLSNOOP trace -o r -p $p spawns > t & b=$!\n"
        "attached $a; attached $b; touch go; wait $a $b; $ERLSNOOP report r --json spawns > told\n"
        "rows() { grep -E 'by_mfa|by_reason' $1 | cut -d, -f2- | sort; }; rows live > l; rows told > t; cmp l t && echo same; wc -l < l\n"
        "cat live; $ERLSNOOP report r --json --events spawns | grep -c '\"event\":\"death\"'");

    ck_assert_msg(!strncmp(r->out, "same\n", 5), "%s%s", r->out, r->err);
    ck_assert_int_eq(atoi(r->out + 5), 13); /* 11 reasons, normal twice, and 2 functions */
    ck_assert_int_eq(support_number(r->out, "\"mfa\":\"w:c/1\"", "count"), 11 * 23);
    ck_assert_int_eq(support_number(r->out, "\"reason\":\"{a,...}\"", "count"), 23);
    ck_assert(strstr(r->out, "\n276\n") != NULL);
}
END_TEST

/*
 * 23 births some hundredths of a second apart, told by the tenth of a second and all at once: each is in one result. With
 * -T each result begins with its time, which the members of --json have.
 */
START_TEST(test_report_tells_intervals)
{
    SUPPORT_BPF();
    const struct support_run *r = support_run(
        "printf '%%s\\n' '-module(b).' '-export([start/0, c/0]).' 'start() -> steps(23).' 'c() -> ok.' \\\n"
        " 'steps(0) -> halt();' 'steps(N) -> spawn(b, c, []), receive after 20 -> steps(N - 1) end.' > b.erl; erlc b.erl\n"
        "$ERLSNOOP trace -o r spawns,gc,nonsense 2> /dev/null > /dev/null; echo status $?\n"
        "$ERLSNOOP trace -o r spawns,gc -- $ERLVM -quick -pa . -s b > t; $ERLSNOOP report r spawns,gc .1 --json > told; echo status $?\n"
        "grep '\"mfa\":\"b:c/0\"' told | grep -o 'count\":[0-9]*' | cut -d: -f2 | awk '{ s += $1; n++ } END { print \"{\\\"sum\\\":\" s \",\\\"n\\\":\" n \"}\" }'\n"
        "grep -c '\"type\":\"gc\",' told; $ERLSNOOP report r spawns | grep -c ' VM '\n"
        "grep -o '\"time\":\"[^\"]*' told | grep -oE '..\\.[0-9]{6}' | uniq > times; $ERLSNOOP report r spawns,gc .1 -T | "
        "grep -E '^[0-9:]{8}\\.[0-9]{6}$' | cut -d: -f3 | cmp - times && [ $(sort -u times | wc -l) -gt 1 ] && echo timed");

    ck_assert_msg(strstr(r->out, "\ntimed\n") != NULL, "%s%s", r->out, r->err);
    ck_assert_msg(strstr(r->out, "status 2\nstatus 0\n") != NULL, "%s%s", r->out, r->err);
    ck_assert_int_eq(support_number(r->out, "sum", "sum"), 23);
    ck_assert_int_gt(support_number(r->out, "sum", "n"), 1);
    ck_assert_msg(strstr(r->out, "}\n0\n") == NULL && strstr(r->out, "\n0\n") != NULL, "%s", r->out); /* results of both; no column VM */
}
END_TEST

/* Births with three seconds between, told by the fiftieth of a second: not all of the 150 empty results are printed. */
START_TEST(test_report_leaves_gaps_out)
{
    SUPPORT_BPF();
    const struct support_run *r = support_run(
        "printf '%%s\\n' '-module(b).' '-export([start/0, c/0]).' 'c() -> ok.' \\\n"
        " 'start() -> spawn(b, c, []), receive after 3000 -> spawn(b, c, []) end, receive after 100 -> halt() end.' > b.erl\n"
        "erlc b.erl; $ERLSNOOP trace -o r spawns -- $ERLVM -quick -pa . -s b > t\n"
        "$ERLSNOOP report r spawns .02 -T --json | grep '\"mfa\":\"b:c/0\"' | grep -o 'count\":[0-9]*' | cut -d: -f2 | \\\n"
        " awk '{ s += $1; n++ } END { print \"{\\\"sum\\\":\" s \",\\\"n\\\":\" n \"}\" }'\n"
        "$ERLSNOOP report r spawns .02 -T | grep -cE '^[0-9:]{8}\\.[0-9]{6}$' > n; [ $(cat n) -lt 100 ] && echo few");

    ck_assert_int_eq(support_number(r->out, "sum", "sum"), 2);
    ck_assert_int_eq(support_number(r->out, "sum", "n"), 2);
    ck_assert_msg(strstr(r->out, "few") != NULL, "%s", r->out);
    ck_assert_msg(strstr(r->err, "empty results are left out") != NULL, "%s", r->err);
}
END_TEST

/*
 * Processes that were there before the recording have their names in it: of one that is registered, and of one that is
 * known by what it is to do. In each file of it.
 */
START_TEST(test_report_names_processes_that_were_there_before)
{
    static const char *const limits[] = {"", "--max-time 200ms --files 3"};

    SUPPORT_BPF();
    const struct support_run *r = support_run(
        "erlc $SOURCE/tests/tools/stacks_target.erl; $ERLVM -noshell -pa . -s stacks_target servers > vm.log 2>&1 & p=$!\n"
        "comes ready; $ERLSNOOP trace -o r %s -p $p sched > t & a=$!; attached $a\n"
        "until [ $(stat -c %%s r) -gt 2000 ] && { [ -z \"%s\" ] || [ -e r.1 ]; }; do sleep .1; done\n"
        "until $ERLSNOOP report r --json sched | grep -q nap/1; do kill -0 $a || break; sleep .3; done\n"
        "kill -INT $a; wait $a; kill $p; $ERLSNOOP report r --json sched; echo status $?", limits[_i], limits[_i]);

    ck_assert_msg(strstr(r->out, "status 0") != NULL, "%s%s", r->out, r->err);
    ck_assert_msg(support_lines(r->out, "\"owner\":\"stacks_target:nap/1\"") > 0, "%s", r->out);
    ck_assert_msg(support_lines(r->out, "\"owner\":\"<0.") == 0, "%s", r->out);
}
END_TEST

/*
 * Processes born while it was recorded, in a file long gone: the last file alone tells their names, and no birth. The
 * VM's one scheduler hands over its pages in their order, so two files later none of these births can come. Two tables
 * of the view are by owner.
 */
START_TEST(test_report_names_processes_born_in_an_earlier_file)
{
    SUPPORT_BPF();
    const struct support_run *r = support_run(
        "cat > born.erl << 'E'\n-module(born).\n-export([start/0, c/0]).\n"
        "start() -> case prim_file:read_file_info(\"go\") of {ok, _} -> born(); _ -> receive after 20 -> start() end end.\n"
        "born() -> [spawn(?MODULE, c, []) || _ <- lists:seq(1, 23)], prim_file:write_file(\"born\", \"1\"), c().\n"
        "c() -> receive after 5 -> c() end.\nE\nerlc born.erl\n"
        "$ERLVM -quick +S 1 -pa . -s born & p=$!; runs $p erlvm\n"
        "$ERLSNOOP trace -o r -p $p --max-time 200ms --files 1000 sched spawns > t & a=$!; attached $a; touch go; await born\n"
        "n=$(ls r.* 2> /dev/null | wc -l); await r.$((n + 3)); kill -INT $a; wait $a; echo status $?; kill $p\n"
        "$ERLSNOOP report --events r process-spawn | grep -c born:c/0; $ERLSNOOP report r --json sched");

    ck_assert_msg(strstr(r->out, "status 0\n0\n") != NULL, "%s%s", r->out, r->err);
    ck_assert_msg(support_lines(r->out, "\"owner\":\"born:c/0\"") == 2, "%s", r->out);
    ck_assert_msg(support_lines(r->out, "\"owner\":\"<0.") == 0, "%s", r->out);
}
END_TEST

/* Names that processes register while it is recorded, one born before: the last file alone tells them too. */
START_TEST(test_report_names_processes_that_register_later)
{
    SUPPORT_BPF();
    const struct support_run *r = support_run(
        SUPPORT_LATE_NAMES
        "$ERLSNOOP trace -o r -p $p --max-time 200ms --files 1000 sched spawns > t & a=$!; attached $a; touch go; await named\n"
        "n=$(ls r.* 2> /dev/null | wc -l); await r.$((n + 3)); kill -INT $a; wait $a; echo status $?; kill $p\n"
        "$ERLSNOOP report r --json sched");

    ck_assert_msg(strstr(r->out, "status 0\n") != NULL, "%s%s", r->out, r->err);
    ck_assert_msg(support_lines(r->out, "\"owner\":\"known\"") == 2, "%s", r->out);
    ck_assert_msg(support_lines(r->out, "\"owner\":\"young\"") == 2, "%s", r->out);
    ck_assert_msg(support_lines(r->out, "\"owner\":\"late:c/0\"") == 0, "%s", r->out);
}
END_TEST

/* Which exits are orderly is told by the names of their reasons: 11 children end as they should, 23 with probe_reason. */
START_TEST(test_report_tells_orderly_exits_from_others)
{
    SUPPORT_BPF();
    const struct support_run *r = support_run(
        "cat > o.erl << 'E'\n-module(o).\n-export([start/0]).\n"
        "start() -> [wait(X) || X <- lists:duplicate(11, normal) ++ lists:duplicate(7, shutdown) ++ lists:duplicate(23, probe_reason)], halt().\n"
        "wait(X) -> {P, R} = spawn_monitor(fun() -> exit(X) end), receive {'DOWN', R, process, P, _} -> ok end.\nE\nerlc o.erl\n"
        "$ERLSNOOP trace -o r exits -- $ERLVM -quick +S 2 -pa . -s o > t; $ERLSNOOP report r --json exits");

    ck_assert_msg(support_number(r->out, "\"reason\":\"probe_reason\"", "count") == 23, "%s%s", r->out, r->err);
    ck_assert_ptr_null(strstr(r->out, "\"reason\":\"normal\""));
    ck_assert_ptr_null(strstr(r->out, "\"reason\":\"shutdown\""));
}
END_TEST

/* What was not asked for is not told as if nothing had happened. */
START_TEST(test_report_refuses_what_was_not_recorded)
{
    SUPPORT_BPF();
    const struct support_run *r = support_run("$ERLSNOOP trace -o r process__exit -- " VM " spawn > t\n"
                                              "for what in nifs gc message__send; do $ERLSNOOP report r $what; echo $what $?; done\n"
                                              "$ERLSNOOP report --json r exits");

    ck_assert_ptr_nonnull(strstr(r->out, "nifs 1\ngc 1\nmessage__send 1\n"));
    ck_assert_int_eq(support_lines(r->err, "'r' was recorded without the events of "), 3);
    ck_assert_int_eq(support_number(r->out, "\"reason\":\"probe_reason\"", "count"), 23);
    ck_assert_int_eq(support_lines(r->err, "'r' was recorded without process__spawn"), 1);
}
END_TEST

/* Ctrl-C: what threads that sleep hold in their pages is recorded too. The program says a line once it has done its births. */
START_TEST(test_trace_is_whole_after_a_signal)
{
    SUPPORT_BPF();
    const struct support_run *r = support_run("$ERLSNOOP trace -o r -- " VM " rest 2> up > t & p=$!; until grep -q ^rests up; do sleep .02; done; kill -INT $p; wait $p; echo status $?\n"
                                              "$ERLSNOOP report --json --events r | grep -c '\"reason\":\"probe_reason\"'");

    ck_assert_str_eq(r->out, "status 0\n23\n");
}
END_TEST

/* One of these two, only what came after that, and not what another asks of it at the same time. */
START_TEST(test_trace_records_a_vm_that_runs)
{
    SUPPORT_BPF();
    const struct support_run *r = support_run(
        "cat > busy.erl << 'E'\n-module(busy).\n-export([start/0, child/1]).\n"
        "start() -> erlang:display_string(\"up\\n\"), loop().\n"
        "loop() -> {P, R} = spawn_monitor(?MODULE, child, [1]), receive {'DOWN', R, process, P, _} -> ok end, loop().\n"
        "child(N) -> exit({odd, N}).\nE\nerlc busy.erl\n"
        "$ERLVM -quick -pa . -s busy 2> up.a & a=$!; $ERLVM -quick -pa . -s busy 2> up.b & b=$!; await up.a; await up.b\n"
        "$ERLSNOOP spawns -p $a > /dev/null 2> said & k=$!; attached $k\n"
        "$ERLSNOOP trace -o r -p $a process-exit --max-time 300ms --files 1 > t; echo status $?; kill $a $b; wait $k\n"
        "$ERLSNOOP report r --json --events > e; echo others $(grep '\"event\"' e | grep -vc \"\\\"vm\\\":$a,.*\\\"reason\\\":\\\"{odd,...}\\\"\")\n"
        "echo some $(grep -c odd e)");

    ck_assert_msg(strstr(r->out, "status 0\nothers 0\nsome ") != NULL, "%s%s", r->out, r->err);
    ck_assert(strstr(r->out, "some 0\n") == NULL);
    ck_assert(strstr(r->err, "'r' is as long as it may be") != NULL);
}
END_TEST

/* Both, beside a stock one that rests. */
START_TEST(test_trace_records_all_vms)
{
    SUPPORT_BPF();
    const struct support_run *r = support_run(
        "printf '%%s\\n' '-module(b).' '-export([start/0, c/0]).' 'start() -> spawn(b, c, []), receive after 5 -> start() end.' 'c() -> ok.' > b.erl; erlc b.erl\n"
        "erl -noinput > erl.log & o=$!; runs $o beam.smp\n"
        "for i in 1 2; do $ERLVM -quick -pa . -s b & p[i]=$!; runs $! erlvm; done\n"
        "$ERLSNOOP trace -a -o r process-exit > t 2> err & e=$!; until $ERLSNOOP report --events r 2> /dev/null > e; grep -q \"${p[1]} .*normal\" e && grep -q \"${p[2]} .*normal\" e\n"
        "do sleep .2; done; kill -INT $e; wait $e; echo status $?; kill $o ${p[1]} ${p[2]}; $ERLSNOOP report r | grep -cE \" (${p[1]}|${p[2]}) b$\"; grep -v 'is stopped by a signal' err"); /* another's VM may be */

    ck_assert_msg(!strcmp(r->out, "status 0\n2\nerlsnoop: every Erlang VM is recorded in 'r'; Ctrl-C ends\n"), "%s%s", r->out, r->err);
}
END_TEST

START_TEST(test_trace_goes_on_in_another_file)
{
    SUPPORT_BPF();
    const struct support_run *r = support_run(
        "printf '%%s\\n' '-module(b).' '-export([start/0, c/0]).' 'start() -> spawn(b, c, []), start().' 'c() -> ok.' > b.erl; erlc b.erl\n"
        "$ERLVM -quick -pa . -s b & p=$!; runs $p erlvm; $ERLSNOOP trace -o r -p $p --max-size 64K --files 3 > t & e=$!\n"
        "await r.2; await r.1; kill -INT $e; wait $e; echo status $?; kill $p\n"
        "for f in r.2 r.1; do [ $(stat -c %%s $f) -le 65536 ] && $ERLSNOOP report --json $f | grep -c '\"report\",\"events\":[1-9]'; done; ls r.*\n"
        "$ERLSNOOP report r.2 r.1 r > all; echo status $?");

    ck_assert_str_eq(r->out, "status 0\n1\n1\nr.1\nr.2\nstatus 0\n");
}
END_TEST

/*
 * Threads of an erlvm have told the names of their atoms to the first watcher, and tell them again a second later: none
 * of ten short recordings lacks one at its first event, whenever it begins. Half of them are limited.
 */
START_TEST(test_trace_knows_names_that_another_watcher_was_told)
{
    SUPPORT_BPF();
    const struct support_run *r = support_run(
        "cat > b.erl <<'END'\n-module(b).\n-export([start/0, loop/0, pass/0]).\n"
        "start() -> file:write_file(\"ready\", \"1\"), loop().\npass() -> ok.\n"
        "loop() -> spawn(b, pass, []), timer:sleep(5), loop().\nEND\n"
        "erlc b.erl; $ERLVM +S 1 -noshell -pa . -s b & p=$!; await ready\n"
        "$ERLSNOOP watch spawns,exits -p $p > first & f=$!; attached $f\n"
        "for limit in 8M 1G 8M 1G 8M 1G 8M 1G 8M 1G; do\n"
        "$ERLSNOOP trace -o r -p $p --max-size $limit spawns exits > t & e=$!\n"
        "attached $e; kill -INT $e; wait $e || echo failed; $ERLSNOOP report --events r process-spawn > said\n"
        "grep -q 'mfa=b:pass/0' said || cat said t; grep -m 1 'atom#' said; done; kill -INT $f; wait $f; kill $p");

    ck_assert_msg(!*r->out, "%s%s", r->out, r->err);
}
END_TEST

/* No room: one line, status 1, and what was written is read. */
START_TEST(test_trace_on_a_full_disk_keeps_what_was_written)
{
    SUPPORT_BPF();
    const struct support_run *r = support_run(
        "printf '%%s\\n' '-module(b).' '-export([start/0, c/0]).' 'start() -> spawn(b, c, []), start().' 'c() -> ok.' > b.erl; erlc b.erl\n"
        "$ERLVM -quick -pa . -s b & p=$!; runs $p erlvm; (ulimit -f 1024; $ERLSNOOP trace -o r -p $p > t); echo status $?; kill $p\n"
        "$ERLSNOOP report --json r | grep '\"type\":\"report\"'; echo status ${PIPESTATUS[0]}");

    ck_assert_msg(!strncmp(r->out, "status 1\n", 9), "%s%s", r->out, r->err);
    ck_assert(strstr(r->err, "cannot write 'r': File too large; what was written until then can be read") != NULL);
    ck_assert_int_gt(support_number(r->out, "\"type\":\"report\"", "events"), 0);
    ck_assert(strstr(r->out, "status 1\n{") != NULL);
    ck_assert_msg(strstr(r->err, "it is cut off at byte 1048576") != NULL || /* or it ended with a chunk */
                      strstr(r->err, "its writer was ended before its time") != NULL, "%s", r->err);
}
END_TEST

/* ---- the flight recorder */

/* The last two seconds, when a signal asks and when the VM ends: the program does 23 births, sleeps 3 s, does them again, and rests. */
#define TWICE                                                                                          \
    "cat > twice.erl << 'E'\n-module(twice).\n-export([start/0, first/0, second/0]).\n"                \
    "start() -> [spawn(?MODULE, first, []) || _ <- lists:seq(1, 23)], receive after 3000 -> ok end,\n" \
    "  [spawn(?MODULE, second, []) || _ <- lists:seq(1, 23)], erlang:display_string(\"up\\n\"), receive after 1500 -> halt() end.\n" \
    "first() -> ok.\nsecond() -> ok.\nE\nerlc twice.erl\n"

START_TEST(test_trace_ring_is_written_when_the_vm_ends)
{
    SUPPORT_BPF();
    const struct support_run *r = support_run(TWICE "$ERLSNOOP trace --ring 2500ms -o r processes -- $ERLVM -quick -pa . -s twice 2> err > t; echo status $?\n"
                                              "$ERLSNOOP report --json --events r > e; grep -c twice:first/0 e; grep '\"process__spawn' e | grep -c twice:second/0\n"
                                              "grep -o 'the VM ended.*' err; ls r*");

    ck_assert_str_eq(r->out, "status 0\n0\n23\nthe VM ended: 'r' holds the last 2.5 s\nr\n");
}
END_TEST

START_TEST(test_trace_ring_is_written_on_a_signal)
{
    SUPPORT_BPF();
    const struct support_run *r = support_run(TWICE "$ERLSNOOP trace --ring 60s -o r processes -- $ERLVM -quick -pa . -s twice 2> up > t & p=$!; until grep -q ^up up; do sleep .02; done\n"
                                              "kill -USR1 $p; until grep -q asked up; do sleep .02; done; $ERLSNOOP report --json --events r > e\n"
                                              "grep '\"process__spawn' e | grep -c twice:first/0; wait $p; echo status $?; $ERLSNOOP report --json --events r.1 | cmp - e && echo same\n"
                                              "$ERLSNOOP report --json --events r | grep '\"process__spawn' | grep -c twice:second/0");

    ck_assert_str_eq(r->out, "23\nstatus 0\nsame\n23\n");
}
END_TEST

/* A full disk: it is said in one line, and what memory holds is written when there is room. At the end, what fits. */
START_TEST(test_trace_ring_goes_on_when_the_disk_is_full)
{
    SUPPORT_BPF();
    const struct support_run *r = support_run(
        "printf '%%s\n' '-module(b).' '-export([start/0, c/0]).' 'c() -> ok.' \\\n"
        " 'start() -> [round() || _ <- lists:seq(1, 200)], prim_file:delete(\"many\"), start().' \\\n"
        " 'round() -> [spawn(b, c, []) || _ <- lists:seq(1, 500)], receive after 5 -> ok end.' > b.erl; erlc b.erl\n"
        "many() { for i in 1 2; do touch many; while [ -e many ]; do kill -0 $p || break; sleep .05; done; done; }\n"
        "says() { until [ $(grep -c \"$1\" err) -ge $2 ]; do kill -0 $e || { echo ended; break; }; sleep .05; done; }\n"
        "$ERLVM -quick -pa . -s b & p=$!; runs $p erlvm; (ulimit -S -f 100; exec $ERLSNOOP trace --ring 60s -o r -p $p > t 2> err) & e=$!\n"
        "attached $e; many\n"
        "for i in 1 2; do kill -USR1 $e; says 'cannot write .r.: File too large; it is kept in memory' $i; done; ls r*\n"
        "prlimit --pid $e --fsize=unlimited:; kill -USR1 $e; says asked 1; $ERLSNOOP report r --json | grep -c '\"report\",\"events\":[1-9]'\n"
        "cp r good; many; prlimit --pid $e --fsize=$(($(stat -c %%s r) / 3 * 2)):; kill -INT $e; wait $e; echo status $?; kill $p\n"
        "cmp good r.1 && echo kept; $ERLSNOOP report r --json | grep -c '\"report\",\"events\":[1-9]'; echo status ${PIPESTATUS[0]}; ls r*; cat err");

    ck_assert_msg(!strncmp(r->out, "r\n1\nstatus 1\nkept\n1\nstatus 0\nr\nr.1\n", 35), "%s%s", r->out, r->err);
    ck_assert_msg(strstr(r->out, "File too large; the newest of it, as much as could be written, can be read\n"), "%s", r->out);
    ck_assert_int_eq(support_lines(r->out, "erlsnoop: "), 5);
}
END_TEST

/* The files of an earlier recording of that name are not taken for the beginning of this one. */
START_TEST(test_trace_removes_files_of_an_earlier_recording)
{
    SUPPORT_BPF();
    const struct support_run *r = support_run(
        "$ERLSNOOP trace -o r processes -- " VM " spawn > t; cp r r.1; cp r r.2; echo text > r.4\n"
        "$ERLSNOOP trace -o r processes -- " VM " spawn 2> err > t; echo status $?; ls r*; grep -c 'removed what an earlier .*: 2 files' err");

    ck_assert_msg(!strcmp(r->out, "status 0\nr\nr.4\n1\n"), "%s%s", r->out, r->err);
}
END_TEST

/* Births come at two moments, 3 s apart: for each the last second meets the threshold once. */
START_TEST(test_trace_ring_is_written_when_a_threshold_is_met)
{
    SUPPORT_BPF();
    const struct support_run *r = support_run(TWICE "$ERLSNOOP trace --ring 60s --when 'spawns.births > 20' --files 9 -o r processes -- $ERLVM -quick -pa . -s twice 2> err > t\n"
                                              "echo status $?; grep -c 'spawns.births > 20: .r. holds' err; for f in r.2 r.1 r; do\n"
                                              "$ERLSNOOP report --json --events $f > e; grep '\"process__spawn' e | grep -c first/0; grep '\"process__spawn' e | grep -c second/0; done");

    ck_assert_msg(!strcmp(r->out, "status 0\n2\n23\n0\n23\n23\n23\n23\n"), "%s%s", r->out, r->err);
}
END_TEST

/* What the threshold asked for stays in the file that was named when we are told to end. */
START_TEST(test_trace_ring_that_a_threshold_asked_for_stays)
{
    SUPPORT_BPF();
    const struct support_run *r = support_run("cat > bursts.erl << 'E'\n-module(bursts).\n-export([start/0, born/0]).\n"
                                              "start() -> [spawn(?MODULE, born, []) || _ <- lists:seq(1, 23)], receive after 2000 -> start() end.\n"
                                              "born() -> ok.\nE\nerlc bursts.erl; $ERLVM -quick -pa . -s bursts > /dev/null & p=$!; runs $p erlvm\n"
                                              "$ERLSNOOP trace --ring 60s --when 'spawns.births > 20' -o r -p $p processes 2> err > t & e=$!\n"
                                              "until grep -q 'births > 20: .r. holds' err; do kill -0 $e || break; sleep .05; done; kill -INT $e; wait $e; s=$?\n"
                                              "grep -o 'ended by a signal.*' err; ls r*; kill $p; exit $s");

    ck_assert_msg(!r->status, "%s%s", r->out, r->err);
    ck_assert_str_eq(r->out, "ended by a signal: 'r' stays as 'spawns.births > 20' asked for it\nr\n");
}
END_TEST

/* ---- what cannot be */

static const struct {
    const char *script, *says;
    int status;
} refused[] = {
    {"$ERLSNOOP trace -p $$", "a file is missing: -o FILE", 2},
    {"$ERLSNOOP trace -o r nonsense", "no probe, family of probes or view is called 'nonsense'", 2},
    {"$ERLSNOOP trace -o r --max-size 5", "--max-size must be a size with its unit", 2},
    {"$ERLSNOOP trace -o r --max-size 1K", "64K at least", 2},
    {"$ERLSNOOP trace -o r --max-time 5", "--max-time must be a time with its unit", 2},
    {"$ERLSNOOP trace -o r --files 0", "--files must be a number from 1", 2},
    {"echo text > r.1; $ERLSNOOP trace -o r --ring 1s -- " VM " spawn", "'r.1' is no recording, and would be replaced", 1},
    {"mkfifo f; $ERLSNOOP trace -o f --max-size 1M -- " VM " spawn", "it is no regular file, and cannot become 'f.1'; choose --files 1", 1},
    {"$ERLSNOOP trace -o r -p $$ --budget 10%", "trace keeps no budget", 2},
    {"$ERLSNOOP trace -o r --ring 1s --max-time 1s", "choose one of --ring and --max-time", 2},
    {"$ERLSNOOP trace -o r --ring 1s --when msglat", "--when must be VIEW.COLUMN > VALUE", 2},
    {"$ERLSNOOP trace -o r --ring 1s --when 'msglat.p98 > 5ms'", "no view has a column 'msglat.p98'", 2},
    {"$ERLSNOOP trace -o r --ring 1s --when 'msglat.p99 > 5'", "must be a time with its unit", 2},
    {"$ERLSNOOP trace -o r --ring 1s --when 'spawns.births > 5ms'", "must be a number", 2},
    {"$ERLSNOOP trace -o r --ring 1s --when 'spawns.births > 5 or so'", "--when must be", 2},
    {"$ERLSNOOP trace -o r --when 'spawns.births > 5'", "--when needs --ring", 2},
    {"$ERLSNOOP trace -o", "a value is missing after '-o'", 2},
    {"touch a b; $ERLSNOOP report a b ./a", "'./a' is given twice, and would be counted twice", 2},
    {"touch a; $ERLSNOOP report a msglat nothing", "cannot read 'nothing': No such file or directory; nor is a view", 1},
    {"touch a; $ERLSNOOP report a msglat 1 2", "unexpected argument '2': a recording has an end", 2},
    {"$ERLSNOOP trace -o /nowhere/r -- " VM " spawn", "cannot write '/nowhere/r': No such file", 1},
    {"$ERLSNOOP trace -o /dev/full -- " VM " spawn", "cannot write '/dev/full': No space left", 1},
    {"$ERLSNOOP trace -o r --source texts", "--source must be batches or notes, not 'texts'", 2},
    {"erl -noinput -eval 'file:write_file(\"up\", \"1\").' & p=$!; await up; $ERLSNOOP trace -o r -p $p user_trace-i4s4; s=$?; kill $p; [ -e r ] && exit 3; exit $s",
     "has none of the events to record; erlsnoop doctor -p", 1},
    {"$ERLSNOOP report", "a file is missing", 2},
    {"$ERLSNOOP report nothing", "cannot read 'nothing': No such file", 1},
    {"$ERLSNOOP report $ERLSNOOP", "is no recording of erlsnoop trace", 1},
    {"$ERLSNOOP report /dev/null", "is no recording of erlsnoop trace", 1},
    {"$ERLSNOOP report .", "is no recording of erlsnoop trace", 1},
};

START_TEST(test_trace_refuses_in_one_line)
{
    if (strstr(refused[_i].script, "trace") && refused[_i].status == 1)
        SUPPORT_BPF();
    const struct support_run *r = support_run("%s", refused[_i].script);

    ck_assert_int_eq(r->status, refused[_i].status);
    ck_assert_msg(strstr(r->err, refused[_i].says) != NULL, "%s", r->err);
}
END_TEST

/* ---- recordings by hand */

/* A recording of one VM whose name and whose atoms are hostile. */
static void write_hostile(const char *path)
{
    struct recording_plan plan = {.path = path, .writer = "test", .files = 1};
    struct recording_writer *w;
    struct support_page p;

    ck_assert_int_eq(recording_begin(&plan, &w), 0);
    ck_assert_int_eq(recording_vm(w, 17, "\033]0;x\a\n\xff", &(struct wanted){{0}}), 0);
    support_page_begin(&p, 17, 1, 1, 0, 1000);
    support_page_atom(&p, 1, "\033[2J\x80\"\\\t\n\xe2\x80\xae");
    support_page_head(&p, BATCH_process__spawn, 2, 1000);
    support_page_word(&p, 0);
    support_page_word(&p, (uint64_t)1 << 33 | 1 << 8 | 2);
    support_page_head(&p, BATCH_process__exit, 2, 1000);
    support_page_word(&p, UINT64_MAX);
    support_page_word(&p, UINT64_MAX);
    ck_assert_int_eq(recording_page(w, support_page_end(&p, 1010)), 0);
    ck_assert_int_eq(recording_end(w, NULL), 0);
}

START_TEST(test_report_escapes_what_it_tells)
{
    char path[] = "/tmp/hostile.XXXXXX";
    const struct support_run *r;

    close(mkstemp(path));
    write_hostile(path);
    r = support_run("$ERLSNOOP report --events %s > t; $ERLSNOOP report --events --json %s > j\n"
                    "LC_ALL=C grep -c $'[\\x01-\\x09\\x0b-\\x1f\\x7f\\x80-\\xff]' t j; wc -l < j\n"
                    "python3 -c 'import sys,json\nfor l in sys.stdin: json.loads(l)' < j && echo parsed; cat t", path, path);
    unlink(path);
    ck_assert_msg(!strncmp(r->out, "t:0\nj:0\n7\nparsed\n", 17), "%s", r->out);
    ck_assert(strstr(r->out, "process__spawn       pid=undefined mfa='\\x1b[2J\\x80\"\\\\\\x09\\x0a") != NULL);
}
END_TEST

/* Each kind of line that a report prints stands in the manual, with each of its members. */
START_TEST(test_report_prints_json_that_the_manual_has)
{
    char path[] = "/tmp/manual.XXXXXX";
    const struct support_run *r;

    close(mkstemp(path));
    write_hostile(path);
    r = support_run("$ERLSNOOP report --json %s > j; m=$SOURCE/docs/erlsnoop.md\n"
                    "for t in $(grep -o '\"type\":\"[a-z_]*' j | sort -u); do grep -q \"^| .*\\`${t##*\\\"}\\`\" $m || echo no $t; done\n"
                    "for k in $(grep -o '\"[a-z_]*\":' j | tr -d '\":' | sort -u); do grep -q \"^| .*\\b$k\\b\\|\\`$k\\`\" $m || echo no $k; done; wc -l < j", path);
    unlink(path);
    ck_assert_str_eq(r->out, "5\n");
}
END_TEST

/* What a thread told before we watched it tells again later: the events before that have its name too. */
START_TEST(test_report_knows_names_that_are_told_late)
{
    char path[] = "/tmp/late.XXXXXX";
    struct recording_plan plan = {.path = path, .writer = "test", .files = 1};
    const struct support_run *r;
    struct recording_writer *w;
    struct support_page p;

    close(mkstemp(path));
    ck_assert_int_eq(recording_begin(&plan, &w), 0);
    support_page_begin(&p, 17, 1, 1, 0, 1000);
    support_page_head(&p, BATCH_process__spawn, 2, 1000);
    support_page_word(&p, 0);
    support_page_word(&p, (uint64_t)1 << 33 | 1 << 8 | 2);
    support_page_atom(&p, 1, "late");
    ck_assert_int_eq(recording_page(w, support_page_end(&p, 1010)), 0);
    ck_assert_int_eq(recording_end(w, NULL), 0);
    r = support_run("$ERLSNOOP report --events %s; $ERLSNOOP report --events %s spawns; $ERLSNOOP report %s nothing", path, path, path);
    unlink(path);
    ck_assert_msg(strstr(r->out, "mfa=late:late/2") && strstr(r->out, " late:late/2\n"), "%s", r->out);
    ck_assert_ptr_ne(strstr(r->err, "cannot read 'nothing': No such file or directory; nor is a view or probe called so"), NULL);
}
END_TEST

/* Three pages of one thread, of a second each, as files of this folder. */
static void write_three(const char *dir)
{
    static const char *const names[] = {"old", "middle", "new"};
    struct support_page p;

    for (uint64_t i = 0; i < 3; i++) {
        char path[64];
        struct recording_plan plan = {.path = path, .writer = "test", .files = 1};
        struct recording_writer *w;

        snprintf(path, sizeof path, "%s/%s", dir, names[i]);
        ck_assert_int_eq(recording_begin(&plan, &w), 0);
        support_page_begin(&p, 17, 1, i + 1, 10 * i, (i + 1) * 1000000000);
        for (unsigned n = 0; n < 10; n++)
            support_page_number(&p, BATCH_copy__struct, p.header.begin_ns + n * 100000000, n);
        ck_assert_int_eq(recording_page(w, support_page_end(&p, p.header.begin_ns + 950000000)), 0);
        ck_assert_int_eq(recording_end(w, NULL), 0);
    }
}

/* Files are read oldest first in whatever order they are given: nothing seems lost, and rates are of the whole time. */
START_TEST(test_report_orders_files)
{
    char dir[] = "/tmp/three.XXXXXX";
    const struct support_run *r;

    ck_assert_ptr_nonnull(mkdtemp(dir));
    write_three(dir);
    r = support_run("mv %s/* .; rmdir %s; $ERLSNOOP report --json old middle new | tee right\n"
                    "for o in 'new middle old' 'middle new old' 'old new middle'; do $ERLSNOOP report --json $o | cmp - right && echo same; done\n"
                    "$ERLSNOOP report --json --events new middle old | grep '\"event\"' | cut -d, -f1 | sort -c && echo in order\n"
                    "$ERLSNOOP report new copy-struct,process-spawn --json | grep -c copy__struct", dir, dir);
    ck_assert_msg(strstr(r->out, "same\nsame\nsame\nin order\n1\n") != NULL, "%s%s", r->out, r->err);
    ck_assert_msg(support_number(r->out, "\"type\":\"report\"", "events") == 30, "%s%s", r->out, r->err);
    ck_assert_int_eq(support_number(r->out, "\"type\":\"report\"", "took_ns"), 2900000000);
    ck_assert_ptr_null(strstr(r->out, "\"type\":\"lost\""));
}
END_TEST

/* Memory that was written twice: what stands in both files is told once, and nothing else is left out. */
START_TEST(test_report_tells_pages_of_several_files_once)
{
    char path[] = "/tmp/twice.XXXXXX";
    struct recording_plan plan = {.path = path, .writer = "test", .files = 2, .ring_ns = 4000000000};
    const struct support_run *r;
    struct recording_writer *w;
    struct support_page p;

    close(mkstemp(path));
    ck_assert_int_eq(recording_begin(&plan, &w), 0);
    for (uint64_t i = 0; i < 9; i++) {
        support_page_begin(&p, 17, 1 + i % 2, 1 + i / 2, i / 2, (i + 1) * 1000000000);
        support_page_number(&p, BATCH_copy__struct, p.header.begin_ns, i);
        ck_assert_int_eq(recording_page(w, support_page_end(&p, p.header.begin_ns + 1000)), 0);
        ck_assert_int_eq(recording_look(w, p.header.begin_ns + 1500000000), 0);
        ck_assert_int_eq(i == 5 ? recording_dump(w) : 0, 0);
    }
    ck_assert_int_eq(recording_dump(w), 0);
    ck_assert_int_eq(recording_end(w, NULL), 0);
    r = support_run("for f in '%s' '%s.1'; do $ERLSNOOP report --events $f > e; grep -c copy e; done\n"
                    "$ERLSNOOP report --json --events %s %s.1 | grep '\"event\"' > e; wc -l < e; sort -u e | wc -l\n"
                    "$ERLSNOOP report --json %s %s.1 copy-struct | grep -c lost; rm %s %s.1", path, path, path, path, path,
                    path, path, path);
    ck_assert_str_eq(r->out, "6\n6\n8\n8\n0\n");
    ck_assert_msg(strstr(r->err, " pages of events that stand in several of the files are counted once"), "%s", r->err);
}
END_TEST

/* What another erlsnoop wrote is refused, and it is said what this one could read. */
START_TEST(test_report_tells_which_recordings_it_reads)
{
    char path[] = "/tmp/form.XXXXXX", own[64];
    const struct support_run *r;

    close(mkstemp(path));
    write_hostile(path);
    snprintf(own, sizeof own, "(version 'test', form 2; this one reads form %d)", RECORDING_FORM);
    r = support_run("printf '\\2' | dd of=%s bs=1 seek=8 conv=notrunc status=none; $ERLSNOOP report %s", path, path);
    unlink(path);
    ck_assert_int_eq(r->status, 1);
    ck_assert_msg(strstr(r->err, own) != NULL, "%s", r->err);
}
END_TEST

Suite *trace_suite(void)
{
    Suite *suite = suite_create("trace");
    TCase *live = tcase_create("live"), *lines = tcase_create("lines");

    tcase_set_timeout(live, 60);
    tcase_set_timeout(lines, 30);
    tcase_add_test(live, test_trace_records_what_happened);
    tcase_add_test(live, test_terms_say_what_json_says);
    tcase_add_test(live, test_report_of_a_view_tells_what_the_view_told);
    tcase_add_test(live, test_report_tells_orderly_exits_from_others);
    tcase_add_test(live, test_report_refuses_what_was_not_recorded);
    tcase_add_test(live, test_report_tells_intervals);
    tcase_add_test(live, test_report_leaves_gaps_out);
    tcase_add_loop_test(live, test_report_names_processes_that_were_there_before, 0, 2);
    tcase_add_test(live, test_report_names_processes_born_in_an_earlier_file);
    tcase_add_test(live, test_report_names_processes_that_register_later);
    tcase_add_test(live, test_trace_is_whole_after_a_signal);
    tcase_add_test(live, test_trace_records_a_vm_that_runs);
    tcase_add_test(live, test_trace_records_all_vms);
    tcase_add_test(live, test_trace_goes_on_in_another_file);
    tcase_add_test(live, test_trace_knows_names_that_another_watcher_was_told);
    tcase_add_test(live, test_trace_on_a_full_disk_keeps_what_was_written);
    tcase_add_test(live, test_trace_ring_is_written_when_the_vm_ends);
    tcase_add_test(live, test_trace_ring_is_written_on_a_signal);
    tcase_add_test(live, test_trace_ring_goes_on_when_the_disk_is_full);
    tcase_add_test(live, test_trace_removes_files_of_an_earlier_recording);
    tcase_add_test(live, test_trace_ring_is_written_when_a_threshold_is_met);
    tcase_add_test(live, test_trace_ring_that_a_threshold_asked_for_stays);
    tcase_add_loop_test(lines, test_trace_refuses_in_one_line, 0, sizeof refused / sizeof *refused);
    tcase_add_test(lines, test_report_escapes_what_it_tells);
    tcase_add_test(lines, test_report_prints_json_that_the_manual_has);
    tcase_add_test(lines, test_report_knows_names_that_are_told_late);
    tcase_add_test(lines, test_report_orders_files);
    tcase_add_test(lines, test_report_tells_pages_of_several_files_once);
    tcase_add_test(lines, test_report_tells_which_recordings_it_reads);
    suite_add_tcase(suite, live);
    suite_add_tcase(suite, lines);
    return suite;
}
