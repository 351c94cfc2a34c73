/* SPDX-License-Identifier: Apache-2.0 */
/* Starts the room and wires it into processes and messages. */
#include "io/io.h"

#include "io/efile.h"
#include "io/filename.h"
#include "io/os_env.h"
#include "io/io_probe.h"
#include "io/os_env.h"
#include "io/port.h"
#include "proc/sched.h"

/* OTP's numbers of the driver interface that the drivers' probes tell. */
#define DRIVER_MAJOR 3
#define DRIVER_MINOR 3

static void init_driver(const struct port_driver *d)
{
	if (PROBE_ON(driver__init))
		probe_driver__init(d->name, DRIVER_MAJOR, DRIVER_MINOR, 0);
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
	sched_at_halt(port_flush_all);
	init_driver(&port_fd_driver);
	init_driver(&port_spawn_driver);
	init_driver(&port_file_driver);
}
