/* SPDX-License-Identifier: Apache-2.0 */
/* Thread progress: tables are read without a lock, and what was taken out of one is freed when nobody can still read
 * it.
 *
 * A thread is inside while it is in the world (it runs a process, or works for one), and outside while it sleeps,
 * waits, or does what the world's stop does not wait for. A scheduler says between two time slices that it has passed:
 * what it had found, it has no more. What is handed to progress_later waits for the end of a round, which is when all
 * threads that were inside at its beginning have passed, or gone outside, once.
 *
 * Reading is done in a look, between progress_look and progress_look_end. What was found is there until the look ends;
 * to keep it longer, take a reference in it that is never taken from 0. A thread that is outside (a poll thread, the
 * pool, dirty schedulers, those of libraries) may not look: it takes the table's lock.
 * Who holds a table while in a look may wait for its lock, and lend the scheduler, but neither stop the world nor go
 * outside. A native that gives way in steps ends its look before, and finds the table again.
 *
 * Memory: a native may keep its scheduler for minutes without passing. So when PROGRESS_MANY things of one thread wait,
 * the others are asked, through the kernel (membarrier), whether they are in a look: those that are not have passed.
 * What waits is bounded by what is taken out of tables while one look lasts, and some 2 * PROGRESS_MANY things of each
 * thread that is inside, and of all the others together. Without membarrier nobody may look: everybody takes locks, and
 * what is handed over is freed at once.
 *
 * A round of slices is what somebody waits for with progress_wait: it has no use for looks, and is over when each
 * thread that was inside at its beginning has been between two time slices, or outside, once since. Whatever a thread
 * read before without a look (flags, limits, code), it reads anew.
 *
 * Cost: a look is two stores to memory of the thread's own, a slice four loads. A round takes each thread once through
 * a lock, and so do PROGRESS_BATCH things that it hands over; membarrier takes some microseconds for every
 * PROGRESS_MANY. */
#ifndef VM_PROC_PROGRESS_H
#define VM_PROC_PROGRESS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/log.h"

enum { PROGRESS_MANY = 256, PROGRESS_BATCH = 16 };

/* Stands in what waits to be freed. */
struct progress_item {
	struct progress_item *next;
	void (*run)(struct progress_item *item);
};

/* What waits. */
struct progress_list {
	struct progress_item *fresh;          /* came since the others of the list */
	struct progress_item *aged;           /* to be freed at the end of aged_round */
	uint64_t aged_round;
	uint32_t fresh_count;
	_Atomic uint32_t count;               /* of both */
};

/* What waits for a round of slices. */
struct progress_wait {
	struct progress_wait *next;
	uint64_t round;
	void (*run)(struct progress_wait *w);
};

/* Of each thread that was ever inside, with cache lines to itself. Owns: itself, for the VM's life: such threads do not
 * end. */
struct progress_thread {
	/* the round whose beginning it knows of; 0: it is outside, or may not look */
	_Atomic uint64_t passed;
	/* the same when it was between two slices, or came inside; 0: it is outside */
	_Atomic uint64_t rested;
	_Atomic uint32_t looks;               /* nested */
	struct progress_list list;            /* of this thread alone */
	struct progress_thread *next;
};
/* Private to progress.c and the functions below. */
extern _Thread_local struct progress_thread *progress_self;
extern _Atomic uint64_t progress_round;

void progress_init(void);

/* ---- by sched_world.c: this thread is inside from now on, or no more. They are not nested. */
void progress_enter(void);
/* It is in no look. May free what waits. */
void progress_leave(void);

/* ---- by schedulers */
void progress_pass(void);
static inline bool progress_has_own(const struct progress_thread *t)
{
	return t->list.fresh != NULL || t->list.aged != NULL;
}

/* Between two time slices. May free what waits, and run what waits for a round of slices. Returns whether a round may
 * have begun since the last call. */
static inline bool progress_tick(void)
{
	const struct progress_thread *t = progress_self;

	if (t == NULL)
		return false;
	if (likely(!progress_has_own(t) && atomic_load_explicit(&t->rested, memory_order_relaxed) ==
						   atomic_load_explicit(&progress_round, memory_order_relaxed)))
		return false;
	progress_pass();
	return true;
}

/* ---- by readers. May be nested. */
/* Fails: false when this thread must take the lock; no look has begun then.
 * Order: pointers of the table are loaded with acquire and stored with release. The store that says that the thread
 * looks needs no fence before them: who frees either waits until the thread has passed, or sends it one. */
static inline bool progress_look(void)
{
	struct progress_thread *t = progress_self;

	if (t == NULL || atomic_load_explicit(&t->passed, memory_order_relaxed) == 0)
		return false;
	atomic_store_explicit(&t->looks, atomic_load_explicit(&t->looks, memory_order_relaxed) + 1,
			      memory_order_relaxed);
	atomic_signal_fence(memory_order_seq_cst);
	return true;
}

static inline void progress_look_end(void)
{
	struct progress_thread *t = progress_self;

	atomic_store_explicit(&t->looks, atomic_load_explicit(&t->looks, memory_order_relaxed) - 1,
			      memory_order_release);
}

/* ---- by who takes something out of a table */
/* Calls run(item) when nobody that found it before is in its look any more. It is in no table by now, and stays as it
 * is, pointers to others in the table too. Any thread; locks may be held, and the caller may be in a look.
 * Owns: the item passes to run, which frees memory and takes no lock: any thread calls it, the caller too. */
void progress_later(struct progress_item *item, void (*run)(struct progress_item *item));
/* ---- by who waits for all threads */
/* Calls run(w) when each thread that is inside now, this one too, has been between two time slices, or outside, once:
 * on the last one, which holds no lock then, or here when none is inside. Any thread; no lock is held.
 * Owns: w, until it runs, which may free it. */
void progress_wait(struct progress_wait *w, void (*run)(struct progress_wait *w));
/* Each thread finds that a round has begun before its next slice, or as it comes inside. Any thread. */
void progress_call(void);
/* So many wait to be freed. */
size_t progress_waiting(void);

#endif
