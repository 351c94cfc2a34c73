/* SPDX-License-Identifier: Apache-2.0 */
/* Places of code and stacks as text, in the form of OTP's backtraces and crash dumps. */
#ifndef VM_CODE_CODE_PRINT_H
#define VM_CODE_CODE_PRINT_H

#include "data/print.h"
#include "proc/process.h"

/* "0x00007f0123456780 (module:function/arity + offset)"; the offset in bytes. pc: an address of code, or NULL. */
void code_print_place(struct print_buffer *b, const Inst *pc);
/* Frame after frame: its terms, each on a line, and where its function returns to. What traces put on the stack is left
 * out. p is the caller, or does not run. */
void code_print_stack(struct print_buffer *b, const Process *p);

#endif
