/* SPDX-License-Identifier: Apache-2.0 */
/* Operations on tables as events. Each native of ets that is one stands behind ets_probe_run while somebody watches,
 * which tells its start and its end. */
#ifndef VM_ETS_ETS_PROBE_H
#define VM_ETS_ETS_PROBE_H

#include "base/ticks.h"
#include "ets/table.h"
#include "usdt.h"

enum ets_operation {
#define ETS_OPERATION(number, name, word, text) ETS_OPERATION_##name = number,
#include "probes.def"
};

/* Where the key stands that it is about. */
enum ets_key_place { ETS_KEY_NONE, ETS_KEY_GIVEN /* args[1] */, ETS_KEY_OF_OBJECT /* in the tuple args[1] */ };

/* By one branch, not two. */
#define ETS_PROBES_ON() unlikely((PROBE_ON(ets__start) | PROBE_ON(ets__end)) != 0)

/* Returns what run(p, args) does. args[0]: the table, a new one's name, or what a walk goes on by. */
Term ets_probe_run(Process *p, Term *args, enum ets_operation operation, enum ets_key_place key,
		   Term (*run)(Process *p, Term *args));
/* A walk takes more than one time slice. Leave: this one ends, not the operation; returns what it began at, by ticks,
 * which is a small, or 0: its start was not told. Resume and resumed: around a later slice, which may leave, too. */
uint64_t ets_probe_leave(void);
void ets_probe_resume(uint64_t began);
void ets_probe_resumed(Process *p, Term table);

void probe_ets__scan(Process *p, const struct ets_table *t, size_t seen, size_t found);
/* began: what ets_wait_begins returned. */
void probe_ets__wait(const struct ets_table *t, uint64_t began);

/* Around a wait for a lock of a table. Units: ticks; 0: nobody watches. */
static inline uint64_t ets_wait_begins(void) { return PROBE_ON(ets__wait) ? ticks_now() : 0; }
static inline void ets_wait_ends(const struct ets_table *t, uint64_t began)
{
	if (unlikely(began != 0))
		probe_ets__wait(t, began);
}

#endif
