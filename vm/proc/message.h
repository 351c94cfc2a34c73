/* SPDX-License-Identifier: Apache-2.0 */
/* Messages and signals. One incoming queue a process keeps the order of everything one process sends another;
 * the receiver moves it to its private queue, handles what is no message, and keeps messages for receive.
 * Invariant: a signal's terms stand in its own fragment (or are immediates or literals). */
#ifndef VM_PROC_MESSAGE_H
#define VM_PROC_MESSAGE_H

#include "proc/process.h"

enum signal_kind {
	SIG_MESSAGE,
	SIG_EXIT,        /* exit/2 */
	SIG_LINK_EXIT,   /* a linked process ended */
	SIG_LINK, SIG_UNLINK, SIG_UNLINK_ACK,
	SIG_MONITOR, SIG_DEMONITOR, SIG_DOWN,
	SIG_GROUP_LEADER,
	SIG_SUSPEND, SIG_RESUME,
	SIG_CALL,        /* run call(p, arg) on the receiver: process_info and the like */
};

struct signal {
	struct signal *next;
	enum signal_kind kind;
	Term term;           /* message, or reason */
	Term from;           /* sender pid, or TERM_NONE */
	Term ref;            /* monitor's reference or alias, in the fragment */
	Term token;          /* sequential trace token or NIL */
	size_t words;        /* size of the message */
	struct fragment *fragment; /* owned; NULL when no words */
	void (*call)(Process *p, void *arg);
	void *arg;
	int64_t sent_ns;
};

/* to ! message. `to`: local pid, external pid (then noconnection is nothing to the sender), port handled by io. Copies. */
void message_send(Process *from, Term to, Term message);
/* To a process already found. Takes: nothing. */
void message_send_to(Process *from, Process *to, Term message);
/* For rooms without a process (drivers, timers): takes the fragment. from: pid, port or TERM_NONE. */
void message_deliver(Process *to, Term from, Term message, struct fragment *takes);
/* `to` is a pid, a registered name, {name, node()}, or an alias ref: erlang:send/2's rules. Fails: returns false on badarg
 * (no such name). Ports: through message_send_port. */
bool message_send_any(Process *from, Term to, Term message);
/* Wired by io in main.c; NULL: no ports. Returns false for badarg. */
extern bool (*message_send_port)(Process *from, Term port, Term message);

/* ---- for receive (exec). p runs here. */
/* The message at the peeking position, fetching what is incoming; TERM_NONE when there is none.
 * Handles other signals on the way; after it p->exc_kind may be EXC_EXITED. */
Term message_peek(Process *p);
/* loop_rec_end: on to the next one. */
void message_next(Process *p);
/* remove_message: takes the peeked one out, its fragment joins the heap, position back to the start; fires message__receive. */
void message_remove(Process *p);
/* timeout: position back to the start. */
void message_rewind(Process *p);
/* wait: true when the process must sleep now (state is then PS_WAITING); false when something came meanwhile. */
bool message_wait(Process *p);
/* Receive markers (OTP 24 and later): reserve gives the marker term for the X/Y register; bind ties it to ref; use sets the peeking position
 * behind everything that was in the queue at reserve time when the marker is still valid for ref. */
Term message_marker_reserve(Process *p);
void message_marker_bind(Process *p, Term marker, Term ref);
void message_marker_clear(Process *p, Term marker_or_ref);
void message_marker_use(Process *p, Term ref);

/* Handles what is no message in the incoming queue (exits, links...). Returns false when p must exit (exc set, EXC_EXITED). */
bool signal_handle(Process *p);
/* Queues a signal. Takes: s. Returns false (and frees s) when there is no such process. */
bool signal_send(Term to, struct signal *s);
struct signal *signal_new(enum signal_kind kind);
void signal_free(struct signal *s);
/* exit(from, to, reason). */
void signal_exit(Process *from, Term to, Term reason);

#endif
