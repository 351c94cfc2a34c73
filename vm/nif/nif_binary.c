/* SPDX-License-Identifier: Apache-2.0 */
/* Binaries: those that a library has by itself (struct nif_binary with `counted`), and those that it looks into. */
#include <string.h>

#include "base/alloc.h"
#include "data/binary.h"
#include "data/etf.h"
#include "data/iolist.h"
#include "heap/refbin.h"
#include "nif/nif_env.h"

static void show(struct nif_binary *b, const uint8_t *bytes, size_t n, struct binary *counted)
{
	static uint8_t nothing;

	*b = (struct nif_binary){ .size = n,
				  .data = bytes != NULL ? (unsigned char *)bytes : &nothing,
				  .counted = counted };
}

/* Bytes that do not start at a byte are shown as a copy. */
static const uint8_t *copy_shifted(struct nif_env *env, Term t, size_t *n)
{
	uint8_t *scratch, *copy = NULL;
	const uint8_t *bytes = binary_bytes(t, n, &scratch);

	if (scratch == NULL)
		return bytes;
	copy = nif_env_temporary(env, *n);
	if (copy != NULL)
		memcpy(copy, bytes, *n);
	mem_free(scratch);
	return copy;
}

int enif_inspect_binary(struct nif_env *env, Term t, struct nif_binary *b)
{
	struct bits_view v;
	const uint8_t *bytes;
	size_t n;

	if (unlikely(!term_is_binary(t)))
		return 0;
	v = binary_view(t);
	n = v.size / 8;
	bytes = likely(v.offset == 0) ? v.base : copy_shifted(env, t, &n);
	if (bytes == NULL && n > 0)
		return 0;
	show(b, bytes, n, NULL);
	return 1;
}

int enif_inspect_iolist_as_binary(struct nif_env *env, Term t, struct nif_binary *b)
{
	uint8_t *bytes;
	size_t n;

	if (term_is_binary(t))
		return enif_inspect_binary(env, t, b);
	if (!term_is_list(t) || iolist_size(t, &n) != IOLIST_OK)
		return 0;
	bytes = nif_env_temporary(env, n);
	if (bytes == NULL || iolist_copy(t, bytes, n) != IOLIST_OK)
		return 0;
	show(b, bytes, n, NULL);
	return 1;
}

/* ---- of the library's own */

int enif_alloc_binary(size_t size, struct nif_binary *b)
{
	struct binary *counted = binary_new(size);

	if (counted == NULL)
		return 0;
	show(b, counted->data, size, counted);
	return 1;
}

int enif_realloc_binary(struct nif_binary *b, size_t size)
{
	struct binary *counted = b->counted;

	if (counted == NULL) { /* a term's: from now on a copy of it */
		const unsigned char *from = b->data;
		size_t n = b->size < size ? b->size : size;

		if (!enif_alloc_binary(size, b))
			return 0;
		memcpy(b->data, from, n);
		return 1;
	}
	counted = binary_resize(counted, size);
	if (counted == NULL)
		return 0;
	show(b, counted->data, size, counted);
	return 1;
}

void enif_release_binary(struct nif_binary *b)
{
	if (b->counted != NULL)
		binary_unref(b->counted);
	b->counted = NULL;
}

/* What the library has read of it so far it may go on to read: so small ones are counted too. */
Term enif_make_binary(struct nif_env *env, struct nif_binary *b)
{
	struct binary *counted = b->counted;

	if (counted == NULL) {
		Term t = binary_put(env->heap, b->data, b->size);

		return t != TERM_NONE ? t : nif_env_raise(env, am_system_limit);
	}
	b->counted = NULL;
	return refbin_put(env->heap, counted, b->size);
}

unsigned char *enif_make_new_binary(struct nif_env *env, size_t size, Term *t)
{
	uint8_t *bytes;

	*t = binary_alloc(env->heap, size, &bytes);
	return *t != TERM_NONE ? bytes : NULL;
}

Term enif_make_sub_binary(struct nif_env *env, Term t, size_t at, size_t size)
{
	uint64_t bits;

	if (!term_is_binary(t))
		return nif_env_badarg(env);
	bits = binary_size_bits(t);
	if (at > bits / 8 || size > bits / 8 - at)
		return nif_env_badarg(env);
	return binary_sub(env->heap, t, (uint64_t)at * 8, (uint64_t)size * 8);
}

/* ---- the external term format */

int enif_term_to_binary(struct nif_env *env, Term t, struct nif_binary *b)
{
	struct binary *counted = etf_encode(t, etf_default_flags());

	(void)env;
	if (counted == NULL)
		return 0;
	show(b, counted->data, counted->size_bytes, counted);
	return 1;
}

size_t enif_binary_to_term(struct nif_env *env, const unsigned char *bytes, size_t n, Term *t, unsigned options)
{
	size_t used;

	if ((options & ~(unsigned)NIF_DECODE_SAFE) != 0)
		return 0;
	return etf_decode_to_heap(bytes, n, options & NIF_DECODE_SAFE ? ETF_SAFE : 0, env->heap, t, &used) == 0 ? used
														: 0;
}
