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

/* All of n bytes, fewer than 8, in one word. */
static inline uint64_t hash_few_bytes(const unsigned char *p, size_t n)
{
	uint32_t low, high;

	if (n < sizeof(low))
		return n > 0 ? (uint64_t)p[0] | (uint64_t)p[n / 2] << 8 | (uint64_t)p[n - 1] << 16 : 0;
	memcpy(&low, p, sizeof(low));
	memcpy(&high, p + n - sizeof(high), sizeof(high));
	return low | (uint64_t)high << 32;
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
	return hash_word(h ^ hash_few_bytes(p, n));
}

#endif
