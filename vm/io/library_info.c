/* SPDX-License-Identifier: Apache-2.0 */
/* What libraries ask. */
#include "io/library_info.h"

#include <stdatomic.h>
#include <string.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/release.h"
#include "io/async.h"
#include "io/os_env.h"
#include "proc/sched.h"
#include "proc/vm_time.h"

void library_info_get(struct library_info *to, size_t bytes)
{
	struct library_info info = {
		.driver_major = DRIVER_MAJOR,
		.driver_minor = release_current->driver_minor,
		.erts_version = release_current->erts,
		.otp_release = release_current->text,
		.has_threads = 1,
		.has_smp = 1,
		.async_threads = (int)async_thread_count(),
		.schedulers = (int)sched_count(),
		.nif_major = NIF_MAJOR,
		.nif_minor = release_current->nif_minor,
		.has_dirty_schedulers = 1,
	};

	memcpy(to, &info, bytes < sizeof(info) ? bytes : sizeof(info));
}

int library_info_getenv(const char *name, char *to, size_t *room)
{
	char *value = os_env_get(name);
	size_t n;
	int status = 1;

	if (value == NULL)
		return -1;
	n = strlen(value) + 1;
	if (n <= *room) {
		memcpy(to, value, n);
		n--;
		status = 0;
	}
	*room = n;
	mem_free(value);
	return status;
}

/* ---- who has loaded one */

struct taint {
	struct taint *next;
	Term name;
};

static _Atomic(struct taint *) taints; /* the last first; they stay */

static bool is_tainted(const struct taint *t, Term name)
{
	while (t != NULL && t->name != name)
		t = t->next;
	return t != NULL;
}

void library_taint_add(Term name)
{
	struct taint *first = atomic_load(&taints), *t;

	if (is_tainted(first, name))
		return;
	t = mem_alloc(sizeof(*t));
	t->name = name;
	do {
		if (is_tainted(first, name)) {
			mem_free(t);
			return;
		}
		t->next = first;
	} while (!atomic_compare_exchange_weak(&taints, &first, t));
}

Term library_taints(struct heap *h)
{
	Term list = NIL;

	for (const struct taint *t = atomic_load(&taints); t != NULL; t = t->next)
		list = heap_cons(h, t->name, list);
	return list;
}

/* ---- time */

/* Parts a second; 0: no such unit. */
static int64_t parts_of(int unit)
{
	switch (unit) {
	case LIBRARY_SEC: return 1;
	case LIBRARY_MSEC: return 1000;
	case LIBRARY_USEC: return 1000000;
	case LIBRARY_NSEC: return 1000000000;
	default: return 0;
	}
}

int64_t library_time_convert(int64_t value, int from, int to)
{
	int64_t from_parts = parts_of(from), to_parts = parts_of(to);
	__int128 product, result;

	if (from_parts == 0 || to_parts == 0)
		return LIBRARY_TIME_ERROR;
	product = (__int128)value * to_parts;
	result = product / from_parts;
	if (product < 0 && result * from_parts != product)
		result--;
	return (int64_t)result;
}

int64_t library_time_monotonic(int unit)
{
	return library_time_convert(clock_monotonic_ns(), LIBRARY_NSEC, unit);
}

int64_t library_time_offset(int unit)
{
	return library_time_convert(vm_time_offset_ns(), LIBRARY_NSEC, unit);
}
