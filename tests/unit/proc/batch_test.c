/* SPDX-License-Identifier: Apache-2.0 */
/* Batches: the words of a record, and the page that records come into. */
#include "unit.h"

#include <stdio.h>
#include <string.h>

#include "data/extern_id.h"
#include "fake.h"
#include "proc/batch.h"
#include "proc/probe.h"
#include "proc/probe_tell.h"

static uint64_t word(enum batch_shape shape, uint64_t holders, uint32_t value)
{
	return (uint64_t)shape << 56 | holders << 32 | value;
}

static uint64_t two(enum batch_holder outer, enum batch_holder inner) { return (uint64_t)inner << 8 | outer; }

START_TEST(test_batch_term_tells_what_is_alone)
{
	struct heap *h = unit_heap();

	ck_assert_uint_eq(batch_term(TERM_NONE), 0);
	ck_assert_uint_eq(batch_term(am_ok), word(BATCH_SHAPE_ATOM, 0, atom_index(am_ok)));
	ck_assert_uint_eq(batch_term(NIL), word(BATCH_SHAPE_NIL, 0, 0));
	ck_assert_uint_eq(batch_term(heap_float(h, 1.5)), word(BATCH_SHAPE_FLOAT, 0, 0));
	ck_assert_uint_eq(batch_term(heap_ref(h, 0)), word(BATCH_SHAPE_REF, 0, 0));
	ck_assert_uint_eq(batch_term(term_from_pid(7, 1)), word(BATCH_SHAPE_PID, 0, 0));
	ck_assert_uint_eq(batch_term(term_from_port(7)), word(BATCH_SHAPE_PORT, 0, 0));
	ck_assert_uint_eq(batch_term(heap_tuple_array(h, 0, NULL)), word(BATCH_SHAPE_EMPTY_TUPLE, 0, 0));
}
END_TEST

START_TEST(test_batch_term_tells_small_integers_by_value)
{
	struct heap *h = unit_heap();

	ck_assert_uint_eq(batch_term(SMALL(0)), word(BATCH_SHAPE_SMALL, 0, 0));
	ck_assert_uint_eq(batch_term(SMALL(999)), word(BATCH_SHAPE_SMALL, 0, 999));
	ck_assert_uint_eq(batch_term(term_from_small(-999)), word(BATCH_SHAPE_SMALL, 0, (uint32_t)-999));
	ck_assert_uint_eq(batch_term(SMALL(1000)), word(BATCH_SHAPE_INTEGER, 0, 0));
	ck_assert_uint_eq(batch_term(term_from_small(-1000)), word(BATCH_SHAPE_INTEGER, 0, 0));
	ck_assert_uint_eq(batch_term(heap_uint(h, UINT64_MAX)), word(BATCH_SHAPE_INTEGER, 0, 0));
}
END_TEST

/* {a}  {a,b}  [a]  [a,b]  {[a],b}  {{{a}}}: the third tuple is not looked into; "string". */
START_TEST(test_batch_term_tells_what_is_first)
{
	struct heap *h = unit_heap();
	Term one = heap_tuple(h, am_ok), list = heap_cons(h, am_ok, NIL);
	uint32_t ok = atom_index(am_ok);

	ck_assert_uint_eq(batch_term(one), word(BATCH_SHAPE_ATOM, BATCH_TUPLE_OF_ONE, ok));
	ck_assert_uint_eq(batch_term(heap_tuple(h, am_ok, am_true)), word(BATCH_SHAPE_ATOM, BATCH_TUPLE_OF_MORE, ok));
	ck_assert_uint_eq(batch_term(list), word(BATCH_SHAPE_ATOM, BATCH_LIST_OF_ONE, ok));
	ck_assert_uint_eq(batch_term(heap_cons(h, am_ok, list)), word(BATCH_SHAPE_ATOM, BATCH_LIST_OF_MORE, ok));
	ck_assert_uint_eq(batch_term(heap_tuple(h, list, am_true)),
			  word(BATCH_SHAPE_ATOM, two(BATCH_TUPLE_OF_MORE, BATCH_LIST_OF_ONE), ok));
	ck_assert_uint_eq(batch_term(heap_tuple(h, heap_tuple(h, one))),
			  word(BATCH_SHAPE_TUPLE, two(BATCH_TUPLE_OF_ONE, BATCH_TUPLE_OF_ONE), 0));
	ck_assert_uint_eq(batch_term(heap_cons(h, SMALL('a'), NIL)), word(BATCH_SHAPE_LIST, 0, 0));
}
END_TEST

/* {Ref,return,true}, as of erpc; {Ref,ok,true}, {Ref,return}, {ok,return,true}. */
START_TEST(test_batch_term_tells_what_erpc_returns)
{
	struct heap *h = unit_heap();
	Term ref = heap_ref(h, 0);

	ck_assert_uint_eq(batch_term(heap_tuple(h, ref, am_return, am_true)), word(BATCH_SHAPE_REF, BATCH_RETURNED, 0));
	ck_assert_uint_eq(batch_term(heap_tuple(h, ref, am_ok, am_true)), word(BATCH_SHAPE_REF, BATCH_TUPLE_OF_MORE, 0));
	ck_assert_uint_eq(batch_term(heap_tuple(h, ref, am_return)), word(BATCH_SHAPE_REF, BATCH_TUPLE_OF_MORE, 0));
	ck_assert_uint_eq(batch_term(heap_tuple(h, am_ok, am_return, am_true)),
			  word(BATCH_SHAPE_ATOM, BATCH_TUPLE_OF_MORE, atom_index(am_ok)));
}
END_TEST

START_TEST(test_batch_identity_tells_whom)
{
	unit_init();
	ck_assert_uint_eq(batch_identity(TERM_NONE), 0);
	ck_assert_uint_eq(batch_identity(term_from_pid(7, 0xffffffff)),
			  (uint64_t)BATCH_PID << 60 | UINT64_C(0xffffffff) << 28 | 7);
	ck_assert_uint_eq(batch_identity(term_from_port(8)), (uint64_t)BATCH_PORT << 60 | 8);
	ck_assert_uint_eq(batch_identity(am_ok), (uint64_t)BATCH_NAME << 60 | atom_index(am_ok));
	ck_assert_uint_eq(batch_identity(heap_ref(unit_heap(), 0)), (uint64_t)BATCH_OTHER << 60);
}
END_TEST

START_TEST(test_batch_identity_tells_the_node_of_a_stranger)
{
	struct extern_facts f = { .node = { am_undefined, 1 }, .count = 2, .ids = { 17, 9 } };

	unit_init();
	ck_assert_uint_eq(batch_identity(extern_id_put(unit_heap(), SUB_XPID, &f)),
			  (uint64_t)BATCH_REMOTE << 60 | (uint64_t)atom_index(am_undefined) << 28 | 17);
}
END_TEST

/* ---- pages */

static const uint64_t *record_at(size_t word) { return batch_self->records + word; }

/* The words that follow a head, and whose event it is. */
static void expect_head(uint64_t head, unsigned words, enum batch_event event)
{
	ck_assert_uint_eq(BATCH_HEAD_WORDS(head), words);
	ck_assert_uint_eq(BATCH_HEAD_EVENT(head), event);
}

static void expect_record(const uint64_t **at, enum batch_event event, bool left_out, const uint64_t *words, unsigned n)
{
	expect_head(**at, n, event);
	ck_assert_int_eq(BATCH_HEAD_LEFT_OUT(**at), left_out);
	for (unsigned i = 0; i < n; i++)
		ck_assert_uint_eq((*at)[1 + i], words[i]);
	*at += 1 + n;
}

START_TEST(test_batch_write_leaves_zeros_out_at_the_end)
{
	const uint64_t some[] = { 7, 0, 9, 0, 0, 0 }, none[] = { 0 };
	size_t used = (batch_self->header.bytes - sizeof(struct batch_header)) / 8;
	uint64_t events = batch_self->events;

	batch_write(BATCH_message__send, batch_begin(), some, 6);
	batch_write(BATCH_process__unscheduled, batch_begin(), none, 1);
	expect_head(*record_at(used), 3, BATCH_message__send);
	ck_assert_mem_eq(record_at(used + 1), some, 3 * sizeof(*some));
	expect_head(*record_at(used + 4), 0, BATCH_process__unscheduled);
	ck_assert_uint_eq(batch_self->header.bytes, sizeof(struct batch_header) + (used + 5) * 8);
	ck_assert_uint_eq(batch_self->events, events + 2);
}
END_TEST

/* What they share with what was scheduled last, in the same page. */
START_TEST(test_batch_write_leaves_out_what_was_scheduled)
{
	const uint64_t told[][3] = { { 7, 8 }, { 7 }, { 9, 8 }, { 9, 7, 3 }, { 7 } };
	const uint64_t *at;

	batch_write(BATCH_process__unscheduled, batch_begin(), told[4], 1); /* begins the page */
	batch_hand_over();
	batch_write(BATCH_process__scheduled, batch_begin(), told[0], 2);
	batch_write(BATCH_process__unscheduled, batch_begin(), told[1], 1);
	batch_write(BATCH_process__scheduled, batch_begin(), told[2], 2);
	batch_write(BATCH_message__send, batch_begin(), told[3], 3);
	batch_write(BATCH_process__unscheduled, batch_begin(), told[4], 1);
	at = batch_self->records;
	expect_record(&at, BATCH_process__scheduled, false, told[0], 2);
	expect_record(&at, BATCH_process__unscheduled, true, NULL, 0);
	expect_record(&at, BATCH_process__scheduled, true, told[2], 1);
	expect_record(&at, BATCH_message__send, true, &told[3][1], 2);
	expect_record(&at, BATCH_process__unscheduled, false, told[4], 1);
	batch_hand_over();
	batch_write(BATCH_process__unscheduled, batch_begin(), told[2], 1);
	at = batch_self->records;
	expect_record(&at, BATCH_process__unscheduled, false, told[2], 1);
}
END_TEST

static const struct {
	enum batch_event event;
	unsigned index;
	bool is_text;
} arguments[] = {
#define ARG(probe, index, arg, type, unit) { BATCH_##probe, index, probe_is_text_##unit },
#include "probes.def"
};

/* All texts of a probe of the greatest length: more words than 8 bits count. */
START_TEST(test_batch_write_texts_counts_the_words_of_long_texts)
{
	enum { TEXT_WORDS = BATCH_TEXT_BYTES / 8 };
	uint64_t words[BATCH_MAX_ARGS] = { 0 };
	const char *texts[BATCH_MAX_ARGS] = { NULL };
	char text[BATCH_TEXT_BYTES];
	unsigned n = 0, ntexts = 0;
	size_t used;

	memset(text, 'x', sizeof(text));
	for (size_t i = 0; i < sizeof(arguments) / sizeof(*arguments); i++) {
		if (arguments[i].event != (enum batch_event)_i)
			continue;
		words[arguments[i].index] = arguments[i].is_text ? sizeof(text) : 7;
		texts[arguments[i].index] = arguments[i].is_text ? text : NULL;
		ntexts += arguments[i].is_text;
		n++;
	}
	batch_write(BATCH_process__unscheduled, batch_begin(), words, 1);
	used = (batch_self->header.bytes - sizeof(struct batch_header)) / 8;
	batch_write_texts((enum batch_event)_i, batch_self->header.begin_ticks + 5, words, n, texts);
	expect_head(*record_at(used), n + ntexts * TEXT_WORDS, (enum batch_event)_i);
	ck_assert_uint_eq(BATCH_HEAD_SINCE(*record_at(used)), 5);
	ck_assert_mem_eq(record_at(used + 1), words, n * sizeof(*words));
	for (unsigned i = 0; i < ntexts; i++)
		ck_assert_mem_eq(record_at(used + 1 + n + i * TEXT_WORDS), text, sizeof(text));
	ck_assert_uint_eq(batch_self->header.bytes,
			  sizeof(struct batch_header) + (used + 1 + n + ntexts * TEXT_WORDS) * 8);
}
END_TEST

/* Names that fill the page are not told twice, and leave room for the event that they are told for. */
START_TEST(test_batch_write_has_room_whatever_names_come_first)
{
	enum { NAMES = 3 * BATCH_PAGE_BYTES / 256, BYTES = 250 };
	const uint64_t words[BATCH_MAX_ARGS] = { [BATCH_MAX_ARGS - 1] = 1 };
	uint64_t pages = batch_self->header.sequence;
	char name[BYTES + 1];

	for (int i = 0; i < NAMES; i++) {
		snprintf(name, sizeof(name), "%0*d", BYTES, i);
		ck_assert_uint_ne(batch_begin(), 0);
		batch_atom(atom_from_text(name));
		ck_assert_uint_le(batch_self->header.bytes, BATCH_FULL_BYTES);
		batch_write(BATCH_efile_drv__entry, ticks_now(), words, BATCH_MAX_ARGS);
		ck_assert_uint_le(batch_self->header.bytes, BATCH_PAGE_BYTES);
	}
	ck_assert_uint_ge(batch_self->header.sequence, pages + 3);
	ck_assert_uint_eq(batch_self->events, NAMES);
}
END_TEST

START_TEST(test_batch_begin_next_is_the_moment_of_the_last_unless_more_was_done)
{
	const uint64_t word[] = { 23 };
	uint64_t last = batch_begin_last(), next;

	batch_write(BATCH_process__unscheduled, last, word, 1);
	ck_assert_uint_eq(batch_begin_next(), last);
	next = batch_begin_next();
	ck_assert_uint_gt(next, last);
	last = batch_begin_last();
	batch_end_turn();
	ck_assert_uint_gt(batch_begin_next(), last);
}
END_TEST

/* Its page was handed over: an event that is older than the next page stands at that one's begin. */
START_TEST(test_batch_begin_next_may_begin_a_page)
{
	const uint64_t word[] = { 23 };
	uint64_t last = batch_begin_last();

	batch_write(BATCH_process__unscheduled, last, word, 1);
	batch_hand_over();
	batch_write(BATCH_process__scheduled, batch_begin_next(), word, 1);
	ck_assert_uint_gt(batch_self->header.begin_ticks, last);
	ck_assert_uint_eq(BATCH_HEAD_SINCE(*record_at(0)), 0);
}
END_TEST

START_TEST(test_batch_begin_tells_nothing_once_the_vm_ends)
{
	const uint64_t word[] = { 23 };

	batch_write(BATCH_process__unscheduled, batch_begin(), word, 1);
	batch_close();
	ck_assert_uint_eq(batch_begin(), 0);
	ck_assert_uint_eq(batch_self->events, 1);
	ck_assert_int_eq(batch_deadline_ns(), 0);
}
END_TEST

START_TEST(test_batch_hand_over_begins_a_page_at_the_next_event)
{
	const uint64_t word[] = { 23 };
	uint64_t begun;

	batch_write(BATCH_process__unscheduled, batch_begin(), word, 1);
	begun = batch_self->header.begin_ticks;
	ck_assert_int_ne(batch_deadline_ns(), 0);
	batch_hand_over();
	ck_assert_int_eq(batch_deadline_ns(), 0);
	batch_write(BATCH_process__unscheduled, batch_begin(), word, 1);
	ck_assert_uint_gt(batch_self->header.begin_ticks, begun);
	ck_assert_uint_eq(batch_self->header.events, 1);
	ck_assert_uint_eq(batch_self->header.sequence, 1);
}
END_TEST

/* Another watcher may have begun meanwhile. */
START_TEST(test_batch_names_are_told_again_after_a_silence)
{
	const uint64_t word[] = { 23 };
	size_t index = am_ok >> 6;

	batch_atom(am_ok);
	batch_write(BATCH_process__unscheduled, batch_begin(), word, 1);
	batch_hand_over();
	batch_self->names_ns = INT64_MAX;
	batch_self->old_ns = INT64_MAX; /* no silence */
	batch_write(BATCH_process__unscheduled, batch_begin(), word, 1);
	batch_hand_over();
	ck_assert_uint_ne(batch_self->told[index / 64] >> index % 64 & 1, 0);
	batch_self->old_ns -= 1000000000; /* as if the page had been begun so much earlier */
	batch_write(BATCH_process__unscheduled, batch_begin(), word, 1);
	ck_assert_uint_eq(batch_self->told[index / 64] >> index % 64 & 1, 0);
}
END_TEST

/* ---- process__scheduled: the function that a process resumes in */

static struct {
	struct mfa function;
	bool stays;
	unsigned asked;
	atomic_uint_fast64_t given;
} code;

static bool find_function(const Inst *at, struct mfa *mfa, bool *stays)
{
	(void)at;
	code.asked++;
	*mfa = code.function;
	*stays = code.stays;
	return true;
}

static bool was_told(Term atom)
{
	return batch_self->told[atom_index(atom) / 64] >> atom_index(atom) % 64 & 1;
}

static uint64_t mfa_word(struct mfa mfa)
{
	return (uint64_t)atom_index(mfa.module) << (BATCH_INDEX_BITS + 8) | atom_index(mfa.function) << 8 | mfa.arity;
}

/* Whether the event is told, with the function that the process is in now. */
static bool tells_function(Process *p)
{
	uint64_t events = batch_self->events;

	probe_process__scheduled(p, false);
	return batch_self->events == events + 1 && batch_self->scheduled[0] == batch_identity(p->id) &&
	       batch_self->scheduled[1] == mfa_word(code.function);
}

static Process *resuming_process(void)
{
	static const Inst somewhere[2];
	Process *p = fake_process();

	p->i = somewhere;
	return p;
}

START_TEST(test_batch_scheduled_finds_the_function_once)
{
	Process *p = resuming_process();

	for (int i = 0; i < 5; i++)
		ck_assert(tells_function(p));
	ck_assert_uint_eq(code.asked, 1);
	ck_assert(was_told(code.function.module) && was_told(code.function.function));
}
END_TEST

/* Other code may stand at that address now. */
START_TEST(test_batch_scheduled_finds_the_function_again_once_code_was_given_back)
{
	Process *p = resuming_process();

	ck_assert(tells_function(p));
	code.function.function = am_error;
	atomic_fetch_add(&code.given, 1);
	ck_assert(tells_function(p));
	ck_assert_uint_eq(code.asked, 2);
}
END_TEST

START_TEST(test_batch_scheduled_finds_the_function_again_where_it_does_not_stay)
{
	Process *p = resuming_process();

	code.stays = false;
	ck_assert(tells_function(p));
	code.function.function = am_error;
	ck_assert(tells_function(p));
}
END_TEST

/* Another event begins the page; who has begun to watch meanwhile reads the function's names in it. */
START_TEST(test_batch_scheduled_tells_the_names_again_when_they_are_wanted)
{
	const uint64_t word[] = { 23 };
	Process *p = resuming_process();

	ck_assert(tells_function(p));
	batch_hand_over();
	batch_self->old_ns -= 1000000000; /* as if the page had been begun so much earlier: a silence */
	batch_write(BATCH_process__unscheduled, batch_begin(), word, 1);
	ck_assert(!was_told(code.function.module));
	ck_assert(tells_function(p));
	ck_assert(was_told(code.function.module) && was_told(code.function.function));
}
END_TEST

static void watch_scheduled(void)
{
	fake_init();
	batch_init();
	code.function = (struct mfa){ am_erlang, am_apply, 2 };
	code.stays = true;
	probe_find_function = find_function;
	probe_code_given = &code.given;
	erlang_process__scheduled_semaphore.batches = 1;
}

static void begin_event(void)
{
	unit_init();
	batch_init();
	ck_assert_uint_ne(batch_begin(), 0);
}

Suite *batch_suite(void)
{
	Suite *suite = suite_create("batch");
	TCase *words = tcase_create("words"), *pages = tcase_create("pages"), *scheduled = tcase_create("scheduled");

	tcase_add_checked_fixture(words, begin_event, NULL);
	tcase_add_checked_fixture(pages, begin_event, NULL);
	tcase_add_test(pages, test_batch_write_leaves_zeros_out_at_the_end);
	tcase_add_test(pages, test_batch_write_leaves_out_what_was_scheduled);
	tcase_add_loop_test(pages, test_batch_write_texts_counts_the_words_of_long_texts, BATCH_LAST_NAME + 1,
			    BATCH_EVENTS);
	tcase_add_test(pages, test_batch_write_has_room_whatever_names_come_first);
	tcase_add_test(pages, test_batch_begin_next_is_the_moment_of_the_last_unless_more_was_done);
	tcase_add_test(pages, test_batch_begin_next_may_begin_a_page);
	tcase_add_test(pages, test_batch_begin_tells_nothing_once_the_vm_ends);
	tcase_add_test(pages, test_batch_hand_over_begins_a_page_at_the_next_event);
	tcase_add_test(pages, test_batch_names_are_told_again_after_a_silence);
	suite_add_tcase(suite, pages);
	tcase_add_test(words, test_batch_term_tells_what_is_alone);
	tcase_add_test(words, test_batch_term_tells_small_integers_by_value);
	tcase_add_test(words, test_batch_term_tells_what_is_first);
	tcase_add_test(words, test_batch_term_tells_what_erpc_returns);
	tcase_add_test(words, test_batch_identity_tells_whom);
	tcase_add_test(words, test_batch_identity_tells_the_node_of_a_stranger);
	suite_add_tcase(suite, words);
	tcase_add_checked_fixture(scheduled, watch_scheduled, NULL);
	tcase_add_test(scheduled, test_batch_scheduled_finds_the_function_once);
	tcase_add_test(scheduled, test_batch_scheduled_finds_the_function_again_once_code_was_given_back);
	tcase_add_test(scheduled, test_batch_scheduled_finds_the_function_again_where_it_does_not_stay);
	tcase_add_test(scheduled, test_batch_scheduled_tells_the_names_again_when_they_are_wanted);
	suite_add_tcase(suite, scheduled);
	return suite;
}
