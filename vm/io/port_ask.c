/* SPDX-License-Identifier: Apache-2.0 */
/* What processes want of ports. A question is asked at once when nobody holds the port; else it is a task, and the
 * process waits for the answer.
 * Invariant: a question that is a task belongs to the task until it has run, and then to the process; when the process
 * ends before, to the task alone. */
#include <string.h>

#include "base/alloc.h"
#include "data/binary.h"
#include "data/etf.h"
#include "heap/copy.h"
#include "io/io_probe.h"
#include "io/port_ask.h"
#include "io/port_send.h"
#include "proc/exc.h"
#include "proc/probe.h"
#include "proc/sched.h"
#include "proc/tracee.h"

struct question {
	struct port_task task;
	struct port_waiter wait; /* before it is asked */
	void (*run)(struct port *port, struct question *q);
	Term (*finish)(Process *p, struct question *q); /* the BIF's result */
	struct port *port;       /* counted */
	Process *waiter;         /* counted, while it is a task */
	_Atomic uint32_t state;
	bool ok, refused;
	Term caller, argument;   /* immediate */
	unsigned command;
	struct byte_queue data;
	uint8_t *bytes;          /* owned */
	size_t n;
	struct port_answer answer;
	Term (*look)(struct port *port, struct heap *h, Term arg);
	struct heap *heap;       /* p's, or our own */
	Term closed, result;
};
enum { ASKED, ANSWERED, DROPPED };
enum { COMMAND_WAITS, COMMAND_NOSUSPEND, COMMAND_FORCE };

/* What q holds, not q. */
static void clear(struct question *q)
{
	byte_queue_clear(&q->data);
	mem_free(q->bytes);
	answer_free(&q->answer);
	port_unref(q->port);
}

static void free_question(struct question *q)
{
	if (q->heap != NULL) {
		heap_free(q->heap);
		mem_free(q->heap);
	}
	clear(q);
	mem_free(q);
}

static void run_question(struct port *port, struct port_task *task)
{
	struct question *q = (struct question *)task;
	Process *waiter = q->waiter;

	answer_init(&q->answer);
	q->run(port, q);
	if (atomic_exchange(&q->state, ANSWERED) == DROPPED)
		free_question(q);
	else
		process_unblock(waiter);
	process_unref(waiter);
}

static void drop(Process *p, void *arg)
{
	struct question *q = arg;

	(void)p;
	if (atomic_exchange(&q->state, DROPPED) == ANSWERED)
		free_question(q);
}

static Term resume(Process *p, void *arg)
{
	struct question *q = arg;
	Term t;

	if (atomic_load(&q->state) != ANSWERED)
		return exc_wait(p, resume, drop, q);
	t = q->finish(p, q);
	free_question(q);
	return t;
}

/* Its turn comes later. */
static Term ask_in_turn(Process *p, const struct question *q)
{
	struct question *waiting = mem_alloc(sizeof(*waiting));

	*waiting = *q;
	waiting->task.run = run_question;
	waiting->waiter = p;
	process_ref(p);
	if (q->look != NULL) {
		waiting->heap = mem_alloc(sizeof(struct heap));
		heap_init(waiting->heap, HEAP_MIN_WORDS);
	}
	answer_init(&waiting->answer);
	port_submit(q->port, &waiting->task);
	return exc_wait(p, resume, drop, waiting);
}

static Term ask(Process *p, struct question *q)
{
	Term t;

	if (!port_try_hold(q->port))
		return ask_in_turn(p, q);
	q->heap = &p->heap;
	q->run(q->port, q);
	port_let_go(q->port);
	q->heap = NULL;
	t = q->finish(p, q);
	clear(q);
	return t;
}

static void init(struct question *q, Process *p, struct port *port)
{
	memset(q, 0, offsetof(struct question, answer));
	q->port = port;
	q->caller = q->task.sender = p->id;
	q->look = NULL;
	q->heap = NULL;
	answer_init(&q->answer);
}

static Term finish_ok(Process *p, struct question *q)
{
	(void)p;
	return q->ok ? am_true : am_badarg;
}

/* ---- commands */

/* One that is not to wait, and whose turn came when the port was busy, has not been. */
static void run_command(struct port *port, struct question *q)
{
	q->refused = q->command == COMMAND_NOSUSPEND && port_is_busy(port) && port->state == PORT_OPEN;
	q->ok = q->refused || port_command(port, q->caller, &q->data);
}

static Term finish_command(Process *p, struct question *q)
{
	return q->refused ? (Term)am_false : finish_ok(p, q);
}

static void drop_before(Process *p, void *arg)
{
	struct question *q = arg;

	(void)p;
	port_busy_leave(q->port, &q->wait);
	free_question(q);
}

static Term resume_before(Process *p, void *arg)
{
	struct question *q = arg, now;

	if (port_busy_wait(q->port, &q->wait, p))
		return exc_wait(p, resume_before, drop_before, q);
	if (PROBE_ON(process__port_unblocked))
		probe_process__port_unblocked(p->id, q->port->id);
	now = *q;
	answer_init(&now.answer);
	mem_free(q);
	return ask(p, &now);
}

/* The port is busy: p waits with a copy of q. False: it is not. */
static bool wait_before(Process *p, const struct question *q)
{
	struct question *waiting = mem_alloc(sizeof(*waiting));

	*waiting = *q;
	answer_init(&waiting->answer);
	if (port_busy_wait(q->port, &waiting->wait, p)) {
		exc_wait(p, resume_before, drop_before, waiting);
		return true;
	}
	mem_free(waiting);
	return false;
}

Term port_ask_command(Process *p, struct port *port, struct byte_queue *data, bool force, bool nosuspend)
{
	struct question q;

	init(&q, p, port);
	q.run = run_command;
	q.finish = finish_command;
	q.command = force ? COMMAND_FORCE : nosuspend ? COMMAND_NOSUSPEND : COMMAND_WAITS;
	q.task.waits = q.command == COMMAND_WAITS;
	q.task.command_bytes = data->size_bytes;
	byte_queue_init(&q.data);
	byte_queue_move(&q.data, data);
	if (q.task.waits && unlikely(port_is_busy(port)) && wait_before(p, &q))
		return TERM_NONE;
	return ask(p, &q);
}

bool port_ask_waits(const Process *p)
{
	return p->resume == resume_before || port_send_waits(p);
}

static void run_control(struct port *port, struct question *q)
{
	q->ok = port_control(port, q->caller, q->command, q->bytes, q->n, &q->answer);
}

/* A question with a number and bytes for the driver. */
static void init_operation(struct question *q, Process *p, struct port *port, unsigned operation, uint8_t *data,
			   size_t n)
{
	init(q, p, port);
	q->command = operation;
	q->bytes = data;
	q->n = n;
}

static Term finish_control(Process *p, struct question *q)
{
	if (!q->ok)
		return am_badarg;
	if (q->answer.binary)
		return binary_put(&p->heap, q->answer.bytes, q->answer.n);
	return heap_list_bytes(&p->heap, q->answer.bytes, q->answer.n, NIL);
}

Term port_ask_control(Process *p, struct port *port, unsigned command, uint8_t *data, size_t n)
{
	struct question q;

	init_operation(&q, p, port, command, data, n);
	q.run = run_control;
	q.finish = finish_control;
	return ask(p, &q);
}

static void run_call(struct port *port, struct question *q)
{
	q->ok = port_call(port, q->caller, q->command, q->bytes, q->n, &q->answer);
}

static Term finish_call(Process *p, struct question *q)
{
	Term t;

	if (!q->ok || etf_decode_to_heap(q->answer.bytes, q->answer.n, 0, &p->heap, &t, NULL) != 0)
		return am_badarg;
	return heap_tuple(&p->heap, am_ok, t);
}

Term port_ask_call(Process *p, struct port *port, unsigned command, uint8_t *data, size_t n)
{
	struct question q;

	init_operation(&q, p, port, command, data, n);
	q.run = run_call;
	q.finish = finish_call;
	return ask(p, &q);
}

static void run_close(struct port *port, struct question *q)
{
	q->ok = port_close(port, q->caller, am_normal);
}

Term port_ask_close(Process *p, struct port *port)
{
	struct question q;

	init(&q, p, port);
	q.run = run_close;
	q.finish = finish_ok;
	return ask(p, &q);
}

static void run_connect(struct port *port, struct question *q)
{
	q->ok = port_connect(port, q->caller, q->argument);
}

Term port_ask_connect(Process *p, struct port *port, Term new_owner)
{
	struct question q;

	init(&q, p, port);
	q.run = run_connect;
	q.finish = finish_ok;
	q.argument = new_owner;
	return ask(p, &q);
}

/* ---- what it knows of itself */

static void run_look(struct port *port, struct question *q)
{
	port_enter(port, am_info);
	q->result = port->state != PORT_CLOSED ? q->look(port, q->heap, q->argument) : q->closed;
	port_leave(port, am_info);
}

/* Built on p's heap, or to be copied there. */
static Term finish_look(Process *p, struct question *q)
{
	return q->heap == NULL ? q->result : copy_to_heap(q->result, &p->heap);
}

Term port_ask(Process *p, struct port *port, Term (*look)(struct port *port, struct heap *h, Term arg), Term arg,
	      Term closed)
{
	struct question q;

	init(&q, p, port);
	q.run = run_look;
	q.finish = finish_look;
	q.look = look;
	q.argument = arg;
	q.closed = closed;
	return ask(p, &q);
}

/* ---- answers */

void answer_init(struct port_answer *a)
{
	a->bytes = a->small;
	a->n = 0;
	a->binary = false;
	a->room = sizeof(a->small);
}

void answer_free(struct port_answer *a)
{
	if (a->bytes != a->small)
		mem_free(a->bytes);
}

void answer_put(struct port_answer *a, const void *bytes, size_t n)
{
	if (n > a->room - a->n) {
		uint8_t *grown = mem_alloc((a->n + n) * 2);

		memcpy(grown, a->bytes, a->n);
		answer_free(a);
		a->bytes = grown;
		a->room = (a->n + n) * 2;
	}
	if (n > 0)
		memcpy(a->bytes + a->n, bytes, n);
	a->n += n;
}
