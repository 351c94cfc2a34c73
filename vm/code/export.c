/* SPDX-License-Identifier: Apache-2.0 */
/* The export table: entries in one reserved range, chained in buckets. Readers take no lock: an entry is complete
 * before its bucket names it, and stays. */
#include "code/export.h"

#include <sys/mman.h>

#include "base/alloc.h"
#include "base/lock.h"
#include "base/range.h"
#include "layout.h"

enum { BUCKET_BITS = 16, BUCKETS = 1 << BUCKET_BITS, EXPORTS_MAX = 1 << 22 };

static const size_t shares[EXPORT_NAMERS] = {
	[NAMED_BY_VM] = 1, [NAMED_BY_CODE] = EXPORTS_CODE_SHARE, [NAMED_BY_CALLS] = EXPORTS_CALLS_SHARE,
	[NAMED_BY_BYTES] = EXPORTS_BYTES_SHARE,
};

void (*export_make_stub)(struct export *e);

static struct {
	struct lock lock;
	struct mem_range range;
	struct export *entries; /* at its base */
	size_t room, count;     /* so many does the range hold; so many are there */
	size_t named[EXPORT_NAMERS];   /* so many of them each has named */
	atomic_uint loads;
	_Atomic(struct export *) buckets[BUCKETS];
	struct export *instructions[EXPORT_INSTRUCTIONS_MAX]; /* twins of natives; written before anything runs */
	size_t instruction_count;
} exports;

void export_init(void)
{
	range_reserve(&exports.range, EXPORTS_MAX * sizeof(struct export), RANGE_LIMITED);
	exports.entries = (struct export *)exports.range.base;
	exports.room = exports.range.bytes / sizeof(struct export);
	lock_init(&exports.lock, LOCK_export_table);
}

size_t export_room(void)
{
	return exports.room;
}

static _Atomic(struct export *) *find_bucket(Term module, Term function, uint32_t arity)
{
	/* One multiplication: apply looks up each function that it calls. */
	uint64_t h = ((uint64_t)atom_index(module) << 32 ^ atom_index(function) ^ (uint64_t)arity << 24) *
		     0x9e3779b97f4a7c15;

	return &exports.buckets[h >> (64 - BUCKET_BITS)];
}

static struct export *find_in(struct export *e, Term module, Term function, uint32_t arity)
{
	while (e != NULL && (e->module != module || e->function != function || e->arity != arity))
		e = e->next;
	return e;
}

struct export *export_find(Term module, Term function, uint32_t arity)
{
	struct export *first = atomic_load_explicit(find_bucket(module, function, arity), memory_order_acquire);

	return find_in(first, module, function, arity);
}

struct export *export_find_safe(Term module, Term function, uint32_t arity)
{
	struct export *e = export_find(module, function, arity);

	return e != NULL && (export_is_loaded(e) || e->made_at != atomic_load(&exports.loads)) ? e : NULL;
}

void export_count_load(void)
{
	atomic_fetch_add(&exports.loads, 1);
}

/* Only under the lock. The entry is in no bucket. Fails: NULL, there is no room. */
static struct export *make_entry(Term module, Term function, uint32_t arity)
{
	struct export *e;

	if (exports.count == exports.room || !range_commit(&exports.range, (exports.count + 1) * sizeof(struct export)))
		return NULL;
	e = &exports.entries[exports.count];
	e->module = module;
	e->function = function;
	e->arity = arity;
	e->made_at = atomic_load(&exports.loads);
	if (export_make_stub != NULL)
		export_make_stub(e);
	atomic_store_explicit(&e->address, e->stub, memory_order_relaxed);
	exports.count++;
	return e;
}

/* The same. */
static void enter(_Atomic(struct export *) *bucket, struct export *e)
{
	e->next = atomic_load_explicit(bucket, memory_order_relaxed);
	atomic_store_explicit(bucket, e, memory_order_release);
}

/* Fails: NULL, there is no room for a name more of that namer's. */
static __attribute__((noinline)) struct export *add_entry(Term module, Term function, uint32_t arity,
							  enum export_namer namer)
{
	_Atomic(struct export *) *bucket = find_bucket(module, function, arity);
	struct export *e;

	lock_acquire(&exports.lock);
	e = find_in(atomic_load_explicit(bucket, memory_order_relaxed), module, function, arity);
	if (e == NULL && exports.named[namer] < exports.room / shares[namer]) {
		e = make_entry(module, function, arity);
		if (e != NULL) {
			enter(bucket, e);
			exports.named[namer]++;
		}
	}
	lock_release(&exports.lock);
	return e;
}

static inline struct export *get_entry(Term module, Term function, uint32_t arity, enum export_namer namer)
{
	struct export *e = export_find(module, function, arity);

	return likely(e != NULL) ? e : add_entry(module, function, arity, namer);
}

struct export *export_get(Term module, Term function, uint32_t arity)
{
	struct export *e = get_entry(module, function, arity, NAMED_BY_VM);

	ENSURE(e != NULL);
	return e;
}

struct export *export_try_get(Term module, Term function, uint32_t arity, enum export_namer namer)
{
	return get_entry(module, function, arity, namer);
}

void export_set_bif(struct export *e, bif_fn fn, const char *name)
{
	e->bif = e->call = fn;
	e->bif_name = name;
	if (export_make_stub != NULL)
		export_make_stub(e);
	atomic_store_explicit(&e->address, e->stub, memory_order_release);
}

struct export *export_new_hidden(Term module, Term function, uint32_t arity, bif_fn fn, const char *name)
{
	struct export *e;

	lock_acquire(&exports.lock);
	e = make_entry(module, function, arity);
	lock_release(&exports.lock);
	ENSURE(e != NULL);
	export_set_bif(e, fn, name);
	return e;
}

void export_add_instruction(struct export *e)
{
	struct export *twin = export_new_hidden(e->module, e->function, e->arity, e->bif, e->bif_name);

	ENSURE(exports.instruction_count < EXPORT_INSTRUCTIONS_MAX);
	twin->is_own = e->is_own;
	exports.instructions[exports.instruction_count++] = twin;
}

struct export *export_direct(struct export *e)
{
	for (size_t i = 0; e->bif != NULL && i < exports.instruction_count; i++)
		if (exports.instructions[i]->bif == e->bif)
			return exports.instructions[i];
	return e;
}

bool export_is_loaded(const struct export *e)
{
	return e->bif != NULL || atomic_load_explicit(&e->address, memory_order_acquire) != e->stub;
}

void export_set_address(struct export *e, const Inst *address)
{
	if (e->bif == NULL)
		atomic_store_explicit(&e->address, address, memory_order_release);
}

void export_unset_address(struct export *e)
{
	export_set_address(e, e->stub);
}

struct export *export_of_stub(const Inst *pc)
{
	uintptr_t offset = (uintptr_t)pc - (uintptr_t)exports.entries;

	if (offset >= exports.range.bytes)
		return NULL;
	return &exports.entries[offset / sizeof(struct export)];
}

bool export_is_raiser(const struct export *e)
{
	if (e->module != am_erlang)
		return false;
	if (e->function == am_error)
		return e->arity >= 1 && e->arity <= 3;
	return (e->function == am_exit || e->function == am_throw) && e->arity == 1;
}

void export_each(void (*see)(struct export *e, void *arg), void *arg)
{
	for (size_t i = 0; i < BUCKETS; i++)
		for (struct export *e = atomic_load_explicit(&exports.buckets[i], memory_order_acquire); e != NULL;
		     e = e->next)
			see(e, arg);
}

/* For who reads our memory from outside. */
static const uint32_t layout_numbers[] = {
#define LAYOUT_EXPORTS LAYOUT_NUMBER
#include "layout.def"
};
LAYOUT_PART(layout_exports, exports);
