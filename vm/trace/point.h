/* SPDX-License-Identifier: Apache-2.0 */
/* Trace points: functions with a pattern, and what is known of their calls, by session.
 * Invariant: a point stands in code exactly while it has parts, a part while its kinds are not 0. */
#ifndef VM_TRACE_POINT_H
#define VM_TRACE_POINT_H

#include "code/breakpoint.h"
#include "ets/match.h"
#include "trace/measure.h"

/* A session's. */
struct point_part {
	struct point_part *next;
	struct trace_session *session; /* counted */
	unsigned kinds;      /* enum trace_kind */
	bool count_paused, is_paused[MEASURES];
	struct match_program *program, *meta_program; /* counted; NULL: every call */
	_Atomic Term meta_tracer; /* NIL: gone */
	_Atomic uint64_t count;
	struct measures measures;
};

struct point {
	struct breakpoint breakpoint; /* first */
	bool at_receive;     /* its function begins with a receive */
	struct point_part *first;
};

/* How many functions have one now. */
size_t point_count(void);
void point_init(void);
/* s is over, and nobody looks at it. */
void point_forget(struct trace_session *s);
/* call.c: wires what happens at breakpoints. */
void point_call_init(void);

#endif
