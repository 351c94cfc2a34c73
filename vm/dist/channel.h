/* SPDX-License-Identifier: Apache-2.0 */
/* Connections to other nodes: what stands between processes, who hand over messages, and the controller, a port or a
 * process, that carries the bytes. One is PENDING from the moment that somebody wants it, UP from the end of the
 * handshake, which is Erlang's (dist_util), and DOWN for ever after. What is handed over meanwhile waits.
 * Invariant: the table has one for a node at most, and none that is DOWN; each has a number of its own. */
#ifndef VM_DIST_CHANNEL_H
#define VM_DIST_CHANNEL_H

#include "data/etf.h"
#include "dist/control.h"
#include "heap/refbin.h"
#include "io/port.h"
#include "proc/remote.h"

/* One message on its way: the external forms of the control tuple and of what follows it, each with its version, or
 * with references to atoms (etf_encode_atoms). */
struct dist_message {
	struct dist_message *next;
	struct binary *control;
	struct binary *payload;      /* NULL: nothing follows */
	struct etf_pieces pieces;    /* large binaries of the payload, sent from where they are */
	size_t payload_bytes;        /* that follow the control tuple on the wire: `payload` and all pieces */
	uint64_t needs, unless;      /* flags of peers: see control.def */
	Term asker;                  /* a local pid; with `refusal` only */
	struct signal *refusal;      /* what the asker hears when the peer cannot take the message; or NULL */
	Term sender;                 /* local pid or port; TERM_NONE: not known */
	/* Fragments: what is gone, what is left. */
	uint64_t sequence;
	size_t fragments_left;       /* 0: none is sent so far */
	size_t payload_sent_bytes;   /* of payload_bytes; of these: */
	size_t written_sent_bytes;   /* of `payload` itself */
	size_t pieces_sent, piece_sent_bytes; /* pieces that went whole; bytes of the next one */
	size_t counted_bytes;        /* of what takes part in the busy limit */
	bool is_large;               /* its sender waits until all of it is gone */
	struct dist_message *followers, **last_follower; /* of the same sender, to be sent behind all of it */
	bool refers;                 /* to atoms */
	uint8_t atom_count;
	Term atoms[];
};

/* Who sends a large message. */
struct large_sender {
	Term pid;
	bool fills;                  /* its message has as many bytes as make a connection busy, and is told as that */
	bool waits;                  /* it is suspended */
};

enum channel_state { CHANNEL_PENDING, CHANNEL_UP, CHANNEL_DOWN };

struct channel {
	struct channel *next;        /* table */
	atomic_uint refs;
	Term node;                   /* atom */
	uint32_t id;
	struct lock lock;
	/* lock: */
	enum channel_state state;
	uint64_t flags;              /* what both nodes can do; while pending, what we hope for */
	Term controller;             /* local port or pid; TERM_NONE while pending */
	struct port *port;           /* counted; NULL: a process carries */
	struct dist_message *first, **last;
	struct dist_message *parts, **last_part; /* that have been sent in part */
	unsigned whole_left;         /* messages to be sent before the next fragment */
	size_t queued_bytes;
	bool busy;                   /* senders wait */
	bool output_waits;           /* the task is submitted */
	bool tell_data;              /* the controlling process wants to hear that there is something */
	bool get_size;               /* dist_ctrl_get_data/1 tells sizes */
	Term *waiters;               /* suspended until it is not busy */
	size_t waiter_count, waiter_room;
	struct large_sender *large;  /* of each large message, in the order that they came */
	size_t large_count, large_room;
	Term *concerned;             /* processes that may have links, monitors or requests that go over it */
	size_t concerned_count, concerned_room, concerned_limit;
	/* Made when it comes up; NULL: its messages have no headers. */
	struct dist_reader *reader;
	struct dist_writer *writer;  /* who carries it writes */
	struct port_task output;
	atomic_uint_fast64_t received, sent; /* messages */
	atomic_uint creation;        /* the node's; 0 while pending */
};

void channel_init(void);
/* Owns: the caller, one reference. NULL: there is none. */
struct channel *channel_find(Term node);
struct channel *channel_find_id(uint32_t id);
/* The one to that node; *made: a new one, pending. */
struct channel *channel_open(Term node, bool *made);
void channel_ref(struct channel *c);
void channel_unref(struct channel *c);
/* Calls see(c, arg) for each. The table is locked meanwhile. */
void channel_each(void (*see)(struct channel *c, void *arg), void *arg);

/* The same without a lock, for who has stopped the world. */
void channel_peek_each(void (*see)(const struct channel *c, void *arg), void *arg);

/* Pending becomes up. channel_tell_up follows, before anything can come or go over it. Takes: a reference to port
 * (NULL: a process carries). Fails: false, it is not pending. */
bool channel_connect(struct channel *c, Term controller, struct port *port, uint64_t flags);
/* Those hear of it who want to; of what waited, messages that the node cannot take are refused, or dropped, and the
 * others go out. Who hears may do anything at once, so all else of setting c up comes first. */
void channel_tell_up(struct channel *c);
/* Whatever it was. Everybody concerned hears of it. reason: an immediate, or a term that stays meanwhile. Returns the
 * state before. */
enum channel_state channel_down(struct channel *c, Term reason);

/* Hands m over; one that the node cannot take is refused, or dropped. concerned: a pid to note, or TERM_NONE. *busy:
 * its sender should wait, as there is much to be sent, or m alone is large: then others need not wait for it. Takes: m.
 * Fails: false, it is down. */
bool channel_put(struct channel *c, struct dist_message *m, Term concerned, bool *busy);
/* p, which runs here, is suspended until c is not busy, or until its own large message is gone, unless it has asked
 * never to be (PF_ASYNC_DIST), or is ending. Its native then returns by exc_return_suspended. */
void channel_wait(struct channel *c, Process *p);
/* The process hears of it when it is lost. Fails: false, it is lost already. */
bool channel_concern(struct channel *c, Term pid);
bool channel_is_busy(struct channel *c);
/* The next one for the controller, which sends all of it, or a fragment. Messages of one sender stay in their order.
 * Owns: the caller, who gives it to channel_done. NULL: none. */
struct dist_message *channel_take(struct channel *c);
/* m has no fragments left: it is freed, and counts as queued no more; else it will come again. Takes: m. */
void channel_done(struct channel *c, struct dist_message *m);
/* Has the controller something to take? The lock is held. */
bool channel_has_output(const struct channel *c);
void dist_message_free(struct dist_message *m);
/* The port has something to write. The port is held, or not. */
void channel_wake_port(struct channel *c);

/* Bytes at which senders wait. */
extern atomic_size_t channel_busy_bytes;

#endif
