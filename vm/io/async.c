/* SPDX-License-Identifier: Apache-2.0 */
/* The async pool. Invariant: no job waits while a thread is idle, or can still be started. */
#include "io/async.h"

#include <stdatomic.h>
#include <stdio.h>

#include "base/alloc.h"
#include "base/lock.h"
#include "base/log.h"
#include "io/io_probe.h"

static struct {
	unsigned count;
	struct lock lock;
	struct cond filled;
	struct async_job *first, **last; /* lock */
	unsigned length;                 /* lock: jobs that wait */
	unsigned started, idle;          /* lock: threads */
	atomic_size_t pending;
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

static struct async_job *take_job(void)
{
	struct async_job *job;
	unsigned length;

	lock_acquire(&pool.lock);
	pool.idle++;
	while (pool.first == NULL)
		cond_wait(&pool.filled, &pool.lock);
	pool.idle--;
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
	(void)arg;
	for (;;) {
		struct async_job *job = take_job();

		job->run(job);
		atomic_fetch_sub_explicit(&pool.pending, 1, memory_order_relaxed);
	}
	return NULL;
}

/* Pool lock held. Fails: false when the system refuses a further one. */
static bool start_thread(void)
{
	char name[24];
	thread_id id;
	int error;

	snprintf(name, sizeof(name), "async_%u", pool.started + 1);
	error = thread_start(&id, name, run_jobs, NULL);
	if (error != 0 && pool.started == 0)
		log_refused("start a thread for file operations", -error);
	pool.started += error == 0;
	return error == 0;
}

void async_submit(struct async_job *job)
{
	if (pool.count == 0) {
		job->run(job);
		return;
	}
	job->next = NULL;
	atomic_fetch_add_explicit(&pool.pending, 1, memory_order_relaxed);
	lock_acquire(&pool.lock);
	*pool.last = job;
	pool.last = &job->next;
	pool.length++;
	if (PROBE_ON(aio_pool__add))
		probe_aio_pool__add(job->port, (int)pool.length);
	/* Threads that were woken and have not run yet count as idle. */
	if (pool.length <= pool.idle || pool.started == pool.count || !start_thread())
		cond_signal(&pool.filled);
	lock_release(&pool.lock);
}

size_t async_pending_count(void)
{
	return atomic_load_explicit(&pool.pending, memory_order_relaxed);
}
