/* SPDX-License-Identifier: Apache-2.0 */
/* The natives of prim_buffer: a byte queue behind a magic ref, for one process at a time.
 * Source of arguments and errors: OTP 25's prim_buffer.erl. */
#include <stdatomic.h>

#include "base/alloc.h"
#include "bif/bif.h"
#include "data/binary.h"
#include "data/number.h"
#include "io/byte_queue.h"

/* Binaries from this size on are queued by reference. Units: bytes. */
#define SHARE_BYTES 1024

struct buffer {
	struct resource resource; /* first */
	struct byte_queue queue;
	atomic_bool locked;       /* try_lock/1 */
};

static void release_buffer(struct resource *r)
{
	byte_queue_clear(&((struct buffer *)r)->queue);
	mem_free(r);
}

static const struct resource_type buffer_type = { .name = "prim_buffer", .release = release_buffer };

static struct buffer *get_buffer(Term t)
{
	return (struct buffer *)resource_get(t, &buffer_type);
}

/* The buffer, and a count of bytes that it has. */
static struct buffer *get_buffer_and_size(const Term *args, uint64_t *n)
{
	struct buffer *b = get_buffer(args[0]);

	return b != NULL && num_get_uint64(args[1], n) && *n <= b->queue.size_bytes ? b : NULL;
}

Term bif_prim_buffer_new_0(Process *p, Term *args)
{
	struct buffer *b = mem_zalloc(sizeof(*b));
	Term ref;

	(void)args;
	resource_init(&b->resource, &buffer_type);
	ref = resource_put(&p->heap, &b->resource);
	resource_unref(&b->resource);
	return ref;
}

Term bif_prim_buffer_size_1(Process *p, Term *args)
{
	struct buffer *b = get_buffer(args[0]);

	return b != NULL ? heap_uint(&p->heap, b->queue.size_bytes) : exc_badarg(p);
}

Term bif_prim_buffer_peek_head_1(Process *p, Term *args)
{
	struct buffer *b = get_buffer(args[0]);
	struct binary *head;
	uint8_t *bytes;
	size_t n;

	if (b == NULL || b->queue.size_bytes == 0)
		return exc_badarg(p);
	head = byte_queue_head(&b->queue, &bytes, &n);
	if (n <= HEAPBIN_LIMIT)
		return binary_put(&p->heap, bytes, n);
	binary_ref(head);
	return refbin_put_at(heap_alloc(&p->heap, REFBIN_WORDS), &p->heap.off_heap, head, bytes, n);
}

Term bif_prim_buffer_copying_read_2(Process *p, Term *args)
{
	uint64_t n;
	struct buffer *b = get_buffer_and_size(args, &n);
	uint8_t *bytes;
	Term read;

	if (b == NULL)
		return exc_badarg(p);
	read = binary_alloc(&p->heap, n, &bytes);
	if (read == TERM_NONE)
		return exc_error(p, am_out_of_memory);
	byte_queue_copy(&b->queue, bytes, n);
	byte_queue_drop(&b->queue, n);
	return read;
}

Term bif_prim_buffer_skip_2(Process *p, Term *args)
{
	uint64_t n;
	struct buffer *b = get_buffer_and_size(args, &n);

	if (b == NULL)
		return exc_badarg(p);
	byte_queue_drop(&b->queue, n);
	return am_ok;
}

static bool put_binary(struct byte_queue *q, Term t)
{
	uint8_t *scratch = NULL;
	const uint8_t *bytes;
	struct binary *shared = NULL;
	bool ok = true;
	size_t n;

	if (binary_size_bytes(t) >= SHARE_BYTES)
		shared = binary_share(t, &bytes, &n);
	if (shared != NULL) {
		byte_queue_put_binary(q, shared, bytes, n);
		binary_unref(shared);
		return true;
	}
	bytes = binary_bytes(t, &n, &scratch);
	ok = byte_queue_put(q, bytes, n);
	mem_free(scratch);
	return ok;
}

static bool is_iovec(Term list)
{
	for (; term_is_cons(list); list = cons_tail(list)) {
		if (!term_is_bitstring(cons_head(list)) || !term_is_binary(cons_head(list)))
			return false;
	}
	return list == NIL;
}

Term bif_prim_buffer_write_2(Process *p, Term *args)
{
	struct buffer *b = get_buffer(args[0]);

	if (b == NULL || !is_iovec(args[1]))
		return exc_badarg(p);
	for (Term list = args[1]; term_is_cons(list); list = cons_tail(list)) {
		if (!put_binary(&b->queue, cons_head(list)))
			return exc_error(p, am_out_of_memory);
		process_bump(p, 1);
	}
	return am_ok;
}

Term bif_prim_buffer_find_byte_index_2(Process *p, Term *args)
{
	struct buffer *b = get_buffer(args[0]);
	int64_t index;

	if (b == NULL || !term_is_small(args[1]) || small_value(args[1]) < 0 || small_value(args[1]) > 255)
		return exc_badarg(p);
	index = byte_queue_find(&b->queue, (uint8_t)small_value(args[1]));
	process_bump(p, (int)(b->queue.size_bytes >> 12));
	if (index < 0)
		return am_not_found;
	return heap_tuple(&p->heap, am_ok, heap_int(&p->heap, index));
}

Term bif_prim_buffer_try_lock_1(Process *p, Term *args)
{
	struct buffer *b = get_buffer(args[0]);

	if (b == NULL)
		return exc_badarg(p);
	return atomic_exchange(&b->locked, true) ? am_busy : am_acquired;
}

Term bif_prim_buffer_unlock_1(Process *p, Term *args)
{
	struct buffer *b = get_buffer(args[0]);

	if (b == NULL)
		return exc_badarg(p);
	return atomic_exchange(&b->locked, false) ? am_ok : exc_error(p, am_lock_order_violation);
}
