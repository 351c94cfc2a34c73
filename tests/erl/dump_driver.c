/* SPDX-License-Identifier: Apache-2.0 */
/* A driver that says on standard output that the VM writes a crash dump. */
#include <erl_driver.h>
#include <unistd.h>

static ErlDrvData start(ErlDrvPort port, char *command)
{
	(void)command;
	return (ErlDrvData)port;
}

static void emergency_close(ErlDrvData data)
{
	ssize_t written = write(STDOUT_FILENO, "closed\n", 7);

	(void)data;
	(void)written;
}

static ErlDrvEntry entry = {
	.start = start, .emergency_close = emergency_close, .driver_name = "dump_driver",
	.extended_marker = (int)ERL_DRV_EXTENDED_MARKER, .major_version = ERL_DRV_EXTENDED_MAJOR_VERSION,
	.minor_version = ERL_DRV_EXTENDED_MINOR_VERSION, .driver_flags = ERL_DRV_FLAG_USE_PORT_LOCKING,
};

DRIVER_INIT(dump_driver)
{
	return &entry;
}
