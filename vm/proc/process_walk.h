/* SPDX-License-Identifier: Apache-2.0 */
/* All processes, however many, while the others go on. */
#ifndef VM_PROC_PROCESS_WALK_H
#define VM_PROC_PROCESS_WALK_H

#include "proc/process.h"

/* Calls see(p, arg) for every process, in several stops of the world for `count` slots each; between them the others
 * run, are born and end. Called from a scheduler, while the world is not stopped. */
void process_each_in_parts(size_t count, void (*see)(Process *p, void *arg), void *arg);
/* Pids of all living processes onto h. */
Term process_list(struct heap *h);
/* Some of them, from place *next on, which then is where the next ones begin; TERM_NONE: there are no more. One that
 * lives from the first call to the last is told. */
Term process_list_some(struct heap *h, size_t *next);

#endif
