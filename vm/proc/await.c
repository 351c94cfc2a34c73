/* SPDX-License-Identifier: Apache-2.0 */
/* Invariant: the process has one reference, until it ends or goes on, and each part that is under way another. Who ends
 * the last part finds one that is left, and wakes the process; when it is gone, nobody. */
#include "proc/await.h"

#include "base/alloc.h"
#include "proc/exc.h"
#include "proc/sched.h"

void await_init(struct await *a, Process *p, Term (*then)(Process *p, struct await *a), void (*end)(struct await *a))
{
	atomic_init(&a->refs, 1);
	a->pid = p->id;
	a->then = then;
	a->end = end;
}

void await_more(struct await *a)
{
	atomic_fetch_add(&a->refs, 1);
}

/* Returns how many are left. */
static unsigned drop(struct await *a)
{
	unsigned left = atomic_fetch_sub(&a->refs, 1) - 1;

	if (left > 0)
		return left;
	if (a->end != NULL)
		a->end(a);
	mem_free(a);
	return 0;
}

static void wake(Term pid)
{
	Process *p = process_find(pid);

	if (p == NULL)
		return;
	process_unblock(p);
	process_unref(p);
}

void await_done(struct await *a)
{
	Term pid = a->pid;

	if (drop(a) == 1)
		wake(pid);
}

static void round_ended(struct progress_wait *w)
{
	await_done((struct await *)((char *)w - offsetof(struct await, round)));
}

void await_round(struct await *a)
{
	await_more(a);
	progress_wait(&a->round, round_ended);
}

/* ---- the process */

static void give_up(Process *p, void *arg)
{
	(void)p;
	drop(arg);
}

static Term go_on(Process *p, void *arg)
{
	struct await *a = arg;
	Term result;

	if (atomic_load(&a->refs) > 1)
		return exc_wait(p, go_on, give_up, a);
	result = a->then(p, a);
	drop(a);
	return result;
}

bool await_waits(const Process *p)
{
	return p->resume == go_on;
}

Term await_parts(Process *p, struct await *a)
{
	bool done = atomic_load(&a->refs) == 1;

	exc_wait(p, go_on, give_up, a);
	if (done)
		process_unblock(p);
	return TERM_NONE;
}

/* ---- a round alone */

struct returned {
	struct await await;
	Term result;
};

static Term give_result(Process *p, struct await *a)
{
	(void)p;
	return ((const struct returned *)a)->result;
}

Term await_return(Process *p, Term immediate)
{
	struct returned *r = mem_alloc(sizeof(*r));

	await_init(&r->await, p, give_result, NULL);
	r->result = immediate;
	await_round(&r->await);
	return await_parts(p, &r->await);
}
