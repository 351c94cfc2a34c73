/* SPDX-License-Identifier: Apache-2.0 */
/* system_monitor and system_profile: events of every process.
 * Each trace session may have limits of its own, which go to its tracer (trace:system/3).
 * Source: erlang:system_monitor/2, erlang:system_profile/2 of OTP 25's reference manual, trace:system/3 of OTP 29's. */
#ifndef VM_TRACE_WATCH_H
#define VM_TRACE_WATCH_H

#include "trace/session.h"

struct watch_limits {
	struct trace_session *session; /* the default one: erlang:system_monitor's */
	Term pid;            /* NIL: nobody */
	uint64_t long_gc_ms, long_schedule_ms, large_heap_words; /* 0: not wanted */
	bool busy_port, busy_dist_port;
	uint32_t long_queue, short_queue; /* told when one is as long as that, and as short again; long 0: not wanted */
	/* of queues, for watch.c: its bit in a process's told_long, and by which change of limits it has that */
	uint8_t slot;
	uint32_t since;
};
/* Which of them. */
enum {
	WATCH_LONG_GC = 1, WATCH_LONG_SCHEDULE = 2, WATCH_LARGE_HEAP = 4, WATCH_BUSY_PORT = 8,
	WATCH_BUSY_DIST_PORT = 16, WATCH_QUEUE = 32, WATCH_ALL = 63,
};
struct watch_profile {
	Term pid;            /* or a port; NIL: nobody */
	bool scheduler, processes, ports, exclusive;
	uint32_t time;       /* enum trace_flag: one of the three times */
};

void watch_init(void);
/* Who is told now; one that is gone is nobody. */
struct watch_limits watch_limits(const struct trace_session *s);
struct watch_profile watch_profile(void);
/* [{Event, Limit} | Event] on h. */
Term watch_put_limits(struct heap *h, const struct watch_limits *w);
/* Collections last so much longer while somebody wants to hear of long ones: for tests of that. */
extern _Atomic int64_t watch_gc_sleep_ms;
/* What a native of p returns (proc/await.h) when all threads go by the new ones: `tell` of those before. Of the limits
 * of wanted->session, those that are given change. More sessions than 32 that watch queues are a system_limit. */
Term watch_set_limits(Process *p, const struct watch_limits *wanted, unsigned given,
		      Term (*tell)(Process *p, const struct watch_limits *before));
Term watch_set_profile(Process *p, const struct watch_profile *wanted,
		       Term (*tell)(Process *p, const struct watch_profile *before));
/* The session is over. */
void watch_forget(struct trace_session *s);

/* ---- between the files of the room */
/* Does anybody watch? */
bool watch_is_on(void);
void watch_slice_began(Process *p, bool waited);
void watch_slice_ended(Process *p, bool waits);
void watch_gc_began(void);
void watch_gc_ended(Process *p);
void watch_queue_changed(Process *p, Term id, uint32_t length, bool grew);
void watch_port_busy(Process *p, Term port);
void watch_dist_busy(Process *p, Term controller);
/* Any thread. */
void watch_port_began(Term port);
void watch_port_ended(Term port);
void watch_port_worked(Term port, Term what, int64_t ns); /* what: see port_worked of proc/tracee.h */
void watch_sched_idle(unsigned id);

#endif
