/* SPDX-License-Identifier: Apache-2.0 */
/* Microstate accounting, for Erlang: system_flag and statistics(microstate_accounting), which OTP's msacc shows. */
#include "bif/bif_info.h"
#include "data/map.h"
#include "proc/micro.h"

Term info_set_microstate_accounting(Process *p, Term how)
{
	if (how == am_reset)
		return term_from_bool(micro_reset());
	if (how != am_true && how != am_false)
		return exc_badarg(p);
	return term_from_bool(micro_switch(how == am_true));
}

/* #{type, id, counters}; states that schedulers do not know here stay 0. */
static Term put_thread(struct heap *h, Term type, unsigned id, const int64_t ns[MICRO_STATES])
{
	Term counters[14] = { am_aux, SMALL(0), am_check_io, SMALL(0), am_port }, row[6];

	counters[5] = heap_int(h, ns[MICRO_PORT]);
	counters[6] = am_emulator;
	counters[7] = heap_int(h, ns[MICRO_EMULATOR]);
	counters[8] = am_gc;
	counters[9] = heap_int(h, ns[MICRO_GC]);
	counters[10] = am_other;
	counters[11] = heap_int(h, ns[MICRO_OTHER]);
	counters[12] = am_sleep;
	counters[13] = heap_int(h, ns[MICRO_SLEEP]);
	row[0] = am_counters;
	row[1] = map_from_pairs(h, counters, 7);
	row[2] = am_id;
	row[3] = SMALL((uint64_t)id);
	row[4] = am_type;
	row[5] = type;
	return map_from_pairs(h, row, 3);
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
	Term list = put_dirty(&p->heap, am_dirty_io_scheduler, DIRTY_IO, NIL);
	int64_t ns[MICRO_STATES];

	list = put_dirty(&p->heap, am_dirty_cpu_scheduler, DIRTY_CPU, list);
	for (unsigned i = sched_count(); i >= 1; i--) {
		micro_read(i, ns);
		list = heap_cons(&p->heap, put_thread(&p->heap, am_scheduler, i, ns), list);
	}
	return list;
}
