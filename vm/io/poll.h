/* SPDX-License-Identifier: Apache-2.0 */
/* Descriptors that ports and libraries wait for. Schedulers wait for them when they have nothing else to do
 * (proc/sched_poll.h). Those whose `ready` may block (files, and descriptors that the VM shares with others) are spread
 * by their number over sets that poll threads wait for (+IOp, +IOt). With `+IOs false` all are, and schedulers wait for
 * none.
 * Invariant: a watch is in one set, from poll_add to poll_drop. No `ready` of it begins after poll_drop; `dropped` runs
 * once, after the last `ready` has returned. Both run on a scheduler between two time slices, or on a poll thread. */
#ifndef VM_IO_POLL_H
#define VM_IO_POLL_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Who does not want errors hears of one, or of a hang-up, by what it wants. */
enum { WATCH_IN = 1, WATCH_OUT = 2, WATCH_ERROR = 4 };

struct poll_set;

struct poll_watch {
	int fd;
	/* After poll_want it may be called once more before the call that is under way has returned. */
	void (*ready)(struct poll_watch *w, unsigned events);
	void (*dropped)(struct poll_watch *w);
	bool may_block;           /* `ready` may; not changed while it is watched but by poll_add */
	bool of_library;          /* a library of native functions waits, no port; not changed while it is watched */
	/* private to poll.c; under the set's lock, but for the first two: */
	struct poll_set *set;     /* not changed while it is watched */
	_Atomic uint32_t calls;   /* of `ready` that are under way, and whether it was dropped */
	uint64_t key;             /* what epoll calls it: no other watch of the set had it */
	unsigned wanted;
	bool is_file;             /* epoll refuses it: always ready */
	bool queued;              /* a file that is wanted */
	int64_t paused_until_ns;  /* 0: not paused */
	struct poll_watch *next;  /* in one list: files that are wanted, or dropped watches */
	struct poll_watch *pause_next;
};

/* How many there are, as the command line says it (erl_args.c). */
struct poll_settings {
	unsigned sets, threads;   /* 1 <= sets <= threads */
	bool by_schedulers;       /* they wait, too */
};

void poll_init(const struct poll_settings *settings);
/* Watches w->fd for `wanted`, once: after each `ready` the watch wants nothing until poll_want. A descriptor that
 * another watch of the set has is taken from it: that one is told nothing more.
 * Fails: returns -errno. */
int poll_add(struct poll_watch *w, unsigned wanted);
/* A descriptor is closed soon: who has it in the set of watches that do not block is told nothing more. */
void poll_release(int fd);
/* Whether the watch has its descriptor still. */
bool poll_has(struct poll_watch *w);
void poll_want(struct poll_watch *w, unsigned wanted);
/* The same of a watch that may have lost its descriptor to another, from which it is taken back when something is
 * wanted. Fails: -errno. */
int poll_want_back(struct poll_watch *w, unsigned wanted);
/* poll_want(w, WATCH_IN) after some time. For a watch that may block. */
void poll_pause(struct poll_watch *w, int64_t ns);
/* No more `ready` begins (one may be running); `dropped` follows. */
void poll_drop(struct poll_watch *w);

struct poll_counts {
	size_t watched;   /* descriptors in epoll, our own too; or files */
	unsigned ready;   /* of them, those that are dealt with now */
	unsigned threads; /* that wait for these alone */
	bool files;       /* they are what epoll refuses */
};

/* What there is to be told, in OTP's order: the files of all sets, the schedulers' set when they wait, the threads'. */
unsigned poll_counts_rows(void);
/* Of a row, now; others may add and drop meanwhile. */
struct poll_counts poll_counts(unsigned row);

struct poll_check {
	size_t wrong;        /* descriptors that the kernel waits for and no watch, or the other way round */
	size_t waited_for;   /* by the kernel, our own left out; and files */
	size_t of_ports, of_libraries;
};
/* Holds the sets against what the kernel says that it waits for. Source: proc_pid_fdinfo(5). Fails: -errno. */
int poll_check(struct poll_check *out);

#endif
