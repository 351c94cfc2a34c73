/* SPDX-License-Identifier: Apache-2.0 */
/* For nif_upgrade.erl: a dirty function that lasts a little, and one that does not. */
#include <erl_nif.h>
#include <unistd.h>

static ERL_NIF_TERM slow(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
	(void)env;
	(void)argc;
	usleep(500);
	return argv[0];
}

static ERL_NIF_TERM quick(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
	(void)env;
	(void)argc;
	return argv[0];
}

static int load(ErlNifEnv *env, void **data, ERL_NIF_TERM info)
{
	(void)env;
	(void)data;
	(void)info;
	return 0;
}

static int upgrade(ErlNifEnv *env, void **data, void **old, ERL_NIF_TERM info)
{
	(void)env;
	(void)data;
	(void)old;
	(void)info;
	return 0;
}

static ErlNifFunc functions[] = {
	{ "slow", 1, slow, ERL_NIF_DIRTY_JOB_CPU_BOUND },
	{ "quick", 1, quick, 0 },
};

ERL_NIF_INIT(nif_upgraded, functions, load, NULL, upgrade, NULL)
