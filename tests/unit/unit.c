/* SPDX-License-Identifier: Apache-2.0 */
/* The low rooms made ready, once a process. */
#include "unit.h"

#include "heap/literal.h"
#include "heap/resource_name.h"
#include "term/node.h"

static struct {
	bool ready;
	struct heap heap;
} unit;

void unit_init(void)
{
	if (unit.ready)
		return;
	atom_init();
	node_init();
	literal_init();
	resource_name_init();
	heap_init(&unit.heap, 1000000);
	unit.ready = true;
}

struct heap *unit_heap(void)
{
	unit_init();
	return &unit.heap;
}
