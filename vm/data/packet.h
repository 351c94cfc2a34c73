/* SPDX-License-Identifier: Apache-2.0 */
/* Packets in a stream of bytes, as erlang:decode_packet/3 and the packet options of sockets know them: how long the
 * first one is, which of its bytes are its body, and what a line of HTTP says. The bytes are foreign: nothing here
 * reads behind them.
 * Sources: erlang:decode_packet/3; ITU-T T.123 (tpkt), X.690 (asn1), RFC 5531 (sunrm), RFC 2616 (http), RFC 5246
 * (ssl_tls), the FastCGI and CORBA GIOP specifications. */
#ifndef VM_DATA_PACKET_H
#define VM_DATA_PACKET_H

#include <stddef.h>

#include "term/atom.h"

enum packet_type {
	PACKET_RAW,
	PACKET_1, PACKET_2, PACKET_4, /* a length of so many bytes */
	PACKET_ASN1,
	PACKET_SUNRM,
	PACKET_CDR,
	PACKET_FCGI,
	PACKET_LINE,
	PACKET_TPKT,
	PACKET_HTTP,   /* the first line of a request or an answer */
	PACKET_HTTPH,  /* a header, its continuing lines included */
	PACKET_SSL_TLS,
};

struct packet_limits {
	uint32_t packet_bytes; /* longer ones are invalid; 0: any size */
	uint32_t line_bytes;   /* longer lines are cut; 0: none is */
	uint8_t delimiter;     /* of lines */
};

enum { PACKET_UNKNOWN = 0, PACKET_INVALID = -1 };
/* Units: bytes of the packet that bytes[0..n) begin with, its header included, which may be more than n;
 * PACKET_UNKNOWN: n bytes do not tell. */
int64_t packet_size(enum packet_type type, const uint8_t *bytes, size_t n, const struct packet_limits *limits);

/* Bytes of somebody else's. */
struct packet_text {
	const uint8_t *at;
	size_t n;
};
/* The body of a whole packet; HTTP's and TLS's have no body but below. */
struct packet_text packet_body(enum packet_type type, const uint8_t *packet, size_t n);

struct http_uri {
	/* am_op_times: *; am_abs_path: path; am_http, am_https: host, port, path; am_scheme: host is the scheme;
	 * TERM_NONE: path only */
	Term kind;
	struct packet_text host, path;
	int32_t port;        /* 0: none given */
};

enum http_kind { HTTP_REQUEST, HTTP_RESPONSE, HTTP_FIELD, HTTP_END, HTTP_ERROR };
enum { HTTP_NAME_BYTES = 50 }; /* of which the capitals are put right */

struct http_line {
	enum http_kind kind;
	int32_t major, minor, status;
	Term name;           /* of a known method or header, else TERM_NONE */
	unsigned number;     /* of a known header, from 1 on; else 0 */
	struct packet_text text; /* the method; the header's name as given */
	struct packet_text value; /* of a header; the phrase of an answer; a line that is an error */
	struct http_uri uri;
	size_t fixed_bytes;  /* of `fixed`; 0: the name is too long, or known */
	uint8_t fixed[HTTP_NAME_BYTES]; /* a header's name with capitals put right */
};
/* What a whole packet of type PACKET_HTTP or PACKET_HTTPH says. */
void packet_read_http(enum packet_type type, const uint8_t *packet, size_t n, struct http_line *line);

struct tls_record {
	unsigned type, major, minor;
	uint8_t prefix[4];   /* stands before the data, when prefix_bytes says so: a client of SSL 2 says hello */
	size_t prefix_bytes;
	struct packet_text data;
};
/* Of a whole packet of type PACKET_SSL_TLS. */
void packet_read_tls(const uint8_t *packet, size_t n, struct tls_record *r);

#endif
