/* SPDX-License-Identifier: Apache-2.0 */
/* Links, monitors and aliases as the process that makes them sees them. p runs here in every function. */
#ifndef VM_PROC_MONITOR_H
#define VM_PROC_MONITOR_H

#include "proc/message.h"

/* to: a local pid or port. priority: of the message that its end will be. One that is not there sends back an exit
 * signal, noproc, if p traps exits. Fails: false when not. */
bool link_add(Process *p, Term to, bool priority);
void link_drop(Process *p, Term to);
/* Both ends at once: the child does not run yet. */
void link_add_child(Process *p, Process *child, bool priority);

struct monitor_options {
	Term tag;            /* TERM_NONE: 'DOWN' */
	uint8_t alias;       /* enum peer_alias */
	bool port;           /* a port is watched */
	bool priority;       /* 'DOWN', and what is sent to the alias with priority, goes before others */
};
#define MONITOR_OPTIONS_DEFAULT { .tag = TERM_NONE, .alias = ALIAS_NONE }

/* A new reference on p's heap. GC: none. A target that is not there gives a 'DOWN' with noproc at once (noconnection
 * for those of other nodes, but not of earlier lives of this one). name: TERM_NONE, or the registered name that to was
 * found by. */
Term monitor_add(Process *p, Term to, Term name, const struct monitor_options *o);
/* The process with that name at another node. */
Term monitor_add_name(Process *p, Term node, Term name, const struct monitor_options *o);
Term monitor_add_child(Process *p, Process *child, const struct monitor_options *o);
/* monitor(time_offset, clock_service) */
Term monitor_add_time_offset(Process *p);
/* Was it set? */
bool monitor_drop(Process *p, Term ref);
void monitor_drop_node(Process *p, struct peer *n);
/* Its 'DOWN' has come. */
void monitor_fired(Process *p, struct peer *n);
/* A new alias; priority: what is sent to it so goes before other messages. GC: none. */
Term monitor_alias_add(Process *p, enum peer_alias how, bool priority);
bool monitor_alias_drop(Process *p, Term ref);

/* The exit of p: exits to those linked, 'DOWN's to those who watch, demonitors to those watched. */
void monitor_exit(Process *p, Term reason);

#endif
