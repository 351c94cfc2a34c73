/* SPDX-License-Identifier: Apache-2.0 */
/* What a process is to do that begins with an apply, as an operator wants to read it. */
#ifndef VM_PROC_INITIAL_CALL_H
#define VM_PROC_INITIAL_CALL_H

#include "proc/batch.h"
#include "term/atom.h"

struct process;

/*
 * The function that is applied: module:function/arity. Of erlang:apply/2, which begins what is spawned with a fun, and
 * of proc_lib:init_p/3, the fun's function, with the fun's arity. Every process of a behaviour begins with
 * proc_lib:init_p/5, so of one that does, what proc_lib is to apply, as proc_lib:translate_initial_call/1 tells it:
 * my_server:init/1, supervisor:my_sup/1.
 * Source: proc_lib.erl, gen.erl and supervisor.erl of OTP's stdlib.
 */
struct mfa initial_call_tell(Term module, Term function, Term args);

/*
 * The process put this value under this key into its dictionary, TERM_NONE: took it out. What says what the process is
 * to do is that from then on ($initial_call: a Task of Elixir says so when it has heard what), and watchers are told of
 * it, and of labels.
 */
void initial_call_note_put(struct process *p, Term key, Term value);
/* The two atoms follow each other: one comparison. */
static inline bool initial_call_is_key(Term key)
{
	return key - am_process_label <= am_initial_call_key - am_process_label;
}

#endif
