/* SPDX-License-Identifier: Apache-2.0 */
/* Ends of processes on worker threads. */
#include "base/alloc.h"
#include "proc/sched.h"
#include "proc/sched_world.h"
#include "proc/worker.h"

struct apart_job {
	struct worker_job job; /* first */
	Process *p;
	void (*end)(Process *p);
};

static void run_apart(struct worker_job *job)
{
	struct apart_job a = *(struct apart_job *)job;

	mem_free(job);
	sched_world_enter_apart();
	a.end(a.p);
	atomic_fetch_sub_explicit(&sched_others, 1, memory_order_release);
	sched_world_leave_apart();
}

void sched_end_apart(Process *p, void (*end)(Process *p))
{
	struct apart_job *a = mem_alloc(sizeof(*a));

	*a = (struct apart_job){ .job.run = run_apart, .p = p, .end = end };
	sched_leave(p);
	atomic_fetch_add_explicit(&sched_others, 1, memory_order_relaxed);
	worker_submit(WORKER_BOUNDED, &a->job);
}
