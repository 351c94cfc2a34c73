/* SPDX-License-Identifier: Apache-2.0 */
/* Exceptions: raw traces when they are raised, unwinding, stack traces when somebody asks. */
#include "exec/unwind.h"

#include <string.h>

#include "base/release.h"
#include "code/breakpoint.h"
#include "code/module.h"
#include "code/opcodes.h"
#include "data/map.h"
#include "proc/report.h"

/* ---- classes */

static Term class_of(enum exc_kind kind)
{
	return kind == EXC_ERROR ? am_error : kind == EXC_EXIT ? am_exit : am_throw;
}

static bool class_read(Term class, enum exc_kind *kind)
{
	if (class == am_error)
		*kind = EXC_ERROR;
	else if (class == am_exit)
		*kind = EXC_EXIT;
	else if (class == am_throw)
		*kind = EXC_THROW;
	else
		return false;
	return true;
}

/* ---- raw traces */

static bool raw_is_valid(Term raw)
{
	return term_is_tuple_of(raw, 3) && term_is_atom(tuple_get(raw, 1));
}

static Term raw_head(struct heap *h, const struct exc_site *site)
{
	switch (site->kind) {
	case EXC_SITE_NATIVE:
		return heap_tuple(h, site->module, site->function, site->args, site->info);
	case EXC_SITE_CALLER:
		return heap_tuple(h, site->args == TERM_NONE ? am_undefined : site->args, site->info);
	default:
		return NIL;
	}
}

/* Is `at` in a function of its own? Not so the stub of a native, nor the call of a native that stands at the entry of
 * its own place in its module: those are at the head already. */
static bool is_in_function(const Inst *at, const struct exc_site *site)
{
	const struct export *e = export_of_stub(at);

	if (e != NULL)
		return (uint16_t)e->stub[0] == OP_export_apply;
	if (breakpoint_opcode(at) == OP_call_nif)
		return false;
	return site->kind != EXC_SITE_NATIVE || breakpoint_native_of_entry(at) == NULL;
}

/* The return addresses of the stack from its top, equal neighbours once, as bytes of a heapbin. */
static Term raw_addresses(Process *p, const Inst *at, const struct exc_site *site, unsigned max)
{
	Term found[EXC_DEPTH_MAX];
	Term last = TERM_NONE;
	unsigned n = 0;
	struct heapbin *b;

	if (is_in_function(at, site))
		found[n++] = last = (Term)(at + 1);
	for (const Term *slot = p->heap.stop; slot < p->heap.end && n < max; slot++)
		if (term_is_header(*slot) && *slot != TERM_NONE && *slot != last && *slot != (Term)breakpoint_return)
			found[n++] = last = *slot;
	n = n < max ? n : max;
	b = (struct heapbin *)heap_alloc(&p->heap, 2 + n);
	b->header = HEADER(1 + n, SUB_HEAPBIN);
	b->size_bytes = n * sizeof(Term);
	memcpy(b->data, found, n * sizeof(Term));
	return term_from_boxed((Term *)b);
}

static Term raw_make(Process *p, const Inst *at, const struct exc_site *site)
{
	Term class = class_of(p->exc_kind);
	unsigned depth = exc_depth_now();
	Term head, addresses;

	if (p->exc_has_trace && raw_is_valid(p->exc_trace))
		return p->exc_trace;
	if (p->exc_has_trace)
		return heap_tuple(&p->heap, class, am_true, p->exc_trace);
	head = raw_head(&p->heap, site);
	addresses = raw_addresses(p, at, site, site->kind == EXC_SITE_NATIVE ? depth - 1 : depth);
	return heap_tuple(&p->heap, class, head, addresses);
}

static Term info_module(Term module)
{
	static const struct { Term module, formatter;
	} formatters[] = {
		{ am_erlang, am_erl_erts_errors },          { am_atomics, am_erl_erts_errors },
		{ am_counters, am_erl_erts_errors },        { am_erts_internal, am_erl_erts_errors },
		{ am_persistent_term, am_erl_erts_errors }, { am_os, am_erl_kernel_errors },
		{ am_binary, am_erl_stdlib_errors },        { am_ets, am_erl_stdlib_errors },
		{ am_lists, am_erl_stdlib_errors },         { am_maps, am_erl_stdlib_errors },
		{ am_math, am_erl_stdlib_errors },          { am_re, am_erl_stdlib_errors },
		{ am_unicode, am_erl_stdlib_errors },       { am_code, am_erl_kernel_errors },
	};

	for (size_t i = 0; i < sizeof(formatters) / sizeof(formatters[0]); i++)
		if (formatters[i].module == module)
			return formatters[i].formatter;
	return NIL;
}

/* error/3's [{error_info, Map}]: the last; none when anything else stands there. */
static Term info_of_options(Term options)
{
	Term info = NIL;

	for (; term_is_cons(options); options = cons_tail(options)) {
		Term o = cons_head(options);

		if (!term_is_tuple_of(o, 2) || tuple_get(o, 1) != am_error_info || !term_is_map(tuple_get(o, 2)))
			return NIL;
		info = tuple_get(o, 2);
	}
	return options == NIL ? info : NIL;
}

/* The module that words the errors of a native function, with the cause that the function gave beside. */
static Term native_info(Process *p, Term module)
{
	static const Term keys[] = { am_cause, am_module };

	if (module == NIL || p->exc_trace == NIL)
		return module;
	return map_from_atoms(&p->heap, 2, keys, (Term[]){ p->exc_trace, module });
}

struct exc_site exc_site_native(Process *p, const struct export *e, const Term *args)
{
	struct exc_site site = { .kind = EXC_SITE_NONE };
	bool is_badarg = p->exc_kind == EXC_ERROR && p->exc_reason == am_badarg;

	if (p->exc_kind >= EXC_TRAP || p->exc_has_trace)
		return site;
	if (export_is_raiser(e) && (!is_badarg || e->arity == 1 || args == NULL || args[0] == am_badarg)) {
		if (e->arity < 2 || args == NULL)
			return site;
		site.kind = EXC_SITE_CALLER;
		site.args = term_is_list(args[1]) ? args[1] : TERM_NONE;
		site.info = e->arity == 3 ? info_of_options(args[2]) : NIL;
		return site;
	}
	if (e->module == am_erlang && e->function == am_apply && p->exc_kind == EXC_ERROR && !is_badarg)
		return site;
	site.kind = EXC_SITE_NATIVE;
	site.module = e->module;
	site.function = e->function;
	site.args = args != NULL ? heap_list_array(&p->heap, e->arity, args, NIL) : term_from_small(e->arity);
	site.info = native_info(p, info_module(e->module));
	return site;
}

/* ---- unwinding */

static bool has_catch(const Process *p)
{
	for (const Term *slot = p->heap.stop; slot < p->heap.end; slot++)
		if (term_is_catch(*slot))
			return true;
	return false;
}

/* The exception leaves the function of a breakpoint's frame. Returns whether its caller is told of, should that
 * catch. */
static bool leave_traced(Process *p, const struct breakpoint_frame *f)
{
	Term words[3] = { HEADER(2, SUB_TUPLE), am_nocatch, p->exc_reason };
	bool is_caught = p->exc_kind != EXC_THROW || has_catch(p);

	return breakpoint_hooks.raised(p, f, is_caught ? class_of(p->exc_kind) : am_error,
				       is_caught ? p->exc_reason : term_from_boxed(words));
}

/* told: as breakpoint_hooks.caught has it; NULL: nobody is. */
static void tell_caught(Process *p, const Term *told, Term *frame, Term caught_by)
{
	if (told != NULL)
		breakpoint_hooks.caught(p, told, frame, catch_handler(caught_by));
}

/* The innermost catch: its address, and its frame as top of stack. */
static const Inst *stack_unwind(Process *p)
{
	Term *frame = p->heap.stop;
	/* whom to tell: of all functions, of the one whose frame this is, of the one that called it */
	const Term *all_told = NULL, *told = NULL, *next_told = NULL;

	for (Term *slot = frame; slot < p->heap.end; slot++) {
		if (unlikely(*slot == (Term)breakpoint_return)) {
			frame = slot;
			if (leave_traced(p, (const struct breakpoint_frame *)(slot + 1)) && next_told == NULL)
				next_told = slot;
			if (all_told == NULL)
				all_told = next_told;
		} else if (term_is_header(*slot)) {
			frame = slot;
			told = next_told;
			next_told = NULL;
		} else if (term_is_catch(*slot)) {
			if (unlikely(all_told != NULL))
				tell_caught(p, release_tells_of_all_left() ? all_told : told, frame, *slot);
			p->heap.stop = frame;
			frame[0] = TERM_NONE;
			return catch_handler(*slot);
		}
	}
	return NULL;
}

static void exit_uncaught(Process *p, Term raw)
{
	enum exc_kind kind = p->exc_kind;
	Term reason = p->exc_reason;

	p->exc_kind = EXC_NONE;
	if (kind == EXC_EXIT)
		return;
	if (kind == EXC_THROW)
		reason = heap_tuple(&p->heap, am_nocatch, reason);
	reason = heap_tuple(&p->heap, reason, exc_trace_list(p, raw));
	p->exc_reason = reason;
	process_report_crash(p, reason);
}

const Inst *exc_unwind(Process *p, Term *x, const Inst *at, const struct exc_site *site)
{
	Term raw = raw_make(p, at, site);
	const Inst *handler = stack_unwind(p);

	p->exc_trace = NIL;
	p->exc_has_trace = false;
	if (handler == NULL) {
		exit_uncaught(p, raw);
		return NULL;
	}
	x[0] = TERM_NONE;
	x[1] = class_of(p->exc_kind);
	x[2] = p->exc_reason;
	x[3] = raw;
	p->exc_kind = EXC_NONE;
	p->exc_reason = NIL;
	return handler;
}

Term exc_catch_value(Process *p, Term class, Term reason, Term raw)
{
	if (class == am_throw)
		return reason;
	if (class == am_error)
		reason = heap_tuple(&p->heap, reason, exc_trace_list(p, raw));
	return heap_tuple(&p->heap, am_EXIT, reason);
}

void exc_again(Process *p, Term raw, Term reason)
{
	enum exc_kind kind = EXC_ERROR;

	if (!raw_is_valid(raw) || !class_read(tuple_get(raw, 1), &kind)) {
		exc_error(p, reason);
		return;
	}
	exc_error(p, reason);
	p->exc_kind = (uint8_t)kind;
	p->exc_trace = raw;
	p->exc_has_trace = true;
}

bool exc_raise_raw(Process *p, Term class, Term reason, Term raw)
{
	enum exc_kind kind;

	if (!class_read(class, &kind))
		return false;
	exc_error(p, reason);
	p->exc_kind = (uint8_t)kind;
	p->exc_has_trace = true;
	if (raw_is_valid(raw))
		p->exc_trace = heap_tuple(&p->heap, class, tuple_get(raw, 2), tuple_get(raw, 3));
	else
		p->exc_trace = raw;
	return true;
}

/* ---- stack traces */

/* [{error_info, Map}] or []. */
static Term info_list(struct heap *h, Term info, Term tail)
{
	static const Term keys[] = { am_module };

	if (info == NIL)
		return tail;
	if (term_is_atom(info))
		info = map_from_atoms(h, 1, keys, &info);
	return heap_cons(h, heap_tuple(h, am_error_info, info), tail);
}

static Term entry_make(struct heap *h, const struct code_place *place, struct code_file_term *last, Term args,
		       Term info)
{
	Term where = code_place_list(h, place, last, info_list(h, info, NIL));

	return heap_tuple(h, place->module, place->function, args != TERM_NONE ? args : term_from_small(place->arity),
			  where);
}

Term exc_trace_list(Process *p, Term raw)
{
	struct heap *h = &p->heap;
	Term head, addresses, list = NIL, first_args = TERM_NONE, first_info = NIL;
	const Inst *found[EXC_DEPTH_MAX];
	struct code_file_term last = { 0 };
	size_t n;

	if (!raw_is_valid(raw))
		return raw;
	head = tuple_get(raw, 2);
	addresses = tuple_get(raw, 3);
	if (head == am_true)
		return addresses;
	n = boxed_ptr(addresses)[1] / sizeof(Term);
	memcpy(found, boxed_ptr(addresses) + 2, n * sizeof(Term));
	if (term_is_tuple_of(head, 2)) {
		first_args = tuple_get(head, 1) == am_undefined ? TERM_NONE : tuple_get(head, 1);
		first_info = tuple_get(head, 2);
	}
	while (n-- > 0) {
		struct code_place place;

		if (!code_find_place(found[n], &place))
			continue;
		list = heap_cons(h, n == 0 ? entry_make(h, &place, &last, first_args, first_info) :
					     entry_make(h, &place, &last, TERM_NONE, NIL), list);
	}
	if (term_is_tuple_of(head, 4)) {
		Term info = info_list(h, tuple_get(head, 4), NIL);

		list = heap_cons(h, heap_tuple(h, tuple_get(head, 1), tuple_get(head, 2), tuple_get(head, 3), info),
				 list);
	}
	return list;
}
