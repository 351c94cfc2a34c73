/* SPDX-License-Identifier: Apache-2.0 */
/* Who watches what schedulers do: probes that are enabled, traces, microstate accounting. */
#include "proc/batch.h"
#include "proc/micro.h"
#include "proc/probe.h"
#include "proc/progress.h"
#include "proc/sched_lend.h"
#include "proc/tracee.h"
#include "usdt.h"

void sched_tell_slice(Process *p, bool begins)
{
	if (begins) {
		if (PROBE_ON(process__scheduled))
			probe_process__scheduled(p, false);
		if (trace_active)
			trace_hooks.slice_began(p, false);
		return;
	}
	p->slept = false;
	if (PROBE_ON(process__unscheduled))
		probe_process__unscheduled(p, false);
	if (trace_active)
		trace_hooks.slice_ended(p, false);
}

/* By the probes that are enabled. */
static enum sched_watch find_watch(void)
{
	int watched = WATCH_NOTHING;

#define PROBE(probe, family, nargs, watch, text) \
	if (WATCH_##watch > watched && PROBE_ON(probe)) \
		watched = WATCH_##watch;
#include "probes.def"
	return watched;
}

/* Besides probes. */
static bool is_followed(void)
{
	return unlikely(trace_active || atomic_load_explicit(&micro_counts, memory_order_relaxed));
}

void sched_look_who_watches(struct sched *s)
{
	enum sched_watch watch = find_watch();

	batch_hand_over_old();
	if (watch == WATCH_NOTHING && is_followed())
		watch = WATCH_MESSAGES;
	s->watch = watch;
}

void sched_look_who_follows(struct sched *s)
{
	if (is_followed() && s->watch == WATCH_NOTHING)
		s->watch = WATCH_MESSAGES;
}

void sched_trace(bool on)
{
	if (atomic_exchange(&trace_active, on) != on && on)
		progress_call();
}
