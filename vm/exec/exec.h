/* SPDX-License-Identifier: Apache-2.0 */
/* The interpreter as the rest of the VM sees it. */
#ifndef VM_EXEC_EXEC_H
#define VM_EXEC_EXEC_H

#include "proc/sched.h"

/* Wires the loop, the loader's back end, export stubs and stack traces; enters erlang:apply/2,3. After export_init and
 * module_init. */
void exec_init(void);
/* Runs p until its time slice ends. GC: moves p's terms. */
enum run_result exec_run(struct sched *s, Process *p);
/* Prints a .beam file's code as this machine runs it. Returns an exit status. */
int exec_disasm_file(const char *file);

#endif
