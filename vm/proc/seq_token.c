/* SPDX-License-Identifier: Apache-2.0 */
/* Sequential trace tokens. Invariant: a token is a 5-tuple {Flags, Label, Serial, From, Previous} with small counts, or NIL. */
#include "proc/seq_token.h"

static int64_t count_at(Term token, size_t index)
{
	Term t = tuple_get(token, index);

	return term_is_small(t) ? small_value(t) : 0;
}

static void put_token(Process *p, Term old, int64_t serial, Term from, int64_t previous)
{
	p->seq_token = heap_tuple(&p->heap, tuple_get(old, 1), tuple_get(old, 2), term_from_small(serial), from,
				  term_from_small(previous));
}

void seq_token_count_send(Process *p)
{
	int64_t serial = count_at(p->seq_token, 3);

	put_token(p, p->seq_token, serial + 1, p->id, count_at(p->seq_token, 5));
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
	receive_tag(p, token);
	if (!term_is_tuple_of(token, 5)) {
		p->seq_token = NIL;
		return;
	}
	/* What p sends next follows from this message. */
	put_token(p, token, count_at(token, 3), tuple_get(token, 4), count_at(token, 3));
}

struct seq_token_numbers seq_token_numbers(Term token)
{
	struct seq_token_numbers n = { 0, 0, 0 };

	if (token == NIL || !term_is_tuple_of(token, 5))
		return n;
	n.label = (int)count_at(token, 2);
	n.previous = (int)count_at(token, 5);
	n.current = (int)count_at(token, 3);
	return n;
}
