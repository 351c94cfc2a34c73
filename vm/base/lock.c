/* SPDX-License-Identifier: Apache-2.0 */
/* Locks, condition variables, threads. Invariant (debug): `held` lists this thread's lock classes in rising order. */
#include "base/lock.h"

#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <string.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/log.h"

#ifdef ERLVM_DEBUG
static const struct {
	const char *name;
	bool many;
} classes[] = {
#define LOCK(name, many) { #name, many },
#include "base/locks.def"
};

static _Thread_local struct {
	uint8_t held[128];   /* a table locked whole holds 32 */
	int count;
} order;

static void order_push(uint8_t class)
{
	for (int i = 0; i < order.count; i++) {
		if (order.held[i] > class || (order.held[i] == class && !classes[class].many)) {
			log_line("erlvm: lock order: %s taken while holding %s", classes[class].name,
				 classes[order.held[i]].name);
			ENSURE(!"lock order");
		}
	}
	ENSURE(order.count < (int)sizeof(order.held));
	order.held[order.count++] = class;
}

/* A try never waits, so it may be out of order. */
static void order_push_try(uint8_t class)
{
	ENSURE(order.count < (int)sizeof(order.held));
	order.held[order.count++] = class;
}

static void order_pop(uint8_t class)
{
	for (int i = order.count - 1; i >= 0; i--) {
		if (order.held[i] == class) {
			memmove(&order.held[i], &order.held[i + 1], (size_t)(order.count - i - 1));
			order.count--;
			return;
		}
	}
	ENSURE(!"lock released that was not held");
}
#define SET_CLASS(l, c) ((l)->class = (uint8_t)(c))
#define ORDER_PUSH(l) order_push((l)->class)
#define ORDER_PUSH_TRY(l) order_push_try((l)->class)
#define ORDER_POP(l) order_pop((l)->class)
#else
#define SET_CLASS(l, c) ((void)(c))
#define ORDER_PUSH(l) ((void)(l))
#define ORDER_PUSH_TRY(l) ((void)(l))
#define ORDER_POP(l) ((void)(l))
#endif

void lock_init(struct lock *l, enum lock_class class)
{
	pthread_mutex_init(&l->mutex, NULL);
	SET_CLASS(l, class);
}

void lock_destroy(struct lock *l)
{
	pthread_mutex_destroy(&l->mutex);
}

void lock_acquire(struct lock *l)
{
	ORDER_PUSH(l);
	pthread_mutex_lock(&l->mutex);
}

bool lock_try(struct lock *l)
{
	if (pthread_mutex_trylock(&l->mutex) != 0)
		return false;
	ORDER_PUSH_TRY(l);
	return true;
}

void lock_release(struct lock *l)
{
	ORDER_POP(l);
	pthread_mutex_unlock(&l->mutex);
}

void rwlock_init(struct rwlock *l, enum lock_class class)
{
	pthread_rwlock_init(&l->rwlock, NULL);
	SET_CLASS(l, class);
}

void rwlock_destroy(struct rwlock *l)
{
	pthread_rwlock_destroy(&l->rwlock);
}

void rwlock_read(struct rwlock *l)
{
	ORDER_PUSH(l);
	pthread_rwlock_rdlock(&l->rwlock);
}

void rwlock_write(struct rwlock *l)
{
	ORDER_PUSH(l);
	pthread_rwlock_wrlock(&l->rwlock);
}

void rwlock_unread(struct rwlock *l)
{
	ORDER_POP(l);
	pthread_rwlock_unlock(&l->rwlock);
}

void rwlock_unwrite(struct rwlock *l)
{
	ORDER_POP(l);
	pthread_rwlock_unlock(&l->rwlock);
}

void cond_init(struct cond *c)
{
	pthread_condattr_t attr;

	pthread_condattr_init(&attr);
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	pthread_cond_init(&c->cond, &attr);
	pthread_condattr_destroy(&attr);
}

void cond_wait(struct cond *c, struct lock *l)
{
	pthread_cond_wait(&c->cond, &l->mutex);
}

bool cond_wait_until(struct cond *c, struct lock *l, int64_t deadline_ns)
{
	struct timespec at = { .tv_sec = deadline_ns / 1000000000, .tv_nsec = deadline_ns % 1000000000 };

	return pthread_cond_timedwait(&c->cond, &l->mutex, &at) != ETIMEDOUT;
}

void cond_signal(struct cond *c)
{
	pthread_cond_signal(&c->cond);
}

void cond_broadcast(struct cond *c)
{
	pthread_cond_broadcast(&c->cond);
}

struct thread_start {
	void *(*run)(void *);
	void *arg;
	char name[16];
};

static void *run_named(void *arg)
{
	struct thread_start start = *(struct thread_start *)arg;

	mem_free(arg);
	pthread_setname_np(pthread_self(), start.name);
	return start.run(start.arg);
}

int thread_start(const char *name, void *(*run)(void *), void *arg)
{
	struct thread_start *start = mem_zalloc(sizeof(*start));
	sigset_t all, before;
	pthread_t id;
	static const int faults[] = { SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT };
	int err;

	start->run = run;
	start->arg = arg;
	strncpy(start->name, name, sizeof(start->name) - 1);
	sigfillset(&all);
	for (size_t i = 0; i < sizeof(faults) / sizeof(*faults); i++)
		sigdelset(&all, faults[i]);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	err = pthread_create(&id, NULL, run_named, start);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	if (err)
		mem_free(start);
	else
		pthread_detach(id);
	return -err;
}

size_t thread_stack_left_bytes(void)
{
	pthread_attr_t attr;
	char here;
	void *low = &here;
	size_t size;

	if (pthread_getattr_np(pthread_self(), &attr) == 0) {
		pthread_attr_getstack(&attr, &low, &size);
		pthread_attr_destroy(&attr);
	}
	return (size_t)((uintptr_t)&here - (uintptr_t)low);
}

void thread_yield(void)
{
	sched_yield();
}

/* Always yields: on a busy machine the other one may be waiting for this very processor. */
bool thread_spin(int64_t since_ns)
{
	sched_yield();
	return clock_monotonic_ns() - since_ns < SPIN_NS;
}
