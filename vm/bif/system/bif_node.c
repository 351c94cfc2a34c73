/* SPDX-License-Identifier: Apache-2.0 */
/* Built-in functions: nodes. */
#include <stdlib.h>

#include "base/alloc.h"
#include "code/export.h"
#include "data/map.h"
#include "dist/dist.h"
#include "proc/exc.h"
#include "term/node.h"

Term bif_erlang_node_0(Process *p, Term *args)
{
	(void)p;
	(void)args;
	return node_self().name;
}

Term bif_erlang_node_1(Process *p, Term *args)
{
	if (term_is_pid(args[0]) || term_is_port(args[0]) || term_is_ref(args[0]))
		return node_of(args[0]).name;
	return exc_badarg(p);
}

/* ---- nodes/0,1,2: this one, those that are connected, and those that external terms are of */

struct kinds {
	bool this, visible, hidden, known;
};

struct known_node {
	Term name, type;
	uint32_t id;         /* 0: not connected */
};

struct found_nodes {
	struct kinds kinds;
	struct known_node *all;
	size_t count, room;
};

static void add_node(struct found_nodes *f, Term name, Term type, uint32_t id)
{
	if (f->count == f->room) {
		f->room = f->room * 2 + 16;
		f->all = mem_realloc(f->all, f->room * sizeof(*f->all));
	}
	f->all[f->count++] = (struct known_node){ name, type, id };
}

static void note_channel(struct channel *c, void *arg)
{
	struct found_nodes *f = arg;
	bool up, published;

	lock_acquire(&c->lock);
	up = c->state == CHANNEL_UP;
	published = c->flags & DIST_PUBLISHED;
	lock_release(&c->lock);
	if (up && (published ? f->kinds.visible : f->kinds.hidden))
		add_node(f, c->node, published ? am_visible : am_hidden, c->id);
	else if (!up && f->kinds.known)
		add_node(f, c->node, am_known, 0);
}

static void note_name(const struct node *node, void *arg)
{
	if (node->name.name != node_self().name)
		add_node(arg, node->name.name, am_known, 0);
}

/* By name; of one name that which is connected first. */
static int compare_nodes(const void *a, const void *b)
{
	const struct known_node *x = a, *y = b;

	if (x->name != y->name)
		return x->name < y->name ? -1 : 1;
	return (x->id == 0) - (y->id == 0);
}

static void find_nodes(struct found_nodes *f)
{
	size_t kept = 0;

	channel_each(note_channel, f);
	if (f->kinds.known)
		node_each(note_name, f);
	if (f->count > 0)
		qsort(f->all, f->count, sizeof(*f->all), compare_nodes);
	for (size_t i = 0; i < f->count; i++)
		if (kept == 0 || f->all[i].name != f->all[kept - 1].name)
			f->all[kept++] = f->all[i];
	f->count = kept;
}

static bool read_kinds(struct heap *h, Term what, struct kinds *kinds)
{
	Term list = term_is_list(what) ? what : heap_cons(h, what, NIL);

	*kinds = (struct kinds){ 0 };
	for (; term_is_cons(list); list = cons_tail(list)) {
		Term kind = cons_head(list);

		kinds->this |= kind == am_this || kind == am_known;
		kinds->visible |= kind == am_visible || kind == am_connected || kind == am_known;
		kinds->hidden |= kind == am_hidden || kind == am_connected || kind == am_known;
		kinds->known |= kind == am_known;
		if (kind != am_this && kind != am_known && kind != am_visible && kind != am_hidden &&
		    kind != am_connected)
			return false;
	}
	return list == NIL;
}

/* What is to be told of each node; wanted is NULL for its name alone. */
struct node_wishes {
	bool id, type;
};

static Term put_node(struct heap *h, const struct known_node *n, const struct node_wishes *wanted)
{
	Term pairs[4];
	size_t count = 0;

	if (wanted == NULL)
		return n->name;
	if (wanted->id) {
		pairs[2 * count] = am_connection_id;
		pairs[2 * count++ + 1] = n->id != 0 ? SMALL((uint64_t)n->id) : (Term)am_undefined;
	}
	if (wanted->type) {
		pairs[2 * count] = am_node_type;
		pairs[2 * count++ + 1] = n->type;
	}
	return heap_tuple(h, n->name, map_from_pairs(h, pairs, count));
}

static Term list_nodes(struct heap *h, const struct kinds *kinds, const struct node_wishes *wanted)
{
	const struct known_node self = { node_self().name, am_this, 0 };
	struct found_nodes f = { .kinds = *kinds };
	Term list = kinds->this ? heap_cons(h, put_node(h, &self, wanted), NIL) : NIL;

	find_nodes(&f);
	for (size_t i = f.count; i-- > 0;)
		list = heap_cons(h, put_node(h, &f.all[i], wanted), list);
	mem_free(f.all);
	return list;
}

Term bif_erlang_nodes_0(Process *p, Term *args)
{
	(void)args;
	return list_nodes(&p->heap, &(struct kinds){ .visible = true }, NULL);
}

Term bif_erlang_nodes_1(Process *p, Term *args)
{
	struct kinds kinds;

	return read_kinds(&p->heap, args[0], &kinds) ? list_nodes(&p->heap, &kinds, NULL) : exc_badarg(p);
}

static bool read_wish(Term options, Term key, bool *wish, size_t *seen)
{
	Term value = map_get(options, key);

	*wish = value == am_true;
	*seen += value != TERM_NONE;
	return value == TERM_NONE || value == am_true || value == am_false;
}

Term bif_erlang_nodes_2(Process *p, Term *args)
{
	struct node_wishes wanted;
	struct kinds kinds;
	size_t seen = 0;

	if (!read_kinds(&p->heap, args[0], &kinds) || !term_is_map(args[1]) ||
	    !read_wish(args[1], am_connection_id, &wanted.id, &seen) ||
	    !read_wish(args[1], am_node_type, &wanted.type, &seen) || seen != map_size(args[1]))
		return exc_badarg(p);
	return list_nodes(&p->heap, &kinds, &wanted);
}

Term bif_erts_internal_get_creation_0(Process *p, Term *args)
{
	uint32_t creation = node_self().creation;

	(void)args;
	return creation != 0 ? heap_uint(&p->heap, creation) : (Term)am_undefined;
}

/* ---- monitor_node */

/* Of a connection that is up, or, when it may be made meanwhile, pending. Fails: false. */
static bool watch_node(Process *p, Term name, bool passively)
{
	struct channel *c = passively ? channel_find(name) : dist_connect(name);
	bool ok = false;

	if (c == NULL)
		return false;
	lock_acquire(&c->lock);
	ok = c->state == CHANNEL_UP || !passively;
	lock_release(&c->lock);
	ok = ok && channel_concern(c, p->id);
	if (ok)
		remote_watch_node(p, name, c->id);
	channel_unref(c);
	return ok;
}

static Term monitor_node(Process *p, Term *args, Term options)
{
	Term name = args[0];

	if (!term_is_atom(name))
		return exc_badarg(p);
	if (name != am_nonode_nohost && !dist_is_alive())
		return exc_error(p, am_notalive);
	if (args[1] != am_true && args[1] != am_false)
		return exc_badarg(p);
	if (args[1] == am_false)
		remote_unwatch_node(p, name);
	else if (name != node_self().name && !watch_node(p, name, options != NIL)) /* it answers, or connects */
		return exc_trap(p, export_get(am_erlang, am_dmonitor_node, 3), 3, (Term[]){ name, args[1], options });
	return am_true;
}

Term bif_erlang_monitor_node_2(Process *p, Term *args)
{
	return monitor_node(p, args, NIL);
}

Term bif_erlang_monitor_node_3(Process *p, Term *args)
{
	Term list = args[2];

	for (; term_is_cons(list); list = cons_tail(list))
		if (cons_head(list) != am_allow_passive_connect)
			return exc_badarg_cause(p, am_badopt);
	return list == NIL ? monitor_node(p, args, args[2]) : exc_badarg_cause(p, am_badopt);
}
