/* SPDX-License-Identifier: Apache-2.0 */
/* Native functions of libraries (NIFs), as the loop sees them. Loading the library puts the operation call_nif over
 * the first operation of the function that stands for it in the module; what stood there is never run again. The
 * operation is one word: its number, and above the lowest 16 bits the address of a struct nif_function. A native
 * function may also ask for another to run in its place (enif_schedule_nif): the process then goes on in a struct
 * nif_detour, which looks like a function of its own, so that the process can be preempted, collected and asked about
 * there.
 * Invariant: a nif_function stays as long as the code that names it. */
#ifndef VM_CODE_NIF_FUNCTION_H
#define VM_CODE_NIF_FUNCTION_H

#include "code/opcodes.h"
#include "proc/exc.h"
#include "proc/process.h"

struct nif_library;      /* nif/nif_library.h */

struct nif_function {
	/* Runs it; what it returns is as of a built-in function. p->i is the call_nif, x are the X registers. */
	Term (*call)(Process *p, const struct nif_function *f, Term *x);
	void *native;        /* the library's function */
	struct nif_library *library;
	Term module, function;
	uint32_t arity;
};

static inline Inst nif_inst(const struct nif_function *f) { return (Inst)(uintptr_t)f << 16 | OP_call_nif; }
/* of a call_nif; a breakpoint may stand over its number */
static inline const struct nif_function *nif_of_inst(Inst word)
{
	return (const struct nif_function *)(uintptr_t)(word >> 16);
}

/* The function whose func_info block this is calls f from now on. The world is stopped, or nobody can call it yet. */
void nif_place(Inst *info, const struct nif_function *f);

/* A process's, from enif_schedule_nif until it ends. */
struct nif_detour {
	struct nif_function function;
	Inst info[FUNC_INFO_WORDS];
	Inst entry;          /* right behind it: call_nif */
	/* While it is under way: what Erlang code called, which an error's trace tells of. The arguments are the
	 * process's nif_args. */
	bool is_underway;
	struct exc_place called;
	struct nif_detour *next_unused;
};
/* Fails: NULL: there are too many. */
struct nif_detour *nif_detour_new(void);
void nif_detour_free(struct nif_detour *d);
void nif_detour_set(struct nif_detour *d, const struct nif_function *f);
/* p's detour, if pc, where it runs, is in it; else NULL. */
static inline struct nif_detour *nif_detour_at(const Process *p, const Inst *pc)
{
	return p->nif_detour != NULL && pc == &p->nif_detour->entry ? p->nif_detour : NULL;
}
/* What was called has returned, or failed. */
static inline void nif_detour_end(Process *p)
{
	if (p->nif_detour == NULL)
		return;
	p->nif_detour->is_underway = false;
	p->nif_args = NIL;
}
/* The func_info block of the detour that pc lies in, or NULL. */
const Inst *nif_detour_info(const Inst *pc);
void nif_code_init(void);

/* ---- tracers that are modules (erl_tracer(3)): enabled/3 and trace/5, and natives for some events instead of these */
enum nif_tracer_kind {
	NIF_TRACER_ANY, NIF_TRACER_SEND, NIF_TRACER_RECEIVE, NIF_TRACER_CALL, NIF_TRACER_RUNNING_PROCS,
	NIF_TRACER_RUNNING_PORTS, NIF_TRACER_GC, NIF_TRACER_PROCS, NIF_TRACER_PORTS, NIF_TRACER_KINDS,
};

/* ---- wired by the nif room */
/* Has the module's current code a library with enabled/3 and trace/5? Any thread. */
extern bool (*nif_has_tracer)(Term module);
/* Calls enabled* (arity 3) or trace* (arity 5) of the module's current code, with an environment of its own. self: who
 * calls, for enif_self; NULL: nobody. Any thread, no lock held that sending a message needs. Returns an atom; am_error
 * for any other result, or an exception. Fails: TERM_NONE: there is no such library. */
extern Term (*nif_call_tracer)(Term module, enum nif_tracer_kind kind, unsigned arity, Process *self, const Term *args);
/* A module's code goes: its library may go too. */
extern void (*nif_release_library)(struct nif_library *l);

#endif
