/* SPDX-License-Identifier: Apache-2.0 */
/* Work that one process asks another to do on itself, in the order of signals; the answer is a message {Ref,
 * Result}. */
#ifndef VM_BIF_PROC_PROCESS_CALL_H
#define VM_BIF_PROC_PROCESS_CALL_H

#include "bif/bif.h"

struct process_call;
/* Runs on p; NULL: the process is gone. The result may stand on p's heap; TERM_NONE: fn has taken c, and calls
 * process_call_answer later. */
typedef Term (*process_call_fn)(Process *p, struct process_call *c);

struct process_call {
	process_call_fn fn;
	Term from;           /* who gets the answer */
	uint64_t ref_number, ref_tag;
	Term tag;            /* immediate: the answer is {Tag, Request, Result}; TERM_NONE: {Ref, Result} */
	Term request;        /* any term, in request_fragment */
	struct fragment *request_fragment;
	bool leaves_nothing; /* what fn puts on p's heap is dropped when the answer is sent */
	size_t n;
	Term items[];        /* immediates */
};

/* n items. Owns: the caller until process_call_send. */
struct process_call *process_call_new(process_call_fn fn, Term from, Term ref, size_t n);
void process_call_free(struct process_call *c);
/* The answer is {tag, request, Result}. tag: immediate; request: is copied. */
void process_call_tag(struct process_call *c, Term tag, Term request);
/* Sends the answer. Takes: c. */
void process_call_answer(struct process_call *c, Term result);
/* As a system task of that priority, see proc/task.h. Takes: c. */
void process_call_send_task(Term to, struct process_call *c, enum proc_priority priority, bool collects);
/* Takes: c. Somebody who is gone answers at once, by fn(NULL). */
void process_call_send(Term to, struct process_call *c);
/* Sends c and waits for {Ref, Result}: what a BIF returns. */
Term process_call_await(Process *p, Term to, struct process_call *c, Term ref);

#endif
