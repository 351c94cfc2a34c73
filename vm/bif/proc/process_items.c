/* SPDX-License-Identifier: Apache-2.0 */
/* The items that process_info tells of a process. Each function makes the value of one on h, where p runs. */
#include "bif/proc/process_items.h"

#include "base/alloc.h"
#include "base/release.h"
#include "bif/bif.h"
#include "code/code_print.h"
#include "code/export.h"
#include "code/module.h"
#include "data/binary.h"
#include "heap/copy.h"
#include "heap/refbin.h"
#include "io/port_ask.h"
#include "nif/nif_resource.h"
#include "proc/dict.h"
#include "proc/dirty.h"
#include "proc/message.h"
#include "proc/monitor.h"
#include "proc/process_gc.h"
#include "proc/process_walk.h"
#include "proc/report.h"
#include "proc/saved_calls.h"
#include "proc/sched.h"
#include "proc/spawn_opts.h"
#include "term/atom_rows.h"
#include "term/node.h"

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

bool process_item_find_current(Process *p, struct code_place *place)
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

	return process_item_find_current(p, &place) ? put_place(h, &place) : am_undefined;
}

static Term info_current_location(Process *p, struct heap *h)
{
	struct code_file_term file = { 0 };
	struct code_place place;

	return process_item_find_current(p, &place) ? code_place_frame(h, &place, &file) : am_undefined;
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
			list = heap_cons(h, code_place_frame(h, &place, &file), list);
	return list;
}

/* Its data are nobody's business. */
static bool is_sensitive(const Process *p)
{
	return (p->flags & PF_SENSITIVE) != 0;
}

/* Where p is: in a native that waits, or at its start, no code of its own says it. */
static void print_current(struct print_buffer *b, Process *p)
{
	struct code_place place;

	print_text(b, "Program counter: ");
	if (p->resume == NULL && p->i != process_start_code) {
		code_print_place(b, p->i);
	} else {
		process_item_find_current(p, &place);
		print_format(b, "0x%016lx (", (unsigned long)p->i);
		print_mfa(b, place.module, place.function, place.arity);
		print_text(b, " + 0)");
	}
	print_text(b, "\n");
}

void process_item_print_stack(struct print_buffer *b, Process *p)
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
Term process_item_look_up(Process *p, Term key)
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

static size_t old_block_words(const struct heap *h) { return (size_t)(h->old_end - h->old_start); }

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

const struct process_item process_items[] = {
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

const struct process_item process_item_keyed = { am_dictionary, NULL, OWN | LONG | COSTS | SINCE_27 };

bool process_item_is_keyed(Term name)
{
	return term_is_tuple_of(name, 2) && tuple_get(name, 1) == am_dictionary && is_there(&process_item_keyed);
}

const size_t process_item_count = sizeof(process_items) / sizeof(process_items[0]);

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

const struct process_item *process_item_find(Term name)
{
	int i = atom_rows_find(&item_rows, name);

	if (i < 0)
		return process_item_is_keyed(name) ? &process_item_keyed : NULL;
	return &process_items[i];
}
