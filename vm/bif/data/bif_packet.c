/* SPDX-License-Identifier: Apache-2.0 */
/* erlang:decode_packet/3: the terms of what data/packet.h reads. */
#include "base/alloc.h"
#include "base/release.h"
#include "bif/bif.h"
#include "data/binary.h"
#include "data/number.h"
#include "data/packet_term.h"

/* Fails: false, when it is the name of no type. */
static bool find_type(Term name, enum packet_type *type, bool *binaries)
{
	*binaries = false;
	switch (name) {
	case SMALL(0): case am_raw: *type = PACKET_RAW; return true;
	case SMALL(1): *type = PACKET_1; return true;
	case SMALL(2): *type = PACKET_2; return true;
	case SMALL(4): *type = PACKET_4; return true;
	case am_asn1: *type = PACKET_ASN1; return true;
	case am_sunrm: *type = PACKET_SUNRM; return true;
	case am_cdr: *type = PACKET_CDR; return true;
	case am_fcgi: *type = PACKET_FCGI; return true;
	case am_line: *type = PACKET_LINE; return true;
	case am_tpkt: *type = PACKET_TPKT; return true;
	case am_http: case am_http_bin: *type = PACKET_HTTP; *binaries = name == am_http_bin; return true;
	case am_httph: case am_httph_bin: *type = PACKET_HTTPH; *binaries = name == am_httph_bin; return true;
	case am_ssl_tls: *type = PACKET_SSL_TLS; return true;
	default: return false;
	}
}

static bool get_option(struct packet_limits *l, enum packet_type type, Term option)
{
	uint64_t n;

	if (!term_is_tuple_of(option, 2) || !num_get_uint64(tuple_get(option, 2), &n) || n > UINT32_MAX)
		return false;
	switch (tuple_get(option, 1)) {
	case am_packet_size:
		l->packet_bytes = (uint32_t)n;
		return true;
	case am_line_length:
		l->line_bytes = (uint32_t)n;
		return true;
	case am_line_delimiter:
		l->delimiter = (uint8_t)n;
		return type == PACKET_LINE && n <= UINT8_MAX;
	default:
		return false;
	}
}

static bool get_options(struct packet_limits *l, enum packet_type type, Term list)
{
	*l = (struct packet_limits){ .delimiter = '\n' };
	for (; term_is_cons(list); list = cons_tail(list))
		if (!get_option(l, type, cons_head(list)))
			return false;
	return list == NIL;
}

/* Is the packet a part of its bytes? */
static bool is_plain(enum packet_type type)
{
	return type != PACKET_HTTP && type != PACKET_HTTPH && type != PACKET_SSL_TLS;
}

/* {ok, Body, Rest}, in one piece of the heap: most packets are small, and this is most of what they cost. Units: bits,
 * of the packet and of the source. */
static Term put_plain(const struct packet_source *s, struct packet_text body, uint64_t size, uint64_t all)
{
	enum { OK_WORDS = 4, MOST_WORDS = OK_WORDS + 2 * BINARY_SUB_WORDS };
	uint64_t offset;
	Term original = binary_original(s->binary, &offset), *at = heap_alloc(s->h, MOST_WORDS), *top = at + OK_WORDS;
	const uint8_t *base = binary_original_bytes(boxed_ptr(original));

	at[0] = HEADER(OK_WORDS - 1, SUB_TUPLE);
	at[1] = am_ok;
	at[2] = binary_put_part(&top, original, base, offset + (uint64_t)(body.at - s->bytes) * 8,
				(uint64_t)body.n * 8);
	at[3] = binary_put_part(&top, original, base, offset + size, all - size);
	heap_trim(s->h, at, MOST_WORDS, top);
	return term_from_boxed(at);
}

static Term decode(Process *p, const struct packet_source *s, enum packet_type type, size_t n,
		   const struct packet_limits *l)
{
	int64_t size = packet_size(type, s->bytes, n, l);
	uint64_t bits = binary_size_bits(s->binary);
	Term packet;

	if (size == PACKET_INVALID)
		return heap_tuple(s->h, am_error, am_invalid);
	if (size == PACKET_UNKNOWN || (uint64_t)size > n)
		return heap_tuple(s->h, am_more, size == PACKET_UNKNOWN ? (Term)am_undefined : SMALL(size));
	if (is_plain(type))
		return put_plain(s, packet_body(type, s->bytes, (size_t)size), (uint64_t)size * 8, bits);
	packet = packet_put_term(s, type, (size_t)size, NIL);
	if (packet == TERM_NONE)
		return exc_system_limit(p);
	return heap_tuple(s->h, am_ok, packet,
			  binary_sub(s->h, s->binary, (uint64_t)size * 8, bits - (uint64_t)size * 8));
}

static bool is_source(Term t)
{
	return term_is_bitstring(t) && !(release_packets_are_bytes() && binary_size_bits(t) % 8 != 0);
}

Term bif_erlang_decode_packet_3(Process *p, Term *args)
{
	struct packet_source s = { .h = &p->heap, .binary = args[1] };
	struct packet_limits limits;
	enum packet_type type;
	uint8_t *scratch;
	Term result;
	size_t n;

	if (!find_type(args[0], &type, &s.binaries))
		return exc_badarg_cause(p, am_badopt);
	if (!is_source(args[1]) || !get_options(&limits, type, args[2]))
		return exc_badarg(p);
	s.bytes = binary_whole_bytes(args[1], &n, &scratch);
	result = decode(p, &s, type, n, &limits);
	mem_free(scratch);
	return result;
}
