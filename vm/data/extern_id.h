/* SPDX-License-Identifier: Apache-2.0 */
/* Pids, ports and references seen alike, local or not: a node's name and up to five 32-bit numbers, as they are
 * printed, compared, hashed and sent. A local reference shows its 64-bit number as three of 18, 32 and 12 bits; its
 * tag, where it has one, is sent as two more (extern_id_put takes it from there), but neither printed nor compared. */
#ifndef VM_DATA_EXTERN_ID_H
#define VM_DATA_EXTERN_ID_H

#include "heap/heap.h"
#include "term/node.h"

#define EXTERN_ID_MAX 5

struct extern_facts {
	struct node_name node;
	bool local;
	unsigned count;      /* pid 2 (number, serial), port 2 (low, high half), reference 1..5, lowest first */
	uint32_t ids[EXTERN_ID_MAX];
};

/* t: a pid, port or reference. */
void extern_id_describe(Term t, struct extern_facts *f);
/* Order of two terms of the same of the three kinds: <0, 0, >0. */
int extern_id_compare(Term a, Term b);

/* A hash of what an external one is: node, creation, numbers. Not the same in another VM. */
uint64_t extern_id_hash(Term t);
/* Are two external ones the same? References are when they differ in zeros at their end alone. */
bool extern_id_same(Term a, Term b);

/* The term that the facts (node, count, ids) describe; a local one when node is this node and the numbers are such as
 * local terms have. sub: SUB_XPID, SUB_XPORT or SUB_XREF. GC: none. */
Term extern_id_put(struct heap *h, unsigned sub, const struct extern_facts *f);
#endif
