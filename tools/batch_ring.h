/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads a ring buffer of BPF. libbpf maps its bytes twice, so that no record is in two pieces; of a buffer that is
 * half of what this process takes, once is enough.
 */
#ifndef TOOLS_BATCH_RING_H
#define TOOLS_BATCH_RING_H

#include <stddef.h>
#include <stdint.h>

struct batch_ring;

/* map: the buffer's descriptor, the caller's. most: bytes of a record at most. Owns: batch_ring_free frees. NULL:
 * errno tells why. */
struct batch_ring *batch_ring_new(int map, size_t bytes, size_t most);
void batch_ring_free(struct batch_ring *ring);
/* Hands each record that waits to `take`, until it returns a number other than 0. A record is good during the call. */
void batch_ring_read(struct batch_ring *ring, int (*take)(void *ctx, void *record, size_t size), void *ctx);

#endif
