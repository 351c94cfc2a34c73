/* SPDX-License-Identifier: Apache-2.0 */
/* The tracers that are modules. Equal ones have one number. What traces is not counted: when there are many, and
 * nobody traces any more, all are forgotten but those that somebody may be about to use. Whoever asks for a number uses
 * it before its time slice ends, and what uses it is seen from then on (trace_is_used): so numbers that were asked for
 * before the last round of slices (proc/progress.h) that is over began are in use, or forgotten. While a module is
 * called, its state is counted. */
#include "trace/tracer_module.h"

#include "base/alloc.h"
#include "base/lock.h"
#include "code/nif_function.h"
#include "data/compare.h"
#include "data/map.h"
#include "heap/copy.h"
#include "proc/progress.h"
#include "proc/sched.h"
#include "term/atom.h"
#include "trace/trace.h"
#include "trace/tracer.h"
#include "trace/user_probe.h"

enum { MANY = 4096, FORGET_FROM = 1024 };

struct tracer_state {
	atomic_uint refs;
	int64_t number;
	uint64_t got;        /* the round that was the last to begin when it was asked for */
	Term module, state;
	struct fragment *fragment; /* of state */
};

static struct {
	struct lock lock;
	struct tracer_state *all[MANY]; /* by rising number */
	unsigned count;
	int64_t numbers;     /* given so far */
	uint64_t begun, ended; /* rounds, counted from 1 */
	struct progress_wait round; /* until ended is begun */
} tracers;

void tracer_modules_init(void)
{
	lock_init(&tracers.lock, LOCK_tracer_modules);
}

/* ---- what there is. The lock is held. */

static struct tracer_state *find_number(Term tracer)
{
	unsigned low = 0, high = tracers.count;

	while (low < high) {
		unsigned middle = (low + high) / 2;

		if (tracers.all[middle]->number < small_value(tracer))
			low = middle + 1;
		else
			high = middle;
	}
	return low < tracers.count && tracers.all[low]->number == small_value(tracer) ? tracers.all[low] : NULL;
}

static struct tracer_state *find_equal(Term module, Term state)
{
	for (unsigned i = 0; i < tracers.count; i++)
		if (tracers.all[i]->module == module && term_same(tracers.all[i]->state, state))
			return tracers.all[i];
	return NULL;
}

/* Literals too: their module may go before the tracer does. */
static struct tracer_state *add(Term module, Term state)
{
	struct fragment *f = fragment_new(copy_flat_size_words(state));
	struct tracer_state *s = mem_alloc(sizeof(*s));
	Term *top = f->words;

	atomic_init(&s->refs, 1);
	s->module = module;
	s->state = copy_term_whole(state, &top, &f->off_heap);
	s->fragment = f;
	f->used_words = (size_t)(top - f->words);
	s->number = tracers.numbers++;
	tracers.all[tracers.count++] = s;
	return s;
}

static void drop(struct tracer_state *s)
{
	if (atomic_fetch_sub_explicit(&s->refs, 1, memory_order_acq_rel) != 1)
		return;
	fragment_free(s->fragment);
	mem_free(s);
}

/* ---- many */

/* Those that were asked for before that round began. */
static void forget_before(uint64_t round)
{
	unsigned kept = 0;

	lock_acquire(&tracers.lock);
	for (unsigned i = 0; i < tracers.count; i++) {
		if (tracers.all[i]->got < round)
			drop(tracers.all[i]);
		else
			tracers.all[kept++] = tracers.all[i];
	}
	tracers.count = kept;
	lock_release(&tracers.lock);
}

static void round_ended(struct progress_wait *w)
{
	(void)w;
	lock_acquire(&tracers.lock);
	tracers.ended = tracers.begun;
	lock_release(&tracers.lock);
}

/* A round is begun when there is none, for those who come later: who is about to trace has begun to by its end. */
static void look_for_many(void)
{
	bool many, begins;
	uint64_t ended;

	lock_acquire(&tracers.lock);
	many = tracers.count >= FORGET_FROM;
	ended = tracers.ended;
	begins = many && ended == tracers.begun;
	tracers.begun += begins;
	lock_release(&tracers.lock);
	if (many && ended != 0 && !trace_is_used())
		forget_before(ended);
	if (begins)
		progress_wait(&tracers.round, round_ended);
}

/* ---- */

static Term get(Term module, Term state)
{
	struct tracer_state *s;

	lock_acquire(&tracers.lock);
	s = find_equal(module, state);
	if (s == NULL && tracers.count < MANY)
		s = add(module, state);
	if (s != NULL)
		s->got = tracers.begun;
	lock_release(&tracers.lock);
	return s != NULL ? term_from_small(s->number) : TERM_NONE;
}

Term tracer_module_get(Term module, Term state)
{
	if (module != am_dyntrace && (!term_is_atom(module) || !nif_has_tracer(module)))
		return TERM_NONE;
	look_for_many();
	return get(module, state);
}

/* Owns: the caller, until drop. NULL when it is gone. */
static struct tracer_state *take(Term tracer)
{
	struct tracer_state *s;

	lock_acquire(&tracers.lock);
	s = find_number(tracer);
	if (s != NULL)
		atomic_fetch_add_explicit(&s->refs, 1, memory_order_relaxed);
	lock_release(&tracers.lock);
	return s;
}

Term tracer_module_put(struct heap *h, Term tracer)
{
	struct tracer_state *s = take(tracer);
	Term both;

	if (s == NULL)
		return am_false;
	both = heap_tuple(h, s->module, copy_to_heap(s->state, h));
	drop(s);
	return both;
}

/* ---- which function hears of an event */

static const struct event_row {
	Term event;
	enum nif_tracer_kind kind; /* of a process */
	bool has_extra;      /* what comes third is no result of a match specification */
} events[] = {
	{ am_call, NIF_TRACER_CALL, false },
	{ am_return_from, NIF_TRACER_CALL, true },
	{ am_exception_from, NIF_TRACER_CALL, true },
	{ am_return_to, NIF_TRACER_CALL, false },
	{ am_send, NIF_TRACER_SEND, true },
	{ am_send_to_non_existing_process, NIF_TRACER_SEND, true },
	{ am_receive, NIF_TRACER_RECEIVE, false },
	{ am_in, NIF_TRACER_RUNNING_PROCS, false },
	{ am_out, NIF_TRACER_RUNNING_PROCS, false },
	{ am_in_exiting, NIF_TRACER_RUNNING_PROCS, false },
	{ am_out_exited, NIF_TRACER_RUNNING_PROCS, false },
	{ am_gc_minor_start, NIF_TRACER_GC, false },
	{ am_gc_minor_end, NIF_TRACER_GC, false },
	{ am_gc_major_start, NIF_TRACER_GC, false },
	{ am_gc_major_end, NIF_TRACER_GC, false },
	{ am_spawn, NIF_TRACER_PROCS, true },
	{ am_spawned, NIF_TRACER_PROCS, true },
	{ am_exit, NIF_TRACER_PROCS, false },
	{ am_link, NIF_TRACER_PROCS, false },
	{ am_unlink, NIF_TRACER_PROCS, false },
	{ am_getting_linked, NIF_TRACER_PROCS, false },
	{ am_getting_unlinked, NIF_TRACER_PROCS, false },
	{ am_register, NIF_TRACER_PROCS, false },
	{ am_unregister, NIF_TRACER_PROCS, false },
	{ am_open, NIF_TRACER_PORTS, true },
	{ am_closed, NIF_TRACER_PORTS, false },
};

static struct event_row find_event(Term event, Term tracee)
{
	struct event_row row = { event, NIF_TRACER_ANY, false };

	for (size_t i = 0; i < sizeof(events) / sizeof(events[0]); i++)
		if (events[i].event == event)
			row = events[i];
	if (term_is_local_port(tracee) && row.kind == NIF_TRACER_RUNNING_PROCS)
		row.kind = NIF_TRACER_RUNNING_PORTS;
	else if (term_is_local_port(tracee) && row.kind == NIF_TRACER_PROCS)
		row.kind = NIF_TRACER_PORTS;
	return row;
}

/* Is it always tracee's own thread that tells of such events? */
static bool is_told_by_tracee(enum nif_tracer_kind kind)
{
	return kind == NIF_TRACER_SEND || kind == NIF_TRACER_CALL || kind == NIF_TRACER_RUNNING_PROCS ||
	       kind == NIF_TRACER_GC;
}

static Process *find_self(enum nif_tracer_kind kind, Term tracee)
{
	Process *p = is_told_by_tracee(kind) ? process_current() : NULL;

	return p != NULL && p->id == tracee ? p : NULL;
}

/* ---- questions */

bool tracer_module_is_alive(Term tracer, Term tracee)
{
	struct tracer_state *s = take(tracer);
	Term answer = am_trace;

	if (s == NULL)
		return false;
	if (s->module != am_dyntrace)
		answer = nif_call_tracer(s->module, NIF_TRACER_ANY, 3, NULL,
					 (Term[]){ am_trace_status, s->state, tracee });
	drop(s);
	return answer != TERM_NONE && answer != am_remove;
}

/* A module without a library traces nothing; whether it is over shows when it is asked for its status. Any other
 * answer than the three is taken for remove. */
static enum tracer_answer ask(const struct tracer_state *s, enum nif_tracer_kind kind, Term event, Term tracee)
{
	Term answer = nif_call_tracer(s->module, kind, 3, NULL, (Term[]){ event, s->state, tracee });

	if (answer == am_trace)
		return TRACER_TRACES;
	return answer == TERM_NONE || answer == am_discard ? TRACER_DISCARDS : TRACER_IS_OVER;
}

enum tracer_answer tracer_module_ask(Term tracer, Term event, Term tracee)
{
	struct tracer_state *s = take(tracer);
	enum tracer_answer answer = TRACER_TRACES;

	if (s == NULL)
		return TRACER_DISCARDS;
	if (s->module != am_dyntrace)
		answer = ask(s, find_event(event, tracee).kind, event, tracee);
	drop(s);
	return answer;
}

/* ---- events */

enum { OPTIONS_MAX = 4 };

/* parts: what comes behind the event and its term. */
static Term put_options(struct heap *h, uint32_t flags, bool has_extra, unsigned n, const Term *parts)
{
	const struct sched *sched = sched_self();
	Term keys[OPTIONS_MAX], values[OPTIONS_MAX];
	unsigned count = 0, at = 0;

	if (has_extra && at < n) {
		keys[count] = am_extra;
		values[count++] = parts[at++];
	}
	if (at < n) {
		keys[count] = am_match_spec_result;
		values[count++] = parts[at];
	}
	if (flags & TRACE_SCHEDULER_ID) {
		keys[count] = am_scheduler_id;
		values[count++] = SMALL(sched != NULL ? sched->id : 0);
	}
	if (flags & TRACE_TIMES) {
		keys[count] = am_timestamp;
		values[count++] = !(flags & TRACE_TIMESTAMP) ?
			(flags & TRACE_STRICT_MONOTONIC ? am_strict_monotonic : am_monotonic) :
			tracer_takes_cpu_time ? am_cpu_timestamp : am_timestamp;
	}
	return count != 0 ? map_from_atoms(h, count, keys, values) : map_new(h);
}

static void call_module(const struct tracer_state *s, const struct event_row *row, Term tracee, Term id, uint32_t flags,
			unsigned n, const Term *parts)
{
	struct heap scratch;
	Term args[] = { row->event, s->state, id, n > 0 ? parts[0] : am_undefined, NIL };

	heap_init(&scratch, HEAP_MIN_WORDS);
	args[4] = put_options(&scratch, flags, row->has_extra, n > 0 ? n - 1 : 0, parts + 1);
	nif_call_tracer(s->module, row->kind, 5, find_self(row->kind, tracee), args);
	heap_free(&scratch);
}

/* Of calls it was asked before they were looked at, and of what follows from a call it is not asked. */
static bool tell_module(const struct tracer_state *s, Term tracee, uint32_t flags, bool of_token, Term id, unsigned n,
			const Term *parts)
{
	struct event_row row = of_token ? (struct event_row){ am_seq_trace, NIF_TRACER_ANY, false } :
					  find_event(parts[0], tracee);
	enum tracer_answer answer = row.kind != NIF_TRACER_CALL ? ask(s, row.kind, row.event, tracee) : TRACER_TRACES;

	if (answer == TRACER_TRACES && of_token)
		call_module(s, &row, tracee, id, flags, n, parts);
	else if (answer == TRACER_TRACES)
		call_module(s, &row, tracee, id, flags, n - 1, parts + 1);
	return answer != TRACER_IS_OVER || (term_is_local_pid(tracee) && !is_told_by_tracee(row.kind));
}

static void fire_probe(const struct tracer_state *s, bool of_token, Term id, unsigned n, const Term *parts)
{
	if (!(of_token ? PROBE_ON(trace_seq) : PROBE_ON(trace)))
		return;
	if (of_token)
		probe_trace_seq(s->state, id, parts[0]);
	else
		probe_trace(id, parts[0], s->state, n > 1 ? parts[1] : am_undefined, n > 2 ? parts[2] : am_undefined);
}

bool tracer_module_tell(Term tracer, Term tracee, uint32_t flags, Term tag, Term id, unsigned n, const Term *parts)
{
	struct tracer_state *s = take(tracer);
	bool of_token = tag == am_seq_trace, goes_on = true;

	if (s == NULL)
		return true;
	if (s->module == am_dyntrace)
		fire_probe(s, of_token, id, n, parts);
	else
		goes_on = tell_module(s, tracee, flags, of_token, id, n, parts);
	drop(s);
	return goes_on;
}
