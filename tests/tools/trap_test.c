/* SPDX-License-Identifier: Apache-2.0 */
/* Recordings of VMs that write no pages: events as pages, names as atoms, and what a report of them counts. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "event/batch_merge.h"
#include "event/event.h"
#include "stock_counts.h"
#include "support.h"
#include "source/trap_names.h"
#include "source/trap_pages.h"
#include "source/trap_source.h"
#include "view/views.h"

enum { VM = 17, THREAD = 4711 };

/* ---- pages */

struct told {
    struct batch_merge *merge;
    struct batch_names *names;
    struct trap_pages *pages;
    uint64_t events, sum, gaps, last_ns;
};

static void take_page(void *ctx, const struct batch_received *page)
{
    batch_merge_take(((struct told *)ctx)->merge, page);
}

static void take_event(void *ctx, const union ev_any *ev)
{
    struct told *t = ctx;

    t->events++;
    ck_assert_uint_ge(ev->head.time_ns, t->last_ns);
    t->last_ns = ev->head.time_ns;
    ck_assert_uint_eq(ev->head.event, BATCH_copy__struct);
    ck_assert_uint_eq(ev->head.vm, VM);
    t->sum += ev->copy__struct.words;
}

static void take_gap(void *ctx, uint32_t vm)
{
    (void)vm;
    ((struct told *)ctx)->gaps++;
}

static void begin(struct told *t)
{
    *t = (struct told){.names = batch_names_new()};
    t->merge = batch_merge_new(t->names, &(struct batch_merge_ops){.event = take_event, .gap = take_gap, .ctx = t});
    t->pages = trap_pages_new(&(struct trap_pages_ops){take_page, t});
    ck_assert(t->names && t->merge && t->pages);
}

static void end(struct told *t)
{
    trap_pages_free(t->pages);
    batch_merge_free(t->merge);
    batch_names_free(t->names);
}

/* An event of the thread: a number, which also says how many it told before. */
static void add(struct told *t, uint32_t thread, uint64_t number, uint64_t ns)
{
    trap_pages_add(t->pages, &(struct trap_event){VM, thread, BATCH_copy__struct, ns, number, &number, 1});
}

/* More than a page of each of two threads, by turns: all are told, in the order of their times. */
START_TEST(test_trap_pages_tell_events_in_order)
{
    enum { EVENTS = 5003 };
    struct told t;

    begin(&t);
    for (uint64_t i = 0; i < EVENTS; i++) {
        add(&t, THREAD, i, 1000 + 2 * i);
        add(&t, THREAD + 1, i, 1001 + 2 * i);
        if (i % 997 == 0)
            trap_pages_flush(t.pages, 2 * i, 1002 + 2 * i);
    }
    trap_pages_flush(t.pages, UINT64_MAX, 1002 + 2 * EVENTS);
    batch_merge_until(t.merge, UINT64_MAX);
    ck_assert_uint_eq(t.events, 2 * EVENTS);
    ck_assert_uint_eq(t.sum, EVENTS * (EVENTS - 1));
    ck_assert_uint_eq(t.last_ns, 1001 + 2 * (EVENTS - 1));
    ck_assert_uint_eq(t.gaps, 0);
    ck_assert_uint_eq(batch_merge_counts(t.merge)->late, 0);
    ck_assert_uint_eq(batch_merge_counts(t.merge)->damaged, 0);
    end(&t);
}
END_TEST

/* Lost at the beginning, in between and at the end: 7, 100,003 and 13, each a gap of that size. */
START_TEST(test_trap_pages_tell_what_is_missing)
{
    struct told t;

    begin(&t);
    add(&t, THREAD, 7, 1000);
    add(&t, THREAD, 8, 1001);
    add(&t, THREAD, 9 + 100003, 1002);
    trap_pages_flush(t.pages, UINT64_MAX, 1003);
    trap_pages_told(t.pages, VM, THREAD, 10 + 100003 + 13, 1004);
    batch_merge_until(t.merge, UINT64_MAX);
    ck_assert_uint_eq(t.events, 3);
    ck_assert_uint_eq(t.gaps, 2); /* the last is behind the last event */
    ck_assert_uint_eq(batch_merge_counts(t.merge)->lost_events, 7 + 100003 + 13);
    end(&t);
}
END_TEST

/* A page's names come before it, however many they are. */
START_TEST(test_trap_pages_tell_names_first)
{
    enum { ATOMS = 1009 };
    char text[32];
    struct told t;

    begin(&t);
    for (uint32_t i = 1; i <= ATOMS; i++) {
        snprintf(text, sizeof text, "atom_%u_with_a_long_name", i);
        trap_pages_atom(t.pages, VM, i, text, strlen(text), 1000 + i);
    }
    add(&t, THREAD, 0, 3000);
    trap_pages_end(t.pages, VM, 3001);
    for (uint32_t i = 1; i <= ATOMS; i++) {
        snprintf(text, sizeof text, "atom_%u_with_a_long_name", i);
        ck_assert_str_eq(batch_names_find(t.names, VM, i), text);
    }
    end(&t);
}
END_TEST

/* ---- names */

struct atoms {
    char texts[32][64];
};

/* At 1 there is a function of the atoms 23 and 24, at 2 what is none; of other addresses nothing is known. */
static bool code_of(void *ctx, uint32_t vm, const struct wire_name *code, struct wire_name *out)
{
    (void)ctx, (void)vm;
    *out = (struct wire_name){.form = WIRE_TEXT, .text = "(shared code)"};
    if (code->words[0] == 1)
        *out = (struct wire_name){.form = WIRE_MFA, .words = {23, 24, 2}};
    return code->words[0] == 1 || code->words[0] == 2;
}

static const char *atom_of(void *ctx, uint32_t vm, uint64_t index)
{
    (void)ctx, (void)vm;
    return index == 23 ? "normal" : NULL;
}

static void keep_atom(void *ctx, uint32_t vm, uint32_t index, const char *text, size_t bytes)
{
    struct atoms *atoms = ctx;

    ck_assert_uint_eq(vm, VM);
    ck_assert_uint_lt(index, 32);
    snprintf(atoms->texts[index], sizeof atoms->texts[index], "%.*s", (int)bytes, text);
}

static const struct {
    const char *text, *module, *function; /* module NULL: it is none */
    unsigned arity;
} functions[] = {
    {"lists:map/2", "lists", "map", 2},
    {"'Elixir.A.B':'do it'/0", "Elixir.A.B", "do it", 0},
    {"erlang:'/'/2", "erlang", "/", 2},
    {"m:'-f/1-lc$^0/1-0-'/3", "m", "-f/1-lc$^0/1-0-", 3},
    {"'it\\'s':'a\\\\b'/254", "it's", "a\\b", 254},
    {"m:f/?", "m", "f", 255},
    {"m:f/999999999999999999999999", "m", "f", 255},
    {"m:cut", "m", "cut", 255},
    {"?:?/?", NULL, "unknown", 255},
    {"0x7f0000001000", NULL, NULL, 0},
    {"(shared code)", NULL, "(shared code)", 255},
    {"(unknown code)", NULL, "(unknown code)", 255},
    {"(other code)", NULL, NULL, 0},
    {"'never ends", NULL, NULL, 0},
    {"'", NULL, NULL, 0},
    {"", NULL, NULL, 0},
};

/* Numbers and addresses become the recording's own numbers without being printed. */
START_TEST(test_trap_names_number_functions_of_code)
{
    struct atoms atoms = {{""}};
    struct trap_names *names = trap_names_new(&(struct trap_names_ops){code_of, atom_of, keep_atom, &atoms});
    struct wire_name code = {.form = WIRE_CODE, .words = {1, 0}}, mfa = {.form = WIRE_MFA, .words = {23, 24, 2}};
    ev_mfa told = trap_names_mfa(names, VM, &code);

    ck_assert_str_eq(atoms.texts[ev_mfa_module(told)], "normal");
    ck_assert_uint_eq(ev_mfa_function(told), EV_NO_ATOM);
    ck_assert_uint_eq(ev_mfa_arity(told), 2);
    ck_assert_uint_eq(trap_names_mfa(names, VM, &mfa), told);
    code.words[0] = 2;
    told = trap_names_mfa(names, VM, &code);
    ck_assert_uint_eq(ev_mfa_module(told), EV_NO_ATOM);
    ck_assert_str_eq(atoms.texts[ev_mfa_function(told)], "(shared code)");
    code.words[0] = 3;
    ck_assert_uint_eq(trap_names_mfa(names, VM, &code), 0);
    trap_names_free(names);
}
END_TEST

START_TEST(test_trap_names_read_functions)
{
    struct atoms atoms = {{""}};
    struct trap_names *names = trap_names_new(&(struct trap_names_ops){code_of, atom_of, keep_atom, &atoms});
    struct wire_name name = {.form = WIRE_TEXT};
    ev_mfa mfa;

    strcpy(name.text, functions[_i].text);
    mfa = trap_names_mfa(names, VM, &name);
    ck_assert_uint_eq(trap_names_mfa(names, VM, &name), mfa);
    ck_assert_int_eq(mfa != 0, functions[_i].function != NULL);
    if (functions[_i].module) {
        ck_assert_str_eq(atoms.texts[ev_mfa_module(mfa)], functions[_i].module);
        ck_assert_str_eq(atoms.texts[ev_mfa_function(mfa)], functions[_i].function);
    } else if (mfa) {
        ck_assert_uint_eq(ev_mfa_module(mfa), EV_NO_ATOM);
        if (*functions[_i].function == '(')
            ck_assert_str_eq(atoms.texts[ev_mfa_function(mfa)], functions[_i].function);
        else
            ck_assert_uint_eq(ev_mfa_function(mfa), EV_NO_ATOM);
    }
    if (mfa)
        ck_assert_uint_eq(ev_mfa_arity(mfa), functions[_i].arity);
    trap_names_free(names);
}
END_TEST

/* The atom of a term that was read and that of one that was printed are one; what is known of others stays. */
START_TEST(test_trap_names_read_terms)
{
    struct atoms atoms = {{""}};
    struct trap_names *names = trap_names_new(&(struct trap_names_ops){code_of, atom_of, keep_atom, &atoms});
    struct wire_name read = {.form = WIRE_REASON, .words = {WIRE_ATOM, 23, WIRE_TUPLE_OF_MORE}};
    struct wire_name printed = {.form = WIRE_REASON_TEXT, .words = {WIRE_ATOM, 0, WIRE_TUPLE_OF_MORE}};
    struct wire_name small = {.form = WIRE_REASON, .words = {WIRE_SMALL, (uint64_t)-17, 0}};
    ev_term term = trap_names_term(names, VM, &read);

    memcpy(printed.text + 24, "normal", 6);
    ck_assert_uint_eq(trap_names_term(names, VM, &printed), term);
    ck_assert_str_eq(atoms.texts[ev_term_atom(term)], "normal");
    ck_assert_int_eq(ev_term_holder(term, 0), BATCH_TUPLE_OF_MORE);
    ck_assert_int_eq(ev_term_small(trap_names_term(names, VM, &small)), -17);
    read.words[1] = 24;
    ck_assert_uint_eq(ev_term_atom(trap_names_term(names, VM, &read)), EV_NO_ATOM);
    read.words[0] = 99;
    ck_assert_uint_eq(trap_names_term(names, VM, &read), 0);
    memset(printed.text + 24, 'x', WIRE_REASON_TEXT_BYTES);
    ck_assert_uint_ne(trap_names_term(names, VM, &printed), term);
    trap_names_free(names);
}
END_TEST

static void skip_atom(void *ctx, uint32_t vm, uint32_t index, const char *text, size_t bytes)
{
    (void)ctx, (void)vm, (void)index, (void)text, (void)bytes;
}

/* As many as there is room for have a number; the others are counted. */
START_TEST(test_trap_names_count_what_has_no_room)
{
    enum { ROOM = 1 << 18, MORE = 23 };
    struct trap_names *names = trap_names_new(&(struct trap_names_ops){code_of, atom_of, skip_atom, NULL});
    char text[32];

    for (int i = 0; i < ROOM + MORE; i++) {
        bool room = i < ROOM;

        snprintf(text, sizeof text, "atom_%d", i);
        ck_assert_int_eq(trap_names_atom(names, VM, text, strlen(text)) != EV_NO_ATOM, room);
    }
    ck_assert_uint_eq(trap_names_lost(names), MORE);
    trap_names_free(names);
}
END_TEST

START_TEST(test_trap_names_read_nodes)
{
    struct atoms atoms = {{""}};
    struct trap_names *names = trap_names_new(&(struct trap_names_ops){code_of, atom_of, keep_atom, &atoms});
    struct wire_name name = {.form = WIRE_TEXT, .text = "there@127.0.0.1"};
    ev_node node = trap_names_node(names, VM, &name);

    ck_assert_uint_gt(node, 0);
    ck_assert_str_eq(atoms.texts[node - 1], "there@127.0.0.1");
    strcpy(name.text, "'it\\'s me@h'");
    node = trap_names_node(names, VM, &name);
    ck_assert_str_eq(atoms.texts[node - 1], "it's me@h");
    memset(name.text, '\\', sizeof name.text);
    ck_assert_uint_gt(trap_names_node(names, VM, &name), 0);
    *name.text = '\0';
    ck_assert_uint_eq(trap_names_node(names, VM, &name), 0);
    trap_names_free(names);
}
END_TEST

/* ---- live */

/* $ERL does `work` while it is recorded with these options; then `views` are asked of the recording. */
static const struct support_run *run_recorded(const char *erl, const char *work, const char *options, const char *views)
{
    return support_run("erlc $SOURCE/tests/tools/stock_target.erl\n"
                       "%s -noshell -pa . -s stock_target work %s & P=$!; comes ready\n"
                       "$ERLSNOOP trace -o r -p $P %s > t & E=$!; attached $E; touch go\n"
                       "while [ ! -e done ] && kill -0 $P; do sleep .05; done; kill -INT $E; wait $E; s=$?; touch end; wait $P; cat t\n"
                       "$ERLSNOOP report r --json %s || s=79; exit $s", erl, work, options, views);
}

static const struct {
    const char *erl, *options;
} ways[] = {{"erl +S 1", ""}, {"$ERLVM +S 1", "--source notes"}};
enum { NWAYS = sizeof ways / sizeof *ways };

static const struct support_run *run_way(int way, const char *work, const char *words, const char *views)
{
    char options[128];

    snprintf(options, sizeof options, "%s %s", ways[way].options, words);
    return run_recorded(ways[way].erl, work, options, views);
}

/* The number in the line of this type that names this process; -1: there is none. */
static long owner_number(const char *out, const char *type, const char *owner, const char *key)
{
    for (const char *line = out, *end; (end = strchr(line, '\n')); line = end + 1) {
        char text[1024];

        snprintf(text, sizeof text, "%.*s\n", (int)(end - line), line);
        if (strstr(text, type) && strstr(text, owner))
            return support_number(text, type, key);
    }
    return -1;
}

START_TEST(test_trap_recording_tells_births_and_deaths)
{
    SUPPORT_BPF();
    const struct support_run *r = run_way(_i, "spawns", "spawns exits", "spawns,exits");

    ck_assert_msg(!r->status, "%s%s", r->out, r->err);
    stock_counts_spawns(r->out);
    ck_assert_int_eq(support_number(r->out, "\"type\":\"exits\"", "exits"), 35);
    ck_assert_int_eq(support_number(r->out, "\"type\":\"exits\"", "abnormal"), 23);
    ck_assert_int_eq(support_lines(r->out, "\"type\":\"lost\""), 0);
}
END_TEST

START_TEST(test_trap_recording_tells_messages)
{
    SUPPORT_BPF();
    const struct support_run *r = run_way(_i, "ring", "msglat messages sched", "msglat,messages,sched");

    ck_assert_msg(!r->status, "%s%s", r->out, r->err);
    stock_counts_ring(r->out);
    ck_assert_int_gt(support_number(r->out, "\"mfa\":\"stock_target:echo/2\"", "wakeups"), 0);
    ck_assert_int_eq(owner_number(r->out, "\"messages_by_owner\"", "\"stock_target:echo/2\"", "sent"), 1009);
    ck_assert_int_gt(owner_number(r->out, "\"sched_by_owner\"", "\"stock_target:echo/2\"", "slices"), 100);
    ck_assert_int_eq(support_lines(r->out, "\"owner\":\"<0."), 0); /* those that were there before have names */
    ck_assert_int_eq(support_lines(r->out, "\"type\":\"lost\""), 0);
}
END_TEST

/* Born while it is recorded, registered, then sent 29 messages. */
START_TEST(test_trap_recording_tells_names_that_are_registered_later)
{
    SUPPORT_BPF();
    const struct support_run *r = support_run(
        "cat > late.erl <<'END'\n"
        "-module(late).\n-export([main/0, take/1]).\n"
        "main() -> file:write_file(\"ready\", \"1\"), work().\n"
        "work() ->\n"
        "    case filelib:is_file(\"go\") of\n"
        "        true ->\n"
        "            P = spawn(?MODULE, take, [29]), R = monitor(process, P), register('late one', P),\n"
        "            [P ! N || N <- lists:seq(1, 29)],\n"
        "            receive {'DOWN', R, process, P, _} -> halt() end;\n"
        "        false -> timer:sleep(20), work()\n"
        "    end.\n"
        "take(0) -> ok;\n"
        "take(N) -> receive N0 when is_integer(N0) -> take(N - 1) end.\nEND\n"
        "erlc late.erl; erl -noshell -pa . -s late main & P=$!; await ready\n"
        "$ERLSNOOP trace -o r %s-p $P spawns messages > t & E=$!; attached $E; touch go; wait $E; s=$?; wait $P\n"
        "$ERLSNOOP report r --json messages || s=79\n"
        "$ERLSNOOP report r --events message-send | grep -c ' words=- '; $ERLSNOOP report r --events --json message-send | grep -c words\n"
        "exit $s", _i ? "--ring 60s " : "");

    ck_assert_msg(!r->status, "%s%s", r->out, r->err);
    ck_assert_int_eq(owner_number(r->out, "\"messages_by_owner\"", "\"'late one'\"", "sent"), 29);
    ck_assert_int_eq(support_lines(r->out, "\"type\":\"messages\""), 1);
    ck_assert_int_eq(support_lines(r->out, "\"queued\":"), 0);
    ck_assert_int_ge(atoi(strrchr(r->out, '}') + 1), 29); /* sizes that it does not tell are no number */
    ck_assert_str_eq(strrchr(r->out, '}') + strlen(strrchr(r->out, '}')) - 3, "\n0\n");
}
END_TEST

/* By notes alone, as of an OTP that is built with them. */
START_TEST(test_trap_recording_tells_what_notes_tell)
{
    SUPPORT_BPF();
    const struct support_run *r = support_run(
        "$EMITTER -w go 'process__spawn=23|<0.%%d.0>|a:f/1' 'message__send=29||<0.%%d.0>|7' 'process__scheduled=19|<0.%%d.0>|a:f/1' "
        "'process__unscheduled=19|<0.%%d.0>' 'gc_minor__start=17|<0.%%d.0>' 'gc_minor__end=17|<0.%%d.0>|1000' "
        "'gc_major__start=5|<0.%%d.0>' 'gc_major__end=5|<0.%%d.0>|10' 'process__exit=13|<0.%%d.0>|{bad,1}' "
        "'process__exit=7|<0.2%%d.0>|normal' > counts & p=$!; runs $p emitter\n"
        "$ERLSNOOP trace -o r -p $p spawns msglat gc exits > t & e=$!; attached $e; touch go; wait $e; s=$?; wait $p\n"
        "$ERLSNOOP report r --json spawns,msglat,gc,exits || s=79; cat counts t >&2; exit $s");

    ck_assert_msg(!r->status, "%s%s", r->out, r->err);
    ck_assert_int_eq(support_number(r->out, "\"type\":\"spawns\"", "births"), 23);
    ck_assert_int_eq(support_number(r->out, "\"type\":\"spawns\"", "deaths"), 20);
    ck_assert_int_eq(support_number(r->out, "\"type\":\"spawns_by_mfa\"", "count"), 23);
    ck_assert_int_eq(support_number(r->out, "\"type\":\"msglat\"", "messages"), 29);
    ck_assert_int_eq(support_number(r->out, "\"type\":\"msglat\"", "wakeups"), 19);
    ck_assert_int_eq(support_number(r->out, "\"type\":\"gc\"", "minor"), 17);
    ck_assert_int_eq(support_number(r->out, "\"type\":\"gc\"", "major"), 5);
    ck_assert_int_eq(support_number(r->out, "\"type\":\"gc\"", "reclaimed_words"), 17 * 1000 + 5 * 10);
    ck_assert_int_eq(support_number(r->out, "\"type\":\"exits\"", "exits"), 20);
    ck_assert_int_eq(support_number(r->out, "\"type\":\"exits\"", "abnormal"), 13);
    ck_assert_int_eq(owner_number(r->out, "\"exits_by_owner\"", "\"a:f/1\"", "count"), 13);
    ck_assert_int_eq(support_lines(r->out, "\"type\":\"lost\""), 0);
}
END_TEST

/* More processes are scheduled in than it is followed that they run: 65,536. */
START_TEST(test_trap_recording_counts_turns_that_it_has_no_room_for)
{
    SUPPORT_BPF();
    const struct support_run *r = support_run(
        "$EMITTER -w go 'process__scheduled=65567|<0.%%d.0>|a:f/1' 'message__send=1||<0.1.0>' > counts & p=$!; "
        "runs $p emitter\n"
        "$ERLSNOOP trace -o r --json -p $p msglat > t & e=$!; attached $e; touch go; wait $e; s=$?; wait $p; cat t; "
        "exit $s");

    ck_assert_msg(!r->status, "%s%s", r->out, r->err);
    ck_assert_int_eq(support_number(r->out, "(who runs)", "count"), 65567 - 65536);
}
END_TEST

/* Letter `i` as often as a note's text may have it. */
static const char *long_text(unsigned i)
{
    static char text[PROBE_TEXT_BYTES];

    memset(text, (int)('A' + i), sizeof text - 1);
    return text;
}

static uint32_t read_by_views(const char *probe)
{
    uint32_t mask = 0;

    for (size_t v = 0; v < VIEW_COUNT; v++)
        mask |= view_reads((enum view_id)v, probe);
    return mask;
}

/* An emitter's word for an event of the probe, each text as long as it may be. Returns whether it has one. */
static bool add_long_texts(FILE *out, enum batch_event event)
{
    const struct event_row *row = event_row(event);
    char *arguments = NULL;
    bool any = false;
    size_t size;
    FILE *text = open_memstream(&arguments, &size);

    for (unsigned i = 0; i < row->nargs; i++) {
        bool is_text = row->args[i].unit == EVENT_UNIT_text;

        any |= is_text;
        fprintf(text, "|%s", is_text ? long_text(i) : "");
    }
    fclose(text);
    if (any)
        fprintf(out, " '%s=1%s'", row->name, arguments);
    free(arguments);
    return any;
}

/* The line of the probe's event has each text that a view reads, whole. */
static void assert_long_texts(const char *lines, enum batch_event event)
{
    const struct event_row *row = event_row(event);
    char mark[128];
    const char *line;

    snprintf(mark, sizeof mark, "\"probe\":\"%s\"", row->name);
    line = strstr(lines, mark);
    ck_assert_msg(line != NULL, "no %s", mark);
    for (unsigned i = 0; i < row->nargs; i++) {
        char member[PROBE_TEXT_BYTES + 64];
        const char *at;

        if (row->args[i].unit != EVENT_UNIT_text || !(read_by_views(row->name) >> i & 1))
            continue;
        snprintf(member, sizeof member, "\"%s\":\"%s\"", row->args[i].name, long_text(i));
        at = strstr(line, member);
        ck_assert_msg(at && at < line + strcspn(line, "\n"), "%s: %s", row->name, row->args[i].name);
    }
}

/* All texts of all probes, as long as notes have them, come out of a recording whole. */
START_TEST(test_trap_recording_keeps_the_longest_texts)
{
    char *fires = NULL;
    size_t size;
    FILE *text = open_memstream(&fires, &size);
    const struct support_run *r;
    bool has[BATCH_EVENTS] = {false};

    SUPPORT_BPF();
    for (unsigned e = BATCH_LAST_NAME + 1; e < BATCH_EVENTS; e++)
        has[e] = e != BATCH_user_trace__n && read_by_views(event_row((enum batch_event)e)->name) &&
                 add_long_texts(text, (enum batch_event)e);
    fclose(text);
    r = support_run("$EMITTER -w go%s & p=$!; runs $p emitter\n"
                    "$ERLSNOOP trace -o r -p $p all > t & e=$!; attached $e; touch go; wait $e; s=$?; wait $p\n"
                    "$ERLSNOOP report r --events --json all || s=79; exit $s",
                    fires);
    free(fires);
    ck_assert_msg(!r->status, "%s%s", r->out, r->err);
    for (unsigned e = 0; e < BATCH_EVENTS; e++)
        if (has[e])
            assert_long_texts(r->out, (enum batch_event)e);
    ck_assert_int_eq(support_lines(r->out, "\"type\":\"lost\""), 0);
}
END_TEST

/* The same of what Erlang code tells, of paths and of a port's name: by pages, by notes and by hooks. */
static const struct {
    const char *vm, *option;
    bool user;     /* it tells what Erlang code tells */
    size_t bytes;  /* of a text, at most */
    const char *end; /* of a longer one */
} long_ways[] = {
    {"$ERLVM", "--source batches", true, BATCH_TEXT_BYTES, ""},
    {"$ERLVM", "--source notes", true, PROBE_TEXT_BYTES - 1, "..."},
    {"erl", "", false, PROBE_TEXT_BYTES - 1, ""},
};

/* A line of the probe has that text, which begins with `begin` and goes on with one letter. */
static void assert_long_text(int way, const char *lines, const char *probe, const char *member, const char *begin,
                             char letter)
{
    size_t letters = long_ways[way].bytes - strlen(begin) - strlen(long_ways[way].end);
    char mark[64], text[BATCH_TEXT_BYTES + 64], *at = text;
    const char *line;

    snprintf(mark, sizeof mark, "\"probe\":\"%s\"", probe);
    at += sprintf(at, "\"%s\":\"%s", member, begin);
    memset(at, letter, letters);
    sprintf(at + letters, "%s\"", long_ways[way].end);
    line = strstr(lines, mark);
    ck_assert_msg(line && strstr(line, text), "%s: no %.40s in %s", probe, text, lines);
}

START_TEST(test_trap_recording_keeps_the_longest_texts_of_vms)
{
    SUPPORT_BPF();
    const struct support_run *r = support_run(
        "cat > texts.erl <<'END'\n"
        "-module(texts).\n-export([main/0]).\n"
        "main() ->\n"
        "    T = fun(C) -> binary:copy(<<C>>, 1024) end, L = fun(C) -> lists:duplicate(1100, C) end,\n"
        "    file:write_file(\"ready\", \"1\"), await(),\n"
        "    catch dyntrace:put_tag(T($A)), catch dyntrace:p(1, 2, 3, 4, T($B), T($C), T($D), T($E)),\n"
        "    file:rename(\"/\" ++ L($P), \"/\" ++ L($Q)),\n"
        "    open_port({spawn, \"true \" ++ L($R)}, [exit_status]),\n"
        "    receive {_, {exit_status, _}} -> halt() end.\n"
        "await() -> filelib:is_file(\"go\") orelse begin timer:sleep(20), await() end.\nEND\n"
        "erlc texts.erl; %s -noshell -pa . -s texts main & p=$!; await ready\n"
        "$ERLSNOOP trace %s -o r -p $p user efile ports > t & e=$!; attached $e; touch go; wait $e; s=$?\n"
        "$ERLSNOOP report r --events --json all | grep '[A-R]\\{40\\}' || s=79; exit $s",
        long_ways[_i].vm, long_ways[_i].option);

    ck_assert_msg(!r->status, "%s%s", r->out, r->err);
    if (long_ways[_i].user) {
        assert_long_text(_i, r->out, "user_trace__i4s4", "user_tag", "", 'A');
        assert_long_text(_i, r->out, "user_trace__i4s4", "s1", "", 'B');
        assert_long_text(_i, r->out, "user_trace__i4s4", "s4", "", 'E');
        assert_long_text(_i, r->out, "efile_drv__entry", "user_tag", "", 'A');
    }
    assert_long_text(_i, r->out, "efile_drv__entry", "s1", "/", 'P');
    assert_long_text(_i, r->out, "efile_drv__entry", "s2", "/", 'Q');
    assert_long_text(_i, r->out, "port__open", "port_name", "true ", 'R');
}
END_TEST

START_TEST(test_trap_recording_tells_collections)
{
    SUPPORT_BPF();
    const struct support_run *r = run_way(_i, "collections", "gc", "gc");
    const char *row = "\"type\":\"gc\"";

    ck_assert_msg(!r->status, "%s%s", r->out, r->err);
    ck_assert_int_ge(support_number(r->out, row, "minor") + support_number(r->out, row, "major"), 23);
    ck_assert_int_eq(support_number(r->out, "\"owner\":\"stock_target:collect/1\"", "pauses"), 23);
    ck_assert_int_eq(support_lines(r->out, "\"type\":\"lost\""), 0);
}
END_TEST

START_TEST(test_trap_recording_tells_file_operations)
{
    SUPPORT_BPF();
    const struct support_run *r = run_way(_i, "files", "efile", "efile --events");
    const struct {
        const char *op;
        int count, errors;
    } rows[] = {{"\"op\":\"RENAME\"", 13, 2}, {"\"op\":\"DELETE\"", 11, 6}, {"\"op\":\"MKDIR\"", 2, 0},
                {"\"op\":\"RMDIR\"", 2, 0}};

    ck_assert_msg(!r->status, "%s%s", r->out, r->err);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        ck_assert_int_eq(support_number(r->out, rows[i].op, "count"), rows[i].count);
        ck_assert_int_eq(support_number(r->out, rows[i].op, "errors"), rows[i].errors);
    }
    ck_assert_int_gt(support_lines(r->out, "MKDIR (10) d2"), 0);
    ck_assert_int_eq(support_lines(r->out, "\"type\":\"lost\""), 0);
}
END_TEST

/* What it cannot tell is said in one line, once; the rest is recorded. */
START_TEST(test_trap_recording_says_what_it_cannot_tell)
{
    SUPPORT_BPF();
    const struct support_run *r = run_recorded("erl", "spawns", "spawns ports user", "spawns");

    ck_assert_int_eq(support_number(r->out, "\"type\":\"spawns\"", "births"), 35);
    ck_assert_int_eq(support_lines(r->err, "does not have user: "), 1);
}
END_TEST

/*
 * Ports, sockets, callbacks of drivers, other nodes and native functions of a stock emulator, as the work of
 * `make check-stock` says.
 */
START_TEST(test_trap_recording_tells_ports)
{
    static const char *const works[][2] = {{"ports", "ports"}, {"drivers", "drivers"}, {"sockets", "inet"},
                                             {"dist", "dist"},   {"natives", "nifs"}};

    SUPPORT_BPF();
    const struct support_run *r = support_run(
        "BUILD=$(dirname $ERLSNOOP) PYTHONPATH=$SOURCE/tests/stock python3 - %s %s <<'END'\n"
        "import json, signal, subprocess, sys\n"
        "import check_stock\n"
        "kind, view = sys.argv[1:]\n"
        "work = check_stock.Work(check_stock.Otp('here'), kind)\n"
        "try:\n"
        "    trace = subprocess.Popen([check_stock.ERLSNOOP, 'trace', '-p', str(work.pid), '-o', 'rec', view], stdout=subprocess.DEVNULL,\n"
        "                             stderr=subprocess.PIPE, text=True)\n"
        "    while 'is recorded' not in (line := trace.stderr.readline()): assert line, 'trace ended'\n"
        "    work.go()\n"
        "    told = [json.loads(line) for line in work.wait_for('done')]\n"
        "    trace.send_signal(signal.SIGINT)\n"
        "    assert not trace.wait(), trace.stderr.read()\n"
        "finally:\n"
        "    work.end()\n"
        "rows = subprocess.run([check_stock.ERLSNOOP, 'report', 'rec', view, '--json'] + ['--events'] * (view not in check_stock.SILENT), stdout=subprocess.PIPE, text=True, check=True).stdout\n"
        "result = check_stock.Result(work, kind)\n"
        "for expected in told: result.compare(expected, list(map(json.loads, rows.splitlines())))\n"
        "print(len(told), *result.wrong, sep='\\n')\n"
        "END", works[_i][0], works[_i][1]);

    ck_assert_msg(!r->status, "%s", r->err);
    ck_assert_msg(atoi(r->out) > 7 && !strchr(strchr(r->out, '\n') + 1, '\n'), "%s", r->out);
}
END_TEST

/* In memory, written when the VM ends. */
START_TEST(test_trap_recording_in_memory_is_written_when_the_vm_ends)
{
    SUPPORT_BPF();
    const struct support_run *r = support_run(
        "erlc $SOURCE/tests/tools/stock_target.erl\n"
        "erl -noshell -pa . -s stock_target work spawns & P=$!; comes ready\n"
        "$ERLSNOOP trace --ring 60s --when 'spawns.births > 20' --files 9 -o r -p $P spawns > t 2> err & E=$!; attached $E; touch go\n"
        "until grep -q 'births > 20' err || ! kill -0 $E; do sleep .05; done; touch end; wait $P; wait $E; s=$?\n"
        "$ERLSNOOP report r --json spawns; $ERLSNOOP report r.1 --json spawns | grep '\"type\":\"spawns\"'; exit $s");

    ck_assert_msg(!r->status, "%s%s", r->out, r->err);
    ck_assert_int_eq(support_number(r->out, "\"mfa\":\"stock_target:crash/1\"", "count"), 23);
    ck_assert_int_eq(support_lines(r->out, "\"type\":\"spawns\""), 2);
}
END_TEST

/* A VM that is killed while a driver's callback runs leaves nothing for another with its process id or its threads'. */
START_TEST(test_trap_recording_forgets_vms_that_have_ended)
{
    SUPPORT_BPF();
    const struct support_run *r = stock_kills_in_callback("trace -o r -a drivers", "calling_back threads");

    ck_assert_int_eq(r->status, 0);
    ck_assert_str_eq(r->out, "0\n0\n");
}
END_TEST

/* Of a VM that ended while it was looked at, what was read before its end was taken for the reason. */
START_TEST(test_trap_source_says_that_a_refused_vm_has_ended)
{
    static const struct wanted wanted;
    const struct {
        int pid, err;
    } vms[] = {{getpid(), -ENOTSUP}, {4194303, -ESRCH}};
    struct plan *plan = calloc(1, sizeof *plan);

    ck_assert_ptr_nonnull(plan);
    strcpy(plan->refused, "its code is not where its memory map says");
    for (size_t i = 0; i < sizeof vms / sizeof *vms; i++) {
        struct target target = {.pid = vms[i].pid};

        ck_assert_int_eq(trap_source_require(&wanted, &target, plan), vms[i].err);
    }
    free(plan);
}
END_TEST

Suite *trap_suite(void)
{
    Suite *suite = suite_create("trap");
    TCase *pages = tcase_create("pages"), *live = tcase_create("live");

    tcase_add_test(pages, test_trap_pages_tell_events_in_order);
    tcase_add_test(pages, test_trap_pages_tell_what_is_missing);
    tcase_add_test(pages, test_trap_pages_tell_names_first);
    tcase_add_test(pages, test_trap_names_number_functions_of_code);
    tcase_add_loop_test(pages, test_trap_names_read_functions, 0, sizeof functions / sizeof *functions);
    tcase_add_test(pages, test_trap_names_read_terms);
    tcase_add_test(pages, test_trap_names_read_nodes);
    tcase_add_test(pages, test_trap_names_count_what_has_no_room);
    tcase_add_test(pages, test_trap_source_says_that_a_refused_vm_has_ended);
    suite_add_tcase(suite, pages);
    tcase_set_timeout(live, 90);
    tcase_add_loop_test(live, test_trap_recording_tells_births_and_deaths, 0, NWAYS);
    tcase_add_loop_test(live, test_trap_recording_tells_messages, 0, NWAYS);
    tcase_add_loop_test(live, test_trap_recording_tells_names_that_are_registered_later, 0, 2);
    tcase_add_test(live, test_trap_recording_tells_what_notes_tell);
    tcase_add_test(live, test_trap_recording_counts_turns_that_it_has_no_room_for);
    tcase_add_test(live, test_trap_recording_keeps_the_longest_texts);
    tcase_add_loop_test(live, test_trap_recording_keeps_the_longest_texts_of_vms, 0,
                        sizeof long_ways / sizeof *long_ways);
    tcase_add_loop_test(live, test_trap_recording_tells_collections, 0, NWAYS);
    tcase_add_loop_test(live, test_trap_recording_tells_file_operations, 0, NWAYS);
    tcase_add_test(live, test_trap_recording_says_what_it_cannot_tell);
    tcase_add_loop_test(live, test_trap_recording_tells_ports, 0, 5);
    tcase_add_test(live, test_trap_recording_in_memory_is_written_when_the_vm_ends);
    tcase_add_test(live, test_trap_recording_forgets_vms_that_have_ended);
    suite_add_tcase(suite, live);
    return suite;
}
