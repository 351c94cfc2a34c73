/* SPDX-License-Identifier: Apache-2.0 */
/* Built-in functions: process_info and processes. What is told of another process is made by that process, on its heap,
 * in the order of signals. */
#include "base/alloc.h"
#include "base/release.h"
#include "bif/proc/process_call.h"
#include "io/port_ask.h"
#include "proc/spawn_opts.h"
#include "code/code_print.h"
#include "code/export.h"
#include "code/module.h"
#include "data/binary.h"
#include "data/print.h"
#include "heap/copy.h"
#include "heap/refbin.h"
#include "nif/nif_resource.h"
#include "proc/dict.h"
#include "proc/dirty.h"
#include "proc/message.h"
#include "proc/monitor.h"
#include "proc/probe.h"
#include "proc/process_gc.h"
#include "proc/process_walk.h"
#include "proc/registry.h"
#include "proc/report.h"
#include "proc/saved_calls.h"
#include "proc/sched.h"
#include "term/atom_rows.h"
#include "term/node.h"

Term bif_erlang_processes_0(Process *p, Term *args)
{
	(void)args;
	return process_list(&p->heap);
}

/* Of erlang:processes_next/1: {Next, [Pid]}, or none. */
Term bif_erts_internal_processes_next_1(Process *p, Term *args)
{
	size_t next;
	Term list;

	if (!term_is_small(args[0]) || small_value(args[0]) < 0)
		return exc_badarg(p);
	next = (size_t)small_value(args[0]);
	list = process_list_some(&p->heap, &next);
	return list != TERM_NONE ? heap_tuple(&p->heap, term_from_small((int64_t)next), list) : am_none;
}

/* Below, p runs here. Each makes the value of one item on h. */

static Term int_term(size_t n)
{
	return term_from_small((int64_t)n);
}

static Term pair(struct heap *h, Term a, Term b)
{
	return heap_tuple(h, a, b);
}

static Term info_registered_name(Process *p, struct heap *h)
{
	Term name = atomic_load(&p->reg_name);

	(void)h;
	return name != TERM_NONE ? name : NIL;
}

/* ---- where it is */

static Term put_place(struct heap *h, const struct code_place *place)
{
	return heap_tuple(h, place->module, place->function, int_term(place->arity));
}

static Term put_located(struct heap *h, const struct code_place *place, struct code_file_term *last)
{
	return heap_tuple(h, place->module, place->function, int_term(place->arity),
			  code_place_list(h, place, last, NIL));
}

/* Code addresses from the top: where it stands, then the callers. Returns how many. */
static unsigned list_addresses(const Process *p, const Inst **found, unsigned max)
{
	unsigned n = 0;

	if (max > 0 && p->i != NULL && export_of_stub(p->i) == NULL)
		found[n++] = p->i + 1;
	for (const Term *at = p->heap.stop; at < p->heap.end && n < max; at++)
		if (term_is_header(*at) && *at != TERM_NONE && (n == 0 || (const Inst *)*at != found[n - 1]))
			found[n++] = (const Inst *)*at;
	return n;
}

/* Does p go on by entering that native, whose stub p->i is? One of our own alone is nobody's business. */
static bool is_before_native(const Process *p, const struct export *e)
{
	return e != NULL && e->bif != NULL && !e->is_own && p->woken_from != PS_RUNNING;
}

static bool find_current(Process *p, struct code_place *place)
{
	const Inst *found[4];
	unsigned n = list_addresses(p, found, 4);
	const struct export *e = p->trap_export;

	if (p->resume != NULL) {
		struct exc_place at = { e->module, e->function, e->arity };

		exc_find_place(p, &at);
		*place = (struct code_place){ at.module, at.function, at.arity, am_empty, 0 };
		return true;
	}
	if (p->i == process_start_code && p->woken_from != PS_RUNNING) {
		if (p->woken_from & PS_HIBERNATED)
			*place = (struct code_place){ am_erlang, am_hibernate, 3, am_empty, 0 };
		else
			*place = (struct code_place){ p->initial_module, p->initial_function, p->initial_arity,
						      am_empty, 0 };
		return true;
	}
	e = p->i != NULL ? export_of_stub(p->i) : NULL;
	if (!is_before_native(p, e))
		for (unsigned i = 0; i < n; i++)
			if (code_find_place(found[i], place))
				return true;
	if (e != NULL) /* else nobody awaits its result */
		*place = (struct code_place){ e->module, e->function, e->arity, am_empty, 0 };
	return e != NULL;
}

static Term info_current_function(Process *p, struct heap *h)
{
	struct code_place place;

	return find_current(p, &place) ? put_place(h, &place) : am_undefined;
}

static Term info_current_location(Process *p, struct heap *h)
{
	struct code_file_term file = { 0 };
	struct code_place place;

	return find_current(p, &place) ? put_located(h, &place, &file) : am_undefined;
}

static Term info_current_stacktrace(Process *p, struct heap *h)
{
	const Inst *found[EXC_DEPTH_MAX];
	unsigned n = list_addresses(p, found, atomic_load(&exc_depth));
	struct code_file_term file = { 0 };
	struct code_place place;
	Term list = NIL;

	while (n-- > 0)
		if (code_find_place(found[n], &place))
			list = heap_cons(h, put_located(h, &place, &file), list);
	return list;
}

/* Its data are nobody's business. */
static bool is_sensitive(const Process *p)
{
	return (p->flags & PF_SENSITIVE) != 0;
}

enum { BACKTRACE_BYTES_MAX = 1 << 20 };

/* Where p is: in a native that waits, or at its start, no code of its own says it. */
static void print_current(struct print_buffer *b, Process *p)
{
	struct code_place place;

	print_text(b, "Program counter: ");
	if (p->resume == NULL && p->i != process_start_code) {
		code_print_place(b, p->i);
	} else {
		find_current(p, &place);
		print_format(b, "0x%016lx (", (unsigned long)p->i);
		print_mfa(b, place.module, place.function, place.arity);
		print_text(b, " + 0)");
	}
	print_text(b, "\n");
}

static void process_item_print_stack(struct print_buffer *b, Process *p)
{
	if (is_sensitive(p))
		return;
	print_current(b, p);
	code_print_stack(b, p);
}

static Term info_backtrace(Process *p, struct heap *h)
{
	struct print_buffer b;
	Term text;

	print_buffer_init(&b, BACKTRACE_BYTES_MAX);
	process_item_print_stack(&b, p);
	text = binary_put(h, b.text, b.used);
	print_buffer_free(&b);
	return text;
}

static Term info_initial_call(Process *p, struct heap *h)
{
	return heap_tuple(h, p->initial_module, p->initial_function, int_term(p->initial_arity));
}

static Term info_status(Process *p, struct heap *h)
{
	uint32_t before = p->woken_from, state = atomic_load(&p->state);

	(void)h;
	if (state & PS_DIRTY_RUNNING) /* it is suspended, when it is, once its native has ended */
		return am_running;
	if ((state & PS_SUSPENDED) || port_ask_waits(p))
		return am_suspended;
	if (dirty_is_queued(p))
		return am_runnable;
	if (before == PS_RUNNING || p->resume != NULL) /* in a native function that waits */
		return am_running;
	return before & PS_WAITING ? am_waiting : am_runnable;
}

/* ---- messages */

static Term info_messages(Process *p, struct heap *h)
{
	Term *cell, first = NIL, *tail = &first;

	for (struct signal *s = is_sensitive(p) ? NULL : p->msg_first; s != NULL; s = s->next) {
		Term message = copy_to_heap(s->term, h);

		cell = heap_alloc(h, 2);
		cell[0] = message;
		cell[1] = NIL;
		*tail = term_from_cons(cell);
		tail = &cell[1];
	}
	return first;
}

static Term info_message_queue_len(Process *p, struct heap *h)
{
	(void)h;
	return int_term(p->msg_length + __atomic_load_n(&p->in_length, __ATOMIC_RELAXED));
}

static Term info_message_queue_data(Process *p, struct heap *h)
{
	(void)h;
	return p->flags & PF_OFF_HEAP_MSGQ ? am_off_heap : am_on_heap;
}

/* ---- links and monitors */

struct gather {
	struct heap *h;
	Term list;
};

static void gather_link(const struct peer *n, void *arg)
{
	struct gather *g = arg;

	if (n->unlink_id == 0)
		g->list = heap_cons(g->h, copy_to_heap(n->peer, g->h), g->list);
}

static void gather_monitor(const struct peer *n, void *arg)
{
	struct gather *g = arg;
	Term what = copy_to_heap(n->peer, g->h);

	if (n->kind == PEER_TIME_OFFSET)
		g->list = heap_cons(g->h, pair(g->h, am_time_offset, am_clock_service), g->list);
	if (n->kind != PEER_MONITOR)
		return;
	if (n->name != TERM_NONE)
		what = pair(g->h, n->name, n->at_node ? n->peer : node_self().name);
	g->list = heap_cons(g->h, pair(g->h, term_is_port(n->peer) ? am_port : am_process, what), g->list);
}

static void gather_watcher(const struct peer *n, void *arg)
{
	struct gather *g = arg;

	g->list = heap_cons(g->h, copy_to_heap(n->peer, g->h), g->list);
}

/* Has it come to the signal? Not while its slice goes on. One that is gone waits for nothing any more. */
static bool is_suspended(Term pid)
{
	Process *p = process_find(pid);
	bool is = p == NULL || (atomic_load(&p->state) & PS_SUSPENDED);

	if (p != NULL)
		process_unref(p);
	return is;
}

static void gather_suspending(const struct peer *n, void *arg)
{
	struct gather *g = arg;
	bool active;

	if (n->kind != PEER_SUSPENDING)
		return;
	active = is_suspended(n->peer);
	g->list = heap_cons(g->h,
			    heap_tuple(g->h, n->peer, int_term(active ? n->count : 0), int_term(active ? 0 : n->count)),
			    g->list);
}

static Term gather(const struct peers *t, struct heap *h, void (*visit)(const struct peer *n, void *arg))
{
	struct gather g = { h, NIL };

	peer_each(t, visit, &g);
	return g.list;
}

static Term info_links(Process *p, struct heap *h) { return gather(&p->links, h, gather_link); }
static Term info_monitors(Process *p, struct heap *h) { return gather(&p->monitors, h, gather_monitor); }
static Term info_monitored_by(Process *p, struct heap *h)
{
	return nif_monitor_list(p->id, h, gather(&p->monitored_by, h, gather_watcher));
}
static Term info_suspending(Process *p, struct heap *h) { return gather(&p->monitors, h, gather_suspending); }

/* ---- flags */

static Term info_dictionary(Process *p, struct heap *h) { return is_sensitive(p) ? NIL : dict_list(p, h); }
/* undefined: there is no such key. */
static Term process_item_look_up(Process *p, Term key)
{
	Term value = is_sensitive(p) ? TERM_NONE : dict_get(p, key);

	return value != TERM_NONE ? value : am_undefined;
}
static Term info_label(Process *p, struct heap *h)
{
	(void)h;
	return process_item_look_up(p, am_process_label);
}
static Term info_trap_exit(Process *p, struct heap *h)
{
	(void)h;
	return term_from_bool(p->flags & PF_TRAP_EXIT);
}
static void see_priority(const struct peer *n, void *arg)
{
	*(bool *)arg |= n->priority && n->kind != PEER_WATCHER;
}
/* May a message to it have priority? */
static Term info_priority_messages(Process *p, struct heap *h)
{
	bool may = false;

	(void)h;
	peer_each(&p->links, see_priority, &may);
	peer_each(&p->monitors, see_priority, &may);
	return term_from_bool(may);
}
static Term info_error_handler(Process *p, struct heap *h)
{
	(void)h;
	return p->error_handler;
}
static Term info_priority(Process *p, struct heap *h)
{
	(void)h;
	return priority_atom(p->priority);
}
static Term info_group_leader(Process *p, struct heap *h)
{
	(void)h;
	return p->group_leader;
}
static Term info_parent(Process *p, struct heap *h)
{
	(void)h;
	return p->parent == NIL ? am_undefined : p->parent;
}
static Term info_sequential_trace_token(Process *p, struct heap *h)
{
	(void)h;
	return p->seq_token;
}
static Term info_zero(Process *p, struct heap *h)
{
	(void)p;
	(void)h;
	return SMALL(0);
}
static Term info_async_dist(Process *p, struct heap *h)
{
	(void)h;
	return term_from_bool(p->flags & PF_ASYNC_DIST);
}

static Term info_catchlevel(Process *p, struct heap *h)
{
	size_t n = 0;

	(void)h;
	for (const Term *at = p->heap.stop; at < p->heap.end; at++)
		n += term_is_catch(*at);
	return int_term(n);
}

/* ---- memory */

static size_t block_words(const struct heap *h) { return (size_t)(h->end - h->start); }
static size_t old_block_words(const struct heap *h) { return (size_t)(h->old_end - h->old_start); }
static size_t stack_words(const struct heap *h) { return (size_t)(h->end - h->stop); }

static Term info_heap_size(Process *p, struct heap *h)
{
	(void)h;
	return int_term(block_words(&p->heap));
}

static Term info_stack_size(Process *p, struct heap *h)
{
	(void)h;
	return int_term(stack_words(&p->heap));
}

static Term info_total_heap_size(Process *p, struct heap *h)
{
	(void)h;
	return int_term(block_words(&p->heap) + old_block_words(&p->heap) + p->heap.fragment_words +
			process_message_words(p));
}

static size_t count_bytes(Process *p)
{
	size_t words = block_words(&p->heap) + old_block_words(&p->heap) + p->heap.fragment_words;
	size_t bytes = sizeof(*p) + peer_size_bytes(&p->links) + peer_size_bytes(&p->monitors) +
		       peer_size_bytes(&p->monitored_by);

	for (struct signal *s = p->msg_first; s != NULL; s = s->next) {
		bytes += sizeof(*s);
		if (s->fragment != NULL)
			words += s->fragment->size_words;
	}
	if (p->dict != NULL)
		words += 2 * (size_t)p->dict->room;
	if (p->x != p->saved_x)
		words += p->x_room;
	return bytes + words * sizeof(Term);
}

static Term info_memory(Process *p, struct heap *h)
{
	(void)h;
	return int_term(count_bytes(p));
}

static Term info_binary(Process *p, struct heap *h)
{
	Term list = NIL;
	Term *lists[2] = { p->heap.off_heap, p->heap.old_off_heap };

	for (int i = 0; i < 2; i++) {
		for (Term *at = lists[i]; at != NULL; at = *off_heap_next(at)) {
			struct refbin *b = (struct refbin *)at;

			if (header_sub(*at) != SUB_REFBIN)
				continue;
			list = heap_cons(h,
					 heap_tuple(h, heap_uint(h, (uintptr_t)b->binary),
						    int_term(b->binary->size_bytes), int_term(binary_refs(b->binary))),
					 list);
		}
	}
	return list;
}

/* {Address, What, Holders} of each object that a reference of the heap names. What: an atom, where OTP tells a size. */
static Term info_magic_ref(Process *p, struct heap *h)
{
	Term list = NIL;
	Term *lists[2] = { p->heap.off_heap, p->heap.old_off_heap };

	for (int i = 0; i < 2; i++) {
		for (Term *at = lists[i]; at != NULL; at = *off_heap_next(at)) {
			const struct resource *r;

			if (header_sub(*at) != SUB_REF)
				continue;
			r = ((const struct magic_ref *)at)->resource;
			list = heap_cons(h, heap_tuple(h, heap_uint(h, (uintptr_t)r),
						       atom_from_utf8(r->type->name, strlen(r->type->name), NULL),
						       int_term(atomic_load(&r->refs))), list);
		}
	}
	return list;
}

static Term info_max_heap_size(Process *p, struct heap *h)
{
	return max_heap_map(h, p->heap.max_words, p->flags);
}

static Term info_min_heap_size(Process *p, struct heap *h)
{
	(void)h;
	return int_term(p->heap.min_words);
}

static Term info_min_bin_vheap_size(Process *p, struct heap *h)
{
	(void)h;
	return int_term(p->heap.binary_min_words);
}

static Term info_fullsweep_after(Process *p, struct heap *h)
{
	(void)h;
	return int_term(p->heap.minor_limit);
}

static Term info_garbage_collection(Process *p, struct heap *h)
{
	const Term pairs[][2] = {
		{ am_max_heap_size, info_max_heap_size(p, h) },
		{ am_min_bin_vheap_size, int_term(p->heap.binary_min_words) },
		{ am_min_heap_size, int_term(p->heap.min_words) },
		{ am_fullsweep_after, int_term(p->heap.minor_limit) },
		{ am_minor_gcs, int_term(p->heap.minor_count) },
	};

	return bif_put_pairs(h, sizeof(pairs) / sizeof(pairs[0]), pairs);
}

static Term info_garbage_collection_info(Process *p, struct heap *h)
{
	return process_report_gc_info(&p->heap, h);
}

static Term info_reductions(Process *p, struct heap *h)
{
	uint64_t now = p->reds_done;

	(void)h;
	if (p->woken_from == PS_RUNNING)
		now += (uint64_t)(SCHED_REDS - p->reds_left - p->reds_kept);
	return int_term(now);
}

static Term info_last_calls(Process *p, struct heap *h)
{
	const struct saved_calls *s = p->saved_calls;
	Term list = NIL;

	if (s == NULL)
		return am_false;
	for (uint32_t i = s->used; i-- > 0;) {
		SavedCall call = saved_calls_get(s, i);
		const struct export *e = (const struct export *)call;

		list = heap_cons(
			h, term_is_atom(call) ? call : heap_tuple(h, e->module, e->function, int_term(e->arity)), list);
	}
	return list;
}

/* ---- the items. DEFAULT: in process_info/1, in this order. OWN: the value holds terms of the process's own heap.
 * LONG: it may be as long as the heap or the tables are; DEEP: it takes as long as the stack is. COSTS: a reduction of
 * who is asked, as OTP has the process itself answer. SINCE_27, SINCE_28: there is none in earlier releases. */
enum { PLAIN = 0, DEFAULT = 1, OWN = 2, LONG = 4, DEEP = 8, COSTS = 16, SINCE_27 = 32, SINCE_28 = 64 };

static const struct process_item {
	Term name;
	Term (*make)(Process *p, struct heap *h);
	int kind;
} process_items[] = {
	{ am_registered_name, info_registered_name, DEFAULT },
	{ am_current_function, info_current_function, DEFAULT | COSTS },
	{ am_initial_call, info_initial_call, DEFAULT },
	{ am_status, info_status, DEFAULT },
	{ am_message_queue_len, info_message_queue_len, DEFAULT },
	{ am_links, info_links, DEFAULT | LONG | COSTS },
	{ am_dictionary, info_dictionary, DEFAULT | OWN | LONG | COSTS },
	{ am_trap_exit, info_trap_exit, DEFAULT },
	{ am_error_handler, info_error_handler, DEFAULT },
	{ am_priority, info_priority, DEFAULT },
	{ am_group_leader, info_group_leader, DEFAULT | OWN },
	{ am_total_heap_size, info_total_heap_size, DEFAULT | COSTS },
	{ am_heap_size, info_heap_size, DEFAULT },
	{ am_stack_size, info_stack_size, DEFAULT },
	{ am_reductions, info_reductions, DEFAULT },
	{ am_garbage_collection, info_garbage_collection, DEFAULT },
	{ am_suspending, info_suspending, DEFAULT | LONG | COSTS },
	{ am_messages, info_messages, LONG | COSTS },
	{ am_backtrace, info_backtrace, LONG | COSTS },
	{ am_message_queue_data, info_message_queue_data, PLAIN },
	{ am_current_location, info_current_location, COSTS },
	{ am_current_stacktrace, info_current_stacktrace, COSTS },
	{ am_monitors, info_monitors, LONG | COSTS },
	{ am_monitored_by, info_monitored_by, LONG | COSTS },
	{ am_memory, info_memory, COSTS },
	{ am_binary, info_binary, LONG | COSTS },
	{ am_magic_ref, info_magic_ref, LONG | COSTS },
	{ am_max_heap_size, info_max_heap_size, PLAIN },
	{ am_min_heap_size, info_min_heap_size, PLAIN },
	{ am_min_bin_vheap_size, info_min_bin_vheap_size, PLAIN },
	{ am_fullsweep_after, info_fullsweep_after, PLAIN },
	{ am_garbage_collection_info, info_garbage_collection_info, PLAIN },
	{ am_sequential_trace_token, info_sequential_trace_token, OWN },
	{ am_catchlevel, info_catchlevel, DEEP },
	{ am_parent, info_parent, PLAIN },
	{ am_trace, info_zero, PLAIN },
	{ am_last_calls, info_last_calls, PLAIN },
	{ am_async_dist, info_async_dist, PLAIN },
	{ am_label, info_label, OWN | LONG | COSTS | SINCE_27 },
	{ am_priority_messages, info_priority_messages, COSTS | SINCE_28 },
};

static bool is_there(const struct process_item *item)
{
	return release_is_from(item->kind & SINCE_28 ? 28 : item->kind & SINCE_27 ? 27 : 0);
}

/* {dictionary, Key} */
static const struct process_item process_item_keyed = { am_dictionary, NULL, OWN | LONG | COSTS | SINCE_27 };

static bool process_item_is_keyed(Term name)
{
	return term_is_tuple_of(name, 2) && tuple_get(name, 1) == am_dictionary && is_there(&process_item_keyed);
}

static const size_t process_item_count = sizeof(process_items) / sizeof(process_items[0]);

Term process_info_items(struct heap *h)
{
	Term list = NIL;

	for (size_t i = process_item_count; i-- > 0;)
		if (is_there(&process_items[i]))
			list = heap_cons(h, process_items[i].name, list);
	return list;
}

static struct atom_rows item_rows;

void bif_process_info_init(void)
{
	for (unsigned i = 0; i < process_item_count; i++)
		if (is_there(&process_items[i]))
			atom_rows_add(&item_rows, process_items[i].name, i);
}

static const struct process_item *process_item_find(Term name)
{
	int i = atom_rows_find(&item_rows, name);

	if (i < 0)
		return process_item_is_keyed(name) ? &process_item_keyed : NULL;
	return &process_items[i];
}

enum { SHORT_QUEUE = 32, SHORT_PEERS = 32, SHORT_WORDS = 4096, SHORT_NAMES = 16 };

/* Of its messages that do not stand on its heap. */
static size_t queue_words(const Process *p)
{
	size_t words = 0;

	for (const struct signal *s = p->msg_first; s != NULL; s = s->next)
		if (s->fragment != NULL)
			words += s->fragment->used_words;
	return words;
}

/* Is what the LONG items tell of p soon told? */
static bool is_small(const Process *p)
{
	const struct heap *h = &p->heap;
	size_t used = block_words(h) - (size_t)(h->stop - h->top) + (size_t)(h->old_top - h->old_start) +
		      h->fragment_words;

	return peer_count(&p->links) <= SHORT_PEERS && peer_count(&p->monitors) <= SHORT_PEERS &&
	       peer_count(&p->monitored_by) <= SHORT_PEERS && p->msg_length <= SHORT_QUEUE &&
		       used + queue_words(p) <= SHORT_WORDS;
}

/* {Name, Value} on h, which is p's heap or that of whoever asks. */
static Term make_item(Process *p, struct heap *h, const struct process_item *item)
{
	bool is_long = ((item->kind & LONG) && !is_small(p)) ||
		       ((item->kind & DEEP) && stack_words(&p->heap) > SHORT_WORDS);
	Term value;

	if (is_long)
		sched_lend();
	value = item->make(p, h);
	if ((item->kind & OWN) && h != &p->heap)
		value = copy_to_heap(value, h);
	if (is_long)
		sched_reclaim();
	return pair(h, item->name, value);
}

static bool has_no_name(const Process *p)
{
	return atomic_load(&p->reg_name) == TERM_NONE;
}

static Term make_all(Process *p, struct heap *h)
{
	Term list = NIL;

	for (size_t i = process_item_count; i-- > 0;) {
		const struct process_item *item = &process_items[i];

		if ((item->kind & DEFAULT) && !(item->name == am_registered_name && has_no_name(p)))
			list = heap_cons(h, make_item(p, h, item), list);
	}
	return list;
}

/* {{dictionary, Key}, Value}. name stands in p's heap or anywhere else. */
static Term make_keyed(Process *p, struct heap *h, Term name)
{
	Term value = process_item_look_up(p, tuple_get(name, 2));
	bool is_long = !is_small(p);

	if (is_long)
		sched_lend();
	value = pair(h, copy_to_heap(name, h), h != &p->heap ? copy_to_heap(value, h) : value);
	if (is_long)
		sched_reclaim();
	return value;
}

/* registered_name of a process without one is [] alone, and absent from process_info/1. */
static Term make_one(Process *p, struct heap *h, Term name)
{
	const struct process_item *item = process_item_find(name);

	if (item == &process_item_keyed)
		return make_keyed(p, h, name);
	return item->name == am_registered_name && has_no_name(p) ? NIL : make_item(p, h, item);
}

static bool is_among(Term name, const Term *names, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (names[i] == name)
			return true;
	return false;
}

/* When the messages are told as well, their number is that of those, whatever has come since. */
static Term make_listed(Process *p, struct heap *h, Term name, bool with_messages)
{
	if (name == am_message_queue_len && with_messages)
		return pair(h, name, int_term(p->msg_length));
	return process_item_is_keyed(name) ? make_keyed(p, h, name) : make_item(p, h, process_item_find(name));
}

/* What is asked for: all that process_info/1 tells, one item, or a list of them. */
enum wish { WISH_ALL, WISH_ONE, WISH_LIST };

static Term make_wish(Process *p, struct heap *h, enum wish wish, const Term *names, size_t n)
{
	Term list = NIL;
	bool with_messages;

	if (wish == WISH_ALL)
		return make_all(p, h);
	if (wish == WISH_ONE)
		return make_one(p, h, names[0]);
	with_messages = is_among(am_messages, names, n);
	while (n-- > 0)
		list = heap_cons(h, make_listed(p, h, names[n], with_messages), list);
	return list;
}

/* c->items: the wish, then the names; the request is a list of those that are no atoms, and NIL stands in their
 * places. */
static Term answer_wish(Process *p, struct process_call *c)
{
	Term keyed = c->request;

	if (p == NULL)
		return am_undefined;
	for (size_t i = 1; i < c->n; i++)
		if (c->items[i] == NIL) {
			c->items[i] = cons_head(keyed);
			keyed = cons_tail(keyed);
		}
	return make_wish(p, &p->heap, (enum wish)small_value(c->items[0]), c->items + 1, c->n - 1);
}

/* What others sent before counts: our own queue, too. Fails: false when that ends p. */
static bool handle_own(Process *p)
{
	return !(atomic_load(&p->state) & PS_SIGNALS) || signal_handle_now(p);
}

/* May whoever asks look himself? Only at what costs little, however many items. */
static bool is_short(const Process *p, enum wish wish, const Term *names, size_t n)
{
	bool is_long = wish == WISH_ALL;

	for (size_t i = 0; i < n; i++)
		is_long |= (process_item_find(names[i])->kind & (LONG | DEEP)) != 0;
	return p->msg_length <= SHORT_QUEUE && (!is_long || is_small(p));
}

static bool costs(enum wish wish, const Term *names, size_t n)
{
	bool some = wish == WISH_ALL;

	for (size_t i = 0; i < n; i++)
		some |= (process_item_find(names[i])->kind & COSTS) != 0;
	return some;
}

/* Of a process that waits for messages, and has nothing to handle first. TERM_NONE: it must tell itself. */
static Term look_at(Process *p, Term pid, enum wish wish, const Term *names, size_t n)
{
	Process *other = process_peek(pid);
	Term result = TERM_NONE;

	if (other == NULL || !sched_hold(other, pid))
		return TERM_NONE;
	if (is_short(other, wish, names, n)) {
		result = make_wish(other, &p->heap, wish, names, n);
		other->reds_done += costs(wish, names, n);
	}
	sched_let_go(other);
	return result;
}

/* Our own answers come at once, and those of who sleeps; another's through a signal. */
static Term ask(Process *p, Term pid, enum wish wish, const Term *names, size_t n)
{
	struct process_call *c;
	Term result, ref, keyed = NIL;

	if (pid == p->id)
		return handle_own(p) ? make_wish(p, &p->heap, wish, names, n) : TERM_NONE;
	result = n <= SHORT_NAMES ? look_at(p, pid, wish, names, n) : TERM_NONE;
	if (result != TERM_NONE)
		return result;
	ref = heap_ref(&p->heap, 0);
	c = process_call_new(answer_wish, p->id, ref, n + 1);
	c->leaves_nothing = true;
	c->items[0] = SMALL(wish);
	for (size_t i = n; i-- > 0;) {
		c->items[i + 1] = process_item_is_keyed(names[i]) ? NIL : names[i];
		if (process_item_is_keyed(names[i]))
			keyed = heap_cons(&p->heap, names[i], keyed);
	}
	if (keyed != NIL)
		process_call_tag(c, TERM_NONE, keyed);
	return process_call_await(p, pid, c, ref);
}

Term bif_erlang_process_info_1(Process *p, Term *args)
{
	if (!term_is_local_pid(args[0]))
		return node_is_earlier_pid(args[0]) ? am_undefined : exc_badarg(p);
	return ask(p, args[0], WISH_ALL, NULL, 0);
}

static size_t count_items(Term list)
{
	size_t n = 0;

	for (; term_is_cons(list); list = cons_tail(list), n++)
		if (process_item_find(cons_head(list)) == NULL)
			return SIZE_MAX;
	return list == NIL ? n : SIZE_MAX;
}

static Term ask_list(Process *p, Term pid, Term list, size_t n)
{
	Term fixed[SHORT_NAMES] = { NIL }, *names = n <= SHORT_NAMES ? fixed : mem_alloc(n * sizeof(Term)), result;

	for (size_t i = 0; i < n; i++, list = cons_tail(list))
		names[i] = cons_head(list);
	result = ask(p, pid, WISH_LIST, names, n);
	if (names != fixed)
		mem_free(names);
	return result;
}

Term bif_erlang_process_info_2(Process *p, Term *args)
{
	const struct process_item *item = process_item_find(args[1]);
	size_t n;

	if (args[0] == p->id && item != NULL)
		return handle_own(p) ? make_one(p, &p->heap, args[1]) : TERM_NONE;
	n = term_is_list(args[1]) ? count_items(args[1]) : item != NULL ? 1 : SIZE_MAX;
	if (node_is_earlier_pid(args[0]) && n != SIZE_MAX)
		return am_undefined;
	if (!term_is_local_pid(args[0]))
		return exc_badarg(p);
	if (!term_is_list(args[1]))
		return item != NULL ? ask(p, args[0], WISH_ONE, &args[1], 1) : exc_badarg(p);
	return n != SIZE_MAX ? ask_list(p, args[0], args[1], n) : exc_badarg(p);
}

static Term display(Process *p)
{
	struct print_buffer b;

	print_buffer_init(&b, BACKTRACE_BYTES_MAX);
	process_item_print_stack(&b, p);
	log_text(b.text, b.used);
	print_buffer_free(&b);
	return am_true;
}

static Term answer_display(Process *p, struct process_call *c)
{
	(void)c;
	return p != NULL ? display(p) : am_badarg;
}

/* On standard error: the only thing that can be shown is its stack. */
Term bif_erts_internal_process_display_2(Process *p, Term *args)
{
	struct process_call *c;
	Term ref;

	if (!term_is_local_pid(args[0]))
		return am_badarg;
	if (args[1] != am_backtrace)
		return am_badopt;
	if (args[0] == p->id)
		return handle_own(p) ? display(p) : TERM_NONE;
	ref = heap_ref(&p->heap, 0);
	c = process_call_new(answer_display, p->id, ref, 0);
	c->leaves_nothing = true;
	return process_call_await(p, args[0], c, ref);
}
