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
	Term asker;                         /* the process that waits for it, for who reads our memory; 0: nobody */
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
