/* SPDX-License-Identifier: Apache-2.0 */
/* A driver whose every way to say something is asked for by the first byte of a command. */
#include <erl_driver.h>
#include <stdbool.h>
#include <unistd.h>

#pragma GCC diagnostic ignored "-Wdeprecated-declarations" /* two functions of old */

struct port {
	ErlDrvPort port;
	ErlDrvTermData kept; /* a process: who sent 'k' */
	bool slow;           /* its timeouts take 30 ms */
};

static ErlDrvData start(ErlDrvPort port, char *command)
{
	struct port *p = driver_alloc(sizeof(*p));

	(void)command;
	*p = (struct port){ .port = port, .kept = driver_caller(port) };
	return (ErlDrvData)p;
}

static void stop(ErlDrvData data)
{
	driver_free(data);
}

#define WORDS(p) { ERL_DRV_ATOM, driver_mk_atom("said"), ERL_DRV_PORT, driver_mk_port((p)->port), ERL_DRV_INT, 7, \
	ERL_DRV_TUPLE, 3 }
#define COUNT(words) ((int)(sizeof(words) / sizeof((words)[0])))

static void output(ErlDrvData data, char *bytes, ErlDrvSizeT n)
{
	struct port *p = (struct port *)data;
	ErlDrvTermData words[] = WORDS(p), two[] = { ERL_DRV_ATOM, driver_mk_atom("a"), ERL_DRV_NIL, ERL_DRV_TUPLE, 2 };
	ErlDrvTermData one[] = { ERL_DRV_INT, 1 };

	switch (n > 0 ? bytes[0] : 0) {
	case 'k': p->kept = driver_caller(p->port); break;
	case 'o': erl_drv_output_term(driver_mk_port(p->port), words, COUNT(words)); break;
	case 'O': driver_output_term(p->port, words, COUNT(words)); break;
	case 's': erl_drv_send_term(driver_mk_port(p->port), p->kept, words, COUNT(words)); break;
	case 'S': driver_send_term(p->port, p->kept, words, COUNT(words)); break;
	case '2': driver_output_term(p->port, two, COUNT(two)); break;
	case '1': driver_output_term(p->port, one, COUNT(one)); break;
	case 'b': driver_output(p->port, bytes, n); break;
	case 't': driver_set_timer(p->port, 0); break;
	case 'l': p->slow = true; driver_set_timer(p->port, 0); break;
	default: break;
	}
}

static void timeout(ErlDrvData data)
{
	struct port *p = (struct port *)data;
	ErlDrvTermData words[] = WORDS(p);

	if (p->slow)
		usleep(30000);
	driver_output_term(p->port, words, COUNT(words));
}

/* Command 0 answers what came, 1 what is no term, others nothing. */
static ErlDrvSSizeT call(ErlDrvData data, unsigned command, char *bytes, ErlDrvSizeT n, char **answer, ErlDrvSizeT room,
			 unsigned *flags)
{
	(void)data;
	(void)flags;
	if (command > 1 || n > room)
		return -1;
	for (ErlDrvSizeT i = 0; i < n; i++)
		(*answer)[i] = bytes[i];
	if (command == 1)
		(*answer)[0] = 0;
	return (ErlDrvSSizeT)n;
}

static ErlDrvEntry entry = {
	.start = start, .stop = stop, .output = output, .timeout = timeout, .call = call, .driver_name = "driver_traced",
	.extended_marker = (int)ERL_DRV_EXTENDED_MARKER, .major_version = ERL_DRV_EXTENDED_MAJOR_VERSION,
	.minor_version = ERL_DRV_EXTENDED_MINOR_VERSION, .driver_flags = ERL_DRV_FLAG_USE_PORT_LOCKING,
};

DRIVER_INIT(driver_traced)
{
	return &entry;
}
