/* SPDX-License-Identifier: Apache-2.0 */
/* Match specifications of tracing: what they say about an event. */
#ifndef VM_TRACE_ACTION_H
#define VM_TRACE_ACTION_H

#include "ets/match.h"
#include "trace/session.h"

struct trace_outcome {
	Term message;        /* am_false: no trace message; am_true: a plain one; else what it says besides */
	bool is_return_traced, is_exception_traced; /* the latter asks for returns as well */
};

/* arguments: a list, wherever it stands; the traced process p runs here, its heap is stored back. What it changes is
 * the session's. The message may point into the arguments. GC: none. */
struct trace_outcome trace_run(Process *p, struct trace_session *session, struct match_program *program,
			       Term arguments);
/* The same for match_spec_test/3, where nobody calls; set_seq_token and set_tcw change nothing. */
struct trace_outcome trace_run_test(Process *p, struct match_program *program, Term arguments);
/* Changes the flags of somebody else, by a signal. */
void trace_flags_send(Term to, struct trace_session *session, uint32_t on, uint32_t off, Term tracer);

#endif
