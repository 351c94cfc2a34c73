/* SPDX-License-Identifier: Apache-2.0 */
/* Invariant: the counters change while their scheduler is in the world (see sched_world.h), so that who has stopped the world may read them. A
 * scheduler that is not in it sleeps, or has been stopped; its state says which. */
#include "proc/micro.h"

#include "base/clock.h"

atomic_bool micro_counts;

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

static void switch_stopped(void *arg)
{
	bool *on = arg, before = atomic_load(&micro_counts);

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

static void reset_stopped(void *arg)
{
	(void)arg;
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
