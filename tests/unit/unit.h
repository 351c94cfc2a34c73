/* SPDX-License-Identifier: Apache-2.0 */
/* What unit tests share: the low rooms made ready once a test process, a heap to work on, and printing of terms. */
#ifndef TESTS_UNIT_UNIT_H
#define TESTS_UNIT_UNIT_H

#include <check.h>
#include <time.h>

#include "heap/heap.h"
#include "term/atom.h"

/* Inits base, atoms, literals and nodes; safe to call in every test (libcheck forks each). */
void unit_init(void);
/* For a test that waits for another thread: asleep, as one that asks without a rest takes the processor from whom it
 * waits for. */
static inline void unit_pause(void) { nanosleep(&(struct timespec){ .tv_nsec = 100000 }, NULL); }
/* A scratch heap of 1,000,000 words. Owns: the harness. */
struct heap *unit_heap(void);

#endif
