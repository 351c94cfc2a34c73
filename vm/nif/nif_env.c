/* SPDX-License-Identifier: Apache-2.0 */
/* Environments, exceptions, and what else has to do with both. */
#include "nif/nif_env.h"

#include <string.h>

#include "base/alloc.h"
#include "heap/copy.h"
#include "nif/nif_library.h"
#include "proc/exc.h"

struct nif_temporary {
	struct nif_temporary *next;
	_Alignas(16) uint8_t bytes[];
};

void nif_env_init_own(struct nif_env *env, struct nif_library *l)
{
	memset(&env->own, 0, sizeof(env->own));
	env->traced = NULL;
	nif_env_init(env, &env->own, NULL, l);
}

void nif_env_free_temporaries(struct nif_env *env)
{
	struct nif_temporary *t = env->temporaries, *next;

	env->temporaries = NULL;
	for (; t != NULL; t = next) {
		next = t->next;
		mem_free(t);
	}
}

void nif_env_clear(struct nif_env *env)
{
	nif_env_free_temporaries(env);
	heap_free(&env->own);
	env->raised = false;
}

void *nif_env_temporary(struct nif_env *env, size_t bytes)
{
	struct nif_temporary *t = bytes < SIZE_MAX - sizeof(*t) ? mem_try_alloc(sizeof(*t) + bytes) : NULL;

	if (t == NULL)
		return NULL;
	t->next = env->temporaries;
	env->temporaries = t;
	return t->bytes;
}

Term nif_env_raise(struct nif_env *env, Term reason)
{
	env->raised = true;
	return env->process != NULL ? exc_error(env->process, reason) : TERM_NONE;
}

Term nif_env_badarg(struct nif_env *env)
{
	return nif_env_raise(env, am_badarg);
}

/* ---- for libraries */

void *enif_priv_data(struct nif_env *env)
{
	return nif_library_data(env->library);
}

struct nif_env *enif_alloc_env(void)
{
	struct nif_env *env = mem_alloc(sizeof(*env));

	nif_env_init_own(env, NULL);
	return env;
}

void enif_clear_env(struct nif_env *env)
{
	nif_env_clear(env);
}

void enif_free_env(struct nif_env *env)
{
	nif_env_clear(env);
	mem_free(env);
}

Term enif_make_copy(struct nif_env *to, Term t)
{
	Term *top;
	size_t words;

	if (to->heap != &to->own)
		return copy_to_heap(t, to->heap);
	words = copy_flat_size_words(t); /* literals too: their module may go before this environment does */
	if (words == 0)
		return t;
	top = heap_alloc(to->heap, words);
	return copy_term_whole(t, &top, &to->heap->off_heap);
}

Term enif_make_badarg(struct nif_env *env)
{
	return nif_env_badarg(env);
}

Term enif_raise_exception(struct nif_env *env, Term reason)
{
	return nif_env_raise(env, reason);
}

/* What enif_schedule_nif returns is no term either, and no exception. */
int enif_is_exception(struct nif_env *env, Term t)
{
	return t == TERM_NONE && env->raised;
}

int enif_has_pending_exception(struct nif_env *env, Term *reason)
{
	if (env->raised && reason != NULL)
		*reason = env->process != NULL ? env->process->exc_reason : am_badarg;
	return env->raised;
}

void *enif_alloc(size_t bytes)
{
	return mem_try_alloc(bytes);
}

void *enif_realloc(void *ptr, size_t bytes)
{
	return mem_try_realloc(ptr, bytes);
}

void enif_free(void *ptr)
{
	mem_free(ptr);
}
