/* SPDX-License-Identifier: Apache-2.0 */
/* What a process is to do that begins with an apply, as an operator wants to read it. */
#ifndef VM_PROC_INITIAL_CALL_H
#define VM_PROC_INITIAL_CALL_H

#include "proc/batch.h"

/*
 * The function that is applied: module:function/arity. Every process of a behaviour begins with proc_lib:init_p/5, so
 * of one that does, what proc_lib is to apply, as proc_lib:translate_initial_call/1 tells it: my_server:init/1,
 * supervisor:my_sup/1.
 * Source: proc_lib.erl, gen.erl and supervisor.erl of OTP's stdlib.
 */
struct mfa initial_call_tell(Term module, Term function, Term args);

#endif
