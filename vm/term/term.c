/* SPDX-License-Identifier: Apache-2.0 */
/* Shapes of heap objects: the one place that knows, by header, how long an object is and where its terms are. */
#include "term/term.h"

#include "base/log.h"

static struct object_shape map_shape(Term header)
{
	uint32_t n = (uint32_t)map_val(header);

	switch (map_kind(header)) {
	case MAP_FLAT:
		return (struct object_shape){ n + 2, 1, n + 2 };
	case MAP_NODE_BITMAP:
		n = map_ways(n);
		return (struct object_shape){ n + 1, 1, n + 1 };
	default:
		n = map_ways(n);
		return (struct object_shape){ n + 2, 2, n + 2 };
	}
}

struct object_shape object_shape(const Term *header)
{
	uint32_t words = (uint32_t)header_arity(*header) + 1;

	switch (header_sub(*header)) {
	case SUB_TUPLE:
		return (struct object_shape){ words, 1, words };
	case SUB_MAP:
		return map_shape(*header);
	case SUB_FUN:
		return (struct object_shape){ words, FUN_FIRST_TERM, words };
	case SUB_SUBBIN:
		return (struct object_shape){ words, SUBBIN_TERM, SUBBIN_TERM + 1 };
	case SUB_MATCH:
		return (struct object_shape){ words, MATCH_TERM, MATCH_TERM + 1 };
	default:
		return (struct object_shape){ words, words, words };
	}
}
