/* SPDX-License-Identifier: Apache-2.0 */
/* Hashing of bytes and words for the VM's own tables (not phash2: see data/phash.h). */
#ifndef VM_BASE_HASH_H
#define VM_BASE_HASH_H

#include <stddef.h>
#include <stdint.h>

/* FNV-1a folded by a finaliser. Not for tables that foreign input can attack. */
static inline uint64_t hash_word(uint64_t w)
{
	w ^= w >> 32;
	w *= 0x9e3779b97f4a7c15u;
	w ^= w >> 29;
	w *= 0xbf58476d1ce4e5b9u;
	return w ^ (w >> 32);
}

static inline uint64_t hash_bytes(const void *data, size_t n)
{
	const unsigned char *p = data;
	uint64_t h = 0xcbf29ce484222325u;

	for (size_t i = 0; i < n; i++)
		h = (h ^ p[i]) * 0x100000001b3u;
	return hash_word(h);
}

#endif
