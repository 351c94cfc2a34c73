/* SPDX-License-Identifier: Apache-2.0 */
/* What erl_nif.h 2.17 added: encodings, options for the end of the VM. Its functions are declared here, so that an older header does. */
#include <erl_nif.h>
#include <pthread.h>
#include <string.h>
#include <unistd.h>

#if ERL_NIF_MAJOR_VERSION == 2 && ERL_NIF_MINOR_VERSION < 17
typedef enum { ERL_NIF_OPT_DELAY_HALT = 1, ERL_NIF_OPT_ON_HALT = 2 } ErlNifOption;
#define ERL_NIF_UTF8 2
int enif_get_string_length(ErlNifEnv *env, ERL_NIF_TERM list, unsigned *length, ErlNifCharEncoding encoding);
int enif_make_new_atom(ErlNifEnv *env, const char *name, ERL_NIF_TERM *atom, ErlNifCharEncoding encoding);
int enif_make_new_atom_len(ErlNifEnv *env, const char *name, size_t n, ERL_NIF_TERM *atom, ErlNifCharEncoding encoding);
int enif_set_option(ErlNifEnv *env, ErlNifOption option, ...);
#endif

static struct {
	pthread_mutex_t lock;
	pthread_cond_t changed;
	int halting, waiting;
} state = { .lock = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER };

static void write_text(const char *text, size_t n)
{
	if (write(1, text, n) < 0)
		state.halting = 2;
}

static void on_halt(void *data)
{
	static const char text[] = "on_halt\n";

	pthread_mutex_lock(&state.lock);
	if (data == &state)
		write_text(text, sizeof(text) - 1);
	state.halting = 1;
	pthread_cond_broadcast(&state.changed);
	pthread_mutex_unlock(&state.lock);
}

static ERL_NIF_TERM options[6];
static int option_count;

static int load(ErlNifEnv *env, void **data, ERL_NIF_TERM info)
{
	(void)info;
	*data = &state;
	options[option_count++] = enif_make_int(env, enif_set_option(env, ERL_NIF_OPT_ON_HALT, (void *)0) != 0);
	options[option_count++] = enif_make_int(env, enif_set_option(env, ERL_NIF_OPT_ON_HALT, on_halt) != 0);
	options[option_count++] = enif_make_int(env, enif_set_option(env, ERL_NIF_OPT_ON_HALT, on_halt) != 0);
	options[option_count++] = enif_make_int(env, enif_set_option(env, ERL_NIF_OPT_DELAY_HALT) != 0);
	options[option_count++] = enif_make_int(env, enif_set_option(env, ERL_NIF_OPT_DELAY_HALT) != 0);
	options[option_count++] = enif_make_int(env, enif_set_option(env, (ErlNifOption)17) != 0);
	return 0;
}

static ERL_NIF_TERM refused(ErlNifEnv *env, int argc, const ERL_NIF_TERM *argv)
{
	(void)argc;
	(void)argv;
	return enif_make_tuple2(env, enif_make_list_from_array(env, options, (unsigned)option_count),
				enif_make_int(env, enif_set_option(env, ERL_NIF_OPT_DELAY_HALT) != 0));
}

static ERL_NIF_TERM say(ErlNifEnv *env, int argc, const ERL_NIF_TERM *argv)
{
	ErlNifBinary b;

	(void)argc;
	if (!enif_inspect_iolist_as_binary(env, argv[0], &b))
		return enif_make_badarg(env);
	write_text((const char *)b.data, b.size);
	return enif_make_atom(env, "ok");
}

/* Dirty: returns when the VM ends. */
static ERL_NIF_TERM wait_for_halt(ErlNifEnv *env, int argc, const ERL_NIF_TERM *argv)
{
	static const char text[] = "returned\n";

	(void)argc;
	(void)argv;
	pthread_mutex_lock(&state.lock);
	state.waiting = 1;
	while (!state.halting)
		pthread_cond_wait(&state.changed, &state.lock);
	pthread_mutex_unlock(&state.lock);
	usleep(200000);
	write_text(text, sizeof(text) - 1);
	return enif_make_atom(env, "ok");
}

static ERL_NIF_TERM is_waiting(ErlNifEnv *env, int argc, const ERL_NIF_TERM *argv)
{
	(void)argc;
	(void)argv;
	return enif_make_int(env, state.waiting);
}

static int encoding_of(ErlNifEnv *env, ERL_NIF_TERM t)
{
	int encoding;

	return enif_get_int(env, t, &encoding) ? encoding : 0;
}

/* string(List, Room, Encoding) -> {Length | none, Result, Bytes} */
static ERL_NIF_TERM string(ErlNifEnv *env, int argc, const ERL_NIF_TERM *argv)
{
	char buffer[64] = "untouched";
	unsigned n, room;
	int result;
	ERL_NIF_TERM length = enif_make_atom(env, "none");

	(void)argc;
	if (!enif_get_uint(env, argv[1], &room) || room > sizeof(buffer))
		return enif_make_badarg(env);
	if (enif_get_string_length(env, argv[0], &n, encoding_of(env, argv[2])))
		length = enif_make_uint(env, n);
	result = enif_get_string(env, argv[0], buffer, room, encoding_of(env, argv[2]));
	return enif_make_tuple3(env, length, enif_make_int(env, result), enif_make_string(env, buffer, ERL_NIF_LATIN1));
}

/* made(Bytes, Encoding) -> {New | none, Existing | none} */
static ERL_NIF_TERM made(ErlNifEnv *env, int argc, const ERL_NIF_TERM *argv)
{
	ERL_NIF_TERM fresh = enif_make_atom(env, "none"), known = fresh, existed = fresh, t;
	ErlNifBinary b;
	int encoding = encoding_of(env, argv[1]);

	(void)argc;
	if (!enif_inspect_binary(env, argv[0], &b))
		return enif_make_badarg(env);
	if (enif_make_existing_atom_len(env, (const char *)b.data, b.size, &t, encoding))
		existed = t;
	if (enif_make_new_atom_len(env, (const char *)b.data, b.size, &t, encoding))
		fresh = t;
	if (enif_make_existing_atom_len(env, (const char *)b.data, b.size, &t, encoding))
		known = t;
	return enif_make_tuple3(env, existed, fresh, known);
}

static ERL_NIF_TERM named(ErlNifEnv *env, int argc, const ERL_NIF_TERM *argv)
{
	ERL_NIF_TERM t;

	(void)argc;
	(void)argv;
	return enif_make_new_atom(env, "sm\xc3\xb8r", &t, ERL_NIF_UTF8) ? t : enif_make_badarg(env);
}

/* atom(Atom, Room, Encoding) -> {Length | none, Result, Bytes} */
static ERL_NIF_TERM atom(ErlNifEnv *env, int argc, const ERL_NIF_TERM *argv)
{
	char buffer[64] = "";
	unsigned n, room;
	int result;
	ERL_NIF_TERM length = enif_make_atom(env, "none");

	(void)argc;
	if (!enif_get_uint(env, argv[1], &room) || room > sizeof(buffer))
		return enif_make_badarg(env);
	if (enif_get_atom_length(env, argv[0], &n, encoding_of(env, argv[2])))
		length = enif_make_uint(env, n);
	result = enif_get_atom(env, argv[0], buffer, room, encoding_of(env, argv[2]));
	return enif_make_tuple3(env, length, enif_make_int(env, result), enif_make_string(env, buffer, ERL_NIF_LATIN1));
}

static ERL_NIF_TERM listed(ErlNifEnv *env, int argc, const ERL_NIF_TERM *argv)
{
	ErlNifBinary b;

	(void)argc;
	if (!enif_inspect_binary(env, argv[0], &b))
		return enif_make_badarg(env);
	return enif_make_string_len(env, (const char *)b.data, b.size, encoding_of(env, argv[1]));
}

static ErlNifFunc functions[] = {
	{ "refused", 0, refused, 0 }, { "say", 1, say, 0 }, { "is_waiting", 0, is_waiting, 0 },
	{ "wait_for_halt", 0, wait_for_halt, ERL_NIF_DIRTY_JOB_IO_BOUND }, { "string", 3, string, 0 }, { "made", 2, made, 0 },
	{ "named", 0, named, 0 }, { "atom", 3, atom, 0 }, { "listed", 2, listed, 0 },
};

ERL_NIF_INIT(since27_nif, functions, load, NULL, NULL, NULL)
