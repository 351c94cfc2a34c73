/* SPDX-License-Identifier: Apache-2.0 */
/* Bytes to terms, in two passes: the first (etf_check.c) finds every length sound and every sub-term there (a term
 * takes a byte at least, so what the second pass takes is bounded by the input); the second builds.
 * Invariant: an object on the heap is complete at every moment: slots not yet filled hold []. */
#include <errno.h>
#include <math.h>

#include "data/binary.h"
#include "data/etf_decoder.h"
#include "data/extern_id.h"
#include "data/float_text.h"
#include "data/fun_link.h"
#include "data/map.h"
#include "data/number.h"
#include "data/record.h"
#include "heap/copy.h"
#include "term/atom.h"

static struct job *push_job(struct etf_decoder *d, enum job_kind kind, Term *slot, size_t count)
{
	struct job *j;

	if (d->count == d->room) {
		struct job *more = mem_alloc(2 * d->room * sizeof(*more));

		memcpy(more, d->jobs, d->count * sizeof(*more));
		if (d->jobs != d->fixed)
			mem_free(d->jobs);
		d->jobs = more;
		d->room *= 2;
	}
	j = &d->jobs[d->count++];
	*j = (struct job){ .kind = kind, .slot = slot, .count = count };
	return j;
}

static void push_slots(struct etf_decoder *d, Term *first, size_t count)
{
	if (count > 0)
		push_job(d, JOB_SLOTS, first, count);
}

static Term fail(struct etf_decoder *d)
{
	d->c.failed = true;
	return NIL;
}

static Term check_value(struct etf_decoder *d, Term t)
{
	return t != TERM_NONE ? t : fail(d);
}

static Term read_reference(struct etf_decoder *d)
{
	size_t place = take_be(&d->c, 1);

	return place < d->atom_count ? d->atoms[place] : fail(d);
}

static Term read_text_atom(struct etf_decoder *d, unsigned tag)
{
	bool utf8 = tag == ETF_ATOM_UTF8 || tag == ETF_SMALL_ATOM_UTF8;
	size_t n = take_atom_length(&d->c, tag);
	const char *text = (const char *)take(&d->c, n);
	char converted[ATOM_MAX_CHARS * 2];

	if (text == NULL || (!utf8 && n > ATOM_MAX_CHARS))
		return fail(d);
	if (!(d->flags & ETF_SAFE))
		return check_value(d, utf8 ? atom_from_utf8(text, n, NULL) : atom_from_latin1(text, n, NULL));
	if (!utf8) {
		size_t k = 0;

		for (size_t i = 0; i < n; i++) {
			unsigned char c = (unsigned char)text[i];

			if (c >= 0x80)
				converted[k++] = (char)(0xc0 | c >> 6);
			converted[k++] = (char)(c < 0x80 ? c : 0x80 | (c & 0x3f));
		}
		text = converted;
		n = k;
	}
	return check_value(d, atom_existing_utf8(text, n));
}

static inline Term read_atom(struct etf_decoder *d, unsigned tag)
{
	return tag == ETF_ATOM_REFERENCE ? read_reference(d) : read_text_atom(d, tag);
}

static Term read_tagged_atom(struct etf_decoder *d)
{
	unsigned tag = (unsigned)take_be(&d->c, 1);

	return read_atom(d, tag);
}

static Term read_float(struct etf_decoder *d, unsigned tag)
{
	union { uint64_t w; double d; } u;
	const char *text;

	if (tag == ETF_NEW_FLOAT) {
		u.w = take_be(&d->c, 8);
		return isfinite(u.d) ? heap_float(d->heap, u.d) : fail(d);
	}
	text = (const char *)take(&d->c, ETF_FLOAT_BYTES);
	if (text == NULL || !float_text_read(text, strnlen(text, ETF_FLOAT_BYTES), &u.d))
		return fail(d);
	return heap_float(d->heap, u.d);
}

static Term read_big(struct etf_decoder *d, unsigned length_bytes)
{
	size_t n = take_be(&d->c, length_bytes);
	bool negative = take_be(&d->c, 1) != 0;
	const uint8_t *bytes = take(&d->c, n);

	return bytes != NULL ? check_value(d, num_from_bytes(d->heap, bytes, n, true, negative)) : fail(d);
}

/* A binary of more than half of its message is not copied: the term points into the message, which stays as long as the
 * term does. So no more bytes are kept for nothing than the binary has. */
static bool may_stay(const struct etf_decoder *d, size_t n)
{
	return d->home != NULL && n > HEAPBIN_LIMIT && n > d->home->size_bytes / 2;
}

static Term put_whole_bytes(struct etf_decoder *d, const uint8_t *bytes, size_t n)
{
	if (likely(!may_stay(d, n)))
		return check_value(d, binary_put(d->heap, bytes, n));
	binary_ref(d->home);
	return refbin_put_part(d->heap, d->home, bytes, n);
}

static Term read_binary(struct etf_decoder *d, unsigned tag)
{
	size_t n = take_be(&d->c, 4);
	unsigned bits = tag == ETF_BIT_BINARY ? (unsigned)take_be(&d->c, 1) : 8;
	const uint8_t *bytes = take(&d->c, n);
	struct bits_view v = { .base = bytes, .size = n * 8 - (8 - bits) };

	if (bytes == NULL)
		return fail(d);
	if (bits == 8)
		return put_whole_bytes(d, bytes, n);
	return check_value(d, binary_put_bits(d->heap, &v));
}

enum { CREATION_MAX_TINY = 3 };

/* The node of a name and the creation that follows; creations of one byte are small numbers. */
static struct node_name read_node(struct etf_decoder *d, Term name, unsigned creation_bytes)
{
	struct node_name node = { name, (uint32_t)take_be(&d->c, creation_bytes) };

	d->c.failed |= creation_bytes == 1 && node.creation > CREATION_MAX_TINY;
	if (unlikely(d->flags & ETF_LOCAL) && node.name == am_empty && node.creation == 0)
		return node_self();
	return node_is_self(node) ? node_self() : node;
}

static Term read_pid(struct etf_decoder *d, unsigned creation_bytes)
{
	struct extern_facts f = { .count = 2 };
	Term name = read_tagged_atom(d);

	f.ids[0] = (uint32_t)take_be(&d->c, 4);
	f.ids[1] = (uint32_t)take_be(&d->c, 4);
	f.node = read_node(d, name, creation_bytes);
	return d->c.failed ? NIL : extern_id_put(d->heap, SUB_XPID, &f);
}

static Term read_port(struct etf_decoder *d, unsigned number_bytes, unsigned creation_bytes)
{
	struct extern_facts f = { .count = 2 };
	Term name = read_tagged_atom(d);
	uint64_t number = take_be(&d->c, number_bytes);

	f.ids[0] = (uint32_t)number;
	f.ids[1] = (uint32_t)(number >> 32);
	f.node = read_node(d, name, creation_bytes);
	return d->c.failed ? NIL : extern_id_put(d->heap, SUB_XPORT, &f);
}

static Term read_ref(struct etf_decoder *d, unsigned creation_bytes)
{
	struct extern_facts f = { .count = (unsigned)take_be(&d->c, 2) };
	Term name = read_tagged_atom(d);

	f.node = read_node(d, name, creation_bytes);
	for (unsigned i = 0; i < f.count; i++)
		f.ids[i] = (uint32_t)take_be(&d->c, 4);
	return d->c.failed ? NIL : extern_id_put(d->heap, SUB_XREF, &f);
}

/* The oldest form: one number, then the creation. */
static Term read_old_ref(struct etf_decoder *d)
{
	struct extern_facts f = { .count = 1 };
	Term name = read_tagged_atom(d);

	f.ids[0] = (uint32_t)take_be(&d->c, 4);
	f.node = read_node(d, name, 1);
	return d->c.failed ? NIL : extern_id_put(d->heap, SUB_XREF, &f);
}

static Term read_export(struct etf_decoder *d)
{
	Term module = read_tagged_atom(d);
	Term function = read_tagged_atom(d);
	struct export *e;
	Term *at;

	take(&d->c, 1);
	if (d->c.failed)
		return NIL;
	e = (d->flags & ETF_SAFE ? fun_link_find_export : fun_link_get_export)(module, function, d->c.at[0]);
	take(&d->c, 1);
	if (e == NULL)
		return fail(d);
	at = heap_alloc(d->heap, EXPORT_FUN_WORDS);
	at[0] = HEADER(EXPORT_FUN_WORDS - 1, SUB_EXPORT);
	at[1] = (Term)e;
	return term_from_boxed(at);
}

/* An integer that stands within a fun, in any form that a small one can have: its lowest 32 bits. */
static int32_t read_plain_integer(struct etf_decoder *d)
{
	Term t = SMALL(0);

	switch (take_be(&d->c, 1)) {
	case ETF_SMALL_INTEGER: return (int32_t)take_be(&d->c, 1);
	case ETF_INTEGER: return (int32_t)take_be(&d->c, 4);
	case ETF_SMALL_BIG:
		t = read_big(d, 1);
		break;
	default:
		d->c.failed = true;
	}
	d->c.failed |= !term_is_small(t);
	return (int32_t)small_value(t);
}

static Term read_fun_creator(struct etf_decoder *d)
{
	unsigned tag = (unsigned)take_be(&d->c, 1);

	if (tag != ETF_NEW_PID && tag != ETF_PID)
		return fail(d);
	return read_pid(d, tag == ETF_NEW_PID ? 4 : 1);
}

enum { FREE_MAX = 255 }; /* a call puts them into registers */

static Term read_fun(struct etf_decoder *d)
{
	struct fun_facts facts = { 0 };
	const uint8_t *uniq;
	struct fun_entry *entry;
	struct fun *f;
	uint32_t free_count;
	Term creator;

	take(&d->c, 4);
	facts.arity = (uint32_t)take_be(&d->c, 1);
	uniq = take(&d->c, sizeof(facts.uniq));
	facts.index = (int32_t)take_be(&d->c, 4);
	free_count = (uint32_t)take_be(&d->c, 4);
	facts.module = read_tagged_atom(d);
	facts.old_index = read_plain_integer(d);
	facts.old_uniq = read_plain_integer(d);
	creator = read_fun_creator(d);
	if (free_count > FREE_MAX)
		return fail(d);
	if (d->c.failed)
		return NIL;
	memcpy(facts.uniq, uniq, sizeof(facts.uniq));
	entry = fun_link_get(&facts);
	if (entry == NULL)
		return fail(d);
	f = (struct fun *)heap_alloc(d->heap, FUN_WORDS + free_count);
	f->header = HEADER(FUN_WORDS - 1 + free_count, SUB_FUN);
	f->entry = entry;
	f->shape = (uint64_t)facts.arity << 32 | free_count;
	f->creator = creator;
	for (uint32_t i = 0; i < free_count; i++)
		f->env[i] = NIL;
	push_slots(d, f->env, free_count);
	return term_from_boxed((Term *)f);
}

static Term read_tuple(struct etf_decoder *d, size_t arity)
{
	Term *at = heap_alloc(d->heap, arity + 1);

	at[0] = HEADER(arity, SUB_TUPLE);
	push_slots(d, at + 1, arity);
	return term_from_boxed(at);
}

static Term read_list(struct etf_decoder *d, size_t n, Term *slot)
{
	Term *at;

	if (n == 0) {
		/* Only the tail, where the list would be. */
		push_slots(d, slot, 1);
		return NIL;
	}
	at = heap_alloc(d->heap, 2 * n);
	push_slots(d, at + 2 * n - 1, 1);
	push_job(d, JOB_CELLS, at, n);
	return term_from_cons(at);
}

static Term read_map(struct etf_decoder *d, size_t n, Term *slot)
{
	struct job *j;

	if (n == 0)
		return map_new(d->heap);
	j = push_job(d, JOB_MAP, slot, n);
	j->pairs = mem_alloc(2 * n * sizeof(Term));
	push_slots(d, j->pairs, 2 * n);
	return NIL;
}

static Term read_record(struct etf_decoder *d)
{
	size_t n = take_be(&d->c, 4);
	bool exported = take_be(&d->c, 1) != 0;
	Term module = read_tagged_atom(d), name = read_tagged_atom(d);
	Term *definition;
	struct record *r;

	if (d->c.failed)
		return NIL;
	definition = definition_new(d->heap, module, name, exported, n);
	for (size_t i = 0; i < n && !d->c.failed; i++)
		definition[RECORD_FIELDS + i] = read_tagged_atom(d);
	if (d->c.failed || !definition_is_sound(term_from_boxed(definition)))
		return fail(d);
	r = record_new(d->heap, term_from_boxed(definition));
	push_slots(d, r->values, n);
	return term_from_boxed((Term *)r);
}

static Term read_string(struct etf_decoder *d)
{
	size_t n = take_be(&d->c, 2);
	const uint8_t *bytes = take(&d->c, n);

	return bytes != NULL ? heap_list_bytes(d->heap, bytes, n, NIL) : fail(d);
}

/* The next term; its parts are pushed as jobs. It will stand at slot. */
static Term read_term(struct etf_decoder *d, Term *slot)
{
	unsigned tag = (unsigned)take_be(&d->c, 1);

	switch (tag) {
	case ETF_SMALL_INTEGER:
		return term_from_small((int64_t)take_be(&d->c, 1));
	case ETF_INTEGER:
		return term_from_small((int32_t)take_be(&d->c, 4));
	case ETF_NEW_FLOAT:
	case ETF_FLOAT:
		return read_float(d, tag);
	case ETF_NIL:
		return NIL;
	case ETF_SMALL_TUPLE:
		return read_tuple(d, take_be(&d->c, 1));
	case ETF_LARGE_TUPLE:
		return read_tuple(d, take_be(&d->c, 4));
	case ETF_LIST:
		return read_list(d, take_be(&d->c, 4), slot);
	case ETF_MAP:
		return read_map(d, take_be(&d->c, 4), slot);
	case ETF_RECORD:
		return read_record(d);
	case ETF_STRING:
		return read_string(d);
	case ETF_BINARY:
	case ETF_BIT_BINARY:
		return read_binary(d, tag);
	case ETF_SMALL_BIG:
		return read_big(d, 1);
	case ETF_LARGE_BIG:
		return read_big(d, 4);
	case ETF_NEW_PID:
		return read_pid(d, 4);
	case ETF_PID:
		return read_pid(d, 1);
	case ETF_NEW_PORT:
		return read_port(d, 4, 4);
	case ETF_V4_PORT:
		return read_port(d, 8, 4);
	case ETF_PORT:
		return read_port(d, 4, 1);
	case ETF_NEWER_REFERENCE:
		return read_ref(d, 4);
	case ETF_NEW_REFERENCE:
		return read_ref(d, 1);
	case ETF_REFERENCE:
		return read_old_ref(d);
	case ETF_EXPORT:
		return read_export(d);
	case ETF_NEW_FUN:
		return read_fun(d);
	default:
		return read_atom(d, tag);
	}
}

/* The pairs of the uppermost job are all read. */
static void finish_map(struct etf_decoder *d)
{
	struct job *j = &d->jobs[--d->count];
	Term map = map_from_unique_pairs(d->heap, j->pairs, j->count);

	mem_free(j->pairs);
	*j->slot = check_value(d, map);
}

enum { BYTES_A_UNIT = 64, PAIRS_A_UNIT = 2 };

/* After a slot that is not the last. */
static inline Term *next_slot(Term *slot, bool are_cells)
{
	if (!are_cells)
		return slot + 1;
	slot[1] = term_from_cons(slot + 2);
	return slot + 2;
}

/* The same for the slots of j, but the last. */
static void read_integers(struct etf_decoder *d, struct job *j, int64_t *left)
{
	const uint8_t *at = d->c.at, *end = d->c.end;
	size_t most = j->count - 1 < (uint64_t)*left ? j->count - 1 : (size_t)*left, n = 0;
	bool are_cells = j->kind == JOB_CELLS;
	Term *slot = j->slot;
	unsigned bytes;

	for (; n < most && (bytes = integer_bytes(at, end)) != 0; n++, at += bytes, slot = next_slot(slot, are_cells)) {
		uint32_t wide;

		memcpy(&wide, at + 1, sizeof(wide));
		*slot = term_from_small(bytes == 2 ? at[1] : (int32_t)__builtin_bswap32(wide));
	}
	d->c.at = at;
	j->slot = slot;
	j->count -= n;
	*left -= (int64_t)n;
}

static void run_jobs(struct etf_decoder *d, int64_t *left)
{
	while (d->count > 0 && !d->c.failed && *left > 0) {
		struct job *j = &d->jobs[d->count - 1];
		const uint8_t *before;
		Term *slot;

		if (j->kind == JOB_MAP) {
			*left -= (int64_t)(1 + j->count / PAIRS_A_UNIT);
			finish_map(d);
			continue;
		}
		if (j->count > 1 && integer_bytes(d->c.at, d->c.end) != 0)
			read_integers(d, j, left);
		before = d->c.at;
		slot = j->slot;
		if (--j->count == 0)
			d->count--;
		else
			j->slot = next_slot(slot, j->kind == JOB_CELLS);
		*slot = read_term(d, slot);
		*left -= 1 + (d->c.at - before) / BYTES_A_UNIT;
	}
}

/* Both cursors are written from registers: a copy of one that has just been written in parts would wait for them. */
static void decoder_init_at(struct etf_decoder *d, const uint8_t *start, struct cursor c, unsigned flags,
			    struct heap *h)
{
	d->c = d->ahead = c;
	d->start = start;
	d->inflated = NULL;
	d->z = NULL;
	d->flags = flags;
	d->home = NULL;
	d->atoms = NULL;
	d->atom_count = 0;
	d->heap = h;
	d->root = NIL;
	d->jobs = d->fixed;
	d->count = 0;
	d->room = sizeof(d->fixed) / sizeof(d->fixed[0]);
	d->wanted = 1;
	d->checked = false;
}

static void decoder_init(struct etf_decoder *d, const uint8_t *bytes, size_t n, unsigned flags, struct heap *h)
{
	struct cursor c = { .at = bytes, .end = bytes + n };
	bool inflates;

	c.failed = take_be(&c, 1) != ETF_VERSION;
	if (!c.failed && bytes_left(&c) > 0 && unlikely(c.at[0] == ETF_LOCAL_TERM)) {
		take(&c, 1);
		c.failed = take_be(&c, 8) != node_secret() || c.failed;
		flags |= ETF_LOCAL;
	}
	inflates = !c.failed && bytes_left(&c) > 0 && c.at[0] == ETF_ZLIB;
	if (inflates)
		take(&c, 1);
	decoder_init_at(d, bytes, c, flags, h);
	if (inflates) {
		etf_inflate_begin(d);
		d->ahead = d->c;
	}
}

static void decoder_drop(struct etf_decoder *d)
{
	while (d->count > 0)
		mem_free(d->jobs[--d->count].pairs);
	if (d->jobs != d->fixed)
		mem_free(d->jobs);
	mem_free(d->inflated);
	etf_inflate_end(d);
}

int etf_decoder_step(struct etf_decoder *d, int64_t *left, Term *term, size_t *used)
{
	if (d->z != NULL)
		etf_inflate_some(d, left);
	if (d->z != NULL)
		return -EAGAIN;
	etf_check_some(d, left);
	if (d->ahead.failed)
		return -EINVAL;
	if (d->wanted > 0)
		return -EAGAIN;
	if (!d->checked)
		push_slots(d, &d->root, 1);
	d->checked = true;
	run_jobs(d, left);
	if (d->c.failed)
		return -EINVAL;
	*term = d->root;
	*used = d->inflated != NULL ? d->outer_used : (size_t)(d->c.at - d->start);
	return d->count > 0 ? -EAGAIN : 0;
}

void etf_decoder_free(struct etf_decoder *d)
{
	decoder_drop(d);
	mem_free(d);
}

/* from is then nobody's. */
static struct etf_decoder *move_decoder(const struct etf_decoder *from)
{
	struct etf_decoder *d = mem_alloc(sizeof(*d));

	*d = *from;
	if (from->jobs == from->fixed)
		d->jobs = d->fixed;
	for (size_t i = 0; i < d->count; i++)
		if (d->jobs[i].slot == &from->root)
			d->jobs[i].slot = &d->root;
	return d;
}

int etf_decode_start(const uint8_t *bytes, size_t n, unsigned flags, int64_t *left, struct heap *h, Term *term,
		     size_t *used, struct etf_decoder **rest)
{
	struct etf_decoder d;
	int status;

	decoder_init(&d, bytes, n, flags, h);
	status = etf_decoder_step(&d, left, term, used);
	if (status == -EAGAIN)
		*rest = move_decoder(&d);
	else
		decoder_drop(&d);
	return status;
}

int etf_decode_to_heap(const uint8_t *bytes, size_t n, unsigned flags, struct heap *h, Term *term, size_t *used)
{
	struct etf_decoder d;
	int64_t left = INT64_MAX;
	size_t read;
	int result;

	decoder_init(&d, bytes, n, flags, h);
	result = etf_decoder_step(&d, &left, term, used != NULL ? used : &read);
	decoder_drop(&d);
	return result;
}

int etf_decode_atoms(const uint8_t *bytes, size_t n, struct binary *home, const Term *atoms, unsigned count,
		     struct heap *h, Term *term, size_t *used)
{
	struct etf_decoder d;
	int64_t left = INT64_MAX;
	int result;

	decoder_init_at(&d, bytes, (struct cursor){ .at = bytes, .end = bytes + n }, 0, h);
	d.home = home;
	d.atoms = atoms;
	d.atom_count = count;
	result = etf_decoder_step(&d, &left, term, used);
	decoder_drop(&d);
	return result;
}

int etf_decode(const uint8_t *bytes, size_t n, struct fragment **out, Term *term, unsigned flags)
{
	struct heap scratch;
	size_t used;
	int result;

	heap_init(&scratch, HEAP_MIN_WORDS);
	result = etf_decode_to_heap(bytes, n, flags, &scratch, term, &used);
	if (result == 0 && used != n)
		result = -EINVAL;
	*out = result == 0 ? copy_to_fragment(*term, term) : NULL;
	heap_free(&scratch);
	return result;
}
