/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>
#include <sys/mman.h>

#include "base/alloc.h"
#include "data/binary.h"
#include "data/compare.h"
#include "heap/copy.h"
#include "heap/gc.h"
#include "heap/literal.h"
#include "heap/refbin.h"
#include "unit.h"

static Term make_list(struct heap *h, int n)
{
	Term list = NIL;

	for (int i = n; i > 0; i--)
		list = heap_cons(h, heap_tuple(h, SMALL(i), am_ok, heap_float(h, i / 2.0)), list);
	return list;
}

static void assert_list(Term list, int n)
{
	for (int i = 1; i <= n; i++, list = cons_tail(list)) {
		Term t;

		ck_assert(term_is_cons(list));
		t = cons_head(list);
		ck_assert(term_is_tuple_of(t, 3));
		ck_assert(tuple_get(t, 1) == SMALL(i));
		ck_assert(tuple_get(t, 2) == am_ok);
		ck_assert(float_value(tuple_get(t, 3)) == i / 2.0);
	}
	ck_assert(list == NIL);
}

static struct gc_result collect(struct heap *h, size_t need, Term *roots, size_t n)
{
	struct gc_root root = { roots, n };
	struct gc_result result;

	ck_assert(gc_run_gc(h, need, &root, 1, &result));
	ck_assert(h->fragments == NULL);
	ck_assert((size_t)(h->stop - h->top) >= need);
	return result;
}

START_TEST(test_gc_run_keeps_live_terms)
{
	struct heap h;
	Term root[2];

	unit_init();
	heap_init(&h, HEAP_MIN_WORDS);
	root[0] = make_list(&h, 500);
	root[1] = heap_tuple(&h, root[0], root[0]);
	for (int i = 0; i < 20; i++) {
		make_list(&h, 300);
		collect(&h, 100, root, 2);
		assert_list(root[0], 500);
		ck_assert(tuple_get(root[1], 1) == root[0] && tuple_get(root[1], 2) == root[0]);
	}
	heap_free(&h);
}
END_TEST

START_TEST(test_gc_run_is_minor_until_told)
{
	struct heap h;
	Term root = NIL;

	unit_init();
	heap_init(&h, HEAP_MIN_WORDS);
	root = make_list(&h, 50);
	ck_assert(!collect(&h, 0, &root, 1).major);
	ck_assert(!collect(&h, 0, &root, 1).major);
	ck_assert(h.old_start != NULL);
	ck_assert((size_t)(h.old_top - h.old_start) == 50 * 8);
	h.force_major = true;
	ck_assert(collect(&h, 0, &root, 1).major);
	ck_assert(h.old_start == NULL);
	assert_list(root, 50);
	heap_free(&h);
}
END_TEST

START_TEST(test_gc_run_moves_the_stack)
{
	struct heap h;
	static const uint64_t code[1];

	unit_init();
	heap_init(&h, HEAP_MIN_WORDS);
	h.stop -= 2;
	h.stop[0] = (Term)(uintptr_t)code;
	h.stop[1] = make_list(&h, 200);
	collect(&h, 5000, NULL, 0);
	ck_assert(h.end - h.stop == 2);
	ck_assert(h.stop[0] == (Term)(uintptr_t)code);
	assert_list(h.stop[1], 200);
	heap_free(&h);
}
END_TEST

/* A deep recursion has little on its heap: its stack alone makes a collection long, for it is read and moved. */
START_TEST(test_gc_of_a_deep_stack_is_long)
{
	enum { DEEP = 1 << 18 };
	struct heap h;
	Term list;

	unit_init();
	heap_init(&h, HEAP_MIN_WORDS);
	list = make_list(&h, 200);
	collect(&h, DEEP, &list, 1);
	ck_assert(!gc_is_long(&h));
	h.stop -= DEEP;
	for (int i = 0; i < DEEP; i++)
		h.stop[i] = list;
	ck_assert(gc_is_long(&h));
	h.stop += DEEP;
	ck_assert(!gc_is_long(&h));
	heap_free(&h);
}
END_TEST

/* Garbage fills the heap and fragments beside it; few terms survive, on the stack, in a root, and a binary. */
START_TEST(test_gc_run_leaves_a_small_block_with_fragments)
{
	struct heap h;
	Term root[2], *block;
	uint8_t *bytes;

	unit_init();
	heap_init(&h, HEAP_MIN_WORDS);
	root[1] = binary_alloc(&h, 100, &bytes);
	memset(bytes, 7, 100);
	h.stop -= 2;
	h.stop[0] = make_list(&h, 2);
	h.stop[1] = SMALL(5);
	for (int i = 0; i < 20; i++) {
		make_list(&h, 40);
		root[0] = make_list(&h, 3);
		make_list(&h, 20);
		ck_assert(h.fragments != NULL || i > 0);
		ck_assert(collect(&h, 10, root, 2).major == false || VARIANT_GC_STRESS);
		if (i < 5) /* by then it has grown to what comes and goes */
			block = h.start;
		ck_assert_ptr_eq(h.start, VARIANT_GC_STRESS ? h.start : block);
		assert_list(root[0], 3);
		assert_list(h.stop[0], 2);
		ck_assert(h.stop[1] == SMALL(5));
		ck_assert(binary_view(root[1]).base[99] == 7 && boxed_ptr(root[1])[1] == 100);
	}
	root[0] = make_list(&h, 200); /* more than the block holds */
	collect(&h, 10, root, 2);
	ck_assert(h.start != block);
	assert_list(root[0], 200);
	assert_list(h.stop[0], 2);
	heap_free(&h);
}
END_TEST

/* The integers from `from` to `to` before tail, the cells side by side in either direction. */
static Term make_integers(struct heap *h, int from, int to, Term tail, bool backwards)
{
	Term elements[1000];
	int n = to - from + 1;

	for (int i = 0; i < n; i++)
		elements[i] = SMALL(from + i);
	if (!backwards)
		return heap_list_array(h, (size_t)n, elements, tail);
	for (int i = n; i > 0; i--)
		tail = heap_cons(h, elements[i - 1], tail);
	return tail;
}

static Term assert_integers(Term list, int from, int to)
{
	for (; from <= to; from++, list = cons_tail(list)) {
		ck_assert(term_is_cons(list));
		ck_assert(cons_head(list) == SMALL(from));
	}
	return list;
}

/* Lists that share their ends, go on in old words, in another fragment, or behind an element with more to look at. */
START_TEST(test_gc_run_moves_lists_cell_by_cell)
{
	/* by the scratch words, in place, to a new block */
	static const size_t sizes[] = { HEAP_MIN_WORDS, 4000, 100000 };
	struct heap h;

	unit_init();
	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		Term root[5] = { NIL, NIL, NIL, NIL, NIL };

		heap_init(&h, sizes[i]);
		for (int round = 0; round < 6; round++) {
			root[0] = make_integers(&h, 101, 200, NIL, round & 1);
			root[1] = make_integers(&h, 1, 100, root[0], !(round & 1));
			root[2] = heap_cons(&h, root[1], root[0]);
			root[3] = make_integers(&h, 1, 50, heap_cons(&h, make_list(&h, 3), root[1]), true);
			collect(&h, 0, root, 5);
			ck_assert(assert_integers(root[0], 101, 200) == NIL);
			ck_assert(assert_integers(root[1], 1, 100) == root[0]);
			ck_assert(cons_head(root[2]) == root[1] && cons_tail(root[2]) == root[0]);
			assert_list(cons_head(assert_integers(root[3], 1, 50)), 3);
			ck_assert(cons_tail(assert_integers(root[3], 1, 50)) == root[1]);
			if (round > 0)
				ck_assert(assert_integers(assert_integers(root[4], 1, 100), 101, 200) == NIL);
			/* the end of it is old at the next collection */
			root[4] = make_integers(&h, 1, 100, root[0], true);
		}
		heap_free(&h);
	}
}
END_TEST

enum { ROOTS = 12 };

static unsigned draw(unsigned *seed, unsigned n)
{
	*seed = *seed * 1103515245 + 12345;
	return (*seed >> 16) % n;
}

/* What may be a list's head: with something to look at, without, and what has a header of zeros. */
static Term draw_head(struct heap *h, const Term *root, unsigned *seed)
{
	switch (draw(seed, 6)) {
	case 0:
		return root[draw(seed, ROOTS)];
	case 1:
		return heap_tuple_array(h, 0, NULL);
	case 2:
		return heap_tuple(h, root[draw(seed, ROOTS)], SMALL(1));
	case 3:
		return heap_float(h, 1.5);
	default:
		return SMALL(draw(seed, 1000));
	}
}

/* Cells before another root, most of them with immediates in their heads; ends of every kind. */
static Term draw_list(struct heap *h, const Term *root, unsigned *seed)
{
	Term list = draw(seed, 4) != 0 ? root[draw(seed, ROOTS)] : draw_head(h, root, seed);
	bool is_plain = draw(seed, 2) == 0;

	for (unsigned n = draw(seed, 12); n > 0; n--)
		list = heap_cons(h, is_plain ? SMALL(n) : draw_head(h, root, seed), list);
	return copy_flat_size_words(list) < 2000 ? list : NIL;
}

static size_t count_used(const struct heap *h)
{
	return (size_t)(h->top - h->start) + (size_t)(h->old_top - h->old_start);
}

/* Lists of every shape stay what they are, share what they shared, and nothing of them is doubled. */
START_TEST(test_gc_run_keeps_random_lists)
{
	static const size_t sizes[] = { HEAP_MIN_WORDS, 4000, 100000 };
	struct heap h, kept;
	unsigned seed = 1;
	size_t used;

	unit_init();
	for (int round = 0; round < 3000; round++) {
		Term root[ROOTS], before[ROOTS], truth[ROOTS];

		if (round % 100 == 0) {
			heap_init(&h, sizes[round / 100 % 3]);
			for (int i = 0; i < ROOTS; i++)
				root[i] = NIL;
		} else {
			memcpy(root, h.stop, sizeof(root));
			h.stop += ROOTS;
		}
		for (int i = 0; i < ROOTS; i++)
			root[draw(&seed, ROOTS)] = draw_list(&h, root, &seed);
		heap_init(&kept, HEAP_MIN_WORDS);
		for (int i = 0; i < ROOTS; i++)
			truth[i] = copy_to_heap(root[i], &kept);
		memcpy(before, root, sizeof(root));
		h.force_major = draw(&seed, 5) == 0;
		collect(&h, ROOTS + 1, root, ROOTS);
		for (int i = 0; i < ROOTS; i++) {
			ck_assert(term_same(root[i], truth[i]));
			for (int k = 0; k < i; k++)
				ck_assert((root[i] == root[k]) == (before[i] == before[k]));
		}
		if (h.minor_count == 0) {
			used = count_used(&h);
			h.force_major = true;
			collect(&h, ROOTS + 1, root, ROOTS);
			ck_assert_uint_eq(count_used(&h), used);
		}
		heap_free(&kept);
		h.stop -= ROOTS;
		memcpy(h.stop, root, sizeof(root));
		if (round % 100 == 99)
			heap_free(&h);
	}
}
END_TEST

/* A heap whose natives find no room in it grows, so that they find it the next time; when it holds little, it gets
 * small again. */
START_TEST(test_gc_run_grows_by_what_was_in_fragments)
{
	struct heap h;
	Term root;
	size_t size;

	unit_init();
	heap_init(&h, HEAP_MIN_WORDS);
	for (int i = 0; i < 3; i++)
		root = make_integers(&h, 1, 1000, NIL, true);
	ck_assert(h.fragment_words >= 3 * 2000 - HEAP_MIN_WORDS);
	collect(&h, 0, &root, 1);
	size = (size_t)(h.end - h.start);
	ck_assert(size >= 3 * 2000);
	for (int i = 0; i < 2; i++)
		root = make_integers(&h, 1, 1000, NIL, true);
	ck_assert(h.fragments == NULL);
	for (int i = 0; i < 10; i++)
		root = make_integers(&h, 1, 1000, NIL, true);
	root = NIL;
	h.force_major = true;
	collect(&h, 0, &root, 1);
	ck_assert((size_t)(h.end - h.start) < size);
	heap_free(&h);
}
END_TEST

START_TEST(test_gc_run_drops_dead_binaries)
{
	struct heap h;
	struct binary *kept = binary_new(1000), *dead = binary_new(1000);
	Term root;

	unit_init();
	heap_init(&h, HEAP_MIN_WORDS);
	binary_ref(dead);
	refbin_put(&h, dead, 1000);
	root = refbin_put(&h, kept, 1000);
	collect(&h, 0, &root, 1);
	ck_assert_int_eq(atomic_load(&dead->refs), 1);
	ck_assert_int_eq(atomic_load(&kept->refs), 1);
	ck_assert(((struct refbin *)boxed_ptr(root))->binary == kept);
	for (int i = 0; i < 3; i++)
		collect(&h, 0, &root, 1);
	ck_assert_int_eq(atomic_load(&kept->refs), 1);
	binary_ref(kept);
	heap_free(&h);
	ck_assert_int_eq(atomic_load(&kept->refs), 1);
	binary_unref(kept);
	binary_unref(dead);
}
END_TEST

/* Sizes that no machine has, and those that do not even fit a size_t with what stands before the bytes. */
START_TEST(test_binary_resize_fails_and_leaves_it)
{
	static const size_t impossible[] = {
		SIZE_MAX, SIZE_MAX - 1,
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__) /* whose allocators end who asks for so much */
		SIZE_MAX - sizeof(struct binary), (size_t)1 << 62,
#endif
	};
	struct binary *b = binary_new(100);
	size_t total;

	memset(b->data, 'x', 100);
	total = mem_kind_bytes(MEM_BINARY);
	for (size_t i = 0; i < sizeof(impossible) / sizeof(impossible[0]); i++) {
		ck_assert_ptr_null(binary_new(impossible[i]));
		ck_assert_ptr_null(binary_resize(b, impossible[i]));
		ck_assert_uint_eq(b->size_bytes, 100);
	}
	ck_assert_uint_eq(mem_kind_bytes(MEM_BINARY), total);
	b = binary_resize(b, 200);
	ck_assert_ptr_nonnull(b);
	ck_assert_uint_eq(b->size_bytes, 200);
	for (size_t i = 0; i < 100; i++)
		ck_assert_uint_eq(b->data[i], 'x');
	binary_unref(b);
}
END_TEST

START_TEST(test_gc_run_trims_an_abandoned_buffer)
{
	struct heap h;
	struct binary *b = binary_new(4096);
	struct refbin *r;
	Term root;

	unit_init();
	heap_init(&h, HEAP_MIN_WORDS);
	memcpy(b->data, "abc", 3);
	root = refbin_put(&h, b, 3);
	((struct refbin *)boxed_ptr(root))->flags = REFBIN_WRITABLE | REFBIN_ACTIVE_WRITER;
	collect(&h, 0, &root, 1);
	r = (struct refbin *)boxed_ptr(root);
	ck_assert(r->flags == REFBIN_WRITABLE);
	ck_assert_uint_eq(r->binary->size_bytes, 4096);
	h.force_major = true;
	collect(&h, 0, &root, 1);
	r = (struct refbin *)boxed_ptr(root);
	ck_assert(r->flags == REFBIN_WRITABLE);
	ck_assert_uint_eq(r->binary->size_bytes, 3);
	ck_assert(r->bytes == r->binary->data);
	ck_assert_mem_eq(r->bytes, "abc", 3);
	heap_free(&h);
}
END_TEST

START_TEST(test_gc_run_leaves_the_room_of_shared_bytes)
{
	struct heap h;
	struct binary *b = binary_new(4096);
	Term root;

	unit_init();
	heap_init(&h, HEAP_MIN_WORDS);
	binary_ref(b);
	root = refbin_put(&h, b, 100);
	((struct refbin *)boxed_ptr(root))->flags = REFBIN_WRITABLE;
	collect(&h, 0, &root, 1);
	ck_assert(((struct refbin *)boxed_ptr(root))->binary == b);
	ck_assert_uint_eq(b->size_bytes, 4096);
	heap_free(&h);
	binary_unref(b);
}
END_TEST

START_TEST(test_gc_run_shrinks_after_garbage)
{
	struct heap h;
	Term root = NIL;

	unit_init();
	heap_init(&h, HEAP_MIN_WORDS);
	make_list(&h, 100000);
	collect(&h, 0, &root, 1);
	for (int i = 0; i < 5; i++)
		collect(&h, 0, &root, 1);
	ck_assert_int_eq(h.end - h.start, HEAP_MIN_WORDS);
	heap_free(&h);
}
END_TEST

START_TEST(test_gc_run_respects_max_words)
{
	struct heap h;
	struct gc_result result;
	Term list;
	struct gc_root root = { &list, 1 };

	unit_init();
	heap_init(&h, HEAP_MIN_WORDS);
	h.max_words = 1000;
	list = make_list(&h, 500);
	ck_assert(!gc_run_gc(&h, 0, &root, 1, &result));
	assert_list(list, 500);
	heap_free(&h);
}
END_TEST

START_TEST(test_copy_term_of_deep_nesting)
{
	struct heap *h = unit_heap();
	Term t = NIL, copy;
	struct fragment *f;
	int depth = 0;

	for (int i = 0; i < 200000; i++)
		t = heap_cons(h, t, NIL);
	ck_assert_uint_eq(copy_size_words(t), 400000);
	f = copy_to_fragment(t, &copy);
	for (; copy != NIL; copy = cons_head(copy))
		depth++;
	ck_assert_int_eq(depth, 200000);
	fragment_free(f);
}
END_TEST

static unsigned times_told;

static void count_telling(void)
{
	times_told++;
}

/* A tuple of so many pairs, each with a list of one cell. */
static Term make_wide(struct heap *h, size_t width)
{
	Term *at = heap_alloc(h, width + 1);

	at[0] = HEADER(width, SUB_TUPLE);
	for (size_t i = 1; i <= width; i++)
		at[i] = heap_tuple(h, am_ok, heap_cons(h, SMALL(i), NIL));
	return term_from_boxed(at);
}

START_TEST(test_copy_size_telling_tells_once)
{
	struct heap *h = unit_heap();
	Term wide = make_wide(h, 100), t = heap_cons(h, wide, heap_cons(h, wide, NIL));
	size_t words = copy_size_words(t);

	ck_assert_uint_eq(words, 2 * (101 + 100 * 5) + 4);
	for (size_t most = 0; most <= words + 1; most++) {
		times_told = 0;
		ck_assert_uint_eq(copy_size_telling(t, most, count_telling), words);
		ck_assert_uint_eq(times_told, most < words);
	}
	ck_assert(copy_is_longer(t, words - 1) && !copy_is_longer(t, words));
}
END_TEST

START_TEST(test_copy_term_shares_literals)
{
	struct literal_area *area;
	struct heap *h = unit_heap();
	struct fragment *f;
	Term literal, copy;

	area = literal_new(100);
	literal = literal_put(area, heap_tuple(h, am_ok, SMALL(1)));
	ck_assert(term_is_literal(literal));
	ck_assert_uint_eq(copy_size_words(heap_cons(h, literal, NIL)), 2);
	ck_assert_uint_eq(copy_flat_size_words(heap_cons(h, literal, NIL)), 5);
	copy = copy_to_heap(heap_cons(h, literal, NIL), h);
	ck_assert(cons_head(copy) == literal);
	f = copy_to_fragment(heap_cons(h, literal, NIL), &copy);
	ck_assert(!term_is_literal(cons_head(copy)) && tuple_get(cons_head(copy), 1) == am_ok);
	fragment_free(f);
	literal_free(area);
}
END_TEST

/* Two terms of one area, which share a third; a binary among them. */
START_TEST(test_gc_take_literals_keeps_what_leaves)
{
	struct heap *h = unit_heap();
	struct literal_area *area = literal_new(100), *other = literal_new(100), *gone;
	struct literal_change change;
	struct binary *b = binary_new(1000);
	Term roots[3], inner, kept;
	struct gc_root root = { roots, 3 };
	struct gc_result r;

	binary_ref(b);
	inner = literal_put(area, refbin_put(h, b, 1000));
	area->top[0] = HEADER(2, SUB_TUPLE);
	area->top[1] = area->top[2] = inner;
	roots[0] = term_from_boxed(area->top);
	roots[1] = heap_cons(h, inner, NIL);
	area->top += 3;
	kept = roots[2] = literal_put(other, heap_tuple(h, am_ok));
	literal_release(area);
	ck_assert(!literal_is_leaving(boxed_ptr(inner)));
	ck_assert_uint_eq(gc_take_literals(h, &root, 1), 0);
	literal_prepare(&change);
	ck_assert(change.count == 1 && !literal_is_leaving(boxed_ptr(inner)));
	literal_switch(&change);
	ck_assert_ptr_null(literal_finish(&change));
	ck_assert(literal_is_leaving(boxed_ptr(inner)) && !literal_is_leaving(boxed_ptr(kept)));
	ck_assert_uint_eq(copy_size_words(roots[1]), 2 + REFBIN_WORDS);
	ck_assert_uint_gt(gc_take_literals(h, &root, 1), 0);
	ck_assert(gc_run_gc(h, 0, &root, 1, &r) && r.major);
	literal_prepare(&change);
	ck_assert_uint_eq(change.count, 0);
	literal_switch(&change);
	gone = literal_finish(&change);
	ck_assert(gone == area && gone->next == NULL);
	literal_free(gone);
	ck_assert(!literal_is_leaving(boxed_ptr(inner)));
	ck_assert_uint_eq(literal_released_words(), 0);
	ck_assert(heap_owns(h, boxed_ptr(roots[0])) && tuple_get(roots[0], 1) == tuple_get(roots[0], 2));
	ck_assert(cons_head(roots[1]) == tuple_get(roots[0], 1));
	ck_assert_ptr_eq(((struct refbin *)boxed_ptr(tuple_get(roots[0], 1)))->binary, b);
	ck_assert(roots[2] == kept);
	heap_free(h);
	ck_assert_uint_eq(atomic_load(&b->refs), 1);
	binary_unref(b);
	literal_free(other);
}
END_TEST

START_TEST(test_literal_new_takes_what_was_freed)
{
	enum { AREAS = 3000 };
	static struct literal_area *areas[AREAS];
	size_t words[] = { 1, 3, 600, 40, 5000 };

	unit_init();
	for (int round = 0; round < 5; round++) {
		for (int i = 0; i < AREAS; i++) {
			areas[i] = literal_new(words[(i + round) % 5]);
			ck_assert_ptr_nonnull(areas[i]);
			for (Term *t = areas[i]->top; t < areas[i]->end; t++)
				*t = (Term)i;
		}
		for (int i = 0; i < AREAS; i++)
			ck_assert(areas[i]->words[0] == (Term)i && areas[i]->end[-1] == (Term)i);
		for (int i = AREAS; i-- > 0;)
			literal_free(areas[i]);
	}
	areas[0] = literal_new((LITERAL_RANGE_BYTES - sizeof(**areas)) / sizeof(Term)); /* all of it, in one piece */
	ck_assert_ptr_nonnull(areas[0]);
	ck_assert_ptr_null(literal_new(1));
	literal_free(areas[0]);
}
END_TEST

enum { PAGE_BYTES = 4096, PAGES = 6000 };

static size_t count_resident(const void *from, size_t pages)
{
	unsigned char resident[PAGES];
	size_t n = 0;

	ck_assert_int_eq(mincore((void *)((uintptr_t)from & -(uintptr_t)PAGE_BYTES), pages * PAGE_BYTES, resident), 0);
	for (size_t i = 0; i < pages; i++)
		n += resident[i] & 1;
	return n;
}

/* Of a row of areas only some stay, with what stands there. Of the pages that fall empty some are kept, and a new area
 * is made of these. */
START_TEST(test_literal_free_gives_pages_back)
{
	enum { AREAS = 30000, WORDS = 100, KEPT_EVERY = 64, PAGES_KEPT = 4096 };
	static struct literal_area *areas[AREAS];
	struct literal_area *chain = NULL;
	size_t used, left;

	unit_init();
	for (int i = 0; i < AREAS; i++) {
		areas[i] = literal_new(WORDS);
		for (; areas[i]->top < areas[i]->end; areas[i]->top++)
			*areas[i]->top = (Term)i;
	}
	used = count_resident(areas[0], PAGES);
	for (int i = 0; i < AREAS; i++) {
		if (i % KEPT_EVERY == 0)
			continue;
		areas[i]->next = chain;
		chain = areas[i];
	}
	literal_free(chain);
	left = count_resident(areas[0], PAGES);
	ck_assert_uint_eq(used, PAGES);
	ck_assert_uint_ge(left, PAGES_KEPT);
	ck_assert_uint_le(left, PAGES_KEPT + 2 * AREAS / KEPT_EVERY);
	chain = literal_new(WORDS);
	ck_assert_uint_eq(count_resident(chain, 1), 1);
	literal_free(chain);
	for (int i = 0; i < AREAS; i += KEPT_EVERY) {
		for (const Term *t = areas[i]->words; t < areas[i]->end; t++)
			ck_assert(*t == (Term)i);
		literal_free(areas[i]);
	}
}
END_TEST

START_TEST(test_copy_term_counts_binaries)
{
	struct heap *h = unit_heap();
	struct binary *b = binary_new(100);
	Term t = heap_tuple(h, refbin_put(h, b, 100), am_ok), copy;
	struct fragment *f = copy_to_fragment(t, &copy);

	ck_assert_int_eq(atomic_load(&b->refs), 2);
	ck_assert(tuple_get(copy, 2) == am_ok);
	fragment_free(f);
	ck_assert_int_eq(atomic_load(&b->refs), 1);
}
END_TEST

Suite *gc_suite(void)
{
	Suite *s = suite_create("gc");
	TCase *c = tcase_create("gc");

	tcase_add_test(c, test_gc_run_keeps_live_terms);
	tcase_add_test(c, test_gc_run_is_minor_until_told);
	tcase_add_test(c, test_gc_run_moves_the_stack);
	tcase_add_test(c, test_gc_of_a_deep_stack_is_long);
	tcase_add_test(c, test_gc_run_leaves_a_small_block_with_fragments);
	tcase_add_test(c, test_gc_run_moves_lists_cell_by_cell);
	tcase_add_test(c, test_gc_run_keeps_random_lists);
	tcase_add_test(c, test_gc_run_grows_by_what_was_in_fragments);
	tcase_add_test(c, test_gc_run_drops_dead_binaries);
	tcase_add_test(c, test_gc_run_trims_an_abandoned_buffer);
	tcase_add_test(c, test_gc_run_leaves_the_room_of_shared_bytes);
	tcase_add_test(c, test_gc_run_shrinks_after_garbage);
	tcase_add_test(c, test_gc_run_respects_max_words);
	tcase_add_test(c, test_copy_term_of_deep_nesting);
	tcase_add_test(c, test_copy_size_telling_tells_once);
	tcase_add_test(c, test_copy_term_shares_literals);
	tcase_add_test(c, test_gc_take_literals_keeps_what_leaves);
	tcase_add_test(c, test_literal_new_takes_what_was_freed);
	tcase_add_test(c, test_literal_free_gives_pages_back);
	tcase_add_test(c, test_copy_term_counts_binaries);
	tcase_add_test(c, test_binary_resize_fails_and_leaves_it);
	suite_add_tcase(s, c);
	return s;
}
