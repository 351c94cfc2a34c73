/* SPDX-License-Identifier: Apache-2.0 */
/* Microstate accounting of all threads: schedulers (proc/micro.h), and those that only work or sleep, dirty schedulers
 * and threads that poll. Whether somebody counts is said here. */
#ifndef VM_PROC_MICRO_THREADS_H
#define VM_PROC_MICRO_THREADS_H

#include "proc/dirty.h"
#include "proc/micro.h"

/* Threads that poll: how many, and how long one (from 0) has worked so far. Wired by io/poll.c. */
extern struct micro_threads {
	unsigned count;
	int64_t (*busy_ns)(unsigned i);
} micro_poll_threads;

/* Before the first scheduler. */
void micro_threads_init(void);
/* What a native of p returns (proc/await.h): how it was before. Counts, or not, from then on. */
Term micro_switch(Process *p, bool on);
/* All begin with 0 again. Returns whether somebody counts. */
bool micro_reset(void);
/* As micro_read, of the dirty scheduler of that number, from 1. */
void micro_read_dirty(enum dirty_kind kind, unsigned number, int64_t ns[MICRO_STATES]);
/* The same of the poll thread of that number, from 0. */
void micro_read_poll(unsigned number, int64_t ns[MICRO_STATES]);

#endif
