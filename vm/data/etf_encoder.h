/* SPDX-License-Identifier: Apache-2.0 */
/* What the parts of the encoder (etf_encoder.c) share: its state, and how bytes are written.
 * Invariant: with `data`, what is written so far stands there, `used` bytes of it, pieces apart; without, bytes are
 * only counted. */
#ifndef VM_DATA_ETF_ENCODER_H
#define VM_DATA_ETF_ENCODER_H

#include <zlib.h>

#include "data/binary.h"
#include "data/etf.h"
#include "data/etf_tags.h"
#include "data/word_stack.h"

/* The word below is the rest of a list; below that, but while only counting, is where the number of its elements is
 * written. */
#define MARK_REST HEADER(0, SUB_MATCH)
/* The word below is where a fun's size is to be written. */
#define MARK_FUN_END HEADER(1, SUB_MATCH)

enum { FIXED_BYTES = 512 };

/* A binary of the term that is not copied: it stands before the byte `at` of what is written. */
struct piece {
	size_t at;
	Term binary;
};

struct etf_encoder {
	uint8_t *data;       /* of `fixed` or `out`; NULL: count only */
	size_t used, room;
	struct binary *out;  /* NULL: not needed so far */
	unsigned flags;
	bool failed;
	struct word_stack todo;
	struct etf_atoms *atoms; /* NULL: each stands in the text */
	struct binary *deflated; /* NULL: not wanted, not yet, or no shorter */
	z_stream *z;         /* while it is being made, of `out` */
	struct piece *pieces; /* by rising `at` */
	size_t piece_count, piece_room;
	size_t piece_least;  /* bytes of one; SIZE_MAX: there are none */
	uint8_t fixed[FIXED_BYTES];
};

/* On in a binary of so many bytes. */
void etf_encoder_leave_fixed(struct etf_encoder *e, size_t bytes, size_t written);
/* For `used` bytes, of which those before `at` are written. Returns where to write on. */
uint8_t *etf_encoder_grow(struct etf_encoder *e, size_t at);

/* Room for n bytes, or NULL when only counting. */
static inline uint8_t *take_room(struct etf_encoder *e, size_t n)
{
	size_t at = e->used;

	e->used += n;
	if (e->data == NULL)
		return NULL;
	return likely(e->used <= e->room) ? e->data + at : etf_encoder_grow(e, at);
}

static inline void put_bytes(struct etf_encoder *e, const void *bytes, size_t n)
{
	uint8_t *at = take_room(e, n);

	if (at != NULL)
		memcpy(at, bytes, n);
}

static inline __attribute__((always_inline)) void write_be(uint8_t *at, uint64_t value, unsigned bytes)
{
	value = __builtin_bswap64(value << (64 - 8 * bytes));
	memcpy(at, &value, bytes);
}

static inline __attribute__((always_inline)) void put_be(struct etf_encoder *e, uint64_t value, unsigned bytes)
{
	uint8_t *at = take_room(e, bytes);

	if (at != NULL)
		write_be(at, value, bytes);
}

static inline void put_tag(struct etf_encoder *e, enum etf_tag tag)
{
	put_be(e, tag, 1);
}

/* A tag and the number behind it. */
static inline __attribute__((always_inline)) void put_tagged(struct etf_encoder *e, enum etf_tag tag, uint64_t value,
							     unsigned bytes)
{
	uint8_t *at = take_room(e, 1 + bytes);

	if (at == NULL)
		return;
	*at = (uint8_t)tag;
	write_be(at + 1, value, bytes);
}

/* Takes from the stack and writes. */
void etf_encode_some(struct etf_encoder *e, int64_t *left);
/* A term; its parts may go onto the stack. */
void etf_encode_term(struct etf_encoder *e, Term t);
void etf_encode_boxed(struct etf_encoder *e, Term t);
/* Is t a proper list of bytes, short enough? */
bool etf_is_byte_string(Term t, size_t *length);

/* As etf_encode_some: only counts (etf_count.c). */
void etf_count_some(struct etf_encoder *e, int64_t *left);
/* A leaf or a small tuple of leaves, without an encoder. Fails: 0, it is something else. */
size_t etf_count_small(Term t, unsigned flags, int64_t *left);

/* Ends without ETF_COMPRESSED set. What is no shorter is given up (etf_deflate.c). */
void etf_deflate_some(struct etf_encoder *e, int64_t *left);
void etf_deflate_drop(struct etf_encoder *e);

#endif
