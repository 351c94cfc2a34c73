/* SPDX-License-Identifier: Apache-2.0 */
/* The ring of saved calls. */
#include "proc/saved_calls.h"

#include "base/alloc.h"

uint32_t saved_calls_set(Process *p, uint32_t room)
{
	uint32_t before = p->saved_calls != NULL ? p->saved_calls->room : 0;

	mem_free_as(MEM_PROCESS, p->saved_calls);
	p->saved_calls = NULL;
	if (room == 0)
		return before;
	p->saved_calls = mem_alloc_as(MEM_PROCESS, sizeof(*p->saved_calls) + room * sizeof(SavedCall));
	*p->saved_calls = (struct saved_calls){ .room = room };
	return before;
}

void saved_calls_add(Process *p, SavedCall call)
{
	struct saved_calls *s = p->saved_calls;

	s->calls[s->next] = call;
	s->next = (s->next + 1) % s->room;
	if (s->used < s->room)
		s->used++;
}

SavedCall saved_calls_get(const struct saved_calls *s, uint32_t i)
{
	return s->calls[(s->next + s->room - s->used + i) % s->room];
}
