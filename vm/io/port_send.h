/* SPDX-License-Identifier: Apache-2.0 */
/* Port ! Message. No port is held by the caller. */
#ifndef VM_IO_PORT_SEND_H
#define VM_IO_PORT_SEND_H

#include "proc/process.h"

/* Wired to message_send_port: see there. */
bool port_send(Process *from, Term id, Term to, Term message);
/* The same, but that nobody waits. False: nothing was sent, as who sends would wait. */
bool port_try_send(Process *from, Term id, Term message);
/* The send of p, which waits for a port, is to return that, not the message. Nothing when p does not wait in a send. */
void port_send_returns(Process *p, Term immediate);
/* Does p wait in a send? */
bool port_send_waits(const Process *p);

#endif
