/* SPDX-License-Identifier: Apache-2.0 */
/* The probes of function calls, and calls to be saved. The probes themselves are proc/probe.c's; here is which function
 * it is that is called or returns. */
#include "exec/traced.h"

#include "code/breakpoint.h"
#include "code/fun.h"
#include "code/module.h"
#include "code/opcodes.h"
#include "exec/call.h"
#include "proc/saved_calls.h"

static struct mfa info_mfa(const Inst *info)
{
	return (struct mfa){ func_info_module(info), func_info_function(info), func_info_arity(info) };
}

static struct mfa export_mfa(const struct export *e)
{
	return (struct mfa){ e->module, e->function, e->arity };
}

/* Frames on the stack: words that are return addresses. */
static int count_frames(const Process *p)
{
	int n = 0;

	for (const Term *slot = p->heap.stop; slot < p->heap.end; slot++)
		n += term_is_header(*slot) && *slot != TERM_NONE;
	return n;
}

/* erlang:apply/3 saves what it applies. */
void traced_save(Process *p, const struct export *e)
{
	if (e->module != am_erlang || e->function != am_apply)
		saved_calls_note(p, (SavedCall)e);
}

void traced_enter(Process *p, const Inst *entry, int pushed)
{
	const struct export *e;

	if (!PROBE_ON(global__function__entry))
		return;
	e = export_of_stub(entry);
	/* Stubs are no functions: natives have probes of their own, and what gets loaded is entered after that. */
	if (e == NULL ? breakpoint_opcode(entry) == OP_call_nif : e->bif != NULL || entry == e->stub)
		return;
	probe_global__function__entry(p, e != NULL ? export_mfa(e) : info_mfa(entry - FUNC_INFO_WORDS),
				      count_frames(p) + pushed);
}

void traced_local_call(Process *p, const Inst *entry, int pushed)
{
	if (PROBE_ON(local__function__entry) && breakpoint_opcode(entry) != OP_call_nif)
		probe_local__function__entry(p, info_mfa(entry - FUNC_INFO_WORDS), count_frames(p) + pushed);
}

void traced_global_call(Process *p, const struct export *e, int pushed)
{
	traced_save(p, e);
	traced_enter(p, call_export_address(e), pushed);
}

void traced_fun(Process *p, Term fun, int pushed)
{
	const Inst *entry;

	if (term_has_sub(fun, SUB_EXPORT))
		traced_global_call(p, export_fun_ptr(fun), pushed);
	if (!term_has_sub(fun, SUB_FUN))
		return;
	entry = atomic_load_explicit(&fun_ptr(fun)->entry->address, memory_order_acquire);
	if (entry != NULL)
		traced_enter(p, entry, pushed);
}

static void enter_mfa(Process *p, Term module, Term function, unsigned arity, int pushed)
{
	const struct export *e;

	if (!term_is_atom(module) || !term_is_atom(function))
		return;
	e = export_try_get(module, function, arity, NAMED_BY_CALLS);
	if (e != NULL)
		traced_global_call(p, e, pushed);
}

void traced_apply(Process *p, const Term *x, unsigned arity, int pushed)
{
	enter_mfa(p, x[arity], x[arity + 1], arity, pushed);
}

void traced_start(Process *p, const Term *x)
{
	unsigned n = 0;

	for (Term t = x[2]; term_is_cons(t); t = cons_tail(t))
		n++;
	enter_mfa(p, x[0], x[1], n, 1);
}

void traced_return(Process *p, const Inst *at)
{
	const Inst *info;

	if (!PROBE_ON(function__return))
		return;
	info = code_find_function(at + 1);
	if (info != NULL)
		probe_function__return(p, info_mfa(info), count_frames(p));
}

Term traced_bif(Process *p, const struct export *e, Term *args)
{
	Term result;

	if (e->is_nif) {
		if (PROBE_ON(nif__entry))
			probe_nif__entry(p, export_mfa(e));
		result = call_native(p, e, args);
		if (PROBE_ON(nif__return))
			probe_nif__return(p, export_mfa(e));
		return result;
	}
	if (PROBE_ON(bif__entry))
		probe_bif__entry(p, export_mfa(e));
	result = call_native(p, e, args);
	if (PROBE_ON(bif__return))
		probe_bif__return(p, export_mfa(e));
	return result;
}

Term traced_nif(Process *p, const struct nif_function *f, Term *x)
{
	struct mfa mfa = { f->module, f->function, f->arity }; /* the library may go while it runs */
	Term result;

	if (PROBE_ON(nif__entry))
		probe_nif__entry(p, mfa);
	result = f->call(p, f, x);
	if (PROBE_ON(nif__return) &&
	    (result != TERM_NONE || p->exc_kind != EXC_WAIT)) /* one that waits returns later */
		probe_nif__return(p, mfa);
	return result;
}
