/* SPDX-License-Identifier: Apache-2.0 */
/* Registered names: pages of slots indexed by the atom's index, made when first needed, and a list of the names in use.
 * Invariant: slots are written under the lock alone; all.names[slot.place] is the name of a slot that has an owner. */
#include "proc/registry.h"

#include "base/alloc.h"
#include "proc/probe.h"
#include "proc/tracee.h"

enum { PAGE_SLOTS = 1024, PAGES = ATOM_TABLE_MAX / PAGE_SLOTS };

struct slot {
	_Atomic Term owner;  /* pid or port, or TERM_NONE */
	uint32_t place;      /* under the lock */
};

struct page {
	struct slot slots[PAGE_SLOTS];
};

static struct {
	struct lock lock;
	_Atomic(struct page *) pages[PAGES];
	struct {             /* under the lock */
		Term *names;
		uint32_t count, room;
	} all;
} registry;

void registry_init(void)
{
	lock_init(&registry.lock, LOCK_registry);
}

Term registry_whereis(Term name)
{
	uint32_t index = atom_index(name);
	struct page *page = atomic_load_explicit(&registry.pages[index / PAGE_SLOTS], memory_order_acquire);

	return page == NULL ? TERM_NONE
			    : atomic_load_explicit(&page->slots[index % PAGE_SLOTS].owner, memory_order_acquire);
}

static struct slot *make_slot(Term name)
{
	uint32_t index = atom_index(name);
	struct page *page = atomic_load(&registry.pages[index / PAGE_SLOTS]);

	if (page == NULL) {
		page = mem_zalloc(sizeof(*page));
		atomic_store(&registry.pages[index / PAGE_SLOTS], page);
	}
	return &page->slots[index % PAGE_SLOTS];
}

static bool take_slot(Term name, Term owner)
{
	struct slot *slot = make_slot(name);

	if (atomic_load(&slot->owner) != TERM_NONE)
		return false;
	if (registry.all.count == registry.all.room) {
		registry.all.room = registry.all.room * 2 + 64;
		registry.all.names = mem_realloc(registry.all.names, registry.all.room * sizeof(Term));
	}
	slot->place = registry.all.count;
	registry.all.names[registry.all.count++] = name;
	atomic_store(&slot->owner, owner);
	return true;
}

bool registry_register(Term name, Process *p)
{
	Term id;
	bool ok;

	lock_acquire(&registry.lock);
	id = p->id;
	/* An exit that begins after this look waits for the lock, and then finds the name. */
	ok = !(atomic_load(&p->state) & (PS_EXITING | PS_DEAD)) && atomic_load(&p->reg_name) == TERM_NONE &&
	     take_slot(name, p->id);
	if (ok)
		atomic_store(&p->reg_name, name);
	if (ok && trace_wants(p, TRACE_PROCS))
		trace_hooks.event(p, am_register, name);
	lock_release(&registry.lock);
	if (ok && unlikely(PROBE_NAMES_ON()))
		probe_process_named(id, name);
	return ok;
}

bool registry_register_port(Term name, Term port)
{
	bool ok;

	lock_acquire(&registry.lock);
	ok = take_slot(name, port);
	lock_release(&registry.lock);
	return ok;
}

static void free_slot(Term name)
{
	struct slot *slot = make_slot(name);
	Term last = registry.all.names[--registry.all.count];

	atomic_store(&slot->owner, TERM_NONE);
	registry.all.names[slot->place] = last;
	make_slot(last)->place = slot->place;
}

bool registry_unregister(Term name)
{
	Term owner;

	lock_acquire(&registry.lock);
	owner = registry_whereis(name);
	if (owner != TERM_NONE) {
		Process *p = term_is_local_pid(owner) ? process_peek(owner) : NULL;

		/* It cannot be another's memory yet: its exit needs this lock while it has a name. */
		if (p != NULL)
			atomic_store(&p->reg_name, TERM_NONE);
		free_slot(name);
		if (p != NULL && trace_wants(p, TRACE_PROCS))
			trace_hooks.event(p, am_unregister, name);
	}
	lock_release(&registry.lock);
	if (owner != TERM_NONE && term_is_local_pid(owner) && unlikely(PROBE_NAMES_ON()))
		probe_process_named(owner, TERM_NONE);
	return owner != TERM_NONE;
}

void registry_unregister_port(Term port, Term name)
{
	lock_acquire(&registry.lock);
	if (registry_whereis(name) == port)
		free_slot(name);
	lock_release(&registry.lock);
}

void registry_forget(Process *p)
{
	Term name;

	lock_acquire(&registry.lock);
	name = atomic_load(&p->reg_name);
	if (name != TERM_NONE) {
		atomic_store(&p->reg_name, TERM_NONE);
		free_slot(name);
		if (trace_wants(p, TRACE_PROCS))
			trace_hooks.event(p, am_unregister, name);
	}
	lock_release(&registry.lock);
}

Term registry_list(struct heap *h)
{
	Term list = NIL;

	lock_acquire(&registry.lock);
	for (uint32_t i = 0; i < registry.all.count; i++)
		list = heap_cons(h, registry.all.names[i], list);
	lock_release(&registry.lock);
	return list;
}
