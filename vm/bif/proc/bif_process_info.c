/* SPDX-License-Identifier: Apache-2.0 */
/* Built-in functions: process_info and processes. What is told of another process is made by that process, on its heap,
 * in the order of signals. */
#include "base/alloc.h"
#include "bif/proc/process_call.h"
#include "bif/proc/process_items.h"
#include "heap/copy.h"
#include "proc/message.h"
#include "proc/process_walk.h"
#include "proc/sched.h"
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
