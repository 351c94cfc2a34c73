/* SPDX-License-Identifier: Apache-2.0 */
/* The process dictionary: a hash table of pairs of terms of the process's heap. Owner only. */
#ifndef VM_PROC_DICT_H
#define VM_PROC_DICT_H

#include "proc/process.h"

struct dict {
	uint32_t count, room; /* room: a power of two */
	Term pairs[];        /* room * {key, value}; key TERM_NONE: free. All are roots */
};

/* TERM_NONE when the key is missing. */
Term dict_get(const Process *p, Term key);
/* The value before, or TERM_NONE. */
Term dict_put(Process *p, Term key, Term value);
Term dict_erase(Process *p, Term key);
/* Pairs {Key, Value} as a list on h; keys alone; keys with that value. */
Term dict_list(const Process *p, struct heap *h);
Term dict_keys(const Process *p, struct heap *h, const Term *value);
void dict_free(Process *p);

#endif
