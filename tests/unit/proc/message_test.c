/* SPDX-License-Identifier: Apache-2.0 */
/* Message queues, selective receive, markers, aliases. */
#include "proc/fake.h"

#include "data/compare.h"
#include "proc/batch.h"
#include "proc/probe.h"
#include "proc/process_gc.h"
#include "proc/process_life.h"
#include "usdt.h"

START_TEST(test_message_send_keeps_order)
{
	Process *a = fake_process(), *b = fake_process();

	for (int i = 0; i < 23; i++)
		message_send(a, b->id, heap_tuple(&a->heap, SMALL((uint64_t)i), am_ok));
	for (int i = 0; i < 23; i++) {
		Term m = fake_receive(b);

		ck_assert(term_is_tuple_of(m, 2));
		ck_assert(tuple_get(m, 1) == SMALL((uint64_t)i));
	}
	ck_assert(fake_receive(b) == TERM_NONE);
	ck_assert_uint_eq(b->msg_length, 0);
}
END_TEST

START_TEST(test_message_send_copies)
{
	Process *a, *b;
	Term sent, got;

	a = fake_process();
	b = fake_process();
	sent = heap_cons(&a->heap, heap_float(&a->heap, 1.5), NIL);
	message_send(a, b->id, sent);
	got = fake_receive(b);
	ck_assert(got != sent);
	ck_assert(term_same(got, sent));
	ck_assert(heap_owns(&b->heap, cons_ptr(got)));
}
END_TEST

START_TEST(test_message_remove_from_the_middle)
{
	Process *p = fake_process();

	for (int i = 0; i < 5; i++)
		message_send(p, p->id, SMALL((uint64_t)i));
	ck_assert(message_peek(p) == SMALL(0));
	message_next(p);
	message_next(p);
	ck_assert(message_peek(p) == SMALL(2));
	message_remove(p);
	/* back at the start, with 0 1 3 4 left */
	ck_assert(fake_receive(p) == SMALL(0));
	ck_assert(fake_receive(p) == SMALL(1));
	ck_assert(fake_receive(p) == SMALL(3));
	ck_assert(fake_receive(p) == SMALL(4));
	message_send(p, p->id, am_ok);
	ck_assert(fake_receive(p) == am_ok);
}
END_TEST

START_TEST(test_message_remove_last_then_append)
{
	Process *p = fake_process();

	message_send(p, p->id, SMALL(1));
	message_send(p, p->id, SMALL(2));
	message_peek(p);
	message_next(p);
	message_remove(p);
	message_send(p, p->id, SMALL(3));
	ck_assert(fake_receive(p) == SMALL(1));
	ck_assert(fake_receive(p) == SMALL(3));
}
END_TEST

START_TEST(test_message_peek_sees_what_arrives_after_the_end)
{
	Process *a = fake_process(), *b = fake_process();

	message_send(a, b->id, SMALL(1));
	ck_assert(message_peek(b) == SMALL(1));
	message_next(b);
	ck_assert(message_peek(b) == TERM_NONE);
	message_send(a, b->id, SMALL(2));
	ck_assert(message_peek(b) == SMALL(2));
}
END_TEST

START_TEST(test_message_wait_with_signals_pending)
{
	Process *a = fake_process(), *b = fake_process();

	ck_assert(message_peek(b) == TERM_NONE);
	message_send(a, b->id, SMALL(1));
	ck_assert(!message_wait(b));
	ck_assert(message_peek(b) == SMALL(1));
	message_next(b);
	ck_assert(message_wait(b));
}
END_TEST

START_TEST(test_message_marker_skips_older_messages)
{
	Process *p;
	Term marker, ref;

	p = fake_process();
	for (int i = 0; i < 10; i++)
		message_send(p, p->id, SMALL((uint64_t)i));
	marker = message_marker_reserve(p);
	ref = heap_ref(&p->heap, 0);
	message_marker_bind(p, marker, ref);
	message_send(p, p->id, am_ok);
	message_marker_use(p, ref);
	ck_assert(message_peek(p) == am_ok);
	message_remove(p);
	ck_assert(fake_receive(p) == SMALL(0));
}
END_TEST

START_TEST(test_message_marker_survives_removal_of_the_message_before_it)
{
	Process *p;
	Term marker, ref;

	p = fake_process();
	message_send(p, p->id, SMALL(1));
	marker = message_marker_reserve(p);
	ref = heap_ref(&p->heap, 0);
	message_marker_bind(p, marker, ref);
	ck_assert(fake_receive(p) == SMALL(1));
	message_send(p, p->id, am_ok);
	message_marker_use(p, ref);
	ck_assert(message_peek(p) == am_ok);
}
END_TEST

START_TEST(test_message_marker_of_another_reference_is_not_used)
{
	Process *p;
	Term marker;

	p = fake_process();
	message_send(p, p->id, SMALL(1));
	marker = message_marker_reserve(p);
	message_marker_bind(p, marker, heap_ref(&p->heap, 0));
	message_marker_use(p, heap_ref(&p->heap, 0));
	ck_assert(message_peek(p) == SMALL(1));
}
END_TEST

START_TEST(test_message_send_to_a_reply_alias_counts_once)
{
	Process *a, *b;
	Term alias;

	a = fake_process();
	b = fake_process();
	alias = monitor_alias_add(b, ALIAS_REPLY, false);
	message_send(a, alias, SMALL(1));
	message_send(a, alias, SMALL(2));
	ck_assert(fake_receive(b) == SMALL(1));
	ck_assert(fake_receive(b) == TERM_NONE);
}
END_TEST

START_TEST(test_message_send_to_a_dropped_alias)
{
	Process *a, *b;
	Term alias;

	a = fake_process();
	b = fake_process();
	alias = monitor_alias_add(b, ALIAS_EXPLICIT, false);
	message_send(a, alias, SMALL(1));
	message_send(a, alias, SMALL(2));
	ck_assert(fake_receive(b) == SMALL(1));
	ck_assert(fake_receive(b) == SMALL(2));
	ck_assert(monitor_alias_drop(b, alias));
	ck_assert(!monitor_alias_drop(b, alias));
	message_send(a, alias, SMALL(3));
	ck_assert(fake_receive(b) == TERM_NONE);
}
END_TEST

START_TEST(test_message_send_to_the_dead)
{
	Process *a = fake_process(), *b = fake_process();
	Term id = b->id;

	process_exit(b, am_normal);
	ck_assert(!process_is_alive(id));
	message_send(a, id, heap_cons(&a->heap, am_ok, NIL));
	ck_assert(!message_send_any(a, am_user, am_ok));
}
END_TEST

START_TEST(test_message_to_oneself_stays_on_the_heap)
{
	Process *p = fake_process();
	Term sent[23];

	for (int i = 0; i < 23; i++) {
		sent[i] = heap_tuple(&p->heap, SMALL((uint64_t)i), heap_float(&p->heap, i + 0.5));
		message_send(p, p->id, sent[i]);
	}
	ck_assert(fake_receive(p) == sent[0]);
	/* out of the middle: the last takes its place among the roots */
	message_rewind(p);
	for (int i = 1; i < 7; i++) {
		message_peek(p);
		message_next(p);
	}
	ck_assert(message_peek(p) == sent[7]);
	message_remove(p);
	for (int round = 0; round < 3; round++) {
		p->heap.force_major = round == 1;
		ck_assert(process_collect_gc(p, 100, NULL, 0));
	}
	for (int i = 1; i < 23; i++) {
		Term m = i == 7 ? TERM_NONE : fake_receive(p);

		if (i == 7)
			continue;
		ck_assert(heap_owns(&p->heap, boxed_ptr(m)));
		ck_assert(tuple_get(m, 1) == SMALL((uint64_t)i));
		ck_assert(float_value(tuple_get(m, 2)) == i + 0.5);
	}
	ck_assert(fake_receive(p) == TERM_NONE);
	ck_assert_uint_eq(p->own_messages, 0);
}
END_TEST

START_TEST(test_message_to_who_had_our_place_before)
{
	Process *p = fake_process();
	Term other = term_from_pid(pid_number(p->id), pid_serial(p->id) + 1);

	message_send(p, other, heap_cons(&p->heap, am_ok, NIL));
	message_send(p, other, am_ok);
	ck_assert(fake_receive(p) == TERM_NONE);
	ck_assert_uint_eq(p->msg_length, 0);
}
END_TEST

/* What the last event in this thread's page says of the queue that the message joined; 0: it is another event. */
static uint64_t last_joined(void)
{
	const uint64_t *end = (const uint64_t *)((const char *)&batch_self->header + batch_self->header.bytes);

	return end[-4] == BATCH_HEAD(BATCH_HEAD_SINCE(end[-4]), 0, 3, BATCH_message__waited) ? end[-1] : 0;
}

/* The second is received first. */
START_TEST(test_message_waited_is_told_of_the_message_that_is_received)
{
	Process *a = fake_process(), *b = fake_process();

	batch_init();
	erlang_message__waited_semaphore.batches = 1;
	ck_assert(atomic_load(&b->state) & PS_RUNNABLE);
	message_send(a, b->id, SMALL(1));
	message_send(a, b->id, heap_tuple(&a->heap, SMALL(2), am_ok));
	message_send(a, b->id, SMALL(3));
	ck_assert(message_peek(b) == SMALL(1));
	message_next(b);
	message_remove(b);
	ck_assert_uint_eq(last_joined(), 2);
	ck_assert(fake_receive(b) == SMALL(1));
	ck_assert_uint_eq(last_joined(), 1);
	ck_assert(fake_receive(b) == SMALL(3));
	ck_assert_uint_eq(last_joined(), 3);
	erlang_message__waited_semaphore.batches = 0;
}
END_TEST

/* Also of one that found its receiver at rest, and of what a process sends itself. */
START_TEST(test_message_waited_is_told_of_every_message)
{
	Process *a = fake_process(), *b = fake_process();

	batch_init();
	erlang_message__waited_semaphore.batches = 1;
	atomic_store(&b->state, PS_WAITING | PS_RUNNABLE); /* another signal has woken it */
	message_send(a, b->id, SMALL(1));
	message_send(a, a->id, SMALL(2));
	message_send(a, a->id, heap_tuple(&a->heap, SMALL(3), am_ok));
	ck_assert(fake_receive(b) == SMALL(1));
	ck_assert_uint_eq(last_joined(), 1);
	ck_assert(fake_receive(a) == SMALL(2));
	ck_assert_uint_eq(last_joined(), 1);
	ck_assert(term_is_tuple_of(fake_receive(a), 2));
	ck_assert_uint_eq(last_joined(), 2);
	erlang_message__waited_semaphore.batches = 0;
}
END_TEST

/* Of one that was sent before somebody watched it is said that this is not known. */
START_TEST(test_message_waited_says_what_is_not_known)
{
	Process *a = fake_process(), *b = fake_process();
	const uint64_t *end;

	batch_init();
	message_send(a, b->id, SMALL(1));
	erlang_message__waited_semaphore.batches = 1;
	ck_assert(fake_receive(b) == SMALL(1));
	ck_assert_uint_eq(last_joined(), 0);
	end = (const uint64_t *)((const char *)&batch_self->header + batch_self->header.bytes);
	ck_assert_int_eq((int64_t)end[-1], -1); /* the length, 0, is left out at the end */
	erlang_message__waited_semaphore.batches = 0;
}
END_TEST

/* What the last event in this thread's page says of the messages that a receive looked at; 0: it is another event. */
static uint64_t last_walked(void)
{
	const uint64_t *end = (const uint64_t *)((const char *)&batch_self->header + batch_self->header.bytes);

	return end[-4] == BATCH_HEAD(BATCH_HEAD_SINCE(end[-4]), 0, 3, BATCH_receive__scan) ? end[-1] : 0;
}

static void receive_from(Process *p, unsigned passed)
{
	for (unsigned i = 0; i < passed; i++) {
		message_peek(p);
		message_next(p);
	}
	message_peek(p);
	message_remove(p);
}

/* From the first one, or from where a marker says; of a receive that timed out nothing stays. */
START_TEST(test_receive_scan_counts_from_where_the_receive_began)
{
	Process *p = fake_process();
	Term marker, ref;

	batch_init();
	for (uint64_t i = 0; i < 7; i++)
		message_send(p, p->id, SMALL(i));
	marker = message_marker_reserve(p);
	ref = heap_ref(&p->heap, 0);
	message_marker_bind(p, marker, ref);
	for (uint64_t i = 7; i < 20; i++)
		message_send(p, p->id, SMALL(i));
	erlang_receive__scan_semaphore.batches = 1;
	receive_from(p, 4);
	ck_assert_uint_eq(last_walked(), 5);
	message_marker_use(p, ref);
	receive_from(p, 2);
	ck_assert_uint_eq(last_walked(), 3);
	receive_from(p, 9);
	ck_assert_uint_eq(last_walked(), 10);
	message_marker_use(p, ref);
	message_rewind(p);
	receive_from(p, 1);
	ck_assert_uint_eq(last_walked(), 2);
	message_marker_use(p, ref);
	message_marker_clear(p, ref); /* as compiled code does before it takes the message */
	receive_from(p, 3);
	ck_assert_uint_eq(last_walked(), 4);
	erlang_receive__scan_semaphore.batches = 0;
}
END_TEST

/* ---- events of messages, as pages tell them */

enum { EVENT_WORDS = 24, MANY = 1000 };

static void watch(unsigned short batches, unsigned short notes)
{
	const union probe_semaphores who = { .batches = batches, .notes = notes };

	erlang_message__send_semaphore = erlang_message__queued_semaphore = who;
	erlang_message__receive_semaphore = erlang_process__unscheduled_semaphore = who;
}

/* What is told of a message that a sends and b receives, a having been scheduled as it seems, without the times.
 * Returns how many words. */
static size_t tell_messages(Process *a, Process *b, Term message, uint64_t out[EVENT_WORDS])
{
	const uint64_t scheduled[] = { batch_identity(a->id), 0 };
	size_t begun, n, at = 0;

	batch_write(BATCH_process__scheduled, batch_begin(), scheduled, 2);
	begun = batch_self->header.bytes;
	message_send(a, b->id, message);
	ck_assert(fake_receive(b) == message);
	probe_process__unscheduled(b, true);
	n = (batch_self->header.bytes - begun) / 8;
	ck_assert_uint_le(n, EVENT_WORDS);
	memcpy(out, (const char *)&batch_self->header + begun, n * 8);
	for (; at < n; at += 1 + BATCH_HEAD_WORDS(out[at]))
		out[at] = BATCH_HEAD(0, BATCH_HEAD_LEFT_OUT(out[at]), BATCH_HEAD_WORDS(out[at]),
				     BATCH_HEAD_EVENT(out[at]));
	ck_assert_uint_eq(at, n);
	return n;
}

/* Where notes are watched too, events are told in the long way. */
START_TEST(test_message_events_are_the_same_whoever_watches)
{
	Process *a = fake_process(), *b = fake_process();
	uint64_t shortly[EVENT_WORDS], at_length[EVENT_WORDS], events;
	size_t n;

	batch_init();
	watch(1, 0);
	events = batch_self->events;
	n = tell_messages(a, b, SMALL(7), shortly);
	ck_assert_uint_eq(batch_self->events, events + 5);
	ck_assert_uint_eq(shortly[0], BATCH_HEAD(0, 1, 1, BATCH_message__send)); /* no words: they do not follow */
	ck_assert_uint_eq(shortly[2], BATCH_HEAD(0, 0, 3, BATCH_message__queued));
	ck_assert_uint_eq(shortly[n - 2], BATCH_HEAD(0, 0, 1, BATCH_process__unscheduled));
	ck_assert_uint_ne(batch_self->turn_ticks, 0);
	watch(1, 1);
	ck_assert_uint_eq(tell_messages(a, b, SMALL(7), at_length), n);
	ck_assert_mem_eq(shortly, at_length, n * 8);
	watch(0, 0);
}
END_TEST

/* A page that is full, or old, is handed over in the long way, and the event is in the next. */
START_TEST(test_message_events_begin_a_page)
{
	Process *a = fake_process(), *b = fake_process();
	uint64_t events, pages;

	batch_init();
	watch(1, 0);
	ck_assert_uint_ne(batch_begin(), 0);
	events = batch_self->events;
	pages = batch_self->header.sequence;
	for (uint64_t i = 0; i < MANY; i++) {
		message_send(a, b->id, SMALL(i));
		ck_assert(fake_receive(b) == SMALL(i));
	}
	ck_assert_uint_eq(batch_self->events, events + 3 * MANY);
	ck_assert_uint_ge(batch_self->header.sequence, pages + 2);
	events = batch_self->events;
	batch_hand_over();
	message_send(a, b->id, SMALL(8));
	ck_assert_uint_eq(batch_self->events, events + 2);
	ck_assert_uint_eq(batch_self->header.events, events);
	watch(0, 0);
}
END_TEST

Suite *message_suite(void)
{
	Suite *s = suite_create("message");
	TCase *t = tcase_create("message");

	tcase_add_checked_fixture(t, fake_init, NULL);
	tcase_add_test(t, test_message_send_keeps_order);
	tcase_add_test(t, test_message_send_copies);
	tcase_add_test(t, test_message_waited_is_told_of_the_message_that_is_received);
	tcase_add_test(t, test_message_waited_is_told_of_every_message);
	tcase_add_test(t, test_message_waited_says_what_is_not_known);
	tcase_add_test(t, test_receive_scan_counts_from_where_the_receive_began);
	tcase_add_test(t, test_message_remove_from_the_middle);
	tcase_add_test(t, test_message_remove_last_then_append);
	tcase_add_test(t, test_message_peek_sees_what_arrives_after_the_end);
	tcase_add_test(t, test_message_wait_with_signals_pending);
	tcase_add_test(t, test_message_marker_skips_older_messages);
	tcase_add_test(t, test_message_marker_survives_removal_of_the_message_before_it);
	tcase_add_test(t, test_message_marker_of_another_reference_is_not_used);
	tcase_add_test(t, test_message_send_to_a_reply_alias_counts_once);
	tcase_add_test(t, test_message_send_to_a_dropped_alias);
	tcase_add_test(t, test_message_send_to_the_dead);
	tcase_add_test(t, test_message_to_oneself_stays_on_the_heap);
	tcase_add_test(t, test_message_to_who_had_our_place_before);
	tcase_add_test(t, test_message_events_are_the_same_whoever_watches);
	tcase_add_test(t, test_message_events_begin_a_page);
	suite_add_tcase(s, t);
	return s;
}
