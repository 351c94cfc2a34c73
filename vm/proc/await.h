/* SPDX-License-Identifier: Apache-2.0 */
/* What a native waits for that others do: a round of slices (proc/progress.h), changes that processes make to
 * themselves. The process waits as for a message, and its scheduler runs others meanwhile. */
#ifndef VM_PROC_AWAIT_H
#define VM_PROC_AWAIT_H

#include "proc/process.h"
#include "proc/progress.h"

/* Begins a block from mem_alloc. Belongs to the process that waits, and to each part that is under way. */
struct await {
	atomic_uint refs;
	Term pid;
	Term (*then)(Process *p, struct await *a); /* all parts are done: gives the native's result */
	/* drops what the block holds, not itself; any thread. NULL: nothing */
	void (*end)(struct await *a);
	struct progress_wait round;
};

void await_init(struct await *a, Process *p, Term (*then)(Process *p, struct await *a), void (*end)(struct await *a));
/* One part more is under way, until await_done, which any thread may call. Before await_parts, or by a part. */
void await_more(struct await *a);
void await_done(struct await *a);
/* One more: a round of slices that begins now. Once. */
void await_round(struct await *a);
/* What the native returns. Takes: a. */
Term await_parts(Process *p, struct await *a);
/* The same for a native that waits for a round of slices, and then returns this immediate term. */
Term await_return(Process *p, Term immediate);
/* Is p in such a native? */
bool await_waits(const Process *p);

#endif
