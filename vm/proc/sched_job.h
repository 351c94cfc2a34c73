/* SPDX-License-Identifier: Apache-2.0 */
/* Work for schedulers that is no process: what ports have to do. A scheduler runs one job between two time slices, so
 * that neither jobs nor processes wait for all of the others.
 * Invariant: a job runs once for each time it was submitted, on a scheduler, while the world is not stopped. */
#ifndef VM_PROC_SCHED_JOB_H
#define VM_PROC_SCHED_JOB_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

struct sched_job {
	struct sched_job *next;
	void (*run)(struct sched_job *job); /* may free the job, or submit it again */
};

void sched_job_init(void);
/* Jobs begin in the order they came. Any thread.
 * Owns: the job, until it runs. */
void sched_job_submit(struct sched_job *job);
/* Runs the first on this thread: for schedulers, and tests without any. Returns false when there is none. */
bool sched_job_run(void);
/* Are there any? */
extern atomic_size_t sched_jobs;
static inline bool sched_job_waits(void)
{
	return atomic_load(&sched_jobs) != 0;
}

#endif
