/* SPDX-License-Identifier: Apache-2.0 */
/* Invariant: the counters change while their scheduler is in the world (see sched_world.h), so that who has stopped
 * the world may read them. A scheduler that is not in it sleeps, or has been stopped; its state says which. */
#include "proc/micro.h"

#include "base/alloc.h"
#include "base/clock.h"

atomic_bool micro_counts;

/* Of dirty schedulers, which only work or sleep; they count that themselves (dirty_busy_ns). Changed while the world is
 * stopped, so that who runs a process may read them. */
static struct dirty_micro {
	int64_t total_ns, busy_ns;             /* until counting was switched off last */
	int64_t since_ns, busy_since_ns;       /* what both were when it was switched on */
} *dirty_micro[DIRTY_KINDS];

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

static void begin_dirty(struct dirty_micro *m, enum dirty_kind kind, unsigned number)
{
	m->since_ns = clock_monotonic_ns();
	m->busy_since_ns = dirty_busy_ns(kind, number);
}

static void end_dirty(struct dirty_micro *m, enum dirty_kind kind, unsigned number)
{
	m->total_ns += clock_monotonic_ns() - m->since_ns;
	m->busy_ns += dirty_busy_ns(kind, number) - m->busy_since_ns;
}

static void each_dirty(void (*change)(struct dirty_micro *m, enum dirty_kind kind, unsigned number))
{
	for (int kind = 0; kind < DIRTY_KINDS; kind++) {
		if (dirty_micro[kind] == NULL)
			dirty_micro[kind] = mem_zalloc(dirty_count(kind) * sizeof(*dirty_micro[kind]));
		for (unsigned i = 0; i < dirty_count(kind); i++)
			change(&dirty_micro[kind][i], kind, i + 1);
	}
}

static void switch_stopped(void *arg)
{
	bool *on = arg, before = atomic_load(&micro_counts);

	if (*on != before)
		each_dirty(*on ? begin_dirty : end_dirty);

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

static void reset_dirty(struct dirty_micro *m, enum dirty_kind kind, unsigned number)
{
	m->total_ns = m->busy_ns = 0;
	begin_dirty(m, kind, number);
}

static void reset_stopped(void *arg)
{
	(void)arg;
	each_dirty(reset_dirty);
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

void micro_read_dirty(enum dirty_kind kind, unsigned number, int64_t ns[MICRO_STATES])
{
	struct dirty_micro m = { 0 };

	if (dirty_micro[kind] != NULL)
		m = dirty_micro[kind][number - 1];
	if (atomic_load(&micro_counts))
		end_dirty(&m, kind, number);
	for (int state = 0; state < MICRO_STATES; state++)
		ns[state] = 0;
	ns[MICRO_EMULATOR] = m.busy_ns;
	ns[MICRO_SLEEP] = m.total_ns - m.busy_ns;
}
