/* SPDX-License-Identifier: Apache-2.0 */
/* Who waits for a busy port, and the tasks that it keeps until it is not busy.
 * Invariant: kept tasks stand in the order they came, but that one which keeps only to the order of its sender stands
 * right behind that one's last. PORT_KEEPS is set exactly while there are any: nobody then passes them by. */
#include "io/port_busy.h"

#include "base/alloc.h"
#include "io/io_probe.h"
#include "io/port.h"
#include "proc/exc.h"
#include "proc/sched.h"
#include "proc/tracee.h"

struct port_keeper {
	struct port_keeper *next;
	Term sender;
	size_t count;
	struct port_task *last;
};

void port_busy_init(struct port *port, size_t low, size_t high)
{
	struct port_busy *b = &port->waits;

	b->last = &b->first;
	b->kept_last = &b->kept;
	b->low = low;
	b->high = high;
}

bool port_is_busy(const struct port *port)
{
	return atomic_load(&port->waits.busy) || atomic_load(&port->waits.full);
}

/* ---- who waits */

static void enter(struct port_busy *b, struct port_waiter *w)
{
	w->next = NULL;
	w->before = b->last;
	*b->last = w;
	b->last = &w->next;
}

static void leave(struct port_busy *b, struct port_waiter *w)
{
	if (w->before == NULL)
		return;
	*w->before = w->next;
	if (w->next != NULL)
		w->next->before = w->before;
	else
		b->last = w->before;
	w->before = NULL;
}

bool port_busy_wait(struct port *port, struct port_waiter *w, Process *p)
{
	bool waits, again;

	lock_acquire(&port->hold.lock);
	again = w->before != NULL;
	waits = again || (port_is_busy(port) && port->state == PORT_OPEN);
	if (waits && !again) {
		w->process = p;
		enter(&port->waits, w);
	}
	lock_release(&port->hold.lock);
	if (waits && !again && unlikely(trace_active))
		trace_hooks.port_busy(p, port->id);
	return waits;
}

void port_busy_leave(struct port *port, struct port_waiter *w)
{
	lock_acquire(&port->hold.lock);
	leave(&port->waits, w);
	lock_release(&port->hold.lock);
}

/* It ends no earlier than it has taken the lock, which is held: its memory stays. */
static void wake(struct port_busy *b, struct port_waiter *w)
{
	leave(b, w);
	process_unblock(w->process);
}

/* The first one last, else it alone would send, where each command makes the port busy again. */
static void wake_all(struct port_busy *b)
{
	struct port_waiter *w = b->first;

	while (w != NULL && w->next != NULL)
		wake(b, w->next);
	if (w != NULL)
		wake(b, w);
}

/* ---- what the driver says */

static void change(struct port *port, bool busy)
{
	struct port_busy *b = &port->waits;
	bool submit = false;

	lock_acquire(&port->hold.lock);
	atomic_store(&b->busy, busy);
	if (!busy && !b->full)
		wake_all(b);
	if (!busy)
		submit = port_want_run(port);
	lock_release(&port->hold.lock);
	if (submit)
		sched_job_submit(&port->hold.job);
}

void port_set_busy(struct port *port, bool busy)
{
	if (port->waits.busy == busy)
		return;
	if (busy) {
		if (PROBE_ON(port__busy))
			probe_port__busy(port);
	} else {
		if (PROBE_ON(port__not_busy))
			probe_port__not_busy(port);
	}
	change(port, busy);
	if (!busy && port->carrier != NULL)
		port_carrier.writable(port);
}

void port_busy_end(struct port *port)
{
	port_set_busy(port, false);
	lock_acquire(&port->hold.lock);
	wake_all(&port->waits);
	lock_release(&port->hold.lock);
}

/* ---- the limit of commands that wait */

/* The hold's lock is held. */
static void set_full(struct port_busy *b, bool full)
{
	if (b->full == full)
		return;
	atomic_store(&b->full, full);
	if (!full && !b->busy)
		wake_all(b);
}

static void look_at_limits(struct port_busy *b)
{
	if (b->bytes > b->high)
		set_full(b, true);
	else if (b->bytes < b->low || b->bytes == 0)
		set_full(b, false);
}

void port_busy_submitted(struct port *port, const struct port_task *task)
{
	port->waits.bytes += task->command_bytes;
	if (task->command_bytes > 0 && port->waits.bytes > port->waits.high)
		set_full(&port->waits, true);
}

void port_busy_ran(struct port *port, size_t bytes)
{
	struct port_busy *b = &port->waits;

	if (bytes == 0)
		return;
	lock_acquire(&port->hold.lock);
	b->bytes -= bytes;
	if (b->bytes < b->low || b->bytes == 0)
		set_full(b, false);
	lock_release(&port->hold.lock);
}

void port_busy_limits(struct port *port, size_t *low, size_t *high)
{
	struct port_busy *b = &port->waits;
	size_t to_low = low != NULL ? *low : 0, to_high = high != NULL ? *high : 0;

	lock_acquire(&port->hold.lock);
	if (b->high == PORT_NO_LIMIT || to_low == PORT_NO_LIMIT || to_high == PORT_NO_LIMIT) {
		b->low = b->high = PORT_NO_LIMIT;
	} else {
		if (to_low != 0) {
			b->low = to_low;
			b->high = b->high < to_low ? to_low : b->high;
		}
		if (to_high != 0) {
			b->high = to_high;
			b->low = b->low > to_high ? to_high : b->low;
		}
	}
	look_at_limits(b);
	if (low != NULL)
		*low = b->low;
	if (high != NULL)
		*high = b->high;
	lock_release(&port->hold.lock);
}

/* ---- tasks that are kept */

static struct port_keeper **find_keeper(struct port_busy *b, Term sender)
{
	struct port_keeper **k = &b->keepers;

	while (*k != NULL && (*k)->sender != sender)
		k = &(*k)->next;
	return k;
}

static void put_behind(struct port_busy *b, struct port_task **at, struct port_task *task)
{
	task->next = *at;
	*at = task;
	if (task->next == NULL)
		b->kept_last = &task->next;
}

bool port_busy_keep(struct port *port, struct port_task *task)
{
	struct port_busy *b = &port->waits;
	bool waits = task->waits && b->busy && port->state == PORT_OPEN;
	struct port_keeper **k;

	if (!waits && (b->kept == NULL || task->sender == TERM_NONE))
		return false;
	k = find_keeper(b, task->sender);
	if (!waits && *k == NULL)
		return false;
	put_behind(b, waits ? b->kept_last : &(*k)->last->next, task);
	if (*k == NULL) {
		*k = mem_zalloc(sizeof(**k));
		(*k)->sender = task->sender;
	}
	(*k)->last = task;
	(*k)->count++;
	atomic_fetch_or_explicit(&port->hold.word, PORT_KEEPS, memory_order_relaxed);
	return true;
}

bool port_busy_has_task(const struct port *port)
{
	const struct port_busy *b = &port->waits;

	return b->kept != NULL && !(b->busy && b->kept->waits && port->state == PORT_OPEN);
}

struct port_task *port_busy_take(struct port *port)
{
	struct port_busy *b = &port->waits;
	struct port_task *task = b->kept;
	struct port_keeper **k, *keeper;

	if (!port_busy_has_task(port))
		return NULL;
	k = find_keeper(b, task->sender);
	keeper = *k;
	if (--keeper->count == 0) {
		*k = keeper->next;
		mem_free(keeper);
	}
	b->kept = task->next;
	if (b->kept == NULL) {
		b->kept_last = &b->kept;
		atomic_fetch_and_explicit(&port->hold.word, ~(uint32_t)PORT_KEEPS, memory_order_relaxed);
	}
	return task;
}
