/* SPDX-License-Identifier: Apache-2.0 */
/* Pages of events, sound and damaged. */
#include <check.h>
#include <string.h>

#include "batch_page.h"

enum { BEGIN = 1000, END = 3000, BEGIN_NS = 500000, END_NS = 900000 };

struct builder {
    struct batch_header header;
    uint64_t words[512];
    unsigned n;
};

static void begin(struct builder *b)
{
    *b = (struct builder){.header = {.magic = BATCH_MAGIC, .sequence = 1, .thread = 1, .begin_ticks = BEGIN,
                                     .end_ticks = END, .begin_ns = BEGIN_NS, .end_ns = END_NS}};
}

static void add(struct builder *b, uint64_t word)
{
    b->words[b->n++] = word;
}

static void add_head(struct builder *b, enum batch_event event, unsigned words, uint64_t ticks)
{
    add(b, BATCH_HEAD(ticks, words, event));
}

static bool open_page(struct builder *b, struct batch_page *page)
{
    b->header.bytes = (uint32_t)(sizeof b->header + b->n * 8);
    return batch_page_open(page, b, b->header.bytes);
}

static bool one_is_damaged(struct builder *b)
{
    struct batch_page page;
    struct batch_record r = {0};

    ck_assert(open_page(b, &page));
    while (batch_page_next(&page, &r))
        ;
    return page.damaged;
}

START_TEST(test_batch_page_reads_arguments_and_times)
{
    struct builder b;
    struct batch_page page;
    struct batch_record r = {0};

    begin(&b);
    add_head(&b, BATCH_message__send, 3, 1000);
    add(&b, 11), add(&b, 12), add(&b, 13);
    add_head(&b, BATCH_copy__struct, 0, 2000);
    ck_assert(open_page(&b, &page));
    ck_assert(batch_page_next(&page, &r));
    ck_assert_str_eq(batch_event_name((enum batch_event)r.head.event), "message__send");
    ck_assert_uint_eq(batch_event_args((enum batch_event)r.head.event), 6);
    ck_assert_uint_eq(r.head.time_ns, (BEGIN_NS + END_NS) / 2);
    ck_assert_uint_eq(r.words[0], 11);
    ck_assert_uint_eq(r.words[2], 13);
    ck_assert_uint_eq(r.words[3], 0); /* zeros at the end are not written */
    ck_assert_uint_eq(r.words[5], 0);
    ck_assert(batch_page_next(&page, &r));
    ck_assert_uint_eq(r.words[0], 0);
    ck_assert_uint_eq(r.head.time_ns, END_NS);
    ck_assert(!batch_page_next(&page, &r) && !page.damaged);
}
END_TEST

static void add_open(struct builder *b, unsigned words, uint64_t length)
{
    add_head(b, BATCH_port__open, words, 0);
    add(b, 1), add(b, length), add(b, 2);
}

START_TEST(test_batch_page_reads_texts)
{
    struct builder b;
    struct batch_page page;
    struct batch_record r = {0};

    begin(&b);
    add_open(&b, 5, 9);
    memcpy(&b.words[b.n], "ninebytes\0\0\0\0\0\0", 16);
    b.n += 2;
    add_open(&b, 3, 0);
    ck_assert(open_page(&b, &page));
    ck_assert(batch_page_next(&page, &r));
    ck_assert_ptr_null(r.texts[0]);
    ck_assert_uint_eq(r.words[1], 9);
    ck_assert_int_eq(memcmp(r.texts[1], "ninebytes", 9), 0);
    ck_assert_uint_eq(r.words[2], 2);
    ck_assert(batch_page_next(&page, &r));
    ck_assert_uint_eq(r.words[1], 0);
    ck_assert(!batch_page_next(&page, &r) && !page.damaged);
}
END_TEST

/* Three of the greatest length: more words than 8 bits count. */
START_TEST(test_batch_page_reads_long_texts)
{
    enum { TEXT_WORDS = BATCH_TEXT_BYTES / 8 };
    struct builder b;
    struct batch_page page;
    struct batch_record r = {0};

    begin(&b);
    add_head(&b, BATCH_efile_drv__entry, 12 + 3 * TEXT_WORDS, 1000);
    for (unsigned i = 0; i < 12; i++)
        add(&b, i == 2 || i == 4 || i == 5 ? BATCH_TEXT_BYTES : i);
    for (unsigned i = 0; i < 3 * TEXT_WORDS; i++)
        add(&b, i / TEXT_WORDS);
    ck_assert(open_page(&b, &page));
    ck_assert(batch_page_next(&page, &r));
    ck_assert_uint_eq(r.words[11], 11);
    ck_assert_mem_eq(r.texts[5], b.words + b.n - TEXT_WORDS, BATCH_TEXT_BYTES);
    ck_assert(!batch_page_next(&page, &r));
    ck_assert(!page.damaged);
}
END_TEST

START_TEST(test_batch_page_takes_no_damaged_record)
{
    struct builder b;

    begin(&b); /* longer than the page */
    add_head(&b, BATCH_message__send, 200, 0);
    ck_assert(one_is_damaged(&b));
    begin(&b); /* no such event */
    add_head(&b, BATCH_EVENTS, 0, 0);
    ck_assert(one_is_damaged(&b));
    begin(&b); /* more arguments than the probe has */
    add_head(&b, BATCH_copy__struct, 2, 0);
    add(&b, 1), add(&b, 2);
    ck_assert(one_is_damaged(&b));
    begin(&b); /* fewer than a probe with texts has */
    add_head(&b, BATCH_port__open, 2, 0);
    add(&b, 1), add(&b, 0);
    ck_assert(one_is_damaged(&b));
    begin(&b); /* a text that is longer than its record */
    add_open(&b, 4, 9);
    add(&b, 0);
    ck_assert(one_is_damaged(&b));
    begin(&b); /* and one that is shorter */
    add_open(&b, 5, 8);
    add(&b, 0), add(&b, 0);
    ck_assert(one_is_damaged(&b));
    begin(&b);
    add_open(&b, 3, UINT64_MAX);
    ck_assert(one_is_damaged(&b));
}
END_TEST

START_TEST(test_batch_page_takes_no_damaged_header)
{
    struct builder b;
    struct batch_page page;
    uint32_t bytes = sizeof b.header;

    begin(&b);
    ck_assert(open_page(&b, &page));
    ck_assert(!batch_page_open(&page, &b, bytes - 1) && page.damaged);
    b.header.bytes = bytes + 8; /* more than was received */
    ck_assert(!batch_page_open(&page, &b, bytes));
    b.header.bytes = 0;
    ck_assert(!batch_page_open(&page, &b, bytes));
    b.header.bytes = bytes;
    b.header.end_ticks = BEGIN - 1; /* time runs backwards */
    ck_assert(!batch_page_open(&page, &b, bytes));
    b.header.end_ticks = BEGIN;
    b.header.magic++;
    ck_assert(!batch_page_open(&page, &b, bytes));
}
END_TEST

Suite *batch_page_suite(void)
{
    Suite *suite = suite_create("batch_page");
    TCase *pages = tcase_create("pages");

    tcase_add_test(pages, test_batch_page_reads_arguments_and_times);
    tcase_add_test(pages, test_batch_page_reads_texts);
    tcase_add_test(pages, test_batch_page_reads_long_texts);
    tcase_add_test(pages, test_batch_page_takes_no_damaged_record);
    tcase_add_test(pages, test_batch_page_takes_no_damaged_header);
    suite_add_tcase(suite, pages);
    return suite;
}
