/* SPDX-License-Identifier: Apache-2.0 */
/* The world: who runs processes, and its stop.
 * Invariant (lock): `active` counts the schedulers in it, `apart` the threads that work for a process without a
 * scheduler; sched.part says which of them a scheduler's own thread is. While `stop` is set no scheduler enters, while
 * `stopping` is not 0 no thread begins to work apart. */
#include "proc/sched_world.h"

#include "base/clock.h"
#include "proc/batch.h"
#include "proc/progress.h"
#include "proc/sched_lend.h"

enum { PART_OUTSIDE, PART_ACTIVE, PART_APART, STOP_ROUNDS = 3 };
/* Shorter stops are no burden: who sleeps wakes later than they end. */
enum { REST_LEAST_NS = 100000, REST_MOST_NS = 1000000 };

static struct {
	struct lock lock;
	struct cond cond;
	unsigned active, apart;
	unsigned stopping;   /* who waits for these, and keeps more from working apart */
	unsigned turns, turn; /* who stops the world takes the next of `turns`; whose it is is `turn` */
	_Atomic unsigned held; /* who waits to come in, be it for the lock; goes down with the lock held */
	int64_t rests_ns;    /* until then nobody stops it while processes wait */
	_Atomic bool stop;
} world;

_Atomic unsigned sched_world_runs;
static _Thread_local bool works_apart; /* a worker thread, between the two */

void sched_world_init(void)
{
	lock_init(&world.lock, LOCK_sched_world);
	cond_init(&world.cond);
	atomic_store(&sched_world_runs, sched_active());
}

/* Has s another thread now? Does not change while the lock is held. */
static bool is_taken(const struct sched *s)
{
	return (atomic_load(&s->lent) & LENT_MASK) == LENT_TAKEN;
}

/* Lock held. s, of this thread; NULL: it is a worker. */
static void count_in(struct sched *s)
{
	bool is_apart = s == NULL || is_taken(s);

	progress_enter();
	wait_set_inside(true);
	*(is_apart ? &world.apart : &world.active) += 1;
	if (s == NULL)
		return;
	s->part = is_apart ? PART_APART : PART_ACTIVE;
	sched_look_who_follows(s);
}

static void enter(struct sched *s)
{
	bool was_held = !lock_try(&world.lock);

	if (was_held) {
		atomic_fetch_add(&world.held, 1);
		lock_acquire(&world.lock);
	}
	while (s == NULL || is_taken(s) ? world.stopping > 0 : atomic_load(&world.stop)) {
		if (!was_held)
			atomic_fetch_add(&world.held, 1);
		was_held = true;
		cond_wait(s == NULL || is_taken(s) ? WAIT_world_enter_apart : WAIT_world_enter, &world.cond,
			  &world.lock);
	}
	if (was_held && atomic_fetch_sub(&world.held, 1) == 1)
		cond_broadcast(&world.cond);
	count_in(s);
	lock_release(&world.lock);
}

static void leave(struct sched *s)
{
	progress_leave();
	wait_set_inside(false);
	lock_acquire(&world.lock);
	*(s == NULL || s->part == PART_APART ? &world.apart : &world.active) -= 1;
	if (s != NULL)
		s->part = PART_OUTSIDE;
	if (world.stopping > 0 || atomic_load(&world.stop))
		cond_broadcast(&world.cond);
	lock_release(&world.lock);
}

void sched_world_enter(struct sched *s)
{
	batch_end_turn();
	enter(s);
}

void sched_world_leave(struct sched *s) { leave(s); }

void sched_world_enter_apart(void)
{
	enter(NULL);
	works_apart = true;
}

void sched_world_leave_apart(void)
{
	works_apart = false;
	leave(NULL);
}

bool sched_world_is_in(const struct sched *s)
{
	bool is_in;

	lock_acquire(&world.lock);
	is_in = s->part != PART_OUTSIDE;
	lock_release(&world.lock);
	return is_in;
}

bool sched_world_is_stopping(void)
{
	bool is_stopping;

	lock_acquire(&world.lock);
	is_stopping = world.stopping > 0;
	lock_release(&world.lock);
	return is_stopping;
}

/* This thread's, unless it is a worker or a dirty scheduler, which are in the world as who works apart. */
static struct sched *own_sched(void)
{
	struct sched *s = sched_self();

	return s != NULL && s->is_dirty ? NULL : s;
}

/* A dirty scheduler is outside already. */
static bool is_outside(void)
{
	return sched_self() != NULL && sched_self()->is_dirty && !works_apart;
}

void sched_go_outside(void)
{
	if (!sched_on_duty() && !is_outside())
		leave(own_sched());
}

void sched_go_inside(void)
{
	if (!sched_on_duty() && !is_outside())
		enter(own_sched());
}

/* Lock held. Who works apart is waited for before the world stops, not while it is stopped. */
static bool may_part(const struct sched *s, bool for_stop)
{
	return !atomic_load(&world.stop) && (for_stop || world.stopping == 0 || s->part == PART_OUTSIDE);
}

bool sched_world_part(struct sched *s, uint32_t lent, struct sched *to, bool for_stop)
{
	bool taken;

	lock_acquire(&world.lock);
	taken = may_part(s, for_stop) && atomic_compare_exchange_strong(&s->lent, &lent,
									lent - LENT_MAY_BE_TAKEN + LENT_TAKEN);
	if (taken) {
		if (s->part == PART_ACTIVE) {
			world.active--;
			world.apart++;
			s->part = PART_APART;
		}
		sched_pass_on(s, to);
	}
	lock_release(&world.lock);
	return taken;
}

/* ---- the stop */

static void stop_runs(bool stop)
{
	atomic_store(&world.stop, stop);
	atomic_store(&sched_world_runs, stop ? 0 : sched_active());
}

/* A crash dump stops the world without the lock. */
void sched_world_review(void)
{
	bool stop;

	lock_acquire(&world.lock);
	do {
		stop = atomic_load(&world.stop);
		atomic_store(&sched_world_runs, stop ? 0 : sched_active());
	} while (atomic_load(&world.stop) != stop);
	lock_release(&world.lock);
}

static void go_on(void)
{
	lock_acquire(&world.lock);
	stop_runs(false);
	cond_broadcast(&world.cond);
	lock_release(&world.lock);
}

/* The schedulers go on as long as threads work apart. */
static void stop_after_apart(unsigned turn)
{
	lock_acquire(&world.lock);
	while (world.turn != turn || world.apart > 0 || atomic_load(&world.stop))
		cond_wait(WAIT_stop_apart, &world.cond, &world.lock);
	stop_runs(true);
	lock_release(&world.lock);
}

/* Lock held. Who waits to come in wakes up later than the last stop ends, or the lock is released: a thread that stops
 * the world again and again would never let it in. For the same reason stops have turns: who waits for one to end
 * would find the next one. */
static void wait_for_held(void)
{
	while (atomic_load(&world.held) > 0)
		cond_wait(WAIT_stop_held, &world.cond, &world.lock);
}

/* Lock held. A stop lasted that long: processes that wait run for as long before the next. Who stops the world again
 * and again would leave each scheduler one time slice between two stops. */
static void begin_rest(int64_t lasted_ns, int64_t now_ns)
{
	if (lasted_ns >= REST_LEAST_NS)
		world.rests_ns = now_ns + (lasted_ns < REST_MOST_NS ? lasted_ns : REST_MOST_NS);
}

static void wait_for_rest(void)
{
	while (sched_run_queue_length() > 0 && clock_monotonic_ns() < world.rests_ns)
		cond_wait_until(WAIT_stop_rest, &world.cond, &world.lock, world.rests_ns);
}

/* Who has lent a scheduler may last: it gets another thread, so that it goes on until the first works apart no more. */
static void wait_for_all(void)
{
	unsigned turn;

	lock_acquire(&world.lock);
	wait_for_held();
	wait_for_rest();
	turn = world.turns++;
	world.stopping++;
	lock_release(&world.lock);
	for (int round = 1;; round++) {
		sched_lend_take_all();
		stop_after_apart(turn);
		if (round == STOP_ROUNDS || !sched_lend_is_any())
			break;
		go_on();
	}
	lock_acquire(&world.lock);
	while (world.active > 0)
		cond_wait(WAIT_stop_active, &world.cond, &world.lock);
	lock_release(&world.lock);
}

void sched_stop_world(void (*fn)(void *), void *arg)
{
	struct sched *s = own_sched();
	bool is_in = s != NULL || works_apart;
	int64_t begin_ns, now_ns;

	if (is_in)
		leave(s);
	sched_lend();
	wait_for_all();
	sched_reclaim();
	begin_ns = clock_monotonic_ns();
	fn(arg);
	lock_acquire(&world.lock);
	now_ns = clock_monotonic_ns();
	begin_rest(now_ns - begin_ns, now_ns);
	stop_runs(false);
	world.turn++;
	world.stopping--;
	if (is_in)
		count_in(s);
	cond_broadcast(&world.cond);
	lock_release(&world.lock);
}

void sched_resume_world(void)
{
	struct sched *s = own_sched();
	bool is_in = s != NULL || works_apart;

	if (is_in)
		leave(s);
	sched_lend_give();
	lock_acquire(&world.lock);
	wait_for_held();
	lock_release(&world.lock);
	if (is_in)
		enter(s);
}

void sched_yield_world(void)
{
	if (sched_world_is_stopping())
		sched_resume_world();
}

bool sched_stop_world_within(int64_t wait_ns, void (*fn)(void *arg, bool all_stopped), void *arg)
{
	int64_t deadline = clock_monotonic_ns() + wait_ns;
	const struct sched *s = sched_self();
	unsigned own = s != NULL && s->part != PART_OUTSIDE ? 1 : 0;
	bool stopped = false;

	stop_runs(true);
	/* those that run notice it between two slices; the lock may be our own already */
	while (!stopped && clock_monotonic_ns() < deadline) {
		thread_yield();
		if (!lock_try(&world.lock))
			continue;
		stopped = world.active + world.apart <= own;
		lock_release(&world.lock);
	}
	fn(arg, stopped);
	return stopped;
}
