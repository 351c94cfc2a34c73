/* SPDX-License-Identifier: Apache-2.0 */
/* Applying terms, undefined functions, natives that wait. */
#include "exec/call.h"

#include <string.h>

#include "base/alloc.h"
#include "base/release.h"
#include "code/breakpoint.h"
#include "code/code_path.h"
#include "code/fun.h"
#include "code/line_break.h"
#include "code/module.h"
#include "data/bits_build.h"
#include "data/compare.h"
#include "data/map.h"
#include "exec/exec.h"
#include "proc/process_gc.h"
#include "layout.h"
#include "proc/registry.h"
#include "proc/saved_calls.h"
#include "proc/sched.h"

enum { ARGUMENTS_MAX = 255 };

static struct {
	Inst return_code[FUNC_INFO_WORDS + 1];
	Inst start_code[FUNC_INFO_WORDS + 1];
} stubs;
/* What functions return to, which machine code looks for in the range of code alone: in its last page. */
static struct return_stubs {
	Inst exit_code[FUNC_INFO_WORDS + 1];
	Inst breakpoint_code[FUNC_INFO_WORDS + 1];
	Inst line_code[FUNC_INFO_WORDS + 1];
} *return_stubs;

static const Inst *stub_make(Inst *words, enum opcode op, unsigned arity)
{
	words[0] = OP_func_info;
	words[1] = am_erlang;
	words[2] = am_apply;
	words[3] = arity;
	words[FUNC_INFO_WORDS] = op;
	return words + FUNC_INFO_WORDS;
}

const Inst *call_return_code(void)
{
	return stubs.return_code + FUNC_INFO_WORDS;
}

const Inst *call_exit_code(void)
{
	return return_stubs->exit_code + FUNC_INFO_WORDS;
}

bool call_is_stub(const Inst *i)
{
	return (uintptr_t)i - (uintptr_t)&stubs < sizeof(stubs) ||
	       (uintptr_t)i - (uintptr_t)return_stubs < sizeof(*return_stubs);
}

void call_save_x(Process *p, const Term *x, unsigned n)
{
	if (n > p->x_room) {
		if (p->x != p->saved_x)
			mem_free_as(MEM_PROCESS, p->x);
		p->x = mem_alloc_as(MEM_PROCESS, n * sizeof(Term));
		p->x_room = (uint16_t)n;
	}
	memcpy(p->x, x, n * sizeof(Term));
	p->live = (uint16_t)n;
}

Term call_resume(Process *p)
{
	Term (*resume)(Process *p, void *arg) = p->resume;
	void *arg = p->resume_arg;

	p->resume = NULL;
	p->resume_arg = NULL;
	return resume(p, arg);
}

bool call_hibernate_gc(Process *p, Term *x, const struct export *e)
{
	bool returns = e->function == am_hibernate && e->arity == 0;
	unsigned live = returns ? 1 : 3;

	if (returns)
		x[0] = am_ok;
	else
		p->heap.stop = p->heap.end;
	p->i = returns ? call_return_code() : process_start_code;
	if (!process_hibernate_gc(p, x, live))
		return false;
	call_save_x(p, x, live);
	return true;
}

/* ---- breakpoints */

/* The arguments as Erlang code may see them: the rest of what is being matched is a binary. */
static void show_arguments(Process *p, const Term *x, unsigned arity, Term *args)
{
	for (unsigned i = 0; i < arity; i++)
		args[i] = term_has_sub(x[i], SUB_MATCH)
				  ? bits_get_tail(&p->heap, (const struct match_ctx *)boxed_ptr(x[i]))
				  : x[i];
}

static void push_frame(Process *p, const struct breakpoint_frame *f)
{
	Term *at = p->heap.stop -= BREAKPOINT_FRAME_WORDS;

	at[0] = (Term)breakpoint_return;
	memcpy(at + 1, f, sizeof(*f));
}

bool call_breakpoint_gc(Process *p, Term *x, const Inst *entry)
{
	const Inst *info = entry - FUNC_INFO_WORDS;
	unsigned arity = func_info_arity(info), n;
	struct breakpoint_frames frames;
	Term args[ARGUMENTS_MAX];
	bool fits;

	if (p->flags & PF_IN_RECEIVE) {
		p->flags &= ~(uint32_t)PF_IN_RECEIVE;
		return true;
	}
	show_arguments(p, x, arity, args);
	frames.all = frames.few;
	frames.count = 0;
	frames.room = BREAKPOINT_FRAMES_FEW;
	breakpoint_hooks.called(p, breakpoint_at(info), args, &frames);
	n = frames.count;
	fits = (n == 0 && !call_wants_gc(p)) || process_need_gc(p, n * BREAKPOINT_FRAME_WORDS, x, arity);
	if (n == 0)
		return fits && (!call_wants_gc(p) || process_collect_gc(p, 0, x, arity));
	for (unsigned i = 0; fits && i < n; i++)
		push_frame(p, &frames.all[i]);
	if (frames.all != frames.few)
		mem_free(frames.all);
	return fits;
}

bool call_keep_frame_gc(Process *p, Term *x, unsigned arity, const Inst *at, uint32_t frame_bytes)
{
	struct breakpoint_frame f = { SMALL(BREAKPOINT_KEPT_FRAME), NIL, NIL, SMALL(0), SMALL(frame_bytes) };

	if (!process_need_gc(p, BREAKPOINT_FRAME_WORDS + 1, x, arity))
		return false;
	if (frame_bytes == 0) {
		p->heap.stop--;
		f.tracer = SMALL(sizeof(Term));
	}
	p->heap.stop[0] = (Term)(at + 1);
	push_frame(p, &f);
	return true;
}

bool call_keeps_frame(const struct export *e, const Inst *at)
{
	return !e->is_nif && export_of_stub(at) == NULL && breakpoint_native_of_entry(at) == NULL;
}

void call_note_loop(Process *p, const Inst *to)
{
	if ((uint16_t)*to == OP_breakpoint)
		p->flags |= PF_IN_RECEIVE;
}

bool call_will_wait(Process *p, Term timeout)
{
	if (call_receive_timed_out(p))
		return false;
	return p->receive_timer != NULL || timeout == am_infinity ||
	       (term_is_small(timeout) && small_value(timeout) > 0 && small_value(timeout) <= UINT32_MAX);
}

/* ---- errors with arguments */

struct exc_site call_clause_site(Process *p, const Inst *func_info, const Term *x)
{
	return (struct exc_site){ .kind = EXC_SITE_CALLER,
				  .args = heap_list_array(&p->heap, func_info_arity(func_info), x, NIL),
				  .info = NIL };
}

struct exc_site call_arith_site(Process *p, Term name, unsigned arity, const Term *args)
{
	return (struct exc_site){ .kind = EXC_SITE_NATIVE, .module = am_erlang, .function = name,
				  .args = heap_list_array(&p->heap, arity, args, NIL), .info = am_erl_erts_errors };
}

struct exc_site call_operator_site(Process *p, const Inst *at, enum arith_op op, const Term *args)
{
	const Term sum[2] = { args[0], SMALL(0) }; /* +X is X + 0 */
	bool is_increment = false;

	switch (breakpoint_opcode(at)) {
	case OP_sub_xix: case OP_sub_yix: case OP_sub_ri:
		is_increment = small_value(args[1]) >= 0;
		break;
	case OP_add_xix: case OP_add_xix_call_only: case OP_add_xix_move_call_only: case OP_add_yix: case OP_add_ri:
		is_increment = true;
		break;
	case OP_plus:
		is_increment = source_is_reg(at[2]);
		break;
	default:
		break;
	}
	if (is_increment && !release_names_increments())
		return (struct exc_site){ .kind = EXC_SITE_NONE };
	if (op == ARITH_plus)
		return call_arith_site(p, am_op_plus, 2, sum);
	return call_arith_site(p, arith_name(op), arith_arity(op), args);
}

const struct export *call_nif_export(const Process *p, const Inst *entry)
{
	const struct nif_function *f = nif_of_inst(*entry);
	const struct nif_detour *d = nif_detour_at(p, entry);

	return d != NULL ? export_get(d->called.module, d->called.function, d->called.arity) :
			   export_get(f->module, f->function, f->arity);
}

struct exc_site call_nif_site(Process *p, const Inst *entry, const Term *x)
{
	const struct nif_function *f = nif_of_inst(*entry);
	const struct nif_detour *d = nif_detour_at(p, entry);
	struct exc_site site = { .kind = EXC_SITE_NATIVE, .info = NIL };

	site.module = d != NULL ? d->called.module : f->module;
	site.function = d != NULL ? d->called.function : f->function;
	site.args = d != NULL ? p->nif_args : heap_list_array(&p->heap, f->arity, x, NIL);
	nif_detour_end(p);
	return site;
}

Term call_badkey(Process *p, Term key)
{
	return heap_tuple(&p->heap, am_badkey, key);
}

Term call_badmap(Process *p, Term t)
{
	return heap_tuple(&p->heap, am_badmap, t);
}

Term call_map_reason(Process *p, Term key, Term map)
{
	return term_is_map(map) ? call_badkey(p, key) : call_badmap(p, map);
}

/* ---- undefined functions */

static const Inst *undefined_raise(Process *p, const Term *x, const struct export *e, struct exc_site *site)
{
	exc_error(p, am_undef);
	*site = (struct exc_site){ .kind = EXC_SITE_NATIVE, .module = e->module, .function = e->function,
				   .args = heap_list_array(&p->heap, e->arity, x, NIL), .info = NIL };
	return NULL;
}

/* error_handler:Function(A, B, C) in place of what cannot be called; NULL when that is not loaded either. */
static const Inst *handler_enter(Process *p, Term *x, Term function, Term a, Term b, Term c)
{
	const struct export *handler;

	if (p->error_handler == am_error_handler && code_path_is_open() &&
	    registry_whereis(am_code_server) == TERM_NONE)
		return NULL; /* it would ask the code server */
	handler = export_find(p->error_handler, function, 3);
	if ((handler == NULL || !export_is_loaded(handler)) && code_autoload(p->error_handler))
		handler = export_find(p->error_handler, function, 3);
	if (handler == NULL || !export_is_loaded(handler))
		return NULL;
	x[0] = a;
	x[1] = b;
	x[2] = c;
	saved_calls_note(p, (SavedCall)handler);
	return call_export_address(handler);
}

const Inst *call_undefined(Process *p, Term *x, struct export *e, struct exc_site *site)
{
	const Inst *entry;
	Term args;

	if (export_is_loaded(e))
		return call_export_address(e);
	if (code_autoload(e->module) && export_is_loaded(e))
		return call_export_address(e);
	if (e->module != p->error_handler) {
		args = heap_list_array(&p->heap, e->arity, x, NIL);
		entry = handler_enter(p, x, am_undefined_function, e->module, e->function, args);
		if (entry != NULL)
			return entry;
	}
	return undefined_raise(p, x, e, site);
}

const Inst *call_debugger(Process *p, Term *x, const Inst *entry, struct exc_site *site)
{
	const Inst *info = entry - FUNC_INFO_WORDS;
	Term module = func_info_module(info), function = func_info_function(info), args[ARGUMENTS_MAX];
	unsigned arity = func_info_arity(info);
	const Inst *handler;

	show_arguments(p, x, arity, args);
	handler = handler_enter(p, x, am_breakpoint, module, function, heap_list_array(&p->heap, arity, args, NIL));
	return handler != NULL ? handler : undefined_raise(p, args, export_get(module, function, arity), site);
}

/* Below what waits on the stack: where the line goes on, then the registers that live. */
bool call_line_stop_gc(Process *p, Term *x, const Inst **at)
{
	unsigned live = (uint16_t)(**at >> 16), words = live + 2;
	const struct export *e = export_find(am_erts_internal, am_breakpoint, 4);
	const Inst *next = *at + OPWORDS_debug_line;
	struct code_place place;

	if (e == NULL || !export_is_loaded(e) || !code_find_place(next, &place))
		return true;
	if ((size_t)(p->heap.stop - p->heap.top) < words && !process_collect_gc(p, words, x, live))
		return false;
	p->heap.stop -= words;
	p->heap.stop[0] = (Term)line_return;
	memcpy(p->heap.stop + 1, x, live * sizeof(Term));
	p->heap.stop[words - 1] = (Term)next;
	x[0] = place.module;
	x[1] = place.function;
	x[2] = term_from_small(place.arity);
	x[3] = term_from_small(place.line);
	saved_calls_note(p, (SavedCall)e);
	*at = call_export_address(e);
	return true;
}

/* ---- apply */

/* Copies a list's elements to x. Fails: -1 when it is improper or too long. */
static int list_spread(Term list, Term *x)
{
	int n = 0;

	for (; term_is_cons(list); list = cons_tail(list)) {
		if (n == ARGUMENTS_MAX)
			return -1;
		x[n++] = cons_head(list);
	}
	return list == NIL ? n : -1;
}

static const Inst *apply_badarg(Process *p, Term module, Term function, Term args, struct exc_site *site)
{
	Term all[3] = { module, function, args };

	exc_badarg(p);
	*site = call_arith_site(p, am_apply, 3, all);
	return NULL;
}

static inline bool is_apply(Term module, Term function, unsigned arity)
{
	return module == am_erlang && function == am_apply && arity == 3;
}

/* While what is applied is erlang:apply/3 itself: x has what that applies. Fails: false, x has what that cannot
 * apply. */
static bool unroll_apply(Term *module, Term *function, Term *x, unsigned *arity)
{
	while (is_apply(*module, *function, *arity)) {
		Term inner[3] = { x[0], x[1], x[2] };
		int n = term_is_atom(inner[0]) && term_is_atom(inner[1]) ? list_spread(inner[2], x) : -1;

		if (n < 0) {
			memcpy(x, inner, sizeof(inner));
			return false;
		}
		*module = inner[0];
		*function = inner[1];
		*arity = (unsigned)n;
	}
	return true;
}

/* No code has named the function: the error handler is asked at once, so that names made up by the million leave no
 * entries behind. NULL: the function needs one, by which it is loaded or called undefined. */
static const Inst *enter_unnamed(Process *p, Term *x, Term module, Term function, unsigned arity)
{
	if (code_path_is_open() || module == p->error_handler)
		return NULL;
	return handler_enter(p, x, am_undefined_function, module, function, heap_list_array(&p->heap, arity, x, NIL));
}

/* Where the function begins; NULL: as many functions were named so as may be. */
static const Inst *enter_applied(Process *p, Term module, Term function, Term *x, unsigned arity, struct exc_site *site)
{
	const struct export *e = export_find(module, function, arity);
	const Inst *handler = likely(e != NULL) ? NULL : enter_unnamed(p, x, module, function, arity);

	if (handler != NULL)
		return handler;
	e = likely(e != NULL) ? e : export_try_get(module, function, arity, NAMED_BY_CALLS);
	if (e != NULL)
		return call_export_address(e);
	exc_system_limit(p);
	*site = call_arith_site(p, am_apply, 3,
				(const Term[]){ module, function, heap_list_array(&p->heap, arity, x, NIL) });
	return NULL;
}

const Inst *call_apply_fixed(Process *p, Term *x, unsigned arity, struct exc_site *site)
{
	Term module = x[arity], function = x[arity + 1];

	if (!term_is_atom(module) || !term_is_atom(function))
		return apply_badarg(p, module, function, heap_list_array(&p->heap, arity, x, NIL), site);
	if (!unroll_apply(&module, &function, x, &arity))
		return apply_badarg(p, x[0], x[1], x[2], site);
	return enter_applied(p, module, function, x, arity, site);
}

const Inst *call_apply_usual(const Term *x, unsigned arity)
{
	Term module = x[arity], function = x[arity + 1];
	const struct export *e;
	const Inst *entry;

	if (!term_is_atom(module) || !term_is_atom(function) || (module == am_erlang && function == am_apply))
		return NULL;
	e = export_find(module, function, arity);
	entry = e != NULL ? call_export_address(e) : NULL;
	return entry != NULL && call_raiser_at(entry) == NULL ? entry : NULL;
}

const Inst *call_start(Process *p, Term *x, struct exc_site *site)
{
	Term module = x[0], function = x[1], args = x[2];
	int n;

	if (term_is_fun(module)) /* spawn of a fun by hibernate's rules cannot be; kept honest */
		return apply_badarg(p, module, function, args, site);
	n = list_spread(args, x);
	if (n < 0 || !term_is_atom(module) || !term_is_atom(function))
		return apply_badarg(p, module, function, args, site);
	return enter_applied(p, module, function, x, (unsigned)n, site);
}

/* erts_code_purger:pending_purge_lambda(Module, Fun, Args), once the purge of the fun's code is over; NULL: it is not
 * being purged. */
static const Inst *purge_enter(Process *p, Term *x, Term fun, Term args)
{
	const struct fun_entry *e = fun_ptr(fun)->entry;

	if (atomic_load_explicit(&e->withheld, memory_order_acquire) == NULL)
		return NULL;
	module_await_purge(p, e->module);
	x[0] = e->module;
	x[1] = fun;
	x[2] = args;
	return call_export_address(export_get(am_erts_code_purger, am_pending_purge_lambda, 3));
}

static const Inst *fun_raise(Process *p, Term reason, struct exc_site *site)
{
	exc_error(p, reason);
	*site = (struct exc_site){ .kind = EXC_SITE_NONE };
	return NULL;
}

static const Inst *fun_badarity(Process *p, Term *x, Term fun, unsigned arity, struct exc_site *site)
{
	Term args = heap_list_array(&p->heap, arity, x, NIL);
	Term pair = heap_tuple(&p->heap, fun, args);

	return fun_raise(p, heap_tuple(&p->heap, am_badarity, pair), site);
}

static const Inst *fun_enter_local(Process *p, Term *x, Term fun, unsigned arity, struct exc_site *site)
{
	struct fun *f = fun_ptr(fun);
	const Inst *entry = atomic_load_explicit(&f->entry->address, memory_order_acquire);
	unsigned n = fun_num_free(f);

	if (fun_arity(f) != arity)
		return fun_badarity(p, x, fun, arity, site);
	if (entry == NULL && code_autoload(f->entry->module))
		entry = atomic_load_explicit(&f->entry->address, memory_order_acquire);
	if (entry == NULL) {
		Term args = heap_list_array(&p->heap, arity, x, NIL);

		entry = purge_enter(p, x, fun, args);
		if (entry == NULL && !module_is_loaded(f->entry->module)) /* else it has no such fun */
			entry = handler_enter(p, x, am_undefined_lambda, f->entry->module, fun, args);
		return entry != NULL ? entry : fun_raise(p, heap_tuple(&p->heap, am_badfun, fun), site);
	}
	if (f->entry->arity != arity + n) /* made from bytes of another origin */
		return fun_raise(p, heap_tuple(&p->heap, am_badfun, fun), site);
	for (unsigned i = 0; i < n; i++)
		x[arity + i] = f->env[i];
	return entry;
}

const Inst *call_fun_slow(Process *p, Term *x, Term fun, unsigned arity, struct exc_site *site)
{
	if (term_has_sub(fun, SUB_FUN))
		return fun_enter_local(p, x, fun, arity, site);
	if (!term_has_sub(fun, SUB_EXPORT))
		return fun_raise(p, heap_tuple(&p->heap, am_badfun, fun), site);
	if (export_fun_ptr(fun)->arity != arity)
		return fun_badarity(p, x, fun, arity, site);
	return call_export_address(export_fun_ptr(fun));
}

bool call_is_function(Term t, Term arity)
{
	if (!term_is_small(arity) || small_value(arity) < 0)
		return false;
	if (term_has_sub(t, SUB_FUN))
		return fun_arity(fun_ptr(t)) == (uint64_t)small_value(arity);
	return term_has_sub(t, SUB_EXPORT) && export_fun_ptr(t)->arity == (uint64_t)small_value(arity);
}

static __attribute__((noinline)) Term trap_to_unnamed(Process *p, Term *x, Term module, Term function, unsigned arity)
{
	const Inst *handler = enter_unnamed(p, x, module, function, arity);

	p->resume_arg = (void *)handler;
	if (handler == NULL)
		p->trap_export = export_try_get(module, function, arity, NAMED_BY_CALLS);
	if (handler == NULL && p->trap_export == NULL)
		return exc_system_limit(p);
	p->exc_kind = EXC_TRAP;
	return TERM_NONE;
}

/* Sets out to call what apply/3 names, with x as its arguments. */
static Term trap_to(Process *p, Term *x, Term module, Term function, unsigned arity)
{
	p->trap_export = export_find(module, function, arity);
	if (unlikely(p->trap_export == NULL))
		return trap_to_unnamed(p, x, module, function, arity);
	saved_calls_note(p, (SavedCall)p->trap_export);
	p->exc_kind = EXC_TRAP;
	return TERM_NONE;
}

static __attribute__((noinline)) Term apply_apply(Process *p, Term module, Term function, Term *x, unsigned arity)
{
	if (!unroll_apply(&module, &function, x, &arity))
		return exc_badarg(p);
	return trap_to(p, x, module, function, arity);
}

/* erlang:apply/3. args are the X registers: the arguments are spread over them and the call goes on as a trap. */
static Term apply_3(Process *p, Term *args)
{
	Term module = args[0], function = args[1], list = args[2];
	int n = likely(term_is_atom(module) && term_is_atom(function)) ? list_spread(list, args) : -1;

	if (unlikely(n < 0)) {
		args[0] = module;
		args[1] = function;
		args[2] = list;
		return exc_badarg(p);
	}
	if (unlikely(is_apply(module, function, (unsigned)n)))
		return apply_apply(p, module, function, args, (unsigned)n);
	return trap_to(p, args, module, function, (unsigned)n);
}

static __attribute__((noinline)) const Inst *apply_fun_slow(Process *p, Term *args, Term fun, unsigned arity)
{
	struct exc_site site;

	return call_fun_slow(p, args, fun, arity, &site);
}

static Term apply_2(Process *p, Term *args)
{
	Term fun = args[0], list = args[1];
	const Inst *entry;
	int n = list_spread(list, args);

	if (unlikely(n < 0)) {
		args[0] = fun;
		args[1] = list;
		return exc_badarg(p);
	}
	entry = term_has_sub(fun, SUB_FUN) ? call_enter_fun(args, fun, (unsigned)n) : NULL;
	if (entry == NULL)
		entry = apply_fun_slow(p, args, fun, (unsigned)n);
	if (unlikely(entry == NULL)) {
		args[0] = fun;
		args[1] = list;
		return TERM_NONE;
	}
	if (term_has_sub(fun, SUB_EXPORT))
		saved_calls_note(p, (SavedCall)export_fun_ptr(fun));
	p->trap_export = NULL;
	p->resume_arg = (void *)entry;
	p->exc_kind = EXC_TRAP;
	return TERM_NONE;
}

/* ---- maps */

Term call_update_flat(Term *at, Term map, const Term *x, const Term *stack, const Inst *list, unsigned n)
{
	const struct flatmap *old = (const struct flatmap *)boxed_ptr(map);
	struct flatmap *m = (struct flatmap *)at;
	const Term *keys = boxed_ptr(old->keys) + 1;
	size_t size = map_val(old->header), i = 0;

	m->header = old->header;
	m->keys = old->keys;
	for (; n > 0; n -= 2, list += 2, i++) {
		Term key = source_get(list[0], x, stack);

		if (unlikely(!term_is_immed(key)))
			return TERM_NONE;
		for (; i < size && keys[i] != key; i++)
			m->values[i] = old->values[i];
		if (unlikely(i == size))
			return TERM_NONE;
		m->values[i] = source_get(list[1], x, stack);
	}
	for (; i < size; i++)
		m->values[i] = old->values[i];
	return term_from_boxed(at);
}

/* The least of the keys in list that map lacks. */
static Term least_missing(Process *p, Term map, const Term *x, const Inst *list, unsigned n)
{
	Term least = TERM_NONE;

	for (unsigned i = 0; i < n; i += 2) {
		Term key = source_get(list[i], x, p->heap.stop);

		if (map_get(map, key) == TERM_NONE && (least == TERM_NONE || term_compare_exact(key, least) < 0))
			least = key;
	}
	return least;
}

Term call_put_map(Process *p, Term map, const Term *x, const Inst *list, unsigned n, bool exact, Term *missing)
{
	Term pairs[2 * MAP_FLAT_MAX], old = map;

	for (unsigned i = 0; map != TERM_NONE && term_is_map(map) && i < n;) {
		unsigned k = 0;

		for (; i < n && k < 2 * MAP_FLAT_MAX; i++)
			pairs[k++] = source_get(list[i], x, p->heap.stop);
		if (exact)
			map = map_update_pairs(&p->heap, map, pairs, k / 2, missing);
		else
			map = map_put_pairs(&p->heap, map, pairs, k / 2);
	}
	if (map == TERM_NONE)
		*missing = least_missing(p, old, x, list, n);
	return map != TERM_NONE && term_is_map(map) ? map : TERM_NONE;
}

/* Several keys, of which some are new, into a flat map. */
static Term put_into_flat(Process *p, Term map, const Term *x, const Inst *list, uint32_t n)
{
	Term pairs[2 * MAP_FLAT_MAX], made;

	if (n > 2 * MAP_FLAT_MAX)
		return TERM_NONE;
	for (uint32_t i = 0; i < n; i++)
		pairs[i] = source_get(list[i], x, p->heap.stop);
	made = map_put_pairs(&p->heap, map, pairs, n / 2);
	return call_wants_gc(p) ? TERM_NONE : made;
}

Term call_put_map_usual(Process *p, Term map, const Term *x, const Inst *list, uint32_t n, bool exact)
{
	struct heap *h = &p->heap;
	Term *stack = h->stop, made;

	if (unlikely(!term_is_map(map)) || (n != 2 && !map_is_flat(map)) ||
	    (size_t)(stack - h->top) < call_map_room(map, n / 2))
		return TERM_NONE;
	if (n == 2) {
		made = call_put_pair(p, map, source_get(list[0], x, stack), source_get(list[1], x, stack), exact);
		return call_wants_gc(p) ? TERM_NONE : made;
	}
	made = call_update_flat(h->top, map, x, stack, list, n);
	if (made != TERM_NONE)
		h->top += 2 + map_val(*boxed_ptr(map));
	else if (!exact)
		made = put_into_flat(p, map, x, list, n);
	return made;
}

/* ---- bs_create_bin */

enum { SEGMENTS_AT_ONCE = 16, WORDS_A_REDUCTION_SHIFT = 7 };

/* What erl_erts_errors:format_bs_fail/2 explains. */
static void create_raise(Process *p, const struct bits_failure *f, struct exc_site *site)
{
	struct heap *h = &p->heap;
	Term keys[] = { am_cause, am_function, am_module };
	Term values[] = { heap_tuple(h, heap_uint(h, f->number), f->type, f->what, f->value), am_format_bs_fail,
			  am_erl_erts_errors };
	Term info = map_from_atoms(h, 3, keys, values);

	exc_error(p, f->error == BITS_LIMIT ? am_system_limit : am_badarg);
	*site = (struct exc_site){ .kind = EXC_SITE_CALLER, .args = TERM_NONE, .info = info };
}

Term call_create_bin(Process *p, Term *x, Term *stack, const Inst *list, unsigned n, bool raise, struct exc_site *site)
{
	struct bits_segment few[SEGMENTS_AT_ONCE], *segments = few;
	size_t before = p->heap.binary_words;
	struct bits_failure failure;
	Term bin;

	if (n > SEGMENTS_AT_ONCE)
		segments = mem_alloc(n * sizeof(*segments));
	for (unsigned i = 0; i < n; i++, list += BS_SEGMENT_WORDS) {
		segments[i] = (struct bits_segment){
			.kind = (uint8_t)list[0], .flags = (uint8_t)(list[0] >> 8), .unit = (uint16_t)(list[0] >> 16),
			.number = (uint32_t)(list[0] >> 32), .value = source_get(list[1], x, stack),
			.size = source_get(list[2], x, stack), .string = (const uint8_t *)list[3],
		};
	}
	bin = bits_create(&p->heap, segments, n, &failure);
	process_bump(p, (int)((p->heap.binary_words - before) >> WORDS_A_REDUCTION_SHIFT));
	if (segments != few)
		mem_free(segments);
	if (bin == TERM_NONE && raise)
		create_raise(p, &failure, site);
	return bin;
}

/* ---- start */

static void stub_fill(struct export *e)
{
	e->func_info[0] = OP_func_info;
	e->func_info[1] = e->module;
	e->func_info[2] = e->function;
	e->func_info[3] = e->arity;
	e->stub[0] = e->bif == NULL ? OP_export_undefined :
		     e->module == am_erlang && e->function == am_apply ? OP_export_apply : OP_export_bif;
	e->stub[EXPORT_STUB_TRACED - 1] = e->arity; /* before each entry, for who is preempted there */
	e->stub[EXPORT_STUB_TRACED] = OP_export_traced;
}

void call_init(void)
{
	_Static_assert(offsetof(struct export, stub) ==
			       offsetof(struct export, func_info) + FUNC_INFO_WORDS * sizeof(Inst),
		       "the stub stands right behind its func_info");
	return_stubs = (struct return_stubs *)code_area_last();
	stub_make(stubs.return_code, OP_return, 0);
	stub_make(return_stubs->exit_code, OP_normal_exit, 0);
	process_start_code = stub_make(stubs.start_code, OP_apply_start, 3);
	breakpoint_return = stub_make(return_stubs->breakpoint_code, OP_breakpoint_return, 0);
	line_return = stub_make(return_stubs->line_code, OP_line_return, 1);
	export_make_stub = stub_fill;
	export_set_bif(export_get(am_erlang, am_apply, 2), apply_2, "apply_2");
	export_set_bif(export_get(am_erlang, am_apply, 3), apply_3, "apply_3");
	export_add_instruction(export_get(am_erlang, am_apply, 2));
	export_add_instruction(export_get(am_erlang, am_apply, 3));
}

/* For who reads our memory from outside. */
static const uint32_t layout_numbers[] = {
#define LAYOUT_STUBS LAYOUT_NUMBER
#include "layout.def"
};
LAYOUT_PART(layout_stubs, stubs);
