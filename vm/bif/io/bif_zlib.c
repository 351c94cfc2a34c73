/* SPDX-License-Identifier: Apache-2.0 */
/* The natives of the module zlib: a stream of deflate or inflate behind a magic ref, with a queue of input.
 * Invariant: only the controlling process uses a stream, so that nothing in it but `owner` needs guarding.
 * Source of arguments, results and errors: OTP 25's zlib.erl and its native library. */
#include <zlib.h>

#include "base/alloc.h"
#include "base/release.h"
#include "bif/bif.h"
#include "data/iolist.h"
#include "data/number.h"
#include "heap/copy.h"
#include "io/byte_queue.h"

enum { PEEK = 16, DICTIONARY_MAX = 1 << 15, CHUNK_DEFAULT = 4000, REDS_A_CHUNK = 400 };

enum stream_state { STREAM_NONE, STREAM_DEFLATE, STREAM_INFLATE, STREAM_CLOSED };
/* What more input behind the end of a compressed stream does; the numbers are zlib.erl's. */
enum end_rule { END_ERROR, END_RESET, END_CUT };

struct stream {
	struct resource resource; /* first */
	z_stream z;
	enum stream_state state;
	enum end_rule end_rule;
	bool is_raw, end_seen;
	bool sums_input, sums_output; /* raw streams have no checksum of their own */
	uLong input_sum, output_sum;
	int chunk_bytes;     /* inflateChunk's */
	_Atomic Term owner;  /* pid */
	struct byte_queue input;
	bool has_stash;
	Term stash;
	struct fragment *stash_words;
};

static void *take_memory(void *opaque, unsigned n, unsigned size)
{
	(void)opaque;
	return mem_try_alloc((size_t)n * size);
}

static void give_memory(void *opaque, void *memory)
{
	(void)opaque;
	mem_free(memory);
}

static void drop_stash(struct stream *s)
{
	if (s->stash_words != NULL)
		fragment_free(s->stash_words);
	s->stash_words = NULL;
	s->has_stash = false;
}

static void end_codec(struct stream *s)
{
	if (s->state == STREAM_DEFLATE)
		deflateEnd(&s->z);
	else if (s->state == STREAM_INFLATE)
		inflateEnd(&s->z);
	drop_stash(s);
	s->state = STREAM_CLOSED;
}

static void reset_input(struct stream *s)
{
	byte_queue_clear(&s->input);
	drop_stash(s);
}

static void release_stream(struct resource *r)
{
	struct stream *s = (struct stream *)r;

	end_codec(s);
	byte_queue_clear(&s->input);
	mem_free(s);
}

static const struct resource_type stream_type = { "zlib", release_stream };

/* Sets the exception of a caller that may not use the stream. Fails: NULL. */
static struct stream *get_stream(Process *p, Term t)
{
	struct stream *s = (struct stream *)resource_get(t, &stream_type);

	if (s == NULL) {
		exc_badarg(p);
		return NULL;
	}
	if (atomic_load(&s->owner) != p->id) {
		exc_error(p, am_not_on_controlling_process);
		return NULL;
	}
	return s;
}

static struct stream *get_stream_in(Process *p, Term t, enum stream_state state)
{
	struct stream *s = get_stream(p, t);

	if (s == NULL || s->state == state)
		return s;
	exc_error(p, am_not_initialized);
	return NULL;
}

/* The arguments as ints. Fails: false when one is none. */
static bool get_ints(const Term *args, int n, int *to)
{
	for (int i = 0; i < n; i++) {
		int64_t value;

		if (!num_get_int64(args[i], &value) || value < INT32_MIN || value > INT32_MAX)
			return false;
		to[i] = (int)value;
	}
	return true;
}

static Term make_result(Process *p, int code)
{
	switch (code) {
	case Z_OK: return am_ok;
	case Z_STREAM_END: return am_stream_end;
	case Z_STREAM_ERROR: return exc_error(p, am_stream_error);
	case Z_DATA_ERROR: return exc_error(p, am_data_error);
	case Z_MEM_ERROR: return am_mem_error;
	case Z_BUF_ERROR: return am_buf_error;
	case Z_VERSION_ERROR: return am_version_error;
	default: return am_unknown_error;
	}
}

Term bif_zlib_open_0(Process *p, Term *args)
{
	struct stream *s = mem_zalloc(sizeof(*s));
	Term ref;

	(void)args;
	resource_init(&s->resource, &stream_type);
	s->z.zalloc = take_memory;
	s->z.zfree = give_memory;
	s->end_rule = END_CUT;
	s->chunk_bytes = CHUNK_DEFAULT;
	atomic_init(&s->owner, p->id);
	byte_queue_init(&s->input);
	ref = resource_put(&p->heap, &s->resource);
	resource_unref(&s->resource);
	return ref;
}

Term bif_zlib_close_1(Process *p, Term *args)
{
	struct stream *s = get_stream(p, args[0]);

	if (s == NULL)
		return TERM_NONE;
	if (s->state == STREAM_CLOSED)
		return exc_error(p, am_not_initialized);
	end_codec(s);
	return am_ok;
}

Term bif_zlib_set_controller_2(Process *p, Term *args)
{
	struct stream *s;

	if (resource_get(args[0], &stream_type) == NULL || !term_is_local_pid(args[1]))
		return exc_badarg(p);
	s = get_stream(p, args[0]);
	if (s == NULL)
		return TERM_NONE;
	atomic_store(&s->owner, args[1]);
	return am_ok;
}

/* ---- the codecs */

/* Runs the codec over what is queued, at most about limit bytes of it, until out is full. Returns zlib's code. */
static int run_codec(struct stream *s, int (*codec)(z_stream *, int), size_t limit, int flush, size_t *consumed)
{
	int code = Z_OK;

	*consumed = 0;
	while (code == Z_OK && s->input.size_bytes > 0 && *consumed < limit && s->z.avail_out > 0) {
		uint8_t *bytes;
		size_t n, used;

		byte_queue_head(&s->input, &bytes, &n);
		n = n < limit ? n : limit;
		s->z.next_in = bytes;
		s->z.avail_in = (uInt)n;
		code = codec(&s->z, Z_NO_FLUSH);
		used = n - s->z.avail_in;
		if (s->sums_input)
			s->input_sum = crc32(s->input_sum, bytes, (uInt)used);
		*consumed += used;
		byte_queue_drop(&s->input, used);
	}
	if (code == Z_OK && s->input.size_bytes == 0 && s->z.avail_out > 0) {
		s->z.next_in = NULL;
		s->z.avail_in = 0;
		code = codec(&s->z, flush);
	}
	return code;
}

static Term put_sum(Process *p, uLong sum)
{
	return release_sums_are_unsigned() ? heap_uint(&p->heap, sum) : heap_int(&p->heap, (int)sum);
}

/* {finished | continue, Output} or {need_dictionary, Adler, Output}. sizes: of input and output chunks, and the
 * flush. */
static Term run_chunk(Process *p, struct stream *s, int (*codec)(z_stream *, int), const int *sizes)
{
	struct binary *out = sizes[0] > 0 && sizes[1] > 0 ? binary_new((size_t)sizes[1]) : NULL;
	size_t consumed, produced;
	Term output = NIL;
	int code;

	if (out == NULL)
		return make_result(p, Z_MEM_ERROR);
	s->z.next_out = out->data;
	s->z.avail_out = (uInt)sizes[1];
	code = run_codec(s, codec, (size_t)sizes[0], sizes[2], &consumed);
	produced = (size_t)sizes[1] - s->z.avail_out;
	process_bump(p, (int)((consumed + produced) * REDS_A_CHUNK / ((size_t)sizes[0] + (size_t)sizes[1])));
	if (code == Z_STREAM_END)
		s->end_seen = true;
	if (s->sums_output)
		s->output_sum = crc32(s->output_sum, out->data, (uInt)produced);
	if ((code < 0 && code != Z_BUF_ERROR) || (consumed == 0 && produced == 0 && s->input.size_bytes > 0)) {
		binary_unref(out);
		return make_result(p, code < 0 && code != Z_BUF_ERROR ? code : Z_DATA_ERROR);
	}
	if (produced > 0) {
		struct binary *shrunk = binary_resize(out, produced);

		output = heap_cons(&p->heap, binary_from_counted(&p->heap, shrunk != NULL ? shrunk : out, produced),
				   NIL);
	} else {
		binary_unref(out);
	}
	if (s->input.size_bytes == 0 && produced < (size_t)sizes[1])
		return heap_tuple(&p->heap, am_finished, output);
	if (code != Z_NEED_DICT)
		return heap_tuple(&p->heap, am_continue, output);
	return heap_tuple(&p->heap, am_need_dictionary, put_sum(p, s->z.adler), output);
}

static void begin(struct stream *s, enum stream_state state, int window_bits)
{
	s->state = state;
	s->end_seen = false;
	s->is_raw = window_bits < 0;
	s->sums_input = s->is_raw && state == STREAM_DEFLATE;
	s->sums_output = s->is_raw && state == STREAM_INFLATE;
	s->input_sum = s->output_sum = crc32(0, NULL, 0);
}

/* A stream that has no codec yet. */
static struct stream *get_unused(Process *p, const Term *args, int n, int *to)
{
	struct stream *s;

	if (resource_get(args[0], &stream_type) == NULL || !get_ints(args + 1, n, to)) {
		exc_badarg(p);
		return NULL;
	}
	s = get_stream(p, args[0]);
	if (s == NULL || s->state == STREAM_NONE)
		return s;
	exc_error(p, am_already_initialized);
	return NULL;
}

Term bif_zlib_deflate_init_6(Process *p, Term *args)
{
	int n[5], code;
	struct stream *s = get_unused(p, args, 5, n);

	if (s == NULL)
		return TERM_NONE;
	code = deflateInit2(&s->z, n[0], n[1], n[2], n[3], n[4]);
	if (code == Z_OK)
		begin(s, STREAM_DEFLATE, n[2]);
	return make_result(p, code);
}

Term bif_zlib_inflate_init_3(Process *p, Term *args)
{
	int n[2], code;
	struct stream *s = get_unused(p, args, 2, n);

	if (s == NULL)
		return TERM_NONE;
	code = inflateInit2(&s->z, n[0]);
	if (code == Z_OK) {
		begin(s, STREAM_INFLATE, n[0]);
		s->end_rule = (enum end_rule)n[1];
	}
	return make_result(p, code);
}

Term bif_zlib_deflate_4(Process *p, Term *args)
{
	int sizes[3];
	struct stream *s;

	if (resource_get(args[0], &stream_type) == NULL || !get_ints(args + 1, 3, sizes))
		return exc_badarg(p);
	s = get_stream_in(p, args[0], STREAM_DEFLATE);
	return s != NULL ? run_chunk(p, s, deflate, sizes) : TERM_NONE;
}

/* More input stands behind the end. */
static int follow_end(struct stream *s)
{
	int code = Z_OK;

	switch (s->end_rule) {
	case END_ERROR:
		return Z_DATA_ERROR;
	case END_RESET:
		code = inflateReset(&s->z);
		s->end_seen = code != Z_OK;
		return code;
	case END_CUT:
		reset_input(s);
		return code;
	}
	return code;
}

Term bif_zlib_inflate_4(Process *p, Term *args)
{
	int sizes[3], code;
	struct stream *s;

	if (resource_get(args[0], &stream_type) == NULL || !get_ints(args + 1, 3, sizes))
		return exc_badarg(p);
	s = get_stream_in(p, args[0], STREAM_INFLATE);
	if (s == NULL)
		return TERM_NONE;
	code = s->end_seen && s->input.size_bytes > 0 ? follow_end(s) : Z_OK;
	return code == Z_OK ? run_chunk(p, s, inflate, sizes) : make_result(p, code);
}

Term bif_zlib_deflate_reset_1(Process *p, Term *args)
{
	struct stream *s = get_stream_in(p, args[0], STREAM_DEFLATE);
	int code;

	if (s == NULL)
		return TERM_NONE;
	code = deflateReset(&s->z);
	s->input_sum = crc32(0, NULL, 0);
	s->end_seen = false;
	reset_input(s);
	return make_result(p, code);
}

Term bif_zlib_inflate_reset_1(Process *p, Term *args)
{
	struct stream *s = get_stream_in(p, args[0], STREAM_INFLATE);
	int code;

	if (s == NULL)
		return TERM_NONE;
	code = inflateReset(&s->z);
	s->output_sum = crc32(0, NULL, 0);
	s->end_seen = false;
	reset_input(s);
	return make_result(p, code);
}

static Term finish(Process *p, struct stream *s, int code, bool is_whole)
{
	if (code == Z_OK && (!is_whole || s->input.size_bytes > 0))
		code = Z_DATA_ERROR;
	reset_input(s);
	s->state = STREAM_NONE;
	return make_result(p, code);
}

Term bif_zlib_deflate_end_1(Process *p, Term *args)
{
	struct stream *s = get_stream_in(p, args[0], STREAM_DEFLATE);

	return s != NULL ? finish(p, s, deflateEnd(&s->z), true) : TERM_NONE;
}

Term bif_zlib_inflate_end_1(Process *p, Term *args)
{
	struct stream *s = get_stream_in(p, args[0], STREAM_INFLATE);

	return s != NULL ? finish(p, s, inflateEnd(&s->z), s->end_seen) : TERM_NONE;
}

/* zlib.erl has flushed what is pending. One byte of room tells when it had not. */
Term bif_zlib_deflate_params_3(Process *p, Term *args)
{
	int n[2], code;
	struct stream *s;
	Bytef room;

	if (resource_get(args[0], &stream_type) == NULL || !get_ints(args + 1, 2, n))
		return exc_badarg(p);
	s = get_stream_in(p, args[0], STREAM_DEFLATE);
	if (s == NULL)
		return TERM_NONE;
	s->z.next_out = &room;
	s->z.avail_out = 1;
	code = deflateParams(&s->z, n[0], n[1]);
	return make_result(p, s->z.avail_out == 0 ? Z_STREAM_ERROR : code);
}

/* ---- dictionaries, checksums */

Term bif_zlib_deflate_set_dictionary_2(Process *p, Term *args)
{
	size_t n;
	uint8_t *bytes = iolist_to_bytes(args[1], &n);
	Term result = TERM_NONE;
	struct stream *s;
	int code;

	if (bytes == NULL || resource_get(args[0], &stream_type) == NULL) {
		mem_free(bytes);
		return exc_badarg(p);
	}
	s = get_stream_in(p, args[0], STREAM_DEFLATE);
	if (s != NULL) {
		code = deflateSetDictionary(&s->z, bytes, (uInt)n);
		result = code != Z_OK ? make_result(p, code)
				      : put_sum(p, s->is_raw ? adler32(0, bytes, (uInt)n) : s->z.adler);
	}
	mem_free(bytes);
	return result;
}

Term bif_zlib_inflate_set_dictionary_2(Process *p, Term *args)
{
	size_t n;
	uint8_t *bytes = iolist_to_bytes(args[1], &n);
	Term result = TERM_NONE;
	struct stream *s;

	if (bytes == NULL || resource_get(args[0], &stream_type) == NULL) {
		mem_free(bytes);
		return exc_badarg(p);
	}
	s = get_stream_in(p, args[0], STREAM_INFLATE);
	if (s != NULL)
		result = make_result(p, inflateSetDictionary(&s->z, bytes, (uInt)n));
	mem_free(bytes);
	return result;
}

Term bif_zlib_inflate_get_dictionary_1(Process *p, Term *args)
{
	struct stream *s = get_stream_in(p, args[0], STREAM_INFLATE);
	uint8_t dictionary[DICTIONARY_MAX];
	uInt n = 0;
	int code;

	if (s == NULL)
		return TERM_NONE;
	code = inflateGetDictionary(&s->z, dictionary, &n);
	return code < 0 ? make_result(p, code) : binary_put(&p->heap, dictionary, n);
}

Term bif_zlib_crc32_1(Process *p, Term *args)
{
	const struct stream *s = get_stream(p, args[0]);

	if (s == NULL)
		return TERM_NONE;
	if (s->state == STREAM_DEFLATE)
		return heap_uint(&p->heap, s->input_sum);
	if (s->state == STREAM_INFLATE)
		return heap_uint(&p->heap, s->output_sum);
	return exc_error(p, am_not_initialized);
}

/* ---- the stash: one term that stays between calls */

Term bif_zlib_get_stash_1(Process *p, Term *args)
{
	const struct stream *s = get_stream(p, args[0]);

	if (s == NULL)
		return TERM_NONE;
	if (!s->has_stash)
		return am_empty_word;
	return heap_tuple(&p->heap, am_ok, copy_to_heap(s->stash, &p->heap));
}

Term bif_zlib_clear_stash_1(Process *p, Term *args)
{
	struct stream *s = get_stream(p, args[0]);

	if (s == NULL)
		return TERM_NONE;
	if (!s->has_stash)
		return exc_error(p, am_error);
	drop_stash(s);
	return am_ok;
}

Term bif_zlib_set_stash_2(Process *p, Term *args)
{
	struct stream *s = get_stream(p, args[0]);

	if (s == NULL)
		return TERM_NONE;
	if (s->has_stash)
		return exc_error(p, am_error);
	s->stash_words = copy_to_fragment(args[1], &s->stash);
	s->has_stash = true;
	return am_ok;
}

Term bif_zlib_get_buf_size_1(Process *p, Term *args)
{
	const struct stream *s = get_stream(p, args[0]);

	return s != NULL ? heap_int(&p->heap, s->chunk_bytes) : TERM_NONE;
}

Term bif_zlib_set_buf_size_2(Process *p, Term *args)
{
	struct stream *s = get_stream(p, args[0]);

	if (s == NULL)
		return TERM_NONE;
	return get_ints(args + 1, 1, &s->chunk_bytes) ? am_ok : exc_badarg(p);
}

/* ---- input */

static bool enqueue(struct byte_queue *q, Term t)
{
	uint8_t *scratch = NULL;
	const uint8_t *bytes;
	struct binary *shared;
	size_t n;
	bool ok;

	if (!term_is_bitstring(t) || !term_is_binary(t))
		return false;
	shared = binary_share(t, &bytes, &n);
	if (shared != NULL) {
		if (n > 0)
			byte_queue_put_binary(q, shared, bytes, n);
		binary_unref(shared);
		return true;
	}
	bytes = binary_bytes(t, &n, &scratch);
	ok = n == 0 || byte_queue_put(q, bytes, n);
	mem_free(scratch);
	return ok;
}

Term bif_zlib_enqueue_2(Process *p, Term *args)
{
	struct stream *s = get_stream(p, args[0]);
	Term list = args[1];

	if (s == NULL)
		return TERM_NONE;
	if (s->state != STREAM_DEFLATE && s->state != STREAM_INFLATE)
		return exc_error(p, am_not_initialized);
	for (; term_is_cons(list); list = cons_tail(list)) {
		if (!enqueue(&s->input, cons_head(list)))
			return exc_badarg(p);
		process_bump(p, 1);
	}
	return list == NIL ? am_ok : exc_badarg(p);
}
