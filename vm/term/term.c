/* SPDX-License-Identifier: Apache-2.0 */
/* Shapes of heap objects: the one place that knows, by header, how long an object is and where its terms are. */
#include "term/term.h"

#include "base/log.h"

struct object_shape object_map_shape(Term header)
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

const uint8_t object_first_terms[16] = { [SUB_TUPLE] = 1, [SUB_FUN] = FUN_FIRST_TERM, [SUB_SUBBIN] = SUBBIN_TERM, [SUB_MATCH] = MATCH_TERM };
