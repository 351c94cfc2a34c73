/* SPDX-License-Identifier: Apache-2.0 */
/* Exports: one entry a {module, function, arity} that anybody ever named; never freed. Those that neither code nor the VM named (funs of
 * foreign bytes, make_fun) are EXPORTS_CHOSEN_MAX at most; what is applied and in no table gets no entry.
 * Invariant: `address` always points to code that can be run: the function, or the entry's own stub. */
#ifndef VM_CODE_EXPORT_H
#define VM_CODE_EXPORT_H

#include "proc/process.h"

typedef Term (*bif_fn)(Process *p, Term *args);

struct export {
	_Atomic(const Inst *) address;
	Term module, function;
	uint32_t arity;
	uint32_t made_at;    /* how many modules had been loaded when it was made */
	bool is_nif;         /* OTP has it in a library: its probes are those of NIFs */
	bool is_own;         /* OTP has it in Erlang, or not at all */
	bif_fn bif;          /* the C function, or NULL */
	bif_fn call;         /* what calls of it run: the same, or a breakpoint */
	const char *bif_name; /* for probes and reports */
	Inst func_info[4];   /* the stub's, so that address lookups name BIFs; exec fills both */
	Inst stub[4];        /* export_bif or export_undefined; the arity again; export_traced, for calls with a breakpoint */
	Term fun_literal;    /* fun M:F/A as a literal term; TERM_NONE until wanted: fun_of_export */
	struct export *next; /* in the table's bucket */
};

enum { EXPORT_STUB_TRACED = 2, EXPORTS_FOREIGN_MAX = 1 << 18, EXPORTS_CHOSEN_MAX = 1 << 21,
       EXPORT_INSTRUCTIONS_MAX = 8 };

void export_init(void);
/* The entry, made when it is missing. Any thread. */
struct export *export_get(Term module, Term function, uint32_t arity);
/* The same for names that running code chooses. Fails: NULL when there are EXPORTS_CHOSEN_MAX of those already. */
struct export *export_try_get(Term module, Term function, uint32_t arity);
/* The same for foreign bytes, which cannot use up what code may choose. Fails: NULL when there are EXPORTS_FOREIGN_MAX already. */
struct export *export_get_foreign(Term module, Term function, uint32_t arity);
/* The entry if it is safe to name it: it can be called, or was there when a module was loaded last. NULL otherwise. Lock-free. */
struct export *export_find_safe(Term module, Term function, uint32_t arity);
/* A module was loaded. */
void export_count_load(void);
/* NULL when there is none. Lock-free. */
struct export *export_find(Term module, Term function, uint32_t arity);
/* The native function wins over one of the same name in a module's code. Before anything runs. */
void export_set_bif(struct export *e, bif_fn fn, const char *name);
/* A native function that is in no table: nobody can name it, natives alone have their process go on in it. Before
 * anything runs. */
struct export *export_new_hidden(Term module, Term function, uint32_t arity, bif_fn fn, const char *name);
/* Calls of that native by its name in code are an instruction in OTP, which no trace sees: they get a twin of it. Before
 * anything runs. */
void export_add_instruction(struct export *e);
/* What code that names e calls: its twin where e has one, e itself otherwise. */
struct export *export_direct(struct export *e);
/* Can it be called: a native function, or one of current code? */
bool export_is_loaded(const struct export *e);
/* Its module's code comes and goes. A native function stays. */
void export_set_address(struct export *e, const Inst *address);
void export_unset_address(struct export *e);
/* The entry whose stub holds pc, or NULL. */
struct export *export_of_stub(const Inst *pc);
/* Is it one of the functions that raise what they are given, and never return? */
bool export_is_raiser(const struct export *e);
/* Calls see(e, arg) for every entry. Lock-free: entries made meanwhile may be missed. */
void export_each(void (*see)(struct export *e, void *arg), void *arg);
/* Wired by exec: fills e->func_info and e->stub for undefined functions and for BIFs. */
extern void (*export_make_stub)(struct export *e);

#endif
