/* SPDX-License-Identifier: Apache-2.0 */
/* Between the files of the ets functions. */
#ifndef VM_BIF_ETS_BIF_ETS_H
#define VM_BIF_ETS_BIF_ETS_H

#include "bif/bif.h"
#include "ets/ets_probe.h"
#include "ets/table.h"
#include "heap/copy.h"
#include "proc/exc.h"

/* Objects freed, seen, in one slice before others may run. What each costs: they lie anywhere in memory. */
enum { ETS_SLICE_OBJECTS = 2000, ETS_REDUCTIONS_AN_OBJECT = 2 };

/* Begins the native bif_<name>, an operation on a table that is told while somebody watches. What follows, by itself
 * <name>, is what it does; that is also what it calls when it does it once more (exc_run_lent). */
#define ETS_TOLD(name, operation, key)                                                                            \
	static Term name(Process *p, Term *args);                                                                 \
	Term bif_##name(Process *p, Term *args)                                                                   \
	{                                                                                                         \
		if (ETS_PROBES_ON())                                                                              \
			return ets_probe_run(p, args, ETS_OPERATION_##operation, ETS_KEY_##key, name);            \
		return name(p, args);                                                                             \
	}                                                                                                         \
	static Term name(Process *p, Term *args)

/* badarg for a table that could not be held. */
static inline Term exc_hold(Process *p, const struct ets_hold *hold)
{
	static const Term causes[] = {
		[ETS_NO_TABLE] = am_id, [ETS_NO_RIGHT] = am_access, [ETS_NO_ID] = am_type, [ETS_NO_KEY] = NIL,
	};

	return exc_badarg_cause(p, causes[hold->failure]);
}

/* badarg for another argument; when the table cannot be held either, that is told. */
static inline Term exc_badarg_beside(Process *p, Term table, enum ets_access access)
{
	struct ets_hold hold;

	if (table_hold(&hold, p, table, access) != ETS_OK)
		return exc_hold(p, &hold);
	table_release(&hold);
	return exc_badarg(p);
}

#endif
