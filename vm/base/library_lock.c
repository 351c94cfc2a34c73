/* SPDX-License-Identifier: Apache-2.0 */
/* Locks and threads of libraries. */
#include "base/library_lock.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>

#include "base/alloc.h"

struct library_mutex {
	pthread_mutex_t mutex;
	char *name;
};

struct library_cond {
	pthread_cond_t cond;
	char *name;
};

struct library_rwlock {
	pthread_rwlock_t rwlock;
	char *name;
};

struct library_thread {
	pthread_t thread;
	char *name;
	void *(*run)(void *);
	void *arg;
};

static _Thread_local struct library_thread *self;

static char *copy_name(const char *name)
{
	return name != NULL ? mem_strdup(name) : NULL;
}

/* ---- mutexes */

struct library_mutex *library_mutex_new(const char *name)
{
	struct library_mutex *m = mem_zalloc(sizeof(*m));

	pthread_mutex_init(&m->mutex, NULL);
	m->name = copy_name(name);
	return m;
}

void library_mutex_free(struct library_mutex *m)
{
	if (m == NULL)
		return;
	pthread_mutex_destroy(&m->mutex);
	mem_free(m->name);
	mem_free(m);
}

void library_mutex_lock(struct library_mutex *m)
{
	pthread_mutex_lock(&m->mutex);
}

int library_mutex_try(struct library_mutex *m)
{
	return pthread_mutex_trylock(&m->mutex);
}

void library_mutex_unlock(struct library_mutex *m)
{
	pthread_mutex_unlock(&m->mutex);
}

char *library_mutex_name(struct library_mutex *m)
{
	return m != NULL ? m->name : NULL;
}

/* ---- conditions */

struct library_cond *library_cond_new(const char *name)
{
	struct library_cond *c = mem_zalloc(sizeof(*c));

	pthread_cond_init(&c->cond, NULL);
	c->name = copy_name(name);
	return c;
}

void library_cond_free(struct library_cond *c)
{
	if (c == NULL)
		return;
	pthread_cond_destroy(&c->cond);
	mem_free(c->name);
	mem_free(c);
}

void library_cond_wait(struct library_cond *c, struct library_mutex *m)
{
	pthread_cond_wait(&c->cond, &m->mutex);
}

void library_cond_signal(struct library_cond *c)
{
	pthread_cond_signal(&c->cond);
}

void library_cond_broadcast(struct library_cond *c)
{
	pthread_cond_broadcast(&c->cond);
}

char *library_cond_name(struct library_cond *c)
{
	return c != NULL ? c->name : NULL;
}

/* ---- read-write locks */

struct library_rwlock *library_rwlock_new(const char *name)
{
	struct library_rwlock *l = mem_zalloc(sizeof(*l));

	pthread_rwlock_init(&l->rwlock, NULL);
	l->name = copy_name(name);
	return l;
}

void library_rwlock_free(struct library_rwlock *l)
{
	if (l == NULL)
		return;
	pthread_rwlock_destroy(&l->rwlock);
	mem_free(l->name);
	mem_free(l);
}

void library_rwlock_read(struct library_rwlock *l)
{
	pthread_rwlock_rdlock(&l->rwlock);
}

void library_rwlock_write(struct library_rwlock *l)
{
	pthread_rwlock_wrlock(&l->rwlock);
}

int library_rwlock_try_read(struct library_rwlock *l)
{
	return pthread_rwlock_tryrdlock(&l->rwlock);
}

int library_rwlock_try_write(struct library_rwlock *l)
{
	return pthread_rwlock_trywrlock(&l->rwlock);
}

void library_rwlock_unlock(struct library_rwlock *l)
{
	pthread_rwlock_unlock(&l->rwlock);
}

char *library_rwlock_name(struct library_rwlock *l)
{
	return l != NULL ? l->name : NULL;
}

/* ---- threads */

static void *run_thread(void *arg)
{
	self = arg;
	return self->run(self->arg);
}

static void set_stack(pthread_attr_t *attr, int kilowords)
{
	enum { LEAST_BYTES = 512 << 10 }; /* the system takes what is thread-local from it, of all libraries, too */
	size_t bytes = (size_t)kilowords * 1024 * sizeof(void *);

	if (kilowords > 0)
		pthread_attr_setstacksize(attr, bytes > LEAST_BYTES ? bytes : LEAST_BYTES);
}

int library_thread_start(struct library_thread **t, const char *name, void *(*run)(void *), void *arg,
			 int stack_kilowords)
{
	enum { NAME_BYTES = 16 };
	struct library_thread *made = mem_zalloc(sizeof(*made));
	char short_name[NAME_BYTES] = { 0 };
	sigset_t all, before;
	pthread_attr_t attr;
	int error;

	made->name = copy_name(name);
	made->run = run;
	made->arg = arg;
	pthread_attr_init(&attr);
	set_stack(&attr, stack_kilowords);
	sigfillset(&all); /* the VM's threads hear signals */
	pthread_sigmask(SIG_BLOCK, &all, &before);
	error = pthread_create(&made->thread, &attr, run_thread, made);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	pthread_attr_destroy(&attr);
	if (error != 0) {
		mem_free(made->name);
		mem_free(made);
		return error;
	}
	for (int i = 0; name != NULL && i < NAME_BYTES - 1 && name[i] != '\0'; i++)
		short_name[i] = name[i];
	if (name != NULL)
		pthread_setname_np(made->thread, short_name);
	*t = made;
	return 0;
}

int library_thread_join(struct library_thread *t, void **result)
{
	int error = pthread_join(t->thread, result);

	if (error != 0)
		return error;
	mem_free(t->name);
	mem_free(t);
	return 0;
}

void library_thread_exit(void *result)
{
	pthread_exit(result);
}

/* A thread of the VM's gets one when it first asks. */
struct library_thread *library_thread_self(void)
{
	if (self == NULL) {
		self = mem_zalloc(sizeof(*self));
		self->thread = pthread_self();
	}
	return self;
}

bool library_thread_same(const struct library_thread *a, const struct library_thread *b)
{
	return a == b || (a != NULL && b != NULL && pthread_equal(a->thread, b->thread));
}

char *library_thread_name(struct library_thread *t)
{
	return t != NULL ? t->name : NULL;
}
