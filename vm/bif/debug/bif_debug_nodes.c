/* SPDX-License-Identifier: Apache-2.0 */
/* Built-in functions: who holds how many external pids, ports and references of which node, as
 * erts_debug:get_internal_state(node_and_dist_references) tells it. A node's entry counts them (term/node.h), and each
 * stands in one off-heap list; so a walk through all lists must find as many as the entry has counted. Not walked, as
 * hardly anything gets there: environments of native functions, what a connection is about to send or has in pieces, a
 * port's data, states of tracer modules, patterns of traces, terms of what a process waits for in the pool. */
#include <stdlib.h>

#include "base/alloc.h"
#include "bif/bif.h"
#include "bif/system/bif_info.h"
#include "code/module.h"
#include "dist/channel.h"
#include "ets/match.h"
#include "ets/table.h"
#include "heap/literal.h"
#include "heap/refbin.h"
#include "proc/message.h"
#include "proc/peer.h"
#include "proc/sched.h"
#include "proc/timer.h"
#include "term/node.h"

/* So many terms of a node in one place. */
struct holding {
	const struct node *node; /* only compared, once the world goes on */
	Term kind, holder;   /* {Kind, Holder}: immediates */
	Term type;           /* where they stand in it: an atom */
	size_t count;
};

struct entry {
	const struct node *node;
	struct node_name name;
	size_t refs;
};

struct connected {
	Term name, controller;
};

struct search {
	struct holding *found;
	size_t found_count, found_room;
	struct entry *entries;
	size_t entry_count, entry_room;
	const struct match_program **programs; /* seen so far: a program counts once, however many name it */
	size_t program_count, program_room;
	struct connected *connected;
	size_t connected_count, connected_room;
	struct holding at;   /* whose lists are walked now */
};

/* ---- the walk. The world is stopped. */

static void *one_more(void *array, size_t count, size_t *room, size_t size)
{
	if (count < *room)
		return array;
	*room = *room != 0 ? *room * 2 : 64;
	return mem_realloc(array, *room * size);
}

static void note(struct search *s, const struct node *node)
{
	struct holding *last = s->found_count > 0 ? &s->found[s->found_count - 1] : NULL;

	if (last != NULL && last->node == node && last->kind == s->at.kind && last->holder == s->at.holder &&
	    last->type == s->at.type) {
		last->count++;
		return;
	}
	s->found = one_more(s->found, s->found_count, &s->found_room, sizeof(*s->found));
	s->at.node = node;
	s->at.count = 1;
	s->found[s->found_count++] = s->at;
}

static void walk_list(struct search *s, Term *list);

static void walk_program(struct search *s, const struct match_program *m)
{
	Term type = s->at.type;

	if (m == NULL || m->off_heap == NULL)
		return;
	for (size_t i = 0; i < s->program_count; i++)
		if (s->programs[i] == m)
			return;
	s->programs = one_more(s->programs, s->program_count, &s->program_room, sizeof(*s->programs));
	s->programs[s->program_count++] = m;
	s->at.type = am_binary;
	walk_list(s, m->off_heap);
	s->at.type = type;
}

static void walk_list(struct search *s, Term *list)
{
	for (Term *object = list; object != NULL; object = *off_heap_next(object)) {
		switch (header_sub(*object)) {
		case SUB_REFBIN: break;
		case SUB_REF: walk_program(s, match_get(term_from_boxed(object))); break;
		default: note(s, ((const struct extern_id *)object)->node);
		}
	}
}

static void walk_fragments(struct search *s, Term type, const struct fragment *f)
{
	s->at.type = type;
	for (; f != NULL; f = f->next)
		walk_list(s, f->off_heap);
}

static void walk_signals(struct search *s, const struct signal *first)
{
	for (; first != NULL; first = first->next)
		walk_fragments(s, first->kind == SIG_MESSAGE ? am_heap : am_signal, first->fragment);
}

static void see_link(const struct peer *n, void *arg) { walk_fragments(arg, am_link, n->words); }
static void see_monitor(const struct peer *n, void *arg) { walk_fragments(arg, am_monitor, n->words); }

static void see_process(Process *p, void *arg)
{
	struct search *s = arg;

	s->at.kind = am_process;
	s->at.holder = p->id;
	s->at.type = am_heap;
	walk_list(s, p->heap.off_heap);
	walk_list(s, p->heap.old_off_heap);
	walk_signals(s, p->msg_first);
	lock_acquire(&p->signals_lock);
	walk_signals(s, p->in_first);
	lock_release(&p->signals_lock);
	peer_each(&p->links, see_link, s);
	peer_each(&p->monitors, see_monitor, s);
	peer_each(&p->monitored_by, see_monitor, s);
}

static void see_object(const struct ets_object *o, void *arg) { walk_list(arg, o->off_heap); }

static void see_table(const struct ets_table *t, void *arg)
{
	struct search *s = arg;

	s->at.kind = s->at.type = am_ets;
	s->at.holder = t->name;
	table_each_object(t, see_object, s);
	walk_fragments(s, am_ets, t->heir_fragment);
}

static void see_timer(Term to, const struct signal *message, int64_t left_ms, void *arg)
{
	struct search *s = arg;

	(void)left_ms;
	s->at.kind = term_is_local_pid(to) ? am_process : am_timer;
	s->at.holder = to;
	walk_fragments(s, am_timer, message->fragment);
}

static void see_area(const struct literal_area *a, void *arg)
{
	struct search *s = arg;

	s->at.kind = am_system;
	s->at.holder = am_literals;
	s->at.type = am_system;
	walk_list(s, a->off_heap);
}

static void see_persistent(const struct literal_area *a, void *arg)
{
	struct search *s = arg;

	s->at.kind = am_system;
	s->at.holder = am_persistent_term;
	s->at.type = am_system;
	walk_list(s, a->off_heap);
}

static void see_instance(struct search *s, const struct code_instance *c)
{
	if (c != NULL && c->literal_area != NULL)
		see_area(c->literal_area, s);
}

static void see_module(const struct module *m, void *arg)
{
	see_instance(arg, atomic_load(&m->current));
	see_instance(arg, atomic_load(&m->old));
	see_instance(arg, m->pending);
	see_instance(arg, m->saved_old);
}

static void see_node(const struct node *n, void *arg)
{
	struct search *s = arg;

	s->entries = one_more(s->entries, s->entry_count, &s->entry_room, sizeof(*s->entries));
	s->entries[s->entry_count++] = (struct entry){ n, n->name, atomic_load(&n->refs) };
}

static void see_channel(const struct channel *c, void *arg)
{
	struct search *s = arg;

	if (c->state != CHANNEL_UP)
		return;
	s->connected = one_more(s->connected, s->connected_count, &s->connected_room, sizeof(*s->connected));
	s->connected[s->connected_count++] = (struct connected){ c->node, c->controller };
}

static void search_stopped(void *arg)
{
	struct search *s = arg;

	channel_peek_each(see_channel, s);
	node_each(see_node, s);
	if (s->entry_count == 0)
		return;
	process_each(see_process, s);
	table_each(see_table, s);
	timer_each_message(see_timer, s);
	persistent_each_area(see_persistent, s);
	literal_each_leaving(see_area, s);
	module_each(see_module, s);
}

/* ---- the answer */

static int compare_words(uintptr_t x, uintptr_t y) { return x < y ? -1 : x > y; }

/* What is told together stands together. */
static int compare_found(const void *a, const void *b)
{
	const struct holding *x = a, *y = b;
	int order = compare_words((uintptr_t)x->node, (uintptr_t)y->node);

	if (order == 0)
		order = compare_words(x->kind, y->kind);
	if (order == 0)
		order = compare_words(x->holder, y->holder);
	return order != 0 ? order : compare_words(x->type, y->type);
}

static bool is_of_holder(const struct holding *h, const struct holding *of)
{
	return h->node == of->node && h->kind == of->kind && h->holder == of->holder;
}

/* [{Type, Count}] of the one holder that *at begins with. */
static Term put_types(struct heap *h, const struct holding **at, const struct holding *end)
{
	const struct holding *first = *at;
	Term list = NIL;

	while (*at < end && is_of_holder(*at, first)) {
		Term type = (*at)->type;
		size_t count = 0;

		for (; *at < end && is_of_holder(*at, first) && (*at)->type == type; ++*at)
			count += (*at)->count;
		list = heap_cons(h, heap_tuple(h, type, SMALL((int64_t)count)), list);
	}
	return list;
}

/* [{{Kind, Holder}, [{Type, Count}]}] */
static Term put_holders(struct heap *h, const struct search *s, const struct node *node)
{
	const struct holding *at = s->found, *end = at + s->found_count;
	Term list = NIL;

	while (at < end && (uintptr_t)at->node < (uintptr_t)node)
		at++;
	while (at < end && at->node == node) {
		Term holder = heap_tuple(h, at->kind, at->holder);

		list = heap_cons(h, heap_tuple(h, holder, put_types(h, &at, end)), list);
	}
	return list;
}

/* {{Kind, Holder}, [{Type, 1}]} before list. */
static Term put_one(struct heap *h, Term kind, Term holder, Term type, Term list)
{
	Term types = heap_cons(h, heap_tuple(h, type, SMALL(1)), NIL);

	return heap_cons(h, heap_tuple(h, heap_tuple(h, kind, holder), types), list);
}

/* What there is of a node's name: entries, and a connection. Nobody counts these. */
static Term put_name(struct heap *h, const struct search *s, Term name)
{
	Term list = NIL;
	int64_t count = 0;

	for (size_t i = 0; i < s->entry_count; i++) {
		if (s->entries[i].name.name != name)
			continue;
		list = put_one(h, am_node, heap_tuple(h, name, SMALL(s->entries[i].name.creation)), am_node, list);
		count++;
	}
	for (size_t i = 0; i < s->connected_count; i++) {
		Term by = s->connected[i].controller;

		if (s->connected[i].name != name)
			continue;
		list = put_one(h, term_is_port(by) ? am_port : am_process, by, am_control, list);
		count++;
	}
	return heap_tuple(h, name, SMALL(count), list);
}

static int compare_names(const void *a, const void *b) { return compare_words(*(const Term *)a, *(const Term *)b); }

static Term put_names(struct heap *h, const struct search *s)
{
	size_t count = s->entry_count + s->connected_count;
	Term *names = mem_alloc((count + 1) * sizeof(Term)), list = NIL;

	for (size_t i = 0; i < count; i++)
		names[i] = i < s->entry_count ? s->entries[i].name.name : s->connected[i - s->entry_count].name;
	qsort(names, count, sizeof(Term), compare_names);
	for (size_t i = 0; i < count; i++)
		if (i == 0 || names[i] != names[i - 1])
			list = heap_cons(h, put_name(h, s, names[i]), list);
	mem_free(names);
	return list;
}

Term debug_node_references(Process *p, Term of)
{
	struct heap *h = &p->heap;
	struct search s = { 0 };
	Term list = NIL;

	(void)of;
	sched_stop_world(search_stopped, &s);
	if (s.found_count > 0)
		qsort(s.found, s.found_count, sizeof(*s.found), compare_found);
	for (size_t i = 0; i < s.entry_count; i++) {
		const struct entry *e = &s.entries[i];
		Term name = heap_tuple(h, e->name.name, SMALL(e->name.creation));

		list = heap_cons(h, heap_tuple(h, name, SMALL((int64_t)e->refs), put_holders(h, &s, e->node)), list);
	}
	list = heap_tuple(h, heap_tuple(h, am_node_references, list),
			  heap_tuple(h, am_dist_references, put_names(h, &s)));
	mem_free(s.found);
	mem_free(s.entries);
	mem_free(s.programs);
	mem_free(s.connected);
	return list;
}
