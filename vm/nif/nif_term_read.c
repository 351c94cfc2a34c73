/* SPDX-License-Identifier: Apache-2.0 */
/* enif_is_*, enif_get_*, and comparing: what libraries learn of terms. They return 1, or 0 where a term is not what
 * was asked for. */
#include <limits.h>
#include <string.h>

#include "data/binary.h"
#include "data/compare.h"
#include "data/number.h"
#include "data/phash.h"
#include "data/utf8.h"
#include "heap/copy.h"
#include "nif/nif_env.h"

/* ---- kinds. A term that stands for an exception is of none. */

int enif_is_atom(struct nif_env *env, Term t)
{
	(void)env;
	return term_is_atom(t);
}

int enif_is_binary(struct nif_env *env, Term t)
{
	(void)env;
	return term_is_binary(t);
}

int enif_is_ref(struct nif_env *env, Term t)
{
	(void)env;
	return term_is_ref(t);
}

int enif_is_fun(struct nif_env *env, Term t)
{
	(void)env;
	return term_is_fun(t);
}

int enif_is_pid(struct nif_env *env, Term t)
{
	(void)env;
	return term_is_pid(t);
}

int enif_is_port(struct nif_env *env, Term t)
{
	(void)env;
	return term_is_port(t);
}

int enif_is_list(struct nif_env *env, Term t)
{
	(void)env;
	return term_is_list(t);
}

int enif_is_empty_list(struct nif_env *env, Term t)
{
	(void)env;
	return term_is_nil(t);
}

int enif_is_tuple(struct nif_env *env, Term t)
{
	(void)env;
	return term_is_tuple(t);
}

int enif_is_number(struct nif_env *env, Term t)
{
	(void)env;
	return term_is_number(t);
}

int enif_is_map(struct nif_env *env, Term t)
{
	(void)env;
	return term_is_map(t);
}

static enum nif_term_type type_of_boxed(Term t)
{
	static const uint8_t types[16] = {
		[SUB_TUPLE] = NIF_IS_TUPLE, [SUB_BIG_POS] = NIF_IS_INTEGER, [SUB_BIG_NEG] = NIF_IS_INTEGER,
		[SUB_REF] = NIF_IS_REFERENCE,
		[SUB_FUN] = NIF_IS_FUN, [SUB_FLOAT] = NIF_IS_FLOAT, [SUB_EXPORT] = NIF_IS_FUN,
		[SUB_REFBIN] = NIF_IS_BITSTRING,
		[SUB_HEAPBIN] = NIF_IS_BITSTRING, [SUB_SUBBIN] = NIF_IS_BITSTRING, [SUB_MAP] = NIF_IS_MAP,
		[SUB_XPID] = NIF_IS_PID,
		[SUB_XPORT] = NIF_IS_PORT, [SUB_XREF] = NIF_IS_REFERENCE,
	};

	return term_is_record(t) ? NIF_IS_OTHER : (enum nif_term_type)types[header_sub(*boxed_ptr(t))];
}

enum nif_term_type enif_term_type(struct nif_env *env, Term t)
{
	(void)env;
	if (term_is_list(t))
		return NIF_IS_LIST;
	if (term_is_boxed(t))
		return type_of_boxed(t);
	if (term_is_atom(t))
		return NIF_IS_ATOM;
	if (term_is_local_pid(t))
		return NIF_IS_PID;
	return term_is_local_port(t) ? NIF_IS_PORT : NIF_IS_INTEGER;
}

/* ---- order */

int enif_is_identical(Term a, Term b)
{
	return term_same(a, b);
}

int enif_compare(Term a, Term b)
{
	return term_compare(a, b);
}

uint64_t enif_hash(int kind, Term t, uint64_t salt)
{
	return kind == NIF_HASH_PHASH2 ? phash2(t) & ((1u << 27) - 1) : hash_internal_salted(t, salt) & UINT32_MAX;
}

/* ---- numbers */

int enif_get_long(struct nif_env *env, Term t, long *to)
{
	int64_t n;

	(void)env;
	if (!num_get_int64(t, &n))
		return 0;
	*to = n;
	return 1;
}

int enif_get_ulong(struct nif_env *env, Term t, unsigned long *to)
{
	uint64_t n;

	(void)env;
	if (!num_get_uint64(t, &n))
		return 0;
	*to = n;
	return 1;
}

int enif_get_int(struct nif_env *env, Term t, int *to)
{
	(void)env;
	if (!term_is_small(t) || small_value(t) < INT_MIN || small_value(t) > INT_MAX)
		return 0;
	*to = (int)small_value(t);
	return 1;
}

int enif_get_uint(struct nif_env *env, Term t, unsigned *to)
{
	(void)env;
	if (!term_is_small(t) || (uint64_t)small_value(t) > UINT_MAX)
		return 0;
	*to = (unsigned)small_value(t);
	return 1;
}

int enif_get_double(struct nif_env *env, Term t, double *to)
{
	(void)env;
	if (!term_is_float(t))
		return 0;
	*to = float_value(t);
	return 1;
}

/* ---- atoms */

/* Units: *n bytes in the encoding. */
static bool atom_size(Term atom, int encoding, size_t *n)
{
	if (!term_is_atom(atom))
		return false;
	if (encoding == NIF_UTF8)
		atom_text(atom, n);
	return encoding == NIF_UTF8 || (encoding == NIF_LATIN1 && atom_latin1_size(atom, n));
}

int enif_get_atom_length(struct nif_env *env, Term atom, unsigned *length, int encoding)
{
	size_t n;

	(void)env;
	if (!atom_size(atom, encoding, &n))
		return 0;
	*length = (unsigned)n;
	return 1;
}

/* UTF-8 of characters below 256 as those. */
static void put_latin1(char *to, const char *text, size_t n)
{
	for (const char *end = text + n; text < end; to++) {
		unsigned char c = (unsigned char)*text++;

		*to = c < 0x80 ? (char)c : (char)((c & 3) << 6 | (*text++ & 0x3f));
	}
}

int enif_get_atom(struct nif_env *env, Term atom, char *to, unsigned room, int encoding)
{
	const char *text;
	size_t n, bytes;

	(void)env;
	if (!atom_size(atom, encoding, &n) || n >= room)
		return 0;
	text = atom_text(atom, &bytes);
	if (encoding == NIF_UTF8)
		memcpy(to, text, bytes);
	else
		put_latin1(to, text, bytes);
	to[n] = '\0';
	return (int)n + 1;
}

/* ---- lists and tuples */

int enif_get_list_cell(struct nif_env *env, Term list, Term *head, Term *tail)
{
	(void)env;
	if (!term_is_cons(list))
		return 0;
	*head = cons_head(list);
	*tail = cons_tail(list);
	return 1;
}

int enif_get_list_length(struct nif_env *env, Term list, unsigned *length)
{
	unsigned n = 0;

	(void)env;
	for (; term_is_cons(list); list = cons_tail(list))
		n++;
	if (!term_is_nil(list))
		return 0;
	*length = n;
	return 1;
}

int enif_get_tuple(struct nif_env *env, Term t, int *arity, const Term **elements)
{
	(void)env;
	if (!term_is_tuple(t))
		return 0;
	*arity = (int)tuple_arity(t);
	*elements = boxed_ptr(t) + 1;
	return 1;
}

/* Units: bytes of the character in the encoding; 0: it is none of it. to: UTF8_MAX_BYTES, where they are written. */
static unsigned encode_char(Term c, int encoding, uint8_t *to)
{
	uint64_t value = term_is_small(c) ? (uint64_t)small_value(c) : UINT64_MAX;

	if (encoding == NIF_UTF8)
		return utf8_is_scalar(value) ? utf8_encode((uint32_t)value, to) : 0;
	to[0] = (uint8_t)value;
	return encoding == NIF_LATIN1 && value <= UINT8_MAX;
}

/* Returns the bytes written, the NUL too; less than 0, their number negated, when there were more; 0: no list of
 * characters. */
int enif_get_string(struct nif_env *env, Term list, char *to, unsigned room, int encoding)
{
	uint8_t c[UTF8_MAX_BYTES];
	unsigned n = 0, bytes = 1;
	bool fits = true;

	(void)env;
	if (room < 1)
		return 0;
	for (; term_is_cons(list); list = cons_tail(list)) {
		bytes = encode_char(cons_head(list), encoding, c);
		fits = n + bytes < room;
		if (bytes == 0 || !fits)
			break;
		memcpy(to + n, c, bytes);
		n += bytes;
	}
	if (!fits || (bytes > 0 && term_is_nil(list) && (encoding == NIF_LATIN1 || encoding == NIF_UTF8))) {
		to[n] = '\0';
		return fits ? (int)n + 1 : -(int)n - 1;
	}
	to[encoding == NIF_LATIN1 ? n : 0] = '\0';
	return 0;
}

/* Units: *length bytes, without a NUL. */
int enif_get_string_length(struct nif_env *env, Term list, unsigned *length, int encoding)
{
	uint8_t c[UTF8_MAX_BYTES];
	unsigned n = 0, bytes;

	(void)env;
	for (; term_is_cons(list); list = cons_tail(list), n += bytes) {
		bytes = encode_char(cons_head(list), encoding, c);
		if (bytes == 0)
			return 0;
	}
	if (!term_is_nil(list) || (encoding != NIF_LATIN1 && encoding != NIF_UTF8))
		return 0;
	*length = n;
	return 1;
}

/* ---- pids and ports */

int enif_get_local_pid(struct nif_env *env, Term t, struct nif_pid *pid)
{
	(void)env;
	if (!term_is_local_pid(t))
		return 0;
	pid->pid = t;
	return 1;
}

int enif_get_local_port(struct nif_env *env, Term t, struct nif_port *port)
{
	(void)env;
	if (!term_is_local_port(t))
		return 0;
	port->port = t;
	return 1;
}

void enif_set_pid_undefined(struct nif_pid *pid)
{
	pid->pid = am_undefined;
}

int enif_is_pid_undefined(const struct nif_pid *pid)
{
	return pid->pid == am_undefined;
}

/* ---- erl_nif.h 2.18 */

/* As OTP numbers them: a prime, so that neighbours in the table of atoms have places of their own. */
enum { ATOM_CACHE_PLACES = 2039 };

/* Bytes, without the term's own word and what binaries hold. */
size_t enif_term_size(Term t)
{
	return copy_flat_size_words(t) * sizeof(Term);
}

int enif_get_atom_cache_index(struct nif_env *env, Term t, unsigned *index)
{
	(void)env;
	if (!term_is_atom(t))
		return 0;
	*index = atom_index(t) % ATOM_CACHE_PLACES;
	return 1;
}

unsigned enif_max_atom_cache_index(void)
{
	return ATOM_CACHE_PLACES - 1;
}
