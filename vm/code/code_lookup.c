/* SPDX-License-Identifier: Apache-2.0 */
/* From an address to its function and its line. Takes no lock: code is freed only while the world is stopped. */
#include "code/code_area.h"
#include "code/module.h"
#include "code/opcodes.h"

struct code_instance *code_find_instance(const Inst *pc)
{
	return code_area_owner(pc - 1);
}

/* The last of the functions that begin before pc. */
static const Inst *search_function(const struct code_instance *c, const Inst *pc)
{
	size_t low = 0, high = c->function_count;

	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (c->functions[mid] < pc)
			low = mid + 1;
		else
			high = mid;
	}
	return low > 0 ? c->functions[low - 1] : NULL;
}

const Inst *code_find_function(const Inst *pc)
{
	const struct code_instance *c = code_find_instance(pc);
	const struct export *e;

	if (c != NULL)
		return search_function(c, pc);
	e = export_of_stub(pc - 1);
	return e != NULL && e->module != TERM_NONE ? e->func_info : NULL;
}

/* The last entry that begins before pc, unless it belongs to an earlier function. */
static const struct code_line *search_line(const struct code_instance *c, const Inst *function, const Inst *pc)
{
	uint32_t end = (uint32_t)(pc - c->words), first = (uint32_t)(function - c->words);
	size_t low = 0, high = c->line_count;

	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (c->lines[mid].at < end)
			low = mid + 1;
		else
			high = mid;
	}
	return low > 0 && c->lines[low - 1].at >= first ? &c->lines[low - 1] : NULL;
}

bool code_find_place(const Inst *pc, struct code_place *place)
{
	const struct code_instance *c = code_find_instance(pc);
	const Inst *function = code_find_function(pc);
	const struct code_line *line;

	if (function == NULL)
		return false;
	*place = (struct code_place){
		.module = func_info_module(function),
		.function = func_info_function(function),
		.arity = func_info_arity(function),
	};
	line = c != NULL ? search_line(c, function, pc) : NULL;
	if (line != NULL && line->line != 0) {
		place->file = c->files[line->file];
		place->line = line->line;
	}
	return true;
}
