/* SPDX-License-Identifier: Apache-2.0 */
/* Module unicode: characters in Latin-1 or UTF-8, of any mix of integers, binaries and lists, as one UTF-8 binary or
 * list. What cannot be converted is given back as {error | incomplete, Converted, Rest} in the shape that OTP gives it:
 * Rest is what was left of the innermost list, put before what was left of those around it. */
#include "base/alloc.h"
#include "bif/bif.h"
#include "code/export.h"
#include "data/binary.h"
#include "data/utf8.h"
#include "data/word_stack.h"

enum {
	BYTES_A_REDUCTION = 256,
	FEW_BYTES = 512,              /* a text that needs no more is converted on the C stack */
	PLAIN_CHARS_MAX = 1 << 17, /* what is made a list of in one go, in less than a millisecond */
	AT_ONCE_BYTES = 1 << 18,   /* what is converted in one go; for what is longer the scheduler is lent */
	LOOKED_AT_BYTES = 1 << 22, /* the same for a binary that may be the result */
};

/* A conversion: text goes to `bytes`, which has room for all. */
struct conversion {
	struct heap *h;
	bool latin1;
	uint8_t *bytes;      /* of `binary`, or `few` without one */
	struct binary *binary;
	size_t used, chars;
	uint8_t cut[UTF8_MAX_BYTES]; /* the start of a character whose end is in the next binary */
	size_t cut_bytes;
	Term rest;           /* after a failure */
	struct word_stack tails;
	uint8_t few[FEW_BYTES];
};

/* ---- first pass: is it character data, and how many bytes may it take? */

static size_t count_high(const uint8_t *bytes, size_t n)
{
	size_t high = 0;

	for (size_t i = 0; i < n; i++)
		high += bytes[i] >> 7;
	return high;
}

static bool measure_binary(Term t, bool latin1, size_t *need)
{
	uint8_t *scratch;
	size_t n;
	const uint8_t *bytes = binary_bytes(t, &n, &scratch);

	if (bytes == NULL)
		return false;
	*need += latin1 ? n + count_high(bytes, n) : n;
	mem_free(scratch);
	return true;
}

/* A bignum ends the measure: the conversion will stop there. So does what needs more than `most`. */
static bool measure_list(struct word_stack *tails, Term t, bool latin1, size_t most, size_t *need)
{
	for (;;) {
		while (term_is_cons(t)) {
			Term head = cons_head(t);

			if (*need > most)
				return true;
			t = cons_tail(t);
			if (term_is_small(head)) {
				*need += UTF8_MAX_BYTES;
			} else if (term_is_cons(head)) {
				word_stack_push(tails, t);
				t = head;
				++*need; /* it takes time */
			} else if (term_is_bitstring(head)) {
				if (!measure_binary(head, latin1, need))
					return false;
			} else if (term_is_big(head)) {
				return true;
			} else if (!term_is_nil(head)) {
				return false;
			}
		}
		if (term_is_bitstring(t) ? !measure_binary(t, latin1, need) : !term_is_nil(t))
			return false;
		if (tails->count == 0)
			return true;
		t = word_stack_pop(tails);
	}
}

static bool measure(Term t, bool latin1, size_t most, size_t *need)
{
	struct word_stack tails;
	bool ok;

	*need = 0;
	if (!term_is_list(t) && !term_is_bitstring(t))
		return false;
	word_stack_init(&tails);
	ok = measure_list(&tails, t, latin1, most, need);
	word_stack_free(&tails);
	return ok;
}

/* ---- second pass */

static void convert_latin1(struct conversion *c, const uint8_t *bytes, size_t n)
{
	for (size_t i = 0; i < n; i++)
		c->used += utf8_encode(bytes[i], c->bytes + c->used);
	c->chars += n;
}

/* Completes the character that the binaries before have cut. False when the bytes do not fit it. */
static bool convert_cut(struct conversion *c, const uint8_t **bytes, size_t *n)
{
	unsigned length = utf8_length(c->cut[0]);
	size_t more = length - c->cut_bytes;
	uint32_t ch;

	if (*n < more) {
		memcpy(c->cut + c->cut_bytes, *bytes, *n);
		c->cut_bytes += *n;
		*n = 0;
		return true;
	}
	memcpy(c->cut + c->cut_bytes, *bytes, more);
	if (utf8_decode(c->cut, length, &ch) == 0)
		return false;
	memcpy(c->bytes + c->used, c->cut, length);
	c->used += length;
	c->chars++;
	c->cut_bytes = 0;
	*bytes += more;
	*n -= more;
	return true;
}

/* Returns how many bytes could not be converted: 0 when all are, or stand in c->cut. */
static size_t convert_utf8(struct conversion *c, const uint8_t *bytes, size_t n)
{
	size_t valid, chars;

	if (c->cut_bytes > 0 && !convert_cut(c, &bytes, &n))
		return n;
	valid = utf8_valid_prefix(bytes, n, &chars);
	memcpy(c->bytes + c->used, bytes, valid);
	c->used += valid;
	c->chars += chars;
	n -= valid;
	if (n == 0)
		return 0;
	bytes += valid;
	if (n >= utf8_length(bytes[0]))
		return n;
	memcpy(c->cut, bytes, n);
	c->cut_bytes = n;
	return 0;
}

/* False: c->rest is what is left of t. */
static bool convert_binary(struct conversion *c, Term t)
{
	uint8_t *scratch;
	size_t n, left = 0;
	const uint8_t *bytes = binary_bytes(t, &n, &scratch);

	if (c->latin1)
		convert_latin1(c, bytes, n);
	else if (n > 0)
		left = convert_utf8(c, bytes, n);
	mem_free(scratch);
	if (left == 0)
		return true;
	c->rest = binary_sub(c->h, t, (uint64_t)(n - left) * 8, (uint64_t)left * 8);
	return false;
}

/* The characters that t begins with. Returns what is behind them. */
static Term convert_integers(struct conversion *c, Term t)
{
	uint64_t most = c->latin1 ? 0xff : 0x10ffff;
	uint8_t *to = c->bytes + c->used;
	size_t chars = 0;

	for (; term_is_cons(t) && term_is_small(cons_head(t)); t = cons_tail(t), chars++) {
		uint64_t ch = (uint64_t)small_value(cons_head(t));

		if (ch > most || !utf8_is_scalar(ch) || c->cut_bytes > 0)
			break;
		to = utf8_put(to, (uint32_t)ch);
	}
	c->used = (size_t)(to - c->bytes);
	c->chars += chars;
	return t;
}

static bool convert_list(struct conversion *c, Term t)
{
	for (;;) {
		while (term_is_cons(t = convert_integers(c, t))) {
			Term head = cons_head(t);

			if (term_is_cons(head)) {
				word_stack_push(&c->tails, cons_tail(t));
				t = head;
				continue;
			}
			if (term_is_bitstring(head)) {
				if (!convert_binary(c, head)) {
					c->rest = heap_cons(c->h, c->rest, cons_tail(t));
					return false;
				}
			} else if (!term_is_nil(head)) {
				c->rest = t;
				return false;
			}
			t = cons_tail(t);
		}
		if (!term_is_nil(t) && !convert_binary(c, t))
			return false;
		if (c->tails.count == 0)
			return true;
		t = word_stack_pop(&c->tails);
	}
}

/* False: it ended at c->rest, the lists around it included. */
static bool convert(struct conversion *c, Term t)
{
	bool ok;

	word_stack_init(&c->tails);
	ok = term_is_bitstring(t) ? convert_binary(c, t) : convert_list(c, t);
	while (!ok && c->tails.count > 0)
		c->rest = heap_cons(c->h, c->rest, word_stack_pop(&c->tails));
	word_stack_free(&c->tails);
	return ok;
}

/* Could the bytes still become a character? */
static bool cut_is_start(const struct conversion *c)
{
	for (size_t i = 1; i < c->cut_bytes; i++)
		if ((c->cut[i] & 0xc0) != 0x80)
			return false;
	return true;
}

/* ---- results */

static Term put_text(struct conversion *c, bool as_list)
{
	struct binary *b = c->binary;
	Term list;

	if (as_list) {
		list = utf8_put_list(c->h, c->bytes, c->chars);
		if (b != NULL)
			binary_unref(b);
		return list;
	}
	if (b == NULL)
		return binary_put(c->h, c->bytes, c->used);
	return binary_from_counted(
		c->h, c->used > HEAPBIN_LIMIT && c->used < b->size_bytes ? binary_resize(b, c->used) : b, c->used);
}

static Term put_result(struct conversion *c, bool ok, bool as_list)
{
	Term text = put_text(c, as_list), rest = c->rest, tag = am_error;

	if (ok && c->cut_bytes == 0)
		return text;
	if (c->cut_bytes > 0) {
		Term cut = binary_put(c->h, c->cut, c->cut_bytes);

		if (ok)
			rest = cut;
		else
			rest = heap_cons(c->h, cut, heap_cons(c->h, rest, NIL));
		if (ok && cut_is_start(c))
			tag = am_incomplete;
	}
	return heap_tuple(c->h, tag, text, rest);
}

/* A flat list of characters, and not a long one: it is its own result. */
static bool is_characters(Term t, bool latin1, size_t *n)
{
	uint64_t most = latin1 ? 0xff : 0x10ffff;

	for (*n = 0; *n < PLAIN_CHARS_MAX && term_is_cons(t); t = cons_tail(t), ++*n) {
		uint64_t ch = (uint64_t)small_value(cons_head(t));

		if (!term_is_small(cons_head(t)) || ch > most || !utf8_is_scalar(ch))
			return false;
	}
	return t == NIL;
}

/* What a binary holds that is characters from end to end: itself, or a list of them. TERM_NONE: it is not, or the list
 * is too long to be made in one go. */
static Term take_plain_binary(Process *p, Term t, bool latin1, bool as_list)
{
	uint8_t *scratch;
	size_t n, chars;
	const uint8_t *bytes = binary_bytes(t, &n, &scratch);
	Term result = TERM_NONE;

	if (bytes == NULL || (as_list && n > PLAIN_CHARS_MAX))
		;
	else if (utf8_ascii_prefix(bytes, n) == n || (latin1 && as_list))
		result = as_list ? heap_list_bytes(&p->heap, bytes, n, NIL) : t;
	else if (!latin1 && utf8_valid_prefix(bytes, n, &chars) == n)
		result = as_list ? utf8_put_list(&p->heap, bytes, chars) : t;
	mem_free(scratch);
	if (result != TERM_NONE)
		process_bump(p, (int)(n / BYTES_A_REDUCTION));
	return result;
}

/* The result where nothing is to be converted; TERM_NONE: something is. */
static Term take_plain(Process *p, Term t, bool latin1, bool as_list)
{
	size_t n;

	if (term_is_bitstring(t))
		return take_plain_binary(p, t, latin1, as_list);
	if (!as_list || !term_is_list(t) || !is_characters(t, latin1, &n))
		return TERM_NONE;
	process_bump(p, (int)(n / BYTES_A_REDUCTION));
	return t;
}

/* need: as measured. */
static Term convert_measured(Process *p, Term t, bool latin1, bool as_list, size_t need)
{
	struct conversion c;
	bool ok;

	process_bump(p, (int)(need / BYTES_A_REDUCTION));
	c.h = &p->heap;
	c.latin1 = latin1;
	c.used = c.chars = c.cut_bytes = 0;
	c.rest = NIL;
	c.binary = need > FEW_BYTES ? binary_new(need) : NULL;
	if (need > FEW_BYTES && c.binary == NULL)
		return exc_system_limit(p);
	c.bytes = c.binary != NULL ? c.binary->data : c.few;
	ok = convert(&c, t);
	return put_result(&c, ok, as_list);
}

/* What is to be converted: a list of a binary and nothing else is that binary. */
static Term get_text(const Term *args, bool as_list)
{
	Term t = args[0];

	return !as_list && term_is_cons(t) && term_is_bitstring(cons_head(t)) && term_is_nil(cons_tail(t))
		       ? cons_head(t)
		       : t;
}

static Term convert_whole(Process *p, const Term *args, bool as_list)
{
	bool latin1 = args[1] == am_latin1;
	Term t = get_text(args, as_list), plain = take_plain(p, t, latin1, as_list);
	size_t need;

	if (plain != TERM_NONE)
		return plain;
	return measure(t, latin1, SIZE_MAX, &need) ? convert_measured(p, t, latin1, as_list, need) : exc_badarg(p);
}

static Term binary_whole(Process *p, Term *args) { return convert_whole(p, args, false); }
static Term list_whole(Process *p, Term *args) { return convert_whole(p, args, true); }

static Term convert_arguments(Process *p, Term *args, bool as_list, Term other)
{
	bool latin1 = args[1] == am_latin1, is_long;
	Term t = get_text(args, as_list), plain = TERM_NONE;
	size_t need;

	if (!latin1 && args[1] != am_unicode && args[1] != am_utf8)
		return exc_trap(p, export_get(am_unicode, other, 2), 2, args);
	is_long = term_is_bitstring(t) && binary_size_bits(t) / 8 > LOOKED_AT_BYTES;
	if (!is_long)
		plain = take_plain(p, t, latin1, as_list);
	if (plain != TERM_NONE)
		return plain;
	if (!is_long && !measure(t, latin1, AT_ONCE_BYTES, &need))
		return exc_badarg(p);
	if (is_long || need > AT_ONCE_BYTES)
		return exc_run_lent(p, as_list ? list_whole : binary_whole, args);
	return convert_measured(p, t, latin1, as_list, need);
}

Term bif_unicode_characters_to_binary_2(Process *p, Term *args)
{
	return convert_arguments(p, args, false, am_characters_to_binary_int);
}

Term bif_unicode_characters_to_list_2(Process *p, Term *args)
{
	return convert_arguments(p, args, true, am_characters_to_list_int);
}

Term bif_unicode_bin_is_7bit_1(Process *p, Term *args)
{
	uint8_t *scratch;
	size_t n;
	const uint8_t *bytes = binary_bytes(args[0], &n, &scratch);
	bool is_ascii = bytes != NULL && utf8_ascii_prefix(bytes, n) == n;

	(void)p;
	mem_free(scratch);
	return term_from_bool(is_ascii);
}
