/* SPDX-License-Identifier: Apache-2.0 */
/* Schedulers: N threads, a run queue each with four priorities, work stealing, sleep when idle. */
#ifndef VM_PROC_SCHED_H
#define VM_PROC_SCHED_H

#include "proc/process.h"

#define SCHED_REDS 4000
#define X_REGS 1024
#define F_REGS 1024

/* What a time slice ended with. */
enum run_result {
	RUN_YIELD,   /* runnable still */
	RUN_WAIT,    /* message_wait said so: PS_WAITING */
	RUN_BLOCK,   /* exc_wait: PS_BLOCKED */
	RUN_EXITED,  /* process_exit was called */
};

/* What somebody watches through probes, of what a slice does often. */
enum sched_watch { WATCH_NOTHING, WATCH_MESSAGES /* and slices */, WATCH_CALLS /* as well */ };

/* What it spends its time on. Files are served by other threads, or within a native function. */
enum micro_state { MICRO_OTHER, MICRO_CHECK_IO, MICRO_EMULATOR, MICRO_GC, MICRO_PORT, MICRO_SLEEP, MICRO_STATES };

/* sched.lent: one of these, and above them how often it was lent. */
enum { LENT_NOT, LENT_MAY_BE_TAKEN, LENT_TAKEN, LENT_MASK = 3, LENT_ONCE = 4 };

/* A thread that runs processes, and the scheduler that it has. */
struct sched {
	unsigned id;         /* from 1, as system_info(scheduler_id) */
	int32_t thread;      /* as the kernel numbers it; 0 until it runs */
	Process *current;
	/* enum sched_watch: looked up when the thread wakes and every few slices, so that a slice costs one look */
	uint8_t watch;
	/* NATIVE_LEAVING (jit/native.h): operations of machine code until it is left, and what that is made from */
	int32_t native_toll;
	uint32_t native_random;
	Term x[X_REGS];      /* registers of the running process */
	double f[F_REGS];
	uint64_t reds_done;  /* statistics; written by its thread alone */
	uint64_t switches, collections, reclaimed_words;
	bool told_active;    /* system_profile's receiver was told since its last sleep that it is active */
	uint64_t efile_tag;  /* counter of file operations, {id, efile_tag} */
	struct sched_queue *queue; /* private to sched.c */
	struct timer_wheel *wheel; /* private to timer.c */
	int32_t timer_reds;  /* until the next look at the timers */
	uint32_t timer_runs; /* looks so far */
	uint32_t busy_turns; /* slices since it was idle */
	uint32_t poll_turns; /* looks so far that it was too busy to sleep at descriptors */
	bool spins;          /* waits before its next sleep */
	_Atomic uint32_t lent; /* see LENT_NOT */
	uint32_t loans;      /* nested */
	uint8_t part;        /* private to sched_world.c */
	_Atomic bool wants_sample; /* see sched_sampled */
	bool is_dirty;       /* a dirty scheduler's thread (proc/dirty.h), which never has a scheduler */
	struct sched *next_resting; /* private to sched_lend.c */
	struct sched *next_thread;  /* private to sched.c */
};

/* Of the thread that has these registers: does somebody watch the slice that runs, or the next ones? */
static inline bool sched_is_watched(const Term *x)
{
	return ((const struct sched *)((const char *)x - offsetof(struct sched, x)))->watch != WATCH_NOTHING;
}

/* Wired in main.c before sched_start: runs p until its slice ends. X registers are loaded and saved by it. */
extern enum run_result (*sched_run_process)(struct sched *s, Process *p);

/* Wired by jit, or NULL: about once a millisecond of a scheduler that is busy, p, which it runs, stands at a call or a
 * return that it comes to some time in its slice. */
extern void (*sched_sampled)(Process *p);

/* online: so many of them run processes. 1 <= online <= count. */
void sched_init(unsigned count, unsigned online);

/* Starts the threads; returns when sched_stop was called, with the exit status. */
int sched_start(void);
/* Ends the VM from any thread. flush: first what ports have to write is written, which a program that does not read
 * may hold up for ever; an abnormal end does not wait for that. */
void sched_halt(int status, bool flush) __attribute__((noreturn));
/* How long a flush may take, before the VM ends without it and with a status of its own. Units: ms; negative: without
 * limit. */
extern _Atomic int64_t sched_flush_max_ms;
enum { SCHED_FLUSH_LATE = 255 };
/* For a thread that has nothing more to do, as the VM is ending. */
void sched_await_end(void) __attribute__((noreturn));
unsigned sched_count(void);
unsigned sched_online(void);
/* Those that run processes now: the ones online, or one. */
unsigned sched_active(void);
/* Only the first `online` run processes, or only the first: once a round of slices (proc/progress.h) that begins after
 * this is over. One caller at a time. */
void sched_set_active(unsigned online, bool only_one);
extern _Thread_local struct sched *sched_of_thread; /* set by sched.c and sched_loop.c alone */
/* Of this thread; NULL elsewhere. */
static inline struct sched *sched_self(void) { return sched_of_thread; }
/* The running process of this thread, or NULL outside a scheduler. */
Process *process_current(void);
/* The thread that has that scheduler now. NULL: there is none of that id. */
struct sched *sched_get(unsigned id);
/* What p, which runs here, does between these two may last long: when it does, another thread takes this scheduler
 * over, so that others run. The caller holds no ETS table: it may have been held without a lock (sched_is_alone). They
 * may be nested. Elsewhere than on a scheduler: nothing. */
void sched_lend(void);
/* When it was taken over, this thread is none of a scheduler any more: p goes on here until its time slice ends, which
 * is at its next call. */
void sched_reclaim(void);
/* Has this thread a scheduler, which it has not lent? Else it is no scheduler to others, whatever sched_self says. */
static inline bool sched_on_duty(void)
{
	const struct sched *s = sched_self();

	return s != NULL && (atomic_load_explicit(&s->lent, memory_order_relaxed) & LENT_MASK) == LENT_NOT;
}
/* Something came that any of them may do: wakes one that sleeps, unless one is being woken already. Any thread. */
void sched_wake_idle(void);
/* Does one sleep, or is about to? */
bool sched_is_any_idle(void);
/* Is this thread a scheduler's between two time slices, which does next what waits for any of them? */
bool sched_is_between_slices(void);
/* Makes p runnable (already marked so). Any thread. */
void sched_enqueue(Process *p);
/* p has got a signal (a message or another) or a time-out: makes it runnable when it sleeps. Any thread. */
void sched_wake(Process *p, bool message);
/* p, in a native that waits, goes on. It is counted by the caller; it may have ended. Any thread. */
void process_unblock(Process *p);
/* p, which runs here, gives up its time slice after this native. */
static inline void process_yield_soon(Process *p) { p->reds_left = p->reds_kept = 0; }
/* Who is asked at that priority, which may be above its own, is next scheduled by it, to handle what came in; returns
 * false when its own is as high. Any thread. */
bool sched_raise(Term pid, enum proc_priority priority);
/* Its timers have changed under it: it looks again when it should wake. */
void sched_kick(unsigned id);
/* p, if it has that pid, waits for messages and has neither message nor signal to handle first, is this thread's to
 * look at: nobody runs it until sched_let_go. Its owner's fields may be read, its heap not be changed. Hold it shortly,
 * and only one. Fails: false when it does anything else, or is gone. Called from a scheduler. */
bool sched_hold(Process *p, Term pid);
void sched_let_go(Process *p);
/* p, which runs here and keeps PS_RUNNING, leaves its scheduler: a worker thread (proc/worker.h) calls end(p), which
 * ends it. The world does not stop meanwhile. The caller must not touch p any more. */
void sched_end_apart(Process *p, void (*end)(Process *p));
/* The end of a process wakes another. A worker thread waits a little now and then, while the run queues are long: all
 * that a process with very many links wakes at once would come before whoever is made runnable next. */
void sched_end_pause(void);
/* With the scheduler lent, before and after what takes long and only reads p's terms: the world may be stopped
 * meanwhile. Else: nothing. */
void sched_go_outside(void);
void sched_go_inside(void);
/* How many threads besides one scheduler may run natives or end processes: the other schedulers, and the worker threads
 * that sched_end_apart has given a process to, or which have lent their scheduler. It becomes more than 0 only between
 * two time slices, when a process ends, and by sched_lend. */
extern atomic_uint sched_others;
/* Asked by a native: does nobody else run any, until it returns? What others did before is seen. */
static inline bool sched_is_alone(void)
{
	return atomic_load_explicit(&sched_others, memory_order_acquire) == 0;
}
/* Called before the VM ends by sched_halt, with its flush. At most 4. */
void sched_at_halt(void (*hook)(bool flush));
/* The process of this thread ends: its time slice is accounted for, nothing runs. */
void sched_leave(Process *p);
/* A collection on this thread, for statistics. */
void sched_count_gc(size_t reclaimed_words);
struct sched_totals {
	uint64_t reds, switches, collections, reclaimed_words;
};
struct sched_totals sched_totals(void);
/* How long a scheduler has slept. Units: nanoseconds. */
int64_t sched_idle_ns(unsigned id);
/* It does not sleep. */
bool sched_is_busy(unsigned id);
size_t sched_run_queue_of(unsigned id);
/* Sets trace_active. When it is on, every scheduler watches (WATCH_MESSAGES at least) before its next time slice: that
 * of this thread, too, which goes on with the one that it is in. */
void sched_trace(bool on);
/* Runs fn(arg) while no scheduler runs a process (code loading, purging, tracing). Called from a scheduler. */
void sched_stop_world(void (*fn)(void *), void *arg);
/* Between two stops of the world for one purpose: waits until who was held by the first is back in it. A lent scheduler
 * that a process or a timer waits for is taken over. */
void sched_resume_world(void);
/* For a scheduler's thread that waits for others in the middle of a process: when somebody stops the world meanwhile,
 * it is let do so. */
void sched_yield_world(void);
/* The same when the VM is about to end, from any thread: waits for the others no longer than that (one may wait for a
 * lock of ours), then runs fn anyway. The world stays stopped. Returns what fn was told: did all stop? */
bool sched_stop_world_within(int64_t wait_ns, void (*fn)(void *arg, bool all_stopped), void *arg);
/* Run queue length now, of all. */
size_t sched_run_queue_length(void);

#endif
