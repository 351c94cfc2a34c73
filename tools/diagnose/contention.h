/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which ETS tables the schedulers of a stock emulator wait for. Samples of their threads (target/thread_samples.h) say:
 * one that waits for a lock stands in the function that takes it, or in what that called, and above on its stack stands
 * where the lock is, or the table. It spins before it sleeps, so that it is seen.
 */
#ifndef TOOLS_CONTENTION_H
#define TOOLS_CONTENTION_H

#include <stdbool.h>
#include <stdint.h>

#include "target/thread_samples.h"

struct evidence;

struct contention {
    struct thread_samples *samples;
    struct contention_code {
        uint64_t begin, end;
    } locks[2];                         /* the functions that take a lock to read, to write */
    uint64_t all;                       /* samples of normal schedulers */
    char why[THREAD_SAMPLES_WHY_BYTES]; /* why it is not known; "": it is */
};

/* In each look, when its tables are there: counts into `waits` of these. Fails: -ENOMEM. */
int contention_look(struct evidence *evidence);
void contention_end(struct contention *contention);

#endif
