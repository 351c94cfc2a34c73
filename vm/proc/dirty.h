/* SPDX-License-Identifier: Apache-2.0 */
/* Dirty schedulers: threads for natives that are known to take long (dirty CPU) or to block (dirty I/O), so that no
 * scheduler is held by them. There are as many of each kind as +SDcpu and +SDio say, with one run queue a kind.
 *
 * A native gives its work to dirty_run and returns what that returns. Its process sleeps then in the native, as after
 * exc_wait: it handles signals on normal schedulers, answers process_info, can be suspended and killed, but neither
 * its heap nor its stack moves, so that the work may read terms of it. A thread of a dirty scheduler calls w->run with
 * a stand-in, a struct process with a heap of its own, in which the work makes terms and leaves an exception. When it
 * has ended, what it made joins the process's heap, and the process continues on a normal scheduler with the result.
 *
 * While run lasts its thread is outside of the world (proc/sched_world.h): a stop of the world does not wait for it.
 * So it may
 *   - read the terms that it was given, literals among them, and do with the stand-in's heap what natives do with a
 *     process's;
 *   - send messages by message_deliver, make atoms, count references: what is said to be for any thread;
 * and must not touch ETS tables (with one scheduler they are not locked), code, the process table's processes, timers.
 * What needs the process itself (its links, monitors, trace flags, its sending as a process) stands between dirty_hold
 * and dirty_let_go. */
#ifndef VM_PROC_DIRTY_H
#define VM_PROC_DIRTY_H

#include "proc/exc.h"
#include "proc/process.h"

enum dirty_kind { DIRTY_CPU, DIRTY_IO, DIRTY_KINDS };

/* The work. Its owner's own struct begins with it. */
struct dirty_work {
	/* On a dirty scheduler. Returns a term of the stand-in's heap or of those it was given; or TERM_NONE, with an
	 * error, exit or throw set in stand_in by exc_error and its like. */
	Term (*run)(Process *stand_in, struct dirty_work *w);
	/* Then, with p running on a normal scheduler: returns what the native returns, t most often; or an exception,
	 * or another dirty_run, exc_wait or exc_trap. t TERM_NONE: run has left an exception, which p has by now.
	 * NULL: t. */
	Term (*done)(Process *p, struct dirty_work *w, Term t);
	/* The last that is called: frees w and what it holds. It may be called without run, and without done, when p
	 * has ended. Any thread. */
	void (*drop)(struct dirty_work *w);
	struct exc_place place; /* where p is said to be meanwhile; all 0: in the native that called dirty_run */
	/* of the native, and its arguments, for the stack trace of an error: they stay where they are until drop. */
	unsigned arity;
	const Term *args;       /* NULL: the trace tells only how many there are */

	/* private to dirty.c */
	struct dirty_work *next;
	Process *p, stand_in;
	uint8_t kind, level;
	_Atomic uint8_t state;
	bool is_told;           /* who watches slices was told that p is scheduled in; written by who holds p */
	Term result;
};

/* What a native of p, which runs here, returns. w: from mem_zalloc, with what its owner fills in. Takes: w. */
Term dirty_run(Process *p, enum dirty_kind kind, struct dirty_work *w);

/* ---- called by run */

/* The process that this thread works for, as if it ran here, until dirty_let_go: shortly, without waiting for anybody,
 * and without putting into the stand-in what is of its heap since. Waits until it has handled what it got. Fails: NULL
 * when it ends or has ended. */
Process *dirty_hold(void);
void dirty_let_go(Process *p);
/* Has it not ended meanwhile? Then nobody waits for the result. */
bool dirty_is_wanted(void);
/* Does this thread belong to a dirty scheduler, and of what kind? */
bool dirty_is_here(enum dirty_kind *kind);

/* ---- for the schedulers, and the end of processes */

/* How many threads there may be of each kind, and how many dirty CPU schedulers run work at first. Before any
 * dirty_run. */
void dirty_init(unsigned cpu, unsigned cpu_online, unsigned io);
/* Has its work not begun? p runs here. */
bool dirty_is_queued(const Process *p);
/* p was suspended and is no more. p runs here. */
void dirty_look_again(Process *p);
/* The end of p has come to where its memory would be freed. True: its work still runs; that thread calls
 * process_end_memory when it has ended. */
bool dirty_keeps(Process *p);

unsigned dirty_count(enum dirty_kind kind);
unsigned dirty_online(enum dirty_kind kind);
/* So many run work now: the ones online, or none. */
unsigned dirty_active(enum dirty_kind kind);
/* 1 <= online <= count. */
void dirty_set_online(unsigned cpu);
/* Nothing of either kind begins until it is called with false. What has begun goes on: see dirty_await_stop. */
void dirty_block(bool block);
/* Waits until no work runs, or nobody blocks it any more. On a scheduler that is lent. */
void dirty_await_stop(void);
/* Work that waits, and that runs. */
size_t dirty_queue_length(enum dirty_kind kind);
size_t dirty_running(enum dirty_kind kind);
/* How long the scheduler of that number (from 1) has run work so far. Units: nanoseconds. */
int64_t dirty_busy_ns(enum dirty_kind kind, unsigned number);

#endif
