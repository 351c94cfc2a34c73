/* SPDX-License-Identifier: Apache-2.0 */
/* Messages to tracers. */
#include "trace/tracer.h"

#include <string.h>

#include "base/clock.h"
#include "data/etf.h"
#include "heap/copy.h"
#include "io/port.h"
#include "proc/message.h"
#include "proc/sched.h"
#include "trace/session.h"
#include "trace/tracer_module.h"

enum { TIME_WORDS = 4, ALL_PARTS_MAX = TRACER_PARTS_MAX + 4 };

int64_t (*tracer_unique)(void), (*tracer_now_us)(void);
_Atomic bool tracer_takes_cpu_time;

bool tracer_is_alive(Term tracer, Term tracee)
{
	if (tracer_is_module(tracer))
		return tracer_module_is_alive(tracer, tracee);
	return term_is_local_pid(tracer) ? process_is_alive(tracer)
					 : term_is_local_port(tracer) && port_is_open(tracer);
}

/* ---- times */

static Term put_time(Term *at, uint32_t flags)
{
	int64_t ns;

	if (flags & TRACE_TIMESTAMP) {
		int64_t us = tracer_takes_cpu_time ? clock_read_ns(CLOCK_PROCESS_CPUTIME_ID) / 1000 : tracer_now_us();

		return tracer_put_mfa(at, SMALL((uint64_t)us / 1000000000000), SMALL((uint64_t)us / 1000000 % 1000000),
				      SMALL((uint64_t)us % 1000000));
	}
	ns = clock_monotonic_ns();
	if (!(flags & TRACE_STRICT_MONOTONIC))
		return term_from_small(ns);
	at[0] = HEADER(2, SUB_TUPLE);
	at[1] = term_from_small(ns);
	at[2] = term_from_small(tracer_unique());
	return term_from_boxed(at);
}

/* ---- messages */

static struct fragment *make_message(unsigned n, const Term *parts, Term *message)
{
	size_t words = 1 + n;
	struct fragment *f;
	Term *top;

	for (unsigned i = 0; i < n; i++)
		words += copy_size_words(parts[i]);
	f = fragment_new(words);
	top = f->words + 1 + n;
	f->words[0] = HEADER(n, SUB_TUPLE);
	for (unsigned i = 0; i < n; i++)
		f->words[1 + i] = copy_term(parts[i], &top, &f->off_heap);
	f->used_words = words;
	*message = term_from_boxed(f->words);
	return f;
}

static void send_process(Term pid, Term from, unsigned n, const Term *parts)
{
	Process *to = process_find(pid);
	struct fragment *f;
	Term message;

	if (to == NULL)
		return;
	f = make_message(n, parts, &message);
	message_deliver(to, from, message, f);
	process_unref(to);
}

static void send_port(Term port, Term from, unsigned n, const Term *parts)
{
	Term words[1 + ALL_PARTS_MAX];
	struct byte_queue data = { 0 };
	struct binary *b;

	words[0] = HEADER(n, SUB_TUPLE);
	memcpy(words + 1, parts, n * sizeof(Term));
	b = etf_encode(term_from_boxed(words), 0);
	if (b == NULL)
		return;
	byte_queue_put_binary(&data, b, b->data, b->size_bytes);
	binary_unref(b);
	port_trace_command(port, from, &data);
}

bool tracer_tell(Term tracer, Term from, uint32_t flags, Term tag, Term id, unsigned n, const Term *parts)
{
	Term all[ALL_PARTS_MAX], time[TIME_WORDS];
	const struct sched *s = sched_self();
	unsigned count = 0;

	if (tracer_is_module(tracer))
		return tracer_module_tell(tracer, from, flags, tag, id, n, parts);
	all[count++] = tag == am_trace && (flags & TRACE_TIMES) ? am_trace_ts : tag;
	all[count++] = id;
	for (unsigned i = 0; i < n; i++)
		all[count++] = parts[i];
	if (flags & TRACE_SCHEDULER_ID)
		all[count++] = SMALL(s != NULL ? s->id : 0);
	if (flags & TRACE_TIMES)
		all[count++] = put_time(time, flags);
	if (term_is_local_port(tracer))
		send_port(tracer, from, count, all);
	else
		send_process(tracer, from, count, all);
	return true;
}

Term tracer_put(struct heap *h, Term tracer)
{
	return tracer_is_module(tracer) ? tracer_module_put(h, tracer) : tracer;
}

static Term forget_tracer(Process *p, struct traced *t)
{
	if (p == process_current())
		traced_set(p, t, 0, NIL);
	return NIL;
}

Term tracer_of(Process *p, struct traced *t)
{
	Term tracer = t->tracer;

	if (tracer == NIL || tracer == p->id)
		return NIL;
	return tracer_is_module(tracer) || tracer_is_alive(tracer, p->id) ? tracer : forget_tracer(p, t);
}

void tracer_check(Process *p, uint32_t flags)
{
	TRACED_EACH(t, traced_first(p), flags)
		if (t->tracer != p->id && !tracer_is_alive(t->tracer, p->id))
			forget_tracer(p, t);
}

bool tracer_wants_call(Process *p, struct traced *t, Term tracer)
{
	enum tracer_answer answer = tracer_is_module(tracer) ? tracer_module_ask(tracer, am_call, p->id)
							     : TRACER_TRACES;

	if (answer == TRACER_IS_OVER && t != NULL && t->tracer == tracer)
		forget_tracer(p, t);
	return answer == TRACER_TRACES;
}

void tracer_tell_event(Process *p, struct traced *t, unsigned n, const Term *parts)
{
	Term tracer = tracer_of(p, t);

	if (tracer != NIL && !tracer_tell(tracer, p->id, t->flags, am_trace, p->id, n, parts))
		forget_tracer(p, t);
}

void tracer_tell_all(Process *p, uint32_t flags, unsigned n, const Term *parts)
{
	if (p->flags & PF_SENSITIVE)
		return;
	TRACED_EACH(t, traced_first(p), flags)
		tracer_tell_event(p, t, n, parts);
}
