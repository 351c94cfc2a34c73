/* SPDX-License-Identifier: Apache-2.0 */
/* System calls that a kernel does not have, or that a filter refuses (seccomp, with EPERM in older containers): what is
 * newer than Linux 4.18 has a way round. */
#ifndef VM_BASE_REFUSED_H
#define VM_BASE_REFUSED_H

#include <errno.h>
#include <stdbool.h>

static inline bool call_is_refused(int error)
{
	return error == ENOSYS || error == EPERM;
}

#endif
