/* SPDX-License-Identifier: Apache-2.0 */
/* Control messages: maps #{level, type, data, value}, as socket.erl of OTP 25 has them; and values that options share
 * with them. */
#ifndef VM_SOCKET_SOCK_CONTROL_H
#define VM_SOCKET_SOCK_CONTROL_H

#include <sys/socket.h>

#include "heap/heap.h"

/* The list into the buffer of room bytes, of which *used are used. Fails: false. */
bool sock_control_read(Term list, uint8_t *buffer, size_t room, size_t *used);
/* A list. */
Term sock_control_put(struct heap *h, struct msghdr *from);
/* A list of one name for each bit, and a number for those without. */
Term sock_message_flags_put(struct heap *h, int flags);
/* [{Name, Bit}] of all names. */
Term sock_message_flags_list(struct heap *h);

/* lowdelay and so on, or a number; since OTP 29 also ef and its like, and #{precedence, tos}. Fails: false. */
bool sock_tos_read(Term t, int *tos);
/* Its name or number; since OTP 29 #{native, tos, dscp}. */
Term sock_tos_put(struct heap *h, int tos);

#endif
