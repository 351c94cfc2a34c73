/* SPDX-License-Identifier: Apache-2.0 */
/* Terms to bytes. One walk serves both ends: it writes into a binary that grows, or only counts.
 * What is still to be written stands on a stack: terms, and marks (header words, which no term is). */
#include <errno.h>
#include <stdio.h>
#include <zlib.h>

#include "data/big.h"
#include "data/binary.h"
#include "data/bitcopy.h"
#include "data/etf.h"
#include "data/etf_tags.h"
#include "data/extern_id.h"
#include "data/fun_link.h"
#include "data/map.h"
#include "data/word_stack.h"
#include "term/atom.h"

/* The word below is the rest of a list. */
#define MARK_REST HEADER(0, SUB_MOVED)
/* The word below is where a fun's size is to be written. */
#define MARK_FUN_END HEADER(1, SUB_MOVED)

struct etf_encoder {
	struct binary *out;  /* NULL: count only */
	size_t used;
	unsigned flags;
	bool failed;
	struct word_stack todo;
	struct binary *deflated; /* NULL: not wanted, not yet, or no shorter */
	z_stream *z;         /* while it is being made */
};

/* ---- bytes */

/* Room for n bytes, or NULL when only counting. */
static uint8_t *take_room(struct etf_encoder *e, size_t n)
{
	size_t at = e->used;
	struct binary *more;

	e->used += n;
	if (e->out == NULL)
		return NULL;
	if (e->used > e->out->size_bytes) {
		more = binary_resize(e->out, e->used * 2);
		if (more == NULL) {
			binary_unref(e->out);
			e->out = NULL;
			e->failed = true;
			return NULL;
		}
		e->out = more;
	}
	return e->out->data + at;
}

static void put_bytes(struct etf_encoder *e, const void *bytes, size_t n)
{
	uint8_t *at = take_room(e, n);

	if (at != NULL)
		memcpy(at, bytes, n);
}

static void write_be(uint8_t *at, uint64_t value, unsigned bytes)
{
	for (unsigned i = bytes; i-- > 0; value >>= 8)
		at[i] = (uint8_t)value;
}

static void put_be(struct etf_encoder *e, uint64_t value, unsigned bytes)
{
	uint8_t *at = take_room(e, bytes);

	if (at != NULL)
		write_be(at, value, bytes);
}

static void put_tag(struct etf_encoder *e, enum etf_tag tag)
{
	put_be(e, tag, 1);
}

/* ---- leaves */

/* The text as Latin-1 into to[255]. Fails: false when a character is none. */
static bool convert_latin1(const char *text, size_t n, uint8_t *to, size_t *size)
{
	size_t k = 0;

	for (size_t i = 0; i < n; i++) {
		unsigned char c = (unsigned char)text[i];

		if (c >= 0x80) {
			if (c != 0xc2 && c != 0xc3)
				return false;
			c = (unsigned char)((c & 3) << 6 | (text[++i] & 0x3f));
		}
		to[k++] = c;
	}
	*size = k;
	return true;
}

static void put_atom(struct etf_encoder *e, Term t)
{
	uint8_t latin1[ATOM_MAX_CHARS];
	size_t n, k;
	const char *text = atom_text(t, &n);

	if ((e->flags & ETF_ATOMS_LATIN1) && convert_latin1(text, n, latin1, &k)) {
		put_tag(e, ETF_ATOM);
		put_be(e, k, 2);
		put_bytes(e, latin1, k);
		return;
	}
	put_tag(e, n < 256 ? ETF_SMALL_ATOM_UTF8 : ETF_ATOM_UTF8);
	put_be(e, n, n < 256 ? 1 : 2);
	put_bytes(e, text, n);
}

static void put_integer(struct etf_encoder *e, Term t)
{
	struct big_view v;
	size_t bytes;
	uint8_t *at;

	if (term_is_small(t) && small_value(t) == (int32_t)small_value(t)) {
		bool byte = small_value(t) >= 0 && small_value(t) < 256;

		put_tag(e, byte ? ETF_SMALL_INTEGER : ETF_INTEGER);
		put_be(e, (uint64_t)small_value(t), byte ? 1 : 4);
		return;
	}
	big_view(t, &v);
	bytes = v.count * 8 - (size_t)__builtin_clzll(v.limbs[v.count - 1]) / 8;
	put_tag(e, bytes < 256 ? ETF_SMALL_BIG : ETF_LARGE_BIG);
	put_be(e, bytes, bytes < 256 ? 1 : 4);
	put_be(e, v.negative, 1);
	at = take_room(e, bytes);
	if (at != NULL)
		memcpy(at, v.limbs, bytes);
}

static void put_float(struct etf_encoder *e, Term t)
{
	char text[ETF_FLOAT_BYTES + 1] = { 0 };

	if (e->flags & ETF_MINOR_0) {
		put_tag(e, ETF_FLOAT);
		snprintf(text, sizeof(text), "%.20e", float_value(t));
		put_bytes(e, text, ETF_FLOAT_BYTES);
		return;
	}
	put_tag(e, ETF_NEW_FLOAT);
	put_be(e, boxed_ptr(t)[1], 8);
}

static void put_bitstring(struct etf_encoder *e, Term t)
{
	struct bits_view v = binary_view(t);
	size_t bytes = (v.size + 7) / 8;
	uint8_t *at;

	if (bytes > UINT32_MAX) {
		e->failed = true;
		return;
	}
	put_tag(e, v.size % 8 == 0 ? ETF_BINARY : ETF_BIT_BINARY);
	put_be(e, bytes, 4);
	if (v.size % 8 != 0)
		put_be(e, v.size % 8, 1);
	at = take_room(e, bytes);
	if (at == NULL || bytes == 0)
		return;
	at[bytes - 1] = 0;
	bitcopy_copy(at, 0, v.base, v.offset, v.size);
}

static void put_pid(struct etf_encoder *e, const struct extern_facts *f)
{
	put_tag(e, ETF_NEW_PID);
	put_atom(e, f->node->name);
	put_be(e, f->ids[0], 4);
	put_be(e, f->ids[1], 4);
	put_be(e, f->node->creation, 4);
}

static void put_port(struct etf_encoder *e, const struct extern_facts *f)
{
	bool large = f->ids[1] != 0 || f->ids[0] >> 28 != 0;

	put_tag(e, large ? ETF_V4_PORT : ETF_NEW_PORT);
	put_atom(e, f->node->name);
	if (large)
		put_be(e, f->ids[1], 4);
	put_be(e, f->ids[0], 4);
	put_be(e, f->node->creation, 4);
}

static void put_ref(struct etf_encoder *e, Term t, struct extern_facts *f)
{
	Term tag = f->local ? ((const struct ref *)boxed_ptr(t))->tag : 0;

	if (tag != 0) {
		f->ids[3] = (uint32_t)tag;
		f->ids[4] = (uint32_t)(tag >> 32);
		f->count = 5;
	}
	put_tag(e, ETF_NEWER_REFERENCE);
	put_be(e, f->count, 2);
	put_atom(e, f->node->name);
	put_be(e, f->node->creation, 4);
	for (unsigned i = 0; i < f->count; i++)
		put_be(e, f->ids[i], 4);
}

static void put_id(struct etf_encoder *e, Term t)
{
	struct extern_facts f;

	extern_id_describe(t, &f);
	if (term_is_pid(t))
		put_pid(e, &f);
	else if (term_is_port(t))
		put_port(e, &f);
	else
		put_ref(e, t, &f);
}

static void put_export(struct etf_encoder *e, Term t)
{
	struct export_facts f;

	fun_link_describe_export(export_fun_ptr(t), &f);
	put_tag(e, ETF_EXPORT);
	put_atom(e, f.module);
	put_atom(e, f.function);
	put_be(e, ETF_SMALL_INTEGER, 1);
	put_be(e, f.arity, 1);
}

/* ---- what holds other terms */

static void put_fun(struct etf_encoder *e, const struct fun *p)
{
	struct fun_facts f;

	fun_link_describe(p->entry, &f);
	put_tag(e, ETF_NEW_FUN);
	word_stack_push(&e->todo, e->used);
	word_stack_push(&e->todo, MARK_FUN_END);
	put_be(e, 0, 4);
	put_be(e, fun_arity(p), 1);
	put_bytes(e, f.uniq, sizeof(f.uniq));
	put_be(e, f.index, 4);
	put_be(e, fun_num_free(p), 4);
	put_atom(e, f.module);
	put_integer(e, term_from_small(f.old_index));
	put_integer(e, term_from_small(f.old_uniq));
	for (unsigned i = fun_num_free(p); i-- > 0;)
		word_stack_push(&e->todo, p->env[i]);
	word_stack_push(&e->todo, p->creator);
}

static void end_fun(struct etf_encoder *e, size_t start)
{
	if (e->out != NULL)
		write_be(e->out->data + start, e->used - start, 4);
}

/* Is t a proper list of bytes, short enough? */
static bool is_byte_string(Term t, size_t *length)
{
	size_t n = 0;

	for (; term_is_cons(t) && n <= ETF_STRING_MAX; t = cons_tail(t), n++)
		if (!term_is_small(cons_head(t)) || (uint64_t)small_value(cons_head(t)) > 255)
			return false;
	*length = n;
	return t == NIL && n <= ETF_STRING_MAX;
}

static void put_list(struct etf_encoder *e, Term t)
{
	size_t n = 0;
	uint8_t *at;

	if (is_byte_string(t, &n)) {
		put_tag(e, ETF_STRING);
		put_be(e, n, 2);
		at = take_room(e, n);
		for (; at != NULL && term_is_cons(t); t = cons_tail(t))
			*at++ = (uint8_t)small_value(cons_head(t));
		return;
	}
	n = 0;
	for (Term rest = t; term_is_cons(rest); rest = cons_tail(rest))
		n++;
	put_tag(e, ETF_LIST);
	put_be(e, n, 4);
	word_stack_push(&e->todo, t);
	word_stack_push(&e->todo, MARK_REST);
}

static void put_tuple(struct etf_encoder *e, const Term *p)
{
	size_t arity = header_arity(*p);

	put_tag(e, arity < 256 ? ETF_SMALL_TUPLE : ETF_LARGE_TUPLE);
	put_be(e, arity, arity < 256 ? 1 : 4);
	for (size_t i = arity; i > 0; i--)
		word_stack_push(&e->todo, p[i]);
}

static void put_map(struct etf_encoder *e, Term t)
{
	size_t n = map_size(t), first = e->todo.count;
	struct map_iter it;
	Term key, value, *keys;

	put_tag(e, ETF_MAP);
	put_be(e, n, 4);
	if ((e->flags & ETF_DETERMINISTIC) && !map_is_flat(t)) {
		keys = mem_alloc(2 * n * sizeof(Term));
		map_sorted_pairs(t, keys, keys + n);
		for (size_t i = n; i-- > 0;) {
			word_stack_push(&e->todo, keys[n + i]);
			word_stack_push(&e->todo, keys[i]);
		}
		mem_free(keys);
		return;
	}
	map_iter_init(&it, t);
	while (map_iter_next(&it, &key, &value)) {
		word_stack_push(&e->todo, key);
		word_stack_push(&e->todo, value);
	}
	/* First pair on top. */
	for (size_t i = first, k = e->todo.count; i + 1 < k; i++) {
		Term w = e->todo.words[i];

		e->todo.words[i] = e->todo.words[--k];
		e->todo.words[k] = w;
	}
}

static void put_boxed(struct etf_encoder *e, Term t)
{
	const Term *p = boxed_ptr(t);

	switch (header_sub(*p)) {
	case SUB_TUPLE:
		put_tuple(e, p);
		break;
	case SUB_BIG_POS:
	case SUB_BIG_NEG:
		put_integer(e, t);
		break;
	case SUB_FLOAT:
		put_float(e, t);
		break;
	case SUB_FUN:
		put_fun(e, fun_ptr(t));
		break;
	case SUB_EXPORT:
		put_export(e, t);
		break;
	case SUB_MAP:
		put_map(e, t);
		break;
	case SUB_REFBIN:
	case SUB_HEAPBIN:
	case SUB_SUBBIN:
		put_bitstring(e, t);
		break;
	default:
		put_id(e, t);
		break;
	}
}

static void put_term(struct etf_encoder *e, Term t)
{
	if (term_is_cons(t))
		put_list(e, t);
	else if (term_is_boxed(t))
		put_boxed(e, t);
	else if (term_is_small(t))
		put_integer(e, t);
	else if (term_is_atom(t))
		put_atom(e, t);
	else if (t == NIL)
		put_tag(e, ETF_NIL);
	else
		put_id(e, t);
}

/* The elements of a list that need nothing of the stack go out here. */
static void put_rest(struct etf_encoder *e, Term t, int64_t *left)
{
	for (; term_is_cons(t) && term_is_immed(cons_head(t)) && !e->failed && *left > 0; --*left) {
		put_term(e, cons_head(t));
		t = cons_tail(t);
	}
	if (!term_is_cons(t)) {
		word_stack_push(&e->todo, t);
	} else if (*left <= 0) {
		word_stack_push(&e->todo, t);
		word_stack_push(&e->todo, MARK_REST);
	} else {
		word_stack_push(&e->todo, cons_tail(t));
		word_stack_push(&e->todo, MARK_REST);
		word_stack_push(&e->todo, cons_head(t));
	}
}

enum { BYTES_A_UNIT = 64 };

static void encode_some(struct etf_encoder *e, int64_t *left)
{
	while (e->todo.count > 0 && !e->failed && *left > 0) {
		Term t = word_stack_pop(&e->todo);
		size_t before = e->used;

		--*left;
		if (t == MARK_REST) {
			put_rest(e, word_stack_pop(&e->todo), left);
		} else if (t == MARK_FUN_END) {
			end_fun(e, word_stack_pop(&e->todo));
		} else {
			put_term(e, t);
			*left -= (int64_t)((e->used - before) / BYTES_A_UNIT);
		}
	}
}

static void encoder_init(struct etf_encoder *e, Term t, unsigned flags, bool count_only)
{
	e->flags = flags;
	e->used = 0;
	e->out = count_only ? NULL : binary_new(256);
	e->failed = e->out == NULL && !count_only;
	e->deflated = NULL;
	e->z = NULL;
	word_stack_init(&e->todo);
	put_tag(e, ETF_VERSION);
	word_stack_push(&e->todo, t);
}

/* ---- what is encoded, deflated: version, tag, 32-bit size; then the stream of all that followed the version */

enum { ZLIB_HEAD = 6, DEFLATE_BYTES = 4096 };

static void drop_deflated(struct etf_encoder *e)
{
	if (e->deflated != NULL)
		binary_unref(e->deflated);
	e->deflated = NULL;
}

static void begin_deflate(struct etf_encoder *e)
{
	if (e->used < ZLIB_HEAD || e->used > UINT32_MAX)
		return;
	e->deflated = binary_new(e->used);
	if (e->deflated == NULL)
		return;
	e->z = mem_zalloc(sizeof(*e->z));
	if (deflateInit(e->z, (int)(e->flags >> 8)) != Z_OK) {
		drop_deflated(e);
		mem_free(e->z);
		e->z = NULL;
		return;
	}
	e->z->next_in = e->out->data + 1;
	e->z->next_out = e->deflated->data + ZLIB_HEAD;
	e->z->avail_out = (uInt)(e->used - ZLIB_HEAD);
}

static void end_deflate(struct etf_encoder *e)
{
	if (e->z != NULL)
		deflateEnd(e->z);
	mem_free(e->z);
	e->z = NULL;
	e->flags &= ~(unsigned)ETF_COMPRESSED;
}

static void finish_deflate(struct etf_encoder *e)
{
	size_t size = ZLIB_HEAD + e->z->total_out;
	struct binary *b;

	e->deflated->data[0] = ETF_VERSION;
	e->deflated->data[1] = ETF_ZLIB;
	write_be(e->deflated->data + 2, e->used - 1, 4);
	b = size < e->used ? binary_resize(e->deflated, size) : NULL;
	if (b != NULL)
		e->deflated = b;
	else
		drop_deflated(e);
	end_deflate(e);
}

/* Ends without ETF_COMPRESSED set. What is no shorter is given up. */
static void deflate_some(struct etf_encoder *e, int64_t *left)
{
	if (e->z == NULL)
		begin_deflate(e);
	while (e->z != NULL && *left > 0) {
		size_t rest = e->used - 1 - e->z->total_in, n = rest < DEFLATE_BYTES ? rest : DEFLATE_BYTES;
		int result;

		e->z->avail_in = (uInt)n;
		result = deflate(e->z, n == rest ? Z_FINISH : Z_NO_FLUSH);
		*left -= (int64_t)n + 1; /* a byte costs as much as a term */
		if (result == Z_STREAM_END) {
			finish_deflate(e);
			return;
		}
		if (e->z->avail_out == 0) {
			drop_deflated(e);
			end_deflate(e);
			return;
		}
	}
	if (e->z == NULL)
		end_deflate(e);
}

static void encoder_drop(struct etf_encoder *e)
{
	word_stack_free(&e->todo);
	if (e->out != NULL)
		binary_unref(e->out);
	drop_deflated(e);
	end_deflate(e);
}

/* ---- the ends */

struct etf_encoder *etf_encoder_new(Term t, unsigned flags, bool count_only)
{
	struct etf_encoder *e = mem_alloc(sizeof(*e));

	encoder_init(e, t, flags, count_only);
	return e;
}

void etf_encoder_free(struct etf_encoder *e)
{
	encoder_drop(e);
	mem_free(e);
}

int etf_encoder_step(struct etf_encoder *e, int64_t *left)
{
	encode_some(e, left);
	if (e->failed)
		return -ENOMEM;
	if (e->todo.count == 0 && e->out != NULL && e->flags & ETF_COMPRESSED)
		deflate_some(e, left);
	return e->todo.count > 0 || e->flags & ETF_COMPRESSED ? -EAGAIN : 0;
}

struct binary *etf_encoder_take(struct etf_encoder *e)
{
	struct binary **from = e->deflated != NULL ? &e->deflated : &e->out;
	struct binary *b = e->deflated != NULL ? e->deflated : binary_resize(e->out, e->used);

	if (b != NULL)
		*from = NULL;
	return b;
}

size_t etf_encoder_size_bytes(const struct etf_encoder *e)
{
	return e->used;
}

struct binary *etf_encode(Term t, unsigned flags)
{
	struct etf_encoder e;
	int64_t left = INT64_MAX;
	struct binary *b;

	encoder_init(&e, t, flags, false);
	b = etf_encoder_step(&e, &left) == 0 ? etf_encoder_take(&e) : NULL;
	encoder_drop(&e);
	return b;
}

size_t etf_size_bytes(Term t, unsigned flags)
{
	struct etf_encoder e;
	int64_t left = INT64_MAX;

	encoder_init(&e, t, flags, true);
	etf_encoder_step(&e, &left);
	encoder_drop(&e);
	return e.used;
}
