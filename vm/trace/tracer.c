/* SPDX-License-Identifier: Apache-2.0 */
/* Messages to tracers. */
#include "trace/tracer.h"

#include "base/clock.h"
#include "heap/copy.h"
#include "proc/message.h"
#include "proc/sched.h"

enum { TIME_WORDS = 4, EXTRA_PARTS = 4 };

int64_t (*tracer_unique)(void), (*tracer_now_us)(void);
_Atomic bool tracer_takes_cpu_time;

bool tracer_is_alive(Term tracer)
{
	return term_is_local_pid(tracer) && process_is_alive(tracer);
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

static void send(Term tracer, Term from, struct fragment *takes, Term message)
{
	Process *to = process_find(tracer);

	if (to == NULL) {
		fragment_free(takes);
		return;
	}
	message_deliver(to, from, message, takes);
	process_unref(to);
}

void tracer_tell(Term tracer, Term from, uint32_t flags, Term tag, Term id, unsigned n, const Term *parts)
{
	Term all[TRACER_PARTS_MAX + EXTRA_PARTS], time[TIME_WORDS], message;
	const struct sched *s = sched_self();
	struct fragment *f;
	unsigned count = 0;

	all[count++] = tag == am_trace && (flags & TRACE_TIMES) ? am_trace_ts : tag;
	all[count++] = id;
	for (unsigned i = 0; i < n; i++)
		all[count++] = parts[i];
	if (flags & TRACE_SCHEDULER_ID)
		all[count++] = SMALL(s != NULL ? s->id : 0);
	if (flags & TRACE_TIMES)
		all[count++] = put_time(time, flags);
	f = make_message(count, all, &message);
	send(tracer, from, f, message);
}

Term tracer_of(Process *p)
{
	Term tracer = trace_tracer(p);

	if (tracer == NIL || tracer == p->id)
		return NIL;
	if (tracer_is_alive(tracer))
		return tracer;
	if (p == process_current())
		trace_set(p, 0, NIL);
	return NIL;
}

void tracer_tell_event(Process *p, unsigned n, const Term *parts)
{
	Term tracer = tracer_of(p);

	if (tracer != NIL)
		tracer_tell(tracer, p->id, p->trace_flags, am_trace, p->id, n, parts);
}
