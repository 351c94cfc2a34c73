/* SPDX-License-Identifier: Apache-2.0 */
/* A queue of bytes. Invariant: every piece has at least one byte; size_bytes is their sum. */
#include "io/byte_queue.h"

#include <string.h>

#include "base/alloc.h"

/* Room of a piece that gathers small writes. Units: bytes. */
#define GATHER_BYTES 2048

struct byte_piece {
	struct byte_piece *next;
	struct binary *binary;
	uint8_t *bytes;
	size_t n;
	bool gathers; /* made here: room behind the bytes is ours */
};

void byte_queue_init(struct byte_queue *q)
{
	*q = (struct byte_queue){ 0 };
}

static void drop_first(struct byte_queue *q)
{
	struct byte_piece *piece = q->first;

	q->first = piece->next;
	if (q->first == NULL)
		q->last = NULL;
	q->size_bytes -= piece->n;
	binary_unref(piece->binary);
	mem_free(piece);
}

void byte_queue_clear(struct byte_queue *q)
{
	while (q->first != NULL)
		drop_first(q);
}

static struct byte_piece *append_piece(struct byte_queue *q, struct binary *b, const uint8_t *bytes, size_t n)
{
	struct byte_piece *piece = mem_alloc(sizeof(*piece));

	*piece = (struct byte_piece){ .binary = b, .bytes = (uint8_t *)bytes, .n = n };
	if (q->last != NULL)
		q->last->next = piece;
	else
		q->first = piece;
	q->last = piece;
	q->size_bytes += n;
	return piece;
}

static size_t room_of_last(const struct byte_queue *q)
{
	const struct byte_piece *last = q->last;

	if (last == NULL || !last->gathers)
		return 0;
	return last->binary->size_bytes - (size_t)(last->bytes + last->n - last->binary->data);
}

bool byte_queue_put(struct byte_queue *q, const void *bytes, size_t n)
{
	size_t room = room_of_last(q), now = n < room ? n : room;
	struct binary *b = NULL;

	if (n > now) {
		b = binary_new(n - now > GATHER_BYTES ? n - now : GATHER_BYTES);
		if (b == NULL)
			return false;
	}
	if (now > 0) {
		memcpy(q->last->bytes + q->last->n, bytes, now);
		q->last->n += now;
		q->size_bytes += now;
	}
	if (b != NULL) {
		memcpy(b->data, (const uint8_t *)bytes + now, n - now);
		append_piece(q, b, b->data, n - now)->gathers = true;
	}
	return true;
}

void byte_queue_put_binary(struct byte_queue *q, struct binary *b, const uint8_t *bytes, size_t n)
{
	if (n == 0)
		return;
	binary_ref(b);
	append_piece(q, b, bytes, n);
}

int byte_queue_peek(const struct byte_queue *q, struct iovec *iov, int max)
{
	int count = 0;

	for (struct byte_piece *piece = q->first; piece != NULL && count < max; piece = piece->next)
		iov[count++] = (struct iovec){ .iov_base = piece->bytes, .iov_len = piece->n };
	return count;
}

int byte_queue_peek_binaries(const struct byte_queue *q, struct iovec *iov, struct binary **binaries, int max)
{
	int count = 0;

	for (struct byte_piece *piece = q->first; piece != NULL && count < max; piece = piece->next) {
		binaries[count] = piece->binary;
		iov[count++] = (struct iovec){ .iov_base = piece->bytes, .iov_len = piece->n };
	}
	return count;
}

size_t byte_queue_count(const struct byte_queue *q)
{
	size_t n = 0;

	for (const struct byte_piece *piece = q->first; piece != NULL; piece = piece->next)
		n++;
	return n;
}

struct binary *byte_queue_head(const struct byte_queue *q, uint8_t **bytes, size_t *n)
{
	*bytes = q->first->bytes;
	*n = q->first->n;
	return q->first->binary;
}

void byte_queue_copy(const struct byte_queue *q, void *to, size_t n)
{
	uint8_t *at = to;

	for (struct byte_piece *piece = q->first; n > 0; piece = piece->next) {
		size_t part = n < piece->n ? n : piece->n;

		memcpy(at, piece->bytes, part);
		at += part;
		n -= part;
	}
}

void byte_queue_drop(struct byte_queue *q, size_t n)
{
	while (n > 0 && n >= q->first->n) {
		n -= q->first->n;
		drop_first(q);
	}
	if (n > 0) {
		q->first->bytes += n;
		q->first->n -= n;
		q->size_bytes -= n;
	}
}

int64_t byte_queue_find(const struct byte_queue *q, uint8_t byte)
{
	size_t before = 0;

	for (struct byte_piece *piece = q->first; piece != NULL; piece = piece->next) {
		const uint8_t *at = memchr(piece->bytes, byte, piece->n);

		if (at != NULL)
			return (int64_t)(before + (size_t)(at - piece->bytes));
		before += piece->n;
	}
	return -1;
}

uint8_t byte_queue_at(const struct byte_queue *q, size_t at)
{
	const struct byte_piece *piece = q->first;

	for (; at >= piece->n; piece = piece->next)
		at -= piece->n;
	return piece->bytes[at];
}

void byte_queue_move(struct byte_queue *q, struct byte_queue *from)
{
	if (from->first == NULL)
		return;
	if (q->last != NULL)
		q->last->next = from->first;
	else
		q->first = from->first;
	q->last = from->last;
	q->size_bytes += from->size_bytes;
	byte_queue_init(from);
}
