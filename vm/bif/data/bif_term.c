/* SPDX-License-Identifier: Apache-2.0 */
/* Type tests, tuples, hashes of terms, external terms. */
#include <errno.h>

#include "base/release.h"
#include "base/alloc.h"
#include "bif/bif.h"
#include "code/export.h"
#include "data/binary.h"
#include "data/compare.h"
#include "data/etf.h"
#include "data/fun_link.h"
#include "data/number.h"
#include "data/phash.h"
#include "data/record.h"
#include "heap/copy.h"
#include "proc/sched.h"

/* The largest tuple. */
#define TUPLE_MAX (((size_t)1 << 24) - 1)

/* ---- type tests */

#define TYPE_TEST(name, test)                                          \
	Term bif_erlang_is_##name##_1(Process *p, Term *args)          \
	{                                                              \
		(void)p;                                               \
		return term_from_bool(test(args[0]));                  \
	}

static bool term_is_boolean(Term t)
{
	return t == am_true || t == am_false;
}

TYPE_TEST(atom, term_is_atom)
TYPE_TEST(boolean, term_is_boolean)
TYPE_TEST(list, term_is_list)
TYPE_TEST(tuple, term_is_tuple)
TYPE_TEST(float, term_is_float)
TYPE_TEST(integer, term_is_integer)
TYPE_TEST(number, term_is_number)
TYPE_TEST(pid, term_is_pid)
TYPE_TEST(port, term_is_port)
TYPE_TEST(reference, term_is_ref)
TYPE_TEST(binary, term_is_binary)
TYPE_TEST(bitstring, term_is_bitstring)
TYPE_TEST(map, term_is_map)
TYPE_TEST(function, term_is_fun)

/* Of OTP 29: between two integers, both included. */
Term bif_erlang_is_integer_3(Process *p, Term *args)
{
	if (!term_is_integer(args[1]) || !term_is_integer(args[2]))
		return exc_badarg(p);
	return term_from_bool(term_is_integer(args[0]) && term_compare(args[1], args[0]) <= 0 &&
			      term_compare(args[0], args[2]) <= 0);
}

Term bif_erlang_is_function_2(Process *p, Term *args)
{
	int64_t arity;

	if (term_is_big(args[1]) && header_sub(*boxed_ptr(args[1])) == SUB_BIG_POS)
		return am_false;
	if (!term_is_small(args[1]) || (arity = small_value(args[1])) < 0)
		return exc_badarg(p);
	if (term_has_sub(args[0], SUB_FUN))
		return term_from_bool(fun_arity(fun_ptr(args[0])) == (uint64_t)arity);
	if (term_has_sub(args[0], SUB_EXPORT))
		return term_from_bool(export_fun_ptr(args[0])->arity == (uint64_t)arity);
	return am_false;
}

static bool has_tag(Term t, Term tag)
{
	return term_is_tuple(t) && tuple_arity(t) > 0 && tuple_get(t, 1) == tag;
}

/* A native record, by its name, or by that of its module too. */
Term bif_erlang_is_record_2(Process *p, Term *args)
{
	if (!term_is_atom(args[1]))
		return exc_badarg(p);
	if (term_is_record(args[0]))
		return term_from_bool(tuple_get(record_definition(args[0]), RECORD_NAME) == args[1]);
	return term_from_bool(has_tag(args[0], args[1]));
}

Term bif_erlang_is_record_3(Process *p, Term *args)
{
	if (release_has_native_records() && term_is_atom(args[1]) && term_is_atom(args[2]))
		return term_from_bool(term_is_record(args[0]) &&
				      definition_is(record_definition(args[0]), args[1], args[2]));
	if (!term_is_atom(args[1]) || !term_is_small(args[2]))
		return exc_badarg(p);
	return term_from_bool(has_tag(args[0], args[1]) &&
			      (int64_t)tuple_arity(args[0]) == small_value(args[2]));
}

/* ---- tuples */

/* Is t an index of the tuple, up to `extra` past its end? */
static bool is_index(Term index, Term tuple, size_t extra)
{
	return term_is_tuple(tuple) && term_is_small(index) && small_value(index) >= 1 &&
	       (uint64_t)small_value(index) <= tuple_arity(tuple) + extra;
}

Term bif_erlang_element_2(Process *p, Term *args)
{
	return is_index(args[0], args[1], 0) ? tuple_get(args[1], (size_t)small_value(args[0])) : exc_badarg(p);
}

Term bif_erlang_setelement_3(Process *p, Term *args)
{
	Term t;

	if (!is_index(args[0], args[1], 0))
		return exc_badarg(p);
	t = heap_tuple_array(&p->heap, tuple_arity(args[1]), boxed_ptr(args[1]) + 1);
	boxed_ptr(t)[small_value(args[0])] = args[2];
	return t;
}

Term bif_erlang_tuple_size_1(Process *p, Term *args)
{
	return term_is_tuple(args[0]) ? term_from_small((int64_t)tuple_arity(args[0])) : exc_badarg(p);
}

static void fill_words(Term *at, const Term *end, Term t)
{
	for (; end - at >= 4; at += 4) /* two vectors */
		at[0] = at[1] = at[2] = at[3] = t;
	while (at < end)
		*at++ = t;
}

/* A tuple of n times t, or TERM_NONE when n is no size of one. */
static inline Term make_tuple(struct heap *h, Term n, Term t)
{
	size_t arity = (size_t)small_value(n);
	Term *at;

	if (!term_is_small(n) || small_value(n) < 0 || arity > TUPLE_MAX)
		return TERM_NONE;
	if (arity > EXC_WORDS_AT_ONCE)
		sched_lend();
	at = heap_alloc(h, arity + 1);
	at[0] = HEADER(arity, SUB_TUPLE);
	fill_words(at + 1, at + 1 + arity, t);
	if (arity > EXC_WORDS_AT_ONCE)
		sched_reclaim();
	return term_from_boxed(at);
}

Term bif_erlang_make_tuple_2(Process *p, Term *args)
{
	Term t = make_tuple(&p->heap, args[0], args[1]);

	return t != TERM_NONE ? t : exc_badarg(p);
}

Term bif_erlang_make_tuple_3(Process *p, Term *args)
{
	Term t = make_tuple(&p->heap, args[0], args[1]);
	Term list = args[2];

	if (t == TERM_NONE)
		return exc_badarg(p);
	for (; term_is_cons(list); list = cons_tail(list)) {
		Term pair = cons_head(list);

		if (!term_is_tuple_of(pair, 2) || !is_index(tuple_get(pair, 1), t, 0))
			return exc_badarg(p);
		boxed_ptr(t)[small_value(tuple_get(pair, 1))] = tuple_get(pair, 2);
	}
	return list == NIL ? t : exc_badarg(p);
}

/* The tuple with `value` put before element `index`. */
static Term insert_element(struct heap *h, Term tuple, size_t index, Term value)
{
	size_t arity = tuple_arity(tuple);
	const Term *from = boxed_ptr(tuple);
	Term *at = heap_alloc(h, arity + 2);

	at[0] = HEADER(arity + 1, SUB_TUPLE);
	term_copy(at + 1, from + 1, index - 1);
	at[index] = value;
	term_copy(at + index + 1, from + index, arity - index + 1);
	return term_from_boxed(at);
}

Term bif_erlang_append_element_2(Process *p, Term *args)
{
	if (!term_is_tuple(args[0]) || tuple_arity(args[0]) >= TUPLE_MAX)
		return exc_badarg(p);
	return insert_element(&p->heap, args[0], tuple_arity(args[0]) + 1, args[1]);
}

Term bif_erlang_insert_element_3(Process *p, Term *args)
{
	if (!is_index(args[0], args[1], 1) || tuple_arity(args[1]) >= TUPLE_MAX)
		return exc_badarg(p);
	return insert_element(&p->heap, args[1], (size_t)small_value(args[0]), args[2]);
}

Term bif_erlang_delete_element_2(Process *p, Term *args)
{
	size_t index, arity;
	const Term *from;
	Term *at;

	if (!is_index(args[0], args[1], 0))
		return exc_badarg(p);
	index = (size_t)small_value(args[0]);
	arity = tuple_arity(args[1]);
	from = boxed_ptr(args[1]);
	at = heap_alloc(&p->heap, arity);
	at[0] = HEADER(arity - 1, SUB_TUPLE);
	term_copy(at + 1, from + 1, index - 1);
	term_copy(at + index, from + index + 1, arity - index);
	return term_from_boxed(at);
}

static Term put_elements(Process *p, Term *args)
{
	return heap_list_array(&p->heap, tuple_arity(args[0]), boxed_ptr(args[0]) + 1, NIL);
}

Term bif_erlang_tuple_to_list_1(Process *p, Term *args)
{
	if (!term_is_tuple(args[0]))
		return exc_badarg(p);
	return tuple_arity(args[0]) > EXC_WORDS_AT_ONCE ? exc_run_lent(p, put_elements, args) : put_elements(p, args);
}

static Term put_tuple(Process *p, Term list, size_t n)
{
	Term *at = heap_alloc(&p->heap, n + 1);

	at[0] = HEADER(n, SUB_TUPLE);
	for (size_t i = 1; i <= n; i++, list = cons_tail(list))
		at[i] = cons_head(list);
	return term_from_boxed(at);
}

static Term list_to_tuple_whole(Process *p, Term *args)
{
	Term t = args[0];
	size_t n = 0;

	for (; term_is_cons(t); t = cons_tail(t))
		n++;
	return t == NIL && n <= TUPLE_MAX ? put_tuple(p, args[0], n) : exc_badarg(p);
}

Term bif_erlang_list_to_tuple_1(Process *p, Term *args)
{
	Term t = args[0];
	size_t n = 0;

	for (; term_is_cons(t) && n < EXC_WORDS_AT_ONCE; t = cons_tail(t))
		n++;
	if (term_is_cons(t))
		return exc_run_lent(p, list_to_tuple_whole, args);
	return t == NIL ? put_tuple(p, args[0], n) : exc_badarg(p);
}

/* ---- hashes */

/* Ranges go from 1 to 2^32. */
static bool get_range(Term t, uint64_t *range)
{
	return num_get_uint64(t, range) && *range >= 1 && *range <= (uint64_t)1 << 32;
}

/* hash(args[0]) in a range: of args[1], or of 27 bits. TERM_NONE: it has more than `most` words. */
static Term hash_in_range(Process *p, Term *args, unsigned arity, int64_t most,
			  bool (*hash)(Term t, int64_t *left, uint32_t *out))
{
	uint64_t range = 1 << 27;
	int64_t left = most;
	uint32_t value;
	bool is_whole;

	if (arity == 2)
		get_range(args[1], &range);
	is_whole = hash(args[0], &left, &value);
	process_bump_words(p, (size_t)(most - left));
	if (!is_whole)
		return TERM_NONE;
	return term_from_small((int64_t)(value % range) + (hash == phash_within));
}

static Term phash_2(Process *p, Term *args) { return hash_in_range(p, args, 2, INT64_MAX, phash_within); }
static Term phash2_1(Process *p, Term *args) { return hash_in_range(p, args, 1, INT64_MAX, phash2_within); }
static Term phash2_2(Process *p, Term *args) { return hash_in_range(p, args, 2, INT64_MAX, phash2_within); }

/* About a millisecond of hashing. */
enum { HASH_WORDS_AT_ONCE = 1 << 18 };

/* At once when it is short, else by `work`, from the beginning, with the scheduler lent. */
static Term hash_short_or_long(Process *p, Term *args, unsigned arity,
			       bool (*hash)(Term t, int64_t *left, uint32_t *out),
			       Term (*work)(Process *p, Term *args))
{
	Term result = hash_in_range(p, args, arity, HASH_WORDS_AT_ONCE, hash);

	return result != TERM_NONE ? result : exc_run_lent(p, work, args);
}

Term bif_erlang_phash_2(Process *p, Term *args)
{
	uint64_t range;

	return get_range(args[1], &range) ? hash_short_or_long(p, args, 2, phash_within, phash_2) : exc_badarg(p);
}

Term bif_erlang_phash2_1(Process *p, Term *args)
{
	return hash_short_or_long(p, args, 1, phash2_within, phash2_1);
}

Term bif_erlang_phash2_2(Process *p, Term *args)
{
	uint64_t range;

	return get_range(args[1], &range) ? hash_short_or_long(p, args, 2, phash2_within, phash2_2) : exc_badarg(p);
}

/* ---- external terms */

static bool read_encode_option(Term option, unsigned *flags)
{
	Term value;

	if (option == am_compressed) {
		*flags &= ~ETF_LEVEL(15);
		*flags |= ETF_COMPRESSED | ETF_LEVEL(6);
		return true;
	}
	if (option == am_deterministic) {
		*flags |= ETF_DETERMINISTIC;
		return true;
	}
	if (option == am_local && release_is_from(26)) {
		*flags |= ETF_LOCAL;
		return true;
	}
	if (!term_is_tuple_of(option, 2) || !term_is_small(tuple_get(option, 2)))
		return false;
	value = (Term)small_value(tuple_get(option, 2));
	if (tuple_get(option, 1) == am_minor_version && value <= 2) {
		*flags &= ~(unsigned)(ETF_MINOR_0 | ETF_ATOMS_LATIN1);
		*flags |= value == 0 ? ETF_MINOR_0 | ETF_ATOMS_LATIN1 : value == 1 ? ETF_ATOMS_LATIN1 : 0;
		return true;
	}
	if (tuple_get(option, 1) == am_compressed && value <= 9) {
		*flags &= ~(ETF_LEVEL(15) | ETF_COMPRESSED);
		*flags |= value > 0 ? ETF_COMPRESSED | ETF_LEVEL(value) : 0;
		return true;
	}
	return false;
}

static bool read_encode_options(Term list, unsigned *flags)
{
	*flags = etf_default_flags();
	for (; term_is_cons(list); list = cons_tail(list))
		if (!read_encode_option(cons_head(list), flags))
			return false;
	return list == NIL && (*flags & (ETF_DETERMINISTIC | ETF_LOCAL)) != (ETF_DETERMINISTIC | ETF_LOCAL);
}

/* Units of data/etf.h a reduction. */
enum { ETF_UNITS_A_REDUCTION = 12 };

static int64_t etf_units(const Process *p)
{
	return (int64_t)(p->reds_left > 0 ? p->reds_left : 1) * ETF_UNITS_A_REDUCTION;
}
static void charge_units(Process *p, int64_t had, int64_t left)
{
	process_bump(p, (int)((had - left) / ETF_UNITS_A_REDUCTION));
}

struct encode_steps {
	struct exc_steps steps;
	struct etf_encoder *encoder;
};

static Term encode_step(Process *p, struct exc_steps *steps)
{
	struct encode_steps *s = (struct encode_steps *)steps;
	int64_t had = etf_units(p), left = had;
	Term t;
	int status = etf_encoder_step(s->encoder, &left, &p->heap, &t);

	charge_units(p, had, left);
	if (status == -EAGAIN)
		return EXC_MORE;
	return status == 0 ? t : exc_system_limit(p);
}

static void encode_end(struct exc_steps *steps)
{
	etf_encoder_free(((struct encode_steps *)steps)->encoder);
}

enum encode_result { ENCODE_BINARY, ENCODE_IOVEC, ENCODE_SIZE };

/* args: the native's; args[1]: options. Most terms take one step, which needs nothing of the allocator. */
static Term encode_term(Process *p, const Term *args, unsigned arity, enum encode_result wanted)
{
	int64_t had = etf_units(p), left = had;
	unsigned flags = etf_default_flags();
	struct etf_encoder *rest;
	struct encode_steps *s;
	int status;
	Term t;

	if (arity == 2 && !read_encode_options(args[1], &flags))
		return exc_badarg(p);
	if (wanted == ENCODE_IOVEC)
		flags |= ETF_IOVEC;
	status = etf_encode_start(args[0], flags, wanted == ENCODE_SIZE, &left, &p->heap, &t, &rest);
	charge_units(p, had, left);
	if (status != -EAGAIN)
		return status == 0 ? t : exc_system_limit(p);
	s = mem_alloc(sizeof(*s));
	s->steps = (struct exc_steps){ .step = encode_step,
				       .end = encode_end,
				       .place = { am_erts_internal, am_term_to_binary_trap, 1 } };
	s->encoder = rest;
	return exc_run_steps(p, &s->steps, args, arity);
}

Term bif_erlang_term_to_binary_1(Process *p, Term *args) { return encode_term(p, args, 1, ENCODE_BINARY); }
Term bif_erlang_term_to_binary_2(Process *p, Term *args) { return encode_term(p, args, 2, ENCODE_BINARY); }
Term bif_erlang_term_to_iovec_1(Process *p, Term *args) { return encode_term(p, args, 1, ENCODE_IOVEC); }
Term bif_erlang_term_to_iovec_2(Process *p, Term *args) { return encode_term(p, args, 2, ENCODE_IOVEC); }
Term bif_erlang_external_size_1(Process *p, Term *args) { return encode_term(p, args, 1, ENCODE_SIZE); }

/* OTP 25 takes {minor_version, 0 | 1} only; later ones what term_to_binary takes. */
Term bif_erlang_external_size_2(Process *p, Term *args)
{
	for (Term list = args[1]; !release_is_from(26) && term_is_cons(list); list = cons_tail(list)) {
		Term option = cons_head(list);

		if (!term_is_tuple_of(option, 2) || tuple_get(option, 1) != am_minor_version ||
		    tuple_get(option, 2) == SMALL(2))
			return exc_badarg(p);
	}
	return encode_term(p, args, 2, ENCODE_SIZE);
}

struct decode_steps {
	struct exc_steps steps;
	struct etf_decoder *decoder;
	uint8_t *scratch;    /* the bytes, when they do not stand at a byte; owned */
	bool used_too;       /* the result is {Term, Used} */
};

static Term end_decoding(Process *p, int status, Term t, size_t used, bool used_too)
{
	if (status != 0)
		return exc_badarg(p);
	return used_too ? heap_tuple(&p->heap, t, term_from_small((int64_t)used)) : t;
}

static Term decode_step(Process *p, struct exc_steps *steps)
{
	struct decode_steps *s = (struct decode_steps *)steps;
	int64_t had = etf_units(p), left = had;
	size_t used;
	Term t;
	int status = etf_decoder_step(s->decoder, &left, &t, &used);

	charge_units(p, had, left);
	return status == -EAGAIN ? EXC_MORE : end_decoding(p, status, t, used, s->used_too);
}

static void decode_end(struct exc_steps *steps)
{
	struct decode_steps *s = (struct decode_steps *)steps;

	etf_decoder_free(s->decoder);
	mem_free(s->scratch);
}

/* args: the native's. */
static Term decode_term(Process *p, const Term *args, unsigned arity, unsigned flags, bool used_too)
{
	int64_t had = etf_units(p), left = had;
	struct etf_decoder *rest;
	struct decode_steps *s;
	size_t n, used;
	uint8_t *scratch;
	const uint8_t *bytes = binary_bytes(args[0], &n, &scratch);
	int status;
	Term t;

	if (bytes == NULL)
		return exc_badarg(p);
	status = etf_decode_start(bytes, n, flags, &left, &p->heap, &t, &used, &rest);
	charge_units(p, had, left);
	if (status != -EAGAIN) {
		mem_free(scratch);
		return end_decoding(p, status, t, used, used_too);
	}
	s = mem_alloc(sizeof(*s));
	s->steps = (struct exc_steps){ .step = decode_step,
				       .end = decode_end,
				       .place = { am_erts_internal, am_binary_to_term_trap, 1 } };
	s->decoder = rest;
	s->scratch = scratch;
	s->used_too = used_too;
	return exc_run_steps(p, &s->steps, args, arity);
}

Term bif_erlang_binary_to_term_1(Process *p, Term *args)
{
	return decode_term(p, args, 1, 0, false);
}

Term bif_erlang_binary_to_term_2(Process *p, Term *args)
{
	unsigned flags = 0;
	bool used_too = false;
	Term list = args[1];

	for (; term_is_cons(list); list = cons_tail(list)) {
		if (cons_head(list) == am_safe)
			flags |= ETF_SAFE;
		else if (cons_head(list) == am_used)
			used_too = true;
		else
			return exc_badarg_cause(p, am_badopt);
	}
	return list == NIL ? decode_term(p, args, 2, flags, used_too) : exc_badarg_cause(p, am_badopt);
}

/* ---- erts_debug */

Term bif_erts_debug_same_2(Process *p, Term *args)
{
	(void)p;
	return term_from_bool(args[0] == args[1]);
}

Term bif_erts_debug_flat_size_1(Process *p, Term *args)
{
	return heap_uint(&p->heap, copy_flat_size_words(args[0]));
}
