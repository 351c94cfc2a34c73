/* SPDX-License-Identifier: Apache-2.0 */
/* Locks and threads, as libraries call them. */
#include <errno.h>

#include "base/alloc.h"
#include "base/library_lock.h"
#include "nif/nif_abi.h"

struct library_mutex *enif_mutex_create(char *name)
{
	return library_mutex_new(name);
}

void enif_mutex_destroy(struct library_mutex *m)
{
	library_mutex_free(m);
}

int enif_mutex_trylock(struct library_mutex *m)
{
	return library_mutex_try(m);
}

void enif_mutex_lock(struct library_mutex *m)
{
	library_mutex_lock(m);
}

void enif_mutex_unlock(struct library_mutex *m)
{
	library_mutex_unlock(m);
}

char *enif_mutex_name(struct library_mutex *m)
{
	return library_mutex_name(m);
}

struct library_cond *enif_cond_create(char *name)
{
	return library_cond_new(name);
}

void enif_cond_destroy(struct library_cond *c)
{
	library_cond_free(c);
}

void enif_cond_signal(struct library_cond *c)
{
	library_cond_signal(c);
}

void enif_cond_broadcast(struct library_cond *c)
{
	library_cond_broadcast(c);
}

void enif_cond_wait(struct library_cond *c, struct library_mutex *m)
{
	library_cond_wait(c, m);
}

char *enif_cond_name(struct library_cond *c)
{
	return library_cond_name(c);
}

struct library_rwlock *enif_rwlock_create(char *name)
{
	return library_rwlock_new(name);
}

void enif_rwlock_destroy(struct library_rwlock *l)
{
	library_rwlock_free(l);
}

int enif_rwlock_tryrlock(struct library_rwlock *l)
{
	return library_rwlock_try_read(l);
}

void enif_rwlock_rlock(struct library_rwlock *l)
{
	library_rwlock_read(l);
}

void enif_rwlock_runlock(struct library_rwlock *l)
{
	library_rwlock_unlock(l);
}

int enif_rwlock_tryrwlock(struct library_rwlock *l)
{
	return library_rwlock_try_write(l);
}

void enif_rwlock_rwlock(struct library_rwlock *l)
{
	library_rwlock_write(l);
}

void enif_rwlock_rwunlock(struct library_rwlock *l)
{
	library_rwlock_unlock(l);
}

char *enif_rwlock_name(struct library_rwlock *l)
{
	return library_rwlock_name(l);
}

/* ---- data of a thread */

int enif_tsd_key_create(char *name, int *key)
{
	(void)name;
	return library_key_new(key);
}

void enif_tsd_key_destroy(int key)
{
	library_key_free(key);
}

void enif_tsd_set(int key, void *data)
{
	library_key_set(key, data);
}

void *enif_tsd_get(int key)
{
	return library_key_get(key);
}

/* ---- threads */

struct nif_thread_options *enif_thread_opts_create(char *name)
{
	struct nif_thread_options *o = mem_zalloc(sizeof(*o));

	(void)name;
	o->suggested_stack_size = -1;
	return o;
}

void enif_thread_opts_destroy(struct nif_thread_options *o)
{
	mem_free(o);
}

int enif_thread_create(char *name, struct library_thread **t, void *(*run)(void *), void *arg,
		       struct nif_thread_options *o)
{
	return library_thread_start(t, name, run, arg, o != NULL ? o->suggested_stack_size : 0);
}

struct library_thread *enif_thread_self(void)
{
	return library_thread_self();
}

int enif_equal_tids(struct library_thread *a, struct library_thread *b)
{
	return library_thread_same(a, b);
}

void enif_thread_exit(void *result)
{
	library_thread_exit(result);
}

int enif_thread_join(struct library_thread *t, void **result)
{
	return library_thread_join(t, result);
}

char *enif_thread_name(struct library_thread *t)
{
	return library_thread_name(t);
}
