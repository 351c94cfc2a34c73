/* SPDX-License-Identifier: Apache-2.0 */
/* Memory of processes, for process.c alone. What was a process stays one to who looks at it: a pid that is no more may
 * be looked up until the lookup has seen, under signals_lock, that the id is another. So memory of ended processes may
 * lose its pages, but not its address: it then reads as zeros, a free lock and no id. */
#ifndef VM_PROC_PROCESS_MEMORY_H
#define VM_PROC_PROCESS_MEMORY_H

#include "proc/process.h"

struct process_chunk;

/* ---- the process table's lock is held */
/* Its state is PS_DEAD; otherwise it is as it was given, or zeros. */
Process *process_memory_take(void);
void process_memory_give(Process *p);
/* Takes out what no process has needed since the last call. NULL: there is nothing like that. */
struct process_chunk *process_memory_unneeded(void);
void process_memory_emptied(struct process_chunk *list);

/* ---- without a lock */
/* Gives pages of the list back to the system. */
void process_memory_empty(struct process_chunk *list);
/* How many processes there is memory for. */
size_t process_memory_made(void);

#endif
