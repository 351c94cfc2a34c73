/* SPDX-License-Identifier: Apache-2.0 */
/* Texts that are parts of the source are sub-binaries of it, or lists. */
#include "data/packet_term.h"

#include "data/number.h"

/* Bytes of the source's own. */
static Term put_part(const struct packet_source *s, struct packet_text t)
{
	return binary_sub(s->h, s->binary, (uint64_t)(t.at - s->bytes) * 8, (uint64_t)t.n * 8);
}

/* Any bytes. */
static Term put_text(const struct packet_source *s, struct packet_text t)
{
	return s->binaries ? binary_put(s->h, t.at, t.n) : heap_list_bytes(s->h, t.at, t.n, NIL);
}

/* Bytes of the source's own, as a text. */
static Term put_own_text(const struct packet_source *s, struct packet_text t)
{
	return s->binaries ? put_part(s, t) : put_text(s, t);
}

static Term put_uri(const struct packet_source *s, const struct http_uri *uri)
{
	struct heap *h = s->h;

	switch (uri->kind) {
	case am_op_times:
		return am_op_times;
	case am_abs_path:
		return heap_tuple(h, am_abs_path, put_own_text(s, uri->path));
	case am_scheme:
		return heap_tuple(h, am_scheme, put_own_text(s, uri->host), put_own_text(s, uri->path));
	case TERM_NONE:
		return put_own_text(s, uri->path);
	default:
		return heap_tuple(h, am_absoluteURI, uri->kind, put_own_text(s, uri->host),
				  uri->port != 0 ? SMALL((int64_t)uri->port) : (Term)am_undefined,
				  put_text(s, uri->path));
	}
}

static Term put_field(const struct packet_source *s, const struct http_line *l)
{
	Term given = put_own_text(s, l->text), name = l->name;

	if (name == TERM_NONE)
		name = l->fixed_bytes > 0 ? put_text(s, (struct packet_text){ l->fixed, l->fixed_bytes }) : given;
	return heap_tuple(s->h, am_http_header, SMALL((int64_t)l->number), name, given, put_own_text(s, l->value));
}

static __attribute__((noinline)) Term put_http(const struct packet_source *s, enum packet_type type, size_t n)
{
	struct heap *h = s->h;
	struct http_line l;
	Term version;

	packet_read_http(type, s->bytes, n, &l);
	version = heap_tuple(h, SMALL((int64_t)l.major), SMALL((int64_t)l.minor));
	switch (l.kind) {
	case HTTP_REQUEST:
		return heap_tuple(h, am_http_request, l.name != TERM_NONE ? l.name : put_own_text(s, l.text),
				  put_uri(s, &l.uri), version);
	case HTTP_RESPONSE:
		return heap_tuple(h, am_http_response, version, SMALL((int64_t)l.status), put_own_text(s, l.value));
	case HTTP_FIELD:
		return put_field(s, &l);
	case HTTP_END:
		return am_http_eoh;
	default:
		return heap_tuple(h, am_http_error, put_own_text(s, l.value));
	}
}

/* Fails: TERM_NONE, out of memory. */
static Term put_tls(const struct packet_source *s, size_t n, Term socket)
{
	struct tls_record r;
	uint8_t *bytes;
	Term data;

	packet_read_tls(s->bytes, n, &r);
	data = binary_alloc(s->h, r.prefix_bytes + r.data.n, &bytes);
	if (data == TERM_NONE)
		return data;
	memcpy(bytes, r.prefix, r.prefix_bytes);
	memcpy(bytes + r.prefix_bytes, r.data.at, r.data.n);
	return heap_tuple(s->h, am_ssl_tls, socket, SMALL((int64_t)r.type),
			  heap_tuple(s->h, SMALL((int64_t)r.major), SMALL((int64_t)r.minor)), data);
}

Term packet_put_term(const struct packet_source *s, enum packet_type type, size_t n, Term socket)
{
	return type == PACKET_SSL_TLS ? put_tls(s, n, socket) : put_http(s, type, n);
}
