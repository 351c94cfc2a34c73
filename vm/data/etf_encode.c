/* SPDX-License-Identifier: Apache-2.0 */
/* Terms to bytes. One walk serves both ends: it writes into a little room of its own, then into a binary that grows, or
 * only counts. What is still to be written stands on a stack: terms, and marks (header words, which no term is). */
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
#include "data/record.h"
#include "data/word_stack.h"
#include "heap/resource_name.h"
#include "term/atom.h"

/* The word below is the rest of a list; below that, but while only counting, is where the number of its elements is
 * written. */
#define MARK_REST HEADER(0, SUB_MATCH)
/* The word below is where a fun's size is to be written. */
#define MARK_FUN_END HEADER(1, SUB_MATCH)

enum { FIXED_BYTES = 512 };

/* A binary of the term that is not copied: it stands before the byte `at` of what is written. */
struct piece {
	size_t at;
	Term binary;
};

struct etf_encoder {
	uint8_t *data;       /* of `fixed` or `out`; NULL: count only */
	size_t used, room;
	struct binary *out;  /* NULL: not needed so far */
	unsigned flags;
	bool failed;
	struct word_stack todo;
	struct etf_atoms *atoms; /* NULL: each stands in the text */
	struct binary *deflated; /* NULL: not wanted, not yet, or no shorter */
	z_stream *z;         /* while it is being made, of `out` */
	struct piece *pieces; /* by rising `at` */
	size_t piece_count, piece_room;
	size_t piece_least;  /* bytes of one; SIZE_MAX: there are none */
	uint8_t fixed[FIXED_BYTES];
};

/* ---- bytes */

static void set_out(struct etf_encoder *e, struct binary *out)
{
	e->failed = out == NULL;
	if (e->failed && e->out != NULL)
		binary_unref(e->out);
	e->out = out;
	e->data = e->failed ? NULL : out->data;
	e->room = e->failed ? 0 : out->size_bytes;
}

/* On in a binary of so many bytes. */
static void etf_encoder_leave_fixed(struct etf_encoder *e, size_t bytes, size_t written)
{
	set_out(e, binary_new(bytes));
	if (!e->failed)
		memcpy(e->data, e->fixed, written);
}

/* For `used` bytes, of which those before `at` are written. Returns where to write on. */
static __attribute__((noinline)) uint8_t *etf_encoder_grow(struct etf_encoder *e, size_t at)
{
	if (e->out != NULL)
		set_out(e, binary_resize(e->out, e->used * 2));
	else
		etf_encoder_leave_fixed(e, e->used * 2, at);
	return e->failed ? NULL : e->data + at;
}

/* Room for n bytes, or NULL when only counting. */
static inline uint8_t *take_room(struct etf_encoder *e, size_t n)
{
	size_t at = e->used;

	e->used += n;
	if (e->data == NULL)
		return NULL;
	return likely(e->used <= e->room) ? e->data + at : etf_encoder_grow(e, at);
}

static void put_bytes(struct etf_encoder *e, const void *bytes, size_t n)
{
	uint8_t *at = take_room(e, n);

	if (at != NULL)
		memcpy(at, bytes, n);
}

static inline __attribute__((always_inline)) void write_be(uint8_t *at, uint64_t value, unsigned bytes)
{
	value = __builtin_bswap64(value << (64 - 8 * bytes));
	memcpy(at, &value, bytes);
}

static inline __attribute__((always_inline)) void put_be(struct etf_encoder *e, uint64_t value, unsigned bytes)
{
	uint8_t *at = take_room(e, bytes);

	if (at != NULL)
		write_be(at, value, bytes);
}

static void put_tag(struct etf_encoder *e, enum etf_tag tag)
{
	put_be(e, tag, 1);
}

/* A tag and the number behind it. */
static inline __attribute__((always_inline)) void put_tagged(struct etf_encoder *e, enum etf_tag tag, uint64_t value,
							     unsigned bytes)
{
	uint8_t *at = take_room(e, 1 + bytes);

	if (at == NULL)
		return;
	*at = (uint8_t)tag;
	write_be(at + 1, value, bytes);
}

/* ---- leaves */

/* UTF-8 whose characters are all of Latin-1, as that. */
static void write_latin1(uint8_t *to, const char *text, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		unsigned char c = (unsigned char)text[i];

		*to++ = c < 0x80 ? c : (uint8_t)((c & 3) << 6 | (text[++i] & 0x3f));
	}
}

/* Where it is in the table, which it joins if there is room for it. Fails: -1. */
static int find_atom(struct etf_atoms *atoms, Term t)
{
	uint8_t *place = &atoms->places[atom_index(t) % ETF_ATOM_PLACES];

	if (*place == 0 && atoms->count < ETF_ATOMS_MAX) {
		atoms->atoms[atoms->count++] = t;
		*place = (uint8_t)atoms->count;
	}
	return *place != 0 && atoms->atoms[*place - 1] == t ? *place - 1 : -1;
}

void etf_atoms_init(struct etf_atoms *atoms)
{
	atoms->count = 0;
	memset(atoms->places, 0, sizeof(atoms->places));
}

static void put_atom(struct etf_encoder *e, Term t)
{
	int place = unlikely(e->atoms != NULL) ? find_atom(e->atoms, t) : -1;
	size_t n, latin1;
	const char *text;
	uint8_t *at;

	if (place >= 0) {
		put_tagged(e, ETF_ATOM_REFERENCE, (uint64_t)place, 1);
		return;
	}
	text = atom_text(t, &n);
	if ((e->flags & ETF_ATOMS_LATIN1) && atom_latin1_size(t, &latin1)) {
		put_tagged(e, ETF_ATOM, latin1, 2);
		at = take_room(e, latin1);
		if (at != NULL && latin1 == n)
			memcpy(at, text, n);
		else if (at != NULL)
			write_latin1(at, text, n);
		return;
	}
	if (n < 256)
		put_tagged(e, ETF_SMALL_ATOM_UTF8, n, 1);
	else
		put_tagged(e, ETF_ATOM_UTF8, n, 2);
	put_bytes(e, text, n);
}

static void put_wide_integer(struct etf_encoder *e, Term t)
{
	struct big_view v;
	size_t bytes;
	uint8_t *at;

	big_view(t, &v);
	bytes = v.count * 8 - (size_t)__builtin_clzll(v.limbs[v.count - 1]) / 8;
	if (bytes < 256)
		put_tagged(e, ETF_SMALL_BIG, bytes, 1);
	else
		put_tagged(e, ETF_LARGE_BIG, bytes, 4);
	put_be(e, v.negative, 1);
	at = take_room(e, bytes);
	if (at != NULL)
		memcpy(at, v.limbs, bytes);
}

static void put_integer(struct etf_encoder *e, Term t)
{
	if (!term_is_small(t) || small_value(t) != (int32_t)small_value(t))
		put_wide_integer(e, t);
	else if (small_value(t) >= 0 && small_value(t) < 256)
		put_tagged(e, ETF_SMALL_INTEGER, (uint64_t)small_value(t), 1);
	else
		put_tagged(e, ETF_INTEGER, (uint64_t)small_value(t), 4);
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
	put_tagged(e, ETF_NEW_FLOAT, boxed_ptr(t)[1], 8);
}

/* Is it a piece? Then its bits behind the last whole byte alone are written. */
static bool take_piece(struct etf_encoder *e, Term t, const struct bits_view *v)
{
	uint64_t offset;

	if (likely(v->size / 8 < e->piece_least) || v->offset != 0 || e->data == NULL)
		return false;
	if (header_sub(*boxed_ptr(binary_original(t, &offset))) != SUB_REFBIN)
		return false;
	if (e->piece_count == e->piece_room) {
		e->piece_room = e->piece_room * 2 + 16;
		e->pieces = mem_realloc(e->pieces, e->piece_room * sizeof(*e->pieces));
	}
	e->pieces[e->piece_count++] = (struct piece){ e->used, t };
	if (v->size % 8 != 0)
		put_be(e, v->base[v->size / 8] & (0xff00u >> v->size % 8 & 0xff), 1);
	return true;
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
	put_tagged(e, v.size % 8 == 0 ? ETF_BINARY : ETF_BIT_BINARY, bytes, 4);
	if (v.size % 8 != 0)
		put_be(e, v.size % 8, 1);
	if (take_piece(e, t, &v))
		return;
	at = take_room(e, bytes);
	if (at == NULL || bytes == 0)
		return;
	at[bytes - 1] = 0;
	bitcopy_copy(at, 0, v.base, v.offset, v.size);
}

static void put_pid(struct etf_encoder *e, const struct extern_facts *f)
{
	put_tag(e, ETF_NEW_PID);
	put_atom(e, f->node.name);
	put_be(e, f->ids[0], 4);
	put_be(e, f->ids[1], 4);
	put_be(e, f->node.creation, 4);
}

static void put_port(struct etf_encoder *e, const struct extern_facts *f)
{
	bool large = f->ids[1] != 0 || f->ids[0] >> 28 != 0;

	put_tag(e, large ? ETF_V4_PORT : ETF_NEW_PORT);
	put_atom(e, f->node.name);
	if (large)
		put_be(e, f->ids[1], 4);
	put_be(e, f->ids[0], 4);
	put_be(e, f->node.creation, 4);
}

static void put_ref(struct etf_encoder *e, Term t, struct extern_facts *f)
{
	Term tag = f->local ? ((const struct ref *)boxed_ptr(t))->tag : 0;

	if (*boxed_ptr(t) == HEADER(MAGIC_WORDS - 1, SUB_REF))
		resource_name_publish(((const struct magic_ref *)boxed_ptr(t))->resource);
	if (tag != 0) {
		f->ids[3] = (uint32_t)tag;
		f->ids[4] = (uint32_t)(tag >> 32);
		f->count = 5;
	}
	put_tagged(e, ETF_NEWER_REFERENCE, f->count, 2);
	put_atom(e, f->node.name);
	put_be(e, f->node.creation, 4);
	for (unsigned i = 0; i < f->count; i++)
		put_be(e, f->ids[i], 4);
}

static void put_id(struct etf_encoder *e, Term t)
{
	struct extern_facts f;

	extern_id_describe(t, &f);
	if (f.local && (e->flags & ETF_LOCAL))
		f.node = (struct node_name){ am_empty, 0 };
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
	put_tagged(e, ETF_SMALL_INTEGER, f.arity, 1);
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
	put_be(e, (uint32_t)f.index, 4);
	put_be(e, fun_num_free(p), 4);
	put_atom(e, f.module);
	put_integer(e, term_from_small(f.old_index));
	put_integer(e, term_from_small(f.old_uniq));
	for (unsigned i = fun_num_free(p); i-- > 0;)
		word_stack_push(&e->todo, p->env[i]);
	word_stack_push(&e->todo, p->creator);
}

/* Of what stands at `start` and behind it, pieces too. */
static size_t bytes_since(const struct etf_encoder *e, size_t start)
{
	size_t bytes = e->used - start;

	for (size_t i = e->piece_count; i-- > 0 && e->pieces[i].at >= start;)
		bytes += binary_size_bytes(e->pieces[i].binary);
	return bytes;
}

static void end_fun(struct etf_encoder *e, size_t start)
{
	write_be(e->data + start, bytes_since(e, start), 4);
}

/* Is t a proper list of bytes, short enough? */
static bool etf_is_byte_string(Term t, size_t *length)
{
	size_t n = 0;

	for (; term_is_cons(t) && n <= ETF_STRING_MAX; t = cons_tail(t), n++)
		if (!term_is_small(cons_head(t)) || (uint64_t)small_value(cons_head(t)) > 255)
			return false;
	*length = n;
	return t == NIL && n <= ETF_STRING_MAX;
}

/* t: what is left of a list; the number of its elements is written at `counted` as they go out. */
static inline void push_rest(struct etf_encoder *e, size_t counted, Term t)
{
	word_stack_push(&e->todo, counted);
	word_stack_push(&e->todo, t);
	word_stack_push(&e->todo, MARK_REST);
}

static void put_list(struct etf_encoder *e, Term t)
{
	size_t n = 0;
	uint8_t *at;

	if (etf_is_byte_string(t, &n)) {
		put_tagged(e, ETF_STRING, n, 2);
		at = take_room(e, n);
		for (; at != NULL && term_is_cons(t); t = cons_tail(t))
			*at++ = (uint8_t)small_value(cons_head(t));
		return;
	}
	put_tagged(e, ETF_LIST, 0, 4);
	push_rest(e, e->used - 4, t);
}

static void put_tuple(struct etf_encoder *e, const Term *p)
{
	size_t arity = header_arity(*p);

	if (arity < 256)
		put_tagged(e, ETF_SMALL_TUPLE, arity, 1);
	else
		put_tagged(e, ETF_LARGE_TUPLE, arity, 4);
	for (size_t i = arity; i > 0; i--)
		word_stack_push(&e->todo, p[i]);
}

static void put_map(struct etf_encoder *e, Term t)
{
	size_t n = map_size(t), first = e->todo.count;
	struct map_iter it;
	Term key, value, *keys;

	put_tagged(e, ETF_MAP, n, 4);
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

static void put_record(struct etf_encoder *e, const struct record *r)
{
	size_t n = definition_field_count(r->definition);

	put_tagged(e, ETF_RECORD, n, 4);
	put_be(e, definition_is_exported(r->definition), 1);
	put_atom(e, tuple_get(r->definition, RECORD_MODULE));
	put_atom(e, tuple_get(r->definition, RECORD_NAME));
	for (size_t i = 0; i < n; i++)
		put_atom(e, definition_fields(r->definition)[i]);
	for (size_t i = n; i-- > 0;)
		word_stack_push(&e->todo, r->values[i]);
}

static void etf_encode_boxed(struct etf_encoder *e, Term t)
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
	case SUB_RECORD:
		put_record(e, record_ptr(t));
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

static void etf_encode_term(struct etf_encoder *e, Term t)
{
	if (term_is_cons(t))
		put_list(e, t);
	else if (term_is_boxed(t))
		etf_encode_boxed(e, t);
	else if (term_is_small(t))
		put_integer(e, t);
	else if (term_is_atom(t))
		put_atom(e, t);
	else if (t == NIL)
		put_tag(e, ETF_NIL);
	else
		put_id(e, t);
}

static inline void add_count(struct etf_encoder *e, size_t counted, uint32_t n)
{
	uint32_t so_far;

	if (e->failed)
		return;
	memcpy(&so_far, e->data + counted, sizeof(so_far));
	write_be(e->data + counted, __builtin_bswap32(so_far) + n, 4);
}

/* The elements of a list that need nothing of the stack go out here. */
static void put_rest(struct etf_encoder *e, size_t counted, Term t, int64_t *left)
{
	uint32_t n = 0;

	for (; term_is_cons(t) && term_is_immed(cons_head(t)) && !e->failed && *left > 0; --*left, n++) {
		etf_encode_term(e, cons_head(t));
		t = cons_tail(t);
	}
	if (!term_is_cons(t)) {
		word_stack_push(&e->todo, t);
	} else if (*left <= 0) {
		push_rest(e, counted, t);
	} else {
		push_rest(e, counted, cons_tail(t));
		word_stack_push(&e->todo, cons_head(t));
		n++;
	}
	add_count(e, counted, n);
}

/* ---- counting only: what is in a term may come in any order */

/* Of what comes often and has nothing inside; 0: it is something else. */
static inline size_t leaf_bytes(Term t, unsigned flags)
{
	size_t n;

	if (term_is_small(t) && small_value(t) == (int32_t)small_value(t))
		return (uint64_t)small_value(t) < 256 ? 2 : 5;
	if (term_is_atom(t))
		return (flags & ETF_ATOMS_LATIN1) && atom_latin1_size(t, &n) ? 3 + n : 0;
	return t == NIL;
}

static void count_boxed(struct etf_encoder *e, Term t)
{
	const Term *p = boxed_ptr(t);
	unsigned sub = header_sub(*p);

	if (sub == SUB_TUPLE || (sub == SUB_MAP && map_kind(*p) == MAP_FLAT))
		word_stack_push(&e->todo, t);
	else if (sub == SUB_FLOAT && !(e->flags & ETF_MINOR_0))
		e->used += 1 + sizeof(double);
	else
		etf_encode_boxed(e, t);
}

/* What has nothing inside is counted at once, what comes often without a look at how it is written. */
static inline void count_term(struct etf_encoder *e, Term t)
{
	size_t n;

	if (term_is_boxed(t)) {
		count_boxed(e, t);
	} else if (term_is_cons(t)) {
		word_stack_push(&e->todo, t);
	} else {
		n = leaf_bytes(t, e->flags);
		e->used += n;
		if (unlikely(n == 0))
			etf_encode_term(e, t);
	}
}

static void count_terms(struct etf_encoder *e, const Term *at, size_t n, int64_t *left)
{
	for (const Term *end = at + n; at < end; at++)
		count_term(e, *at);
	*left -= (int64_t)n;
}

static void count_rest(struct etf_encoder *e, Term t, int64_t *left)
{
	for (; term_is_cons(t) && *left > 0; --*left, t = cons_tail(t))
		count_term(e, cons_head(t));
	if (!term_is_cons(t)) {
		count_term(e, t);
		return;
	}
	word_stack_push(&e->todo, t);
	word_stack_push(&e->todo, MARK_REST);
}

static void count_list(struct etf_encoder *e, Term t, int64_t *left)
{
	size_t n;

	if (etf_is_byte_string(t, &n)) {
		e->used += 3 + n;
		return;
	}
	e->used += 5;
	count_rest(e, t, left);
}

static void etf_count_some(struct etf_encoder *e, int64_t *left)
{
	while (e->todo.count > 0 && !e->failed && *left > 0) {
		Term t = word_stack_pop(&e->todo);

		--*left;
		if (t == MARK_REST) {
			count_rest(e, word_stack_pop(&e->todo), left);
		} else if (t == MARK_FUN_END) {
			word_stack_pop(&e->todo);
		} else if (term_is_cons(t)) {
			count_list(e, t, left);
		} else if (term_is_tuple(t)) {
			e->used += tuple_arity(t) < 256 ? 2 : 5;
			count_terms(e, boxed_ptr(t) + 1, tuple_arity(t), left);
		} else if (term_is_map(t) && map_is_flat(t)) {
			e->used += 5;
			count_terms(e, boxed_ptr(boxed_ptr(t)[1]) + 1, map_size(t), left);
			count_terms(e, boxed_ptr(t) + 2, map_size(t), left);
		} else {
			etf_encode_term(e, t);
		}
	}
}

/* ---- steps */

enum { BYTES_A_UNIT = 64 };

static void etf_encode_some(struct etf_encoder *e, int64_t *left)
{
	while (e->todo.count > 0 && !e->failed && *left > 0) {
		Term t = word_stack_pop(&e->todo);
		size_t before = e->used;

		--*left;
		if (t == MARK_REST) {
			t = word_stack_pop(&e->todo);
			put_rest(e, word_stack_pop(&e->todo), t, left);
		} else if (t == MARK_FUN_END) {
			end_fun(e, word_stack_pop(&e->todo));
		} else {
			etf_encode_term(e, t);
			*left -= (int64_t)((e->used - before) / BYTES_A_UNIT);
		}
	}
}

static void encoder_init(struct etf_encoder *e, Term t, unsigned flags, bool count_only)
{
	e->data = count_only ? NULL : e->fixed;
	e->room = sizeof(e->fixed);
	e->used = 0;
	e->out = NULL;
	e->flags = count_only || (flags & ETF_LOCAL) ? flags & ~(unsigned)ETF_COMPRESSED : flags;
	e->failed = false;
	e->atoms = NULL;
	e->deflated = NULL;
	e->z = NULL;
	e->pieces = NULL;
	e->piece_count = e->piece_room = 0;
	e->piece_least = (e->flags & (ETF_IOVEC | ETF_COMPRESSED)) == ETF_IOVEC ? HEAPBIN_LIMIT + 1 : SIZE_MAX;
	word_stack_init(&e->todo);
	put_tag(e, ETF_VERSION);
	if (unlikely(flags & ETF_LOCAL))
		put_tagged(e, ETF_LOCAL_TERM, node_secret(), 8);
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
	if (e->out == NULL)
		etf_encoder_leave_fixed(e, e->used, e->used);
	if (e->failed || e->used < ZLIB_HEAD || e->used > UINT32_MAX)
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

static void etf_deflate_drop(struct etf_encoder *e)
{
	drop_deflated(e);
	end_deflate(e);
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
static void etf_deflate_some(struct etf_encoder *e, int64_t *left)
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
			etf_deflate_drop(e);
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
	etf_deflate_drop(e);
	mem_free(e->pieces);
}

/* ---- the ends */

static int encoder_step(struct etf_encoder *e, int64_t *left)
{
	if (e->data != NULL)
		etf_encode_some(e, left);
	else
		etf_count_some(e, left);
	if (!e->failed && e->todo.count == 0 && (e->flags & ETF_COMPRESSED))
		etf_deflate_some(e, left);
	if (e->failed)
		return -ENOMEM;
	return e->todo.count > 0 || (e->flags & ETF_COMPRESSED) ? -EAGAIN : 0;
}

/* What was written. Owns: the caller; NULL when too big for memory. */
static struct binary *take_binary(struct etf_encoder *e)
{
	struct binary **from = e->deflated != NULL ? &e->deflated : &e->out;
	struct binary *b;

	if (*from == NULL)
		etf_encoder_leave_fixed(e, e->used, e->used);
	b = e->deflated != NULL || e->failed ? *from : binary_resize(e->out, e->used);
	if (b != NULL)
		*from = NULL;
	return b;
}

static Term put_written(struct etf_encoder *e, struct heap *h)
{
	struct binary *b;

	if (e->out == NULL && e->used <= HEAPBIN_LIMIT)
		return binary_put(h, e->data, e->used);
	b = take_binary(e);
	return b != NULL ? binary_from_counted(h, b, b->size_bytes) : TERM_NONE;
}

/* The bytes [from, to) of what is written, before the rest of the I/O vector. */
static Term put_part(struct heap *h, Term written, size_t from, size_t to, Term rest)
{
	return from < to ? heap_cons(h, binary_sub(h, written, (uint64_t)from * 8, (uint64_t)(to - from) * 8), rest)
			 : rest;
}

static Term put_iovec(const struct etf_encoder *e, struct heap *h, Term written)
{
	size_t to = e->used;
	Term list = NIL;

	if (e->piece_count == 0)
		return heap_cons(h, written, NIL);
	for (size_t i = e->piece_count; i-- > 0; to = e->pieces[i].at) {
		const struct piece *p = &e->pieces[i];
		uint64_t bits = (uint64_t)binary_size_bytes(p->binary) * 8;

		list = put_part(h, written, p->at, to, list);
		list = heap_cons(h, binary_size_bits(p->binary) == bits ? p->binary : binary_sub(h, p->binary, 0, bits),
				 list);
	}
	return put_part(h, written, 0, to, list);
}

/* Fails: TERM_NONE, out of memory. */
static Term put_result(struct etf_encoder *e, struct heap *h)
{
	Term written;

	if (e->data == NULL)
		return heap_uint(h, e->used);
	written = put_written(e, h);
	return written != TERM_NONE && (e->flags & ETF_IOVEC) ? put_iovec(e, h, written) : written;
}

int etf_encoder_step(struct etf_encoder *e, int64_t *left, struct heap *h, Term *result)
{
	int status = encoder_step(e, left);

	if (status != 0)
		return status;
	*result = put_result(e, h);
	return *result != TERM_NONE ? 0 : -ENOMEM;
}

void etf_encoder_free(struct etf_encoder *e)
{
	encoder_drop(e);
	mem_free(e);
}

/* from is then nobody's. */
static struct etf_encoder *move_encoder(const struct etf_encoder *from)
{
	struct etf_encoder *e = mem_alloc(sizeof(*e));

	*e = *from;
	word_stack_move(&e->todo, &from->todo);
	if (from->data == from->fixed)
		e->data = e->fixed;
	return e;
}

/* A leaf or a small tuple of leaves, without an encoder. Fails: 0, it is something else. */
static size_t etf_count_small(Term t, unsigned flags, int64_t *left)
{
	size_t n = 2, leaf;

	if (!term_is_tuple(t))
		return leaf_bytes(t, flags);
	if (tuple_arity(t) > 255)
		return 0;
	for (size_t i = 1; i <= tuple_arity(t); i++, n += leaf) {
		leaf = leaf_bytes(boxed_ptr(t)[i], flags);
		if (leaf == 0)
			return 0;
	}
	*left -= (int64_t)tuple_arity(t);
	return n;
}

int etf_encode_start(Term t, unsigned flags, bool count_only, int64_t *left, struct heap *h, Term *result,
		     struct etf_encoder **rest)
{
	struct etf_encoder e;
	int status;
	size_t bytes = count_only ? etf_count_small(t, flags, left) : 0;

	if (bytes > 0) {
		*result = term_from_small((int64_t)(1 + bytes)); /* the version first */
		return 0;
	}
	encoder_init(&e, t, flags, count_only);
	status = etf_encoder_step(&e, left, h, result);
	if (status == -EAGAIN)
		*rest = move_encoder(&e);
	else if (count_only)
		word_stack_free(&e.todo); /* it has nothing else */
	else
		encoder_drop(&e);
	return status;
}

struct binary *etf_encode(Term t, unsigned flags)
{
	struct etf_encoder e;
	int64_t left = INT64_MAX;
	struct binary *b;

	encoder_init(&e, t, flags, false);
	b = encoder_step(&e, &left) == 0 ? take_binary(&e) : NULL;
	encoder_drop(&e);
	return b;
}

/* The pieces, counted, for who keeps them longer than the term stays. */
static void share_pieces(const struct etf_encoder *e, struct etf_pieces *pieces)
{
	pieces->count = e->piece_count;
	pieces->all = e->piece_count > 0 ? mem_alloc(e->piece_count * sizeof(*pieces->all)) : NULL;
	for (size_t i = 0; i < e->piece_count; i++) {
		struct etf_piece *piece = &pieces->all[i];

		piece->at = e->pieces[i].at;
		piece->binary = binary_share_whole(e->pieces[i].binary, &piece->bytes, &piece->size_bytes);
	}
}

void etf_pieces_free(struct etf_pieces *pieces)
{
	for (size_t i = 0; i < pieces->count; i++)
		binary_unref(pieces->all[i].binary);
	mem_free(pieces->all);
}

struct binary *etf_encode_atoms(Term t, struct etf_atoms *atoms, struct etf_pieces *pieces)
{
	struct etf_encoder e;
	int64_t left = INT64_MAX;
	struct binary *b;

	encoder_init(&e, t, 0, false);
	e.used = 0; /* no version */
	e.atoms = atoms;
	if (pieces != NULL)
		e.piece_least = pieces->least_bytes;
	b = encoder_step(&e, &left) == 0 ? take_binary(&e) : NULL;
	if (b != NULL && pieces != NULL)
		share_pieces(&e, pieces);
	encoder_drop(&e);
	return b;
}

size_t etf_size_bytes(Term t, unsigned flags)
{
	struct etf_encoder e;
	int64_t left = INT64_MAX;

	encoder_init(&e, t, flags, true);
	encoder_step(&e, &left);
	encoder_drop(&e);
	return e.used;
}
