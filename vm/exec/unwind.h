/* SPDX-License-Identifier: Apache-2.0 */
/* Exceptions in running code: raw traces, unwinding, Erlang stack traces. A raw trace is a tuple {Class, Head,
 * Addresses}: Head is [], {M, F, Args, Info} or {Args, Info} as struct exc_site has them; Addresses a binary of code
 * addresses. With Head `true` the third element is an Erlang stack trace already. */
#ifndef VM_EXEC_UNWIND_H
#define VM_EXEC_UNWIND_H

#include "code/export.h"
#include "proc/exc.h"

/* What the head of the trace says beside the place in the code. */
struct exc_site {
	/* NATIVE: an entry of its own; CALLER: args of the function that failed */
	enum { EXC_SITE_NONE, EXC_SITE_NATIVE, EXC_SITE_CALLER } kind;
	Term module, function; /* NATIVE */
	Term args;           /* list of arguments; CALLER: TERM_NONE keeps the arity */
	Term info;           /* NIL; the atom of the module that can format the error; or a map for error_info */
};

/* p has an exception (exc_kind, exc_reason); `at` is the instruction that raised it. The heap and stack are stored
 * back. Unwinds to the innermost catch: heap.stop is its frame, x[0..3] = TERM_NONE, class, reason, raw trace; returns
 * the handler. Without a catch: exc_reason becomes the exit reason and NULL returns. GC: none. */
const Inst *exc_unwind(Process *p, Term *x, const Inst *at, const struct exc_site *site);
/* The value of `catch Expr` after an exception. GC: none. */
Term exc_catch_value(Process *p, Term class, Term reason, Term raw);
/* Sets the exception that a raw trace tells of again, for `raise`. */
void exc_again(Process *p, Term raw, Term reason);
/* raw_raise: true when class and trace are sound and the exception is set. */
bool exc_raise_raw(Process *p, Term class, Term reason, Term raw);
/* The Erlang stack trace of a raw trace; other terms as they are. GC: none. */
Term exc_trace_list(Process *p, Term raw);
/* A native function that failed. args: NULL when they are gone. GC: none. */
struct exc_site exc_site_native(Process *p, const struct export *e, const Term *args);

#endif
