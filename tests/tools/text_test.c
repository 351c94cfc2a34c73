/* SPDX-License-Identifier: Apache-2.0 */
/* Notes' arguments, escapes, histograms, durations: the pure functions of the tools. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/escape.h"
#include "event/hist.h"
#include "target/provider.h"
#include "sink/sink.h"
#include "support.h"

static const struct {
    const char *text;
    struct wire_arg arg;
} args[] = {
    {"8@%rax", {.kind = WIRE_ARG_REG, .reg = 0}},
    {"-4@%edi", {.kind = WIRE_ARG_REG, .reg = 7, .shift = 32, .is_signed = 1}},
    {"4@%r8d", {.kind = WIRE_ARG_REG, .reg = 8, .shift = 32}},
    {"8@%r15", {.kind = WIRE_ARG_REG, .reg = 15}},
    {"-2@%bx", {.kind = WIRE_ARG_REG, .reg = 3, .shift = 48, .is_signed = 1}},
    {"1@%sil", {.kind = WIRE_ARG_REG, .reg = 6, .shift = 56}},
    {"1@%cl", {.kind = WIRE_ARG_REG, .reg = 1, .shift = 56}},
    {"-4@$-9", {.kind = WIRE_ARG_CONST, .offset = -9, .shift = 32, .is_signed = 1}},
    {"8@$0x10", {.kind = WIRE_ARG_CONST, .offset = 16}},
    {"8@-24(%rbp)", {.kind = WIRE_ARG_MEM, .reg = 5, .index = 255, .scale = 1, .offset = -24}},
    {"8@(%rsp)", {.kind = WIRE_ARG_MEM, .reg = 4, .index = 255, .scale = 1}},
    {"4@16(%rax,%rcx,8)",
     {.kind = WIRE_ARG_MEM, .reg = 0, .index = 1, .scale = 8, .offset = 16, .shift = 32}},
    {"8@8(%rip)", {.kind = WIRE_ARG_MEM, .reg = 16, .index = 255, .scale = 1, .offset = 8}},
};

START_TEST(test_provider_usdt_parse_arg_understands)
{
    struct wire_arg got;

    ck_assert_uint_eq(provider_usdt_parse_arg(args[_i].text, &got), strlen(args[_i].text));
    ck_assert_msg(!memcmp(&got, &args[_i].arg, sizeof got), "%s", args[_i].text);
}
END_TEST

static const char *const bad_args[] = {
    "", "@", "8@", "8", "3@%rax", "8%rax", "8@%", "8@%foo", "8@%xmm0", "8@sym", "8@sym(%rip)",
    "8@$", "8@(", "8@(%rax", "8@(%rax,", "8@(%rax,%zz)", "8@()", "8@%raxrbx", "99999999999@%rax",
    "8@%rax,"};

START_TEST(test_provider_usdt_parse_arg_refuses)
{
    struct wire_arg got;

    ck_assert_uint_eq(provider_usdt_parse_arg(bad_args[_i], &got), 0);
    ck_assert_int_eq(got.kind, WIRE_ARG_NONE);
}
END_TEST

static const struct {
    const char *in, *text, *json, *erlang;
} escapes[] = {
    {"lists:map/2", "lists:map/2", "lists:map/2", "lists:map/2"},
    {"\033[2J", "\\x1b[2J", "\\u001b[2J", "\\x{1b}[2J"},
    {"a\nb\tc\177", "a\\x0ab\\x09c\\x7f", "a\\u000ab\\u0009c\\u007f", "a\\x{a}b\\x{9}c\\x{7f}"},
    {"\"\\", "\"\\", "\\\"\\\\", "\\\"\\\\"},
    {"\xc3\xa5\xe2\x82\xac", "\xc3\xa5\xe2\x82\xac", "\xc3\xa5\xe2\x82\xac", "\xc3\xa5\xe2\x82\xac"},
    {"\x80\xff", "\\x80\\xff", "\\ufffd\\ufffd", "\\x{fffd}\\x{fffd}"},
    {"\xc3\xa9\xc0\x80\n", "\xc3\xa9\\x00\\x0a", "\xc3\xa9\\u0000\\u000a", "\xc3\xa9\\x{0}\\x{a}"},
    {"\xc0\xaf", "\\xc0\\xaf", "\\ufffd\\ufffd", "\\x{fffd}\\x{fffd}"},
    {"\xed\xa0\x80", "\\xed\\xa0\\x80", "\\ufffd\\ufffd\\ufffd", "\\x{fffd}\\x{fffd}\\x{fffd}"},
    {"\xe2\x82", "\\xe2\\x82", "\\ufffd\\ufffd", "\\x{fffd}\\x{fffd}"},
    {"\xc2\x9b" "2J", "\\xc2\\x9b2J", "\\u009b2J", "\\x{9b}2J"},
    {"\xe2\x80\xae", "\\xe2\\x80\\xae", "\\u202e", "\\x{202e}"},
};

START_TEST(test_escape_for_each_reader)
{
    char out[64];

    escape_text(out, sizeof out, escapes[_i].in, 64);
    ck_assert_str_eq(out, escapes[_i].text);
    escape_json(out, sizeof out, escapes[_i].in, 64);
    ck_assert_str_eq(out, escapes[_i].json);
    escape_erlang(out, sizeof out, escapes[_i].in, 64);
    ck_assert_str_eq(out, escapes[_i].erlang);
}
END_TEST

START_TEST(test_escape_for_a_page)
{
    char *out = NULL;
    size_t size = 0;
    FILE *file = open_memstream(&out, &size);

    escape_xml(file, "<b x='1' y=\"2\">&\033[2J\x80\xef\xbf\xbf");
    fclose(file);
    ck_assert_str_eq(out, "&lt;b x=&#39;1&#39; y=&quot;2&quot;&gt;&amp;\\x1b[2J\\x80\xef\xbf\xbd");
    free(out);
}
END_TEST

START_TEST(test_escape_text_cuts_at_a_whole_escape)
{
    char out[32];

    for (size_t size = 1; size < sizeof out; size++) {
        memset(out, 'x', sizeof out);
        escape_text(out, size, "a\033b\xe2\x82\xac\033", 64);
        ck_assert_uint_lt(strlen(out), size);
        ck_assert(strstr("a\\x1bb\xe2\x82\xac\\x1b", out) != NULL);
    }
}
END_TEST

START_TEST(test_hist_percentile_lies_in_its_slot)
{
    struct wire_hist h = {.count = 100, .max = 1500};

    h.slots[16] = 90; /* 16 and 17 */
    h.slots[65] = 10; /* 1152 .. 1279 */
    ck_assert_uint_eq(hist_slot_low(65), 1152);
    ck_assert_uint_eq(hist_percentile(&h, 0.5), 17);
    ck_assert_uint_eq(hist_percentile(&h, 0.99), 1216);
    ck_assert_uint_le(hist_percentile(&h, 1), 1500);
}
END_TEST

START_TEST(test_hist_slots_follow_each_other)
{
    for (int i = 0; i < WIRE_HIST_SLOTS; i++) {
        uint64_t low = hist_slot_low(i), width = hist_slot_low(i + 1) - low;

        ck_assert_uint_gt(width, 0);
        ck_assert(i < 2 * WIRE_HIST_STEPS ? width == 1 : width * WIRE_HIST_STEPS <= low);
    }
    ck_assert_uint_eq(hist_slot_low(WIRE_HIST_SLOTS), 1ull << 48);
}
END_TEST

START_TEST(test_hist_tells_no_percentile_of_too_few)
{
    struct wire_hist h = {.max = 7};

    h.slots[7] = 1;
    ck_assert(!hist_has_percentile(&h, 0.5));
    h.slots[7] = 2;
    ck_assert(hist_has_percentile(&h, 0.5) && !hist_has_percentile(&h, 0.99));
    h.slots[7] = 999;
    ck_assert(hist_has_percentile(&h, 0.99) && !hist_has_percentile(&h, 0.999));
    h.slots[7] = 1000;
    ck_assert(hist_has_percentile(&h, 0.999));
}
END_TEST

/* Two rows that are empty stand there, more are one line. */
START_TEST(test_hist_of_far_values_is_short)
{
    struct wire_hist h = {.count = 3, .max = 5000};
    struct sink sink;
    char *text;
    size_t size;
    FILE *out = open_memstream(&text, &size);

    for (int i = 0; i < WIRE_HIST_SLOTS; i++)
        h.slots[i] = hist_slot_low(i) == 2 || hist_slot_low(i) == 16 || hist_slot_low(i) == 4096;
    sink_init(&sink, out, OPTIONS_FORM_table, false);
    sink_hist(&sink, "h", "Title", SINK_COUNT, &h);
    ck_assert_int_eq(sink_end(&sink), 0);
    fclose(out);
    ck_assert_msg(support_lines(text, " .. ") == 5 && support_lines(text, "          ...") == 1, "%s", text);
    ck_assert_msg(support_in_order(text, "16 .. 32 ", "          ...\n") &&
                      support_in_order(text, "          ...\n", "4096 .. 8192 "), "%s", text);
    free(text);
}
END_TEST

START_TEST(test_sink_format_ns_has_a_unit)
{
    static const struct {
        uint64_t ns;
        const char *text;
    } cases[] = {{0, "0 ns"},          {999, "999 ns"},          {1000, "1.00 us"},
                 {65500, "65.5 us"},   {1234567, "1.23 ms"},     {999999999, "1000 ms"},
                 {2000000000, "2.00 s"}, {86400000000000, "86400 s"}};
    char out[32];

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        sink_format_ns(out, sizeof out, cases[i].ns);
        ck_assert_str_eq(out, cases[i].text);
    }
}
END_TEST

Suite *text_suite(void)
{
    Suite *suite = suite_create("text");
    TCase *pure = tcase_create("pure");

    tcase_add_loop_test(pure, test_provider_usdt_parse_arg_understands, 0, sizeof args / sizeof *args);
    tcase_add_loop_test(pure, test_provider_usdt_parse_arg_refuses, 0,
                        sizeof bad_args / sizeof *bad_args);
    tcase_add_loop_test(pure, test_escape_for_each_reader, 0, sizeof escapes / sizeof *escapes);
    tcase_add_test(pure, test_escape_for_a_page);
    tcase_add_test(pure, test_escape_text_cuts_at_a_whole_escape);
    tcase_add_test(pure, test_hist_percentile_lies_in_its_slot);
    tcase_add_test(pure, test_hist_slots_follow_each_other);
    tcase_add_test(pure, test_hist_tells_no_percentile_of_too_few);
    tcase_add_test(pure, test_hist_of_far_values_is_short);
    tcase_add_test(pure, test_sink_format_ns_has_a_unit);
    suite_add_tcase(suite, pure);
    return suite;
}
