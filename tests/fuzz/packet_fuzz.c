/* SPDX-License-Identifier: Apache-2.0 */
/* Any bytes as packets of any type. Invariants: what is read lies within the packet; a beginning of it tells the same
 * length or none yet. The first bytes choose the type and the limits. For libFuzzer. */
#include "data/packet.h"

#include <string.h>

#include "base/alloc.h"
#include "base/log.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n);

static void check_inside(struct packet_text t, const uint8_t *packet, size_t n)
{
	ENSURE(t.n == 0 || (t.at >= packet && t.at + t.n <= packet + n));
}

static void check_http(enum packet_type type, const uint8_t *packet, size_t n)
{
	struct http_line l;

	packet_read_http(type, packet, n, &l);
	check_inside(l.text, packet, n);
	check_inside(l.value, packet, n);
	check_inside(l.uri.host, packet, n);
	if (!(l.uri.path.n == 1 && l.uri.path.at[0] == '/')) /* the path that is not given */
		check_inside(l.uri.path, packet, n);
	ENSURE(l.fixed_bytes <= HTTP_NAME_BYTES);
	ENSURE(l.kind != HTTP_ERROR || l.value.n == n);
}

static void check_packet(enum packet_type type, const uint8_t *packet, size_t n)
{
	struct tls_record r;

	if (type == PACKET_HTTP || type == PACKET_HTTPH) {
		check_http(type, packet, n);
	} else if (type == PACKET_SSL_TLS) {
		packet_read_tls(packet, n, &r);
		check_inside(r.data, packet, n);
	} else {
		check_inside(packet_body(type, packet, n), packet, n);
	}
}

/* Exactly n bytes of memory of their own, so that a read behind them is seen. */
static int64_t size_of_copy(enum packet_type type, const uint8_t *bytes, size_t n, const struct packet_limits *l)
{
	uint8_t *copy = mem_alloc(n > 0 ? n : 1);
	int64_t size;

	if (n > 0)
		memcpy(copy, bytes, n);
	size = packet_size(type, copy, n, l);
	if (size > 0 && (uint64_t)size <= n)
		check_packet(type, copy, (size_t)size);
	mem_free(copy);
	return size;
}

/* An empty line that is all there is may be longer than the limits. */
static bool is_end_of_headers(enum packet_type type, size_t n)
{
	return (type == PACKET_HTTP || type == PACKET_HTTPH) && n <= 2;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
	struct packet_limits l;
	enum packet_type type;
	int64_t size;

	if (n < 3)
		return 0;
	type = (enum packet_type)(bytes[0] % (PACKET_SSL_TLS + 1));
	l = (struct packet_limits){ bytes[1], bytes[2], '\n' };
	bytes += 3;
	n -= 3;
	size = size_of_copy(type, bytes, n, &l);
	if (size <= 0 || (uint64_t)size > n || type == PACKET_RAW || is_end_of_headers(type, n))
		return 0;
	for (size_t k = 0; k < (size_t)size && k < 100; k++) {
		int64_t part = size_of_copy(type, bytes, k, &l);

		ENSURE(part == PACKET_UNKNOWN || part == size);
	}
	return 0;
}
