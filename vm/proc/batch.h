/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Batches: events as numbers in a page of the thread that tells them. A full page is handed over by one note, erlang_batch:flush, so that an
 * event costs some stores instead of a trap into the kernel. vm/batch_format.h describes the page; proc/probe.h writes the events.
 *
 * Invariant: only its own thread writes into a page; a record is whole before batch_header.bytes grows over it, so that whoever
 * ends the VM may hand the page over at any moment.
 */
#ifndef VM_PROC_BATCH_H
#define VM_PROC_BATCH_H

#include <stdint.h>

#include "batch_format.h"
#include "term/term.h"

struct mfa {
	Term module, function;
	uint32_t arity;
};

/* Once, before the first event: prepares handing over what the threads hold when the VM ends or crashes. */
void batch_init(void);

/* Writes one event of n argument words and, where the probe has texts, their bytes: texts[i] belongs to words[i], which is its length;
 * NULL: no text. texts NULL: none at all. Any thread. */
void batch_write(enum batch_event event, const uint64_t *words, unsigned n, const char *const *texts);

/* Hands this thread's page over when its first event is 100 ms old. Cheap when there is nothing. */
void batch_hand_over_old(void);
/* When that will be. Units: CLOCK_MONOTONIC; 0: the page is empty. A thread that sleeps wakes then and calls batch_hand_over_old. */
int64_t batch_deadline_ns(void);
/* This thread sleeps on c until it is woken, or the deadline, and then hands its page over: to be called in a loop. l is held, and is released
 * meanwhile. */
struct cond;
struct lock;
void batch_wait(struct cond *c, struct lock *l);
/* Hands this thread's page over. */
void batch_hand_over(void);
/* The VM ends: hands the pages of all threads over; later events are dropped. Safe in a signal handler. */
void batch_close(void);

/* Words of the units; see vm/batch_format.h. Those that hold atoms tell their names first. */
uint64_t batch_identity(Term t);
uint64_t batch_node(Term node);
uint64_t batch_mfa(struct mfa mfa);
uint64_t batch_term(Term t);

#endif
