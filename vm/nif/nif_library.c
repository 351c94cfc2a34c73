/* SPDX-License-Identifier: Apache-2.0 */
/* Libraries of native functions. Loading one looks at everything that can be wrong before the module's code is
 * touched; what is wrong is told as OTP tells it, {error, {Reason, Text}}. Then the library's load or upgrade runs,
 * and while the world is stopped its functions take the place of those in the module. */
#include "nif/nif_library.h"

#include <dlfcn.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "code/breakpoint.h"
#include "data/print.h"
#include "io/filename.h"
#include "io/library_info.h"
#include "nif/nif_call.h"
#include "nif/nif_resource.h"
#include "nif/nif_tracer.h"
#include "proc/exc.h"
#include "proc/sched.h"

enum { TEXT_MAX_BYTES = 8192, MODULE_TEXT_BYTES = 4 * ATOM_MAX_CHARS + 3 };

static const struct nif_entry *const *linked;

void nif_library_set_linked(const struct nif_entry *const *entries)
{
	linked = entries;
}

/* What an attempt has so far. */
struct attempt {
	Process *p;
	char *path;          /* with .so */
	void *handle;
	const struct nif_entry *entry; /* the library's */
	char module[MODULE_TEXT_BYTES]; /* as Erlang prints it */
	struct code_instance *code, *before; /* whose functions it is for; the version before it, or NULL */
	struct nif_library *library;
	Inst **places;       /* a func_info block for each function */
	Term error;          /* TERM_NONE: none so far */
};

static Term make_error(Process *p, Term reason, const char *text, size_t n)
{
	return heap_tuple(&p->heap, am_error, heap_tuple(&p->heap, reason, heap_list_bytes(&p->heap, text, n, NIL)));
}

static __attribute__((format(printf, 3, 4))) bool fail(struct attempt *a, Term reason, const char *format, ...)
{
	char text[TEXT_MAX_BYTES];
	va_list args;
	int n;

	va_start(args, format);
	n = vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	a->error = make_error(a->p, reason, text, n < 0 ? 0 : n < TEXT_MAX_BYTES ? (size_t)n : TEXT_MAX_BYTES - 1);
	return false;
}


/* ---- whose code */

/* Fails: false with the error set. */
static bool find_code(struct attempt *a, const struct module **m)
{
	struct code_instance *c = code_find_instance(a->p->i + 1);

	if (c == NULL)
		return fail(a, am_bad_lib,
			    "load_nif/2 must be explicitly called from the NIF module. It cannot be called through "
			    "apply/3.");
	a->code = c;
	print_term_fixed(a->module, sizeof(a->module), c->module);
	*m = module_find(c->module);
	if (c == atomic_load(&(*m)->old))
		return fail(a, am_old_code, "Calling load_nif from old module '%s' not allowed", a->module);
	a->before = c != atomic_load(&(*m)->current) && atomic_load(&(*m)->current) != NULL
			    ? atomic_load(&(*m)->current)
			    : atomic_load(&(*m)->old);
	return true;
}

/* ---- the file */

static char *full_path(Term path)
{
	size_t n;
	char *text = filename_from_term(path, false, &n), *full;

	if (text == NULL)
		return NULL;
	full = mem_alloc(n + sizeof(".so"));
	memcpy(full, text, n);
	memcpy(full + n, ".so", sizeof(".so"));
	mem_free(text);
	return full;
}

/* Whatever file it names, but one in a directory. */
static const struct nif_entry *find_linked(const struct attempt *a)
{
	for (size_t i = 0; linked != NULL && linked[i] != NULL; i++)
		if (strcmp(a->module, linked[i]->name) == 0 && strchr(a->path, '/') == NULL)
			return linked[i];
	return NULL;
}

static bool open_file(struct attempt *a)
{
	const struct nif_entry *(*init)(void);
	const char *why;

	a->entry = find_linked(a);
	if (a->entry != NULL)
		return true;
	a->handle = dlopen(a->path, RTLD_NOW);
	if (a->handle == NULL) {
		why = dlerror();
		if (why == NULL || strstr(why, a->path) != NULL)
			return fail(a, am_load_failed, "Failed to load NIF library: '%s'", why != NULL ? why : a->path);
		return fail(a, am_load_failed, "Failed to load NIF library %s: '%s'", a->path, why);
	}
	init = (const struct nif_entry *(*)(void))dlsym(a->handle, "nif_init");
	if (init == NULL) {
		why = dlerror();
		return fail(a, am_bad_lib, "Failed to find library init function: '%s'",
			    why != NULL ? why : "nif_init");
	}
	library_taint_add(a->code->module);
	a->entry = init();
	return a->entry != NULL || fail(a, am_bad_lib, "Library init-call unsuccessful");
}

static bool is_at_least(const struct nif_entry *e, int minor)
{
	return e->major > NIF_MAJOR || (e->major == NIF_MAJOR && e->minor >= minor);
}

static bool check_entry(struct attempt *a)
{
	const struct nif_entry *e = a->entry;

	if (e->major > NIF_MAJOR || (e->major == NIF_MAJOR && e->minor > release_current->nif_minor))
		return fail(a, am_bad_lib,
			    "That '%s' NIF library needs %s or newer. Either try to recompile the NIF lib or use a "
			    "newer erts runtime.",
			    a->module, e->oldest_erts);
	if (e->major < NIF_OLDEST_MAJOR || (e->major == 2 && e->minor == 5))
		return fail(a, am_bad_lib,
			    "That old NIF library (%d.%d) is not compatible with this erts runtime (%d.%d). Try "
			    "recompile the NIF lib.",
			    e->major, e->minor, NIF_MAJOR, release_current->nif_minor);
	if (is_at_least(e, 1) && strcmp(e->vm_variant, NIF_VM_VARIANT) != 0)
		return fail(a, am_bad_lib, "Library (%s) not compiled for this vm variant (%s).", e->vm_variant,
			    NIF_VM_VARIANT);
	if (atom_from_latin1(e->name, strlen(e->name), NULL) != a->code->module)
		return fail(a, am_bad_lib, "Library module name '%s' does not match calling module '%s'", e->name,
			    a->module);
	return true;
}

/* ---- the functions */

/* Before 2.7 they had no flags, and were that much shorter. */
static struct nif_entry_function *widen_functions(const struct nif_entry *e)
{
	struct { const char *name; unsigned arity; nif_native native; } const *from = (const void *)e->functions;
	struct nif_entry_function *to = mem_alloc((size_t)e->function_count * sizeof(*to) + 1);

	for (int i = 0; i < e->function_count; i++)
		to[i] = (struct nif_entry_function){ from[i].name, from[i].arity, from[i].native, 0 };
	return to;
}

static struct nif_library *make_library(struct attempt *a)
{
	const struct nif_entry *e = a->entry;
	size_t count = e->function_count > 0 ? (size_t)e->function_count : 0;
	struct nif_library *l = mem_zalloc(sizeof(*l) + count * sizeof(l->functions[0]));
	size_t known = is_at_least(e, 14) ? sizeof(*e) : is_at_least(e, 12) ? offsetof(struct nif_entry, oldest_erts) :
		       is_at_least(e, 7) ? offsetof(struct nif_entry, type_init_bytes) : is_at_least(e, 1) ?
		       offsetof(struct nif_entry, options) : offsetof(struct nif_entry, vm_variant);

	memcpy(&l->entry, e, known);
	l->entry.function_count = (int)count;
	if (!is_at_least(e, 7))
		l->entry.functions = l->own_functions = widen_functions(e);
	atomic_init(&l->refs, 1);
	l->module = a->code->module;
	return l;
}

/* The function's number; c->function_count: there is none. */
static uint32_t find_place(const struct code_instance *c, Term function, uint32_t arity)
{
	uint32_t i = 0;

	while (i < c->function_count && (func_info_function(c->functions[i]) != function ||
					 func_info_arity(c->functions[i]) != arity))
		i++;
	return i;
}

static bool is_place_taken(const struct attempt *a, int n, const Inst *info)
{
	for (int i = 0; i < n; i++)
		if (a->places[i] == info)
			return true;
	return false;
}

static bool find_function(struct attempt *a, int i)
{
	const struct nif_entry_function *f = &a->library->entry.functions[i];
	Term name = atom_existing_utf8(f->name, strlen(f->name));
	uint32_t place = find_place(a->code, name, f->arity);
	bool is_there, is_declared;

	a->places[i] = NULL;
	is_there = place < a->code->function_count;
	is_declared = is_there && (a->code->declared_nifs == NULL || a->code->declared_nifs[place]);
	if (!is_declared && a->handle == NULL)
		return true; /* what is linked in is for the modules of several releases */
	if (!is_there)
		return fail(a, am_bad_lib, "Function not found %s:%s/%u", a->module, f->name, f->arity);
	if (!is_declared)
		return fail(a, am_bad_lib, "Function not declared as nif %s:%s/%u", a->module, f->name, f->arity);
	if (f->flags != 0 && f->flags != NIF_DIRTY_CPU && f->flags != NIF_DIRTY_IO)
		return fail(a, am_bad_lib, "Illegal flags field value %d for NIF %s:%s/%u", (int)f->flags, a->module,
			    f->name, f->arity);
	if (is_place_taken(a, i, a->code->functions[place]))
		return fail(a, am_bad_lib, "Duplicate NIF entry for %s:%s/%u", a->module, f->name, f->arity);
	a->places[i] = (Inst *)a->code->functions[place];
	a->library->functions[i] = (struct nif_function){
		.call = nif_call_of(f->flags), .native = (void *)f->native, .library = a->library,
		.module = a->code->module, .function = name, .arity = f->arity,
	};
	return true;
}

static bool find_functions(struct attempt *a)
{
	a->library = make_library(a);
	a->library->handle = a->handle;
	a->places = mem_alloc((size_t)a->library->entry.function_count * sizeof(*a->places) + 1);
	for (int i = 0; i < a->library->entry.function_count; i++)
		if (!find_function(a, i))
			return false;
	return true;
}

/* ---- load, upgrade, and the change of the code */

/* The older library's natives may run meanwhile. Returns the library's veto, or 0. */
static int upgrade(struct nif_library *l, struct nif_library *before, struct nif_env *env, Term info)
{
	void *old_data = before->data;
	int veto = l->entry.upgrade(env, &l->data, &before->data, info);

	if (veto != 0)
		before->data = old_data;
	return veto;
}

static void place_stopped(void *arg)
{
	struct attempt *a = arg;

	for (int i = 0; i < a->library->entry.function_count; i++)
		if (a->places[i] != NULL)
			nif_place(a->places[i], &a->library->functions[i]);
	a->code->nif = a->library;
}

/* The older version's code, whose library this is, stays meanwhile: old code is freed after a round of slices
 * (proc/progress.h), which waits for this one. */
static bool start_library(struct attempt *a, struct nif_env *env, Term info)
{
	struct nif_library *l = a->library, *before = a->before != NULL ? a->before->nif : NULL;
	int veto = 0;

	if (before != NULL) {
		if (l->entry.upgrade == NULL)
			return fail(a, am_upgrade, "Upgrade not supported by this NIF library.");
		veto = upgrade(l, before, env, info);
		return veto == 0 || fail(a, am_upgrade, "Library upgrade-call unsuccessful (%d).", veto);
	}
	if (l->entry.load != NULL)
		veto = l->entry.load(env, &l->data, info);
	return veto == 0 || fail(a, am_load, "Library load-call unsuccessful (%d).", veto);
}

static bool start(struct attempt *a, Term info)
{
	struct nif_env env;
	struct nif_opened opened = { 0 };
	bool started;

	nif_env_init(&env, &a->p->heap, a->p, a->library);
	env.opened = &opened;
	started = start_library(a, &env, info);
	nif_env_free_temporaries(&env);
	if (started) {
		nif_types_enter(&opened, a->library);
		nif_halt_enter(a->library);
		sched_stop_world(place_stopped, a);
		nif_tracer_enter(a->library, a->code);
	} else {
		nif_types_forget(&opened);
	}
	return started;
}

static void free_library(struct nif_library *l)
{
	if (l == NULL)
		return;
	mem_free(l->own_functions);
	mem_free(l);
}

static bool load(struct attempt *a, Term info)
{
	bool done;

	if (a->code->nif != NULL || atomic_exchange(&a->code->loads_nif, true))
		return fail(a, am_reload, "NIF library already loaded (reload disallowed since OTP 20).");
	done = a->code->nif == NULL && open_file(a) && check_entry(a) && find_functions(a) && start(a, info);
	atomic_store(&a->code->loads_nif, false);
	if (done)
		return true;
	free_library(a->library);
	if (a->handle != NULL)
		dlclose(a->handle);
	return false;
}

Term nif_library_load(Process *p, Term path, Term info)
{
	struct attempt a = { .p = p, .path = full_path(path) };
	const struct module *m;

	if (a.path == NULL)
		return exc_badarg(p);
	if (find_code(&a, &m))
		load(&a, info);
	mem_free(a.path);
	mem_free(a.places);
	return a.error != TERM_NONE ? a.error : am_ok;
}

/* ---- ends */

void nif_library_ref(struct nif_library *l)
{
	atomic_fetch_add_explicit(&l->refs, 1, memory_order_relaxed);
}

void nif_library_unref(struct nif_library *l)
{
	struct nif_env env;

	if (atomic_fetch_sub_explicit(&l->refs, 1, memory_order_acq_rel) != 1)
		return;
	nif_halt_leave(l);
	if (l->entry.unload != NULL) {
		nif_env_init_own(&env, l);
		l->entry.unload(&env, l->data);
		nif_env_clear(&env);
	}
	if (l->handle != NULL)
		dlclose(l->handle);
	free_library(l);
}
