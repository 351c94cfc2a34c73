/* SPDX-License-Identifier: Apache-2.0 */
/* Addresses for the life of the VM, of which those that were committed can be used: what is only reserved counts
 * against no limit of data (`ulimit -d`). */
#ifndef VM_BASE_RANGE_H
#define VM_BASE_RANGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct mem_range {
	uintptr_t base;
	size_t bytes, committed; /* from base; zeros at first */
};

/* LIMITED: where addresses are limited (`ulimit -v`), it gets a small share of them, and r->bytes says how many. */
enum range_need { RANGE_WHOLE, RANGE_LIMITED };

/* Ends the VM with one line where it is refused. */
void range_reserve(struct mem_range *r, size_t bytes, enum range_need need);
/* The first `bytes` can be read and written from now on. Under the owner's lock. Fails: false, there are no more, or
 * the system refuses. */
bool range_commit(struct mem_range *r, size_t bytes);

#endif
