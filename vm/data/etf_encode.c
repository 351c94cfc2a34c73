/* SPDX-License-Identifier: Apache-2.0 */
/* Terms to bytes: what is written for each kind of term. What is still to be written stands on a stack: terms, and
 * marks (header words, which no term is). */
#include <stdio.h>

#include "data/big.h"
#include "data/bitcopy.h"
#include "data/etf_encoder.h"
#include "data/extern_id.h"
#include "data/fun_link.h"
#include "data/map.h"
#include "data/record.h"
#include "heap/resource_name.h"
#include "term/atom.h"

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
	word_stack_push(&e->todo, fun_creator(p));
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

bool etf_is_byte_string(Term t, size_t *length)
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

void etf_encode_boxed(struct etf_encoder *e, Term t)
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

void etf_encode_term(struct etf_encoder *e, Term t)
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

/* ---- steps */

enum { BYTES_A_UNIT = 64 };

void etf_encode_some(struct etf_encoder *e, int64_t *left)
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
