/* SPDX-License-Identifier: Apache-2.0 */
/* Processes in a crash dump. */
#ifndef VM_DUMP_DUMP_PROCESS_H
#define VM_DUMP_DUMP_PROCESS_H

#include "proc/process.h"

/* The section =proc. */
void dump_process_summary(Process *p);
/* Dictionary, messages, stack, heap: of a process that does not run now. */
void dump_process_terms(Process *p);

#endif
