/* SPDX-License-Identifier: Apache-2.0 */
/* This node's name. External pids, ports and references hold the name and creation of theirs: there is no table of nodes to keep. */
#ifndef VM_TERM_NODE_H
#define VM_TERM_NODE_H

#include "term/term.h"

struct node_name {
	Term name;           /* atom */
	uint32_t creation;
};

/* This node: nonode@nohost and creation 0 until distribution starts. */
struct node_name node_self(void);
/* The node whose name external terms call local: same name and creation (or creation 0). */
bool node_is_self(struct node_name node);

#endif
