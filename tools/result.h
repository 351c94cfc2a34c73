/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the tables of views counted, as rows of a sink: the kernel's side fills one side of each table while this reads the other.
 */
#ifndef TOOLS_RESULT_H
#define TOOLS_RESULT_H

#include "session.h"
#include "views.h"

/* Prints the tables of the views that are on, from the side that nobody counts in any more, and empties it. Fails: -errno. */
int result_print(struct session *s, uint32_t side, const bool on[VIEW_COUNT]);
/* Prints a record of a view; one that is too short, or none, is left out. */
void result_record(struct session *s, const struct wire_header *header, size_t size);

#endif
