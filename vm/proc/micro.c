/* SPDX-License-Identifier: Apache-2.0 */
/* Nothing here stops the world: the counters of a scheduler are changed by the thread that has it, and read and
 * switched by others, under their lock, which also says whether they count. micro_counts is what each slice looks at.
 * It is set before the counters are switched on, one scheduler after the other, and a scheduler that may have read it
 * before is then woken if it was about to sleep: else all its sleep would count as something else. */
#include "proc/micro.h"

#include "base/alloc.h"
#include "base/clock.h"
#include "base/lock.h"
#include "proc/await.h"
#include "term/atom.h"

atomic_bool micro_counts;

struct micro_threads micro_poll_threads;

/* Kinds of threads which only work or sleep; they count that themselves. The first are enum dirty_kind's. */
enum { POLL_THREADS = DIRTY_KINDS, KINDS };

/* Of such a thread. */
static struct thread_micro {
	bool counts;
	int64_t total_ns, busy_ns;             /* until counting was switched off last */
	int64_t since_ns, busy_since_ns;       /* what both were when it was switched on */
} *thread_micro[KINDS];

/* By scheduler. */
static struct sched_micro {
	struct lock lock;                      /* of all below */
	bool counts;
	int64_t ns[MICRO_STATES], since_ns;
	enum micro_state state;
} *sched_micro;
static unsigned sched_micro_count;

static struct lock threads_lock;               /* of thread_micro */
static struct lock switch_lock;                /* who switches or resets does it alone */

void micro_init(unsigned schedulers)
{
	lock_init(&threads_lock, LOCK_micro);
	lock_init(&switch_lock, LOCK_micro_switch);
	sched_micro_count = schedulers;
	sched_micro = mem_zalloc(schedulers * sizeof(*sched_micro));
	for (unsigned i = 0; i < schedulers; i++)
		lock_init(&sched_micro[i].lock, LOCK_micro);
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

/* ---- schedulers */

/* Lock held. */
static void enter(struct sched_micro *m, enum micro_state to)
{
	int64_t now;

	if (!m->counts)
		return;
	now = clock_monotonic_ns();
	m->ns[m->state] += now - m->since_ns;
	m->since_ns = now;
	m->state = to;
}

void micro_change(unsigned id, enum micro_state to)
{
	struct sched_micro *m = &sched_micro[id - 1];

	lock_acquire(&m->lock);
	enter(m, to);
	lock_release(&m->lock);
}

static void switch_scheduler(unsigned id, bool on)
{
	struct sched_micro *m = &sched_micro[id - 1];

	lock_acquire(&m->lock);
	enter(m, m->state);
	m->counts = on;
	m->state = sched_is_busy(id) ? MICRO_OTHER : MICRO_SLEEP;
	m->since_ns = clock_monotonic_ns();
	lock_release(&m->lock);
	if (on)
		sched_kick(id);
}

static void reset_scheduler(struct sched_micro *m)
{
	lock_acquire(&m->lock);
	for (int state = 0; state < MICRO_STATES; state++)
		m->ns[state] = 0;
	m->since_ns = clock_monotonic_ns();
	lock_release(&m->lock);
}

void micro_read(unsigned id, int64_t ns[MICRO_STATES])
{
	struct sched_micro *m = &sched_micro[id - 1];

	lock_acquire(&m->lock);
	enter(m, m->state);
	for (int state = 0; state < MICRO_STATES; state++)
		ns[state] = m->ns[state];
	lock_release(&m->lock);
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
	atomic_store(&micro_counts, on);
	each_thread(on ? begin_thread : end_thread);
	for (unsigned id = 1; id <= sched_micro_count; id++)
		switch_scheduler(id, on);
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
	for (unsigned i = 0; i < sched_micro_count; i++)
		reset_scheduler(&sched_micro[i]);
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
