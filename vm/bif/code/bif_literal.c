/* SPDX-License-Identifier: Apache-2.0 */
/* Built-in functions: of the process that frees literals (erts_literal_area_collector). It switches to what was
 * released, asks every process to copy, and switches on when all have answered. */
#include "bif/code/bif_literal.h"

#include "base/alloc.h"
#include "base/lock.h"
#include "bif/bif.h"
#include "bif/proc/process_call.h"
#include "heap/copy.h"
#include "proc/message.h"
#include "proc/process_gc.h"
#include "proc/process_life.h"
#include "proc/sched.h"

enum { BEHIND_WORDS = LITERAL_RANGE_BYTES / sizeof(Term) / 4 };

struct waiter {
	struct waiter *next;
	Term pid;
};

static struct {
	struct lock lock;
	_Atomic Term pid;    /* of the collector, or TERM_NONE */
	atomic_bool is_told; /* of areas that it has not switched to yet: one message is enough for all of them */
	struct waiter *waiters; /* suspended until areas are freed */
} collector;

void bif_literal_init(void)
{
	lock_init(&collector.lock, LOCK_literal_collector);
	atomic_init(&collector.pid, TERM_NONE);
}

void bif_literal_set_collector(Term pid)
{
	atomic_store(&collector.pid, pid);
}

/* TERM_NONE: there is room for no process. */
static Term find_collector(void)
{
	struct spawn_options o = SPAWN_OPTIONS_DEFAULT;
	Term pid = atomic_load(&collector.pid);

	if (pid != TERM_NONE)
		return pid;
	o.off_heap_messages = o.system = true;
	o.priority = PRIO_HIGH;
	lock_acquire(&collector.lock);
	pid = atomic_load(&collector.pid);
	if (pid == TERM_NONE) {
		pid = process_spawn(NULL, am_erts_literal_area_collector, am_start, NIL, &o, NULL);
		atomic_store(&collector.pid, pid);
	}
	lock_release(&collector.lock);
	return pid;
}

void bif_literal_collect(struct literal_area *chain)
{
	Term pid;

	if (chain == NULL)
		return;
	literal_release(chain);
	if (atomic_exchange(&collector.is_told, true))
		return;
	pid = find_collector();
	if (pid != TERM_NONE)
		message_send(NULL, pid, am_copy_literals);
	else
		atomic_store(&collector.is_told, false);
}

/* ---- waiting for room */

bool bif_literal_is_behind(void)
{
	return literal_released_words() > BEHIND_WORDS;
}

Term bif_literal_wait(Process *p, const struct export *again, unsigned n, const Term *args)
{
	lock_acquire(&collector.lock);
	if (literal_released_words() > 0) {
		struct waiter *w = mem_alloc(sizeof(*w));

		*w = (struct waiter){ collector.waiters, p->id };
		collector.waiters = w;
		process_suspend_self(p);
	}
	lock_release(&collector.lock);
	return exc_trap(p, again, n, args);
}

static void resume_waiters(void)
{
	struct waiter *w, *next;

	lock_acquire(&collector.lock);
	w = collector.waiters;
	collector.waiters = NULL;
	lock_release(&collector.lock);
	for (; w != NULL; w = next) {
		next = w->next;
		signal_send_plain(SIG_RESUME, TERM_NONE, w->pid, TERM_NONE);
		mem_free(w);
	}
}

/* ---- what the collector calls */

static bool is_collector(const Process *p)
{
	return p->id == atomic_load(&collector.pid);
}

static void switch_stopped(void *arg)
{
	literal_switch(arg);
}

Term bif_erts_literal_area_collector_release_area_switch_0(Process *p, Term *args)
{
	struct literal_change change;
	bool any;

	(void)args;
	if (!is_collector(p))
		return exc_error(p, am_notsup);
	atomic_store(&collector.is_told, false);
	sched_lend();
	literal_prepare(&change);
	sched_reclaim();
	any = change.count > 0;
	sched_stop_world(switch_stopped, &change);
	if (change.count > 0) {
		sched_lend();
		literal_free(literal_finish(&change));
		sched_reclaim();
		resume_waiters();
	} else {
		literal_finish(&change);
	}
	return term_from_bool(any);
}

static void answer_copied(void *arg)
{
	process_call_answer(arg, am_ok);
}

static Term copy_literals(Process *p, struct process_call *c)
{
	if (p == NULL)
		return am_ok;
	message_copy_literals(p);
	process_copy_literals(p, answer_copied, c);
	return TERM_NONE;
}

/* {copy_literals, {AreaId, How, Pid}, ok} is the answer. How: all is done at the next safe point, whatever it says. */
Term bif_erts_literal_area_collector_send_copy_request_3(Process *p, Term *args)
{
	struct process_call *c;

	if (!is_collector(p))
		return exc_error(p, am_notsup);
	if (!term_is_local_pid(args[0]) || (args[2] != am_init && args[2] != am_check_gc && args[2] != am_need_gc))
		return exc_badarg(p);
	c = process_call_new(copy_literals, p->id, heap_ref(&p->heap, 0), 0);
	process_call_tag(c, am_copy_literals, heap_tuple(&p->heap, args[1], args[2], args[0]));
	process_call_send(args[0], c);
	return am_ok;
}
