/* SPDX-License-Identifier: Apache-2.0 */
/* A team's own rules: what their language means, how a file is refused, and the example of the manual on a live VM. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "diagnose/own_language.h"
#include "diagnose/own_rules.h"
#include "support.h"

/* A scope whose names are these. */
static const struct {
    const char *name;
    struct own_name is;
    struct own_value value;
} names[] = {
    {"five", {OWN_NUMBER, OWN_PLAIN}, {true, 5, ""}},
    {"half", {OWN_NUMBER, OWN_SHARE}, {true, 0.5, ""}},
    {"size", {OWN_NUMBER, OWN_BYTES}, {true, 2.5e6, ""}},
    {"age", {OWN_NUMBER, OWN_SECONDS}, {true, 0.02, ""}},
    {"unknown", {OWN_NUMBER, OWN_PLAIN}, {false, 0, ""}},
    {"name", {OWN_TEXT, OWN_PLAIN}, {true, 0, "order_server"}},
    {"label", {OWN_TEXT, OWN_PLAIN}, {false, 0, ""}},
};

static int find_scope(const char *text, size_t n)
{
    return n == 5 && !memcmp(text, "thing", n) ? 0 : -1;
}

static int find_name(int scope, const char *text, size_t n, struct own_name *out)
{
    ck_assert_int_eq(scope, 0);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strlen(names[i].name) == n && !memcmp(names[i].name, text, n)) {
            *out = names[i].is;
            return (int)i;
        }
    return -1;
}

static bool is_taken(const char *rule)
{
    return !strcmp(rule, "taken");
}

static bool finds(const char *rule)
{
    return !strcmp(rule, "taken") || !strcmp(rule, "found");
}

static const struct own_words words = {find_scope, find_name, is_taken, finds};

static struct own_value value_of(void *ctx, int name)
{
    (void)ctx;
    return names[name].value;
}

#define RULE(when, score, says)                                                                                        \
    "rule r for thing title \"t\" when " when " score " score " says \"" says "\" why \"w\" do \"d\""

static const struct {
    const char *when;
    int is; /* 0, 1; -1: not known */
    const char *lacks;
} truths[] = {
    {"five = 5", 1, NULL},
    {"five != 5 or five >= 5", 1, NULL},
    {"not five < 5 and five <= 5.0", 1, NULL},
    {"1 + 2 * 3 = 7", 1, NULL},
    {"(1 + 2) * 3 = 9", 1, NULL},
    {"10 - 4 - 3 = 3", 1, NULL},
    {"-five < -4", 1, NULL},
    {"size > 2MB and size < 2_600kB", 1, NULL},
    {"age = 20ms and age < 1min", 1, NULL},
    {"half >= 50% and half < 0.51", 1, NULL},
    {"size / 1MB > 2", 1, NULL},
    {"five > 5 or five < 5", 0, NULL},
    {"name = \"order_*\"", 1, NULL},
    {"name = \"*_*er*er\"", 1, NULL},
    {"name = \"order_\" or name = \"*x*\"", 0, NULL},
    {"\"order*\" = name and name != \"billing\"", 1, NULL},
    {"unknown > 3", -1, "unknown"},
    {"not unknown > 3", -1, "unknown"},
    {"unknown > 3 and five = 4", 0, "unknown"},
    {"unknown > 3 or five = 5", 1, "unknown"},
    {"five = 4 and unknown > 3", 0, NULL},
    {"label != \"x\"", -1, "label"},
    {"five / (five - 5) > 1", -1, NULL},
};

START_TEST(test_own_rules_compare)
{
    char text[512];
    struct own_file file;
    struct own_error error;
    struct own_thing thing = {value_of, NULL, NULL};
    struct own_value value;

    snprintf(text, sizeof text, RULE("%s", "1", ""), truths[_i].when);
    ck_assert_msg(!own_parse(text, strlen(text), &words, &file, &error), "%s: %s", text, error.text);
    value = own_evaluate(file.rules[0].when, &thing);
    ck_assert_msg((value.known ? (int)value.number : -1) == truths[_i].is, "%s: %d %f", truths[_i].when, value.known, value.number);
    ck_assert_msg(truths[_i].lacks ? thing.lacks && !strcmp(thing.lacks, truths[_i].lacks) : !thing.lacks, "%s", truths[_i].when);
    own_file_free(&file);
}
END_TEST

START_TEST(test_own_rules_say)
{
    static const char text[] = "# two\n" RULE("five = 5", "five * 3", "{name}: {five}, {half} \\{of\\} {size} since {age}; {unknown} \\\"}")
        "\nrule other for thing # with more\n  title \"t\" when five = 5 score 1 says \"\" why \"w\" do \"d\" more \"m\"\n";
    struct own_file file;
    struct own_error error;
    struct own_thing thing = {value_of, NULL, NULL};
    char said[200], few[8];

    ck_assert_msg(!own_parse(text, strlen(text), &words, &file, &error), "%s", error.text);
    ck_assert_uint_eq(file.n, 2);
    ck_assert_str_eq(file.rules[0].rule, "r");
    ck_assert_ptr_null(file.rules[0].texts[OWN_MORE]);
    ck_assert_str_eq(file.rules[1].texts[OWN_MORE], "m");
    ck_assert(own_evaluate(file.rules[0].score, &thing).number == 15);
    own_say(&file.rules[0], &thing, said, sizeof said);
    ck_assert_str_eq(said, "order_server: 5, 50% {of} 2.50 MB since 20.0 ms; ? \"}");
    own_say(&file.rules[0], &thing, few, sizeof few);
    ck_assert_str_eq(few, "order_s");
    own_say(&file.rules[1], &thing, few, sizeof few);
    ck_assert_str_eq(few, "");
    own_file_free(&file);
}
END_TEST

#define HEAD "rule r for thing\n title \"t\"\n"
#define FIVE "found, found, found, found, found, "
#define TEN FIVE FIVE

static const struct {
    const char *text;
    unsigned line, column;
    const char *says;
} wrong[] = {
    {"rul r for thing", 1, 1, "'rule' is expected here"},
    {"rule 5", 1, 6, "the rule's name is expected"},
    {"rule r thing", 1, 8, "'for' is expected here"},
    {"rule r for moon", 1, 12, "no scope is called so"},
    {"rule taken for thing", 1, 6, "a finding of erlsnoop is called so"},
    {HEAD " when mesages > 5", 3, 7, "this scope has no name 'mesages'"},
    {HEAD " when five", 3, 7, "this is a number, and a comparison is expected"},
    {HEAD " when five > \"x\"", 3, 14, "this is a text, and a number is expected"},
    {HEAD " when name > 5", 3, 7, "this is a text, and a number is expected"},
    {HEAD " when five > 5 > 6", 3, 12, "this is a comparison, and a number is expected"},
    {HEAD " when size > 5s", 3, 12, "on the left of this are bytes, on the right seconds"},
    {HEAD " when five > 5 and", 3, 19, "a number, a text or a name is expected here"},
    {HEAD " when (five > 5", 3, 16, "')' is expected here"},
    {HEAD " when five > 5GiB", 3, 15, "no unit is called 'GiB'"},
    {HEAD " when five > 1.2.3", 3, 14, "this is no number"},
    {HEAD " when five ? 5", 3, 12, "no such character outside of texts"},
    {HEAD " when five > 5 score five > 5", 3, 27, "this is a comparison, and a number is expected"},
    {HEAD " says \"\xc3\xa4 {fivr}\"", 3, 11, "this scope has no name 'fivr'"},
    {HEAD " says \"a {five\"", 3, 10, "this { has no }"},
    {HEAD " says \"a", 3, 7, "this text has no end"},
    {HEAD " why five", 3, 6, "a text (\"...\") is expected"},
    {HEAD " title \"u\"", 3, 2, "the rule has 'title' already"},
    {HEAD, 1, 6, "the rule 'r' has no 'when'"},
    {HEAD " when five = 5 score 1 says \"\" why \"w\"", 1, 6, "the rule 'r' has no 'do'"},
    {RULE("five = 5", "1", "") "\n" RULE("five = 5", "1", ""), 2, 6, "another rule of this file is called so"},
    {RULE("five = 5", "1", "") "\n\n  }", 3, 3, "no such character"},
    {HEAD " explains 5", 3, 11, "the name of a finding is expected here"},
    {HEAD " explains found, taken, ", 3, 25, "the name of a finding is expected here"},
    {HEAD " explains found, fund", 3, 18, "no finding of erlsnoop is called so, and no rule above this one"},
    {HEAD " explains r", 3, 11, "and no rule above this one"},
    {HEAD " explains found explains taken", 3, 17, "the rule has 'explains' already"},
    {HEAD " explains " TEN TEN "found", 3, 151, "a rule explains 20 findings at most"},
};

START_TEST(test_own_rules_are_refused)
{
    struct own_file file;
    struct own_error error;

    ck_assert_int_lt(own_parse(wrong[_i].text, strlen(wrong[_i].text), &words, &file, &error), 0);
    ck_assert_msg(error.line == wrong[_i].line && error.column == wrong[_i].column && strstr(error.text, wrong[_i].says), "%s: %u:%u: %s",
                  wrong[_i].text, error.line, error.column, error.text);
    own_file_free(&file);
}
END_TEST

START_TEST(test_own_rules_explain)
{
    static const char text[] = RULE("five = 5", "1", "") " explains taken,found\nrule q for thing title \"t\" explains r , found # more\n"
                               "when five = 5 score 1 says \"\" why \"w\" do \"d\"";
    struct own_file file;
    struct own_error error;

    ck_assert_msg(own_parse(text, strlen(text), &words, &file, &error) == 0, "%s", error.text);
    ck_assert_str_eq(file.rules[0].explains, "taken found");
    ck_assert_str_eq(file.rules[1].explains, "r found");
    own_file_free(&file);
}
END_TEST

/* What would take a deep stack, or much time, is refused. */
START_TEST(test_own_rules_are_bounded)
{
    enum { MANY = 100000 };
    static const char *const openings[] = {"(", "not ", "-", "five + "};
    struct own_file file;
    struct own_error error;
    char *text;
    size_t used, step;

    for (size_t i = 0; i < sizeof openings / sizeof *openings; i++) {
        step = strlen(openings[i]);
        text = malloc(64 + MANY * step);
        used = (size_t)sprintf(text, HEAD " when ");
        for (size_t k = 0; k < MANY; k++, used += step)
            memcpy(text + used, openings[i], step);
        ck_assert_int_lt(own_parse(text, used, &words, &file, &error), 0);
        ck_assert_msg(strstr(error.text, i < 3 ? "nested more than" : "operators"), "%s", error.text);
        own_file_free(&file);
        free(text);
    }
}
END_TEST

static const char *const erls[] = {"erl", "$ERLVM"};

#define NODE                                                                                                           \
    "cp $SOURCE/tests/zoo/zoo.erl . && erlc zoo.erl; mkfifo in\n"                                                      \
    "%s -noshell -pa . -run zoo ill %s < in > said & p=$!; exec 9> in\n"                                               \
    "until grep -q '^{ready' said; do sleep .05; kill -0 $p || exit 97; done\n"

/* The example of the manual, about the processes of the zoo. */
#define EXAMPLE                                                                                                        \
    "sed -n '/^    # orders.rules/,/^    *more/s/^    //p' $SOURCE/docs/erlsnoop.md > manual; grep -c '^rule' manual\n"  \
    "sed 's/order_\\*/slow_*/; s/payment_\\*/late_*/' manual > rules\n"

START_TEST(test_own_rules_of_the_manual)
{
    const struct support_run *r = support_run(
        EXAMPLE NODE "$ERLSNOOP diagnose -p $p -d 2 --rules rules --expect orders_pile_up; echo status $?\n"
        "$ERLSNOOP diagnose -p $p -d 2 --rules rules --looks --json | grep '\"rule\":\"\\(orders_pile_up\\|mailbox_grows\\)\"\\|\"what\":\"payments_time_out\"'\n"
        "$ERLSNOOP diagnose -p $p -d 1 --rules rules --html page > t; grep -c 'runbook 17' page; kill -9 $p", erls[_i], "mailbox_grows");

    ck_assert_msg(!strncmp(r->out, "2\nSCORE FINDING\n", 16) && strstr(r->out, "  100 orders pile up: slow_server\n"), "%s%s", r->out, r->err);
    ck_assert_msg(strstr(r->out, "a mailbox grows: slow_server\n") && strstr(r->out, "        from: orders pile up\n"), "%s", r->out);
    ck_assert_msg(strstr(r->out, "\"rule\":\"mailbox_grows\"") && strstr(r->out, "\"from\":\"orders_pile_up\"}\n"), "%s", r->out);
    ck_assert_msg(strstr(r->out, " orders wait, ") && strstr(r->out, "        do:   start more order servers (runbook 17)\n"), "%s", r->out);
    ck_assert_msg(strstr(r->out, "\nstatus 0\n") && strstr(r->out, "\"rank\":1,\"score\":100,\"rule\":\"orders_pile_up\",\"kind\":\"orders pile up\","),
                  "%s%s", r->out, r->err);
    ck_assert_msg(strstr(r->out, "\"what\":\"payments_time_out\",\"why\":\"events of requests were not watched\"") && strstr(r->out, "\n1\n"),
                  "%s", r->out);
}
END_TEST

/* A rule over what a view counted. Calls of servers are not told of an emulator that exports no functions. */
START_TEST(test_own_rules_of_events)
{
    const struct support_run *r = support_run(
        EXAMPLE NODE "$ERLSNOOP diagnose -p $p -d 3 --rules rules; kill -9 $p", erls[_i], "calls_time_out");

    if (_i == 0 && !support_emulator_exports()) {
        ck_assert_msg(strstr(r->out, "events of requests were not watched") != NULL, "%s%s", r->out, r->err);
        return;
    }
    ck_assert_msg(strstr(r->out, "   95 payments time out: late_replier\n") && strstr(r->out, " calls were given up; half of the answers took "),
                  "%s%s", r->out, r->err);
}
END_TEST

/* Two seconds end while the threads of the VM may still tell of the second before: what they tell is of one row. */
START_TEST(test_own_rules_are_asked_of_a_row_once)
{
    const struct support_run *r = support_run(
        "echo 'rule seen for exits_by_owner title \"t\" when count > 0 score 50 says \"{count}\" why \"w\" do \"d\"' > rules\n"
        NODE "$ERLSNOOP diagnose -p $p -d 2 --rules rules --json > j; grep -c '\"rule\":\"seen\".*\"who\":\"zoo:worker/1\"' j; kill -9 $p",
        erls[_i], "crashes");

    ck_assert_msg(!strcmp(r->out, "1\n"), "%s%s", r->out, r->err);
}
END_TEST

#define CRASH_RULES                                                                                                    \
    "cat > rules << 'END'\n"                                                                                           \
    "rule workers_crash for exits_by_owner\n"                                                                          \
    "  title \"workers crash\" when count > 3 and name = \"zoo:*\" score 99\n"                                         \
    "  says \"{count} of them in {seconds}\" why \"work is lost\" do \"runbook 3\" explains crashes\n"                  \
    "rule workers_end for exits_by_owner title \"workers end\" when count > 3 score 98\n"                              \
    "  says \"\" why \"w\" do \"d\" more \"the wiki of WHO\"\n"                                                         \
    "rule calls_slow for requests_by_server title \"t\" when calls > 0 score 1 says \"\" why \"w\" do \"d\"\n"         \
    "rule boxes for process title \"t\" when messages > 0 score 97 says \"\" why \"w\" do \"d\"\n"                     \
    "rule tables for table title \"t\" when rows > 0 score 96 says \"\" why \"w\" do \"d\"\n"                          \
    "END\n"

/* Rules that go by events find the same in a recording; those that go by memory are named as not looked for. */
START_TEST(test_own_rules_of_a_recording)
{
    const struct support_run *r = support_run(
        CRASH_RULES NODE
        "$ERLSNOOP trace -o r -p $p exits > up 2>&1 & e=$!; until grep -q 'is recorded' up; do sleep .05; done; sleep 3; kill -INT $e; wait $e\n"
        "kill -9 $p; $ERLSNOOP report r diagnose --rules rules --expect workers_crash; echo status $?\n"
        "$ERLSNOOP report r diagnose --rules rules --json > j; echo status $?\n"
        "grep -c '\"what\":\"\\(boxes\\|tables\\)\",\"why\":\"a recording holds events; ' j\n"
        "grep -c '\"rule\":\"workers_crash\".*\"more\":\"erlsnoop report r exits\"' j; grep -c '\"rule\":\"workers_end\".*\"more\":\"the wiki of 0.0.0\"' j\n"
        "grep -c '\"what\":\"calls_slow\",\"why\":\"events of requests were not watched\"' j; grep -c '\"rule\":\"crashes\".*\"from\":\"workers_crash\"' j\n"
        "for x in none boxes crashes; do $ERLSNOOP report r diagnose --rules rules --expect $x > all; echo status $?; done", erls[_i], "crashes");

    ck_assert_msg(!strncmp(r->out, "SCORE FINDING\n   99 workers crash: zoo:worker/1\n", 48), "%s%s", r->out, r->err);
    ck_assert_msg(strstr(r->out, "your own rules a recording holds events; what a VM's memory holds is not in it;\n") &&
                      strstr(r->out, "not looked for: boxes, tables\n"), "%s", r->out);
    ck_assert_msg(strstr(r->out, "\nstatus 0\nstatus 3\n2\n1\n1\n1\n1\nstatus 1\nstatus 1\nstatus 1\n") != NULL, "%s%s", r->out, r->err);
    ck_assert_int_le(support_width(r->out), 80);
}
END_TEST

/* One of which nothing was recorded that a rule could go by is no all-clear. */
START_TEST(test_own_rules_of_a_recording_of_nothing)
{
    const struct support_run *r = support_run(
        CRASH_RULES NODE
        "$ERLSNOOP trace -o r -p $p process-heap_grow > up 2>&1 & e=$!; until grep -q 'is recorded' up; do sleep .05; done; sleep 1; kill -INT $e; wait $e\n"
        "kill -9 $p; $ERLSNOOP report r diagnose --rules rules --expect none --json > j; echo status $?; grep -c '\"diagnosis\"' j\n"
        "grep -c '\"what\":\"workers_crash\",\"why\":\"events of exits were not watched\"' j", erls[_i], "crashes");

    ck_assert_msg(!strcmp(r->out, "status 1\n0\n1\n"), "%s%s", r->out, r->err);
}
END_TEST

/* Of a VM that stands still nothing is asked, which is said; one that has ended is asked by its events alone. */
START_TEST(test_own_rules_of_one_that_stands_still)
{
    const struct support_run *r = support_run(
        CRASH_RULES NODE "kill -STOP $p; $ERLSNOOP diagnose -p $p -d 2 --rules rules; echo status $?; kill -CONT $p\n"
        "$ERLSNOOP diagnose -p $p -d 60 --rules rules --json > j & e=$!; attached $e; sleep 4; kill -9 $p; wait $e; grep -c '\"rule\":\"workers_crash\"' j\n"
        "grep -q '\"rule\":\"tables\"' j && echo tables; grep 'not_known.*\"\\(boxes\\|tables\\)\"' j", erls[_i], "crashes");

    ck_assert_msg(strstr(r->out, "the VM is stopped\n") && strstr(r->out, " nothing of it runs; not looked for: workers_crash,"),
                  "%s%s", r->out, r->err);
    ck_assert_msg(strstr(r->out, "status 3\n1\ntables\n") && !strstr(r->out, "not_known"), "%s%s", r->out, r->err);
}
END_TEST

START_TEST(test_own_rules_refuse_files)
{
    const struct support_run *r = support_run(
        "e() { $ERLSNOOP diagnose -p $$ --rules \"$@\"; echo status $?; }\n"
        "printf 'rule x for process\\n  when messages > \\n' > wrong; e wrong; e none; : > empty; e empty; e .\n"
        "head -c 2000000 /dev/zero > large; e large; head -c 100 /dev/zero > zero; e zero\n"
        "printf 'rule x for mailboxes_by_owner' > unwatched; e unwatched; printf 'rule halted for vm' > taken; e taken\n"
        "name=$(printf 'a\\033[31m'); printf 'r' > \"$name\"; e \"$name\"");

    ck_assert_int_eq(support_lines(r->err, "erlsnoop: "), 9);
    ck_assert_int_eq(support_lines(r->out, "status 1"), 9);
    ck_assert_msg(strstr(r->err, "wrong:3:1: a number, a text or a name is expected here") != NULL, "%s", r->err);
    ck_assert_msg(strstr(r->err, "cannot read the rules 'none': No such file") != NULL, "%s", r->err);
    ck_assert_msg(strstr(r->err, "empty:1:1: no rule is in it") && strstr(r->err, "it is larger than 1 MB"), "%s", r->err);
    ck_assert_msg(strstr(r->err, "zero:1:1: a rule has no such character outside of texts") != NULL, "%s", r->err);
    ck_assert_msg(strstr(r->err, "unwatched:1:12: no scope is called so") != NULL, "%s", r->err);
    ck_assert_msg(strstr(r->err, "taken:1:6: a finding of erlsnoop is called so") && strstr(r->err, "a\\x1b[31m:1:1: "), "%s", r->err);
}
END_TEST

/* Before a recording is read. */
START_TEST(test_own_rules_refuse_files_for_a_recording)
{
    const struct support_run *r = support_run(
        ": > r; printf 'rule x for process\n  when messages > \n' > wrong; : > empty\n"
        "e() { $ERLSNOOP report r \"$@\"; echo status $?; }\n"
        "e diagnose --rules wrong; e diagnose --rules none; e diagnose --expect rain; e diagnose --rules empty; e --rules wrong\n"
        "e exits --expect none; e --diff --rules wrong");

    ck_assert_str_eq(r->out, "status 1\nstatus 1\nstatus 2\nstatus 1\nstatus 2\nstatus 2\nstatus 2\n");
    ck_assert_msg(strstr(r->err, "wrong:3:1: a number, a text or a name is expected here") != NULL, "%s", r->err);
    ck_assert_msg(strstr(r->err, "--expect must be none or one of the findings of the manual, not 'rain'") != NULL, "%s", r->err);
    ck_assert_msg(strstr(r->err, "--rules and --expect say what diagnose is asked") != NULL, "%s", r->err);
}
END_TEST

/* The manual names every scope, and every name of it. */
START_TEST(test_own_rules_are_in_the_manual)
{
    static const char *const rows[] = {
#define OWN_SCOPE(scope, what, see) #scope, NULL,
#define OWN_NUMBER(scope, name, unit, value, text) #scope, #name,
#define OWN_TEXT(scope, name, value, text) #scope, #name,
#include "diagnose/own_names.def"
    };
    const struct support_run *r = support_run("grep '^| `[a-z]*`: ' $SOURCE/docs/erlsnoop.md");
    char word[64];

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i += 2) {
        const char *line, *at;

        snprintf(word, sizeof word, "| `%s`: ", rows[i]);
        line = strstr(r->out, word);
        ck_assert_msg(line != NULL, "%s", rows[i]);
        snprintf(word, sizeof word, "`%s`", rows[i + 1] ? rows[i + 1] : rows[i]);
        at = strstr(line, word);
        ck_assert_msg(at && at < line + strcspn(line, "\n"), "%s of %s", word, rows[i]);
    }
}
END_TEST

Suite *own_rules_suite(void)
{
    Suite *suite = suite_create("own_rules");
    TCase *language = tcase_create("language"), *live = tcase_create("live");

    tcase_set_timeout(live, 60);
    tcase_add_loop_test(language, test_own_rules_compare, 0, sizeof truths / sizeof *truths);
    tcase_add_test(language, test_own_rules_say);
    tcase_add_loop_test(language, test_own_rules_are_refused, 0, sizeof wrong / sizeof *wrong);
    tcase_add_test(language, test_own_rules_are_bounded);
    tcase_add_test(language, test_own_rules_explain);
    tcase_add_loop_test(live, test_own_rules_of_the_manual, 0, 2);
    tcase_add_loop_test(live, test_own_rules_of_events, 0, 2);
    tcase_add_loop_test(live, test_own_rules_of_a_recording, 0, 2);
    tcase_add_loop_test(live, test_own_rules_are_asked_of_a_row_once, 0, 2);
    tcase_add_loop_test(live, test_own_rules_of_a_recording_of_nothing, 0, 2);
    tcase_add_loop_test(live, test_own_rules_of_one_that_stands_still, 0, 2);
    tcase_add_test(live, test_own_rules_refuse_files);
    tcase_add_test(live, test_own_rules_refuse_files_for_a_recording);
    tcase_add_test(live, test_own_rules_are_in_the_manual);
    suite_add_tcase(suite, language);
    suite_add_tcase(suite, live);
    return suite;
}
