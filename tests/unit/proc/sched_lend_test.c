/* SPDX-License-Identifier: Apache-2.0 */
/* One scheduler, lent by one process: others run meanwhile. Slices are functions of ours here; the VM runs in a child,
 * whose status tells. */
#include "unit.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/lock.h"
#include "proc/exc.h"
#include "proc/process_life.h"
#include "proc/registry.h"
#include "proc/sched.h"
#include "proc/sched_lend.h"

enum { FINE = 7, SLICES_AFTER = 3 };

enum role { LENDER, STOPPER, OTHER, ROLES };

static struct {
	_Atomic unsigned slices[ROLES];
	_Atomic bool is_lent, stopped_while_lent, was_stopped, is_back;
} seen;

/* What this slice is: the process's number stands in its argument list. */
static enum role role_of(const Process *p)
{
	return (enum role)small_value(cons_head(p->x[2]));
}

static void wait_for(const _Atomic unsigned *count, unsigned least)
{
	while (atomic_load(count) < least)
		unit_pause();
}

static void note_stop(void *arg)
{
	(void)arg;
	atomic_store(&seen.stopped_while_lent, atomic_load(&seen.is_lent));
	atomic_store(&seen.was_stopped, true);
}

/* Lends until the others have run, with a loan within the loan. */
static void lend_until(unsigned least)
{
	struct sched *s = sched_self();

	sched_lend();
	sched_lend();
	atomic_store(&seen.is_lent, true);
	wait_for(&seen.slices[OTHER], least);
	atomic_store(&seen.is_lent, false);
	sched_reclaim();
	sched_reclaim();
	if (sched_on_duty() || sched_get(1) == s || sched_is_alone())
		_exit(1);
}

static enum run_result end_with(int status)
{
	_exit(status);
}

/* The lender's second slice finds everything as it was. */
static enum run_result run_lender(struct sched *s, Process *p, unsigned slice)
{
	if (slice > 1)
		return end_with(s->id == 1 && sched_on_duty() && sched_get(1) == s ? FINE : 2);
	lend_until(SLICES_AFTER);
	return p->reds_left <= 0 ? RUN_YIELD : end_with(3);
}

static enum run_result run_alone(struct sched *s, Process *p)
{
	enum role role = role_of(p);
	unsigned slice = atomic_fetch_add(&seen.slices[role], 1) + 1;

	if (role == LENDER)
		return run_lender(s, p, slice);
	return RUN_YIELD;
}

/* Whoever stops the world while the scheduler is lent waits for the lender, and lends it in his turn. */
static enum run_result run_with_stop(struct sched *s, Process *p)
{
	enum role role = role_of(p);
	unsigned slice;

	if (role == OTHER && !atomic_load(&seen.is_lent) && !atomic_load(&seen.was_stopped))
		return RUN_YIELD; /* its slices count once there is a loan */
	slice = atomic_fetch_add(&seen.slices[role], 1) + 1;
	if (role == LENDER)
		return slice > 1 ? RUN_YIELD : run_lender(s, p, slice);
	if (role == STOPPER && slice == 1) {
		if (!atomic_load(&seen.is_lent))
			return end_with(4);
		sched_stop_world(note_stop, NULL);
		return RUN_YIELD;
	}
	if (role == STOPPER)
		return end_with(atomic_load(&seen.was_stopped) && !atomic_load(&seen.stopped_while_lent) ? FINE : 5);
	return RUN_YIELD;
}

static void spawn_role(enum role role)
{
	struct spawn_options o = SPAWN_OPTIONS_DEFAULT;
	struct heap *h = unit_heap();

	process_spawn(NULL, am_erlang, am_apply, heap_cons(h, SMALL(role), NIL), &o, NULL);
}

static void run_child(enum run_result (*run)(struct sched *s, Process *p), bool with_stopper)
{
	process_table_init(1000);
	registry_init();
	sched_init(1, 1);
	sched_run_process = run;
	spawn_role(LENDER);
	if (with_stopper)
		spawn_role(STOPPER);
	spawn_role(OTHER);
	sched_start();
}

static int status_of(enum run_result (*run)(struct sched *s, Process *p), bool with_stopper)
{
	int status;
	pid_t pid = fork();

	if (pid == 0) {
		run_child(run, with_stopper);
		_exit(6);
	}
	ck_assert_int_gt(pid, 0);
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	ck_assert(WIFEXITED(status));
	return WEXITSTATUS(status);
}

START_TEST(test_sched_lend_lets_others_run)
{
	ck_assert_int_eq(status_of(run_alone, false), FINE);
}
END_TEST

START_TEST(test_sched_lend_is_waited_for_by_who_stops_the_world)
{
	ck_assert_int_eq(status_of(run_with_stop, true), FINE);
}
END_TEST

Suite *sched_lend_suite(void)
{
	Suite *s = suite_create("sched_lend");
	TCase *t = tcase_create("sched_lend");

	tcase_add_checked_fixture(t, unit_init, NULL);
	tcase_add_test(t, test_sched_lend_lets_others_run);
	tcase_add_test(t, test_sched_lend_is_waited_for_by_who_stops_the_world);
	suite_add_tcase(s, t);
	return s;
}
