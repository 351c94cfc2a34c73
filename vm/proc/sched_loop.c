/* SPDX-License-Identifier: Apache-2.0 */
/* What the thread of a scheduler does, from the start of the VM to its end: timers, descriptors, jobs, processes. */
#include <stdio.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/log.h"
#include "proc/batch.h"
#include "proc/micro_threads.h"
#include "proc/os_signal.h"
#include "proc/progress.h"
#include "proc/sched_job.h"
#include "proc/sched_lend.h"
#include "proc/sched_poll.h"
#include "proc/sched_queue.h"
#include "proc/sched_world.h"
#include "proc/slice_clock.h"
#include "proc/tidy.h"
#include "proc/timer_message.h"
#include "proc/tracee.h"
#include "proc/worker.h"

enum {
	TIMER_REDS = 1000,   /* timers are looked at after so many reductions... */
	TIMER_SLICES = 16,   /* ...or so many slices */
	POLL_AWAY = 4,       /* who was idle has another poll when it is busy for so many slices */
	POLL_EVERY = 4,      /* and who is busy looks at descriptors after so many looks at the timers */
	WATCH_RUNS = 4,      /* so many looks at the timers go by before one at who watches */
	HALT_HOOKS_MAX = 4,
	WORKERS_MIN = 4,
};

static struct {
	void (*hooks[HALT_HOOKS_MAX])(bool flush);
	unsigned hook_count;
	atomic_flag has_begun;
} ending = { .has_begun = ATOMIC_FLAG_INIT };

/* Who is busy for longer leaves it to one that is idle to poll. */
static bool give_polling_away(void)
{
	if (!sched_is_any_idle() || !sched_poll_is_vacant())
		return false;
	sched_wake_idle();
	return true;
}

/* When there is none that is idle, it looks itself now and then. */
static void poll_in_between(struct sched *s)
{
	if (!give_polling_away() && ++s->poll_turns % POLL_EVERY == 0)
		sched_poll_now();
}

static void run_timers(struct sched *s)
{
	batch_end_turn();
	if (++s->timer_runs % WATCH_RUNS == 0)
		sched_look_who_watches(s);
	s->timer_reds = TIMER_REDS;
	if (timer_wheel_deadline_ns(s->wheel) != 0)
		timer_wheel_run(s->wheel, clock_monotonic_ns());
}

/* The thread has a scheduler. */
static void begin(struct sched *s)
{
	sched_world_enter(s);
	sched_look_who_watches(s);
}

/* What ports have to do. */
static void run_job(struct sched *s)
{
	batch_end_turn();
	micro_enter(s, MICRO_PORT);
	if (sched_job_run())
		s->timer_reds -= TIMER_REDS / TIMER_SLICES;
	micro_enter(s, MICRO_OTHER);
}

static Process *idle(struct sched *s)
{
	Process *p = sched_search(s);

	if (p == NULL && unlikely(trace_active))
		trace_hooks.sched_idle(s->id);
	return sched_rest(s, p);
}

static void *run_sched(void *arg)
{
	struct sched *s = arg;

	sched_of_thread = s;
	s->thread = gettid();
	if (sched_on_duty())
		begin(s);
	for (;;) {
		Process *p;

		if (unlikely(!sched_on_duty())) {
			sched_lend_rest(s);
			begin(s);
		}
		if (unlikely(progress_tick()))
			sched_look_who_follows(s);
		if (unlikely(s->id > atomic_load_explicit(&sched_world_runs, memory_order_relaxed))) {
			sched_world_leave(s);
			sched_world_enter(s);
			s->timer_reds = 0; /* that took longer than slices do */
			if (!run_queue_is_active(s->queue)) {
				run_timers(s);
				sched_stand_aside(s);
				continue;
			}
		}
		if (++s->busy_turns == POLL_AWAY)
			give_polling_away();
		s->timer_reds -= TIMER_REDS / TIMER_SLICES;
		if (s->timer_reds <= 0) {
			run_timers(s);
			poll_in_between(s);
		}
		if (sched_job_waits())
			run_job(s);
		p = run_queue_take(s->queue);
		if (p == NULL) {
			run_timers(s);
			p = run_queue_take(s->queue);
		}
		if (p == NULL && !sched_job_waits()) {
			p = idle(s);
			s->busy_turns = 0;
			sched_look_who_watches(s);
		}
		if (p != NULL)
			sched_run_slice(s, p);
	}
	return NULL;
}

/* ---- start and end */

void sched_init(unsigned count, unsigned online)
{
	wait_check();
	os_signal_init();
	worker_init(count > WORKERS_MIN ? count : WORKERS_MIN, online);
	sched_lend_init(count > WORKERS_MIN ? count : WORKERS_MIN, run_sched);
	slice_clock_init();
	tidy_init();
	micro_init(count);
	micro_threads_init();
	timer_message_init();
	progress_init();
	sched_make(count, online);
	sched_world_init();
	sched_job_init();
	sched_poll_init();
}

int sched_start(void)
{
	for (unsigned id = 1; id <= sched_count(); id++) {
		char name[16];
		int error;

		snprintf(name, sizeof(name), "sched_%u", id);
		error = thread_start(name, run_sched, sched_get(id));
		if (error != 0)
			log_refused("start a scheduler thread", -error);
	}
	slice_clock_start();
	tidy_start();
	os_signal_run();
}

_Atomic int64_t sched_flush_max_ms = -1;

void sched_at_halt(void (*hook)(bool flush))
{
	ENSURE(ending.hook_count < HALT_HOOKS_MAX);
	ending.hooks[ending.hook_count++] = hook;
}

/* Another thread ends the VM. It may need the world to be stopped first, so this one must not stand in the way. */
void sched_await_end(void)
{
	for (;;) {
		sched_yield_world();
		nanosleep(&(struct timespec){ .tv_nsec = 1000000 }, NULL);
	}
}

void sched_halt(int status, bool flush)
{
	if (atomic_flag_test_and_set(&ending.has_begun))
		sched_await_end();
	for (unsigned i = 0; i < ending.hook_count; i++)
		ending.hooks[i](flush);
	batch_close();
	fflush(NULL);
	_exit(status);
}
