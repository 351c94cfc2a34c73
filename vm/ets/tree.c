/* SPDX-License-Identifier: Apache-2.0 */
/* Ordered tables. */
#include "ets/tree.h"

#include "base/alloc.h"

struct ets_object *tree_lookup(const struct ets_tree *t, Term key)
{
	struct ets_object *o = t->root;

	while (o != NULL) {
		int order = object_compare_keys(key, tree_object_key(t, o));

		if (order == 0)
			return o;
		o = order < 0 ? o->left : o->right;
	}
	return NULL;
}

struct ets_object **tree_find(struct ets_tree *t, Term key)
{
	struct ets_object **at = &t->root;

	while (*at != NULL) {
		int order = object_compare_keys(key, tree_object_key(t, *at));

		if (order == 0)
			return at;
		at = order < 0 ? &(*at)->left : &(*at)->right;
	}
	return NULL;
}

/* ---- balance */
static inline unsigned read_height(const struct ets_object *o) { return o != NULL ? o->height : 0; }

static inline void set_height(struct ets_object *o)
{
	unsigned l = read_height(o->left), r = read_height(o->right);

	o->height = (l > r ? l : r) + 1;
}

static void rotate_right(struct ets_object **at)
{
	struct ets_object *top = *at, *left = top->left;

	top->left = left->right;
	left->right = top;
	set_height(top);
	set_height(left);
	*at = left;
}

static void rotate_left(struct ets_object **at)
{
	struct ets_object *top = *at, *right = top->right;

	top->right = right->left;
	right->left = top;
	set_height(top);
	set_height(right);
	*at = right;
}

static void balance(struct ets_object **at)
{
	struct ets_object *o = *at;
	unsigned l = read_height(o->left), r = read_height(o->right);

	if (l > r + 1) {
		if (read_height(o->left->left) < read_height(o->left->right))
			rotate_left(&o->left);
		rotate_right(at);
	} else if (r > l + 1) {
		if (read_height(o->right->right) < read_height(o->right->left))
			rotate_right(&o->right);
		rotate_left(at);
	} else {
		o->height = (l > r ? l : r) + 1;
	}
}

/* From the lowest changed place up, as long as heights change. */
static void balance_path(struct ets_object ***path, unsigned depth)
{
	while (depth-- > 0) {
		unsigned before = (*path[depth])->height;

		balance(path[depth]);
		if ((*path[depth])->height == before)
			break;
	}
}

/* What stands where has changed, or will. */
static void forget_cursor(struct ets_tree *t)
{
	if (unlikely(atomic_load_explicit(&t->cursor, memory_order_relaxed) != NULL))
		mem_free(atomic_exchange(&t->cursor, NULL));
}

/* o stands where *place stood. */
static void inherit_place(struct ets_object **place, struct ets_object *o)
{
	o->left = (*place)->left;
	o->right = (*place)->right;
	o->height = (*place)->height;
	*place = o;
}

void tree_replace(struct ets_tree *t, struct ets_object **place, struct ets_object *o, struct ets_change *change)
{
	struct ets_object *old = *place;

	forget_cursor(t);
	inherit_place(place, o);
	object_count(o, 1, change);
	object_count(old, -1, change);
	object_free(old);
}

void tree_insert(struct ets_tree *t, Term tuple, struct ets_change *change)
{
	struct ets_object **path[TREE_MAX_HEIGHT];
	struct ets_object **at = &t->root;
	struct ets_object *o;
	Term key = tuple_get(tuple, t->key);
	unsigned depth = 0;

	while (*at != NULL) {
		int order = object_compare_keys(key, tree_object_key(t, *at));

		if (order == 0) {
			if (!object_overwrite(*at, tuple))
				tree_replace(t, at, object_new(tuple), change);
			return;
		}
		path[depth++] = at;
		at = order < 0 ? &(*at)->left : &(*at)->right;
	}
	forget_cursor(t);
	*at = o = object_new(tuple);
	o->left = o->right = NULL;
	o->height = 1;
	object_count(o, 1, change);
	balance_path(path, depth);
}

struct ets_object *tree_remove(struct ets_tree *t, Term key, struct ets_change *change)
{
	struct ets_object **path[TREE_MAX_HEIGHT];
	struct ets_object **at = &t->root;
	struct ets_object *o;
	unsigned depth = 0;

	for (;;) {
		int order;

		o = *at;
		if (o == NULL)
			return NULL;
		order = object_compare_keys(key, tree_object_key(t, o));
		if (order == 0)
			break;
		path[depth++] = at;
		at = order < 0 ? &o->left : &o->right;
	}
	forget_cursor(t);
	if (o->left != NULL && o->right != NULL) {
		unsigned place = depth;
		struct ets_object **low = &o->left;
		struct ets_object *heir;

		path[depth++] = at;
		while ((*low)->right != NULL) {
			path[depth++] = low;
			low = &(*low)->right;
		}
		heir = *low;
		*low = heir->left;
		inherit_place(at, heir);
		/* The place below o is now the heir's own. */
		if (depth > place + 1)
			path[place + 1] = &heir->left;
	} else {
		*at = o->left != NULL ? o->left : o->right;
	}
	balance_path(path, depth);
	object_count(o, -1, change);
	return o;
}

/* ---- order */
struct ets_object *tree_first(const struct ets_tree *t)
{
	struct ets_object *o = t->root;

	while (o != NULL && o->left != NULL)
		o = o->left;
	return o;
}

struct ets_object *tree_last(const struct ets_tree *t)
{
	struct ets_object *o = t->root;

	while (o != NULL && o->right != NULL)
		o = o->right;
	return o;
}

struct ets_object *tree_next(const struct ets_tree *t, Term key)
{
	struct ets_object *o = t->root, *best = NULL;

	while (o != NULL) {
		if (object_compare_keys(key, tree_object_key(t, o)) < 0) {
			best = o;
			o = o->left;
		} else {
			o = o->right;
		}
	}
	return best;
}

struct ets_object *tree_prev(const struct ets_tree *t, Term key)
{
	struct ets_object *o = t->root, *best = NULL;

	while (o != NULL) {
		if (object_compare_keys(key, tree_object_key(t, o)) > 0) {
			best = o;
			o = o->right;
		} else {
			o = o->left;
		}
	}
	return best;
}

/* ---- walks */
/* From o, whose path stands in w, down to the first (backward: last) object below it. */
static struct ets_object *walk_down(struct tree_walk *w, struct ets_object *o, bool backward)
{
	unsigned depth = w->depth;

	for (; o != NULL; o = backward ? o->right : o->left)
		w->steps[depth++] = o;
	w->depth = depth;
	return depth > 0 ? w->steps[depth - 1] : NULL;
}

struct ets_object *tree_walk_start(struct tree_walk *w, const struct ets_tree *t, bool backward, tree_place_fn place,
				   const void *sought)
{
	struct ets_object *o = t->root;
	unsigned best = 0;

	w->depth = 0;
	if (place == NULL)
		return walk_down(w, o, backward);
	while (o != NULL) {
		int side = place(sought, tree_object_key(t, o));
		bool go_left = side != 0 ? side > 0 : !backward;

		w->steps[w->depth++] = o;
		if (side == 0)
			best = w->depth;
		o = go_left ? o->left : o->right;
	}
	w->depth = best;
	return best != 0 ? w->steps[best - 1] : NULL;
}

struct ets_object *tree_walk_after(struct tree_walk *w, const struct ets_tree *t, bool backward, Term key)
{
	struct ets_object *o = t->root;
	unsigned best = 0;

	w->depth = 0;
	while (o != NULL) {
		int order = object_compare_keys(tree_object_key(t, o), key);
		bool is_beyond = backward ? order < 0 : order > 0;

		w->steps[w->depth++] = o;
		if (is_beyond)
			best = w->depth;
		o = is_beyond != backward ? o->left : o->right;
	}
	w->depth = best;
	return best != 0 ? w->steps[best - 1] : NULL;
}

struct ets_object *tree_walk_step(struct tree_walk *w, bool backward)
{
	struct ets_object *o = w->steps[w->depth - 1];
	struct ets_object *down = backward ? o->left : o->right;

	if (down != NULL)
		return walk_down(w, down, backward);
	while (--w->depth > 0) {
		struct ets_object *above = w->steps[w->depth - 1];

		if ((backward ? above->right : above->left) == o)
			return above;
		o = above;
	}
	return NULL;
}

/* ---- places by number */
struct tree_cursor {
	size_t n;            /* of the object that the walk stands at */
	struct tree_walk walk;
};

/* Takes the tree's cursor, or makes one. Returns the object it is at; NULL: there is none. */
static struct ets_object *take_cursor(struct ets_tree *t, size_t n, struct tree_cursor **taken)
{
	struct tree_cursor *c = atomic_exchange(&t->cursor, NULL);
	struct ets_object *o;

	if (c != NULL && (n >= c->n || n >= c->n - n)) {
		*taken = c;
		return c->walk.steps[c->walk.depth - 1];
	}
	*taken = c != NULL ? c : mem_alloc(sizeof(*c));
	o = tree_walk_start(&(*taken)->walk, t, false, NULL, NULL);
	(*taken)->n = 0;
	return o;
}

/* Gives it back, unless another reader was sooner. */
static void give_cursor(struct ets_tree *t, struct tree_cursor *c)
{
	struct tree_cursor *none = NULL;

	if (!atomic_compare_exchange_strong(&t->cursor, &none, c))
		mem_free(c);
}

struct ets_object *tree_nth(struct ets_tree *t, size_t n, size_t *steps)
{
	struct tree_cursor *c;
	struct ets_object *o = take_cursor(t, n, &c);
	bool backward = n < c->n;
	size_t left = backward ? c->n - n : n - c->n;

	*steps = left;
	while (o != NULL && left-- > 0)
		o = tree_walk_step(&c->walk, backward);
	c->n = n;
	if (o != NULL)
		give_cursor(t, c);
	else
		mem_free(c);
	return o;
}

void tree_drain_start(struct tree_drain *d, struct ets_tree *t)
{
	forget_cursor(t);
	d->depth = 0;
	if (t->root != NULL)
		d->roots[d->depth++] = t->root;
	t->root = NULL;
}

bool tree_drain(struct tree_drain *d, size_t n)
{
	for (; d->depth > 0 && n > 0; n--) {
		struct ets_object *o = d->roots[--d->depth];

		if (o->right != NULL)
			d->roots[d->depth++] = o->right;
		if (o->left != NULL)
			d->roots[d->depth++] = o->left;
		__builtin_prefetch(o->right);
		__builtin_prefetch(o->left);
		object_free(o);
	}
	return d->depth == 0;
}
