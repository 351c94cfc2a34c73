/* SPDX-License-Identifier: Apache-2.0 */
/* Worker threads: they do what takes long and cannot give way in between, so that no scheduler is held by it. */
#ifndef VM_PROC_WORKER_H
#define VM_PROC_WORKER_H

#include <stdbool.h>

/* Kinds of work, each with threads of its own, so that work which ends soon never waits behind work that may not
 * end. */
enum worker_lane {
	WORKER_BOUNDED,      /* as long as its data is large: collections, copies, the end of tables and processes */
	/* as long as somebody wants it to be: regular expressions; they take turns, see worker_pause */
	WORKER_TURNS,
	WORKER_ONE,          /* the same, where nothing can be heard meanwhile: one at a time */
	WORKER_LANES
};

struct worker_job {
	struct worker_job *next, **link;     /* in the queue; link: what points to it, NULL once it was taken */
	void (*run)(struct worker_job *job); /* on a worker thread, where sched_self() is NULL; may free the job */
};

/* bounded: how many threads there may be in that lane. turns: see worker_set_turns. */
void worker_init(unsigned bounded, unsigned turns);
/* Any thread. Jobs of a lane begin in the order they came; a thread is started when none is idle.
 * Owns: the job passes to its `run`. */
void worker_submit(enum worker_lane lane, struct worker_job *job);
/* Takes back a job that has not begun. Any thread; the job was not freed. Fails: false when it has. */
bool worker_cancel(enum worker_lane lane, struct worker_job *job);
/* So many jobs of WORKER_TURNS run at a time, each on its own thread. */
void worker_set_turns(unsigned most);
/* A job of WORKER_TURNS calls it as often as it can. When others wait and its turn has lasted some milliseconds, it
 * returns in its next. */
void worker_pause(void);
/* Does a job wait for a turn? Any thread. */
bool worker_turns_are_wanted(void);

#endif
