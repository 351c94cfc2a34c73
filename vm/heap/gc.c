/* SPDX-License-Identifier: Apache-2.0 */
/* The collector. A collection allocates a block that would hold everything, evacuates the roots into it, scans what it
 * evacuated (Cheney), and cuts the block to the size that the survivors call for; the stack is moved last, to its end.
 * A small heap is collected in place: survivors are gathered in the thread's scratch words, with the addresses that
 * they will have in the same block, and then put there; nothing is allocated. A small heap with fragments, whose
 * survivors may be too many for the block, moves to the scratch words and from there back.
 * Invariant: old objects never point to young ones (terms do not change once made). A moved boxed object leaves its new
 * term in place of its header, a moved cons leaves TERM_NONE and its new term. */
#include "heap/gc.h"

#include <stdatomic.h>
#include <string.h>

#include "base/alloc.h"
#include "base/variant.h"
#include "heap/copy.h"
#include "heap/literal.h"
#include "heap/refbin.h"
#include "term/object.h"

enum { TRIM_MIN_BYTES = 64, LONG_WORDS = 1 << 17 };

/* Where some words stand. */
struct words {
	const Term *start;
	size_t bytes;
};

struct gc {
	struct heap *h;
	bool major;
	Term *to_top;        /* new block: the address that the next survivor will have */
	ptrdiff_t gathered;  /* words from that address to where it stands until the end; 0 except in place */
	Term *old_top;       /* old generation (minor only) */
	const Term *from_start; /* the young block and its newest fragment: most of what is evacuated */
	size_t from_bytes;
	struct words fresh;  /* the young block's end, which is not tenured */
	struct words leaving; /* the old generation (major only) */
	const Term *fragment_start;
	size_t fragment_bytes;
	const Term *old_start;
	size_t old_bytes;
	const Term *young_start; /* objects in [young_start, young_start + aged_bytes) are tenured (minor only) */
	size_t aged_bytes;
	size_t young_binary_words; /* of the off-heap binaries that stay young */
};

static inline bool is_within(const Term *p, const Term *start, size_t bytes)
{
	return (uintptr_t)p - (uintptr_t)start < bytes;
}

static inline bool is_kept(const struct gc *gc, const Term *p)
{
	if (likely(is_within(p, gc->from_start, gc->from_bytes) ||
		   is_within(p, gc->fragment_start, gc->fragment_bytes)))
		return false;
	return is_within(p, gc->old_start, gc->old_bytes) || literal_owns(p) ||
	       is_within(p, gc->h->guest_start, gc->h->guest_bytes);
}

/* The heap's own copy of the words of an area that leaves, once gc_take_literals has made it; NULL: p stays. */
static Term *find_literal_copy(const struct gc *gc, const Term *p)
{
	const struct literal_area *a;
	size_t i;

	if (likely(gc->h->literal_copies == NULL) || !literal_is_leaving(p))
		return NULL;
	i = literal_leaving_index(p);
	a = literal_leaving_area(i);
	return gc->h->literal_copies[i]->words + (p - a->words);
}

/* Room for the survivor p: *address is what it will have; returns where its words go now. */
static inline Term *take_room(struct gc *gc, const Term *p, size_t words, Term **address)
{
	if (is_within(p, gc->young_start, gc->aged_bytes)) {
		*address = gc->old_top;
		gc->old_top += words;
		return *address;
	}
	*address = gc->to_top;
	gc->to_top += words;
	return *address + gc->gathered;
}

/* Where the words of a moved object stand now. */
static inline Term *find_moved(const struct gc *gc, Term *address, const Term *new_start)
{
	bool is_young = address >= new_start && address < gc->to_top;

	return is_young ? address + gc->gathered : address;
}

/* Marks in evacuated cells that have not been scanned; no object has such a header. A tail: the next cell of its list
 * stands right behind. A head: from here on stand so many cells of a list whose heads are immediates, with their tails;
 * only the last tail is still to be scanned. The head itself stands in the first tail. */
#define CELL_FOLLOWS HEADER(0, SUB_MATCH)
#define CELL_RUN(n) HEADER((uint64_t)(n) << 8, SUB_MATCH)

/* Words that go the same way as p, as far as one range tells: into the old generation, or with the young survivors. */
static inline struct words find_part(const struct gc *gc, const Term *p)
{
	if (is_within(p, gc->young_start, gc->aged_bytes))
		return (struct words){ gc->young_start, gc->aged_bytes };
	if (is_within(p, gc->fragment_start, gc->fragment_bytes))
		return (struct words){ gc->fragment_start, gc->fragment_bytes };
	if (is_within(p, gc->leaving.start, gc->leaving.bytes))
		return gc->leaving;
	return gc->fresh;
}

static inline bool is_in_part(struct words part, Term t)
{
	return term_is_cons(t) && is_within(cons_ptr(t), part.start, part.bytes);
}

static inline void copy_cell(Term *at, Term *p, ptrdiff_t gathered)
{
	at[0] = p[0];
	p[0] = TERM_NONE;
	p[1] = term_from_cons(at - gathered);
}

/* Copies the cell p and those behind it in its list, as long as they are of that part and have not moved. Returns the
 * end of the room they took. */
static inline Term *copy_cells(Term *at, Term *p, ptrdiff_t gathered, struct words part)
{
	for (;;) {
		Term tail = p[1];

		copy_cell(at, p, gathered);
		at += 2;
		if (!is_in_part(part, tail) || cons_head(tail) == TERM_NONE) {
			at[-1] = tail;
			return at;
		}
		at[-1] = CELL_FOLLOWS;
		p = cons_ptr(tail);
	}
}

/* The same of a list that begins with immediates. */
static inline Term *copy_run(Term *at, Term *p, ptrdiff_t gathered, struct words part)
{
	Term *first = at;
	Term tail;

	for (;;) {
		tail = p[1];
		copy_cell(at, p, gathered);
		at += 2;
		if (!is_in_part(part, tail) || !term_is_immed(cons_head(tail)))
			break;
		at[-1] = term_from_cons(at - gathered);
		p = cons_ptr(tail);
	}
	at[-1] = tail;
	if (at - first > 2) {
		first[1] = first[0];
		first[0] = CELL_RUN((at - first) / 2);
	}
	if (!is_in_part(part, tail) || cons_head(tail) == TERM_NONE)
		return at;
	at[-1] = CELL_FOLLOWS;
	return copy_cells(at, cons_ptr(tail), gathered, part);
}

static inline Term *copy_list(Term *at, Term *p, ptrdiff_t gathered, struct words part)
{
	return term_is_immed(*p) ? copy_run(at, p, gathered, part) : copy_cells(at, p, gathered, part);
}

static __attribute__((noinline)) Term evacuate_cons(struct gc *gc, Term t)
{
	Term *p = cons_ptr(t);
	struct words part;

	if (is_kept(gc, p) && (p = find_literal_copy(gc, p)) == NULL)
		return t;
	if (p[0] == TERM_NONE)
		return p[1];
	part = find_part(gc, p);
	if (is_within(p, gc->young_start, gc->aged_bytes))
		gc->old_top = copy_list(gc->old_top, p, 0, part);
	else
		gc->to_top = copy_list(gc->to_top + gc->gathered, p, gc->gathered, part) - gc->gathered;
	return p[1];
}

static inline size_t count_object_words(const Term *p)
{
	if (unlikely(header_sub(*p) == SUB_MAP))
		return object_shape(p).words;
	return header_arity(*p) + 1;
}

static Term evacuate_boxed(struct gc *gc, Term t)
{
	Term *p = boxed_ptr(t);
	size_t words;
	Term *at, *address;

	if (is_kept(gc, p) && (p = find_literal_copy(gc, p)) == NULL)
		return t;
	if (!term_is_header(*p))
		return *p;
	words = count_object_words(p);
	at = take_room(gc, p, words, &address);
	term_copy(at, p, words);
	*p = term_from_boxed(address);
	return *p;
}

static inline __attribute__((always_inline)) void evacuate(struct gc *gc, Term *slot)
{
	Term t = *slot;

	if (term_is_cons(t))
		*slot = evacuate_cons(gc, t);
	else if (term_is_boxed(t))
		*slot = evacuate_boxed(gc, t);
}

static void scan_match(struct gc *gc, struct match_ctx *m)
{
	ptrdiff_t offset = m->base - (uint8_t *)boxed_ptr(m->original);
	bool is_inside = offset == offsetof(struct heapbin, data); /* a heapbin's bytes move with it */

	evacuate(gc, &m->original);
	if (is_inside)
		m->base = ((struct heapbin *)boxed_ptr(m->original))->data;
}

/* Puts the first cell of a run right. Returns where its last tail stands. */
static Term *enter_run(Term *p, ptrdiff_t gathered)
{
	size_t cells = header_arity(*p) >> 8;

	p[0] = p[1];
	p[1] = term_from_cons(p + 2 - gathered);
	return p + 2 * cells - 1;
}

/* Scans the object (or cons cell's word) at p; returns what follows it. */
static inline __attribute__((always_inline)) Term *scan_word(struct gc *gc, Term *p, ptrdiff_t gathered)
{
	struct object_shape shape;

	if (*p == CELL_FOLLOWS) {
		*p = term_from_cons(p + 1 - gathered);
		return p + 1;
	}
	if (!term_is_header(*p)) {
		evacuate(gc, p);
		return p + 1;
	}
	switch (header_sub(*p)) {
	case SUB_TUPLE:
	case SUB_RECORD:
		return p + 1;
	case SUB_MATCH:
		if (*p != HEADER(MATCH_WORDS - 1, SUB_MATCH))
			return enter_run(p, gathered);
		scan_match(gc, (struct match_ctx *)p);
		return p + MATCH_WORDS;
	case SUB_FUN:
	case SUB_SUBBIN:
	case SUB_MAP:
		shape = object_shape(p);
		for (uint32_t i = shape.first_term; i < shape.last_term; i++)
			evacuate(gc, p + i);
		return p + shape.words;
	default:
		return p + header_arity(*p) + 1;
	}
}

/* Scans from p until what has been evacuated ends, which scanning moves. */
static inline __attribute__((always_inline)) Term *scan_until(struct gc *gc, Term *p, Term *const *end,
							      ptrdiff_t gathered)
{
	while (p < *end + gathered)
		p = term_is_immed(*p) ? p + 1 : scan_word(gc, p, gathered);
	return p;
}

static void scan_evacuated(struct gc *gc, Term *to_scan, Term *old_scan)
{
	to_scan += gc->gathered;
	while (to_scan < gc->to_top + gc->gathered || old_scan < gc->old_top) {
		to_scan = scan_until(gc, to_scan, &gc->to_top, gc->gathered);
		old_scan = scan_until(gc, old_scan, &gc->old_top, 0);
	}
}

/* A writable buffer that nobody appended to since the collection before gives back its unused end. Match contexts,
 * copies and other holders of its bytes have ended the writing (flags 0), so no pointer into it is left behind. */
static void trim_buffer(struct refbin *r)
{
	struct binary *b;

	if (r->flags & REFBIN_ACTIVE_WRITER) {
		r->flags &= ~(uint64_t)REFBIN_ACTIVE_WRITER;
		return;
	}
	if (r->binary->size_bytes - r->size_bytes < TRIM_MIN_BYTES || atomic_load(&r->binary->refs) != 1)
		return;
	b = binary_resize(r->binary, r->size_bytes);
	if (b == NULL)
		return;
	r->binary = b;
	r->bytes = b->data;
}

/* Puts the off-heap objects that moved at the ends of two lists, in their order, and drops the others. */
static void sweep_list(struct gc *gc, Term *list, Term ***young, Term ***old, const Term *new_start)
{
	while (list != NULL) {
		Term *object = list, *now, ***to;
		Term moved = *object;

		if (term_is_header(moved)) { /* not evacuated: dead; its fields still stand */
			list = *off_heap_next(object);
			off_heap_drop(object);
			continue;
		}
		object = boxed_ptr(moved);
		now = find_moved(gc, object, new_start);
		list = *off_heap_next(now);
		if (header_sub(*now) == SUB_REFBIN && (((struct refbin *)now)->flags & REFBIN_WRITABLE))
			trim_buffer((struct refbin *)now);
		to = object >= new_start && object < gc->to_top ? young : old;
		*(to == old ? &gc->h->old_binary_words : &gc->young_binary_words) += off_heap_size_words(now);
		**to = object;
		*to = off_heap_next(now);
	}
}

static void sweep_off_heap(struct gc *gc, const Term *new_start)
{
	struct heap *h = gc->h;
	Term *young, *old, **young_end = &young, **old_end = &old;

	sweep_list(gc, h->off_heap, &young_end, &old_end, new_start);
	if (gc->major)
		sweep_list(gc, h->old_off_heap, &young_end, &old_end, new_start);
	*young_end = NULL;
	*old_end = gc->major ? NULL : h->old_off_heap;
	h->off_heap = young;
	h->old_off_heap = old;
	h->young_binary_words = gc->young_binary_words;
	if (!gc->major) {
		h->force_major |= h->old_binary_words > h->binary_limit_words;
		return;
	}
	h->old_binary_words = 0;
	if (gc->young_binary_words * 2 > h->binary_limit_words)
		h->binary_limit_words = gc->young_binary_words * 2;
}

static void evacuate_roots(struct gc *gc, const struct gc_root *roots, size_t count)
{
	for (Term *p = gc->h->stop; p < gc->h->end; p++)
		evacuate(gc, p);
	for (size_t i = 0; i < count; i++)
		for (size_t k = 0; k < roots[i].count; k++)
			evacuate(gc, &roots[i].terms[k]);
}

/* Sizes: a Fibonacci-like start from 233 words as OTP's, then a fifth more each step. */
size_t gc_next_size_words(size_t words)
{
	size_t a = 142, b = HEAP_MIN_WORDS;

	while (b < words && b < 600000) {
		size_t next = a + b + 1;

		a = b;
		b = next;
	}
	while (b < words)
		b += b / 5;
	return b;
}

enum { SHRINK_NEVER_WORDS = 3000, SHRINK_ANYWAY_WORDS = 8000 };

/* Grows when a quarter is not free. Shrinks when three quarters are, but not a small block, and a young heap not below
 * the old generation's block, so that a process with long-lived data does not collect all the time. */
static size_t choose_size_words(const struct heap *h, size_t before, size_t needed)
{
	size_t least = (size_t)(h->old_end - h->old_start), smaller;

	if (needed > before - before / 4 || before < h->min_words) {
		size_t size = gc_next_size_words(needed + needed / 3);

		return size > h->min_words ? size : h->min_words;
	}
	if (needed >= before / 4 || before <= SHRINK_NEVER_WORDS || before <= h->min_words ||
	    (before <= SHRINK_ANYWAY_WORDS && before <= least))
		return before;
	if (least < h->min_words)
		least = h->min_words;
	smaller = needed * 3 > least ? gc_next_size_words(needed * 3) : least;
	return smaller < before ? smaller : before;
}

static void drop_fragments(struct heap *h)
{
	struct fragment *f = h->fragments;

	while (f != NULL) {
		struct fragment *next = f->next;

		mem_free_as(MEM_PROCESS, f);
		f = next;
	}
	h->fragments = NULL;
	h->fragment_words = 0;
}

/* The stack stands at the end of another block now. A sample of erlsnoop stacks, taken by an interrupt between two of
 * these, finds no stack rather than all from the old stack to the new block's end. */
static void move_stack(struct heap *h, Term *end, size_t stack_words)
{
	h->end = NULL;
	atomic_signal_fence(memory_order_seq_cst);
	h->stop = end - stack_words;
	atomic_signal_fence(memory_order_seq_cst);
	h->end = end;
}

/* Cuts the new block to size, puts the stack at its end and makes it the heap. False when it could not be cut. */
static bool install_block(struct gc *gc, Term *block, size_t room, size_t size)
{
	struct heap *h = gc->h;
	size_t stack_words = (size_t)(h->end - h->stop);
	bool fits = size == room || mem_shrink_in_place(MEM_PROCESS, block, size * sizeof(Term));

	if (!fits)
		size = room;
	memcpy(block + size - stack_words, h->stop, stack_words * sizeof(Term));
	mem_free_as(MEM_PROCESS, h->start);
	h->start = block;
	h->top = h->high = gc->to_top;
	move_stack(h, block + size, stack_words);
	return fits;
}

static size_t count_stack_words(const struct heap *h)
{
	return (size_t)(h->end - h->stop);
}

static size_t count_young_words(const struct heap *h)
{
	return (size_t)(h->top - h->start) + h->fragment_words;
}

static size_t count_aged_words(const struct heap *h)
{
	return (size_t)(h->high - h->start);
}

bool gc_next_is_major(const struct heap *h, size_t need_words)
{
	(void)need_words;
	if (h->force_major || h->minor_count >= (VARIANT_GC_STRESS ? 2 : h->minor_limit))
		return true;
	if (h->old_start == NULL)
		return false;
	return (size_t)(h->old_end - h->old_top) < count_aged_words(h);
}

bool gc_is_long(const struct heap *h)
{
	size_t words = count_young_words(h) + count_stack_words(h);

	if (gc_next_is_major(h, 0))
		words += (size_t)(h->old_top - h->old_start);
	return words > LONG_WORDS;
}

static void prepare_old(struct heap *h)
{
	size_t size;

	if (h->old_start != NULL || count_aged_words(h) == 0)
		return;
	size = gc_next_size_words(count_young_words(h)); /* room for several rounds of what survives */
	h->old_start = h->old_top = mem_alloc_as(MEM_PROCESS, size * sizeof(Term));
	h->old_end = h->old_start + size;
}

static size_t count_collected_words(const struct gc *gc)
{
	return count_young_words(gc->h) + (gc->major ? (size_t)(gc->h->old_top - gc->h->old_start) : 0);
}

/* Everything live, to where it will have addresses from `start` on. */
static void evacuate_to(struct gc *gc, Term *start, const struct gc_root *roots, size_t count)
{
	struct heap *h = gc->h;
	Term *old_scan = gc->major ? NULL : h->old_top;

	gc->to_top = start;
	gc->old_top = old_scan;
	gc->from_start = h->start;
	gc->from_bytes = (size_t)((uint8_t *)h->top - (uint8_t *)h->start);
	gc->fresh = (struct words){ (Term *)((uint8_t *)h->start + gc->aged_bytes), gc->from_bytes - gc->aged_bytes };
	if (gc->major)
		gc->leaving = (struct words){ h->old_start, (size_t)((uint8_t *)h->old_top - (uint8_t *)h->old_start) };
	if (h->fragments != NULL) {
		gc->fragment_start = h->fragments->words;
		gc->fragment_bytes = h->fragments->used_words * sizeof(Term);
	}
	evacuate_roots(gc, roots, count);
	scan_evacuated(gc, start, old_scan);
	if (!gc->major)
		h->old_top = gc->old_top;
	sweep_off_heap(gc, start);
	drop_fragments(h);
}

/* ---- in place */

enum { IN_PLACE_WORDS = 1 << 15 };

static _Thread_local Term scratch[IN_PLACE_WORDS];

static bool fits_in_place(const struct gc *gc)
{
	size_t size = (size_t)(gc->h->end - gc->h->start);

	if (VARIANT_GC_STRESS && gc->h->minor_count != 1)
		return false; /* blocks that were left show who still looks there */
	return size <= IN_PLACE_WORDS && count_collected_words(gc) + count_stack_words(gc->h) <= size;
}

/* False when the block should have another size. */
static bool collect_in_place(struct gc *gc, size_t need, const struct gc_root *roots, size_t count)
{
	struct heap *h = gc->h;
	size_t size = (size_t)(h->end - h->start), live;

	gc->gathered = (intptr_t)((uintptr_t)scratch - (uintptr_t)h->start) / (intptr_t)sizeof(Term);
	evacuate_to(gc, h->start, roots, count);
	live = (size_t)(gc->to_top - h->start);
	memcpy(h->start, scratch, live * sizeof(Term));
	h->top = h->high = gc->to_top;
	return choose_size_words(h, size, live + count_stack_words(h) + need) == size;
}

/* ---- to a new block */

/* The block's size, or the one that would have had room for what is in fragments: so a heap grows as if it had been
 * collected before each of them was taken. */
static size_t count_block_words(const struct heap *h)
{
	size_t size = (size_t)(h->end - h->start), used = count_young_words(h) + count_stack_words(h);

	return used > size ? gc_next_size_words(used) : size;
}

/* False when the block that it left is larger than it should be. */
static bool collect_from(struct gc *gc, size_t before, size_t need, const struct gc_root *roots, size_t count)
{
	struct heap *h = gc->h;
	size_t room = count_collected_words(gc) + count_stack_words(h) + need, size;
	Term *block;

	room = gc_next_size_words(room + room / 3);
	if (room < before)
		room = before;
	if (room < h->min_words)
		room = h->min_words;
	block = mem_alloc_as(MEM_PROCESS, room * sizeof(Term));
	evacuate_to(gc, block, roots, count);
	size = choose_size_words(h, before, (size_t)(gc->to_top - block) + count_stack_words(h) + need);
	return install_block(gc, block, room, size < room ? size : room);
}

/* ---- by way of the scratch words */

enum { BY_SCRATCH_WORDS = 1 << 12 };

/* A small heap with fragments of which little survived the last time: its survivors are gathered before it is known
 * whether they fit into the block. */
static bool is_gathered_first(const struct gc *gc)
{
	return !VARIANT_GC_STRESS && count_collected_words(gc) <= BY_SCRATCH_WORDS &&
	       count_aged_words(gc->h) < (size_t)(gc->h->end - gc->h->start) / 4;
}

/* Puts the heap, whose words are elsewhere but for its stack, into a block of the size that it should have. */
static void put_back(struct gc *gc, Term *block, size_t before, size_t need, const struct gc_root *roots, size_t count)
{
	struct heap *h = gc->h;
	size_t stack_words = count_stack_words(h);
	size_t size = choose_size_words(h, before, count_young_words(h) + stack_words + need);
	Term *to = size == (size_t)(h->end - block) ? block : mem_alloc_as(MEM_PROCESS, size * sizeof(Term));

	evacuate_to(gc, to, roots, count);
	h->start = to;
	h->top = h->high = gc->to_top;
	if (to == block)
		return;
	memcpy(to + size - stack_words, h->stop, stack_words * sizeof(Term));
	mem_free_as(MEM_PROCESS, block);
	move_stack(h, to + size, stack_words);
}

/* For a second move of what survived, which ages nothing. */
static struct gc move_again(const struct gc *gc)
{
	struct heap *h = gc->h;
	struct gc again = { .h = h };

	if (!gc->major) {
		again.old_start = h->old_start;
		again.old_bytes = (size_t)((uint8_t *)h->old_top - (uint8_t *)h->old_start);
	} else {
		mem_free_as(MEM_PROCESS, h->old_start);
		h->old_start = h->old_top = h->old_end = NULL;
	}
	h->high = h->start;
	return again;
}

static void collect_by_scratch(struct gc *gc, size_t need, const struct gc_root *roots, size_t count)
{
	struct heap *h = gc->h;
	size_t before = count_block_words(h);
	Term *block = h->start;
	struct gc again;

	evacuate_to(gc, scratch, roots, count);
	h->start = scratch;
	h->top = gc->to_top;
	again = move_again(gc);
	put_back(&again, block, before, need, roots, count);
}

static void collect(struct gc *gc, size_t need, const struct gc_root *roots, size_t count)
{
	struct heap *h = gc->h;
	size_t before = count_block_words(h);
	bool in_place = fits_in_place(gc);
	struct gc again;

	if (!in_place && is_gathered_first(gc)) {
		collect_by_scratch(gc, need, roots, count);
		return;
	}
	if (in_place ? collect_in_place(gc, need, roots, count) : collect_from(gc, before, need, roots, count))
		return;
	/* The block has not the size that the survivors call for (or cannot be cut: sanitizers): move once more. */
	again = move_again(gc);
	before = choose_size_words(h, before, count_young_words(h) + count_stack_words(h) + need);
	collect_from(&again, before, need, roots, count);
}

static void collect_minor(struct heap *h, size_t need, const struct gc_root *roots, size_t count)
{
	struct gc gc = { .h = h };

	prepare_old(h);
	gc.old_start = h->old_start;
	gc.old_bytes = (size_t)((uint8_t *)h->old_top - (uint8_t *)h->old_start);
	gc.young_start = h->start;
	gc.aged_bytes = count_aged_words(h) * sizeof(Term);
	collect(&gc, need, roots, count);
	h->minor_count++;
}

static void collect_major(struct heap *h, size_t need, const struct gc_root *roots, size_t count)
{
	struct gc gc = { .h = h, .major = true };

	collect(&gc, need, roots, count);
	mem_free_as(MEM_PROCESS, h->old_start);
	h->old_start = h->old_top = h->old_end = NULL;
	h->minor_count = 0;
	h->force_major = false;
}

bool gc_fits_limit(const struct heap *h, size_t more_words)
{
	size_t words = count_young_words(h) + count_stack_words(h) + more_words + (size_t)(h->old_top - h->old_start);

	return h->max_words == 0 || words <= h->max_words;
}

/* A least size that cannot be had any more is given up: the heap gets what it needs. */
static void check_min_words(struct heap *h)
{
	if (unlikely(!heap_can_be_had(h->min_words)))
		h->min_words = HEAP_MIN_WORDS;
}

bool gc_run_gc(struct heap *h, size_t need_words, const struct gc_root *roots, size_t count, struct gc_result *result)
{
	size_t used = count_young_words(h) + (size_t)(h->old_top - h->old_start);

	check_min_words(h);
	result->major = gc_next_is_major(h, need_words);
	result->old_size_words = (size_t)(h->end - h->start);
	if (result->major)
		collect_major(h, need_words, roots, count);
	else
		collect_minor(h, need_words, roots, count);
	mem_free(h->literal_copies);
	h->literal_copies = NULL;
	h->binary_words = 0;
	h->wants_gc = false;
	result->reclaimed_words = used - count_young_words(h) - (size_t)(h->old_top - h->old_start);
	result->new_size_words = (size_t)(h->end - h->start);
	return gc_fits_limit(h, need_words);
}

enum { FIT_SPARE_WORDS = 4 }; /* no block is empty */

void gc_fit(struct heap *h)
{
	size_t size = (size_t)(h->top - h->start) + FIT_SPARE_WORDS;

	if (h->stop != h->end || size >= (size_t)(h->end - h->start) ||
	    !mem_shrink_in_place(MEM_PROCESS, h->start, size * sizeof(Term)))
		return;
	h->end = h->stop = h->start + size;
	h->wants_gc = true;
}

/* ---- literals that leave */

/* The words as they are: the collection finds its way from their pointers, which still lead into the area, to the
 * copy. */
static void take_copy(struct heap *h, size_t index)
{
	const struct literal_area *a = literal_leaving_area(index);
	struct fragment *f;

	if (h->literal_copies == NULL)
		h->literal_copies = mem_zalloc(literal_leaving_count() * sizeof(*h->literal_copies));
	if (h->literal_copies[index] != NULL)
		return;
	f = fragment_new((size_t)(a->top - a->words));
	memcpy(f->words, a->words, f->used_words * sizeof(Term));
	for (Term *object = a->off_heap; object != NULL; object = *off_heap_next(object))
		off_heap_link(f->words + (object - a->words), &f->off_heap);
	heap_adopt_fragment(h, f);
	h->literal_copies[index] = f;
	h->force_major = true;
}

/* Words are not told apart: what only looks like a pointer costs a copy that the collection drops. */
static void take_mentioned(struct heap *h, const Term *p, const Term *end)
{
	for (; p < end; p++)
		if (unlikely(literal_is_leaving((const void *)*p)))
			take_copy(h, literal_leaving_index((const void *)*p));
}

size_t gc_take_literals(struct heap *h, const struct gc_root *roots, size_t count)
{
	size_t before = h->fragment_words;

	for (const struct fragment *f = h->fragments, *next; f != NULL; f = next) {
		next = f->next;
		take_mentioned(h, f->words, f->words + f->used_words);
	}
	take_mentioned(h, h->start, h->top);
	take_mentioned(h, h->old_start, h->old_top);
	take_mentioned(h, h->stop, h->end);
	for (size_t i = 0; i < count; i++)
		take_mentioned(h, roots[i].terms, roots[i].terms + roots[i].count);
	return h->fragment_words - before;
}
