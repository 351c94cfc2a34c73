/* SPDX-License-Identifier: Apache-2.0 */
/* Worker threads. Invariant: no job of a lane waits while a thread of it is idle, or can still be started. */
#include "proc/worker.h"

#include <stdbool.h>
#include <stdio.h>

#include "base/lock.h"
#include "base/log.h"
#include "proc/batch.h"

/* A thread for each: the system lets them run in turn, so that one that does not end keeps nobody from theirs. */
enum { UNBOUNDED_THREADS = 256 };

struct lane {
	const char *name;
	struct lock lock;
	struct cond filled;
	struct worker_job *first, **last; /* lock */
	unsigned length;                  /* lock: jobs that wait */
	unsigned started, idle, most;     /* lock: threads */
};

static struct lane lanes[WORKER_LANES] = {
	[WORKER_BOUNDED] = { .name = "worker" },
	[WORKER_UNBOUNDED] = { .name = "matcher", .most = UNBOUNDED_THREADS },
};

void worker_init(unsigned bounded)
{
	lanes[WORKER_BOUNDED].most = bounded;
	for (int i = 0; i < WORKER_LANES; i++) {
		lock_init(&lanes[i].lock, LOCK_worker_queue);
		cond_init(&lanes[i].filled);
		lanes[i].last = &lanes[i].first;
	}
}

static struct worker_job *take_job(struct lane *l)
{
	struct worker_job *job;

	lock_acquire(&l->lock);
	l->idle++;
	while (l->first == NULL)
		batch_wait(&l->filled, &l->lock);
	l->idle--;
	l->length--;
	job = l->first;
	l->first = job->next;
	if (l->first == NULL)
		l->last = &l->first;
	lock_release(&l->lock);
	return job;
}

static void *run_jobs(void *arg)
{
	for (;;) {
		struct worker_job *job = take_job(arg);

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
	*l->last = job;
	l->last = &job->next;
	/* those that were woken and have not run yet still count as idle */
	if (++l->length > l->idle && l->started < l->most)
		start_thread(l);
	lock_release(&l->lock);
	cond_signal(&l->filled);
}
