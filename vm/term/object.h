/* SPDX-License-Identifier: Apache-2.0 */
/* Object sizes, for whoever walks a heap: how many words the object with this header takes, and
 * which of them are terms. Units: words. */
#ifndef VM_TERM_OBJECT_H
#define VM_TERM_OBJECT_H

#include "term/term.h"

struct object_shape {
	uint32_t words;      /* with the header */
	uint32_t first_term; /* index of the first term word; == words when it has none */
	uint32_t last_term;  /* one past the last term word */
};
extern const uint8_t object_first_terms[16]; /* by SUB_*; 0: none, or a map */
static inline struct object_shape object_map_shape(Term header)
{
	uint32_t n = (uint32_t)map_val(header), first = 1;

	if (map_kind(header) != MAP_FLAT) {
		n = map_ways(n);
		first += map_kind(header) != MAP_NODE_BITMAP;
		return (struct object_shape){ n + first, first, n + first };
	}
	return (struct object_shape){ n + 2, first, n + 2 };
}

static inline struct object_shape object_shape(const Term *header)
{
	uint32_t words = (uint32_t)header_arity(*header) + 1;
	unsigned sub = header_sub(*header), first = object_first_terms[sub];

	if (1u << sub & (1u << SUB_TUPLE | 1u << SUB_FUN | 1u << SUB_RECORD))
		return (struct object_shape){ words, first, words };
	if (sub == SUB_MAP)
		return object_map_shape(*header);
	return first == 0 ? (struct object_shape){ words, words, words }
			  : (struct object_shape){ words, first, first + 1 };
}

#endif
