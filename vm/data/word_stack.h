/* SPDX-License-Identifier: Apache-2.0 */
/* A stack of words for walks over terms of any depth: a little room on the C stack, more from the allocator. */
#ifndef VM_DATA_WORD_STACK_H
#define VM_DATA_WORD_STACK_H

#include <string.h>

#include "base/alloc.h"
#include "base/log.h"
#include "term/term.h"

struct word_stack {
	Term *words;
	size_t count, room;
	Term fixed[128];
};

static inline void word_stack_init(struct word_stack *s)
{
	s->words = s->fixed;
	s->count = 0;
	s->room = sizeof(s->fixed) / sizeof(s->fixed[0]);
}

static inline void word_stack_free(struct word_stack *s)
{
	if (s->words != s->fixed)
		mem_free(s->words);
}

static inline void word_stack_push(struct word_stack *s, Term w)
{
	if (unlikely(s->count == s->room)) {
		Term *more = mem_alloc(2 * s->room * sizeof(Term));

		memcpy(more, s->words, s->count * sizeof(Term));
		word_stack_free(s);
		s->words = more;
		s->room *= 2;
	}
	s->words[s->count++] = w;
}

/* from is then nobody's. */
static inline void word_stack_move(struct word_stack *to, const struct word_stack *from)
{
	*to = *from;
	if (from->words == from->fixed)
		to->words = to->fixed;
}

static inline Term word_stack_pop(struct word_stack *s) { return s->words[--s->count]; }

#endif
