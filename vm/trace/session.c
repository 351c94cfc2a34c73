/* SPDX-License-Identifier: Apache-2.0 */
/* The trace sessions that there are, from their beginning to their end. A reference that is dropped may be so on any
 * thread, under any locks: the session is over at once, and the rest of its end is a worker thread's. */
#include "trace/session.h"

#include "base/alloc.h"
#include "base/lock.h"
#include "proc/message.h"
#include "proc/worker.h"
#include "trace/events.h"
#include "trace/point.h"
#include "trace/trace.h"
#include "trace/tracer_module.h"
#include "trace/watch.h"

/* What a magic ref names. */
struct session_ref {
	struct resource resource; /* first */
	struct trace_session *session; /* counted */
	struct session_ref *next_dead;
	bool ends;                /* the session was over with it, not before */
};

static void release(struct resource *r);
static const struct resource_type kind = { "trace_session", release };

struct trace_session trace_default = {
	.refs = 1, .name = am_legacy, .tracer = NIL, .born = { { 0, NIL }, { 0, NIL } },
};

static struct {
	struct lock lock;                /* of the list, and what those to come begin with */
	int64_t numbers;                 /* given so far */
	_Atomic(struct session_ref *) dead;
	_Atomic(struct trace_session *) ended; /* counted; for the cleaner */
	_Atomic Term cleaner;            /* NIL: there is none */
} sessions = { .cleaner = NIL };

/* ---- counts */

void trace_session_ref(struct trace_session *s)
{
	atomic_fetch_add_explicit(&s->refs, 1, memory_order_relaxed);
}

static bool ref_living(struct trace_session *s)
{
	unsigned refs = atomic_load(&s->refs);

	while (refs != 0)
		if (atomic_compare_exchange_weak(&s->refs, &refs, refs + 1))
			return true;
	return false;
}

void trace_session_unref(struct trace_session *s)
{
	struct trace_session **at = &trace_default.next;

	if (atomic_fetch_sub_explicit(&s->refs, 1, memory_order_acq_rel) != 1)
		return;
	lock_acquire(&sessions.lock);
	while (*at != s)
		at = &(*at)->next;
	*at = s->next;
	lock_release(&sessions.lock);
	trace_events_forget(s);
	point_forget(s);
	mem_free(s);
}

/* ---- looking */

struct trace_session *trace_session_next(struct trace_session *s)
{
	struct trace_session *next = &trace_default;

	lock_acquire(&sessions.lock);
	if (s != NULL)
		for (next = s->next; next != NULL && (trace_session_is_over(next) || !ref_living(next));)
			next = next->next;
	else
		trace_session_ref(next);
	lock_release(&sessions.lock);
	if (s != NULL)
		trace_session_unref(s);
	return next;
}

struct trace_session *trace_session_find(int64_t number)
{
	struct trace_session *s = &trace_default;

	lock_acquire(&sessions.lock);
	while (s != NULL && s->number != number)
		s = s->next;
	if (s != NULL && !ref_living(s))
		s = NULL;
	lock_release(&sessions.lock);
	return s;
}

static Term id_of(const struct trace_session *s)
{
	return s->number == 0 ? (Term)am_default : term_from_small(s->number - 1);
}

Term trace_session_put(struct heap *h, const struct trace_session *s)
{
	return heap_tuple(h, s->name, id_of(s));
}

static bool is_named(const struct trace_session *s, Term weak)
{
	return term_is_tuple_of(weak, 2) && tuple_get(weak, 1) == s->name && tuple_get(weak, 2) == id_of(s);
}

static struct trace_session *find_named(Term weak)
{
	Term id = tuple_get(weak, 2);
	struct trace_session *s = NULL;

	if (term_is_small(id) && small_value(id) >= 0 && small_value(id) < INT64_MAX)
		s = trace_session_find(small_value(id) + 1);
	if (s == NULL || is_named(s, weak))
		return s;
	trace_session_unref(s);
	return NULL;
}

struct trace_session *trace_session_get(Term t, bool or_over)
{
	struct session_ref *r;
	struct trace_session *s = NULL;

	if (!term_is_tuple_of(t, 2))
		return NULL;
	r = (struct session_ref *)resource_get(tuple_get(t, 1), &kind);
	if (r != NULL && is_named(r->session, tuple_get(t, 2))) {
		s = r->session;
		trace_session_ref(s);
	} else if (r == NULL) {
		s = find_named(t);
	}
	if (s == NULL || or_over || !trace_session_is_over(s))
		return s;
	trace_session_unref(s);
	return NULL;
}

bool trace_session_has_module(void)
{
	bool found = false;

	TRACE_EACH_SESSION(s)
		found |= tracer_is_module(s->tracer);
	return found;
}

struct trace_born trace_session_born(struct trace_session *s, enum trace_born_kind kind)
{
	struct trace_born b;

	lock_acquire(&sessions.lock);
	b = s->born[kind];
	lock_release(&sessions.lock);
	return b;
}

void trace_session_set_born(struct trace_session *s, enum trace_born_kind kind, struct trace_born b)
{
	lock_acquire(&sessions.lock);
	s->born[kind] = b;
	lock_release(&sessions.lock);
}

/* ---- beginning and end */

/* The newest first, behind the default one. */
static struct trace_session *make_session(Term name, Term tracer)
{
	struct trace_session *s = mem_zalloc(sizeof(*s));

	atomic_init(&s->refs, 1);
	s->name = name;
	s->tracer = tracer;
	s->born[BORN_PROCESS].tracer = s->born[BORN_PORT].tracer = NIL;
	lock_acquire(&sessions.lock);
	s->number = ++sessions.numbers;
	s->next = trace_default.next;
	trace_default.next = s;
	lock_release(&sessions.lock);
	return s;
}

Term trace_session_create(struct heap *h, Term name, Term tracer)
{
	struct session_ref *r = mem_zalloc(sizeof(*r));
	Term ref, weak;

	resource_init(&r->resource, &kind);
	r->session = make_session(name, tracer);
	ref = resource_put(h, &r->resource);
	weak = trace_session_put(h, r->session);
	resource_unref(&r->resource);
	return heap_tuple(h, ref, weak);
}

static void notify_cleaner(void)
{
	Process *to = process_find(atomic_load(&sessions.cleaner));

	if (to == NULL)
		return;
	message_deliver(to, TERM_NONE, am_notify, NULL);
	process_unref(to);
}

static void hand_over(struct trace_session *s)
{
	struct trace_session *before = atomic_load(&sessions.ended);

	trace_session_ref(s);
	do
		s->next_ended = before;
	while (!atomic_compare_exchange_weak(&sessions.ended, &before, s));
	notify_cleaner();
}

bool trace_session_end(struct trace_session *s)
{
	if (atomic_exchange(&s->is_over, true))
		return false;
	hand_over(s);
	return true;
}

static void end_dead(struct worker_job *job)
{
	struct session_ref *r = atomic_exchange(&sessions.dead, NULL), *next;

	mem_free(job);
	for (; r != NULL; r = next) {
		next = r->next_dead;
		if (r->ends)
			hand_over(r->session);
		trace_session_unref(r->session);
		mem_free(r);
	}
}

/* Who puts the first there starts the job that takes all. */
static void release(struct resource *resource)
{
	struct session_ref *r = (struct session_ref *)resource, *before = atomic_load(&sessions.dead);
	struct worker_job *job;

	r->ends = !atomic_exchange(&r->session->is_over, true);
	do
		r->next_dead = before;
	while (!atomic_compare_exchange_weak(&sessions.dead, &before, r));
	if (before != NULL) /* r may be gone already */
		return;
	job = mem_zalloc(sizeof(*job));
	job->run = end_dead;
	worker_submit(WORKER_BOUNDED, job);
}

/* ---- what is left */

void trace_session_set_cleaner(Term pid)
{
	atomic_store(&sessions.cleaner, pid);
}

Term trace_session_cleaner(void)
{
	return atomic_load(&sessions.cleaner);
}

bool trace_session_clean(void)
{
	struct trace_session *s = atomic_exchange(&sessions.ended, NULL), *next;
	bool any = s != NULL;

	for (; s != NULL; s = next) {
		next = s->next_ended;
		trace_pattern_clear(s);
		watch_forget(s);
		trace_session_unref(s);
	}
	return any;
}

struct traced *traced_get(Process *p, struct trace_session *session)
{
	struct tracee *e = trace_tracee(p);
	struct traced *t = trace_find(p, session);

	if (t != NULL)
		return t;
	t = mem_zalloc(sizeof(*t));
	t->session = session;
	t->tracer = NIL;
	trace_session_ref(session);
	t->next = e->first;
	return e->first = t;
}

void traced_set(Process *p, struct traced *t, uint32_t flags, Term tracer)
{
	t->flags = tracer != NIL ? flags : 0;
	t->tracer = t->flags != 0 ? tracer : NIL;
	trace_sum(p);
}

void traced_drop(struct traced *t)
{
	trace_session_unref(t->session);
	mem_free(t);
}

uint32_t traced_clean(struct traced **first)
{
	uint32_t flags = 0;

	for (struct traced **at = first; *at != NULL;) {
		struct traced *t = *at;

		if (trace_session_is_over(t->session)) {
			*at = t->next;
			traced_drop(t);
		} else {
			flags |= t->flags;
			at = &t->next;
		}
	}
	return flags;
}

void trace_session_init(void)
{
	lock_init(&sessions.lock, LOCK_trace_sessions);
	trace_drop = traced_drop;
}
