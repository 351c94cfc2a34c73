/* SPDX-License-Identifier: Apache-2.0 */
/* Source of the form: Documentation/bpf/ringbuf.rst of Linux. Invariant: what is behind `consumer` is the kernel's
 * again. */
#include "batch_ring.h"

#include <linux/bpf.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

struct batch_ring {
    uint64_t *consumer;       /* a page that is shared with the kernel */
    const uint64_t *producer; /* another, and the bytes behind it */
    const char *bytes;
    size_t size, page_size, most;
    char *whole;              /* a record in two pieces, put together */
};

struct batch_ring *batch_ring_new(int map, size_t bytes, size_t most)
{
    struct batch_ring *r = calloc(1, sizeof *r);

    if (!r)
        return NULL;
    *r = (struct batch_ring){.consumer = MAP_FAILED, .producer = MAP_FAILED, .size = bytes, .page_size = (size_t)sysconf(_SC_PAGESIZE), .most = most};
    r->whole = malloc(most);
    if (r->whole)
        r->consumer = mmap(NULL, r->page_size, PROT_READ | PROT_WRITE, MAP_SHARED, map, 0);
    if (r->consumer != MAP_FAILED)
        r->producer = mmap(NULL, r->page_size + bytes, PROT_READ, MAP_SHARED, map, (off_t)r->page_size);
    if (r->producer == MAP_FAILED) {
        batch_ring_free(r);
        return NULL;
    }
    r->bytes = (const char *)r->producer + r->page_size;
    return r;
}

void batch_ring_free(struct batch_ring *r)
{
    if (!r)
        return;
    if (r->producer != MAP_FAILED)
        munmap((void *)r->producer, r->page_size + r->size);
    if (r->consumer != MAP_FAILED)
        munmap(r->consumer, r->page_size);
    free(r->whole);
    free(r);
}

/* The record of `size` bytes that begins there; its end may stand at the buffer's beginning. */
static void *record_at(struct batch_ring *r, uint64_t position, size_t size)
{
    size_t at = position & (r->size - 1), first = r->size - at;

    if (size <= first)
        return (void *)(r->bytes + at);
    memcpy(r->whole, r->bytes + at, first);
    memcpy(r->whole + first, r->bytes, size - first);
    return r->whole;
}

void batch_ring_read(struct batch_ring *r, int (*take)(void *ctx, void *record, size_t size), void *ctx)
{
    uint64_t position = *r->consumer, end;
    int stop = 0;

    while (!stop && position < (end = __atomic_load_n(r->producer, __ATOMIC_ACQUIRE)))
        while (!stop && position < end) {
            uint32_t head = __atomic_load_n((const uint32_t *)(r->bytes + (position & (r->size - 1))),
                                            __ATOMIC_ACQUIRE);
            size_t size = head & ~(BPF_RINGBUF_BUSY_BIT | BPF_RINGBUF_DISCARD_BIT);

            if (head & BPF_RINGBUF_BUSY_BIT)
                return;
            if (!(head & BPF_RINGBUF_DISCARD_BIT) && size <= r->most)
                stop = take(ctx, record_at(r, position + BPF_RINGBUF_HDR_SZ, size), size);
            position += BPF_RINGBUF_HDR_SZ + ((size + 7) & ~(size_t)7);
            __atomic_store_n(r->consumer, position, __ATOMIC_RELEASE);
        }
}
