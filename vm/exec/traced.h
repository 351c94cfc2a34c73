/* SPDX-License-Identifier: Apache-2.0 */
/* What the traced handlers of the loop do before or around the work: the probes of function calls, and calls to be
 * saved. The heap is stored back while these run. */
#ifndef VM_EXEC_TRACED_H
#define VM_EXEC_TRACED_H

#include "code/export.h"
#include "code/nif_function.h"
#include "proc/probe.h"

/* Notes a call through e, when p saves its calls. */
void traced_save(Process *p, const struct export *e);
/* Calls. entry: the function's first instruction. pushed: 1 when the call is about to leave a return address, 0 for
 * tail calls; the depth that an entry tells is that of the function's return. */
void traced_local_call(Process *p, const Inst *entry, int pushed);
void traced_global_call(Process *p, const struct export *e, int pushed);
void traced_enter(Process *p, const Inst *entry, int pushed);
void traced_fun(Process *p, Term fun, int pushed);
void traced_apply(Process *p, const Term *x, unsigned arity, int pushed);
/* A process begins with module, function and arguments in x[0..2]. */
void traced_start(Process *p, const Term *x);
/* The function that `at` lies in returns. */
void traced_return(Process *p, const Inst *at);
/* Calls the native function between its two probes. */
Term traced_nif(Process *p, const struct nif_function *f, Term *x);
Term traced_bif(Process *p, const struct export *e, Term *args);

#endif
