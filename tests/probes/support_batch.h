/* SPDX-License-Identifier: Apache-2.0 */
/* What erlvm tells in batches, received as erlsnoop does and kept as texts, for tests to count. */
#ifndef TESTS_PROBES_SUPPORT_BATCH_H
#define TESTS_PROBES_SUPPORT_BATCH_H

#include "target/target.h"

struct support_batch;

/* Receives the batches of process `pid`, whose executable is the target's. Aborts the test when it cannot. Owns: support_batch_free frees. */
struct support_batch *support_batch_new(const struct target *target, int pid);
void support_batch_free(struct support_batch *batch);
/* The probe will be written into the VM's batches. */
void support_batch_watch(struct support_batch *batch, const char *probe);
/* From now on they are. */
void support_batch_begin(struct support_batch *batch);
/* Takes in all that was handed over. Aborts the test when a page is damaged or missing, or events are out of order. */
void support_batch_drain(struct support_batch *batch);
/* How many events of the probe had that text as argument `index`. */
unsigned support_batch_count(const struct support_batch *batch, const char *probe, unsigned index, const char *text);
/* Argument `wanted` of the last of them, as text; NULL: there was none. Owns: still the batch's. */
const char *support_batch_last(const struct support_batch *batch, const char *probe, unsigned index, const char *text, unsigned wanted);

#endif
