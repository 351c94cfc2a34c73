/* SPDX-License-Identifier: Apache-2.0 */
/* A deflated term: its size, then the zlib stream, which may be followed by other bytes. */
#include "data/etf_decoder.h"

enum { INFLATE_BYTES = 16384, INFLATED_A_UNIT = 8 };

void etf_inflate_begin(struct etf_decoder *d)
{
	size_t size = take_be(&d->c, 4);

	/* Deflate makes no more than about 1,032 bytes of one. */
	if (d->c.failed || size / 1040 > bytes_left(&d->c)) {
		d->c.failed = true;
		return;
	}
	d->z = mem_zalloc(sizeof(*d->z));
	if (inflateInit(d->z) != Z_OK) {
		mem_free(d->z);
		d->z = NULL;
		d->c.failed = true;
		return;
	}
	d->inflated = mem_alloc(size + 1);
	d->inflated_size = size;
	d->z->next_in = (Bytef *)d->c.at;
	d->z->avail_in = bytes_left(&d->c) < UINT32_MAX ? (uInt)bytes_left(&d->c) : UINT32_MAX;
	d->z->next_out = d->inflated;
}

void etf_inflate_end(struct etf_decoder *d)
{
	if (d->z != NULL)
		inflateEnd(d->z);
	mem_free(d->z);
	d->z = NULL;
}

void etf_inflate_some(struct etf_decoder *d, int64_t *left)
{
	while (*left > 0) {
		size_t rest = d->inflated_size - d->z->total_out, n = rest < INFLATE_BYTES ? rest : INFLATE_BYTES;
		int result;

		d->z->avail_out = (uInt)n;
		result = inflate(d->z, Z_NO_FLUSH);
		*left -= 1 + (int64_t)(n - d->z->avail_out) / INFLATED_A_UNIT;
		if (result == Z_OK && d->z->avail_out == 0 && n > 0)
			continue;
		d->outer_used = (size_t)(d->c.at - d->start) + d->z->total_in;
		d->c = d->ahead =
			(struct cursor){ .at = d->inflated,
					 .end = d->inflated + d->inflated_size,
					 .failed = result != Z_STREAM_END || d->z->total_out != d->inflated_size };
		etf_inflate_end(d);
		return;
	}
}
