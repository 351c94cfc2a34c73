/* SPDX-License-Identifier: Apache-2.0 */
/* Walks over a table with a match program, a slice at a time.
 * Invariant: between slices a walk knows its place by a bucket (hash; the table is fixed meanwhile) or by the last key
 * (tree). */
#ifndef VM_ETS_SELECT_H
#define VM_ETS_SELECT_H

#include "ets/match.h"
#include "ets/table.h"

enum select_kind { SELECT_LIST, SELECT_COUNT, SELECT_DELETE, SELECT_REPLACE };

struct select {
	enum select_kind kind;
	bool reverse;        /* trees: from the last key to the first */
	bool is_done;
	bool has_fixed;      /* a hash table: for this walk */
	size_t limit;        /* results wanted; 0: all */
	struct match_program *program;
	uint32_t bucket;     /* next one */
	Term last_key;       /* TERM_NONE at the start */
	Term list;           /* results, the newest first */
	size_t count;        /* of results; COUNT, DELETE, REPLACE: of objects that matched */
	size_t seen;         /* objects that were held against the program */
	size_t carried;      /* of count: what the chunk before had too much */
};

/* Goes on until the end, the limit, or about `budget` objects seen. The table is held: LIST, COUNT whole, others whole
 * and exclusively. Results and keys go to p's heap. Units: returns objects and buckets seen. */
size_t select_run(struct select *s, struct ets_table *t, Process *p, size_t budget, struct ets_change *change);

#endif
