/* SPDX-License-Identifier: Apache-2.0 */
/* How many schedulers run processes: system_flag(schedulers_online), system_flag(multi_scheduling),
 * system_flag(dirty_cpu_schedulers_online).
 * Who sets them goes on after a round of slices: schedulers that are to stand aside do so by then. */
#include "base/alloc.h"
#include "base/lock.h"
#include "bif/system/bif_info.h"
#include "proc/await.h"
#include "proc/dirty.h"
#include "proc/process_life.h"
#include "proc/sched.h"

enum block_kind { BLOCK_ALL, BLOCK_NORMAL, BLOCK_KINDS };

static struct {
	struct lock lock;    /* of all below, and of every change of these numbers */
	unsigned count, room;
	struct blocker {
		Term pid;
		uint32_t times[BLOCK_KINDS];
	} *all;              /* in the order of their first block */
	_Atomic unsigned blocks; /* there are blockers; written under the lock */
} blockers;

/* ---- the lock is held */

static bool is_blocked(enum block_kind kind)
{
	for (unsigned i = 0; i < blockers.count; i++)
		if (blockers.all[i].times[kind] > 0)
			return true;
	return false;
}

static struct blocker *find_blocker(Term pid)
{
	for (unsigned i = 0; i < blockers.count; i++)
		if (blockers.all[i].pid == pid)
			return &blockers.all[i];
	return NULL;
}

static struct blocker *add_blocker(Term pid)
{
	if (blockers.count == blockers.room) {
		blockers.room = blockers.room * 2 + 4;
		blockers.all = mem_realloc(blockers.all, blockers.room * sizeof(*blockers.all));
	}
	blockers.all[blockers.count] = (struct blocker){ .pid = pid };
	return &blockers.all[blockers.count++];
}

static void remove_blocker(struct blocker *b)
{
	for (struct blocker *last = &blockers.all[--blockers.count]; b < last; b++)
		*b = b[1];
}

static void follow_blockers(void)
{
	atomic_store(&blockers.blocks, blockers.count);
	sched_set_active(sched_online(), blockers.count > 0);
	dirty_block(is_blocked(BLOCK_ALL));
}

static void change_block(Term pid, enum block_kind kind, bool block)
{
	struct blocker *b = find_blocker(pid);

	if (block) {
		b = b != NULL ? b : add_blocker(pid);
		b->times[kind]++;
	} else if (b != NULL && b->times[kind] > 0 && --b->times[kind] == 0 && b->times[!kind] == 0) {
		remove_blocker(b);
	}
	follow_blockers();
}

static Term tell_blocked(void)
{
	return is_blocked(BLOCK_ALL) ? am_blocked : is_blocked(BLOCK_NORMAL) ? am_blocked_normal : am_enabled;
}

/* Of dirty CPU schedulers as many are online, by OTP's arithmetic, as the change is of the schedulers. */
static unsigned follow_online(unsigned online)
{
	unsigned total_percent = dirty_count(DIRTY_CPU) * 100 / sched_count();
	unsigned dirty = dirty_online(DIRTY_CPU) * (online * total_percent / sched_online()) / 100;

	return dirty < 1 ? 1 : dirty > dirty_count(DIRTY_CPU) ? dirty_count(DIRTY_CPU) : dirty;
}

/* ---- the end of a process */

static void follow_exit(Process *p)
{
	struct blocker *b;

	if (likely(atomic_load_explicit(&blockers.blocks, memory_order_relaxed) == 0))
		return;
	lock_acquire(&blockers.lock);
	b = find_blocker(p->id);
	if (b != NULL) {
		remove_blocker(b);
		follow_blockers();
	}
	lock_release(&blockers.lock);
}

void info_schedulers_init(void)
{
	lock_init(&blockers.lock, LOCK_blockers);
	process_at_exit(follow_exit);
}

/* ---- what programs ask and set */

Term info_multi_scheduling(Process *p)
{
	Term told;

	(void)p;
	lock_acquire(&blockers.lock);
	told = tell_blocked();
	lock_release(&blockers.lock);
	return told;
}

Term info_set_multi_scheduling(Process *p, Term how)
{
	enum block_kind kind = how == am_block_normal || how == am_unblock_normal ? BLOCK_NORMAL : BLOCK_ALL;
	bool block = how == am_block || how == am_block_normal;
	Term told;

	if (!block && how != am_unblock && how != am_unblock_normal)
		return exc_badarg(p);
	lock_acquire(&blockers.lock);
	change_block(p->id, kind, block);
	told = tell_blocked();
	lock_release(&blockers.lock);
	if (how == am_block) {
		sched_lend();
		dirty_await_stop();
		sched_reclaim();
	}
	return await_return(p, told);
}

Term info_set_schedulers_online(Process *p, Term n)
{
	unsigned before, online;

	if (!term_is_small(n) || small_value(n) < 1 || small_value(n) > (int64_t)sched_count())
		return exc_badarg(p);
	online = (unsigned)small_value(n);
	lock_acquire(&blockers.lock);
	before = sched_online();
	dirty_set_online(follow_online(online));
	sched_set_active(online, blockers.count > 0);
	lock_release(&blockers.lock);
	return await_return(p, SMALL(before));
}

/* No more than schedulers are online. */
Term info_set_dirty_online(Process *p, Term n)
{
	int64_t online = term_is_small(n) ? small_value(n) : 0;
	unsigned before;
	bool ok;

	lock_acquire(&blockers.lock);
	before = dirty_online(DIRTY_CPU);
	ok = online >= 1 && online <= (int64_t)dirty_count(DIRTY_CPU) && online <= (int64_t)sched_online();
	if (ok)
		dirty_set_online((unsigned)online);
	lock_release(&blockers.lock);
	return ok ? SMALL(before) : exc_badarg(p);
}

static Term list_blockers(struct heap *h, enum block_kind kind)
{
	Term list = NIL;

	lock_acquire(&blockers.lock);
	for (unsigned i = 0; i < blockers.count; i++)
		if (blockers.all[i].times[kind] > 0)
			list = heap_cons(h, blockers.all[i].pid, list);
	lock_release(&blockers.lock);
	return list;
}

Term info_multi_scheduling_blockers(Process *p) { return list_blockers(&p->heap, BLOCK_ALL); }
Term info_normal_multi_scheduling_blockers(Process *p) { return list_blockers(&p->heap, BLOCK_NORMAL); }

/* {How many, online, active} */
Term info_schedulers_state(Process *p)
{
	return heap_tuple(&p->heap, SMALL(sched_count()), SMALL(sched_online()), SMALL(sched_active()));
}
