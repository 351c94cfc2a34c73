/* SPDX-License-Identifier: Apache-2.0 */
/* What a process is doing, as text: as in a crash dump. */
#ifndef VM_TRACE_PROCESS_TEXT_H
#define VM_TRACE_PROCESS_TEXT_H

#include "data/print.h"
#include "proc/process.h"

/* p runs here, its heap stored back. Allocates what b needs. */
void process_text_print(struct print_buffer *b, const Process *p);

#endif
