/* SPDX-License-Identifier: Apache-2.0 */
/* Rounds. Invariant (lock): `passing` was taken out of tables before the round began, `waiting` since; while anything
 * waits, a round goes on.
 *
 * Why a thread that is counted as passed cannot reach what is freed: the beginning of a round comes after the thing was
 * taken out, and is one operation on progress_round that all threads see in one order (sequential consistency). Who says
 * that it has passed has read that round, so what it reads from then on is the table without the thing. Who comes inside
 * reads the round once more after it has said so: either that is the new one, or its word was there when the threads
 * were looked through. */
#include "proc/progress.h"

#include <linux/membarrier.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/lock.h"

enum { CACHE_LINE = 64 };

static struct {
	struct lock lock;
	struct progress_item *waiting, *passing; /* lock */
	_Atomic size_t count;                    /* of both */
	_Atomic(struct progress_thread *) threads;
	bool may_look;                           /* the kernel has membarrier */
} progress;

_Thread_local struct progress_thread *progress_self;
_Atomic uint64_t progress_round = 1;

void progress_init(void)
{
	lock_init(&progress.lock, LOCK_progress);
	progress.may_look = syscall(SYS_membarrier, MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED, 0, 0) == 0;
}

static struct progress_thread *make_thread(void)
{
	uintptr_t block = (uintptr_t)mem_zalloc(sizeof(struct progress_thread) + CACHE_LINE);
	struct progress_thread *t = (struct progress_thread *)((block + CACHE_LINE - 1) & ~(uintptr_t)(CACHE_LINE - 1));

	t->next = atomic_load(&progress.threads);
	while (!atomic_compare_exchange_weak(&progress.threads, &t->next, t))
		;
	return t;
}

/* ---- the round; the lock is held */

static bool has_passed(struct progress_thread *t, bool asked)
{
	uint64_t passed = atomic_load(&t->passed);

	return passed == 0 || passed == atomic_load(&progress_round) ||
		(asked && atomic_load_explicit(&t->looks, memory_order_acquire) == 0);
}

static bool have_all_passed(bool asked)
{
	struct progress_thread *t = atomic_load(&progress.threads);

	while (t != NULL && has_passed(t, asked))
		t = t->next;
	return t == NULL;
}

static void begin_round(void)
{
	progress.passing = progress.waiting;
	progress.waiting = NULL;
	atomic_fetch_add(&progress_round, 1);
}

/* All other threads have seen what this one did before, and it what they did, as if each had a fence just now. */
static void fence_all(void)
{
	syscall(SYS_membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED, 0, 0);
}

/* ask: whether threads that have not passed are in a look. What is in this round was taken out before they are asked.
 * Returns what may be freed, or NULL. */
static struct progress_item *end_round(bool ask)
{
	struct progress_item *first;
	bool ended;

	if (progress.passing == NULL && progress.waiting != NULL)
		begin_round();
	first = progress.passing;
	if (first == NULL)
		return NULL;
	ended = have_all_passed(false);
	if (!ended && ask) {
		fence_all();
		ended = have_all_passed(true);
	}
	if (!ended)
		return NULL;
	progress.passing = NULL;
	return first;
}

/* ---- its end */

static void run_items(struct progress_item *item)
{
	size_t n = 0;

	for (struct progress_item *next; item != NULL; item = next, n++) {
		next = item->next;
		item->run(item);
	}
	atomic_fetch_sub(&progress.count, n);
}

/* Ends as many rounds as it can: what waits when the last thread goes outside would find nobody to end it. */
static void end_rounds(bool ask)
{
	struct progress_item *first;

	do {
		lock_acquire(&progress.lock);
		first = end_round(ask);
		lock_release(&progress.lock);
		run_items(first);
	} while (first != NULL);
}

void progress_later(struct progress_item *item, void (*run)(struct progress_item *item))
{
	size_t n;

	item->run = run;
	lock_acquire(&progress.lock);
	item->next = progress.waiting;
	progress.waiting = item;
	n = atomic_fetch_add(&progress.count, 1) + 1;
	lock_release(&progress.lock);
	end_rounds(n % PROGRESS_MANY == 0);
}

size_t progress_waiting(void)
{
	return atomic_load_explicit(&progress.count, memory_order_relaxed);
}

/* ---- threads */

void progress_enter(void)
{
	uint64_t round;

	if (!progress.may_look)
		return;
	if (progress_self == NULL)
		progress_self = make_thread();
	do {
		round = atomic_load(&progress_round);
		atomic_exchange(&progress_self->passed, round);
	} while (atomic_load(&progress_round) != round);
}

void progress_leave(void)
{
	struct progress_thread *t = progress_self;

	if (t == NULL)
		return;
	ASSERT(atomic_load(&t->looks) == 0);
	atomic_store(&t->passed, 0);
	if (atomic_load(&progress.count) > 0)
		end_rounds(false);
}

void progress_pass(void)
{
	struct progress_thread *t = progress_self;

	ASSERT(atomic_load(&t->looks) == 0);
	if (atomic_load_explicit(&t->passed, memory_order_relaxed) == 0)
		return;
	atomic_store(&t->passed, atomic_load(&progress_round));
	end_rounds(false);
}
