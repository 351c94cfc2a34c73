/* SPDX-License-Identifier: Apache-2.0 */
/* Links and monitors of ports. The port is held. */
#ifndef VM_IO_PORT_SIGNAL_H
#define VM_IO_PORT_SIGNAL_H

#include "io/port.h"

void port_link_add(struct port *port, Term pid);
/* False: there was none. */
bool port_link_remove(struct port *port, Term pid);
/* Who monitors it is told that it is down. */
void port_monitors_drop(struct port *port, Term reason);

#endif
