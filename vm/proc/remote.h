/* SPDX-License-Identifier: Apache-2.0 */
/* Processes of other nodes, as processes here see them: what goes to them, and what happens here when the connection
 * to their node is lost. Connections are numbered, from 1 and never twice: an entry of a link, monitor or request
 * keeps the number of the one that it went over, and ends with it, whatever connection there is by then. */
#ifndef VM_PROC_REMOTE_H
#define VM_PROC_REMOTE_H

#include "proc/message.h"

enum remote_result { REMOTE_SENT, REMOTE_NOT_CONNECTED, REMOTE_BUSY, REMOTE_TOO_LARGE };
enum {
	REMOTE_NO_CONNECT = 1,   /* a node that is not connected stays so: REMOTE_NOT_CONNECTED */
	REMOTE_NO_SUSPEND = 2,   /* what would have to wait is not sent: REMOTE_BUSY */
	REMOTE_HIGH = 4,         /* with priority, if its alias has that */
};
/* What who asked another node for a process wants; of a peer of kind PEER_SPAWN. */
enum remote_wish {
	REMOTE_WANTS_OK = 1,
	REMOTE_WANTS_ERROR = 2,
	REMOTE_WANTS_MONITOR = 4,
};
/* Of the answer. Source: OTP, erts/doc, erl_dist_protocol, SPAWN_REPLY. */
enum { REMOTE_SPAWN_LINKED = 1, REMOTE_SPAWN_MONITORED = 2 };

/* Wired by the room dist, in main.c; NULL: no other nodes. */
struct remote_hooks {
	/* s goes to the process, or the one with that name, at that node. *connection (may be NULL): what it goes over.
	 * Takes: s. Fails: false, there is no connection, and none can be made. */
	bool (*signal)(Term node, Term to, struct signal *s, uint32_t *connection);
	/* to: a pid or alias of another node, or {Name, Node}. The process that sends is suspended, in time, when there
	 * is too much on its way already. */
	enum remote_result (*send)(Process *from, Term to, Term message, unsigned flags);
};
extern struct remote_hooks remote_hooks;

/* As of the hooks; without another node s is freed, or nothing sent. */
bool remote_signal(Term node, Term to, struct signal *s, uint32_t *connection);
enum remote_result remote_send(Process *from, Term to, Term message, unsigned flags);

/* ---- p runs here in what follows */
/* Asks that node to watch, or not to watch any more, the process of that name. *connection: what the request went over.
 * Fails: false, there is no connection. n: the monitor's entry, which stays. */
bool remote_monitor_name(Process *p, Term node, Term name, Term ref, uint32_t *connection);
void remote_demonitor_name(Process *p, const struct peer *n);

/* One more {nodedown, Name}, when that connection is lost. */
void remote_watch_node(Process *p, Term name, uint32_t connection);
/* One less. */
void remote_unwatch_node(Process *p, Term name);
/* The connection is lost: the messages; n goes. */
void remote_tell_node_down(Process *p, struct peer *n);

/* {ReplyTag, Ref, error, Reason}, if it is wanted; n goes. */
void remote_fail_spawn(Process *p, struct peer *n, Term reason);
/* The answer has come: s->term is {Result, Flags}, Result a pid or why not. Takes: s. */
void remote_spawned(Process *p, struct signal *s);
/* The same, and `parent` is gone: its child hears of it. Does not free s. */
void remote_spawned_for_nobody(Term parent, const struct signal *s);
/* The request is forgotten. Fails: false when there is none. */
bool remote_abandon_spawn(Process *p, Term ref);

#endif
