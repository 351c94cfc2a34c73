/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads a ring buffer of BPF, or the two that pages come through (bpf/batch.h): a record begins with its time, and a
 * thread's records are handed on in the order of their times, whichever buffer each is in. libbpf maps all bytes of a
 * buffer twice, so that no record is in two pieces; here a window of them is mapped where records wait, as what is
 * mapped counts as this process's memory.
 */
#ifndef TOOLS_BATCH_RING_H
#define TOOLS_BATCH_RING_H

#include <stddef.h>
#include <stdint.h>

#define BATCH_RING_WINDOW_BYTES ((size_t)2 << 20)
#define BATCH_RING_MOST_BYTES ((size_t)64 << 10) /* more than any record of a program that is no page */

struct batch_ring;

/*
 * map: the buffer's descriptor, the caller's. bytes: a power of two. most: bytes of a record at most. Owns:
 * batch_ring_free frees. NULL: errno tells why.
 */
struct batch_ring *batch_ring_new(int map, size_t bytes, size_t most);
void batch_ring_free(struct batch_ring *ring);
/*
 * Hands each record that waits to `take`, until it returns a number other than 0. A record is good during the call.
 * spill: the buffer that is written to while the first is full; NULL: there is none.
 */
void batch_ring_read(struct batch_ring *ring, struct batch_ring *spill,
                     int (*take)(void *ctx, void *record, size_t size), void *ctx);

#endif
