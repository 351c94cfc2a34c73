/* SPDX-License-Identifier: Apache-2.0 */
/* Events: out of records, and what the rows say of their structs. */
#include <check.h>
#include <string.h>

#include "event/event.h"

START_TEST(test_event_row_tells_every_argument)
{
    const struct event_row *send = event_row(BATCH_message__send), *open = event_row(BATCH_port__open);

    ck_assert_str_eq(send->name, "message__send");
    ck_assert_uint_eq(send->nargs, 6);
    ck_assert_uint_eq(send->size, sizeof(struct ev_head) + 6 * 8);
    ck_assert_str_eq(send->args[1].name, "receiver");
    ck_assert_int_eq(send->args[1].unit, EVENT_UNIT_pid);
    ck_assert_int_eq(open->args[1].unit, EVENT_UNIT_text);
    ck_assert_uint_eq(open->args[2].offset, offsetof(struct ev_port__open, port));
    ck_assert_uint_eq(event_row(BATCH_EVENTS)->nargs, 0);
}
END_TEST

START_TEST(test_event_find_knows_the_probes)
{
    ck_assert_int_eq(event_find("gc_major__end"), BATCH_gc_major__end);
    ck_assert_int_eq(event_find("nonsense"), BATCH_ATOM);
    ck_assert_int_eq(event_find(""), BATCH_ATOM);
}
END_TEST

/* What a process is called: by a page's record of each kind, and that it is so no more. */
START_TEST(test_event_name_of_record_tells_each_kind)
{
    const uint64_t mfa = 7ull << 33 | 8ull << 8 | 2, tuple = (uint64_t)BATCH_SHAPE_ATOM << 56 | 1ull << 32 | 9,
                   list = (uint64_t)BATCH_SHAPE_OTHER << 56;
    const struct {
        enum batch_event event;
        uint64_t word;
        struct wire_name name;
    } rows[] = {{BATCH_NAMED, 5, {.form = WIRE_REASON, .words = {WIRE_ATOM, 5, 0}}},
                {BATCH_NAMED, EV_NO_ATOM, {.form = WIRE_REASON, .words = {WIRE_ATOM, EV_NO_ATOM, 0}}},
                {BATCH_CALLED, mfa, {.form = WIRE_MFA, .words = {7, 8, 2}}},
                {BATCH_LABELLED, tuple, {.form = WIRE_LABEL, .words = {WIRE_ATOM, 9, 1}}},
                {BATCH_LABELLED, list, {.form = WIRE_LABEL, .words = {WIRE_OTHER, 0, 0}}},
                {BATCH_LABELLED, 0, {.form = WIRE_LABEL, .words = {WIRE_OTHER, 0, 0}}}};
    struct batch_record record = {0};
    struct wire_name name;

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        record.head.event = rows[i].event;
        record.words[1] = rows[i].word;
        ck_assert(event_name_of_record(&record, &name));
        ck_assert_int_eq(name.form, rows[i].name.form);
        ck_assert_mem_eq(name.words, rows[i].name.words, sizeof name.words);
    }
    record.head.event = BATCH_CALLED;
    record.words[1] = 0;
    ck_assert(!event_name_of_record(&record, &name));
    record.head.event = BATCH_process__spawn;
    ck_assert(!event_name_of_record(&record, &name));
}
END_TEST

/* Every argument stands within its struct, behind the one before it. */
START_TEST(test_event_rows_are_whole)
{
    for (unsigned e = BATCH_LAST_NAME + 1; e < BATCH_EVENTS; e++) {
        const struct event_row *row = event_row((enum batch_event)e);
        size_t end = sizeof(struct ev_head);

        ck_assert_uint_ge(row->nargs, 1);
        for (unsigned i = 0; i < row->nargs; i++) {
            ck_assert_msg(row->args[i].offset == end, "%s: %s", row->name, row->args[i].name);
            end += row->args[i].unit == EVENT_UNIT_text ? sizeof(struct ev_text) : 8;
        }
        ck_assert_uint_eq(row->size, end);
    }
}
END_TEST

/* In an object of JSON that tells an event each key stands once: those of every object, and the arguments. */
START_TEST(test_event_rows_have_no_key_twice)
{
    static const char *const every[] = {"time", "type", "sampled", "vm", "probe"};

    for (unsigned e = BATCH_LAST_NAME + 1; e < BATCH_EVENTS; e++) {
        const struct event_row *row = event_row((enum batch_event)e);

        for (unsigned i = 0; i < row->nargs; i++) {
            for (size_t k = 0; k < sizeof every / sizeof *every; k++)
                ck_assert_msg(strcmp(row->args[i].name, every[k]) != 0, "%s: %s", row->name, every[k]);
            for (unsigned k = 0; k < i; k++)
                ck_assert_msg(strcmp(row->args[i].name, row->args[k].name) != 0, "%s: %s", row->name,
                              row->args[k].name);
        }
    }
}
END_TEST

START_TEST(test_event_of_record_gives_numbers)
{
    struct batch_record r = {.head.event = BATCH_gc_minor__end, .head.time_ns = 23, .words = {ev_id_of_pid(7, 8), 900}};
    union ev_any room;
    const union ev_any *ev = event_of_record(&r, 17, &room);

    ck_assert_uint_eq(ev->head.time_ns, 23);
    ck_assert_uint_eq(ev->head.vm, 17);
    ck_assert_uint_eq(ev->head.event, BATCH_gc_minor__end);
    ck_assert_int_eq(ev_id_kind(ev->gc_minor__end.pid), BATCH_PID);
    ck_assert_uint_eq(ev_id_number(ev->gc_minor__end.pid), 7);
    ck_assert_uint_eq(ev_id_serial(ev->gc_minor__end.pid), 8);
    ck_assert_uint_eq(ev->gc_minor__end.reclaimed_words, 900);
}
END_TEST

/* What a source has no number for is not told as one. */
START_TEST(test_event_args_that_no_source_told)
{
    union ev_any send = {.message__send = {.words = EV_NO_WORDS}}, entry = {.efile_drv__entry = {.tag = -1, .i1 = 0, .i2 = EV_NO_NUMBER, .i3 = -1}};
    const struct event_row *sends = event_row(BATCH_message__send), *entries = event_row(BATCH_efile_drv__entry);

    ck_assert(event_arg_known(&send, &sends->args[1]));
    ck_assert(!event_arg_known(&send, &sends->args[2]));
    send.message__send.words = 3;
    ck_assert(event_arg_known(&send, &sends->args[2]));
    ck_assert(!event_arg_known(&entry, &entries->args[1]));
    ck_assert(event_arg_known(&entry, &entries->args[6]));
    ck_assert(!event_arg_known(&entry, &entries->args[7]));
    ck_assert(event_arg_known(&entry, &entries->args[8]));
}
END_TEST

START_TEST(test_event_of_record_tells_whether_the_receiver_runs)
{
    const ev_id id = ev_id_of_pid(7, 0xffffffff);

    for (int runs = 0; runs < 2; runs++) {
        enum batch_identity kind = runs ? BATCH_RUNNING : BATCH_PID;
        struct batch_record r = {.head.event = BATCH_message__send, .words = {ev_id_of_pid(3, 0), ev_id_rest(id) | (ev_id)kind << 60}};
        union ev_any room;
        const union ev_any *ev = event_of_record(&r, 17, &room);

        ck_assert_uint_eq(ev->message__send.receiver, id);
        ck_assert_uint_eq(ev->head.tells, runs ? EV_TELLS_RUNNING | EV_RUNS : EV_TELLS_RUNNING);
    }
}
END_TEST

START_TEST(test_event_of_record_gives_texts)
{
    struct batch_record r = {.head.event = BATCH_port__open,
                             .words = {ev_id_of_pid(7, 8), 3, ev_id_of_port(9)},
                             .has_texts = true,
                             .texts = {NULL, "cat and more"}};
    union ev_any room;
    const union ev_any *ev = event_of_record(&r, 17, &room);

    ck_assert_uint_eq(ev->port__open.port_name.bytes, 3);
    ck_assert_ptr_eq((const char *)(uintptr_t)ev->port__open.port_name.at, r.texts[1]);
    ck_assert_uint_eq(ev_id_rest(ev->port__open.port), 9);
}
END_TEST

START_TEST(test_event_words_are_taken_apart)
{
    ev_mfa mfa = ev_mfa_of_atoms((1u << BATCH_INDEX_BITS) - 1, 5, 255);
    ev_term term = ev_term_of(BATCH_SHAPE_SMALL, BATCH_LIST_OF_ONE << 8 | BATCH_TUPLE_OF_MORE, (__u32)-7);

    ck_assert_uint_eq(mfa & EV_LATER_MFA, 0);
    ck_assert_uint_eq(term & EV_LATER_TERM, 0);
    ck_assert_uint_eq(ev_mfa_module(mfa), (1u << BATCH_INDEX_BITS) - 1);
    ck_assert_uint_eq(ev_mfa_function(mfa), 5);
    ck_assert_uint_eq(ev_mfa_arity(mfa), 255);
    ck_assert_int_eq(ev_term_shape(term), BATCH_SHAPE_SMALL);
    ck_assert_int_eq(ev_term_holder(term, 0), BATCH_TUPLE_OF_MORE);
    ck_assert_int_eq(ev_term_holder(term, 1), BATCH_LIST_OF_ONE);
    ck_assert_int_eq(ev_term_small(term), -7);
}
END_TEST

Suite *event_suite(void)
{
    Suite *suite = suite_create("event");
    TCase *events = tcase_create("events");

    tcase_add_test(events, test_event_row_tells_every_argument);
    tcase_add_test(events, test_event_find_knows_the_probes);
    tcase_add_test(events, test_event_name_of_record_tells_each_kind);
    tcase_add_test(events, test_event_rows_are_whole);
    tcase_add_test(events, test_event_rows_have_no_key_twice);
    tcase_add_test(events, test_event_of_record_gives_numbers);
    tcase_add_test(events, test_event_args_that_no_source_told);
    tcase_add_test(events, test_event_of_record_tells_whether_the_receiver_runs);
    tcase_add_test(events, test_event_of_record_gives_texts);
    tcase_add_test(events, test_event_words_are_taken_apart);
    suite_add_tcase(suite, events);
    return suite;
}
