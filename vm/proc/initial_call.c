/* SPDX-License-Identifier: Apache-2.0 */
/* Invariant: arguments that do not look as proc_lib and gen make them are told as the call that they are. */
#include "proc/initial_call.h"

#include "data/fun_link.h"
#include "heap/heap.h"
#include "proc/probe.h"
#include "proc/process.h"
#include "term/atom.h"

/* The first n elements of a list. Fails: false, it has fewer. */
static bool read_list(Term list, Term *elements, size_t n)
{
	for (size_t i = 0; i < n; i++, list = cons_tail(list)) {
		if (!term_is_cons(list))
			return false;
		elements[i] = cons_head(list);
	}
	return true;
}

static uint32_t count_list(Term list)
{
	uint32_t n = 0;

	for (; term_is_cons(list); list = cons_tail(list))
		n++;
	return n;
}

/* gen:init_it(behaviour, starter, parent, [name,] module, argument, options): what a behaviour's process is by its
 * callback module. */
static struct mfa tell_behaviour(struct mfa call, Term args)
{
	bool named = call.arity == 7;
	Term words[6], module, child;

	if (!read_list(args, words, 6))
		return call;
	module = words[named ? 4 : 3];
	child = words[named ? 5 : 4];
	if (module == am_no_callback_module)
		return (struct mfa){ words[0], am_init_it, 6 };
	if (module == am_supervisor && term_is_tuple_of(child, 3))
		return (struct mfa){ module, tuple_get(child, 2), 1 };
	return (struct mfa){ module, am_init, 1 };
}

/* Of a fun whose code was never loaded, the call that it is. */
static struct mfa tell_fun(struct mfa call, Term fun)
{
	struct export_facts e;
	struct fun_facts f;

	if (term_has_sub(fun, SUB_EXPORT)) {
		fun_link_describe_export(export_fun_ptr(fun), &e);
		return (struct mfa){ e.module, e.function, e.arity };
	}
	if (!term_has_sub(fun, SUB_FUN))
		return call;
	fun_link_describe(fun_ptr(fun)->entry, &f);
	return f.function != TERM_NONE ? (struct mfa){ f.module, f.function, f.arity } : call;
}

struct mfa initial_call_tell(Term module, Term function, Term args)
{
	struct mfa call = { module, function, count_list(args) };
	Term words[5]; /* parent, ancestors, module, function, arguments */

	if (module == am_erlang && function == am_apply && call.arity == 2)
		return tell_fun(call, cons_head(args));
	if (module == am_proc_lib && function == am_init_p && call.arity == 3 && read_list(args, words, 3))
		return tell_fun(call, words[2]); /* parent, ancestors, fun */
	if (module != am_proc_lib || function != am_init_p || call.arity != 5 || !read_list(args, words, 5))
		return call;
	call = (struct mfa){ words[2], words[3], count_list(words[4]) };
	if (call.module == am_gen && call.function == am_init_it && (call.arity == 6 || call.arity == 7))
		call = tell_behaviour(call, words[4]);
	return term_is_atom(call.module) && term_is_atom(call.function) ? call : (struct mfa){ module, function, 5 };
}

/* {Module, Function, Arity}, as proc_lib puts it. */
static bool read_call(Term value, struct mfa *call)
{
	Term arity;

	if (!term_is_tuple_of(value, 3) || !term_is_atom(tuple_get(value, 1)) || !term_is_atom(tuple_get(value, 2)))
		return false;
	arity = tuple_get(value, 3);
	if (!term_is_small(arity) || small_value(arity) < 0 || small_value(arity) > 255)
		return false;
	*call = (struct mfa){ tuple_get(value, 1), tuple_get(value, 2), (uint32_t)small_value(arity) };
	return true;
}

static void note_call(Process *p, Term value)
{
	struct mfa call;

	if (!read_call(value, &call) || (call.module == p->told_module && call.function == p->told_function &&
					 call.arity == p->told_arity))
		return;
	p->told_module = call.module;
	p->told_function = call.function;
	p->told_arity = call.arity;
	if (unlikely(PROBE_NAMES_ON()))
		probe_process_called(p->id, call);
}

void initial_call_note_put(Process *p, Term key, Term value)
{
	if (key == am_initial_call_key)
		note_call(p, value);
	else if (key == am_process_label && unlikely(PROBE_NAMES_ON()))
		probe_process_labelled(p->id, value);
}
