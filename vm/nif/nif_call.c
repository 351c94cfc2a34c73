/* SPDX-License-Identifier: Apache-2.0 */
/* Calls of a library's functions, from the loop.
 * A function that says that it is dirty runs on a dirty scheduler, where its environment is of a stand-in for the
 * process (proc/dirty.h). One that asks for another in its place (enif_schedule_nif) leaves the process in its detour,
 * a function of its own (code/nif_function.h). */
#include "nif/nif_call.h"

#include <string.h>

#include "base/alloc.h"
#include "nif/nif_library.h"
#include "proc/dirty.h"
#include "proc/exc.h"
#include "proc/probe.h"
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

Term nif_call_counted(Process *p, const struct nif_function *f, Term *x)
{
	Term result;

	nif_halt_begin_call();
	result = call_plain(p, f, x);
	nif_halt_end_call();
	return result;
}

/* ---- in place of this function another, later */

void nif_call_exit(Process *p)
{
	if (p->nif_detour == NULL)
		return;
	nif_detour_free(p->nif_detour);
	p->nif_detour = NULL;
}

/* The last call of a detour. */
static Term call_in_detour(Process *p, const struct nif_function *f, Term *x)
{
	Term result = f->library->halt.delays ? nif_call_counted(p, f, x) : call_plain(p, f, x);

	if (result != TERM_NONE)
		nif_detour_end(p);
	return result;
}

/* by, with its arguments, asks for f. The first of a detour is what was called. */
static Term take_detour(Process *p, const struct nif_function *f, const Term *args, const struct nif_function *by,
			const Term *by_args)
{
	struct nif_detour *d = p->nif_detour != NULL ? p->nif_detour : nif_detour_new();

	if (d == NULL)
		return exc_system_limit(p);
	p->nif_detour = d;
	if (!d->is_underway) {
		d->is_underway = true;
		d->called = (struct exc_place){ by->module, by->function, by->arity };
		p->nif_args = heap_list_array(&p->heap, by->arity, by_args, NIL);
	}
	nif_detour_set(d, f);
	memmove(sched_self()->x, args, f->arity * sizeof(Term));
	p->trap_export = NULL;
	p->resume_arg = &d->entry;
	p->exc_kind = EXC_TRAP;
	return TERM_NONE;
}

/* ---- on dirty schedulers */

struct dirty_call {
	struct dirty_work work;
	struct nif_function f;    /* its library is counted: the code it is from may go meanwhile */
	struct nif_function next; /* where its process goes on; native NULL: nowhere */
	Term *next_args;          /* owned */
	Term *called_args;        /* owned; NULL: args */
	Term args[];
};

static Term run_dirty(Process *stand_in, struct dirty_work *work)
{
	struct dirty_call *c = (struct dirty_call *)work;
	struct nif_env env;
	Term result;

	nif_env_init(&env, &stand_in->heap, stand_in, c->f.library);
	env.dirty = c;
	if (c->f.library->halt.delays)
		nif_halt_begin_call();
	result = finish(&env, ((nif_native)c->f.native)(&env, (int)c->f.arity, c->args));
	if (c->f.library->halt.delays)
		nif_halt_end_call();
	return env.detoured && !env.raised ? NIL : result;
}

static Term end_dirty(Process *p, struct dirty_work *work, Term result)
{
	struct dirty_call *c = (struct dirty_call *)work;

	if (PROBE_ON(nif__return))
		probe_nif__return(p, (struct mfa){ c->f.module, c->f.function, c->f.arity });
	if (result == TERM_NONE || c->next.native == NULL) {
		nif_detour_end(p);
		return result;
	}
	return take_detour(p, &c->next, c->next_args, &c->f, c->args);
}

static void drop_dirty(struct dirty_work *work)
{
	struct dirty_call *c = (struct dirty_call *)work;

	nif_library_unref(c->f.library);
	mem_free(c->next_args);
	mem_free(c->called_args);
	mem_free(c);
}

/* An error tells of what was called. */
static void tell_called(Process *p, struct dirty_call *c, const struct nif_detour *d)
{
	size_t n = 0;

	c->called_args = mem_alloc(d->called.arity * sizeof(Term) + 1);
	for (Term at = p->nif_args; term_is_cons(at); at = cons_tail(at))
		c->called_args[n++] = cons_head(at);
	c->work.arity = d->called.arity;
	c->work.args = c->called_args;
}

static Term call_dirty(Process *p, const struct nif_function *f, const Term *x, enum dirty_kind kind)
{
	struct dirty_call *c = mem_zalloc(sizeof(*c) + f->arity * sizeof(Term));

	c->f = *f;
	memcpy(c->args, x, f->arity * sizeof(Term));
	nif_library_ref(f->library);
	c->work.run = run_dirty;
	c->work.done = end_dirty;
	c->work.drop = drop_dirty;
	c->work.place = (struct exc_place){ f->module, f->function, f->arity };
	c->work.arity = f->arity;
	c->work.args = c->args;
	if (nif_detour_at(p, p->i) != NULL)
		tell_called(p, c, p->nif_detour);
	return dirty_run(p, kind, &c->work);
}

static Term call_dirty_cpu(Process *p, const struct nif_function *f, Term *x)
{
	return call_dirty(p, f, x, DIRTY_CPU);
}

static Term call_dirty_io(Process *p, const struct nif_function *f, Term *x)
{
	return call_dirty(p, f, x, DIRTY_IO);
}

/* ---- for libraries */

Term (*nif_call_of(unsigned flags))(Process *p, const struct nif_function *f, Term *x)
{
	return flags == NIF_DIRTY_CPU ? call_dirty_cpu : flags == NIF_DIRTY_IO ? call_dirty_io : call_plain;
}

static Term detour_later(struct dirty_call *c, const struct nif_function *f, const Term *args)
{
	mem_free(c->next_args);
	c->next_args = mem_alloc(f->arity * sizeof(Term) + 1);
	memcpy(c->next_args, args, f->arity * sizeof(Term));
	c->next = *f;
	return TERM_NONE;
}

Term enif_schedule_nif(struct nif_env *env, const char *name, int flags, nif_native native, int argc, const Term *argv)
{
	enum { ARITY_MAX = 255 };
	Term function = atom_from_latin1(name, strlen(name), NULL);
	struct nif_function f;

	if (env->process == NULL || env->raised || function == TERM_NONE || argc < 0 || argc > ARITY_MAX ||
	    (flags != 0 && flags != NIF_DIRTY_CPU && flags != NIF_DIRTY_IO))
		return nif_env_badarg(env);
	f = (struct nif_function){ .call = flags == 0 ? call_in_detour : nif_call_of((unsigned)flags),
				   .native = (void *)native,
				   .library = env->library,
				   .module = env->library->module, .function = function, .arity = (uint32_t)argc };
	env->detoured = true;
	if (env->dirty != NULL)
		return detour_later(env->dirty, &f, argv);
	return take_detour(env->process, &f, argv, nif_of_inst(*env->process->i), sched_self()->x);
}

/* A dirty scheduler's time has no end. */
int enif_consume_timeslice(struct nif_env *env, int percent)
{
	Process *p = env->process;

	if (p == NULL || env->dirty != NULL)
		return 0;
	percent = percent < 1 ? 1 : percent > 100 ? 100 : percent;
	process_bump(p, SCHED_REDS * percent / 100);
	return p->reds_left <= 0;
}
