/* SPDX-License-Identifier: Apache-2.0 */
/* Exports: one entry a {module, function, arity} that anybody ever named; never freed.
 * Invariant: `address` always points to code that can be run: the function, or one of the entry's own stubs. */
#ifndef VM_CODE_EXPORT_H
#define VM_CODE_EXPORT_H

#include "proc/process.h"

typedef Term (*bif_fn)(Process *p, Term *args);

struct export {
	_Atomic(const Inst *) address;
	Term module, function;
	uint32_t arity;
	bool is_traced;
	bif_fn bif;          /* the C function, or NULL */
	const char *bif_name; /* for probes and reports */
	Inst stub[4];        /* call_bif or call_undefined, then operands: exec fills it */
	Inst func_info[4];   /* a func_info block before the stub's code, so that address lookups name BIFs */
	Term fun_literal;    /* fun M:F/A as a literal term */
};

void export_init(void);
/* The entry, made when it is missing. Any thread. */
struct export *export_get(Term module, Term function, uint32_t arity);
/* NULL when there is none. */
struct export *export_find(Term module, Term function, uint32_t arity);
void export_set_bif(struct export *e, bif_fn fn, const char *name);
bool export_is_loaded(const struct export *e);
/* Wired by exec: fills e->stub for undefined functions and for BIFs. */
extern void (*export_make_stub)(struct export *e);

#endif
