/* SPDX-License-Identifier: Apache-2.0 */
/* The async pool. Invariant: no job waits while a thread is idle, or can still be started. Where a job came less than
 * SPIN_NS after a thread ran out of them, that is expected again, and one thread at a time looks out so long before it
 * sleeps: most file operations take less than falling asleep and waking. The first wait in vain is the last. That is
 * asked of the pool: a thread that others took turns with has not run out of jobs, it has slept. */
#include "io/async.h"

#include <stdatomic.h>
#include <stdio.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/lock.h"
#include "base/log.h"
#include "io/io_probe.h"
#include "layout.h"
#include "proc/batch.h"

static struct {
	unsigned count;
	struct lock lock;
	struct cond filled;
	struct async_job *first, **last; /* lock */
	_Atomic unsigned length;         /* written under the lock: jobs that wait */
	unsigned started, idle;          /* lock: threads */
	unsigned spinning;               /* lock: 1 while an idle thread is awake */
	int64_t idle_since_ns;           /* lock: when a thread last ran out of jobs */
	bool spins;                      /* lock: the last job came soon after that */
	atomic_size_t pending;
	_Atomic(struct async_job *) running[ASYNC_THREADS_MAX]; /* by thread; read from outside alone */
} pool;

void async_init(unsigned threads)
{
	ENSURE(threads <= ASYNC_THREADS_MAX);
	pool.count = threads;
	pool.last = &pool.first;
	lock_init(&pool.lock, LOCK_async_queue);
	cond_init(&pool.filled);
}

unsigned async_thread_count(void)
{
	return pool.count;
}

/* Pool lock held. */
static void spin(int64_t since)
{
	pool.spinning = 1;
	lock_release(&pool.lock);
	while (atomic_load_explicit(&pool.length, memory_order_relaxed) == 0 && thread_spin(since))
		;
	lock_acquire(&pool.lock);
	pool.spinning = 0;
	pool.spins = pool.first != NULL;
}

/* Pool lock held. */
static void await_job(void)
{
	int64_t since = clock_monotonic_ns();

	pool.idle++;
	pool.idle_since_ns = since;
	if (pool.spins && pool.spinning == 0)
		spin(since);
	while (pool.first == NULL)
		batch_wait(WAIT_work, &pool.filled, &pool.lock);
	pool.idle--;
}

static struct async_job *take_job(void)
{
	struct async_job *job;
	unsigned length;

	lock_acquire(&pool.lock);
	if (pool.first == NULL)
		await_job();
	job = pool.first;
	pool.first = job->next;
	if (pool.first == NULL)
		pool.last = &pool.first;
	length = --pool.length;
	lock_release(&pool.lock);
	if (PROBE_ON(aio_pool__get))
		probe_aio_pool__get(job->port, (int)length);
	return job;
}

static void *run_jobs(void *arg)
{
	_Atomic(struct async_job *) *running = arg;

	for (;;) {
		struct async_job *job = take_job();

		job->began_ns = clock_monotonic_ns();
		atomic_store_explicit(running, job, memory_order_release);
		job->run(job);
		atomic_store_explicit(running, NULL, memory_order_relaxed);
		atomic_fetch_sub_explicit(&pool.pending, 1, memory_order_relaxed);
	}
	return NULL;
}

/* Pool lock held. Fails: false when the system refuses a further one. */
static bool start_thread(void)
{
	char name[24];
	int error;

	snprintf(name, sizeof(name), "async_%u", pool.started + 1);
	error = thread_start(name, run_jobs, &pool.running[pool.started]);
	if (error != 0 && pool.started == 0)
		log_refused("start a thread for file operations", -error);
	pool.started += error == 0;
	return error == 0;
}

/* Pool lock held. Threads that were woken and have not run yet count as idle. */
static bool must_wake(void)
{
	if (pool.length <= pool.spinning)
		return false;
	return pool.length <= pool.idle || pool.started == pool.count || !start_thread();
}

void async_submit(struct async_job *job)
{
	bool wake;

	if (pool.count == 0) {
		job->run(job);
		return;
	}
	job->next = NULL;
	job->began_ns = 0;
	atomic_fetch_add_explicit(&pool.pending, 1, memory_order_relaxed);
	lock_acquire(&pool.lock);
	*pool.last = job;
	pool.last = &job->next;
	pool.length++;
	job->came_ns = clock_monotonic_ns();
	pool.spins = job->came_ns - pool.idle_since_ns < SPIN_NS;
	if (PROBE_ON(aio_pool__add))
		probe_aio_pool__add(job->port, (int)pool.length);
	wake = must_wake();
	lock_release(&pool.lock);
	if (wake)
		cond_signal(&pool.filled); /* without the lock, which the woken one takes */
}

size_t async_pending_count(void)
{
	return atomic_load_explicit(&pool.pending, memory_order_relaxed);
}

/* For who reads our memory from outside. */
static const uint32_t layout_numbers[] = {
#define LAYOUT_ASYNC LAYOUT_NUMBER
#include "layout.def"
};
LAYOUT_PART(layout_async, pool);
