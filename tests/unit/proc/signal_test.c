/* SPDX-License-Identifier: Apache-2.0 */
/* Links, monitors and exits between processes, step by step. */
#include "proc/fake.h"

#include "data/compare.h"
#include "data/extern_id.h"
#include "proc/process_life.h"

static bool is_exit_message(Term m, Term from, Term reason)
{
	return term_is_tuple_of(m, 3) && tuple_get(m, 1) == am_EXIT && tuple_get(m, 2) == from &&
	       tuple_get(m, 3) == reason;
}

START_TEST(test_link_exit_reaches_the_other_end)
{
	Process *a = fake_process(), *b = fake_process();

	link_add(a, b->id, false);
	ck_assert(signal_handle(b));
	ck_assert(peer_find(&b->links, a->id) != NULL);
	process_exit(b, am_error);
	ck_assert(!signal_handle(a));
	ck_assert(a->exc_kind == EXC_EXITED);
	ck_assert(a->exc_reason == am_error);
}
END_TEST

/* Who asks whether a process lives to which he sent an exit signal must learn what comes of it. */
START_TEST(test_exit_that_is_being_handled_is_seen_by_a_look)
{
	Process *a = fake_process(), *b = fake_process(), *c = fake_process();
	uint32_t state;

	link_add(a, b->id, false);
	link_add(c, b->id, false);
	signal_handle(b);
	c->flags |= PF_TRAP_EXIT;
	process_exit(b, am_error);
	ck_assert(process_look(a->id, &state) && (state & PS_SIGNALS));
	ck_assert(!signal_handle(a)); /* it ends, but it has not yet */
	ck_assert(process_look(a->id, &state) && (state & PS_SIGNALS));
	process_exit(a, a->exc_reason);
	ck_assert(signal_handle(c));
	ck_assert(process_look(c->id, &state) && !(state & PS_SIGNALS));
}
END_TEST

START_TEST(test_link_exit_normal_is_ignored)
{
	Process *a = fake_process(), *b = fake_process();
	Term id = b->id;

	link_add(a, id, false);
	signal_handle(b);
	process_exit(b, am_normal);
	ck_assert(signal_handle(a));
	ck_assert(peer_find(&a->links, id) == NULL);
}
END_TEST

START_TEST(test_link_exit_trapped)
{
	Process *a = fake_process(), *b = fake_process();
	Term id = b->id;

	a->flags |= PF_TRAP_EXIT;
	link_add(a, id, false);
	signal_handle(b);
	process_exit(b, am_kill);
	ck_assert(is_exit_message(fake_receive(a), id, am_kill));
}
END_TEST

START_TEST(test_link_to_the_dead)
{
	Process *a = fake_process(), *b = fake_process();
	Term id = b->id;

	a->flags |= PF_TRAP_EXIT;
	process_exit(b, am_normal);
	link_add(a, id, false);
	ck_assert(is_exit_message(fake_receive(a), id, am_noproc));
	ck_assert(peer_find(&a->links, id) == NULL);
}
END_TEST

START_TEST(test_unlink_drops_an_exit_on_its_way)
{
	Process *a = fake_process(), *b = fake_process();
	Term id = b->id;

	link_add(a, b->id, false);
	signal_handle(b);
	process_exit(b, am_error);
	link_drop(a, id);
	ck_assert(signal_handle(a));
}
END_TEST

START_TEST(test_unlink_is_acknowledged)
{
	Process *a = fake_process(), *b = fake_process();

	link_add(a, b->id, false);
	link_drop(a, b->id);
	ck_assert(peer_find(&a->links, b->id)->unlink_id != 0);
	signal_handle(b);
	ck_assert(peer_find(&b->links, a->id) == NULL);
	signal_handle(a);
	ck_assert(peer_find(&a->links, b->id) == NULL);
}
END_TEST

START_TEST(test_unlink_then_link_again)
{
	Process *a = fake_process(), *b = fake_process();

	link_add(a, b->id, false);
	link_drop(a, b->id);
	link_add(a, b->id, false);
	signal_handle(b);
	signal_handle(a);
	ck_assert(peer_find(&a->links, b->id) != NULL);
	ck_assert(peer_find(&a->links, b->id)->unlink_id == 0);
	ck_assert(peer_find(&b->links, a->id) != NULL);
}
END_TEST

START_TEST(test_exit_kill_is_not_trapped)
{
	Process *a = fake_process(), *b = fake_process();

	b->flags |= PF_TRAP_EXIT;
	signal_exit(a, b->id, am_kill, false);
	ck_assert(!signal_handle(b));
	ck_assert(b->exc_reason == am_killed);
}
END_TEST

START_TEST(test_exit_normal_from_another_and_from_itself)
{
	Process *a = fake_process(), *b = fake_process();

	signal_exit(a, b->id, am_normal, false);
	ck_assert(signal_handle(b));
	signal_exit(b, b->id, am_normal, false);
	ck_assert(!signal_handle(b));
	ck_assert(b->exc_reason == am_normal);
}
END_TEST

START_TEST(test_exit_with_a_large_reason)
{
	Process *a, *b;
	Term reason, got;

	a = fake_process();
	b = fake_process();
	b->flags |= PF_TRAP_EXIT;
	reason = heap_tuple(&a->heap, am_error, heap_list_bytes(&a->heap, "why", 3, NIL));
	signal_exit(a, b->id, reason, false);
	got = fake_receive(b);
	ck_assert(term_is_tuple_of(got, 3));
	ck_assert(term_same(tuple_get(got, 3), reason));
}
END_TEST

static void check_down(Term m, Term ref, Term object, Term reason)
{
	ck_assert(term_is_tuple_of(m, 5));
	ck_assert(tuple_get(m, 1) == am_DOWN);
	ck_assert(ref_number(tuple_get(m, 2)) == ref_number(ref));
	ck_assert(tuple_get(m, 3) == am_process);
	ck_assert(tuple_get(m, 4) == object);
	ck_assert(tuple_get(m, 5) == reason);
}

START_TEST(test_monitor_down)
{
	struct monitor_options o = MONITOR_OPTIONS_DEFAULT;
	Process *a, *b;
	Term ref, id;

	a = fake_process();
	b = fake_process();
	id = b->id;
	ref = monitor_add(a, id, TERM_NONE, &o);
	signal_handle(b);
	process_exit(b, am_error);
	check_down(fake_receive(a), ref, id, am_error);
	ck_assert_uint_eq(peer_count(&a->monitors), 0);
}
END_TEST

START_TEST(test_monitor_of_the_dead)
{
	struct monitor_options o = MONITOR_OPTIONS_DEFAULT;
	Process *a, *b;
	Term ref, id;

	a = fake_process();
	b = fake_process();
	id = b->id;
	process_exit(b, am_error);
	ref = monitor_add(a, id, TERM_NONE, &o);
	check_down(fake_receive(a), ref, id, am_noproc);
}
END_TEST

START_TEST(test_monitor_that_the_exit_overtakes)
{
	struct monitor_options o = MONITOR_OPTIONS_DEFAULT;
	Process *a, *b;
	Term ref, id;

	a = fake_process();
	b = fake_process();
	id = b->id;
	ref = monitor_add(a, id, TERM_NONE, &o); /* still in b's queue when it ends */
	process_exit(b, am_error);
	check_down(fake_receive(a), ref, id, am_noproc);
}
END_TEST

START_TEST(test_demonitor_drops_a_down_on_its_way)
{
	struct monitor_options o = MONITOR_OPTIONS_DEFAULT;
	Process *a, *b;
	Term ref;

	a = fake_process();
	b = fake_process();
	ref = monitor_add(a, b->id, TERM_NONE, &o);
	signal_handle(b);
	process_exit(b, am_error);
	ck_assert(monitor_drop(a, ref));
	ck_assert(!monitor_drop(a, ref));
	ck_assert(fake_receive(a) == TERM_NONE);
}
END_TEST

START_TEST(test_monitor_with_a_tag)
{
	Process *a, *b;
	struct monitor_options o = MONITOR_OPTIONS_DEFAULT;
	Term m;

	a = fake_process();
	b = fake_process();
	o.tag = heap_tuple(&a->heap, am_tag, SMALL(7));
	monitor_add(a, b->id, TERM_NONE, &o);
	signal_handle(b);
	process_exit(b, am_normal);
	m = fake_receive(a);
	ck_assert(term_is_tuple_of(m, 5));
	ck_assert(term_same(tuple_get(m, 1), o.tag));
}
END_TEST

static int calls, calls_gone;
static void count_call(Process *p, void *arg)
{
	(void)arg;
	calls++;
	calls_gone += p == NULL;
}

START_TEST(test_signal_call_of_the_dead_is_answered)
{
	struct signal *s;
	Process *a;

	a = fake_process();
	s = signal_new(SIG_CALL);
	s->call = count_call;
	ck_assert(signal_send(a->id, s));
	process_exit(a, am_normal);
	ck_assert_int_eq(calls, 1);
	ck_assert_int_eq(calls_gone, 1);
}
END_TEST

START_TEST(test_messages_before_an_exit_are_kept_in_order)
{
	Process *a = fake_process(), *b = fake_process();

	b->flags |= PF_TRAP_EXIT;
	message_send(a, b->id, SMALL(1));
	signal_exit(a, b->id, am_error, false);
	message_send(a, b->id, SMALL(2));
	ck_assert(fake_receive(b) == SMALL(1));
	ck_assert(is_exit_message(fake_receive(b), a->id, am_error));
	ck_assert(fake_receive(b) == SMALL(2));
}
END_TEST

/* ---- processes of other nodes */

static Term foreign_id(struct heap *h, unsigned sub, uint32_t creation, uint32_t last)
{
	struct extern_facts f = { .node = { am_undefined, creation }, .count = 2, .ids = { 7, last, 0, 0, last } };

	f.count = sub == SUB_XREF ? 5 : 2;
	return extern_id_put(h, sub, &f);
}

static void watch_from(const Process *to, uint32_t creation, uint32_t last)
{
	struct heap h;

	heap_init(&h, 233);
	signal_send_plain(SIG_MONITOR, foreign_id(&h, SUB_XPID, creation, 1), to->id,
			  foreign_id(&h, SUB_XREF, creation, last));
	heap_free(&h);
}

START_TEST(test_watchers_of_other_nodes_are_told_apart)
{
	static const uint32_t watchers[][2] = { { 1, 1 }, { 2, 1 }, { 1, 2 } };
	Process *a = fake_process();

	for (int i = 0; i < 3; i++)
		watch_from(a, watchers[i][0], watchers[i][1]);
	watch_from(a, 1, 1);
	ck_assert(signal_handle(a));
	ck_assert_uint_eq(peer_count(&a->monitored_by), 3);
	for (int i = 0; i < 3; i++) {
		Term ref = foreign_id(&a->heap, SUB_XREF, watchers[i][0], watchers[i][1]);
		struct peer *n = peer_find(&a->monitored_by, ref);

		ck_assert(n != NULL);
		ck_assert(term_same(n->peer, foreign_id(&a->heap, SUB_XPID, watchers[i][0], 1)));
		signal_send_plain(SIG_DEMONITOR, n->peer, a->id, ref);
		ck_assert(signal_handle(a));
		ck_assert_uint_eq(peer_count(&a->monitored_by), 2 - (size_t)i);
	}
	process_exit(a, am_normal);
}
END_TEST

/* Whom a process is linked to stays known when the term that it was linked by has moved, or is gone. */
START_TEST(test_link_to_another_node_outlives_the_term)
{
	Process *a = fake_process();
	struct heap h;
	Term m, to;

	a->flags |= PF_TRAP_EXIT;
	heap_init(&h, 233);
	to = foreign_id(&h, SUB_XPID, 3, 1);
	ck_assert(link_add(a, to, false));
	ck_assert(link_add(a, to, false));
	heap_free(&h);
	to = foreign_id(&a->heap, SUB_XPID, 3, 1);
	ck_assert(peer_find(&a->links, to) != NULL);
	ck_assert(peer_find(&a->links, foreign_id(&a->heap, SUB_XPID, 4, 1)) == NULL);
	m = fake_receive(a);
	ck_assert(term_is_tuple_of(m, 3));
	ck_assert(term_same(tuple_get(m, 2), to));
	ck_assert(tuple_get(m, 3) == am_noconnection);
	ck_assert_uint_eq(peer_count(&a->links), 0);
}
END_TEST

START_TEST(test_monitor_at_another_node_outlives_the_term)
{
	struct monitor_options o = MONITOR_OPTIONS_DEFAULT;
	Process *a = fake_process();
	struct heap h;
	Term m, ref, to;

	heap_init(&h, 233);
	o.tag = heap_cons(&h, am_ok, foreign_id(&h, SUB_XREF, 9, 9));
	ref = monitor_add(a, foreign_id(&h, SUB_XPID, 3, 1), TERM_NONE, &o);
	heap_free(&h);
	to = foreign_id(&a->heap, SUB_XPID, 3, 1);
	m = fake_receive(a);
	ck_assert(term_is_tuple_of(m, 5));
	ck_assert(term_same(cons_tail(tuple_get(m, 1)), foreign_id(&a->heap, SUB_XREF, 9, 9)));
	ck_assert(term_same(tuple_get(m, 2), ref));
	ck_assert(term_same(tuple_get(m, 4), to));
	ck_assert(tuple_get(m, 5) == am_noconnection);
	ck_assert_uint_eq(peer_count(&a->monitors), 0);
}
END_TEST

Suite *signal_suite(void)
{
	Suite *s = suite_create("signal");
	TCase *t = tcase_create("signal");

	tcase_add_checked_fixture(t, fake_init, NULL);
	tcase_add_test(t, test_link_exit_reaches_the_other_end);
	tcase_add_test(t, test_exit_that_is_being_handled_is_seen_by_a_look);
	tcase_add_test(t, test_link_exit_normal_is_ignored);
	tcase_add_test(t, test_link_exit_trapped);
	tcase_add_test(t, test_link_to_the_dead);
	tcase_add_test(t, test_unlink_drops_an_exit_on_its_way);
	tcase_add_test(t, test_unlink_is_acknowledged);
	tcase_add_test(t, test_unlink_then_link_again);
	tcase_add_test(t, test_exit_kill_is_not_trapped);
	tcase_add_test(t, test_exit_normal_from_another_and_from_itself);
	tcase_add_test(t, test_exit_with_a_large_reason);
	tcase_add_test(t, test_monitor_down);
	tcase_add_test(t, test_monitor_of_the_dead);
	tcase_add_test(t, test_monitor_that_the_exit_overtakes);
	tcase_add_test(t, test_demonitor_drops_a_down_on_its_way);
	tcase_add_test(t, test_monitor_with_a_tag);
	tcase_add_test(t, test_signal_call_of_the_dead_is_answered);
	tcase_add_test(t, test_messages_before_an_exit_are_kept_in_order);
	tcase_add_test(t, test_watchers_of_other_nodes_are_told_apart);
	tcase_add_test(t, test_link_to_another_node_outlives_the_term);
	tcase_add_test(t, test_monitor_at_another_node_outlives_the_term);
	suite_add_tcase(s, t);
	return s;
}
