/* SPDX-License-Identifier: Apache-2.0 */
/* What the parts of the decoder (etf_decode.c) share: its state, and how bytes are read. Each read is bounded: what is
 * not there makes the cursor fail. */
#ifndef VM_DATA_ETF_DECODER_H
#define VM_DATA_ETF_DECODER_H

#include <string.h>
#include <zlib.h>

#include "base/alloc.h"
#include "base/log.h"
#include "data/etf.h"
#include "data/etf_tags.h"

struct cursor {
	const uint8_t *at, *end;
	bool failed;
};

static inline size_t bytes_left(const struct cursor *c)
{
	return (size_t)(c->end - c->at);
}

/* The next n bytes, or NULL and failed. */
static inline const uint8_t *take(struct cursor *c, size_t n)
{
	const uint8_t *at = c->at;

	if (unlikely(c->failed || bytes_left(c) < n)) {
		c->failed = true;
		return NULL;
	}
	c->at += n;
	return at;
}

static inline __attribute__((always_inline)) uint64_t take_be(struct cursor *c, unsigned bytes)
{
	const uint8_t *at = take(c, bytes);
	uint64_t value = 0;

	if (unlikely(at == NULL))
		return 0;
	memcpy(&value, at, bytes);
	return __builtin_bswap64(value) >> (64 - 8 * bytes);
}

/* The length of an atom after its tag; failed when the tag is none of an atom. */
static inline size_t take_atom_length(struct cursor *c, unsigned tag)
{
	switch (tag) {
	case ETF_ATOM:
	case ETF_ATOM_UTF8:
		return take_be(c, 2);
	case ETF_SMALL_ATOM:
	case ETF_SMALL_ATOM_UTF8:
		return take_be(c, 1);
	case ETF_ATOM_REFERENCE:
		return 1;
	default:
		c->failed = true;
		return 0;
	}
}

enum job_kind {
	JOB_SLOTS, /* fill `count` slots */
	JOB_CELLS, /* the same for the heads of `count` cells in a row, each with the next as its tail; the last one's
			      * tail is another job's */
	JOB_MAP,   /* the pairs are all read: make the map */
};

struct job {
	Term *slot;
	Term *pairs;         /* of a map; owned */
	size_t count;
	uint8_t kind;
};

struct etf_decoder {
	struct cursor c, ahead; /* of the second pass, of the first */
	uint64_t wanted;     /* terms that the first pass has still to see */
	bool checked;
	const uint8_t *start;
	uint8_t *inflated;   /* owned; NULL: the bytes given are read */
	size_t inflated_size;
	size_t outer_used;   /* of the bytes given, when inflated */
	z_stream *z;         /* while they are being inflated */
	unsigned flags;
	struct binary *home; /* that the bytes stand in; NULL: in none */
	const Term *atoms;   /* that references name */
	unsigned atom_count;
	struct heap *heap;
	Term root;
	struct job *jobs;
	size_t count, room;
	struct job fixed[64];
};

enum { INTEGER_MAX_BYTES = 5 };

/* Bytes of the integer at `at`, tag included; 0: something else, or too near to the end for this. */
static inline unsigned integer_bytes(const uint8_t *at, const uint8_t *end)
{
	if (end - at < INTEGER_MAX_BYTES)
		return 0;
	return *at == ETF_SMALL_INTEGER ? 2 : *at == ETF_INTEGER ? INTEGER_MAX_BYTES : 0;
}

/* The first pass, over what `wanted` says. */
void etf_check_some(struct etf_decoder *d, int64_t *left);

/* Of what is deflated (etf_inflate.c). */
void etf_inflate_begin(struct etf_decoder *d);
/* Ends with z gone: what is inflated is read, or c has failed. */
void etf_inflate_some(struct etf_decoder *d, int64_t *left);
void etf_inflate_end(struct etf_decoder *d);

#endif
