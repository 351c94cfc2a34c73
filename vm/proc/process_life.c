/* SPDX-License-Identifier: Apache-2.0 */
#include "proc/process_life.h"

#include <string.h>

#include "base/alloc.h"
#include "heap/copy.h"
#include "proc/dict.h"
#include "proc/dirty.h"
#include "proc/exc.h"
#include "proc/initial_call.h"
#include "proc/message.h"
#include "proc/monitor.h"
#include "proc/probe.h"
#include "proc/process_gc.h"
#include "proc/process_memory.h"
#include "proc/registry.h"
#include "proc/saved_calls.h"
#include "proc/sched.h"
#include "proc/seq_token.h"
#include "proc/task.h"
#include "proc/timer.h"
#include "proc/tracee.h"
#include "usdt.h"

enum { HOOKS_MAX = 8 };

static struct {
	void (*hooks[HOOKS_MAX])(Process *p);
	size_t hook_count;
} ends;

/* ---- birth */

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
	__atomic_store_n(&p->handles, false, __ATOMIC_RELAXED); /* some may still look at who had this memory */
	p->msg_length = 0;
	atomic_store_explicit(&p->told_long, 0, memory_order_relaxed);
	p->own_messages = 0;
	p->msg_first = NULL;
	p->msg_last = p->msg_save = p->msg_high = &p->msg_first;
	p->markers = NULL;
}

static void set_initial(Process *p, Term module, Term function, Term args)
{
	struct mfa told = { module, function, count_list(args) };

	p->initial_module = module;
	p->initial_function = function;
	p->initial_arity = told.arity;
	if (module == am_erlang || module == am_proc_lib) /* no other is told as what it applies */
		told = initial_call_tell(module, function, args);
	p->told_module = told.module;
	p->told_function = told.function;
	p->told_arity = told.arity;
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
	set_initial(p, m, f, args);
	p->suspend_count = 0;
	atomic_store(&p->reg_name, TERM_NONE);
	p->dict = NULL;
	p->links = p->monitors = p->monitored_by = (struct peers){ 0 };
	p->receive_timer = NULL;
	p->error_handler = am_error_handler;
	p->looks_for = TERM_NONE;
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

Term process_spawn(Process *parent, Term module, Term function, Term args, const struct spawn_options *o,
		   Term *monitor_ref)
{
	struct monitor_options monitor = { .tag = o->monitor_tag, .alias = o->alias, .priority = o->monitor_priority };
	Term id;
	Process *p = heap_can_be_had(o->min_heap_words) ? process_take_slot(&id) : NULL;

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
		link_add_child(parent, p, o->link_priority);
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

/* ---- the end */

enum { LONG_END_PEERS = 1000, LONG_END_MESSAGES = 10000 };

void process_at_exit(void (*hook)(Process *p))
{
	ENSURE(ends.hook_count < HOOKS_MAX);
	ends.hooks[ends.hook_count++] = hook;
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
	process_leave_living();
	if (PROBE_ON(process__exit))
		probe_process__exit(p, reason);
	if (unlikely(trace_active) && trace_wants(p, TRACE_PROCS))
		trace_hooks.event(p, am_exit, reason);
	for (size_t i = 0; i < ends.hook_count; i++)
		ends.hooks[i](p);
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
	if (unlikely(p->literal_calls != NULL))
		process_finish_literal_calls(p);
	process_leave_table(p);
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
