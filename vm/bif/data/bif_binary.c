/* SPDX-License-Identifier: Apache-2.0 */
/* Binaries and I/O lists: the binary functions of module erlang. */
#include "base/alloc.h"
#include "base/release.h"
#include "bif/bif.h"
#include "data/binary.h"
#include "data/bitcopy.h"
#include "data/iolist.h"

enum { ELEMENTS_A_REDUCTION = 32, LISTED_BYTES_A_REDUCTION = 32, IOVEC_COPY_BYTES = 4 * HEAPBIN_LIMIT };

Term bif_erlang_byte_size_1(Process *p, Term *args)
{
	if (!term_is_bitstring(args[0]))
		return exc_badarg(p);
	return term_from_small((int64_t)((binary_size_bits(args[0]) + 7) / 8));
}

Term bif_erlang_bit_size_1(Process *p, Term *args)
{
	if (!term_is_bitstring(args[0]))
		return exc_badarg(p);
	return term_from_small((int64_t)binary_size_bits(args[0]));
}

Term bif_erlang_size_1(Process *p, Term *args)
{
	if (term_is_tuple(args[0]))
		return term_from_small((int64_t)tuple_arity(args[0]));
	if (term_is_bitstring(args[0]))
		return term_from_small((int64_t)binary_size_bytes(args[0]));
	return exc_badarg(p);
}

Term bif_erlang_split_binary_2(Process *p, Term *args)
{
	uint64_t at, size;

	if (!term_is_bitstring(args[0]) || !term_is_small(args[1]))
		return exc_badarg(p);
	at = (uint64_t)small_value(args[1]);
	if (at > binary_size_bytes(args[0]))
		return exc_badarg(p);
	size = binary_size_bits(args[0]);
	return heap_tuple(&p->heap, binary_sub(&p->heap, args[0], 0, at * 8),
			  binary_sub(&p->heap, args[0], at * 8, size - at * 8));
}

/* A negative length counts back from start. */
static Term put_part(Process *p, Term binary, Term start, Term length)
{
	int64_t at, n, size;

	if (!term_is_bitstring(binary) || !term_is_small(start) || !term_is_small(length) ||
	    (release_parts_are_bytes() && binary_size_bits(binary) % 8 != 0))
		return exc_badarg(p);
	size = (int64_t)binary_size_bytes(binary);
	at = small_value(start);
	n = small_value(length);
	if (n < 0) {
		at += n;
		n = -n;
	}
	if (at < 0 || at > size || n > size - at)
		return exc_badarg(p);
	return binary_sub(&p->heap, binary, (uint64_t)at * 8, (uint64_t)n * 8);
}

Term bif_erlang_binary_part_2(Process *p, Term *args)
{
	if (!term_is_tuple_of(args[1], 2))
		return exc_badarg(p);
	return put_part(p, args[0], tuple_get(args[1], 1), tuple_get(args[1], 2));
}

Term bif_erlang_binary_part_3(Process *p, Term *args)
{
	return put_part(p, args[0], args[1], args[2]);
}

/* Units that may be worked on in this time slice. */
static int64_t elements_left(const Process *p)
{
	return (int64_t)(p->reds_left > 0 ? p->reds_left : 1) * ELEMENTS_A_REDUCTION;
}

/* ---- lists of a binary's bytes, from the last one on; in steps where a time slice does not do */

struct byte_steps {
	struct exc_steps steps;
	Term binary, list;
	size_t from, left;   /* bytes: the first one, and how many are not in the list yet */
};

/* n bytes from `from` on before tail. */
static Term put_byte_list(struct heap *h, Term binary, size_t from, size_t n, Term tail)
{
	struct bits_view v = binary_view(binary);
	Term *at;

	if (v.offset == 0)
		return heap_list_bytes(h, v.base + from, n, tail);
	at = heap_alloc(h, 2 * n);
	for (size_t i = n; i-- > 0; at += 2) {
		at[0] = SMALL(bitcopy_read(v.base, v.offset + (from + i) * 8, 8));
		at[1] = tail;
		tail = term_from_cons(at);
	}
	return tail;
}

static Term byte_step(Process *p, struct exc_steps *steps)
{
	struct byte_steps *s = (struct byte_steps *)steps;
	size_t most = (size_t)(p->reds_left > 0 ? p->reds_left : 1) * LISTED_BYTES_A_REDUCTION;
	size_t n = s->left < most ? s->left : most;

	s->left -= n;
	s->list = put_byte_list(&p->heap, s->binary, s->from + s->left, n, s->list);
	process_bump(p, (int)(n / LISTED_BYTES_A_REDUCTION));
	return s->left > 0 ? EXC_MORE : s->list;
}

/* args: the native's, the binary first. The first step is made here, without an allocation. */
static Term list_bytes(Process *p, const Term *args, unsigned arity, size_t from, size_t n, Term tail)
{
	struct byte_steps s = { { .step = byte_step, .place = { am_erts_internal, am_binary_to_list_continue, 1 } },
				args[0],
				tail,
				from,
				n };
	Term t = byte_step(p, &s.steps);
	struct byte_steps *kept;

	if (t != EXC_MORE)
		return t;
	kept = mem_alloc(sizeof(*kept));
	*kept = s;
	return exc_run_steps(p, &kept->steps, args, arity);
}

Term bif_erlang_binary_to_list_1(Process *p, Term *args)
{
	if (!term_is_binary(args[0]))
		return exc_badarg(p);
	return list_bytes(p, args, 1, 0, binary_size_bytes(args[0]), NIL);
}

Term bif_erlang_binary_to_list_3(Process *p, Term *args)
{
	int64_t from, to;

	if (!term_is_binary(args[0]) || !term_is_small(args[1]) || !term_is_small(args[2]))
		return exc_badarg(p);
	from = small_value(args[1]);
	to = small_value(args[2]);
	if (from < 1 || to < from || to > (int64_t)binary_size_bytes(args[0]))
		return exc_badarg(p);
	return list_bytes(p, args, 3, (size_t)from - 1, (size_t)(to - from + 1), NIL);
}

Term bif_erlang_bitstring_to_list_1(Process *p, Term *args)
{
	Term tail = NIL;
	uint64_t size;

	if (!term_is_bitstring(args[0]))
		return exc_badarg(p);
	size = binary_size_bits(args[0]);
	if (size & 7) {
		tail = binary_sub(&p->heap, args[0], size & ~(uint64_t)7, size & 7);
		tail = heap_cons(&p->heap, tail, NIL);
	}
	return list_bytes(p, args, 1, 0, size / 8, tail);
}

static Term fail_iolist(Process *p, enum iolist_result result)
{
	return result == IOLIST_LIMIT ? exc_system_limit(p) : exc_badarg(p);
}

/* ---- I/O lists: first their bits are counted, then they are copied; both in steps where a time slice does not do */

enum list_result { LIST_BINARY, LIST_BITSTRING, LIST_SIZE, LIST_IOVEC };

/* iolist_to_iovec/1: large binaries stay what they are, what stands between them is copied together. */
struct iovec {
	struct heap *h;
	Term first, *link;   /* the list being made */
	uint64_t small, cut; /* bits to be copied; those copied that the list has already */
};

struct list_steps {
	struct exc_steps steps;
	enum list_result wanted;
	Term list, binary;   /* binary: TERM_NONE while bits are counted */
	struct iolist_walker walker;
	struct iolist_count count;
	uint8_t *base;
	uint64_t offset;     /* bits copied */
	struct iovec iovec;
};

static void copy_binary(struct list_steps *s, Term binary)
{
	struct bits_view v = binary_view(binary);

	if (likely(((s->offset | v.offset | v.size) & 7) == 0))
		memcpy(s->base + s->offset / 8, v.base + v.offset / 8, v.size / 8);
	else
		bitcopy_copy(s->base, s->offset, v.base, v.offset, v.size);
	s->offset += v.size;
}

static inline bool copy_bits(void *arg, Term binary, uint8_t byte)
{
	struct list_steps *s = arg;

	if (binary == TERM_NONE) {
		if (likely((s->offset & 7) == 0))
			s->base[s->offset / 8] = byte;
		else
			bitcopy_write(s->base, s->offset, byte, 8);
		s->offset += 8;
		return true;
	}
	copy_binary(s, binary);
	return true;
}

static bool is_shared(Term binary)
{
	uint64_t offset;

	return binary_size_bytes(binary) > IOVEC_COPY_BYTES &&
	       term_has_sub(binary_original(binary, &offset), SUB_REFBIN);
}

static bool count_bits(void *arg, Term binary, uint8_t byte)
{
	return iolist_count(&((struct list_steps *)arg)->count, binary, byte);
}

static bool count_iovec(void *arg, Term binary, uint8_t byte)
{
	struct list_steps *s = arg;

	if (binary == TERM_NONE)
		s->iovec.small += 8;
	else if (!is_shared(binary))
		s->iovec.small += binary_size_bits(binary);
	return iolist_count(&s->count, binary, byte);
}

static void link_part(struct iovec *v, Term part)
{
	*v->link = heap_cons(v->h, part, NIL);
	v->link = &cons_ptr(*v->link)[1];
}

/* What was copied since the last part becomes one. */
static void cut_small(struct list_steps *s)
{
	if (s->offset > s->iovec.cut)
		link_part(&s->iovec, binary_sub(s->iovec.h, s->binary, s->iovec.cut, s->offset - s->iovec.cut));
	s->iovec.cut = s->offset;
}

static bool take_part(void *arg, Term binary, uint8_t byte)
{
	struct list_steps *s = arg;

	if (binary == TERM_NONE || !is_shared(binary))
		return copy_bits(s, binary, byte);
	cut_small(s);
	link_part(&s->iovec, binary);
	return true;
}

/* visit is compiled into each of its walks. */
static inline __attribute__((always_inline)) enum iolist_result walk_list(Process *p, struct list_steps *s,
									  iolist_visit visit)
{
	int64_t had = elements_left(p), left = had;
	enum iolist_result result = iolist_walk_with(&s->walker, visit, s, &left);

	process_bump(p, (int)((had - left) / ELEMENTS_A_REDUCTION));
	return result == IOLIST_ROOM ? IOLIST_LIMIT : result;
}

/* The bits are counted: goes on to copying. Returns what the native does, or EXC_MORE. */
static Term begin_copy(Process *p, struct list_steps *s)
{
	uint64_t size = s->wanted == LIST_IOVEC ? s->iovec.small : s->count.bits;

	if (s->count.partial && s->wanted != LIST_BITSTRING)
		return exc_badarg(p);
	if (s->wanted == LIST_SIZE)
		return heap_uint(&p->heap, size / 8);
	s->binary = binary_alloc(&p->heap, (size + 7) / 8, &s->base);
	if (s->binary == TERM_NONE)
		return exc_system_limit(p);
	if (size & 7)
		s->base[size / 8] = 0;
	iolist_walker_free(&s->walker);
	iolist_walker_init(&s->walker, s->list);
	s->iovec.link = &s->iovec.first;
	return EXC_MORE;
}

static Term list_step(Process *p, struct exc_steps *steps)
{
	struct list_steps *s = (struct list_steps *)steps;
	enum iolist_result result;

	if (s->binary == TERM_NONE) {
		Term t;

		result = s->wanted == LIST_IOVEC ? walk_list(p, s, count_iovec) : walk_list(p, s, count_bits);
		if (result != IOLIST_OK)
			return result == IOLIST_MORE ? EXC_MORE : fail_iolist(p, result);
		t = begin_copy(p, s);
		if (t != EXC_MORE)
			return t;
	}
	result = s->wanted == LIST_IOVEC ? walk_list(p, s, take_part) : walk_list(p, s, copy_bits);
	if (result == IOLIST_MORE)
		return EXC_MORE;
	if (s->wanted == LIST_IOVEC) {
		cut_small(s);
		return s->iovec.first;
	}
	return (s->count.bits & 7) == 0 ? s->binary : binary_sub(&p->heap, s->binary, 0, s->count.bits);
}

static void list_end(struct exc_steps *steps)
{
	iolist_walker_free(&((struct list_steps *)steps)->walker);
}

/* args: the native's. The first step is made here, without an allocation. */
static Term convert_list(Process *p, Term *args, enum list_result wanted)
{
	struct list_steps s, *kept;
	Term t;

	s.steps = (struct exc_steps){ .step = list_step, .end = list_end };
	if (wanted != LIST_IOVEC)
		s.steps.place = (struct exc_place){ am_erts_internal, am_list_to_binary_continue, 1 };
	s.wanted = wanted;
	s.list = args[0];
	s.binary = TERM_NONE;
	s.count = (struct iolist_count){ 0, false };
	s.offset = 0;
	s.iovec = (struct iovec){ .h = &p->heap, .first = NIL };
	iolist_walker_init(&s.walker, args[0]);
	t = list_step(p, &s.steps);
	if (t != EXC_MORE) {
		list_end(&s.steps);
		return t;
	}
	kept = mem_alloc(sizeof(*kept));
	*kept = s;
	word_stack_move(&kept->walker.above, &s.walker.above);
	if (s.iovec.link == &s.iovec.first)
		kept->iovec.link = &kept->iovec.first;
	return exc_run_steps(p, &kept->steps, args, 1);
}

Term bif_erlang_iolist_to_binary_1(Process *p, Term *args)
{
	return term_is_binary(args[0]) ? args[0] : convert_list(p, args, LIST_BINARY);
}

Term bif_erlang_list_to_binary_1(Process *p, Term *args)
{
	return term_is_list(args[0]) ? convert_list(p, args, LIST_BINARY) : exc_badarg(p);
}

Term bif_erlang_iolist_size_1(Process *p, Term *args)
{
	return convert_list(p, args, LIST_SIZE);
}

Term bif_erlang_list_to_bitstring_1(Process *p, Term *args)
{
	return term_is_list(args[0]) ? convert_list(p, args, LIST_BITSTRING) : exc_badarg(p);
}

Term bif_erlang_iolist_to_iovec_1(Process *p, Term *args)
{
	return convert_list(p, args, LIST_IOVEC);
}
