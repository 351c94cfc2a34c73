/* SPDX-License-Identifier: Apache-2.0 */
/* Resources that monitor processes. Who watches whom stands in one table, by the pid; the process's exit hook looks
 * there.
 * Invariant: an entry is in the table and in its resource's list, or in neither; it does not keep the resource
 * alive. */
#include <string.h>

#include "base/alloc.h"
#include "base/hash.h"
#include "base/lock.h"
#include "nif/nif_library.h"
#include "nif/nif_resource.h"
#include "proc/peer.h"

enum { BUCKETS = 1024 };

struct nif_watch {
	struct nif_watch *next;       /* of the same bucket */
	struct nif_watch *next_own;   /* of the same resource */
	struct nif_resource *resource;
	Term pid;
	uint64_t number;              /* of its reference */
};

static struct {
	struct lock lock;
	struct nif_watch *buckets[BUCKETS]; /* lock */
	atomic_bool used;
} watches;

void nif_monitor_init(void)
{
	lock_init(&watches.lock, LOCK_nif_watches);
}

static struct nif_watch **bucket_of(Term pid)
{
	return &watches.buckets[hash_word(pid) % BUCKETS];
}

static void unlink_own(struct nif_watch *w)
{
	struct nif_watch **at = &w->resource->watches;

	while (*at != w)
		at = &(*at)->next_own;
	*at = w->next_own;
}

/* Takes out the first of pid, or the one of that number; NULL: there is none. */
static struct nif_watch *take(Term pid, uint64_t number)
{
	struct nif_watch **at = bucket_of(pid), *w;

	for (; (w = *at) != NULL; at = &w->next) {
		if (w->pid != pid || (number != 0 && w->number != number))
			continue;
		*at = w->next;
		unlink_own(w);
		return w;
	}
	return NULL;
}

void nif_monitor_forget(struct nif_resource *r)
{
	struct nif_watch *w;

	lock_acquire(&watches.lock);
	while ((w = r->watches) != NULL)
		mem_free(take(w->pid, w->number));
	lock_release(&watches.lock);
}

/* Counts r unless it is dead already. */
static bool try_keep(struct nif_resource *r)
{
	uint64_t refs = atomic_load(&r->base.refs);

	while (refs != 0)
		if (atomic_compare_exchange_weak(&r->base.refs, &refs, refs + 1))
			return true;
	return false;
}

static struct nif_monitor monitor_of(Term pid, uint64_t number)
{
	return (struct nif_monitor){ .number = number, .spare = { pid } };
}

static void tell_down(struct nif_resource *r, Term pid, uint64_t number)
{
	struct nif_monitor monitor = monitor_of(pid, number);
	struct nif_pid who = { pid };
	struct nif_type_init calls;
	struct nif_library *l = nif_type_calls(r->type, &calls);
	struct nif_env env;

	if (l != NULL && calls.down != NULL) {
		nif_env_init_own(&env, l);
		calls.down(&env, r->object, &who, &monitor);
		nif_env_clear(&env);
	}
	if (l != NULL)
		nif_library_unref(l);
}

void nif_monitor_exit(Process *p)
{
	while (atomic_load(&watches.used)) {
		struct nif_resource *r = NULL;
		struct nif_watch *w;
		uint64_t number = 0;

		lock_acquire(&watches.lock);
		w = take(p->id, 0);
		if (w != NULL) {
			number = w->number;
			r = try_keep(w->resource) ? w->resource : NULL;
		}
		lock_release(&watches.lock);
		mem_free(w);
		if (w == NULL)
			return;
		if (r == NULL)
			continue;
		tell_down(r, p->id, number);
		resource_unref(&r->base);
	}
}

Term nif_monitor_list(Term pid, struct heap *h, Term list)
{
	if (!atomic_load(&watches.used))
		return list;
	lock_acquire(&watches.lock);
	for (struct nif_watch *w = *bucket_of(pid); w != NULL; w = w->next) {
		if (w->pid != pid || !try_keep(w->resource))
			continue;
		list = heap_cons(h, resource_put(h, &w->resource->base), list);
		resource_unref(&w->resource->base); /* the term holds it */
	}
	lock_release(&watches.lock);
	return list;
}

/* ---- for libraries */

/* Negative: its type has no such call. 1: there is no such process. */
int enif_monitor_process(struct nif_env *env, void *object, const struct nif_pid *pid, struct nif_monitor *monitor)
{
	struct nif_resource *r = nif_resource_of(object);
	struct nif_watch *w;
	Process *p;
	bool lives;

	(void)env;
	if (r->type->calls.down == NULL)
		return -1;
	atomic_store(&watches.used, true);
	lock_acquire(&watches.lock);
	p = term_is_local_pid(pid->pid) ? process_find(pid->pid) : NULL;
	/* else its exit may have looked here already */
	lives = p != NULL && !(atomic_load(&p->state) & (PS_EXITING | PS_DEAD));
	if (lives) {
		w = mem_alloc(sizeof(*w));
		*w = (struct nif_watch){ *bucket_of(p->id), r->watches, r, p->id, ref_next_number() };
		*bucket_of(p->id) = r->watches = w;
		if (monitor != NULL)
			*monitor = monitor_of(w->pid, w->number);
	}
	lock_release(&watches.lock);
	if (p != NULL)
		process_unref(p);
	return !lives;
}

int enif_demonitor_process(struct nif_env *env, void *object, const struct nif_monitor *monitor)
{
	struct nif_watch *w;

	(void)env;
	(void)object;
	lock_acquire(&watches.lock);
	w = take(monitor->spare[0], monitor->number);
	lock_release(&watches.lock);
	mem_free(w);
	return w == NULL;
}

int enif_compare_monitors(const struct nif_monitor *a, const struct nif_monitor *b)
{
	return a->number < b->number ? -1 : a->number > b->number;
}

Term enif_make_monitor_term(struct nif_env *env, const struct nif_monitor *monitor)
{
	return peer_put_ref(heap_alloc(env->heap, REF_WORDS), monitor->number, 0);
}
