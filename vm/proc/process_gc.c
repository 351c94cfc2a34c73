/* SPDX-License-Identifier: Apache-2.0 */
#include "proc/process_gc.h"

#include "base/alloc.h"
#include "proc/dict.h"
#include "proc/exc.h"
#include "proc/message.h"
#include "proc/micro.h"
#include "proc/probe.h"
#include "proc/report.h"
#include "proc/sched.h"
#include "proc/tracee.h"
#include "usdt.h"

enum { ROOTS_AT_ONCE = 16, ROOTS_WITHOUT_MESSAGES = 3 };

/* Room for all roots: messages that stand on the heap are one each. */
static struct gc_root *make_room_for_roots(const Process *p, struct gc_root fixed[ROOTS_AT_ONCE])
{
	size_t n = ROOTS_WITHOUT_MESSAGES + (size_t)p->own_messages;

	return n <= ROOTS_AT_ONCE ? fixed : mem_alloc(n * sizeof(*fixed));
}

static size_t list_roots(Process *p, Term *x, unsigned live, struct gc_root *roots)
{
	uint32_t own = p->own_messages;
	size_t n = 0;

	for (struct signal *s = p->msg_first; own > 0; s = s->next)
		if (s->own) {
			roots[n++] = (struct gc_root){ &s->term, 1 };
			own--;
		}
	roots[n++] = (struct gc_root){ &p->exc_reason, PROCESS_ROOTS };
	if (live > 0)
		roots[n++] = (struct gc_root){ x, live };
	if (p->dict != NULL)
		roots[n++] = (struct gc_root){ p->dict->pairs, 2 * (size_t)p->dict->room };
	return n;
}

static PROBE_COLD void probe_before(Process *p, bool major, size_t need)
{
	if (major) {
		if (PROBE_ON(gc_major__start))
			probe_gc_major__start(p, need);
	} else if (PROBE_ON(gc_minor__start)) {
		probe_gc_minor__start(p, need);
	}
}

static PROBE_COLD void probe_after(Process *p, const struct gc_result *r)
{
	if (r->major) {
		if (PROBE_ON(gc_major__end))
			probe_gc_major__end(p, r->reclaimed_words);
	} else if (PROBE_ON(gc_minor__end)) {
		probe_gc_minor__end(p, r->reclaimed_words);
	}
	if (r->new_size_words > r->old_size_words && PROBE_ON(process__heap_grow))
		probe_process__heap_grow(p, r->old_size_words, r->new_size_words);
	if (r->new_size_words < r->old_size_words && PROBE_ON(process__heap_shrink))
		probe_process__heap_shrink(p, r->old_size_words, r->new_size_words);
}

static inline bool is_gc_probed(void)
{
	return PROBE_ON(gc_minor__start) || PROBE_ON(gc_major__start) || PROBE_ON(gc_minor__end) ||
	       PROBE_ON(gc_major__end) || PROBE_ON(process__heap_grow) || PROBE_ON(process__heap_shrink);
}

size_t process_message_words(const Process *p)
{
	size_t words = 0;

	for (const struct signal *s = p->flags & PF_OFF_HEAP_MSGQ ? NULL : p->msg_first; s != NULL; s = s->next)
		if (s->fragment != NULL)
			words += s->fragment->used_words;
	return words;
}

/* Of binaries, where they count as the heap does. */
static size_t limited_binary_words(const Process *p)
{
	return p->flags & PF_MAX_HEAP_BINARIES ? p->heap.binary_words + p->heap.old_binary_words : 0;
}

static bool exceed_limit(Process *p, size_t need_words)
{
	const struct heap *h = &p->heap;

	if (!(p->flags & PF_MAX_HEAP_SILENT))
		process_report_max_heap(p, (size_t)(h->end - h->start) + (size_t)(h->old_end - h->old_start) +
						   h->fragment_words + need_words + process_message_words(p));
	if (p->flags & PF_MAX_HEAP_SPARE)
		return true;
	p->exc_kind = EXC_EXITED;
	p->exc_reason = am_killed;
	return false;
}

/* A guard of receive may collect while registers point into the message, which is the queue's until it matches. */
static void shelter_message(Process *p)
{
	const struct signal *s = *p->msg_save;
	const struct fragment *f = s != NULL ? s->fragment : NULL;

	p->heap.guest_start = f != NULL ? f->words : NULL;
	p->heap.guest_bytes = f != NULL ? f->used_words * sizeof(Term) : 0;
}

/* ---- literals that leave */

struct literal_call {
	struct literal_call *next;
	void (*done)(void *arg);
	void *arg;
};

void process_copy_literals(Process *p, void (*done)(void *arg), void *arg)
{
	struct literal_call *c = mem_alloc(sizeof(*c));

	*c = (struct literal_call){ p->literal_calls, done, arg };
	p->literal_calls = c;
	p->flags |= PF_COPY_LITERALS;
}

void process_finish_literal_calls(Process *p)
{
	struct literal_call *c = p->literal_calls, *next;

	p->literal_calls = NULL;
	for (; c != NULL; c = next) {
		next = c->next;
		c->done(c->arg);
		mem_free(c);
	}
}

enum { LITERAL_WORDS_PER_RED = 400 };

/* Does the heap get copies that a collection must put in place? */
static bool take_literals(Process *p, const struct gc_root *roots, size_t n)
{
	const struct heap *h = &p->heap;
	size_t seen = (size_t)(h->top - h->start) + (size_t)(h->old_top - h->old_start) + h->fragment_words, taken;

	p->flags &= ~(uint32_t)PF_COPY_LITERALS;
	p->reds_left -= (int32_t)(seen / LITERAL_WORDS_PER_RED);
	sched_lend();
	taken = gc_take_literals(&p->heap, roots, n);
	sched_reclaim();
	return taken > 0;
}

static bool collect_gc(Process *p, size_t need_words, const struct gc_root *roots, size_t n)
{
	size_t work = (size_t)(p->heap.top - p->heap.start) + p->heap.fragment_words;
	bool fits, is_long = gc_is_long(&p->heap);
	struct gc_result r;

	if (is_gc_probed())
		probe_before(p, gc_next_is_major(&p->heap, need_words), need_words);
	if (unlikely(trace_active))
		trace_hooks.gc_began(p, gc_next_is_major(&p->heap, need_words), need_words);
	p->flags &= ~(uint32_t)PF_NEED_GC;
	shelter_message(p);
	micro_enter(sched_self(), MICRO_GC);
	if (is_long)
		sched_lend();
	fits = gc_run_gc(&p->heap, need_words, roots, n, &r);
	if (is_long)
		sched_reclaim();
	micro_enter(sched_self(), MICRO_EMULATOR);
	p->reds_left -= (int32_t)((work - r.reclaimed_words < work ? work - r.reclaimed_words : work) / 10);
	sched_count_gc(r.reclaimed_words);
	if (is_gc_probed())
		probe_after(p, &r);
	if (unlikely(trace_active))
		trace_hooks.gc_ended(p, r.major, r.reclaimed_words);
	if (fits && p->heap.max_words != 0)
		fits = gc_fits_limit(&p->heap, need_words + process_message_words(p) + limited_binary_words(p));
	return fits || exceed_limit(p, need_words);
}

bool process_collect_gc(Process *p, size_t need_words, Term *x, unsigned live)
{
	struct gc_root fixed[ROOTS_AT_ONCE], *roots = make_room_for_roots(p, fixed);
	size_t n = list_roots(p, x, live, roots);
	bool fits = true, copies = p->flags & PF_COPY_LITERALS;

	if (likely(!copies) || take_literals(p, roots, n) || need_words > 0 || p->heap.wants_gc ||
	    (p->flags & PF_NEED_GC))
		fits = collect_gc(p, need_words, roots, n);
	if (roots != fixed)
		mem_free(roots);
	if (unlikely(copies))
		process_finish_literal_calls(p);
	return fits;
}

bool process_hibernate_gc(Process *p, Term *x, unsigned live)
{
	p->heap.force_major = true;
	atomic_fetch_or(&p->state, PS_HIBERNATED);
	if (PROBE_ON(process__hibernate))
		probe_process__hibernate(p, x);
	if (!process_collect_gc(p, 0, x, live))
		return false;
	gc_fit(&p->heap);
	return true;
}
