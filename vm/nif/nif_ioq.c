/* SPDX-License-Identifier: Apache-2.0 */
/* I/O vectors, binaries one behind the other, and queues of them. What a queue holds is counted; so is what a vector
 * holds that belongs to no environment. Bytes that stand on a heap are copied where they must outlive it. */
#include <string.h>

#include "base/alloc.h"
#include "data/binary.h"
#include "heap/refbin.h"
#include "nif/nif_env.h"

struct nif_ioq {
	struct iovec *parts;     /* first of `count`, in an array of `room` */
	struct binary **counted; /* the same places */
	size_t first, count, room;
	size_t bytes;
};

/* ---- queues */

struct nif_ioq *enif_ioq_create(int options)
{
	(void)options;
	return mem_zalloc(sizeof(struct nif_ioq));
}

void enif_ioq_destroy(struct nif_ioq *q)
{
	for (size_t i = 0; i < q->count; i++)
		binary_unref(q->counted[q->first + i]);
	mem_free(q->parts);
	mem_free(q->counted);
	mem_free(q);
}

size_t enif_ioq_size(struct nif_ioq *q)
{
	return q->bytes;
}

static void make_room(struct nif_ioq *q)
{
	if (q->first + q->count < q->room)
		return;
	if (q->first > q->room / 2) {
		memmove(q->parts, q->parts + q->first, q->count * sizeof(*q->parts));
		memmove(q->counted, q->counted + q->first, q->count * sizeof(*q->counted));
		q->first = 0;
		return;
	}
	q->room = q->room * 2 + 8;
	q->parts = mem_realloc(q->parts, q->room * sizeof(*q->parts));
	q->counted = mem_realloc(q->counted, q->room * sizeof(*q->counted));
}

/* Takes: one reference of b. */
static void put(struct nif_ioq *q, struct binary *b, uint8_t *bytes, size_t n)
{
	size_t at;

	if (n == 0) {
		binary_unref(b);
		return;
	}
	make_room(q);
	at = q->first + q->count++;
	q->parts[at] = (struct iovec){ bytes, n };
	q->counted[at] = b;
	q->bytes += n;
}

static struct binary *copy_bytes(const void *bytes, size_t n)
{
	struct binary *b = binary_new(n);

	if (b != NULL && n > 0)
		memcpy(b->data, bytes, n);
	return b;
}

int enif_ioq_enq_binary(struct nif_ioq *q, struct nif_binary *bin, size_t skip)
{
	struct binary *b = bin->counted;
	uint8_t *bytes = bin->data;

	if (skip > bin->size)
		return 0;
	if (b == NULL) {
		b = copy_bytes(bin->data, bin->size);
		if (b == NULL)
			return 0;
		bytes = b->data;
	}
	bin->counted = NULL;
	put(q, b, bytes + skip, bin->size - skip);
	return 1;
}

static bool put_part(struct nif_ioq *q, struct binary *b, const struct iovec *part, size_t skip)
{
	uint8_t *bytes = (uint8_t *)part->iov_base + skip;
	size_t n = part->iov_len - skip;

	if (b != NULL) {
		binary_ref(b);
	} else {
		b = copy_bytes(bytes, n);
		if (b == NULL)
			return false;
		bytes = b->data;
	}
	put(q, b, bytes, n);
	return true;
}

int enif_ioq_enqv(struct nif_ioq *q, struct nif_iovec *v, size_t skip)
{
	if (skip > v->size)
		return 0;
	for (int i = 0; i < v->count; i++) {
		size_t n = v->parts[i].iov_len;

		if (skip >= n) {
			skip -= n;
			continue;
		}
		if (!put_part(q, v->counted[i], &v->parts[i], skip))
			return 0;
		skip = 0;
	}
	return 1;
}

int enif_ioq_deq(struct nif_ioq *q, size_t bytes, size_t *left)
{
	if (bytes > q->bytes)
		return 0;
	q->bytes -= bytes;
	while (bytes > 0) {
		struct iovec *part = &q->parts[q->first];

		if (bytes < part->iov_len) {
			part->iov_base = (uint8_t *)part->iov_base + bytes;
			part->iov_len -= bytes;
			break;
		}
		bytes -= part->iov_len;
		binary_unref(q->counted[q->first++]);
		q->count--;
	}
	if (left != NULL)
		*left = q->bytes;
	return 1;
}

struct iovec *enif_ioq_peek(struct nif_ioq *q, int *count)
{
	*count = (int)q->count;
	return q->count > 0 ? q->parts + q->first : NULL;
}

int enif_ioq_peek_head(struct nif_env *env, struct nif_ioq *q, size_t *size, Term *head)
{
	const struct iovec *part = &q->parts[q->first];
	struct binary *b;

	if (q->count == 0)
		return 0;
	b = q->counted[q->first];
	binary_ref(b);
	if (size != NULL)
		*size = part->iov_len;
	*head = refbin_put_at(heap_alloc(env->heap, REFBIN_WORDS), &env->heap->off_heap, b, part->iov_base,
			      part->iov_len);
	return 1;
}

/* ---- vectors */

enum { OWNS_BINARIES = 1, OWNS_ARRAYS = 2, OWNS_ITSELF = 4 };

/* How many binaries there are, most of them at most, but one in any case; *rest is what stands behind those. Fails:
 * false: something is no binary. */
static bool count_binaries(Term list, size_t most, size_t *n, Term *rest)
{
	*n = 0;
	for (; term_is_cons(list) && (*n == 0 || *n < most); list = cons_tail(list)) {
		if (!term_is_binary(cons_head(list)))
			return false;
		++*n;
	}
	*rest = list;
	return term_is_list(list);
}

/* Of an environment's vector the binaries are only pointed to. */
static bool fill_part(struct nif_env *env, struct nif_iovec *v, int i, Term t)
{
	const uint8_t *bytes;
	uint8_t *scratch;
	struct binary *b;
	size_t n;

	b = binary_share(t, &bytes, &n);
	if (b == NULL) {
		bytes = binary_bytes(t, &n, &scratch);
		if (scratch != NULL || env == NULL) { /* what stands at no byte is copied in any case */
			b = copy_bytes(bytes, n);
			mem_free(scratch);
			if (b == NULL)
				return false;
			bytes = b->data;
		}
	}
	v->parts[i] = (struct iovec){ (void *)bytes, n };
	v->counted[i] = b;
	v->size += n;
	return true;
}

static void free_binaries(struct nif_iovec *v)
{
	for (int i = 0; i < v->count; i++)
		if (v->counted[i] != NULL)
			binary_unref(v->counted[i]);
}

void enif_free_iovec(struct nif_iovec *v)
{
	if (v->flags & OWNS_BINARIES)
		free_binaries(v);
	if (v->flags & OWNS_ARRAYS) {
		mem_free(v->parts);
		mem_free(v->counted);
	}
	if (v->flags & OWNS_ITSELF)
		mem_free(v);
}

/* Arrays that the environment frees, or the vector. */
static void *get_array(struct nif_env *env, size_t bytes)
{
	return env != NULL ? nif_env_temporary(env, bytes) : mem_try_alloc(bytes);
}

static bool init_vector(struct nif_env *env, struct nif_iovec *v, size_t n, int flags)
{
	v->count = 0;
	v->size = 0;
	v->flags = flags;
	v->parts = v->small_parts;
	v->counted = v->small_counted;
	if (n <= NIF_IOVEC_SMALL)
		return true;
	v->parts = get_array(env, n * sizeof(*v->parts));
	v->counted = get_array(env, n * sizeof(*v->counted));
	if (env == NULL)
		v->flags |= OWNS_ARRAYS;
	return v->parts != NULL && v->counted != NULL;
}

/* A binary that the environment's terms hold needs no count of ours; one that was made for the vector becomes a term
 * of it. */
static void leave_to_env(struct nif_env *env, struct nif_iovec *v)
{
	for (int i = 0; i < v->count; i++)
		if (v->counted[i] != NULL)
			refbin_put(env->heap, v->counted[i], 0);
}

int enif_inspect_iovec(struct nif_env *env, size_t most, Term list, Term *rest, struct nif_iovec **to)
{
	struct nif_iovec *v = *to;
	size_t n;
	Term after;
	int flags = env == NULL ? OWNS_BINARIES : 0;

	if (!count_binaries(list, most, &n, &after))
		return 0;
	if (v == NULL) {
		v = get_array(env, sizeof(*v));
		flags |= env == NULL ? OWNS_ITSELF : 0;
	}
	if (v == NULL || !init_vector(env, v, n, flags))
		return 0;
	for (; v->count < (int)n; list = cons_tail(list)) {
		if (!fill_part(env, v, v->count, cons_head(list))) {
			enif_free_iovec(v);
			return 0;
		}
		v->count++;
	}
	if (env != NULL)
		leave_to_env(env, v);
	*rest = after;
	*to = v;
	return 1;
}
