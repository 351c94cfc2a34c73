/* SPDX-License-Identifier: Apache-2.0 */
/* Sets of descriptors. Threads may be told of a descriptor's event just when it is dropped, and deal with it later.
 * So epoll knows a watch by a key, which is looked up in the set under its lock.
 * Invariant: by_fd has the watches that epoll tells of, and none that was dropped. A dropped watch whose `calls` came
 * to zero is in its set's list, and the set's job, on a scheduler, tells it so: whoever drops may hold locks. */
#include "io/poll.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/lock.h"
#include "base/log.h"
#include "proc/batch.h"
#include "proc/micro_threads.h"
#include "proc/sched_job.h"
#include "proc/sched_poll.h"

#define ROUND_EVENTS 64
/* In `calls`, above their number. */
#define DROPPED ((uint32_t)1 << 31)

struct poll_set {
	int epoll;
	int wake;                   /* an eventfd in it; -1: of the schedulers, who see to that themselves */
	unsigned number, threads;   /* those that wait for it are number, number + sets, ... */
	atomic_uint ready;          /* events that are dealt with now */
	struct lock lock;           /* of all below */
	bool started;               /* its threads */
	uint32_t last_key;
	struct poll_watch **by_fd;
	size_t room, watched, files, of_libraries; /* the last: of the two before */
	struct poll_watch *wanted_files, **last_file;
	struct poll_watch *paused;
	struct poll_watch *dropped;
	bool submitted;             /* the job was */
	struct sched_job job;
};

struct poll_thread {
	struct poll_set *set;
	int64_t busy_ns, busy_since_ns; /* the set's lock; since: 0 while it waits */
};

static struct {
	struct poll_settings settings;
	struct poll_set schedulers;
	struct poll_set *sets;       /* of threads */
	struct poll_thread *threads;
} poller;

/* ---- a set and its watches; the lock is held */

static struct poll_watch *find_watch(const struct poll_set *set, uint64_t key)
{
	uint32_t fd = (uint32_t)key;
	struct poll_watch *w = fd < set->room ? set->by_fd[fd] : NULL;

	return w != NULL && w->key == key ? w : NULL;
}

/* Who closes a descriptor without dropping it leaves its number to the next that is opened. */
static bool is_in_epoll(const struct poll_watch *w)
{
	return !w->is_file && find_watch(w->set, w->key) == w;
}

static struct poll_watch **find_slot(struct poll_set *set, int fd)
{
	size_t room = set->room;

	if ((size_t)fd >= room) {
		set->room = (size_t)fd + (size_t)fd / 2 + 64;
		set->by_fd = mem_realloc(set->by_fd, set->room * sizeof(*set->by_fd));
		memset(set->by_fd + room, 0, (set->room - room) * sizeof(*set->by_fd));
	}
	return &set->by_fd[fd];
}

static bool is_dropped(const struct poll_watch *w)
{
	return (atomic_load_explicit(&w->calls, memory_order_relaxed) & DROPPED) != 0;
}

static struct epoll_event event_of(const struct poll_watch *w)
{
	return (struct epoll_event){
		.events = EPOLLONESHOT | (w->wanted & WATCH_IN ? EPOLLIN : 0) | (w->wanted & WATCH_OUT ? EPOLLOUT : 0),
		.data.u64 = w->key,
	};
}

static void queue_file(struct poll_watch *w)
{
	struct poll_set *set = w->set;

	if (w->queued || !(w->wanted & (WATCH_IN | WATCH_OUT)))
		return;
	w->queued = true;
	w->next = NULL;
	*set->last_file = w;
	set->last_file = &w->next;
}

static void want(struct poll_watch *w, unsigned wanted)
{
	struct epoll_event e;

	if (is_dropped(w))
		return;
	w->wanted = wanted;
	e = event_of(w);
	if (w->is_file)
		queue_file(w);
	else if (is_in_epoll(w))
		epoll_ctl(w->set->epoll, EPOLL_CTL_MOD, w->fd, &e);
}

/* `ready` is to be called for what is wanted of the events that this returns, if any; end_call follows. */
static unsigned begin_call(struct poll_watch *w, unsigned events)
{
	if (events & ~w->wanted & WATCH_ERROR)
		events |= WATCH_IN | WATCH_OUT; /* the read or write then tells */
	events &= w->wanted;
	if (events != 0) {
		w->wanted = 0;
		atomic_fetch_add_explicit(&w->calls, 1, memory_order_relaxed);
	}
	return events;
}

/* No call is under way. Returns whether the set's job is to be submitted. */
static bool queue_dropped(struct poll_watch *w)
{
	struct poll_set *set = w->set;
	bool submit = !set->submitted;

	w->next = set->dropped;
	set->dropped = w;
	set->submitted = true;
	return submit;
}

/* ---- events, of any set; without the lock */

static void end_call(struct poll_watch *w)
{
	struct poll_set *set = w->set;
	bool submit;

	if (atomic_fetch_sub_explicit(&w->calls, 1, memory_order_acq_rel) != (DROPPED | 1))
		return;
	lock_acquire(&set->lock);
	submit = queue_dropped(w);
	lock_release(&set->lock);
	if (submit)
		sched_job_submit(&set->job);
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

static void run_ready(struct poll_set *set, const struct epoll_event *e)
{
	struct poll_watch *w;
	unsigned events = 0;

	lock_acquire(&set->lock);
	w = find_watch(set, e->data.u64);
	if (w != NULL)
		events = begin_call(w, ready_events(e));
	lock_release(&set->lock);
	if (events != 0) {
		w->ready(w, events);
		end_call(w);
	}
}

static void run_round(struct poll_set *set, const struct epoll_event *events, int n)
{
	if (n <= 0)
		return;
	atomic_fetch_add_explicit(&set->ready, (unsigned)n, memory_order_relaxed);
	for (int k = 0; k < n; k++)
		if (events[k].data.u64 != SCHED_POLL_WAKE) /* else it was only woken */
			run_ready(set, &events[k]);
	atomic_fetch_sub_explicit(&set->ready, (unsigned)n, memory_order_relaxed);
}

/* What schedulers wait for. */
static void dispatch(const struct epoll_event *events, int n)
{
	run_round(&poller.schedulers, events, n);
}

static void run_dropped(struct sched_job *job)
{
	struct poll_set *set = (struct poll_set *)((char *)job - offsetof(struct poll_set, job));
	struct poll_watch *w, *next;

	lock_acquire(&set->lock);
	w = set->dropped;
	set->dropped = NULL;
	set->submitted = false;
	lock_release(&set->lock);
	for (; w != NULL; w = next) {
		next = w->next;
		w->dropped(w);
	}
}

/* ---- poll threads */

static void wake(struct poll_set *set)
{
	uint64_t one = 1;

	while (write(set->wake, &one, sizeof(one)) < 0 && errno == EINTR) {
	}
}

static struct poll_watch *take_file(struct poll_set *set, unsigned *events)
{
	struct poll_watch *w;

	lock_acquire(&set->lock);
	w = set->wanted_files;
	if (w != NULL) {
		set->wanted_files = w->next;
		if (w->next == NULL)
			set->last_file = &set->wanted_files;
		w->queued = false;
		*events = begin_call(w, WATCH_IN | WATCH_OUT);
	}
	lock_release(&set->lock);
	return w;
}

/* As many as there may be: those that are wanted again come after descriptors had their turn. */
static void run_files(struct poll_set *set)
{
	struct poll_watch *w;
	unsigned events;

	for (int k = 0; k < ROUND_EVENTS && (w = take_file(set, &events)) != NULL; k++)
		if (events != 0) {
			w->ready(w, events);
			end_call(w);
		}
}

/* Lock held. */
static void end_pauses(struct poll_set *set, int64_t now)
{
	struct poll_watch **at = &set->paused, *w;

	while ((w = *at) != NULL) {
		if (w->paused_until_ns > now) {
			at = &w->pause_next;
			continue;
		}
		*at = w->pause_next;
		w->paused_until_ns = 0;
		want(w, WATCH_IN);
	}
}

/* Milliseconds epoll may wait; -1: for ever. Lock held. */
static int wait_ms(const struct poll_set *set, int64_t now)
{
	int64_t until = 0;

	if (set->wanted_files != NULL)
		return 0;
	for (const struct poll_watch *w = set->paused; w != NULL; w = w->pause_next)
		if (until == 0 || w->paused_until_ns < until)
			until = w->paused_until_ns;
	return until == 0 ? -1 : (int)((until - now) / 1000000) + 1;
}

/* Returns how long. */
static int begin_wait(struct poll_thread *t)
{
	struct poll_set *set = t->set;
	int64_t now;
	int ms;

	lock_acquire(&set->lock);
	now = clock_monotonic_ns();
	end_pauses(set, now);
	ms = wait_ms(set, now);
	t->busy_ns += now - t->busy_since_ns;
	t->busy_since_ns = 0;
	lock_release(&set->lock);
	return ms;
}

static void end_wait(struct poll_thread *t)
{
	lock_acquire(&t->set->lock);
	t->busy_since_ns = clock_monotonic_ns();
	lock_release(&t->set->lock);
}

static void *run_thread(void *arg)
{
	struct poll_thread *t = arg;
	struct poll_set *set = t->set;

	end_wait(t);
	for (;;) {
		struct epoll_event events[ROUND_EVENTS];
		uint64_t count;
		int n;

		batch_hand_over();
		wait_begin(WAIT_descriptors);
		n = epoll_wait(set->epoll, events, ROUND_EVENTS, begin_wait(t));
		wait_end();
		end_wait(t);
		for (int k = 0; k < n; k++)
			if (events[k].data.u64 == SCHED_POLL_WAKE)
				(void)!read(set->wake, &count, sizeof(count)); /* another thread may have been first */
		run_round(set, events, n);
		run_files(set);
	}
	return NULL;
}

/* When the first descriptor comes, as most programs have none for threads. A set needs one; where the system refuses
 * more, it has fewer. The set's lock is held. */
static void start_threads(struct poll_set *set)
{
	unsigned sets = poller.settings.sets;

	if (set->started || set->threads == 0)
		return;
	set->started = true;
	for (unsigned i = set->number; i < poller.settings.threads; i += sets) {
		char name[16];
		int error;

		snprintf(name, sizeof(name), "poll_%u", i);
		error = thread_start(name, run_thread, &poller.threads[i]);
		if (error != 0 && i == set->number)
			log_refused("start a poll thread", -error);
	}
}

static int64_t thread_busy_ns(unsigned i)
{
	struct poll_thread *t = &poller.threads[i];
	int64_t ns;

	lock_acquire(&t->set->lock);
	ns = t->busy_ns + (t->busy_since_ns != 0 ? clock_monotonic_ns() - t->busy_since_ns : 0);
	lock_release(&t->set->lock);
	return ns;
}

/* ---- the beginning */

static void init_set(struct poll_set *set, unsigned number)
{
	lock_init(&set->lock, LOCK_poll);
	set->number = number;
	set->wake = -1;
	set->last_file = &set->wanted_files;
	set->job.run = run_dropped;
}

static void init_thread_set(struct poll_set *set, unsigned number)
{
	struct epoll_event e = { .events = EPOLLIN, .data.u64 = SCHED_POLL_WAKE };

	init_set(set, number);
	set->epoll = epoll_create1(EPOLL_CLOEXEC);
	if (set->epoll >= 0)
		set->wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (set->epoll < 0 || set->wake < 0 || epoll_ctl(set->epoll, EPOLL_CTL_ADD, set->wake, &e) < 0)
		log_refused("wait for files", errno);
}

void poll_init(const struct poll_settings *settings)
{
	poller.settings = *settings;
	init_set(&poller.schedulers, 0);
	poller.schedulers.epoll = sched_poll_fd();
	sched_poll_dispatch = dispatch;
	poller.sets = mem_zalloc(settings->sets * sizeof(*poller.sets));
	poller.threads = mem_zalloc(settings->threads * sizeof(*poller.threads));
	for (unsigned i = 0; i < settings->sets; i++)
		init_thread_set(&poller.sets[i], i);
	for (unsigned i = 0; i < settings->threads; i++) {
		poller.threads[i].set = &poller.sets[i % settings->sets];
		poller.threads[i].set->threads++;
	}
	micro_poll_threads = (struct micro_threads){ .count = settings->threads, .busy_ns = thread_busy_ns };
}

/* ---- for who waits */

static struct poll_set *set_of(int fd, bool may_block)
{
	if (!may_block && poller.settings.by_schedulers)
		return &poller.schedulers;
	return &poller.sets[(unsigned)fd % poller.settings.sets];
}

/* Fails: -errno. */
static int add_descriptor(struct poll_watch *w, unsigned wanted)
{
	struct poll_set *set = w->set;
	struct poll_watch **slot;
	struct epoll_event e;
	int error = 0;

	lock_acquire(&set->lock);
	w->wanted = wanted;
	w->key = (uint64_t)++set->last_key << 32 | (uint32_t)w->fd;
	e = event_of(w);
	if (epoll_ctl(set->epoll, EPOLL_CTL_ADD, w->fd, &e) < 0 &&
	    (errno != EEXIST || epoll_ctl(set->epoll, EPOLL_CTL_MOD, w->fd, &e) < 0)) {
		error = -errno;
	} else {
		slot = find_slot(set, w->fd);
		set->watched += *slot == NULL;
		set->of_libraries += w->of_library - (*slot != NULL && (*slot)->of_library);
		*slot = w;
		start_threads(set);
	}
	lock_release(&set->lock);
	return error;
}

static void add_file(struct poll_watch *w)
{
	struct poll_set *set = w->set;

	lock_acquire(&set->lock);
	set->files++;
	set->of_libraries += w->of_library;
	queue_file(w);
	start_threads(set);
	lock_release(&set->lock);
	wake(set);
}

int poll_add(struct poll_watch *w, unsigned wanted)
{
	int error;

	if (w->fd < 0)
		return -EBADF;
	atomic_store_explicit(&w->calls, 0, memory_order_relaxed);
	w->wanted = wanted;
	w->is_file = w->queued = false;
	w->paused_until_ns = 0;
	w->set = set_of(w->fd, w->may_block);
	error = add_descriptor(w, wanted);
	if (error == -EPERM) {
		w->may_block = w->is_file = true;
		w->set = set_of(w->fd, w->may_block);
		add_file(w);
		return 0;
	}
	if (error == 0 && w->set == &poller.schedulers)
		sched_poll_count(1);
	return error;
}

bool poll_has(struct poll_watch *w)
{
	bool has;

	lock_acquire(&w->set->lock);
	has = w->is_file || is_in_epoll(w);
	lock_release(&w->set->lock);
	return has;
}

void poll_want(struct poll_watch *w, unsigned wanted)
{
	struct poll_set *set = w->set;
	bool is_file;

	lock_acquire(&set->lock);
	want(w, wanted);
	is_file = w->is_file;
	lock_release(&set->lock);
	if (is_file)
		wake(set);
}

int poll_want_back(struct poll_watch *w, unsigned wanted)
{
	if (wanted != 0 && !poll_has(w))
		return add_descriptor(w, wanted);
	poll_want(w, wanted);
	return 0;
}

void poll_pause(struct poll_watch *w, int64_t ns)
{
	struct poll_set *set = w->set;

	lock_acquire(&set->lock);
	if (!is_dropped(w)) {
		w->paused_until_ns = clock_monotonic_ns() + ns;
		w->pause_next = set->paused;
		set->paused = w;
	}
	lock_release(&set->lock);
	wake(set); /* its threads may wait for longer */
}

/* The set's lock is held, here and below. */
static void unlink_paused(struct poll_watch *w)
{
	struct poll_watch **at = &w->set->paused;

	while (*at != w)
		at = &(*at)->pause_next;
	*at = w->pause_next;
}

static void unlink_file(struct poll_watch *w)
{
	struct poll_watch **at = &w->set->wanted_files;

	while (*at != w)
		at = &(*at)->next;
	*at = w->next;
	if (*at == NULL)
		w->set->last_file = at;
}

static void leave_epoll(struct poll_watch *w)
{
	epoll_ctl(w->set->epoll, EPOLL_CTL_DEL, w->fd, NULL);
	w->set->by_fd[w->fd] = NULL;
	w->set->watched--;
	w->set->of_libraries -= w->of_library;
}

static void take_out(struct poll_watch *w)
{
	struct poll_set *set = w->set;

	if (w->paused_until_ns != 0)
		unlink_paused(w);
	if (w->queued)
		unlink_file(w);
	if (w->is_file) {
		set->files--;
		set->of_libraries -= w->of_library;
	} else if (is_in_epoll(w)) {
		leave_epoll(w);
	}
}

void poll_release(int fd)
{
	struct poll_set *set = set_of(fd, false);

	lock_acquire(&set->lock);
	if ((size_t)fd < set->room && set->by_fd[fd] != NULL)
		leave_epoll(set->by_fd[fd]);
	lock_release(&set->lock);
}

void poll_drop(struct poll_watch *w)
{
	struct poll_set *set = w->set;
	bool submit = false, counts = set == &poller.schedulers;

	lock_acquire(&set->lock);
	take_out(w);
	w->wanted = 0;
	if (atomic_fetch_or_explicit(&w->calls, DROPPED, memory_order_acq_rel) == 0)
		submit = queue_dropped(w);
	lock_release(&set->lock);
	if (counts)
		sched_poll_count(-1);
	if (submit)
		sched_job_submit(&set->job);
}

/* ---- counts */

static struct poll_counts count_set(struct poll_set *set)
{
	struct poll_counts counts = { .threads = set->threads };

	counts.ready = atomic_load_explicit(&set->ready, memory_order_relaxed);
	lock_acquire(&set->lock);
	counts.watched = set->watched + 1;
	lock_release(&set->lock);
	return counts;
}

static struct poll_counts count_files(void)
{
	struct poll_counts counts = { .files = true };

	for (unsigned i = 0; i < poller.settings.sets; i++) {
		struct poll_set *set = &poller.sets[i];

		lock_acquire(&set->lock);
		counts.watched += set->files;
		lock_release(&set->lock);
	}
	return counts;
}

unsigned poll_counts_rows(void)
{
	return 1 + poller.settings.by_schedulers + poller.settings.sets;
}

struct poll_counts poll_counts(unsigned row)
{
	unsigned before = 1 + poller.settings.by_schedulers;

	if (row == 0)
		return count_files();
	return count_set(row < before ? &poller.schedulers : &poller.sets[row - before]);
}

/* ---- the check */

/* A line that tells of a descriptor the kernel waits for. The set's lock is held. Returns whether it is a watch's. */
static bool check_line(const struct poll_set *set, const char *line, struct poll_check *check)
{
	unsigned long long key;
	unsigned events;
	int fd;

	if (sscanf(line, "tfd: %d events: %x data: %llx", &fd, &events, &key) != 3 || key == SCHED_POLL_WAKE)
		return false;
	check->waited_for++;
	if (find_watch(set, key) != NULL && (uint32_t)key == (uint32_t)fd)
		return true;
	check->wrong++;
	return false;
}

static int check_set(struct poll_set *set, struct poll_check *check)
{
	char name[64], line[256];
	size_t found = 0;
	FILE *file;

	snprintf(name, sizeof(name), "/proc/self/fdinfo/%d", set->epoll);
	file = fopen(name, "re");
	if (file == NULL)
		return -errno;
	lock_acquire(&set->lock);
	while (fgets(line, sizeof(line), file) != NULL)
		found += check_line(set, line, check);
	check->wrong += set->watched - found;
	check->waited_for += set->files;
	check->of_libraries += set->of_libraries;
	check->of_ports += set->watched + set->files - set->of_libraries;
	lock_release(&set->lock);
	fclose(file);
	return 0;
}

int poll_check(struct poll_check *out)
{
	int error = 0;

	*out = (struct poll_check){ 0 };
	if (poller.settings.by_schedulers)
		error = check_set(&poller.schedulers, out);
	for (unsigned i = 0; i < poller.settings.sets && error == 0; i++)
		error = check_set(&poller.sets[i], out);
	return error;
}
