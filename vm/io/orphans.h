/* SPDX-License-Identifier: Apache-2.0 */
/* A VM that is the first process of a container (pid 1) is given the children of processes that end, and nobody else
 * waits for those. Elsewhere all of this does nothing. */
#ifndef VM_IO_ORPHANS_H
#define VM_IO_ORPHANS_H

#include <sys/types.h>

/* After threads can be started. */
void orphans_init(void);
/* Around the start of a program that a port waits for. pid: below 1 when it did not start. */
void orphans_begin_child(void);
void orphans_end_child(pid_t pid);
/* The port has waited for it. */
void orphans_forget_child(pid_t pid);

#endif
