/* SPDX-License-Identifier: Apache-2.0 */
/* Work on dirty schedulers: no more at a time than are online, nothing while it is blocked, what it makes joins the
 * process, and the world stops meanwhile. Slices are functions of ours here; the VM runs in a child, whose status
 * tells. */
#include "unit.h"

#include <stdatomic.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/lock.h"
#include "proc/dirty.h"
#include "proc/process_life.h"
#include "proc/registry.h"
#include "proc/sched.h"

enum { FINE = 7, WORKERS = 23, ONLINE = 2, THREADS = 4, MADE = 1000 };

static struct {
	_Atomic unsigned inside, most_inside, through;
	_Atomic bool may_end, was_stopped;
} seen;

static Term make_list(Process *stand_in, struct dirty_work *w)
{
	unsigned now = atomic_fetch_add(&seen.inside, 1) + 1, most = atomic_load(&seen.most_inside);
	enum dirty_kind kind;
	Term list = NIL;

	(void)w;
	while (now > most && !atomic_compare_exchange_weak(&seen.most_inside, &most, now))
		;
	if (!dirty_is_here(&kind) || kind != DIRTY_CPU || sched_on_duty() || !dirty_is_wanted())
		_exit(1);
	for (uint64_t i = 0; i < MADE; i++)
		list = heap_cons(&stand_in->heap, SMALL(i), list);
	while (!atomic_load(&seen.may_end))
		unit_pause();
	atomic_fetch_sub(&seen.inside, 1);
	return list;
}

static void drop(struct dirty_work *w)
{
	mem_free(w);
}

static enum run_result wait_dirty(Process *p)
{
	struct dirty_work *w = mem_zalloc(sizeof(*w));

	w->run = make_list;
	w->drop = drop;
	if (dirty_run(p, DIRTY_CPU, w) != TERM_NONE || p->exc_kind != EXC_WAIT)
		_exit(2);
	p->exc_kind = EXC_NONE;
	return RUN_BLOCK;
}

static void note_stop(void *arg)
{
	(void)arg;
	atomic_store(&seen.was_stopped, atomic_load(&seen.inside) == ONLINE);
}

static void check_list(Process *p, Term list)
{
	unsigned n = 0;

	for (; term_is_cons(list); list = cons_tail(list), n++)
		if (!heap_owns(&p->heap, cons_ptr(list)))
			_exit(3);
	if (n != MADE || p->dirty != NULL)
		_exit(4);
}

/* Each goes to the dirty schedulers; then it comes back with what was made. */
static enum run_result run_worker(struct sched *s, Process *p)
{
	Term (*resume)(Process *p, void *arg) = p->resume;

	(void)s;
	if (resume == NULL)
		return wait_dirty(p);
	p->resume = NULL;
	check_list(p, resume(p, p->resume_arg));
	if (atomic_fetch_add(&seen.through, 1) + 1 == WORKERS)
		_exit(atomic_load(&seen.most_inside) == ONLINE && atomic_load(&seen.was_stopped) ? FINE : 5);
	p->x[2] = NIL; /* from now on it only sleeps */
	return RUN_WAIT;
}

/* Stops the world while as many work as may, and then lets them end. */
static enum run_result run_stopper(Process *p)
{
	if (dirty_running(DIRTY_CPU) < ONLINE || atomic_load(&seen.inside) < ONLINE)
		return RUN_YIELD;
	sched_stop_world(note_stop, NULL);
	atomic_store(&seen.may_end, true);
	p->x[2] = NIL;
	return RUN_WAIT;
}

static enum run_result run_any(struct sched *s, Process *p)
{
	if (p->x[2] == NIL)
		return RUN_WAIT;
	return cons_head(p->x[2]) == SMALL(0) ? run_stopper(p) : run_worker(s, p);
}

static void spawn_number(uint64_t number)
{
	struct spawn_options o = SPAWN_OPTIONS_DEFAULT;

	process_spawn(NULL, am_erlang, am_apply, heap_cons(unit_heap(), SMALL(number), NIL), &o, NULL);
}

static void run_child(void)
{
	process_table_init(1000);
	registry_init();
	sched_init(1, 1);
	dirty_init(THREADS, ONLINE, 1);
	sched_run_process = run_any;
	for (uint64_t i = 0; i <= WORKERS; i++)
		spawn_number(i);
	sched_start();
}

START_TEST(test_dirty_run_goes_on_while_the_world_stops)
{
	int status;
	pid_t pid = fork();

	if (pid == 0) {
		run_child();
		_exit(6);
	}
	ck_assert_int_gt(pid, 0);
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	ck_assert(WIFEXITED(status));
	ck_assert_int_eq(WEXITSTATUS(status), FINE);
}
END_TEST

START_TEST(test_dirty_block_leaves_none_active)
{
	dirty_init(THREADS, ONLINE, 3);
	ck_assert_uint_eq(dirty_count(DIRTY_CPU), THREADS);
	ck_assert_uint_eq(dirty_active(DIRTY_CPU), ONLINE);
	ck_assert_uint_eq(dirty_active(DIRTY_IO), 3);
	dirty_block(true);
	dirty_await_stop();
	ck_assert_uint_eq(dirty_active(DIRTY_CPU), 0);
	ck_assert_uint_eq(dirty_active(DIRTY_IO), 0);
	ck_assert_uint_eq(dirty_online(DIRTY_CPU), ONLINE);
	dirty_set_online(1);
	dirty_block(false);
	ck_assert_uint_eq(dirty_active(DIRTY_CPU), 1);
}
END_TEST

Suite *dirty_suite(void)
{
	Suite *s = suite_create("dirty");
	TCase *t = tcase_create("dirty");

	tcase_add_checked_fixture(t, unit_init, NULL);
	tcase_add_test(t, test_dirty_run_goes_on_while_the_world_stops);
	tcase_add_test(t, test_dirty_block_leaves_none_active);
	suite_add_tcase(s, t);
	return s;
}
