/* SPDX-License-Identifier: Apache-2.0 */
/* Who a process is at an event: one name in every view, live and in recordings. */
#include <stdlib.h>
#include <string.h>

#include "common/term_text.h"
#include "event/event_text.h"
#include "otp/native.h"
#include "support.h"

/* ---- registered names */

/*
 * One process gets 103 messages as `first', 101 without a name and 110 as `second', the one that has it change its name
 * among those before; 17 more are born and end before they can be asked. A VM in the background, its pid in $p.
 */
#define NAMED_TARGET                                                                                                     \
    "cat > named.erl << 'E'\n-module(named).\n-export([start/0, serve/0, brief/0]).\n"                                   \
    "start() -> wait(), [spawn(?MODULE, brief, []) || _ <- lists:seq(1, 17)], P = spawn(?MODULE, serve, []),\n"          \
    " change(P, fun() -> register(first, self()) end), ask(P, 102),\n"                                                   \
    " change(P, fun() -> unregister(first) end), ask(P, 100),\n"                                                         \
    " change(P, fun() -> register(second, self()) end), ask(P, 109), P ! stop, halt(0).\n"                                \
    "change(P, F) -> P ! {F, self()}, receive done -> ok end.\n"                                                         \
    "ask(P, N) -> [change(P, fun() -> ok end) || _ <- lists:seq(1, N)].\n"                                               \
    "serve() -> receive {F, From} -> F(), From ! done, serve(); stop -> ok end.\n"                                       \
    "brief() -> ok.\n"                                                                                                   \
    "wait() -> prim_file:write_file(\"ready\", \"1\"), look().\n"                                                        \
    "look() -> case prim_file:read_file_info(\"go\") of {ok, _} -> ok; _ -> receive after 20 -> look() end end.\nE\n"    \
    "erlc named.erl\n"

#define NAMED_OURS "$ERLVM -quick +S 1 -pa . -s named & p=$!; await ready\n"
#define NAMED_STOCK "erl -noshell -pa . -s named & p=$!; await ready\n"

/* Views of one result, then of a recording, by a file and out of memory. */
#define WATCHED(options)                                                                                                 \
    "$ERLSNOOP watch messages,sched,msglat,exits -p $p --json --budget off " options                                     \
    " > told & a=$!; attached $a; touch go; wait $a; echo status $?; cat told"
#define RECORDED(options)                                                                                                \
    "$ERLSNOOP trace -p $p -o r " options " & a=$!; attached $a; touch go; wait $a; echo status $?\n"                    \
    "$ERLSNOOP report r --json messages sched msglat exits"

static const struct {
    const char *vm, *watched;
} names_ways[] = {
    {NAMED_OURS, WATCHED("")},  {NAMED_OURS, WATCHED("--source notes")}, {NAMED_STOCK, WATCHED("")},
    {NAMED_OURS, RECORDED("")}, {NAMED_OURS, RECORDED("--ring 60s")},    {NAMED_STOCK, RECORDED("")},
    {NAMED_STOCK, RECORDED("--ring 60s")}, {NAMED_OURS, RECORDED("--source notes")},
};

/* The member of the row of that table and name; -1: there is none. */
static long number_of(const char *json, const char *table, const char *name, const char *key)
{
    char mark[128];

    snprintf(mark, sizeof mark, "\"type\":\"%s\"", table);
    for (const char *line = strstr(json, mark); line; line = strstr(line + 1, mark)) {
        char row[4096], owner[64];
        const char *end = strchr(line, '\n');

        snprintf(row, sizeof row, "%.*s", (int)(end ? end - line : 0), line);
        snprintf(owner, sizeof owner, "\"owner\":\"%s\"", name);
        if (strstr(row, owner))
            return support_number(row, owner, key);
    }
    return -1;
}

/* Each event is of the name that its process had then, and no row is of a process by its number. */
START_TEST(test_names_are_those_of_the_event)
{
    SUPPORT_BPF();
    const struct support_run *r = support_run(NAMED_TARGET "%s%s", names_ways[_i].vm, names_ways[_i].watched);

    ck_assert_msg(strstr(r->out, "status 0\n") != NULL, "%s%s", r->out, r->err);
    ck_assert_msg(number_of(r->out, "messages_by_owner", "first", "sent") == 103, "%s%s", r->out, r->err);
    ck_assert_int_eq(number_of(r->out, "messages_by_owner", "named:serve/0", "sent"), 102);
    ck_assert_int_eq(number_of(r->out, "messages_by_owner", "second", "sent"), 110);
    ck_assert_int_gt(number_of(r->out, "sched_by_owner", "first", "slices"), 0);
    ck_assert_msg(support_lines(r->out, "\"owner\":\"<0.") == 0, "%s", r->out);
}
END_TEST

/* By what they are to do names make no difference; by pid each has a row, and there is no name. */
START_TEST(test_names_are_left_out_on_request)
{
    static const char *const bys[] = {"--by mfa", "--by pid"};
    static const struct {
        const char *vm, *watch, *report;
    } ways[] = {{NAMED_OURS, "watch messages,sched", ""},
                {NAMED_OURS, "watch messages,sched --source notes", ""},
                {NAMED_STOCK, "watch messages,sched", ""},
                {NAMED_STOCK, "trace -o r", "$ERLSNOOP report r --json messages sched "}};
    const char *by = bys[_i % 2];
    size_t way = (size_t)_i / 2;

    SUPPORT_BPF();
    const struct support_run *r = support_run(
        NAMED_TARGET "%s$ERLSNOOP %s %s -p $p > told & a=$!; attached $a; touch go; wait $a; echo status $?; cat told\n%s %s",
        ways[way].vm, ways[way].watch, *ways[way].report ? "" : by, ways[way].report, *ways[way].report ? by : "");

    ck_assert_msg(strstr(r->out, "status 0\n") != NULL, "%s%s", r->out, r->err);
    ck_assert_msg(!strstr(r->out, " first\n") && !strstr(r->out, "\"first\""), "%s", r->out);
    if (_i % 2)
        ck_assert_msg(support_lines(r->out, "named:serve/0") == 0 && strstr(r->out, "<0."), "%s", r->out);
    else if (*ways[way].report)
        ck_assert_int_eq(number_of(r->out, "messages_by_owner", "named:serve/0", "sent"), 315);
    else
        ck_assert_msg(strstr(r->out, "named:serve/0\n") && !strstr(r->out, " <0."), "%s", r->out);
}
END_TEST

/*
 * 107 processes of proc_lib get a message before they have begun, and one when they have. What they are to do is told by
 * births, of which a stock emulator's are hooked here for another view.
 */
START_TEST(test_names_of_those_that_begin)
{
    static const char *const ways[][2] = {{"$ERLVM -quick", "messages"}, {"erl -noshell", "watch messages,spawns"}};

    SUPPORT_BPF();
    const struct support_run *r = support_run(
        "cat > begun.erl << 'E'\n-module(begun).\n-export([start/0, serve/1]).\n"
        "start() -> wait(), [begin P = proc_lib:spawn(?MODULE, serve, [N]), P ! {a, self()}, receive ok -> ok end,\n"
        " P ! {b, self()}, receive ok -> ok end end || N <- lists:seq(1, 107)], halt().\n"
        "serve(N) -> receive {a, F} -> F ! ok, serve(N); {b, F} -> F ! ok end.\n"
        "wait() -> prim_file:write_file(\"ready\", \"1\"), look().\n"
        "look() -> case prim_file:read_file_info(\"go\") of {ok, _} -> ok; _ -> receive after 20 -> look() end end.\nE\n"
        "erlc begun.erl\n%s +S 1 -pa . -s begun & p=$!; await ready\n"
        "$ERLSNOOP %s -p $p --json --budget off > told & a=$!; attached $a; touch go; wait $a; echo status $?; cat told",
        ways[_i][0], ways[_i][1]);

    ck_assert_msg(strstr(r->out, "status 0\n") != NULL, "%s%s", r->out, r->err);
    ck_assert_msg(number_of(r->out, "messages_by_owner", "begun:serve/1", "sent") == 2 * 107, "%s", r->out);
    ck_assert_int_eq(support_lines(r->out, "proc_lib:init_p/"), 0);
}
END_TEST

/* Who is in a call that lasts has its name, though the events of calls say none. */
START_TEST(test_names_of_those_in_a_call)
{
    SUPPORT_BPF();
    const struct support_run *r = support_run(
        "cat > inside.erl << 'E'\n-module(inside).\n-export([start/0]).\n"
        "start() -> register(worker, self()), prim_file:write_file(\"ready\", \"1\"), work().\n"
        "work() -> step(), work().\nstep() -> receive after 300 -> ok end.\nE\n"
        "erlc inside.erl; $ERLVM -quick -pa . -s inside & p=$!; await ready\n"
        "$ERLSNOOP calls -p $p --json --budget off 1 > told & a=$!\n"
        "until grep -q calls_open.*inside: told; do kill -0 $a || break; sleep .05; done\n"
        "kill -INT $a; wait $a; echo status $?; kill -9 $p; grep calls_open.*inside: told");

    ck_assert_msg(strstr(r->out, "status 0\n") != NULL, "%s%s", r->out, r->err);
    ck_assert_msg(strstr(r->out, "\"owner\":\"worker\"") != NULL && !strstr(r->out, "\"owner\":\"<"), "%s", r->out);
}
END_TEST

/* ---- labels */

/*
 * 101 messages to each of four processes: one with an atom as its label, one with a tuple, a registered one, one with a
 * list. One message to each of 23 and 17 that begin with a fun, of spawn and of proc_lib, and two to each of 19 that
 * say between them what they are to do, as a Task of Elixir does. One of the labels is given up in the end.
 */
#define LABELLED_TARGET                                                                                                  \
    "cat > labelled.erl << 'E'\n-module(labelled).\n-export([start/0, serve/1, says/0]).\n"                             \
    "start() -> Ps = [spawn(?MODULE, serve, [L]) || L <- [shop, {worker, 3}, listed, \"a list\"]],\n"                   \
    " register(known, lists:nth(3, Ps)), [ask(P, 1) || P <- Ps], prim_file:write_file(\"ready\", \"1\"), look(),\n"     \
    " [ask(P, 101) || P <- Ps], [ask(plain(), 1) || _ <- lists:seq(1, 23)],\n"                                          \
    " [ask(of_proc_lib(), 1) || _ <- lists:seq(1, 17)],\n"                                                               \
    " [ask(proc_lib:spawn(?MODULE, says, []), 2) || _ <- lists:seq(1, 19)],\n"                                          \
    " hd(Ps) ! {give_up, self()}, receive ok -> ok end, ask(hd(Ps), 29), halt().\n"                                     \
    "plain() -> spawn(fun() -> once() end).\nof_proc_lib() -> proc_lib:spawn(fun() -> once() end).\n"                     \
    "once() -> receive {x, F} -> F ! ok end.\n"                                                                         \
    "says() -> once(), put('$initial_call', {said, later, 3}), once().\n"                                               \
    "ask(P, N) -> [begin P ! {x, self()}, receive ok -> ok end end || _ <- lists:seq(1, N)].\n"                          \
    "serve(L) -> put('$process_label', L), loop().\n"                                                                   \
    "loop() -> receive {x, F} -> F ! ok; {give_up, F} -> erase('$process_label'), F ! ok end, loop().\n"                \
    "look() -> case prim_file:read_file_info(\"go\") of {ok, _} -> ok; _ -> receive after 20 -> look() end end.\nE\n"    \
    "erlc labelled.erl\n"
#define LABELLED_WATCHED(options)                                                                                        \
    "$ERLSNOOP messages -p $p --json --budget off " options " > told & a=$!; attached $a; touch go; wait $a; cat told"

#define LABELLED_RECORDED                                                                                               \
    "$ERLSNOOP trace -p $p -o r & a=$!; attached $a; touch go; wait $a\n$ERLSNOOP report r --json messages"

/* A recording of a stock Erlang knows labels that are atoms, and not what is said later. Who begins with a fun is known by
 * the fun of an erlvm; a stock Erlang does not keep it. */
START_TEST(test_names_are_labels_where_there_are_some)
{
    static const struct {
        const char *vm, *watched;
        bool ours, recorded;
    } ways[] = {{"erl -noshell", LABELLED_WATCHED(""), false, false},
                {"$ERLVM -quick", LABELLED_WATCHED(""), true, false},
                {"$ERLVM -quick", LABELLED_WATCHED("--source notes"), true, false},
                {"$ERLVM -quick", LABELLED_RECORDED, true, false},
                {"erl -noshell", LABELLED_RECORDED, false, true}};

    SUPPORT_BPF();
    const struct support_run *r = support_run(LABELLED_TARGET "%s -pa . -s labelled & p=$!; await ready\n%s",
                                              ways[_i].vm, ways[_i].watched);

    ck_assert_msg(number_of(r->out, "messages_by_owner", "shop", "sent") == 102, "%s%s", r->out, r->err);
    ck_assert_int_eq(number_of(r->out, "messages_by_owner", "known", "sent"), 101);
    ck_assert_int_eq(number_of(r->out, "messages_by_owner", "{worker,...}", "sent"), ways[_i].recorded ? -1 : 101);
    ck_assert_int_eq(number_of(r->out, "messages_by_owner", "labelled:serve/1", "sent"),
                     (ways[_i].recorded ? 202 : 101) + 29);
    ck_assert_int_eq(number_of(r->out, "messages_by_owner", "said:later/3", "sent"), ways[_i].recorded ? -1 : 19);
    if (ways[_i].ours || ways[_i].recorded) /* else proc_lib:init_p/5 until they begin */
        ck_assert_int_eq(number_of(r->out, "messages_by_owner", "labelled:says/0", "sent"), ways[_i].recorded ? 38 : 19);
    ck_assert_int_eq(number_of(r->out, "messages_by_owner", "labelled:'-plain/0-fun-0-'/0", "sent"), ways[_i].ours ? 23 : -1);
    ck_assert_int_eq(number_of(r->out, "messages_by_owner", "labelled:'-of_proc_lib/0-fun-0-'/0", "sent"), ways[_i].ours ? 17 : -1);
}
END_TEST

/* ---- spelling */

static const struct {
    const char *module, *function, *erlang, *shown;
} spellings[] = {
    {"lists", "map", "lists:map/2", "lists:map/2"},
    {"Elixir.My.Agent", "update", "'Elixir.My.Agent':update/2", "My.Agent.update/2"},
    {"Elixir.Enum", "empty?", "'Elixir.Enum':'empty?'/2", "Enum.empty?/2"},
    {"Elixir.Kernel", "+", "'Elixir.Kernel':'+'/2", "Kernel.+/2"},
    {"Elixir.Kernel", "/", "'Elixir.Kernel':'/'/2", "Kernel.//2"},
    {"Elixir.A_1.B2", "-f/1-fun-0-", "'Elixir.A_1.B2':'-f/1-fun-0-'/2", "A_1.B2.\"-f/1-fun-0-\"/2"},
    {"Elixir.A", "say \"it's\"", "'Elixir.A':'say \"it\\'s\"'/2", "A.\"say \\\"it's\\\"\"/2"},
    {"Elixir.A", "Up", "'Elixir.A':'Up'/2", "A.\"Up\"/2"},
    {"Elixir", "f", "'Elixir':f/2", "'Elixir':f/2"},
    {"Elixir.", "f", "'Elixir.':f/2", "'Elixir.':f/2"},
    {"Elixir.my.agent", "f", "'Elixir.my.agent':f/2", "'Elixir.my.agent':f/2"},
    {"Elixir.My.agent", "f", "'Elixir.My.agent':f/2", "'Elixir.My.agent':f/2"},
    {"Elixir.My..Agent", "f", "'Elixir.My..Agent':f/2", "'Elixir.My..Agent':f/2"},
    {"Elixir.My.", "f", "'Elixir.My.':f/2", "'Elixir.My.':f/2"},
    {"Elixir.My Agent", "f", "'Elixir.My Agent':f/2", "'Elixir.My Agent':f/2"},
    {"Elixir.Elixir.A", "f", "'Elixir.Elixir.A':f/2", "'Elixir.Elixir.A':f/2"},
};

/* By number, and as a VM printed it. */
START_TEST(test_names_are_spelled_as_their_language_does)
{
    const char *module = spellings[_i].module, *function = spellings[_i].function;
    struct batch_names *names = batch_names_new();
    char text[256] = "", respelled[256] = "", again[256] = "";

    ck_assert_int_eq(batch_names_tell(names, 1, 5, module, strlen(module)), 0);
    ck_assert_int_eq(batch_names_tell(names, 1, 6, function, strlen(function)), 0);
    event_text_mfa(&(struct term_text){text, sizeof text, 0}, names, 1, ev_mfa_of_atoms(5, 6, 2));
    ck_assert_str_eq(text, spellings[_i].shown);
    term_text_respell(&(struct term_text){respelled, sizeof respelled, 0}, spellings[_i].erlang);
    ck_assert_str_eq(respelled, spellings[_i].shown);
    term_text_respell(&(struct term_text){again, sizeof again, 0}, spellings[_i].shown); /* it may be typed, too */
    ck_assert_str_eq(again, spellings[_i].shown);
    batch_names_free(names);
}
END_TEST

static const char *const respellings[][2] = {
    {"'Elixir.My.Agent'", "My.Agent"},         {"Elixir.My.Agent", "My.Agent"}, {"My.Agent", "My.Agent"},
    {"Elixir.My.Agent:update/2", "My.Agent.update/2"}, {"", ""}, {"'", "'"}, {"'Elixir.My", "'Elixir.My"},
    {"'Elixir.My'x", "'Elixir.My'x"},          {"'Elixir.My':", "My."},         {"'Elixir.My':'cut", "My.'cut"},
    {"'Elixir.My':'cut\\", "My.'cut\\"},       {"'late one'", "'late one'"},
};

/* Atoms too, and what is typed without quotes, cut or no name at all. */
START_TEST(test_names_that_are_typed_are_spelled_the_same)
{
    char text[256] = "";

    term_text_respell(&(struct term_text){text, sizeof text, 0}, respellings[_i][0]);
    ck_assert_str_eq(text, respellings[_i][1]);
}
END_TEST

/* ---- names of C++ */

static const char *const mangled[][2] = {
    {"_Z17beam_jit_call_nifP7processPKvPmPFmP18enif_environment_tiS3_EP14erl_module_nif", "beam_jit_call_nif"},
    {"_ZN19BeamModuleAssembler9emit_moveERK6ArgValS2_", "BeamModuleAssembler::emit_move"},
    {"_ZN12_GLOBAL__N_11fEv", "(anonymous namespace)::f"},
    {"_ZNK1AclEi", "A::operator()"},
    {"_ZTV1A", "vtable for A"},
    {"process_main", "process_main"},
    {"_Zap", "_Zap"},
    {"_Z", "_Z"},
    {"", ""},
    {"_Z1fPFPFPFPFPFPFPFPFPFPFPFPFvS_S_ES0_S0_ES1_S1_ES2_S2_ES3_S3_ES4_S4_ES5_S5_ES6_S6_ES7_S7_ES8_S8_ES9_S9_ESA_SA_E",
     "_Z1fPFPFPFPFPFPFPFPFPFPFPFPFvS_S_ES0_S0_ES1_S1_ES2_S2_ES3_S3_ES4_S4_ES5_S5_ES6_S6_ES7_S7_ES8_S8_ES9_S9_ESA_SA_E"},
};

START_TEST(test_names_of_cpp_are_written_as_there)
{
    char text[256] = "";

    native_demangle(mangled[_i][0], text, sizeof text);
    ck_assert_str_eq(text, mangled[_i][1]);
    native_demangle(mangled[_i][0], text, 5); /* cut */
    ck_assert_int_le(strlen(text), 4);
}
END_TEST

/* ---- */

Suite *names_suite(void)
{
    Suite *suite = suite_create("names");
    TCase *live = tcase_create("live"), *pure = tcase_create("pure");

    tcase_set_timeout(live, 60);
    tcase_add_loop_test(live, test_names_are_those_of_the_event, 0, sizeof names_ways / sizeof *names_ways);
    tcase_add_loop_test(live, test_names_are_left_out_on_request, 0, 8);
    tcase_add_loop_test(live, test_names_of_those_that_begin, 0, 2);
    tcase_add_test(live, test_names_of_those_in_a_call);
    tcase_add_loop_test(live, test_names_are_labels_where_there_are_some, 0, 5);
    suite_add_tcase(suite, live);
    tcase_add_loop_test(pure, test_names_are_spelled_as_their_language_does, 0, sizeof spellings / sizeof *spellings);
    tcase_add_loop_test(pure, test_names_that_are_typed_are_spelled_the_same, 0, sizeof respellings / sizeof *respellings);
    tcase_add_loop_test(pure, test_names_of_cpp_are_written_as_there, 0, sizeof mangled / sizeof *mangled);
    suite_add_tcase(suite, pure);
    return suite;
}
