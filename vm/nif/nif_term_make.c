/* SPDX-License-Identifier: Apache-2.0 */
/* enif_make_*: terms that libraries make. */
#include <math.h>
#include <stdarg.h>
#include <string.h>

#include "data/utf8.h"
#include "nif/nif_env.h"

Term enif_make_int(struct nif_env *env, int n)
{
	(void)env;
	return term_from_small(n);
}

Term enif_make_uint(struct nif_env *env, unsigned n)
{
	(void)env;
	return term_from_small(n);
}

Term enif_make_long(struct nif_env *env, long n)
{
	return heap_int(env->heap, n);
}

Term enif_make_ulong(struct nif_env *env, unsigned long n)
{
	return heap_uint(env->heap, n);
}

Term enif_make_double(struct nif_env *env, double d)
{
	return isfinite(d) ? heap_float(env->heap, d) : nif_env_badarg(env);
}

/* ---- atoms */

Term enif_make_atom_len(struct nif_env *env, const char *name, size_t n)
{
	Term atom = atom_from_latin1(name, n, NULL);

	return atom != TERM_NONE ? atom : nif_env_badarg(env);
}

Term enif_make_atom(struct nif_env *env, const char *name)
{
	return enif_make_atom_len(env, name, strlen(name));
}

int enif_make_new_atom_len(struct nif_env *env, const char *name, size_t n, Term *atom, int encoding)
{
	Term made = encoding == NIF_UTF8     ? atom_from_utf8(name, n, NULL)
		    : encoding == NIF_LATIN1 ? atom_from_latin1(name, n, NULL)
					     : TERM_NONE;

	(void)env;
	if (made == TERM_NONE)
		return 0;
	*atom = made;
	return 1;
}

int enif_make_new_atom(struct nif_env *env, const char *name, Term *atom, int encoding)
{
	return enif_make_new_atom_len(env, name, strlen(name), atom, encoding);
}

/* As UTF-8 a name of ATOM_MAX_CHARS characters below 256 takes twice as many bytes. */
int enif_make_existing_atom_len(struct nif_env *env, const char *name, size_t n, Term *atom, int encoding)
{
	char text[2 * ATOM_MAX_CHARS];
	size_t bytes = 0;

	(void)env;
	if (encoding == NIF_UTF8)
		return (*atom = atom_existing_utf8(name, n)) != TERM_NONE;
	if (encoding != NIF_LATIN1 || n > ATOM_MAX_CHARS)
		return 0;
	for (size_t i = 0; i < n; i++) {
		unsigned char c = (unsigned char)name[i];

		if (c >= 0x80)
			text[bytes++] = (char)(0xc0 | c >> 6);
		text[bytes++] = (char)(c < 0x80 ? c : 0x80 | (c & 0x3f));
	}
	*atom = atom_existing_utf8(text, bytes);
	return *atom != TERM_NONE;
}

int enif_make_existing_atom(struct nif_env *env, const char *name, Term *atom, int encoding)
{
	return enif_make_existing_atom_len(env, name, strlen(name), atom, encoding);
}

/* ---- tuples and lists */

Term enif_make_tuple_from_array(struct nif_env *env, const Term *elements, unsigned n)
{
	return heap_tuple_array(env->heap, n, elements);
}

Term enif_make_list_from_array(struct nif_env *env, const Term *elements, unsigned n)
{
	return heap_list_array(env->heap, n, elements, NIL);
}

Term enif_make_tuple(struct nif_env *env, unsigned n, ...)
{
	Term *at = heap_alloc(env->heap, n + 1);
	va_list args;

	at[0] = HEADER(n, SUB_TUPLE);
	va_start(args, n);
	for (unsigned i = 1; i <= n; i++)
		at[i] = va_arg(args, Term);
	va_end(args);
	return term_from_boxed(at);
}

Term enif_make_list(struct nif_env *env, unsigned n, ...)
{
	Term *at;
	va_list args;

	if (n == 0)
		return NIL;
	at = heap_alloc(env->heap, 2 * (size_t)n);
	va_start(args, n);
	for (unsigned i = 0; i < n; i++) {
		at[2 * i] = va_arg(args, Term);
		at[2 * i + 1] = i + 1 < n ? term_from_cons(at + 2 * i + 2) : NIL;
	}
	va_end(args);
	return term_from_cons(at);
}

Term enif_make_list_cell(struct nif_env *env, Term head, Term tail)
{
	return heap_cons(env->heap, head, tail);
}

int enif_make_reverse_list(struct nif_env *env, Term list, Term *reversed)
{
	Term to = NIL;

	for (; term_is_cons(list); list = cons_tail(list))
		to = heap_cons(env->heap, cons_head(list), to);
	if (!term_is_nil(list))
		return 0;
	*reversed = to;
	return 1;
}

Term enif_make_string_len(struct nif_env *env, const char *text, size_t n, int encoding)
{
	size_t chars;

	if (encoding != NIF_UTF8)
		return heap_list_bytes(env->heap, text, n, NIL);
	if (utf8_valid_prefix((const uint8_t *)text, n, &chars) < n)
		return nif_env_badarg(env);
	return utf8_put_list(env->heap, (const uint8_t *)text, chars);
}

Term enif_make_string(struct nif_env *env, const char *text, int encoding)
{
	return enif_make_string_len(env, text, strlen(text), encoding);
}

Term enif_make_ref(struct nif_env *env)
{
	return heap_ref(env->heap, TERM_NONE);
}
