/* SPDX-License-Identifier: Apache-2.0 */
/* Calls of a library's functions, from the loop.
 * A function that says that it is dirty may take long: it runs with its scheduler lent. One that asks for another in its place
 * (enif_schedule_nif) leaves the process in its detour, a function of its own (code/nif.h). */
#include "nif/call.h"

#include <string.h>

#include "nif/library.h"
#include "proc/exc.h"
#include "proc/sched.h"

static inline __attribute__((always_inline)) Term finish(struct nif_env *env, Term result)
{
	if (unlikely(env->temporaries != NULL))
		nif_env_free_temporaries(env);
	if (unlikely(env->raised))
		return TERM_NONE;
	if (unlikely(result == TERM_NONE) && !env->detoured)
		return exc_badarg(env->process); /* it returned what is no term */
	return result;
}

static Term call_plain(Process *p, const struct nif_function *f, Term *x)
{
	struct nif_env env;

	nif_env_init(&env, &p->heap, p, f->library);
	return finish(&env, ((nif_native)f->native)(&env, (int)f->arity, x));
}

static Term call_dirty(Process *p, const struct nif_function *f, Term *x)
{
	struct nif_env env;
	Term result;

	nif_env_init(&env, &p->heap, p, f->library);
	env.is_dirty = true;
	sched_lend();
	result = finish(&env, ((nif_native)f->native)(&env, (int)f->arity, x));
	sched_reclaim();
	return result;
}

Term (*nif_call_of(unsigned flags))(Process *p, const struct nif_function *f, Term *x)
{
	return flags != 0 ? call_dirty : call_plain;
}

/* ---- in place of this function another, later */

void nif_call_exit(Process *p)
{
	if (p->nif_detour == NULL)
		return;
	nif_detour_free(p->nif_detour);
	p->nif_detour = NULL;
}

Term enif_schedule_nif(struct nif_env *env, const char *name, int flags, nif_native native, int argc, const Term *argv)
{
	enum { ARITY_MAX = 255 };
	Process *p = env->process;
	Term function = atom_from_latin1(name, strlen(name), NULL);
	struct nif_detour *d;

	if (p == NULL || env->raised || function == TERM_NONE || argc < 0 || argc > ARITY_MAX ||
	    (flags != 0 && flags != NIF_DIRTY_CPU && flags != NIF_DIRTY_IO))
		return nif_env_badarg(env);
	d = p->nif_detour != NULL ? p->nif_detour : nif_detour_new();
	if (d == NULL)
		return nif_env_raise(env, am_system_limit);
	p->nif_detour = d;
	nif_detour_set(d, &(struct nif_function){ .call = nif_call_of((unsigned)flags), .native = (void *)native, .library = env->library,
						  .module = env->library->module, .function = function, .arity = (uint32_t)argc });
	memmove(sched_self()->x, argv, (size_t)argc * sizeof(Term));
	p->trap_export = NULL;
	p->resume_arg = &d->entry;
	p->exc_kind = EXC_TRAP;
	env->detoured = true;
	return TERM_NONE;
}

int enif_consume_timeslice(struct nif_env *env, int percent)
{
	Process *p = env->process;

	if (p == NULL)
		return 1;
	percent = percent < 1 ? 1 : percent > 100 ? 100 : percent;
	process_bump(p, SCHED_REDS * percent / 100);
	return p->reds_left <= 0;
}
