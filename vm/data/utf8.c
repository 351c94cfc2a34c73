/* SPDX-License-Identifier: Apache-2.0 */
/* UTF-8 as bytes. */
#include "data/utf8.h"

#include <string.h>

static bool is_tail(uint8_t byte) { return (byte & 0xc0) == 0x80; }

/* Units: bytes of the character at p, of which n > 0 bytes can be read; 0 when it is malformed or cut. What its first
 * two bytes say of the value tells surrogates, overlong forms and what is above U+10FFFF. */
static inline unsigned valid_length(const uint8_t *p, size_t n)
{
	uint8_t first = p[0];
	unsigned start;

	if (first < 0x80)
		return 1;
	if (first < 0xe0)
		return n >= 2 && first >= 0xc2 && is_tail(p[1]) ? 2 : 0;
	if (n < 3 || !is_tail(p[1]) || !is_tail(p[2]))
		return 0;
	if (first < 0xf0) {
		start = (first & 0xfu) << 6 | (p[1] & 0x3fu);
		return start >= 0x800 >> 6 && (start & 0x3e0) != 0xd800 >> 6 ? 3 : 0;
	}
	start = (first & 0xfu) << 6 | (p[1] & 0x3fu);
	return n >= 4 && is_tail(p[3]) && start >= 0x10000 >> 12 && start <= 0x10ffff >> 12 ? 4 : 0;
}

unsigned utf8_decode(const uint8_t *p, size_t n, uint32_t *c)
{
	unsigned length = valid_length(p, n);

	if (length > 0)
		*c = utf8_take(&p);
	return length;
}

size_t utf8_ascii_prefix(const uint8_t *p, size_t n)
{
	size_t i = 0;

	for (uint64_t w; n - i >= 8; i += 8) {
		memcpy(&w, p + i, 8);
		if (w & 0x8080808080808080u)
			break;
	}
	while (i < n && p[i] < 0x80)
		i++;
	return i;
}

/* Text in which characters of several lengths stand side by side: only where two bytes in turn are ASCII is a run of
 * them looked for. */
size_t utf8_valid_prefix(const uint8_t *p, size_t n, size_t *chars)
{
	size_t i = 0, count = 0;

	while (i < n) {
		unsigned length = valid_length(p + i, n - i);

		if (length == 0)
			break;
		i += length;
		count++;
		if (length == 1 && i < n && p[i] < 0x80) {
			size_t ascii = utf8_ascii_prefix(p + i, n - i);

			i += ascii;
			count += ascii;
		}
	}
	if (chars != NULL)
		*chars = count;
	return i;
}

Term utf8_put_list(struct heap *h, const uint8_t *p, size_t chars)
{
	Term *at = heap_alloc(h, 2 * chars), *end = at + 2 * chars, list = chars > 0 ? term_from_cons(at) : NIL;

	for (; at < end; at += 2) {
		at[0] = SMALL((uint64_t)utf8_take(&p));
		at[1] = term_from_cons(at + 2);
	}
	if (chars > 0)
		end[-1] = NIL;
	return list;
}
