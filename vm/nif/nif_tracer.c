/* SPDX-License-Identifier: Apache-2.0 */
/* Calls of a tracer's native functions, from any thread. A library that can trace is listed from when it is loaded
 * until its code is purged, and is counted while one of its functions runs.
 * Source: erl_tracer(3) of OTP 25. */
#include "nif/nif_tracer.h"

#include <string.h>

#include "base/alloc.h"
#include "base/lock.h"

enum { ENABLED_ARITY = 3, TRACE_ARITY = 5 };

struct callbacks {
	nif_native enabled[NIF_TRACER_KINDS], trace[NIF_TRACER_KINDS]; /* NULL: as of NIF_TRACER_ANY */
};

struct tracer {
	struct tracer *next;
	struct nif_library *library;
	const struct code_instance *code; /* only compared */
	struct callbacks callbacks;
};

static struct {
	struct lock lock;
	struct tracer *all;
} tracers;

static const struct { const char *enabled, *trace; } names[NIF_TRACER_KINDS] = {
	[NIF_TRACER_ANY] = { "enabled", "trace" },
	[NIF_TRACER_SEND] = { "enabled_send", "trace_send" },
	[NIF_TRACER_RECEIVE] = { "enabled_receive", "trace_receive" },
	[NIF_TRACER_CALL] = { "enabled_call", "trace_call" },
	[NIF_TRACER_RUNNING_PROCS] = { "enabled_running_procs", "trace_running_procs" },
	[NIF_TRACER_RUNNING_PORTS] = { "enabled_running_ports", "trace_running_ports" },
	[NIF_TRACER_GC] = { "enabled_garbage_collection", "trace_garbage_collection" },
	[NIF_TRACER_PROCS] = { "enabled_procs", "trace_procs" },
	[NIF_TRACER_PORTS] = { "enabled_ports", "trace_ports" },
};

/* ---- which there are */

static void find_callback(struct callbacks *c, const struct nif_entry_function *f)
{
	for (unsigned kind = 0; kind < NIF_TRACER_KINDS; kind++) {
		if (f->arity == ENABLED_ARITY && strcmp(f->name, names[kind].enabled) == 0)
			c->enabled[kind] = f->native;
		if (f->arity == TRACE_ARITY && strcmp(f->name, names[kind].trace) == 0)
			c->trace[kind] = f->native;
	}
}

void nif_tracer_enter(struct nif_library *l, const struct code_instance *code)
{
	struct callbacks c = { 0 };
	struct tracer *t;

	for (int i = 0; i < l->entry.function_count; i++)
		find_callback(&c, &l->entry.functions[i]);
	if (c.enabled[NIF_TRACER_ANY] == NULL || c.trace[NIF_TRACER_ANY] == NULL)
		return;
	t = mem_alloc(sizeof(*t));
	*t = (struct tracer){ .library = l, .code = code, .callbacks = c };
	lock_acquire(&tracers.lock);
	t->next = tracers.all;
	tracers.all = t;
	lock_release(&tracers.lock);
}

void nif_tracer_leave(const struct nif_library *l)
{
	struct tracer **at = &tracers.all, *t;

	lock_acquire(&tracers.lock);
	while ((t = *at) != NULL && t->library != l)
		at = &t->next;
	if (t != NULL)
		*at = t->next;
	lock_release(&tracers.lock);
	mem_free(t);
}

/* The library of the module's current code, counted, and what it has. Fails: NULL. */
static struct nif_library *find(Term module, struct callbacks *callbacks)
{
	const struct module *m = module_find(module);
	const struct code_instance *code = m != NULL ? atomic_load(&m->current) : NULL;
	struct nif_library *l = NULL;

	if (code == NULL)
		return NULL;
	lock_acquire(&tracers.lock);
	for (const struct tracer *t = tracers.all; t != NULL && l == NULL; t = t->next) {
		if (t->code != code || t->library->module != module)
			continue;
		l = t->library;
		*callbacks = t->callbacks;
		nif_library_ref(l);
	}
	lock_release(&tracers.lock);
	return l;
}

/* ---- calls */

static bool has(Term module)
{
	struct callbacks callbacks;
	struct nif_library *l = find(module, &callbacks);

	if (l != NULL)
		nif_library_unref(l);
	return l != NULL;
}

static Term call(Term module, enum nif_tracer_kind kind, unsigned arity, Process *self, const Term *args)
{
	struct callbacks callbacks;
	struct nif_library *l = find(module, &callbacks);
	const nif_native *natives = arity == ENABLED_ARITY ? callbacks.enabled : callbacks.trace;
	struct nif_env env;
	Term result;

	if (l == NULL)
		return TERM_NONE;
	nif_env_init_own(&env, l);
	env.traced = self;
	result = (natives[kind] != NULL ? natives[kind] : natives[NIF_TRACER_ANY])(&env, (int)arity, args);
	if (env.raised || result == TERM_NONE || !term_is_atom(result))
		result = am_error;
	nif_env_clear(&env);
	nif_library_unref(l);
	return result;
}

void nif_tracer_init(void)
{
	lock_init(&tracers.lock, LOCK_nif_tracers);
	nif_has_tracer = has;
	nif_call_tracer = call;
}
