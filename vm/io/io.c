/* SPDX-License-Identifier: Apache-2.0 */
/* Starts the room and wires it into processes and messages. */
#include "io/io.h"

#include <limits.h>
#include <string.h>

#include "base/release.h"
#include "io/efile.h"
#include "io/filename.h"
#include "io/io_probe.h"
#include "io/os_env.h"
#include "io/port.h"
#include "io/port_send.h"
#include "io/port_signal.h"
#include "proc/process_life.h"
#include "proc/sched.h"

enum { LAST = INT_MAX };

static const struct {
	const struct port_driver *driver;
	bool by_name;
	int last;            /* release */
} drivers[] = {
#define DRIVER(stem, by_name, last) { &port_##stem##_driver, by_name, last },
#include "io/drivers.def"
};
enum { DRIVERS = sizeof(drivers) / sizeof(drivers[0]) };

static bool has_name(int i)
{
	return drivers[i].by_name && release_current->number <= drivers[i].last;
}

const struct port_driver *io_find_driver(const char *name, size_t n)
{
	for (int i = 0; i < DRIVERS; i++) {
		const struct port_driver *d = drivers[i].driver;

		if (has_name(i) && strlen(d->name) == n && memcmp(d->name, name, n) == 0)
			return d;
	}
	return NULL;
}

Term io_list_drivers(struct heap *h)
{
	Term list = NIL;

	for (int i = 0; i < DRIVERS; i++) {
		const char *name = drivers[i].driver->name;

		if (has_name(i))
			list = heap_cons(h, heap_list_bytes(h, name, strlen(name), NIL), list);
	}
	return list;
}

static void flush_at_halt(bool flush)
{
	if (flush)
		port_flush_all();
}

void io_init(void)
{
	filename_init();
	os_env_init();
	port_init();
	efile_init(port_new_id());
	message_send_port = port_send;
	signal_send_port = port_signal;
	process_at_exit(efile_process_exit);
	sched_at_halt(flush_at_halt);
	for (int i = 0; i < DRIVERS; i++)
		if (PROBE_ON(driver__init))
			probe_driver__init(drivers[i].driver->name, 0, 0, 0);
}
