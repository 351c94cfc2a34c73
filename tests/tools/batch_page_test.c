/* SPDX-License-Identifier: Apache-2.0 */
/* Pages of events, sound and damaged. */
#include <check.h>
#include <string.h>

#include "event/batch_page.h"
#include "event/event.h"

enum { BEGIN = 1000, END = 3000, BEGIN_NS = 500000, END_NS = 900000 };

struct builder {
    struct batch_header header;
    uint64_t words[1024];
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
    add(b, BATCH_HEAD(ticks, 0, words, event));
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

static void add_left_out(struct builder *b, enum batch_event event, unsigned words)
{
    add(b, BATCH_HEAD(0, 1, words, event));
}

static void add_scheduled(struct builder *b)
{
    add_head(b, BATCH_process__scheduled, 2, 0);
    add(b, 71), add(b, 72);
}

static void expect(struct batch_page *page, enum batch_event event, uint64_t first, uint64_t second, uint64_t third)
{
    struct batch_record r = {.used = BATCH_MAX_ARGS}; /* the one before had more words */

    memset(r.words, 0xff, sizeof r.words);
    ck_assert(batch_page_next(page, &r));
    ck_assert_uint_eq(r.head.event, event);
    ck_assert_uint_eq(r.words[0], first);
    ck_assert_uint_eq(r.words[1], second);
    ck_assert_uint_eq(r.words[2], third);
    ck_assert_uint_eq(r.words[3], 0);
}

START_TEST(test_batch_page_puts_in_what_is_left_out)
{
    struct builder b;
    struct batch_page page;

    begin(&b);
    add_left_out(&b, BATCH_process__unscheduled, 0); /* nothing is scheduled before it */
    add_scheduled(&b);
    add_left_out(&b, BATCH_message__send, 2), add(&b, 11), add(&b, 12);
    add_left_out(&b, BATCH_process__unscheduled, 0);
    add_left_out(&b, BATCH_process__scheduled, 1), add(&b, 81);
    add_left_out(&b, BATCH_process__unscheduled, 0);
    add_head(&b, BATCH_process__scheduled, 1, 0), add(&b, 91); /* its function is not known */
    add_left_out(&b, BATCH_process__scheduled, 1), add(&b, 92);
    ck_assert(open_page(&b, &page));
    expect(&page, BATCH_process__unscheduled, 0, 0, 0);
    expect(&page, BATCH_process__scheduled, 71, 72, 0);
    expect(&page, BATCH_message__send, 71, 11, 12);
    expect(&page, BATCH_process__unscheduled, 71, 0, 0);
    expect(&page, BATCH_process__scheduled, 81, 72, 0);
    expect(&page, BATCH_process__unscheduled, 81, 0, 0);
    expect(&page, BATCH_process__scheduled, 91, 0, 0);
    expect(&page, BATCH_process__scheduled, 92, 0, 0);
    ck_assert(page.at == page.header.bytes && !page.damaged);
}
END_TEST

/* Those that are passed over tell what others leave out, too. */
START_TEST(test_batch_page_puts_in_what_was_passed_over)
{
    static const bool exits[1 << 8] = {[BATCH_process__exit] = true};
    struct builder b;
    struct batch_page page;
    struct batch_record r = {0};

    begin(&b);
    add_scheduled(&b);
    add_head(&b, BATCH_copy__struct, 1, 0), add(&b, 5);
    add_left_out(&b, BATCH_process__exit, 1), add(&b, 11);
    ck_assert(open_page(&b, &page));
    ck_assert(batch_page_next_of(&page, exits, &r));
    ck_assert_uint_eq(r.words[0], 71);
    ck_assert_uint_eq(r.words[1], 11);
    ck_assert(!batch_page_next_of(&page, exits, &r) && !page.damaged);
    ck_assert_uint_eq(page.events, 3);
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
static bool is_text(enum batch_event event, unsigned i)
{
    return i < event_row(event)->nargs && event_row(event)->args[i].unit == EVENT_UNIT_text;
}

/* An event whose texts are all as long as they may be. Returns how many it has. */
static unsigned add_long_texts(struct builder *b, enum batch_event event)
{
    enum { TEXT_WORDS = BATCH_TEXT_BYTES / 8 };
    unsigned texts = 0;

    for (unsigned i = 0; i < BATCH_MAX_ARGS; i++)
        texts += is_text(event, i);
    add_head(b, event, batch_event_args(event) + texts * TEXT_WORDS, 1000);
    for (unsigned i = 0; i < batch_event_args(event); i++)
        add(b, is_text(event, i) ? BATCH_TEXT_BYTES : i);
    for (unsigned i = 0; i < texts * TEXT_WORDS; i++)
        add(b, i / TEXT_WORDS);
    return texts;
}

/* Of every probe, its texts as long as they may be. */
START_TEST(test_batch_page_reads_long_texts)
{
    enum batch_event event = (enum batch_event)_i;
    struct batch_record r = {0};
    struct batch_page page;
    struct builder b;
    const uint64_t *at;
    union ev_any room;
    unsigned texts;

    begin(&b);
    texts = add_long_texts(&b, event);
    ck_assert(open_page(&b, &page));
    ck_assert(batch_page_next(&page, &r));
    ck_assert_int_eq(r.has_texts, texts > 0);
    ck_assert_ptr_ne(event_of_record(&r, 17, &room), NULL);
    at = b.words + 1 + batch_event_args(event);
    for (unsigned i = 0; i < batch_event_args(event); i++) {
        ck_assert_uint_eq(r.words[i], is_text(event, i) ? BATCH_TEXT_BYTES : i);
        if (!is_text(event, i))
            continue;
        ck_assert_mem_eq(r.texts[i], at, BATCH_TEXT_BYTES);
        ck_assert_uint_eq(((struct ev_text *)((char *)&room + event_row(event)->args[i].offset))->at, (uintptr_t)at);
        at += BATCH_TEXT_BYTES / 8;
    }
    ck_assert_ptr_eq(at, b.words + b.n);
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
    begin(&b); /* more arguments than the probe has, with the one left out */
    add_left_out(&b, BATCH_copy__struct, 1), add(&b, 1);
    ck_assert(one_is_damaged(&b));
    begin(&b); /* a second argument is left out, there is no first */
    add_left_out(&b, BATCH_process__scheduled, 0);
    ck_assert(one_is_damaged(&b));
    begin(&b); /* texts leave nothing out */
    add_left_out(&b, BATCH_port__open, 3), add(&b, 1), add(&b, 0), add(&b, 2);
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
    tcase_add_test(pages, test_batch_page_puts_in_what_is_left_out);
    tcase_add_test(pages, test_batch_page_puts_in_what_was_passed_over);
    tcase_add_test(pages, test_batch_page_reads_texts);
    tcase_add_loop_test(pages, test_batch_page_reads_long_texts, BATCH_LAST_NAME + 1, BATCH_EVENTS);
    tcase_add_test(pages, test_batch_page_takes_no_damaged_record);
    tcase_add_test(pages, test_batch_page_takes_no_damaged_header);
    suite_add_tcase(suite, pages);
    return suite;
}
