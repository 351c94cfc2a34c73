/* SPDX-License-Identifier: Apache-2.0 */
/* What else a driver asks for: the VM, its environment, time, errors, other libraries. */
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "driver/driver_port.h"
#include "io/library_info.h"
#include "io/os_env.h"
#include "io/posix.h"
#include "proc/vm_time.h"

void driver_system_info(struct library_info *to, size_t bytes)
{
	library_info_get(to, bytes);
}

int erl_drv_getenv(const char *name, char *to, size_t *room)
{
	return library_info_getenv(name, to, room);
}

int erl_drv_putenv(const char *name, const char *value)
{
	os_env_set(name, value);
	return 0;
}

/* What stays: texts of atoms do. */
const char *erl_errno_id(int error)
{
	size_t n;

	return atom_text(posix_error_atom(error), &n);
}

int64_t erl_drv_convert_time_unit(int64_t value, int from, int to)
{
	return library_time_convert(value, from, to);
}

int64_t erl_drv_monotonic_time(int unit)
{
	return library_time_monotonic(unit);
}

int64_t erl_drv_time_offset(int unit)
{
	return library_time_offset(unit);
}

int driver_get_now(struct driver_now *now)
{
	int64_t us = vm_time_now_us();

	now->megaseconds = (unsigned long)(us / 1000000000000);
	now->seconds = (unsigned long)(us / 1000000 % 1000000);
	now->microseconds = (unsigned long)(us % 1000000);
	return 0;
}

/* 0 in either asks; ~0 in one: there is no limit from now on. */
void erl_drv_busy_msgq_limits(struct driver_port *dp, size_t *low, size_t *high)
{
	if (driver_port_lives(dp))
		port_busy_limits(dp->port, low, high);
}

void *driver_dl_open(const char *path)
{
	return dlopen(path, RTLD_NOW);
}

void *driver_dl_sym(void *handle, const char *symbol)
{
	return dlsym(handle, symbol);
}

int driver_dl_close(void *handle)
{
	return dlclose(handle);
}

char *driver_dl_error(void)
{
	return dlerror();
}

/* The port's name as Erlang prints it; room for 64 bytes is what callers have. */
void dtrace_drvport_str(struct driver_port *dp, char *to)
{
	if (driver_port_lives(dp))
		snprintf(to, 64, "#Port<0.%llu>", (unsigned long long)port_number(dp->port->id));
	else
		strcpy(to, "#Port<INVALID>");
}

int null_func(void)
{
	return 0;
}
