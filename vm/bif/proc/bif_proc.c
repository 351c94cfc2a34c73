/* SPDX-License-Identifier: Apache-2.0 */
/* Built-in functions: processes end, look at themselves; exceptions; the process dictionary. */
#include <stdlib.h>

#include "base/release.h"
#include "bif/proc/bif_spawn.h"
#include "bif/proc/process_call.h"
#include "dist/dist.h"
#include "proc/spawn_opts.h"
#include "code/code_probe.h"
#include "code/export.h"
#include "code/module.h"
#include "data/number.h"
#include "heap/copy.h"
#include "data/map.h"
#include "proc/node_monitor.h"
#include "proc/dict.h"
#include "proc/initial_call.h"
#include "proc/message.h"
#include "proc/process_life.h"
#include "proc/registry.h"
#include "proc/saved_calls.h"
#include "proc/sched.h"
#include "term/node.h"

Term bif_erlang_self_0(Process *p, Term *args)
{
	(void)args;
	return p->id;
}

/* ---- ends and exceptions */

Term bif_erlang_exit_1(Process *p, Term *args)
{
	return exc_exit(p, args[0]);
}

Term bif_erlang_throw_1(Process *p, Term *args)
{
	return exc_throw(p, args[0]);
}

Term bif_erlang_error_1(Process *p, Term *args)
{
	return exc_error(p, args[0]);
}

Term bif_erlang_error_2(Process *p, Term *args)
{
	return exc_error(p, args[0]);
}

Term bif_erlang_error_3(Process *p, Term *args)
{
	return exc_error(p, args[0]);
}

Term bif_erlang_nif_error_1(Process *p, Term *args)
{
	return exc_error(p, args[0]);
}

Term bif_erlang_nif_error_2(Process *p, Term *args)
{
	return exc_error(p, args[0]);
}

/* {M, F, ArgsOrArity} with or without a location, or {Fun, Args} likewise. The arguments may be anything. */
static bool is_trace_entry(Term t)
{
	size_t arity = term_is_tuple(t) ? tuple_arity(t) : 0;
	size_t args_at = 3;

	if (arity < 2 || arity > 4)
		return false;
	if (term_is_fun(tuple_get(t, 1)))
		args_at = 2;
	else if (arity < 3 || !term_is_atom(tuple_get(t, 1)) || !term_is_atom(tuple_get(t, 2)))
		return false;
	if (arity > args_at + 1 || arity < args_at)
		return false;
	return arity == args_at || term_is_list(tuple_get(t, arity));
}

static bool is_trace(Term t)
{
	for (; term_is_cons(t); t = cons_tail(t))
		if (!is_trace_entry(cons_head(t)))
			return false;
	return t == NIL;
}

/* Entry with a location. */
static Term with_location(struct heap *h, Term entry)
{
	size_t arity = tuple_arity(entry);

	if (arity == 2)
		return heap_tuple(h, tuple_get(entry, 1), tuple_get(entry, 2), NIL);
	if (arity == 3 && term_is_atom(tuple_get(entry, 1)))
		return heap_tuple(h, tuple_get(entry, 1), tuple_get(entry, 2), tuple_get(entry, 3), NIL);
	return entry;
}

/* The trace that catchers shall see: every entry with a location, no more of them than there may be. */
static Term complete_trace(struct heap *h, Term trace)
{
	Term entries[EXC_DEPTH_MAX];
	unsigned n = 0, depth = exc_depth_now();

	for (; term_is_cons(trace) && n < depth; trace = cons_tail(trace))
		entries[n++] = with_location(h, cons_head(trace));
	return heap_list_array(h, n, entries, NIL);
}

/* Arguments that are no exception give badarg as a value. */
Term bif_erlang_raise_3(Process *p, Term *args)
{
	if ((args[0] != am_error && args[0] != am_exit && args[0] != am_throw) || !is_trace(args[2]))
		return am_badarg;
	return exc_raise(p, args[0], args[1], complete_trace(&p->heap, args[2]));
}

/* To an alias. */
static Term exit_alias(Process *p, Term alias, Term reason, bool high)
{
	if (!release_has_priority_messages())
		return exc_badarg(p);
	if (term_is_local_ref(alias) && ref_tag(alias) == 0)
		return am_true;
	signal_exit(p, alias, reason, high);
	if (!term_is_local_ref(alias))
		return exc_return_suspended(p, am_true);
	return ref_tag(alias) != p->id || signal_handle_now(p) ? am_true : TERM_NONE;
}

static Term send_exit(Process *p, Term to, Term reason, bool high)
{
	if (term_is_local_pid(to) || term_is_local_port(to)) {
		signal_exit(p, to, reason, false);
		/* What we do to ourselves is done when this returns. */
		if (to == p->id && !signal_handle_now(p))
			return TERM_NONE;
		return am_true;
	}
	if (term_is_ref(to))
		return exit_alias(p, to, reason, high);
	if (!term_is_pid(to))
		return term_is_port(to) ? am_true : exc_badarg(p);
	signal_exit(p, to, reason, false);
	return exc_return_suspended(p, am_true);
}

/* So the library kills who runs old code that is purged. */
static bool is_by_purge(const Process *p, const Term *args)
{
	return p->reg_name == am_erts_code_purger && args[1] == am_kill && term_is_local_pid(args[0]);
}

Term bif_erlang_exit_2(Process *p, Term *args)
{
	if (PROBE_ON(code__kill) && is_by_purge(p, args))
		probe_code__kill(args[0], module_being_purged());
	return send_exit(p, args[0], args[1], false);
}

Term bif_erlang_exit_3(Process *p, Term *args)
{
	bool high;

	if (!signal_opts_read(args[2], &high))
		return exc_badarg_cause(p, am_badopt);
	return send_exit(p, args[0], args[1], high);
}

/* normal to oneself ends nobody who does not trap exits, other than by exit/2. */
static bool is_nothing(const Process *p, const Term *args)
{
	return release_exit_signal_spares() && args[0] == p->id && args[1] == am_normal && !(p->flags & PF_TRAP_EXIT);
}

Term bif_erlang_exit_signal_2(Process *p, Term *args)
{
	return is_nothing(p, args) ? am_true : send_exit(p, args[0], args[1], false);
}

Term bif_erlang_exit_signal_3(Process *p, Term *args)
{
	bool high;

	if (!signal_opts_read(args[2], &high))
		return exc_badarg_cause(p, am_badopt);
	return is_nothing(p, args) ? am_true : send_exit(p, args[0], args[1], high);
}

/* ---- processes of the VM itself */

Term bif_erts_internal_spawn_system_process_3(Process *p, Term *args)
{
	struct spawn_options o = SPAWN_OPTIONS_DEFAULT;
	Term pid;

	if (!bif_is_call(args))
		return exc_badarg(p);
	o.system = true;
	pid = process_spawn(NULL, args[0], args[1], args[2], &o, NULL);
	return pid != TERM_NONE ? pid : exc_system_limit(p);
}

/* A string is the slogan of an abnormal end. */
static Term halt_text(Process *p, Term list)
{
	char text[1024];
	size_t n = 0;

	for (; term_is_cons(list); list = cons_tail(list)) {
		Term c = cons_head(list);

		if (!term_is_small(c) || small_value(c) < 0 || small_value(c) > 255)
			return exc_badarg(p);
		if (n < sizeof(text) - 1)
			text[n++] = (char)small_value(c);
	}
	if (list != NIL)
		return exc_badarg(p);
	text[n] = 0;
	log_slogan(text);
	sched_halt(1, false);
}

/* *flush, *max_ms (negative: none): as the last of them says; true when none does. Fails: false. */
static bool read_halt_options(Term list, bool *flush, int64_t *max_ms)
{
	*flush = true;
	*max_ms = -1;
	for (; term_is_cons(list); list = cons_tail(list)) {
		Term t = cons_head(list), name, value;

		if (!term_is_tuple_of(t, 2))
			return false;
		name = tuple_get(t, 1);
		value = tuple_get(t, 2);
		if (name == am_flush && (value == am_true || value == am_false))
			*flush = value == am_true;
		else if (name == am_flush_timeout && release_bounds_flushing() && term_is_small(value) &&
			 small_value(value) >= 0 && small_value(value) <= UINT32_MAX)
			*max_ms = small_value(value);
		else
			return false;
	}
	return list == NIL;
}

/* The shorter one of the two limits. */
static void limit_flush(int64_t max_ms)
{
	int64_t now = atomic_load(&sched_flush_max_ms);

	if (max_ms >= 0 && (now < 0 || max_ms < now))
		atomic_store(&sched_flush_max_ms, max_ms);
}

Term bif_erlang_halt_2(Process *p, Term *args)
{
	bool flush;
	int64_t max_ms;

	if (!read_halt_options(args[1], &flush, &max_ms))
		return exc_badarg_cause(p, am_badopt);
	if (term_is_small(args[0]) && small_value(args[0]) >= 0) {
		limit_flush(max_ms);
		sched_halt((int)(small_value(args[0]) & 0xff), flush);
	}
	if (args[0] == am_abort)
		abort();
	if (term_is_list(args[0]))
		return halt_text(p, args[0]);
	return exc_badarg(p);
}

enum { HIBERNATE_ARGS_MAX = 1023 };

Term bif_erlang_hibernate_3(Process *p, Term *args)
{
	unsigned count = 0;

	if (!bif_is_call(args))
		return exc_badarg(p);
	for (Term rest = args[2]; term_is_cons(rest); rest = cons_tail(rest))
		if (++count > HIBERNATE_ARGS_MAX)
			return exc_system_limit(p);
	p->exc_kind = EXC_HIBERNATE;
	return TERM_NONE;
}

/* With the stack as it is: returns ok once there is a message. */
Term bif_erlang_hibernate_0(Process *p, Term *args)
{
	(void)args;
	p->exc_kind = EXC_HIBERNATE;
	return TERM_NONE;
}

/* A call more: calls look whether the slice is over. */
static Term yield_now(Process *p, Term value)
{
	struct sched *s = sched_self();
	uint64_t unused = (uint64_t)(p->reds_left > 0 ? p->reds_left : 0) + (uint64_t)p->reds_kept;

	p->reds_done -= unused; /* the end of the slice counts it whole */
	__atomic_store_n(&s->reds_done, s->reds_done - unused, __ATOMIC_RELAXED);
	process_yield_soon(p);
	return exc_trap(p, export_get(am_erts_internal, am_yield_return, 1), 1, &value);
}

/* Where a process goes on that gave way: tools that look on tell its name. */
Term bif_erts_internal_yield_return_1(Process *p, Term *args)
{
	(void)p;
	return args[0];
}

Term bif_erlang_yield_0(Process *p, Term *args)
{
	(void)args;
	return yield_now(p, am_true);
}

Term bif_erlang_bump_reductions_1(Process *p, Term *args)
{
	if (!term_is_small(args[0]) || small_value(args[0]) < 0)
		return exc_badarg(p);
	process_bump(p, small_value(args[0]) > SCHED_REDS ? SCHED_REDS : (int)small_value(args[0]));
	return am_true;
}

/* ---- flags */

static Term set_priority(Process *p, Term value)
{
	Term before = priority_atom(p->priority);
	uint8_t priority;

	if (!priority_read(value, &priority))
		return TERM_NONE;
	process_set_priority(p, priority);
	return before;
}

static Term set_flag_bit(Process *p, Term value, uint32_t bit)
{
	Term before = term_from_bool(p->flags & bit);

	if (value != am_true && value != am_false)
		return TERM_NONE;
	p->flags = value == am_true ? p->flags | bit : p->flags & ~bit;
	return before;
}

static Term set_queue_data(Process *p, Term value)
{
	Term before = p->flags & PF_OFF_HEAP_MSGQ ? am_off_heap : am_on_heap;

	if (value != am_on_heap && value != am_off_heap)
		return TERM_NONE;
	p->flags = value == am_off_heap ? p->flags | PF_OFF_HEAP_MSGQ : p->flags & ~(uint32_t)PF_OFF_HEAP_MSGQ;
	return before;
}

static Term set_fullsweep(Process *p, Term value)
{
	Term before = SMALL((uint64_t)p->heap.minor_limit);

	if (!term_is_small(value) || small_value(value) < 0)
		return TERM_NONE;
	p->heap.minor_limit = (uint16_t)(small_value(value) > 65535 ? 65535 : small_value(value));
	return before;
}

static Term set_min_heap(Process *p, Term value)
{
	Term before = term_from_small((int64_t)p->heap.min_words);
	size_t words;

	if (!heap_size_read(value, &words) || !heap_can_be_had(words))
		return TERM_NONE;
	p->heap.min_words = words;
	return before;
}

static Term set_max_heap(Process *p, Term value)
{
	uint32_t flags = p->flags & PF_MAX_HEAP;
	Term before = max_heap_map(&p->heap, p->heap.max_words, flags);
	size_t words;

	if (!max_heap_read(value, &words, &flags))
		return TERM_NONE;
	p->heap.max_words = words;
	p->flags = (p->flags & ~(uint32_t)PF_MAX_HEAP) | flags;
	return before;
}

static Term set_error_handler(Process *p, Term value)
{
	Term before = p->error_handler;

	if (!term_is_atom(value))
		return TERM_NONE;
	p->error_handler = value;
	return before;
}

/* One of the wishes of a monitor_nodes map. Fails: false. */
static bool read_node_wish(Term key, Term value, unsigned *wishes)
{
	unsigned bit = key == am_connection_id ? NODE_MONITOR_ID : NODE_MONITOR_REASON;

	switch (key) {
	case am_list:
		*wishes &= ~(unsigned)NODE_MONITOR_MAP;
		return value == am_true;
	case am_connection_id:
	case am_nodedown_reason:
		*wishes |= value == am_true ? bit : 0;
		return value == am_true || value == am_false;
	case am_node_type:
		*wishes |= value != am_hidden ? NODE_MONITOR_VISIBLE : 0;
		*wishes |= value != am_visible ? NODE_MONITOR_HIDDEN : 0;
		return value == am_all || value == am_visible || value == am_hidden;
	default:
		return false;
	}
}

/* options: [] or a map of wishes, as net_kernel makes it. */
static Term set_node_monitor(Process *p, Term options, Term value)
{
	static const Term keys[] = { am_list, am_connection_id, am_nodedown_reason, am_node_type };
	unsigned wishes = term_is_map(options) ? NODE_MONITOR_MAP : 0;
	size_t seen = 0;

	if ((value != am_true && value != am_false) || (!term_is_map(options) && options != NIL))
		return TERM_NONE;
	for (unsigned i = 0; i < sizeof(keys) / sizeof(keys[0]) && term_is_map(options); i++) {
		Term wish = map_get(options, keys[i]);

		if (wish != TERM_NONE && !read_node_wish(keys[i], wish, &wishes))
			return TERM_NONE;
		seen += wish != TERM_NONE;
	}
	if (term_is_map(options) && seen != map_size(options))
		return TERM_NONE;
	return term_from_small(value == am_true ? node_monitor_add(p, wishes) : node_monitor_remove(p, wishes));
}

/* Stays on that scheduler from its next time slice on; 0: on none. */
static Term set_scheduler(Process *p, Term value)
{
	Term before = SMALL(p->bound ? (uint64_t)atomic_load(&p->scheduler) : 0);
	unsigned id;

	if (!term_is_small(value) || small_value(value) < 0 || small_value(value) > (int64_t)sched_count())
		return exc_badarg(p);
	id = (unsigned)small_value(value);
	if (id != 0)
		atomic_store(&p->scheduler, id);
	p->bound = id != 0;
	return id != 0 && id != sched_self()->id ? exc_return_later(p, before) : before;
}

static Term set_min_bin_vheap(Process *p, Term value)
{
	Term before = term_from_small((int64_t)p->heap.binary_min_words);
	size_t words;

	if (!heap_size_read(value, &words))
		return TERM_NONE;
	heap_set_binary_min(&p->heap, words);
	return before;
}

static Term set_save_calls(Process *p, Term value)
{
	if (!term_is_small(value) || small_value(value) < 0 || small_value(value) > SAVED_CALLS_MAX)
		return exc_badarg_cause(p, am_none);
	return exc_return_later(p, SMALL((uint64_t)saved_calls_set(p, (uint32_t)small_value(value))));
}

Term bif_erlang_process_flag_2(Process *p, Term *args)
{
	Term before = TERM_NONE;

	switch (args[0]) {
	case am_trap_exit:
		before = set_flag_bit(p, args[1], PF_TRAP_EXIT);
		break;
	case am_sensitive:
		before = set_flag_bit(p, args[1], PF_SENSITIVE);
		break;
	case am_priority:
		before = set_priority(p, args[1]);
		break;
	case am_message_queue_data:
		before = set_queue_data(p, args[1]);
		break;
	case am_fullsweep_after:
		before = set_fullsweep(p, args[1]);
		break;
	case am_min_heap_size:
		before = set_min_heap(p, args[1]);
		break;
	case am_min_bin_vheap_size:
		before = set_min_bin_vheap(p, args[1]);
		break;
	case am_max_heap_size:
		before = set_max_heap(p, args[1]);
		break;
	case am_error_handler:
		before = set_error_handler(p, args[1]);
		break;
	case am_save_calls:
		return set_save_calls(p, args[1]);
	case am_scheduler:
		return set_scheduler(p, args[1]);
	case am_async_dist:
		before = set_flag_bit(p, args[1], PF_ASYNC_DIST);
		break;
	case am_monitor_nodes:
		before = set_node_monitor(p, NIL, args[1]);
		break;
	default:
		if (term_is_tuple_of(args[0], 2) && tuple_get(args[0], 1) == am_monitor_nodes)
			before = set_node_monitor(p, tuple_get(args[0], 2), args[1]);
		else
			return exc_badarg_cause(p, am_badopt);
		break;
	}
	return before != TERM_NONE ? before : exc_badarg(p);
}

static Term answer_save_calls(Process *p, struct process_call *c)
{
	return p != NULL ? SMALL((uint64_t)saved_calls_set(p, (uint32_t)small_value(c->items[0]))) : am_badtype;
}

/* The only flag of another process that may be set. The answer comes as {Ref, Result}; badtype: there is no such
 * process. */
Term bif_erts_internal_process_flag_3(Process *p, Term *args)
{
	struct process_call *c;
	Term ref;

	if (!term_is_local_pid(args[0]) || !process_is_alive(args[0]))
		return am_badtype;
	if (args[1] != am_save_calls || !term_is_small(args[2]) || small_value(args[2]) < 0 ||
	    small_value(args[2]) > SAVED_CALLS_MAX)
		return am_badarg;
	if (args[0] == p->id)
		return exc_return_later(p, SMALL((uint64_t)saved_calls_set(p, (uint32_t)small_value(args[2]))));
	ref = heap_ref(&p->heap, 0);
	c = process_call_new(answer_save_calls, p->id, ref, 1);
	c->items[0] = args[2];
	process_call_send(args[0], c);
	return ref;
}

Term bif_erlang_group_leader_0(Process *p, Term *args)
{
	(void)args;
	return p->group_leader;
}

/* false: group_leader/3 does it. */
Term bif_erts_internal_group_leader_2(Process *p, Term *args)
{
	if (!term_is_pid(args[0]) || !term_is_pid(args[1]) || node_is_earlier_pid(args[1]))
		return am_badarg;
	if (!term_is_local_pid(args[1])) {
		dist_send_group_leader(p, args[0], args[1]);
		return exc_return_suspended(p, am_true);
	}
	if (args[1] != p->id)
		return am_false;
	p->group_leader = args[0];
	return am_true;
}

static Term answer_group_leader(Process *p, struct process_call *c)
{
	if (p == NULL)
		return am_badarg;
	p->group_leader = copy_to_heap(c->request, &p->heap);
	return am_true;
}

/* The answer, {Ref, Result}, comes once it has the new one. */
Term bif_erts_internal_group_leader_3(Process *p, Term *args)
{
	struct process_call *c;

	if (!term_is_pid(args[0]) || !term_is_local_pid(args[1]) || !term_is_local_ref(args[2]))
		return exc_badarg(p);
	c = process_call_new(answer_group_leader, p->id, args[2], 0);
	c->request_fragment = copy_to_fragment(args[0], &c->request);
	process_call_send(args[1], c);
	return am_ok;
}

/* ---- the dictionary */

static Term or_undefined(Term t)
{
	return t != TERM_NONE ? t : am_undefined;
}

/* Of a key that says who the process is. Apart from the others, which are put without a frame for it. */
static __attribute__((noinline, cold)) Term put_name(Process *p, Term *args)
{
	initial_call_note_put(p, args[0], args[1]);
	return or_undefined(dict_put(p, args[0], args[1]));
}

Term bif_erlang_put_2(Process *p, Term *args)
{
	if (unlikely(initial_call_is_key(args[0])))
		return put_name(p, args);
	return or_undefined(dict_put(p, args[0], args[1]));
}

Term bif_erlang_get_1(Process *p, Term *args)
{
	return or_undefined(dict_get(p, args[0]));
}

/* All of a large dictionary is gone through while others run. Returns whether the scheduler was lent for it. */
static bool lend_for_dict(const Process *p)
{
	bool lends = p->dict != NULL && 2 * (size_t)p->dict->room > EXC_WORDS_AT_ONCE;

	if (lends)
		sched_lend();
	return lends;
}

static Term dict_result(bool lent, Term list)
{
	if (lent)
		sched_reclaim();
	return list;
}

Term bif_erlang_get_0(Process *p, Term *args)
{
	bool lent = lend_for_dict(p);

	(void)args;
	return dict_result(lent, dict_list(p, &p->heap));
}

Term bif_erlang_erase_1(Process *p, Term *args)
{
	if (unlikely(initial_call_is_key(args[0])))
		initial_call_note_put(p, args[0], TERM_NONE);
	return or_undefined(dict_erase(p, args[0]));
}

Term bif_erlang_erase_0(Process *p, Term *args)
{
	bool lent = lend_for_dict(p);
	Term list = dict_list(p, &p->heap);

	(void)args;
	if (unlikely(dict_get(p, am_process_label) != TERM_NONE))
		initial_call_note_put(p, am_process_label, TERM_NONE);
	dict_free(p);
	return dict_result(lent, list);
}

Term bif_erlang_get_keys_0(Process *p, Term *args)
{
	bool lent = lend_for_dict(p);

	(void)args;
	return dict_result(lent, dict_keys(p, &p->heap, NULL));
}

Term bif_erlang_get_keys_1(Process *p, Term *args)
{
	bool lent = lend_for_dict(p);

	return dict_result(lent, dict_keys(p, &p->heap, &args[0]));
}
