/* SPDX-License-Identifier: Apache-2.0 */
/* Requests from process to process. Invariant: each request is answered once, by the receiver or by whoever finds it
 * gone. */
#include "bif/proc/process_call.h"

#include "base/alloc.h"
#include "code/export.h"
#include "heap/copy.h"
#include "proc/message.h"
#include "proc/sched.h"
#include "proc/task.h"

struct process_call *process_call_new(process_call_fn fn, Term from, Term ref, size_t n)
{
	struct process_call *c = mem_zalloc(sizeof(*c) + n * sizeof(Term));

	c->fn = fn;
	c->from = from;
	c->ref_number = ref_number(ref);
	c->ref_tag = ref_tag(ref);
	c->n = n;
	return c;
}

void process_call_free(struct process_call *c)
{
	fragment_free(c->request_fragment);
	mem_free(c);
}

void process_call_tag(struct process_call *c, Term tag, Term request)
{
	c->tag = tag;
	c->request_fragment = copy_to_fragment(request, &c->request);
}

static struct fragment *make_answer(const struct process_call *c, Term result, Term *message)
{
	Term tuple = c->tag != TERM_NONE ? c->request : NIL;
	struct fragment *f = fragment_new(4 + REF_WORDS + copy_size_words(tuple) + copy_size_words(result));
	Term *top = f->words + 4;

	*message = term_from_boxed(f->words);
	if (c->tag == TERM_NONE) {
		f->words[0] = HEADER(2, SUB_TUPLE);
		f->words[1] = peer_put_ref(top, c->ref_number, c->ref_tag);
		top += REF_WORDS;
		f->words[2] = copy_term(result, &top, &f->off_heap);
		f->words[3] = NIL;
	} else {
		f->words[0] = HEADER(3, SUB_TUPLE);
		f->words[1] = c->tag;
		f->words[2] = copy_term(c->request, &top, &f->off_heap);
		f->words[3] = copy_term(result, &top, &f->off_heap);
	}
	f->used_words = (size_t)(top - f->words);
	return f;
}

static void send_answer(const struct process_call *c, Term from, Term result)
{
	Process *to = process_find(c->from);
	struct fragment *f;
	Term message;

	if (to == NULL)
		return;
	sched_lend();
	f = make_answer(c, result, &message);
	sched_reclaim();
	message_deliver(to, from, message, f);
	process_unref(to);
}

void process_call_answer(struct process_call *c, Term result)
{
	send_answer(c, TERM_NONE, result);
	process_call_free(c);
}

static void run_call(Process *p, void *arg)
{
	struct process_call *c = arg;
	bool leaves_nothing = p != NULL && c->leaves_nothing;
	struct heap_mark mark;
	Term result;

	if (leaves_nothing)
		mark = heap_mark(&p->heap);
	result = c->fn(p, c);
	if (result == TERM_NONE)
		return;
	send_answer(c, p != NULL ? p->id : TERM_NONE, result);
	process_call_free(c);
	if (leaves_nothing)
		heap_release(&p->heap, &mark);
}

void process_call_send(Term to, struct process_call *c)
{
	struct signal *s = signal_new(SIG_CALL);
	const Process *from = process_current();

	s->call = run_call;
	s->arg = c;
	if (!signal_send_raised(to, s, from != NULL ? from->priority : PRIO_NORMAL))
		run_call(NULL, c);
}

void process_call_send_task(Term to, struct process_call *c, enum proc_priority priority, bool collects)
{
	task_send(to, priority, collects, run_call, c);
}

Term process_call_await(Process *p, Term to, struct process_call *c, Term ref)
{
	process_call_send(to, c);
	return exc_trap(p, export_get(am_erts_internal, am_await_result, 1), 1, &ref);
}
