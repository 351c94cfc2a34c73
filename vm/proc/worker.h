/* SPDX-License-Identifier: Apache-2.0 */
/* Worker threads: they do what takes long and cannot give way in between, so that no scheduler is held by it. */
#ifndef VM_PROC_WORKER_H
#define VM_PROC_WORKER_H

/* Two kinds of work, each with threads of its own, so that work which ends soon never waits behind work that may not end. */
enum worker_lane {
	WORKER_BOUNDED,      /* as long as its data is large: collections, copies, the end of tables and processes */
	WORKER_UNBOUNDED,    /* as long as somebody wants it to be: regular expressions */
	WORKER_LANES
};

struct worker_job {
	struct worker_job *next;
	void (*run)(struct worker_job *job); /* on a worker thread, where sched_self() is NULL; may free the job */
};

/* bounded: how many threads there may be in that lane. */
void worker_init(unsigned bounded);
/* Any thread. Jobs of a lane begin in the order they came; a thread is started when none is idle.
 * Owns: the job passes to its `run`. */
void worker_submit(enum worker_lane lane, struct worker_job *job);

#endif
