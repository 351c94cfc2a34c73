/* SPDX-License-Identifier: Apache-2.0 */
/* What a process here has to do with processes of other nodes. */
#include "proc/remote.h"

#include "heap/copy.h"
#include "proc/monitor.h"
#include "proc/probe.h"
#include "proc/request.h"
#include "proc/tracee.h"
#include "term/node.h"
#include "usdt.h"

struct remote_hooks remote_hooks;

bool remote_signal(Term node, Term to, struct signal *s, uint32_t *connection)
{
	if (remote_hooks.signal != NULL && node != node_self().name)
		return remote_hooks.signal(node, to, s, connection);
	signal_free(s);
	return false;
}

enum remote_result remote_send(Process *from, Term to, Term message, unsigned flags)
{
	if (PROBE_ON(request__step))
		request_sent(from, to, message);
	return remote_hooks.send != NULL ? remote_hooks.send(from, to, message, flags) : REMOTE_NOT_CONNECTED;
}

/* ---- monitors by name */

static struct signal *make_by_ref(enum signal_kind kind, Term from, Term ref)
{
	struct signal *s = signal_new_words(kind, peer_id_words(ref), 0);
	Term *top = s->fragment->words;

	s->from = from;
	s->ref = peer_put_id(ref, &top, &s->fragment->off_heap);
	return s;
}

bool remote_monitor_name(Process *p, Term node, Term name, Term ref, uint32_t *connection)
{
	return remote_signal(node, name, make_by_ref(SIG_MONITOR, p->id, ref), connection);
}

void remote_demonitor_name(Process *p, const struct peer *n)
{
	Term words[REF_WORDS];

	remote_signal(n->peer, n->name, make_by_ref(SIG_DEMONITOR, p->id, peer_ref(n, words)), NULL);
}

/* ---- watched nodes */

static void tell_down(Process *p, Term name, uint32_t times)
{
	Term words[3] = { HEADER(2, SUB_TUPLE), am_nodedown, name };

	while (times-- > 0) {
		struct signal *s = signal_new_words(SIG_MESSAGE, 3, 0);

		term_copy(s->fragment->words, words, 3);
		s->term = term_from_boxed(s->fragment->words);
		s->words = 3;
		s->from = TERM_NONE;
		s->token = am_undefined;
		if (PROBE_ON(message__arrive))
			probe_message__arrive(p->id, MESSAGE_FROM_EXIT, true);
		signal_queue_own(p, s);
	}
}

void remote_tell_node_down(Process *p, struct peer *n)
{
	Term name = n->peer;
	uint32_t times = n->count;

	peer_remove(&p->monitors, n);
	tell_down(p, name, times);
}

void remote_watch_node(Process *p, Term name, uint32_t connection)
{
	struct peer *n = peer_find_node(&p->monitors, name);

	/* The loss of an earlier one is on its way to us. */
	if (n != NULL && n->connection != connection) {
		remote_tell_node_down(p, n);
		n = NULL;
	}
	if (n == NULL)
		n = peer_insert(&p->monitors, PEER_NODE, name, name, TERM_NONE);
	n->connection = connection;
	n->count++;
}

void remote_unwatch_node(Process *p, Term name)
{
	struct peer *n = peer_find_node(&p->monitors, name);

	if (n != NULL && --n->count == 0)
		peer_remove(&p->monitors, n);
}

/* ---- answers to requests to spawn */

/* {ReplyTag, Ref, ok | error, What}, with the token that the answer brought (am_undefined: none was brought). */
static void reply(Process *p, Term tag, Term ref, Term result, Term what, Term token)
{
	Term message = heap_tuple(&p->heap, tag, ref, result, what);
	size_t words = copy_size_words(message);
	struct signal *s = signal_new_words(SIG_MESSAGE, words + copy_size_words(token), 0);
	Term *top = s->fragment->words;

	s->term = copy_term(message, &top, &s->fragment->off_heap);
	s->words = words;
	s->from = TERM_NONE;
	s->token = copy_term(token, &top, &s->fragment->off_heap);
	signal_queue_own(p, s);
}

static void fail_spawn(Process *p, struct peer *n, Term reason, Term token)
{
	bool wanted = n->wishes & REMOTE_WANTS_ERROR;
	Term words[REF_WORDS], ref = copy_to_heap(peer_ref(n, words), &p->heap);
	Term tag = copy_to_heap(tuple_get(n->tag, 1), &p->heap);

	peer_remove(&p->monitors, n);
	if (wanted)
		reply(p, tag, ref, am_error, reason, token);
}

void remote_fail_spawn(Process *p, struct peer *n, Term reason)
{
	fail_spawn(p, n, reason, am_undefined);
}

/* The entry becomes that of the monitor, when there is one. */
static void settle_monitor(Process *p, struct peer *n, Term ref, Term child, uint32_t connection)
{
	bool monitors = n->wishes & REMOTE_WANTS_MONITOR;
	Term tag = tuple_get(n->tag, 2);
	uint8_t alias = n->alias;
	bool priority = n->priority;

	tag = tag == NIL ? TERM_NONE : copy_to_heap(cons_head(tag), &p->heap);
	peer_remove(&p->monitors, n);
	if (!monitors)
		return;
	n = peer_insert(&p->monitors, PEER_MONITOR, ref, child, tag);
	n->name = TERM_NONE;
	n->alias = alias;
	n->priority = priority;
	n->connection = connection;
}

static void take_link(Process *p, Term child, uint32_t connection)
{
	struct peer *n = peer_find(&p->links, child);

	if (n == NULL)
		n = peer_insert(&p->links, PEER_LINK, child, child, TERM_NONE);
	n->unlink_id = 0;
	n->connection = connection;
	if (trace_wants(p, TRACE_PROCS))
		trace_hooks.event(p, am_link, child);
}

/* Nobody waits for the child: what it has to do with the parent ends. */
static void refuse_child(Term parent, const struct signal *s, Term reason)
{
	Term child = tuple_get(s->term, 1), flags = tuple_get(s->term, 2);

	if (!term_is_pid(child))
		return;
	if (small_value(flags) & REMOTE_SPAWN_MONITORED)
		signal_send_plain(SIG_DEMONITOR, parent, child, s->ref);
	if (small_value(flags) & REMOTE_SPAWN_LINKED)
		signal_send_reason(SIG_LINK_EXIT, parent, child, TERM_NONE, reason);
}

void remote_spawned_for_nobody(Term parent, const struct signal *s)
{
	refuse_child(parent, s, am_noproc);
}

void remote_spawned(Process *p, struct signal *s)
{
	struct peer *n = peer_find(&p->monitors, s->ref);
	Term result = tuple_get(s->term, 1), ref, tag;
	bool wanted;

	if (n == NULL || n->kind != PEER_SPAWN || n->connection != s->connection) {
		refuse_child(p->id, s, am_abandoned);
		signal_free(s);
		return;
	}
	if (!term_is_pid(result)) {
		fail_spawn(p, n, result, s->token);
		signal_free(s);
		return;
	}
	wanted = n->wishes & REMOTE_WANTS_OK;
	ref = copy_to_heap(s->ref, &p->heap);
	tag = copy_to_heap(tuple_get(n->tag, 1), &p->heap);
	settle_monitor(p, n, ref, result, s->connection);
	if (small_value(tuple_get(s->term, 2)) & REMOTE_SPAWN_LINKED)
		take_link(p, result, s->connection);
	if (wanted)
		reply(p, tag, ref, am_ok, copy_to_heap(result, &p->heap), s->token);
	signal_free(s);
}

bool remote_abandon_spawn(Process *p, Term ref)
{
	struct peer *n = peer_find(&p->monitors, ref);

	if (n == NULL || n->kind != PEER_SPAWN)
		return false;
	peer_remove(&p->monitors, n);
	return true;
}
