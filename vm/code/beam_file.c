/* SPDX-License-Identifier: Apache-2.0 */
/* A .beam file's chunks. Invariant: nothing is read outside the file's bytes; memory taken grows only with them
 * (what is compressed may grow by DEFLATE's own limit, about 1,032 to 1). */
#include "code/beam_file.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <zlib.h>

#include "base/alloc.h"
#include "base/md5.h"
#include "base/release.h"
#include "code/beam_parse.h"
#include "data/etf.h"
#include "heap/copy.h"

enum {
	DEFLATE_RATIO_MAX = 1040,
	INFLATE_MAX_BYTES = 1 << 28,
	ARITY_MAX = 255,
	LINE_LIMIT = 0xffffff
};

/* ---- chunks of the form */

const uint8_t *beam_file_chunk(const uint8_t *bytes, size_t n, const char id[4], size_t *size)
{
	struct reader r = { bytes, bytes + n, false };
	const uint8_t *form = reader_bytes(&r, 4);
	uint32_t form_bytes = reader_u32(&r);
	const uint8_t *kind = reader_bytes(&r, 4);

	if (r.bad || memcmp(form, "FOR1", 4) != 0 || memcmp(kind, "BEAM", 4) != 0 || form_bytes < 4 ||
	    form_bytes - 4 > reader_left(&r))
		return NULL;
	r.end = r.at + form_bytes - 4;
	while (reader_left(&r) > 0) {
		const uint8_t *name = reader_bytes(&r, 4);
		uint32_t length = reader_u32(&r);
		const uint8_t *data = reader_bytes(&r, length);

		if (r.bad)
			return NULL;
		if (memcmp(name, id, 4) == 0) {
			*size = length;
			return data;
		}
		if (reader_left(&r) > 0)
			reader_bytes(&r, (0u - length) & 3);
	}
	return NULL;
}

/* Every chunk's frame must be sound, wanted or not. */
static bool check_form(struct beam_parse *p, const uint8_t *bytes, size_t n)
{
	struct reader r = { bytes, bytes + n, false };
	uint32_t form_bytes;

	if (n < 12 || memcmp(bytes, "FOR1", 4) != 0 || memcmp(bytes + 8, "BEAM", 4) != 0)
		return beam_parse_fail(p, "no BEAM file");
	reader_bytes(&r, 4);
	form_bytes = reader_u32(&r);
	reader_bytes(&r, 4);
	if (form_bytes < 4 || form_bytes - 4 > reader_left(&r))
		return beam_parse_fail(p, "cut off: %zu bytes, its header says %u", n, form_bytes + 8);
	r.end = r.at + form_bytes - 4;
	while (reader_left(&r) > 0) {
		uint32_t length;

		reader_bytes(&r, 4);
		length = reader_u32(&r);
		reader_bytes(&r, length);
		if (reader_left(&r) > 0)
			reader_bytes(&r, (0u - length) & 3);
		if (r.bad)
			return beam_parse_fail(p, "a chunk is cut off");
	}
	return true;
}

struct chunks {
	struct reader atoms, code, strings, imports, exports, lambdas, literals, locals, attributes, compile, lines,
		meta, types, records, debug;
	bool latin1;         /* the atoms */
};

static struct reader find_chunk(const uint8_t *bytes, size_t n, const char *id)
{
	size_t size = 0;
	const uint8_t *data = beam_file_chunk(bytes, n, id, &size);

	return (struct reader){ data, data != NULL ? data + size : NULL, false };
}

static void find_chunks(struct chunks *c, const uint8_t *bytes, size_t n)
{
	c->atoms = find_chunk(bytes, n, "AtU8");
	c->latin1 = c->atoms.at == NULL;
	if (c->latin1)
		c->atoms = find_chunk(bytes, n, "Atom");
	c->code = find_chunk(bytes, n, "Code");
	c->strings = find_chunk(bytes, n, "StrT");
	c->imports = find_chunk(bytes, n, "ImpT");
	c->exports = find_chunk(bytes, n, "ExpT");
	c->lambdas = find_chunk(bytes, n, "FunT");
	c->literals = find_chunk(bytes, n, "LitT");
	c->locals = find_chunk(bytes, n, "LocT");
	c->attributes = find_chunk(bytes, n, "Attr");
	c->compile = find_chunk(bytes, n, "CInf");
	c->lines = find_chunk(bytes, n, "Line");
	c->meta = find_chunk(bytes, n, "Meta");
	c->types = find_chunk(bytes, n, "Type");
	c->records = find_chunk(bytes, n, "Recs");
	c->debug = find_chunk(bytes, n, "DbgB");
}

static void md5_chunk(struct md5 *m, const struct reader *r)
{
	md5_update(m, r->at, reader_left(r));
}

/* The checksum leaves out each lambda's old uniq (its last four bytes), which is made from the checksum. */
static void compute_md5(const struct chunks *c, uint8_t digest[MD5_BYTES])
{
	static const uint8_t zero[4];
	struct reader r = c->lambdas;
	const uint8_t *count = reader_bytes(&r, 4);
	struct md5 m;

	md5_init(&m);
	md5_chunk(&m, &c->atoms);
	md5_chunk(&m, &c->code);
	md5_chunk(&m, &c->strings);
	md5_chunk(&m, &c->imports);
	md5_chunk(&m, &c->exports);
	if (count != NULL)
		md5_update(&m, count, 4);
	while (reader_left(&r) >= 24) {
		md5_update(&m, reader_bytes(&r, 20), 20);
		md5_update(&m, zero, 4);
		reader_bytes(&r, 4);
	}
	md5_chunk(&m, &c->literals);
	md5_chunk(&m, &c->meta);
	md5_chunk(&m, &c->records);
	md5_chunk(&m, &c->debug);
	md5_final(&m, digest);
}

bool beam_file_md5(const uint8_t *bytes, size_t n, uint8_t md5[16])
{
	struct chunks c;

	find_chunks(&c, bytes, n);
	if (c.atoms.at == NULL || c.code.at == NULL || c.strings.at == NULL || c.imports.at == NULL ||
	    c.exports.at == NULL)
		return false;
	compute_md5(&c, md5);
	return true;
}

/* ---- tables */

static bool parse_atoms(struct beam_parse *p, struct reader *r, bool latin1)
{
	int32_t count = (int32_t)reader_u32(r);
	bool wide = count < 0; /* since OTP 28: lengths as compact numbers */

	if (wide)
		count = -count;
	if (r->bad || count < 1 || (uint32_t)count > reader_left(r))
		return beam_parse_fail(p, "atoms: wrong number of them");
	p->f->atoms = beam_parse_take(p, (size_t)count + 1, sizeof(Term));
	for (int32_t i = 1; i <= count; i++) {
		struct compact c = wide ? reader_compact(r) : (struct compact){ .value = reader_u8(r) };
		const uint8_t *text =
			c.tag == COMPACT_U && c.big == NULL && c.value >= 0 ? reader_bytes(r, (size_t)c.value) : NULL;
		bool full = false;

		if (r->bad || text == NULL)
			return beam_parse_fail(p, "atoms: the table is cut off");
		p->f->atoms[i] = latin1 ? atom_from_latin1((const char *)text, (size_t)c.value, &full) :
					  atom_from_utf8((const char *)text, (size_t)c.value, &full);
		if (p->f->atoms[i] == TERM_NONE)
			return beam_parse_fail(p, full ? "atoms: the VM's table is full" : "atoms: atom %d is no text",
					       i);
	}
	p->f->atom_count = (uint32_t)count;
	p->f->module = p->f->atoms[1];
	return true;
}

/* A count of rows that fit what is left. */
static bool read_count(struct beam_parse *p, struct reader *r, const char *chunk, size_t row_bytes, uint32_t *count)
{
	*count = reader_u32(r);
	if (r->bad || *count > reader_left(r) / row_bytes)
		return beam_parse_fail(p, "%s: cut off", chunk);
	return true;
}

static bool parse_imports(struct beam_parse *p, struct reader *r)
{
	uint32_t count;

	if (!read_count(p, r, "ImpT", 12, &count))
		return false;
	p->f->imports = beam_parse_take(p, count, sizeof(*p->f->imports));
	for (uint32_t i = 0; i < count; i++) {
		Term module = beam_parse_atom(p, reader_u32(r));
		Term function = beam_parse_atom(p, reader_u32(r));
		uint32_t arity = reader_u32(r);

		if (module == TERM_NONE || function == TERM_NONE || arity > ARITY_MAX)
			return beam_parse_fail(p, "ImpT: row %u is wrong", i);
		p->f->imports[i] = export_try_get(module, function, arity, NAMED_BY_CODE);
		if (p->f->imports[i] == NULL)
			return beam_parse_fail(p, "ImpT: the VM's table of functions is full");
	}
	p->f->import_count = count;
	return true;
}

/* Is the label the entry of function/arity? */
static bool is_entry(const struct beam_file *f, uint32_t label, Term function, uint32_t arity)
{
	const struct beam_function *fn;

	if (label >= f->label_count || !f->labels[label].entry)
		return false;
	fn = &f->functions[f->labels[label].function];
	return fn->name == function && fn->arity == arity;
}

static bool parse_exports(struct beam_parse *p, struct reader *r, const char *chunk, struct beam_export **rows,
			  uint32_t *rows_count)
{
	uint32_t count;

	if (!read_count(p, r, chunk, 12, &count))
		return false;
	*rows = beam_parse_take(p, count, sizeof(**rows));
	for (uint32_t i = 0; i < count; i++) {
		struct beam_export *e = &(*rows)[i];

		e->function = beam_parse_atom(p, reader_u32(r));
		e->arity = reader_u32(r);
		e->label = reader_u32(r);
		if (!is_entry(p->f, e->label, e->function, e->arity))
			return beam_parse_fail(p, "%s: row %u names no function", chunk, i);
		if (export_try_get(p->f->module, e->function, e->arity, NAMED_BY_CODE) == NULL)
			return beam_parse_fail(p, "%s: the VM's table of functions is full", chunk);
	}
	*rows_count = count;
	return true;
}

static bool parse_lambda(struct beam_parse *p, struct reader *r, struct beam_lambda *l)
{
	l->function = beam_parse_atom(p, reader_u32(r));
	l->arity = reader_u32(r);
	l->label = reader_u32(r);
	l->old_index = (int32_t)reader_u32(r);
	l->num_free = reader_u32(r);
	l->old_uniq = (int32_t)reader_u32(r);
	return l->function != TERM_NONE && l->arity <= ARITY_MAX && l->num_free <= l->arity;
}

static bool parse_lambdas(struct beam_parse *p, struct reader *r)
{
	uint32_t count;

	if (r->at == NULL)
		return true;
	if (!read_count(p, r, "FunT", 24, &count))
		return false;
	p->f->lambdas = beam_parse_take(p, count, sizeof(*p->f->lambdas));
	for (uint32_t i = 0; i < count; i++)
		if (!parse_lambda(p, r, &p->f->lambdas[i]))
			return beam_parse_fail(p, "FunT: row %u is wrong", i);
	p->f->lambda_count = count;
	return true;
}

/* Once labels are known. */
static bool check_lambdas(struct beam_parse *p)
{
	for (uint32_t i = 0; i < p->f->lambda_count; i++) {
		const struct beam_lambda *l = &p->f->lambdas[i];

		if (!is_entry(p->f, l->label, l->function, l->arity))
			return beam_parse_fail(p, "FunT: row %u names no function", i);
	}
	return true;
}

static void make_fun_entries(struct beam_file *f)
{
	for (uint32_t i = 0; i < f->lambda_count; i++)
		f->lambdas[i].entry =
			fun_get(f->module, f->md5, (int32_t)i, f->lambdas[i].old_index, f->lambdas[i].old_uniq);
}

/* ---- literals */

struct literal_text {
	const uint8_t *at;
	size_t n;
	uint8_t *owned;      /* when it was compressed */
};

static bool inflate_literals(struct beam_parse *p, struct reader *r, struct literal_text *t)
{
	uint32_t size = reader_u32(r);
	uLongf got = size;

	if (r->bad)
		return beam_parse_fail(p, "LitT: cut off");
	if (size == 0) { /* since OTP 28: not compressed */
		t->at = r->at;
		t->n = reader_left(r);
		return true;
	}
	if (size / DEFLATE_RATIO_MAX > reader_left(r))
		return beam_parse_fail(p, "LitT: claims more than it can hold");
	t->owned = mem_try_alloc(size);
	if (t->owned == NULL)
		return beam_parse_fail(p, "LitT: no memory for %u bytes", size);
	if (uncompress(t->owned, &got, r->at, reader_left(r)) != Z_OK || got != size)
		return beam_parse_fail(p, "LitT: damaged compression");
	t->at = t->owned;
	t->n = size;
	return true;
}

/* Each literal onto a fragment; the terms go to f->literals. */
static bool decode_literals(struct beam_parse *p, struct reader *r, struct fragment **fragments, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++) {
		uint32_t n = reader_u32(r);
		const uint8_t *bytes = reader_bytes(r, n);

		if (r->bad)
			return beam_parse_fail(p, "LitT: cut off");
		if (etf_decode(bytes, n, &fragments[i], &p->f->literals[i], 0) != 0)
			return beam_parse_fail(p, "LitT: literal %u is damaged", i);
	}
	return true;
}

static bool place_literals(struct beam_parse *p, uint32_t count)
{
	struct beam_file *f = p->f;
	size_t words = 0;

	for (uint32_t i = 0; i < count; i++)
		words += copy_flat_size_words(f->literals[i]);
	if (words == 0)
		return true;
	f->literal_area = literal_new(words);
	if (f->literal_area == NULL)
		return beam_parse_fail(p, "LitT: no room for literals");
	for (uint32_t i = 0; i < count; i++)
		f->literals[i] = literal_put(f->literal_area, f->literals[i]);
	return true;
}

static bool parse_literal_text(struct beam_parse *p, const struct literal_text *t)
{
	struct reader r = { t->at, t->at + t->n, false };
	struct fragment **fragments;
	uint32_t count;
	bool ok;

	if (!read_count(p, &r, "LitT", 4, &count))
		return false;
	p->f->literals = beam_parse_take(p, count, sizeof(Term));
	fragments = beam_parse_take(p, count, sizeof(*fragments));
	ok = decode_literals(p, &r, fragments, count) && place_literals(p, count);
	for (uint32_t i = 0; i < count; i++)
		if (fragments[i] != NULL)
			fragment_free(fragments[i]);
	p->f->literal_count = count;
	return ok;
}

static bool parse_literals(struct beam_parse *p, struct reader *r)
{
	struct literal_text t = { NULL, 0, NULL };
	bool ok;

	if (r->at == NULL)
		return true;
	ok = inflate_literals(p, r, &t) && parse_literal_text(p, &t);
	mem_free(t.owned);
	return ok;
}

void beam_parse_constant(struct beam_parse *p, struct operand *o)
{
	struct code_constant *c = beam_parse_take(p, 1, sizeof(*c));

	*c = (struct code_constant){ o, p->constants };
	p->constants = c;
}

/* The constants of the code get an area of their own, chained to the other. */
static bool place_constants(struct beam_parse *p)
{
	struct literal_area *a;
	size_t words = 0;

	for (struct code_constant *i = p->constants; i != NULL; i = i->next)
		words += copy_flat_size_words(i->operand->term);
	if (words == 0)
		return true;
	a = literal_new(words);
	if (a == NULL)
		return beam_parse_fail(p, "Code: no room for literals");
	for (struct code_constant *i = p->constants; i != NULL; i = i->next)
		i->operand->term = literal_put(a, i->operand->term);
	a->next = p->f->literal_area;
	p->f->literal_area = a;
	return true;
}

/* ---- lines */

/* An atom changes the file, an integer is the line of the next entry. */
static bool parse_line_rows(struct beam_parse *p, struct reader *r, uint32_t count)
{
	struct beam_line *lines = beam_parse_take(p, (size_t)count + 1, sizeof(*lines));
	uint32_t file = 0;

	for (uint32_t i = 1; i <= count;) {
		struct compact c = reader_compact(r);

		if (r->bad || c.big != NULL || c.value < 0)
			return beam_parse_fail(p, "Line: damaged");
		if (c.tag == COMPACT_A) {
			if (c.value >= p->f->file_count)
				return beam_parse_fail(p, "Line: file %lld is not there", (long long)c.value);
			file = (uint32_t)c.value;
		} else if (c.tag == COMPACT_I) {
			lines[i++] = (struct beam_line){ file, c.value <= LINE_LIMIT ? (uint32_t)c.value : 0 };
		} else {
			return beam_parse_fail(p, "Line: damaged");
		}
	}
	p->f->lines = lines;
	p->f->line_count = count + 1;
	return true;
}

static Term make_module_file(Term module)
{
	char text[ATOM_MAX_BYTES + 8];
	size_t n;
	const char *name = atom_text(module, &n);
	Term file;

	memcpy(text, name, n);
	memcpy(text + n, ".erl", 4);
	file = atom_from_utf8(text, n + 4, NULL);
	return file != TERM_NONE ? file : module;
}

/* One that has no name, as in code that was compiled from forms, is the module's own. */
static bool parse_files(struct beam_parse *p, struct reader *r)
{
	for (uint32_t i = 1; i < p->f->file_count; i++) {
		uint32_t n = reader_u16(r);
		const uint8_t *text = reader_bytes(r, n);
		Term name;

		if (r->bad)
			return beam_parse_fail(p, "Line: a file's name is cut off");
		name = atom_from_utf8((const char *)text, n, NULL);
		if (name == TERM_NONE)
			name = atom_from_latin1((const char *)text, n < ATOM_MAX_CHARS ? n : ATOM_MAX_CHARS, NULL);
		p->f->files[i] = n > 0 && name != TERM_NONE ? name : p->f->files[0];
	}
	return true;
}

static bool parse_lines(struct beam_parse *p, struct reader *r)
{
	uint32_t version = reader_u32(r), count, files;

	p->f->lines = beam_parse_take(p, 1, sizeof(*p->f->lines));
	p->f->line_count = 1;
	p->f->file_count = 1;
	p->f->files = beam_parse_take(p, 1, sizeof(Term));
	p->f->files[0] = make_module_file(p->f->module);
	if (r->at == NULL || version != 0)
		return true;
	p->f->line_flags = reader_u32(r);
	reader_u32(r); /* the number of line operations */
	count = reader_u32(r);
	files = reader_u32(r);
	if (r->bad || count > reader_left(r) || files > reader_left(r) / 2)
		return beam_parse_fail(p, "Line: cut off");
	p->f->file_count = files + 1;
	p->f->files = beam_parse_take(p, (size_t)files + 1, sizeof(Term));
	p->f->files[0] = make_module_file(p->f->module);
	p->has_lines = true;
	return parse_line_rows(p, r, count) && parse_files(p, r);
}

/* ---- gzip */

/* Doubles the output until all is in. */
static int inflate_all(z_stream *z, uint8_t **out, size_t *out_n)
{
	size_t room = 1 << 16;
	int status = Z_OK;

	*out = mem_alloc(room);
	while (status == Z_OK) {
		if (z->total_out == room) {
			if (room >= INFLATE_MAX_BYTES)
				return -EINVAL;
			room *= 2;
			*out = mem_realloc(*out, room);
		}
		z->next_out = *out + z->total_out;
		z->avail_out = (uInt)(room - z->total_out);
		status = inflate(z, Z_NO_FLUSH);
	}
	*out_n = z->total_out;
	return status == Z_STREAM_END ? 0 : -EINVAL;
}

/* A gzip-compressed file: *out is its content (mem_free); a plain one: *out is NULL. Fails: -EINVAL. */
static int inflate_file(const uint8_t *bytes, size_t n, uint8_t **out, size_t *out_n)
{
	enum { GZIP_ONLY = 16 + MAX_WBITS };
	z_stream z = { .next_in = (Bytef *)bytes, .avail_in = (uInt)n };
	int err;

	*out = NULL;
	if (n < 2 || bytes[0] != 0x1f || bytes[1] != 0x8b)
		return 0;
	if (n > INFLATE_MAX_BYTES || inflateInit2(&z, GZIP_ONLY) != Z_OK)
		return -EINVAL;
	err = inflate_all(&z, out, out_n);
	inflateEnd(&z);
	if (err != 0) {
		mem_free(*out);
		*out = NULL;
	}
	return err;
}

/* ---- the whole */

static const uint8_t *copy_bytes(struct beam_parse *p, const struct reader *r, size_t *n)
{
	uint8_t *copy;

	*n = reader_left(r);
	if (r->at == NULL)
		return NULL;
	copy = beam_parse_take(p, *n + 1, 1);
	memcpy(copy, r->at, *n);
	return copy;
}

/* ---- types: what compilers know of registers. They are not used, but those of versions that the release reads must be
 * sound. */

struct type_format {
	int since, before;   /* releases that read it */
	uint32_t version;
	unsigned any;        /* every bit of a union; those above say what follows: a lower, an upper bound, a unit */
	bool has_bounds;     /* both, always */
};

static const struct type_format type_formats[] = {
	{ 29, INT_MAX, 4, 0x1fff, false },
	{ 27, INT_MAX, 3, 0x0fff, false },
	{ 0, 27, 1, 0x1fff, true },
};

/* NUMBERS: floats, integers, which may have bounds. */
enum { TYPE_BITSTRING = 2, TYPE_NUMBERS = 8 | 32 };

static int64_t read_i64(struct reader *r)
{
	uint64_t high = reader_u32(r);

	return (int64_t)(high << 32 | reader_u32(r));
}

/* The first is anything, without bounds. */
static bool read_type(struct reader *r, const struct type_format *t, bool first)
{
	unsigned word = reader_u16(r), types = t->has_bounds ? word : word & t->any;
	unsigned follows = (word - types) / (t->any + 1);
	bool has_bounds = follows & 3, has_unit = follows & 4;
	int64_t least = t->has_bounds || (follows & 1) ? read_i64(r) : INT64_MAX;
	int64_t most = t->has_bounds || (follows & 2) ? read_i64(r) : INT64_MIN;

	reader_bytes(r, has_unit);
	return !r->bad && word != 0 && !(first && (types != t->any || least <= most)) &&
	       !(has_bounds && !(types & TYPE_NUMBERS)) && !(has_unit && !(types & TYPE_BITSTRING));
}

/* NULL: the release reads no such version. */
static const struct type_format *find_format(uint32_t version)
{
	for (size_t i = 0; i < sizeof(type_formats) / sizeof(type_formats[0]); i++) {
		const struct type_format *t = &type_formats[i];

		if (t->version == version && release_is_from(t->since) && !release_is_from(t->before))
			return t;
	}
	return NULL;
}

/* Of another version nothing is read. */
static bool parse_types(struct beam_parse *p, const struct reader *chunk)
{
	struct reader r = *chunk;
	const struct type_format *t;
	uint32_t count;

	if (reader_left(&r) == 0)
		return true;
	t = find_format(reader_u32(&r));
	if (!r.bad && t == NULL)
		return true;
	count = reader_u32(&r);
	if (r.bad || count == 0)
		return beam_parse_fail(p, "Type: holds none");
	for (uint32_t i = 0; i < count; i++)
		if (!read_type(&r, t, i == 0))
			return beam_parse_fail(p, "Type: type %u is damaged", i);
	p->type_count = count;
	return true;
}

/* Attributes and compile information must be terms. */
static bool check_info(struct beam_parse *p, const char *chunk, const uint8_t *bytes, size_t n)
{
	struct fragment *fragment = NULL;
	Term t;

	if (bytes == NULL)
		return true;
	if (etf_decode(bytes, n, &fragment, &t, 0) != 0)
		return beam_parse_fail(p, "%s: damaged", chunk);
	if (fragment != NULL)
		fragment_free(fragment);
	return true;
}

static bool parse_strings(struct beam_parse *p, const struct reader *r)
{
	uint8_t *copy = mem_alloc(reader_left(r) + 1);

	memcpy(copy, r->at, reader_left(r));
	p->f->strings = copy;
	p->f->string_bytes = reader_left(r);
	return true;
}

static bool has_chunks(struct beam_parse *p, const struct chunks *c)
{
	const char *missing = c->atoms.at == NULL     ? "AtU8"
			      : c->code.at == NULL    ? "Code"
			      : c->strings.at == NULL ? "StrT"
			      : c->imports.at == NULL ? "ImpT"
			      : c->exports.at == NULL ? "ExpT"
						      : NULL;

	return missing == NULL || beam_parse_fail(p, "chunk %s is missing", missing);
}

static bool parse_chunks(struct beam_parse *p, const uint8_t *bytes, size_t n)
{
	struct beam_file *f = p->f;
	struct beam_export *locals;
	uint32_t local_count;
	struct chunks c;

	if (!check_form(p, bytes, n))
		return false;
	find_chunks(&c, bytes, n);
	if (!has_chunks(p, &c))
		return false;
	compute_md5(&c, f->md5);
	f->attributes = copy_bytes(p, &c.attributes, &f->attributes_bytes);
	f->compile = copy_bytes(p, &c.compile, &f->compile_bytes);
	return parse_atoms(p, &c.atoms, c.latin1) && parse_strings(p, &c.strings) && parse_imports(p, &c.imports) &&
	       parse_lambdas(p, &c.lambdas) && parse_literals(p, &c.literals) && parse_lines(p, &c.lines) &&
	       parse_types(p, &c.types) && beam_records_parse(p, &c.records) && beam_code_decode(p, &c.code) &&
	       beam_debug_parse(p, &c.debug) &&
	       parse_exports(p, &c.exports, "ExpT", &f->exports, &f->export_count) &&
	       (c.locals.at == NULL || parse_exports(p, &c.locals, "LocT", &locals, &local_count)) &&
	       check_lambdas(p) && place_constants(p) && beam_code_check(p) && beam_frames_check(p) &&
	       check_info(p, "Attr", f->attributes, f->attributes_bytes) &&
	       check_info(p, "CInf", f->compile, f->compile_bytes);
}

static struct beam_file *parse_plain(const uint8_t *bytes, size_t n, struct beam_error *error)
{
	struct beam_file *f = mem_zalloc(sizeof(*f));
	struct beam_parse p = { .f = f, .error = error };
	bool ok;

	heap_init(&p.scratch, HEAP_MIN_WORDS);
	ok = parse_chunks(&p, bytes, n);
	heap_free(&p.scratch);
	if (!ok) {
		beam_file_free(f);
		return NULL;
	}
	make_fun_entries(f);
	return f;
}

struct beam_file *beam_file_parse(const uint8_t *bytes, size_t n, struct beam_error *error)
{
	struct beam_file *f;
	uint8_t *plain;
	size_t plain_n;

	error->text[0] = 0;
	if (inflate_file(bytes, n, &plain, &plain_n) != 0) {
		snprintf(error->text, sizeof(error->text), "damaged compression");
		return NULL;
	}
	if (plain == NULL)
		return parse_plain(bytes, n, error);
	f = parse_plain(plain, plain_n, error);
	mem_free(plain);
	return f;
}

void beam_file_free(struct beam_file *f)
{
	beam_parse_free(f);
	literal_free(f->literal_area);
	mem_free((void *)f->strings);
	mem_free(f);
}
