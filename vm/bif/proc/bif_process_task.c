/* SPDX-License-Identifier: Apache-2.0 */
/* Built-in functions: what a process asks another to do: is it alive, collect, is old code used, suspend. */
#include "base/alloc.h"
#include "bif/proc/process_call.h"
#include "proc/spawn_opts.h"
#include "code/module.h"
#include "heap/copy.h"
#include "proc/message.h"
#include "proc/process_gc.h"
#include "proc/sched.h"
#include "term/node.h"

/* ---- alive? Signals sent before the question count. */

static Term answer_alive(Process *p, struct process_call *c)
{
	(void)c;
	return term_from_bool(p != NULL);
}

Term bif_erlang_is_process_alive_1(Process *p, Term *args)
{
	uint32_t state;
	Term ref;

	if (!term_is_local_pid(args[0]))
		return node_is_earlier_pid(args[0]) ? am_false : exc_badarg(p);
	if (args[0] == p->id)
		return am_true;
	if (!process_look(args[0], &state))
		return am_false;
	if (!(state & PS_SIGNALS))
		return am_true;
	ref = heap_ref(&p->heap, 0);
	return process_call_await(p, args[0], process_call_new(answer_alive, p->id, ref, 0), ref);
}

Term bif_erts_internal_is_process_alive_2(Process *p, Term *args)
{
	if (!term_is_local_pid(args[0]) || !term_is_local_ref(args[1]))
		return exc_badarg(p);
	process_call_send(args[0], process_call_new(answer_alive, p->id, args[1], 0));
	return am_ok;
}

/* ---- collections */

static void want_collection(Process *p, bool major)
{
	p->heap.force_major |= major;
	p->heap.wants_gc = true;
	p->flags |= PF_NEED_GC;
}

Term bif_erts_internal_garbage_collect_1(Process *p, Term *args)
{
	if (args[0] != am_major && args[0] != am_minor)
		return exc_badarg(p);
	want_collection(p, args[0] == am_major);
	return am_true;
}

/* The heap of a process that hibernates is as small as it can be. One that comes over its limit here ends after the
 * answer. */
static Term answer_collect(Process *p, struct process_call *c)
{
	if (p == NULL)
		return am_false;
	if (!((p->woken_from | atomic_load(&p->state)) & PS_HIBERNATED)) {
		p->heap.force_major |= c->items[0] == am_major;
		process_collect_gc(p, 0, p->x, p->live);
	}
	return am_true;
}

static Term answer_test(Process *p, struct process_call *c)
{
	(void)c;
	return term_from_bool(p != NULL);
}

static Term answer_check_code(Process *p, struct process_call *c)
{
	return term_from_bool(p != NULL && module_lingers(c->items[0], p));
}

/* What is asked for, {Kind, Id} with an argument or none; the answer: {Kind, Id, Result}. */
static const struct task_kind {
	Term name;
	unsigned arguments;  /* atoms */
	bool collects;
	process_call_fn fn;
} task_kinds[] = {
	{ am_garbage_collect, 1, true, answer_collect },
	{ am_check_process_code, 1, false, answer_check_code },
	{ am_system_task_test, 0, false, answer_test },
};

static const struct task_kind *find_kind(Term request)
{
	for (size_t i = 0; i < sizeof(task_kinds) / sizeof(task_kinds[0]); i++) {
		const struct task_kind *k = &task_kinds[i];

		if (term_is_tuple_of(request, 2 + k->arguments) && tuple_get(request, 1) == k->name)
			return k->arguments == 0 || term_is_atom(tuple_get(request, 3)) ? k : NULL;
	}
	return NULL;
}

static Term request_task(Process *p, Term from, Term to, Term how_urgent, Term request)
{
	const struct task_kind *k = find_kind(request);
	uint8_t priority = p->priority;
	struct process_call *c;

	if (node_is_earlier_pid(to))
		to = TERM_NONE; /* nobody answers */
	else if (!term_is_local_pid(to))
		return exc_badarg(p);
	if (!term_is_local_pid(from) || k == NULL ||
	    (how_urgent != am_inherit && !priority_read(how_urgent, &priority)))
		return exc_badarg(p);
	c = process_call_new(k->fn, from, heap_ref(&p->heap, 0), 1);
	if (k->arguments > 0)
		c->items[0] = tuple_get(request, 3);
	process_call_tag(c, k->name, tuple_get(request, 2));
	process_call_send_task(to, c, priority, k->collects);
	return am_ok;
}

Term bif_erts_internal_request_system_task_3(Process *p, Term *args)
{
	return request_task(p, p->id, args[0], args[1], args[2]);
}

Term bif_erts_internal_request_system_task_4(Process *p, Term *args)
{
	return request_task(p, args[0], args[1], args[2], args[3]);
}

/* ---- suspending */

struct suspend_options {
	bool unless_suspending, asynchronous;
	Term reply_tag;
};

static bool read_suspend(Term list, struct suspend_options *o)
{
	*o = (struct suspend_options){ .reply_tag = TERM_NONE };
	for (; term_is_cons(list); list = cons_tail(list)) {
		Term t = cons_head(list);

		if (t == am_unless_suspending) {
			o->unless_suspending = true;
		} else if (t == am_asynchronous) {
			o->asynchronous = true;
		} else if (term_is_tuple_of(t, 2) && tuple_get(t, 1) == am_asynchronous) {
			o->asynchronous = true;
			o->reply_tag = tuple_get(t, 2);
		} else {
			return false;
		}
	}
	return list == NIL;
}

static Term answer_suspended(Process *p, struct process_call *c)
{
	return p != NULL ? c->items[0] : am_badarg;
}

/* The reference of an answer, `result`, that comes when whoever is suspended stands still. */
static Term await_suspended(Process *p, Term to, Term result)
{
	Term ref = heap_ref(&p->heap, 0);
	struct process_call *c = process_call_new(answer_suspended, p->id, ref, 1);

	c->items[0] = result;
	process_call_send(to, c);
	return ref;
}

/* {Tag, suspended | exited} to whoever asked for it. */
struct notice {
	Term from, tag;
	struct fragment *fragment;
};

static void send_notice(Process *p, void *arg)
{
	struct notice *n = arg;
	Process *to = process_find(n->from);

	if (to != NULL) {
		struct fragment *f = fragment_new(3 + copy_size_words(n->tag));
		Term *top = f->words + 3;

		f->words[0] = HEADER(2, SUB_TUPLE);
		f->words[1] = copy_term(n->tag, &top, &f->off_heap);
		f->words[2] = p != NULL ? am_suspended : am_exited;
		message_deliver(to, p != NULL ? p->id : TERM_NONE, term_from_boxed(f->words), f);
		process_unref(to);
	}
	fragment_free(n->fragment);
	mem_free(n);
}

static void notify_suspended(Process *p, Term to, Term tag)
{
	struct notice *n = mem_zalloc(sizeof(*n));
	struct signal *s = signal_new(SIG_CALL);

	n->from = p->id;
	n->fragment = copy_to_fragment(tag, &n->tag);
	s->call = send_notice;
	s->arg = n;
	if (!signal_send(to, s))
		send_notice(NULL, n);
}

/* Our count of suspensions of that process. */
static struct peer *find_suspending(Process *p, Term to, bool make)
{
	struct peer *n = peer_find_suspending(&p->monitors, to);

	return n != NULL || !make ? n : peer_insert(&p->monitors, PEER_SUSPENDING, to, to, TERM_NONE);
}

/* Results: true, false, badarg, badopt; or a reference whose answer the caller awaits. */
Term bif_erts_internal_suspend_process_2(Process *p, Term *args)
{
	struct suspend_options o;
	struct peer *n;

	if (args[0] == p->id || !term_is_local_pid(args[0]))
		return am_badarg;
	if (!read_suspend(args[1], &o))
		return am_badopt;
	n = find_suspending(p, args[0], false);
	if (n != NULL && o.unless_suspending) {
		if (o.reply_tag != TERM_NONE)
			notify_suspended(p, args[0], o.reply_tag);
		return o.asynchronous ? am_false : await_suspended(p, args[0], am_false);
	}
	if (!signal_send_plain(SIG_SUSPEND, p->id, args[0], TERM_NONE)) {
		if (o.reply_tag != TERM_NONE)
			notify_suspended(p, args[0], o.reply_tag);
		return o.asynchronous ? am_true : am_badarg;
	}
	find_suspending(p, args[0], true)->count++;
	if (o.reply_tag != TERM_NONE)
		notify_suspended(p, args[0], o.reply_tag);
	return o.asynchronous ? am_true : await_suspended(p, args[0], am_true);
}

Term bif_erlang_resume_process_1(Process *p, Term *args)
{
	struct peer *n;

	if (!term_is_local_pid(args[0]))
		return exc_badarg(p);
	n = find_suspending(p, args[0], false);
	if (n == NULL || !signal_send_plain(SIG_RESUME, p->id, args[0], TERM_NONE))
		return exc_badarg(p);
	if (--n->count == 0)
		peer_remove(&p->monitors, n);
	return am_true;
}
