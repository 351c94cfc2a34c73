/* SPDX-License-Identifier: Apache-2.0 */
/* UTF-8 as bytes. */
#include "data/utf8.h"

#include <string.h>

unsigned utf8_decode(const uint8_t *p, size_t n, uint32_t *c)
{
	static const uint32_t lowest[] = { 0, 0, 0x80, 0x800, 0x10000 };
	unsigned length = utf8_length(p[0]);
	uint32_t v;

	if (length == 1) {
		*c = p[0];
		return 1;
	}
	if (length == 0 || length > n)
		return 0;
	v = p[0] & (0xffu >> (length + 1));
	for (unsigned i = 1; i < length; i++) {
		if ((p[i] & 0xc0) != 0x80)
			return 0;
		v = v << 6 | (p[i] & 0x3f);
	}
	if (v < lowest[length] || !utf8_is_scalar(v))
		return 0;
	*c = v;
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

size_t utf8_valid_prefix(const uint8_t *p, size_t n, size_t *chars)
{
	size_t i = 0, count = 0;

	while (i < n) {
		size_t ascii = utf8_ascii_prefix(p + i, n - i);
		uint32_t c;
		unsigned length;

		i += ascii;
		count += ascii;
		if (i == n)
			break;
		length = utf8_decode(p + i, n - i, &c);
		if (length == 0)
			break;
		i += length;
		count++;
	}
	if (chars != NULL)
		*chars = count;
	return i;
}
