/* SPDX-License-Identifier: Apache-2.0 */
/* Invariant: arguments that do not look as proc_lib and gen make them are told as the call that they are. */
#include "proc/initial_call.h"

#include "heap/heap.h"
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

struct mfa initial_call_tell(Term module, Term function, Term args)
{
	struct mfa call = { module, function, count_list(args) };
	Term words[5]; /* parent, ancestors, module, function, arguments */

	if (module != am_proc_lib || function != am_init_p || call.arity != 5 || !read_list(args, words, 5))
		return call;
	call = (struct mfa){ words[2], words[3], count_list(words[4]) };
	if (call.module == am_gen && call.function == am_init_it && (call.arity == 6 || call.arity == 7))
		call = tell_behaviour(call, words[4]);
	return term_is_atom(call.module) && term_is_atom(call.function) ? call : (struct mfa){ module, function, 5 };
}
