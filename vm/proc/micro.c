/* SPDX-License-Identifier: Apache-2.0 */
/* Nothing here stops the world: the counters of a scheduler are changed by the thread that has it, and read and
 * switched by others, under their lock, which also says whether they count. micro_counts is what each slice looks at.
 * It is set before the counters are switched on, one scheduler after the other, and a scheduler that may have read it
 * before is then woken if it was about to sleep: else all its sleep would count as something else. */
#include "proc/micro.h"

#include "base/alloc.h"
#include "base/clock.h"
#include "base/lock.h"

atomic_bool micro_counts;

/* By scheduler. */
static struct sched_micro {
	struct lock lock;                      /* of all below */
	bool counts;
	int64_t ns[MICRO_STATES], since_ns;
	enum micro_state state;
} *sched_micro;
static unsigned sched_micro_count;

void micro_init(unsigned schedulers)
{
	sched_micro_count = schedulers;
	sched_micro = mem_zalloc(schedulers * sizeof(*sched_micro));
	for (unsigned i = 0; i < schedulers; i++)
		lock_init(&sched_micro[i].lock, LOCK_micro);
}

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

void micro_count_schedulers(bool on)
{
	atomic_store(&micro_counts, on);
	for (unsigned id = 1; id <= sched_micro_count; id++)
		switch_scheduler(id, on);
}

void micro_reset_schedulers(void)
{
	for (unsigned i = 0; i < sched_micro_count; i++)
		reset_scheduler(&sched_micro[i]);
}
