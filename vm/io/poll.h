/* SPDX-License-Identifier: Apache-2.0 */
/* Descriptors that ports and libraries wait for. Schedulers wait for them when they have nothing else to do
 * (proc/sched_poll.h); for those whose `ready` may block, which are files and descriptors that the VM shares with
 * others, there is a thread.
 * Invariant: `ready` and `dropped` of a watch never run at the same time; nothing runs after `dropped`. Both run on a
 * scheduler between two time slices, or on the thread. */
#ifndef VM_IO_POLL_H
#define VM_IO_POLL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Who does not want errors hears of one, or of a hang-up, by what it wants. */
enum { WATCH_IN = 1, WATCH_OUT = 2, WATCH_ERROR = 4 };

struct poll_watch {
	int fd;
	void (*ready)(struct poll_watch *w, unsigned events);
	void (*dropped)(struct poll_watch *w);
	bool may_block;           /* `ready` may; not changed while it is watched but by poll_add */
	/* private to poll.c, under the poll lock: */
	unsigned wanted;
	bool dropping;
	bool always;              /* a file that epoll refuses: always ready */
	int64_t paused_until_ns;  /* 0: not paused */
	struct poll_watch *next;  /* one list: always ready, paused, or dropped */
	struct poll_watch *pause_next;
};

void poll_init(void);
/* Watches w->fd for `wanted`, once: after each `ready` the watch wants nothing until poll_want.
 * Fails: returns -errno. */
int poll_add(struct poll_watch *w, unsigned wanted);
void poll_want(struct poll_watch *w, unsigned wanted);
/* poll_want(w, WATCH_IN) after some time. */
void poll_pause(struct poll_watch *w, int64_t ns);
/* No more `ready` begins (one may be running); `dropped` follows. */
void poll_drop(struct poll_watch *w);

struct poll_counts {
	size_t watched;   /* descriptors in epoll, our own too */
	unsigned ready;   /* of them, those that are dealt with now */
	unsigned threads; /* for these alone */
};
enum poll_set { POLL_BY_SCHEDULERS, POLL_BY_THREAD, POLL_SETS };

/* Now; others may add and drop meanwhile. */
struct poll_counts poll_counts(enum poll_set set);

#endif
