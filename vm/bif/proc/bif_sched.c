/* SPDX-License-Identifier: Apache-2.0 */
/* How busy schedulers are. Invariant: `start` and `slept` are what was read when the measuring was switched on. */
#include "base/alloc.h"
#include "base/clock.h"
#include "bif/system/bif_info.h"
#include "code/export.h"
#include "proc/dirty.h"
#include "proc/registry.h"
#include "proc/sched.h"

static struct {
	struct lock lock;
	atomic_bool on;      /* written under the lock */
	int64_t start, *slept; /* Units: nanoseconds; one a scheduler */
	int64_t *dirty[DIRTY_KINDS]; /* how long each dirty one had worked */
} wall;

void info_wall_init(void)
{
	lock_init(&wall.lock, LOCK_wall_time);
}

static void begin(void)
{
	if (wall.slept == NULL)
		wall.slept = mem_alloc(sched_count() * sizeof(*wall.slept));
	for (int kind = 0; kind < DIRTY_KINDS; kind++) {
		if (wall.dirty[kind] == NULL)
			wall.dirty[kind] = mem_alloc(dirty_count(kind) * sizeof(*wall.dirty[kind]));
		for (unsigned i = 0; i < dirty_count(kind); i++)
			wall.dirty[kind][i] = dirty_busy_ns(kind, i + 1);
	}
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

static Term put_times(struct heap *h, unsigned id, int64_t active, int64_t total, Term list)
{
	active = active < 0 ? 0 : active > total ? total : active;
	return heap_cons(h, heap_tuple(h, SMALL((uint64_t)id), heap_int(h, active), heap_int(h, total)), list);
}

/* Their numbers go on where those of the schedulers before end. Lock held. */
static Term put_dirty_times(struct heap *h, enum dirty_kind kind, unsigned before, int64_t total, Term list)
{
	for (unsigned i = dirty_count(kind); i >= 1; i--)
		list = put_times(h, before + i, dirty_busy_ns(kind, i) - wall.dirty[kind][i - 1], total, list);
	return list;
}

static Term put_wall_time(Process *p, bool io)
{
	struct heap *h = &p->heap;
	unsigned n = sched_count();
	Term list = NIL;
	int64_t total;

	if (!wall.on)
		return am_undefined;
	lock_acquire(&wall.lock);
	total = clock_monotonic_ns() - wall.start;
	if (wall.on && io)
		list = put_dirty_times(h, DIRTY_IO, n + dirty_count(DIRTY_CPU), total, list);
	if (wall.on)
		list = put_dirty_times(h, DIRTY_CPU, n, total, list);
	for (unsigned i = n; i >= 1 && wall.on; i--)
		list = put_times(h, i, total - (sched_idle_ns(i) - wall.slept[i - 1]), total, list);
	lock_release(&wall.lock);
	return list != NIL ? list : am_undefined;
}

Term info_scheduler_wall_time(Process *p) { return put_wall_time(p, false); }
Term info_scheduler_wall_time_all(Process *p) { return put_wall_time(p, true); }
