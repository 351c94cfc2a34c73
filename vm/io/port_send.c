/* SPDX-License-Identifier: Apache-2.0 */
/* Port ! {Owner, Command}: done at once when nobody holds the port, else a task. Who sends a command to a busy port
 * waits in the send, and does all of it again when the port is not busy: it may have ended, or its name be gone. */
#include "io/port_send.h"

#include <string.h>

#include "base/alloc.h"
#include "data/iolist.h"
#include "heap/copy.h"
#include "io/io_probe.h"
#include "io/port.h"
#include "proc/exc.h"
#include "proc/probe.h"
#include "proc/sched.h"

static void send_close(struct port *port, Term owner)
{
	if (PROBE_ON(port__command))
		probe_port__command(port, owner, "close");
	port->closed_wanted = true;
	port->closed_to = owner;
	port_tell_received(port, owner, am_close, TERM_NONE);
	port_exit(port, am_normal);
}

/* False: not a command, or not from the owner. */
static bool obey_held(struct port *port, Term message)
{
	Term owner = port->owner, what;
	struct byte_queue data;

	if (!term_is_tuple_of(message, 2) || tuple_get(message, 1) != owner)
		return false;
	what = tuple_get(message, 2);
	if (what == am_close) {
		send_close(port, owner);
		return true;
	}
	if (!term_is_tuple_of(what, 2))
		return false;
	if (tuple_get(what, 1) == am_connect && process_is_alive(tuple_get(what, 2))) {
		if (PROBE_ON(port__command))
			probe_port__command(port, owner, "connect");
		port_change_owner(port, owner, tuple_get(what, 2));
		port_deliver_atom(port, owner, am_connected);
		return true;
	}
	byte_queue_init(&data);
	if (tuple_get(what, 1) != am_command || !port_put_iodata(&data, tuple_get(what, 2))) {
		byte_queue_clear(&data);
		return false;
	}
	port_command_open(port, owner, &data);
	byte_queue_clear(&data);
	return true;
}

/* The command that a message is, as far as its form says. */
static Term name_command(Term message)
{
	Term what = term_is_tuple_of(message, 2) ? tuple_get(message, 2) : NIL;

	if (term_is_tuple_of(what, 2))
		what = tuple_get(what, 1);
	return term_is_atom(what) ? what : SMALL(0);
}

static void obey(struct port *port, Term message)
{
	Term what = name_command(message);

	port_enter(port, what);
	if (port->state == PORT_OPEN && !obey_held(port, message))
		signal_send_reason(SIG_EXIT, port->id, port->owner, TERM_NONE, am_badsig); /* whoever sent it */
	port_leave(port, what);
}

/* ---- messages whose turn has not come */

struct waiting_message {
	struct port_task task;
	struct fragment *fragment; /* NULL: no words */
	Term message;
};

static void run_message(struct port *port, struct port_task *task)
{
	struct waiting_message *m = (struct waiting_message *)task;

	obey(port, m->message);
	if (m->fragment != NULL)
		fragment_free(m->fragment);
	mem_free(m);
}

static bool is_command(Term message)
{
	Term what = term_is_tuple_of(message, 2) ? tuple_get(message, 2) : NIL;

	return term_is_tuple_of(what, 2) && tuple_get(what, 1) == am_command &&
	       term_is_local_pid(tuple_get(message, 1));
}

static void submit(struct port *port, const Process *from, Term message, bool waits)
{
	struct waiting_message *m = mem_zalloc(sizeof(*m));
	size_t n;

	m->task.run = run_message;
	m->task.sender = from != NULL ? from->id : TERM_NONE;
	if (is_command(message)) {
		m->task.waits = waits;
		if (iolist_size(tuple_get(tuple_get(message, 2), 2), &n) == IOLIST_OK)
			m->task.command_bytes = n;
	}
	m->fragment = copy_to_fragment(message, &m->message);
	port_submit(port, &m->task);
}

static void send(struct port *port, const Process *from, Term message, bool waits)
{
	if (port_try_hold(port)) {
		obey(port, message);
		port_let_go(port);
	} else {
		submit(port, from, message, waits);
	}
}

/* ---- senders that wait */

struct waiting_send {
	struct port_waiter waiter;
	struct port *port;         /* counted */
	struct fragment *fragment; /* of message; NULL: no words */
	Term to, message;
	Term result;               /* TERM_NONE: the message */
};

static void free_send(struct waiting_send *w)
{
	if (w->fragment != NULL)
		fragment_free(w->fragment);
	port_unref(w->port);
	mem_free(w);
}

static void drop_send(Process *p, void *arg)
{
	struct waiting_send *w = arg;

	(void)p;
	port_busy_leave(w->port, &w->waiter);
	free_send(w);
}

/* The message becomes p's. */
static Term take_message(Process *p, struct waiting_send *w)
{
	if (w->fragment != NULL)
		heap_adopt_fragment(&p->heap, w->fragment);
	w->fragment = NULL;
	return w->message;
}

/* An error finds the arguments in the X registers, and resume_arg says so. */
static Term fail_send(Process *p, struct waiting_send *w)
{
	Term *x = sched_self()->x, message = take_message(p, w);

	exc_badarg(p);
	x[0] = w->to;
	x[1] = message;
	p->resume_arg = x;
	return TERM_NONE;
}

static Term resume_send(Process *p, void *arg)
{
	struct waiting_send *w = arg;
	Term result = TERM_NONE;

	if (port_busy_wait(w->port, &w->waiter, p))
		return exc_wait(p, resume_send, drop_send, w);
	if (PROBE_ON(process__port_unblocked))
		probe_process__port_unblocked(p->id, w->port->id);
	if (message_send_any(p, w->to, w->message))
		result = w->result != TERM_NONE ? w->result : take_message(p, w);
	else if (p->exc_kind >= EXC_TRAP)
		port_send_returns(p, w->result); /* it is busy again */
	else
		fail_send(p, w);
	free_send(w);
	return result;
}

bool port_send_waits(const Process *p)
{
	return p->resume == resume_send;
}

void port_send_returns(Process *p, Term immediate)
{
	if (port_send_waits(p))
		((struct waiting_send *)p->resume_arg)->result = immediate;
}

/* False: the port is not busy any more. Takes: the port's reference, with true. */
static bool wait_to_send(struct port *port, Process *from, Term to, Term message)
{
	struct waiting_send *w = mem_zalloc(sizeof(*w));

	if (!port_busy_wait(port, &w->waiter, from)) {
		mem_free(w);
		return false;
	}
	w->port = port;
	w->to = to;
	w->fragment = copy_to_fragment(message, &w->message);
	exc_wait(from, resume_send, drop_send, w);
	return true;
}

bool port_send(Process *from, Term id, Term to, Term message)
{
	struct port *port = port_find(id);

	if (port == NULL)
		return true;
	if (unlikely(port_is_busy(port)) && from != NULL && is_command(message) &&
	    wait_to_send(port, from, to, message))
		return false;
	send(port, from, message, from != NULL);
	port_unref(port);
	return true;
}

bool port_try_send(Process *from, Term id, Term message)
{
	struct port *port = port_find(id);
	bool sends;

	if (port == NULL)
		return true;
	sends = !is_command(message) || !port_is_busy(port) || port->state != PORT_OPEN;
	if (sends)
		send(port, from, message, false);
	port_unref(port);
	return sends;
}
