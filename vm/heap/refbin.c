/* SPDX-License-Identifier: Apache-2.0 */
/* Counted binaries and resources, and the off-heap lists that hold their counts. */
#include "heap/refbin.h"

#include <string.h>

#include "base/alloc.h"
#include "term/node.h"

/* Behind the bytes of a binary, as in OTP: libraries that print into one end it with a NUL that they did not ask room
 * for. */
enum { SPARE_BYTES = 7 };

struct binary *binary_new(size_t bytes)
{
	struct binary *b;

	if (bytes > SIZE_MAX - sizeof(*b) - SPARE_BYTES)
		return NULL;
	b = mem_try_alloc_as(MEM_BINARY, sizeof(*b) + bytes + SPARE_BYTES);
	if (b == NULL)
		return NULL;
	atomic_init(&b->refs, 1);
	b->size_bytes = bytes;
	return b;
}

void binary_ref(struct binary *b)
{
	atomic_fetch_add_explicit(&b->refs, 1, memory_order_relaxed);
}

static struct resource *resource_of(const struct binary *b)
{
	return *(struct resource *const *)b->data;
}

void binary_unref(struct binary *b)
{
	uint64_t before = atomic_fetch_sub_explicit(&b->refs, 1, memory_order_acq_rel);

	if (unlikely(before == (BINARY_OF_RESOURCE | 1)))
		resource_unref(resource_of(b));
	else if (before != 1)
		return;
	mem_free_as(MEM_BINARY, b);
}

struct binary *binary_resize(struct binary *b, size_t bytes)
{
	struct binary *resized;

	ASSERT(atomic_load(&b->refs) == 1);
	if (bytes > SIZE_MAX - sizeof(*b) - SPARE_BYTES)
		return NULL;
	resized = mem_try_realloc_as(MEM_BINARY, b, sizeof(*b) + bytes + SPARE_BYTES);
	if (resized == NULL && bytes > b->size_bytes)
		return NULL;
	b = resized != NULL ? resized : b; /* what cannot move to less room stays where it is */
	b->size_bytes = bytes;
	return b;
}

Term refbin_put_at(Term *at, Term **off_heap, struct binary *b, uint8_t *bytes, size_t size_bytes)
{
	struct refbin *r = (struct refbin *)at;

	r->header = HEADER(REFBIN_WORDS - 1, SUB_REFBIN);
	r->size_bytes = size_bytes;
	r->binary = b;
	r->bytes = bytes;
	r->flags = 0;
	r->next = *off_heap;
	*off_heap = at;
	return term_from_boxed(at);
}

static void count_binary(struct heap *h, size_t bytes)
{
	h->binary_words += bytes / sizeof(Term);
	if (h->binary_words > h->binary_limit_words)
		h->wants_gc = true;
}

Term refbin_put_part(struct heap *h, struct binary *b, const uint8_t *bytes, size_t size_bytes)
{
	count_binary(h, size_bytes);
	return refbin_put_at(heap_alloc(h, REFBIN_WORDS), &h->off_heap, b, (uint8_t *)bytes, size_bytes);
}

Term refbin_put(struct heap *h, struct binary *b, size_t size_bytes)
{
	return refbin_put_part(h, b, b->data, size_bytes);
}

Term refbin_put_resource(struct heap *h, struct resource *r, const void *bytes, size_t size_bytes)
{
	struct binary *b = mem_alloc_as(MEM_BINARY, sizeof(*b) + sizeof(r));

	atomic_init(&b->refs, BINARY_OF_RESOURCE | 1);
	b->size_bytes = sizeof(r);
	memcpy(b->data, &r, sizeof(r));
	return refbin_put_at(heap_alloc(h, REFBIN_WORDS), &h->off_heap, b, (uint8_t *)bytes, size_bytes);
}

struct resource *binary_resource(const struct binary *b, const struct resource_type *type)
{
	struct resource *r = atomic_load(&b->refs) & BINARY_OF_RESOURCE ? resource_of(b) : NULL;

	return r != NULL && r->type == type ? r : NULL;
}

void resource_init(struct resource *r, const struct resource_type *type)
{
	atomic_init(&r->refs, 1);
	r->type = type;
	r->number = ref_next_number();
	atomic_init(&r->is_named, false);
}

void resource_ref(struct resource *r)
{
	atomic_fetch_add_explicit(&r->refs, 1, memory_order_relaxed);
}

bool resource_ref_living(struct resource *r)
{
	uint64_t refs = atomic_load_explicit(&r->refs, memory_order_relaxed);

	while (refs != 0)
		if (atomic_compare_exchange_weak_explicit(&r->refs, &refs, refs + 1, memory_order_relaxed,
							  memory_order_relaxed))
			return true;
	return false;
}

void resource_unref(struct resource *r)
{
	if (atomic_fetch_sub_explicit(&r->refs, 1, memory_order_acq_rel) != 1)
		return;
	if (unlikely(atomic_load_explicit(&r->is_named, memory_order_relaxed)))
		resource_name_drop(r);
	r->type->release(r);
}

Term resource_put(struct heap *h, struct resource *r)
{
	struct magic_ref *m = (struct magic_ref *)heap_alloc(h, MAGIC_WORDS);

	resource_ref(r);
	m->header = HEADER(MAGIC_WORDS - 1, SUB_REF);
	m->number = r->number;
	m->tag = 0;
	m->resource = r;
	m->next = h->off_heap;
	h->off_heap = (Term *)m;
	return term_from_boxed((Term *)m);
}

Term **off_heap_next(Term *object)
{
	switch (header_sub(*object)) {
	case SUB_REFBIN:
		return &((struct refbin *)object)->next;
	case SUB_REF:
		return &((struct magic_ref *)object)->next;
	default:
		return &((struct extern_id *)object)->next;
	}
}

size_t off_heap_size_words(const Term *object)
{
	if (header_sub(*object) == SUB_REFBIN)
		return ((const struct refbin *)object)->size_bytes / sizeof(Term);
	return 0;
}

void off_heap_drop(Term *object)
{
	switch (header_sub(*object)) {
	case SUB_REFBIN:
		binary_unref(((struct refbin *)object)->binary);
		break;
	case SUB_REF:
		resource_unref(((struct magic_ref *)object)->resource);
		break;
	default:
		node_unref(((struct extern_id *)object)->node);
		break;
	}
}

void off_heap_link(Term *object, Term **off_heap)
{
	switch (header_sub(*object)) {
	case SUB_REFBIN:
		binary_ref(((struct refbin *)object)->binary);
		break;
	case SUB_REF:
		resource_ref(((struct magic_ref *)object)->resource);
		break;
	default:
		node_ref(((struct extern_id *)object)->node);
		break;
	}
	*off_heap_next(object) = *off_heap;
	*off_heap = object;
}

void off_heap_free(Term *list)
{
	while (list != NULL) {
		Term *next = *off_heap_next(list);

		off_heap_drop(list);
		list = next;
	}
}
