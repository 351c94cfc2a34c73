/* SPDX-License-Identifier: Apache-2.0 */
/* The table for who reads our memory from outside. Each room tells of its own structures (layout.def). */
#include <stdint.h>

#include "layout.h"

#define LAYOUT_ROOM(room, part, root) extern const struct layout_part part;
LAYOUT_ROOMS(LAYOUT_ROOM)
#undef LAYOUT_ROOM

extern const struct layout erlvm_layout;
const struct layout erlvm_layout = {
	LAYOUT_MAGIC, LAYOUT_VERSION, sizeof(struct layout), {
#define LAYOUT_ROOM(room, part, root) &part,
		LAYOUT_ROOMS(LAYOUT_ROOM)
#undef LAYOUT_ROOM
	}
};
