/* SPDX-License-Identifier: Apache-2.0 */
/* Trace points: functions with a pattern, and what is known of their calls.
 * Invariant: a point stands in code exactly while kinds is not 0; its number is never used again. */
#ifndef VM_TRACE_POINT_H
#define VM_TRACE_POINT_H

#include "base/lock.h"
#include "code/breakpoint.h"
#include "ets/match.h"

struct point_time {
	Term pid;            /* TERM_NONE: free */
	uint64_t count;
	int64_t ns;
};

struct point {
	struct breakpoint breakpoint; /* first */
	uint32_t number;     /* of one whose time was ever asked for, from 1; or 0 */
	unsigned kinds;      /* enum trace_kind */
	bool count_paused, time_paused;
	bool at_receive;     /* its function begins with a receive */
	struct match_program *program, *meta_program; /* counted; NULL: every call */
	_Atomic Term meta_tracer; /* NIL: gone */
	_Atomic uint64_t count;
	struct point_time *times; /* by pid, open addressing; the room's lock */
	uint32_t times_used, times_room;
};

/* How many functions have one now. */
size_t point_count(void);
/* call_time: p begins, or goes on in, the function with that number (0: none); what ran before is counted. called: as a call of it.
 * Returns the number of what ran before. */
uint32_t point_switch_time(Process *p, uint32_t number, bool called);
void point_init(void);
/* call.c: wires what happens at breakpoints. */
void point_call_init(void);

#endif
