/* SPDX-License-Identifier: Apache-2.0 */
/* Libraries of native functions: loading, taking over from an older version, going.
 * A library stays until its module's code is purged, no resource is left of a type of its that has callbacks, and no
 * function of its hears of a trace. */
#ifndef VM_NIF_NIF_LIBRARY_H
#define VM_NIF_NIF_LIBRARY_H

#include <stdatomic.h>

#include "code/module.h"
#include "code/nif_function.h"
#include "nif/nif_env.h"
#include "nif/nif_halt.h"

struct nif_library {
	atomic_uint refs;    /* its code; each of its types that has callbacks; each call of a tracer's */
	void *handle;        /* of dlopen; NULL: it is linked in */
	struct nif_entry entry; /* whole, whatever its version */
	struct nif_entry_function *own_functions; /* entry.functions, when that had to be made */
	void *data;          /* the library's own */
	Term module;
	struct nif_halt halt;
	struct nif_function functions[]; /* entry.function_count of them */
};

/* Libraries that are linked in: loaded by the modules of their names. NULL after the last. */
void nif_library_set_linked(const struct nif_entry *const *entries);
/* erlang:load_nif/2, called by p from the function that p->i lies in. */
Term nif_library_load(Process *p, Term path, Term info);
void nif_library_ref(struct nif_library *l);
/* The last one calls the library's unload and closes it. */
void nif_library_unref(struct nif_library *l);
static inline void *nif_library_data(const struct nif_library *l) { return l != NULL ? l->data : NULL; }

#endif
