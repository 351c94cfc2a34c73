/* SPDX-License-Identifier: Apache-2.0 */
/* Built-in function: statistics. */
#include "bif/system/bif_info.h"

#include <sys/resource.h>

#include "base/clock.h"
#include "io/port.h"
#include "proc/dirty.h"
#include "proc/sched.h"

static struct {
	struct lock lock;    /* what "since the last call" means */
	uint64_t last_reds;
	int64_t last_runtime_ms, last_wall_ms;
	struct atom_rows rows;
} statistics;

static Term int_term(int64_t n)
{
	return term_from_small(n);
}

static Term put_since(Process *p, int64_t now, int64_t *last)
{
	int64_t before;

	lock_acquire(&statistics.lock);
	before = *last;
	*last = now;
	lock_release(&statistics.lock);
	return heap_tuple(&p->heap, heap_int(&p->heap, now), heap_int(&p->heap, now - before));
}

static Term stat_reductions(Process *p)
{
	int64_t now = (int64_t)sched_totals().reds + SCHED_REDS - p->reds_left - p->reds_kept;

	return put_since(p, now, (int64_t *)&statistics.last_reds);
}

static Term stat_runtime(Process *p)
{
	struct rusage u;
	int64_t ms;

	getrusage(RUSAGE_SELF, &u);
	ms = (u.ru_utime.tv_sec + u.ru_stime.tv_sec) * 1000 + (u.ru_utime.tv_usec + u.ru_stime.tv_usec) / 1000;
	return put_since(p, ms, &statistics.last_runtime_ms);
}

static Term stat_wall_clock(Process *p)
{
	return put_since(p, (clock_monotonic_ns() - info_start_ns()) / 1000000, &statistics.last_wall_ms);
}

static Term stat_garbage_collection(Process *p)
{
	struct sched_totals t = sched_totals();

	return heap_tuple(&p->heap, heap_uint(&p->heap, t.collections), heap_uint(&p->heap, t.reclaimed_words),
			  SMALL(0));
}

static Term stat_context_switches(Process *p)
{
	return heap_tuple(&p->heap, heap_uint(&p->heap, sched_totals().switches), SMALL(0));
}

static Term stat_io(Process *p)
{
	uint64_t in, out;
	struct heap *h = &p->heap;

	port_io_bytes(&in, &out);
	return heap_tuple(h, heap_tuple(h, am_input, heap_uint(h, in)), heap_tuple(h, am_output, heap_uint(h, out)));
}

/* What waits for a kind of dirty schedulers, with what they run. */
static int64_t dirty_tasks(enum dirty_kind kind, bool running)
{
	return (int64_t)(dirty_queue_length(kind) + (running ? dirty_running(kind) : 0));
}

/* One a scheduler and one for all dirty CPU schedulers; with io one more, for the other dirty ones. */
static Term put_lengths(Process *p, bool running, bool io)
{
	Term list = io ? heap_cons(&p->heap, int_term(dirty_tasks(DIRTY_IO, running)), NIL) : NIL;

	list = heap_cons(&p->heap, int_term(dirty_tasks(DIRTY_CPU, running)), list);
	for (unsigned i = sched_count(); i >= 1; i--)
		list = heap_cons(&p->heap, int_term((int64_t)sched_run_queue_of(i) + (running && sched_is_busy(i))),
				 list);
	return list;
}

static Term stat_queue_lengths(Process *p) { return put_lengths(p, false, false); }
static Term stat_queue_lengths_all(Process *p) { return put_lengths(p, false, true); }
static Term stat_active_tasks(Process *p) { return put_lengths(p, true, false); }
static Term stat_active_tasks_all(Process *p) { return put_lengths(p, true, true); }

/* The sum of those. */
static Term sum_lengths(bool running, bool io)
{
	int64_t n = (int64_t)sched_run_queue_length() + dirty_tasks(DIRTY_CPU, running) +
		    (io ? dirty_tasks(DIRTY_IO, running) : 0);

	for (unsigned i = sched_count(); i >= 1 && running; i--)
		n += sched_is_busy(i);
	return int_term(n);
}

#define STAT(name, value)                                                                          \
	static Term stat_##name(Process *p)                                                        \
	{                                                                                          \
		(void)p;                                                                           \
		return (value);                                                                    \
	}

STAT(run_queue, sum_lengths(false, false))
STAT(run_queue_all, sum_lengths(false, true))
STAT(total_active, sum_lengths(true, false))
STAT(total_active_all, sum_lengths(true, true))

static const struct info_item stat_items[] = {
	{ am_reductions, stat_reductions }, { am_exact_reductions, stat_reductions }, { am_runtime, stat_runtime },
	{ am_wall_clock, stat_wall_clock }, { am_garbage_collection, stat_garbage_collection },
	{ am_context_switches, stat_context_switches }, { am_io, stat_io }, { am_run_queue, stat_run_queue },
	{ am_run_queue_lengths, stat_queue_lengths }, { am_run_queue_lengths_all, stat_queue_lengths_all },
	{ am_total_run_queue_lengths, stat_run_queue }, { am_total_run_queue_lengths_all, stat_run_queue_all },
	{ am_active_tasks, stat_active_tasks }, { am_active_tasks_all, stat_active_tasks_all },
	{ am_total_active_tasks, stat_total_active }, { am_total_active_tasks_all, stat_total_active_all },
	{ am_microstate_accounting, info_microstate_accounting }, { am_scheduler_wall_time, info_scheduler_wall_time },
	{ am_scheduler_wall_time_all, info_scheduler_wall_time_all },
};

void info_statistics_init(void)
{
	lock_init(&statistics.lock, LOCK_statistics);
	for (unsigned i = 0; i < sizeof(stat_items) / sizeof(stat_items[0]); i++)
		atom_rows_add(&statistics.rows, stat_items[i].name, i);
}

Term bif_erlang_statistics_1(Process *p, Term *args)
{
	Term value = info_make_named(p, stat_items, &statistics.rows, args[0]);

	return value != TERM_NONE ? value : exc_badarg(p);
}
