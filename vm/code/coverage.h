/* SPDX-License-Identifier: Apache-2.0 */
/* Coverage: which functions or lines of a module have run, or how often, counted where its code passes a point. The
 * mode that is set when a module is loaded stays its own; what it counted is any thread's to read and to reset, and
 * goes with the code. */
#ifndef VM_CODE_COVERAGE_H
#define VM_CODE_COVERAGE_H

#include <stdatomic.h>

#include "code/beam_file.h"

struct coverage_point {
	_Atomic uint64_t count; /* when nothing is counted: 1 once it was passed */
	uint32_t function;   /* index into the module's functions */
	uint32_t line, id;   /* of a line: its number, 0 where it has none; what the tool cover calls it */
};

struct coverage {
	Term mode;           /* an atom: function, function_counters, line, line_counters */
	uint32_t room, count; /* points that there may be, that there are */
	struct coverage_point points[];
};

/* The mode of modules that are loaded from now on: one of those above, or none. Returns the one before.
 * Fails: TERM_NONE for anything else. */
Term coverage_set_mode(Term mode);
Term coverage_get_mode(void);
/* For a module that is being loaded; mem_free. NULL: nothing of it is counted. */
struct coverage *coverage_new(const struct beam_file *f);
struct coverage_point *coverage_add(struct coverage *c, uint32_t function);
/* Are numbers kept, or only whether? */
bool coverage_counts(const struct coverage *c);
/* Of lines, or of functions? */
bool coverage_of_lines(const struct coverage *c);
void coverage_reset(struct coverage *c);

#endif
