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
static Term put_scheduler(struct heap *h, unsigned id)
{
	int64_t ns[MICRO_STATES];
	Term counters[14] = { am_aux, SMALL(0), am_check_io, SMALL(0), am_port }, row[6];

	micro_read(id, ns);
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
	row[5] = am_scheduler;
	return map_from_pairs(h, row, 3);
}

Term info_microstate_accounting(Process *p)
{
	Term list = NIL;

	for (unsigned i = sched_count(); i >= 1; i--)
		list = heap_cons(&p->heap, put_scheduler(&p->heap, i), list);
	return list;
}
