/* SPDX-License-Identifier: Apache-2.0 */
/* The only door to pthreads: locks with an order, condition variables, threads.
 * Invariant: a thread takes locks in rising order of locks.def; a debug build (-DERLVM_DEBUG) aborts on a breach.
 * Locks of the same class may be nested only where locks.def says so (MANY). */
#ifndef VM_BASE_LOCK_H
#define VM_BASE_LOCK_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/wait.h"

enum lock_class {
#define LOCK(name, many) LOCK_##name,
#include "base/locks.def"
	LOCK_CLASSES
};

/* A word that threads sleep at (futex): taking a free lock is one atomic operation, releasing one that nobody waits for
 * another. */
struct lock {
	_Atomic uint32_t word; /* LOCK_FREE ... */
#ifdef ERLVM_DEBUG
	uint8_t class;
#endif
};
enum { LOCK_FREE, LOCK_HELD, LOCK_WANTED /* held, and somebody may sleep at it */ };

struct rwlock {
	pthread_rwlock_t rwlock;
#ifdef ERLVM_DEBUG
	uint8_t class;
#endif
};

struct cond {
	_Atomic uint32_t signals; /* so far: what waiters sleep at */
	_Atomic uint32_t waiters;
};

/* Zeros are a free lock of this class: for memory that may be emptied while somebody looks at its lock. */
#define LOCK_OF_ZEROS LOCK_proc_signals
#define LOCK_ZEROED(name) _Static_assert(LOCK_##name == LOCK_OF_ZEROS, "zeros are a lock of another class")

#ifdef ERLVM_DEBUG
/* Aborts when the order of locks.def is broken. A try never waits, so it may be out of order. */
void lock_order_push(uint8_t class);
void lock_order_push_try(uint8_t class);
void lock_order_pop(uint8_t class);
/* So many does this thread hold. */
int lock_order_held(void);
#define LOCK_ORDER(what, l) lock_order_##what(LOCK_CLASS_OF(l))
#define LOCK_CLASS_OF(l) ((l)->class ^ LOCK_OF_ZEROS)
#else
#define LOCK_ORDER(what, l) ((void)(l))
static inline int lock_order_held(void) { return 0; }
#endif

/* Somebody else holds it, or waits for it. */
void lock_wait(struct lock *l);
void lock_wake_one(struct lock *l);

static inline bool lock_take_free(struct lock *l)
{
	uint32_t expected = LOCK_FREE;

	return atomic_compare_exchange_strong_explicit(&l->word, &expected, LOCK_HELD, memory_order_acquire,
						       memory_order_relaxed);
}

/* What an object of static storage is initialized with, in place of lock_init. */
#ifdef ERLVM_DEBUG
#define LOCK_STATIC(name) { .class = LOCK_##name ^ LOCK_OF_ZEROS }
#else
#define LOCK_STATIC(name) { .word = LOCK_FREE }
#endif
void lock_init(struct lock *l, enum lock_class class);
void lock_destroy(struct lock *l);
/* This thread held it, and since then its memory was filled with zeros, so that it is free: wakes all who wait for
 * it. */
void lock_vanished(struct lock *l);

static inline void lock_acquire(struct lock *l)
{
	LOCK_ORDER(push, l);
	if (__builtin_expect(!lock_take_free(l), false))
		lock_wait(l);
}

static inline bool lock_try(struct lock *l)
{
	if (atomic_load_explicit(&l->word, memory_order_relaxed) != LOCK_FREE || !lock_take_free(l))
		return false;
	LOCK_ORDER(push_try, l);
	return true;
}

static inline void lock_release(struct lock *l)
{
	LOCK_ORDER(pop, l);
	if (__builtin_expect(atomic_exchange_explicit(&l->word, LOCK_FREE, memory_order_release) == LOCK_WANTED, false))
		lock_wake_one(l);
}

/* For long work in pieces. The caller holds the lock: when others wait for it, one of them takes it first. Without, who
 * releases a lock and takes it again at once has it before those who wait have woken up, for as long as the work
 * lasts. */
void lock_let_others(struct lock *l);

void rwlock_init(struct rwlock *l, enum lock_class class);
void rwlock_destroy(struct rwlock *l);
void rwlock_read(struct rwlock *l);
void rwlock_write(struct rwlock *l);
/* False: they would wait. */
bool rwlock_try_read(struct rwlock *l);
bool rwlock_try_write(struct rwlock *l);
void rwlock_unread(struct rwlock *l);
void rwlock_unwrite(struct rwlock *l);

void cond_init(struct cond *c);
/* l is held; it is free while the thread sleeps. kind: what it waits for. Both may return without a signal: look again
 * at what was waited for. */
void cond_wait(enum wait_kind kind, struct cond *c, struct lock *l);
/* Units: deadline_ns is CLOCK_MONOTONIC. Returns false on time-out. */
bool cond_wait_until(enum wait_kind kind, struct cond *c, struct lock *l, int64_t deadline_ns);
void cond_signal(struct cond *c);
void cond_broadcast(struct cond *c);

/* Starts `run(arg)` in a thread named `name` (15 bytes at most), all signals blocked but those of faults; nobody waits
 * for its end.
 * Fails: returns -errno. */
int thread_start(const char *name, void *(*run)(void *), void *arg);
/* Whenever there are too few processors, threads that do not do this get several times as much of them as this one does
 * from now on. */
void thread_be_background(void);
/* In a loop that waits for another thread: lets it run when it has only this processor. */
void thread_yield(void);
/* The same for a short wait that began at since_ns (CLOCK_MONOTONIC). Returns false when SPIN_NS are over: better to
 * sleep. */
enum { SPIN_NS = 50000 };
bool thread_spin(int64_t since_ns);
/* The address that this thread's local storage is found from: on x86-64 the base of register fs. */
static inline uintptr_t thread_pointer(void) { return (uintptr_t)pthread_self(); }
/* Units: bytes of this thread's stack that are left. */
size_t thread_stack_left_bytes(void);

#endif
