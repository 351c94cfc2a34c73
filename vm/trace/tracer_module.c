/* SPDX-License-Identifier: Apache-2.0 */
/* The tracers that are modules. Equal ones have one number. What traces is not counted: when there are many, and
 * nobody traces any more, all are forgotten but the newest, which somebody may be about to use. */
#include "trace/tracer_module.h"

#include <string.h>

#include "base/lock.h"
#include "data/compare.h"
#include "heap/copy.h"
#include "proc/sched.h"
#include "term/atom.h"
#include "trace/trace.h"
#include "trace/user_probe.h"

enum { MANY = 1024, NEWEST = 64 };

struct tracer_state {
	Term module, state;
	struct fragment *fragment; /* of state */
};

static struct {
	struct lock lock;
	struct tracer_state all[MANY];
	int64_t first;       /* the number of all[0] */
	unsigned count;
} tracers;

void tracer_modules_init(void)
{
	lock_init(&tracers.lock, LOCK_tracer_modules);
}

/* ---- what there is. The lock is held. */

static struct tracer_state *find_number(Term tracer)
{
	int64_t at = small_value(tracer) - tracers.first;

	return at >= 0 && at < tracers.count ? &tracers.all[at] : NULL;
}

static Term find_equal(Term module, Term state)
{
	for (unsigned i = 0; i < tracers.count; i++)
		if (tracers.all[i].module == module && term_same(tracers.all[i].state, state))
			return term_from_small(tracers.first + i);
	return TERM_NONE;
}

static Term add(Term module, Term state)
{
	struct fragment *f = fragment_new(copy_size_words(state));
	Term *top = f->words;

	tracers.all[tracers.count] = (struct tracer_state){ module, copy_term(state, &top, &f->off_heap), f };
	f->used_words = (size_t)(top - f->words);
	return term_from_small(tracers.first + tracers.count++);
}

static void forget_oldest(unsigned n)
{
	for (unsigned i = 0; i < n; i++)
		fragment_free(tracers.all[i].fragment);
	tracers.first += n;
	tracers.count -= n;
	memmove(tracers.all, tracers.all + n, tracers.count * sizeof(tracers.all[0]));
}

/* ---- */

static void forget_stopped(void *arg)
{
	(void)arg;
	if (trace_is_used())
		return;
	lock_acquire(&tracers.lock);
	if (tracers.count > NEWEST)
		forget_oldest(tracers.count - NEWEST);
	lock_release(&tracers.lock);
}

static Term get(Term module, Term state)
{
	Term tracer;

	lock_acquire(&tracers.lock);
	tracer = find_equal(module, state);
	if (tracer == TERM_NONE && tracers.count < MANY)
		tracer = add(module, state);
	lock_release(&tracers.lock);
	return tracer;
}

Term tracer_module_get(Term module, Term state)
{
	Term tracer;

	if (module != am_dyntrace)
		return TERM_NONE;
	tracer = get(module, state);
	if (tracer != TERM_NONE)
		return tracer;
	sched_stop_world(forget_stopped, NULL);
	return get(module, state);
}

bool tracer_module_is_alive(Term tracer)
{
	bool found;

	lock_acquire(&tracers.lock);
	found = find_number(tracer) != NULL;
	lock_release(&tracers.lock);
	return found;
}

Term tracer_module_put(struct heap *h, Term tracer)
{
	const struct tracer_state *s;
	Term both = am_false;

	lock_acquire(&tracers.lock);
	s = find_number(tracer);
	if (s != NULL)
		both = heap_tuple(h, s->module, copy_to_heap(s->state, h));
	lock_release(&tracers.lock);
	return both;
}

void tracer_module_tell(Term tracer, Term tag, Term id, unsigned n, const Term *parts)
{
	bool of_token = tag == am_seq_trace;
	struct heap scratch;
	Term both;

	if (!(of_token ? PROBE_ON(trace_seq) : PROBE_ON(trace)))
		return;
	heap_init(&scratch, HEAP_MIN_WORDS);
	both = tracer_module_put(&scratch, tracer);
	if (both == am_false)
		;
	else if (of_token)
		probe_trace_seq(tuple_get(both, 2), id, parts[0]);
	else
		probe_trace(id, parts[0], tuple_get(both, 2), n > 1 ? parts[1] : am_undefined, n > 2 ? parts[2] : am_undefined);
	heap_free(&scratch);
}
