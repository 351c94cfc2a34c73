/* SPDX-License-Identifier: Apache-2.0 */
/* Exports: one entry a {module, function, arity} that anybody ever named; never freed. What is named by loaded code, by
 * calls that choose names as they run (make_fun), and by foreign bytes (funs) is a share of the table each at most:
 * none uses up what another needs. What is applied and in no table gets no entry.
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
	/* export_bif or export_undefined; the arity again; export_traced, for calls with a breakpoint */
	Inst stub[4];
	Term fun_literal;    /* fun M:F/A as a literal term; TERM_NONE until wanted: fun_of_export */
	struct export *next; /* in the table's bucket */
};

enum export_namer { NAMED_BY_VM, NAMED_BY_CODE, NAMED_BY_CALLS, NAMED_BY_BYTES, EXPORT_NAMERS };
/* A share: one in so many. */
enum { EXPORT_STUB_TRACED = 2, EXPORTS_CODE_SHARE = 4, EXPORTS_CALLS_SHARE = 2, EXPORTS_BYTES_SHARE = 16,
       EXPORT_INSTRUCTIONS_MAX = 8 };

void export_init(void);
/* So many may there be: fewer where addresses are limited (`ulimit -v`). */
size_t export_room(void);
/* The entry, made when it is missing. Any thread. Ends the VM when there is no room: a part of the table is kept for
 * this. */
struct export *export_get(Term module, Term function, uint32_t arity);
/* The same for whoever may name too many. Fails: NULL when the namer's share is used up, or memory is refused. */
struct export *export_try_get(Term module, Term function, uint32_t arity, enum export_namer namer);
/* The entry if it is safe to name it: it can be called, or was there when a module was loaded last. NULL otherwise.
 * Lock-free. */
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
/* Calls of that native by its name in code are an instruction in OTP, which no trace sees: they get a twin of it.
 * Before anything runs. */
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
