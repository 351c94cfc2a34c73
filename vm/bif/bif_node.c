/* SPDX-License-Identifier: Apache-2.0 */
/* Built-in functions: nodes. */
#include <stdlib.h>

#include "base/alloc.h"
#include "data/map.h"
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

Term bif_erlang_nodes_0(Process *p, Term *args)
{
	(void)p;
	(void)args;
	return NIL;
}

/* ---- nodes/1, nodes/2: this one, and those that external terms are of; none is connected */

struct kinds {
	bool this, known;
};

static bool read_kinds(struct heap *h, Term what, struct kinds *kinds)
{
	Term list = term_is_list(what) ? what : heap_cons(h, what, NIL);

	*kinds = (struct kinds){ 0 };
	for (; term_is_cons(list); list = cons_tail(list)) {
		Term kind = cons_head(list);

		kinds->this |= kind == am_this || kind == am_known;
		kinds->known |= kind == am_known;
		if (kind != am_this && kind != am_known && kind != am_visible && kind != am_hidden &&
		    kind != am_connected)
			return false;
	}
	return list == NIL;
}

struct names {
	Term *all;
	size_t count, room;
};

static void note_name(struct node_name node, void *arg)
{
	struct names *names = arg;

	if (node.name == node_self().name)
		return;
	if (names->count == names->room) {
		names->room = names->room * 2 + 64;
		names->all = mem_realloc(names->all, names->room * sizeof(Term));
	}
	names->all[names->count++] = node.name;
}

static int compare_words(const void *a, const void *b)
{
	Term x = *(const Term *)a, y = *(const Term *)b;

	return (x > y) - (x < y);
}

/* Many creations of one name are one node. */
static void drop_repeated(struct names *names)
{
	size_t kept = 0;

	if (names->count == 0)
		return;
	qsort(names->all, names->count, sizeof(Term), compare_words);
	for (size_t i = 1; i < names->count; i++)
		if (names->all[i] != names->all[kept])
			names->all[++kept] = names->all[i];
	names->count = kept + 1;
}

/* Each with its infos when there are some: this one's, the others'. */
static Term list_nodes(struct heap *h, const struct kinds *kinds, const Term *infos)
{
	struct names names = { 0 };
	Term self = node_self().name, list = NIL;

	if (kinds->this)
		list = heap_cons(h, infos != NULL ? heap_tuple(h, self, infos[0]) : self, list);
	if (!kinds->known)
		return list;
	node_each(note_name, &names);
	drop_repeated(&names);
	for (size_t i = names.count; i-- > 0;)
		list = heap_cons(h, infos != NULL ? heap_tuple(h, names.all[i], infos[1]) : names.all[i], list);
	mem_free(names.all);
	return list;
}

Term bif_erlang_nodes_1(Process *p, Term *args)
{
	struct kinds kinds;

	return read_kinds(&p->heap, args[0], &kinds) ? list_nodes(&p->heap, &kinds, NULL) : exc_badarg(p);
}

/* What the options want to be told of a node of that type. Fails: TERM_NONE. */
static Term put_node_info(struct heap *h, Term options, Term type)
{
	const Term infos[2][2] = { { am_connection_id, am_undefined }, { am_node_type, type } };
	Term pairs[4];
	size_t n = 0, known = 0;

	if (!term_is_map(options))
		return TERM_NONE;
	for (size_t i = 0; i < 2; i++) {
		Term wanted = map_get(options, infos[i][0]);

		if (wanted != TERM_NONE && wanted != am_true && wanted != am_false)
			return TERM_NONE;
		known += wanted != TERM_NONE;
		if (wanted != am_true)
			continue;
		pairs[2 * n] = infos[i][0];
		pairs[2 * n + 1] = infos[i][1];
		n++;
	}
	return known == map_size(options) ? map_from_pairs(h, pairs, n) : TERM_NONE;
}

Term bif_erlang_nodes_2(Process *p, Term *args)
{
	struct heap *h = &p->heap;
	struct kinds kinds;
	Term infos[2];

	if (!read_kinds(h, args[0], &kinds))
		return exc_badarg(p);
	infos[0] = put_node_info(h, args[1], am_this);
	infos[1] = put_node_info(h, args[1], am_known);
	return infos[0] != TERM_NONE ? list_nodes(h, &kinds, infos) : exc_badarg(p);
}

Term bif_erts_internal_get_creation_0(Process *p, Term *args)
{
	(void)args;
	return heap_uint(&p->heap, node_self().creation);
}

Term bif_erlang_monitor_node_2(Process *p, Term *args)
{
	if (!term_is_atom(args[0]))
		return exc_badarg(p);
	if (args[0] != node_self().name)
		return exc_error(p, am_notalive);
	return args[1] == am_true || args[1] == am_false ? am_true : exc_badarg(p);
}

Term bif_erlang_monitor_node_3(Process *p, Term *args)
{
	Term list = args[2];

	for (; term_is_cons(list); list = cons_tail(list))
		if (cons_head(list) != am_allow_passive_connect)
			return exc_badarg_cause(p, am_badopt);
	return list == NIL ? bif_erlang_monitor_node_2(p, args) : exc_badarg_cause(p, am_badopt);
}
