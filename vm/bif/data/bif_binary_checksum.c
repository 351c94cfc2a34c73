/* SPDX-License-Identifier: Apache-2.0 */
/* Checksums of I/O lists: CRC-32 and Adler-32 by zlib, MD5. */
#include <zlib.h>

#include "base/alloc.h"
#include "base/md5.h"
#include "bif/bif.h"
#include "data/iolist.h"
#include "data/number.h"
#include "proc/sched.h"

enum { BYTES_A_REDUCTION = 256, MD5_BYTES_A_REDUCTION = 32 };

struct checksum {
	void (*add)(struct checksum *c, const uint8_t *bytes, size_t n); /* takes in one run of bytes */
	size_t bytes, bytes_a_reduction;
	uLong value;         /* of crc32 and adler32 */
	struct md5 *md5;
};

static void add_crc32(struct checksum *c, const uint8_t *bytes, size_t n) { c->value = crc32_z(c->value, bytes, n); }
static void add_adler32(struct checksum *c, const uint8_t *bytes, size_t n)
{
	c->value = adler32_z(c->value, bytes, n);
}
static void add_md5(struct checksum *c, const uint8_t *bytes, size_t n) { md5_update(c->md5, bytes, n); }

static bool add_part(void *arg, Term binary, uint8_t byte)
{
	struct checksum *c = arg;
	uint8_t *scratch;
	const uint8_t *bytes;
	size_t n;

	if (binary == TERM_NONE) {
		c->add(c, &byte, 1);
		c->bytes++;
		return true;
	}
	bytes = binary_bytes(binary, &n, &scratch);
	if (bytes == NULL)
		return false;
	if (n > 0)
		c->add(c, bytes, n);
	c->bytes += n;
	mem_free(scratch);
	return true;
}

static bool add_iolist(Process *p, struct checksum *c, Term t)
{
	bool ok;

	sched_go_outside();
	ok = term_is_bitstring(t) ? add_part(c, t, 0) : iolist_walk(t, add_part, c) == IOLIST_OK;
	sched_go_inside();
	process_bump(p, (int)(c->bytes / c->bytes_a_reduction));
	return ok;
}

/* The scheduler is lent for what is large. */
enum { LONG_BYTES = 1 << 19, LONG_LIST = 1 << 14 };

static bool is_long(Term t)
{
	size_t bytes = 0, n = 0;

	if (term_is_bitstring(t))
		return binary_size_bytes(t) > LONG_BYTES;
	for (; term_is_cons(t) && n < LONG_LIST && bytes <= LONG_BYTES; t = cons_tail(t), n++)
		bytes += term_is_bitstring(cons_head(t)) ? binary_size_bytes(cons_head(t)) : 1;
	return n == LONG_LIST || bytes > LONG_BYTES;
}

/* work(p, args), whose arguments end with the I/O list. */
static Term run(Process *p, Term (*work)(Process *p, Term *args), Term *args, unsigned arity)
{
	return is_long(args[arity - 1]) ? exc_run_lent(p, work, args) : work(p, args);
}

static bool get_uint32(Term t, uLong *value)
{
	uint64_t n;

	if (!num_get_uint64(t, &n) || n > UINT32_MAX)
		return false;
	*value = n;
	return true;
}

/* The bytes of a binary that is worth no reduction. Fails: NULL for all others. */
static const uint8_t *find_short(Term t, size_t *n)
{
	struct bits_view v;

	if (!term_is_binary(t))
		return NULL;
	v = binary_view(t);
	*n = v.size / 8;
	return v.offset == 0 && *n < BYTES_A_REDUCTION ? v.base : NULL;
}

static Term sum(Process *p, struct checksum *c, Term t)
{
	return add_iolist(p, c, t) ? heap_uint(&p->heap, c->value) : exc_badarg(p);
}

static Term work_crc32_1(Process *p, Term *args)
{
	struct checksum c = { .add = add_crc32, .bytes_a_reduction = BYTES_A_REDUCTION };

	return sum(p, &c, args[0]);
}

Term bif_erlang_crc32_1(Process *p, Term *args)
{
	size_t n;
	const uint8_t *bytes = find_short(args[0], &n);

	if (bytes != NULL)
		return heap_uint(&p->heap, crc32_z(0, bytes, n));
	return run(p, work_crc32_1, args, 1);
}

static Term work_crc32_2(Process *p, Term *args)
{
	struct checksum c = { .add = add_crc32, .bytes_a_reduction = BYTES_A_REDUCTION };

	return get_uint32(args[0], &c.value) ? sum(p, &c, args[1]) : exc_badarg(p);
}

Term bif_erlang_crc32_2(Process *p, Term *args)
{
	size_t n;
	uLong before;
	const uint8_t *bytes = find_short(args[1], &n);

	if (bytes != NULL && get_uint32(args[0], &before))
		return heap_uint(&p->heap, crc32_z(before, bytes, n));
	return run(p, work_crc32_2, args, 2);
}

static Term work_adler32_1(Process *p, Term *args)
{
	struct checksum c = { .add = add_adler32, .bytes_a_reduction = BYTES_A_REDUCTION, .value = 1 };

	return sum(p, &c, args[0]);
}

Term bif_erlang_adler32_1(Process *p, Term *args)
{
	size_t n;
	const uint8_t *bytes = find_short(args[0], &n);

	if (bytes != NULL)
		return heap_uint(&p->heap, adler32_z(1, bytes, n));
	return run(p, work_adler32_1, args, 1);
}

static Term work_adler32_2(Process *p, Term *args)
{
	struct checksum c = { .add = add_adler32, .bytes_a_reduction = BYTES_A_REDUCTION };

	return get_uint32(args[0], &c.value) ? sum(p, &c, args[1]) : exc_badarg(p);
}

Term bif_erlang_adler32_2(Process *p, Term *args)
{
	size_t n;
	uLong before;
	const uint8_t *bytes = find_short(args[1], &n);

	if (bytes != NULL && get_uint32(args[0], &before))
		return heap_uint(&p->heap, adler32_z(before, bytes, n));
	return run(p, work_adler32_2, args, 2);
}

static Term combine(Process *p, Term *args, uLong (*with)(uLong, uLong, z_off_t))
{
	uLong a, b, n;

	if (!get_uint32(args[0], &a) || !get_uint32(args[1], &b) || !get_uint32(args[2], &n))
		return exc_badarg(p);
	return heap_uint(&p->heap, with(a, b, (z_off_t)n) & UINT32_MAX);
}

Term bif_erlang_crc32_combine_3(Process *p, Term *args)
{
	return combine(p, args, crc32_combine);
}

Term bif_erlang_adler32_combine_3(Process *p, Term *args)
{
	Term sum = combine(p, args, adler32_combine);

	return sum != TERM_NONE && args[2] == SMALL(0) ? args[0] : sum;
}

static Term put_digest(Process *p, struct md5 *m)
{
	uint8_t digest[MD5_BYTES];

	md5_final(m, digest);
	return binary_put(&p->heap, digest, sizeof(digest));
}

static Term work_md5_1(Process *p, Term *args)
{
	struct md5 m;
	struct checksum c = { .add = add_md5, .bytes_a_reduction = MD5_BYTES_A_REDUCTION, .md5 = &m };

	md5_init(&m);
	return add_iolist(p, &c, args[0]) ? put_digest(p, &m) : exc_badarg(p);
}

Term bif_erlang_md5_1(Process *p, Term *args)
{
	return run(p, work_md5_1, args, 1);
}

/* A context is a binary of the bytes of a struct md5. */
Term bif_erlang_md5_init_0(Process *p, Term *args)
{
	uint8_t *bytes;
	Term t = binary_alloc_on_heap(&p->heap, sizeof(struct md5), &bytes);

	(void)args;
	md5_init((struct md5 *)bytes);
	return t;
}

static bool get_context(Term t, struct md5 *m)
{
	uint8_t *scratch;
	size_t n;
	const uint8_t *bytes = binary_bytes(t, &n, &scratch);
	bool ok = bytes != NULL && n == sizeof(*m);

	if (ok)
		memcpy(m, bytes, n);
	mem_free(scratch);
	return ok;
}

static Term work_md5_update_2(Process *p, Term *args)
{
	struct md5 m;
	struct checksum c = { .add = add_md5, .bytes_a_reduction = MD5_BYTES_A_REDUCTION, .md5 = &m };
	uint8_t *bytes;
	Term t;

	if (!get_context(args[0], &m) || !add_iolist(p, &c, args[1]))
		return exc_badarg(p);
	t = binary_alloc_on_heap(&p->heap, sizeof(m), &bytes);
	memcpy(bytes, &m, sizeof(m));
	return t;
}

Term bif_erlang_md5_update_2(Process *p, Term *args)
{
	return run(p, work_md5_update_2, args, 2);
}

Term bif_erlang_md5_final_1(Process *p, Term *args)
{
	struct md5 m;

	return get_context(args[0], &m) ? put_digest(p, &m) : exc_badarg(p);
}
