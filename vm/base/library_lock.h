/* SPDX-License-Identifier: Apache-2.0 */
/* Locks, threads and thread-specific data for the code of libraries: as many as they want, of no class, in no order
 * that we know. Nothing of the VM's own uses them. Names are for people; NULL: none. */
#ifndef VM_BASE_LIBRARY_LOCK_H
#define VM_BASE_LIBRARY_LOCK_H

#include <stdbool.h>
#include <stddef.h>

struct library_mutex;
struct library_cond;
struct library_rwlock;
struct library_thread;

/* Owns: the caller. Fails: NULL. */
struct library_mutex *library_mutex_new(const char *name);
void library_mutex_free(struct library_mutex *m);
void library_mutex_lock(struct library_mutex *m);
/* Returns 0, or EBUSY. */
int library_mutex_try(struct library_mutex *m);
void library_mutex_unlock(struct library_mutex *m);
char *library_mutex_name(struct library_mutex *m);

struct library_cond *library_cond_new(const char *name);
void library_cond_free(struct library_cond *c);
void library_cond_wait(struct library_cond *c, struct library_mutex *m);
void library_cond_signal(struct library_cond *c);
void library_cond_broadcast(struct library_cond *c);
char *library_cond_name(struct library_cond *c);

struct library_rwlock *library_rwlock_new(const char *name);
void library_rwlock_free(struct library_rwlock *l);
void library_rwlock_read(struct library_rwlock *l);
void library_rwlock_write(struct library_rwlock *l);
/* Return 0, or EBUSY. */
int library_rwlock_try_read(struct library_rwlock *l);
int library_rwlock_try_write(struct library_rwlock *l);
/* However it was taken. */
void library_rwlock_unlock(struct library_rwlock *l);
char *library_rwlock_name(struct library_rwlock *l);

/* Return 0, or an errno. */
int library_key_new(int *key);
void library_key_free(int key);
void library_key_set(int key, void *data);
void *library_key_get(int key);

/* stack_kilowords 0: as threads have it. Returns 0, or an errno. */
int library_thread_start(struct library_thread **t, const char *name, void *(*run)(void *), void *arg,
			 int stack_kilowords);
/* Ends t's memory. */
int library_thread_join(struct library_thread *t, void **result);
void library_thread_exit(void *result) __attribute__((noreturn));
/* Of this thread, whoever started it. */
struct library_thread *library_thread_self(void);
bool library_thread_same(const struct library_thread *a, const struct library_thread *b);
char *library_thread_name(struct library_thread *t);

#endif
