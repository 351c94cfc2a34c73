/* SPDX-License-Identifier: Apache-2.0 */
/* erlsnoop report --diff: what became of findings, of files of rows and of recordings; and how such rows are read. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/escape.h"
#include "common/json_row.h"
#include "support.h"

static const struct {
    const char *text;
    int at; /* of the first byte that does not belong there; -1: it is a row */
    const char *value; /* of "a" */
} rows[] = {
    {"{}", -1, ""},
    {" { \"a\" : \"b\" } ", -1, "b"},
    {"{\"x\":1,\"a\":-1.5e3,\"a\":2}", -1, "-1.5e3"},
    {"{\"a\":\"\\u0041\\u00e4\\u20ac\\ud83d\\ude00\"}", -1, "A\xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80"},
    {"{\"a\":\"\\ud83d\\u0000x\\udc00\"}", -1, "\xef\xbf\xbd\xef\xbf\xbdx\xef\xbf\xbd"},
    {"{\"a\":\"\\\\\\\"\\n\\t/\"}", -1, "\\\"\n\t/"},
    {"{\"a\":null,\"b\":true}", -1, "null"},
    {"", 0, NULL},
    {"[]", 0, NULL},
    {"{\"a\":\"b\"", 8, NULL},
    {"{\"a\":\"b\"} x", 10, NULL},
    {"{\"a\" 1}", 5, NULL},
    {"{\"a\":{}}", 5, NULL},
    {"{\"a\":[1]}", 5, NULL},
    {"{\"a\":\"b}", 8, NULL},
    {"{\"a\":\"\n\"}", 6, NULL},
    {"{\"a\":\"\\x\"}", 7, NULL},
    {"{\"a\":\"\\u12\"}", 8, NULL},
    {"{,}", 1, NULL},
    {"{\"a\":1,}", 7, NULL},
};

START_TEST(test_json_rows_are_read)
{
    struct json_row row;
    size_t at;
    int err = json_row_parse(rows[_i].text, strlen(rows[_i].text), &row, &at);

    ck_assert_msg(err == (rows[_i].at < 0 ? 0 : -EINVAL), "%s: %d", rows[_i].text, err);
    if (err)
        ck_assert_msg((int)at == rows[_i].at, "%s: %zu", rows[_i].text, at);
    else
        ck_assert_str_eq(json_row_get(&row, "a"), rows[_i].value);
    json_row_free(&row);
}
END_TEST

/* What our own sink writes is read as it was, but for what it makes harmless. */
START_TEST(test_json_rows_of_our_own)
{
    static const char said[] = "a \"b\" \\ \x1b[31m \xe2\x80\xae \xc3\xa4 \xff";
    char text[256] = "{\"a\":\"";
    struct json_row row;
    size_t at, used = strlen(text);

    used += escape_json(text + used, sizeof text - used, said, sizeof said);
    strcpy(text + used, "\"}");
    ck_assert_int_eq(json_row_parse(text, strlen(text), &row, &at), 0);
    ck_assert_str_eq(json_row_get(&row, "a"), "a \"b\" \\ \x1b[31m \xe2\x80\xae \xc3\xa4 \xef\xbf\xbd");
    json_row_free(&row);
}
END_TEST

#define ROW(rule, who, score)                                                                                          \
    "{\"type\":\"diagnosis\",\"rule\":\"" rule "\",\"kind\":\"kind of " rule "\",\"score\":" score ",\"who\":\"" who       \
    "\",\"what\":\"what " score "\"}\n"
#define NOT_KNOWN(rule) "{\"type\":\"diagnosis_not_known\",\"what\":\"" rule "\",\"why\":\"\"}\n"

START_TEST(test_diff_of_rows)
{
    const struct support_run *r = support_run(
        "cat > a <<'END'\n" ROW("grows", "box", "60") ROW("grows", "bin", "60") ROW("slow", "disk", "80") ROW("leak", "", "40")
        ROW("same", "x", "50") ROW("unseen", "y", "70") ROW("twice", "z", "90") ROW("twice", "z", "20") NOT_KNOWN("late")
        "\nEND\ncat > b <<'END'\n" ROW("grows", "box", "66") ROW("grows", "bon\\u001b[31m", "60") ROW("leak", "", "34") ROW("same", "x", "45")
        ROW("late", "w", "55") ROW("twice", "z", "91") ROW("twice", "z", "30") NOT_KNOWN("unseen")
        "END\n$ERLSNOOP report --diff a b; echo status $?; $ERLSNOOP report --diff b b; echo status $?\n"
        "$ERLSNOOP report a b --diff --json | grep -c '\"type\":\"diff\"'; $ERLSNOOP report --diff b a --json | grep leak");

    ck_assert_msg(strstr(r->out, "heavier      66  60 kind of grows: box\n") && strstr(r->out, "new          60   - kind of grows: bon\\x1b[31m\n"),
                  "%s%s", r->out, r->err);
    ck_assert_msg(strstr(r->out, "gone          -  60 kind of grows: bin\n") && strstr(r->out, "gone          -  80 kind of slow: disk\n"), "%s", r->out);
    ck_assert_msg(strstr(r->out, "lighter      34  40 kind of leak\n") && strstr(r->out, "heavier      30  20 kind of twice: z\n"), "%s", r->out);
    ck_assert_msg(strstr(r->out, "not known    55   - kind of late: w\n") && strstr(r->out, "not known     -  70 kind of unseen: y\n"), "%s", r->out);
    ck_assert_ptr_null(strstr(strstr(r->out, "CHANGE") + 1, "kind of same"));
    ck_assert_msg(strstr(r->out, "status 3\nstatus 0\n10\n{") != NULL, "%s%s", r->out, r->err);
    ck_assert_msg(strstr(r->out, "\"change\":\"heavier\",\"rule\":\"leak\",\"kind\":\"kind of leak\",\"score\":40,\"was_score\":34,"
                                 "\"what\":\"what 40\",\"was\":\"what 34\"}") != NULL, "%s", r->out);
    ck_assert_msg(strstr(r->err, "findings: 8 before, 7 after; 3 new or heavier") != NULL, "%s", r->err);
    *strstr(r->out, "{") = '\0';
    ck_assert_int_le(support_width(r->out), 80);
}
END_TEST

static const char *const erls[] = {"erl", "$ERLVM"};

/* One that was well and is ill now; and the same recordings by their rows. */
START_TEST(test_diff_of_recordings)
{
    const struct support_run *r = support_run(
        "cp $SOURCE/tests/zoo/zoo.erl . && erlc zoo.erl; mkfifo in\n"
        "for way in healed ill; do\n"
        "  %s -noshell -pa . -run zoo $way crashes < in > said & p=$!; exec 9> in\n"
        "  until grep -q '^{ready' said; do sleep .05; kill -0 $p || exit 97; done\n"
        "  $ERLSNOOP trace -o $way -p $p 2> up & e=$!; until grep -q 'is recorded' up; do sleep .05; done; sleep 3; kill -INT $e; wait $e\n"
        "  kill -9 $p; wait $p; exec 9>&-; : > said; $ERLSNOOP report $way diagnose --json > $way.json\n"
        "done 2> /dev/null\n"
        "$ERLSNOOP report --diff healed ill; echo status $?; $ERLSNOOP report --diff ill healed | grep zoo:worker\n"
        "$ERLSNOOP report --diff healed.json ill | grep -c zoo:worker", erls[_i]);

    ck_assert_msg(strstr(r->out, "\nCHANGE ") && strstr(r->out, "   - processes crash: zoo:worker/1\n") && strstr(r->out, "status 3\ngone          - "),
                  "%s%s", r->out, r->err);
    ck_assert_msg(strstr(r->out, "\n1\n") || strstr(r->out, "\n2\n"), "%s", r->out);
}
END_TEST

static const struct {
    const char *line, *says;
} wrong[] = {
    {"--diff a", "--diff compares two files"},
    {"--diff a b exits", "--diff compares two files"},
    {"--diff a b c", "--diff compares two files"},
    {"--diff a b 10", "--diff compares two files"},
    {"--diff a none", "cannot read 'none': No such file"},
    {"--diff a text", "text:2:1: this is no line of erlsnoop diagnose --json, nor is the file a recording"},
    {"--diff a lacks", "lacks:1: this is no finding: it lacks its rule, kind or score"},
    {"--diff long a", "long:1: this line is longer than 65536 bytes"},
    {"--diff cut a", "'cut' is no recording of erlsnoop trace"},
};

START_TEST(test_diff_refuses)
{
    const struct support_run *r = support_run(
        ": > a; : > b; : > c; printf '{}\\nx\\n' > text; printf '{\"type\":\"diagnosis\",\"rule\":\"x\"}' > lacks\n"
        "head -c 100000 /dev/zero > long; printf 'ERLSNREC' > cut; $ERLSNOOP report %s; echo status $?", wrong[_i].line);

    ck_assert_msg(strstr(r->err, wrong[_i].says) && !strncmp(r->out, "status ", 7) && r->out[7] != '0', "%s%s", r->out, r->err);
    ck_assert_int_eq(support_lines(r->err, "erlsnoop: "), 1);
}
END_TEST

Suite *report_diff_suite(void)
{
    Suite *suite = suite_create("report_diff");
    TCase *read = tcase_create("rows"), *live = tcase_create("live");

    tcase_set_timeout(live, 60);
    tcase_add_loop_test(read, test_json_rows_are_read, 0, sizeof rows / sizeof *rows);
    tcase_add_test(read, test_json_rows_of_our_own);
    tcase_add_test(live, test_diff_of_rows);
    tcase_add_loop_test(live, test_diff_of_recordings, 0, 2);
    tcase_add_loop_test(live, test_diff_refuses, 0, sizeof wrong / sizeof *wrong);
    suite_add_tcase(suite, read);
    suite_add_tcase(suite, live);
    return suite;
}
