/* SPDX-License-Identifier: Apache-2.0 */
/* This node's own part: its name, the controllers of its connections, the end of both.
 * Invariant: this node has a name while the process that was net_kernel at dist_start lives. */
#include "dist/dist.h"

#include <string.h>

#include "base/alloc.h"
#include "dist/dist_probe.h"
#include "dist/dist_packet.h"
#include "heap/copy.h"
#include "proc/node_monitor.h"
#include "proc/process_life.h"
#include "proc/registry.h"
#include "term/node.h"

enum { OUTPUT_AT_ONCE_BYTES = 64 << 10, OUTPUT_MESSAGES = 256, COPIED_BYTES = 1024 };

static struct {
	_Atomic Term net_kernel;        /* TERM_NONE: this node has no name */
	atomic_uint carried_by_process; /* connections */
} dist;

/* ---- the name */

bool dist_is_alive(void)
{
	return atomic_load_explicit(&dist.net_kernel, memory_order_relaxed) != TERM_NONE;
}

/* Letters of the name and the host are the Erlang side's matter, but for those that are none of Latin-1. */
bool dist_is_node_name(Term name)
{
	const char *text, *at;
	size_t n;

	if (!term_is_atom(name) || !atom_latin1_size(name, &n) || n > ATOM_MAX_CHARS)
		return false;
	text = atom_text(name, &n);
	at = memchr(text, '@', n);
	return at != NULL && at != text && at != text + n - 1 &&
	       memchr(at + 1, '@', (size_t)(text + n - at - 1)) == NULL;
}

bool dist_start(Term name, uint32_t creation)
{
	Term net_kernel = registry_whereis(am_net_kernel), none = TERM_NONE;

	if (net_kernel == TERM_NONE || !term_is_local_pid(net_kernel) || name == am_nonode_nohost)
		return false;
	if (!atomic_compare_exchange_strong(&dist.net_kernel, &none, net_kernel))
		return false;
	node_set_self((struct node_name){ name, creation });
	if (!process_is_alive(net_kernel)) { /* its end may not have seen that it was somebody */
		node_set_self((struct node_name){ am_nonode_nohost, 0 });
		atomic_store(&dist.net_kernel, TERM_NONE);
		return false;
	}
	node_monitor_tell(&(struct node_change){ am_nodeup, name, 0, am_visible, TERM_NONE });
	return true;
}

/* ---- connections */

Term dist_handle(struct heap *h, const struct channel *c)
{
	return heap_tuple(h, SMALL((uint64_t)c->id), c->node);
}

struct channel *dist_from_handle(Term handle)
{
	if (!term_is_tuple_of(handle, 2) || !term_is_small(tuple_get(handle, 1)) ||
	    !term_is_atom(tuple_get(handle, 2)) || small_value(tuple_get(handle, 1)) < 0 ||
	    small_value(tuple_get(handle, 1)) > UINT32_MAX)
		return NULL;
	return channel_find_id((uint32_t)small_value(tuple_get(handle, 1)));
}

/* A message made on a heap of its own. */
static void tell_net_kernel(Term to, Term message)
{
	message_send(NULL, to, message);
}

struct channel *dist_connect(Term node)
{
	Term net_kernel = atomic_load_explicit(&dist.net_kernel, memory_order_relaxed);
	struct channel *c;
	struct heap h;
	bool made;

	if (net_kernel == TERM_NONE)
		return NULL;
	c = channel_find(node);
	if (c != NULL)
		return c;
	c = channel_open(node, &made);
	if (!made)
		return c;
	heap_init(&h, HEAP_MIN_WORDS);
	tell_net_kernel(net_kernel, heap_tuple(&h, am_auto_connect, node, dist_handle(&h, c)));
	heap_free(&h);
	if (!process_is_alive(net_kernel))
		channel_down(c, am_noconnection);
	return c;
}

/* {dist_ctrlr, Controller, Node, SetupPid} to net_kernel, which links to it. */
static void tell_controller(const struct channel *c, Term controller, Term setup_pid)
{
	struct heap h;

	heap_init(&h, HEAP_MIN_WORDS);
	tell_net_kernel(atomic_load(&dist.net_kernel), heap_tuple(&h, am_dist_ctrlr, controller, c->node, setup_pid));
	heap_free(&h);
}

/* ---- ports */

/* Its bytes, behind their number where the driver takes several. */
static void put_packet(struct byte_queue *q, const struct dist_packet *p, bool framed)
{
	size_t n = p->size_bytes;
	uint8_t length[4] = { (uint8_t)(n >> 24), (uint8_t)(n >> 16), (uint8_t)(n >> 8), (uint8_t)n };

	if (framed)
		ENSURE(byte_queue_put(q, length, sizeof(length)));
	ENSURE(byte_queue_put(q, p->head, p->head_bytes));
	for (unsigned i = 0; i < p->part_count; i++) {
		if (p->parts[i].size_bytes <= COPIED_BYTES)
			ENSURE(byte_queue_put(q, p->parts[i].bytes, p->parts[i].size_bytes));
		else
			byte_queue_put_binary(q, p->parts[i].binary, p->parts[i].bytes, p->parts[i].size_bytes);
	}
}

static void flush(struct port *port, struct byte_queue *q)
{
	if (q->size_bytes == 0)
		return;
	port->framed = port->driver->takes_framed;
	port_output(port, TERM_NONE, q);
	port->framed = false;
}

static inline void probe_output(const struct channel *c, const struct port *port, size_t bytes)
{
	if (port_takes_vectors(port)) {
		if (PROBE_ON(dist__outputv))
			probe_dist__outputv(c, bytes);
	} else if (PROBE_ON(dist__output)) {
		probe_dist__output(c, bytes);
	}
}

/* As long as the port takes it; others run in between. */
static void run_output(struct port *port, struct port_task *task)
{
	struct channel *c = (struct channel *)((char *)task - offsetof(struct channel, output));
	bool framed = port->driver->takes_framed;
	struct byte_queue q;
	unsigned left = OUTPUT_MESSAGES;

	lock_acquire(&c->lock);
	c->output_waits = false;
	lock_release(&c->lock);
	byte_queue_init(&q);
	while (port->state == PORT_OPEN && !port->waits.busy && left > 0) {
		struct dist_packet p;

		if (!dist_packet_take(c, &p))
			break;
		left--;
		put_packet(&q, &p, framed);
		probe_output(c, port, p.size_bytes);
		dist_packet_done(c, &p);
		if (!framed || q.size_bytes >= OUTPUT_AT_ONCE_BYTES)
			flush(port, &q);
	}
	flush(port, &q);
	byte_queue_clear(&q);
	if (left == 0)
		channel_wake_port(c);
	channel_unref(c);
}

static void input(struct port *port, const uint8_t *bytes, size_t n)
{
	struct channel *c = port->carrier;

	channel_ref(c); /* the port may end meanwhile */
	if (!dist_receive(c, bytes, n))
		port_exit(port, am_killed);
	channel_unref(c);
}

static void writable(struct port *port)
{
	channel_wake_port(port->carrier);
}

static void closed(struct port *port, Term reason)
{
	struct channel *c = port->carrier;

	port->carrier = NULL;
	channel_down(c, reason == am_normal ? (Term)am_connection_closed : reason);
	channel_unref(c);
}

bool dist_take_port(struct port *port, struct channel *c, uint64_t flags, Term setup_pid)
{
	if (port->state != PORT_OPEN || port->carrier != NULL || !port->driver->soft_busy || !dist_is_alive())
		return false;
	c->output.run = run_output;
	port_ref(port);
	if (!channel_connect(c, port->id, port, flags)) {
		port_unref(port);
		return false;
	}
	channel_ref(c);
	port->carrier = c;
	port_busy_limits(port, &(size_t){ PORT_NO_LIMIT }, NULL); /* connections have a limit of their own */
	tell_controller(c, port->id, setup_pid);
	channel_tell_up(c);
	return true;
}

/* ---- processes */

bool dist_take_process(Process *p, struct channel *c, uint64_t flags, Term setup_pid)
{
	if (!dist_is_alive() || !channel_connect(c, p->id, NULL, flags))
		return false;
	atomic_fetch_add(&dist.carried_by_process, 1);
	tell_controller(c, p->id, setup_pid);
	channel_tell_up(c);
	return true;
}

/* ---- the end */

struct gathered {
	struct channel **all;
	size_t count, room;
	Term controller;     /* those that it carries; TERM_NONE: all */
};

static void gather(struct channel *c, void *arg)
{
	struct gathered *g = arg;

	if (g->controller != TERM_NONE && g->controller != c->controller)
		return;
	if (g->count == g->room) {
		g->room = g->room * 2 + 16;
		g->all = mem_realloc(g->all, g->room * sizeof(struct channel *));
	}
	channel_ref(c);
	g->all[g->count++] = c;
}

void dist_end_channel(struct channel *c, Term reason)
{
	Term controller = c->controller;

	if (channel_down(c, reason) == CHANNEL_UP && controller != TERM_NONE && !term_is_local_port(controller))
		atomic_fetch_sub(&dist.carried_by_process, 1);
	if (controller != TERM_NONE)
		signal_send_reason(SIG_EXIT, controller, controller, TERM_NONE, am_kill);
}

/* All that the controller carries. */
static void end_channels(Term controller, Term reason)
{
	struct gathered g = { .controller = controller };

	channel_each(gather, &g);
	for (size_t i = 0; i < g.count; i++) {
		dist_end_channel(g.all[i], reason);
		channel_unref(g.all[i]);
	}
	mem_free(g.all);
}

static void process_ends(Process *p)
{
	Term name;

	if (likely(!dist_is_alive()))
		return;
	if (atomic_load_explicit(&dist.carried_by_process, memory_order_relaxed) > 0)
		end_channels(p->id, p->exc_reason == am_normal ? (Term)am_connection_closed : p->exc_reason);
	if (p->id != atomic_load_explicit(&dist.net_kernel, memory_order_relaxed))
		return;
	end_channels(TERM_NONE, am_net_kernel_terminated);
	name = node_self().name;
	node_set_self((struct node_name){ am_nonode_nohost, 0 });
	atomic_store(&dist.net_kernel, TERM_NONE);
	node_monitor_tell(&(struct node_change){ am_nodedown, name, 0, am_visible, am_net_kernel_terminated });
}

void dist_init(void)
{
	atomic_init(&dist.net_kernel, TERM_NONE);
	channel_init();
	dist_wire_send();
	port_carrier = (struct port_carrier){ .input = input, .writable = writable, .closed = closed };
	process_at_exit(process_ends);
}
