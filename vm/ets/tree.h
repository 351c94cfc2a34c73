/* SPDX-License-Identifier: Apache-2.0 */
/* Ordered tables: height-balanced binary trees of stored objects.
 * G. Adelson-Velsky, E. Landis, "An algorithm for the organization of information", 1962.
 * Invariant: keys rise from left to right in the order of terms, 1 and 1.0 being one key; the heights of an object's
 * two subtrees differ by one at most.
 * Locks: the caller's. */
#ifndef VM_ETS_TREE_H
#define VM_ETS_TREE_H

#include <stdatomic.h>

#include "ets/ets_object.h"

enum { TREE_MAX_HEIGHT = 96 };

struct tree_cursor;
struct ets_tree {
	struct ets_object *root;
	unsigned key;        /* position, from 1 */
	/* where tree_nth was last, or NULL: the tree has changed since, or somebody is at it */
	_Atomic(struct tree_cursor *) cursor;
};

static inline Term tree_object_key(const struct ets_tree *t, const struct ets_object *o) { return o->words[t->key]; }

/* Returns the key's object, which stays the tree's, or NULL. */
struct ets_object *tree_lookup(const struct ets_tree *t, Term key);
/* The place that points to the key's object, or NULL. */
struct ets_object **tree_find(struct ets_tree *t, Term key);
/* A copy of the tuple. It replaces the object of its key. */
void tree_insert(struct ets_tree *t, Term tuple, struct ets_change *change);
/* Puts o, whose key is that of *place, in its stead. Takes: o. */
void tree_replace(struct ets_tree *t, struct ets_object **place, struct ets_object *o, struct ets_change *change);
/* Returns the object taken out (owned by the caller), or NULL. */
struct ets_object *tree_remove(struct ets_tree *t, Term key, struct ets_change *change);

/* NULL: the tree is empty. */
struct ets_object *tree_first(const struct ets_tree *t);
struct ets_object *tree_last(const struct ets_tree *t);
/* The one after (before) the key, whether the key is there or not. */
struct ets_object *tree_next(const struct ets_tree *t, Term key);
struct ets_object *tree_prev(const struct ets_tree *t, Term key);

/* The n-th object, from 0, or NULL. It is found by counting, from where the call before was when that is nearer than
 * the beginning. *steps: how many objects were counted. Any number of readers at a time. */
struct ets_object *tree_nth(struct ets_tree *t, size_t n, size_t *steps);

/* A position in a walk: the way from the root to the current object, which is steps[depth - 1].
 * Valid until the tree changes. */
struct tree_walk {
	unsigned depth;
	struct ets_object *steps[TREE_MAX_HEIGHT];
};
/* Where does the object's key lie: <0 before what is sought, 0 in it, >0 behind it. */
typedef int (*tree_place_fn)(const void *sought, Term key);
/* To the first (backward: last) object of a contiguous range; NULL place: of the tree. NULL when there is none. */
struct ets_object *tree_walk_start(struct tree_walk *w, const struct ets_tree *t, bool backward, tree_place_fn place,
				   const void *sought);
/* To the first object after (backward: before) the key. */
struct ets_object *tree_walk_after(struct tree_walk *w, const struct ets_tree *t, bool backward, Term key);
struct ets_object *tree_walk_step(struct tree_walk *w, bool backward);

/* Subtrees still to be freed: never more than one a level, and the one in hand. */
struct tree_drain {
	unsigned depth;
	struct ets_object *roots[TREE_MAX_HEIGHT + 1];
};
/* Takes: the objects of t, which is empty then. */
void tree_drain_start(struct tree_drain *d, struct ets_tree *t);
/* Frees up to n objects; true when none is left. */
bool tree_drain(struct tree_drain *d, size_t n);

#endif
