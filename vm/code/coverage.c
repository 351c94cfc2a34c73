/* SPDX-License-Identifier: Apache-2.0 */
/* Points of coverage. Invariant: a module has no more points than its file has functions, or operations that mark
 * lines. */
#include "code/coverage.h"

#include "base/alloc.h"
#include "base/release.h"

static _Atomic Term mode_of_new = am_none;

Term coverage_get_mode(void)
{
	return atomic_load(&mode_of_new);
}

static bool is_of_lines(Term mode)
{
	return mode == am_line || mode == am_line_counters;
}

Term coverage_set_mode(Term mode)
{
	if (mode != am_none && mode != am_function && mode != am_function_counters && !is_of_lines(mode))
		return TERM_NONE;
	return atomic_exchange(&mode_of_new, mode);
}

static uint32_t count_marks(const struct beam_file *f)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < f->op_count; i++)
		n += f->ops[i].op == GENOP_executable_line;
	return n;
}

struct coverage *coverage_new(const struct beam_file *f)
{
	Term mode = f->line_flags & BEAM_COUNTS_LINES ? am_line_counters : coverage_get_mode();
	uint32_t room = is_of_lines(mode) ? count_marks(f) : f->function_count;
	struct coverage *c;

	if (mode == am_none || !release_covers() ||
	    (is_of_lines(mode) && !(f->line_flags & (BEAM_COUNTS_LINES | BEAM_MARKS_LINES))))
		return NULL;
	c = mem_zalloc(sizeof(*c) + room * sizeof(c->points[0]));
	c->mode = mode;
	c->room = room;
	return c;
}

struct coverage_point *coverage_add(struct coverage *c, uint32_t function)
{
	struct coverage_point *point = &c->points[c->count];

	ENSURE(c->count < c->room);
	c->count++;
	point->function = function;
	return point;
}

bool coverage_counts(const struct coverage *c)
{
	return c->mode == am_function_counters || c->mode == am_line_counters;
}

bool coverage_of_lines(const struct coverage *c)
{
	return is_of_lines(c->mode);
}

void coverage_reset(struct coverage *c)
{
	for (uint32_t i = 0; i < c->count; i++)
		atomic_store_explicit(&c->points[i].count, 0, memory_order_relaxed);
}
