/* SPDX-License-Identifier: Apache-2.0 */
/* Sequential trace tokens. Invariant: a token is a 5-tuple {Flags, Label, Serial, From, Previous} with small counts, or
 * NIL. */
#include "proc/seq_token.h"

#include <limits.h>
#include <string.h>

#include "heap/copy.h"
#include "proc/tracee.h"

_Atomic unsigned seq_token_resets;

static int64_t count_at(Term token, size_t index)
{
	Term t = tuple_get(token, index);

	return term_is_small(t) ? small_value(t) : 0;
}

void seq_token_set(Process *p, enum seq_token_field field, Term value)
{
	Term fields[5] = { SMALL(0), SMALL(0), SMALL(0), p->id, term_from_small(trace_tracee(p)->seq_previous) };

	if (p->seq_token != NIL)
		memcpy(fields, boxed_ptr(p->seq_token) + 1, sizeof(fields));
	fields[field - 1] = value;
	p->seq_token = heap_tuple_array(&p->heap, 5, fields);
}

void seq_token_set_counts(Process *p, int64_t previous, int64_t serial)
{
	struct tracee *t = trace_tracee(p);

	t->seq_previous = previous;
	t->seq_clock = serial;
}

void seq_token_count_send(Process *p)
{
	struct tracee *t = trace_tracee(p);
	const Term fields[5] = { tuple_get(p->seq_token, SEQ_TOKEN_FLAGS), tuple_get(p->seq_token, SEQ_TOKEN_LABEL),
				 term_from_small(++t->seq_clock), p->id, term_from_small(t->seq_previous) };

	p->seq_token = heap_tuple_array(&p->heap, 5, fields);
}

void seq_token_inherit(Process *parent, Process *child)
{
	if (atomic_load(&seq_token_resets) > 0)
		return;
	seq_token_count_send(parent);
	child->seq_token = copy_to_heap(parent->seq_token, &child->heap);
	seq_token_set_counts(child, trace_tracee(parent)->seq_clock, trace_tracee(parent)->seq_clock);
}

/* A tag that came with a message lasts until the next one. */
static void receive_tag(Process *p, Term token)
{
	if (token != NIL && !term_is_tuple(token)) {
		p->dt_utag = token;
		p->flags = (p->flags & ~(uint32_t)PF_TAG_PERMANENT) | PF_TAG_SPREADING;
	} else if (!(p->flags & PF_TAG_PERMANENT)) {
		p->dt_utag = NIL;
		p->flags &= ~(uint32_t)PF_TAG_SPREADING;
	}
}

void seq_token_receive(Process *p, Term token)
{
	struct tracee *t;

	if (token == am_undefined)
		return;
	receive_tag(p, token);
	if (!term_is_tuple_of(token, 5) || atomic_load(&seq_token_resets) > 0) {
		p->seq_token = NIL;
		return;
	}
	p->seq_token = token;
	t = trace_tracee(p);
	t->seq_previous = count_at(token, SEQ_TOKEN_SERIAL);
	if (t->seq_clock < t->seq_previous)
		t->seq_clock = t->seq_previous;
}

struct seq_token_numbers seq_token_numbers_of(Term token)
{
	struct seq_token_numbers n = { 0, 0, 0 };
	Term label;

	if (!term_is_tuple_of(token, 5))
		return n;
	label = tuple_get(token, SEQ_TOKEN_LABEL);
	n.label = term_is_small(label) && small_value(label) == (int)small_value(label) ? (int)small_value(label)
											: INT_MIN;
	n.previous = (int)count_at(token, SEQ_TOKEN_PREVIOUS);
	n.current = (int)count_at(token, SEQ_TOKEN_SERIAL);
	return n;
}
