/* SPDX-License-Identifier: Apache-2.0 */
/* A driver that does not start, in the way that its command's last letter says.
 * build: driver_start */
#include <errno.h>
#include <erl_driver.h>
#include <string.h>

static ErlDrvData start(ErlDrvPort port, char *command)
{
	(void)port;
	switch (command[strlen(command) - 1]) {
	case 'n':
		errno = ENOENT;
		return ERL_DRV_ERROR_ERRNO;
	case '0':
		errno = 0;
		return ERL_DRV_ERROR_ERRNO;
	case 'b':
		return ERL_DRV_ERROR_BADARG;
	default:
		return ERL_DRV_ERROR_GENERAL;
	}
}

static ErlDrvEntry entry = {
	.start = start,
	.driver_name = "driver_start",
	.extended_marker = ERL_DRV_EXTENDED_MARKER,
	.major_version = ERL_DRV_EXTENDED_MAJOR_VERSION,
	.minor_version = ERL_DRV_EXTENDED_MINOR_VERSION,
};

DRIVER_INIT(driver_start)
{
	return &entry;
}
