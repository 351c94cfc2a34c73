/* SPDX-License-Identifier: Apache-2.0 */
/* The room's start: ports, files, and what they hang into other rooms. */
#ifndef VM_IO_IO_H
#define VM_IO_IO_H

/* After async_init and process_table_init. */
void io_init(void);

#endif
