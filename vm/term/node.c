/* SPDX-License-Identifier: Apache-2.0 */
/* Node names: a short list under a lock; there are as many as nodes this VM ever heard of. */
#include "term/node.h"

#include "base/alloc.h"
#include "base/lock.h"
#include "term/atom.h"

struct node_entry {
	struct node_name node; /* first */
	struct node_entry *next;
};

static struct {
	struct lock lock;
	struct node_entry *first;
	struct node_name *self;
} nodes;

void node_init(void)
{
	lock_init(&nodes.lock, LOCK_node_table);
	nodes.self = node_find(am_nonode_nohost, 0);
}

struct node_name *node_find(Term name, uint32_t creation)
{
	struct node_entry *e;

	lock_acquire(&nodes.lock);
	for (e = nodes.first; e != NULL; e = e->next)
		if (e->node.name == name && e->node.creation == creation)
			break;
	if (e == NULL) {
		e = mem_zalloc(sizeof(*e));
		e->node = (struct node_name){ name, creation };
		e->next = nodes.first;
		nodes.first = e;
	}
	lock_release(&nodes.lock);
	return &e->node;
}

struct node_name *node_self(void)
{
	return nodes.self;
}

bool node_is_self(Term name, uint32_t creation)
{
	return name == nodes.self->name && (creation == nodes.self->creation || creation == 0);
}
