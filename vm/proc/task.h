/* SPDX-License-Identifier: Apache-2.0 */
/* System tasks: what one process asks another to do on itself between two time slices (collect, look whether it uses
 * old code), the urgent ones first. A request gets a turn at the priority of who asks, whatever the priority of who is
 * asked. */
#ifndef VM_PROC_TASK_H
#define VM_PROC_TASK_H

#include "proc/process.h"

struct signal;

/* A signal that asks `to` to run call(p, arg) as a task; p is NULL when it is gone. collects: it moves terms, and
 * waits while p's collections are off; else it only looks at p. Any thread. */
void task_send(Term to, enum proc_priority priority, bool collects, void (*call)(Process *p, void *arg), void *arg);

/* Below, p runs here. */
/* One has come in. Takes: s. */
void task_queue(Process *p, struct signal *s);
/* Runs all that p has. Its X registers are saved. _gc. Fails: false when p must exit (exc set, EXC_EXITED). */
bool task_run(Process *p);
/* Runs those that do not collect, while p holds terms (exc_holds_terms): they only look. */
void task_run_looks(Process *p);
/* Those that collect wait from now on, or no longer. Returns how it was before: do they run? */
bool task_allow_collections(Process *p, bool allow);
/* The end of p: answers what is left. */
void task_close(Process *p);

#endif
