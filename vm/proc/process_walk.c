/* SPDX-License-Identifier: Apache-2.0 */
#include "proc/process_walk.h"

#include "proc/sched.h"

enum { LISTED_AT_ONCE = 1 << 14, PLACES_AT_ONCE = 256 };

struct in_parts {
	size_t slot, count;
	void (*see)(Process *p, void *arg);
	void *arg;
	bool more;
};

static void see_part(void *arg)
{
	struct in_parts *parts = arg;

	parts->more = process_each_some(&parts->slot, parts->count, parts->see, parts->arg);
}

void process_each_in_parts(size_t count, void (*see)(Process *p, void *arg), void *arg)
{
	struct in_parts parts = { 0, count, see, arg, true };

	sched_lend();
	for (;;) {
		sched_stop_world(see_part, &parts);
		if (!parts.more)
			break;
		sched_resume_world();
	}
	sched_reclaim();
}

Term process_list(struct heap *h)
{
	size_t used = process_places_used();
	bool is_long = used > LISTED_AT_ONCE;
	Term list;

	if (is_long)
		sched_lend();
	list = process_list_living(h, 0, used);
	if (is_long)
		sched_reclaim();
	return list;
}

Term process_list_some(struct heap *h, size_t *next)
{
	size_t used = process_places_used(), first = *next;

	if (first >= used)
		return TERM_NONE;
	*next = used - first > PLACES_AT_ONCE ? first + PLACES_AT_ONCE : used;
	return process_list_living(h, first, *next);
}
