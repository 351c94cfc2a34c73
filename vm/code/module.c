/* SPDX-License-Identifier: Apache-2.0 */
/* The module table, and the ways of code: prepared, pending, current, old, gone. Entries of the table are never
 * freed. */
#include "code/module.h"

#include <errno.h>
#include <string.h>

#include "base/alloc.h"
#include "base/hash.h"
#include "base/lock.h"
#include "code/breakpoint.h"
#include "code/code_area.h"
#include "code/code_path.h"
#include "code/code_probe.h"
#include "code/nif_function.h"
#include "code/opcodes.h"
#include "data/record.h"
#include "layout.h"
#include "proc/message.h"
#include "proc/process_life.h"
#include "proc/process_walk.h"
#include "proc/sched.h"

enum { BUCKETS = 4096, SEEN_AT_ONCE = 1 << 12 };

int (*module_translate)(const struct beam_file *f, struct code_instance *c, struct beam_error *error);

struct module_native_hooks module_native_hooks;

static struct {
	struct lock lock;    /* makes entries; enters new code */
	_Atomic(struct module *) buckets[BUCKETS];
	_Atomic(struct module *) all; /* the newest first */
} modules;

void module_init(void)
{
	lock_init(&modules.lock, LOCK_module_table);
	code_area_init();
	code_path_init();
	nif_code_init();
}

static _Atomic(struct module *) *find_bucket(Term name)
{
	return &modules.buckets[hash_word(name) % BUCKETS];
}

static struct module *find_in(struct module *m, Term name)
{
	while (m != NULL && m->name != name)
		m = m->next;
	return m;
}

struct module *module_find(Term name)
{
	return find_in(atomic_load_explicit(find_bucket(name), memory_order_acquire), name);
}

static struct module *get_module(Term name)
{
	_Atomic(struct module *) *bucket = find_bucket(name);
	struct module *m = module_find(name);

	if (m != NULL)
		return m;
	lock_acquire(&modules.lock);
	m = find_in(atomic_load_explicit(bucket, memory_order_relaxed), name);
	if (m == NULL) {
		m = mem_zalloc(sizeof(*m));
		m->name = name;
		m->next = atomic_load_explicit(bucket, memory_order_relaxed);
		m->older = atomic_load_explicit(&modules.all, memory_order_relaxed);
		atomic_store_explicit(bucket, m, memory_order_release);
		atomic_store_explicit(&modules.all, m, memory_order_release);
	}
	lock_release(&modules.lock);
	return m;
}

static struct code_instance *current_of(const struct module *m)
{
	return atomic_load_explicit(&m->current, memory_order_acquire);
}

static struct code_instance *old_of(const struct module *m)
{
	return atomic_load_explicit(&m->old, memory_order_acquire);
}

void module_each(void (*see)(const struct module *m, void *arg), void *arg)
{
	for (struct module *m = atomic_load_explicit(&modules.all, memory_order_acquire); m != NULL; m = m->older)
		if (current_of(m) != NULL || old_of(m) != NULL)
			see(m, arg);
}

bool module_is_loaded(Term name)
{
	const struct module *m = module_find(name);

	return m != NULL && current_of(m) != NULL;
}

/* ---- instances */

int code_alloc(struct code_instance *c, size_t words)
{
	c->words = code_area_take(c, words);
	if (c->words == NULL)
		return -ENOMEM;
	c->word_count = words;
	return 0;
}

static void *copy_array(const void *from, size_t count, size_t size)
{
	void *to = mem_alloc(count * size + 1);

	if (count > 0)
		memcpy(to, from, count * size);
	return to;
}

/* The file's literals, with those that the translation made behind them. */
static void take_literals(struct code_instance *c, struct beam_file *f)
{
	struct literal_area **end = &f->literal_area;

	while (*end != NULL)
		end = &(*end)->next;
	*end = c->literal_area;
	c->literal_area = f->literal_area;
	f->literal_area = NULL;
}

/* What outlives the file: copied, or taken from it. */
static void take_from_file(struct code_instance *c, struct beam_file *f)
{
	memcpy(c->md5, f->md5, sizeof(c->md5));
	c->files = copy_array(f->files, f->file_count, sizeof(*f->files));
	c->file_count = f->file_count;
	c->exports = copy_array(f->exports, f->export_count, sizeof(*f->exports));
	c->export_count = f->export_count;
	c->lambdas = copy_array(f->lambdas, f->lambda_count, sizeof(*f->lambdas));
	c->lambda_count = f->lambda_count;
	c->attributes = f->attributes != NULL ? copy_array(f->attributes, f->attributes_bytes, 1) : NULL;
	c->attributes_bytes = f->attributes_bytes;
	c->compile = f->compile != NULL ? copy_array(f->compile, f->compile_bytes, 1) : NULL;
	c->compile_bytes = f->compile_bytes;
	c->debug_info = f->debug_info.kind == OPND_CONST ? f->debug_info.term : TERM_NONE;
	c->on_load_label = f->on_load_label;
	c->on_load = f->on_load_label != 0 ? c->label_address[f->on_load_label] : NULL;
	c->strings = f->strings;
	c->string_bytes = f->string_bytes;
	f->strings = NULL;
	c->records = mem_alloc(f->record_count * sizeof(Term) + 1);
	for (c->record_count = 0; c->record_count < f->record_count; c->record_count++)
		c->records[c->record_count] = f->records[c->record_count].term;
	take_literals(c, f);
}

struct code_instance *module_prepare(const uint8_t *bytes, size_t n, struct beam_error *error)
{
	struct beam_file *f = beam_file_parse(bytes, n, error);
	struct code_instance *c;

	if (f == NULL)
		return NULL;
	c = mem_zalloc(sizeof(*c));
	c->module = f->module;
	if (module_translate(f, c, error) == 0) {
		take_from_file(c, f);
		if (module_native_hooks.made != NULL)
			module_native_hooks.made(c);
	} else {
		module_free_instance(c);
		c = NULL;
	}
	beam_file_free(f);
	return c;
}

static void drop_native(struct code_instance *c)
{
	if (c->native != NULL)
		module_native_hooks.drop(c);
}

void module_drop_native(const Inst *at)
{
	struct code_instance *c = code_area_owner(at);

	if (c != NULL)
		drop_native(c);
}

/* All but the literals. */
static void free_code(struct code_instance *c)
{
	drop_native(c);
	if (c->words != NULL)
		code_area_give(c->words, c->word_count);
	mem_free(c->functions);
	mem_free(c->lines);
	mem_free(c->label_address);
	mem_free(c->declared_nifs);
	mem_free(c->coverage);
	mem_free((void *)c->strings);
	mem_free(c->files);
	mem_free(c->records);
	mem_free(c->exports);
	mem_free(c->lambdas);
	mem_free(c->attributes);
	mem_free(c->compile);
	mem_free(c);
}

void module_free_instance(struct code_instance *c)
{
	literal_free(c->literal_area);
	free_code(c);
}

static bool owns_address(const struct code_instance *c, const Inst *pc)
{
	return (uintptr_t)pc - (uintptr_t)c->words < c->word_count * sizeof(Inst);
}

Term module_find_record(Term module, Term name)
{
	struct module *m = module_find(module);
	const struct code_instance *c = m != NULL ? atomic_load(&m->current) : NULL;

	for (uint32_t i = 0; c != NULL && i < c->record_count; i++)
		if (tuple_get(cons_head(c->records[i]), RECORD_NAME) == name)
			return c->records[i];
	return TERM_NONE;
}

/* ---- publishing */

static void bind_lambdas(struct code_instance *c)
{
	for (uint32_t i = 0; i < c->lambda_count; i++) {
		const struct beam_lambda *l = &c->lambdas[i];

		l->entry->function = l->function;
		l->entry->arity = l->arity;
		l->entry->num_free = l->num_free;
		atomic_store_explicit(&l->entry->address, c->label_address[l->label], memory_order_release);
	}
}

static void unbind_exports(const struct code_instance *c)
{
	for (uint32_t i = 0; i < c->export_count; i++) {
		struct export *e = export_get(c->module, c->exports[i].function, c->exports[i].arity);

		if (owns_address(c, atomic_load_explicit(&e->address, memory_order_relaxed)))
			export_unset_address(e);
	}
}

static void bind_exports(const struct code_instance *c)
{
	for (uint32_t i = 0; i < c->export_count; i++)
		export_set_address(export_get(c->module, c->exports[i].function, c->exports[i].arity),
				   c->label_address[c->exports[i].label]);
	export_count_load();
}

static void tell_leaving(struct code_instance *c)
{
	if (breakpoint_hooks.leaving != NULL)
		breakpoint_hooks.leaving(c);
}

/* Everything that a caller may find through an export is there before the export is; a module is loaded when all its
 * exports are. */
static void make_current(struct module *m, struct code_instance *c)
{
	struct code_instance *last = current_of(m);

	bind_lambdas(c);
	if (last != NULL) {
		tell_leaving(last);
		unbind_exports(last);
		atomic_store_explicit(&m->old, last, memory_order_release);
	}
	bind_exports(c);
	atomic_store_explicit(&m->current, c, memory_order_release);
	mem_free(c->label_address);
	c->label_address = NULL;
	if (breakpoint_hooks.entered != NULL)
		breakpoint_hooks.entered(c);
}

static bool can_publish(const struct module *m)
{
	return m->pending == NULL && (current_of(m) == NULL || old_of(m) == NULL);
}

struct publish {
	struct code_instance **c;
	size_t n;
	int status;
};

static void publish_stopped(void *arg)
{
	struct publish *p = arg;

	p->status = -EBUSY;
	for (size_t i = 0; i < p->n; i++)
		if (!can_publish(get_module(p->c[i]->module)))
			return;
	for (size_t i = 0; i < p->n; i++) {
		struct module *m = get_module(p->c[i]->module);

		if (p->c[i]->on_load == NULL) {
			make_current(m, p->c[i]);
		} else {
			bind_lambdas(p->c[i]);
			m->pending = p->c[i];
		}
	}
	p->status = 0;
}

int module_publish(struct code_instance **c, size_t n)
{
	struct publish p = { c, n, 0 };

	sched_stop_world(publish_stopped, &p);
	return p.status;
}

bool module_can_publish(Term name)
{
	const struct module *m = module_find(name);

	return m == NULL || can_publish(m);
}

/* The on_load function gets a name of its own to be called by. */
static struct export *name_on_load(const struct code_instance *c)
{
	struct export *e = export_get(c->module, am_on_load_start, 0);

	export_set_address(e, c->on_load);
	return e;
}

struct export *module_on_load_export(Term name)
{
	const struct module *m = module_find(name);

	return m != NULL && m->pending != NULL ? name_on_load(m->pending) : NULL;
}

static Term spawn_on_load(struct code_instance *c)
{
	struct spawn_options o = SPAWN_OPTIONS_DEFAULT;

	name_on_load(c);
	c->on_load = NULL;
	return process_spawn(NULL, c->module, am_on_load_start, NIL, &o, NULL);
}

int module_load_new(const uint8_t *bytes, size_t n, struct beam_error *error, Term *on_load)
{
	struct code_instance *c = module_prepare(bytes, n, error);
	struct module *m;
	bool is_new;

	*on_load = TERM_NONE;
	if (c == NULL)
		return -EINVAL;
	m = get_module(c->module);
	lock_acquire(&modules.lock);
	is_new = current_of(m) == NULL && m->pending == NULL;
	if (is_new)
		make_current(m, c);
	lock_release(&modules.lock);
	if (!is_new)
		module_free_instance(c);
	else if (c->on_load != NULL)
		*on_load = spawn_on_load(c);
	return 0;
}

/* ---- ends */

struct change {
	struct module *m;
	bool flag;           /* keep */
	int status;
};

static int change_stopped(Term name, bool flag, void (*change)(void *))
{
	struct change c = { .m = module_find(name), .flag = flag, .status = -ENOENT };

	if (c.m != NULL)
		sched_stop_world(change, &c);
	return c.status;
}

/* The on_load function is no longer to be found. */
static void unbind_on_load(const struct code_instance *c)
{
	struct export *on_load = export_find(c->module, am_on_load_start, 0);

	if (on_load != NULL && owns_address(c, atomic_load_explicit(&on_load->address, memory_order_relaxed)))
		export_unset_address(on_load);
}

static void finish_on_load_stopped(void *arg)
{
	struct change *change = arg;
	struct code_instance *c = change->m->pending;

	if (c == NULL || c->on_load == NULL)
		return;
	change->status = 0;
	unbind_on_load(c);
	c->on_load = NULL;
	if (!change->flag)
		return;
	change->m->pending = NULL;
	make_current(change->m, c);
}

int module_finish_on_load(Term name, bool keep)
{
	return change_stopped(name, keep, finish_on_load_stopped);
}

static void delete_stopped(void *arg)
{
	struct change *change = arg;
	struct code_instance *c = current_of(change->m);

	if (c == NULL)
		return;
	change->status = -EBUSY;
	if (old_of(change->m) != NULL)
		return;
	tell_leaving(c);
	unbind_exports(c);
	atomic_store_explicit(&change->m->old, c, memory_order_release);
	atomic_store_explicit(&change->m->current, NULL, memory_order_release);
	change->status = 0;
}

int module_delete(Term name)
{
	return change_stopped(name, false, delete_stopped);
}

/* ---- purging */

/* Is it about to run a native function of the library of c? */
static bool is_in_detour(const struct code_instance *c, const Process *p)
{
	return c->nif != NULL && p->nif_detour != NULL && p->i == &p->nif_detour->entry &&
		p->nif_detour->function.library == c->nif;
}

bool module_is_old_used_by(const struct module *m, const Process *p)
{
	const struct code_instance *c = old_of(m);

	if (c == NULL)
		return false;
	if (owns_address(c, p->i) || is_in_detour(c, p))
		return true;
	for (const Term *t = p->heap.stop; t < p->heap.end; t++)
		if (term_is_header(*t) && owns_address(c, (const Inst *)*t))
			return true;
	return false;
}

bool module_lingers(Term name, const Process *p)
{
	const struct module *m = module_find(name);
	bool lingers = m != NULL && module_is_old_used_by(m, p);

	if (lingers && PROBE_ON(code__linger))
		probe_code__linger(p, name);
	return lingers;
}

struct use {
	const struct module *m;
	bool any;
};

static void see_use(Process *p, void *arg)
{
	struct use *use = arg;

	if (!use->any && !(atomic_load(&p->state) & PS_EXITING))
		use->any = module_is_old_used_by(use->m, p);
}

/* Does any process use it? In many stops of the world: it is being purged, so who was seen not to use it does not begin
 * to (no export leads into it, its funs are withheld), nor who is born. */
static bool is_old_used(const struct module *m)
{
	struct use use = { m, false };

	process_each_in_parts(SEEN_AT_ONCE, see_use, &use);
	return use.any;
}

static struct {
	_Atomic Term module; /* that is being purged, or TERM_NONE */
	struct waiter {
		struct waiter *next;
		Term pid;
	} *waiters;          /* modules.lock: suspended */
} purge;

static void withhold_lambdas(const struct code_instance *c)
{
	for (uint32_t i = 0; i < c->lambda_count; i++) {
		struct fun_entry *e = c->lambdas[i].entry;
		const Inst *address = atomic_load_explicit(&e->address, memory_order_relaxed);

		if (!owns_address(c, address))
			continue;
		atomic_store_explicit(&e->withheld, address, memory_order_release);
		atomic_store_explicit(&e->address, NULL, memory_order_release);
	}
}

/* give_back: unless a newer version has the same funs. */
static void release_lambdas(const struct code_instance *c, bool give_back)
{
	for (uint32_t i = 0; i < c->lambda_count; i++) {
		struct fun_entry *e = c->lambdas[i].entry;
		const Inst *address = atomic_load_explicit(&e->withheld, memory_order_relaxed);

		if (give_back && address != NULL && atomic_load_explicit(&e->address, memory_order_relaxed) == NULL)
			atomic_store_explicit(&e->address, address, memory_order_release);
		atomic_store_explicit(&e->withheld, NULL, memory_order_release);
	}
}

static void set_old(struct module *m, struct code_instance *c)
{
	atomic_store_explicit(&m->old, c, memory_order_release);
}

/* The lock is held. */
static int begin_purge(struct module *m, bool failed)
{
	if (atomic_load(&purge.module) != TERM_NONE)
		return -EBUSY;
	if (failed ? m->pending == NULL || m->pending->on_load != NULL : old_of(m) == NULL)
		return -ENOENT;
	if (failed) {
		m->saved_old = old_of(m);
		set_old(m, m->pending);
		m->pending = NULL;
	}
	atomic_store(&purge.module, m->name);
	withhold_lambdas(old_of(m));
	return 0;
}

int module_purge_prepare(Term name, bool failed)
{
	struct module *m = module_find(name);
	int status;

	if (m == NULL)
		return -ENOENT;
	lock_acquire(&modules.lock);
	status = begin_purge(m, failed);
	lock_release(&modules.lock);
	return status;
}

Term module_being_purged(void)
{
	return atomic_load(&purge.module);
}

void module_await_purge(Process *p, Term name)
{
	lock_acquire(&modules.lock);
	if (atomic_load(&purge.module) == name) {
		struct waiter *w = mem_alloc(sizeof(*w));

		*w = (struct waiter){ purge.waiters, p->id };
		purge.waiters = w;
		process_suspend_self(p);
	}
	lock_release(&modules.lock);
}

static void end_purge(void)
{
	struct waiter *w, *next;

	lock_acquire(&modules.lock);
	atomic_store(&purge.module, TERM_NONE);
	w = purge.waiters;
	purge.waiters = NULL;
	lock_release(&modules.lock);
	for (; w != NULL; w = next) {
		next = w->next;
		signal_send_plain(SIG_RESUME, TERM_NONE, w->pid, TERM_NONE);
		mem_free(w);
	}
}

int module_purge_abort(Term name)
{
	if (name != atomic_load(&purge.module))
		return -EINVAL;
	lock_acquire(&modules.lock);
	release_lambdas(old_of(module_find(name)), true);
	lock_release(&modules.lock);
	end_purge();
	return 0;
}

/* Nobody finds it from now on. */
static struct code_instance *unlink_old(struct module *m)
{
	struct code_instance *c;

	lock_acquire(&modules.lock);
	c = old_of(m);
	release_lambdas(c, false);
	unbind_on_load(c);
	set_old(m, m->saved_old);
	m->saved_old = NULL;
	lock_release(&modules.lock);
	return c;
}

int module_purge_complete(Term name, struct code_instance **unused)
{
	struct module *m = module_find(name);
	struct code_instance *c;
	bool is_used;

	*unused = NULL;
	if (name != atomic_load(&purge.module))
		return -EINVAL;
	is_used = is_old_used(m);
	c = unlink_old(m);
	if (!is_used)
		*unused = c;
	return 0;
}

struct literal_area *module_purge_end(struct code_instance *unused)
{
	struct literal_area *literals = NULL;
	struct nif_library *nif;

	if (unused != NULL) {
		literals = unused->literal_area;
		nif = unused->nif;
		free_code(unused);
		if (nif != NULL)
			nif_release_library(nif);
	}
	end_purge();
	return literals;
}

/* For who reads our memory from outside. */
static const uint32_t layout_numbers[] = {
#define LAYOUT_MODULES LAYOUT_NUMBER
#include "layout.def"
};
LAYOUT_PART(layout_modules, modules);
