/* SPDX-License-Identifier: Apache-2.0 */
/* Tracers that are modules, {Module, State}: natives of the module hear of what is traced, on the thread where it
 * happens, and no message is sent. dyntrace is one: it fires the probes trace and trace_seq. Any other is a module
 * with a library that has enabled/3 and trace/5 (code/nif_function.h).
 * Source: erl_tracer(3) and dyntrace(3) of OTP 25. */
#ifndef VM_TRACE_TRACER_MODULE_H
#define VM_TRACE_TRACER_MODULE_H

#include "heap/heap.h"

void tracer_modules_init(void);
/* Such a tracer is a small, the number of its {Module, State}; numbers are not used again. */
static inline bool tracer_is_module(Term tracer) { return term_is_small(tracer); }
/* Copies the state. Fails: TERM_NONE, for a module that is none, or when thousands of others are in use. Who uses the
 * number does it before its time slice ends, or between trace_begin_change and trace_end_change. */
Term tracer_module_get(Term module, Term state);
/* {Module, State} on h; am_false when it is gone. */
Term tracer_module_put(struct heap *h, Term tracer);
/* Asks the module: false when it says remove to trace_status, or has no library any more. tracee: a pid or port, or
 * am_undefined. GC: none. */
bool tracer_module_is_alive(Term tracer, Term tracee);
enum tracer_answer { TRACER_TRACES, TRACER_DISCARDS, TRACER_IS_OVER /* it wants to trace tracee no more */ };
/* Asks the module about an event of tracee. GC: none. */
enum tracer_answer tracer_module_ask(Term tracer, Term event, Term tracee);
/* Asks it where it was not asked before, and tells it. Of tag am_trace: parts[0] is the event, with what comes after
 * it in a message; of am_seq_trace: parts[0] is what there is to say, id the label. Returns whether it goes on.
 * GC: none. */
bool tracer_module_tell(Term tracer, Term tracee, uint32_t flags, Term tag, Term id, unsigned n, const Term *parts);

#endif
