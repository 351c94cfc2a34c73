/* SPDX-License-Identifier: Apache-2.0 */
/* Ends of processes on worker threads. */
#include <unistd.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "proc/sched.h"
#include "proc/sched_world.h"
#include "proc/worker.h"

struct apart_job {
	struct worker_job job; /* first */
	Process *p;
	void (*end)(Process *p);
};

enum { WOKEN_AT_ONCE = 256, CROWD = 256 /* in the run queues */, PAUSE_US = 50, PAUSES_NS = 2000000 };

static _Thread_local unsigned woken; /* since the last pause */

static void run_apart(struct worker_job *job)
{
	struct apart_job a = *(struct apart_job *)job;

	mem_free(job);
	sched_world_enter_apart();
	a.end(a.p);
	atomic_fetch_sub_explicit(&sched_others, 1, memory_order_release);
	sched_world_leave_apart();
}

void sched_end_pause(void)
{
	int64_t until;

	if (sched_self() != NULL || ++woken < WOKEN_AT_ONCE)
		return;
	woken = 0;
	until = clock_monotonic_ns() + PAUSES_NS;
	while (sched_run_queue_length() > CROWD && !sched_world_is_stopping() && clock_monotonic_ns() < until)
		usleep(PAUSE_US);
}

void sched_end_apart(Process *p, void (*end)(Process *p))
{
	struct apart_job *a = mem_alloc(sizeof(*a));

	*a = (struct apart_job){ .job.run = run_apart, .p = p, .end = end };
	sched_leave(p);
	atomic_fetch_add_explicit(&sched_others, 1, memory_order_relaxed);
	worker_submit(WORKER_BOUNDED, &a->job);
}
