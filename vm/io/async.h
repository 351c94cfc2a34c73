/* SPDX-License-Identifier: Apache-2.0 */
/* The async pool (`+A N`): threads that run what would block a scheduler, from one queue.
 * Invariant: a job runs once; jobs begin in the order they came. */
#ifndef VM_IO_ASYNC_H
#define VM_IO_ASYNC_H

#include "term/term.h"

#define ASYNC_THREADS_MAX 1024

struct async_job {
	struct async_job *next;
	void (*run)(struct async_job *job); /* on a pool thread; may free the job */
	Term port;                          /* whom the probes name */
	/* For who reads our memory: the process that waits for it, or 0; CLOCK_MONOTONIC when it came, and when a
	 * thread began it, or 0. */
	Term asker;
	int64_t came_ns, began_ns;
};

/* A thread starts when no idle one is left for a job. threads 0: async_submit runs the job at once. */
void async_init(unsigned threads);
unsigned async_thread_count(void);
/* Any thread.
 * Owns: the job passes to its `run`. */
void async_submit(struct async_job *job);
/* Jobs waiting or running now. */
size_t async_pending_count(void);

#endif
