/* SPDX-License-Identifier: Apache-2.0 */
/* Links, monitors, aliases. Invariant: a monitor's node is ours, its watcher's node the target's; each end changes its
 * own alone and tells the other by a signal. */
#include "proc/monitor.h"

#include "base/alloc.h"
#include "proc/probe.h"
#include "proc/remote.h"
#include "proc/request.h"
#include "proc/sched.h"
#include "proc/tracee.h"
#include "term/node.h"

/* ---- links */

/* An exit signal, as from a link that was there for a moment. */
static void refuse_link(Process *p, Term to, Term reason)
{
	struct peer *n = peer_find(&p->links, to);

	if (n == NULL)
		peer_insert(&p->links, PEER_LINK, to, to, TERM_NONE);
	else
		n->unlink_id = 0;
	signal_send_reason(SIG_LINK_EXIT, to, p->id, TERM_NONE, reason);
}

bool link_add(Process *p, Term to, bool priority)
{
	struct peer *n;

	if (trace_wants(p, TRACE_PROCS))
		trace_hooks.event(p, am_link, to);
	if (to == p->id)
		return true;
	n = peer_find(&p->links, to);
	if (n != NULL)
		n->priority = priority;
	if (n != NULL && n->unlink_id == 0)
		return true;
	if (n == NULL)
		n = peer_insert(&p->links, PEER_LINK, to, to, TERM_NONE);
	n->unlink_id = 0;
	n->priority = priority;
	if (trace_wants(p, TRACE_SET_ON_LINK | TRACE_SET_ON_FIRST_LINK))
		trace_hooks.linked(p, to);
	n->connection = 0;
	if (signal_send_pair(SIG_LINK, p->id, to, TERM_NONE, &n->connection))
		return true;
	if (node_of(to).name != node_self().name) {
		refuse_link(p, to, am_noconnection);
		return true;
	}
	if (p->flags & PF_TRAP_EXIT) {
		refuse_link(p, to, am_noproc);
		return true;
	}
	peer_remove(&p->links, n);
	return false;
}

void link_drop(Process *p, Term to)
{
	static _Atomic uint32_t ids;
	struct peer *n = peer_find(&p->links, to);

	if (trace_wants(p, TRACE_PROCS))
		trace_hooks.event(p, am_unlink, to);
	if (n == NULL || n->unlink_id != 0)
		return;
	do
		n->unlink_id = atomic_fetch_add(&ids, 1);
	while (n->unlink_id == 0);
	if (!signal_send_plain(SIG_UNLINK, p->id, to, SMALL((uint64_t)n->unlink_id)))
		peer_remove(&p->links, n);
}

void link_add_child(Process *p, Process *child, bool priority)
{
	peer_insert(&p->links, PEER_LINK, child->id, child->id, TERM_NONE)->priority = priority;
	peer_insert(&child->links, PEER_LINK, p->id, p->id, TERM_NONE);
}

/* ---- monitors */

static struct peer *insert_monitor(Process *p, Term to, Term name, const struct monitor_options *o, Term *ref)
{
	uint64_t tag = o->alias != ALIAS_NONE ? p->id : 0;
	struct peer *n;

	*ref = heap_ref(&p->heap, tag);
	n = peer_insert(&p->monitors, PEER_MONITOR, *ref, to, o->tag);
	n->name = name;
	n->alias = o->alias;
	n->port = o->port;
	n->priority = o->priority;
	return n;
}

/* 'DOWN' by a signal to ourselves: it comes after whatever is on its way. */
static void refuse_monitor(Process *p, Term to, Term ref, Term reason)
{
	signal_send_reason(SIG_DOWN, to, p->id, ref, reason);
}

static bool is_of_another_node(Term id)
{
	return !term_is_atom(id) && node_of(id).name != node_self().name;
}

Term monitor_add(Process *p, Term to, Term name, const struct monitor_options *o)
{
	struct peer *n;
	bool foreign;
	Term ref;

	/* One of ourselves never fires: only its alias counts. */
	if (to == p->id)
		return o->alias != ALIAS_NONE ? monitor_alias_add(p, o->alias, o->priority) : heap_ref(&p->heap, 0);
	n = insert_monitor(p, to, name, o, &ref);
	foreign = is_of_another_node(to);
	if ((!foreign && !term_is_local_pid(to) && !term_is_local_port(to)) ||
	    !signal_send_monitor(p->id, to, name, ref, &n->connection))
		refuse_monitor(p, to, ref, foreign ? am_noconnection : am_noproc);
	return ref;
}

Term monitor_add_name(Process *p, Term node, Term name, const struct monitor_options *o)
{
	struct peer *n;
	Term ref;

	n = insert_monitor(p, node, name, o, &ref);
	n->at_node = true;
	if (!remote_monitor_name(p, node, name, ref, &n->connection))
		refuse_monitor(p, node, ref, am_noconnection);
	return ref;
}

Term monitor_add_child(Process *p, Process *child, const struct monitor_options *o)
{
	Term ref;

	insert_monitor(p, child->id, TERM_NONE, o, &ref);
	peer_insert(&child->monitored_by, PEER_WATCHER, ref, p->id, TERM_NONE);
	return ref;
}

Term monitor_add_time_offset(Process *p)
{
	Term ref = heap_ref(&p->heap, 0);

	peer_insert(&p->monitors, PEER_TIME_OFFSET, ref, TERM_NONE, TERM_NONE);
	return ref;
}

static void send_demonitor(Process *p, const struct peer *n)
{
	Term words[REF_WORDS];

	if (n->kind != PEER_MONITOR || n->peer == p->id)
		return;
	if (n->at_node)
		remote_demonitor_name(p, n);
	else
		signal_send_plain(SIG_DEMONITOR, p->id, n->peer, peer_ref(n, words));
}

void monitor_drop_node(Process *p, struct peer *n)
{
	send_demonitor(p, n);
	peer_remove(&p->monitors, n);
}

/* An explicit alias outlives its monitor. */
static void keep_alias_only(Process *p, struct peer *n)
{
	if (n->alias == ALIAS_EXPLICIT)
		n->kind = PEER_ALIAS;
	else
		peer_remove(&p->monitors, n);
}

bool monitor_drop(Process *p, Term ref)
{
	struct peer *n = peer_find(&p->monitors, ref);

	/* A request to spawn will be a monitor once there is somebody to watch. */
	if (n == NULL || n->kind == PEER_ALIAS || n->kind == PEER_SPAWN)
		return false;
	if (PROBE_ON(request__step))
		request_ended(p, ref);
	send_demonitor(p, n);
	keep_alias_only(p, n);
	return true;
}

void monitor_fired(Process *p, struct peer *n)
{
	keep_alias_only(p, n);
}

Term monitor_alias_add(Process *p, enum peer_alias how, bool priority)
{
	Term ref = heap_ref(&p->heap, p->id);
	struct peer *n = peer_insert(&p->monitors, PEER_ALIAS, ref, TERM_NONE, TERM_NONE);

	n->alias = (uint8_t)how;
	n->priority = priority;
	return ref;
}

bool monitor_alias_drop(Process *p, Term ref)
{
	struct peer *n = peer_find(&p->monitors, ref);

	if (n == NULL || n->alias == ALIAS_NONE)
		return false;
	n->alias = ALIAS_NONE;
	if (n->kind == PEER_ALIAS)
		peer_remove(&p->monitors, n);
	return true;
}

/* ---- the exit */

static void end_links(Process *p, Term reason)
{
	struct peer *n = peer_take_all(&p->links);

	while (n != NULL) {
		struct peer *next = n->next;

		if (n->unlink_id == 0)
			signal_link_exit(p, n->peer, reason);
		peer_free(n);
		sched_end_pause();
		n = next;
	}
}

static void end_watchers(Process *p, Term reason)
{
	struct peer *n = peer_take_all(&p->monitored_by);
	Term words[REF_WORDS];

	while (n != NULL) {
		struct peer *next = n->next;
		/* one of this node knows the name itself */
		bool is_by_name = n->connection != 0 && n->name != TERM_NONE;

		signal_send_reason(SIG_DOWN, is_by_name ? n->name : p->id, n->peer, peer_ref(n, words), reason);
		peer_free(n);
		sched_end_pause();
		n = next;
	}
}

static void end_monitors(Process *p)
{
	struct peer *n = peer_take_all(&p->monitors);
	Term words[REF_WORDS];

	while (n != NULL) {
		struct peer *next = n->next;

		if (n->kind == PEER_SUSPENDING)
			for (uint32_t i = 0; i < n->count; i++)
				signal_send_plain(SIG_RESUME, p->id, n->peer, TERM_NONE);
		if (PROBE_ON(request__step) && n->kind == PEER_MONITOR)
			request_left(p, peer_ref(n, words));
		send_demonitor(p, n);
		peer_free(n);
		sched_end_pause();
		n = next;
	}
}

void monitor_exit(Process *p, Term reason)
{
	end_links(p, reason);
	end_watchers(p, reason);
	end_monitors(p);
}
