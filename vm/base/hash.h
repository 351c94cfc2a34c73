/* SPDX-License-Identifier: Apache-2.0 */
/* Hashing of bytes and words for the VM's own tables (not phash2: see data/phash.h). */
#ifndef VM_BASE_HASH_H
#define VM_BASE_HASH_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* Neither is for tables that foreign input can attack. */
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
	uint64_t h = 0xcbf29ce484222325u ^ n, w = 0;

	for (; n >= sizeof(w); p += sizeof(w), n -= sizeof(w)) {
		memcpy(&w, p, sizeof(w));
		h = (h ^ w) * 0x9e3779b97f4a7c15u;
		h ^= h >> 32;
	}
	for (w = 0; n > 0; n--)
		w = w << 8 | *p++;
	return hash_word(h ^ w);
}

#endif
