/* SPDX-License-Identifier: Apache-2.0 */
/* Built-in functions: who is linked to whom and who monitors whom, as erts_debug:get_internal_state tells it: records
 * {erl_link, Type, Pid, State, Id} and {erl_monitor, Type, Direction, Ref, Pid, Extra} of a process, a port, or the
 * connection to a node. What goes over a connection is told of the connection as well, as of its other end: the same Id
 * stands at both. Left out are monitors by native functions, and the suspended process's end of a suspension. */
#include "bif/bif.h"
#include "bif/system/bif_info.h"
#include "bif/proc/process_call.h"
#include "dist/channel.h"
#include "dist/dist.h"
#include "heap/copy.h"
#include "io/port.h"
#include "io/port_ask.h"
#include "proc/message.h"
#include "proc/process_walk.h"
#include "proc/sched.h"
#include "term/node.h"

enum { SEEN_AT_ONCE = 1 << 10 };

/* What is told of each peer of a process, or of those of all processes that have to do with a node. */
struct peer_list {
	struct heap *h;
	Term list;
	Term pid;            /* of a connection: whose peers these are */
	Term node;           /* and to which node it goes */
	uint32_t connection; /* and its number */
};

static void tell_link(struct peer_list *l, Term type, Term other, bool unlinking, const void *id)
{
	Term record = heap_tuple(l->h, am_erl_link, type, copy_to_heap(other, l->h),
				 unlinking ? am_unlinking : am_linked, heap_uint(l->h, (uintptr_t)id));

	l->list = heap_cons(l->h, record, l->list);
}

static void tell_monitor(struct peer_list *l, Term type, Term direction, Term ref, Term other, Term extra)
{
	Term record = heap_tuple(l->h, am_erl_monitor, type, direction, copy_to_heap(ref, l->h),
				 copy_to_heap(other, l->h), extra != TERM_NONE ? extra : NIL);

	l->list = heap_cons(l->h, record, l->list);
}

static Term type_of(const struct peer *n)
{
	return n->connection != 0 ? am_dist_process : n->port || term_is_port(n->peer) ? am_port : am_process;
}

static void see_link(const struct peer *n, void *arg)
{
	tell_link(arg, type_of(n), n->peer, n->unlink_id != 0, n);
}

static void see_monitor(const struct peer *n, void *arg)
{
	Term words[REF_WORDS];

	switch ((enum peer_kind)n->kind) {
	case PEER_MONITOR: tell_monitor(arg, type_of(n), am_origin, peer_ref(n, words), n->peer, n->name); break;
	case PEER_WATCHER: tell_monitor(arg, type_of(n), am_target, peer_ref(n, words), n->peer, n->name); break;
	case PEER_TIME_OFFSET:
		tell_monitor(arg, am_time_offset, am_origin, peer_ref(n, words), am_clock_service, TERM_NONE);
		break;
	case PEER_SUSPENDING: tell_monitor(arg, am_suspend, am_origin, NIL, n->peer, TERM_NONE); break;
	case PEER_NODE: tell_monitor(arg, am_node, am_origin, NIL, n->peer, SMALL(n->count)); break;
	case PEER_LINK:
	case PEER_ALIAS:
	case PEER_SPAWN: break;
	}
}

static Term tell_links(Process *p)
{
	struct peer_list l = { .h = &p->heap, .list = NIL };

	peer_each(&p->links, see_link, &l);
	return l.list;
}

static Term tell_monitors(Process *p)
{
	struct peer_list l = { .h = &p->heap, .list = NIL };

	peer_each(&p->monitors, see_monitor, &l);
	peer_each(&p->monitored_by, see_monitor, &l);
	return l.list;
}

/* ---- of a process: it tells itself, after what others have sent it before */

static Term answer_links(Process *p, struct process_call *c)
{
	(void)c;
	return p != NULL ? tell_links(p) : am_undefined;
}

static Term answer_monitors(Process *p, struct process_call *c)
{
	(void)c;
	return p != NULL ? tell_monitors(p) : am_undefined;
}

static Term ask_process(Process *p, Term pid, Term (*tell)(Process *p), process_call_fn answer)
{
	struct process_call *c;
	Term ref;

	if (pid == p->id) {
		if ((atomic_load(&p->state) & PS_SIGNALS) && !signal_handle_now(p))
			return TERM_NONE;
		return tell(p);
	}
	ref = heap_ref(&p->heap, 0);
	c = process_call_new(answer, p->id, ref, 0);
	c->leaves_nothing = true;
	return process_call_await(p, pid, c, ref);
}

/* ---- of a port */

static Term look_at_links(struct port *port, struct heap *h, Term arg)
{
	struct peer_list l = { .h = h, .list = NIL };

	(void)arg;
	for (size_t i = 0; i < port->link_count; i++)
		tell_link(&l, am_port, port->links[i], false, port);
	return l.list;
}

static Term ask_port(Process *p, Term id)
{
	struct port *port = port_find(id);

	return port != NULL ? port_ask(p, port, look_at_links, NIL, am_undefined) : am_undefined;
}

/* ---- of the connection to a node */

static void see_link_over(const struct peer *n, void *arg)
{
	struct peer_list *l = arg;

	if (n->connection == l->connection)
		tell_link(l, am_dist_process, l->pid, n->unlink_id != 0, n);
}

static void see_monitor_over(const struct peer *n, void *arg)
{
	struct peer_list *l = arg;
	Term words[REF_WORDS];

	if (n->kind == PEER_NODE && n->peer == l->node)
		tell_monitor(l, am_node, am_target, NIL, l->pid, TERM_NONE);
	else if (n->kind == PEER_MONITOR && n->connection == l->connection)
		tell_monitor(l, am_dist_process, am_target, peer_ref(n, words), l->pid, n->name);
	else if (n->kind == PEER_WATCHER && n->connection == l->connection)
		tell_monitor(l, am_dist_process, am_origin, peer_ref(n, words), l->pid, n->name);
}

static void see_links_of(Process *p, void *arg)
{
	struct peer_list *l = arg;

	l->pid = p->id;
	peer_each(&p->links, see_link_over, l);
}

static void see_monitors_of(Process *p, void *arg)
{
	struct peer_list *l = arg;

	l->pid = p->id;
	peer_each(&p->monitors, see_monitor_over, l);
	peer_each(&p->monitored_by, see_monitor_over, l);
}

/* Each process as it is at a moment of its own. */
static Term ask_node(Process *p, Term node, void (*see)(Process *of, void *arg))
{
	struct channel *c = channel_find(node);
	struct peer_list l = { .h = &p->heap, .list = NIL, .node = node };

	if (c == NULL)
		return node == node_self().name ? NIL : am_undefined;
	l.connection = c->id;
	channel_unref(c);
	process_each_in_parts(SEEN_AT_ONCE, see, &l);
	return l.list;
}

static bool is_node(Term of) { return term_is_atom(of) && dist_is_node_name(of); }

Term debug_link_list(Process *p, Term of)
{
	if (term_is_local_pid(of))
		return ask_process(p, of, tell_links, answer_links);
	if (term_is_local_port(of))
		return ask_port(p, of);
	return is_node(of) ? ask_node(p, of, see_links_of) : TERM_NONE;
}

Term debug_monitor_list(Process *p, Term of)
{
	if (term_is_local_pid(of))
		return ask_process(p, of, tell_monitors, answer_monitors);
	return is_node(of) ? ask_node(p, of, see_monitors_of) : TERM_NONE;
}
