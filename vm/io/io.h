/* SPDX-License-Identifier: Apache-2.0 */
/* The room's start: ports, files, and what they hang into other rooms. */
#ifndef VM_IO_IO_H
#define VM_IO_IO_H

#include "term/term.h"

struct heap;
struct port_driver;

/* After async_init and process_table_init. */
void io_init(void);
/* The driver that open_port({spawn, Name}, _) means by these n bytes, or NULL. */
const struct port_driver *io_find_driver(const char *name, size_t n);
/* The names of all that are found so, strings on h. */
Term io_list_drivers(struct heap *h);

#endif
