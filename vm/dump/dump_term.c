/* SPDX-License-Identifier: Apache-2.0 */
/* Objects are written once each, in the order in which they were first named: the list of them is the queue of the
 * walk, so depth costs no C stack. */
#include "dump/dump_term.h"

#include <stdio.h>
#include <string.h>

#include "base/hash.h"
#include "code/fun.h"
#include "data/etf.h"
#include "data/map.h"
#include "data/map_trie.h"
#include "dump/dump_out.h"
#include "heap/refbin.h"
#include "term/atom.h"

/* PAIR: a tag that no pointer has. */
enum { OBJECTS_MAX = 1 << 19, SLOTS = 1 << 20, PAIR = TAG_IMMED };

static struct {
	Term objects[OBJECTS_MAX]; /* tagged pointers; tag PAIR: two words that are to be a tuple */
	uint32_t count, next;      /* objects before `next` are written */
	uint32_t slots[SLOTS];     /* index + 1 of the object, hashed by address */
} walk;

static const Term *address_of(Term object)
{
	return (const Term *)(object & ~(Term)3);
}

static void await(Term object)
{
	uint32_t at = (uint32_t)hash_word((Term)address_of(object)) % SLOTS;

	for (; walk.slots[at] != 0; at = (at + 1) % SLOTS)
		if (address_of(walk.objects[walk.slots[at] - 1]) == address_of(object))
			return;
	if (walk.count == OBJECTS_MAX)
		return;
	walk.objects[walk.count] = object;
	walk.slots[at] = ++walk.count;
}

static void write_address(Term object)
{
	await(object);
	dump_format("H%lX", (unsigned long)address_of(object));
}

static void write_atom(Term t)
{
	size_t n;
	const char *text = atom_text(t, &n);

	dump_format("A%zX:", n);
	/* a line's end inside it would end the line of the dump */
	for (size_t i = 0; i < n; i++)
		dump_bytes(text[i] == '\n' ? "?" : text + i, 1);
}

void dump_term(Term t)
{
	if (term_is_cons(t) || term_is_boxed(t))
		write_address(t);
	else if (term_is_small(t))
		dump_format("I%lld", (long long)small_value(t));
	else if (term_is_atom(t))
		write_atom(t);
	else if (term_is_local_pid(t))
		dump_format("P<0.%u.%u>", pid_number(t), pid_serial(t));
	else if (term_is_local_port(t))
		dump_format("p#Port<0.%llu>", (unsigned long long)port_number(t));
	else
		dump_text("N");
}

void dump_term_pair(const Term *at)
{
	write_address((Term)at | PAIR);
}

/* ---- objects */

static void write_terms(const Term *at, const Term *end)
{
	for (const Term *t = at; t < end; t++) {
		if (t > at)
			dump_text(",");
		dump_term(*t);
	}
}

static void write_big(const Term *at)
{
	size_t n = header_arity(*at);

	dump_text(header_sub(*at) == SUB_BIG_NEG ? "B-16#" : "B16#");
	for (size_t i = n; i > 0; i--)
		dump_format(i == n ? "%lX" : "%016lX", (unsigned long)at[i]);
}

static void write_map(const Term *at)
{
	const Term *child, *end;

	if (map_kind(*at) == MAP_FLAT) {
		const struct flatmap *m = (const struct flatmap *)at;

		dump_format("Mf%zX:", map_val(*at));
		dump_term(m->keys);
		dump_text(":");
		write_terms(m->values, m->values + map_val(*at));
		return;
	}
	map_trie_children(term_from_boxed(at), &child, &end);
	if (map_kind(*at) == MAP_NODE_BITMAP)
		dump_format("Mn%zX:", (size_t)(end - child));
	else
		dump_format("Mh%zX:%zX:", (size_t)at[1], (size_t)(end - child));
	write_terms(child, end);
}

/* Of a bit string the whole bytes alone. */
static void write_binary(Term t)
{
	const Term *at = boxed_ptr(t);
	const struct subbin *sub = (const struct subbin *)at;
	uint64_t offset = 0, size = ((const struct heapbin *)at)->size_bytes;

	if (header_sub(*at) == SUB_SUBBIN) {
		offset = sub->offset_bytes;
		at = boxed_ptr(sub->original);
	}
	if (header_sub(*at) == SUB_REFBIN) {
		const struct refbin *r = (const struct refbin *)at;

		dump_format("Yc%lX:%lX:%lX", (unsigned long)r->binary,
			    (unsigned long)(r->bytes - r->binary->data + offset), (unsigned long)size);
	} else {
		dump_format("Yh%lX:", (unsigned long)size);
		dump_base64(((const struct heapbin *)at)->data + offset, size);
	}
}

/* References, funs, identifiers of other nodes, bit strings that do not begin on a byte. */
static void write_external(Term t)
{
	struct binary *b = etf_encode(t, 0);

	if (b == NULL)
		return;
	dump_format("E%zX:", b->size_bytes);
	dump_base64(b->data, b->size_bytes);
	binary_unref(b);
}

static bool is_plain_binary(const Term *at)
{
	const struct subbin *sub = (const struct subbin *)at;

	switch (header_sub(*at)) {
	case SUB_HEAPBIN: case SUB_REFBIN: return true;
	case SUB_SUBBIN: return sub->bit_size == 0 && sub->bit_offset == 0;
	default: return false;
	}
}

static void write_boxed(Term t)
{
	const Term *at = boxed_ptr(t);

	switch (header_sub(*at)) {
	case SUB_TUPLE:
	case SUB_RECORD: /* {Definition, Value...}: the reader knows no records */
		dump_format("t%zX:", header_arity(*at));
		write_terms(at + 1, at + 1 + header_arity(*at));
		break;
	case SUB_BIG_POS: case SUB_BIG_NEG:
		write_big(at);
		break;
	case SUB_FLOAT: {
		char text[64];
		int n = snprintf(text, sizeof(text), "%.20e", float_value(t));

		dump_format("F%X:%s", (unsigned)n, text);
		break;
	}
	case SUB_MAP:
		write_map(at);
		break;
	case SUB_MATCH: /* no term that Erlang code could see */
		dump_text("t0:");
		break;
	default:
		if (is_plain_binary(at))
			write_binary(t);
		else
			write_external(t);
		break;
	}
}

static void write_object(Term object)
{
	const Term *at = address_of(object);

	dump_format("%lX:", (unsigned long)at);
	if ((object & 3) == PAIR) {
		dump_text("t2:");
		write_terms(at, at + 2);
	} else if (term_is_cons(object)) {
		dump_text("l");
		dump_term(at[0]);
		dump_text("|");
		dump_term(at[1]);
	} else {
		write_boxed(object);
	}
	dump_text("\n");
}

void dump_term_objects(void)
{
	while (walk.next < walk.count)
		write_object(walk.objects[walk.next++]);
}

/* Binaries that several processes share are written for one of them, most times. */
static bool is_written(const struct binary *b)
{
	static const struct binary *written[4096];
	const struct binary **slot = &written[hash_word((Term)b) % 4096];
	bool is = *slot == b;

	*slot = b;
	return is;
}

void dump_term_binaries(void)
{
	for (uint32_t i = 0; i < walk.count; i++) {
		const Term *at = address_of(walk.objects[i]);
		const struct refbin *r = (const struct refbin *)at;

		if (!term_is_boxed(walk.objects[i]))
			continue;
		if (header_sub(*at) == SUB_SUBBIN)
			r = (const struct refbin *)boxed_ptr(((const struct subbin *)at)->original);
		if (header_sub(r->header) != SUB_REFBIN || is_written(r->binary))
			continue;
		dump_format("=binary:%lX\n%zX:", (unsigned long)r->binary, r->binary->size_bytes);
		dump_base64(r->binary->data, r->binary->size_bytes);
		dump_text("\n");
	}
}

void dump_term_reset(void)
{
	for (uint32_t i = 0; i < walk.count; i++) {
		uint32_t at = (uint32_t)hash_word((Term)address_of(walk.objects[i])) % SLOTS;

		for (; walk.slots[at] != 0; at = (at + 1) % SLOTS)
			walk.slots[at] = 0;
	}
	walk.count = walk.next = 0;
}
