/* SPDX-License-Identifier: Apache-2.0 */
/* Counting time and memory of functions. */
#include "trace/measure.h"

#include "base/alloc.h"
#include "base/clock.h"
#include "base/hash.h"
#include "base/lock.h"

enum { ROWS_FIRST = 16, NUMBERED_FIRST = 64 };

static struct {
	struct lock lock;            /* of all below, and of all tables */
	struct measures **numbered;  /* NULL where there is none any more */
	uint32_t numbers, room;
} all;

void measures_enter(struct measures *m)
{
	lock_acquire(&all.lock);
	if (all.numbers + 1 >= all.room) {
		all.room = all.room == 0 ? NUMBERED_FIRST : 2 * all.room;
		all.numbered = mem_realloc(all.numbered, all.room * sizeof(*all.numbered));
	}
	m->number = ++all.numbers;
	all.numbered[m->number] = m;
	lock_release(&all.lock);
}

static void clear(struct measure_table *t)
{
	mem_free(t->rows);
	*t = (struct measure_table){ 0 };
}

void measures_clear(struct measures *m, enum trace_measure which)
{
	lock_acquire(&all.lock);
	clear(&m->tables[which]);
	lock_release(&all.lock);
}

void measures_forget(struct measures *m)
{
	if (m->number == 0)
		return;
	lock_acquire(&all.lock);
	all.numbered[m->number] = NULL;
	for (unsigned i = 0; i < MEASURES; i++)
		clear(&m->tables[i]);
	lock_release(&all.lock);
}

/* That of pid, made when it is missing. The lock is held. */
static struct measure_row *find_row(struct measure_table *t, Term pid)
{
	uint32_t i;

	if (2 * t->used >= t->room) {
		struct measure_table old = *t;

		t->room = old.room == 0 ? ROWS_FIRST : 2 * old.room;
		t->rows = mem_zalloc(t->room * sizeof(*t->rows));
		t->used = 0;
		for (uint32_t k = 0; k < old.room; k++)
			if (old.rows[k].pid != TERM_NONE)
				*find_row(t, old.rows[k].pid) = old.rows[k];
		mem_free(old.rows);
	}
	for (i = (uint32_t)hash_word(pid) % t->room; t->rows[i].pid != TERM_NONE && t->rows[i].pid != pid;)
		i = (i + 1) % t->room;
	if (t->rows[i].pid == TERM_NONE) {
		t->rows[i].pid = pid;
		t->used++;
	}
	return &t->rows[i];
}

static Term put_row(struct heap *h, enum trace_measure which, const struct measure_row *r)
{
	if (which == MEASURE_MEMORY)
		return heap_tuple(h, r->pid, heap_uint(h, r->count), heap_int(h, r->sum));
	return heap_tuple(h, r->pid, heap_uint(h, r->count), heap_int(h, r->sum / 1000000000),
			  heap_int(h, r->sum / 1000 % 1000000));
}

Term measures_list(struct measures *m, enum trace_measure which, struct heap *h)
{
	const struct measure_table *t = &m->tables[which];
	Term list = NIL;

	lock_acquire(&all.lock);
	for (uint32_t i = 0; i < t->room; i++)
		if (t->rows[i].pid != TERM_NONE)
			list = heap_cons(h, put_row(h, which, &t->rows[i]), list);
	lock_release(&all.lock);
	return list;
}

/* ---- what runs */

static int64_t heap_words(const struct heap *h)
{
	return (h->top - h->start) + (h->old_top - h->old_start) + (int64_t)h->fragment_words;
}

/* What p has put on its heap since it was traced first. */
static int64_t words_of(Process *p)
{
	struct tracee *e = p->tracee;

	return e->words_before + heap_words(&p->heap) - e->words_base;
}

static int64_t now_of(Process *p, enum trace_measure which)
{
	return which == MEASURE_TIME ? clock_monotonic_ns() : words_of(p);
}

uint32_t measure_switch(Process *p, struct traced *t, enum trace_measure which, uint32_t number, bool called)
{
	uint32_t before = t->runs[which].number;
	int64_t now = now_of(p, which);
	struct measures *m;

	lock_acquire(&all.lock);
	m = before != 0 ? all.numbered[before] : NULL;
	if (m != NULL) /* what was called before a pause counts to its end, as in OTP */
		find_row(&m->tables[which], p->id)->sum += now > t->runs[which].since ? now - t->runs[which].since : 0;
	m = number != 0 ? all.numbered[number] : NULL;
	if (m != NULL && called)
		find_row(&m->tables[which], p->id)->count++;
	lock_release(&all.lock);
	t->runs[which].number = number;
	t->runs[which].since = now;
	return before;
}

void measure_slice_began(Process *p)
{
	if (p->tracee == NULL)
		return;
	for (struct traced *t = p->tracee->first; t != NULL; t = t->next)
		t->runs[MEASURE_TIME].since = clock_monotonic_ns();
}

void measure_slice_ended(Process *p, bool exits)
{
	for (struct traced *t = traced_first(p); t != NULL; t = t->next)
		for (unsigned i = 0; i < MEASURES; i++)
			if (t->runs[i].number != 0)
				measure_switch(p, t, i, exits ? 0 : t->runs[i].number, false);
}

void measure_gc_began(Process *p)
{
	if (p->tracee != NULL)
		p->tracee->words_before = words_of(p);
}

void measure_gc_ended(Process *p)
{
	if (p->tracee != NULL)
		p->tracee->words_base = heap_words(&p->heap);
}

void measure_init(void)
{
	lock_init(&all.lock, LOCK_trace);
}
