/* SPDX-License-Identifier: Apache-2.0 */
/* call_time and call_memory: what functions take, by process and session. Of each a process runs one function at a
 * time, the one called last, until that returns; what it takes meanwhile counts there. */
#ifndef VM_TRACE_MEASURE_H
#define VM_TRACE_MEASURE_H

#include "trace/session.h"

/* Of one function, by pid: open addressing; private, under a lock. */
struct measure_table {
	struct measure_row {
		Term pid;            /* TERM_NONE: free */
		uint64_t count;
		int64_t sum;         /* nanoseconds, or words */
	} *rows;
	uint32_t used, room;
};
/* The tables of a function in a session. */
struct measures {
	uint32_t number;             /* from 1, never used again; 0: nothing was ever measured */
	struct measure_table tables[MEASURES];
};

void measure_init(void);
/* Gives it a number. Owns: the caller, until measures_forget. */
void measures_enter(struct measures *m);
void measures_forget(struct measures *m);
void measures_clear(struct measures *m, enum trace_measure which);
/* [{Pid, Count, Seconds, MicroSeconds}] or [{Pid, Count, Words}] */
Term measures_list(struct measures *m, enum trace_measure which, struct heap *h);
/* p begins, or goes on in, the function with that number (0: none) as that session sees it; what ran before is counted.
 * called: as a call of it. Returns the number of what ran before. */
uint32_t measure_switch(Process *p, struct traced *t, enum trace_measure which, uint32_t number, bool called);
void measure_slice_began(Process *p);
void measure_slice_ended(Process *p, bool exits);
void measure_gc_began(Process *p);
void measure_gc_ended(Process *p);

#endif
