/* SPDX-License-Identifier: Apache-2.0 */
/* Built-in functions behind net_kernel, dist_util and the controllers of connections. */
#include <string.h>

#include "base/alloc.h"
#include "bif/proc/process_call.h"
#include "data/binary.h"
#include "data/iolist.h"
#include "data/number.h"
#include "dist/control.h"
#include "dist/dist.h"
#include "dist/dist_probe.h"
#include "dist/dist_packet.h"
#include "heap/copy.h"
#include "io/port_ask.h"
#include "proc/registry.h"
#include "term/node.h"

/* What every node of OTP 25 can do, and we count on. */
#define MANDATORY                                                                                                 \
	(DIST_EXTENDED_REFERENCES | DIST_FUN_TAGS | DIST_EXTENDED_PIDS_PORTS | DIST_UTF8_ATOMS | DIST_NEW_FUN_TAGS | \
	 DIST_BIG_CREATION | DIST_NEW_FLOATS | DIST_MAP_TAG | DIST_EXPORT_PTR_TAG | DIST_BIT_BINARIES |             \
	 DIST_HANDSHAKE_23)
/* What this node can do. */
#define OFFERED                                                                                                   \
	(MANDATORY | DIST_MONITOR | DIST_MONITOR_NAME | DIST_UNICODE_IO | DIST_SMALL_ATOM_TAGS | DIST_SEND_SENDER |  \
	 DIST_BIG_SEQTRACE_LABELS | DIST_EXIT_PAYLOAD | DIST_SPAWN | DIST_V4_NC | DIST_ALIAS | DIST_UNLINK_ID |     \
	 DIST_MANDATORY_25_DIGEST | DIST_HEADER_ATOM_CACHE | DIST_FRAGMENTS)
#define OFFERED_NOW (OFFERED | (release_has_priority_messages() ? DIST_ALTACT_SIG : 0))
/* What a controller may refuse, and what needs messages to stay in their order. */
#define REJECTABLE (DIST_HEADER_ATOM_CACHE | DIST_FRAGMENTS | DIST_ATOM_CACHE | DIST_HIDDEN_ATOM_CACHE)
#define STRICT_ORDER DIST_HEADER_ATOM_CACHE

Term bif_erts_internal_get_dflags_0(Process *p, Term *args)
{
	struct heap *h = &p->heap;

	(void)args;
	return heap_tuple(h, am_erts_dflags, heap_uint(h, OFFERED_NOW), heap_uint(h, MANDATORY),
			  heap_uint(h, OFFERED_NOW), heap_uint(h, REJECTABLE), heap_uint(h, STRICT_ORDER));
}

static bool read_creation(Term t, uint32_t *creation)
{
	uint64_t n;

	if (!num_get_uint64(t, &n) || n > UINT32_MAX)
		return false;
	*creation = (uint32_t)n;
	return true;
}

Term bif_erlang_setnode_2(Process *p, Term *args)
{
	uint32_t creation;

	if (!read_creation(args[1], &creation) || !dist_is_node_name(args[0]) || !dist_start(args[0], creation))
		return exc_badarg(p);
	return am_true;
}

/* ---- connections */

Term bif_erts_internal_new_connection_1(Process *p, Term *args)
{
	struct channel *c;
	Term handle;
	bool made;

	if (!dist_is_node_name(args[0]) || args[0] == node_self().name)
		return exc_badarg(p);
	c = channel_open(args[0], &made);
	handle = dist_handle(&p->heap, c);
	channel_unref(c);
	return handle;
}

/* Did it end a pending one, or find none? False: it is up. */
Term bif_erts_internal_abort_pending_connection_2(Process *p, Term *args)
{
	struct channel *c;
	bool up;

	if (!term_is_atom(args[0]) || !term_is_tuple_of(args[1], 2) || tuple_get(args[1], 2) != args[0])
		return exc_badarg(p);
	c = dist_from_handle(args[1]);
	if (c == NULL)
		return am_true;
	lock_acquire(&c->lock);
	up = c->state == CHANNEL_UP;
	lock_release(&c->lock);
	if (!up)
		channel_down(c, am_noconnection);
	channel_unref(c);
	return term_from_bool(!up);
}

/* What a controller is to take over. Owns: a reference to the channel. */
struct new_channel {
	struct channel *channel;
	uint64_t flags;
	Term setup_pid;
};

/* The port is held. Frees n. */
static Term take_port(struct port *port, struct heap *h, Term arg)
{
	struct new_channel *n = (struct new_channel *)arg;
	Term result = am_badarg;

	if (dist_take_port(port, n->channel, n->flags, n->setup_pid))
		result = heap_tuple(h, am_ok, dist_handle(h, n->channel));
	channel_unref(n->channel);
	mem_free(n);
	return result;
}

static Term connect_port(Process *p, Term id, struct new_channel *n)
{
	struct port *port = port_find(id);

	if (port != NULL && port->state == PORT_OPEN)
		return port_ask(p, port, take_port, (Term)n, am_badarg);
	if (port != NULL)
		port_unref(port);
	channel_unref(n->channel);
	mem_free(n);
	return am_badarg;
}

/* On the controller. items: connection, flags, who sets it up. */
static Term take_process(Process *p, struct process_call *call)
{
	struct channel *c = p != NULL ? channel_find_id((uint32_t)small_value(call->items[0])) : NULL;
	Term result = am_badarg;

	if (c == NULL)
		return am_badarg;
	if (dist_take_process(p, c, (uint64_t)small_value(call->items[1]), call->items[2]))
		result = dist_handle(&p->heap, c);
	channel_unref(c);
	return result;
}

static Term connect_process(Process *p, Term pid, struct new_channel *n)
{
	struct channel *c = n->channel;
	Term ref = TERM_NONE, result = am_badarg;

	if (pid == p->id) {
		if (dist_take_process(p, c, n->flags, p->id))
			result = heap_tuple(&p->heap, am_ok, dist_handle(&p->heap, c));
	} else {
		struct process_call *call;

		ref = heap_ref(&p->heap, 0);
		call = process_call_new(take_process, p->id, ref, 3);
		call->items[0] = SMALL((uint64_t)c->id);
		call->items[1] = SMALL(n->flags);
		call->items[2] = p->id;
		process_call_send(pid, call);
		result = heap_tuple(&p->heap, am_message, ref);
	}
	channel_unref(c);
	mem_free(n);
	return result;
}

/* args: node, port or pid, {Flags, Creation} */
Term bif_erts_internal_create_dist_channel_3(Process *p, Term *args)
{
	struct new_channel *n;
	uint32_t creation;
	uint64_t flags;
	struct channel *c;

	if (!dist_is_alive() || !dist_is_node_name(args[0]) || !term_is_tuple_of(args[2], 2) ||
	    !num_get_uint64(tuple_get(args[2], 1), &flags) || !read_creation(tuple_get(args[2], 2), &creation) ||
	    (flags & MANDATORY) != MANDATORY || flags > (uint64_t)SMALL_MAX)
		return am_badarg;
	if (!term_is_local_port(args[1]) && !term_is_local_pid(args[1]))
		return am_badarg;
	c = channel_find(args[0]);
	if (c == NULL)
		return am_badarg;
	atomic_store(&c->creation, creation);
	n = mem_alloc(sizeof(*n));
	*n = (struct new_channel){ c, flags & (OFFERED_NOW | DIST_PUBLISHED | DIST_NAME_ME), p->id };
	return term_is_local_port(args[1]) ? connect_port(p, args[1], n) : connect_process(p, args[1], n);
}

/* ---- what a process that carries a connection does */

/* Owns: the caller. Fails: NULL, badarg. */
static struct channel *find_own(Process *p, Term handle)
{
	struct channel *c = dist_from_handle(handle);

	if (c == NULL || c->controller == p->id)
		return c;
	channel_unref(c);
	return NULL;
}

Term bif_erlang_dist_get_stat_1(Process *p, Term *args)
{
	struct channel *c = dist_from_handle(args[0]);
	struct heap *h = &p->heap;
	Term t;

	if (c == NULL)
		return exc_badarg(p);
	t = heap_tuple(h, am_ok, heap_uint(h, atomic_load(&c->received)), heap_uint(h, atomic_load(&c->sent)),
		       heap_uint(h, c->queued_bytes));
	channel_unref(c);
	return t;
}

Term bif_erlang_dist_ctrl_input_handler_2(Process *p, Term *args)
{
	struct channel *c = term_is_local_pid(args[1]) ? find_own(p, args[0]) : NULL;

	if (c == NULL)
		return exc_badarg(p);
	channel_unref(c);
	return am_ok;
}

Term bif_erlang_dist_ctrl_put_data_2(Process *p, Term *args)
{
	struct channel *c = dist_from_handle(args[0]);
	Term controller;
	uint8_t *bytes;
	size_t n;
	bool ok;

	bytes = c != NULL ? iolist_to_bytes(args[1], &n) : NULL;
	if (bytes == NULL) {
		if (c != NULL)
			channel_unref(c);
		return exc_badarg(p);
	}
	ok = dist_receive(c, bytes, n);
	mem_free(bytes);
	controller = c->controller;
	channel_unref(c);
	if (!ok)
		signal_send_reason(SIG_EXIT, controller, controller, TERM_NONE, am_kill);
	return am_ok;
}

/* n bytes of b, which are shared where they are many. */
static Term put_counted(struct heap *h, struct binary *b, const uint8_t *bytes, size_t n)
{
	if (n <= HEAPBIN_LIMIT)
		return binary_put(h, bytes, n);
	binary_ref(b);
	return refbin_put_part(h, b, bytes, n);
}

Term bif_erlang_dist_ctrl_get_data_1(Process *p, Term *args)
{
	struct channel *c = find_own(p, args[0]);
	struct heap *h = &p->heap;
	struct dist_packet packet;
	Term data = NIL;

	if (c == NULL)
		return exc_badarg(p);
	if (!dist_packet_take(c, &packet)) {
		channel_unref(c);
		return am_none;
	}
	for (unsigned i = packet.part_count; i-- > 0;)
		data = heap_cons(h, put_counted(h, packet.parts[i].binary, packet.parts[i].bytes,
						packet.parts[i].size_bytes), data);
	data = heap_cons(h, binary_put(h, packet.head, packet.head_bytes), data);
	if (PROBE_ON(dist__outputv))
		probe_dist__outputv(c, packet.size_bytes);
	if (c->get_size)
		data = heap_tuple(h, heap_uint(h, packet.size_bytes), data);
	dist_packet_done(c, &packet);
	channel_unref(c);
	return data;
}

Term bif_erlang_dist_ctrl_get_data_notification_1(Process *p, Term *args)
{
	struct channel *c = find_own(p, args[0]);
	bool now;

	if (c == NULL)
		return exc_badarg(p);
	lock_acquire(&c->lock);
	now = channel_has_output(c);
	c->tell_data = !now;
	lock_release(&c->lock);
	channel_unref(c);
	if (now)
		message_send(NULL, p->id, am_dist_data);
	return am_ok;
}

Term bif_erlang_dist_ctrl_get_opt_2(Process *p, Term *args)
{
	struct channel *c = args[1] == am_get_size ? find_own(p, args[0]) : NULL;
	bool value;

	if (c == NULL)
		return exc_badarg(p);
	value = c->get_size;
	channel_unref(c);
	return term_from_bool(value);
}

Term bif_erlang_dist_ctrl_set_opt_3(Process *p, Term *args)
{
	struct channel *c = args[1] == am_get_size && (args[2] == am_true || args[2] == am_false) ?
			    find_own(p, args[0]) : NULL;
	bool before;

	if (c == NULL)
		return exc_badarg(p);
	before = c->get_size;
	c->get_size = args[2] == am_true;
	channel_unref(c);
	return term_from_bool(before);
}
