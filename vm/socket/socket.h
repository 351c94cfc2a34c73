/* SPDX-License-Identifier: Apache-2.0 */
/* The room of the module socket: the native functions of prim_socket and prim_net, as libraries that are linked in. */
#ifndef VM_SOCKET_SOCKET_H
#define VM_SOCKET_SOCKET_H

#include "nif/nif_abi.h"

extern const struct nif_entry socket_prim_socket, socket_prim_net;

#endif
