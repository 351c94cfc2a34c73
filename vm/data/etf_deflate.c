/* SPDX-License-Identifier: Apache-2.0 */
/* What is encoded, deflated: version, tag, 32-bit size; then the stream of all that followed the version. */
#include "data/etf_encoder.h"

enum { ZLIB_HEAD = 6, DEFLATE_BYTES = 4096 };

static void drop_deflated(struct etf_encoder *e)
{
	if (e->deflated != NULL)
		binary_unref(e->deflated);
	e->deflated = NULL;
}

static void begin_deflate(struct etf_encoder *e)
{
	if (e->out == NULL)
		etf_encoder_leave_fixed(e, e->used, e->used);
	if (e->failed || e->used < ZLIB_HEAD || e->used > UINT32_MAX)
		return;
	e->deflated = binary_new(e->used);
	if (e->deflated == NULL)
		return;
	e->z = mem_zalloc(sizeof(*e->z));
	if (deflateInit(e->z, (int)(e->flags >> 8)) != Z_OK) {
		drop_deflated(e);
		mem_free(e->z);
		e->z = NULL;
		return;
	}
	e->z->next_in = e->out->data + 1;
	e->z->next_out = e->deflated->data + ZLIB_HEAD;
	e->z->avail_out = (uInt)(e->used - ZLIB_HEAD);
}

static void end_deflate(struct etf_encoder *e)
{
	if (e->z != NULL)
		deflateEnd(e->z);
	mem_free(e->z);
	e->z = NULL;
	e->flags &= ~(unsigned)ETF_COMPRESSED;
}

void etf_deflate_drop(struct etf_encoder *e)
{
	drop_deflated(e);
	end_deflate(e);
}

static void finish_deflate(struct etf_encoder *e)
{
	size_t size = ZLIB_HEAD + e->z->total_out;
	struct binary *b;

	e->deflated->data[0] = ETF_VERSION;
	e->deflated->data[1] = ETF_ZLIB;
	write_be(e->deflated->data + 2, e->used - 1, 4);
	b = size < e->used ? binary_resize(e->deflated, size) : NULL;
	if (b != NULL)
		e->deflated = b;
	else
		drop_deflated(e);
	end_deflate(e);
}

void etf_deflate_some(struct etf_encoder *e, int64_t *left)
{
	if (e->z == NULL)
		begin_deflate(e);
	while (e->z != NULL && *left > 0) {
		size_t rest = e->used - 1 - e->z->total_in, n = rest < DEFLATE_BYTES ? rest : DEFLATE_BYTES;
		int result;

		e->z->avail_in = (uInt)n;
		result = deflate(e->z, n == rest ? Z_FINISH : Z_NO_FLUSH);
		*left -= (int64_t)n + 1; /* a byte costs as much as a term */
		if (result == Z_STREAM_END) {
			finish_deflate(e);
			return;
		}
		if (e->z->avail_out == 0) {
			etf_deflate_drop(e);
			return;
		}
	}
	if (e->z == NULL)
		end_deflate(e);
}
