/* SPDX-License-Identifier: Apache-2.0 */
/* What this room asks the code room about funs and exports: pointers that vm/main.c wires. */
#ifndef VM_DATA_FUN_LINK_H
#define VM_DATA_FUN_LINK_H

#include "term/term.h"

struct fun_facts {
	Term module;         /* atom */
	Term function;       /* atom; TERM_NONE: its code was never loaded */
	/* in the module's table of lambdas; what foreign bytes name may be negative, as the next two */
	int32_t index;
	int32_t old_index;
	int32_t old_uniq;
	uint8_t uniq[16];    /* MD5 of the module */
	uint32_t arity;      /* without the free variables */
};

struct export_facts {
	Term module, function;
	uint32_t arity;
};

/* Fills in *f. */
extern void (*fun_link_describe)(const struct fun_entry *e, struct fun_facts *f);
/* The entry, made when it is missing. Fails: NULL, there are too many already. */
extern struct fun_entry *(*fun_link_get)(const struct fun_facts *f);
extern void (*fun_link_describe_export)(const struct export *e, struct export_facts *f);
/* The same. */
extern struct export *(*fun_link_get_export)(Term module, Term function, uint32_t arity);
/* NULL when neither code nor the VM ever named it. */
extern struct export *(*fun_link_find_export)(Term module, Term function, uint32_t arity);

#endif
