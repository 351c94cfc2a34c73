/* SPDX-License-Identifier: Apache-2.0 */
/* What processes want of a port: done at once when nobody holds it, or else while they wait for their turn. Each
 * returns what the native that calls it returns. Takes: the reference to the port, and the data. */
#ifndef VM_IO_PORT_ASK_H
#define VM_IO_PORT_ASK_H

#include "io/port.h"

Term port_ask_command(Process *p, struct port *port, struct byte_queue *data, bool force, bool nosuspend);
Term port_ask_control(Process *p, struct port *port, unsigned command, uint8_t *data, size_t n);
/* data: a term in the external format. {ok, Term} or badarg. */
Term port_ask_call(Process *p, struct port *port, unsigned command, uint8_t *data, size_t n);
Term port_ask_close(Process *p, struct port *port);
Term port_ask_connect(Process *p, struct port *port, Term new_owner);
/* What `look` returns, built on that heap, for a port that is open, or still writes what is left; `closed` for
 * another. */
Term port_ask(Process *p, struct port *port, Term (*look)(struct port *port, struct heap *h, Term arg), Term arg,
	      Term closed);
/* Does p wait, in a send or port_command, until a port is not busy? p does not run, or asks. */
bool port_ask_waits(const Process *p);

#endif
