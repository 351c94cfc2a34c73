/* SPDX-License-Identifier: Apache-2.0 */
/* The native functions of bench/world.erl, which do next to nothing: what a call of one costs. */
#include <erl_nif.h>

static ERL_NIF_TERM plain(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
	(void)argc;
	(void)argv;
	return enif_make_int(env, 1);
}

static ERL_NIF_TERM add(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
	long a, b;

	(void)argc;
	if (!enif_get_long(env, argv[0], &a) || !enif_get_long(env, argv[1], &b))
		return enif_make_badarg(env);
	return enif_make_long(env, a + b);
}

static ErlNifFunc functions[] = {
	{ "plain", 0, plain, 0 },
	{ "add", 2, add, 0 },
	{ "dirty", 0, plain, ERL_NIF_DIRTY_JOB_CPU_BOUND },
};

ERL_NIF_INIT(world, functions, NULL, NULL, NULL, NULL)
