/* SPDX-License-Identifier: Apache-2.0 */
/* erlsnoop report --diff: what became of findings, of files of rows and of recordings. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support.h"

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
    char *table;

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
    table = strndup(r->out, strcspn(r->out, "{"));
    ck_assert_int_le(support_width(table), 80);
    free(table);
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
    {"--diff a deep", "deep:1:"},
    {"--diff a bytes", "bytes:1:"},
    {"--diff a zero", "zero:1:"},
    {"--diff a list", "list:1:1: this is no line of erlsnoop diagnose --json"},
    {"--diff a huge", "huge:1:"},
    {"--diff a heavy", "heavy:1: this is no finding: it lacks its rule, kind or score"},
    {"--diff a more", "more:1:11: this is no line of erlsnoop diagnose --json"},
};

START_TEST(test_diff_refuses)
{
    const struct support_run *r = support_run(
        ": > a; : > b; : > c; printf '{}\\nx\\n' > text; printf '{\"type\":\"diagnosis\",\"rule\":\"x\"}' > lacks\n"
        "head -c 100000 /dev/zero > long; printf 'ERLSNREC' > cut; printf '%%060000d' 0 | sed 's/0/[/g; s/^/{\"a\":/' > deep\n"
        "printf '{\"a\":\"\\377\"}' > bytes; printf '{\"a\":\"\\\\u0000\"}' > zero; echo '[{}]' > list; echo '{\"a\":1e999999}' > huge\n"
        "printf '{\"type\":\"diagnosis\",\"rule\":\"x\",\"kind\":\"y\",\"score\":4294967297}' > heavy; echo '{\"a\":\"b\"} x' > more\n"
        "$ERLSNOOP report %s; echo status $?", wrong[_i].line);

    ck_assert_msg(strstr(r->err, wrong[_i].says) && !strncmp(r->out, "status ", 7) && r->out[7] != '0', "%s%s", r->out, r->err);
    ck_assert_int_eq(support_lines(r->err, "erlsnoop: "), 1);
}
END_TEST

Suite *report_diff_suite(void)
{
    Suite *suite = suite_create("report_diff");
    TCase *live = tcase_create("live");

    tcase_set_timeout(live, 60);
    tcase_add_test(live, test_diff_of_rows);
    tcase_add_loop_test(live, test_diff_of_recordings, 0, 2);
    tcase_add_loop_test(live, test_diff_refuses, 0, sizeof wrong / sizeof *wrong);
    suite_add_tcase(suite, live);
    return suite;
}
