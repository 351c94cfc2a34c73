/* SPDX-License-Identifier: Apache-2.0 */
/* From an address to its function and its line, and to what a stack trace says of them. Takes no
 * lock: code is freed when each thread that could find it has been between two time slices since. */
#include "code/code_area.h"
#include "code/module.h"
#include "code/nif_function.h"
#include "code/opcodes.h"
#include "proc/batch.h"

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

static const Inst *find_function(const struct code_instance *c, const Inst *pc)
{
	const struct export *e;

	if (c != NULL)
		return search_function(c, pc);
	e = export_of_stub(pc - 1);
	if (e == NULL)
		return nif_detour_info(pc - 1);
	return e->module != TERM_NONE ? e->func_info : NULL;
}

const Inst *code_find_function(const Inst *pc)
{
	return find_function(code_find_instance(pc), pc);
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

static bool find_place(const struct code_instance *c, const Inst *pc, struct code_place *place)
{
	const Inst *function = find_function(c, pc);
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

/* What this thread found last. Who asks about an address asks about it again: the same frames stand below each
 * exception of a process. */
static _Thread_local struct recent_place {
	const Inst *pc;
	uint64_t given;      /* code_area_given() when it was found */
	struct code_place place;
} recent[256];

static __attribute__((noinline)) bool renew_place(struct recent_place *r, const Inst *pc, uint64_t given)
{
	const struct code_instance *c = code_find_instance(pc);
	bool found;

	r->pc = NULL;
	found = find_place(c, pc, &r->place);
	r->given = given;
	if (found && c != NULL) /* an address in an export is looked up again: that changes when its module is loaded */
		r->pc = pc;
	return found;
}

/* NULL: pc is no code. In this thread's memory, until it asks again. */
static inline const struct code_place *peek_place(const Inst *pc)
{
	struct recent_place *r = &recent[((uintptr_t)pc >> 3) * 0x9e3779b97f4a7c15 >> 56];
	uint64_t given = code_area_given();

	return likely(r->pc == pc && r->given == given) || renew_place(r, pc, given) ? &r->place : NULL;
}

bool code_find_place(const Inst *pc, struct code_place *place)
{
	const struct code_place *found = peek_place(pc);

	if (found != NULL)
		*place = *found;
	return found != NULL;
}

bool code_find_mfa(const Inst *at, struct mfa *mfa, bool *stays)
{
	const struct code_place *found = peek_place(at + 1);

	if (unlikely(found == NULL))
		return false;
	mfa->module = found->module;
	mfa->function = found->function;
	mfa->arity = found->arity;
	*stays = code_find_instance(at + 1) != NULL;
	return true;
}

Term code_place_list(struct heap *h, const struct code_place *place, struct code_file_term *last, Term tail)
{
	if (place->line == 0)
		return tail;
	if (last->tuple == 0 || last->file != place->file)
		*last = (struct code_file_term){ place->file, heap_tuple(h, am_file, heap_list_atom(h, place->file)) };
	return heap_cons(h, last->tuple, heap_cons(h, heap_tuple(h, am_line, term_from_small(place->line)), tail));
}

Term code_place_frame(struct heap *h, const struct code_place *place, struct code_file_term *last)
{
	return heap_tuple(h, place->module, place->function, SMALL(place->arity), code_place_list(h, place, last, NIL));
}
