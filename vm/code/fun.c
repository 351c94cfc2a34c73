/* SPDX-License-Identifier: Apache-2.0 */
/* Fun entries in buckets. Readers take no lock: an entry is complete before its bucket names it, and stays. */
#include "code/fun.h"

#include <errno.h>
#include <string.h>

#include "base/alloc.h"
#include "base/hash.h"
#include "base/lock.h"
#include "base/log.h"
#include "code/export.h"
#include "data/fun_link.h"
#include "heap/literal.h"

enum { BUCKETS = 1 << 14, LITERALS_AT_ONCE = 256 };

static struct {
	struct lock lock;
	size_t foreign_count; /* lock */
	_Atomic(struct fun_entry *) buckets[BUCKETS];
	struct literal_area *literals; /* where the next fun M:F/A goes */
} funs;

static bool is_entry_of(const struct fun_entry *e, const struct fun_facts *f)
{
	return e->module == f->module && e->index == f->index && e->old_uniq == f->old_uniq &&
	       e->old_index == f->old_index && memcmp(e->uniq, f->uniq, sizeof(e->uniq)) == 0;
}

static struct fun_entry *find_in(struct fun_entry *e, const struct fun_facts *f)
{
	while (e != NULL && !is_entry_of(e, f))
		e = e->next;
	return e;
}

/* Of the lambda that f describes; NULL: it is foreign, and there are as many of those as may be. */
static struct fun_entry *get_entry(const struct fun_facts *f, bool is_foreign)
{
	uint64_t h = hash_word(hash_bytes(f->uniq, 16) + f->module + ((uint32_t)f->index + (uint32_t)f->old_uniq));
	_Atomic(struct fun_entry *) *bucket = &funs.buckets[h % BUCKETS];
	struct fun_entry *e = find_in(atomic_load_explicit(bucket, memory_order_acquire), f);

	if (e != NULL)
		return e;
	lock_acquire(&funs.lock);
	e = find_in(atomic_load_explicit(bucket, memory_order_relaxed), f);
	if (e == NULL && (!is_foreign || funs.foreign_count < FUNS_FOREIGN_MAX)) {
		funs.foreign_count += is_foreign;
		e = mem_zalloc(sizeof(*e));
		e->module = f->module;
		e->index = f->index;
		e->old_index = f->old_index;
		e->old_uniq = f->old_uniq;
		memcpy(e->uniq, f->uniq, sizeof(e->uniq));
		e->next = atomic_load_explicit(bucket, memory_order_relaxed);
		atomic_store_explicit(bucket, e, memory_order_release);
	}
	lock_release(&funs.lock);
	return e;
}

struct fun_entry *fun_get(Term module, const uint8_t uniq[16], int32_t index, int32_t old_index, int32_t old_uniq)
{
	struct fun_facts f = { .module = module, .index = index, .old_index = old_index, .old_uniq = old_uniq };

	memcpy(f.uniq, uniq, sizeof(f.uniq));
	return get_entry(&f, false);
}

/* Only under the lock. */
static Term make_literal(struct export *e)
{
	Term object[EXPORT_FUN_WORDS] = { HEADER(EXPORT_FUN_WORDS - 1, SUB_EXPORT), (Term)(uintptr_t)e };
	struct literal_area *a = funs.literals;

	if (a == NULL || (size_t)(a->end - a->top) < EXPORT_FUN_WORDS) {
		a = literal_new(LITERALS_AT_ONCE * EXPORT_FUN_WORDS);
		if (a == NULL)
			log_refused("make a fun", ENOMEM);
		funs.literals = a;
	}
	return literal_put(a, term_from_boxed(object));
}

Term fun_of_export(struct export *e)
{
	Term t = __atomic_load_n(&e->fun_literal, __ATOMIC_ACQUIRE);

	if (t != TERM_NONE)
		return t;
	lock_acquire(&funs.lock);
	if (e->fun_literal == TERM_NONE)
		__atomic_store_n(&e->fun_literal, make_literal(e), __ATOMIC_RELEASE);
	lock_release(&funs.lock);
	return e->fun_literal;
}

/* ---- what data/ asks */

static void describe_fun(const struct fun_entry *e, struct fun_facts *f)
{
	f->module = e->module;
	f->function = e->function;
	f->index = e->index;
	f->old_index = e->old_index;
	f->old_uniq = e->old_uniq;
	memcpy(f->uniq, e->uniq, sizeof(f->uniq));
	f->arity = e->arity - e->num_free;
}

/* An entry that no code gave its arity has that of the external term that names it. */
static struct fun_entry *get_described(const struct fun_facts *f)
{
	struct fun_entry *e = get_entry(f, true);

	if (e != NULL && e->function == TERM_NONE)
		e->arity = f->arity;
	return e;
}

static void describe_export(const struct export *e, struct export_facts *f)
{
	f->module = e->module;
	f->function = e->function;
	f->arity = e->arity;
}

static struct export *get_export(Term module, Term function, uint32_t arity)
{
	return export_try_get(module, function, arity, NAMED_BY_BYTES);
}

void fun_init(void)
{
	lock_init(&funs.lock, LOCK_fun_table);
	fun_link_describe = describe_fun;
	fun_link_get = get_described;
	fun_link_describe_export = describe_export;
	fun_link_get_export = get_export;
	fun_link_find_export = export_find_safe;
}
