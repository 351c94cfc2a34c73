/* SPDX-License-Identifier: Apache-2.0 */
/* Fun entries: one a lambda of a version of a module, keyed by {module, MD5 of the module, index, old index, old uniq};
 * never freed. Those that only foreign bytes named are FUNS_FOREIGN_MAX at most.
 * Invariant: `address` is the entry of the lambda's function, or NULL while that version is not loaded
 * (then error_handler:undefined_lambda/3 is called) or just being purged (then the call waits: module_await_purge). */
#ifndef VM_CODE_FUN_H
#define VM_CODE_FUN_H

#include "proc/process.h"

struct fun_entry {
	_Atomic(const Inst *) address; /* x registers: arguments, then free variables */
	_Atomic(const Inst *) withheld; /* the address, while its code is being purged; else NULL */
	Term module;
	Term function;       /* its name, as '-f/1-fun-0-'; TERM_NONE while never loaded */
	uint32_t arity;      /* with the free variables */
	uint32_t num_free;
	int32_t index, old_index, old_uniq;
	uint8_t uniq[16];
	struct fun_entry *next; /* in the table's bucket */
};

/* After the data room's: wires data/fun_link.h. */
void fun_init(void);
enum { FUNS_FOREIGN_MAX = 1 << 20 };

/* The entry, made when it is missing. Any thread. */
struct fun_entry *fun_get(Term module, const uint8_t uniq[16], int32_t index, int32_t old_index, int32_t old_uniq);
/* The term fun M:F/A, a literal of the export's own. */
Term fun_of_export(struct export *e);

#endif
