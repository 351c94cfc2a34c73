/* SPDX-License-Identifier: Apache-2.0 */
/* Node monitors, in one short list. Invariant: a process with an entry has PF_MONITORS_NODES; its entries go when it ends. */
#include "proc/node_monitor.h"

#include "base/alloc.h"

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
