/* SPDX-License-Identifier: Apache-2.0 */
/* Worker threads. Invariants: no job of a lane waits while a thread of it is idle, or can still be started; no job of
 * WORKER_TURNS waits for its turn while fewer run than may. */
#include "proc/worker.h"

#include <stdio.h>

#include "base/clock.h"
#include "base/lock.h"
#include "base/log.h"
#include "proc/batch.h"

/* A thread keeps the stack of a match that waits for its next turn; matches beyond so many begin when others have
 * ended. */
enum { TURNS_THREADS = 1024, TURN_NS = 5000000, AGAIN_EVERY = 4 /* of the turns while there are first ones to give */ };

struct lane {
	const char *name;
	struct lock lock;
	struct cond filled;
	struct worker_job *first, **last; /* lock */
	unsigned length;                  /* lock: jobs that wait */
	unsigned started, idle, most;     /* lock: threads */
	bool is_background;               /* schedulers come first */
};

static struct lane lanes[WORKER_LANES] = {
	[WORKER_BOUNDED] = { .name = "worker" },
	[WORKER_TURNS] = { .name = "matcher", .most = TURNS_THREADS, .is_background = true },
	[WORKER_ONE] = { .name = "alone", .most = 1, .is_background = true },
};

/* Who waits for a turn; on its stack. */
struct waiter {
	struct waiter *next;
	struct cond cond;
	bool given;
};

struct wait_list {
	struct waiter *first, **last;
};

/* Who is new may be short: its first turn comes before most of the others. */
static struct {
	struct lock lock;
	unsigned most, running, given;    /* lock */
	struct wait_list new, again;      /* lock */
	_Atomic unsigned waiting;         /* written under the lock */
} turns;
static _Thread_local int64_t turn_end_ns;

void worker_init(unsigned bounded, unsigned most_turns)
{
	lanes[WORKER_BOUNDED].most = bounded;
	lock_init(&turns.lock, LOCK_worker_turns);
	turns.new.last = &turns.new.first;
	turns.again.last = &turns.again.first;
	turns.most = most_turns;
	for (int i = 0; i < WORKER_LANES; i++) {
		lock_init(&lanes[i].lock, LOCK_worker_queue);
		cond_init(&lanes[i].filled);
		lanes[i].last = &lanes[i].first;
	}
}

/* ---- turns */

/* Lock held. */
static struct waiter *next_waiter(void)
{
	bool is_again = turns.new.first == NULL || (turns.again.first != NULL && ++turns.given % AGAIN_EVERY == 0);
	struct wait_list *l = is_again ? &turns.again : &turns.new;
	struct waiter *w = l->first;

	if (w == NULL)
		return NULL;
	l->first = w->next;
	if (l->first == NULL)
		l->last = &l->first;
	return w;
}

/* Lock held. */
static void give_turns(void)
{
	struct waiter *w;

	while (turns.running < turns.most && (w = next_waiter()) != NULL) {
		atomic_fetch_sub(&turns.waiting, 1);
		turns.running++;
		w->given = true;
		cond_signal(&w->cond);
	}
}

/* Lock held. */
static void wait_for_turn(struct wait_list *l)
{
	struct waiter w = { 0 };

	cond_init(&w.cond);
	*l->last = &w;
	l->last = &w.next;
	atomic_fetch_add(&turns.waiting, 1);
	give_turns();
	while (!w.given)
		batch_wait(WAIT_match_turn, &w.cond, &turns.lock);
	turn_end_ns = clock_monotonic_ns() + TURN_NS;
}

bool worker_turns_are_wanted(void)
{
	return atomic_load_explicit(&turns.waiting, memory_order_relaxed) > 0;
}

static void run_in_turns(struct worker_job *job)
{
	lock_acquire(&turns.lock);
	wait_for_turn(&turns.new);
	lock_release(&turns.lock);
	job->run(job);
	lock_acquire(&turns.lock);
	turns.running--;
	give_turns();
	lock_release(&turns.lock);
}

void worker_pause(void)
{
	if (!worker_turns_are_wanted() || clock_monotonic_ns() < turn_end_ns)
		return;
	lock_acquire(&turns.lock);
	turns.running--;
	wait_for_turn(&turns.again);
	lock_release(&turns.lock);
}

void worker_set_turns(unsigned most)
{
	lock_acquire(&turns.lock);
	turns.most = most;
	give_turns();
	lock_release(&turns.lock);
}

/* ---- threads */

/* Lock held. */
static void unlink_job(struct lane *l, struct worker_job *job)
{
	*job->link = job->next;
	if (job->next != NULL)
		job->next->link = job->link;
	else
		l->last = job->link;
	job->link = NULL;
	l->length--;
}

static struct worker_job *take_job(struct lane *l)
{
	struct worker_job *job;

	lock_acquire(&l->lock);
	l->idle++;
	while (l->first == NULL)
		batch_wait(WAIT_work, &l->filled, &l->lock);
	l->idle--;
	job = l->first;
	unlink_job(l, job);
	lock_release(&l->lock);
	return job;
}

static void *run_jobs(void *arg)
{
	struct lane *l = arg;

	if (l->is_background)
		thread_be_background();
	for (;;) {
		struct worker_job *job = take_job(l);

		if (l == &lanes[WORKER_TURNS])
			run_in_turns(job);
		else
			job->run(job);
	}
	return NULL;
}

/* Lock held. */
static void start_thread(struct lane *l)
{
	char name[32];
	int error;

	snprintf(name, sizeof(name), "%s_%u", l->name, l->started + 1);
	error = thread_start(name, run_jobs, l);
	if (error != 0 && l->started == 0)
		log_refused("start a worker thread", -error);
	l->started += error == 0;
}

void worker_submit(enum worker_lane lane, struct worker_job *job)
{
	struct lane *l = &lanes[lane];

	lock_acquire(&l->lock);
	job->next = NULL;
	job->link = l->last;
	*l->last = job;
	l->last = &job->next;
	/* those that were woken and have not run yet still count as idle */
	if (++l->length > l->idle && l->started < l->most)
		start_thread(l);
	lock_release(&l->lock);
	cond_signal(&l->filled);
}

bool worker_cancel(enum worker_lane lane, struct worker_job *job)
{
	struct lane *l = &lanes[lane];
	bool waited;

	lock_acquire(&l->lock);
	waited = job->link != NULL;
	if (waited)
		unlink_job(l, job);
	lock_release(&l->lock);
	return waited;
}
