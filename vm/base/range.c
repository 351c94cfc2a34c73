/* SPDX-License-Identifier: Apache-2.0 */
#include "base/range.h"

#include <sys/mman.h>
#include <sys/resource.h>

#include "base/alloc.h"

enum { STEP_BYTES = 1 << 20, SHARE = 32 };

static size_t limited(size_t bytes)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY || limit.rlim_cur / SHARE >= bytes)
		return bytes;
	return limit.rlim_cur / SHARE / STEP_BYTES * STEP_BYTES + STEP_BYTES;
}

void range_reserve(struct mem_range *r, size_t bytes, enum range_need need)
{
	r->bytes = need == RANGE_LIMITED ? limited(bytes) : bytes;
	r->base = (uintptr_t)mem_reserve(r->bytes, PROT_NONE);
	r->committed = 0;
}

bool range_commit(struct mem_range *r, size_t bytes)
{
	size_t upto = (bytes + STEP_BYTES - 1) & -(size_t)STEP_BYTES;

	if (bytes <= r->committed)
		return true;
	if (bytes > r->bytes)
		return false;
	if (upto > r->bytes)
		upto = r->bytes;
	if (mprotect((void *)(r->base + r->committed), upto - r->committed, PROT_READ | PROT_WRITE) != 0)
		return false;
	r->committed = upto;
	return true;
}
