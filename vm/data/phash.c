/* SPDX-License-Identifier: Apache-2.0 */
/* Hashes of terms. phash2 mixes three 32-bit words at a time (R. Jenkins, "Hash functions for hash table lookup", Dr.
 * Dobb's Journal, September 1997) with a constant a type; the constants and the order are those that OTP's values are
 * made of. */
#include "data/phash.h"

#include "data/binary.h"
#include "data/bitcopy.h"
#include "data/extern_id.h"
#include "data/fun_link.h"
#include "data/map.h"
#include "data/record.h"
#include "data/word_stack.h"
#include "term/atom.h"

#define GOLDEN 0x9e3779b9u
/* The constant of each type: a multiple of the golden ratio. */
#define TYPE(n) ((uint32_t)(GOLDEN * (n)))
enum {
	TYPE_SMALL = 1,
	TYPE_NIL = 2,
	TYPE_ATOM = 3,
	TYPE_STRING = 4,
	TYPE_PID = 5,
	TYPE_PORT = 6,
	TYPE_REF = 7,
	TYPE_TUPLE = 9,
	TYPE_NEGATIVE = 10,
	TYPE_POSITIVE = 11,
	TYPE_FLOAT = 12,
	TYPE_BINARY = 13,
	TYPE_FUNCTION = 14,
	TYPE_BITS = 15,
	TYPE_MAP = 16,
	TYPE_PAIRS = 19,
	TYPE_RECORD = 23,
	TYPE_FUN = 1,
};
/* What an empty list alone gives, and what it mixes in elsewhere. */
enum { NIL_WORD = 2 };
#define NIL_ALONE 3468870702u

/* Marks on the stack: header words, which no term is. */
#define MARK_PAIR HEADER(1, SUB_MATCH)
#define MARK_MAP_END HEADER(2, SUB_MATCH)

static inline uint32_t mix(uint32_t a, uint32_t b, uint32_t c)
{
	a = (a - b - c) ^ (c >> 13);
	b = (b - c - a) ^ (a << 8);
	c = (c - a - b) ^ (b >> 13);
	a = (a - b - c) ^ (c >> 12);
	b = (b - c - a) ^ (a << 16);
	c = (c - a - b) ^ (b >> 5);
	a = (a - b - c) ^ (c >> 3);
	b = (b - c - a) ^ (a << 10);
	return (c - a - b) ^ (b >> 15);
}

static inline void mix3(uint32_t *a, uint32_t *b, uint32_t *c)
{
	*a = (*a - *b - *c) ^ (*c >> 13);
	*b = (*b - *c - *a) ^ (*a << 8);
	*c = (*c - *a - *b) ^ (*b >> 13);
	*a = (*a - *b - *c) ^ (*c >> 12);
	*b = (*b - *c - *a) ^ (*a << 16);
	*c = (*c - *a - *b) ^ (*b >> 5);
	*a = (*a - *b - *c) ^ (*c >> 3);
	*b = (*b - *c - *a) ^ (*a << 10);
	*c = (*c - *a - *b) ^ (*b >> 15);
}

static inline uint32_t mix_words(uint32_t hash, uint32_t x, uint32_t y, unsigned type)
{
	return mix(TYPE(type) + x, TYPE(type) + y, hash);
}

static uint32_t mix_small(uint32_t hash, int64_t n)
{
	uint64_t magnitude = n < 0 ? -(uint64_t)n : (uint64_t)n;

	if (n >= -(1 << 27) && n < 1 << 27) {
		/* Negative ones are mixed twice. */
		if (n < 0)
			hash = mix_words(hash, (uint32_t)-n, 0, TYPE_SMALL);
		return mix_words(hash, (uint32_t)n, 0, TYPE_SMALL);
	}
	return mix_words(hash, (uint32_t)magnitude, (uint32_t)(magnitude >> 32), n < 0 ? TYPE_NEGATIVE : TYPE_POSITIVE);
}

static uint32_t mix_big(uint32_t hash, const Term *p)
{
	unsigned type = header_sub(*p) == SUB_BIG_NEG ? TYPE_NEGATIVE : TYPE_POSITIVE;

	for (size_t i = 1; i <= header_arity(*p); i++)
		hash = mix_words(hash, (uint32_t)p[i], (uint32_t)(p[i] >> 32), type);
	return hash;
}

/* Bits of a double with -0.0 as 0.0. */
static uint64_t float_bits(Term t)
{
	return float_value(t) == 0.0 ? 0 : boxed_ptr(t)[1];
}

static inline uint32_t read_le32(const uint8_t *p)
{
	return p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
}

static uint32_t mix_bytes(const uint8_t *p, uint32_t size, uint32_t hash)
{
	uint32_t a = GOLDEN, b = GOLDEN, c = hash, left = size;
	uint8_t last[12] = { 0 };

	for (; left >= 12; left -= 12, p += 12) {
		a += read_le32(p);
		b += read_le32(p + 4);
		c += read_le32(p + 8);
		mix3(&a, &b, &c);
	}
	/* The length stands where the first byte of the third word would. */
	memcpy(last, p, left < 8 ? left : 8);
	for (uint32_t i = 8; i < left; i++)
		last[i + 1] = p[i];
	a += read_le32(last);
	b += read_le32(last + 4);
	c += read_le32(last + 8) + size;
	return mix(a, b, c);
}

static uint32_t mix_bitstring(uint32_t hash, Term t)
{
	struct bits_view v = binary_view(t);
	uint32_t size = (uint32_t)(v.size / 8), start = TYPE(TYPE_BINARY) + hash;
	unsigned bits = v.size % 8;
	uint8_t *copy = NULL;
	const uint8_t *p = v.base;

	if (v.size == 0)
		return start;
	if (v.offset != 0) {
		copy = mem_alloc(v.size / 8 + 1);
		bitcopy_copy(copy, 0, v.base, v.offset, v.size);
		p = copy;
	}
	hash = mix_bytes(p, size, start);
	if (bits != 0)
		hash = mix_words(hash, bits, p[size] >> (8 - bits), TYPE_BITS);
	mem_free(copy);
	return hash;
}

static uint32_t mix_id(uint32_t hash, Term t)
{
	struct extern_facts f;

	extern_id_describe(t, &f);
	if (term_is_pid(t))
		return mix_words(hash, f.ids[0], 0, TYPE_PID);
	if (term_is_port(t))
		return mix_words(hash, f.ids[0], f.ids[1], TYPE_PORT);
	return mix_words(hash, f.ids[0], 0, TYPE_REF);
}

/* The bytes at the front of a list are mixed four at a time. Returns what follows them. Each takes one of *left; it
 * ends where none is. */
static Term mix_string(uint32_t *hash, Term t, int64_t *left)
{
	uint32_t word = 0;
	unsigned count = 0;
	int64_t bytes = *left;

	while (bytes-- > 0 && term_is_cons(t) && term_is_small(cons_head(t)) &&
	       (uint64_t)small_value(cons_head(t)) < 256) {
		word = word << 8 | (uint32_t)small_value(cons_head(t));
		if (++count == 4) {
			*hash = mix_words(*hash, word, 0, TYPE_STRING);
			count = word = 0;
		}
		t = cons_tail(t);
	}
	if (count > 0)
		*hash = mix_words(*hash, word, 0, TYPE_STRING);
	*left = bytes;
	return t;
}

static uint32_t mix_fun(struct word_stack *s, uint32_t hash, const struct fun *f)
{
	struct fun_facts facts;

	fun_link_describe(f->entry, &facts);
	hash = mix_words(hash, fun_num_free(f), atom_hash(facts.module), TYPE_FUN);
	hash = mix_words(hash, facts.index, facts.old_uniq, TYPE_FUN);
	for (unsigned i = fun_num_free(f); i-- > 0;)
		word_stack_push(s, f->env[i]);
	return hash;
}

static uint32_t mix_export(uint32_t hash, Term t)
{
	struct export_facts facts;

	fun_link_describe_export(export_fun_ptr(t), &facts);
	hash = mix_words(hash, facts.arity, atom_hash(facts.module), TYPE_FUN);
	return mix_words(hash, atom_hash(facts.function), 0, TYPE_FUNCTION);
}

static inline uint32_t mix_immediate(uint32_t hash, Term t)
{
	if (term_is_small(t))
		return mix_small(hash, small_value(t));
	if (term_is_atom(t))
		return hash == 0 ? atom_hash(t) : mix_words(hash, atom_hash(t), 0, TYPE_ATOM);
	if (t == NIL)
		return hash == 0 ? NIL_ALONE : mix_words(hash, NIL_WORD, 0, TYPE_NIL);
	return mix_id(hash, t);
}

/* Pairs are hashed each by itself and their hashes xored, so that their order does not matter. Immediate ones are
 * hashed here. */
static uint32_t mix_map(struct word_stack *s, uint32_t hash, uint32_t *pairs, Term t, int64_t *left)
{
	struct map_iter it;
	Term key, value;
	uint32_t done = 0;

	hash = mix_words(hash, (uint32_t)map_size(t), 0, TYPE_MAP);
	if (map_size(t) == 0)
		return hash;
	word_stack_push(s, *pairs);
	word_stack_push(s, hash);
	word_stack_push(s, MARK_MAP_END);
	map_iter_init(&it, t);
	while (map_iter_next(&it, &key, &value) && --*left >= 0) {
		if (term_is_immed(key) && term_is_immed(value)) {
			done ^= mix_immediate(mix_immediate(0, key), value);
			continue;
		}
		word_stack_push(s, MARK_PAIR);
		word_stack_push(s, value);
		word_stack_push(s, key);
	}
	*pairs = done;
	return 0;
}

/* Values as they are declared, so that it is the same everywhere; OTP takes them as the numbers of its atoms are. */
static uint32_t mix_record(struct word_stack *s, uint32_t hash, Term t, int64_t *left)
{
	const struct record *r = record_ptr(t);
	size_t n = record_field_count(t);
	uint32_t definition;

	if (unlikely((int64_t)n > *left) || !phash2_within(r->definition, left, &definition)) {
		*left = -1;
		return 0;
	}
	for (size_t i = n; i > 0; i--)
		word_stack_push(s, r->values[i - 1]);
	return mix_words(hash, (uint32_t)n, definition, TYPE_RECORD);
}

static uint32_t mix_boxed(struct word_stack *s, uint32_t hash, uint32_t *pairs, Term t, int64_t *left)
{
	const Term *p = boxed_ptr(t);

	switch (header_sub(*p)) {
	case SUB_TUPLE:
		if (unlikely((int64_t)header_arity(*p) > *left)) {
			*left = -1;
			return 0;
		}
		for (size_t i = header_arity(*p); i > 0; i--)
			word_stack_push(s, p[i]);
		return mix_words(hash, (uint32_t)header_arity(*p), 0, TYPE_TUPLE);
	case SUB_RECORD:
		return mix_record(s, hash, t, left);
	case SUB_BIG_POS:
	case SUB_BIG_NEG:
		return mix_big(hash, p);
	case SUB_FLOAT:
		return mix_words(hash, (uint32_t)(float_bits(t) >> 32), (uint32_t)float_bits(t), TYPE_FLOAT);
	case SUB_FUN:
		return mix_fun(s, hash, fun_ptr(t));
	case SUB_EXPORT:
		return mix_export(hash, t);
	case SUB_MAP:
		return mix_map(s, hash, pairs, t, left);
	case SUB_REFBIN:
	case SUB_HEAPBIN:
	case SUB_SUBBIN:
		*left -= (int64_t)(binary_size_bytes(t) / sizeof(Term));
		return *left >= 0 ? mix_bitstring(hash, t) : 0;
	default:
		return mix_id(hash, t);
	}
}

static inline bool starts_string(Term t)
{
	return term_is_small(cons_head(t)) && (uint64_t)small_value(cons_head(t)) < 256;
}

bool phash2_within(Term t, int64_t *left, uint32_t *out)
{
	struct word_stack s;
	uint32_t hash = 0, pairs = 0;

	if (term_is_immed(t)) {
		*out = mix_immediate(0, t);
		return true;
	}
	word_stack_init(&s);
	while (--*left >= 0) {
		if (term_is_cons(t)) {
			if (starts_string(t))
				t = mix_string(&hash, t, left);
			if (term_is_cons(t)) {
				word_stack_push(&s, cons_tail(t));
				t = cons_head(t);
			}
			continue;
		}
		if (term_is_boxed(t))
			hash = mix_boxed(&s, hash, &pairs, t, left);
		else if (t == MARK_PAIR)
			pairs ^= hash, hash = 0;
		else if (t == MARK_MAP_END) {
			hash = mix_words((uint32_t)word_stack_pop(&s), pairs, 0, TYPE_PAIRS);
			pairs = (uint32_t)word_stack_pop(&s);
		} else {
			hash = mix_immediate(hash, t);
		}
		if (s.count == 0)
			break;
		t = word_stack_pop(&s);
	}
	word_stack_free(&s);
	*out = hash;
	return *left >= 0;
}

uint32_t phash2(Term t)
{
	int64_t left = INT64_MAX;
	uint32_t hash;

	phash2_within(t, &left, &hash);
	return hash;
}

/* ---- the VM's own */

/* One multiplication of 64 by 64 bits a word, its halves folded together: quick, and every bit of either word reaches
 * every bit of the hash. */
static inline uint64_t fold(uint64_t hash, uint64_t w)
{
	unsigned __int128 product = (unsigned __int128)(hash ^ w ^ 0x9e3779b97f4a7c15u) * 0xbf58476d1ce4e5b9u;

	return (uint64_t)product ^ (uint64_t)(product >> 64);
}

/* The next 1 to 63 bits at p, as bitcopy_read reads them. */
static inline uint64_t read_last(const uint8_t *p, unsigned bits)
{
	uint64_t word = 0;

	for (; bits >= 8; bits -= 8)
		word = word << 8 | *p++;
	return bits > 0 ? word << bits | *p >> (8 - bits) : word;
}

static uint64_t fold_bitstring(uint64_t hash, Term t)
{
	struct bits_view v = binary_view(t);
	uint64_t at = 0;

	hash = fold(hash, v.size);
	if (v.offset == 0) {
		for (; v.size - at >= 64; at += 64) {
			uint64_t word;

			memcpy(&word, v.base + at / 8, 8);
			hash = fold(hash, __builtin_bswap64(word));
		}
		return at < v.size ? fold(hash, read_last(v.base + at / 8, (unsigned)(v.size - at))) : hash;
	}
	for (; at < v.size; at += 64)
		hash = fold(hash, bitcopy_read(v.base, v.offset + at, v.size - at < 64 ? (unsigned)(v.size - at) : 64));
	return hash;
}

static uint64_t fold_boxed(struct word_stack *s, uint64_t hash, Term t)
{
	const Term *p = boxed_ptr(t);
	struct extern_facts facts;

	switch (header_sub(*p)) {
	case SUB_TUPLE:
	case SUB_RECORD: /* its definition is a tuple */
		for (size_t i = header_arity(*p); i > 0; i--)
			word_stack_push(s, p[i]);
		return fold(hash, *p);
	case SUB_BIG_POS:
	case SUB_BIG_NEG:
		for (size_t i = 0; i <= header_arity(*p); i++)
			hash = fold(hash, p[i]);
		return hash;
	case SUB_FLOAT:
		return fold(hash, float_bits(t) + 1);
	case SUB_FUN:
		for (unsigned i = fun_num_free(fun_ptr(t)); i-- > 0;)
			word_stack_push(s, fun_ptr(t)->env[i]);
		return fold(fold(hash, (uint64_t)fun_ptr(t)->entry), fun_ptr(t)->shape);
	case SUB_REF:
	case SUB_EXPORT:
		return fold(hash, p[1]);
	case SUB_MAP:
		return fold(hash, phash2(t));
	case SUB_REFBIN:
	case SUB_HEAPBIN:
	case SUB_SUBBIN:
		return fold_bitstring(hash, t);
	default:
		extern_id_describe(t, &facts);
		hash = fold(fold(hash, facts.node.name), facts.node.creation);
		for (unsigned i = 0; i < facts.count; i++)
			hash = facts.ids[i] != 0 ? fold(hash, (uint64_t)i << 32 | facts.ids[i]) : hash;
		return hash;
	}
}

uint64_t hash_internal_compound(Term t, uint64_t salt)
{
	struct word_stack s;
	uint64_t hash = fold(salt, 0x5bd1e995);

	word_stack_init(&s);
	for (;;) {
		while (term_is_cons(t)) {
			Term head = cons_head(t);

			hash = fold(hash, 1);
			if (term_is_immed(head)) {
				hash = fold(hash, head);
				t = cons_tail(t);
				continue;
			}
			word_stack_push(&s, cons_tail(t));
			t = head;
		}
		hash = term_is_boxed(t) ? fold_boxed(&s, hash, t) : fold(hash, t);
		if (s.count == 0)
			break;
		t = word_stack_pop(&s);
	}
	word_stack_free(&s);
	return hash;
}
