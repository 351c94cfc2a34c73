/* SPDX-License-Identifier: Apache-2.0 */
/* Native functions that look at terms and make them, for nif_terms.erl. Compiled with the header of the machine's own
 * Erlang/OTP. */
#include <erl_nif.h>
#include <string.h>

static ERL_NIF_TERM pair(ErlNifEnv *env, const char *name, int value)
{
	return enif_make_tuple2(env, enif_make_atom(env, name), enif_make_int(env, value));
}

/* What a term is: the kinds that it is of, and what enif_term_type says. */
static ERL_NIF_TERM kinds(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
	static const struct { const char *name; int (*is)(ErlNifEnv *, ERL_NIF_TERM); } rows[] = {
		{ "atom", enif_is_atom }, { "binary", enif_is_binary }, { "ref", enif_is_ref }, { "fun", enif_is_fun },
		{ "pid", enif_is_pid },
		{ "port", enif_is_port }, { "list", enif_is_list }, { "nil", enif_is_empty_list },
		{ "tuple", enif_is_tuple },
		{ "number", enif_is_number }, { "map", enif_is_map }, { "exception", enif_is_exception },
	};
	ERL_NIF_TERM list = enif_make_list(env, 0);

	(void)argc;
	for (int i = sizeof(rows) / sizeof(rows[0]) - 1; i >= 0; i--)
		if (rows[i].is(env, argv[0]))
			list = enif_make_list_cell(env, enif_make_atom(env, rows[i].name), list);
	return enif_make_tuple2(env, enif_make_int(env, enif_term_type(env, argv[0])), list);
}

/* The same number as each type of C that holds it. */
static ERL_NIF_TERM numbers(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
	ERL_NIF_TERM list = enif_make_list(env, 0);
	int i;
	unsigned u;
	long l;
	unsigned long ul;
	ErlNifSInt64 i64;
	ErlNifUInt64 u64;
	double d;

	(void)argc;
#define TRY(get, make, var) \
	if (get(env, argv[0], &var)) \
		list = enif_make_list_cell(env, enif_make_tuple2(env, enif_make_atom(env, #var), make(env, var)), list)
	TRY(enif_get_double, enif_make_double, d);
	TRY(enif_get_uint64, enif_make_uint64, u64);
	TRY(enif_get_int64, enif_make_int64, i64);
	TRY(enif_get_ulong, enif_make_ulong, ul);
	TRY(enif_get_long, enif_make_long, l);
	TRY(enif_get_uint, enif_make_uint, u);
	TRY(enif_get_int, enif_make_int, i);
	return list;
}

static ERL_NIF_TERM bad_double(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
	double zero;

	(void)argc;
	enif_get_double(env, argv[0], &zero);
	return enif_make_double(env, 1.0 / zero);
}

static ERL_NIF_TERM atoms(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
	char text[300];
	unsigned length = 0;
	ERL_NIF_TERM found = argv[0];
	int n, known, room;

	(void)argc;
	n = enif_get_atom(env, argv[0], text, sizeof(text), ERL_NIF_LATIN1);
	if (!enif_get_atom_length(env, argv[0], &length, ERL_NIF_LATIN1))
		return enif_make_atom(env, "wide");
	room = enif_get_atom(env, argv[0], text, length, ERL_NIF_LATIN1);
	enif_get_atom(env, argv[0], text, length + 1, ERL_NIF_LATIN1);
	known = enif_make_existing_atom(env, text, &found, ERL_NIF_LATIN1);
	return enif_make_tuple6(env, enif_make_int(env, n), enif_make_uint(env, length), enif_make_int(env, room),
				enif_make_int(env, known),
				found, enif_make_string(env, text, ERL_NIF_LATIN1));
}

static ERL_NIF_TERM new_atom(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
	ErlNifBinary b;

	(void)argc;
	if (!enif_inspect_iolist_as_binary(env, argv[0], &b))
		return enif_make_badarg(env);
	return enif_make_atom_len(env, (char *)b.data, b.size);
}

static ERL_NIF_TERM unknown_atom(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
	ERL_NIF_TERM atom;

	(void)argc;
	(void)argv;
	return enif_make_int(env, enif_make_existing_atom(env, "nobody has ever named this one", &atom,
							  ERL_NIF_LATIN1));
}

/* {Length, Reversed, Elements of a tuple} */
static ERL_NIF_TERM lists(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
	ERL_NIF_TERM head, tail, reversed = enif_make_atom(env, "none"), cell = enif_make_atom(env, "none");
	unsigned length = 12345;
	int has_length = enif_get_list_length(env, argv[0], &length);

	(void)argc;
	if (enif_get_list_cell(env, argv[0], &head, &tail))
		cell = enif_make_tuple2(env, head, tail);
	enif_make_reverse_list(env, argv[0], &reversed);
	return enif_make_tuple4(env, enif_make_int(env, has_length), enif_make_uint(env, length), cell, reversed);
}

static ERL_NIF_TERM tuples(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
	const ERL_NIF_TERM *elements;
	int arity;

	(void)argc;
	if (!enif_get_tuple(env, argv[0], &arity, &elements))
		return enif_make_badarg(env);
	return enif_make_tuple3(env, enif_make_list_from_array(env, elements, (unsigned)arity),
				enif_make_tuple_from_array(env, elements, (unsigned)arity),
				enif_make_list(env, 3, enif_make_int(env, 1), argv[0], enif_make_tuple(env, 0)));
}

/* What enif_get_string gives with room for 4 bytes. */
static ERL_NIF_TERM strings(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
	char text[4] = { 'x', 'x', 'x', 'x' };
	int n = enif_get_string(env, argv[0], text, sizeof(text), ERL_NIF_LATIN1);

	(void)argc;
	return enif_make_tuple2(env, enif_make_int(env, n), enif_make_string(env, text, ERL_NIF_LATIN1));
}

static ERL_NIF_TERM order(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
	int c = enif_compare(argv[0], argv[1]);
	ErlNifUInt64 a = enif_hash(ERL_NIF_INTERNAL_HASH, argv[0], 7), b = enif_hash(ERL_NIF_INTERNAL_HASH, argv[1], 7);

	(void)argc;
	return enif_make_tuple4(env, enif_make_int(env, enif_is_identical(argv[0], argv[1])),
				enif_make_int(env, (c > 0) - (c < 0)),
				enif_make_uint64(env, enif_hash(ERL_NIF_PHASH2, argv[0], 0)), enif_make_int(env, a == b));
}

/* ---- binaries */

static ERL_NIF_TERM inspected(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
	ErlNifBinary b, copy;
	ERL_NIF_TERM t;

	(void)argc;
	if (!enif_inspect_binary(env, argv[0], &b))
		return enif_make_atom(env, "none");
	memcpy(enif_make_new_binary(env, b.size, &t), b.data, b.size);
	if (!enif_alloc_binary(b.size, &copy))
		return enif_make_badarg(env);
	memcpy(copy.data, b.data, b.size);
	return enif_make_tuple3(env, enif_make_uint64(env, b.size), t, enif_make_binary(env, &copy));
}

static ERL_NIF_TERM flat(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
	ErlNifBinary b;

	(void)argc;
	if (!enif_inspect_iolist_as_binary(env, argv[0], &b))
		return enif_make_badarg(env);
	return enif_make_binary(env, &b); /* of somebody else's bytes: a copy */
}

/* A binary that grew and shrank, and one that was released. */
static ERL_NIF_TERM resized(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
	ErlNifBinary b, gone;
	unsigned n;

	(void)argc;
	if (!enif_get_uint(env, argv[0], &n) || !enif_alloc_binary(10, &b) || !enif_alloc_binary(1000, &gone))
		return enif_make_badarg(env);
	enif_release_binary(&gone);
	memset(b.data, 'a', 10);
	if (!enif_realloc_binary(&b, 100000) || b.size != 100000)
		return enif_make_badarg(env);
	memset(b.data + 10, 'b', 100000 - 10);
	if (!enif_realloc_binary(&b, n))
		return enif_make_badarg(env);
	return enif_make_binary(env, &b);
}

/* A term's bytes are not to be written to: a change of their size makes a copy. */
static ERL_NIF_TERM grown(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
	ErlNifBinary b;
	size_t n;

	(void)argc;
	if (!enif_inspect_binary(env, argv[0], &b))
		return enif_make_badarg(env);
	n = b.size;
	if (!enif_realloc_binary(&b, n + 3))
		return enif_make_badarg(env);
	memcpy(b.data + n, "xyz", 3);
	return enif_make_tuple2(env, argv[0], enif_make_binary(env, &b));
}

static ERL_NIF_TERM part(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
	unsigned at, size;

	(void)argc;
	if (!enif_get_uint(env, argv[1], &at) || !enif_get_uint(env, argv[2], &size))
		return enif_make_badarg(env);
	return enif_make_sub_binary(env, argv[0], at, size);
}

static ERL_NIF_TERM external(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
	ErlNifBinary b;
	ERL_NIF_TERM t = argv[0], bytes;
	size_t n, safe, cut;

	(void)argc;
	if (!enif_term_to_binary(env, argv[0], &b))
		return enif_make_badarg(env);
	n = enif_binary_to_term(env, b.data, b.size, &t, 0);
	safe = enif_binary_to_term(env, b.data, b.size, &t, ERL_NIF_BIN2TERM_SAFE);
	cut = enif_binary_to_term(env, b.data, b.size - 1, &bytes, 0);
	bytes = enif_make_binary(env, &b);
	return enif_make_tuple5(env, bytes, t, enif_make_uint64(env, n), enif_make_uint64(env, safe),
				enif_make_uint64(env, cut));
}

/* ---- maps */

static ERL_NIF_TERM map_changes(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
	ERL_NIF_TERM none = enif_make_atom(env, "none"), put = none, updated = none, removed = none, value = none;
	size_t size = 0;

	(void)argc;
	enif_get_map_size(env, argv[0], &size);
	enif_make_map_put(env, argv[0], argv[1], argv[2], &put);
	enif_make_map_update(env, argv[0], argv[1], argv[2], &updated);
	enif_make_map_remove(env, argv[0], argv[1], &removed);
	enif_get_map_value(env, argv[0], argv[1], &value);
	return enif_make_tuple6(env, enif_make_uint64(env, size), put, updated, removed, value, enif_make_new_map(env));
}

static ERL_NIF_TERM map_of(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
	ERL_NIF_TERM keys[200], values[200], list = argv[0], head, map;
	const ERL_NIF_TERM *kv;
	int arity;
	size_t n = 0;

	(void)argc;
	for (; n < 200 && enif_get_list_cell(env, list, &head, &list); n++) {
		if (!enif_get_tuple(env, head, &arity, &kv) || arity != 2)
			return enif_make_badarg(env);
		keys[n] = kv[0];
		values[n] = kv[1];
	}
	return enif_make_map_from_arrays(env, keys, values, n, &map) ? map : enif_make_atom(env, "twice");
}

/* All pairs, there and back. */
static ERL_NIF_TERM map_walks(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
	ERL_NIF_TERM there = enif_make_list(env, 0), back = there, key, value;
	ErlNifMapIterator it;
	int ends = 0;

	(void)argc;
	if (!enif_map_iterator_create(env, argv[0], &it, ERL_NIF_MAP_ITERATOR_FIRST))
		return enif_make_badarg(env);
	for (; enif_map_iterator_get_pair(env, &it, &key, &value); enif_map_iterator_next(env, &it))
		there = enif_make_list_cell(env, enif_make_tuple2(env, key, value), there);
	ends += enif_map_iterator_is_tail(env, &it);
	enif_map_iterator_destroy(env, &it);
	if (!enif_map_iterator_create(env, argv[0], &it, ERL_NIF_MAP_ITERATOR_LAST))
		return enif_make_badarg(env);
	for (; enif_map_iterator_get_pair(env, &it, &key, &value); enif_map_iterator_prev(env, &it))
		back = enif_make_list_cell(env, enif_make_tuple2(env, key, value), back);
	ends += enif_map_iterator_is_head(env, &it);
	enif_map_iterator_destroy(env, &it);
	return enif_make_tuple3(env, there, back, enif_make_int(env, ends));
}

/* ---- exceptions */

static ERL_NIF_TERM raised(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
	ERL_NIF_TERM reason;
	int before = enif_has_pending_exception(env, &reason);

	(void)argc;
	enif_raise_exception(env, enif_make_tuple2(env, enif_make_int(env, before), argv[0]));
	if (!enif_has_pending_exception(env, &reason) || !enif_has_pending_exception(env, NULL))
		return enif_make_atom(env, "not_pending");
	return enif_make_atom(env, "ignored");
}

static ERL_NIF_TERM refused(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
	(void)argc;
	(void)argv;
	return enif_make_badarg(env);
}

/* ---- much: a list of n pairs {K, <<K:64, 0...>>}, on a heap that has no room for it */
static ERL_NIF_TERM much(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
	ERL_NIF_TERM list = enif_make_list(env, 0), bytes;
	int n;

	(void)argc;
	if (!enif_get_int(env, argv[0], &n))
		return enif_make_badarg(env);
	for (; n > 0; n--) {
		memset(enif_make_new_binary(env, (size_t)n % 100, &bytes), n, (size_t)n % 100);
		list = enif_make_list_cell(env, enif_make_tuple2(env, enif_make_int(env, n), bytes), list);
	}
	return list;
}

static ERL_NIF_TERM sizes(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
	ErlNifSysInfo info;

	(void)argc;
	(void)argv;
	enif_system_info(&info, sizeof(info));
	return enif_make_list(env, 4, pair(env, "nif_major", info.nif_major_version),
			      pair(env, "nif_minor", info.nif_minor_version),
			      pair(env, "threads", info.thread_support), pair(env, "dirty", info.dirty_scheduler_support));
}

static ERL_NIF_TERM printed(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
	char text[200], few[8];
	int n = enif_snprintf(text, sizeof(text), "%T|%5d|%-4s|%c|%lu|%%|%.2f|%*d|%x", argv[0], 42, "ab", 'z',
			      12345678901ul, 2.5, 4, 7, 255);
	int cut = enif_snprintf(few, sizeof(few), "%s", "longer than that");

	(void)argc;
	return enif_make_tuple4(env, enif_make_int(env, n), enif_make_string(env, text, ERL_NIF_LATIN1),
				enif_make_int(env, cut > 8),
				enif_make_string(env, few, ERL_NIF_LATIN1));
}

static ErlNifFunc functions[] = {
	{ "kinds", 1, kinds, 0 }, { "numbers", 1, numbers, 0 }, { "bad_double", 1, bad_double, 0 },
	{ "atoms", 1, atoms, 0 },
	{ "new_atom", 1, new_atom, 0 }, { "unknown_atom", 0, unknown_atom, 0 }, { "lists", 1, lists, 0 },
	{ "tuples", 1, tuples, 0 },
	{ "strings", 1, strings, 0 }, { "order", 2, order, 0 }, { "inspected", 1, inspected, 0 },
	{ "flat", 1, flat, 0 },
	{ "resized", 1, resized, 0 }, { "grown", 1, grown, 0 }, { "part", 3, part, 0 }, { "external", 1, external, 0 },
	{ "map_changes", 3, map_changes, 0 }, { "map_of", 1, map_of, 0 }, { "map_walks", 1, map_walks, 0 },
	{ "raised", 1, raised, 0 },
	{ "refused", 2, refused, 0 }, { "much", 1, much, 0 }, { "sizes", 0, sizes, 0 }, { "printed", 1, printed, 0 },
};

ERL_NIF_INIT(nif_terms, functions, NULL, NULL, NULL, NULL)
