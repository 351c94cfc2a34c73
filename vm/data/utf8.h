/* SPDX-License-Identifier: Apache-2.0 */
/* UTF-8 as bytes (RFC 3629: no surrogates, nothing overlong, up to U+10FFFF). */
#ifndef VM_DATA_UTF8_H
#define VM_DATA_UTF8_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "heap/heap.h"

#define UTF8_MAX_BYTES 4

/* Units: bytes that a character with this first byte says it has; 0 when none starts so. */
static inline unsigned utf8_length(uint8_t first)
{
	return first < 0x80 ? 1 : first < 0xc0 ? 0 : first < 0xe0 ? 2 : first < 0xf0 ? 3 : first < 0xf8 ? 4 : 0;
}
static inline bool utf8_is_scalar(uint64_t c) { return c <= 0x10ffff && (c & ~(uint64_t)0x7ff) != 0xd800; }
/* Units: bytes of the character at p, of which n > 0 bytes can be read; 0 when it is malformed or cut. */
unsigned utf8_decode(const uint8_t *p, size_t n, uint32_t *c);
/* Writes a scalar value (up to UTF8_MAX_BYTES); returns what is behind it. */
static inline uint8_t *utf8_put(uint8_t *to, uint32_t c)
{
	if (c < 0x80) {
		*to++ = (uint8_t)c;
		return to;
	}
	if (c < 0x800) {
		*to++ = (uint8_t)(0xc0 | c >> 6);
	} else {
		if (c < 0x10000) {
			*to++ = (uint8_t)(0xe0 | c >> 12);
		} else {
			*to++ = (uint8_t)(0xf0 | c >> 18);
			*to++ = (uint8_t)(0x80 | (c >> 12 & 0x3f));
		}
		*to++ = (uint8_t)(0x80 | (c >> 6 & 0x3f));
	}
	*to++ = (uint8_t)(0x80 | (c & 0x3f));
	return to;
}
/* The same; returns how many bytes. */
static inline unsigned utf8_encode(uint32_t c, uint8_t *to) { return (unsigned)(utf8_put(to, c) - to); }
/* The character at *at, which is well-formed; *at moves behind it. */
static inline uint32_t utf8_take(const uint8_t **at)
{
	const uint8_t *p = *at;
	uint32_t first = p[0];

	if (first < 0x80) {
		*at = p + 1;
		return first;
	}
	if (first < 0xe0) {
		*at = p + 2;
		return (first & 0x1f) << 6 | (p[1] & 0x3fu);
	}
	if (first < 0xf0) {
		*at = p + 3;
		return (first & 0xf) << 12 | (p[1] & 0x3fu) << 6 | (p[2] & 0x3fu);
	}
	*at = p + 4;
	return (first & 7) << 18 | (p[1] & 0x3fu) << 12 | (p[2] & 0x3fu) << 6 | (p[3] & 0x3fu);
}
/* Units: bytes at the start that are whole, well-formed characters; *chars (may be NULL) is how many. */
size_t utf8_valid_prefix(const uint8_t *p, size_t n, size_t *chars);
/* A list of the `chars` characters at p, which are well-formed. GC: none. */
Term utf8_put_list(struct heap *h, const uint8_t *p, size_t chars);
/* Units: bytes at the start below 0x80. */
size_t utf8_ascii_prefix(const uint8_t *p, size_t n);

#endif
