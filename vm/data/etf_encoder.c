/* SPDX-License-Identifier: Apache-2.0 */
/* An encoder of terms, from its start to its results. One walk serves both ends: it writes into a little room of its
 * own, then into a binary that grows (etf_encode.c), or only counts (etf_count.c). */
#include "data/etf_encoder.h"

#include <errno.h>

#include "data/extern_id.h"

static void set_out(struct etf_encoder *e, struct binary *out)
{
	e->failed = out == NULL;
	if (e->failed && e->out != NULL)
		binary_unref(e->out);
	e->out = out;
	e->data = e->failed ? NULL : out->data;
	e->room = e->failed ? 0 : out->size_bytes;
}

void etf_encoder_leave_fixed(struct etf_encoder *e, size_t bytes, size_t written)
{
	set_out(e, binary_new(bytes));
	if (!e->failed)
		memcpy(e->data, e->fixed, written);
}

__attribute__((noinline)) uint8_t *etf_encoder_grow(struct etf_encoder *e, size_t at)
{
	if (e->out != NULL)
		set_out(e, binary_resize(e->out, e->used * 2));
	else
		etf_encoder_leave_fixed(e, e->used * 2, at);
	return e->failed ? NULL : e->data + at;
}

static void encoder_init(struct etf_encoder *e, Term t, unsigned flags, bool count_only)
{
	e->data = count_only ? NULL : e->fixed;
	e->room = sizeof(e->fixed);
	e->used = 0;
	e->out = NULL;
	e->flags = count_only || (flags & ETF_LOCAL) ? flags & ~(unsigned)ETF_COMPRESSED : flags;
	e->failed = false;
	e->atoms = NULL;
	e->deflated = NULL;
	e->z = NULL;
	e->pieces = NULL;
	e->piece_count = e->piece_room = 0;
	e->piece_least = (e->flags & (ETF_IOVEC | ETF_COMPRESSED)) == ETF_IOVEC ? HEAPBIN_LIMIT + 1 : SIZE_MAX;
	word_stack_init(&e->todo);
	put_tag(e, ETF_VERSION);
	if (unlikely(flags & ETF_LOCAL))
		put_tagged(e, ETF_LOCAL_TERM, node_secret(), 8);
	word_stack_push(&e->todo, t);
}

static void encoder_drop(struct etf_encoder *e)
{
	word_stack_free(&e->todo);
	if (e->out != NULL)
		binary_unref(e->out);
	etf_deflate_drop(e);
	mem_free(e->pieces);
}

static int encoder_step(struct etf_encoder *e, int64_t *left)
{
	if (e->data != NULL)
		etf_encode_some(e, left);
	else
		etf_count_some(e, left);
	if (!e->failed && e->todo.count == 0 && (e->flags & ETF_COMPRESSED))
		etf_deflate_some(e, left);
	if (e->failed)
		return -ENOMEM;
	return e->todo.count > 0 || (e->flags & ETF_COMPRESSED) ? -EAGAIN : 0;
}

/* What was written. Owns: the caller; NULL when too big for memory. */
static struct binary *take_binary(struct etf_encoder *e)
{
	struct binary **from = e->deflated != NULL ? &e->deflated : &e->out;
	struct binary *b;

	if (*from == NULL)
		etf_encoder_leave_fixed(e, e->used, e->used);
	b = e->deflated != NULL || e->failed ? *from : binary_resize(e->out, e->used);
	if (b != NULL)
		*from = NULL;
	return b;
}

static Term put_written(struct etf_encoder *e, struct heap *h)
{
	struct binary *b;

	if (e->out == NULL && e->used <= HEAPBIN_LIMIT)
		return binary_put(h, e->data, e->used);
	b = take_binary(e);
	return b != NULL ? binary_from_counted(h, b, b->size_bytes) : TERM_NONE;
}

/* The bytes [from, to) of what is written, before the rest of the I/O vector. */
static Term put_part(struct heap *h, Term written, size_t from, size_t to, Term rest)
{
	return from < to ? heap_cons(h, binary_sub(h, written, (uint64_t)from * 8, (uint64_t)(to - from) * 8), rest)
			 : rest;
}

static Term put_iovec(const struct etf_encoder *e, struct heap *h, Term written)
{
	size_t to = e->used;
	Term list = NIL;

	if (e->piece_count == 0)
		return heap_cons(h, written, NIL);
	for (size_t i = e->piece_count; i-- > 0; to = e->pieces[i].at) {
		const struct piece *p = &e->pieces[i];
		uint64_t bits = (uint64_t)binary_size_bytes(p->binary) * 8;

		list = put_part(h, written, p->at, to, list);
		list = heap_cons(h, binary_size_bits(p->binary) == bits ? p->binary : binary_sub(h, p->binary, 0, bits),
				 list);
	}
	return put_part(h, written, 0, to, list);
}

/* Fails: TERM_NONE, out of memory. */
static Term put_result(struct etf_encoder *e, struct heap *h)
{
	Term written;

	if (e->data == NULL)
		return heap_uint(h, e->used);
	written = put_written(e, h);
	return written != TERM_NONE && (e->flags & ETF_IOVEC) ? put_iovec(e, h, written) : written;
}

int etf_encoder_step(struct etf_encoder *e, int64_t *left, struct heap *h, Term *result)
{
	int status = encoder_step(e, left);

	if (status != 0)
		return status;
	*result = put_result(e, h);
	return *result != TERM_NONE ? 0 : -ENOMEM;
}

void etf_encoder_free(struct etf_encoder *e)
{
	encoder_drop(e);
	mem_free(e);
}

/* from is then nobody's. */
static struct etf_encoder *move_encoder(const struct etf_encoder *from)
{
	struct etf_encoder *e = mem_alloc(sizeof(*e));

	*e = *from;
	word_stack_move(&e->todo, &from->todo);
	if (from->data == from->fixed)
		e->data = e->fixed;
	return e;
}

int etf_encode_start(Term t, unsigned flags, bool count_only, int64_t *left, struct heap *h, Term *result,
		     struct etf_encoder **rest)
{
	struct etf_encoder e;
	int status;
	size_t bytes = count_only ? etf_count_small(t, flags, left) : 0;

	if (bytes > 0) {
		*result = term_from_small((int64_t)(1 + bytes)); /* the version first */
		return 0;
	}
	encoder_init(&e, t, flags, count_only);
	status = etf_encoder_step(&e, left, h, result);
	if (status == -EAGAIN)
		*rest = move_encoder(&e);
	else if (count_only)
		word_stack_free(&e.todo); /* it has nothing else */
	else
		encoder_drop(&e);
	return status;
}

struct binary *etf_encode(Term t, unsigned flags)
{
	struct etf_encoder e;
	int64_t left = INT64_MAX;
	struct binary *b;

	encoder_init(&e, t, flags, false);
	b = encoder_step(&e, &left) == 0 ? take_binary(&e) : NULL;
	encoder_drop(&e);
	return b;
}

/* The pieces, counted, for who keeps them longer than the term stays. */
static void share_pieces(const struct etf_encoder *e, struct etf_pieces *pieces)
{
	pieces->count = e->piece_count;
	pieces->all = e->piece_count > 0 ? mem_alloc(e->piece_count * sizeof(*pieces->all)) : NULL;
	for (size_t i = 0; i < e->piece_count; i++) {
		struct etf_piece *piece = &pieces->all[i];

		piece->at = e->pieces[i].at;
		piece->binary = binary_share_whole(e->pieces[i].binary, &piece->bytes, &piece->size_bytes);
	}
}

void etf_pieces_free(struct etf_pieces *pieces)
{
	for (size_t i = 0; i < pieces->count; i++)
		binary_unref(pieces->all[i].binary);
	mem_free(pieces->all);
}

struct binary *etf_encode_atoms(Term t, struct etf_atoms *atoms, struct etf_pieces *pieces)
{
	struct etf_encoder e;
	int64_t left = INT64_MAX;
	struct binary *b;

	encoder_init(&e, t, 0, false);
	e.used = 0; /* no version */
	e.atoms = atoms;
	if (pieces != NULL)
		e.piece_least = pieces->least_bytes;
	b = encoder_step(&e, &left) == 0 ? take_binary(&e) : NULL;
	if (b != NULL && pieces != NULL)
		share_pieces(&e, pieces);
	encoder_drop(&e);
	return b;
}

size_t etf_size_bytes(Term t, unsigned flags)
{
	struct etf_encoder e;
	int64_t left = INT64_MAX;

	encoder_init(&e, t, flags, true);
	encoder_step(&e, &left);
	encoder_drop(&e);
	return e.used;
}
