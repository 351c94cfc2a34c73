/* SPDX-License-Identifier: Apache-2.0 */
/* Invariant: once the end has begun no further call is counted, so that the count falls to zero as the calls return. */
#include "nif/nif_halt.h"

#include <errno.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <time.h>

#include "base/lock.h"
#include "nif/nif_call.h"
#include "nif/nif_library.h"
#include "proc/sched.h"

static struct {
	struct lock lock;
	struct nif_library *first;   /* lock: those with on_halt */
	atomic_bool has_begun;       /* the end */
	atomic_size_t calls;         /* that run, of libraries that delay it */
} halts;

static void call_libraries(void)
{
	lock_acquire(&halts.lock);
	for (struct nif_library *l = halts.first; l != NULL; l = l->halt.next)
		l->halt.on_halt(l->data);
	halts.first = NULL;
	lock_release(&halts.lock);
}

/* For sched_at_halt. Calls may want the world to be stopped before they return. */
static void follow_halt(bool flush)
{
	if (!flush)
		return;
	atomic_store(&halts.has_begun, true);
	call_libraries();
	while (atomic_load(&halts.calls) > 0) {
		sched_yield_world();
		nanosleep(&(struct timespec){ .tv_nsec = 1000000 }, NULL);
	}
}

void nif_halt_init(void)
{
	lock_init(&halts.lock, LOCK_nif_halt);
	sched_at_halt(follow_halt);
}

void nif_halt_begin_call(void)
{
	atomic_fetch_add(&halts.calls, 1);
	if (!atomic_load(&halts.has_begun))
		return;
	atomic_fetch_sub(&halts.calls, 1);
	sched_await_end();
}

void nif_halt_end_call(void)
{
	atomic_fetch_sub(&halts.calls, 1);
}

void nif_halt_enter(struct nif_library *l)
{
	for (int i = 0; l->halt.delays && i < l->entry.function_count; i++)
		if (l->functions[i].call == nif_call_of(0))
			l->functions[i].call = nif_call_counted;
	if (l->halt.on_halt == NULL)
		return;
	lock_acquire(&halts.lock);
	l->halt.next = halts.first;
	halts.first = l;
	lock_release(&halts.lock);
}

void nif_halt_leave(struct nif_library *l)
{
	struct nif_library **at = &halts.first;

	if (l->halt.on_halt == NULL)
		return;
	lock_acquire(&halts.lock);
	while (*at != NULL && *at != l)
		at = &(*at)->halt.next;
	if (*at == l)
		*at = l->halt.next;
	lock_release(&halts.lock);
}

/* Each option once. Returns 0, or EINVAL. */
int enif_set_option(struct nif_env *env, enum nif_option option, ...)
{
	struct nif_library *l = env != NULL && env->opened != NULL ? env->library : NULL;
	va_list args;

	if (l == NULL)
		return EINVAL;
	if (option == NIF_DELAY_HALT && !l->halt.delays) {
		l->halt.delays = true;
		return 0;
	}
	if (option != NIF_ON_HALT || l->halt.on_halt != NULL)
		return EINVAL;
	va_start(args, option);
	l->halt.on_halt = va_arg(args, void (*)(void *));
	va_end(args);
	return l->halt.on_halt != NULL ? 0 : EINVAL;
}
