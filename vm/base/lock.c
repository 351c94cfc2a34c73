/* SPDX-License-Identifier: Apache-2.0 */
/* Locks, condition variables, threads. Invariant (debug): `held` lists this thread's lock classes in rising order. */
#include "base/lock.h"

#include <errno.h>
#include <limits.h>
#include <linux/futex.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

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

void lock_order_push(uint8_t class)
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

void lock_order_push_try(uint8_t class)
{
	ENSURE(order.count < (int)sizeof(order.held));
	order.held[order.count++] = class;
}

void lock_order_pop(uint8_t class)
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

int lock_order_held(void)
{
	return order.count;
}

#define SET_CLASS(l, c) ((l)->class = (uint8_t)((c) ^ LOCK_OF_ZEROS))
#else
#define SET_CLASS(l, c) ((void)(c))
#endif

/* Returns early when *word is not `value`, or for no reason. deadline_ns 0: none. Fails: false when that is over. */
static bool futex_wait(_Atomic uint32_t *word, uint32_t value, int64_t deadline_ns)
{
	struct timespec at = { .tv_sec = deadline_ns / 1000000000, .tv_nsec = deadline_ns % 1000000000 };
	long r = syscall(SYS_futex, word, FUTEX_WAIT_BITSET | FUTEX_PRIVATE_FLAG, value, deadline_ns != 0 ? &at : NULL,
			 NULL, FUTEX_BITSET_MATCH_ANY);

	return r == 0 || errno != ETIMEDOUT;
}

static void futex_wake(_Atomic uint32_t *word, int count)
{
	syscall(SYS_futex, word, FUTEX_WAKE_PRIVATE, count, NULL, NULL, 0);
}

void lock_init(struct lock *l, enum lock_class class)
{
	atomic_init(&l->word, LOCK_FREE);
	SET_CLASS(l, class);
}

void lock_destroy(struct lock *l)
{
	ASSERT(atomic_load(&l->word) == LOCK_FREE);
	(void)l;
}

/* Who slept takes it as wanted: others may sleep there still. */
void lock_wait(struct lock *l)
{
	enum wait_kind before = wait_begin_lock();

	while (atomic_exchange_explicit(&l->word, LOCK_WANTED, memory_order_acquire) != LOCK_FREE)
		futex_wait(&l->word, LOCK_WANTED, 0);
	wait_end_lock(before);
}

void lock_wake_one(struct lock *l)
{
	futex_wake(&l->word, 1);
}

void lock_vanished(struct lock *l)
{
	LOCK_ORDER(pop, l);
	futex_wake(&l->word, INT_MAX);
}

void lock_let_others(struct lock *l)
{
	int64_t since_ns;

	if (atomic_load_explicit(&l->word, memory_order_relaxed) != LOCK_WANTED)
		return;
	since_ns = clock_monotonic_ns();
	lock_release(l);
	while (atomic_load_explicit(&l->word, memory_order_relaxed) == LOCK_FREE && thread_spin(since_ns))
		;
	lock_acquire(l);
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
	LOCK_ORDER(push, l);
	pthread_rwlock_rdlock(&l->rwlock);
}

void rwlock_write(struct rwlock *l)
{
	LOCK_ORDER(push, l);
	pthread_rwlock_wrlock(&l->rwlock);
}

bool rwlock_try_read(struct rwlock *l)
{
	if (pthread_rwlock_tryrdlock(&l->rwlock) != 0)
		return false;
	LOCK_ORDER(push_try, l);
	return true;
}

bool rwlock_try_write(struct rwlock *l)
{
	if (pthread_rwlock_trywrlock(&l->rwlock) != 0)
		return false;
	LOCK_ORDER(push_try, l);
	return true;
}

void rwlock_unread(struct rwlock *l)
{
	LOCK_ORDER(pop, l);
	pthread_rwlock_unlock(&l->rwlock);
}

void rwlock_unwrite(struct rwlock *l)
{
	LOCK_ORDER(pop, l);
	pthread_rwlock_unlock(&l->rwlock);
}

void cond_init(struct cond *c)
{
	atomic_init(&c->signals, 0);
	atomic_init(&c->waiters, 0);
}

static bool wait_for_signal(enum wait_kind kind, struct cond *c, struct lock *l, int64_t deadline_ns)
{
	uint32_t before = atomic_load(&c->signals);
	bool in_time;

	wait_begin_locked(kind);
	/* Whoever changes what is waited for does so under the lock: a signal after that finds a waiter, or another
	 * number. */
	atomic_fetch_add(&c->waiters, 1);
	if (atomic_exchange_explicit(&l->word, LOCK_FREE, memory_order_release) == LOCK_WANTED)
		lock_wake_one(l);
	in_time = futex_wait(&c->signals, before, deadline_ns);
	atomic_fetch_sub(&c->waiters, 1);
	if (!lock_take_free(l))
		lock_wait(l);
	wait_end();
	return in_time;
}

void cond_wait(enum wait_kind kind, struct cond *c, struct lock *l)
{
	wait_for_signal(kind, c, l, 0);
}

bool cond_wait_until(enum wait_kind kind, struct cond *c, struct lock *l, int64_t deadline_ns)
{
	return wait_for_signal(kind, c, l, deadline_ns > 0 ? deadline_ns : 1);
}

static void signal_waiters(struct cond *c, int count)
{
	atomic_fetch_add(&c->signals, 1);
	if (atomic_load(&c->waiters) != 0)
		futex_wake(&c->signals, count);
}

void cond_signal(struct cond *c)
{
	signal_waiters(c, 1);
}

void cond_broadcast(struct cond *c)
{
	signal_waiters(c, INT_MAX);
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
	wait_thread_begins(start.name);
	start.run(start.arg);
	wait_thread_ends();
	return NULL;
}

/* By default it is as large as `ulimit -s` says: too small for libc's own functions, or so large that limits of memory
 * are reached by addresses alone. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
enum { STACK_BYTES = 8 << 20 };
#else
enum { STACK_BYTES = 1 << 20 };
#endif

static void set_stack(pthread_attr_t *attr)
{
	pthread_attr_init(attr);
	pthread_attr_setstacksize(attr, STACK_BYTES);
}

int thread_start(const char *name, void *(*run)(void *), void *arg)
{
	struct thread_start *start = mem_zalloc(sizeof(*start));
	sigset_t all, before;
	pthread_attr_t attr;
	pthread_t id;
	static const int faults[] = { SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT };
	int err;

	start->run = run;
	start->arg = arg;
	strncpy(start->name, name, sizeof(start->name) - 1);
	sigfillset(&all);
	for (size_t i = 0; i < sizeof(faults) / sizeof(*faults); i++)
		sigdelset(&all, faults[i]);
	set_stack(&attr);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	err = pthread_create(&id, &attr, run_named, start);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	pthread_attr_destroy(&attr);
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

enum { BACKGROUND_NICE = 10 };

void thread_be_background(void)
{
	(void)setpriority(PRIO_PROCESS, (id_t)gettid(), BACKGROUND_NICE);
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
