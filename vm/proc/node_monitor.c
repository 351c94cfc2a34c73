/* SPDX-License-Identifier: Apache-2.0 */
/* Node monitors, in one short list. Invariant: a process with an entry has PF_MONITORS_NODES; its entries go when it
 * ends. */
#include "proc/node_monitor.h"

#include "base/alloc.h"
#include "data/map.h"
#include "heap/copy.h"
#include "proc/message.h"
#include "proc/probe.h"
#include "proc/process_life.h"

struct node_monitor {
	struct node_monitor *next;
	Term pid;
	unsigned wishes, count;
};

static struct {
	struct lock lock;
	struct node_monitor *first; /* lock */
} monitors;

static struct node_monitor **find(Term pid, unsigned wishes)
{
	struct node_monitor **at = &monitors.first;

	while (*at != NULL && ((*at)->pid != pid || (*at)->wishes != wishes))
		at = &(*at)->next;
	return at;
}

static void drop(struct node_monitor **at)
{
	struct node_monitor *m = *at;

	*at = m->next;
	mem_free(m);
}

static void drop_all_of(Process *p)
{
	struct node_monitor **at = &monitors.first;

	if ((p->flags & PF_MONITORS_NODES) == 0)
		return;
	lock_acquire(&monitors.lock);
	while (*at != NULL) {
		if ((*at)->pid == p->id)
			drop(at);
		else
			at = &(*at)->next;
	}
	lock_release(&monitors.lock);
}

void node_monitor_init(void)
{
	lock_init(&monitors.lock, LOCK_node_monitors);
	process_at_exit(drop_all_of);
}

unsigned node_monitor_add(Process *p, unsigned wishes)
{
	struct node_monitor **at;
	unsigned before;

	p->flags |= PF_MONITORS_NODES;
	lock_acquire(&monitors.lock);
	at = find(p->id, wishes);
	if (*at == NULL) {
		*at = mem_zalloc(sizeof(**at));
		(*at)->pid = p->id;
		(*at)->wishes = wishes;
	}
	before = (*at)->count++;
	lock_release(&monitors.lock);
	return before;
}

unsigned node_monitor_remove(Process *p, unsigned wishes)
{
	struct node_monitor **at;
	unsigned before = 0;

	lock_acquire(&monitors.lock);
	at = find(p->id, wishes);
	if (*at != NULL) {
		before = (*at)->count;
		drop(at);
	}
	lock_release(&monitors.lock);
	return before;
}

/* ---- what they hear */

static Term put_map(struct heap *h, const struct node_change *c, unsigned wishes)
{
	Term pairs[6];
	size_t n = 0;

	if (wishes & NODE_MONITOR_ID) {
		pairs[2 * n] = am_connection_id;
		pairs[2 * n++ + 1] = c->connection != 0 ? SMALL((uint64_t)c->connection) : (Term)am_undefined;
	}
	if (wishes & (NODE_MONITOR_VISIBLE | NODE_MONITOR_HIDDEN)) {
		pairs[2 * n] = am_node_type;
		pairs[2 * n++ + 1] = c->type;
	}
	if ((wishes & NODE_MONITOR_REASON) && c->reason != TERM_NONE) {
		pairs[2 * n] = am_nodedown_reason;
		pairs[2 * n++ + 1] = c->reason;
	}
	return map_from_pairs(h, pairs, n);
}

static Term put_list(struct heap *h, const struct node_change *c, unsigned wishes)
{
	Term list = NIL;

	if (wishes & (NODE_MONITOR_VISIBLE | NODE_MONITOR_HIDDEN))
		list = heap_cons(h, heap_tuple(h, am_node_type, c->type), list);
	if ((wishes & NODE_MONITOR_REASON) && c->reason != TERM_NONE)
		list = heap_cons(h, heap_tuple(h, am_nodedown_reason, c->reason), list);
	return list;
}

/* {What, Node}, or {What, Node, Info}. Fails: TERM_NONE, that is not wanted. */
static Term put_message(struct heap *h, const struct node_change *c, unsigned wishes)
{
	unsigned types = wishes & (NODE_MONITOR_VISIBLE | NODE_MONITOR_HIDDEN);

	if (types == 0)
		types = NODE_MONITOR_VISIBLE;
	if (!(types & (c->type == am_hidden ? NODE_MONITOR_HIDDEN : NODE_MONITOR_VISIBLE)))
		return TERM_NONE;
	if (wishes == 0)
		return heap_tuple(h, c->what, c->node);
	return heap_tuple(h, c->what, c->node, wishes & NODE_MONITOR_MAP ? put_map(h, c, wishes) :
			  put_list(h, c, wishes));
}

struct listener {
	Term pid;
	unsigned wishes, count;
};

static struct listener *copy_listeners(size_t *n)
{
	struct listener *all = NULL;
	size_t room = 0;

	*n = 0;
	lock_acquire(&monitors.lock);
	for (const struct node_monitor *m = monitors.first; m != NULL; m = m->next) {
		if (*n == room) {
			room = room * 2 + 16;
			all = mem_realloc(all, room * sizeof(*all));
		}
		all[(*n)++] = (struct listener){ m->pid, m->wishes, m->count };
	}
	lock_release(&monitors.lock);
	return all;
}

static Term put_options(struct heap *h, unsigned wishes)
{
	unsigned types = wishes & (NODE_MONITOR_VISIBLE | NODE_MONITOR_HIDDEN);
	Term type = types == NODE_MONITOR_VISIBLE ? am_visible : types == NODE_MONITOR_HIDDEN ? am_hidden : am_all;
	Term list = types != 0 ? heap_cons(h, heap_tuple(h, am_node_type, type), NIL) : NIL;

	return wishes & NODE_MONITOR_REASON ? heap_cons(h, am_nodedown_reason, list) : list;
}

Term node_monitor_list(struct heap *h)
{
	size_t n;
	struct listener *all = copy_listeners(&n);
	Term list = NIL;

	for (size_t i = 0; i < n; i++)
		for (unsigned k = 0; k < all[i].count; k++)
			list = heap_cons(h, heap_tuple(h, all[i].pid, put_options(h, all[i].wishes)), list);
	mem_free(all);
	return list;
}

void node_monitor_tell(const struct node_change *c)
{
	size_t n;
	struct listener *all = copy_listeners(&n);
	struct heap h;

	if (PROBE_ON(dist__monitor))
		probe_dist__monitor(c->what, c->node, c->type, c->reason);
	heap_init(&h, HEAP_MIN_WORDS);
	for (size_t i = 0; i < n; i++) {
		Term message = put_message(&h, c, all[i].wishes);

		for (unsigned k = 0; k < all[i].count && message != TERM_NONE; k++)
			message_send(NULL, all[i].pid, message);
	}
	heap_free(&h);
	mem_free(all);
}
