/* SPDX-License-Identifier: Apache-2.0 */
/* How the loop calls a library's functions. */
#ifndef VM_NIF_NIF_CALL_H
#define VM_NIF_NIF_CALL_H

#include "code/nif_function.h"
#include "nif/nif_env.h"

/* nif_function.call for a function with these flags (enum nif_dirty, or 0). */
Term (*nif_call_of(unsigned flags))(Process *p, const struct nif_function *f, Term *x);
/* That of a function that is not dirty, of a library that delays the end of the VM (nif/nif_halt.h). */
Term nif_call_counted(Process *p, const struct nif_function *f, Term *x);
/* For process_at_exit. */
void nif_call_exit(Process *p);

#endif
