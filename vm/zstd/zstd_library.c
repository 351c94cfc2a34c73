/* SPDX-License-Identifier: Apache-2.0 */
/* The native functions of zstd: contexts that compress or decompress, and dictionaries that they share.
 * Invariant: only the process that made a context uses it. It waits while a call of its own is on a dirty scheduler, so
 * nothing in a context needs guarding. Dictionaries do not change.
 * Source of arguments, results and errors: stdlib's zstd.erl of OTP 29 and its native library. */
#define ZSTD_STATIC_LINKING_ONLY /* for memory of ours, what parameters are, and frames' headers */
#include <stdbool.h>
#include <string.h>
#include <zstd.h>

#include "base/alloc.h"
#include "data/binary.h"
#include "data/map.h"
#include "data/number.h"
#include "nif/nif_api.h"
#include "nif/nif_env.h"
#include "term/atom.h"
#include "zstd/zstd_library.h"

#define COUNT_OF(array) (sizeof(array) / sizeof((array)[0]))
/* More bytes than these are compressed or decompressed by a dirty scheduler. */
enum { BYTES_AT_ONCE = 64 << 10, BYTES_A_PERCENT = 1 << 10 };

/* What compressing and decompressing have in common goes by the kind. */
enum kind { COMPRESS, DECOMPRESS, KINDS };

struct dict {
	void *library;       /* ZSTD_CDict or ZSTD_DDict */
};

struct context {
	void *library;       /* ZSTD_CCtx or ZSTD_DCtx; NULL: it is closed */
	Term owner;
	struct dict *dict;   /* held; NULL: none that is shared */
	bool is_in_use;      /* it has been given bytes since it was reset */
};

static struct nif_type *context_types[KINDS], *dict_types[KINDS];

/* ---- memory */

static void *take_memory(void *opaque, size_t bytes)
{
	(void)opaque;
	return mem_try_alloc(bytes);
}

static void give_memory(void *opaque, void *memory)
{
	(void)opaque;
	mem_free(memory);
}

static const ZSTD_customMem memory = { take_memory, give_memory, NULL };

/* ---- errors: the caller returns what these do */

static Term raise_badarg(struct nif_env *env, Term why, Term what)
{
	return enif_raise_exception(env, heap_tuple(env->heap, am_badarg, heap_tuple(env->heap, why, what)));
}

/* {zstd_error, Text} */
static Term raise_code(struct nif_env *env, size_t code)
{
	const char *text = ZSTD_getErrorName(code);

	return enif_raise_exception(env, heap_tuple(env->heap, am_zstd_error,
						    binary_put(env->heap, (const uint8_t *)text, strlen(text))));
}

static Term ok_or_raise(struct nif_env *env, size_t code)
{
	return ZSTD_isError(code) ? raise_code(env, code) : (Term)am_ok;
}

/* ---- contexts */

static struct dict *get_dict(struct nif_env *env, enum kind k, Term t)
{
	void *object;

	return enif_get_resource(env, t, dict_types[k], &object) ? object : NULL;
}

/* Fails: NULL; the exception is set. */
static struct context *get_context(struct nif_env *env, enum kind k, Term t)
{
	struct context *c;
	struct nif_pid self;
	void *object;

	if (!enif_get_resource(env, t, context_types[k], &object) || ((struct context *)object)->library == NULL) {
		enif_make_badarg(env);
		return NULL;
	}
	c = object;
	if (enif_self(env, &self) != NULL && self.pid == c->owner)
		return c;
	enif_raise_exception(env, am_not_on_controlling_process);
	return NULL;
}

static void share_dict(struct context *c, struct dict *d)
{
	if (d != NULL)
		enif_keep_resource(d);
	if (c->dict != NULL)
		enif_release_resource(c->dict);
	c->dict = d;
}

static void close_context(struct context *c, enum kind k)
{
	if (c->library == NULL)
		return;
	if (k == COMPRESS)
		ZSTD_freeCCtx(c->library);
	else
		ZSTD_freeDCtx(c->library);
	c->library = NULL;
	share_dict(c, NULL);
}

static void reset_context(struct context *c, enum kind k)
{
	if (k == COMPRESS)
		ZSTD_CCtx_reset(c->library, ZSTD_reset_session_only);
	else
		ZSTD_DCtx_reset(c->library, ZSTD_reset_session_only);
	c->is_in_use = false;
}

static Term make_context(struct nif_env *env, enum kind k)
{
	void *library = k == COMPRESS ? (void *)ZSTD_createCCtx_advanced(memory) : ZSTD_createDCtx_advanced(memory);
	struct context *c;
	struct nif_pid self;
	Term t;

	if (library == NULL)
		return enif_raise_exception(env, am_system_limit);
	c = enif_alloc_resource(context_types[k], sizeof(*c));
	*c = (struct context){ .library = library, .owner = enif_self(env, &self)->pid };
	t = enif_make_resource(env, c);
	enif_release_resource(c);
	return t;
}

/* ---- dictionaries */

static Term make_dict(struct nif_env *env, enum kind k, void *library, Term otherwise)
{
	struct dict *d;
	Term t;

	if (library == NULL)
		return heap_tuple(env->heap, am_error, otherwise);
	d = enif_alloc_resource(dict_types[k], sizeof(*d));
	d->library = library;
	t = enif_make_resource(env, d);
	enif_release_resource(d);
	return t;
}

static Term make_compress_dict(struct nif_env *env, int argc, const Term *argv)
{
	struct nif_binary b;
	int level;

	(void)argc;
	if (!enif_inspect_binary(env, argv[0], &b) || !enif_get_int(env, argv[1], &level))
		return enif_make_badarg(env);
	return make_dict(env, COMPRESS,
			 ZSTD_createCDict_advanced(b.data, b.size, ZSTD_dlm_byCopy, ZSTD_dct_auto,
						   ZSTD_getCParams(level, 0, b.size), memory),
			 am_invalid_compress_dict);
}

static Term make_decompress_dict(struct nif_env *env, int argc, const Term *argv)
{
	struct nif_binary b;

	(void)argc;
	if (!enif_inspect_binary(env, argv[0], &b))
		return enif_make_badarg(env);
	return make_dict(env, DECOMPRESS,
			 ZSTD_createDDict_advanced(b.data, b.size, ZSTD_dlm_byCopy, ZSTD_dct_auto, memory),
			 am_invalid_decompress_dict);
}

static void free_compress_dict(struct nif_env *env, void *object)
{
	(void)env;
	ZSTD_freeCDict(((struct dict *)object)->library);
}

static void free_decompress_dict(struct nif_env *env, void *object)
{
	(void)env;
	ZSTD_freeDDict(((struct dict *)object)->library);
}

/* A dictionary of the context's own, of the bytes. */
static Term load_dict(struct nif_env *env, enum kind k, const Term *argv)
{
	struct context *c = get_context(env, k, argv[0]);
	struct nif_binary b;
	size_t code;

	if (c == NULL)
		return TERM_NONE;
	if (!enif_inspect_iolist_as_binary(env, argv[1], &b))
		return enif_make_badarg(env);
	code = k == COMPRESS ? ZSTD_CCtx_loadDictionary(c->library, b.data, b.size)
			     : ZSTD_DCtx_loadDictionary(c->library, b.data, b.size);
	if (!ZSTD_isError(code))
		share_dict(c, NULL);
	return ok_or_raise(env, code);
}

/* One that is shared. */
static Term use_dict(struct nif_env *env, enum kind k, const Term *argv)
{
	struct context *c = get_context(env, k, argv[0]);
	struct dict *d = get_dict(env, k, argv[1]);
	size_t code;

	if (c == NULL)
		return TERM_NONE;
	if (d == NULL)
		return enif_make_badarg(env);
	code = k == COMPRESS ? ZSTD_CCtx_refCDict(c->library, d->library) : ZSTD_DCtx_refDDict(c->library, d->library);
	if (!ZSTD_isError(code))
		share_dict(c, d);
	return ok_or_raise(env, code);
}

static Term compress_dict_id(struct nif_env *env, int argc, const Term *argv)
{
	const struct dict *d = get_dict(env, COMPRESS, argv[0]);

	(void)argc;
	return d != NULL ? heap_uint(env->heap, ZSTD_getDictID_fromCDict(d->library)) : enif_make_badarg(env);
}

static Term decompress_dict_id(struct nif_env *env, int argc, const Term *argv)
{
	const struct dict *d = get_dict(env, DECOMPRESS, argv[0]);

	(void)argc;
	return d != NULL ? heap_uint(env->heap, ZSTD_getDictID_fromDDict(d->library)) : enif_make_badarg(env);
}

static Term dict_id_of(struct nif_env *env, Term t, unsigned (*ask)(const void *bytes, size_t n))
{
	struct nif_binary b;

	if (!enif_inspect_iolist_as_binary(env, t, &b))
		return enif_make_badarg(env);
	return heap_uint(env->heap, ask(b.data, b.size));
}

static Term bytes_dict_id(struct nif_env *env, int argc, const Term *argv)
{
	(void)argc;
	return dict_id_of(env, argv[0], ZSTD_getDictID_fromDict);
}

static Term frame_dict_id(struct nif_env *env, int argc, const Term *argv)
{
	(void)argc;
	return dict_id_of(env, argv[0], ZSTD_getDictID_fromFrame);
}

/* ---- parameters */

enum value_kind { NUMBER, TRUTH, STRATEGY };

static const struct parameter {
	Term name;
	int number;          /* ZSTD_cParameter or ZSTD_dParameter */
	enum value_kind kind;
} compress_parameters[] = {
	{ am_compressionLevel, ZSTD_c_compressionLevel, NUMBER },
	{ am_windowLog, ZSTD_c_windowLog, NUMBER },
	{ am_hashLog, ZSTD_c_hashLog, NUMBER },
	{ am_chainLog, ZSTD_c_chainLog, NUMBER },
	{ am_searchLog, ZSTD_c_searchLog, NUMBER },
	{ am_minMatch, ZSTD_c_minMatch, NUMBER },
	{ am_targetLength, ZSTD_c_targetLength, NUMBER },
	{ am_strategy, ZSTD_c_strategy, STRATEGY },
	{ am_targetCBlockSize, ZSTD_c_targetCBlockSize, NUMBER },
	{ am_enableLongDistanceMatching, ZSTD_c_enableLongDistanceMatching, TRUTH },
	{ am_ldmHashLog, ZSTD_c_ldmHashLog, NUMBER },
	{ am_ldmMinMatch, ZSTD_c_ldmMinMatch, NUMBER },
	{ am_ldmBucketSizeLog, ZSTD_c_ldmBucketSizeLog, NUMBER },
	{ am_ldmHashRateLog, ZSTD_c_ldmHashRateLog, NUMBER },
	{ am_contentSizeFlag, ZSTD_c_contentSizeFlag, TRUTH },
	{ am_checksumFlag, ZSTD_c_checksumFlag, TRUTH },
	{ am_dictIDFlag, ZSTD_c_dictIDFlag, TRUTH },
}, decompress_parameters[] = {
	{ am_windowLogMax, ZSTD_d_windowLogMax, NUMBER },
};
static const struct { const struct parameter *first; size_t count; } parameters[KINDS] = {
	[COMPRESS] = { compress_parameters, COUNT_OF(compress_parameters) },
	[DECOMPRESS] = { decompress_parameters, COUNT_OF(decompress_parameters) },
};

/* By their numbers: 0 is what the level says. */
static const Term strategies[] = { am_default, am_fast,    am_dfast, am_greedy,  am_lazy,
				   am_lazy2,   am_btlazy2, am_btopt, am_btultra, am_btultra2 };

/* Fails: NULL; the exception is set. */
static const struct parameter *find_parameter(struct nif_env *env, enum kind k, Term name)
{
	for (size_t i = 0; i < parameters[k].count; i++)
		if (parameters[k].first[i].name == name)
			return &parameters[k].first[i];
	raise_badarg(env, am_invalid_key, name);
	return NULL;
}

static bool get_value(struct nif_env *env, enum value_kind kind, Term t, int *to)
{
	switch (kind) {
	case NUMBER:
		return enif_get_int(env, t, to);
	case TRUTH:
		*to = t == am_true;
		return t == am_true || t == am_false;
	case STRATEGY:
		for (size_t i = 0; i < COUNT_OF(strategies); i++)
			if (strategies[i] == t) {
				*to = (int)i;
				return true;
			}
		return false;
	}
	return false;
}

static Term put_value(struct nif_env *env, enum value_kind kind, int n)
{
	switch (kind) {
	case NUMBER:
		return heap_int(env->heap, n);
	case TRUTH:
		return term_from_bool(n != 0);
	case STRATEGY:
		return n >= 0 && (size_t)n < COUNT_OF(strategies) ? strategies[n] : enif_make_badarg(env);
	}
	return TERM_NONE;
}

static Term set_compress(struct nif_env *env, int argc, const Term *argv)
{
	struct context *c = get_context(env, COMPRESS, argv[0]);
	const struct parameter *p = c != NULL ? find_parameter(env, COMPRESS, argv[1]) : NULL;
	int n;

	(void)argc;
	if (p == NULL)
		return TERM_NONE;
	if (!get_value(env, p->kind, argv[2], &n))
		return raise_badarg(env, am_invalid_value, argv[2]);
	return ok_or_raise(env, ZSTD_CCtx_setParameter(c->library, (ZSTD_cParameter)p->number, n));
}

static Term set_decompress(struct nif_env *env, int argc, const Term *argv)
{
	struct context *c = get_context(env, DECOMPRESS, argv[0]);
	const struct parameter *p;
	int n;

	(void)argc;
	if (c == NULL)
		return TERM_NONE;
	if (!enif_get_int(env, argv[2], &n))
		return enif_make_badarg(env);
	p = find_parameter(env, DECOMPRESS, argv[1]);
	return p != NULL ? ok_or_raise(env, ZSTD_DCtx_setParameter(c->library, (ZSTD_dParameter)p->number, n))
			 : TERM_NONE;
}

static Term tell_parameter(struct nif_env *env, enum kind k, const Term *argv)
{
	struct context *c = get_context(env, k, argv[0]);
	const struct parameter *p = c != NULL ? find_parameter(env, k, argv[1]) : NULL;
	size_t code;
	int n = 0;

	if (p == NULL)
		return TERM_NONE;
	code = k == COMPRESS ? ZSTD_CCtx_getParameter(c->library, (ZSTD_cParameter)p->number, &n)
			     : ZSTD_DCtx_getParameter(c->library, (ZSTD_dParameter)p->number, &n);
	return ZSTD_isError(code) ? raise_code(env, code) : put_value(env, p->kind, n);
}

static Term pledge_size(struct nif_env *env, int argc, const Term *argv)
{
	struct context *c = get_context(env, COMPRESS, argv[0]);
	uint64_t n;

	(void)argc;
	if (c == NULL)
		return TERM_NONE;
	if (!num_get_uint64(argv[1], &n))
		return enif_make_badarg(env);
	return ok_or_raise(env, ZSTD_CCtx_setPledgedSrcSize(c->library, n));
}

/* ---- streams */

static size_t run_codec(struct context *c, enum kind k, ZSTD_outBuffer *out, ZSTD_inBuffer *in, int flush)
{
	if (k == COMPRESS)
		return ZSTD_compressStream2(c->library, out, in, (ZSTD_EndDirective)flush);
	return ZSTD_decompressStream(c->library, out, in);
}

/* At the beginning of what is to be decompressed its whole length may be known, and be less than a chunk. */
static size_t choose_chunk(struct context *c, enum kind k, const struct nif_binary *b)
{
	size_t chunk = k == COMPRESS ? ZSTD_CStreamOutSize() : ZSTD_DStreamOutSize();
	unsigned long long whole;

	if (k == COMPRESS || c->is_in_use)
		return chunk;
	whole = ZSTD_findDecompressedSize(b->data, b->size);
	return whole == 0 ? 1 : whole < chunk ? (size_t)whole : chunk; /* what is no length is a large number */
}

static Term take_output(struct nif_env *env, struct nif_binary *b, size_t n)
{
	if (n > 0 && enif_realloc_binary(b, n))
		return enif_make_binary(env, b);
	enif_release_binary(b);
	return n == 0 ? binary_put(env->heap, b->data, 0) : enif_raise_exception(env, am_error);
}

/* {done | flush | continue, Output} or {continue, Rest, Output}. flush: there is more output than there was room. */
static Term put_chunk(struct nif_env *env, Term input, const ZSTD_inBuffer *in, int flush, bool has_more, Term output)
{
	struct heap *h = env->heap;

	if (output == TERM_NONE)
		return TERM_NONE;
	if (in->pos < in->size)
		return heap_tuple(h, am_continue, enif_make_sub_binary(env, input, in->pos, in->size - in->pos),
				  output);
	return heap_tuple(h, flush == ZSTD_e_continue ? am_continue : has_more ? am_flush : am_done, output);
}

static Term run_chunk(struct nif_env *env, struct context *c, enum kind k, Term input, int flush)
{
	struct nif_binary from, to;
	ZSTD_inBuffer in;
	ZSTD_outBuffer out;
	size_t code;

	if (!enif_inspect_binary(env, input, &from) || !enif_alloc_binary(choose_chunk(c, k, &from), &to))
		return enif_make_badarg(env);
	c->is_in_use = true;
	in = (ZSTD_inBuffer){ from.data, from.size, 0 };
	out = (ZSTD_outBuffer){ to.data, to.size, 0 };
	do
		code = run_codec(c, k, &out, &in, flush);
	while (!ZSTD_isError(code) && in.pos < in.size && out.pos < out.size);
	if (ZSTD_isError(code)) {
		enif_release_binary(&to);
		reset_context(c, k);
		return raise_code(env, code);
	}
	enif_consume_timeslice(env, in.pos < 100 * BYTES_A_PERCENT ? (int)(in.pos / BYTES_A_PERCENT) : 100);
	return put_chunk(env, input, &in, flush, out.pos == out.size && code > 0, take_output(env, &to, out.pos));
}

/* argv: the context, a binary, what to do at its end: ZSTD_EndDirective. */
static Term stream_with(struct nif_env *env, enum kind k, const Term *argv)
{
	struct context *c = get_context(env, k, argv[0]);
	int flush;

	if (c == NULL)
		return TERM_NONE;
	if (!enif_get_int(env, argv[2], &flush) || flush < ZSTD_e_continue || flush > ZSTD_e_end)
		return enif_make_badarg(env);
	return run_chunk(env, c, k, argv[1], flush);
}

static bool is_long(Term t)
{
	return term_is_binary(t) && binary_size_bytes(t) > BYTES_AT_ONCE;
}

static Term compress_now(struct nif_env *env, int argc, const Term *argv)
{
	(void)argc;
	return stream_with(env, COMPRESS, argv);
}

static Term compress_stream(struct nif_env *env, int argc, const Term *argv)
{
	if (!is_long(argv[1]))
		return compress_now(env, argc, argv);
	return enif_schedule_nif(env, "compress_stream_nif", NIF_DIRTY_CPU, compress_now, argc, argv);
}

static Term decompress_now(struct nif_env *env, int argc, const Term *argv)
{
	(void)argc;
	return stream_with(env, DECOMPRESS, argv);
}

static Term decompress_stream(struct nif_env *env, int argc, const Term *argv)
{
	if (!is_long(argv[1]))
		return decompress_now(env, argc, argv);
	return enif_schedule_nif(env, "decompress_stream_nif", NIF_DIRTY_CPU, decompress_now, argc, argv);
}

/* ---- frames */

/* Of bytes that are too few to tell, a header of zeros; OTP's shows what was in memory. */
static Term frame_header(struct nif_env *env, int argc, const Term *argv)
{
	static const Term keys[] = { am_frameContentSize, am_windowSize, am_blockSizeMax, am_frameType,
				     am_headerSize, am_dictID, am_checksumFlag };
	union {
		ZSTD_frameHeader is;
		char room[128]; /* a later library's may be longer */
	} header;
	const ZSTD_frameHeader *f = &header.is;
	struct heap *h = env->heap;
	struct nif_binary b;
	size_t code;

	(void)argc;
	memset(&header, 0, sizeof(header));
	if (!enif_inspect_iolist_as_binary(env, argv[0], &b))
		return enif_make_badarg(env);
	code = ZSTD_getFrameHeader(&header.is, b.data, b.size);
	if (ZSTD_isError(code))
		return raise_code(env, code);
	return heap_tuple(h, am_ok,
			  map_from_atoms(h, COUNT_OF(keys), keys,
					 (Term[]){ f->frameContentSize == ZSTD_CONTENTSIZE_UNKNOWN ?
							   (Term)am_undefined :
							   heap_uint(h, f->frameContentSize),
						   heap_uint(h, f->windowSize), heap_uint(h, f->blockSizeMax),
						   f->frameType == ZSTD_frame ? am_ZSTD_frame : am_ZSTD_skippableFrame,
						   heap_uint(h, f->headerSize), heap_uint(h, f->dictID),
						   term_from_bool(f->checksumFlag != 0) }));
}

/* ---- the table: of what both kinds have, a function for each */

#define BOTH(name, with)                                                                     \
	static Term compress_##name(struct nif_env *env, int argc, const Term *argv)         \
	{                                                                                    \
		(void)argc;                                                                  \
		return with(env, COMPRESS, argv);                                            \
	}                                                                                    \
	static Term decompress_##name(struct nif_env *env, int argc, const Term *argv)       \
	{                                                                                    \
		(void)argc;                                                                  \
		return with(env, DECOMPRESS, argv);                                          \
	}

static Term make_with(struct nif_env *env, enum kind k, const Term *argv)
{
	(void)argv;
	return make_context(env, k);
}

static Term reset_with(struct nif_env *env, enum kind k, const Term *argv)
{
	struct context *c = get_context(env, k, argv[0]);

	if (c == NULL)
		return TERM_NONE;
	reset_context(c, k);
	return am_ok;
}

static Term close_with(struct nif_env *env, enum kind k, const Term *argv)
{
	struct context *c = get_context(env, k, argv[0]);

	if (c == NULL)
		return TERM_NONE;
	close_context(c, k);
	return am_ok;
}

BOTH(init, make_with)
BOTH(load_dict, load_dict)
BOTH(use_dict, use_dict)
BOTH(tell, tell_parameter)
BOTH(reset, reset_with)
BOTH(close, close_with)

static void free_compress(struct nif_env *env, void *object)
{
	(void)env;
	close_context(object, COMPRESS);
}

static void free_decompress(struct nif_env *env, void *object)
{
	(void)env;
	close_context(object, DECOMPRESS);
}

static int load(struct nif_env *env, void **data, Term load_info)
{
	const struct {
		struct nif_type **type;
		const char *name;
		void (*dtor)(struct nif_env *env, void *object);
	} types[] = {
		{ &context_types[COMPRESS], "ZstdCompressContext", free_compress },
		{ &context_types[DECOMPRESS], "ZstdDecompressContext", free_decompress },
		{ &dict_types[COMPRESS], "ZstdCompressDict", free_compress_dict },
		{ &dict_types[DECOMPRESS], "ZstdDecompressDict", free_decompress_dict },
	};

	(void)data;
	(void)load_info;
	for (size_t i = 0; i < COUNT_OF(types); i++) {
		struct nif_type_init calls = { .dtor = types[i].dtor, .members = 1 };

		*types[i].type = enif_open_resource_type_x(env, types[i].name, &calls,
							   NIF_TYPE_CREATE | NIF_TYPE_TAKEOVER, NULL);
		if (*types[i].type == NULL)
			return 1;
	}
	return 0;
}

static int upgrade(struct nif_env *env, void **data, void **old_data, Term load_info)
{
	(void)old_data;
	return load(env, data, load_info);
}

static struct nif_entry_function functions[] = {
	{ "init_compress_nif", 0, compress_init, 0 },
	{ "load_compress_dictionary_nif", 2, compress_load_dict, 0 },
	{ "ref_compress_dictionary_nif", 2, compress_use_dict, 0 },
	{ "set_compress_parameter_nif", 3, set_compress, 0 },
	{ "get_compress_parameter_nif", 2, compress_tell, 0 },
	{ "set_pledged_src_size_nif", 2, pledge_size, 0 },
	{ "compress_stream_nif", 3, compress_stream, 0 },
	{ "compress_reset_nif", 1, compress_reset, 0 },
	{ "compress_close_nif", 1, compress_close, 0 },
	{ "init_decompress_nif", 0, decompress_init, 0 },
	{ "load_decompress_dictionary_nif", 2, decompress_load_dict, 0 },
	{ "ref_decompress_dictionary_nif", 2, decompress_use_dict, 0 },
	{ "set_decompress_parameter_nif", 3, set_decompress, 0 },
	{ "get_decompress_parameter_nif", 2, decompress_tell, 0 },
	{ "decompress_stream_nif", 3, decompress_stream, 0 },
	{ "decompress_reset_nif", 1, decompress_reset, 0 },
	{ "decompress_close_nif", 1, decompress_close, 0 },
	{ "create_cdict_nif", 2, make_compress_dict, 0 },
	{ "create_ddict_nif", 1, make_decompress_dict, 0 },
	{ "getDictId_fromCDict_nif", 1, compress_dict_id, 0 },
	{ "getDictId_fromDDict_nif", 1, decompress_dict_id, 0 },
	{ "getDictId_fromDict_nif", 1, bytes_dict_id, 0 },
	{ "getDictId_fromFrame_nif", 1, frame_dict_id, 0 },
	{ "get_frame_header_nif", 1, frame_header, 0 },
};

const struct nif_entry zstd_zstd = {
	.major = NIF_MAJOR, .minor = NIF_LINKED_MINOR, .name = "zstd", .function_count = COUNT_OF(functions),
	.functions = functions, .load = load, .upgrade = upgrade, .vm_variant = NIF_VM_VARIANT, .options = 1,
	.type_init_bytes = sizeof(struct nif_type_init), .oldest_erts = "erts-14.0",
};
