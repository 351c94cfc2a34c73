/* SPDX-License-Identifier: Apache-2.0 */
/* Invariant: the counters change while their scheduler is in the world (see sched_world.h), so that who has stopped
 * the world may read them. A scheduler that is not in it sleeps, or has been stopped; its state says which. */
#include "proc/micro.h"

#include "base/alloc.h"
#include "base/clock.h"

atomic_bool micro_counts;

struct micro_threads micro_poll_threads;

/* Kinds of threads which only work or sleep; they count that themselves. The first are enum dirty_kind's. */
enum { POLL_THREADS = DIRTY_KINDS, KINDS };

/* Of such a thread. Changed while the world is stopped, so that who runs a process may read it. */
static struct thread_micro {
	int64_t total_ns, busy_ns;             /* until counting was switched off last */
	int64_t since_ns, busy_since_ns;       /* what both were when it was switched on */
} *thread_micro[KINDS];

static unsigned thread_count(int kind)
{
	return kind == POLL_THREADS ? micro_poll_threads.count : dirty_count((enum dirty_kind)kind);
}

/* i: from 0. */
static int64_t thread_busy_ns(int kind, unsigned i)
{
	return kind == POLL_THREADS ? micro_poll_threads.busy_ns(i) : dirty_busy_ns((enum dirty_kind)kind, i + 1);
}

void micro_change(struct sched *s, enum micro_state to)
{
	int64_t now = clock_monotonic_ns();

	s->micro.ns[s->micro.state] += now - s->micro.since_ns;
	s->micro.since_ns = now;
	s->micro.state = (uint8_t)to;
}

static void begin(struct sched *s)
{
	s->micro.since_ns = clock_monotonic_ns();
	s->micro.state = sched_is_busy(s->id) ? MICRO_OTHER : MICRO_SLEEP;
}

static void begin_thread(struct thread_micro *m, int kind, unsigned i)
{
	m->since_ns = clock_monotonic_ns();
	m->busy_since_ns = thread_busy_ns(kind, i);
}

static void end_thread(struct thread_micro *m, int kind, unsigned i)
{
	m->total_ns += clock_monotonic_ns() - m->since_ns;
	m->busy_ns += thread_busy_ns(kind, i) - m->busy_since_ns;
}

static void each_thread(void (*change)(struct thread_micro *m, int kind, unsigned i))
{
	for (int kind = 0; kind < KINDS; kind++) {
		if (thread_micro[kind] == NULL)
			thread_micro[kind] = mem_zalloc(thread_count(kind) * sizeof(*thread_micro[kind]));
		for (unsigned i = 0; i < thread_count(kind); i++)
			change(&thread_micro[kind][i], kind, i);
	}
}

static void switch_stopped(void *arg)
{
	bool *on = arg, before = atomic_load(&micro_counts);

	if (*on != before)
		each_thread(*on ? begin_thread : end_thread);
	for (unsigned i = 1; i <= sched_count() && *on != before; i++) {
		struct sched *s = sched_get(i);

		if (*on)
			begin(s);
		else
			micro_change(s, (enum micro_state)s->micro.state);
	}
	atomic_store(&micro_counts, *on);
	sched_watch_all();
	*on = before;
}

bool micro_switch(bool on)
{
	sched_stop_world(switch_stopped, &on);
	return on;
}

static void reset_thread(struct thread_micro *m, int kind, unsigned i)
{
	m->total_ns = m->busy_ns = 0;
	begin_thread(m, kind, i);
}

static void reset_stopped(void *arg)
{
	(void)arg;
	each_thread(reset_thread);
	for (unsigned i = 1; i <= sched_count(); i++) {
		struct sched *s = sched_get(i);

		for (int state = 0; state < MICRO_STATES; state++)
			s->micro.ns[state] = 0;
		s->micro.since_ns = clock_monotonic_ns();
	}
}

bool micro_reset(void)
{
	sched_stop_world(reset_stopped, NULL);
	return atomic_load(&micro_counts);
}

struct reading {
	unsigned id;
	int64_t *ns;
};

static void read_stopped(void *arg)
{
	const struct reading *r = arg;
	struct sched *s = sched_get(r->id);

	if (atomic_load(&micro_counts))
		micro_change(s, (enum micro_state)s->micro.state);
	for (int state = 0; state < MICRO_STATES; state++)
		r->ns[state] = s->micro.ns[state];
}

void micro_read(unsigned id, int64_t ns[MICRO_STATES])
{
	struct reading r = { id, ns };

	sched_stop_world(read_stopped, &r);
}

static void read_thread(int kind, unsigned i, enum micro_state working, int64_t ns[MICRO_STATES])
{
	struct thread_micro m = { 0 };

	if (thread_micro[kind] != NULL)
		m = thread_micro[kind][i];
	if (atomic_load(&micro_counts))
		end_thread(&m, kind, i);
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
