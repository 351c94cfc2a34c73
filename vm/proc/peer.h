/* SPDX-License-Identifier: Apache-2.0 */
/* Links, monitors and aliases of one process: hash tables that cost a word while empty, and keep the order of
 * insertion. An entry is found by what its pid, port or reference is: the word of a local pid or port, the number of a
 * local reference; node, creation and all numbers of those of other nodes. It owns the terms that it names.
 * Invariant: at most one entry an identity in a table. Owner only. */
#ifndef VM_PROC_PEER_H
#define VM_PROC_PEER_H

#include "heap/heap.h"

enum peer_kind {
	PEER_LINK,       /* found by the other end, which is in peer too */
	PEER_MONITOR,    /* found by the reference; peer: who is watched */
	PEER_TIME_OFFSET, /* the same, of the clock service: never fires */
	PEER_ALIAS,      /* found by the reference; no monitor (any more) */
	PEER_WATCHER,    /* found by the reference; peer: who watches */
	PEER_SUSPENDING, /* peer: who is suspended; see peer_find_suspending */
	PEER_NODE,       /* peer: a node's name; see peer_find_node */
	PEER_SPAWN,      /* found by the reference: a request to spawn at another node; tag: {ReplyTag, MonitorTag} */
};

enum peer_alias { ALIAS_NONE, ALIAS_EXPLICIT, ALIAS_DEMONITOR, ALIAS_REPLY };

struct peer {
	struct peer *next;   /* in the order of insertion */
	struct peer *before;
	struct peer *chain;
	uint64_t key;        /* of a foreign one a hash, else see above */
	Term peer;
	Term name; /* monitor, watcher: watched by that registered name, or TERM_NONE; of a monitor with at_node
			      * peer is a node's name */
	Term foreign_ref;    /* foreign watcher: the reference */
	Term tag;            /* monitor: first element of the message; TERM_NONE: 'DOWN' */
	uint64_t ref_tag;    /* of the reference: see struct ref */
	struct fragment *words; /* of its terms; NULL when they need none */
	union {
		uint32_t unlink_id;  /* link: waits for the acknowledgement of this unlink; 0: active */
		uint32_t count;      /* suspending, node */
		uint32_t wishes;     /* spawn: enum remote_wish (proc/remote.h) */
	};
	uint32_t connection; /* to the other end's node; 0: that is this node */
	uint8_t kind;
	uint8_t alias;
	bool port;           /* monitor: a port is watched, not a process */
	bool priority;       /* link, monitor, alias: what comes of it has priority */
	bool at_node;        /* monitor: by a name at the node that peer names */
	bool foreign;        /* found by an identifier of another node, or of an earlier life of this one */
};

struct peers {
	uintptr_t word; /* 0: empty; else the only entry, or a table (peer.c) */
};

/* id: a pid, port or reference. */
struct peer *peer_find(const struct peers *t, Term id);
struct peer *peer_find_suspending(const struct peers *t, Term pid);
struct peer *peer_find_node(const struct peers *t, Term name);
/* A new entry, with copies of peer and tag (TERM_NONE: none); the rest is zero. id must not be there yet; a link's
 * peer is id, and a process that is suspended, or a node, is id and peer. */
struct peer *peer_insert(struct peers *t, enum peer_kind kind, Term id, Term peer, Term tag);
void peer_remove(struct peers *t, struct peer *n); /* and frees it */
/* Takes all nodes out as one list, the oldest first; the caller frees each with peer_free. */
struct peer *peer_take_all(struct peers *t);
void peer_free(struct peer *n);
/* Calls visit(node, arg) on each, the oldest first; visit must not change the table. */
void peer_each(const struct peers *t, void (*visit)(const struct peer *n, void *arg), void *arg);

size_t peer_count(const struct peers *t);
/* The memory of table and nodes. */
size_t peer_size_bytes(const struct peers *t);

/* The words that a copy of a pid, port, reference, small integer or TERM_NONE needs: a reference's without its
 * resource. */
size_t peer_id_words(Term id);
/* That copy, at *top, which moves on. */
Term peer_put_id(Term id, Term **top, Term **off_heap);
/* The reference of a monitor, alias or watcher. local: room for the words of one of this node. */
Term peer_ref(const struct peer *n, Term local[REF_WORDS]);

/* The reference at `at` (REF_WORDS). */
static inline Term peer_put_ref(Term *at, uint64_t number, uint64_t tag)
{
	struct ref *r = (struct ref *)at;

	r->header = HEADER(REF_WORDS - 1, SUB_REF);
	r->number = number;
	r->tag = tag;
	return term_from_boxed(at);
}

static inline uint64_t ref_number(Term ref) { return ((const struct ref *)boxed_ptr(ref))->number; }
static inline uint64_t ref_tag(Term ref) { return ((const struct ref *)boxed_ptr(ref))->tag; }

#endif
