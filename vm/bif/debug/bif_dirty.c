/* SPDX-License-Identifier: Apache-2.0 */
/* Built-in functions that run on dirty schedulers for those who test them: erts_debug:dirty_cpu/2, dirty_io/2,
 * dirty/3. */
#include <string.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "bif/bif.h"
#include "heap/copy.h"
#include "proc/dirty.h"
#include "proc/message.h"
#include "proc/sched.h"

enum { COPIES = 1000, LONG_WAIT_MS = 6000, EXITING_LOOK_MS = 1, EXITING_WAIT_MS = 1000, BIG_WORDS = 10000 };

/* Where it runs, beside the two kinds: on a scheduler. */
enum { ON_SCHEDULER = DIRTY_KINDS };

struct test {
	struct dirty_work work;
	Term native_args[3]; /* of the native that began it */
	Term args[2];
	int on;              /* enum dirty_kind, or ON_SCHEDULER */
	bool again;          /* with args, on `on` */
};

static void send_state(const Process *p, Term to, Term state)
{
	Process *q = term_is_local_pid(to) ? process_find(to) : NULL;
	struct fragment *f;

	if (q == NULL)
		return;
	f = fragment_new(3);
	f->words[0] = HEADER(2, SUB_TUPLE);
	f->words[1] = state;
	f->words[2] = p->id;
	message_deliver(q, p->id, term_from_boxed(f->words), f);
	process_unref(q);
}

static void wait_ms(int64_t ms, bool busy)
{
	int64_t end = clock_monotonic_ns() + ms * 1000000;

	if (!busy)
		clock_sleep_ms(ms > 0 ? ms : 0);
	while (clock_monotonic_ns() < end)
		thread_yield();
}

static Term run_wait(Process *p, struct test *t)
{
	if (!term_is_small(t->args[1]))
		return exc_badarg(p);
	wait_ms(small_value(t->args[1]), t->on == DIRTY_CPU);
	return am_ok;
}

static Term run_type(Process *p, struct test *t)
{
	enum dirty_kind kind;

	if (t->args[1] != am_type)
		return exc_badarg(p);
	return !dirty_is_here(&kind) ? am_normal : kind == DIRTY_CPU ? am_dirty_cpu : am_dirty_io;
}

static Term run_error(Process *p, struct test *t)
{
	static const Term reasons[] = { am_notsup, am_undef, am_badarith, am_noproc, am_system_limit };

	for (size_t i = 0; i < sizeof(reasons) / sizeof(reasons[0]); i++)
		if (t->args[1] == reasons[i])
			return exc_error(p, t->args[1]);
	return exc_badarg(p);
}

static Term run_copy(Process *p, struct test *t)
{
	Term list = NIL;

	for (int i = 0; i < COPIES; i++)
		list = heap_cons(&p->heap, copy_to_heap(t->args[1], &p->heap), list);
	return list;
}

static Term run_send(Process *p, struct test *t)
{
	send_state(p, t->args[1], am_ok);
	return am_ok;
}

/* Counts down by two to 0, and goes to another kind of scheduler at each multiple of four. */
static Term run_reschedule(Process *p, struct test *t)
{
	static const int next[] = { [DIRTY_CPU] = DIRTY_IO, [DIRTY_IO] = ON_SCHEDULER, [ON_SCHEDULER] = DIRTY_CPU };
	int64_t n = term_is_small(t->args[1]) ? small_value(t->args[1]) : -1;

	if (n < 0)
		return exc_badarg(p);
	if (n == 0)
		return am_ok;
	if (n % 4 == 0)
		t->on = next[t->on];
	t->args[1] = term_from_small(n - 2);
	t->again = true;
	return am_ok;
}

static Term run_long(Process *p, struct test *t)
{
	send_state(p, t->args[1], am_ready);
	wait_ms(LONG_WAIT_MS, false);
	send_state(p, t->args[1], am_done);
	return am_ok;
}

/* What is made after p has ended is never seen; it must be possible all the same. */
static Term run_until_exiting(Process *p, struct test *t)
{
	Term *words;

	if (!dirty_is_wanted())
		return exc_badarg(p);
	send_state(p, t->args[1], am_alive);
	while (dirty_is_wanted())
		clock_sleep_ms(EXITING_LOOK_MS);
	wait_ms(EXITING_WAIT_MS, false);
	words = heap_alloc(&p->heap, 1 + BIG_WORDS);
	words[0] = HEADER(BIG_WORDS, SUB_BIG_POS);
	for (int i = 1; i <= BIG_WORDS; i++)
		words[i] = 4711;
	return heap_tuple(&p->heap, am_ok, term_from_boxed(words));
}

static const struct {
	Term name;
	Term (*run)(Process *p, struct test *t);
} tests[] = {
	{ am_scheduler, run_type }, { am_error, run_error }, { am_copy, run_copy }, { am_send, run_send },
	{ am_wait, run_wait }, { am_reschedule, run_reschedule }, { am_ready_wait6_done, run_long },
	{ am_alive_waitexiting, run_until_exiting },
};

static Term run_test(Process *p, struct dirty_work *work)
{
	struct test *t = (struct test *)work;

	t->again = false;
	for (size_t i = 0; i < sizeof(tests) / sizeof(tests[0]); i++)
		if (tests[i].name == t->args[0])
			return tests[i].run(p, t);
	return exc_badarg(p);
}

static void free_test(struct dirty_work *work)
{
	mem_free(work);
}

static Term start_test(Process *p, const struct test *from);

static Term go_on(Process *p, const struct test *t, Term result)
{
	return result != TERM_NONE && t->again ? start_test(p, t) : result;
}

static Term end_test(Process *p, struct dirty_work *work, Term result)
{
	return go_on(p, (const struct test *)work, result);
}

/* As t says. On a scheduler it is lent meanwhile. */
static Term start_test(Process *p, const struct test *from)
{
	struct test *t, here = *from;
	Term result;

	if (from->on == ON_SCHEDULER) {
		sched_lend();
		result = run_test(p, &here.work);
		sched_reclaim();
		return go_on(p, &here, result);
	}
	t = mem_alloc(sizeof(*t));
	*t = here;
	t->work.args = t->native_args;
	return dirty_run(p, (enum dirty_kind)t->on, &t->work);
}

/* name and arg are the last two of the native's arguments. */
static Term begin_test(Process *p, int on, const Term *args, unsigned arity)
{
	struct test t = {
		.work = { .run = run_test, .done = end_test, .drop = free_test, .arity = arity },
		.args = { args[arity - 2], args[arity - 1] }, .on = on,
	};

	memcpy(t.native_args, args, arity * sizeof(Term));
	return start_test(p, &t);
}

Term bif_erts_debug_dirty_cpu_2(Process *p, Term *args) { return begin_test(p, DIRTY_CPU, args, 2); }
Term bif_erts_debug_dirty_io_2(Process *p, Term *args) { return begin_test(p, DIRTY_IO, args, 2); }

Term bif_erts_debug_dirty_3(Process *p, Term *args)
{
	if (args[0] == am_normal)
		return begin_test(p, ON_SCHEDULER, args, 3);
	if (args[0] == am_dirty_cpu)
		return begin_test(p, DIRTY_CPU, args, 3);
	return args[0] == am_dirty_io ? begin_test(p, DIRTY_IO, args, 3) : exc_badarg(p);
}

/* ---- what OTP's process for signals of processes that run dirty calls: here they handle their own (proc/dirty.h),
 * and nobody asks it */

Term bif_erts_internal_dirty_process_handle_signals_1(Process *p, Term *args)
{
	(void)args;
	return exc_error(p, am_notsup);
}

Term bif_erts_internal_check_dirty_process_code_2(Process *p, Term *args)
{
	(void)args;
	return exc_error(p, am_notsup);
}
