/* SPDX-License-Identifier: Apache-2.0 */
/* Messages as packets: headers, in which both ends keep the atoms that came before, and fragments of large messages,
 * between which others go. Source: OTP, erts/doc, erl_ext_dist, "Distribution Header".
 * Invariant: what is held of messages that are not whole is bounded by what came; their number and bytes are
 * bounded. */
#ifndef VM_DIST_DIST_PACKET_H
#define VM_DIST_DIST_PACKET_H

#include "data/etf.h"
#include "dist/channel.h"

enum {
	PASS_THROUGH = 112,               /* the first byte of a message without a header */
	DIST_FRAGMENT_BYTES = 64 << 10,   /* of terms, in each fragment but the last */
	/* a binary of so many, in a message that may go in fragments, is not copied */
	DIST_PIECE_BYTES = 16 << 10,
	/* The control tuple; then at most the rest of one piece, whole pieces, the begin of another, and what is
	 * written before, between and behind them. */
	DIST_PARTS_MAX = 1 + 2 * (DIST_FRAGMENT_BYTES / DIST_PIECE_BYTES + 2),
};

/* ---- what comes in; any thread at a time */
struct dist_reader;
/* held_max_bytes: what may be held of messages that are not whole. */
struct dist_reader *dist_reader_new(size_t held_max_bytes);
void dist_reader_free(struct dist_reader *r);

/* The terms of one message. */
struct dist_terms {
	const uint8_t *bytes;
	size_t size_bytes;
	struct binary *owned; /* that the bytes stand in, when they came in several packets; else NULL */
	unsigned atom_count; /* that references in the terms name */
	Term atoms[ETF_ATOMS_MAX];
};
enum dist_read { DIST_READ_WHOLE, DIST_READ_PART, DIST_READ_BAD };
/* WHOLE: *t is a message; its bytes are those given, or owned, the caller's. BAD: no packet, or none that may come now,
 * or too much would have to be held; nothing more is to be read. */
enum dist_read dist_reader_read(struct dist_reader *r, const uint8_t *bytes, size_t n, struct dist_terms *t);

/* ---- what goes out; who carries the connection */
struct dist_writer;
struct dist_writer *dist_writer_new(void);
void dist_writer_free(struct dist_writer *w);

/* A message or a fragment of one: its head, then parts of binaries, which stay the message's. */
struct dist_packet {
	struct dist_message *message;
	uint8_t *head;               /* of `fixed`, or owned */
	size_t head_bytes, size_bytes;
	struct { struct binary *binary; const uint8_t *bytes; size_t size_bytes; } parts[DIST_PARTS_MAX];
	unsigned part_count;
	uint8_t fixed[512];
};
/* The next one. Fails: false, there is nothing to send. */
bool dist_packet_take(struct channel *c, struct dist_packet *p);
/* It is written. */
void dist_packet_done(struct channel *c, struct dist_packet *p);

#endif
