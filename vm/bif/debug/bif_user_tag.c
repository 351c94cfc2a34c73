/* SPDX-License-Identifier: Apache-2.0 */
/* Built-in functions: the user tag of dyntrace, and sequential tracing's token. */
#include "base/alloc.h"
#include "bif/bif.h"
#include "data/binary.h"
#include "data/compare.h"
#include "proc/seq_token.h"
#include "trace/trace.h"

static Term tag_or_undefined(const Process *p)
{
	return p->dt_utag == NIL ? am_undefined : p->dt_utag;
}

static void drop_tag(Process *p)
{
	p->dt_utag = NIL;
	p->flags &= ~(uint32_t)(PF_TAG_PERMANENT | PF_TAG_SPREADING);
}

Term bif_erlang_dt_put_tag_1(Process *p, Term *args)
{
	Term before = tag_or_undefined(p);

	if (args[0] == am_undefined) {
		drop_tag(p);
		return before;
	}
	if (!term_is_binary(args[0]))
		return exc_badarg(p);
	p->dt_utag = args[0];
	p->flags |= PF_TAG_PERMANENT;
	return before;
}

Term bif_erlang_dt_get_tag_0(Process *p, Term *args)
{
	(void)args;
	return p->flags & PF_TAG_PERMANENT ? tag_or_undefined(p) : am_undefined;
}

Term bif_erlang_dt_get_tag_data_0(Process *p, Term *args)
{
	(void)args;
	return tag_or_undefined(p);
}

/* The tag as bytes with a final NUL. */
static Term put_tag_bytes(Process *p)
{
	struct bits_view v;
	uint8_t *to, *scratch;
	const uint8_t *from;
	size_t n = 0;
	Term bytes;

	if (p->dt_utag == NIL)
		return binary_put(&p->heap, "", 1);
	v = binary_view(p->dt_utag);
	bytes = binary_alloc(&p->heap, (size_t)(v.size / 8) + 1, &to);
	from = binary_bytes(p->dt_utag, &n, &scratch);
	memcpy(to, from, n);
	to[n] = 0;
	mem_free(scratch);
	return bytes;
}

Term bif_erlang_dt_prepend_vm_tag_data_1(Process *p, Term *args)
{
	return heap_cons(&p->heap, put_tag_bytes(p), args[0]);
}

Term bif_erlang_dt_append_vm_tag_data_1(Process *p, Term *args)
{
	return heap_cons(&p->heap, args[0], put_tag_bytes(p));
}

/* {Flags, Tag}, for dt_restore_tag. */
Term bif_erlang_dt_spread_tag_1(Process *p, Term *args)
{
	uint64_t flags = (p->flags & PF_TAG_PERMANENT ? 1u : 0) | (p->flags & PF_TAG_SPREADING ? 2u : 0);

	if (args[0] != am_true && args[0] != am_false)
		return exc_badarg(p);
	if (p->dt_utag != NIL && args[0] == am_true)
		p->flags |= PF_TAG_SPREADING;
	else
		p->flags &= ~(uint32_t)PF_TAG_SPREADING;
	return heap_tuple(&p->heap, SMALL(flags), p->dt_utag);
}

Term bif_erlang_dt_restore_tag_1(Process *p, Term *args)
{
	int64_t flags;
	Term tag;

	if (!term_is_tuple_of(args[0], 2) || !term_is_small(tuple_get(args[0], 1)))
		return exc_badarg(p);
	tag = tuple_get(args[0], 2);
	if (tag != NIL && !term_is_binary(tag))
		return exc_badarg(p);
	drop_tag(p);
	if (tag == NIL)
		return am_true;
	flags = small_value(tuple_get(args[0], 1));
	p->dt_utag = tag;
	p->flags |= (flags & 1 ? (uint32_t)PF_TAG_PERMANENT : 0) | (flags & 2 ? (uint32_t)PF_TAG_SPREADING : 0);
	return am_true;
}

/* ---- the token {Flags, Label, Serial, From, Previous} */

Term bif_erlang_seq_trace_info_1(Process *p, Term *args)
{
	Term item = trace_seq_get(p, args[0]);

	return item != TERM_NONE ? item : exc_badarg(p);
}

/* The value before. */
Term bif_erlang_seq_trace_2(Process *p, Term *args)
{
	Term before, token = p->seq_token;

	if (args[0] == am_sequential_trace_token) {
		if (args[1] != NIL)
			return exc_badarg(p);
		p->seq_token = NIL;
		return token;
	}
	if (token == NIL)
		seq_token_set(p, SEQ_TOKEN_FLAGS, SMALL(0));
	before = trace_seq_get(p, args[0]);
	if (before == TERM_NONE || !trace_seq_set(p, args[0], args[1])) {
		p->seq_token = token;
		return exc_badarg(p);
	}
	return tuple_get(before, 2);
}

Term bif_erlang_seq_trace_print_1(Process *p, Term *args)
{
	return term_from_bool(trace_seq_print(p, args[0]));
}

Term bif_erlang_seq_trace_print_2(Process *p, Term *args)
{
	bool labelled = p->seq_token != NIL && term_same(tuple_get(p->seq_token, SEQ_TOKEN_LABEL), args[0]);

	return term_from_bool(labelled && trace_seq_print(p, args[1]));
}
