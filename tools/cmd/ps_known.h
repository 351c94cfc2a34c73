/* SPDX-License-Identifier: Apache-2.0 */
/* Processes that a table of erlsnoop ps names beside its own rows: who owns a port, who is linked to whom. */
#ifndef TOOLS_PS_KNOWN_H
#define TOOLS_PS_KNOWN_H

#include "inspect.h"

enum { PS_NAME_BYTES = 4096 };

struct ps_known_one;

/* Empty when all 0. Owns: ps_known_end frees. */
struct ps_known {
    struct ps_known_one *all; /* once they were looked for, by id */
    size_t n, room;
};

/* 0 is nobody. Fails: -ENOMEM. */
int ps_known_add(struct ps_known *known, ev_id id);
/* Looks for all that were added: one look at the VM's processes. */
void ps_known_find(struct ps_known *known, const struct inspected *vm);
/* NULL: it was not added, or there is no such process any more. */
const struct snapshot_process *ps_known_process(const struct ps_known *known, ev_id id);
/* What it is called; "": not known. */
void ps_known_name(const struct inspected *vm, const struct ps_known *known, ev_id id, char out[PS_NAME_BYTES]);
void ps_known_end(struct ps_known *known);

#endif
