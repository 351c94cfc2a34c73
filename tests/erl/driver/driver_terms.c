/* SPDX-License-Identifier: Apache-2.0 */
/* Terms described as words: good ones, and some that are none. A control sends the one of its number and answers what
 * sending it said. */
#include <erl_driver.h>
#include <math.h>
#include <string.h>

static ErlDrvData start(ErlDrvPort port, char *command)
{
	(void)command;
	return (ErlDrvData)port;
}

static ErlDrvBinary *bytes;
static double a_float = 1.5, no_number;
static ErlDrvSInt64 least = -9223372036854775807L - 1;
static ErlDrvUInt64 most = 18446744073709551615UL;
static char external[] = "\203h\2a\1m\0\0\0\2ab"; /* {1, <<"ab">>} */
static char text[] = "some text that has more than a few characters, so that it is no small binary any more....";

#define WORD(x) ((ErlDrvTermData)(x))
#define DO(...) { (ErlDrvTermData[]){ __VA_ARGS__ }, sizeof((ErlDrvTermData[]){ __VA_ARGS__ }) / sizeof(ErlDrvTermData) }

struct words { ErlDrvTermData *words; size_t n; };

static struct words describe(int i, ErlDrvTermData port, ErlDrvTermData pid)
{
	static ErlDrvTermData kept[64];
	ErlDrvTermData a = driver_mk_atom("a"), b = driver_mk_atom("b");
	const struct words all[] = {
		/* good */
		DO(ERL_DRV_NIL), DO(ERL_DRV_ATOM, a), DO(ERL_DRV_INT, WORD(-7)), DO(ERL_DRV_INT, WORD(least)),
		DO(ERL_DRV_UINT, WORD(most)), DO(ERL_DRV_INT64, WORD(&least)), DO(ERL_DRV_UINT64, WORD(&most)),
		DO(ERL_DRV_PORT, port), DO(ERL_DRV_PID, pid), DO(ERL_DRV_BINARY, WORD(bytes), 5, 2),
		DO(ERL_DRV_BINARY, WORD(bytes), 90, 3), DO(ERL_DRV_BINARY, WORD(bytes), 0, 0),
		DO(ERL_DRV_BUF2BINARY, WORD(text), 4), DO(ERL_DRV_BUF2BINARY, WORD(text), 80),
		DO(ERL_DRV_BUF2BINARY, 0, 0), DO(ERL_DRV_STRING, WORD(text), 4), DO(ERL_DRV_STRING, WORD(text), 0),
		DO(ERL_DRV_ATOM, a, ERL_DRV_STRING_CONS, WORD(text), 4), DO(ERL_DRV_FLOAT, WORD(&a_float)),
		DO(ERL_DRV_EXT2TERM, WORD(external), sizeof(external) - 1), DO(ERL_DRV_TUPLE, 0),
		DO(ERL_DRV_INT, 1, ERL_DRV_INT, 2, ERL_DRV_NIL, ERL_DRV_LIST, 3),
		DO(ERL_DRV_INT, 1, ERL_DRV_INT, 2, ERL_DRV_LIST, 2), DO(ERL_DRV_INT, 1, ERL_DRV_LIST, 1),
		DO(ERL_DRV_MAP, 0), DO(ERL_DRV_ATOM, b, ERL_DRV_INT, 1, ERL_DRV_ATOM, a, ERL_DRV_INT, 2, ERL_DRV_MAP, 2),
		DO(ERL_DRV_ATOM, a, ERL_DRV_NIL, ERL_DRV_TUPLE, 2, ERL_DRV_FLOAT, WORD(&a_float), ERL_DRV_TUPLE, 2),
		/* none */
		DO(0), DO(18), DO(ERL_DRV_ATOM), DO(ERL_DRV_ATOM, port), DO(ERL_DRV_PORT, a), DO(ERL_DRV_PID, port),
		DO(ERL_DRV_NIL, ERL_DRV_NIL), DO(ERL_DRV_INT), DO(ERL_DRV_BINARY, 0, 0, 0), DO(ERL_DRV_BINARY, WORD(bytes), 5),
		DO(ERL_DRV_BINARY, WORD(bytes), 101, 0), DO(ERL_DRV_BINARY, WORD(bytes), 50, 51),
		DO(ERL_DRV_BUF2BINARY, 0, 1), DO(ERL_DRV_STRING, 0, 0), DO(ERL_DRV_STRING, WORD(text), WORD(-1)),
		DO(ERL_DRV_STRING_CONS, WORD(text), 2), DO(ERL_DRV_LIST, 0), DO(ERL_DRV_NIL, ERL_DRV_LIST, 2),
		DO(ERL_DRV_LIST, WORD(-1)), DO(ERL_DRV_TUPLE, 1), DO(ERL_DRV_TUPLE, WORD(-1)), DO(ERL_DRV_MAP, 1),
		DO(ERL_DRV_NIL, ERL_DRV_MAP, 1), DO(ERL_DRV_NIL, ERL_DRV_NIL, ERL_DRV_NIL, ERL_DRV_NIL, ERL_DRV_MAP, 2),
		DO(ERL_DRV_FLOAT, WORD(&no_number)), DO(ERL_DRV_EXT2TERM, 0, 1), DO(ERL_DRV_EXT2TERM, WORD(external), 0),
		DO(ERL_DRV_EXT2TERM, WORD(external), 7), DO(ERL_DRV_EXT2TERM, WORD(text), 7),
		DO(ERL_DRV_NIL, ERL_DRV_FLOAT, WORD(&no_number), ERL_DRV_TUPLE, 2), { kept, 0 },
	};

	if (i >= (int)(sizeof(all) / sizeof(all[0])))
		return (struct words){ NULL, 0 };
	memcpy(kept, all[i].words, all[i].n * sizeof(kept[0]));
	return (struct words){ kept, all[i].n };
}

/* As many as a large map has. */
static int send_map(ErlDrvTermData port, int pairs, int same)
{
	static ErlDrvTermData words[4 * 1000 + 2];
	int n = 0;

	for (int i = 0; i < pairs; i++) {
		words[n++] = ERL_DRV_INT;
		words[n++] = (ErlDrvTermData)(i == pairs - 1 && same ? 0 : i);
		words[n++] = ERL_DRV_INT;
		words[n++] = (ErlDrvTermData)(i * i);
	}
	words[n++] = ERL_DRV_MAP;
	words[n++] = (ErlDrvTermData)pairs;
	return erl_drv_output_term(port, words, n);
}

static ErlDrvSSizeT control(ErlDrvData data, unsigned command, char *argument, ErlDrvSizeT n, char **answer,
			    ErlDrvSizeT room)
{
	ErlDrvPort port = (ErlDrvPort)data;
	ErlDrvTermData id = driver_mk_port(port), pid = driver_connected(port);
	struct words w = describe((int)command, id, pid);
	int result;

	(void)room;
	(void)n;
	no_number = INFINITY;
	if (command >= 1000)
		result = send_map(id, (int)command - 1000, argument[0] == 's');
	else if (w.words == NULL)
		return 0;
	else if (argument[0] == 't') /* to the caller */
		result = erl_drv_send_term(id, driver_caller(port), w.words, (int)w.n);
	else if (argument[0] == 'p') /* to what is no process */
		result = erl_drv_send_term(id, id, w.words, (int)w.n);
	else
		result = erl_drv_output_term(id, w.words, (int)w.n);
	(*answer)[0] = (char)('1' + result);
	return 1;
}

static int init(void)
{
	bytes = driver_alloc_binary(100);
	for (int i = 0; i < 100; i++)
		bytes->orig_bytes[i] = (char)('0' + i % 50);
	return 0;
}

static void finish(void)
{
	driver_free_binary(bytes);
}

static ErlDrvEntry entry = {
	.init = init, .start = start, .finish = finish, .driver_name = "driver_terms", .control = control,
	.extended_marker = (int)ERL_DRV_EXTENDED_MARKER, .major_version = ERL_DRV_EXTENDED_MAJOR_VERSION,
	.minor_version = ERL_DRV_EXTENDED_MINOR_VERSION, .driver_flags = ERL_DRV_FLAG_USE_PORT_LOCKING,
};

DRIVER_INIT(driver_terms)
{
	return &entry;
}
