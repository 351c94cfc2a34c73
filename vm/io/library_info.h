/* SPDX-License-Identifier: Apache-2.0 */
/* What libraries of native functions and of drivers ask alike: the VM, its environment, time. */
#ifndef VM_IO_LIBRARY_INFO_H
#define VM_IO_LIBRARY_INFO_H

#include <stddef.h>
#include <stdint.h>

#include "heap/heap.h"

/* As ErlDrvSysInfo of erl_drv_nif.h. */
struct library_info {
	int driver_major, driver_minor;
	const char *erts_version, *otp_release;
	int has_threads, has_smp;
	int async_threads, schedulers;
	int nif_major, nif_minor;
	int has_dirty_schedulers;
};

/* The first bytes of it, for who knows no more. */
void library_info_get(struct library_info *to, size_t bytes);
/* As getenv of the environment that Erlang code sees. Returns 0; 1 when the value, with its NUL, needs more room:
 * *room says how much; -1 when it is not set. */
int library_info_getenv(const char *name, char *to, size_t *room);

/* system_info(taints): the atoms of modules and drivers that have loaded a library since the VM started, in their
 * order. */
void library_taint_add(Term name);
Term library_taints(struct heap *h);

#define LIBRARY_TIME_ERROR INT64_MIN
enum { LIBRARY_SEC, LIBRARY_MSEC, LIBRARY_USEC, LIBRARY_NSEC };
/* Fails: LIBRARY_TIME_ERROR, there is no such unit. Rounds down. */
int64_t library_time_convert(int64_t value, int from, int to);
int64_t library_time_monotonic(int unit);
int64_t library_time_offset(int unit);

#endif
