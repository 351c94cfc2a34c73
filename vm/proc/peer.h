/* SPDX-License-Identifier: Apache-2.0 */
/* Links, monitors and aliases of one process: hash tables that cost a word while empty, and keep the order of insertion.
 * Invariant: at most one node a key in a table. Owner only. */
#ifndef VM_PROC_PEER_H
#define VM_PROC_PEER_H

#include "heap/heap.h"

enum peer_kind {
	PEER_LINK,       /* key: pid or port of the other end */
	PEER_MONITOR,    /* key: number of the reference; peer: who is watched */
	PEER_TIME_OFFSET, /* the same, of the clock service: never fires */
	PEER_ALIAS,      /* key: number of the reference; no monitor (any more) */
	PEER_WATCHER,    /* key: number of the reference; peer: who watches */
	PEER_SUSPENDING, /* key: highest bit and the pid that we suspended; peer: that pid */
};

enum peer_alias { ALIAS_NONE, ALIAS_EXPLICIT, ALIAS_DEMONITOR, ALIAS_REPLY };

struct peer {
	struct peer *next;   /* in the order of insertion */
	struct peer *before;
	struct peer *chain;
	uint64_t key;
	Term peer;
	Term name;           /* monitored by that registered name, or TERM_NONE */
	Term tag;            /* first element of the message; TERM_NONE: 'DOWN' */
	uint64_t ref_tag;    /* of the reference: see struct ref */
	struct fragment *tag_fragment;
	uint32_t unlink_id;  /* link: waits for the acknowledgement of this unlink; 0: active */
	uint32_t count;      /* suspending */
	uint8_t kind;
	uint8_t alias;
	bool port;           /* monitor: a port is watched, not a process */
};

struct peers {
	struct peer_table *table; /* NULL while empty */
};

struct peer *peer_find(const struct peers *t, uint64_t key);
/* A new node, zeroed but for key and kind; the key must not be there yet. */
struct peer *peer_insert(struct peers *t, uint64_t key, enum peer_kind kind);
void peer_remove(struct peers *t, struct peer *n); /* and frees it */
/* Takes all nodes out as one list, the oldest first; the caller frees each with peer_free. */
struct peer *peer_take_all(struct peers *t);
void peer_free(struct peer *n);
/* Calls visit(node, arg) on each, the oldest first; visit must not change the table. */
void peer_each(const struct peers *t, void (*visit)(const struct peer *n, void *arg), void *arg);

size_t peer_count(const struct peers *t);
/* The memory of table and nodes. */
size_t peer_size_bytes(const struct peers *t);

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
