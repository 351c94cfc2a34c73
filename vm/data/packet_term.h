/* SPDX-License-Identifier: Apache-2.0 */
/* The terms of packets that are more than their bytes: HTTP's lines and TLS's records (data/packet.h). */
#ifndef VM_DATA_PACKET_TERM_H
#define VM_DATA_PACKET_TERM_H

#include "data/binary.h"
#include "data/packet.h"

/* A binary with packets, of which texts are made. */
struct packet_source {
	struct heap *h;
	Term binary;
	const uint8_t *bytes;
	bool binaries;       /* texts of HTTP are binaries, not lists */
};

/* The first n bytes, a whole packet of type PACKET_HTTP, PACKET_HTTPH or PACKET_SSL_TLS. socket: the second element of
 * TLS's tuple.
 * Fails: TERM_NONE, out of memory. GC: none. */
Term packet_put_term(const struct packet_source *s, enum packet_type type, size_t n, Term socket);

#endif
