/* SPDX-License-Identifier: Apache-2.0 */
/* A process is collected, and gets rid of literals that leave. */
#ifndef VM_PROC_PROCESS_GC_H
#define VM_PROC_PROCESS_GC_H

#include "proc/process.h"

/* Words of the messages in p's own queue, when they count as its heap. p runs here, or nobody does. */
size_t process_message_words(const Process *p);
/* Collects p, or does what else was asked for its next safe point (PF_SAFE_POINT), with its own roots and `live` X
 * registers at x; fires the gc probes. p runs here. _gc. Fails: when max_heap_size kills it: sets exc and returns
 * false. */
bool process_collect_gc(Process *p, size_t need_words, Term *x, unsigned live);
/* Room for need words on top: collects when there is none. */
static inline bool process_need_gc(Process *p, size_t words, Term *x, unsigned live)
{
	if (!(VARIANT_GC_STRESS && heap_is_stressed(&p->heap)) && likely((size_t)(p->heap.stop - p->heap.top) >= words))
		return true;
	return process_collect_gc(p, words, x, live);
}

/* At p's next safe point, when its heap has copies of the literals that leave (heap/literal.h), calls done(arg); at the
 * latest when it ends. p runs here. */
void process_copy_literals(Process *p, void (*done)(void *arg), void *arg);
/* Nobody waits for p any more: it holds none of them, or ends. */
void process_finish_literal_calls(Process *p);

/* The end of erlang:hibernate: the stack is empty, x[0..2] are the roots; makes the heap as small as it can be.
 * _gc. Fails: as process_collect_gc. */
bool process_hibernate_gc(Process *p, Term *x, unsigned live);

#endif
