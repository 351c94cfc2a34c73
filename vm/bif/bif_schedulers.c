/* SPDX-License-Identifier: Apache-2.0 */
/* How many schedulers run processes: system_flag(schedulers_online), system_flag(multi_scheduling),
 * system_flag(dirty_cpu_schedulers_online).
 * Invariant: what is here changes only while the world is stopped, so whoever runs a process may read it. */
#include "base/alloc.h"
#include "bif/bif_info.h"
#include "proc/dirty.h"
#include "proc/sched.h"

enum block_kind { BLOCK_ALL, BLOCK_NORMAL, BLOCK_KINDS };

static struct {
	unsigned count, room;
	struct blocker {
		Term pid;
		uint32_t times[BLOCK_KINDS];
	} *all;              /* in the order of their first block */
	_Atomic unsigned blocks; /* there are blockers */
} blockers;

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

/* ---- while the world is stopped */

struct change {
	Term pid;
	enum block_kind kind;
	bool block;
};

static void follow_blockers(void)
{
	atomic_store(&blockers.blocks, blockers.count);
	sched_set_active(sched_online(), blockers.count > 0);
	dirty_block(is_blocked(BLOCK_ALL));
}

static void apply_block(void *arg)
{
	const struct change *c = arg;
	struct blocker *b = find_blocker(c->pid);

	if (c->block) {
		b = b != NULL ? b : add_blocker(c->pid);
		b->times[c->kind]++;
	} else if (b != NULL && b->times[c->kind] > 0 && --b->times[c->kind] == 0 && b->times[!c->kind] == 0) {
		remove_blocker(b);
	}
	follow_blockers();
}

static void apply_end(void *arg)
{
	struct blocker *b = find_blocker(((const struct change *)arg)->pid);

	if (b != NULL)
		remove_blocker(b);
	follow_blockers();
}

/* Of dirty CPU schedulers as many are online, by OTP's arithmetic, as the change is of the schedulers. */
static unsigned follow_online(unsigned online)
{
	unsigned total_percent = dirty_count(DIRTY_CPU) * 100 / sched_count();
	unsigned dirty = dirty_online(DIRTY_CPU) * (online * total_percent / sched_online()) / 100;

	return dirty < 1 ? 1 : dirty > dirty_count(DIRTY_CPU) ? dirty_count(DIRTY_CPU) : dirty;
}

static void apply_online(void *arg)
{
	unsigned online = *(const unsigned *)arg;

	dirty_set_online(follow_online(online));
	sched_set_active(online, blockers.count > 0);
}

static void apply_dirty_online(void *arg)
{
	dirty_set_online(*(const unsigned *)arg);
}

static void follow_exit(Process *p)
{
	struct change c = { .pid = p->id };

	if (likely(atomic_load_explicit(&blockers.blocks, memory_order_relaxed) == 0))
		return;
	if (find_blocker(p->id) != NULL)
		sched_stop_world(apply_end, &c);
}

void info_schedulers_init(void)
{
	process_at_exit(follow_exit);
}

/* ---- what programs ask and set */

Term info_multi_scheduling(Process *p)
{
	(void)p;
	return is_blocked(BLOCK_ALL) ? am_blocked : is_blocked(BLOCK_NORMAL) ? am_blocked_normal : am_enabled;
}

/* Who runs on a scheduler that stands aside now is through once another has taken it over. */
static Term told(Process *p, Term value)
{
	return sched_self()->id <= sched_active() ? value : exc_return_later(p, value);
}

Term info_set_multi_scheduling(Process *p, Term how)
{
	struct change c = {
		.pid = p->id,
		.kind = how == am_block_normal || how == am_unblock_normal ? BLOCK_NORMAL : BLOCK_ALL,
		.block = how == am_block || how == am_block_normal,
	};

	if (!c.block && how != am_unblock && how != am_unblock_normal)
		return exc_badarg(p);
	sched_stop_world(apply_block, &c);
	if (how == am_block) {
		sched_lend();
		dirty_await_stop();
		sched_reclaim();
	}
	return told(p, info_multi_scheduling(p));
}

Term info_set_schedulers_online(Process *p, Term n)
{
	unsigned before = sched_online(), online;

	if (!term_is_small(n) || small_value(n) < 1 || small_value(n) > (int64_t)sched_count())
		return exc_badarg(p);
	online = (unsigned)small_value(n);
	sched_stop_world(apply_online, &online);
	return told(p, SMALL(before));
}

/* No more than schedulers are online. */
Term info_set_dirty_online(Process *p, Term n)
{
	unsigned before = dirty_online(DIRTY_CPU), online;

	if (!term_is_small(n) || small_value(n) < 1 || small_value(n) > (int64_t)dirty_count(DIRTY_CPU) ||
	    small_value(n) > (int64_t)sched_online())
		return exc_badarg(p);
	online = (unsigned)small_value(n);
	sched_stop_world(apply_dirty_online, &online);
	return SMALL(before);
}

static Term list_blockers(struct heap *h, enum block_kind kind)
{
	Term list = NIL;

	for (unsigned i = 0; i < blockers.count; i++)
		if (blockers.all[i].times[kind] > 0)
			list = heap_cons(h, blockers.all[i].pid, list);
	return list;
}

Term info_multi_scheduling_blockers(Process *p) { return list_blockers(&p->heap, BLOCK_ALL); }
Term info_normal_multi_scheduling_blockers(Process *p) { return list_blockers(&p->heap, BLOCK_NORMAL); }

/* {How many, online, active} */
Term info_schedulers_state(Process *p)
{
	return heap_tuple(&p->heap, SMALL(sched_count()), SMALL(sched_online()), SMALL(sched_active()));
}
