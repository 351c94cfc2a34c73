/* SPDX-License-Identifier: Apache-2.0 */
/* Breakpoints of a debugger at lines (OTP 28, erl_debugger): the operation debug_line at the beginning of each, in
 * code that was compiled with beam_debug_info and loaded while line_break_is_wanted. One that is on is
 * debug_line_stop, where erts_internal:breakpoint/4 is called.
 * Locks: they are turned on and off while the world is stopped. */
#ifndef VM_CODE_LINE_BREAK_H
#define VM_CODE_LINE_BREAK_H

#include "code/module.h"

/* Where erts_internal:breakpoint/4 returns to. On the stack the registers stand behind it, then where the line goes on.
 * Wired by exec. */
extern const Inst *line_return;

/* Was the VM started for debuggers (+D)? Any thread. */
bool line_break_is_supported(void);
void line_break_support(bool on);
/* Does code that is loaded from now on get the operations? What is asked for counts once they are supported. */
bool line_break_is_wanted(void);
bool line_break_is_asked(void);
void line_break_ask(bool on);

enum line_break { LINE_NONE, LINE_NO_BREAK /* the line is there, and no place to stop */, LINE_BREAK };
/* What there is at that line of c. */
enum line_break line_break_find(const struct code_instance *c, uint32_t line);
/* Turns all of that line on or off. The world is stopped. */
void line_break_set(struct code_instance *c, uint32_t line, bool on);
/* Calls see(arg, line, on) for each place of c's function number `function`, as the code has them. */
void line_break_each(const struct code_instance *c, uint32_t function, void (*see)(void *arg, uint32_t line, bool on),
		     void *arg);

#endif
