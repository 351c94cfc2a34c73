/* SPDX-License-Identifier: Apache-2.0 */
/* system_monitor and system_profile: events of every process, told to one.
 * Source: erlang:system_monitor/2, erlang:system_profile/2 of OTP 25's reference manual. */
#ifndef VM_TRACE_WATCH_H
#define VM_TRACE_WATCH_H

#include "proc/tracee.h"

struct watch_limits {
	Term pid;            /* NIL: nobody */
	uint64_t long_gc_ms, long_schedule_ms, large_heap_words; /* 0: not wanted */
	bool busy_port, busy_dist_port;
	uint32_t long_queue, short_queue; /* told when one is as long as that, and as short again; long 0: not wanted */
	uint32_t number;     /* of these limits, from 1; watch_set_limits gives it */
};
struct watch_profile {
	Term pid;            /* or a port; NIL: nobody */
	bool scheduler, processes, ports, exclusive;
	uint32_t time;       /* enum trace_flag: one of the three times */
};

/* Who is told now; one that is gone is nobody. */
struct watch_limits watch_limits(void);
struct watch_profile watch_profile(void);
/* Collections last so much longer while somebody wants to hear of long ones: for tests of that. */
extern _Atomic int64_t watch_gc_sleep_ms;
/* What a native of p returns (proc/await.h) when all threads go by the new ones: `tell` of those before. */
Term watch_set_limits(Process *p, const struct watch_limits *wanted,
		      Term (*tell)(Process *p, const struct watch_limits *before));
Term watch_set_profile(Process *p, const struct watch_profile *wanted,
		       Term (*tell)(Process *p, const struct watch_profile *before));

/* ---- between the files of the room */
/* Does anybody watch? */
bool watch_is_on(void);
void watch_slice_began(Process *p, bool waited);
void watch_slice_ended(Process *p, bool waits);
void watch_gc_began(void);
void watch_gc_ended(Process *p);
void watch_queue_changed(Process *p, Term id, uint32_t length);
void watch_port_busy(Process *p, Term port);
void watch_dist_busy(Process *p, Term controller);
/* Any thread. */
void watch_port_began(Term port);
void watch_port_ended(Term port);
void watch_port_worked(Term port, Term what, int64_t ns); /* what: see port_worked of proc/tracee.h */
void watch_sched_idle(unsigned id);

#endif
