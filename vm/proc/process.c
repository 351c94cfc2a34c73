/* SPDX-License-Identifier: Apache-2.0 */
/* The process table; birth, collection and end of processes.
 * Invariant: a slot holds the memory of the process with that number, from before its pid is known until after its exit;
 * memory goes back (proc/process_memory.h) when nobody counts it any more. */
#include "proc/process.h"

#include <string.h>

#include "base/alloc.h"
#include "heap/copy.h"
#include "layout.h"
#include "proc/dict.h"
#include "proc/dirty.h"
#include "proc/exc.h"
#include "proc/message.h"
#include "proc/micro.h"
#include "proc/monitor.h"
#include "proc/probe.h"
#include "proc/process_memory.h"
#include "proc/registry.h"
#include "proc/saved_calls.h"
#include "proc/sched.h"
#include "proc/seq_token.h"
#include "proc/task.h"
#include "proc/timer.h"
#include "proc/tracee.h"
#include "usdt.h"

enum { HOOKS_MAX = 8, LISTED_AT_ONCE = 1 << 14 };

static struct {
	struct lock lock;
	_Atomic(Process *) *slots;
	size_t limit;
	size_t next;         /* where the search for a free slot begins */
	uint32_t serial;     /* one more each time around */
	_Atomic size_t count;
	_Atomic size_t living; /* of them, those that are not at their end */
	_Atomic size_t used; /* slots below may be taken */
	void (*hooks[HOOKS_MAX])(Process *p);
	size_t hook_count;
} table;

const Inst *process_start_code;

void process_table_init(size_t limit)
{
	lock_init(&table.lock, LOCK_proc_table);
	table.limit = limit;
	table.slots = mem_zalloc_as(MEM_PROCESS, limit * sizeof(*table.slots));
	registry_init();
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

struct in_parts {
	size_t slot, count;
	void (*see)(Process *p, void *arg);
	void *arg;
	bool more;
};

static void see_part(void *arg)
{
	struct in_parts *parts = arg;

	parts->more = process_each_some(&parts->slot, parts->count, parts->see, parts->arg);
}

void process_each_in_parts(size_t count, void (*see)(Process *p, void *arg), void *arg)
{
	struct in_parts parts = { 0, count, see, arg, true };

	sched_lend();
	for (;;) {
		sched_stop_world(see_part, &parts);
		if (!parts.more)
			break;
		sched_let_world_go_on();
	}
	sched_reclaim();
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

static Term list_living(struct heap *h, size_t used)
{
	Term list = NIL;

	for (size_t i = used; i-- > 0;) {
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

Term process_list(struct heap *h)
{
	size_t used = atomic_load(&table.used);
	bool is_long = used > LISTED_AT_ONCE;
	Term list;

	if (is_long)
		sched_lend();
	list = list_living(h, used);
	if (is_long)
		sched_reclaim();
	return list;
}

/* ---- birth */

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

/* Memory in a slot, with nobody knowing its pid yet. Fails: NULL when the table is full. */
static Process *take_slot(Term *id)
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

static void init_heap(Process *p, Term args, size_t words, const struct spawn_options *o)
{
	size_t min = o->min_heap_words <= HEAP_MIN_WORDS ? HEAP_MIN_WORDS : gc_next_size_words(o->min_heap_words);
	size_t size = words <= min ? min : gc_next_size_words(words);
	Term *top;

	heap_init(&p->heap, size);
	p->heap.min_words = min;
	p->heap.max_words = o->max_heap_words;
	heap_set_binary_min(&p->heap, o->min_bin_vheap_words);
	p->heap.minor_limit = o->fullsweep_after;
	if (PROBE_ON(copy__struct) && words != 0)
		probe_copy__struct(words);
	top = p->heap.top;
	p->x[2] = copy_term(args, &top, &p->heap.off_heap);
	p->heap.top = top;
}

/* With the arguments, which may be long, on its heap. */
static void make_heap(Process *p, Term args, const struct spawn_options *o)
{
	size_t words = copy_size_telling(args, EXC_WORDS_AT_ONCE, sched_lend);

	init_heap(p, args, words, o);
	if (unlikely(words > EXC_WORDS_AT_ONCE))
		sched_reclaim();
}

static uint32_t count_list(Term list)
{
	uint32_t n = 0;

	for (; term_is_cons(list); list = cons_tail(list))
		n++;
	return n;
}

static void init_queues(Process *p)
{
	p->in_first = NULL;
	p->in_last = &p->in_first;
	p->in_length = 0;
	p->msg_length = 0;
	p->own_messages = 0;
	p->msg_first = NULL;
	p->msg_last = p->msg_save = &p->msg_first;
	p->markers = NULL;
}

/* Everything but the id and the state. Stale finders may lock signals_lock at any time: it stays as it is. */
static void init_process(Process *p, Process *parent, Term m, Term f, Term args, const struct spawn_options *o)
{
	p->flags = o->flags | (o->off_heap_messages ? PF_OFF_HEAP_MSGQ : 0);
	p->reds_left = p->reds_kept = 0;
	p->reds_done = 0;
	p->i = process_start_code;
	p->x = p->saved_x;
	p->x_room = sizeof(p->saved_x) / sizeof(p->saved_x[0]);
	p->live = 3;
	p->x[0] = m;
	p->x[1] = f;
	process_set_priority(p, o->priority);
	p->exc_kind = EXC_NONE;
	p->exc_has_trace = false;
	p->bound = o->scheduler != 0;
	atomic_store_explicit(&p->raised, 0, memory_order_relaxed);
	atomic_store_explicit(&p->has_timers, false, memory_order_relaxed);
	p->system = o->system;
	p->trap_export = NULL;
	p->resume = NULL;
	p->dirty = NULL;
	p->exc_reason = p->exc_trace = p->seq_token = p->dt_utag = p->nif_args = NIL;
	p->parent = parent != NULL ? parent->id : NIL;
	p->initial_module = m;
	p->initial_function = f;
	p->initial_arity = count_list(args);
	p->suspend_count = 0;
	atomic_store(&p->reg_name, TERM_NONE);
	p->dict = NULL;
	p->links = p->monitors = p->monitored_by = (struct peers){ 0 };
	p->receive_timer = NULL;
	p->error_handler = am_error_handler;
	atomic_store(&p->scheduler, o->scheduler != 0 ? o->scheduler : sched_self() != NULL ? sched_self()->id : 0);
	atomic_store(&p->refs, 1);
	make_heap(p, args, o);
	if (parent != NULL && parent->seq_token != NIL)
		seq_token_inherit(parent, p);
}

/* What the VM itself starts writes where `user` does, once that is there. */
static Term find_user(Term otherwise)
{
	Term user = registry_whereis(am_user);

	return user != TERM_NONE ? user : otherwise;
}

static void publish(Process *p, Term id)
{
	lock_acquire(&p->signals_lock);
	init_queues(p);
	__atomic_store_n(&p->id, id, __ATOMIC_RELAXED);
	atomic_store(&p->state, PS_RUNNABLE);
	lock_release(&p->signals_lock);
}

Term process_spawn(Process *parent, Term module, Term function, Term args, const struct spawn_options *o, Term *monitor_ref)
{
	struct monitor_options monitor = { .tag = o->monitor_tag, .alias = o->alias };
	Term id;
	Process *p = heap_can_be_had(o->min_heap_words) ? take_slot(&id) : NULL;

	if (p == NULL)
		return TERM_NONE;
	init_process(p, parent, module, function, args, o);
	if (parent == NULL)
		p->group_leader = find_user(id);
	else
		p->group_leader = copy_to_heap(parent->group_leader, &p->heap);
	publish(p, id);
	if (PROBE_ON(copy__object))
		probe_copy__object(id, copy_size_words(p->x[2]));
	if (o->link && parent != NULL)
		link_add_child(parent, p);
	if (o->monitor && parent != NULL)
		*monitor_ref = monitor_add_child(parent, p, &monitor);
	if (unlikely(o->born != NULL))
		o->born(p, o->born_arg);
	if (PROBE_ON(process__spawn))
		probe_process__spawn(p);
	if (unlikely(trace_active))
		trace_hooks.spawned(parent, p, o->link);
	sched_enqueue(p);
	return id;
}

Process *process_current(void)
{
	struct sched *s = sched_self();

	return s != NULL ? s->current : NULL;
}

/* ---- collection */

enum { ROOTS_AT_ONCE = 16, ROOTS_WITHOUT_MESSAGES = 3 };

/* Room for all roots: messages that stand on the heap are one each. */
static struct gc_root *make_room_for_roots(const Process *p, struct gc_root fixed[ROOTS_AT_ONCE])
{
	size_t n = ROOTS_WITHOUT_MESSAGES + (size_t)p->own_messages;

	return n <= ROOTS_AT_ONCE ? fixed : mem_alloc(n * sizeof(*fixed));
}

static size_t list_roots(Process *p, Term *x, unsigned live, struct gc_root *roots)
{
	uint32_t own = p->own_messages;
	size_t n = 0;

	for (struct signal *s = p->msg_first; own > 0; s = s->next)
		if (s->own) {
			roots[n++] = (struct gc_root){ &s->term, 1 };
			own--;
		}
	roots[n++] = (struct gc_root){ &p->exc_reason, PROCESS_ROOTS };
	if (live > 0)
		roots[n++] = (struct gc_root){ x, live };
	if (p->dict != NULL)
		roots[n++] = (struct gc_root){ p->dict->pairs, 2 * (size_t)p->dict->room };
	return n;
}

static PROBE_COLD void probe_before(Process *p, bool major, size_t need)
{
	if (major) {
		if (PROBE_ON(gc_major__start))
			probe_gc_major__start(p, need);
	} else if (PROBE_ON(gc_minor__start)) {
		probe_gc_minor__start(p, need);
	}
}

static PROBE_COLD void probe_after(Process *p, const struct gc_result *r)
{
	if (r->major) {
		if (PROBE_ON(gc_major__end))
			probe_gc_major__end(p, r->reclaimed_words);
	} else if (PROBE_ON(gc_minor__end)) {
		probe_gc_minor__end(p, r->reclaimed_words);
	}
	if (r->new_size_words > r->old_size_words && PROBE_ON(process__heap_grow))
		probe_process__heap_grow(p, r->old_size_words, r->new_size_words);
	if (r->new_size_words < r->old_size_words && PROBE_ON(process__heap_shrink))
		probe_process__heap_shrink(p, r->old_size_words, r->new_size_words);
}

static inline bool is_gc_probed(void)
{
	return PROBE_ON(gc_minor__start) || PROBE_ON(gc_major__start) || PROBE_ON(gc_minor__end) || PROBE_ON(gc_major__end) ||
	       PROBE_ON(process__heap_grow) || PROBE_ON(process__heap_shrink);
}

size_t process_message_words(const Process *p)
{
	size_t words = 0;

	for (const struct signal *s = p->flags & PF_OFF_HEAP_MSGQ ? NULL : p->msg_first; s != NULL; s = s->next)
		if (s->fragment != NULL)
			words += s->fragment->used_words;
	return words;
}

static bool exceed_limit(Process *p, size_t need_words)
{
	const struct heap *h = &p->heap;

	if (!(p->flags & PF_MAX_HEAP_SILENT))
		process_report_max_heap(p, (size_t)(h->end - h->start) + (size_t)(h->old_end - h->old_start) + h->fragment_words + need_words +
					   process_message_words(p));
	if (p->flags & PF_MAX_HEAP_SPARE)
		return true;
	p->exc_kind = EXC_EXITED;
	p->exc_reason = am_killed;
	return false;
}

/* A guard of receive may collect while registers point into the message, which is the queue's until it matches. */
static void shelter_message(Process *p)
{
	const struct signal *s = *p->msg_save;
	const struct fragment *f = s != NULL ? s->fragment : NULL;

	p->heap.guest_start = f != NULL ? f->words : NULL;
	p->heap.guest_bytes = f != NULL ? f->used_words * sizeof(Term) : 0;
}

/* ---- literals that leave */

struct literal_call {
	struct literal_call *next;
	void (*done)(void *arg);
	void *arg;
};

void process_copy_literals(Process *p, void (*done)(void *arg), void *arg)
{
	struct literal_call *c = mem_alloc(sizeof(*c));

	*c = (struct literal_call){ p->literal_calls, done, arg };
	p->literal_calls = c;
	p->flags |= PF_COPY_LITERALS;
}

static void finish_literal_calls(Process *p)
{
	struct literal_call *c = p->literal_calls, *next;

	p->literal_calls = NULL;
	for (; c != NULL; c = next) {
		next = c->next;
		c->done(c->arg);
		mem_free(c);
	}
}

enum { LITERAL_WORDS_PER_RED = 400 };

/* Does the heap get copies that a collection must put in place? */
static bool take_literals(Process *p, const struct gc_root *roots, size_t n)
{
	const struct heap *h = &p->heap;
	size_t seen = (size_t)(h->top - h->start) + (size_t)(h->old_top - h->old_start) + h->fragment_words, taken;

	p->flags &= ~(uint32_t)PF_COPY_LITERALS;
	p->reds_left -= (int32_t)(seen / LITERAL_WORDS_PER_RED);
	sched_lend();
	taken = gc_take_literals(&p->heap, roots, n);
	sched_reclaim();
	return taken > 0;
}

static bool collect_gc(Process *p, size_t need_words, const struct gc_root *roots, size_t n)
{
	size_t work = (size_t)(p->heap.top - p->heap.start) + p->heap.fragment_words;
	bool fits, is_long = gc_is_long(&p->heap);
	struct gc_result r;

	if (is_gc_probed())
		probe_before(p, gc_next_is_major(&p->heap, need_words), need_words);
	if (unlikely(trace_active))
		trace_hooks.gc_began(p, gc_next_is_major(&p->heap, need_words), need_words);
	p->flags &= ~(uint32_t)PF_NEED_GC;
	shelter_message(p);
	micro_enter(sched_self(), MICRO_GC);
	if (is_long)
		sched_lend();
	fits = gc_run_gc(&p->heap, need_words, roots, n, &r);
	if (is_long)
		sched_reclaim();
	micro_enter(sched_self(), MICRO_EMULATOR);
	p->reds_left -= (int32_t)((work - r.reclaimed_words < work ? work - r.reclaimed_words : work) / 10);
	sched_count_gc(r.reclaimed_words);
	if (is_gc_probed())
		probe_after(p, &r);
	if (unlikely(trace_active))
		trace_hooks.gc_ended(p, r.major, r.reclaimed_words);
	if (fits && p->heap.max_words != 0)
		fits = gc_fits_limit(&p->heap, need_words + process_message_words(p));
	return fits || exceed_limit(p, need_words);
}

bool process_collect_gc(Process *p, size_t need_words, Term *x, unsigned live)
{
	struct gc_root fixed[ROOTS_AT_ONCE], *roots = make_room_for_roots(p, fixed);
	size_t n = list_roots(p, x, live, roots);
	bool fits = true, copies = p->flags & PF_COPY_LITERALS;

	if (likely(!copies) || take_literals(p, roots, n) || need_words > 0 || p->heap.wants_gc || (p->flags & PF_NEED_GC))
		fits = collect_gc(p, need_words, roots, n);
	if (roots != fixed)
		mem_free(roots);
	if (unlikely(copies))
		finish_literal_calls(p);
	return fits;
}

bool process_hibernate_gc(Process *p, Term *x, unsigned live)
{
	p->heap.force_major = true;
	atomic_fetch_or(&p->state, PS_HIBERNATED);
	if (PROBE_ON(process__hibernate))
		probe_process__hibernate(p, x);
	if (!process_collect_gc(p, 0, x, live))
		return false;
	gc_fit(&p->heap);
	return true;
}

/* ---- the end */

enum { LONG_END_PEERS = 1000, LONG_END_MESSAGES = 10000 };

void process_at_exit(void (*hook)(Process *p))
{
	ENSURE(table.hook_count < HOOKS_MAX);
	table.hooks[table.hook_count++] = hook;
}

static void free_messages(Process *p)
{
	struct signal *s = p->msg_first;

	while (s != NULL) {
		struct signal *next = s->next;

		signal_free(s);
		s = next;
	}
	p->msg_first = NULL;
	mem_free_as(MEM_PROCESS, p->markers);
	p->markers = NULL;
}

/* Nobody finds it any more. */
static void leave_table(Process *p)
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
}

static void drop_wait(Process *p)
{
	if (p->resume == NULL)
		return;
	p->resume = NULL;
	p->drop(p, p->resume_arg);
}

static void end_process(Process *p)
{
	Term reason = p->exc_reason;

	timer_cancel_receive(p);
	signal_close(p);
	task_close(p);
	while (!timer_cancel_messages(p)) {
	}
	atomic_fetch_sub(&table.living, 1);
	if (PROBE_ON(process__exit))
		probe_process__exit(p, reason);
	if (unlikely(trace_active) && trace_wants(p, TRACE_PROCS))
		trace_hooks.event(p, am_exit, reason);
	for (size_t i = 0; i < table.hook_count; i++)
		table.hooks[i](p);
	registry_forget(p); /* whoever sees that the name is free may take those of its tables */
	monitor_exit(p, p->exc_reason);
	if (PROBE_ON(process__unscheduled))
		probe_process__unscheduled(p, false);
	if (unlikely(trace_active))
		trace_hooks.slice_ended(p, true);
	if (unlikely(p->tracee != NULL))
		trace_free(p);
	if (unlikely(p->saved_calls != NULL))
		saved_calls_set(p, 0);
	sched_leave(p);
	if (likely(p->dirty == NULL) || !dirty_keeps(p))
		process_end_memory(p);
}

void process_end_memory(Process *p)
{
	free_messages(p);
	dict_free(p);
	if (p->x != p->saved_x)
		mem_free_as(MEM_PROCESS, p->x);
	heap_free(&p->heap);
	finish_literal_calls(p);
	leave_table(p);
	process_unref(p);
}

/* Does its end take long, because much hangs from it? The first of its timers are cancelled to know. */
static bool is_end_long(Process *p)
{
	return peer_count(&p->links) + peer_count(&p->monitors) + peer_count(&p->monitored_by) > LONG_END_PEERS ||
	       p->msg_length > LONG_END_MESSAGES || gc_is_long(&p->heap) || !timer_cancel_messages(p);
}

void process_exit(Process *p, Term reason)
{
	p->exc_reason = reason;
	p->exc_kind = EXC_NONE;
	if (unlikely(trace_active) && p->dirty != NULL && p->dirty->is_told)
		trace_hooks.exit_began(p);
	drop_wait(p);
	if (!sched_on_duty() || trace_active || !is_end_long(p)) {
		end_process(p);
		return;
	}
	sched_end_apart(p, end_process);
}

/* For who reads our memory from outside. */
static const uint32_t layout_numbers[] = {
#define LAYOUT_PROCESSES LAYOUT_NUMBER
#include "layout.def"
};
LAYOUT_PART(layout_processes, table);
