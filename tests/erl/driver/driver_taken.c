/* SPDX-License-Identifier: Apache-2.0 */
/* Native functions and a driver in one library, which take a pipe's end from each other.
 * build: driver_taken */
#include <erl_driver.h>
#include <erl_nif.h>
#include <unistd.h>

static int ends[2] = { -1, -1 };
static ErlNifResourceType *type;
static void *resource;

/* ---- native functions */

static int load(ErlNifEnv *env, void **data, ERL_NIF_TERM info)
{
	ErlNifResourceTypeInit calls = { 0 };

	(void)data;
	(void)info;
	type = enif_open_resource_type_x(env, "pipe", &calls, ERL_NIF_RT_CREATE, NULL);
	resource = type != NULL ? enif_alloc_resource(type, 1) : NULL;
	return resource == NULL || pipe(ends) != 0;
}

static ERL_NIF_TERM select_pipe(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
	(void)argc;
	(void)argv;
	return enif_make_int(env, enif_select(env, ends[0], ERL_NIF_SELECT_READ, resource, NULL,
					      enif_make_atom(env, "undefined")));
}

static ERL_NIF_TERM write_pipe(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
	(void)argc;
	(void)argv;
	return enif_make_int(env, (int)write(ends[1], "!", 1));
}

static ERL_NIF_TERM read_pipe(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
	char byte;

	(void)argc;
	(void)argv;
	return enif_make_int(env, (int)read(ends[0], &byte, 1));
}

static ErlNifFunc functions[] = { { "select_pipe", 0, select_pipe, 0 }, { "write_pipe", 0, write_pipe, 0 },
				  { "read_pipe", 0, read_pipe, 0 } };

ERL_NIF_INIT(driver_taken, functions, load, NULL, NULL, NULL)

/* ---- the driver */

static ErlDrvData start(ErlDrvPort port, char *command)
{
	(void)command;
	return (ErlDrvData)port;
}

/* Told once. */
static void ready_input(ErlDrvData data, ErlDrvEvent event)
{
	driver_select((ErlDrvPort)data, event, ERL_DRV_READ, 0);
	driver_output((ErlDrvPort)data, "input", 5);
}

static ErlDrvSSizeT control(ErlDrvData data, unsigned command, char *bytes, ErlDrvSizeT n, char **answer, ErlDrvSizeT room)
{
	(void)command;
	(void)bytes;
	(void)n;
	(void)room;
	**answer = (char)driver_select((ErlDrvPort)data, (ErlDrvEvent)(long)ends[0], ERL_DRV_READ, 1);
	return 1;
}

static ErlDrvEntry entry = {
	.start = start,
	.ready_input = ready_input,
	.control = control,
	.driver_name = "driver_taken",
	.extended_marker = ERL_DRV_EXTENDED_MARKER,
	.major_version = ERL_DRV_EXTENDED_MAJOR_VERSION,
	.minor_version = ERL_DRV_EXTENDED_MINOR_VERSION,
};

DRIVER_INIT(driver_taken)
{
	return &entry;
}
