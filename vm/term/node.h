/* SPDX-License-Identifier: Apache-2.0 */
/* Names of nodes, as external pids, ports and references carry them. Invariant: one entry a {name, creation};
 * entries live as long as the VM. */
#ifndef VM_TERM_NODE_H
#define VM_TERM_NODE_H

#include "term/term.h"

struct node_name {
	Term name;           /* atom */
	uint32_t creation;
};

void node_init(void);
struct node_name *node_find(Term name, uint32_t creation);
/* This node: nonode@nohost and creation 0 until distribution starts. */
struct node_name *node_self(void);
/* The node whose name external terms call local: same name and creation (or creation 0). */
bool node_is_self(Term name, uint32_t creation);

#endif
