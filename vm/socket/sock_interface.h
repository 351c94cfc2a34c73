/* SPDX-License-Identifier: Apache-2.0 */
/* Flags of network interfaces. */
#ifndef VM_SOCKET_SOCK_INTERFACE_H
#define VM_SOCKET_SOCK_INTERFACE_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>

#include "term/term.h"

struct sock_interface_flag {
	Term name;
	int bit;             /* 0: Linux has none */
	bool of_addresses;   /* prim_net:getifaddrs/1 tells it */
	int since;           /* release */
};
extern const struct sock_interface_flag sock_interface_flags[];
extern const size_t sock_interface_flag_count;

#endif
