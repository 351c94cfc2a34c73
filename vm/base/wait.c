/* SPDX-License-Identifier: Apache-2.0 */
/* What threads wait for. Invariant: a thread's state is written by itself, and stands in the list while it lives. */
#include "base/wait.h"

#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/lock.h"
#include "base/log.h"

_Static_assert(WAIT_KINDS <= 32, "a bit for each kind");

#define W(name) (1u << WAIT_##name)
static const struct wait_row rows[WAIT_KINDS] = {
	[WAIT_NOTHING] = { .name = "nothing", .text = "nothing" },
#define WAIT(name, at, left, until, text) [WAIT_##name] = { #name, at, left, until, text },
#include "base/waits.def"
};

struct wait_thread {
	char name[16];
	_Atomic bool inside;
	_Atomic uint8_t kind;
	_Atomic int64_t since_ns;
	struct wait_thread *next, **link; /* list_lock */
};

static _Thread_local struct wait_thread self;
static struct lock list_lock = LOCK_STATIC(wait_list);
static struct wait_thread *list;

void wait_thread_begins(const char *name)
{
	strncpy(self.name, name, sizeof(self.name) - 1);
	lock_acquire(&list_lock);
	self.next = list;
	self.link = &list;
	if (list != NULL)
		list->link = &self.next;
	list = &self;
	lock_release(&list_lock);
}

void wait_thread_ends(void)
{
	lock_acquire(&list_lock);
	*self.link = self.next;
	if (self.next != NULL)
		self.next->link = self.link;
	lock_release(&list_lock);
}

void wait_set_inside(bool inside)
{
	atomic_store_explicit(&self.inside, inside, memory_order_relaxed);
}

/* ---- a wait */

static void set_kind(enum wait_kind kind)
{
	if (kind != WAIT_NOTHING)
		atomic_store_explicit(&self.since_ns, clock_monotonic_ns(), memory_order_relaxed);
	atomic_store_explicit(&self.kind, (uint8_t)kind, memory_order_relaxed);
}

/* held: so many locks belong to the wait. */
static void begin(enum wait_kind kind, int held)
{
	ASSERT(rows[kind].at & (atomic_load(&self.inside) ? AT_INSIDE : AT_OUTSIDE));
	ASSERT(lock_order_held() <= held);
	(void)held;
	set_kind(kind);
}

void wait_begin(enum wait_kind kind) { begin(kind, 0); }
void wait_begin_locked(enum wait_kind kind) { begin(kind, 1); }
void wait_end(void) { set_kind(WAIT_NOTHING); }

enum wait_kind wait_begin_lock(void)
{
	enum wait_kind before = atomic_load_explicit(&self.kind, memory_order_relaxed);

	set_kind(WAIT_lock);
	return before;
}

void wait_end_lock(enum wait_kind before)
{
	atomic_store_explicit(&self.kind, (uint8_t)before, memory_order_relaxed);
}

/* ---- for people */

static struct wait_seen see(const struct wait_thread *t, int64_t now_ns)
{
	int64_t ns = now_ns - atomic_load_explicit(&t->since_ns, memory_order_relaxed);
	struct wait_seen seen = {
		.inside = atomic_load_explicit(&t->inside, memory_order_relaxed),
		.kind = atomic_load_explicit(&t->kind, memory_order_relaxed),
		.for_ns = ns > 0 ? ns : 0, /* it may have begun after the clock was read */
	};

	memcpy(seen.name, t->name, sizeof(seen.name));
	return seen;
}

void wait_look(struct wait_look *look)
{
	int64_t now_ns = clock_monotonic_ns();

	look->threads = look->count = 0;
	lock_acquire(&list_lock);
	for (const struct wait_thread *t = list; t != NULL; t = t->next) {
		look->threads++;
		if (look->count < WAITS_SEEN_MAX)
			look->seen[look->count++] = see(t, now_ns);
	}
	lock_release(&list_lock);
}

static void tell(const struct wait_seen *t, void (*line)(const char *text, void *arg), void *arg)
{
	const char *place = t->inside ? "inside" : "outside";
	long long ms = t->for_ns / 1000000;
	char text[160];

	if (t->kind == WAIT_NOTHING)
		snprintf(text, sizeof(text), "%s, %s: runs", t->name, place);
	else
		snprintf(text, sizeof(text), "%s, %s: waits for %s, %lld.%03lld s", t->name, place, rows[t->kind].text,
			 ms / 1000, ms % 1000);
	line(text, arg);
}

void wait_each(const struct wait_look *look, void (*line)(const char *text, void *arg), void *arg)
{
	char text[80];

	for (size_t i = 0; i < look->count; i++)
		tell(&look->seen[i], line, arg);
	if (look->threads == look->count)
		return;
	snprintf(text, sizeof(text), "%zu threads more, of which nothing is told", look->threads - look->count);
	line(text, arg);
}

/* ---- the table */

const struct wait_row *wait_rows(void)
{
	return rows;
}

/* What row i may have to wait for. */
static uint32_t follow(const struct wait_row *table, size_t count, size_t i)
{
	uint32_t found = table[i].until;

	for (size_t k = 1; k < count; k++)
		if (table[i].left & table[k].at)
			found |= 1u << k;
	return found;
}

const struct wait_row *wait_find_cycle(const struct wait_row *table, size_t count)
{
	for (size_t i = 1; i < count; i++) {
		uint32_t found = follow(table, count, i), before;

		do {
			before = found;
			for (size_t k = 1; k < count; k++)
				if (found & 1u << k)
					found |= follow(table, count, k);
		} while (found != before);
		if (found & 1u << i)
			return &table[i];
	}
	return NULL;
}

void wait_check(void)
{
	ASSERT(wait_find_cycle(rows, WAIT_KINDS) == NULL);
}
