/* SPDX-License-Identifier: Apache-2.0 */
/* MD5 as RFC 1321 gives it. Invariant: block holds bytes % 64 bytes. */
#include "base/md5.h"

#include <string.h>

/* floor(2^32 * |sin(i + 1)|) */
static const uint32_t sines[64] = {
	0xd76aa478, 0xe8c7b756, 0x242070db, 0xc1bdceee, 0xf57c0faf, 0x4787c62a, 0xa8304613, 0xfd469501,
	0x698098d8, 0x8b44f7af, 0xffff5bb1, 0x895cd7be, 0x6b901122, 0xfd987193, 0xa679438e, 0x49b40821,
	0xf61e2562, 0xc040b340, 0x265e5a51, 0xe9b6c7aa, 0xd62f105d, 0x02441453, 0xd8a1e681, 0xe7d3fbc8,
	0x21e1cde6, 0xc33707d6, 0xf4d50d87, 0x455a14ed, 0xa9e3e905, 0xfcefa3f8, 0x676f02d9, 0x8d2a4c8a,
	0xfffa3942, 0x8771f681, 0x6d9d6122, 0xfde5380c, 0xa4beea44, 0x4bdecfa9, 0xf6bb4b60, 0xbebfbc70,
	0x289b7ec6, 0xeaa127fa, 0xd4ef3085, 0x04881d05, 0xd9d4d039, 0xe6db99e5, 0x1fa27cf8, 0xc4ac5665,
	0xf4292244, 0x432aff97, 0xab9423a7, 0xfc93a039, 0x655b59c3, 0x8f0ccc92, 0xffeff47d, 0x85845dd1,
	0x6fa87e4f, 0xfe2ce6e0, 0xa3014314, 0x4e0811a1, 0xf7537e82, 0xbd3af235, 0x2ad7d2bb, 0xeb86d391,
};
static const uint8_t shifts[4][4] = { { 7, 12, 17, 22 }, { 5, 9, 14, 20 }, { 4, 11, 16, 23 }, { 6, 10, 15, 21 } };

static uint32_t load_le32(const uint8_t *p)
{
	return (uint32_t)p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
}

static void mix_block(uint32_t state[4], const uint8_t block[64])
{
	uint32_t a = state[0], b = state[1], c = state[2], d = state[3];

	for (unsigned i = 0; i < 64; i++) {
		unsigned round = i / 16, shift = shifts[round][i % 4], word;
		uint32_t f, sum;

		switch (round) {
		case 0: f = (b & c) | (~b & d); word = i; break;
		case 1: f = (d & b) | (~d & c); word = (5 * i + 1) % 16; break;
		case 2: f = b ^ c ^ d; word = (3 * i + 5) % 16; break;
		default: f = c ^ (b | ~d); word = 7 * i % 16; break;
		}
		sum = a + f + sines[i] + load_le32(block + 4 * word);
		a = d;
		d = c;
		c = b;
		b += sum << shift | sum >> (32 - shift);
	}
	state[0] += a;
	state[1] += b;
	state[2] += c;
	state[3] += d;
}

void md5_update(struct md5 *m, const void *data, size_t n)
{
	const uint8_t *p = data;
	size_t have = m->bytes % 64;

	m->bytes += n;
	if (have + n < 64) {
		if (n > 0)
			memcpy(m->block + have, p, n);
		return;
	}
	if (have > 0) {
		memcpy(m->block + have, p, 64 - have);
		mix_block(m->state, m->block);
		p += 64 - have;
		n -= 64 - have;
	}
	for (; n >= 64; p += 64, n -= 64)
		mix_block(m->state, p);
	memcpy(m->block, p, n);
}

void md5_final(struct md5 *m, uint8_t digest[MD5_BYTES])
{
	static const uint8_t padding[64] = { 0x80 };
	uint64_t bits = m->bytes * 8;
	uint8_t length[8];

	for (unsigned i = 0; i < 8; i++)
		length[i] = (uint8_t)(bits >> (8 * i));
	md5_update(m, padding, 64 - (m->bytes + 8) % 64);
	md5_update(m, length, sizeof(length));
	for (unsigned i = 0; i < MD5_BYTES; i++)
		digest[i] = (uint8_t)(m->state[i / 4] >> (8 * (i % 4)));
}
