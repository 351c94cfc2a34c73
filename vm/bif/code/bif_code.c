/* SPDX-License-Identifier: Apache-2.0 */
/* Loading, deleting and purging modules; what is known of them and of functions.
 * Invariant: prepared code belongs to the magic reference that names it, until finish_loading takes it. */
#include <errno.h>
#include <string.h>
#include <sys/types.h>

#include "base/alloc.h"
#include "bif/bif.h"
#include "bif/code/bif_literal.h"
#include "code/breakpoint.h"
#include "code/code_path.h"
#include "code/code_probe.h"
#include "code/module.h"
#include "code/opcodes.h"
#include "data/binary.h"
#include "data/etf.h"
#include "data/iolist.h"
#include "data/print.h"
#include "nif/nif_library.h"
#include "proc/await.h"
#include "proc/registry.h"
#include "proc/report.h"
#include "proc/sched.h"

/* ---- prepared code */

struct prepared {
	struct resource resource; /* first */
	_Atomic(struct code_instance *) code;
};

static void release_prepared(struct resource *r)
{
	struct prepared *prepared = (struct prepared *)r;
	struct code_instance *c = atomic_load(&prepared->code);

	if (c != NULL)
		module_free_instance(c);
	mem_free(prepared);
}

static const struct resource_type prepared_type = { "prepared_code", release_prepared };

static Term put_prepared(Process *p, struct code_instance *c)
{
	struct prepared *prepared = mem_zalloc(sizeof(*prepared));
	Term ref;

	resource_init(&prepared->resource, &prepared_type);
	atomic_init(&prepared->code, c);
	ref = resource_put(&p->heap, &prepared->resource);
	resource_unref(&prepared->resource);
	return ref;
}

/* c: what was in the file, a module of another name, or NULL. */
static void report_refused(Process *p, Term module, const struct code_instance *c, const char *why)
{
	char text[4096];
	struct print_buffer b;

	print_buffer_fixed(&b, text, sizeof(text));
	print_text(&b, "Error loading module ");
	print_text(&b, atom_text(module, NULL));
	print_text(&b, ":\n  ");
	print_text(&b, c != NULL ? "module name in object code is " : why);
	if (c != NULL)
		print_text(&b, atom_text(c->module, NULL));
	print_text(&b, "\n");
	process_report_error(p, text);
}

Term bif_erts_internal_prepare_loading_2(Process *p, Term *args)
{
	struct beam_error error;
	struct code_instance *c;
	uint8_t *scratch;
	size_t n;
	const uint8_t *bytes = binary_bytes(args[1], &n, &scratch);

	if (bytes == NULL || !term_is_atom(args[0])) {
		if (bytes != NULL)
			mem_free(scratch);
		return exc_badarg(p);
	}
	if (PROBE_ON(code__prepare__start))
		probe_code__prepare__start(p, args[0]);
	sched_lend();
	c = module_prepare(bytes, n, &error);
	sched_reclaim();
	mem_free(scratch);
	process_bump(p, (int)(n / 256));
	if (PROBE_ON(code__prepare__end))
		probe_code__prepare__end(p, args[0], c != NULL && c->module == args[0]);
	if (c != NULL && c->module == args[0])
		return put_prepared(p, c);
	report_refused(p, args[0], c, error.text);
	if (c != NULL)
		module_free_instance(c);
	return heap_tuple(&p->heap, am_error, am_badfile);
}

Term bif_erlang_has_prepared_code_on_load_1(Process *p, Term *args)
{
	const struct prepared *prepared = (struct prepared *)resource_get(args[0], &prepared_type);
	const struct code_instance *c;

	if (prepared == NULL)
		return exc_badarg(p);
	c = atomic_load(&prepared->code);
	return term_from_bool(c != NULL && c->on_load != NULL);
}

/* ---- changes, when those who waited for their turn have had it: a process that was spawned before begins in the code
 * that was there then */

struct later {
	struct exc_steps steps;
	Term (*change)(Process *p, Term arg);
	bool has_waited;
};

static Term later_step(Process *p, struct exc_steps *steps)
{
	struct later *l = (struct later *)steps;

	if (l->has_waited)
		return l->change(p, steps->args[0]);
	l->has_waited = true;
	return EXC_MORE;
}

static Term change_later(Process *p, Term (*change)(Process *p, Term arg), Term *args)
{
	struct later *l = mem_alloc(sizeof(*l));

	*l = (struct later){ .steps = { .step = later_step }, .change = change };
	return exc_run_steps(p, &l->steps, args, 1);
}

/* ---- finish_loading */

/* A batch of prepared code, taken from its references. */
struct batch {
	struct prepared **from;
	struct code_instance **code;
	size_t n;
};

static void free_batch(struct batch *b, bool give_back)
{
	for (size_t i = 0; give_back && i < b->n; i++)
		atomic_store(&b->from[i]->code, b->code[i]);
	mem_free(b->from);
	mem_free(b->code);
}

static bool has_module(const struct batch *b, size_t n, Term module)
{
	for (size_t i = 0; i < n; i++)
		if (b->code[i]->module == module)
			return true;
	return false;
}

/* The module of what was taken from there already; TERM_NONE: nothing was. */
static Term taken_module(const struct batch *b, const struct prepared *from)
{
	for (size_t i = 0; from != NULL && i < b->n; i++)
		if (b->from[i] == from)
			return b->code[i]->module;
	return TERM_NONE;
}

/* Fails: false with nothing taken. *duplicates: the modules that are there again, last first; an element that is there
 * twice has no code the second time. */
static bool take_batch(struct batch *b, Term list, struct heap *h, Term *duplicates)
{
	*duplicates = NIL;
	for (; list != NIL; list = cons_tail(list)) {
		struct prepared *prepared = (struct prepared *)resource_get(cons_head(list), &prepared_type);
		struct code_instance *c = prepared != NULL ? atomic_exchange(&prepared->code, NULL) : NULL;

		if (c == NULL) {
			Term again = taken_module(b, prepared);

			if (again == TERM_NONE)
				return false;
			*duplicates = heap_cons(h, again, *duplicates);
			continue;
		}
		if (has_module(b, b->n, c->module))
			*duplicates = heap_cons(h, c->module, *duplicates);
		b->from[b->n] = prepared;
		b->code[b->n++] = c;
	}
	return true;
}

static bool has_on_load(const struct batch *b)
{
	for (size_t i = 0; i < b->n; i++)
		if (b->code[i]->on_load != NULL)
			return true;
	return false;
}

static Term list_not_purged(Process *p, const struct batch *b)
{
	Term list = NIL;

	for (size_t i = b->n; i-- > 0;)
		if (!module_can_publish(b->code[i]->module))
			list = heap_cons(&p->heap, b->code[i]->module, list);
	return heap_tuple(&p->heap, am_not_purged, list);
}

/* What is in place stays there for the rest of this time slice, whoever replaces and purges it. */
static PROBE_COLD void tell_loaded(Process *p, const struct batch *b)
{
	for (size_t i = 0; i < b->n; i++)
		if (b->code[i]->on_load == NULL)
			probe_code__load(p, b->code[i]->module, b->code[i]->word_count);
}

static Term finish_loading(Process *p, Term list)
{
	int64_t n = list_length(list);
	struct batch b = { 0 };
	bool on_load, taken = false;
	Term duplicates, result;

	if (n < 0)
		return exc_badarg(p);
	b.from = mem_alloc((size_t)n * sizeof(*b.from) + 1);
	b.code = mem_alloc((size_t)n * sizeof(*b.code) + 1);
	if (!take_batch(&b, list, &p->heap, &duplicates)) {
		free_batch(&b, true);
		return exc_badarg(p);
	}
	on_load = has_on_load(&b);
	if (on_load && n > 1) {
		result = exc_system_limit(p);
	} else if (duplicates != NIL) {
		result = heap_tuple(&p->heap, am_duplicated, duplicates);
	} else {
		Term module = n > 0 ? b.code[0]->module : TERM_NONE;

		taken = n == 0 || module_publish(b.code, b.n) == 0;
		if (taken && PROBE_ON(code__load))
			tell_loaded(p, &b);
		if (!taken)
			result = list_not_purged(p, &b);
		else
			result = on_load ? heap_tuple(&p->heap, am_on_load, heap_cons(&p->heap, module, NIL)) : am_ok;
	}
	free_batch(&b, !taken);
	return result;
}

Term bif_erlang_finish_loading_1(Process *p, Term *args)
{
	return list_length(args[0]) < 0 ? exc_badarg(p) : change_later(p, finish_loading, args);
}

Term bif_erlang_call_on_load_function_1(Process *p, Term *args)
{
	const struct export *e = term_is_atom(args[0]) ? module_on_load_export(args[0]) : NULL;

	if (e == NULL)
		return exc_badarg(p);
	if (PROBE_ON(code__on_load__start))
		probe_code__on_load__start(p, args[0]);
	return exc_trap(p, e, 0, NULL);
}

/* Unless somebody was faster, and deleted it. */
static PROBE_COLD void tell_kept(Process *p, Term module)
{
	const struct code_instance *c = atomic_load(&module_find(module)->current);

	if (c != NULL)
		probe_code__load(p, module, c->word_count);
}

Term bif_erlang_finish_after_on_load_2(Process *p, Term *args)
{
	if (!term_is_atom(args[0]) || (args[1] != am_true && args[1] != am_false) ||
	    module_finish_on_load(args[0], args[1] == am_true) != 0)
		return exc_badarg(p);
	if (PROBE_ON(code__on_load__end))
		probe_code__on_load__end(p, args[0], args[1] == am_true);
	if (PROBE_ON(code__load) && args[1] == am_true)
		tell_kept(p, args[0]);
	return am_true;
}

/* ---- libraries of native functions. What the VM has itself in the place of one is there already. */

struct native_search {
	Term module;
	bool found;
};

static void see_native(struct export *e, void *arg)
{
	struct native_search *s = arg;

	s->found |= e->module == s->module && e->bif != NULL && e->is_nif;
}

Term bif_erlang_load_nif_2(Process *p, Term *args)
{
	const Inst *caller = code_find_function(p->i + 1);
	struct native_search s = { .module = caller != NULL ? func_info_module(caller) : TERM_NONE };

	export_each(see_native, &s);
	return s.found ? am_ok : nif_library_load(p, args[0], args[1]);
}

/* ---- old code */

static Term delete_module(Process *p, Term module)
{
	int status = module_delete(module);

	if (status == 0 && PROBE_ON(code__delete))
		probe_code__delete(p, module);
	if (status == -ENOENT)
		return am_undefined;
	if (status == 0)
		return am_true;
	log_line("Module %s must be purged before deleting", atom_text(module, NULL));
	return exc_badarg(p);
}

Term bif_erlang_delete_module_1(Process *p, Term *args)
{
	return term_is_atom(args[0]) ? change_later(p, delete_module, args) : exc_badarg(p);
}

static bool has_old(const struct module *m)
{
	return m != NULL && atomic_load(&m->old) != NULL;
}

Term bif_erlang_check_old_code_1(Process *p, Term *args)
{
	return term_is_atom(args[0]) ? term_from_bool(has_old(module_find(args[0]))) : exc_badarg(p);
}

Term bif_erts_internal_check_process_code_1(Process *p, Term *args)
{
	return term_is_atom(args[0]) ? term_from_bool(module_lingers(args[0], p)) : exc_badarg(p);
}

static Term prepare_purge(Process *p, Term module, bool failed)
{
	int status = module_purge_prepare(module, failed);

	if (status == 0 && PROBE_ON(code__purge__start))
		probe_code__purge__start(p, module);
	if (status == 0)
		return await_return(p, am_true);
	return status == -EBUSY ? exc_badarg(p) : am_false;
}

struct purged {
	struct await await;  /* first */
	struct code_instance *unused;
};

static void end_purge(struct await *a)
{
	bif_literal_collect(module_purge_end(((struct purged *)a)->unused));
}

static Term tell_purged(Process *p, struct await *a)
{
	(void)p;
	(void)a;
	return am_true;
}

static Term complete_purge(Process *p, Term module)
{
	struct code_instance *unused;
	struct purged *d;

	if (module_purge_complete(module, &unused) != 0)
		return exc_badarg(p);
	if (PROBE_ON(code__purge__end))
		probe_code__purge__end(p, module, true);
	d = mem_alloc(sizeof(*d));
	d->unused = unused;
	await_init(&d->await, p, tell_purged, end_purge);
	await_round(&d->await);
	return await_parts(p, &d->await);
}

static Term abort_purge(Process *p, Term module)
{
	if (module_purge_abort(module) != 0)
		return exc_badarg(p);
	if (PROBE_ON(code__purge__end))
		probe_code__purge__end(p, module, false);
	return am_false;
}

/* The steps of erts_code_purger, which alone may take them. */
Term bif_erts_internal_purge_module_2(Process *p, Term *args)
{
	if (p->reg_name != am_erts_code_purger)
		return exc_error(p, am_notsup);
	if (!term_is_atom(args[0]))
		return exc_badarg(p);
	switch (args[1]) {
	case am_prepare:
	case am_prepare_on_load:
		return prepare_purge(p, args[0], args[1] == am_prepare_on_load);
	case am_abort:
		return abort_purge(p, args[0]);
	case am_complete:
		return complete_purge(p, args[0]);
	default:
		return exc_badarg(p);
	}
}

/* ---- which modules there are */

Term bif_erlang_pre_loaded_0(Process *p, Term *args)
{
	unsigned count;
	const Term *modules = code_preloaded(&count);

	(void)args;
	return heap_list_array(&p->heap, count, modules, NIL);
}

/* Without OTP's start, as long as no code server runs, who asks for a module gets it: modules that the library counts
 * on are loaded by the question. erl_features counts as loaded only where init has prepared it. */
static bool load_without_server(Term module)
{
	return module != am_erl_features && code_path_is_open() && registry_whereis(am_code_server) == TERM_NONE &&
	       code_autoload(module);
}

Term bif_erlang_module_loaded_1(Process *p, Term *args)
{
	if (!term_is_atom(args[0]))
		return exc_badarg(p);
	return term_from_bool(module_is_loaded(args[0]) || code_is_preloaded(args[0]) || load_without_server(args[0]));
}

/* What a debugger asks of the lines, of code that was compiled with beam_debug_info; of that without its operations
 * (code/line_break.h), nothing. */
Term bif_code_get_debug_info_1(Process *p, Term *args)
{
	const struct module *m = term_is_atom(args[0]) ? module_find(args[0]) : NULL;
	const struct code_instance *c = m != NULL ? atomic_load(&m->current) : NULL;

	if (c == NULL)
		return exc_badarg(p);
	if (c->debug_info == TERM_NONE)
		return am_none;
	return c->breaks_lines ? c->debug_info : NIL;
}

struct loaded_list {
	struct heap *h;
	Term list;
};

static void add_loaded(const struct module *m, void *arg)
{
	struct loaded_list *l = arg;

	if (!code_is_preloaded(m->name))
		l->list = heap_cons(l->h, m->name, l->list);
}

Term bif_erlang_loaded_0(Process *p, Term *args)
{
	struct loaded_list l = { &p->heap, bif_erlang_pre_loaded_0(p, args) };

	module_each(add_loaded, &l);
	return l.list;
}

/* ---- module information */

static Term list_exports(Process *p, const struct code_instance *c)
{
	Term list = NIL;

	for (uint32_t i = 0; i < c->export_count; i++)
		list = heap_cons(&p->heap,
				 heap_tuple(&p->heap, c->exports[i].function, term_from_small(c->exports[i].arity)),
				 list);
	return list;
}

static Term list_functions(Process *p, const struct code_instance *c)
{
	Term list = NIL;

	for (uint32_t i = c->function_count; i-- > 0;) {
		const Inst *f = c->functions[i];

		list = heap_cons(&p->heap,
				 heap_tuple(&p->heap, func_info_function(f), term_from_small(func_info_arity(f))),
				 list);
	}
	return list;
}

struct nif_list {
	struct heap *h;
	Term module, list;
};

static void add_nif(struct export *e, void *arg)
{
	struct nif_list *l = arg;

	if (e->module == l->module && e->bif != NULL && e->is_nif)
		l->list = heap_cons(l->h, heap_tuple(l->h, e->function, term_from_small(e->arity)), l->list);
}

static Term list_nifs(Process *p, const struct code_instance *c)
{
	struct nif_list l = { &p->heap, c->module, NIL };

	for (uint32_t i = c->function_count; i-- > 0;) {
		const Inst *f = c->functions[i];

		if (breakpoint_opcode(f + FUNC_INFO_WORDS) == OP_call_nif)
			l.list = heap_cons(l.h,
					   heap_tuple(l.h, func_info_function(f), term_from_small(func_info_arity(f))),
					   l.list);
	}

	export_each(add_nif, &l);
	return l.list;
}

/* [] where the chunk is missing. The loader has seen that it is a term. */
static Term decode_info(Process *p, const uint8_t *bytes, size_t n)
{
	Term t;

	if (bytes == NULL || etf_decode_to_heap(bytes, n, 0, &p->heap, &t, NULL) != 0)
		return NIL;
	return t;
}

static Term module_item(Process *p, const struct code_instance *c, Term item)
{
	switch (item) {
	case am_module: return c->module;
	case am_exports: return list_exports(p, c);
	case am_functions: return list_functions(p, c);
	case am_attributes: return decode_info(p, c->attributes, c->attributes_bytes);
	case am_compile: return decode_info(p, c->compile, c->compile_bytes);
	case am_md5: return binary_put(&p->heap, c->md5, sizeof(c->md5));
	case am_native: return am_false;
	case am_native_addresses: return NIL;
	case am_nifs: return list_nifs(p, c);
	default: return TERM_NONE;
	}
}

static const struct code_instance *find_current(Term module)
{
	const struct module *m;

	if (!term_is_atom(module))
		return NULL;
	if (!module_is_loaded(module) && code_is_preloaded(module))
		code_autoload(module);
	m = module_find(module);
	return m != NULL ? atomic_load(&m->current) : NULL;
}

Term bif_erlang_get_module_info_2(Process *p, Term *args)
{
	const struct code_instance *c = find_current(args[0]);
	Term result = c != NULL ? module_item(p, c, args[1]) : TERM_NONE;

	return result != TERM_NONE ? result : exc_badarg(p);
}

Term bif_erlang_get_module_info_1(Process *p, Term *args)
{
	static const Term items[] = { am_module, am_exports, am_attributes, am_compile, am_md5 };
	const struct code_instance *c = find_current(args[0]);
	Term list = NIL;

	if (c == NULL)
		return exc_badarg(p);
	for (size_t i = sizeof(items) / sizeof(items[0]); i-- > 0;)
		list = heap_cons(&p->heap, heap_tuple(&p->heap, items[i], module_item(p, c, items[i])), list);
	return list;
}

/* ---- beam files as binaries */

enum { CHUNK_ID_BYTES = 4 };

/* A list of bytes. Fails: false. */
static bool read_chunk_id(Term list, char id[CHUNK_ID_BYTES])
{
	for (int i = 0; i < CHUNK_ID_BYTES; i++, list = cons_tail(list)) {
		if (!term_is_cons(list) || !term_is_small(cons_head(list)) ||
		    (uint64_t)small_value(cons_head(list)) > UINT8_MAX)
			return false;
		id[i] = (char)small_value(cons_head(list));
	}
	return list == NIL;
}

/* A part of the file's own binary; an empty chunk is as good as none. */
Term bif_erts_internal_beamfile_chunk_2(Process *p, Term *args)
{
	char id[CHUNK_ID_BYTES];
	uint8_t *scratch;
	const uint8_t *bytes, *chunk;
	size_t n, size = 0;
	Term result = am_undefined;

	if (!read_chunk_id(args[1], id))
		return exc_badarg(p);
	bytes = binary_bytes(args[0], &n, &scratch);
	if (bytes == NULL)
		return exc_badarg(p);
	chunk = beam_file_chunk(bytes, n, id, &size);
	if (chunk != NULL && size > 0)
		result = binary_sub(&p->heap, args[0], (uint64_t)(chunk - bytes) * 8, (uint64_t)size * 8);
	mem_free(scratch);
	return result;
}

Term bif_erts_internal_beamfile_module_md5_1(Process *p, Term *args)
{
	uint8_t md5[16], *scratch;
	size_t n;
	const uint8_t *bytes = binary_bytes(args[0], &n, &scratch);
	bool ok;

	if (bytes == NULL)
		return exc_badarg(p);
	ok = beam_file_md5(bytes, n, md5);
	mem_free(scratch);
	return ok ? binary_put(&p->heap, md5, sizeof(md5)) : am_undefined;
}

/* ---- functions */

static bool is_function_name(const Term *args)
{
	return term_is_atom(args[0]) && term_is_atom(args[1]) && term_is_integer(args[2]);
}

static struct export *find_export(const Term *args)
{
	if (!term_is_small(args[2]) || small_value(args[2]) < 0 || small_value(args[2]) > UINT32_MAX)
		return NULL;
	return export_find(args[0], args[1], (uint32_t)small_value(args[2]));
}

Term bif_erlang_function_exported_3(Process *p, Term *args)
{
	const struct export *e;

	if (!is_function_name(args) || !term_is_small(args[2]))
		return exc_badarg(p);
	e = find_export(args);
	return term_from_bool(e != NULL && export_is_loaded(e));
}

Term bif_erlang_is_builtin_3(Process *p, Term *args)
{
	const struct export *e;

	if (!is_function_name(args) || !term_is_small(args[2]))
		return exc_badarg(p);
	e = find_export(args);
	return term_from_bool(e != NULL && e->bif != NULL && !e->is_nif && !e->is_own);
}

Term bif_erlang_make_fun_3(Process *p, Term *args)
{
	enum { ARITY_MAX = 255 };
	struct export *e;

	if (!term_is_atom(args[0]) || !term_is_atom(args[1]) || !term_is_small(args[2]) || small_value(args[2]) < 0 ||
	    small_value(args[2]) > ARITY_MAX)
		return exc_badarg(p);
	e = export_try_get(args[0], args[1], (uint32_t)small_value(args[2]), NAMED_BY_CALLS);
	return e != NULL ? fun_of_export(e) : exc_system_limit(p);
}

/* []: the fun's code is not loaded, or is just being purged. */
static Term fun_name(const struct fun_entry *e)
{
	return atomic_load(&e->address) != NULL ? e->function : NIL;
}

/* TERM_NONE: no such item. Nobody counts a lambda's funs: refc is undefined. */
static Term local_item(Process *p, const struct fun *f, Term item)
{
	const struct fun_entry *e = f->entry;

	switch (item) {
	case am_type: return am_local;
	case am_module: return e->module;
	case am_name: return fun_name(e);
	case am_arity: return term_from_small(fun_arity(f));
	case am_env: return heap_list_array(&p->heap, fun_num_free(f), f->env, NIL);
	case am_pid: return fun_creator(f);
	case am_index: return term_from_small(e->old_index);
	case am_uniq: return term_from_small(e->old_uniq);
	case am_new_index: return term_from_small(e->index);
	case am_new_uniq: return binary_put(&p->heap, e->uniq, sizeof(e->uniq));
	case am_refc: return am_undefined;
	default: return TERM_NONE;
	}
}

static Term external_item(const struct export *e, Term item)
{
	switch (item) {
	case am_type: return am_external;
	case am_module: return e->module;
	case am_name: return e->function;
	case am_arity: return term_from_small(e->arity);
	case am_env: return NIL;
	case am_pid:
	case am_index:
	case am_uniq:
	case am_new_index:
	case am_new_uniq:
	case am_refc:
		return am_undefined;
	default: return TERM_NONE;
	}
}

Term bif_erlang_fun_info_2(Process *p, Term *args)
{
	Term value = TERM_NONE;

	if (term_has_sub(args[0], SUB_FUN))
		value = local_item(p, fun_ptr(args[0]), args[1]);
	else if (term_has_sub(args[0], SUB_EXPORT))
		value = external_item(export_fun_ptr(args[0]), args[1]);
	return value != TERM_NONE ? heap_tuple(&p->heap, args[1], value) : exc_badarg(p);
}

Term bif_erlang_fun_info_mfa_1(Process *p, Term *args)
{
	if (term_has_sub(args[0], SUB_FUN)) {
		const struct fun *f = fun_ptr(args[0]);

		return heap_tuple(&p->heap, f->entry->module, fun_name(f->entry), term_from_small(fun_arity(f)));
	}
	if (term_has_sub(args[0], SUB_EXPORT)) {
		const struct export *e = export_fun_ptr(args[0]);

		return heap_tuple(&p->heap, e->module, e->function, term_from_small(e->arity));
	}
	return exc_badarg(p);
}
