/* SPDX-License-Identifier: Apache-2.0 */
/* Rounds. One of tables goes on at a time, and is numbered; it ends when all threads that were inside at its beginning
 * have passed. Each thread keeps what it was handed in a list of its own, and frees that itself: memory goes back
 * to where it came from, and threads meet at no lock but once in PROGRESS_BATCH things. What threads outside were
 * handed, and what a thread leaves behind, is in the list `others`, for whoever ends the round.
 * Invariant: what is in `aged` was taken out of tables before its round began. A round that is wanted begins when the
 * one before has ended, which the last thread that passes sees.
 * Rounds of slices take their numbers from the same row, whenever somebody wants one: any number of them go on at a
 * time, beside the one of tables, and end in their order.
 *
 * Why a thread that is counted as passed cannot reach what is freed: the beginning of a round comes after the thing was
 * taken out, and is one operation on progress_round that all threads see in one order (sequential consistency). Who
 * says that it has passed has read that round, so what it reads from then on is the table without the thing. Who comes
 * inside reads the round once more after it has said so: either that is the new one, or its word was there when the
 * threads were looked through. */
#include "proc/progress.h"

#include <linux/membarrier.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/lock.h"

enum { CACHE_LINE = 64 };

static struct {
	struct lock lock;
	/* Written under the lock: the last round of tables that has begun, and the last that has ended. */
	_Atomic uint64_t begun, ended;
	uint64_t wanted;                 /* lock: rounds are to begin up to this one */
	struct progress_list others;     /* lock */
	struct progress_wait *waits, **last_wait; /* lock: for rounds of slices, in the order of these */
	_Atomic bool any_waits;          /* written under the lock */
	_Atomic(struct progress_thread *) threads;
	bool may_look;                   /* the kernel has membarrier */
} progress = { .begun = 1, .ended = 1, .last_wait = &progress.waits };

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

static bool is_inside(const struct progress_thread *t)
{
	return t != NULL && atomic_load_explicit(&t->passed, memory_order_relaxed) != 0;
}

/* What this thread finds from now on is the table of this round. Not while it looks: it may have found something. */
static void pass_self(void)
{
	struct progress_thread *t = progress_self;

	if (is_inside(t) && atomic_load_explicit(&t->looks, memory_order_relaxed) == 0)
		atomic_store(&t->passed, atomic_load(&progress_round));
}

/* ---- the round; the lock is held */

static bool has_passed(struct progress_thread *t, bool asked)
{
	uint64_t passed = atomic_load(&t->passed);

	return passed == 0 || passed >= atomic_load(&progress.begun) ||
		(asked && atomic_load_explicit(&t->looks, memory_order_acquire) == 0);
}

static bool have_all_passed(bool asked)
{
	struct progress_thread *t = atomic_load(&progress.threads);

	while (t != NULL && has_passed(t, asked))
		t = t->next;
	return t == NULL;
}

/* All other threads have seen what this one did before, and it what they did, as if each had a fence just now. */
static void fence_all(void)
{
	syscall(SYS_membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED, 0, 0);
}

static uint64_t begin_round(void)
{
	return atomic_fetch_add(&progress_round, 1) + 1;
}

/* Begins and ends rounds of tables as far as that goes. ask: whether threads that have not passed are in a look.
 * What is in this round was taken out before they are asked. */
static void advance(bool ask)
{
	for (;;) {
		bool all;

		if (atomic_load(&progress.ended) == atomic_load(&progress.begun)) {
			if (progress.wanted <= atomic_load(&progress.begun))
				return;
			atomic_store(&progress.begun, begin_round());
		}
		pass_self();
		all = have_all_passed(false);
		if (!all && ask) {
			fence_all();
			all = have_all_passed(true);
		}
		if (!all)
			return;
		atomic_store(&progress.ended, atomic_load(&progress.begun));
	}
}

/* What came since goes into the next round that begins. */
static void age(struct progress_list *l)
{
	if (l->aged != NULL || l->fresh == NULL)
		return;
	l->aged = l->fresh;
	l->fresh = NULL;
	l->fresh_count = 0;
	l->aged_round = atomic_load(&progress_round) + 1;
	if (progress.wanted < l->aged_round)
		progress.wanted = l->aged_round;
}

/* ---- what waits */

static void count(struct progress_list *l, uint32_t n)
{
	n += atomic_load_explicit(&l->count, memory_order_relaxed);
	atomic_store_explicit(&l->count, n, memory_order_relaxed);
}

static void add(struct progress_list *l, struct progress_item *item)
{
	item->next = l->fresh;
	l->fresh = item;
	l->fresh_count++;
	count(l, 1);
}

/* What may be freed, or NULL. */
static struct progress_item *take_ended(struct progress_list *l)
{
	struct progress_item *first = l->aged;

	if (first == NULL || l->aged_round > atomic_load(&progress.ended))
		return NULL;
	l->aged = NULL;
	for (const struct progress_item *item = first; item != NULL; item = item->next)
		count(l, (uint32_t)-1);
	return first;
}

static void run_items(struct progress_item *item)
{
	for (struct progress_item *next; item != NULL; item = next) {
		next = item->next;
		item->run(item);
	}
}

/* Frees what of this thread's list (or NULL) and of others may be. As often as that goes: what waits when the last
 * thread goes outside would find nobody. */
static void settle(struct progress_list *own, bool ask)
{
	struct progress_item *mine, *others;

	do {
		lock_acquire(&progress.lock);
		if (own != NULL)
			age(own);
		age(&progress.others);
		advance(ask);
		mine = own != NULL ? take_ended(own) : NULL;
		others = take_ended(&progress.others);
		lock_release(&progress.lock);
		run_items(mine);
		run_items(others);
	} while (mine != NULL || others != NULL);
}

/* Is it time to settle, after one more in the list? While its last ones wait for a round, only to ask. */
static bool is_due(const struct progress_list *l, unsigned batch, bool *ask)
{
	bool waits = l->aged != NULL && l->aged_round > atomic_load(&progress.ended);

	*ask = l->fresh_count % PROGRESS_MANY == 0;
	return *ask || (!waits && l->fresh_count % batch == 0);
}

static void add_other(struct progress_item *item)
{
	bool ask, due;

	lock_acquire(&progress.lock);
	add(&progress.others, item);
	due = is_due(&progress.others, 1, &ask);
	lock_release(&progress.lock);
	if (due)
		settle(NULL, ask);
}

void progress_later(struct progress_item *item, void (*run)(struct progress_item *item))
{
	struct progress_thread *t = progress_self;
	bool ask;

	item->run = run;
	if (!is_inside(t)) {
		add_other(item);
		return;
	}
	add(&t->list, item);
	if (is_due(&t->list, PROGRESS_BATCH, &ask))
		settle(&t->list, ask);
}

size_t progress_waiting(void)
{
	size_t n = atomic_load_explicit(&progress.others.count, memory_order_relaxed);

	for (const struct progress_thread *t = atomic_load(&progress.threads); t != NULL; t = t->next)
		n += atomic_load_explicit(&t->list.count, memory_order_relaxed);
	return n;
}

/* ---- rounds of slices */

static bool has_rested(struct progress_thread *t, uint64_t round)
{
	uint64_t rested = atomic_load(&t->rested);

	return rested == 0 || rested >= round;
}

static bool have_all_rested(uint64_t round)
{
	struct progress_thread *t = atomic_load(&progress.threads);

	while (t != NULL && has_rested(t, round))
		t = t->next;
	return t == NULL;
}

/* The first that waits, if its round is over. */
static struct progress_wait *take_wait(void)
{
	struct progress_wait *w;

	lock_acquire(&progress.lock);
	w = progress.waits;
	if (w != NULL && !have_all_rested(w->round))
		w = NULL;
	if (w != NULL) {
		progress.waits = w->next;
		if (w->next == NULL)
			progress.last_wait = &progress.waits;
		atomic_store(&progress.any_waits, w->next != NULL);
	}
	lock_release(&progress.lock);
	return w;
}

static void end_waits(void)
{
	struct progress_wait *w;

	while (atomic_load(&progress.any_waits) && (w = take_wait()) != NULL)
		w->run(w);
}

/* Who says that it has rested, or is outside, looks for somebody who waits afterwards; who waits is there to be found
 * before he looks at the threads. So one of the two sees the other. */
void progress_wait(struct progress_wait *w, void (*run)(struct progress_wait *w))
{
	w->run = run;
	w->next = NULL;
	lock_acquire(&progress.lock);
	w->round = begin_round();
	*progress.last_wait = w;
	progress.last_wait = &w->next;
	atomic_store(&progress.any_waits, true);
	lock_release(&progress.lock);
	end_waits();
}

void progress_call(void)
{
	begin_round();
}

/* ---- threads */

void progress_enter(void)
{
	uint64_t round;

	if (progress_self == NULL)
		progress_self = make_thread();
	do {
		round = atomic_load(&progress_round);
		atomic_store(&progress_self->rested, round);
		if (progress.may_look)
			atomic_store(&progress_self->passed, round);
	} while (atomic_load(&progress_round) != round);
}

static void move(struct progress_item *first)
{
	for (struct progress_item *next; first != NULL; first = next) {
		next = first->next;
		add(&progress.others, first);
	}
}

/* What this thread has is others' from now on. */
static void leave_behind(struct progress_list *l)
{
	lock_acquire(&progress.lock);
	move(l->fresh);
	move(l->aged);
	lock_release(&progress.lock);
	l->fresh = l->aged = NULL;
	l->fresh_count = 0;
	atomic_store_explicit(&l->count, 0, memory_order_relaxed);
}

void progress_leave(void)
{
	struct progress_thread *t = progress_self;
	bool left = false;

	if (t == NULL || atomic_load_explicit(&t->rested, memory_order_relaxed) == 0)
		return;
	ASSERT(atomic_load(&t->looks) == 0);
	if (progress_has_own(t)) {
		settle(&t->list, false);
		left = progress_has_own(t);
		if (left)
			leave_behind(&t->list);
	}
	atomic_store(&t->passed, 0);
	atomic_store(&t->rested, 0);
	if (left || atomic_load(&progress.ended) != atomic_load(&progress.begun))
		settle(NULL, false);
	end_waits();
}

void progress_pass(void)
{
	struct progress_thread *t = progress_self;
	uint64_t round = atomic_load(&progress_round);
	bool knows = atomic_load_explicit(&t->passed, memory_order_relaxed) == round;

	ASSERT(atomic_load(&t->looks) == 0);
	if (atomic_load_explicit(&t->rested, memory_order_relaxed) == 0)
		return;
	atomic_store(&t->rested, round);
	pass_self();
	if (!knows || progress_has_own(t))
		settle(&t->list, false);
	end_waits();
}
