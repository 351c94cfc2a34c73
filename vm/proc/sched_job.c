/* SPDX-License-Identifier: Apache-2.0 */
/* One list of jobs for all schedulers. Invariant: sched_jobs counts the list; it is raised before somebody looks for
 * idle schedulers, who look at it once more after they have said that they are idle, so that no job is slept
 * through. */
#include "proc/sched_job.h"

#include "base/lock.h"
#include "proc/sched.h"

atomic_size_t sched_jobs;
static struct {
	struct lock lock;
	struct sched_job *first, **last; /* lock */
} jobs;

void sched_job_init(void)
{
	lock_init(&jobs.lock, LOCK_sched_jobs);
	jobs.first = NULL;
	jobs.last = &jobs.first;
	atomic_store(&sched_jobs, 0);
}

void sched_job_submit(struct sched_job *job)
{
	job->next = NULL;
	lock_acquire(&jobs.lock);
	*jobs.last = job;
	jobs.last = &job->next;
	atomic_fetch_add(&sched_jobs, 1);
	lock_release(&jobs.lock);
	if (!sched_is_between_slices())
		sched_wake_idle();
}

bool sched_job_run(void)
{
	struct sched_job *job;
	bool more;

	lock_acquire(&jobs.lock);
	job = jobs.first;
	if (job != NULL) {
		jobs.first = job->next;
		if (jobs.first == NULL)
			jobs.last = &jobs.first;
		atomic_fetch_sub(&sched_jobs, 1);
	}
	more = jobs.first != NULL;
	lock_release(&jobs.lock);
	if (job == NULL)
		return false;
	if (more)
		sched_wake_idle();
	job->run(job);
	return true;
}
