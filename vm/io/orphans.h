/* SPDX-License-Identifier: Apache-2.0 */
/* A VM that is the first process of a container (pid 1) is given the children of processes that end, and nobody else
 * waits for those. */
#ifndef VM_IO_ORPHANS_H
#define VM_IO_ORPHANS_H

/* Before the main thread's work begins. Elsewhere it does nothing. */
void orphans_init(void);

#endif
