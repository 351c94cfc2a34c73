/* SPDX-License-Identifier: Apache-2.0 */
/* A library for probe_target: a driver whose callbacks are counted, and a native function. It is built from the VM's
 * own description of both interfaces, so that it needs no header of an installed Erlang/OTP. */
#include <string.h>
#include <unistd.h>

#include "driver/driver_abi.h"
#include "nif/nif_abi.h"

int driver_select(struct driver_port *port, void *event, int mode, int on);
int driver_output(struct driver_port *port, const char *bytes, size_t n);
int driver_set_timer(struct driver_port *port, unsigned long ms);
long driver_async(struct driver_port *port, unsigned *key, void (*run)(void *), void *data, void (*drop)(void *));
int driver_enq(struct driver_port *port, const char *bytes, size_t n);
size_t driver_deq(struct driver_port *port, size_t n);
size_t driver_sizeq(struct driver_port *port);
int driver_monitor_process(struct driver_port *port, Term pid, struct driver_monitor *monitor);
Term driver_caller(struct driver_port *port);
struct driver_entry *driver_init(void);
const struct nif_entry *nif_init(void);

enum { ALL = 17, MONITOR = 19 };

/* One port at a time. */
static struct driver_port *port;
static int fds[2];

static void *start(struct driver_port *p, char *command)
{
	(void)command;
	port = p;
	return pipe(fds) == 0 ? p : DRIVER_ERROR_ERRNO;
}

static void stop(void *data)
{
	(void)data;
	driver_select(port, (void *)(intptr_t)fds[0], DRIVER_USE, 0);
	close(fds[1]);
}

static void tell(const char *what)
{
	driver_output(port, what, strlen(what));
}

static void output(void *data, char *bytes, size_t n)
{
	(void)data;
	driver_enq(port, bytes, n);
}

static void ready_input(void *data, void *event)
{
	char byte;

	(void)data;
	tell(read((int)(intptr_t)event, &byte, 1) == 1 ? "input" : "nothing");
}

static void ready_output(void *data, void *event)
{
	(void)data;
	driver_select(port, event, DRIVER_WRITE, 0);
	tell(write((int)(intptr_t)event, "x", 1) == 1 ? "output" : "nothing");
}

static void timeout(void *data)
{
	(void)data;
	tell("timeout");
}

static void work(void *data)
{
	(void)data;
}

static void ready_async(void *data, void *job)
{
	(void)data;
	(void)job;
	tell("async");
}

static void process_exit(void *data, struct driver_monitor *monitor)
{
	(void)data;
	(void)monitor;
	tell("exit");
}

static void flush(void *data)
{
	(void)data;
	driver_deq(port, driver_sizeq(port));
}

static void stop_select(void *event, void *reserved)
{
	(void)reserved;
	close((int)(intptr_t)event);
}

static void finish(void)
{
}

static int init(void)
{
	return 0;
}

static ssize_t control(void *data, unsigned command, char *bytes, size_t n, char **answer, size_t room)
{
	struct driver_monitor monitor;

	(void)data;
	(void)bytes;
	(void)n;
	(void)answer;
	(void)room;
	if (command == MONITOR)
		return driver_monitor_process(port, driver_caller(port), &monitor);
	driver_set_timer(port, 0);
	driver_async(port, NULL, work, NULL, NULL);
	driver_select(port, (void *)(intptr_t)fds[0], DRIVER_READ | DRIVER_USE, 1);
	driver_select(port, (void *)(intptr_t)fds[1], DRIVER_WRITE | DRIVER_USE, 1);
	return 0;
}

static ssize_t call(void *data, unsigned command, char *bytes, size_t n, char **answer, size_t room, unsigned *flags)
{
	(void)data;
	(void)command;
	(void)flags;
	if (n > room)
		return -1;
	memcpy(*answer, bytes, n);
	return (ssize_t)n;
}

struct driver_entry *driver_init(void)
{
	static struct driver_entry entry = {
		.init = init, .start = start, .stop = stop, .output = output, .ready_input = ready_input,
		.ready_output = ready_output, .name = "probe_driver", .finish = finish, .control = control,
		.timeout = timeout, .ready_async = ready_async, .flush = flush, .call = call,
		.marker = (uint32_t)DRIVER_MARKER, .major = DRIVER_MAJOR, .minor = 3,
		.flags = DRIVER_PORT_LOCKING | DRIVER_SOFT_BUSY, .process_exit = process_exit, .stop_select = stop_select,
	};

	return &entry;
}

static Term native(struct nif_env *env, int argc, const Term *argv)
{
	(void)env;
	(void)argc;
	return argv[0];
}

const struct nif_entry *nif_init(void)
{
	static struct nif_entry_function functions[] = { { "native", 1, native, 0 } };
	static const struct nif_entry entry = {
		.major = NIF_MAJOR, .minor = NIF_LINKED_MINOR, .name = "probe_target", .function_count = 1,
		.functions = functions, .vm_variant = NIF_VM_VARIANT, .oldest_erts = "erts-13.0",
		.type_init_bytes = sizeof(struct nif_type_init),
	};

	return &entry;
}
