/* SPDX-License-Identifier: Apache-2.0 */
/* Between the files of the match specifications. */
#ifndef VM_ETS_MATCH_COMPILE_H
#define VM_ETS_MATCH_COMPILE_H

#include "base/alloc.h"
#include "ets/match.h"

void match_init(void);

/* ---- what the terms of a head hold */
/* Finds what the head of a clause of m holds. Before the head's first match_holds. */
void match_mark_head(struct match_program *m, Term head);
/* MATCH_HOLDS_* of t, a part of a head of m: with 0 it matches what is =:= to it, and nothing else. */
unsigned match_holds(const struct match_program *m, Term t);

/* ---- arrays that begin as `fixed` ones on the C stack */
void *match_double_room(void *array, const void *fixed, size_t *room, size_t size);
/* Room for one more. */
#define MATCH_GROW(array, fixed, count, room) \
	do { \
		if (unlikely((count) == (room))) \
			(array) = match_double_room((array), (fixed), &(room), sizeof(*(array))); \
	} while (0)

static inline void match_free_array(void *array, const void *fixed)
{
	if (array != fixed)
		mem_free(array);
}

#endif
