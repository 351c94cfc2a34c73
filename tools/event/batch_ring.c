/* SPDX-License-Identifier: Apache-2.0 */
/* Source of the form: Documentation/bpf/ringbuf.rst of Linux. Invariant: what is behind `consumer` is the kernel's
 * again. */
#include "batch_ring.h"

#include <linux/bpf.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

struct batch_ring {
    uint64_t *consumer;       /* a page that is shared with the kernel */
    const uint64_t *producer; /* another; behind it in the map, the bytes */
    const char *window;       /* so many of the bytes from window_at on; NULL: none */
    size_t window_at, window_bytes;
    int map;
    size_t size, page_size, most;
    char *whole;              /* a record in two pieces, put together */
};

struct batch_ring *batch_ring_new(int map, size_t bytes, size_t most)
{
    struct batch_ring *r = calloc(1, sizeof *r);

    if (!r)
        return NULL;
    *r = (struct batch_ring){.consumer = MAP_FAILED, .producer = MAP_FAILED, .map = map, .size = bytes, .most = most};
    r->page_size = (size_t)sysconf(_SC_PAGESIZE);
    r->window_bytes = bytes < BATCH_RING_WINDOW_BYTES ? bytes : BATCH_RING_WINDOW_BYTES;
    r->whole = malloc(most);
    if (r->whole)
        r->consumer = mmap(NULL, r->page_size, PROT_READ | PROT_WRITE, MAP_SHARED, map, 0);
    if (r->consumer != MAP_FAILED)
        r->producer = mmap(NULL, r->page_size, PROT_READ, MAP_SHARED, map, (off_t)r->page_size);
    if (r->producer == MAP_FAILED) {
        batch_ring_free(r);
        return NULL;
    }
    return r;
}

static void unmap_window(struct batch_ring *r)
{
    if (r->window)
        munmap((void *)r->window, r->window_bytes);
    r->window = NULL;
}

void batch_ring_free(struct batch_ring *r)
{
    if (!r)
        return;
    unmap_window(r);
    if (r->producer != MAP_FAILED)
        munmap((void *)r->producer, r->page_size);
    if (r->consumer != MAP_FAILED)
        munmap(r->consumer, r->page_size);
    free(r->whole);
    free(r);
}

/* ---- bytes by their position */

/* How many bytes from there on stand in the same window. */
static size_t left_of(const struct batch_ring *r, uint64_t position)
{
    return r->window_bytes - (position & (r->window_bytes - 1));
}

/* Good until those of another window are asked for. NULL: they cannot be mapped. */
static const char *bytes_at(struct batch_ring *r, uint64_t position)
{
    size_t at = position & (r->size - 1), first = at & ~(r->window_bytes - 1);

    if (!r->window || r->window_at != first) {
        void *bytes;

        unmap_window(r);
        bytes = mmap(NULL, r->window_bytes, PROT_READ, MAP_SHARED, r->map, (off_t)(2 * r->page_size + first));
        if (bytes == MAP_FAILED)
            return NULL;
        r->window = bytes;
        r->window_at = first;
    }
    return r->window + (at - first);
}

/* The record of `size` bytes that begins there. NULL: as above. */
static void *record_at(struct batch_ring *r, uint64_t position, size_t size)
{
    const char *bytes = bytes_at(r, position);
    size_t first = left_of(r, position);

    if (!bytes || size <= first)
        return (void *)bytes;
    memcpy(r->whole, bytes, first);
    bytes = bytes_at(r, position + first);
    if (!bytes)
        return NULL;
    memcpy(r->whole + first, bytes, size - first);
    return r->whole;
}

/* ---- what waits */

enum waits { NOTHING, BEING_WRITTEN, A_RECORD };

struct waiting {
    enum waits what;
    size_t size;      /* of the record */
    uint64_t time_ns; /* that it begins with */
};

/* The record is the kernel's again. */
static void pass(struct batch_ring *r, size_t size)
{
    __atomic_store_n(r->consumer, *r->consumer + BPF_RINGBUF_HDR_SZ + ((size + 7) & ~(size_t)7), __ATOMIC_RELEASE);
}

/* What is first in the buffer. */
static struct waiting look(struct batch_ring *r)
{
    const char *bytes;

    while (*r->consumer < __atomic_load_n(r->producer, __ATOMIC_ACQUIRE) && (bytes = bytes_at(r, *r->consumer))) {
        uint32_t head = __atomic_load_n((const uint32_t *)bytes, __ATOMIC_ACQUIRE);
        struct waiting waiting = {A_RECORD, head & ~(BPF_RINGBUF_BUSY_BIT | BPF_RINGBUF_DISCARD_BIT), 0};

        if (head & BPF_RINGBUF_BUSY_BIT)
            return (struct waiting){.what = BEING_WRITTEN};
        if (!(head & BPF_RINGBUF_DISCARD_BIT) && waiting.size <= r->most) {
            bytes = bytes_at(r, *r->consumer + BPF_RINGBUF_HDR_SZ);
            if (!bytes)
                break;
            memcpy(&waiting.time_ns, bytes, sizeof waiting.time_ns);
            return waiting;
        }
        pass(r, waiting.size);
    }
    return (struct waiting){.what = NOTHING};
}

/*
 * The buffer whose first record is the next, and that record. NULL: none, or one of them is being written: another
 * thread's record behind it may be earlier than what waits in the other buffer. Who found nothing in the first looks
 * again after the second: what a thread told before the record that was seen there has come by then.
 */
static struct batch_ring *find_next(struct batch_ring *ring, struct batch_ring *spill, struct waiting *next)
{
    struct waiting first = look(ring), spilled = spill ? look(spill) : (struct waiting){.what = NOTHING};

    if (first.what == NOTHING && spilled.what == A_RECORD)
        first = look(ring);
    *next = spilled;
    if (first.what == BEING_WRITTEN || spilled.what == BEING_WRITTEN)
        return NULL;
    if (first.what == A_RECORD && (spilled.what == NOTHING || first.time_ns <= spilled.time_ns)) {
        *next = first;
        return ring;
    }
    return spilled.what == A_RECORD ? spill : NULL;
}

void batch_ring_read(struct batch_ring *ring, struct batch_ring *spill,
                     int (*take)(void *ctx, void *record, size_t size), void *ctx)
{
    struct batch_ring *from;
    struct waiting next;
    int stop = 0;

    while (!stop && (from = find_next(ring, spill, &next))) {
        void *record = record_at(from, *from->consumer + BPF_RINGBUF_HDR_SZ, next.size);

        if (!record)
            return;
        stop = take(ctx, record, next.size);
        pass(from, next.size);
    }
}
