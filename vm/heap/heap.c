/* SPDX-License-Identifier: Apache-2.0 */
/* Heaps and fragments. Invariant: fragment_words is the sum of used_words of h->fragments. */
#include "heap/heap.h"

#include <stdatomic.h>
#include <string.h>

#include "base/alloc.h"
#include "heap/refbin.h"
#include "term/atom.h"

enum {
	FRAGMENT_MIN_WORDS = 64,
	FRAGMENTS_TOLERATED_WORDS = 256, /* beside a small heap, too few to collect for */
};

static struct {
	atomic_uint_fast64_t next_ref;
} refs;

bool heap_can_be_had(size_t words)
{
	void *block;

	if (likely(words <= HEAP_SURE_WORDS))
		return true;
	if (words > SIZE_MAX / sizeof(Term))
		return false;
	block = mem_try_alloc(words * sizeof(Term));
	mem_free(block);
	return block != NULL;
}

void heap_init(struct heap *h, size_t min_words)
{
	memset(h, 0, sizeof(*h));
	h->min_words = min_words;
	h->start = mem_alloc_as(MEM_PROCESS, min_words * sizeof(Term));
	h->end = h->start + min_words;
	h->top = h->high = h->start;
	h->stop = h->end;
	h->minor_limit = 65535;
	heap_set_binary_min(h, HEAP_BINARY_MIN_WORDS);
}

void heap_set_binary_min(struct heap *h, size_t words)
{
	h->binary_min_words = words;
	h->binary_limit_words = words;
}

static void free_fragments(struct fragment *f)
{
	while (f != NULL) {
		struct fragment *next = f->next;

		mem_free_as(MEM_PROCESS, f);
		f = next;
	}
}

void heap_free(struct heap *h)
{
	off_heap_free(h->off_heap);
	off_heap_free(h->old_off_heap);
	free_fragments(h->fragments);
	mem_free_as(MEM_PROCESS, h->start);
	mem_free_as(MEM_PROCESS, h->old_start);
	memset(h, 0, sizeof(*h));
}

/* More words in fragments than in a quarter of the block are worth a collection. */
static void count_fragment_words(struct heap *h, size_t words)
{
	h->fragment_words += words;
	if (h->fragment_words > (size_t)(h->end - h->start) / 4 + FRAGMENTS_TOLERATED_WORDS)
		h->wants_gc = true;
}

Term *heap_alloc_fragment(struct heap *h, size_t words)
{
	struct fragment *f = h->fragments;
	Term *at;

	if (f == NULL || f->size_words - f->used_words < words) {
		size_t size = f != NULL ? f->size_words * 8 : FRAGMENT_MIN_WORDS;

		if (size > 1 << 16)
			size = 1 << 16;
		f = fragment_new(size > words ? size : words);
		f->used_words = 0;
		f->next = h->fragments;
		h->fragments = f;
	}
	at = f->words + f->used_words;
	f->used_words += words;
	count_fragment_words(h, words);
	return at;
}

void heap_trim(struct heap *h, Term *at, size_t words, Term *end)
{
	struct fragment *f = h->fragments;

	if (at + words == h->top) {
		h->top = end;
	} else if (f != NULL && at + words == f->words + f->used_words) {
		f->used_words -= (size_t)(at + words - end);
		h->fragment_words -= (size_t)(at + words - end);
	} else {
		ENSURE(end == at + words);
	}
}

struct heap_mark heap_mark(const struct heap *h)
{
	return (struct heap_mark){ h->top,
				   h->off_heap,
				   h->fragments,
				   h->fragments != NULL ? h->fragments->used_words : 0,
				   h->fragment_words,
				   h->binary_words,
				   h->wants_gc };
}

void heap_release(struct heap *h, const struct heap_mark *m)
{
	while (h->off_heap != m->off_heap) {
		Term *object = h->off_heap;

		h->off_heap = *off_heap_next(object);
		off_heap_drop(object);
	}
	while (h->fragments != m->fragments) {
		struct fragment *f = h->fragments;

		h->fragments = f->next;
		mem_free_as(MEM_PROCESS, f);
	}
	if (h->fragments != NULL)
		h->fragments->used_words = m->used_words;
	h->top = m->top;
	h->fragment_words = m->fragment_words;
	h->binary_words = m->binary_words;
	h->wants_gc = m->wants_gc;
}

Term heap_list_array(struct heap *h, size_t n, const Term *elements, Term tail)
{
	Term *first, *at;

	if (n == 0)
		return tail;
	first = at = heap_alloc(h, 2 * n);
	for (const Term *end = elements + n; elements < end; elements++, at += 2) {
		at[0] = *elements;
		at[1] = term_from_cons(at + 2);
	}
	at[-1] = tail;
	return term_from_cons(first);
}

Term heap_list_bytes(struct heap *h, const void *bytes, size_t n, Term tail)
{
	const uint8_t *b = bytes;
	Term *at = heap_alloc(h, 2 * n);

	for (size_t i = n; i-- > 0; at += 2) {
		at[0] = SMALL(b[i]);
		at[1] = tail;
		tail = term_from_cons(at);
	}
	return tail;
}

/* The character that starts at *text, of well-formed UTF-8; *text moves behind it. */
static uint32_t take_char(const uint8_t **text)
{
	const uint8_t *p = *text;
	uint32_t c = *p++;

	if (c >= 0x80)
		for (c &= c < 0xe0 ? 0x1f : c < 0xf0 ? 0xf : 7; (*p & 0xc0) == 0x80; p++)
			c = c << 6 | (*p & 0x3f);
	*text = p;
	return c;
}

static size_t count_chars(const uint8_t *text, size_t n)
{
	size_t i = 0, chars;

	for (uint64_t w; n - i >= sizeof(w); i += sizeof(w)) {
		memcpy(&w, text + i, sizeof(w));
		if (w & 0x8080808080808080u)
			break;
	}
	for (chars = i; i < n; i++)
		chars += (text[i] & 0xc0) != 0x80;
	return chars;
}

Term heap_list_atom(struct heap *h, Term atom)
{
	size_t n, chars;
	const uint8_t *text = (const uint8_t *)atom_text(atom, &n);
	Term *at, *end;

	chars = count_chars(text, n);
	if (chars == n)
		return heap_list_bytes(h, text, n, NIL);
	at = heap_alloc(h, 2 * chars);
	end = at + 2 * chars;
	for (Term *cell = at; cell < end; cell += 2) {
		cell[0] = SMALL((uint64_t)(likely(*text < 0x80) ? *text++ : take_char(&text)));
		cell[1] = term_from_cons(cell + 2);
	}
	end[-1] = NIL;
	return term_from_cons(at);
}

Term heap_big(struct heap *h, uint64_t limb, bool negative)
{
	Term *at = heap_alloc(h, 2);

	at[0] = HEADER(1, negative ? SUB_BIG_NEG : SUB_BIG_POS);
	at[1] = limb;
	return term_from_boxed(at);
}

uint64_t ref_next_number(void)
{
	/* Blocks of numbers a thread, so that references cost no shared write. */
	static _Thread_local uint64_t next, limit;

	if (next == limit) {
		next = atomic_fetch_add_explicit(&refs.next_ref, 1024, memory_order_relaxed) + 1;
		limit = next + 1024;
	}
	return next++;
}

Term heap_ref(struct heap *h, Term tag)
{
	struct ref *r = (struct ref *)heap_alloc(h, REF_WORDS);

	r->header = HEADER(REF_WORDS - 1, SUB_REF);
	r->number = ref_next_number();
	r->tag = tag;
	return term_from_boxed((Term *)r);
}

/* Heaps of up to so many words are collected at every chance; larger ones so that a chance costs so many words on
 * average. */
enum { STRESS_SMALL_WORDS = 1024, STRESS_CHANCE_WORDS = 128 };

bool heap_is_stressed(const struct heap *h)
{
	static _Thread_local size_t chances;
	size_t words = (size_t)(h->end - h->start) + (size_t)(h->old_top - h->old_start);

	if (words > STRESS_SMALL_WORDS && ++chances * STRESS_CHANCE_WORDS < words)
		return false;
	chances = 0;
	return true;
}

bool heap_owns(const struct heap *h, const Term *p)
{
	if ((p >= h->start && p < h->end) || (p >= h->old_start && p < h->old_top))
		return true;
	for (const struct fragment *f = h->fragments; f != NULL; f = f->next)
		if (p >= f->words && p < f->words + f->used_words)
			return true;
	return false;
}

struct fragment *fragment_new(size_t words)
{
	struct fragment *f = mem_alloc_as(MEM_PROCESS, sizeof(*f) + words * sizeof(Term));

	f->next = NULL;
	f->off_heap = NULL;
	f->used_words = f->size_words = words;
	return f;
}

void fragment_free(struct fragment *f)
{
	if (f == NULL)
		return;
	off_heap_free(f->off_heap);
	mem_free_as(MEM_PROCESS, f);
}

void heap_adopt_fragment(struct heap *h, struct fragment *f)
{
	Term *last = f->off_heap;

	if (last != NULL) {
		for (;;) {
			Term **next = off_heap_next(last);

			h->binary_words += off_heap_size_words(last);
			if (*next == NULL) {
				*next = h->off_heap;
				break;
			}
			last = *next;
		}
		h->off_heap = f->off_heap;
		f->off_heap = NULL;
		if (h->binary_words > h->binary_limit_words)
			h->wants_gc = true;
	}
	count_fragment_words(h, f->used_words);
	/* nothing more is put there: a message's fragment may be part of another block */
	f->size_words = f->used_words;
	f->next = h->fragments;
	h->fragments = f;
}

void heap_adopt(struct heap *h, struct heap *made)
{
	struct fragment *f = made->fragments, *next;

	if (f != NULL)
		f->off_heap = made->off_heap; /* all that is off the heap is named by words of fragments */
	made->fragments = NULL;
	made->off_heap = NULL;
	for (; f != NULL; f = next) {
		next = f->next;
		heap_adopt_fragment(h, f);
	}
}
