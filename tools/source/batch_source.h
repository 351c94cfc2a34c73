/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The pages of events that erlvms hand over (vm/batch_format.h), received through the kernel. What is written into them
 * is told by semaphores alone: attaching to a probe's note of provider erlang_batch, which is never run, makes the VM
 * write the probe, and the kernel takes that back when we end.
 */
#ifndef TOOLS_BATCH_SOURCE_H
#define TOOLS_BATCH_SOURCE_H

#include "target/target.h"
#include "view/wanted.h"

#include "../../bpf/batch.h"

struct batch_source;
struct bpf_object;

struct batch_source_ops {
    /* A page, behind `received`; good during the call. Not trusted beyond what struct batch_received says. */
    void (*page)(void *ctx, const struct batch_received *received);
    void *ctx;
};

/* Loads the program. Owns: batch_source_free frees. Fails: said. */
int batch_source_new(const struct batch_source_ops *ops, struct batch_source **out);
/* Detaches from everything. */
void batch_source_free(struct batch_source *source);
/* Whether the target hands pages over. */
bool batch_source_serves(const struct target *target);
/* Whether it writes events of this probe (process__spawn) into them. */
bool batch_source_tells(const struct target *target, const char *probe);
/*
 * Receives the pages of process `pid`, or of all that run the target's file (-1), and has the wanted probes written
 * into them. Returns how many of these the target has. Fails: said, but for -ESRCH: the process has ended.
 */
int batch_source_attach(struct batch_source *source, const struct target *target, int pid, const struct wanted *wanted);
/*
 * Hands over the pages with all that happened before the call. It lasts a little longer than BATCH_PATIENCE_MS, and up
 * to BATCH_SOURCE_DRAIN_NS where a thread that may hold events does not get to run.
 */
#define BATCH_SOURCE_DRAIN_NS 250000000ull
void batch_source_drain(struct batch_source *source);
/*
 * No page comes any more: what waits is all. The kernel takes tens of milliseconds to remove probes, which
 * batch_source_free waits for.
 */
void batch_source_stop(struct batch_source *source);
/* Becomes readable when much waits; who wants less of a delay reads every BATCH_RING_LOOK_MS. */
int batch_source_fd(const struct batch_source *source);
/* Hands over the pages that wait, a limited number at a time. Returns how many. */
int batch_source_read(struct batch_source *source);
/* The program that receives. */
const struct bpf_object *batch_source_object(const struct batch_source *source);
/* Pages that could not be received, since the beginning. */
struct batch_unreceived {
    uint64_t no_room;    /* the ring buffer was full */
    uint64_t unreadable; /* the VM's memory could not be read there */
};
struct batch_unreceived batch_source_unreceived(const struct batch_source *source);
/* Both together. */
uint64_t batch_source_lost(const struct batch_source *source);

#endif
