/* SPDX-License-Identifier: Apache-2.0 */
/* The start of the room. */
#include "driver/driver.h"

#include "driver/driver_port.h"
#include "proc/process.h"
#include "proc/process_life.h"

void driver_room_init(void)
{
	driver_libraries_init();
	driver_async_init();
	process_at_exit(driver_process_ends);
}
