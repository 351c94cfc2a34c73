/* SPDX-License-Identifier: Apache-2.0 */
/* Built-in functions: prototypes from the tables, and what every bif_<topic>.c needs. A BIF takes its arguments in
 * args[0..arity-1] (the X registers: it may overwrite them) and returns a term, or TERM_NONE after an exc_ call. It
 * never collects: heap_alloc gives fragments when the heap is full. Guard BIFs are the same functions. */
#ifndef VM_BIF_BIF_H
#define VM_BIF_BIF_H

#include "heap/heap.h"
#include "proc/exc.h"
#include "proc/process.h"
#include "term/atom.h"
#include "term/term.h"

#define BIF(module, function, arity, name) Term name(Process *p, Term *args);
#include "bif/bifs.def"

/* Enters every row of bifs.def in the export table. */
void bif_init(void);
/* [{Key, Value}], in one block; n > 0. */
Term bif_put_pairs(struct heap *h, size_t n, const Term (*pairs)[2]);
/* [{Module, Function, Arity}] of all rows that are built-in functions in OTP. */
Term bif_list(struct heap *h);

#endif
