/* SPDX-License-Identifier: Apache-2.0 */
/* The poll thread. Invariant: a dropped watch is out of epoll before its `dropped` runs, and that runs between two
 * rounds of epoll_wait, so that no event of it is left in the air. */
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

#define ROUND_EVENTS 64

static struct {
	struct lock lock;
	bool started;
	int epoll;
	int wake;
	atomic_uint ready;
	size_t watched;             /* lock */
	struct poll_watch *always;  /* lock */
	struct poll_watch *paused;  /* lock */
	struct poll_watch *dropped; /* lock */
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

/* An error or a hang-up makes ready what is wanted: the read or write then tells. */
static unsigned ready_events(const struct epoll_event *e)
{
	unsigned events = 0;

	if (e->events & (EPOLLIN | EPOLLHUP | EPOLLERR))
		events |= WATCH_IN;
	if (e->events & (EPOLLOUT | EPOLLHUP | EPOLLERR))
		events |= WATCH_OUT;
	return events;
}

static void run_ready(struct poll_watch *w, unsigned events)
{
	bool run;

	lock_acquire(&poller.lock);
	events &= w->wanted;
	run = !w->dropping && events != 0;
	if (run)
		w->wanted = 0;
	lock_release(&poller.lock);
	if (run)
		w->ready(w, events);
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

static void end_pauses(void)
{
	int64_t now = clock_monotonic_ns();
	struct poll_watch **at, *w;

	lock_acquire(&poller.lock);
	for (at = &poller.paused; (w = *at) != NULL;) {
		if (w->paused_until_ns > now && !w->dropping) {
			at = &w->pause_next;
			continue;
		}
		*at = w->pause_next;
		w->paused_until_ns = 0;
		if (w->dropping)
			continue;
		lock_release(&poller.lock);
		poll_want(w, WATCH_IN);
		lock_acquire(&poller.lock);
		at = &poller.paused;
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

static void run_dropped(void)
{
	for (;;) {
		struct poll_watch *w;

		lock_acquire(&poller.lock);
		w = poller.dropped;
		if (w != NULL)
			poller.dropped = w->pause_next;
		if (w != NULL && w->always)
			unlink_always(w);
		lock_release(&poller.lock);
		if (w == NULL)
			return;
		w->dropped(w);
	}
}

/* Milliseconds epoll may sleep. */
static int sleep_ms(void)
{
	int64_t until = 0;
	bool ready = false;

	lock_acquire(&poller.lock);
	for (struct poll_watch *w = poller.always; w != NULL; w = w->next)
		ready |= w->wanted != 0 && !w->dropping;
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
		atomic_store_explicit(&poller.ready, n > 0 ? (unsigned)n : 0, memory_order_relaxed);

		for (int k = 0; k < n; k++) {
			struct poll_watch *w = events[k].data.ptr;

			if (w != NULL) {
				run_ready(w, ready_events(&events[k]));
			} else {
				uint64_t count;

				(void)!read(poller.wake, &count, sizeof(count));
			}
		}
		atomic_store_explicit(&poller.ready, 0, memory_order_relaxed);
		run_always();
		end_pauses();
		run_dropped();
	}
	return NULL;
}

void poll_init(void)
{
	struct epoll_event e = { .events = EPOLLIN };

	lock_init(&poller.lock, LOCK_poll);
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

int poll_add(struct poll_watch *w, unsigned wanted)
{
	struct epoll_event e = { .events = epoll_events(wanted), .data.ptr = w };
	int error = 0;

	w->dropping = false;
	w->always = false;
	w->paused_until_ns = 0;
	lock_acquire(&poller.lock);
	start_poller();
	w->wanted = wanted;
	if (epoll_ctl(poller.epoll, EPOLL_CTL_ADD, w->fd, &e) == 0) {
		poller.watched++;
	} else if (errno == EPERM) {
		w->always = true;
		w->next = poller.always;
		poller.always = w;
	} else {
		error = -errno;
	}
	lock_release(&poller.lock);
	if (w->always)
		wake_poller();
	return error;
}

void poll_want(struct poll_watch *w, unsigned wanted)
{
	struct epoll_event e = { .events = epoll_events(wanted), .data.ptr = w };
	bool always;

	lock_acquire(&poller.lock);
	w->wanted = wanted;
	always = w->always;
	if (!w->dropping && !always)
		epoll_ctl(poller.epoll, EPOLL_CTL_MOD, w->fd, &e);
	lock_release(&poller.lock);
	if (always)
		wake_poller();
}

void poll_pause(struct poll_watch *w, int64_t ns)
{
	lock_acquire(&poller.lock);
	if (!w->dropping) {
		w->paused_until_ns = clock_monotonic_ns() + ns;
		w->pause_next = poller.paused;
		poller.paused = w;
	}
	lock_release(&poller.lock);
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

void poll_drop(struct poll_watch *w)
{
	lock_acquire(&poller.lock);
	if (!w->dropping) {
		w->dropping = true;
		w->wanted = 0;
		if (w->paused_until_ns != 0)
			unlink_paused(w);
		w->paused_until_ns = 0;
		if (!w->always) {
			epoll_ctl(poller.epoll, EPOLL_CTL_DEL, w->fd, NULL);
			poller.watched--;
		}
		w->pause_next = poller.dropped;
		poller.dropped = w;
	}
	lock_release(&poller.lock);
	wake_poller();
}

struct poll_counts poll_counts(void)
{
	struct poll_counts counts = { .ready = atomic_load_explicit(&poller.ready, memory_order_relaxed) };

	lock_acquire(&poller.lock);
	counts.watched = poller.watched + 1;
	counts.threads = poller.started;
	lock_release(&poller.lock);
	return counts;
}
