/* SPDX-License-Identifier: Apache-2.0 */
/* Exceptions and other unusual returns of BIFs. Every function here returns TERM_NONE, so that a BIF says
 * `return exc_badarg(p);`. */
#ifndef VM_PROC_EXC_H
#define VM_PROC_EXC_H

#include "proc/process.h"

/* An exception of class error, throw or exit. reason, value: of p's own heap, or immediate. */
Term exc_error(Process *p, Term reason);
Term exc_throw(Process *p, Term value);
Term exc_exit(Process *p, Term reason);
/* badarg, and why: an atom that the error_info of the stack trace gives as its cause, for the library's module that
 * words the error. */
Term exc_badarg_cause(Process *p, Term cause);
static inline Term exc_badarg(Process *p) { return exc_error(p, am_badarg); }
static inline Term exc_badarith(Process *p) { return exc_error(p, am_badarith); }
static inline Term exc_system_limit(Process *p) { return exc_error(p, am_system_limit); }
/* erlang:raise/3: class am_error, am_exit or am_throw; trace: an Erlang stack-trace list. */
Term exc_raise(Process *p, Term class, Term reason, Term trace);

/* Tail-call another function in place of the BIF's result: the arguments go to the X registers. n <= 8. GC: none. */
Term exc_trap(Process *p, const struct export *to, unsigned n, const Term *args);
/* The BIF's result, for a BIF that may have suspended p on the way (process_suspend_self): then p waits, with the
 * result as an argument, before erlang:bif_return_trap/2, which returns it. TERM_NONE, an exception, is left as it
 * is. */
Term exc_return_suspended(Process *p, Term result);
extern const struct export *exc_return_trap; /* that function; set once, by bif_proc_init */
/* Sleep until process_unblock(p), on whatever thread; then `resume(p, arg)` runs on a scheduler and gives the BIF's
 * result (or TERM_NONE with an exception, a trap or another wait). It may be called too early and then waits again. p
 * handles signals meanwhile; when one ends it, drop(p, arg) is called instead. Terms the BIF needs later must be kept
 * off its heap. Owns: arg, until one of them is called. */
Term exc_wait(Process *p, Term (*resume)(Process *p, void *arg), void (*drop)(Process *p, void *arg), void *arg);
/* The BIF's result, in a new time slice. */
Term exc_return_later(Process *p, Term immediate);
/* Is that what p waits for? */
bool exc_returns_later(const Process *p);
/* A native that takes long works in steps, and others run in between. Its own state begins with this. Between two steps
 * p's heap is not collected, so the state may hold raw terms of it, and literals. */
struct exc_steps {
	/* Works as long as p->reds_left > 0, charging for it. Returns the result, TERM_NONE with an exception, or
	 * EXC_MORE. */
	Term (*step)(Process *p, struct exc_steps *s);
	void (*end)(struct exc_steps *s); /* drops what the state holds, not itself; NULL: nothing */
	/* where p is said to be meanwhile; all 0: in the native */
	struct exc_place { Term module, function; unsigned arity; } place;
	unsigned arity;
	Term args[4];                     /* the native's, for the stack trace of an error */
};
#define EXC_MORE ((Term)4) /* no term */
/* Returns for the native what the first step does, or waits for the next. Takes: s, from mem_alloc, with step, end and
 * place set. */
Term exc_run_steps(Process *p, struct exc_steps *s, const Term *args, unsigned arity);
/* Returns what work(p, args) does, with p's scheduler lent meanwhile (sched_lend): for what takes long and cannot be
 * cut. */
Term exc_run_lent(Process *p, Term (*work)(Process *p, Term *args), Term *args);
/* So many words of terms are looked through or copied in well less than a millisecond: for what is longer the
 * scheduler is lent. */
enum { EXC_WORDS_AT_ONCE = 1 << 15 };
/* Is p between two steps, or is its native on a dirty scheduler (proc/dirty.h)? Then it cannot be collected. */
bool exc_holds_terms(const Process *p);
/* For p in a native that waits (p->resume). False: p is said to be in that native itself. */
bool exc_find_place(const Process *p, struct exc_place *place);
/* Account for work. Units: reductions. */
static inline void process_bump(Process *p, int reds) { p->reds_left -= reds; }
/* The same for so many words of terms that were looked through or copied. */
enum { EXC_WORDS_A_REDUCTION = 64 };
static inline void process_bump_words(Process *p,
				      size_t words) { p->reds_left -= (int32_t)(words / EXC_WORDS_A_REDUCTION); }

/* What p->exc_trace holds: the cause of a badarg (an atom), or NIL; with p->exc_has_trace a stack trace: an Erlang list
 * from raise/3, or a raw trace (exec/unwind.h) of an exception that is raised again. exec makes the raw trace when it
 * unwinds, and the list when somebody asks. */

/* How many entries a stack trace may have, as it is set; one is there in any case. */
enum { EXC_DEPTH_DEFAULT = 8, EXC_DEPTH_MAX = 64 };
extern atomic_uint exc_depth;
static inline unsigned exc_depth_now(void)
{
	unsigned depth = atomic_load_explicit(&exc_depth, memory_order_relaxed);

	return depth > 0 ? depth : 1;
}

#endif
