/* SPDX-License-Identifier: Apache-2.0 */
/* The first pass over the bytes of terms: walks them only, finds every length sound and every sub-term there. */
#include "base/release.h"
#include "data/etf_decoder.h"
#include "data/extern_id.h"

static void skip_atom(struct cursor *c)
{
	unsigned tag = (unsigned)take_be(c, 1);

	take(c, take_atom_length(c, tag));
}

static void check_fun(struct cursor *c, uint64_t *wanted)
{
	const uint8_t *start = c->at;
	uint64_t size = take_be(c, 4), free_count;

	take(c, 1 + 16 + 4);
	free_count = take_be(c, 4);
	if (size < (uint64_t)(c->at - start) || free_count > bytes_left(c)) {
		c->failed = true;
		return;
	}
	skip_atom(c);
	/* old index, old uniq, creator, free variables */
	*wanted += 3 + free_count;
}

/* A pid, port or reference: the node's name, and its numbers. */
static void check_id(struct cursor *c, unsigned tag)
{
	bool is_counted = tag == ETF_NEWER_REFERENCE || tag == ETF_NEW_REFERENCE;
	uint64_t n = is_counted ? take_be(c, 2) : 0;

	c->failed |= is_counted && (n == 0 || n > EXTERN_ID_MAX);
	skip_atom(c);
	switch (tag) {
	case ETF_NEW_PID:
	case ETF_V4_PORT:
		take(c, 12);
		break;
	case ETF_PID:
		take(c, 9);
		break;
	case ETF_NEW_PORT:
		take(c, 8);
		break;
	case ETF_PORT:
	case ETF_REFERENCE:
		take(c, 5);
		break;
	case ETF_NEWER_REFERENCE:
		take(c, 4 + n * 4);
		break;
	default:
		take(c, 1 + n * 4);
	}
}

/* How many fields, whether it is exported, then atoms: module, name, and those of the fields; then values. */
static void check_record(struct cursor *c, uint64_t *wanted)
{
	uint64_t n = take_be(c, 4);

	c->failed |= !release_has_native_records() || take_be(c, 1) > 1 || n > bytes_left(c);
	for (uint64_t i = 0; i < n + 2 && !c->failed; i++)
		skip_atom(c);
	*wanted += n;
}

/* What stands behind one tag, sub-terms apart; those are added to *wanted. */
static void check_one(struct cursor *c, uint64_t *wanted)
{
	unsigned tag = (unsigned)take_be(c, 1);
	uint64_t n;

	switch (tag) {
	case ETF_RECORD:
		check_record(c, wanted);
		break;
	case ETF_SMALL_INTEGER:
		take(c, 1);
		break;
	case ETF_INTEGER:
		take(c, 4);
		break;
	case ETF_NEW_FLOAT:
		take(c, 8);
		break;
	case ETF_FLOAT:
		take(c, ETF_FLOAT_BYTES);
		break;
	case ETF_NIL:
		break;
	case ETF_SMALL_TUPLE:
		*wanted += take_be(c, 1);
		break;
	case ETF_LARGE_TUPLE:
		*wanted += take_be(c, 4);
		break;
	case ETF_LIST:
		*wanted += take_be(c, 4) + 1;
		break;
	case ETF_MAP:
		*wanted += take_be(c, 4) * 2;
		break;
	case ETF_STRING:
		take(c, take_be(c, 2));
		break;
	case ETF_BINARY:
		take(c, take_be(c, 4));
		break;
	case ETF_BIT_BINARY:
		n = take_be(c, 4);
		c->failed |= (take_be(c, 1) - 1) > 7 || n == 0;
		take(c, n);
		break;
	case ETF_SMALL_BIG:
		take(c, take_be(c, 1) + 1);
		break;
	case ETF_LARGE_BIG:
		take(c, take_be(c, 4) + 1);
		break;
	case ETF_NEW_PID:
	case ETF_PID:
	case ETF_NEW_PORT:
	case ETF_V4_PORT:
	case ETF_PORT:
	case ETF_REFERENCE:
	case ETF_NEWER_REFERENCE:
	case ETF_NEW_REFERENCE:
		check_id(c, tag);
		break;
	case ETF_EXPORT:
		skip_atom(c);
		skip_atom(c);
		c->failed |= take_be(c, 1) != ETF_SMALL_INTEGER;
		take(c, 1);
		break;
	case ETF_NEW_FUN:
		check_fun(c, wanted);
		break;
	default:
		take(c, take_atom_length(c, tag));
		break;
	}
}

/* Integers in a row, of which lists have many. */
static void check_integers(struct etf_decoder *d, int64_t *left)
{
	const uint8_t *at = d->ahead.at, *end = d->ahead.end;
	uint64_t most = d->wanted < (uint64_t)*left ? d->wanted : (uint64_t)*left, n = 0;
	unsigned bytes;

	for (; n < most && (bytes = integer_bytes(at, end)) != 0; n++)
		at += bytes;
	d->ahead.at = at;
	d->wanted -= n;
	*left -= (int64_t)n;
}

void etf_check_some(struct etf_decoder *d, int64_t *left)
{
	while (d->wanted > 0 && !d->ahead.failed && *left > 0) {
		if (integer_bytes(d->ahead.at, d->ahead.end) != 0) {
			check_integers(d, left);
			continue;
		}
		d->wanted--;
		--*left;
		check_one(&d->ahead, &d->wanted);
		if (d->wanted > bytes_left(&d->ahead))
			d->ahead.failed = true;
	}
}
