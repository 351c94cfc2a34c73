/* SPDX-License-Identifier: Apache-2.0 */
/* The tables of erlsnoop ps of what all processes share: ETS tables, memory, atoms. */
#ifndef TOOLS_PS_TABLES_H
#define TOOLS_PS_TABLES_H

#include "ps_texts.h"

/* The largest first; top: so many of them, 0: all. Fails: as snapshot_tables. */
int ps_ets_print(const struct inspected *vm, size_t top, struct sink *sink);
/* Fails: as snapshot_processes. */
int ps_memory_print(const struct inspected *vm, struct sink *sink);
/* How many there were in the result before. */
struct ps_atoms {
    bool again; /* there was one, or there is to be another one */
    uint64_t count, ns;
};
/* How many there are and may be, and the newest `top` by their text, 0: all; of those since the result before, how many
 * a second, and how many days there is room for as many more, too. Fails: as snapshot_atoms. */
int ps_atoms_print(const struct inspected *vm, size_t top, struct ps_atoms *before, struct sink *sink);

#endif
