/* SPDX-License-Identifier: Apache-2.0 */
/* The process table.
 * Invariant: a slot holds the memory of the process with that number, from before its pid is known until after its
 * exit; memory goes back (proc/process_memory.h) when nobody counts it any more. */
#include "proc/process.h"

#include "base/alloc.h"
#include "layout.h"
#include "proc/dict.h"
#include "proc/process_memory.h"

static struct {
	struct lock lock;
	_Atomic(Process *) *slots;
	size_t limit;
	size_t next;         /* where the search for a free slot begins */
	uint32_t serial;     /* one more each time around */
	_Atomic size_t count;
	_Atomic size_t living; /* of them, those that are not at their end */
	_Atomic size_t used; /* slots below may be taken */
} table;

const Inst *process_start_code;

void process_table_init(size_t limit)
{
	lock_init(&table.lock, LOCK_proc_table);
	table.limit = limit;
	table.slots = mem_map_as(MEM_PROCESS, limit * sizeof(*table.slots));
}

/* ---- finding */

Process *process_peek(Term pid)
{
	uint32_t number = pid_number(pid);

	return number < table.limit ? atomic_load_explicit(&table.slots[number], memory_order_acquire) : NULL;
}

static bool is_living(Process *p, Term pid)
{
	return p->id == pid && !(atomic_load(&p->state) & (PS_EXITING | PS_DEAD));
}

Process *process_find(Term pid)
{
	Process *p = process_peek(pid);
	bool found;

	if (p == NULL)
		return NULL;
	lock_acquire(&p->signals_lock);
	found = is_living(p, pid);
	if (found)
		process_ref(p);
	lock_release(&p->signals_lock);
	return found ? p : NULL;
}

/* The state first: who has it from this process's memory before its next use finds another id there. */
bool process_look(Term pid, uint32_t *state)
{
	Process *p = process_peek(pid);

	if (p == NULL)
		return false;
	*state = atomic_load_explicit(&p->state, memory_order_acquire);
	/* Behind the state: the owner says that it handles signals before it takes PS_SIGNALS away. */
	if (__atomic_load_n(&p->handles, __ATOMIC_ACQUIRE))
		*state |= PS_SIGNALS;
	return !(*state & (PS_EXITING | PS_DEAD)) && __atomic_load_n(&p->id, __ATOMIC_RELAXED) == pid;
}

bool process_is_alive(Term pid)
{
	uint32_t state;

	return process_look(pid, &state);
}

void process_ref(Process *p)
{
	atomic_fetch_add_explicit(&p->refs, 1, memory_order_relaxed);
}

void process_unref(Process *p)
{
	if (atomic_fetch_sub_explicit(&p->refs, 1, memory_order_acq_rel) != 1)
		return;
	lock_acquire(&table.lock);
	process_memory_give(p);
	lock_release(&table.lock);
}

bool process_each_some(size_t *slot, size_t count, void (*see)(Process *p, void *arg), void *arg)
{
	size_t used = atomic_load(&table.used);
	size_t end = used - *slot > count ? *slot + count : used;

	for (; *slot < end; ++*slot) {
		Process *p = atomic_load_explicit(&table.slots[*slot], memory_order_acquire);

		if (p != NULL && p->id != TERM_NONE && !(atomic_load(&p->state) & PS_DEAD))
			see(p, arg);
	}
	return end < used;
}

void process_each(void (*see)(Process *p, void *arg), void *arg)
{
	process_each_some(&(size_t){ 0 }, SIZE_MAX, see, arg);
}

size_t process_count(void)
{
	return atomic_load(&table.living);
}

size_t process_spare_bytes(void)
{
	size_t count = atomic_load(&table.count), made = process_memory_made(); /* in this order: as many at least */

	return made > count ? (made - count) * sizeof(Process) : 0;
}

bool process_tidy(void)
{
	struct process_chunk *unneeded;

	lock_acquire(&table.lock);
	unneeded = process_memory_unneeded();
	lock_release(&table.lock);
	if (unneeded == NULL)
		return false;
	process_memory_empty(unneeded);
	lock_acquire(&table.lock);
	process_memory_emptied(unneeded);
	lock_release(&table.lock);
	return true;
}

size_t process_limit(void)
{
	return table.limit;
}

size_t process_places_used(void)
{
	return atomic_load(&table.used);
}

Term process_list_living(struct heap *h, size_t first, size_t end)
{
	Term list = NIL;

	for (size_t i = end; i-- > first;) {
		Process *p = atomic_load_explicit(&table.slots[i], memory_order_acquire);
		Term id = TERM_NONE;

		if (p == NULL)
			continue;
		lock_acquire(&p->signals_lock);
		if (p->id != TERM_NONE && is_living(p, p->id))
			id = p->id;
		lock_release(&p->signals_lock);
		if (id != TERM_NONE)
			list = heap_cons(h, id, list);
	}
	return list;
}

/* ---- places */

bool process_next_place(uint64_t *place)
{
	bool has_room;

	lock_acquire(&table.lock);
	has_room = atomic_load(&table.count) < table.limit;
	*place = table.serial * (uint64_t)table.limit + table.next;
	while (has_room &&
	       atomic_load_explicit(&table.slots[*place % table.limit], memory_order_relaxed) != NULL)
		++*place;
	lock_release(&table.lock);
	return has_room;
}

bool process_set_next_place(uint64_t place)
{
	if (place / table.limit > UINT32_MAX)
		return false;
	lock_acquire(&table.lock);
	table.next = place % table.limit;
	table.serial = (uint32_t)(place / table.limit);
	lock_release(&table.lock);
	return true;
}

/* Table lock held. */
static bool find_slot(size_t *slot)
{
	if (atomic_load(&table.count) >= table.limit)
		return false;
	for (;;) {
		size_t i = table.next;

		if (++table.next == table.limit) {
			table.next = 0;
			table.serial++;
		}
		if (atomic_load_explicit(&table.slots[i], memory_order_relaxed) == NULL) {
			*slot = i;
			return true;
		}
	}
}

Process *process_take_slot(Term *id)
{
	Process *p;
	size_t slot;

	lock_acquire(&table.lock);
	if (!find_slot(&slot)) {
		lock_release(&table.lock);
		return NULL;
	}
	p = process_memory_take();
	/* The serial went up already when this was the last slot of a round. */
	*id = term_from_pid((uint32_t)slot, slot + 1 == table.limit ? table.serial - 1 : table.serial);
	atomic_store_explicit(&table.slots[slot], p, memory_order_release);
	atomic_fetch_add(&table.count, 1);
	atomic_fetch_add(&table.living, 1);
	if (slot >= atomic_load(&table.used))
		atomic_store(&table.used, slot + 1);
	lock_release(&table.lock);
	return p;
}

void process_leave_living(void)
{
	atomic_fetch_sub(&table.living, 1);
}

void process_leave_table(Process *p)
{
	uint32_t number = pid_number(p->id);

	lock_acquire(&p->signals_lock);
	__atomic_store_n(&p->id, TERM_NONE, __ATOMIC_RELAXED);
	atomic_store(&p->state, PS_EXITING | PS_DEAD);
	lock_release(&p->signals_lock);
	lock_acquire(&table.lock);
	atomic_store_explicit(&table.slots[number], NULL, memory_order_release);
	atomic_fetch_sub(&table.count, 1);
	lock_release(&table.lock);
	process_unref(p);
}

/* For who reads our memory from outside. */
static const uint32_t layout_numbers[] = {
#define LAYOUT_PROCESSES LAYOUT_NUMBER
#include "layout.def"
};
LAYOUT_PART(layout_processes, table);
