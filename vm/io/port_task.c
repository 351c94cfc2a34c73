/* SPDX-License-Identifier: Apache-2.0 */
/* Who holds a port, and what waits for its turn: tasks, among them events of descriptors, timers and the pool.
 * Invariant: tasks that may run wait only while PORT_WANTED is set. While they do, the port is held, and whoever
 * lets it go submits its job; or the job is submitted. So no task is forgotten. */
#include <errno.h>
#include <unistd.h>

#include "base/clock.h"
#include "io/io_probe.h"
#include "proc/sched.h"
#include "proc/timer.h"
#include "proc/tracee.h"

/* A port gives its scheduler back after so many tasks. */
enum { TASKS_AT_ONCE = 16 };

#define PORT_OF(member_at, member) ((struct port *)((char *)(member_at) - offsetof(struct port, member)))
#define WATCH_OF(task_at) ((struct port_watch *)((char *)(task_at) - offsetof(struct port_watch, task)))

static void run_tasks(struct sched_job *job);
static void run_ready(struct port *port, struct port_task *task);
static void run_timer(struct port *port, struct port_task *task);

void port_hold_init(struct port *port)
{
	struct port_hold *h = &port->hold;

	lock_init(&h->lock, LOCK_port_tasks);
	h->last = &h->first;
	h->job.run = run_tasks;
}

void port_hold_free(struct port *port)
{
	ENSURE(port->hold.first == NULL && port->waits.kept == NULL);
	lock_destroy(&port->hold.lock);
}

bool port_try_hold(struct port *port)
{
	uint32_t free = 0;

	return sched_on_duty() && atomic_compare_exchange_strong_explicit(&port->hold.word, &free, PORT_HELD,
									  memory_order_acquire,
									  memory_order_relaxed);
}

/* Whatever waits. */
static bool take_hold(struct port_hold *h)
{
	uint32_t word = atomic_load_explicit(&h->word, memory_order_relaxed);

	do {
		if (word & PORT_HELD)
			return false;
	} while (!atomic_compare_exchange_weak_explicit(&h->word, &word, word | PORT_HELD, memory_order_acquire,
							memory_order_relaxed));
	return true;
}

void port_hold(struct port *port)
{
	if (take_hold(&port->hold))
		return;
	wait_begin(WAIT_port_hold);
	while (!take_hold(&port->hold))
		thread_yield();
	wait_end();
}

/* One that may run: lock held. */
static bool has_task(const struct port *port)
{
	return port->hold.first != NULL || port_busy_has_task(port);
}

/* Its job is to run: lock held. Returns whether it is to be submitted. */
static bool schedule(struct port *port)
{
	struct port_hold *h = &port->hold;

	if (!has_task(port) || h->scheduled)
		return false;
	h->scheduled = true;
	port_ref(port);
	return true;
}

/* Tasks came while it was held. Who frees the port last is the job. */
static void let_go_wanted(struct port *port)
{
	struct port_hold *h = &port->hold;
	bool submit;

	lock_acquire(&h->lock);
	atomic_fetch_and_explicit(&h->word, ~(uint32_t)PORT_HELD, memory_order_release);
	submit = schedule(port);
	lock_release(&h->lock);
	if (submit)
		sched_job_submit(&h->job);
}

void port_let_go(struct port *port)
{
	uint32_t held = PORT_HELD;

	port_settle(port);
	if (!atomic_compare_exchange_strong_explicit(&port->hold.word, &held, 0, memory_order_release,
						     memory_order_relaxed))
		let_go_wanted(port);
}

static bool want_run(struct port *port)
{
	uint32_t before = atomic_fetch_or_explicit(&port->hold.word, PORT_WANTED, memory_order_relaxed);

	return !(before & PORT_HELD) && schedule(port);
}

bool port_want_run(struct port *port)
{
	return port_busy_has_task(port) && want_run(port);
}

void port_submit(struct port *port, struct port_task *task)
{
	struct port_hold *h = &port->hold;
	bool submit;

	task->next = NULL;
	lock_acquire(&h->lock);
	*h->last = task;
	h->last = &task->next;
	port_busy_submitted(port, task);
	submit = want_run(port);
	lock_release(&h->lock);
	if (submit)
		sched_job_submit(&h->job);
}

static struct port_task *take_first(struct port_hold *h)
{
	struct port_task *task = h->first;

	h->first = task->next;
	if (h->first == NULL)
		h->last = &h->first;
	return task;
}

static struct port_task *take_task(struct port *port)
{
	struct port_hold *h = &port->hold;
	struct port_task *task;

	lock_acquire(&h->lock);
	task = port_busy_take(port);
	while (task == NULL && h->first != NULL) {
		task = take_first(h);
		if (port_busy_keep(port, task))
			task = NULL;
	}
	if (!has_task(port))
		atomic_fetch_and_explicit(&h->word, ~(uint32_t)PORT_WANTED, memory_order_relaxed);
	lock_release(&h->lock);
	return task;
}

static Term kind_of(struct port_task *task)
{
	if (task->run == run_timer)
		return am_timeout;
	if (task->run != run_ready)
		return am_proc_sig;
	return atomic_load(&WATCH_OF(task)->ready) & WATCH_IN ? am_input : am_output;
}

/* The task is gone after it has run. */
static void run_task(struct port *port, struct port_task *task)
{
	Term id = port->id, kind;
	int64_t began_ns;

	if (likely(!trace_active)) {
		task->run(port, task);
		return;
	}
	kind = kind_of(task);
	began_ns = clock_monotonic_ns();
	task->run(port, task);
	trace_hooks.port_worked(id, kind, clock_monotonic_ns() - began_ns);
}

/* On a scheduler. When somebody holds the port, that one submits the job again. */
static void run_tasks(struct sched_job *job)
{
	struct port *port = PORT_OF(job, hold.job);
	struct port_hold *h = &port->hold;
	bool held;

	lock_acquire(&h->lock);
	h->scheduled = false;
	held = take_hold(h);
	lock_release(&h->lock);
	if (held) {
		struct port_task *task;

		for (int k = 0; k < TASKS_AT_ONCE && (task = take_task(port)) != NULL; k++) {
			size_t bytes = task->command_bytes;

			run_task(port, task);
			port_busy_ran(port, bytes);
		}
		port_let_go(port);
	}
	port_unref(port);
}

/* ---- descriptors */

/* Asks for what is wanted and was not asked for. What is not wanted any more may still come, and is
 * then dropped: most often it is wanted again before. */
static void arm(struct port_watch *w)
{
	if (w->wants & ~w->armed) {
		w->armed = w->wants;
		poll_want(&w->poll, w->wants);
	}
}

static void run_input(struct port *port, struct port_watch *w)
{
	struct io_callback running;

	if (PROBE_ON(driver__ready_input))
		probe_driver__ready_input(port, port->owner);
	running = io_callback_begin(port, port->driver->name, "ready_input");
	port->driver->ready_input(port, w);
	io_callback_end(&running);
}

static void run_ready(struct port *port, struct port_task *task)
{
	struct port_watch *w = WATCH_OF(task);
	unsigned events = atomic_exchange(&w->ready, 0) & w->wants;
	struct io_callback running;

	w->armed = 0;
	port_enter(port, SMALL(0));
	if ((events & WATCH_IN) && w->used) {
		if (w == &port->exit_watch) /* that is no descriptor of the driver's */
			port->driver->ready_input(port, w);
		else
			run_input(port, w);
	}
	if ((events & w->wants & WATCH_OUT) && w->used) {
		if (PROBE_ON(driver__ready_output))
			probe_driver__ready_output(port, port->owner);
		running = io_callback_begin(port, port->driver->name, "ready_output");
		port->driver->ready_output(port, w);
		io_callback_end(&running);
	}
	if (w->used)
		arm(w);
	port_leave(port, SMALL(0));
}

void port_watch_ready(struct poll_watch *poll, unsigned events)
{
	struct port_watch *w = (struct port_watch *)poll;

	if (atomic_fetch_or(&w->ready, events) == 0)
		port_submit(w->port, &w->task);
}

static void watch_dropped(struct poll_watch *poll)
{
	struct port_watch *w = (struct port_watch *)poll;

	port_unref(w->port);
}

static int add_watch(struct port *port, struct port_watch *w, int fd, bool closes)
{
	int error;

	w->port = port;
	w->task.run = run_ready;
	w->closes = closes;
	w->wants = w->armed = 0;
	port_ref(port);
	error = poll_add(&w->poll, 0);
	w->used = error == 0;
	if (error != 0) {
		if (closes)
			close(fd);
		port_unref(port);
	}
	return error;
}

int port_watch_add(struct port *port, struct port_watch *w, int fd, bool closes)
{
	w->poll = (struct poll_watch){ .fd = fd, .ready = port_watch_ready, .dropped = watch_dropped };
	return add_watch(port, w, fd, closes);
}

int port_watch_add_shared(struct port *port, struct port_watch *w, int fd,
			  void (*ready)(struct poll_watch *poll, unsigned events))
{
	w->poll = (struct poll_watch){ .fd = fd, .ready = ready, .dropped = watch_dropped, .may_block = true };
	return add_watch(port, w, fd, false);
}

void port_watch_want(struct port_watch *w, unsigned bits, bool on)
{
	if (!w->used)
		return;
	w->wants = on ? w->wants | bits : w->wants & ~bits;
	if (on && !atomic_load(&w->ready)) /* else run_ready will ask */
		arm(w);
}

void port_watch_pause(struct port_watch *w, int64_t ns)
{
	w->wants |= WATCH_IN;
	w->armed |= WATCH_IN; /* so that it is not asked for at once */
	poll_pause(&w->poll, ns);
}

void port_watch_drop(struct port_watch *w)
{
	if (!w->used)
		return;
	w->used = false;
	w->wants = 0;
	poll_drop(&w->poll);
	if (w->closes) /* nobody polls it any more */
		close(w->poll.fd);
}

/* ---- the timer */

static void run_timer(struct port *port, struct port_task *task)
{
	struct io_callback running;

	(void)task;
	atomic_store(&port->timer_fired, false);
	if (port->timer == 0 || timer_now_ms() < port->timer_ms || port->state == PORT_CLOSED)
		return; /* one that was cancelled too late */
	port->timer = 0;
	port_enter(port, SMALL(0));
	if (PROBE_ON(driver__timeout))
		probe_driver__timeout(port, port->owner);
	port_tell_timeout(port);
	running = io_callback_begin(port, port->driver->name, "timeout");
	port->driver->timeout(port);
	io_callback_end(&running);
	port_leave(port, SMALL(0));
}

/* On a scheduler, with the timer's reference. */
static void fire(void *arg)
{
	struct port *port = arg;

	if (!atomic_exchange(&port->timer_fired, true))
		port_submit(port, &port->timer_task);
	port_unref(port);
}

void port_cancel_timer(struct port *port)
{
	if (port->timer != 0 && timer_cancel_call(port->timer))
		port_unref(port); /* never the last: who holds it has one */
	port->timer = 0;
}

uint64_t port_read_timer(const struct port *port)
{
	uint64_t now = timer_now_ms();

	return port->timer != 0 && port->timer_ms > now ? port->timer_ms - now : 0;
}

void port_set_timer(struct port *port, uint64_t ms)
{
	port_cancel_timer(port);
	port->timer_task.run = run_timer;
	port->timer_ms = timer_now_ms() + ms;
	port_ref(port);
	port->timer = timer_start_call(ms, fire, port);
}

/* ---- the pool */

static void run_async_done(struct port *port, struct port_task *task)
{
	(void)task;
	port->write_job_runs = false;
	port_enter(port, SMALL(0));
	if (PROBE_ON(driver__ready_async))
		probe_driver__ready_async(port, port->owner);
	port->driver->ready_async(port);
	port_leave(port, SMALL(0));
}

void port_async_start(struct port *port)
{
	port->write_job.port = port->id;
	port->write_job_runs = true;
	port_ref(port);
	async_submit(&port->write_job);
}

void port_async_done(struct port *port)
{
	port->write_job_done.run = run_async_done;
	port_submit(port, &port->write_job_done);
	port_unref(port);
}
