/* SPDX-License-Identifier: Apache-2.0 */
/* Tracers that are modules, {Module, State}: natives of the module hear of what is traced, on the thread where it
 * happens, and no message is sent. dyntrace is the one there is: it fires the probes trace and trace_seq.
 * Source: erl_tracer(3) and dyntrace(3) of OTP 25. */
#ifndef VM_TRACE_TRACER_MODULE_H
#define VM_TRACE_TRACER_MODULE_H

#include "heap/heap.h"

void tracer_modules_init(void);
/* Such a tracer is a small, the number of its {Module, State}; numbers are not used again. */
static inline bool tracer_is_module(Term tracer) { return term_is_small(tracer); }
/* Copies the state. Fails: TERM_NONE, for a module that is none, or when thousands of others are in use. May stop the
 * world. */
Term tracer_module_get(Term module, Term state);
bool tracer_module_is_alive(Term tracer);
/* {Module, State} on h; am_false when it is gone. */
Term tracer_module_put(struct heap *h, Term tracer);
/* tag, id, parts: as tracer_tell. GC: none. */
void tracer_module_tell(Term tracer, Term tag, Term id, unsigned n, const Term *parts);

#endif
