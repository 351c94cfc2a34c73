/* SPDX-License-Identifier: Apache-2.0 */
/* Built-in functions: native coverage, code:get_coverage/2 and its kin (OTP 27). */
#include "bif/bif.h"
#include "code/coverage.h"
#include "code/module.h"
#include "code/opcodes.h"

Term bif_code_coverage_support_0(Process *p, Term *args)
{
	(void)p;
	(void)args;
	return am_true;
}

Term bif_code_set_coverage_mode_1(Process *p, Term *args)
{
	Term last = coverage_set_mode(args[0]);

	return last != TERM_NONE ? last : exc_badarg(p);
}

Term bif_code_get_coverage_mode_0(Process *p, Term *args)
{
	(void)p;
	(void)args;
	return coverage_get_mode();
}

/* The code that calls of the module reach; NULL: there is none. */
static const struct code_instance *find_code(Term module)
{
	const struct module *m = term_is_atom(module) ? module_find(module) : NULL;

	return m != NULL ? atomic_load_explicit(&m->current, memory_order_acquire) : NULL;
}

Term bif_code_get_coverage_mode_1(Process *p, Term *args)
{
	const struct code_instance *c = find_code(args[0]);

	if (c == NULL)
		return exc_badarg(p);
	return c->coverage != NULL ? c->coverage->mode : am_none;
}

Term bif_code_reset_coverage_1(Process *p, Term *args)
{
	const struct code_instance *c = find_code(args[0]);

	if (c == NULL || c->coverage == NULL)
		return exc_badarg(p);
	coverage_reset(c->coverage);
	return am_ok;
}

static uint64_t count_of(const struct coverage_point *point)
{
	return atomic_load_explicit(&point->count, memory_order_relaxed);
}

static Term tell(const struct coverage *c, uint64_t count)
{
	return coverage_counts(c) ? term_from_small(count < (uint64_t)SMALL_MAX ? (int64_t)count : SMALL_MAX)
				  : term_from_bool(count > 0);
}

/* Of a function with lines it is told whether one of them has run. *end: behind the points that are left, the last
 * function's last. */
static Term tell_function(const struct coverage *c, uint32_t function, uint32_t *end)
{
	uint64_t count = 0;

	while (*end > 0 && c->points[*end - 1].function >= function)
		count += count_of(&c->points[--*end]);
	return coverage_of_lines(c) ? term_from_bool(count > 0) : tell(c, count);
}

/* [{{Function, Arity}, Covered}], in the order of the code. */
static Term list_functions(Process *p, const struct code_instance *code)
{
	uint32_t end = code->coverage->count;
	Term list = NIL;

	for (uint32_t i = code->function_count; i-- > 0;) {
		const Inst *info = code->functions[i];
		Term name = func_info_function(info), covered = tell_function(code->coverage, i, &end);

		if (name == am_module_info && func_info_arity(info) <= 1)
			continue; /* the compiler's own: no line of theirs is marked */
		list = heap_cons(&p->heap,
				 heap_tuple(&p->heap,
					    heap_tuple(&p->heap, name, term_from_small(func_info_arity(info))),
					    covered),
				 list);
	}
	return list;
}

/* [{Line, Covered}], or [{Id, Covered}]. */
static Term list_lines(Process *p, const struct coverage *c, bool by_id)
{
	Term list = NIL;

	for (uint32_t i = c->count; i-- > 0;) {
		const struct coverage_point *point = &c->points[i];

		if (point->line != 0)
			list = heap_cons(&p->heap,
					 heap_tuple(&p->heap, term_from_small(by_id ? point->id : point->line),
						    tell(c, count_of(point))),
					 list);
	}
	return list;
}

Term bif_code_get_coverage_2(Process *p, Term *args)
{
	const struct code_instance *code = find_code(args[1]);
	const struct coverage *c = code != NULL ? code->coverage : NULL;
	bool by_id = args[0] == am_cover_id_line;

	if (c == NULL)
		return exc_badarg(p);
	if (args[0] == am_function)
		return list_functions(p, code);
	if ((args[0] == am_line && coverage_of_lines(c)) || (by_id && c->mode == am_line_counters))
		return list_lines(p, c, by_id);
	return exc_badarg(p);
}
