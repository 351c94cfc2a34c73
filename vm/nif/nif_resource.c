/* SPDX-License-Identifier: Apache-2.0 */
/* Resources and their types. */
#include "nif/nif_resource.h"

#include <string.h>

#include "base/alloc.h"
#include "base/lock.h"
#include "nif/nif_library.h"
#include "nif/nif_tracer.h"
#include "proc/worker.h"

static struct {
	struct lock lock;
	struct nif_type *types;        /* lock: those known */
	_Atomic(struct nif_resource *) dead;
	atomic_size_t ending;          /* dead ones, until their destructors have returned */
} resources;

static void release(struct resource *base);
static const struct resource_type kind = { "nif_resource", release };

/* ---- types */

static void unref_type(struct nif_type *type)
{
	if (atomic_fetch_sub(&type->refs, 1) != 1)
		return;
	if (type->has_calls && type->owner != NULL)
		nif_library_unref(type->owner);
	mem_free(type);
}

struct nif_library *nif_type_calls(struct nif_type *type, struct nif_type_init *calls)
{
	struct nif_library *l = NULL;

	lock_acquire(&resources.lock);
	*calls = type->calls;
	if (type->has_calls)
		l = type->owner;
	if (l != NULL)
		nif_library_ref(l);
	lock_release(&resources.lock);
	return l;
}

static bool has_calls(const struct nif_type_init *c)
{
	return c->dtor != NULL || c->stop != NULL || c->down != NULL || c->dyncall != NULL;
}

static struct nif_type *find_type(Term module, Term name)
{
	struct nif_type *t;

	lock_acquire(&resources.lock);
	for (t = resources.types; t != NULL && (t->module != module || t->name != name);)
		t = t->next;
	lock_release(&resources.lock);
	return t;
}

static struct nif_type *make_type(Term module, Term name)
{
	struct nif_type *t = mem_zalloc(sizeof(*t));

	atomic_init(&t->refs, 1);
	t->module = module;
	t->name = name;
	return t;
}

static struct nif_type *open_type(struct nif_env *env, const char *name, const struct nif_type_init *calls, int flags,
				  int *tried)
{
	Term atom = atom_from_latin1(name, strlen(name), NULL);
	struct nif_type *type;
	struct nif_opening *o;
	bool is_new;

	if (tried != NULL)
		*tried = flags;
	if (env->opened == NULL || atom == TERM_NONE)
		return NULL;
	type = find_type(env->library->module, atom);
	is_new = type == NULL;
	if (tried != NULL)
		*tried = is_new ? (flags & NIF_TYPE_CREATE ? NIF_TYPE_CREATE : flags)
				: (flags & NIF_TYPE_TAKEOVER ? NIF_TYPE_TAKEOVER : flags);
	if (!(flags & (is_new ? NIF_TYPE_CREATE : NIF_TYPE_TAKEOVER)))
		return NULL;
	if (is_new)
		type = make_type(env->library->module, atom);
	o = mem_alloc(sizeof(*o));
	*o = (struct nif_opening){ env->opened->first, type, is_new, *calls };
	env->opened->first = o;
	return type;
}

/* The lock is held. Returns the library that has lost it, still counted. */
static struct nif_library *enter_type(const struct nif_opening *o, struct nif_library *l)
{
	struct nif_type *type = o->type;
	struct nif_library *before = type->has_calls ? type->owner : NULL;

	if (o->is_new) {
		type->next = resources.types;
		resources.types = type;
	}
	type->calls = o->calls;
	type->owner = l;
	type->has_calls = has_calls(&o->calls);
	if (type->has_calls)
		nif_library_ref(l);
	return before;
}

void nif_types_enter(struct nif_opened *opened, struct nif_library *l)
{
	struct nif_opening *o;

	while ((o = opened->first) != NULL) {
		struct nif_library *before;

		opened->first = o->next;
		lock_acquire(&resources.lock);
		before = enter_type(o, l);
		lock_release(&resources.lock);
		if (before != NULL)
			nif_library_unref(before);
		mem_free(o);
	}
}

void nif_types_forget(struct nif_opened *opened)
{
	struct nif_opening *o;

	while ((o = opened->first) != NULL) {
		opened->first = o->next;
		if (o->is_new)
			unref_type(o->type);
		mem_free(o);
	}
}

/* Its types are known no more: a library to come makes its own. */
static void forget_types_of(struct nif_library *l)
{
	struct nif_type **at, *type, *gone = NULL;

	lock_acquire(&resources.lock);
	for (at = &resources.types; (type = *at) != NULL;) {
		if (type->owner != l) {
			at = &type->next;
			continue;
		}
		*at = type->next;
		type->next = gone;
		gone = type;
	}
	lock_release(&resources.lock);
	while ((type = gone) != NULL) {
		gone = type->next;
		unref_type(type);
	}
}

static void release_library(struct nif_library *l)
{
	forget_types_of(l);
	nif_tracer_leave(l);
	nif_library_unref(l);
}

void nif_resource_init(void)
{
	lock_init(&resources.lock, LOCK_nif_types);
	nif_release_library = release_library;
}

/* ---- dead ones */

static void end_resource(struct nif_resource *r)
{
	struct nif_type *type = r->type;
	struct nif_type_init calls;
	struct nif_library *l;
	struct nif_env env;

	nif_monitor_forget(r);
	l = nif_type_calls(type, &calls);
	if (l != NULL && calls.dtor != NULL) {
		nif_env_init_own(&env, l);
		calls.dtor(&env, r->object);
		nif_env_clear(&env);
	}
	mem_free(r);
	unref_type(type);
	if (l != NULL)
		nif_library_unref(l);
	atomic_fetch_sub(&resources.ending, 1);
}

bool nif_resources_are_ending(void)
{
	return atomic_load(&resources.ending) != 0;
}

static void end_dead(struct worker_job *job)
{
	struct nif_resource *r = atomic_exchange(&resources.dead, NULL), *next, *first = NULL;

	mem_free(job);
	for (; r != NULL; r = next) { /* those that died first end first */
		next = r->next_dead;
		r->next_dead = first;
		first = r;
	}
	for (; first != NULL; first = next) {
		next = first->next_dead;
		end_resource(first);
	}
}

/* Who puts the first there starts the job that takes all. */
static void release(struct resource *base)
{
	struct nif_resource *r = (struct nif_resource *)base, *before = atomic_load(&resources.dead);
	struct worker_job *job;

	if (!r->type->has_calls) {
		unref_type(r->type);
		mem_free(r);
		return;
	}
	atomic_fetch_add(&resources.ending, 1);
	do
		r->next_dead = before;
	while (!atomic_compare_exchange_weak(&resources.dead, &before, r));
	if (before != NULL) /* r may be gone already */
		return;
	job = mem_zalloc(sizeof(*job));
	job->run = end_dead;
	worker_submit(WORKER_BOUNDED, job);
}

/* ---- for libraries: types */

struct nif_type *enif_open_resource_type(struct nif_env *env, const char *module, const char *name,
					 void (*dtor)(struct nif_env *, void *),
					 int flags, int *tried)
{
	struct nif_type_init calls = { .dtor = dtor };

	(void)module; /* it is the library's */
	return open_type(env, name, &calls, flags, tried);
}

/* How much of the table of calls an old library knows of, its header says. */
static struct nif_type_init known_calls(const struct nif_type_init *from, int members)
{
	struct nif_type_init calls = { 0 };

	if (members >= 1)
		calls.dtor = from->dtor;
	if (members >= 2)
		calls.stop = from->stop;
	if (members >= 3)
		calls.down = from->down;
	if (members >= 4)
		calls.dyncall = from->dyncall;
	return calls;
}

struct nif_type *enif_open_resource_type_x(struct nif_env *env, const char *name, const struct nif_type_init *init,
					   int flags, int *tried)
{
	struct nif_type_init calls = known_calls(init, 3);

	return open_type(env, name, &calls, flags, tried);
}

struct nif_type *enif_init_resource_type(struct nif_env *env, const char *name, const struct nif_type_init *init,
					 int flags, int *tried)
{
	struct nif_type_init calls = known_calls(init, init->members);

	return open_type(env, name, &calls, flags, tried);
}

/* ---- for libraries: resources */

void *enif_alloc_resource(struct nif_type *type, size_t size)
{
	struct nif_resource *r = size < SIZE_MAX - sizeof(*r) ? mem_try_alloc(sizeof(*r) + size) : NULL;

	if (r == NULL)
		return NULL;
	resource_init(&r->base, &kind);
	atomic_fetch_add(&type->refs, 1);
	r->type = type;
	r->size_bytes = size;
	r->next_dead = NULL;
	r->watches = NULL;
	return r->object;
}

void enif_keep_resource(void *object)
{
	resource_ref(&nif_resource_of(object)->base);
}

void enif_release_resource(void *object)
{
	resource_unref(&nif_resource_of(object)->base);
}

size_t enif_sizeof_resource(void *object)
{
	return nif_resource_of(object)->size_bytes;
}

Term enif_make_resource(struct nif_env *env, void *object)
{
	return resource_put(env->heap, &nif_resource_of(object)->base);
}

Term enif_make_resource_binary(struct nif_env *env, void *object, const void *bytes, size_t size)
{
	struct resource *r = &nif_resource_of(object)->base;

	resource_ref(r);
	return refbin_put_resource(env->heap, r, bytes, size);
}

struct nif_resource *nif_resource_from_term(Term t)
{
	struct resource *r = resource_get(t, &kind);

	if (r == NULL && term_has_sub(t, SUB_REFBIN))
		r = binary_resource(((struct refbin *)boxed_ptr(t))->binary, &kind);
	return (struct nif_resource *)r;
}

int enif_get_resource(struct nif_env *env, Term t, struct nif_type *type, void **object)
{
	struct nif_resource *r = nif_resource_from_term(t);

	(void)env;
	if (r == NULL || r->type != type)
		return 0;
	*object = r->object;
	return 1;
}

int enif_dynamic_resource_call(struct nif_env *env, Term module, Term name, Term t, void *call_data)
{
	struct nif_resource *r = nif_resource_from_term(t);
	struct nif_type_init calls;
	struct nif_library *l;

	if (r == NULL || r->type->module != module || r->type->name != name)
		return 1;
	l = nif_type_calls(r->type, &calls);
	if (l == NULL)
		return 1;
	if (calls.dyncall != NULL)
		calls.dyncall(env, r->object, call_data);
	nif_library_unref(l);
	return calls.dyncall == NULL;
}
