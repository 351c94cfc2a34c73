/* SPDX-License-Identifier: Apache-2.0 */
/* Module binary, without its searches (bif_binary_search.c). */
#include <endian.h>

#include "base/alloc.h"
#include "bif/bif.h"
#include "data/big.h"
#include "data/binary.h"
#include "data/bitcopy.h"
#include "data/number.h"

/* Memory that is new takes longer to write than what is there to read. */
enum { BYTES_A_REDUCTION = 128, COPIED_A_REDUCTION = 128, COPIED_AT_ONCE = 1 << 16 };

static Term read_byte(Term binary, size_t at)
{
	struct bits_view v = binary_view(binary);

	if (likely(v.offset % 8 == 0))
		return SMALL(v.base[v.offset / 8 + at]);
	return SMALL(bitcopy_read(v.base, v.offset + (uint64_t)at * 8, 8));
}

Term bif_binary_at_2(Process *p, Term *args)
{
	if (!term_is_binary(args[0]) || !term_is_small(args[1]) ||
	    (uint64_t)small_value(args[1]) >= binary_size_bytes(args[0]))
		return exc_badarg(p);
	return read_byte(args[0], (size_t)small_value(args[1]));
}

Term bif_binary_first_1(Process *p, Term *args)
{
	if (!term_is_binary(args[0]) || binary_size_bytes(args[0]) == 0)
		return exc_badarg(p);
	return read_byte(args[0], 0);
}

Term bif_binary_last_1(Process *p, Term *args)
{
	if (!term_is_binary(args[0]) || binary_size_bytes(args[0]) == 0)
		return exc_badarg(p);
	return read_byte(args[0], binary_size_bytes(args[0]) - 1);
}

/* ---- copies, large ones in steps */

struct copy_steps {
	struct exc_steps steps;
	struct bits_view from;
	size_t once, done, total; /* bytes: of `from`, copied, of the copy */
	uint8_t *to;
	Term copy;
};

/* Fills the next bytes, at most so many. What is there is copied again, so that one byte many times costs few calls. */
static void copy_some(struct copy_steps *s, size_t most)
{
	size_t at = s->done % s->once, n = s->done < s->once ? s->once - s->done : s->done - at;

	if (n > s->total - s->done)
		n = s->total - s->done;
	if (n > most)
		n = most;
	if (s->done < s->once)
		bitcopy_copy(s->to + s->done, 0, s->from.base, s->from.offset + (uint64_t)s->done * 8, (uint64_t)n * 8);
	else
		memcpy(s->to + s->done, s->to + at, n);
	s->done += n;
}

static Term copy_step(Process *p, struct exc_steps *steps)
{
	struct copy_steps *s = (struct copy_steps *)steps;
	size_t before = s->done, most = (size_t)(p->reds_left > 0 ? p->reds_left : 1) * COPIED_A_REDUCTION;

	while (s->done < s->total && s->done - before < most)
		copy_some(s, most - (s->done - before));
	process_bump(p, 1 + (int)((s->done - before) / COPIED_A_REDUCTION));
	return s->done < s->total ? EXC_MORE : s->copy;
}

static Term copy_in_steps(Process *p, Term *args, unsigned arity, struct bits_view from, Term copy, uint8_t *to,
			  size_t total)
{
	struct copy_steps *s = mem_alloc(sizeof(*s));

	*s = (struct copy_steps){ .steps = { .step = copy_step, .place = { am_erlang, am_binary_copy_trap, 2 } },
				  .from = from, .once = from.size / 8, .total = total, .to = to, .copy = copy };
	return exc_run_steps(p, &s->steps, args, arity);
}

static Term copy_times(Process *p, Term *args, unsigned arity, uint64_t times)
{
	struct bits_view v;
	uint8_t *to;
	size_t n, total;
	Term t;

	if (!term_is_bitstring(args[0]) || (times > 0 && !term_is_binary(args[0])))
		return exc_badarg(p);
	v = binary_view(args[0]);
	n = v.size / 8;
	if (__builtin_mul_overflow(n, times, &total))
		return exc_system_limit(p);
	t = binary_alloc(&p->heap, total, &to);
	if (t == TERM_NONE)
		return exc_system_limit(p);
	if (total == 0)
		return t;
	if (total > COPIED_AT_ONCE)
		return copy_in_steps(p, args, arity, v, t, to, total);
	bitcopy_copy(to, 0, v.base, v.offset, v.size);
	/* As copy_some, but without a state to be set up: a few bytes are copied in less time than that. */
	for (size_t done = n; done < total; done *= 2)
		memcpy(to + done, to, done < total - done ? done : total - done);
	process_bump(p, (int)(total / COPIED_A_REDUCTION));
	return t;
}

Term bif_binary_copy_1(Process *p, Term *args)
{
	return copy_times(p, args, 1, 1);
}

Term bif_binary_copy_2(Process *p, Term *args)
{
	uint64_t times;

	if (!num_get_uint64(args[1], &times))
		return exc_badarg(p);
	return copy_times(p, args, 2, times);
}

Term bif_binary_referenced_byte_size_1(Process *p, Term *args)
{
	uint64_t offset;
	Term original;

	if (!term_is_bitstring(args[0]))
		return exc_badarg(p);
	original = binary_original(args[0], &offset);
	if (term_has_sub(original, SUB_REFBIN))
		return heap_uint(&p->heap, ((struct refbin *)boxed_ptr(original))->binary->size_bytes);
	return heap_uint(&p->heap, binary_size_bytes(original));
}

/* ---- what binaries have in common at their starts or ends, in steps */

struct common_steps {
	struct exc_steps steps;
	struct bits_view first;
	Term rest;           /* the binaries still to be held against the first */
	size_t common, same; /* bytes that all before have in common; of those, the same in the head of `rest` */
	bool suffix;
};

/* The n bytes behind the first i ones, from the front or from the back. */
static uint64_t common_bytes(const struct bits_view *v, size_t i, unsigned n, bool suffix)
{
	uint64_t at = suffix ? v->size - (uint64_t)(i + n) * 8 : (uint64_t)i * 8;

	return bitcopy_read(v->base, v->offset + at, n * 8);
}

/* How many of the first `end` bytes are the same, where `same` are. */
static size_t count_same(const struct bits_view *a, const struct bits_view *b, size_t same, size_t end, bool suffix)
{
	while (end - same >= 8) {
		uint64_t d = common_bytes(a, same, 8, suffix) ^ common_bytes(b, same, 8, suffix);

		if (d != 0)
			return same + (size_t)(suffix ? __builtin_ctzll(d) : __builtin_clzll(d)) / 8;
		same += 8;
	}
	while (same < end && common_bytes(a, same, 1, suffix) == common_bytes(b, same, 1, suffix))
		same++;
	return same;
}

static Term common_step(Process *p, struct exc_steps *steps)
{
	struct common_steps *s = (struct common_steps *)steps;

	for (; s->rest != NIL; s->rest = cons_tail(s->rest), s->same = 0) {
		struct bits_view v = binary_view(cons_head(s->rest));
		size_t most = (size_t)(p->reds_left > 0 ? p->reds_left : 1) * BYTES_A_REDUCTION, end, same;

		if (s->common > v.size / 8)
			s->common = v.size / 8;
		end = s->common - s->same < most ? s->common : s->same + most;
		same = count_same(&s->first, &v, s->same, end, s->suffix);
		process_bump(p, 1 + (int)((same - s->same) / BYTES_A_REDUCTION));
		s->same = same;
		if (same == end && end < s->common)
			return EXC_MORE;
		s->common = same;
	}
	return heap_uint(&p->heap, s->common);
}

static bool is_binary_list(Term list)
{
	for (; term_is_cons(list); list = cons_tail(list))
		if (!term_is_binary(cons_head(list)))
			return false;
	return list == NIL;
}

static Term longest_common(Process *p, const Term *args, bool suffix)
{
	struct common_steps *s;

	if (!term_is_cons(args[0]) || !is_binary_list(args[0]))
		return exc_badarg(p);
	s = mem_alloc(sizeof(*s));
	*s = (struct common_steps){
		{ .step = common_step,
		  .place = { am_erlang, suffix ? am_binary_longest_suffix_trap : am_binary_longest_prefix_trap, 3 } },
		.first = binary_view(cons_head(args[0])),
		.rest = cons_tail(args[0]),
		.suffix = suffix
	};
	s->common = s->first.size / 8;
	return exc_run_steps(p, &s->steps, args, 1);
}

Term bif_binary_longest_common_prefix_1(Process *p, Term *args)
{
	return longest_common(p, args, false);
}

Term bif_binary_longest_common_suffix_1(Process *p, Term *args)
{
	return longest_common(p, args, true);
}

/* A binary on the heap has room for the whole word. */
static Term encode_small(struct heap *h, uint64_t value, bool little)
{
	size_t n = (71 - (size_t)__builtin_clzll(value | 1)) / 8;
	uint64_t word = little ? htole64(value) : htobe64(value << (64 - 8 * n));
	uint8_t *to;
	Term binary = binary_alloc_on_heap(h, n, &to);

	memcpy(to, &word, sizeof(word));
	return binary;
}

static Term encode_unsigned(Process *p, Term t, bool little)
{
	struct big_view v;
	uint8_t *to;
	size_t whole, rest; /* limbs below the highest; bytes of that one */
	uint64_t highest;
	Term binary;

	if (term_is_small(t) && small_value(t) >= 0)
		return encode_small(&p->heap, (uint64_t)small_value(t), little);
	if (!term_is_big(t))
		return exc_badarg(p);
	big_view(t, &v);
	if (v.negative)
		return exc_badarg(p);
	whole = v.count - 1;
	highest = v.limbs[whole];
	rest = (71 - (size_t)__builtin_clzll(highest)) / 8;
	binary = binary_alloc(&p->heap, whole * 8 + rest, &to);
	if (binary == TERM_NONE)
		return exc_system_limit(p);
	for (size_t i = 0; i < whole; i++)
		if (little)
			bitcopy_put_64(to + i * 8, __builtin_bswap64(v.limbs[i]));
		else
			bitcopy_put_64(to + rest + (whole - 1 - i) * 8, v.limbs[i]);
	for (size_t i = 0; i < rest; i++, highest >>= 8)
		to[little ? whole * 8 + i : rest - 1 - i] = (uint8_t)highest;
	return binary;
}

static __attribute__((noinline)) Term decode_any(Process *p, Term t, bool little)
{
	uint8_t *scratch;
	size_t n;
	const uint8_t *bytes = binary_bytes(t, &n, &scratch);
	Term number;

	if (bytes == NULL)
		return exc_badarg(p);
	number = num_from_bytes(&p->heap, bytes, n, little, false);
	mem_free(scratch);
	return number != TERM_NONE ? number : exc_system_limit(p);
}

/* Those of up to a word are read where they are. */
static Term decode_unsigned(Process *p, Term t, bool little)
{
	uint64_t number = 0;
	struct bits_view v;

	if (unlikely(!term_is_binary(t)))
		return exc_badarg(p);
	v = binary_view(t);
	if (unlikely(v.offset != 0 || v.size > 64))
		return decode_any(p, t, little);
	for (size_t n = v.size / 8, i = 0; i < n; i++)
		number = number << 8 | v.base[little ? n - 1 - i : i];
	return heap_uint(&p->heap, number);
}

Term bif_binary_encode_unsigned_1(Process *p, Term *args)
{
	return encode_unsigned(p, args[0], false);
}

Term bif_binary_encode_unsigned_2(Process *p, Term *args)
{
	if (args[1] != am_little && args[1] != am_big)
		return exc_badarg(p);
	return encode_unsigned(p, args[0], args[1] == am_little);
}

Term bif_binary_decode_unsigned_1(Process *p, Term *args)
{
	return decode_unsigned(p, args[0], false);
}

Term bif_binary_decode_unsigned_2(Process *p, Term *args)
{
	if (args[1] != am_little && args[1] != am_big)
		return exc_badarg(p);
	return decode_unsigned(p, args[0], args[1] == am_little);
}
