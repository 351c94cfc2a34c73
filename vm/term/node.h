/* SPDX-License-Identifier: Apache-2.0 */
/* Nodes: a name and a creation each. The table holds those that external pids, ports and references are of, each once,
 * for as long as one of them lives; every such term counts. Invariant: two terms are of the same node when they point
 * to the same struct node. */
#ifndef VM_TERM_NODE_H
#define VM_TERM_NODE_H

#include <stdatomic.h>

#include "term/term.h"

struct node_name {
	Term name;           /* atom */
	uint32_t creation;
};

struct node {
	struct node *next;   /* in the table's bucket */
	atomic_size_t refs;  /* becomes 0 under the table's lock only */
	struct node_name name;
};

/* Before any external term is made. */
void node_init(void);
extern _Atomic uint64_t node_own; /* private to node.c: the name's index << 32, and the creation */
/* This node: nonode@nohost and creation 0 until distribution starts. */
static inline struct node_name node_self(void)
{
	uint64_t word = atomic_load_explicit(&node_own, memory_order_relaxed);

	return (struct node_name){ term_from_atom((uint32_t)(word >> 32)), (uint32_t)word };
}
/* The same in the life of this VM, and hardly in another. */
uint64_t node_secret(void);
/* Distribution starts, or ends: local pids, ports and references are of that name from now on. */
void node_set_self(struct node_name name);
/* The node whose name external terms call local: same name and creation (or creation 0). */
bool node_is_self(struct node_name node);

/* The table's entry, made when it is missing. Owns: the caller, one reference. Locks: node_table. */
struct node *node_get(struct node_name name);
/* Of an entry that somebody holds. */
void node_ref(struct node *n);
/* Locks: node_table, for the last reference. */
void node_unref(struct node *n);
/* How many there are. */
size_t node_count(void);
/* Calls see(n, arg) for each. Locks: node_table meanwhile. */
void node_each(void (*see)(const struct node *n, void *arg), void *arg);

/* Of a pid, port or reference. */
static inline struct node_name node_of(Term id)
{
	if (term_is_immed(id) || term_is_local_ref(id))
		return node_self();
	return ((const struct extern_id *)boxed_ptr(id))->node->name;
}
/* A pid of an earlier life of this node: whoever had it is gone. Any term. */
static inline bool node_is_earlier_pid(Term t)
{
	return term_has_sub(t, SUB_XPID) && node_of(t).name == node_self().name;
}

#endif
