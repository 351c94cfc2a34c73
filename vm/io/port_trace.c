/* SPDX-License-Identifier: Apache-2.0 */
/* Ports and tracing: what is told of a port, and what a port takes that is a tracer.
 * Whoever traces may hold another port: what is for a port waits in its mailbox, until somebody comes who holds it. */
#include "base/alloc.h"
#include "data/binary.h"
#include "io/port.h"
#include "proc/tracee.h"

void port_forget_traced(struct port *port)
{
	struct traced *t = port->traced, *next;

	for (; t != NULL; t = next) {
		next = t->next;
		trace_drop(t);
	}
}

/* ---- a port as a tracer */

struct port_trace {
	struct port_trace *next;
	Term from;
	struct byte_queue data;
};

static struct port_trace *take_list(struct port_traces *t, bool by_task)
{
	struct port_trace *list;

	lock_acquire(&t->lock);
	list = t->first;
	t->first = NULL;
	t->last = &t->first;
	atomic_store(&t->wait, false);
	if (by_task)
		t->task_waits = false;
	lock_release(&t->lock);
	return list;
}

static void take_traces(struct port *port, bool by_task)
{
	struct port_trace *next;

	for (struct port_trace *t = take_list(&port->traces, by_task); t != NULL; t = next) {
		next = t->next;
		if (port->state == PORT_OPEN)
			port_output(port, t->from, &t->data);
		byte_queue_clear(&t->data);
		mem_free(t);
	}
}

static void run_task(struct port *port, struct port_task *task)
{
	(void)task;
	take_traces(port, true);
}

void port_traces_init(struct port *port)
{
	struct port_traces *t = &port->traces;

	lock_init(&t->lock, LOCK_port_traces);
	t->last = &t->first;
	t->task.run = run_task;
}

void port_traces_free(struct port *port)
{
	ENSURE(port->state != PORT_OPEN);
	take_traces(port, false);
	lock_destroy(&port->traces.lock);
}

bool port_is_open(Term id)
{
	struct port *port = port_find(id);
	bool open = port != NULL && port->state == PORT_OPEN;

	if (port != NULL)
		port_unref(port);
	return open;
}

void port_trace_command(Term id, Term from, struct byte_queue *data)
{
	struct port *port = port_find(id);
	struct port_traces *t;
	struct port_trace *new;
	bool is_first;

	if (port == NULL) {
		byte_queue_clear(data);
		return;
	}
	new = mem_alloc(sizeof(*new));
	*new = (struct port_trace){ NULL, from, { 0 } };
	byte_queue_move(&new->data, data);
	t = &port->traces;
	lock_acquire(&t->lock);
	*t->last = new;
	t->last = &new->next;
	atomic_store(&t->wait, true);
	is_first = !t->task_waits;
	t->task_waits = true;
	lock_release(&t->lock);
	if (is_first)
		port_submit(port, &t->task);
	port_unref(port);
}

/* ---- a port that is traced */

void port_enter(struct port *port, Term what)
{
	if (unlikely(atomic_load_explicit(&port->traces.wait, memory_order_relaxed)))
		take_traces(port, false);
	if (unlikely(trace_active) && port->state == PORT_OPEN)
		trace_hooks.port_began(port, what);
}

void port_leave(struct port *port, Term what)
{
	if (unlikely(trace_active) && port->state == PORT_OPEN)
		trace_hooks.port_ended(port, what);
}

static Term put_tuple2(Term at[3], Term a, Term b)
{
	at[0] = HEADER(2, SUB_TUPLE);
	at[1] = a;
	at[2] = b;
	return term_from_boxed(at);
}

void port_tell(struct port *port, Term event, Term data)
{
	if (unlikely(port->trace_flags & TRACE_PORTS))
		trace_hooks.port_event(port, TRACE_PORTS, 2, (Term[]){ event, data });
}

void port_tell_received(struct port *port, Term from, Term what, Term argument)
{
	Term inner[3], outer[3];

	if (likely(!(port->trace_flags & TRACE_RECEIVE)))
		return;
	if (argument != TERM_NONE)
		what = put_tuple2(inner, what, argument);
	trace_hooks.port_event(port, TRACE_RECEIVE, 2, (Term[]){ am_receive, put_tuple2(outer, from, what) });
}

/* The bytes of q as a binary; [] when memory cannot be had. */
static Term put_bytes(struct heap *h, const struct byte_queue *q)
{
	uint8_t small[HEAPBIN_LIMIT];
	struct binary *b;

	if (q->size_bytes <= sizeof(small)) {
		byte_queue_copy(q, small, q->size_bytes);
		return binary_put(h, small, q->size_bytes);
	}
	b = binary_new(q->size_bytes);
	if (b == NULL)
		return NIL;
	byte_queue_copy(q, b->data, q->size_bytes);
	return refbin_put(h, b, q->size_bytes);
}

void port_tell_command(struct port *port, Term from, const struct byte_queue *data)
{
	struct heap scratch;
	Term bytes;

	if (likely(!(port->trace_flags & TRACE_RECEIVE)))
		return;
	heap_init(&scratch, HEAP_MIN_WORDS);
	bytes = put_bytes(&scratch, data);
	if (port->driver->tells_list)
		bytes = data->size_bytes > 0 ? heap_cons(&scratch, bytes, NIL) : NIL;
	port_tell_received(port, from, am_command, bytes);
	heap_free(&scratch);
}

void port_tell_asked(struct port *port, Term from, Term what, unsigned command, const uint8_t *data, size_t n)
{
	struct heap scratch;

	if (likely(!(port->trace_flags & TRACE_RECEIVE)))
		return;
	heap_init(&scratch, HEAP_MIN_WORDS);
	port_tell_received(port, from, what,
			   heap_tuple(&scratch, SMALL((uint64_t)command), binary_put(&scratch, data, n)));
	heap_free(&scratch);
}

void port_tell_timeout(struct port *port)
{
	if (unlikely(port->trace_flags & TRACE_RECEIVE))
		trace_hooks.port_event(port, TRACE_RECEIVE, 2, (Term[]){ am_receive, am_timeout });
}

bool port_tells_sent(const struct port *port)
{
	return unlikely(port->trace_flags & TRACE_SEND);
}

void port_tell_sent(struct port *port, Term to, Term message)
{
	if (!port_tells_sent(port))
		return;
	trace_hooks.port_event(
		port, TRACE_SEND, 3,
		(Term[]){ process_is_alive(to) ? am_send : am_send_to_non_existing_process, message, to });
}

void port_tell_answer(struct port *port, Term to, Term what, const uint8_t *reply, size_t n)
{
	struct heap scratch;
	Term message;

	if (!port_tells_sent(port))
		return;
	heap_init(&scratch, HEAP_MIN_WORDS);
	message = heap_tuple(&scratch, port->id, heap_tuple(&scratch, what, binary_put(&scratch, reply, n)));
	port_tell_sent(port, to, message);
	heap_free(&scratch);
}
