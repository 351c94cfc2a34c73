/* SPDX-License-Identifier: Apache-2.0 */
/* The driver of driver_queue.erl: tells the length of commands, controls make it busy or not, its last word is
 * "stops". */
#include <erl_driver.h>
#include <stdio.h>

static ErlDrvData start(ErlDrvPort port, char *command)
{
	(void)command;
	return (ErlDrvData)port;
}

static void output(ErlDrvData data, char *bytes, ErlDrvSizeT n)
{
	ErlDrvPort port = (ErlDrvPort)data;
	char text[32];

	(void)bytes;
	driver_output(port, text, (ErlDrvSizeT)snprintf(text, sizeof(text), "%lu", (unsigned long)n));
}

static ErlDrvSSizeT control(ErlDrvData data, unsigned command, char *bytes, ErlDrvSizeT n, char **answer,
			    ErlDrvSizeT room)
{
	ErlDrvPort port = (ErlDrvPort)data;
	ErlDrvSizeT low = 0, high = 0;

	(void)bytes;
	(void)n;
	switch (command) {
	case 'b': set_busy_port(port, 1); return 0;
	case 'n': set_busy_port(port, 0); return 0;
	case 'l':
		erl_drv_busy_msgq_limits(port, &low, &high);
		return snprintf(*answer, room, "%ld %ld", (long)low, (long)high);
	default: return 0;
	}
}

static void stop(ErlDrvData data)
{
	driver_output((ErlDrvPort)data, "stops", 5);
}

static ErlDrvEntry entry = {
	.start = start,
	.stop = stop,
	.output = output,
	.control = control,
	.driver_name = "driver_queue",
	.extended_marker = (int)ERL_DRV_EXTENDED_MARKER,
	.major_version = ERL_DRV_EXTENDED_MAJOR_VERSION,
	.minor_version = ERL_DRV_EXTENDED_MINOR_VERSION,
	.driver_flags = ERL_DRV_FLAG_USE_PORT_LOCKING,
};

DRIVER_INIT(driver_queue)
{
	return &entry;
}
