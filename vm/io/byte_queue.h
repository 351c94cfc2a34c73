/* SPDX-License-Identifier: Apache-2.0 */
/* A queue of bytes made of counted pieces: small writes are gathered, big binaries kept by reference.
 * Invariant: bytes once in the queue never change, so pieces may be shown as binaries. Locks: the owner's. */
#ifndef VM_IO_BYTE_QUEUE_H
#define VM_IO_BYTE_QUEUE_H

#include <sys/uio.h>

#include "heap/refbin.h"

struct byte_piece;

struct byte_queue {
	struct byte_piece *first, *last;
	size_t size_bytes;
};

void byte_queue_init(struct byte_queue *q);
/* Drops everything. */
void byte_queue_clear(struct byte_queue *q);
/* Fails: false when memory cannot be had; the queue is as before. */
bool byte_queue_put(struct byte_queue *q, const void *bytes, size_t n);
/* n bytes at `bytes`, inside b, by reference. */
void byte_queue_put_binary(struct byte_queue *q, struct binary *b, const uint8_t *bytes, size_t n);
/* Fills at most `max` entries with what comes first; returns how many. Valid until the queue changes. */
int byte_queue_peek(const struct byte_queue *q, struct iovec *iov, int max);
/* The same with the binaries that hold the bytes, which stay the queue's. */
int byte_queue_peek_binaries(const struct byte_queue *q, struct iovec *iov, struct binary **binaries, int max);
/* How many entries all of it takes. */
size_t byte_queue_count(const struct byte_queue *q);
/* The first piece: its binary and its bytes. q is not empty. */
struct binary *byte_queue_head(const struct byte_queue *q, uint8_t **bytes, size_t *n);
/* Copies the first n bytes out, n <= size_bytes; they stay. */
void byte_queue_copy(const struct byte_queue *q, void *to, size_t n);
/* n <= size_bytes. */
void byte_queue_drop(struct byte_queue *q, size_t n);
/* Index of the first such byte, or -1. */
int64_t byte_queue_find(const struct byte_queue *q, uint8_t byte);
/* The byte behind `at` others; there must be one. */
uint8_t byte_queue_at(const struct byte_queue *q, size_t at);
/* Everything of `from` goes to the end of q. */
void byte_queue_move(struct byte_queue *q, struct byte_queue *from);

#endif
