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
	SIG_SUSPEND, SIG_RESUME,
	SIG_NODE_DOWN,   /* the connection is lost: what went over it ends (proc/remote.h) */
	SIG_SPAWNED,     /* another node's answer to a request to spawn (proc/remote.h) */
	SIG_CALL,        /* run call(p, arg) on the receiver: process_info and the like */
	SIG_TASK,        /* run it between two time slices: see proc/task.h */
};

struct signal {
	struct signal *next;
	uint8_t kind;        /* enum signal_kind */
	bool joined : 1;     /* stands in its fragment's block, behind the words: freed and adopted with it */
	bool collects : 1;   /* the task */
	bool whole : 1;      /* `words` is known to count all of the message: it holds no literals */
	bool high : 1;       /* has priority; while it is under way: if the receiver gives it one */
	bool timed : 1;      /* a timer sends the message */
	bool own : 1;        /* the message stands on the receiver's heap, who sent it: a root (Process.own_messages) */
	uint8_t priority;    /* of a task */
	uint8_t stamp;       /* enum signal_stamp_state */
	uint32_t connection; /* what brought it from another node; 0: from this one */
	size_t words;        /* size of the message, but for its literals; 0: it stands on the receiver's heap */
	Term term;           /* message, or reason; of a monitor the name that it watches, or NIL */
	Term token;          /* sequential trace token, user tag or NIL; am_undefined: the receiver's stays */
	struct fragment *fragment; /* owned; NULL when no words */
	union {
		struct {
			Term from;   /* sender: pid, port, in the fragment when of another node; of a message
				      * from there that node's name; or TERM_NONE */
			/* monitor's reference or alias, in the fragment; of an unlink a small integer; or TERM_NONE */
			Term ref;
		};
		struct {         /* SIG_CALL, SIG_TASK: p is NULL when the receiver is gone */
			void (*call)(Process *p, void *arg);
			void *arg;
		};
	};
};

/* Stands behind a message that was made while somebody watched message__waited. */
struct signal_stamp {
	uint64_t ticks;      /* when it was sent */
	uint32_t queue_len;  /* of the queue that it joined, itself among it */
};

enum signal_stamp_state {
	SIGNAL_NO_STAMP,
	SIGNAL_STAMP_ROOM,   /* there is room for one */
	SIGNAL_STAMPED,
};

static inline struct signal_stamp *signal_stamp(const struct signal *s) { return (struct signal_stamp *)(s + 1); }

/* to ! message. `to`: local pid, external pid (then noconnection is nothing to the sender), port handled by io.
 * Copies. */
void message_send(Process *from, Term to, Term message);
/* To a process already found. Takes: nothing. */
void message_send_to(Process *from, Process *to, Term message);
/* To an alias of this node, with priority if its owner gives it one. */
void message_send_high(Process *from, Term alias, Term message);
/* from, which has a sequential trace token, is about to send: the token counts it, and who traces tokens hears of
 * it. */
void message_count_send(Process *from, Term to, Term message);
/* For rooms without a process (drivers, timers): takes the fragment. from: pid, port or TERM_NONE. */
void message_deliver(Process *to, Term from, Term message, struct fragment *takes);
/* The same as message_send_any, without a look at the probes: for slices that nobody watches. */
bool message_send_unwatched(Process *from, Term to, Term message);
/* The same, of what machine code may send: to processes of this node, by pid, name or alias. Fails: false, nothing was
 * done. */
bool message_send_usual(Process *from, Term to, Term message);
/* `to` is a pid, a registered name, {name, node()}, or an alias ref: erlang:send/2's rules. Fails: returns false on
 * badarg (no such name), when from waits now (exc_kind EXC_WAIT), or with an exception set: larger than a node can be
 * told. Ports: through message_send_port. from is a process. */
bool message_send_any(Process *from, Term to, Term message);
/* Wired by io; NULL: no ports. `to` is the port, or the name that it was found by. False: from waits in the send
 * (exc_wait), which returns the message in the end. Nobody waits when from is NULL. */
extern bool (*message_send_port)(Process *from, Term port, Term to, Term message);

/* Takes the first message that matches out of p's private queue. False when there is none. */
bool message_flush_matching(Process *p, bool (*match)(Term message, uint64_t key), uint64_t key);

/* The messages in p's private queue have copies of the literals that leave (heap/literal.h). p handles signals. */
void message_copy_literals(Process *p);

/* ---- for receive (exec). p runs here. */
/* Fetches what is incoming when the peeking position is at the end. */
Term message_fetch(Process *p);
Term message_fetch_traced(Process *p);
/* The message at the peeking position, fetching what is incoming; TERM_NONE when there is none.
 * Handles other signals on the way; after it p->exc_kind may be EXC_EXITED. */
static inline Term message_peek(Process *p)
{
	const struct signal *s = *p->msg_save;

	return likely(s != NULL) ? s->term : message_fetch(p);
}
/* loop_rec_end: on to the next one. */
static inline void message_next(Process *p) { p->msg_save = &(*p->msg_save)->next; }
/* remove_message: takes the peeked one out, its fragment joins the heap, position back to the start; fires
 * message__receive. */
void message_remove(Process *p);
void message_remove_unwatched(Process *p);
/* Is a tracer told when p takes the message s, by their sequential trace tokens? */
static inline bool message_tells_tracer(const Process *p, const struct signal *s)
{
	return p->seq_token != NIL || s->token != NIL || p->dt_utag != NIL;
}
/* timeout: position back to the start; and tells p's tracer. */
void message_rewind(Process *p);
void message_timed_out(Process *p);
/* wait: true when the process must sleep now (state is then PS_WAITING); false when something came meanwhile. */
bool message_wait(Process *p);
/* Receive markers (OTP 24 and later): reserve gives the marker term for the X/Y register; bind ties it to ref; use sets
 * the peeking position behind everything that was in the queue at reserve time when the marker is still valid for
 * ref. */
Term message_marker_reserve(Process *p);
void message_marker_bind(Process *p, Term marker, Term ref);
void message_marker_clear(Process *p, Term marker_or_ref);
void message_marker_use(Process *p, Term ref);

/* Handles what is no message in the incoming queue (exits, links...). Returns false when p must exit (exc set,
 * EXC_EXITED). */
bool signal_handle(Process *p);
/* The same, and tells p's tracer of what comes. */
bool signal_handle_traced(Process *p);
/* One of the two: as somebody traces, or nobody. */
bool signal_handle_now(Process *p);
/* Queues a signal. Takes: s. Returns false (and frees s) when there is no such process. */
bool signal_send(Term to, struct signal *s);
/* The same; the receiver handles it at that priority when its own is lower. */
bool signal_send_raised(Term to, struct signal *s, enum proc_priority priority);
struct signal *signal_new(enum signal_kind kind);
/* A message with room for a stamp; words as of signal_new_words, 0: none, and no fragment. */
struct signal *signal_new_stamped(size_t words);
/* A message with a fragment of so many words, which may be none; with room for a stamp while somebody watches. */
struct signal *signal_new_message(size_t words);
/* With a fragment in the same block: used words to be filled at s->fragment->words, and spare ones behind them. */
struct signal *signal_new_words(enum signal_kind kind, size_t used, size_t spare);
void signal_free(struct signal *s);
/* exit(from, to, reason). to: an alias of this node, too. high: see struct signal. */
void signal_exit(Process *from, Term to, Term reason, bool high);
/* from ends, and is linked to `to`: with its sequential trace token. */
void signal_link_exit(Process *from, Term to, Term reason);
/* SIG_LINK_EXIT of others, SIG_DOWN and their like, with a copy of reason; ref TERM_NONE or a local reference. */
void signal_send_reason(enum signal_kind kind, Term from, Term to, Term ref, Term reason);
/* A signal without words. */
struct signal *signal_new_plain(enum signal_kind kind, Term from, Term ref);
bool signal_send_plain(enum signal_kind kind, Term from, Term to, Term ref);
/* The same, of a pair of processes of which one may be at another node: *connection is what it went over, or, when not
 * 0 before, what it came over. */
bool signal_send_pair(enum signal_kind kind, Term from, Term to, Term ref, uint32_t *connection);
/* SIG_MONITOR, in the same way. name: the registered name by which a process of this node is monitored, or
 * TERM_NONE. */
bool signal_send_monitor(Term from, Term to, Term name, Term ref, uint32_t *connection);
/* SIG_LINK_EXIT, SIG_EXIT and SIG_DOWN that came over a connection. token: the sequential trace token, or NIL. */
void signal_send_reason_from(uint32_t connection, enum signal_kind kind, Term from, Term to, Term ref, Term reason,
			     Term token, bool high);
/* Puts a message at the end of p's own queue, or before those without priority. p runs here. Takes: s. */
void signal_queue_own(Process *p, struct signal *s);
/* Messages have come to the queue of p, which runs: who watches long ones hears of it. With trace_active. */
void message_queue_grew(Process *p);
/* What the sender of s must hear when its receiver `to` is gone. Takes: s. */
void signal_reject(Term to, struct signal *s);
/* Wired by io: a signal to a port. Takes: s. Returns false when there is no such port. NULL: no ports. */
extern bool (*signal_send_port)(Term to, struct signal *s);
/* The exit of p: closes its queue, answers what came in. Afterwards signal_send to it fails. */
void signal_close(Process *p);

/* p, which runs here, is suspended as soon as its time slice ends, which is at the next call, until it gets a
 * SIG_RESUME. */
void process_suspend_self(Process *p);

#endif
