/* SPDX-License-Identifier: Apache-2.0 */
/* Terms that drivers describe as words: each is put on a stack, or made of what stands there.
 * Invariant: a description is checked whole before its first word is built, but for what only building shows. */
#include <math.h>
#include <string.h>

#include "base/alloc.h"
#include "data/binary.h"
#include "data/etf.h"
#include "data/map.h"
#include "driver/driver_port.h"

struct checking {
	uint64_t depth;
	bool ok;
};

/* So many terms are taken from the stack, and `put` comes back. */
static void take(struct checking *c, uint64_t n, uint64_t put)
{
	c->ok &= n <= c->depth;
	c->depth = c->depth - n + put;
}

static size_t argument_count(uint64_t tag)
{
	switch (tag) {
	case DRIVER_TERM_NIL: return 0;
	case DRIVER_TERM_BINARY: return 3;
	case DRIVER_TERM_STRING: case DRIVER_TERM_STRING_CONS: case DRIVER_TERM_EXTERNAL: case DRIVER_TERM_BUFFER:
		return 2;
	default: return 1;
	}
}

/* As a count: of what an int holds. */
static bool is_count(uint64_t n, uint64_t least)
{
	return n >= least && n <= INT32_MAX;
}

static bool is_part(const struct driver_binary *b, uint64_t size, uint64_t offset)
{
	uint64_t room = b != NULL ? (uint64_t)b->size_bytes : 0;

	return b != NULL && size <= room && offset <= room - size;
}

static void check_one(struct checking *c, uint64_t tag, const uint64_t *a)
{
	switch (tag) {
	case DRIVER_TERM_ATOM: c->ok &= term_is_atom(a[0]); break;
	case DRIVER_TERM_PORT: c->ok &= term_is_local_port(a[0]); break;
	case DRIVER_TERM_PID: c->ok &= term_is_local_pid(a[0]); break;
	case DRIVER_TERM_BINARY: c->ok &= is_part((const struct driver_binary *)a[0], a[1], a[2]); break;
	case DRIVER_TERM_BUFFER: c->ok &= a[0] != 0 || a[1] == 0; break;
	case DRIVER_TERM_STRING: c->ok &= a[0] != 0 && is_count(a[1], 0); break;
	case DRIVER_TERM_EXTERNAL: c->ok &= a[0] != 0 && is_count(a[1], 1); break;
	case DRIVER_TERM_STRING_CONS:
		c->ok &= a[0] != 0 && is_count(a[1], 0);
		take(c, 1, 1);
		return;
	case DRIVER_TERM_LIST:
		c->ok &= is_count(a[0], 1);
		take(c, a[0], 1);
		return;
	case DRIVER_TERM_TUPLE:
		c->ok &= is_count(a[0], 0);
		take(c, a[0], 1);
		return;
	case DRIVER_TERM_MAP:
		c->ok &= is_count(a[0], 0);
		take(c, c->ok ? 2 * a[0] : 0, 1);
		return;
	case DRIVER_TERM_INT64: case DRIVER_TERM_UINT64: case DRIVER_TERM_FLOAT:
		c->ok &= a[0] != 0;
		break;
	default: break;
	}
	c->depth++;
}

bool driver_term_check(const uint64_t *words, size_t n)
{
	struct checking c = { 0, true };
	size_t i = 0;

	while (i < n && c.ok) {
		uint64_t tag = words[i++];

		if (tag < DRIVER_TERM_NIL || tag > DRIVER_TERM_MAP || n - i < argument_count(tag))
			return false;
		check_one(&c, tag, words + i);
		i += argument_count(tag);
	}
	return c.ok && c.depth == 1;
}

/* ---- building */

struct building {
	struct heap *h;
	Term *stack;
	size_t depth;
};

static Term put_part(struct heap *h, struct driver_binary *b, size_t size, size_t offset)
{
	struct binary *counted = driver_binary_counted(b);

	if (size <= HEAPBIN_LIMIT)
		return binary_put(h, b->bytes + offset, size);
	binary_ref(counted);
	return refbin_put_at(heap_alloc(h, REFBIN_WORDS), &h->off_heap, counted, b->bytes + offset, size);
}

static Term put_float(struct heap *h, const double *d)
{
	double value;

	memcpy(&value, d, sizeof(value));
	return isfinite(value) ? heap_float(h, value) : TERM_NONE;
}

static Term put_external(struct heap *h, const uint8_t *bytes, size_t n)
{
	Term t;

	return etf_decode_to_heap(bytes, n, 0, h, &t, NULL) == 0 ? t : TERM_NONE;
}

/* The last n of the stack, the last as the tail. */
static Term put_list(struct building *b, size_t n)
{
	Term *at = b->stack + b->depth - n;
	Term list = heap_list_array(b->h, n - 1, at, at[n - 1]);

	b->depth -= n;
	return list;
}

static Term put_tuple(struct building *b, size_t n)
{
	b->depth -= n;
	return heap_tuple_array(b->h, n, b->stack + b->depth);
}

/* TERM_NONE: a key is there twice. */
static Term put_map(struct building *b, size_t n)
{
	const Term *at = b->stack + b->depth - 2 * n;
	Term map = map_new(b->h);

	b->depth -= 2 * n;
	for (size_t i = 0; i < n; i++, at += 2) {
		if (map_get(map, at[0]) != TERM_NONE)
			return TERM_NONE;
		map = map_put(b->h, map, at[0], at[1]);
	}
	return map;
}

static int64_t read_int64(uint64_t at)
{
	int64_t n;

	memcpy(&n, (const void *)at, sizeof(n));
	return n;
}

/* TERM_NONE: it cannot be. */
static Term build_one(struct building *b, uint64_t tag, const uint64_t *a)
{
	switch (tag) {
	case DRIVER_TERM_NIL: return NIL;
	case DRIVER_TERM_INT: return heap_int(b->h, (int64_t)a[0]);
	case DRIVER_TERM_UINT: return heap_uint(b->h, a[0]);
	case DRIVER_TERM_INT64: return heap_int(b->h, read_int64(a[0]));
	case DRIVER_TERM_UINT64: return heap_uint(b->h, (uint64_t)read_int64(a[0]));
	case DRIVER_TERM_BINARY: return put_part(b->h, (struct driver_binary *)a[0], a[1], a[2]);
	case DRIVER_TERM_BUFFER: return binary_put(b->h, (const void *)a[0], a[1]);
	case DRIVER_TERM_STRING: return heap_list_bytes(b->h, (const void *)a[0], a[1], NIL);
	case DRIVER_TERM_STRING_CONS: return heap_list_bytes(b->h, (const void *)a[0], a[1], b->stack[--b->depth]);
	case DRIVER_TERM_FLOAT: return put_float(b->h, (const double *)a[0]);
	case DRIVER_TERM_EXTERNAL: return put_external(b->h, (const uint8_t *)a[0], a[1]);
	case DRIVER_TERM_LIST: return put_list(b, a[0]);
	case DRIVER_TERM_TUPLE: return put_tuple(b, a[0]);
	case DRIVER_TERM_MAP: return put_map(b, a[0]);
	default: return a[0]; /* an atom, pid or port */
	}
}

bool driver_term_build(const uint64_t *words, size_t n, struct heap *h, Term *term)
{
	struct building b = { .h = h };
	Term t = TERM_NONE;

	if (!driver_term_check(words, n))
		return false;
	b.stack = mem_alloc(n * sizeof(*b.stack)); /* each term has a word at least */
	for (size_t i = 0; i < n;) {
		uint64_t tag = words[i++];

		t = build_one(&b, tag, words + i);
		if (t == TERM_NONE)
			break;
		b.stack[b.depth++] = t;
		i += argument_count(tag);
	}
	mem_free(b.stack);
	*term = t;
	return t != TERM_NONE;
}
