/* SPDX-License-Identifier: Apache-2.0 */
/* A driver whose ports share a pipe: which of them waits for it changes, and its numbers are opened again.
 * build: driver_select */
#include <erl_driver.h>
#include <unistd.h>

static struct {
	int ends[2];
	int stops; /* of ports */
} shared = { { -1, -1 }, 0 };

struct state {
	ErlDrvPort port;
	ErlDrvTermData id;
};

static ErlDrvData start(ErlDrvPort port, char *command)
{
	struct state *s = driver_alloc(sizeof(*s));

	(void)command;
	*s = (struct state){ port, driver_mk_port(port) };
	return (ErlDrvData)s;
}

static void stop(ErlDrvData data)
{
	shared.stops++;
	driver_free((void *)data);
}

/* {Port, What} to the owner. */
static void tell(struct state *s, char *what)
{
	ErlDrvTermData words[] = { ERL_DRV_PORT, s->id, ERL_DRV_ATOM, driver_mk_atom(what), ERL_DRV_TUPLE, 2 };

	erl_drv_output_term(s->id, words, sizeof(words) / sizeof(words[0]));
}

static void ready_input(ErlDrvData data, ErlDrvEvent event)
{
	char byte;

	tell((struct state *)data, read((int)(long)event, &byte, 1) == 1 ? "input" : "nothing");
}

/* Told once: it would be so again and again. */
static void ready_output(ErlDrvData data, ErlDrvEvent event)
{
	struct state *s = (struct state *)data;

	tell(s, "output");
	driver_select(s->port, event, ERL_DRV_WRITE, 0);
}

static void stop_select(ErlDrvEvent event, void *reserved)
{
	(void)reserved;
	close((int)(long)event);
}

static int select_end(struct state *s, int end, int mode, int on)
{
	return driver_select(s->port, (ErlDrvEvent)(long)shared.ends[end], mode, on);
}

static int act(struct state *s, unsigned command)
{
	switch (command) {
	case 'o': return pipe(shared.ends);
	case 'w': return write(shared.ends[1], "!", 1) == 1 ? 0 : -1;
	case 's': return select_end(s, 0, ERL_DRV_READ | ERL_DRV_USE, 1);
	case 'd': return select_end(s, 0, ERL_DRV_READ, 0);
	case 'x': return select_end(s, 0, ERL_DRV_READ | ERL_DRV_USE, 0) | close(shared.ends[1]);
	case 'r': return select_end(s, 0, ERL_DRV_READ, 1);
	case 'c': return select_end(s, 0, ERL_DRV_READ, 0) | close(shared.ends[0]) | close(shared.ends[1]);
	case 'b': return select_end(s, 1, ERL_DRV_READ | ERL_DRV_WRITE | ERL_DRV_USE, 1) |
			 select_end(s, 1, ERL_DRV_READ | ERL_DRV_USE_NO_CALLBACK, 0);
	case 'a': return select_end(s, 1, ERL_DRV_WRITE | ERL_DRV_USE, 1);
	case 'q': return driver_enq(s->port, "left", 4);
	default: return shared.stops;
	}
}

static ErlDrvSSizeT control(ErlDrvData data, unsigned command, char *bytes, ErlDrvSizeT n, char **answer, ErlDrvSizeT room)
{
	(void)bytes;
	(void)n;
	(void)room;
	**answer = (char)act((struct state *)data, command);
	return 1;
}

static ErlDrvEntry entry = {
	.start = start, .stop = stop, .ready_input = ready_input, .ready_output = ready_output, .stop_select = stop_select,
	.control = control, .driver_name = "driver_select",
	.extended_marker = ERL_DRV_EXTENDED_MARKER, .major_version = ERL_DRV_EXTENDED_MAJOR_VERSION,
	.minor_version = ERL_DRV_EXTENDED_MINOR_VERSION, .driver_flags = ERL_DRV_FLAG_USE_PORT_LOCKING,
};

DRIVER_INIT(driver_select)
{
	return &entry;
}
