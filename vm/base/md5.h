/* SPDX-License-Identifier: Apache-2.0 */
/* MD5 (RFC 1321): checksums of modules, erlang:md5/1. */
#ifndef VM_BASE_MD5_H
#define VM_BASE_MD5_H

#include <stddef.h>
#include <stdint.h>

#define MD5_BYTES 16

struct md5 {
	uint32_t state[4];
	uint64_t bytes;      /* taken in so far */
	uint8_t block[64];   /* the last, partly filled */
};

static inline void md5_init(struct md5 *m)
{
	*m = (struct md5){ .state = { 0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476 } };
}
void md5_update(struct md5 *m, const void *data, size_t n);
void md5_final(struct md5 *m, uint8_t digest[MD5_BYTES]);

#endif
