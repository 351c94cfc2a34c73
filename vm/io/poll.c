/* SPDX-License-Identifier: Apache-2.0 */
/* Descriptors that are waited for: those of proc/sched_poll.h by the schedulers, the others by the poll thread.
 * Invariant: a dropped watch is out of epoll before its `dropped` runs, and that runs between two rounds of
 * epoll_wait of whoever waits for it, so that no event of it is left in the air. */
#include "io/poll.h"

#include <errno.h>
#include <stdatomic.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/lock.h"
#include "base/log.h"
#include "proc/batch.h"
#include "proc/sched_poll.h"

#define ROUND_EVENTS 64

static struct {
	struct lock lock;
	bool started;               /* lock: the poll thread */
	int epoll;                  /* the poll thread's */
	int wake;
	atomic_uint ready[POLL_SETS];
	size_t watched[POLL_SETS];  /* lock */
	struct poll_watch *always;  /* lock */
	struct poll_watch *paused;  /* lock */
	struct poll_watch *dropped; /* lock: of the poll thread */
	struct poll_watch *dropped_by_scheds; /* lock */
} poller;

static void wake_poller(void)
{
	uint64_t one = 1;

	while (write(poller.wake, &one, sizeof(one)) < 0 && errno == EINTR) {
	}
}

static uint32_t epoll_events(unsigned wanted)
{
	return EPOLLONESHOT | (wanted & WATCH_IN ? EPOLLIN : 0) | (wanted & WATCH_OUT ? EPOLLOUT : 0);
}

static enum poll_set set_of(const struct poll_watch *w)
{
	return w->may_block ? POLL_BY_THREAD : POLL_BY_SCHEDULERS;
}

static int control(struct poll_watch *w, int op, struct epoll_event *e)
{
	return epoll_ctl(w->may_block ? poller.epoll : sched_poll_fd(), op, w->fd, e);
}

/* poll lock held. */
static void want(struct poll_watch *w, unsigned wanted)
{
	struct epoll_event e = { .events = epoll_events(wanted), .data.ptr = w };

	w->wanted = wanted;
	if (!w->dropping && !w->always)
		control(w, EPOLL_CTL_MOD, &e);
}

static unsigned ready_events(const struct epoll_event *e)
{
	unsigned events = 0;

	if (e->events & EPOLLIN)
		events |= WATCH_IN;
	if (e->events & EPOLLOUT)
		events |= WATCH_OUT;
	if (e->events & (EPOLLHUP | EPOLLERR))
		events |= WATCH_ERROR;
	return events;
}

static void run_ready(struct poll_watch *w, unsigned events)
{
	bool run;

	lock_acquire(&poller.lock);
	if (events & ~w->wanted & WATCH_ERROR)
		events |= WATCH_IN | WATCH_OUT; /* the read or write then tells */
	events &= w->wanted;
	run = !w->dropping && events != 0;
	if (run)
		w->wanted = 0;
	lock_release(&poller.lock);
	if (run)
		w->ready(w, events);
}

static void set_ready(enum poll_set set, int n)
{
	atomic_store_explicit(&poller.ready[set], n > 0 ? (unsigned)n : 0, memory_order_relaxed);
}

static void run_always(void)
{
	struct poll_watch *w;

	lock_acquire(&poller.lock);
	w = poller.always;
	lock_release(&poller.lock);
	/* Only this thread takes watches out; new ones come in at the head. */
	for (; w != NULL; w = w->next)
		run_ready(w, WATCH_IN | WATCH_OUT);
}

/* Of any watch: none is dropped while the lock is held, nor does a dropped one pause. */
static void end_pauses(void)
{
	int64_t now = clock_monotonic_ns();
	struct poll_watch **at, *w;

	lock_acquire(&poller.lock);
	for (at = &poller.paused; (w = *at) != NULL;) {
		if (w->paused_until_ns > now) {
			at = &w->pause_next;
			continue;
		}
		*at = w->pause_next;
		w->paused_until_ns = 0;
		want(w, WATCH_IN);
	}
	lock_release(&poller.lock);
}

static void unlink_always(struct poll_watch *w)
{
	struct poll_watch **at = &poller.always;

	while (*at != w)
		at = &(*at)->next;
	*at = w->next;
}

/* Returns how many there were. */
static int run_dropped(struct poll_watch **list)
{
	for (int n = 0;; n++) {
		struct poll_watch *w;

		lock_acquire(&poller.lock);
		w = *list;
		if (w != NULL)
			*list = w->pause_next;
		if (w != NULL && w->always)
			unlink_always(w);
		lock_release(&poller.lock);
		if (w == NULL)
			return n;
		w->dropped(w);
	}
}

/* What schedulers wait for. */
static void dispatch(const struct epoll_event *events, int n)
{
	set_ready(POLL_BY_SCHEDULERS, n);
	for (int k = 0; k < n; k++)
		if (events[k].data.ptr != NULL) /* else it was only woken */
			run_ready(events[k].data.ptr, ready_events(&events[k]));
	set_ready(POLL_BY_SCHEDULERS, 0);
	n = run_dropped(&poller.dropped_by_scheds);
	if (n != 0)
		sched_poll_count(-n);
}

/* ---- the poll thread */

/* Milliseconds epoll may sleep. */
static int sleep_ms(void)
{
	int64_t until = 0;
	bool ready = false;

	lock_acquire(&poller.lock);
	for (struct poll_watch *w = poller.always; w != NULL; w = w->next)
		ready |= (w->wanted & (WATCH_IN | WATCH_OUT)) != 0 && !w->dropping;
	for (struct poll_watch *w = poller.paused; w != NULL; w = w->pause_next) {
		if (until == 0 || w->paused_until_ns < until)
			until = w->paused_until_ns;
	}
	lock_release(&poller.lock);
	if (ready)
		return 0;
	if (until == 0)
		return -1;
	until -= clock_monotonic_ns();
	return until <= 0 ? 0 : (int)(until / 1000000) + 1;
}

static void *run_poller(void *arg)
{
	(void)arg;
	for (;;) {
		struct epoll_event events[ROUND_EVENTS];
		int n;

		batch_hand_over();
		n = epoll_wait(poller.epoll, events, ROUND_EVENTS, sleep_ms());
		set_ready(POLL_BY_THREAD, n);
		for (int k = 0; k < n; k++) {
			struct poll_watch *w = events[k].data.ptr;

			if (w != NULL) {
				run_ready(w, ready_events(&events[k]));
			} else {
				uint64_t count;

				(void)!read(poller.wake, &count, sizeof(count));
			}
		}
		set_ready(POLL_BY_THREAD, 0);
		run_always();
		end_pauses();
		run_dropped(&poller.dropped);
	}
	return NULL;
}

void poll_init(void)
{
	struct epoll_event e = { .events = EPOLLIN };

	lock_init(&poller.lock, LOCK_poll);
	sched_poll_dispatch = dispatch;
	poller.epoll = epoll_create1(EPOLL_CLOEXEC);
	if (poller.epoll >= 0)
		poller.wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (poller.epoll < 0 || poller.wake < 0 || epoll_ctl(poller.epoll, EPOLL_CTL_ADD, poller.wake, &e) < 0)
		log_refused("wait for files", errno);
}

/* poll lock held. */
static void start_poller(void)
{
	int error;

	if (poller.started)
		return;
	error = thread_start("poll", run_poller, NULL);
	if (error != 0)
		log_refused("start the poll thread", -error);
	poller.started = true;
}

/* poll lock held. Fails: -errno. */
static int add(struct poll_watch *w, unsigned wanted)
{
	struct epoll_event e = { .events = epoll_events(wanted), .data.ptr = w };

	if (control(w, EPOLL_CTL_ADD, &e) == 0) {
		poller.watched[set_of(w)]++;
		return 0;
	}
	if (errno != EPERM)
		return -errno;
	w->may_block = w->always = true;
	w->next = poller.always;
	poller.always = w;
	return 0;
}

int poll_add(struct poll_watch *w, unsigned wanted)
{
	int error;

	w->dropping = false;
	w->always = false;
	w->paused_until_ns = 0;
	lock_acquire(&poller.lock);
	w->wanted = wanted;
	error = add(w, wanted);
	if (error == 0 && w->may_block)
		start_poller();
	lock_release(&poller.lock);
	if (error != 0)
		return error;
	if (w->always)
		wake_poller();
	else if (!w->may_block)
		sched_poll_count(1);
	return 0;
}

void poll_want(struct poll_watch *w, unsigned wanted)
{
	bool always;

	lock_acquire(&poller.lock);
	want(w, wanted);
	always = w->always;
	lock_release(&poller.lock);
	if (always)
		wake_poller();
}

void poll_pause(struct poll_watch *w, int64_t ns)
{
	lock_acquire(&poller.lock);
	if (!w->dropping) {
		start_poller();
		w->paused_until_ns = clock_monotonic_ns() + ns;
		w->pause_next = poller.paused;
		poller.paused = w;
	}
	lock_release(&poller.lock);
	wake_poller(); /* it may sleep for longer */
}

/* poll lock held. */
static void unlink_paused(struct poll_watch *w)
{
	struct poll_watch **at = &poller.paused;

	while (*at != NULL && *at != w)
		at = &(*at)->pause_next;
	if (*at == w)
		*at = w->pause_next;
}

/* poll lock held. */
static void drop(struct poll_watch *w)
{
	struct poll_watch **list = w->may_block ? &poller.dropped : &poller.dropped_by_scheds;

	w->dropping = true;
	w->wanted = 0;
	if (w->paused_until_ns != 0)
		unlink_paused(w);
	w->paused_until_ns = 0;
	if (!w->always) {
		control(w, EPOLL_CTL_DEL, NULL);
		poller.watched[set_of(w)]--;
	}
	w->pause_next = *list;
	*list = w;
}

void poll_drop(struct poll_watch *w)
{
	bool may_block;

	lock_acquire(&poller.lock);
	may_block = w->may_block;
	if (!w->dropping)
		drop(w);
	lock_release(&poller.lock);
	if (may_block)
		wake_poller();
	else
		sched_poll_hurry();
}

struct poll_counts poll_counts(enum poll_set set)
{
	struct poll_counts counts;

	counts.ready = atomic_load_explicit(&poller.ready[set], memory_order_relaxed);
	lock_acquire(&poller.lock);
	counts.watched = poller.watched[set] + 1;
	counts.threads = set == POLL_BY_THREAD && poller.started;
	lock_release(&poller.lock);
	return counts;
}
