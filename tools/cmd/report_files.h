/* SPDX-License-Identifier: Apache-2.0 */
/* The files that erlsnoop report is given: in which order they are read, and what of them comes to whom. */
#ifndef TOOLS_REPORT_FILES_H
#define TOOLS_REPORT_FILES_H

#include "report_state.h"

/* Before anything is printed: each file is there, and given once. Fails: said. */
int report_files_check(const struct report_state *st);
/*
 * Oldest first, however they were given; as they were given where there is one that can be read once, like a pipe.
 * Fails: said.
 */
int report_files_order(struct report_state *st);
/*
 * What the recordings are of, and all their names and VMs, before their events: a thread may tell a name late, when
 * somebody watched before us. Damage is said when it is read. Fails: said.
 */
int report_files_learn(struct report_state *st);
/* Reads all of them; what happened in them is told. Fails: said; damage is said, and no failure (st->damaged). */
int report_files_read(struct report_state *st);

#endif
