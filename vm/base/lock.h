/* SPDX-License-Identifier: Apache-2.0 */
/* The only door to pthreads: mutexes with an order, condition variables, threads.
 * Invariant: a thread takes locks in rising order of locks.def; a debug build (-DERLVM_DEBUG) aborts on a breach.
 * Locks of the same class may be nested only where locks.def says so (MANY). */
#ifndef VM_BASE_LOCK_H
#define VM_BASE_LOCK_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

enum lock_class {
#define LOCK(name, many) LOCK_##name,
#include "base/locks.def"
	LOCK_CLASSES
};

struct lock {
	pthread_mutex_t mutex;
#ifdef ERLVM_DEBUG
	uint8_t class;
#endif
};

struct rwlock {
	pthread_rwlock_t rwlock;
#ifdef ERLVM_DEBUG
	uint8_t class;
#endif
};

struct cond {
	pthread_cond_t cond; /* on CLOCK_MONOTONIC */
};

void lock_init(struct lock *l, enum lock_class class);
void lock_destroy(struct lock *l);
void lock_acquire(struct lock *l);
bool lock_try(struct lock *l);
void lock_release(struct lock *l);

void rwlock_init(struct rwlock *l, enum lock_class class);
void rwlock_destroy(struct rwlock *l);
void rwlock_read(struct rwlock *l);
void rwlock_write(struct rwlock *l);
void rwlock_unread(struct rwlock *l);
void rwlock_unwrite(struct rwlock *l);

void cond_init(struct cond *c);
void cond_wait(struct cond *c, struct lock *l);
/* Units: deadline_ns is CLOCK_MONOTONIC. Returns false on time-out. */
bool cond_wait_until(struct cond *c, struct lock *l, int64_t deadline_ns);
void cond_signal(struct cond *c);
void cond_broadcast(struct cond *c);

/* Starts `run(arg)` in a thread named `name` (15 bytes at most), all signals blocked but those of faults; nobody waits for its end.
 * Fails: returns -errno. */
int thread_start(const char *name, void *(*run)(void *), void *arg);
/* In a loop that waits for another thread: lets it run when it has only this processor. */
void thread_yield(void);
/* The same for a short wait that began at since_ns (CLOCK_MONOTONIC). Returns false when SPIN_NS are over: better to sleep. */
enum { SPIN_NS = 50000 };
bool thread_spin(int64_t since_ns);
/* Units: bytes of this thread's stack that are left. */
size_t thread_stack_left_bytes(void);

#endif
