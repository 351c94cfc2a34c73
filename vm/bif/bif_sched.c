/* SPDX-License-Identifier: Apache-2.0 */
/* How busy schedulers are. Invariant: `start` and `slept` are what was read when the measuring was switched on. */
#include "base/alloc.h"
#include "base/clock.h"
#include "bif/bif_info.h"
#include "code/export.h"
#include "proc/registry.h"
#include "proc/sched.h"

static struct {
	struct lock lock;
	atomic_bool on;      /* written under the lock */
	int64_t start, *slept; /* Units: nanoseconds; one a scheduler */
} wall;

void info_wall_init(void)
{
	lock_init(&wall.lock, LOCK_wall_time);
}

static void begin(void)
{
	if (wall.slept == NULL)
		wall.slept = mem_alloc(sched_count() * sizeof(*wall.slept));
	wall.start = clock_monotonic_ns();
	for (unsigned i = 0; i < sched_count(); i++)
		wall.slept[i] = sched_idle_ns(i + 1);
}

Term bif_erts_internal_scheduler_wall_time_1(Process *p, Term *args)
{
	bool before;

	if (args[0] != am_true && args[0] != am_false)
		return exc_badarg(p);
	lock_acquire(&wall.lock);
	before = wall.on;
	wall.on = args[0] == am_true;
	if (wall.on && !before)
		begin();
	lock_release(&wall.lock);
	return term_from_bool(before);
}

Term info_set_scheduler_wall_time(Process *p, Term on)
{
	if (on != am_true && on != am_false)
		return exc_badarg(p);
	if (registry_whereis(am_kernel_refc) == TERM_NONE)
		return bif_erts_internal_scheduler_wall_time_1(p, &on);
	return exc_trap(p, export_get(am_erts_internal, am_system_flag_scheduler_wall_time, 1), 1, &on);
}

Term info_scheduler_wall_time(Process *p)
{
	int64_t now, total;
	Term list = NIL;

	if (!wall.on)
		return am_undefined;
	lock_acquire(&wall.lock);
	now = clock_monotonic_ns();
	total = now - wall.start;
	for (unsigned i = sched_count(); i >= 1 && wall.on; i--) {
		int64_t active = total - (sched_idle_ns(i) - wall.slept[i - 1]);

		list = heap_cons(&p->heap, heap_tuple(&p->heap, term_from_small(i), heap_int(&p->heap, active > 0 ? active : 0),
						      heap_int(&p->heap, total)), list);
	}
	lock_release(&wall.lock);
	return list != NIL ? list : am_undefined;
}
