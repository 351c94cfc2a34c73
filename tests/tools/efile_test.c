/* SPDX-License-Identifier: Apache-2.0 */
/* erlsnoop efile, held against what the emitter really fired. */
#include <stdio.h>
#include <string.h>

#include "support.h"

#define TOTALS "\"type\":\"efile_totals\""

/* The four firings of each of COUNT renames by thread 1, their tags from 0 on; ok unless RESULT says otherwise. */
#define RENAMES(count, result)                                                                                       \
    "'efile_drv__entry=" #count "|1|%%d|tag|12|/tmp/old|/tmp/new|0|0|0|0|#Port<0.7>' 'efile_drv__int_entry=" #count   \
    "|1|%%d|12' 'efile_drv__int_return=" #count "|1|%%d|12' 'efile_drv__return=" #count "|1|%%d|tag|12|" result "' "

START_TEST(test_efile_counts_operations_and_errors)
{
    SUPPORT_BPF();
    const struct support_run *r = support_run(
        "$ERLSNOOP efile --json -- $EMITTER " RENAMES(23, "1|0") "'efile_drv__entry=19|2|%%d||1|/no' "
        "'efile_drv__int_entry=19|2|%%d|1' 'efile_drv__int_return=19|2|%%d|1' 'efile_drv__return=13|2|%%d||1|0|2'");

    ck_assert_int_eq(r->status, 0);
    ck_assert_int_eq(support_number(r->out, TOTALS, "started"), 42);
    ck_assert_int_eq(support_number(r->out, TOTALS, "ended"), 36);
    ck_assert_int_eq(support_number(r->out, TOTALS, "unseen"), 0);
    ck_assert_int_eq(support_number(r->out, "\"RENAME\"", "count"), 23);
    ck_assert_int_eq(support_number(r->out, "\"RENAME\"", "errors"), 0);
    ck_assert_int_eq(support_number(r->out, "\"OPEN\"", "count"), 13);
    ck_assert_int_eq(support_number(r->out, "\"OPEN\"", "errors"), 13);
    ck_assert_int_eq(support_number(r->out, "efile_durations", "count"), 36);
    ck_assert_int_eq(support_lines(r->out, "\"lost\""), 0);
}
END_TEST

START_TEST(test_efile_end_without_start_is_told)
{
    SUPPORT_BPF();
    const struct support_run *r =
        support_run("$ERLSNOOP efile --json -- $EMITTER 'efile_drv__int_return=5|1|%%d|12' 'efile_drv__return=7|1|%%d||12|1|0'");

    ck_assert_int_eq(support_number(r->out, TOTALS, "started"), 0);
    ck_assert_int_eq(support_number(r->out, TOTALS, "ended"), 7);
    ck_assert_int_eq(support_number(r->out, TOTALS, "unseen"), 7);
    ck_assert_int_eq(support_lines(r->out, "\"RENAME\""), 0);
}
END_TEST

/* Two threads use the same tags: each return ends its own. */
START_TEST(test_efile_thread_and_tag_name_an_operation)
{
    SUPPORT_BPF();
    const struct support_run *r = support_run(
        "$ERLSNOOP efile --json -- $EMITTER 'efile_drv__entry=11|1|%%d||10|/a' 'efile_drv__entry=11|2|%%d||11|/b' "
        "'efile_drv__return=11|2|%%d||11|0|13' 'efile_drv__return=7|1|%%d||10|1|0'");

    ck_assert_int_eq(support_number(r->out, "\"DELETE\"", "count"), 11);
    ck_assert_int_eq(support_number(r->out, "\"DELETE\"", "errors"), 11);
    ck_assert_int_eq(support_number(r->out, "\"MKDIR\"", "count"), 7);
    ck_assert_int_eq(support_number(r->out, "\"MKDIR\"", "errors"), 0);
}
END_TEST

/* A tag above 2^32 is kept whole. */
START_TEST(test_efile_tag_of_64_bits)
{
    SUPPORT_BPF();
    const struct support_run *r = support_run(
        "$ERLSNOOP efile --json --events -- $EMITTER 'efile_drv__entry=1|1|4294967301||10|/a' "
        "'efile_drv__return=1|1|5||10|1|0' 'efile_drv__return=1|1|4294967301||10|1|0'");

    ck_assert_int_eq(support_number(r->out, TOTALS, "unseen"), 1);
    ck_assert_int_eq(support_lines(r->out, "{1,4294967301}"), 4);
}
END_TEST

/* Each firing takes 20 ms at least: one step queued, one at work, three in all. */
START_TEST(test_efile_measures_each_part)
{
    SUPPORT_BPF();
    const struct support_run *r = support_run("$ERLSNOOP efile --json -- $EMITTER -r 5 -d 20000 " RENAMES(1, "1|0"));

    ck_assert_int_eq(support_number(r->out, "\"RENAME\"", "count"), 5);
    ck_assert_int_ge(support_number(r->out, "\"RENAME\"", "queued_ns"), 5 * 20000000);
    ck_assert_int_ge(support_number(r->out, "\"RENAME\"", "work_ns"), 5 * 20000000);
    ck_assert_int_ge(support_number(r->out, "\"RENAME\"", "p50_ns"), 60000000 / 17 * 16);
    ck_assert_int_ge(support_number(r->out, "\"RENAME\"", "max_ns"), 60000000);
    ck_assert_int_ge(support_number(r->out, "efile_durations", "sum_ns"), 5 * 60000000);
    ck_assert_int_lt(support_number(r->out, "efile_durations", "max_ns"), 60000000000);
}
END_TEST

/* One operation begins before 150 others, and ends long after them. */
#define ONE_SLOW                                                                                                  \
    "-d 100 'efile_drv__entry=1|1|1|tag|9|||17' 'efile_drv__entry=150|2|%%d||4|||3|0|4096' 'efile_drv__return=150|2|%%d||4|1|0' " \
    "'efile_drv__int_entry=1|1|1|9' gc_minor__start=1000 'efile_drv__int_return=1|1|1|9' 'efile_drv__return=1|1|1|tag|9|0|5'"

/* What takes long once in a while is neither in the percentiles nor lost: it is among the slowest, with all that is
 * known. */
START_TEST(test_efile_slowest_names_the_one_that_took_long)
{
    SUPPORT_BPF();
    const struct support_run *r = support_run("$ERLSNOOP efile --json --top 3 -- $EMITTER " ONE_SLOW);
    long max = support_number(r->out, "\"FSYNC\"", "max_ns");

    ck_assert_int_ge(max, 100000000);
    ck_assert_int_eq(support_number(r->out, "\"WRITE\"", "count"), 150);
    ck_assert_int_gt(support_number(r->out, "\"WRITE\"", "p99_ns"), 0);
    ck_assert_int_lt(support_number(r->out, "\"WRITE\"", "p99_ns"), max);
    ck_assert_int_eq(support_number(r->out, "efile_durations", "max_ns"), max);
    ck_assert_int_eq(support_lines(r->out, "\"efile_slowest\""), 3);
    ck_assert_ptr_ne(strstr(r->out, "\"what\":\"FSYNC (9) fd=17 [tag]: EIO (errno 5)\""), NULL);
    ck_assert_int_eq(support_number(r->out, "\"efile_slowest\"", "total_ns"), max);
    ck_assert_int_ge(support_number(r->out, "\"efile_slowest\"", "work_ns"), 100000000);
    ck_assert_int_ge(max, support_number(r->out, "\"efile_slowest\"", "queued_ns") + support_number(r->out, "\"efile_slowest\"", "work_ns"));
    ck_assert_int_eq(support_lines(r->out, "WRITE (4) fd=3 flags=0 size=4096"), 2);
}
END_TEST

START_TEST(test_efile_slowest_are_of_one_result)
{
    SUPPORT_BPF();
    const struct support_run *r = support_run("$ERLSNOOP efile --json .1 -- $EMITTER " ONE_SLOW " gc_minor__start=3000");

    ck_assert_int_gt(support_lines(r->out, TOTALS), 2);
    ck_assert_int_eq(support_lines(r->out, "FSYNC (9) fd=17 [tag]: EIO"), 1); /* others are of it under way */
    r = support_run("$ERLSNOOP efile --json --top 0 -- $EMITTER " ONE_SLOW);
    ck_assert_int_eq(support_lines(r->out, "\"efile_slowest\""), 0);
    ck_assert_int_eq(support_number(r->out, "\"FSYNC\"", "count"), 1);
}
END_TEST

START_TEST(test_efile_events_tell_each_story_in_four_lines)
{
    SUPPORT_BPF();
    const struct support_run *r = support_run("$ERLSNOOP efile --events --top 0 -- $EMITTER " RENAMES(3, "0|2"));

    ck_assert_int_eq(support_lines(r->out, "RENAME (12) /tmp/old /tmp/new [tag]"), 3);
    ck_assert_int_eq(support_lines(r->out, "work begins"), 3);
    ck_assert_int_eq(support_lines(r->out, "work ends"), 3);
    ck_assert_int_eq(support_lines(r->out, "ENOENT (errno 2)"), 3);
    ck_assert_int_eq(support_lines(r->out, "{1,2}"), 4);
    ck_assert_ptr_ne(strstr(r->out, " VM OPERATION"), NULL);
    ck_assert_int_eq(support_lines(r->out, " \n"), 0);
}
END_TEST

/* Two VMs whose operations have the same name, one that no other VM of the machine uses. */
START_TEST(test_efile_events_tell_vms_apart)
{
    static const char fires[] = "'efile_drv__entry=4242|7777|1||12|/a|/b' 'efile_drv__return=4242|7777|1||12|1|0'";

    SUPPORT_BPF();
    const struct support_run *r = support_two_vms("efile --events", fires, fires, "7777");
    char mark[64];

    snprintf(mark, sizeof mark, "\"vm\":%ld,\"op\":\"{7777,1}\"", support_number(r->out, "{7777,1}", "vm"));
    ck_assert_int_eq(support_lines(r->out, "\"op\":\"{7777,1}\""), 8);
    ck_assert_int_eq(support_lines(r->out, mark), 4);
}
END_TEST

START_TEST(test_efile_events_name_the_integers_of_each_command)
{
    SUPPORT_BPF();
    const struct support_run *r = support_run(
        "$ERLSNOOP efile --json --events -- $EMITTER 'efile_drv__entry=1|1|1||24|||17|0|4096|-5' "
        "'efile_drv__return=1|1|1||24|1|0' 'efile_drv__entry=1|1|2||77|x|y|1|2|3|4' 'efile_drv__return=1|1|2||77|1|0'");

    ck_assert(strstr(r->out, "PWRITEV (24) fd=17 flags=0 size=4096 offset=-5") != NULL);
    ck_assert(strstr(r->out, "? (77) x y i1=1 i2=2 i3=3 i4=4") != NULL);
}
END_TEST

/* A story is told when it has ended, each step with the time when it was. */
START_TEST(test_efile_events_have_the_time_of_their_step_in_json)
{
    SUPPORT_BPF();
    const struct support_run *r = support_run("$ERLSNOOP efile --json --events -- $EMITTER -d 30000 " RENAMES(1, "1|0"));
    char times[4][40] = {""};
    const char *at = r->out;

    for (int i = 0; i < 4; i++) {
        at = strstr(at, "\"type\":\"efile_event\"");
        ck_assert(at && at - r->out > 37);
        ck_assert_int_eq(sscanf(at - 37, "\"time\":\"%*[^:]:%39[^\"]", times[i]), 1);
        ck_assert_msg(!i || strcmp(times[i - 1], times[i]) != 0, "'%s' twice in %s", times[i], r->out);
        at++;
    }
}
END_TEST

/* By thread 1 a rename takes a hundred steps of 30 ms; the one of thread 2 takes one. */
START_TEST(test_efile_slower_leaves_quick_operations_out_of_events_only)
{
    SUPPORT_BPF();
    const struct support_run *r = support_run(
        "$ERLSNOOP efile --json --events --top 0 --slower 2500ms -- $EMITTER -d 30000 "
        "'efile_drv__entry=1|1|1||12|/slow|/slow' 'efile_drv__int_entry=1|1|1|12' gc_minor__start=100 'efile_drv__int_return=1|1|1|12' "
        "'efile_drv__return=1|1|1||12|1|0' 'efile_drv__entry=1|2|1||12|/quick|/quick' 'efile_drv__return=1|2|1||12|1|0'");

    ck_assert_int_eq(support_lines(r->out, "\"efile_event\""), 4);
    ck_assert_int_eq(support_lines(r->out, "/quick"), 0);
    ck_assert_int_eq(support_number(r->out, "\"RENAME\"", "count"), 2);
}
END_TEST

START_TEST(test_efile_full_map_of_operations_is_counted)
{
    SUPPORT_BPF();
    const struct support_run *r = support_run("$ERLSNOOP efile --json -- $EMITTER 'efile_drv__entry=65579|1|%%d||12|a|b'");

    ck_assert_int_eq(support_number(r->out, TOTALS, "started"), 65579);
    ck_assert_int_eq(support_number(r->out, "map full", "count"), 65579 - 65536);
}
END_TEST

START_TEST(test_efile_full_map_of_commands_is_counted_and_totals_stay_exact)
{
    SUPPORT_BPF();
    const struct support_run *r = support_run(
        "$ERLSNOOP efile --json -- $EMITTER 'efile_drv__entry=1031|1|%%d||%%d' 'efile_drv__return=1031|1|%%d||%%d|1|0'");

    ck_assert_int_eq(support_number(r->out, TOTALS, "ended"), 1031);
    ck_assert_int_eq(support_number(r->out, "efile_durations", "count"), 1031);
    support_told_or_lost(r, "\"type\":\"efile\"", 1031, 1024);
}
END_TEST

START_TEST(test_efile_escapes_hostile_text)
{
    SUPPORT_BPF();
    const struct support_run *r =
        support_hostile("efile", "\"efile_drv__entry=1|1|1|$evil|12|$evil|$evil\" 'efile_drv__return=1|1|1||12|0|9999'");

    ck_assert_int_eq(support_lines(r->out, "x1b"), 2); /* as an event, and among the slowest */
    ck_assert_int_eq(support_lines(r->out, "errno 9999"), 2);
}
END_TEST

START_TEST(test_efile_interrupt_gives_result_and_detaches)
{
    SUPPORT_BPF();
    support_interrupt("efile", "-d 1000 -r 11 'efile_drv__entry=1|1|%d||12|/a|/b' 'efile_drv__int_entry=1|1|%d|12' "
                      "'efile_drv__int_return=1|1|%d|12' 'efile_drv__return=1|1|%d||12|1|0'", TOTALS, "started");
}
END_TEST

START_TEST(test_efile_counts_operations_of_erlvm)
{
    SUPPORT_BPF();
    const struct support_run *r = support_run(
        "cat > w.erl <<'E'\n"
        "-module(w).\n-export([start/0, await/0]).\n"
        "await() -> case file:read_file_info(\"go\", [raw]) of {ok, _} -> ok; _ -> timer:sleep(20), await() end.\n"
        "start() ->\n"
        "    await(),\n"
        "    {ok, F} = file:open(\"f\", [write, raw, binary]),\n"
        "    [ok = file:write(F, <<\"x\">>) || _ <- lists:seq(1, 23)],\n"
        "    [ok = file:sync(F) || _ <- lists:seq(1, 7)],\n"
        "    erlang:halt().\nE\n"
        "erlc w.erl\n"
        "$ERLVM -quick -pa . -s w & p=$!; runs $p erlvm; $ERLSNOOP efile --events --json -p $p > out & e=$!\n"
        "until grep -q STAT out; do kill -0 $e || break; sleep 0.05; done; : > go; wait $e; s=$?; cat out; kill $p 2> gone; exit $s");

    ck_assert_int_eq(r->status, 0);
    ck_assert_int_eq(support_number(r->out, "\"op\":\"WRITE\"", "count"), 23);
    ck_assert_int_eq(support_number(r->out, "\"op\":\"FSYNC\"", "count"), 7);
    ck_assert_int_eq(support_number(r->out, "\"op\":\"FSYNC\"", "errors"), 0);
}
END_TEST

/*
 * On an erlvm the event of an operation tells who asked, by notes and by pages: one that is registered, one that was
 * there before, one that was born later.
 */
START_TEST(test_efile_tells_who_asked_on_erlvm)
{
    static const char *const sources[] = {"notes", "batches"};

    SUPPORT_BPF();
    const struct support_run *r = support_run(
        "cat > who.erl << 'END'\n-module(who).\n-export([main/0, idle/1, born/1]).\n"
        "main() ->\n"
        "    register(writer, spawn(who, idle, [self()])), Other = spawn(who, idle, [self()]),\n"
        "    ok = prim_file:write_file(\"ready\", \"1\"), {ok, _} = prim_file:read_file(\"go\"),\n"
        "    writer ! {go, \"w1\"}, Other ! {go, \"w2\"}, spawn(who, born, [self()]),\n"
        "    receive done -> receive done -> receive done -> halt() end end end.\n"
        "idle(Main) -> receive {go, Name} -> open(Main, Name) end.\n"
        "born(Main) -> open(Main, \"w3\").\n"
        "open(Main, Name) -> [{ok, _} = prim_file:open(Name, [write]) || _ <- lists:seq(1, 23)], Main ! done.\n"
        "END\n"
        "erlc who.erl; mkfifo go; $ERLVM -quick -pa . -s who main & p=$!; await ready\n"
        "$ERLSNOOP efile --json --events --top 32 --source %s -p $p > told & e=$!; attached $e; echo > go; wait $e; s=$?; cat told; exit $s",
        sources[_i]);

    ck_assert_int_eq(r->status, 0);
    ck_assert_int_eq(support_lines(r->out, "OPEN (1) w1 flags=2 by writer\""), 23);
    ck_assert_int_eq(support_lines(r->out, "OPEN (1) w2 flags=2 by who:idle/1\""), 23);
    ck_assert_int_eq(support_lines(r->out, "OPEN (1) w3 flags=2 by who:born/1\""), 23);
    ck_assert_int_eq(support_lines(r->out, "\"efile_slowest\""), 32);
    ck_assert_int_eq(support_lines(r->out, "\"owner\":\"writer\",\"what\":\"OPEN (1) w1 ") +
                         support_lines(r->out, "\"owner\":\"who:idle/1\",\"what\":\"OPEN (1) w2 ") +
                         support_lines(r->out, "\"owner\":\"who:born/1\",\"what\":\"OPEN (1) w3 "),
                     support_lines(r->out, "\"what\":\"OPEN (1) w") - 69);
    ck_assert_int_eq(support_lines(r->out, "\"lost\""), 0);
}
END_TEST

/* With others, of all VMs, and as metrics. */
START_TEST(test_efile_is_asked_with_other_views)
{
    SUPPORT_BPF();
    const struct support_run *r = support_run(
        "$EMITTER -w go " RENAMES(23, "1|0") "'process__spawn=19|<0.%%d.0>' & p=$!; runs $p emitter\n"
        "$ERLSNOOP watch spawns,efile --top 2 --json -p $p & e=$!; attached $e; touch go; wait $e");

    ck_assert_int_eq(r->status, 0);
    ck_assert_int_eq(support_number(r->out, "\"RENAME\"", "count"), 23);
    ck_assert_int_eq(support_number(r->out, "\"type\":\"spawns\"", "births"), 19);
    ck_assert_int_eq(support_lines(r->out, "\"efile_slowest\""), 2);
}
END_TEST

START_TEST(test_efile_table_fits_80_columns)
{
    SUPPORT_BPF();
    const struct support_run *r = support_run("terminal 80 \"$ERLSNOOP efile -T -- $EMITTER " RENAMES(7, "1|0") "\" | grep -v ^efile_drv");

    ck_assert_int_le(support_width(r->out), 80);
    ck_assert(strstr(r->out, "SYSCALL") && strstr(r->out, "STARTED BEFORE") && strstr(r->out, "p99.9"));
}
END_TEST

/* What tells files apart is at the end of their paths. */
START_TEST(test_efile_cuts_paths_in_front_on_a_terminal)
{
    SUPPORT_BPF();
    const struct support_run *r = support_run(
        "terminal 80 \"$ERLSNOOP efile -- $EMITTER 'efile_drv__entry=1|2|%%d||1|/srv/shop/a/directory/of/many/logs/orders.log' "
        "'efile_drv__int_entry=1|2|%%d|1' 'efile_drv__int_return=1|2|%%d|1' 'efile_drv__return=1|2|%%d||1|0|2'\"");

    ck_assert_int_le(support_width(r->out), 80);
    ck_assert_msg(strstr(r->out, "OPEN (1) ..") != NULL, "%s%s", r->out, r->err);
    ck_assert_msg(strstr(r->out, "orders.log") != NULL, "%s%s", r->out, r->err);
}
END_TEST

/*
 * Of a function its name is what tells it from others, not its module: that is cut, and where it is not enough, the name
 * stands in a line of its own.
 */
START_TEST(test_efile_keeps_the_function_of_an_owner_on_a_terminal)
{
    SUPPORT_BPF();
    const struct support_run *r = support_run(
        "for c in 60 44 34; do terminal $c \"$ERLSNOOP spawns -- $EMITTER 'process__spawn=7|<0.7.0>|rabbit_vhost_sup_sup_of_a_long_name:init_of_many/1'\" | grep -A1 ' 100 '; done");

    ck_assert_msg(strstr(r->out, " rabbit_vhost_") && strstr(r->out, "..:init_of_many/1\n"), "%s%s", r->out, r->err);
    ck_assert_msg(strstr(r->out, "\nrabbit_vhost_sup_sup_of_a_l..:init_of_many/1\n") != NULL, "%s", r->out);
    ck_assert_msg(strstr(r->out, "\nrabbit_vhost_sup_..:init_of_many/1\n") != NULL, "%s", r->out);
    ck_assert_int_le(support_width(r->out), 60);
}
END_TEST

Suite *efile_suite(void)
{
    Suite *suite = suite_create("efile");
    TCase *live = tcase_create("live");

    tcase_set_timeout(live, 60);
    tcase_add_test(live, test_efile_counts_operations_and_errors);
    tcase_add_test(live, test_efile_end_without_start_is_told);
    tcase_add_test(live, test_efile_thread_and_tag_name_an_operation);
    tcase_add_test(live, test_efile_tag_of_64_bits);
    tcase_add_test(live, test_efile_measures_each_part);
    tcase_add_test(live, test_efile_slowest_names_the_one_that_took_long);
    tcase_add_test(live, test_efile_slowest_are_of_one_result);
    tcase_add_test(live, test_efile_events_tell_each_story_in_four_lines);
    tcase_add_test(live, test_efile_events_have_the_time_of_their_step_in_json);
    tcase_add_test(live, test_efile_events_tell_vms_apart);
    tcase_add_test(live, test_efile_events_name_the_integers_of_each_command);
    tcase_add_test(live, test_efile_slower_leaves_quick_operations_out_of_events_only);
    tcase_add_test(live, test_efile_full_map_of_operations_is_counted);
    tcase_add_test(live, test_efile_full_map_of_commands_is_counted_and_totals_stay_exact);
    tcase_add_test(live, test_efile_escapes_hostile_text);
    tcase_add_test(live, test_efile_interrupt_gives_result_and_detaches);
    tcase_add_test(live, test_efile_counts_operations_of_erlvm);
    tcase_add_loop_test(live, test_efile_tells_who_asked_on_erlvm, 0, 2);
    tcase_add_test(live, test_efile_is_asked_with_other_views);
    tcase_add_test(live, test_efile_keeps_the_function_of_an_owner_on_a_terminal);
    tcase_add_test(live, test_efile_table_fits_80_columns);
    tcase_add_test(live, test_efile_cuts_paths_in_front_on_a_terminal);
    suite_add_tcase(suite, live);
    return suite;
}
