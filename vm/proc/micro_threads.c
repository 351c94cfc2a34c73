/* SPDX-License-Identifier: Apache-2.0 */
#include "proc/micro_threads.h"

#include "base/alloc.h"
#include "base/clock.h"
#include "base/lock.h"
#include "proc/await.h"
#include "term/atom.h"

struct micro_threads micro_poll_threads;

/* Kinds of threads which only work or sleep; they count that themselves. The first are enum dirty_kind's. */
enum { POLL_THREADS = DIRTY_KINDS, KINDS };

/* Of such a thread. */
static struct thread_micro {
	bool counts;
	int64_t total_ns, busy_ns;             /* until counting was switched off last */
	int64_t since_ns, busy_since_ns;       /* what both were when it was switched on */
} *thread_micro[KINDS];

static struct lock threads_lock;               /* of thread_micro */
static struct lock switch_lock;                /* who switches or resets does it alone */

void micro_threads_init(void)
{
	lock_init(&threads_lock, LOCK_micro_threads);
	lock_init(&switch_lock, LOCK_micro_switch);
}

static unsigned thread_count(int kind)
{
	return kind == POLL_THREADS ? micro_poll_threads.count : dirty_count((enum dirty_kind)kind);
}

/* i: from 0. */
static int64_t thread_busy_ns(int kind, unsigned i)
{
	return kind == POLL_THREADS ? micro_poll_threads.busy_ns(i) : dirty_busy_ns((enum dirty_kind)kind, i + 1);
}

/* ---- threads that only work or sleep */

/* busy_ns was asked for after asked_ns, so that no thread is told to have worked longer than there was time. */
static void restart_thread(struct thread_micro *m, int64_t asked_ns, int64_t busy_ns)
{
	m->since_ns = asked_ns;
	m->busy_since_ns = busy_ns;
}

static void begin_thread(struct thread_micro *m, int64_t asked_ns, int64_t busy_ns)
{
	restart_thread(m, asked_ns, busy_ns);
	m->counts = true;
}

static void end_thread(struct thread_micro *m, int64_t asked_ns, int64_t busy_ns)
{
	(void)asked_ns;
	m->counts = false;
	m->total_ns += clock_monotonic_ns() - m->since_ns;
	m->busy_ns += busy_ns - m->busy_since_ns;
}

static void reset_thread(struct thread_micro *m, int64_t asked_ns, int64_t busy_ns)
{
	m->total_ns = m->busy_ns = 0;
	restart_thread(m, asked_ns, busy_ns);
}

/* How long the thread has worked is asked for without threads_lock: it has a lock of its own. */
static void change_thread(int kind, unsigned i,
			  void (*change)(struct thread_micro *m, int64_t asked_ns, int64_t busy_ns))
{
	int64_t asked_ns = clock_monotonic_ns(), busy_ns = thread_busy_ns(kind, i);

	lock_acquire(&threads_lock);
	if (thread_micro[kind] == NULL)
		thread_micro[kind] = mem_zalloc(thread_count(kind) * sizeof(*thread_micro[kind]));
	change(&thread_micro[kind][i], asked_ns, busy_ns);
	lock_release(&threads_lock);
}

static void each_thread(void (*change)(struct thread_micro *m, int64_t asked_ns, int64_t busy_ns))
{
	for (int kind = 0; kind < KINDS; kind++)
		for (unsigned i = 0; i < thread_count(kind); i++)
			change_thread(kind, i, change);
}

/* ---- all */

/* A scheduler counts its slices from the next one on. */
static void switch_all(bool on)
{
	each_thread(on ? begin_thread : end_thread);
	micro_count_schedulers(on);
}

Term micro_switch(Process *p, bool on)
{
	bool before;

	lock_acquire(&switch_lock);
	before = atomic_load(&micro_counts);
	if (on != before)
		switch_all(on);
	lock_release(&switch_lock);
	return on && !before ? await_return(p, am_false) : term_from_bool(before);
}

bool micro_reset(void)
{
	lock_acquire(&switch_lock);
	each_thread(reset_thread);
	micro_reset_schedulers();
	lock_release(&switch_lock);
	return atomic_load(&micro_counts);
}

static void read_thread(int kind, unsigned i, enum micro_state working, int64_t ns[MICRO_STATES])
{
	struct thread_micro m = { 0 };

	lock_acquire(&threads_lock);
	if (thread_micro[kind] != NULL)
		m = thread_micro[kind][i];
	lock_release(&threads_lock);
	if (m.counts)
		end_thread(&m, 0, thread_busy_ns(kind, i));
	for (int state = 0; state < MICRO_STATES; state++)
		ns[state] = 0;
	ns[working] = m.busy_ns;
	ns[MICRO_SLEEP] = m.total_ns - m.busy_ns;
}

void micro_read_dirty(enum dirty_kind kind, unsigned number, int64_t ns[MICRO_STATES])
{
	read_thread((int)kind, number - 1, MICRO_EMULATOR, ns);
}

void micro_read_poll(unsigned number, int64_t ns[MICRO_STATES])
{
	read_thread(POLL_THREADS, number, MICRO_CHECK_IO, ns);
}
