/* SPDX-License-Identifier: Apache-2.0 */
/* Who polls. Invariant: what `turn` gives away belongs to one thread: events, n. No wake-up is lost: sched_poll_wake
 * leaves an edge in the set, which the next epoll_wait returns for. */
#include "proc/sched_poll.h"

#include <errno.h>
#include <stdatomic.h>
#include <sys/eventfd.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/refused.h"
#include "proc/micro.h"
#include "proc/sched.h"

#define ROUND_EVENTS 64

void (*sched_poll_dispatch)(const struct epoll_event *events, int n);

static struct {
	int epoll, wake;
	atomic_bool turn;          /* somebody polls */
	_Atomic int watched;
	_Atomic uint32_t rounds;   /* turns so far */
	uint32_t rounds_seen;      /* by sched_poll_is_forgotten */
	struct epoll_event events[ROUND_EVENTS]; /* of who has the turn, as n */
	int n;
} polling;

void sched_poll_init(void)
{
	struct epoll_event e = { .events = EPOLLIN | EPOLLET, .data.u64 = SCHED_POLL_WAKE };

	polling.epoll = epoll_create1(EPOLL_CLOEXEC);
	if (polling.epoll >= 0)
		polling.wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (polling.epoll < 0 || polling.wake < 0 || epoll_ctl(polling.epoll, EPOLL_CTL_ADD, polling.wake, &e) < 0)
		log_refused("wait for files", errno);
}

int sched_poll_fd(void)
{
	return polling.epoll;
}

void sched_poll_count(int more)
{
	atomic_fetch_add(&polling.watched, more);
	/* All schedulers may be asleep, and none of them polling, as there was nothing to poll. */
	if (more > 0 && !sched_on_duty() && sched_poll_is_vacant())
		sched_wake_idle();
}

bool sched_poll_begin(void)
{
	if (atomic_load(&polling.watched) == 0 || atomic_load_explicit(&polling.turn, memory_order_relaxed) ||
	    atomic_exchange(&polling.turn, true))
		return false;
	polling.n = 0;
	return true;
}

static void wait_for(const struct timespec *timeout)
{
	int n = epoll_pwait2(polling.epoll, polling.events, ROUND_EVENTS, timeout, NULL);

	/* kernels before 5.11, and filters: by the millisecond, rounded up */
	if (n < 0 && call_is_refused(errno))
		n = epoll_wait(polling.epoll, polling.events, ROUND_EVENTS,
			       timeout == NULL ? -1
					       : (int)(timeout->tv_sec * 1000 + (timeout->tv_nsec + 999999) / 1000000));
	polling.n = n > 0 ? n : 0;
}

bool sched_poll_look(void)
{
	if (polling.n == 0)
		wait_for(&(struct timespec){ 0 });
	return polling.n > 0;
}

void sched_poll_sleep(int64_t deadline_ns)
{
	enum { LONGEST_S = 86400 };
	int64_t left = deadline_ns != 0 ? deadline_ns - clock_monotonic_ns() : 0;
	struct timespec t = { 0 };

	if (polling.n > 0)
		return;
	if (left > 0) {
		t.tv_sec = left / 1000000000 < LONGEST_S ? left / 1000000000 : LONGEST_S;
		t.tv_nsec = left % 1000000000;
	}
	wait_for(deadline_ns != 0 ? &t : NULL);
}

void sched_poll_end(void)
{
	int n = polling.n;

	polling.n = 0;
	micro_enter(sched_self(), MICRO_CHECK_IO);
	sched_poll_dispatch(polling.events, n);
	micro_enter(sched_self(), MICRO_OTHER);
	atomic_fetch_add_explicit(&polling.rounds, 1, memory_order_relaxed);
	atomic_store(&polling.turn, false);
}

void sched_poll_wake(void)
{
	uint64_t one = 1;

	while (write(polling.wake, &one, sizeof(one)) < 0 && errno == EINTR) {
	}
}

void sched_poll_now(void)
{
	if (!sched_poll_begin())
		return;
	sched_poll_look();
	sched_poll_end();
}

bool sched_poll_is_vacant(void)
{
	return atomic_load(&polling.watched) > 0 && !atomic_load(&polling.turn);
}

bool sched_poll_is_forgotten(void)
{
	uint32_t rounds = atomic_load_explicit(&polling.rounds, memory_order_relaxed);
	bool forgotten = rounds == polling.rounds_seen && sched_poll_is_vacant();

	polling.rounds_seen = rounds;
	return forgotten;
}
