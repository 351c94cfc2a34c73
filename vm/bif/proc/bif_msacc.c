/* SPDX-License-Identifier: Apache-2.0 */
/* Microstate accounting, for Erlang: system_flag and statistics(microstate_accounting), which OTP's msacc shows. */
#include "bif/system/bif_info.h"
#include "data/map.h"
#include "proc/micro_threads.h"

Term info_set_microstate_accounting(Process *p, Term how)
{
	if (how == am_reset)
		return term_from_bool(micro_reset());
	if (how != am_true && how != am_false)
		return exc_badarg(p);
	return micro_switch(p, how == am_true);
}

/* In the order of a map's keys. Schedulers here have no work that OTP calls aux. */
static const struct { Term name; int state; } micro_names[] = {
	{ am_aux, -1 }, { am_check_io, MICRO_CHECK_IO }, { am_emulator, MICRO_EMULATOR }, { am_gc, MICRO_GC },
	{ am_other, MICRO_OTHER }, { am_port, MICRO_PORT }, { am_sleep, MICRO_SLEEP },
};
enum { NAMES = sizeof(micro_names) / sizeof(micro_names[0]) };

/* #{type, id, counters} */
static Term put_thread(struct heap *h, Term type, unsigned id, const int64_t ns[MICRO_STATES])
{
	Term counters[2 * NAMES], row[6];

	for (int i = 0; i < NAMES; i++) {
		counters[2 * i] = micro_names[i].name;
		counters[2 * i + 1] = heap_int(h, micro_names[i].state < 0 ? 0 : ns[micro_names[i].state]);
	}
	row[0] = am_counters;
	row[1] = map_from_pairs(h, counters, NAMES);
	row[2] = am_id;
	row[3] = SMALL((uint64_t)id);
	row[4] = am_type;
	row[5] = type;
	return map_from_pairs(h, row, 3);
}

static Term put_pollers(struct heap *h, Term list)
{
	int64_t ns[MICRO_STATES];

	for (unsigned i = micro_poll_threads.count; i-- > 0;) {
		micro_read_poll(i, ns);
		list = heap_cons(h, put_thread(h, am_poll, i, ns), list);
	}
	return list;
}

static Term put_dirty(struct heap *h, Term type, enum dirty_kind kind, Term list)
{
	int64_t ns[MICRO_STATES];

	for (unsigned i = dirty_count(kind); i >= 1; i--) {
		micro_read_dirty(kind, i, ns);
		list = heap_cons(h, put_thread(h, type, i, ns), list);
	}
	return list;
}

Term info_microstate_accounting(Process *p)
{
	Term list = put_dirty(&p->heap, am_dirty_io_scheduler, DIRTY_IO, put_pollers(&p->heap, NIL));
	int64_t ns[MICRO_STATES];

	list = put_dirty(&p->heap, am_dirty_cpu_scheduler, DIRTY_CPU, list);
	for (unsigned i = sched_count(); i >= 1; i--) {
		micro_read(i, ns);
		list = heap_cons(&p->heap, put_thread(&p->heap, am_scheduler, i, ns), list);
	}
	return list;
}
