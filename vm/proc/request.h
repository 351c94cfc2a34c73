/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The steps of calls, as the messages show them: request__step of the catalogue. Each function is only called behind
 * PROBE_ON(request__step). A message that is none of a call tells nothing.
 * Source: gen:call/4 and gen:reply/2 of stdlib ({Label, {Caller, Tag}, Request} and {Tag, Reply}, where Tag is a
 * reference or [alias | Reference]); 'Elixir.Task':async/3 ({Owner, Reference, ReplyTo, Callers, MFArgs} and
 * {Reference, Reply}). The message of a monitor that has fired is {'DOWN', Reference, _, _, _}.
 */
#ifndef VM_PROC_REQUEST_H
#define VM_PROC_REQUEST_H

#include "proc/process.h"
#include "usdt.h"

/* from: NULL when no process sends. to: a process, or {Name, Node}; of an alias the process that has it. */
PROBE_COLD void request_sent(const Process *from, Term to, Term message);
PROBE_COLD void request_received(const Process *p, Term message);
/* p ends the monitor. */
PROBE_COLD void request_ended(const Process *p, Term ref);
/* p ends, and has the monitor. */
PROBE_COLD void request_left(const Process *p, Term ref);

#endif
