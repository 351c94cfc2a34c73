/* SPDX-License-Identifier: Apache-2.0 */
/* Environments: where a native function makes its terms. One that a process calls has the process's heap, for as long
 * as the call; all others have a heap of their own, of fragments only.
 * Invariant: terms of one environment are used in another only after enif_make_copy. Nothing here collects: terms of a
 * process's environment stand still until the native function returns. */
#ifndef VM_NIF_NIF_ENV_H
#define VM_NIF_NIF_ENV_H

#include "nif/nif_abi.h"
#include "proc/process.h"

struct nif_library;

struct nif_env {
	struct heap *heap;   /* the process's, or `own` */
	Process *process;    /* whose native function runs, or its stand-in (proc/dirty.h); NULL: none's */
	struct nif_library *library; /* whose function runs; NULL: none's */
	struct nif_temporary *temporaries;
	bool raised;         /* the process's exception is set */
	bool detoured;       /* it goes on in another native function */
	struct dirty_call *dirty; /* of a dirty scheduler: see call.c; NULL: it is none */
	struct nif_opened *opened; /* while the library is loaded: see nif/nif_resource.h */
	Process *traced;     /* with `own` in use: whose event a tracer is told of, by itself; NULL: no such */
	struct heap own;
};

/* Everything but `own`, which costs too much to clear for each call, and `traced`. */
static inline void nif_env_init(struct nif_env *env, struct heap *h, Process *p, struct nif_library *l)
{
	env->heap = h;
	env->process = p;
	env->library = l;
	env->temporaries = NULL;
	env->raised = false;
	env->detoured = false;
	env->dirty = NULL;
	env->opened = NULL;
}
/* With a heap of its own. */
void nif_env_init_own(struct nif_env *env, struct nif_library *l);
/* Drops what it holds; it is then as nif_env_init_own left it. */
void nif_env_clear(struct nif_env *env);
/* Memory that goes when the native function returns, or the environment is cleared. Fails: NULL. */
void *nif_env_temporary(struct nif_env *env, size_t bytes);
void nif_env_free_temporaries(struct nif_env *env);
/* Sets badarg. Returns TERM_NONE. */
Term nif_env_badarg(struct nif_env *env);
Term nif_env_raise(struct nif_env *env, Term reason);

#endif
