/* SPDX-License-Identifier: Apache-2.0 */
/* Built-in functions: erts_debug:get_internal_state/1 and set_internal_state/2, by which OTP's test suites look into
 * the machine. They are there once available_internal_state is set. What tells of parts that this machine has not is no
 * item here: badarg. */
#include <inttypes.h>
#include <stdio.h>

#include "base/clock.h"
#include "base/lock.h"
#include "bif/bif.h"
#include "bif/system/bif_info.h"
#include "code/export.h"
#include "code/line_break.h"
#include "data/binary.h"
#include "data/map.h"
#include "data/number.h"
#include "dist/channel.h"
#include "ets/tables.h"
#include "heap/copy.h"
#include "io/poll.h"
#include "io/port.h"
#include "nif/nif_resource.h"
#include "proc/await.h"
#include "proc/node_monitor.h"
#include "proc/process_walk.h"
#include "proc/sched.h"
#include "proc/task.h"
#include "trace/watch.h"

enum { SLEEP_LIMIT_MS = 1 << 30, COLLIDING_LIMIT = 10 };

static atomic_bool is_available;

/* How many rounds natives of a topic may make before they give the scheduler back. Ours give it back when they are
 * through, so that a limit is kept for who asks, and changes nothing. */
enum limit { LIMIT_BINARY, LIMIT_RE, LIMIT_UNICODE, LIMIT_COUNT };
static _Atomic int64_t limits[LIMIT_COUNT];

static Term set_limit(enum limit which, Term value)
{
	int64_t n = value == am_default ? 0 : term_is_small(value) ? small_value(value) : -1;

	return n < 0 ? TERM_NONE : SMALL(atomic_exchange(&limits[which], n));
}

static Term set_binary_limit(Process *p, Term value) { (void)p; return set_limit(LIMIT_BINARY, value); }
static Term set_re_limit(Process *p, Term value) { (void)p; return set_limit(LIMIT_RE, value); }
static Term set_unicode_limit(Process *p, Term value) { (void)p; return set_limit(LIMIT_UNICODE, value); }

/* ---- time slices and collections */

static Term set_reds_left(Process *p, Term value)
{
	if (!term_is_small(value))
		return TERM_NONE;
	if (small_value(value) >= 0 && small_value(value) <= SCHED_REDS) {
		p->reds_left = (int32_t)small_value(value);
		p->reds_kept = 0;
	}
	return am_true;
}

static Term get_reds_left(Process *p, Term of)
{
	(void)of;
	return SMALL(p->reds_left + p->reds_kept);
}

static Term set_force_gc(Process *p, Term of)
{
	if (!process_is_alive(of))
		return am_false;
	p->flags |= PF_NEED_GC;
	return am_true;
}

/* Whether collections that others ask for are done, or wait until they may. */
static Term set_gc_state(Process *p, Term value)
{
	if (value != am_true && value != am_false)
		return TERM_NONE;
	return term_from_bool(task_allow_collections(p, value == am_true));
}

/* Not even two words of the block are free, so that the next term that is made there collects. true: that collection is
 * a major one. */
static Term set_fill_heap(Process *p, Term major)
{
	size_t words = (size_t)(p->heap.stop - p->heap.top);

	if (words > 1) /* a number that nobody has */
		*heap_alloc(&p->heap, words) = HEADER(words - 1, SUB_BIG_POS);
	if (major == am_true)
		p->heap.force_major = true;
	return am_ok;
}

/* Signals always come in through a queue of their own. */
static Term set_sig_buffers(Process *p, Term value)
{
	(void)p;
	return value == am_true ? am_true : TERM_NONE;
}

static void sleep_ms(void *arg)
{
	clock_sleep_ms(*(int64_t *)arg);
}

static bool read_ms(Term value, int64_t *ms)
{
	if (!term_is_small(value) || small_value(value) > SLEEP_LIMIT_MS)
		return false;
	*ms = small_value(value) > 0 ? small_value(value) : 0;
	return true;
}

/* The scheduler of the caller stands still. */
static Term set_sleep(Process *p, Term value)
{
	int64_t ms;

	(void)p;
	if (!read_ms(value, &ms))
		return TERM_NONE;
	sleep_ms(&ms);
	return am_true;
}

static Term set_long_gc_sleep(Process *p, Term value)
{
	int64_t ms;

	(void)p;
	if (!read_ms(value, &ms))
		return TERM_NONE;
	atomic_store(&watch_gc_sleep_ms, ms);
	return am_true;
}

/* All schedulers do. */
static Term set_block(Process *p, Term value)
{
	int64_t ms;

	(void)p;
	if (!read_ms(value, &ms))
		return TERM_NONE;
	sched_stop_world(sleep_ms, &ms);
	return am_true;
}

/* Until every scheduler has been through what it was at; of aux_work, when no destructor of a library's resource runs
 * any more. */
static Term set_wait(Process *p, Term what)
{
	if (what != am_deallocations && what != am_timer_cancellations && what != am_aux_work &&
	    what != am_thread_progress)
		return TERM_NONE;
	return await_return(p, am_ok);
}

/* ---- terms and processes */

static Term next_place(Process *p)
{
	uint64_t place;

	return process_next_place(&place) ? heap_uint(&p->heap, place) : am_false;
}

static Term get_next_pid(Process *p, Term of)
{
	(void)of;
	return next_place(p);
}

/* The next process comes after that place. */
static Term set_next_pid(Process *p, Term value)
{
	uint64_t place;

	if (!num_get_uint64(value, &place) || !process_set_next_place(place + 1))
		return TERM_NONE;
	return next_place(p);
}

static Term get_next_port(Process *p, Term of)
{
	(void)of;
	return heap_uint(&p->heap, port_next_number());
}

/* The next port comes after that number, or after those that have been where these are more: none comes again. */
static Term set_next_port(Process *p, Term value)
{
	uint64_t number;

	if (!num_get_uint64(value, &number) || !port_pass_over(number))
		return TERM_NONE;
	return heap_uint(&p->heap, port_next_number());
}

/* How processes/0 works, as OTP's record has it. It walks the whole table in one go, whatever reductions are left, and
 * charges none, so what is counted by reduction is 0. */
static Term get_processes_info(Process *p, Term of)
{
	Term limit = heap_uint(&p->heap, process_limit());

	(void)of;
	return heap_tuple(&p->heap, am_ptab_list_bif_info, SMALL(0), SMALL(1), limit, SMALL(0), SMALL(0), SMALL(0),
			  SMALL(0), SMALL(0), SMALL(0));
}

static Term get_processes(Process *p, Term of)
{
	(void)of;
	return process_list(&p->heap);
}

static Term get_process_status(Process *p, Term pid)
{
	Process *of = term_is_local_pid(pid) ? process_find(pid) : NULL;
	uint32_t state;

	(void)p;
	if (of == NULL)
		return term_is_local_pid(pid) ? am_undefined : TERM_NONE;
	state = atomic_load(&of->state);
	process_unref(of);
	return state & PS_EXITING ? am_exiting : state & PS_RUNNING ? am_running : state & PS_SUSPENDED ? am_suspended :
	       state & PS_RUNNABLE ? am_runnable : am_waiting;
}

static Term get_binary_info(Process *p, Term t)
{
	size_t offset;
	const struct refbin *b;
	Term size;

	if (!term_is_binary(t))
		return TERM_NONE;
	t = binary_original(t, &offset);
	if (header_sub(*boxed_ptr(t)) != SUB_REFBIN)
		return am_heap_binary;
	b = (const struct refbin *)boxed_ptr(t);
	size = heap_tuple(&p->heap, am_binary, SMALL(b->binary->size_bytes));
	return heap_tuple(&p->heap, am_refc_binary, SMALL(b->size_bytes), size, SMALL(0));
}

/* That many bytes, zeros, outside the heap, also where they would fit into it. */
static Term set_binary(Process *p, Term value)
{
	uint64_t n;
	struct binary *b;

	if (!num_get_uint64(value, &n))
		return TERM_NONE;
	b = binary_new(n);
	if (b == NULL)
		return am_false;
	memset(b->data, 0, n);
	return refbin_put(&p->heap, b, n);
}

/* The term, copied to a fragment of the caller's heap. */
static Term set_mbuf(Process *p, Term value)
{
	size_t words = copy_flat_size_words(value);
	Term *top = words != 0 ? heap_alloc_fragment(&p->heap, words) : NULL;

	return copy_term_whole(value, &top, &p->heap.off_heap);
}

/* {Table, false}: no splits and joins at random in a tree that many may write. There are none here, so that only true
 * is refused. */
static Term set_random_split(Process *p, Term value)
{
	struct ets_hold hold;
	bool ok;

	if (!term_is_tuple_of(value, 2) || tuple_get(value, 2) != am_false ||
	    table_hold(&hold, p, tuple_get(value, 1), ETS_INFO) != ETS_OK)
		return TERM_NONE;
	ok = table_is_tree(hold.table) && hold.table->options.write_concurrency;
	table_release(&hold);
	return ok ? am_ok : TERM_NONE;
}

/* {Name, N}: N names of tables that fall together with Name. */
static Term set_colliding_names(Process *p, Term value)
{
	Term list = NIL;
	char text[32];

	if (!term_is_tuple_of(value, 2) || !term_is_atom(tuple_get(value, 1)) || !term_is_small(tuple_get(value, 2)) ||
	    small_value(tuple_get(value, 2)) > COLLIDING_LIMIT)
		return TERM_NONE;
	for (int64_t i = 0, left = small_value(tuple_get(value, 2)); left > 0; i++) {
		int n = snprintf(text, sizeof(text), "colliding_%" PRId64, i);
		Term name = atom_from_utf8(text, (size_t)n, NULL);

		if (name == TERM_NONE)
			return name;
		if (!tables_names_collide(name, tuple_get(value, 1)))
			continue;
		list = heap_cons(&p->heap, name, list);
		left--;
	}
	return list;
}

static Term get_persistent_term(Process *p, Term of)
{
	(void)of;
	return map_from_pairs(&p->heap, (Term[]){ am_table, SMALL(persistent_table_size()) }, 1);
}

static Term get_memory(Process *p, Term of)
{
	(void)of;
	return info_memory(p);
}

static Term get_available(Process *p, Term of)
{
	(void)p;
	(void)of;
	return am_true;
}

/* {Wrong, Used, OfPorts, OfLibraries}, numbers of descriptors that are waited for. */
static Term get_check_io(Process *p, Term of)
{
	struct poll_check c;

	(void)of;
	if (poll_check(&c) != 0)
		return TERM_NONE;
	return heap_tuple(&p->heap, SMALL((int64_t)c.wrong), SMALL((int64_t)c.waited_for), SMALL((int64_t)c.of_ports),
			  SMALL((int64_t)c.of_libraries));
}

static Term get_no(Process *p, Term of)
{
	(void)p;
	(void)of;
	return am_false;
}

static Term get_notsup(Process *p, Term of)
{
	(void)p;
	(void)of;
	return am_notsup;
}

static Term get_process_info_args(Process *p, Term of)
{
	(void)of;
	return process_info_items(&p->heap);
}

static Term get_stack_check(Process *p, Term of)
{
	(void)of;
	return heap_uint(&p->heap, thread_stack_left_bytes());
}

/* The atom of that number: any will do for who asks. */
static Term get_atom(Process *p, Term number)
{
	(void)p;
	if (!term_is_small(number) || small_value(number) < 0 || small_value(number) >= atom_count())
		return TERM_NONE;
	return term_from_atom((uint32_t)small_value(number));
}

static Term get_monitoring_nodes(Process *p, Term of)
{
	(void)of;
	return node_monitor_list(&p->heap);
}

/* The port or process that carries the connection to the node of that name; undefined: there is none, or it is not
 * up. */
static Term get_dist_ctrl(Process *p, Term node)
{
	struct channel *c = term_is_atom(node) ? channel_find(node) : NULL;
	Term controller = TERM_NONE;

	(void)p;
	if (!term_is_atom(node))
		return TERM_NONE;
	if (c != NULL) {
		lock_acquire(&c->lock);
		if (c->state == CHANNEL_UP)
			controller = c->controller;
		lock_release(&c->lock);
		channel_unref(c);
	}
	return controller != TERM_NONE ? controller : (Term)am_undefined;
}

/* Entries of nodes go with their last term, at once: as with a delay of 0 ms. -1: the delay as it was. */
static Term set_node_delay(Process *p, Term ms)
{
	(void)p;
	return ms == SMALL(0) || ms == SMALL(-1) ? am_ok : TERM_NONE;
}

/* What the tries of large maps go by, in their first eight levels. */
static Term get_internal_hash(Process *p, Term key)
{
	(void)p;
	return SMALL(map_hash(key) >> 32);
}

/* As +D has it. */
static Term set_debuggers(Process *p, Term on)
{
	(void)p;
	if (on != am_true && on != am_false)
		return TERM_NONE;
	line_break_support(on == am_true);
	return am_ok;
}

/* ---- the items */

struct state_item {
	Term name;
	Term (*call)(Process *p, Term of); /* fails: TERM_NONE, badarg when it has set no exception, nor waits */
};

static const struct state_item set_items[] = {
	{ am_reds_left, set_reds_left },
	{ am_force_gc, set_force_gc },
	{ am_sleep, set_sleep },
	{ am_block_scheduler, set_sleep },
	{ am_block, set_block },
	{ am_test_long_gc_sleep, set_long_gc_sleep },
	{ am_wait, set_wait },
	{ am_binary_loop_limit, set_binary_limit },
	{ am_re_loop_limit, set_re_limit },
	{ am_unicode_loop_limit, set_unicode_limit },
	{ am_ets_force_trap, get_notsup },
	{ am_ets_force_split, get_notsup },
	{ am_ets_debug_random_split_join, set_random_split },
	{ am_colliding_names, set_colliding_names },
	{ am_mbuf, set_mbuf },
	{ am_node_tab_delayed_delete, set_node_delay },
	{ am_gc_state, set_gc_state },
	{ am_proc_sig_buffers, set_sig_buffers },
	{ am_fill_heap, set_fill_heap },
	{ am_binary, set_binary },
	{ am_next_pid, set_next_pid },
	{ am_next_port, set_next_port },
	{ am_debugger_support, set_debuggers },
};

static const struct state_item get_items[] = {
	{ am_available_internal_state, get_available },
	{ am_reds_left, get_reds_left },
	{ am_processes, get_processes },
	{ am_persistent_term, get_persistent_term },
	{ am_memory, get_memory },
	{ am_process_info_args, get_process_info_args },
	{ am_stack_check, get_stack_check },
	{ am_force_heap_frags, get_no },
	{ am_flxctr_memory_usage, get_notsup },
	{ am_lc_graph, get_notsup },
	{ am_monitoring_nodes, get_monitoring_nodes },
	{ am_node_and_dist_references, debug_node_references },
	{ am_next_pid, get_next_pid },
	{ am_next_port, get_next_port },
	{ am_processes_bif_info, get_processes_info },
	{ am_check_io_debug, get_check_io },
};

static const struct state_item get_pairs[] = {
	{ am_process_status, get_process_status }, { am_binary_info, get_binary_info },
	{ am_atom, get_atom }, { am_internal_hash, get_internal_hash },
	{ am_dist_ctrl, get_dist_ctrl }, { am_link_list, debug_link_list }, { am_monitor_list, debug_monitor_list },
};

static Term call_item(Process *p, const struct state_item *items, size_t n, Term name, Term of)
{
	Term value = TERM_NONE;

	p->exc_kind = EXC_NONE;
	for (size_t i = 0; i < n; i++)
		if (items[i].name == name)
			value = items[i].call(p, of);
	return value != TERM_NONE || p->exc_kind != EXC_NONE ? value : exc_badarg(p);
}

#define CALL_ITEM(p, items, name, of) call_item(p, items, sizeof(items) / sizeof(items[0]), name, of)

Term bif_erts_debug_set_internal_state_2(Process *p, Term *args)
{
	if (args[0] == am_available_internal_state && (args[1] == am_true || args[1] == am_false))
		return atomic_exchange(&is_available, args[1] == am_true) ? am_true : am_false;
	if (!atomic_load(&is_available))
		return exc_error(p, am_undef);
	if (args[0] == am_wait && args[1] == am_aux_work && nif_resources_are_ending()) {
		p->reds_left = 0;
		return exc_trap(p, export_get(am_erts_debug, am_set_internal_state, 2), 2, args);
	}
	return CALL_ITEM(p, set_items, args[0], args[1]);
}

Term bif_erts_debug_get_internal_state_1(Process *p, Term *args)
{
	if (!atomic_load(&is_available))
		return exc_error(p, am_undef);
	if (term_is_tuple_of(args[0], 2))
		return CALL_ITEM(p, get_pairs, tuple_get(args[0], 1), tuple_get(args[0], 2));
	return CALL_ITEM(p, get_items, args[0], NIL);
}
