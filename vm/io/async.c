/* SPDX-License-Identifier: Apache-2.0 */
/* The async pool. Invariant: `load` of a queue is its waiting jobs and the running one; only a thread that was
 * started takes jobs from its queue. */
#include "io/async.h"

#include <stdatomic.h>
#include <stdio.h>

#include "base/alloc.h"
#include "base/lock.h"
#include "base/log.h"
#include "io/io_probe.h"

struct async_queue {
	struct lock lock;
	struct cond filled;
	struct async_job *first, **last; /* lock */
	unsigned length;                 /* lock: jobs that wait */
	atomic_uint load;
	bool started;                    /* lock */
	thread_id thread;
} __attribute__((aligned(64)));

static struct {
	unsigned count;
	struct async_queue *queues;
} pool;

void async_init(unsigned threads)
{
	ENSURE(threads <= ASYNC_THREADS_MAX);
	pool.count = threads;
	pool.queues = mem_zalloc(sizeof(struct async_queue) * (threads + 1));
	for (unsigned i = 0; i < threads; i++) {
		struct async_queue *q = &pool.queues[i];

		lock_init(&q->lock, LOCK_async_queue);
		cond_init(&q->filled);
		q->last = &q->first;
	}
}

unsigned async_thread_count(void)
{
	return pool.count;
}

static struct async_job *take_job(struct async_queue *q)
{
	struct async_job *job;
	unsigned length;

	lock_acquire(&q->lock);
	while (q->first == NULL)
		cond_wait(&q->filled, &q->lock);
	job = q->first;
	q->first = job->next;
	if (q->first == NULL)
		q->last = &q->first;
	length = --q->length;
	lock_release(&q->lock);
	if (PROBE_ON(aio_pool__get))
		probe_aio_pool__get(job->port, (int)length);
	return job;
}

static void *run_queue(void *arg)
{
	struct async_queue *q = arg;

	for (;;) {
		struct async_job *job = take_job(q);

		job->run(job);
		atomic_fetch_sub_explicit(&q->load, 1, memory_order_relaxed);
	}
	return NULL;
}

static void start_thread(struct async_queue *q)
{
	char name[16];
	int err;

	snprintf(name, sizeof(name), "async_%u", (unsigned)(q - pool.queues) + 1);
	err = thread_start(&q->thread, name, run_queue, q);
	if (err != 0)
		log_line("erlvm: no thread for the async pool: error %d", -err);
	ENSURE(err == 0);
	q->started = true;
}

/* The lowest idle queue keeps the warm threads busy; the others may never start. */
static struct async_queue *choose_queue(void)
{
	struct async_queue *best = &pool.queues[0];
	unsigned best_load = atomic_load_explicit(&best->load, memory_order_relaxed);

	for (unsigned i = 1; i < pool.count && best_load != 0; i++) {
		unsigned load = atomic_load_explicit(&pool.queues[i].load, memory_order_relaxed);

		if (load < best_load) {
			best = &pool.queues[i];
			best_load = load;
		}
	}
	return best;
}

void async_submit(struct async_job *job)
{
	Term port = job->port;
	struct async_queue *q;
	unsigned length;

	if (pool.count == 0) {
		job->run(job);
		return;
	}
	q = choose_queue();
	job->next = NULL;
	atomic_fetch_add_explicit(&q->load, 1, memory_order_relaxed);
	lock_acquire(&q->lock);
	if (!q->started)
		start_thread(q);
	*q->last = job;
	q->last = &job->next;
	length = ++q->length;
	if (PROBE_ON(aio_pool__add))
		probe_aio_pool__add(port, (int)length);
	cond_signal(&q->filled);
	lock_release(&q->lock);
}

size_t async_pending_count(void)
{
	size_t sum = 0;

	for (unsigned i = 0; i < pool.count; i++)
		sum += atomic_load_explicit(&pool.queues[i].load, memory_order_relaxed);
	return sum;
}
