/* SPDX-License-Identifier: Apache-2.0 */
/* Libraries for nif_load.erl: one that is good, and others each with one thing wrong.
 * build: nif_load_good
 * build: nif_load_other -DNAME=nif_load_two
 * build: nif_load_newer -DMINOR=99
 * build: nif_load_old -DMINOR=5
 * build: nif_load_ancient -DMAJOR=1
 * build: nif_load_variant -DVARIANT=beam.other
 * build: nif_load_null -DNULL_ENTRY
 * build: nif_load_no_init -DINIT=some_init
 * build: nif_load_unresolved -DUNRESOLVED
 * build: nif_load_missing -DMISSING
 * build: nif_load_twice -DTWICE
 * build: nif_load_flags -DFLAGS=3
 * build: nif_load_veto -DVETO=17
 * build: nif_load_plain -DNO_UPGRADE
 * build: nif_load_2_6 -DMINOR=6 -DOLD_FUNCTIONS */
#include <erl_nif.h>
#include <string.h>

#ifndef NAME
#define NAME nif_load_one
#endif
#ifndef MAJOR
#define MAJOR 2
#endif
#ifndef MINOR
#define MINOR 16
#endif
#ifndef VARIANT
#define VARIANT beam.vanilla
#endif
#ifndef INIT
#define INIT nif_init
#endif
#ifndef FLAGS
#define FLAGS 0
#endif
#ifndef VETO
#define VETO 0
#endif
#define TEXT2(x) #x
#define TEXT(x) TEXT2(x)

/* What a library keeps between its calls: how often its kind was loaded or taken over, and who hears of its end. */
struct data {
	int generation;
	ErlNifPid watcher;
	int watched;
};

#ifdef UNRESOLVED
extern int nobody_has_this_function(void);
#endif

static ERL_NIF_TERM generation(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
	struct data *d = enif_priv_data(env);

	(void)argc;
	(void)argv;
#ifdef UNRESOLVED
	return enif_make_int(env, nobody_has_this_function());
#endif
	return enif_make_int(env, d->generation);
}

static ERL_NIF_TERM watch(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
	struct data *d = enif_priv_data(env);

	(void)argc;
	d->watched = enif_get_local_pid(env, argv[0], &d->watcher);
	return enif_make_int(env, d->watched);
}

static int load(ErlNifEnv *env, void **data, ERL_NIF_TERM info)
{
	struct data *d = enif_alloc(sizeof(*d));

	(void)env;
	memset(d, 0, sizeof(*d));
	if (!enif_get_int(env, info, &d->generation))
		d->generation = -1;
	*data = d;
	if (VETO)
		enif_free(d);
	return VETO;
}

#ifndef NO_UPGRADE
static int upgrade(ErlNifEnv *env, void **data, void **old, ERL_NIF_TERM info)
{
	struct data *d = enif_alloc(sizeof(*d)), *before = *old;
	int veto = 0;

	memset(d, 0, sizeof(*d));
	d->generation = before->generation + 1;
	*data = d;
	if (enif_get_int(env, info, &veto) && veto >= 100) {
		enif_free(d);
		return veto;
	}
	return 0;
}
#endif

static void unload(ErlNifEnv *env, void *data)
{
	struct data *d = data;
	ErlNifEnv *message = enif_alloc_env();

	if (d->watched)
		enif_send(env, &d->watcher, message, enif_make_tuple2(message, enif_make_atom(message, "unloaded"), enif_make_int(message, d->generation)));
	enif_free_env(message);
	enif_free(d);
}

#ifdef OLD_FUNCTIONS
/* As they were before 2.7. */
static struct {
	const char *name;
	unsigned arity;
	ERL_NIF_TERM (*call)(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[]);
} functions[] = { { "generation", 0, generation }, { "watch", 1, watch } };
#else
static ErlNifFunc functions[] = {
	{ "generation", 0, generation, FLAGS },
	{ "watch", 1, watch, 0 },
#ifdef MISSING
	{ "watch", 2, watch, 0 },
#endif
#ifdef TWICE
	{ "generation", 0, generation, 0 },
#endif
};
#endif

ErlNifEntry *INIT(void);
ErlNifEntry *INIT(void)
{
	static ErlNifEntry entry = {
		.major = MAJOR, .minor = MINOR, .name = TEXT(NAME),
		.num_of_funcs = sizeof(functions) / sizeof(functions[0]),
		.funcs = (ErlNifFunc *)functions, .load = load, .unload = unload, .vm_variant = TEXT(VARIANT),
		.options = 1,
		.sizeof_ErlNifResourceTypeInit = sizeof(ErlNifResourceTypeInit), .min_erts = "erts-99.0",
#ifndef NO_UPGRADE
		.upgrade = upgrade,
#endif
	};

#ifdef NULL_ENTRY
	return NULL;
#endif
	return &entry;
}
