/* SPDX-License-Identifier: Apache-2.0 */
/* Trace sessions: how they are named, what they leave in a process, when they end. */
#include "proc/fake.h"

#include "base/lock.h"
#include "proc/worker.h"
#include "trace/measure.h"
#include "trace/trace.h"

enum { WORKERS = 2 };

static void set_up(void)
{
	fake_init();
	worker_init(WORKERS, WORKERS);
	trace_init();
}

/* A session whose reference is on a heap of its own. */
struct held {
	struct heap heap;
	Term ref;
};

static struct trace_session *make(struct held *h, Term name, Term tracer)
{
	struct trace_session *s;

	heap_init(&h->heap, HEAP_MIN_WORDS);
	h->ref = trace_session_create(&h->heap, name, tracer);
	s = trace_session_get(h->ref, false);
	ck_assert_ptr_nonnull(s);
	trace_session_unref(s); /* the reference keeps it */
	return s;
}

static Term weak_of(const struct held *h)
{
	return tuple_get(h->ref, 2);
}

static bool is_found(Term t, bool or_over)
{
	struct trace_session *s = trace_session_get(t, or_over);

	if (s != NULL)
		trace_session_unref(s);
	return s != NULL;
}

static unsigned count_sessions(void)
{
	unsigned n = 0;

	TRACE_EACH_SESSION(s)
		n++;
	return n;
}

/* Its memory is there while anybody points to it: then its number is found. */
static bool is_there(int64_t number)
{
	struct trace_session *s = trace_session_find(number);

	if (s != NULL)
		trace_session_unref(s);
	return s != NULL;
}

static void wait_for_end_of(int64_t number)
{
	while (is_there(number))
		unit_pause();
}

START_TEST(test_session_is_found_by_either_reference)
{
	static struct held a, b;
	struct heap *h = unit_heap();
	struct trace_session *s = make(&a, am_ok, NIL);

	make(&b, am_ok, NIL);
	ck_assert_uint_eq(count_sessions(), 3);
	ck_assert(is_found(a.ref, false) && is_found(weak_of(&a), false) && is_found(weak_of(&b), false));
	ck_assert(weak_of(&a) != weak_of(&b) && tuple_get(weak_of(&a), 1) == am_ok);
	ck_assert_int_eq(small_value(tuple_get(weak_of(&a), 2)), s->number - 1);
	/* of another name, another's weak one, no reference at all */
	ck_assert(!is_found(heap_tuple(h, am_error, tuple_get(weak_of(&a), 2)), false));
	ck_assert(!is_found(heap_tuple(h, tuple_get(a.ref, 1), weak_of(&b)), false));
	ck_assert(!is_found(heap_tuple(h, heap_ref(h, 0), weak_of(&a)), false));
	ck_assert(!is_found(heap_tuple(h, am_ok, term_from_small(-1)), true));
	ck_assert(!is_found(heap_tuple(h, am_legacy, am_default), true));
	ck_assert(!is_found(am_ok, true) && !is_found(NIL, true));
}
END_TEST

START_TEST(test_session_ends_with_its_last_reference)
{
	Process *cleaner = fake_process();
	static struct held first, a;
	int64_t number = make(&first, am_ok, NIL)->number;
	Term weak = trace_session_put(unit_heap(), make(&a, am_ok, NIL));

	trace_session_set_cleaner(cleaner->id);
	number++; /* the second */
	ck_assert(is_found(weak, false));
	heap_free(&a.heap);
	ck_assert(!is_found(weak, false));
	ck_assert_uint_eq(count_sessions(), 2);
	while (fake_receive(cleaner) != am_notify)
		unit_pause();
	ck_assert(trace_session_clean());
	ck_assert(!trace_session_clean());
	wait_for_end_of(number);
	ck_assert(!is_found(weak, true));
}
END_TEST

START_TEST(test_session_that_is_destroyed_is_over_once)
{
	Process *cleaner = fake_process();
	static struct held a;
	struct trace_session *s = make(&a, am_ok, NIL);
	int64_t number = s->number;

	trace_session_set_cleaner(cleaner->id);
	ck_assert(trace_session_end(s));
	ck_assert(!trace_session_end(s));
	ck_assert(!is_found(a.ref, false) && !is_found(weak_of(&a), false) && is_found(a.ref, true));
	ck_assert(fake_receive(cleaner) == am_notify);
	ck_assert(fake_receive(cleaner) == TERM_NONE);
	ck_assert(trace_session_clean());
	ck_assert(is_there(number));
	heap_free(&a.heap);
	wait_for_end_of(number);
	ck_assert(!trace_session_clean());
	ck_assert(fake_receive(cleaner) == TERM_NONE);
}
END_TEST

START_TEST(test_process_has_the_flags_of_all_its_sessions)
{
	Process *p = fake_process(), *tracer = fake_process();
	static struct held a, b;
	struct trace_session *s = make(&a, am_ok, tracer->id), *other = make(&b, am_error, tracer->id);

	traced_set(p, traced_get(p, s), TRACE_SEND | TRACE_CALL, tracer->id);
	traced_set(p, traced_get(p, other), TRACE_CALL | TRACE_PROCS, tracer->id);
	traced_set(p, traced_get(p, &trace_default), TRACE_GC, NIL); /* no flags without a tracer */
	ck_assert_uint_eq(p->trace_flags, TRACE_SEND | TRACE_CALL | TRACE_PROCS);
	ck_assert_uint_eq(trace_count(), 1);
	traced_set(p, trace_find(p, other), TRACE_PROCS, tracer->id);
	traced_set(p, trace_find(p, s), TRACE_SEND, tracer->id);
	ck_assert_uint_eq(p->trace_flags, TRACE_SEND | TRACE_PROCS);
	ck_assert(trace_session_end(s));
	ck_assert(traced_next(traced_first(p), TRACE_SEND) == NULL);
	ck_assert(traced_next(traced_first(p), TRACE_PROCS) == trace_find(p, other));
	ck_assert_uint_eq(traced_clean(&p->tracee->first), TRACE_PROCS);
	trace_sum(p);
	ck_assert_uint_eq(p->trace_flags, TRACE_PROCS);
	ck_assert_ptr_null(trace_find(p, s));
	trace_free(p);
	ck_assert_uint_eq(p->trace_flags, 0);
	ck_assert_uint_eq(trace_count(), 0);
}
END_TEST

START_TEST(test_session_is_there_as_long_as_somebody_has_something_of_it)
{
	Process *p = fake_process(), *tracer = fake_process();
	static struct held a;
	struct trace_session *s = make(&a, am_ok, NIL);
	int64_t number = s->number;

	traced_set(p, traced_get(p, s), TRACE_SEND, tracer->id);
	heap_free(&a.heap);
	while (!trace_session_clean())
		unit_pause();
	ck_assert(is_there(number));
	ck_assert(trace_session_is_over(traced_first(p)->session));
	traced_clean(&p->tracee->first);
	wait_for_end_of(number);
}
END_TEST

/* ---- measures */

static Process *tracee(struct held *a, struct traced **t)
{
	Process *p = fake_process();

	*t = traced_get(p, make(a, am_ok, p->id));
	return p;
}

/* {Pid, Count, Words} of the only row. */
static int64_t words_of_only(struct measures *m, int64_t count)
{
	Term list = measures_list(m, MEASURE_MEMORY, unit_heap());

	ck_assert(term_is_cons(list) && cons_tail(list) == NIL);
	ck_assert_int_eq(small_value(tuple_get(cons_head(list), 2)), count);
	return small_value(tuple_get(cons_head(list), 3));
}

START_TEST(test_measure_counts_words_where_they_were_made)
{
	struct measures outer = { 0 }, inner = { 0 };
	static struct held a;
	struct traced *t;
	Process *p = tracee(&a, &t);
	uint32_t before;

	measures_enter(&outer);
	measures_enter(&inner);
	ck_assert_uint_eq(measure_switch(p, t, MEASURE_MEMORY, outer.number, true), 0);
	heap_tuple(&p->heap, SMALL(1), SMALL(2));
	before = measure_switch(p, t, MEASURE_MEMORY, inner.number, true);
	ck_assert_uint_eq(before, outer.number);
	heap_cons(&p->heap, NIL, NIL);
	/* what a collection leaves was counted before, what it frees is not taken off */
	measure_gc_began(p);
	p->heap.top = p->heap.start;
	measure_gc_ended(p);
	heap_cons(&p->heap, NIL, NIL);
	measure_switch(p, t, MEASURE_MEMORY, before, false);
	heap_cons(&p->heap, NIL, NIL);
	measure_switch(p, t, MEASURE_MEMORY, 0, false);
	heap_cons(&p->heap, NIL, NIL);
	ck_assert_int_eq(words_of_only(&outer, 1), 3 + 2);
	ck_assert_int_eq(words_of_only(&inner, 1), 2 + 2);
	ck_assert(measures_list(&outer, MEASURE_TIME, unit_heap()) == NIL);
	measures_clear(&outer, MEASURE_MEMORY);
	ck_assert(measures_list(&outer, MEASURE_MEMORY, unit_heap()) == NIL);
	measures_forget(&inner); /* while it runs */
	t->runs[MEASURE_MEMORY].number = inner.number;
	measure_switch(p, t, MEASURE_MEMORY, 0, false);
	measures_forget(&outer);
}
END_TEST

START_TEST(test_measure_keeps_a_row_for_each_process)
{
	enum { MANY = 500 };
	struct measures m = { 0 };
	static struct held a;
	struct traced *t;
	Process *p = tracee(&a, &t);
	Term id = p->id;
	unsigned rows = 0;

	measures_enter(&m);
	for (unsigned k = 0; k < 3 * MANY; k++) {
		p->id = term_from_pid(100 + k % MANY, 1);
		measure_switch(p, t, MEASURE_TIME, m.number, true);
		measure_switch(p, t, MEASURE_TIME, 0, false);
	}
	p->id = id;
	for (Term list = measures_list(&m, MEASURE_TIME, unit_heap()); list != NIL; list = cons_tail(list), rows++)
		ck_assert_int_eq(small_value(tuple_get(cons_head(list), 2)), 3);
	ck_assert_uint_eq(rows, MANY);
	measures_forget(&m);
}
END_TEST

Suite *trace_session_suite(void)
{
	Suite *s = suite_create("trace_session");
	TCase *t = tcase_create("session"), *m = tcase_create("measure");

	tcase_add_checked_fixture(t, set_up, NULL);
	tcase_add_test(t, test_session_is_found_by_either_reference);
	tcase_add_test(t, test_session_ends_with_its_last_reference);
	tcase_add_test(t, test_session_that_is_destroyed_is_over_once);
	tcase_add_test(t, test_process_has_the_flags_of_all_its_sessions);
	tcase_add_test(t, test_session_is_there_as_long_as_somebody_has_something_of_it);
	suite_add_tcase(s, t);
	tcase_add_checked_fixture(m, set_up, NULL);
	tcase_add_test(m, test_measure_counts_words_where_they_were_made);
	tcase_add_test(m, test_measure_keeps_a_row_for_each_process);
	suite_add_tcase(s, m);
	return s;
}
