/* SPDX-License-Identifier: Apache-2.0 */
/* Chunks of processes. Invariant (the process table's lock): a chunk stands in `partial` when some of its processes are
 * taken, and others can be; in `idle` when none is taken; in `emptied` when none is, and it has no pages. */
#include "proc/process_memory.h"

#include <string.h>

#include "base/alloc.h"
#include "base/log.h"

/* locks: who empties a chunk holds those of all its processes, in a debug build too (base/lock.c). */
enum { CHUNK_BYTES = 1 << 16, PER_CHUNK = CHUNK_BYTES / sizeof(Process), KEPT_CHUNKS = 16, LOCKS_MAX = 120 };
_Static_assert(PER_CHUNK <= LOCKS_MAX, "a chunk's locks can be held at once");
LOCK_ZEROED(proc_signals);

struct process_chunk {
	Process *processes;         /* PER_CHUNK of them; the first `carved` have been taken */
	Process *unused;            /* of those */
	unsigned carved, taken;
	struct process_chunk *next, **link;
};

static struct {
	struct process_chunk *partial, *idle, *emptied;
	size_t idle_count, idle_least; /* since the last tidying */
	_Atomic size_t made;
} memory;

static void chunk_link(struct process_chunk **list, struct process_chunk *c)
{
	c->next = *list;
	c->link = list;
	if (c->next != NULL)
		c->next->link = &c->next;
	*list = c;
}

static void chunk_unlink(struct process_chunk *c)
{
	*c->link = c->next;
	if (c->next != NULL)
		c->next->link = c->link;
}

static struct process_chunk *new_chunk(void)
{
	struct process_chunk *c = mem_zalloc(sizeof(*c));

	c->processes = mem_map_as(MEM_PROCESS, CHUNK_BYTES);
	return c;
}

/* One of which none is taken. */
static struct process_chunk *take_idle(void)
{
	struct process_chunk *c = memory.idle;

	if (c != NULL) {
		chunk_unlink(c);
		if (--memory.idle_count < memory.idle_least)
			memory.idle_least = memory.idle_count;
		return c;
	}
	c = memory.emptied;
	if (c == NULL)
		return new_chunk();
	chunk_unlink(c);
	mem_fill_as(MEM_PROCESS, CHUNK_BYTES);
	return c;
}

static Process *carve(struct process_chunk *c)
{
	Process *p = &c->processes[c->carved++];

	atomic_fetch_add_explicit(&memory.made, 1, memory_order_relaxed);
	p->chunk = c;
	atomic_store(&p->state, PS_DEAD);
	return p;
}

Process *process_memory_take(void)
{
	struct process_chunk *c = memory.partial;
	Process *p;

	if (c == NULL) {
		c = take_idle();
		chunk_link(&memory.partial, c);
	}
	p = c->unused;
	if (p != NULL)
		c->unused = p->run_next;
	else
		p = carve(c);
	if (++c->taken == PER_CHUNK)
		chunk_unlink(c);
	return p;
}

void process_memory_give(Process *p)
{
	struct process_chunk *c = p->chunk;

	p->run_next = c->unused;
	c->unused = p;
	if (c->taken-- == PER_CHUNK)
		chunk_link(&memory.partial, c);
	if (c->taken > 0)
		return;
	chunk_unlink(c);
	chunk_link(&memory.idle, c);
	memory.idle_count++;
}

/* ---- what is given back */

struct process_chunk *process_memory_unneeded(void)
{
	struct process_chunk *list = NULL;

	for (; memory.idle_least > KEPT_CHUNKS; memory.idle_least--, memory.idle_count--) {
		struct process_chunk *c = memory.idle;

		chunk_unlink(c);
		chunk_link(&list, c);
	}
	memory.idle_least = memory.idle_count;
	if (list != NULL)
		list->link = NULL; /* it moves */
	return list;
}

/* Who looks up a pid of its past may wait for a lock here: nobody has one while its pages go, and all wake. */
static void empty_chunk(struct process_chunk *c)
{
	for (unsigned i = 0; i < c->carved; i++)
		lock_acquire(&c->processes[i].signals_lock);
	mem_empty_as(MEM_PROCESS, c->processes, CHUNK_BYTES);
	for (unsigned i = 0; i < c->carved; i++)
		lock_vanished(&c->processes[i].signals_lock);
	atomic_fetch_sub_explicit(&memory.made, c->carved, memory_order_relaxed);
	c->carved = 0;
	c->unused = NULL;
}

void process_memory_empty(struct process_chunk *list)
{
	for (; list != NULL; list = list->next)
		empty_chunk(list);
}

void process_memory_emptied(struct process_chunk *list)
{
	while (list != NULL) {
		struct process_chunk *next = list->next;

		chunk_link(&memory.emptied, list);
		list = next;
	}
}

size_t process_memory_made(void)
{
	return atomic_load(&memory.made);
}
