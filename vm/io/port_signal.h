/* SPDX-License-Identifier: Apache-2.0 */
/* Signals to ports (links, exits, monitors), and what a port is linked to and watches. */
#ifndef VM_IO_PORT_SIGNAL_H
#define VM_IO_PORT_SIGNAL_H

#include "io/port.h"

/* Wired to signal_send_port. Takes: s. Returns false when there is no such port. No port is held by the caller. */
bool port_signal(Term to, struct signal *s);

/* ---- the port is held by the caller */
/* Watches a process: process_exit is called when it ends. Returns the monitor's number, 0 when there is no such
 * process. */
uint64_t port_monitor(struct port *port, Term pid);
void port_demonitor(struct port *port, Term pid, uint64_t monitor);
/* Once for each process, however often it is asked for. */
void port_link_add(struct port *port, Term pid);
/* False: there was none. */
bool port_link_remove(struct port *port, Term pid);
/* Who monitors it is told that it is down; the port forgets them. */
void port_monitors_drop(struct port *port, Term reason);

#endif
