/* SPDX-License-Identifier: Apache-2.0 */
/* Built-in functions: atomics and counters: arrays of 64-bit words behind a magic reference.
 * Invariant: an array with write concurrency has a row of words a scheduler, each row on cache lines of its own. */
#include <stdatomic.h>

#include "base/alloc.h"
#include "bif/bif.h"
#include "data/map.h"
#include "data/number.h"
#include "heap/refbin.h"
#include "proc/sched.h"

enum { LINE_WORDS = 8, OPT_SIGNED = 1 };

struct words_array {
	struct resource resource;
	size_t count;        /* as the program sees it */
	size_t rows, row_words;
	bool is_signed;
	_Atomic uint64_t words[];
};

static void release_array(struct resource *r)
{
	mem_free(r);
}

static const struct resource_type atomics_type = { "atomics", release_array };
static const struct resource_type counters_type = { "counters", release_array };

static Term new_array(Process *p, const struct resource_type *type, size_t count, size_t rows, bool is_signed)
{
	size_t row_words = count > (size_t)1 << 46 ? count
			   : rows == 1             ? count
						   : (count + LINE_WORDS - 1) / LINE_WORDS * LINE_WORDS;
	size_t bytes;
	struct words_array *a;
	Term ref;

	if (__builtin_mul_overflow(row_words, rows * sizeof(uint64_t), &bytes) || bytes > (size_t)1 << 46)
		return exc_system_limit(p);
	a = mem_try_alloc(sizeof(*a) + bytes);
	if (a == NULL)
		return exc_system_limit(p);
	resource_init(&a->resource, type);
	a->count = count;
	a->rows = rows;
	a->row_words = row_words;
	a->is_signed = is_signed;
	for (size_t i = 0; i < row_words * rows; i++)
		atomic_init(&a->words[i], 0);
	ref = resource_put(&p->heap, &a->resource);
	resource_unref(&a->resource);
	return ref;
}

/* More than fits is as much as fits: too many. */
static bool read_size(Term t, size_t *n)
{
	uint64_t size;
	double d;

	if (num_get_uint64(t, &size)) {
		*n = size;
		return size != 0;
	}
	*n = SIZE_MAX;
	return term_is_integer(t) && num_get_double(t, &d) && d > 0;
}

Term bif_erts_internal_atomics_new_2(Process *p, Term *args)
{
	size_t n;

	if (!read_size(args[0], &n) || !term_is_small(args[1]))
		return exc_badarg(p);
	return new_array(p, &atomics_type, n, 1, small_value(args[1]) & OPT_SIGNED);
}

Term bif_erts_internal_counters_new_1(Process *p, Term *args)
{
	size_t n;

	if (!read_size(args[0], &n))
		return exc_badarg(p);
	return new_array(p, &counters_type, n, sched_count(), true);
}

static struct words_array *find_array(Term ref, const struct resource_type *type)
{
	return (struct words_array *)resource_get(ref, type);
}

/* The word args[1] of args[0]. Fails: NULL. */
static _Atomic uint64_t *find_word(const Term *args, const struct resource_type *type, struct words_array **array)
{
	struct words_array *a = find_array(args[0], type);

	if (a == NULL || !term_is_small(args[1]) || small_value(args[1]) < 1 ||
	    (uint64_t)small_value(args[1]) > a->count)
		return NULL;
	*array = a;
	return &a->words[small_value(args[1]) - 1];
}

static bool read_value(const struct words_array *a, Term t, uint64_t *value)
{
	int64_t n;

	if (num_get_int64(t, &n)) {
		*value = (uint64_t)n;
		return a->is_signed || n >= 0;
	}
	return !a->is_signed && num_get_uint64(t, value);
}

/* What is added may have either sign, and wraps around. */
static bool read_increment(Term t, uint64_t *value)
{
	int64_t n;

	if (num_get_int64(t, &n))
		*value = (uint64_t)n;
	else
		return num_get_uint64(t, value);
	return true;
}

static Term put_value(Process *p, const struct words_array *a, uint64_t value)
{
	return a->is_signed ? heap_int(&p->heap, (int64_t)value) : heap_uint(&p->heap, value);
}

Term bif_atomics_get_2(Process *p, Term *args)
{
	struct words_array *a;
	_Atomic uint64_t *w = find_word(args, &atomics_type, &a);

	return w != NULL ? put_value(p, a, atomic_load(w)) : exc_badarg(p);
}

Term bif_atomics_put_3(Process *p, Term *args)
{
	struct words_array *a;
	_Atomic uint64_t *w = find_word(args, &atomics_type, &a);
	uint64_t value;

	if (w == NULL || !read_value(a, args[2], &value))
		return exc_badarg(p);
	atomic_store(w, value);
	return am_ok;
}

Term bif_atomics_add_3(Process *p, Term *args)
{
	struct words_array *a;
	_Atomic uint64_t *w = find_word(args, &atomics_type, &a);
	uint64_t value;

	if (w == NULL || !read_increment(args[2], &value))
		return exc_badarg(p);
	atomic_fetch_add(w, value);
	return am_ok;
}

Term bif_atomics_add_get_3(Process *p, Term *args)
{
	struct words_array *a;
	_Atomic uint64_t *w = find_word(args, &atomics_type, &a);
	uint64_t value;

	if (w == NULL || !read_increment(args[2], &value))
		return exc_badarg(p);
	return put_value(p, a, atomic_fetch_add(w, value) + value);
}

Term bif_atomics_exchange_3(Process *p, Term *args)
{
	struct words_array *a;
	_Atomic uint64_t *w = find_word(args, &atomics_type, &a);
	uint64_t value;

	if (w == NULL || !read_value(a, args[2], &value))
		return exc_badarg(p);
	return put_value(p, a, atomic_exchange(w, value));
}

Term bif_atomics_compare_exchange_4(Process *p, Term *args)
{
	struct words_array *a;
	_Atomic uint64_t *w = find_word(args, &atomics_type, &a);
	uint64_t expected, wanted;

	if (w == NULL || !read_value(a, args[2], &expected) || !read_value(a, args[3], &wanted))
		return exc_badarg(p);
	return atomic_compare_exchange_strong(w, &expected, wanted) ? am_ok : put_value(p, a, expected);
}

static Term memory_of(const struct words_array *a)
{
	return term_from_small((int64_t)(sizeof(*a) + a->rows * a->row_words * sizeof(uint64_t)));
}

Term bif_atomics_info_1(Process *p, Term *args)
{
	struct words_array *a = find_array(args[0], &atomics_type);
	struct heap *h = &p->heap;
	static const Term keys[] = { am_max, am_memory, am_min, am_size };

	if (a == NULL)
		return exc_badarg(p);
	return map_from_atoms(h, 4, keys,
			      (Term[]){ a->is_signed ? heap_int(h, INT64_MAX) : heap_uint(h, UINT64_MAX), memory_of(a),
					a->is_signed ? heap_int(h, INT64_MIN) : SMALL(0),
					term_from_small((int64_t)a->count) });
}

/* ---- counters with write concurrency: the value is the sum over the rows */

static size_t own_row(const struct words_array *a)
{
	struct sched *s = sched_self();

	size_t row = s != NULL ? s->id - 1 : 0;

	return likely(row < a->rows) ? row : row % a->rows;
}

Term bif_erts_internal_counters_get_2(Process *p, Term *args)
{
	struct words_array *a;
	_Atomic uint64_t *w = find_word(args, &counters_type, &a);
	uint64_t sum = 0;

	if (w == NULL)
		return exc_badarg(p);
	for (size_t i = 0; i < a->rows; i++)
		sum += atomic_load(&w[i * a->row_words]);
	return put_value(p, a, sum);
}

Term bif_erts_internal_counters_add_3(Process *p, Term *args)
{
	struct words_array *a;
	_Atomic uint64_t *w = find_word(args, &counters_type, &a);
	uint64_t value;

	if (w == NULL || !read_increment(args[2], &value))
		return exc_badarg(p);
	atomic_fetch_add_explicit(&w[own_row(a) * a->row_words], value, memory_order_relaxed);
	return am_ok;
}

Term bif_erts_internal_counters_put_3(Process *p, Term *args)
{
	struct words_array *a;
	_Atomic uint64_t *w = find_word(args, &counters_type, &a);
	uint64_t value;

	if (w == NULL || !read_value(a, args[2], &value))
		return exc_badarg(p);
	for (size_t i = 1; i < a->rows; i++)
		atomic_store(&w[i * a->row_words], 0);
	atomic_store(w, value);
	return am_ok;
}

Term bif_erts_internal_counters_info_1(Process *p, Term *args)
{
	struct words_array *a = find_array(args[0], &counters_type);
	static const Term keys[] = { am_memory, am_size };

	if (a == NULL)
		return exc_badarg(p);
	return map_from_atoms(&p->heap, 2, keys, (Term[]){ memory_of(a), term_from_small((int64_t)a->count) });
}

/* ---- counters of either kind: {atomics | write_concurrency, Array}. Module counters has these in Erlang. */

static inline __attribute__((always_inline)) Term call_kind(Process *p, Term counters, Term index, Term value,
							    Term (*on_atomics)(Process *, Term *),
							    Term (*on_rows)(Process *, Term *))
{
	if (unlikely(!term_is_tuple_of(counters, 2)))
		return exc_badarg(p);
	switch (tuple_get(counters, 1)) {
	case am_atomics: return on_atomics(p, (Term[]){ tuple_get(counters, 2), index, value });
	case am_write_concurrency: return on_rows(p, (Term[]){ tuple_get(counters, 2), index, value });
	default: return exc_badarg(p);
	}
}

Term bif_counters_get_2(Process *p, Term *args)
{
	return call_kind(p, args[0], args[1], NIL, bif_atomics_get_2, bif_erts_internal_counters_get_2);
}

Term bif_counters_add_3(Process *p, Term *args)
{
	return call_kind(p, args[0], args[1], args[2], bif_atomics_add_3, bif_erts_internal_counters_add_3);
}

Term bif_counters_sub_3(Process *p, Term *args)
{
	Term added = num_negate(&p->heap, args[2]);

	if (added == TERM_NONE)
		return exc_badarith(p);
	return call_kind(p, args[0], args[1], added, bif_atomics_add_3, bif_erts_internal_counters_add_3);
}

Term bif_counters_put_3(Process *p, Term *args)
{
	return call_kind(p, args[0], args[1], args[2], bif_atomics_put_3, bif_erts_internal_counters_put_3);
}

Term bif_counters_info_1(Process *p, Term *args)
{
	return call_kind(p, args[0], NIL, NIL, bif_atomics_info_1, bif_erts_internal_counters_info_1);
}
