/* SPDX-License-Identifier: Apache-2.0 */
/* Module binary, without its searches (bif_binary_search.c). */
#include "base/alloc.h"
#include "bif/bif.h"
#include "data/big.h"
#include "data/binary.h"
#include "data/bitcopy.h"
#include "data/number.h"

enum { BYTES_A_REDUCTION = 512 };

static Term read_byte(Term binary, size_t at)
{
	struct bits_view v = binary_view(binary);

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

static Term copy_times(Process *p, Term binary, uint64_t times)
{
	struct bits_view v;
	uint8_t *to;
	size_t n, total;
	Term t;

	if (!term_is_bitstring(binary) || (times > 0 && !term_is_binary(binary)))
		return exc_badarg(p);
	v = binary_view(binary);
	n = v.size / 8;
	if (__builtin_mul_overflow(n, times, &total))
		return exc_system_limit(p);
	t = binary_alloc(&p->heap, total, &to);
	if (t == TERM_NONE)
		return exc_system_limit(p);
	if (total == 0)
		return t;
	bitcopy_copy(to, 0, v.base, v.offset, v.size);
	/* What is there is doubled, so that one byte many times costs few calls. */
	for (size_t done = n; done < total; done *= 2)
		memcpy(to + done, to, done < total - done ? done : total - done);
	process_bump(p, (int)(total / BYTES_A_REDUCTION));
	return t;
}

Term bif_binary_copy_1(Process *p, Term *args)
{
	return copy_times(p, args[0], 1);
}

Term bif_binary_copy_2(Process *p, Term *args)
{
	uint64_t times;

	if (!num_get_uint64(args[1], &times))
		return exc_badarg(p);
	return copy_times(p, args[0], times);
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

/* Byte i of the part that is compared: from the front or from the back. */
static uint8_t common_byte(const struct bits_view *v, size_t i, bool suffix)
{
	uint64_t at = suffix ? v->size - (uint64_t)(i + 1) * 8 : (uint64_t)i * 8;

	return (uint8_t)bitcopy_read(v->base, v->offset + at, 8);
}

static Term longest_common(Process *p, Term list, bool suffix)
{
	struct bits_view first, v;
	size_t common;

	if (!term_is_cons(list) || !term_is_binary(cons_head(list)))
		return exc_badarg(p);
	first = binary_view(cons_head(list));
	common = first.size / 8;
	for (list = cons_tail(list); term_is_cons(list); list = cons_tail(list)) {
		size_t i = 0;

		if (!term_is_binary(cons_head(list)))
			return exc_badarg(p);
		v = binary_view(cons_head(list));
		if (common > v.size / 8)
			common = v.size / 8;
		while (i < common && common_byte(&first, i, suffix) == common_byte(&v, i, suffix))
			i++;
		common = i;
		process_bump(p, (int)(common / BYTES_A_REDUCTION));
	}
	if (!term_is_nil(list))
		return exc_badarg(p);
	return heap_uint(&p->heap, common);
}

Term bif_binary_longest_common_prefix_1(Process *p, Term *args)
{
	return longest_common(p, args[0], false);
}

Term bif_binary_longest_common_suffix_1(Process *p, Term *args)
{
	return longest_common(p, args[0], true);
}

static Term encode_unsigned(Process *p, Term t, bool little)
{
	struct big_view v;
	uint8_t *to;
	size_t n;
	Term binary;

	if (!term_is_integer(t))
		return exc_badarg(p);
	big_view(t, &v);
	if (v.negative)
		return exc_badarg(p);
	n = v.count * 8;
	if (n > 0)
		n -= (size_t)__builtin_clzll(v.limbs[v.count - 1]) / 8;
	binary = binary_alloc(&p->heap, n > 0 ? n : 1, &to);
	if (binary == TERM_NONE)
		return exc_system_limit(p);
	to[0] = 0;
	for (size_t i = 0; i < n; i++)
		to[little ? i : n - 1 - i] = (uint8_t)(v.limbs[i / 8] >> i % 8 * 8);
	return binary;
}

static Term decode_unsigned(Process *p, Term t, bool little)
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
