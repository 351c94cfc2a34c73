/* SPDX-License-Identifier: Apache-2.0 */
/* Who owns what, and under which name: inner side of table.h, for this room's files.
 * Locks: all functions take the registry's locks themselves; a table's lock may be held. */
#ifndef VM_ETS_TABLES_H
#define VM_ETS_TABLES_H

#include "ets/table.h"

/* One reference for the caller. NULL when there is none. Any thread. */
struct ets_table *tables_find_name(Term name);
/* The same without a lock and a reference: for who is in a look (proc/progress.h), until that ends, or on a scheduler
 * that is alone (sched_is_alone), while nothing else runs on it. NULL and *is_sure false: tables_find_name knows. */
struct ets_table *tables_see_name(Term name, bool *is_sure);
/* The table of a reference that came out of a text or a binary, and so is its number alone. Owns: the caller, a share.
 * Fails: NULL. */
struct ets_table *tables_find_number(uint64_t number);
/* May the process read every table (table_set_super_user)? */
bool tables_is_super_user(Term pid);
/* Are tables of these names neighbours in the registry? */
bool tables_names_collide(Term a, Term b);

/* Hands f to the process that it names: when that ends, table_drop_fixation gets it. */
void tables_own_fixation(struct ets_fixation *f);
/* False when its process is dying and has taken it out. */
bool tables_disown_fixation(struct ets_fixation *f);

/* table.c: the dying process's side of a fixation. Takes: f. */
void table_drop_fixation(struct ets_fixation *f);
/* table.c: whatever state the table is in. */
void table_lock_exclusive(struct ets_hold *hold, struct ets_table *t);

#endif
