/* SPDX-License-Identifier: Apache-2.0 */
/* Steps of calls, as messages show them. */
#include "proc/fake.h"

#include "proc/batch.h"
#include "proc/peer.h"
#include "proc/probe.h"
#include "usdt.h"

/* What the last event in this thread's page says of a call. */
struct told {
	uint64_t pid, peer, step, reference;
};

static struct told last_told(void)
{
	const uint64_t *end = (const uint64_t *)((const char *)&batch_self->header + batch_self->header.bytes);

	ck_assert_uint_eq(end[-5], BATCH_HEAD(BATCH_HEAD_SINCE(end[-5]), 0, 4, BATCH_request__step));
	return (struct told){ end[-4], end[-3], end[-2], end[-1] };
}

static void assert_told(enum request_step step, Term pid, Term peer, Term ref)
{
	struct told told = last_told();

	ck_assert_uint_eq(told.step, step);
	ck_assert_uint_eq(told.pid, batch_identity(pid));
	ck_assert_uint_eq(told.peer, batch_identity(peer));
	ck_assert_uint_eq(told.reference, ref_number(ref));
}

static void begin(void)
{
	fake_init();
	batch_init();
	erlang_request__step_semaphore.batches = 1;
}

static void end(void)
{
	erlang_request__step_semaphore.batches = 0;
}

/* The tag of gen:call/4, the one with which gen_statem replies, a reference alone. */
static Term tag(Process *p, Term ref, int form)
{
	Term alias = heap_cons(&p->heap, am_alias, ref);

	return form == 0 ? alias : form == 1 ? heap_cons(&p->heap, alias, NIL) : ref;
}

START_TEST(test_request_of_gen_is_told_in_each_step)
{
	Process *caller = fake_process(), *server = fake_process();
	Term ref = heap_ref(&caller->heap, 0), from = heap_tuple(&caller->heap, caller->id, tag(caller, ref, _i));

	message_send(caller, server->id, heap_tuple(&caller->heap, am_ok, from, am_true));
	assert_told(REQUEST_SENT, server->id, caller->id, ref);
	ck_assert(fake_receive(server) != TERM_NONE);
	assert_told(REQUEST_TAKEN, server->id, caller->id, ref);
	message_send(server, caller->id, heap_tuple(&server->heap, tag(server, ref, _i), am_true));
	assert_told(REQUEST_REPLIED, server->id, caller->id, ref);
	ck_assert(fake_receive(caller) != TERM_NONE);
	assert_told(REQUEST_ANSWERED, caller->id, TERM_NONE, ref);
}
END_TEST

START_TEST(test_request_of_a_task_is_told)
{
	Process *owner = fake_process(), *task = fake_process();
	Term ref = heap_ref(&owner->heap, 0);

	message_send(owner, task->id, heap_tuple(&owner->heap, owner->id, ref, ref, NIL, am_true));
	assert_told(REQUEST_SENT, task->id, owner->id, ref);
}
END_TEST

/* The reply comes to an alias whose process has gone. */
START_TEST(test_request_replied_to_the_dead_is_told)
{
	Process *server = fake_process();
	Term gone = term_from_pid(pid_number(server->id) + 1, 7), ref = heap_ref(&server->heap, gone);

	message_send(server, ref, heap_tuple(&server->heap, tag(server, ref, 0), am_true));
	assert_told(REQUEST_REPLIED, server->id, gone, ref);
}
END_TEST

START_TEST(test_request_ends_with_its_monitor)
{
	Process *caller = fake_process(), *server = fake_process();
	struct monitor_options o = MONITOR_OPTIONS_DEFAULT;
	Term ref;

	o.alias = ALIAS_DEMONITOR;
	ref = monitor_add(caller, server->id, TERM_NONE, &o);
	ck_assert(monitor_drop(caller, ref));
	assert_told(REQUEST_ENDED, caller->id, TERM_NONE, ref);
	ck_assert(!monitor_drop(caller, ref));
}
END_TEST

START_TEST(test_request_of_a_server_that_is_gone_is_told)
{
	Process *caller = fake_process(), *server = fake_process();
	Term ref = heap_ref(&caller->heap, 0);

	message_send(server, caller->id, heap_tuple(&server->heap, am_DOWN, ref, am_process, server->id, am_normal));
	ck_assert(fake_receive(caller) != TERM_NONE);
	assert_told(REQUEST_DOWN, caller->id, TERM_NONE, ref);
}
END_TEST

START_TEST(test_request_is_not_what_other_messages_are)
{
	Process *a = fake_process(), *b = fake_process();
	struct heap *h = &a->heap;
	Term ref = heap_ref(h, 0);
	const Term messages[] = {
		am_ok, ref, heap_cons(h, ref, NIL), heap_tuple(h, ref), heap_tuple(h, am_ok, ref), heap_tuple(h, NIL, NIL),
		heap_tuple(h, am_ok, a->id, ref), heap_tuple(h, am_ok, heap_tuple(h, am_ok, ref), NIL),
		heap_tuple(h, am_ok, heap_tuple(h, a->id, am_ok), NIL), heap_tuple(h, heap_cons(h, am_alias, am_ok), NIL),
		heap_tuple(h, a->id, ref, am_ok, NIL, NIL), heap_tuple(h, am_ok, am_ok, ref, NIL, NIL),
	};
	uint64_t events = batch_self->events;

	for (size_t i = 0; i < sizeof(messages) / sizeof(*messages); i++) {
		message_send(a, b->id, messages[i]);
		ck_assert(fake_receive(b) != TERM_NONE);
	}
	ck_assert_uint_eq(batch_self->events, events);
}
END_TEST

Suite *request_suite(void)
{
	Suite *s = suite_create("request");
	TCase *t = tcase_create("request");

	tcase_add_checked_fixture(t, begin, end);
	tcase_add_loop_test(t, test_request_of_gen_is_told_in_each_step, 0, 3);
	tcase_add_test(t, test_request_of_a_task_is_told);
	tcase_add_test(t, test_request_replied_to_the_dead_is_told);
	tcase_add_test(t, test_request_ends_with_its_monitor);
	tcase_add_test(t, test_request_of_a_server_that_is_gone_is_told);
	tcase_add_test(t, test_request_is_not_what_other_messages_are);
	suite_add_tcase(s, t);
	return s;
}
