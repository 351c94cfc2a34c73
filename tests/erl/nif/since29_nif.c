/* SPDX-License-Identifier: Apache-2.0 */
/* For library29/since29_nif.erl: what erl_nif.h 2.18 has. The header may be of an earlier release, and the VM, too: then
 * the functions are not there, and nobody loads the library. */
#include <erl_nif.h>

extern size_t enif_term_size(ERL_NIF_TERM t);
extern int enif_get_atom_cache_index(ErlNifEnv *env, ERL_NIF_TERM t, unsigned *index);
extern unsigned enif_max_atom_cache_index(void);

static ERL_NIF_TERM bytes(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
	(void)argc;
	return enif_make_ulong(env, enif_term_size(argv[0]));
}

static ERL_NIF_TERM place(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
	unsigned index = 0;

	(void)argc;
	return enif_get_atom_cache_index(env, argv[0], &index) ? enif_make_uint(env, index) : enif_make_atom(env, "none");
}

static ERL_NIF_TERM places(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
	(void)argc;
	(void)argv;
	return enif_make_uint(env, enif_max_atom_cache_index());
}

static ErlNifFunc functions[] = { { "bytes", 1, bytes, 0 }, { "place", 1, place, 0 }, { "places", 0, places, 0 } };

ERL_NIF_INIT(since29_nif, functions, NULL, NULL, NULL, NULL)
