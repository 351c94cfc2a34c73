/* SPDX-License-Identifier: Apache-2.0 */
/* What ports' openings and ends (port.c) do to their table. Who looks ports up has port.h. */
#ifndef VM_IO_PORT_TABLE_H
#define VM_IO_PORT_TABLE_H

#include "io/port.h"

/* A place in the table, for port_table_enter; port_table_leave gives it back. */
bool port_table_take_place(void);
void port_table_enter(struct port *port);
void port_table_leave(struct port *port);
/* Every port now in the table, counted. Owns: the caller. */
struct port **port_table_all(size_t *n);
/* Units: bytes, of all ports that ever were. */
void port_table_count_output(size_t n);

#endif
