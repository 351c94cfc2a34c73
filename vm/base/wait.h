/* SPDX-License-Identifier: Apache-2.0 */
/* What each thread waits for, and since when: for a debug build, which aborts where threads could wait for each other
 * for ever, and for people who ask what a VM that stands still waits for. */
#ifndef VM_BASE_WAIT_H
#define VM_BASE_WAIT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum wait_kind {
	WAIT_NOTHING,
#define WAIT(name, at, left, until, text) WAIT_##name,
#include "base/waits.def"
	WAIT_KINDS
};

enum { AT_OUTSIDE = 1, AT_INSIDE = 2 };

/* A row of waits.def. until: bits 1 << kind. */
struct wait_row {
	const char *name;
	unsigned at, left;
	uint32_t until;
	const char *text;
};

/* This thread is told of by this name (15 bytes at most), until wait_thread_ends. Nothing tells of others. */
void wait_thread_begins(const char *name);
void wait_thread_ends(void);
/* This thread is inside the world from now on, or no more. */
void wait_set_inside(bool inside);

/* Around a wait. It holds no lock; the other one: that of the condition variable alone. */
void wait_begin(enum wait_kind kind);
void wait_begin_locked(enum wait_kind kind);
void wait_end(void);
/* The same around a wait for a lock, within another wait or none. */
enum wait_kind wait_begin_lock(void);
void wait_end_lock(enum wait_kind before);

/* What a thread did when it was looked at. */
struct wait_seen {
	char name[16];
	bool inside;
	uint8_t kind;
	int64_t for_ns;      /* it has waited so long */
};

/* A look at all threads at a moment. Whoever reads it does not hold threads up that begin or end. */
enum { WAITS_SEEN_MAX = 4096 };
struct wait_look {
	size_t threads, count; /* so many are there; so many of them were seen: WAITS_SEEN_MAX at most */
	struct wait_seen seen[WAITS_SEEN_MAX];
};

void wait_look(struct wait_look *look);
/* One line a thread, and one of those that were not seen. */
void wait_each(const struct wait_look *look, void (*line)(const char *text, void *arg), void *arg);
/* Which row could last until it has itself ended? rows[0] is none. NULL: none could. */
const struct wait_row *wait_find_cycle(const struct wait_row *rows, size_t count);
/* Of waits.def. */
const struct wait_row *wait_rows(void);
/* At the VM's start. A debug build aborts when there is such a row. */
void wait_check(void);

#endif
