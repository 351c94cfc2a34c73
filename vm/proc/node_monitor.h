/* SPDX-License-Identifier: Apache-2.0 */
/* Who wants to know that nodes come and go: process_flag(monitor_nodes, ...), behind net_kernel:monitor_nodes/1,2.
 * A process may ask several times, with several sets of wishes; each is counted by itself. */
#ifndef VM_PROC_NODE_MONITOR_H
#define VM_PROC_NODE_MONITOR_H

#include "proc/process.h"

enum {
	NODE_MONITOR_VISIBLE = 1 << 0,
	NODE_MONITOR_HIDDEN = 1 << 1,
	NODE_MONITOR_REASON = 1 << 2,  /* of nodedown */
	NODE_MONITOR_MAP = 1 << 3,     /* messages carry a map, not a list */
	NODE_MONITOR_ID = 1 << 4,      /* connection_id */
};

/* A node came, or went. */
struct node_change {
	Term what;           /* nodeup, nodedown */
	Term node;
	uint32_t connection; /* 0: this node, which has none */
	Term type;           /* visible, hidden */
	Term reason;         /* of nodedown, else TERM_NONE; any term */
};

void node_monitor_init(void);
/* One more wish of p for these messages. Returns how many it had. p runs here. */
unsigned node_monitor_add(Process *p, unsigned wishes);
/* Ends all of them. Returns how many there were. p runs here. */
unsigned node_monitor_remove(Process *p, unsigned wishes);
/* Messages to all who want them. Locks: node_monitors. */
void node_monitor_tell(const struct node_change *c);
/* [{Pid, Options}], an element for each time that a process has asked, the newest wish first; Options as
 * net_kernel:monitor_nodes/2 takes them in a list. On h. Locks: node_monitors. */
Term node_monitor_list(struct heap *h);

#endif
