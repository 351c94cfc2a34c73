/* SPDX-License-Identifier: Apache-2.0 */
/* Which control messages go to a node, by what it says that it can do: to one whose connection is up, and to one whose
 * connection is asked for and comes up later. */
#include "proc/fake.h"

#include <string.h>

#include "data/etf.h"
#include "data/extern_id.h"
#include "dist/dist.h"
#include "proc/node_monitor.h"
#include "proc/process_life.h"
#include "proc/registry.h"
#include "proc/seq_token.h"
#include "proc/spawn_opts.h"

enum { SENT_MAX = 3, BIG_LABEL = 1 << 27 };

/* Terms have no headers: they are read as they stand. */
#define ALL_FLAGS (~(DIST_HEADER_ATOM_CACHE | DIST_FRAGMENTS))
#define NO_WATCH (DIST_MONITOR | DIST_MONITOR_NAME)

static struct {
	Process *self;
	Term node, pid, ref;     /* of the other node */
} world;

static Term external(unsigned sub, unsigned count)
{
	struct extern_facts f = { { world.node, 1 }, false, count, { 7, 1, 1 } };

	return extern_id_put(unit_heap(), sub, &f);
}

static void start(void)
{
	Process *net_kernel;

	if (world.self != NULL)
		return;
	fake_init();
	registry_init();
	node_monitor_init();
	dist_init();
	net_kernel = fake_process();
	ck_assert(registry_register(am_net_kernel, net_kernel));
	ck_assert(dist_start(atom_from_text("here@unit"), 1));
	world.node = atom_from_text("there@unit");
	world.self = fake_process();
	world.pid = external(SUB_XPID, 2);
	world.ref = external(SUB_XREF, 3);
}

/* ---- what this node's process does */

static void set_label(int64_t label)
{
	seq_token_set(world.self, SEQ_TOKEN_LABEL, term_from_small(label));
}

static void act_link(void)
{
	link_add(world.self, world.pid, false);
}

static void act_unlink(void)
{
	link_add(world.self, world.pid, false);
	link_drop(world.self, world.pid);
}

static void act_answer_unlink(void)
{
	signal_send_plain(SIG_UNLINK_ACK, world.self->id, world.pid, SMALL(5));
}

static void act_monitor(void)
{
	struct monitor_options o = MONITOR_OPTIONS_DEFAULT;

	monitor_drop(world.self, monitor_add(world.self, world.pid, TERM_NONE, &o));
}

static void act_monitor_name(void)
{
	struct monitor_options o = MONITOR_OPTIONS_DEFAULT;

	monitor_drop(world.self, monitor_add_name(world.self, world.node, am_error, &o));
}

static void act_down(void)
{
	signal_send_reason(SIG_DOWN, world.self->id, world.pid, world.ref, am_normal);
}

static void act_exit(void)
{
	signal_exit(world.self, world.pid, am_kill, false);
}

static void act_link_exit(void)
{
	signal_link_exit(world.self, world.pid, am_kill);
}

static void act_link_exit_traced(void)
{
	set_label(17);
	act_link_exit();
}

static void act_link_exit_big_label(void)
{
	set_label(BIG_LABEL);
	act_link_exit();
}

static void act_send(void)
{
	message_send(world.self, world.pid, am_ok);
}

static void act_send_of_nobody(void)
{
	message_send(NULL, world.pid, am_ok);
}

static void act_send_name(void)
{
	message_send_any(world.self, heap_tuple(unit_heap(), am_error, world.node), am_ok);
}

static void act_send_alias(void)
{
	message_send_any(world.self, world.ref, am_ok);
}

static void act_send_traced(void)
{
	set_label(-17);
	act_send();
}

static void act_send_big_label(void)
{
	set_label(BIG_LABEL);
	act_send();
	set_label(-BIG_LABEL - 1);
	act_send_name();
}

static void act_send_alias_traced(void)
{
	set_label(BIG_LABEL - 1);
	act_send_alias();
}

static void act_send_alias_high(void)
{
	remote_send(world.self, world.ref, am_ok, REMOTE_HIGH);
}

static void act_send_alias_high_traced(void)
{
	set_label(17);
	act_send_alias_high();
}

static void act_exit_alias(void)
{
	signal_exit(world.self, world.ref, am_kill, true);
}

static void act_group_leader(void)
{
	dist_send_group_leader(world.self, world.self->id, world.pid);
}

static void act_spawn(void)
{
	struct spawn_request r = { .options = SPAWN_OPTIONS_DEFAULT, .reply = REPLY_SUCCESS | REPLY_ERROR,
				   .reply_tag = am_spawn_reply };
	Term mfa = heap_tuple(unit_heap(), am_erlang, am_apply, NIL), ref = heap_ref(unit_heap(), 0);

	dist_spawn(world.self, world.node, mfa, NIL, &r, ref);
}

static void act_spawn_traced(void)
{
	set_label(BIG_LABEL);
	act_spawn();
}

/* ---- what goes */

/* `lacks`: flags that the other node did not say. What is sent over a connection that is up, and over one that was
 * pending then: the numbers of the messages, 0 behind the last. */
static const struct row {
	const char *what;
	void (*act)(void);
	uint64_t lacks;
	unsigned up[SENT_MAX], pending[SENT_MAX];
} rows[] = {
	{ "link", act_link, 0, { 1 }, { 1 } },
	{ "link, to one that can do nothing", act_link, ALL_FLAGS, { 1 }, { 1 } },
	{ "unlink", act_unlink, 0, { 1, 35 }, { 1, 35 } },
	{ "unlink, old", act_unlink, DIST_UNLINK_ID, { 1, 4 }, { 1, 4 } },
	{ "answer to unlink", act_answer_unlink, 0, { 36 }, { 0 } },
	{ "answer to unlink, old", act_answer_unlink, DIST_UNLINK_ID, { 0 }, { 0 } },
	{ "monitor", act_monitor, 0, { 19, 20 }, { 19, 20 } },
	{ "monitor, none", act_monitor, NO_WATCH, { 0 }, { 0 } },
	{ "monitor, no names", act_monitor, DIST_MONITOR_NAME, { 0 }, { 0 } },
	{ "monitor, names only", act_monitor, DIST_MONITOR, { 0 }, { 0 } },
	{ "monitor a name", act_monitor_name, 0, { 19, 20 }, { 19, 20 } },
	{ "monitor a name, none", act_monitor_name, NO_WATCH, { 0 }, { 0 } },
	{ "down", act_down, 0, { 28 }, { 0 } },
	{ "down, in the tuple", act_down, DIST_EXIT_PAYLOAD, { 21 }, { 0 } },
	{ "down, none", act_down, NO_WATCH, { 0 }, { 0 } },
	{ "down, none, in the tuple", act_down, NO_WATCH | DIST_EXIT_PAYLOAD, { 0 }, { 0 } },
	{ "exit", act_exit, 0, { 26 }, { 8 } },
	{ "exit, in the tuple", act_exit, DIST_EXIT_PAYLOAD, { 8 }, { 8 } },
	{ "end of a linked one", act_link_exit, 0, { 24 }, { 0 } },
	{ "end of a linked one, in the tuple", act_link_exit, DIST_EXIT_PAYLOAD, { 3 }, { 0 } },
	{ "end of a linked one, traced", act_link_exit_traced, 0, { 25 }, { 0 } },
	{ "end of a linked one, traced, in the tuple", act_link_exit_traced, ALL_FLAGS, { 13 }, { 0 } },
	{ "end of a linked one, big label", act_link_exit_big_label, 0, { 25 }, { 0 } },
	{ "end of a linked one, big label, old", act_link_exit_big_label, DIST_BIG_SEQTRACE_LABELS, { 24 }, { 0 } },
	{ "send", act_send, 0, { 22 }, { 2 } },
	{ "send, old", act_send, DIST_SEND_SENDER, { 2 }, { 2 } },
	{ "send of nobody", act_send_of_nobody, 0, { 2 }, { 2 } },
	{ "send, traced", act_send_traced, 0, { 23 }, { 12 } },
	{ "send, traced, old", act_send_traced, ALL_FLAGS, { 12 }, { 12 } },
	{ "send, big label", act_send_big_label, 0, { 23, 16 }, { 2, 6 } },
	{ "send, big label, old", act_send_big_label, DIST_BIG_SEQTRACE_LABELS, { 22, 6 }, { 2, 6 } },
	{ "send to a name", act_send_name, ALL_FLAGS, { 6 }, { 6 } },
	{ "send to an alias", act_send_alias, 0, { 33 }, { 33 } },
	{ "send to an alias, traced", act_send_alias_traced, 0, { 34 }, { 34 } },
	{ "send to an alias, none", act_send_alias, DIST_ALIAS, { 0 }, { 0 } },
	{ "send to an alias, traced, none", act_send_alias_traced, DIST_ALIAS, { 0 }, { 0 } },
	{ "send to an alias with priority", act_send_alias_high, 0, { 37 }, { 33 } },
	{ "send to an alias with priority, traced", act_send_alias_high_traced, 0, { 37 }, { 34 } },
	{ "send to an alias with priority, old", act_send_alias_high, DIST_ALTACT_SIG, { 33 }, { 33 } },
	{ "exit to an alias", act_exit_alias, 0, { 37 }, { 37 } },
	{ "exit to an alias, none", act_exit_alias, DIST_ALTACT_SIG, { 0 }, { 0 } },
	{ "group leader", act_group_leader, ALL_FLAGS, { 7 }, { 7 } },
	{ "spawn", act_spawn, 0, { 29 }, { 29 } },
	{ "spawn, traced", act_spawn_traced, 0, { 30 }, { 30 } },
	{ "spawn, none", act_spawn, DIST_SPAWN, { 0 }, { 0 } },
};

static unsigned number_of(const struct dist_message *m)
{
	Term control;

	ck_assert_int_eq(etf_decode_to_heap(m->control->data, m->control->size_bytes, 0, unit_heap(), &control, NULL),
			 0);
	return (unsigned)small_value(tuple_get(control, 1));
}

static void check_sent(const struct row *r, const char *when, struct channel *c, const unsigned *wanted)
{
	struct dist_message *m;
	unsigned n = 0, number;

	while ((m = channel_take(c)) != NULL) {
		number = number_of(m);
		ck_assert_msg(n < SENT_MAX && wanted[n] == number, "%s, %s: %u is sent at place %u", r->what, when,
			      number, n);
		n++;
		channel_done(c, m);
	}
	ck_assert_msg(n == SENT_MAX || wanted[n] == 0, "%s, %s: %u is not sent", r->what, when, wanted[n]);
	ck_assert_uint_eq(c->queued_bytes, 0);
}

static void come_up(struct channel *c, const struct row *r)
{
	ck_assert(channel_connect(c, world.self->id, NULL, ALL_FLAGS & ~r->lacks));
	channel_tell_up(c);
}

/* The connection is lost, and with it what went over it. */
static void lose(struct channel *c)
{
	channel_down(c, am_noconnection);
	channel_unref(c);
	world.self->flags |= PF_TRAP_EXIT;
	ck_assert(signal_handle(world.self));
	world.self->seq_token = NIL;
}

START_TEST(test_sent_over_a_connection_that_is_up)
{
	const struct row *r = &rows[_i];
	struct channel *c;
	bool made;

	start();
	c = channel_open(world.node, &made);
	come_up(c, r);
	r->act();
	check_sent(r, "up", c, r->up);
	lose(c);
}
END_TEST

/* What is no wish of a connection does not open one: nothing goes. */
START_TEST(test_sent_over_a_connection_that_comes_up_later)
{
	const struct row *r = &rows[_i];
	struct channel *c;

	start();
	r->act();
	c = channel_find(world.node);
	if (c == NULL) {
		ck_assert_uint_eq(r->pending[0], 0);
		return;
	}
	come_up(c, r);
	check_sent(r, "pending", c, r->pending);
	lose(c);
}
END_TEST

/* Where a node does not answer an unlink, or a request to spawn, who asked hears at once. */
static void check_answered(void (*act)(void), uint64_t lacks)
{
	const struct row r = { .act = act, .lacks = lacks };
	struct channel *c;

	start();
	act();
	c = channel_find(world.node);
	come_up(c, &r);
	ck_assert(signal_handle(world.self));
	channel_unref(c);
}

START_TEST(test_an_old_unlink_is_done_at_once)
{
	check_answered(act_unlink, DIST_UNLINK_ID);
	ck_assert(peer_find(&world.self->links, world.pid) == NULL);
}
END_TEST

START_TEST(test_an_unlink_waits_for_its_answer)
{
	check_answered(act_unlink, 0);
	ck_assert(peer_find(&world.self->links, world.pid) != NULL);
}
END_TEST

START_TEST(test_a_request_to_spawn_is_refused)
{
	Term reply;

	check_answered(act_spawn, DIST_SPAWN);
	reply = fake_receive(world.self);
	ck_assert(term_is_tuple_of(reply, 4) && tuple_get(reply, 1) == am_spawn_reply &&
		  tuple_get(reply, 3) == am_error && tuple_get(reply, 4) == am_notsup);
}
END_TEST

/* A monitor that the other node hears nothing of watches the connection. */
START_TEST(test_a_monitor_watches_the_connection)
{
	struct monitor_options o = MONITOR_OPTIONS_DEFAULT;
	struct channel *c;
	bool made;
	Term down;

	start();
	c = channel_open(world.node, &made);
	come_up(c, &(struct row){ .lacks = NO_WATCH });
	monitor_add(world.self, world.pid, TERM_NONE, &o);
	ck_assert(channel_take(c) == NULL);
	lose(c);
	down = fake_receive(world.self);
	ck_assert(term_is_tuple_of(down, 5) && tuple_get(down, 1) == am_DOWN && tuple_get(down, 5) == am_noconnection);
}
END_TEST

/* Every message that this node may send is in some row, but for answers, and what no process here sends. */
START_TEST(test_every_message_has_a_row)
{
	static const unsigned others[] = { CONTROL_EXIT2_TT, CONTROL_PAYLOAD_EXIT2_TT, CONTROL_SPAWN_REPLY,
					   CONTROL_SPAWN_REPLY_TT };
	bool seen[64] = { false };

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		for (int k = 0; k < SENT_MAX; k++)
			seen[rows[i].up[k]] = true;
	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
		seen[others[i]] = true;
	for (unsigned n = 1; n < 64; n++)
		ck_assert_msg(seen[n] == (control_row(n)->arity > 0), "%u", n);
}
END_TEST

Suite *control_suite(void)
{
	Suite *s = suite_create("control");
	TCase *tc = tcase_create("flags");
	int n = (int)(sizeof(rows) / sizeof(rows[0]));

	tcase_add_loop_test(tc, test_sent_over_a_connection_that_is_up, 0, n);
	tcase_add_loop_test(tc, test_sent_over_a_connection_that_comes_up_later, 0, n);
	tcase_add_test(tc, test_an_old_unlink_is_done_at_once);
	tcase_add_test(tc, test_an_unlink_waits_for_its_answer);
	tcase_add_test(tc, test_a_request_to_spawn_is_refused);
	tcase_add_test(tc, test_a_monitor_watches_the_connection);
	tcase_add_test(tc, test_every_message_has_a_row);
	suite_add_tcase(s, tc);
	return s;
}
