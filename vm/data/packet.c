/* SPDX-License-Identifier: Apache-2.0 */
/* Lengths of packets come from a table where the header has a fixed form, else from a function. Numbers of HTTP wrap at
 * 32 bits, as OTP's do. */
#include "data/packet.h"

#include <string.h>
#include <strings.h>

#include "base/release.h"

/* ---- how long */

static uint32_t read_big_16(const uint8_t *p) { return (uint32_t)p[0] << 8 | p[1]; }
static uint32_t read_big_32(const uint8_t *p) { return read_big_16(p) << 16 | read_big_16(p + 2); }

static uint32_t read_big(const uint8_t *p, unsigned n)
{
	uint32_t v = 0;

	for (unsigned i = 0; i < n; i++)
		v = v << 8 | p[i];
	return v;
}

static uint32_t read_little(const uint8_t *p)
{
	return (uint32_t)p[3] << 24 | (uint32_t)p[2] << 16 | (uint32_t)p[1] << 8 | p[0];
}

/* Header and body make less than 2 GB; body < 0: the header says less than itself. */
static int64_t sum(int64_t header, int64_t body, const struct packet_limits *l)
{
	if (body < 0 || header + body > INT32_MAX || (l->packet_bytes != 0 && body > l->packet_bytes))
		return PACKET_INVALID;
	return header + body;
}

static int64_t asn1_size(const uint8_t *p, size_t n, const struct packet_limits *l)
{
	size_t at = 1, length;

	if (n < 2)
		return PACKET_UNKNOWN;
	if ((p[0] & 0x1f) == 0x1f) {
		while (at < n && (p[at] & 0x80) != 0)
			at++;
		if (n - at < 2)
			return PACKET_UNKNOWN;
		at++;
	}
	length = p[at] & 0x7f;
	if ((p[at++] & 0x80) == 0)
		return sum((int64_t)at, (int64_t)length, l);
	if (n - at < length)
		return PACKET_UNKNOWN;
	return length <= 4 ? sum((int64_t)(at + length), read_big(p + at, (unsigned)length), l) : PACKET_INVALID;
}

static int64_t line_size(const uint8_t *p, size_t n, const struct packet_limits *l)
{
	const uint8_t *end = n > 0 ? memchr(p, l->delimiter, n) : NULL;
	size_t size = end != NULL ? (size_t)(end - p) + 1 : n;

	if (l->packet_bytes != 0 && size > l->packet_bytes)
		return PACKET_INVALID;
	if (l->line_bytes != 0 && (size > l->line_bytes || (end == NULL && size == l->line_bytes)))
		return l->line_bytes;
	return end != NULL ? (int64_t)size : PACKET_UNKNOWN;
}

static bool is_space(uint8_t c) { return c == ' ' || c == '\t'; }

/* Old users bound lines of HTTP by line_bytes. */
static int64_t http_size(bool header, const uint8_t *p, size_t n, const struct packet_limits *l)
{
	size_t most = l->packet_bytes != 0 ? l->packet_bytes : l->line_bytes, size = 0;
	const uint8_t *end;

	if ((n == 1 && p[0] == '\n') || (n == 2 && p[0] == '\r' && p[1] == '\n'))
		return (int64_t)n;
	while (size < n) {
		end = memchr(p + size, '\n', n - size);
		if (end == NULL)
			return most != 0 && n >= most ? PACKET_INVALID : PACKET_UNKNOWN;
		size = (size_t)(end - p) + 1;
		if (header && size < n && size > 2 && is_space(p[size]))
			continue; /* the header goes on in the next line */
		if (most != 0 && size > most)
			return PACKET_INVALID;
		return header && size == n ? PACKET_UNKNOWN : (int64_t)size;
	}
	return PACKET_UNKNOWN;
}

/* The bytes after a header of fixed form; -1: it is none. */
static int64_t body_size(enum packet_type type, const uint8_t *p)
{
	switch (type) {
	case PACKET_1: return p[0];
	case PACKET_2: return read_big_16(p);
	case PACKET_4: return read_big_32(p);
	case PACKET_SUNRM: return read_big_32(p) & INT32_MAX;
	case PACKET_CDR:
		return memcmp(p, "GIOP", 4) != 0 ? -1
						 : (int64_t)((p[6] & 1) != 0 ? read_little(p + 8) : read_big_32(p + 8));
	case PACKET_FCGI: return p[0] == 1 ? (int64_t)read_big_16(p + 4) + p[6] : -1;
	case PACKET_TPKT: return p[0] == 3 ? (int64_t)read_big_16(p + 2) - 4 : -1;
	/* TLS */
	default: return (p[0] & 0x80) != 0 && p[2] == 1 ? (int64_t)(read_big_16(p) & 0x7fff) - 3 : read_big_16(p + 3);
	}
}

int64_t packet_size(enum packet_type type, const uint8_t *bytes, size_t n, const struct packet_limits *limits)
{
	static const uint8_t headers[] = {
		[PACKET_1] = 1,    [PACKET_2] = 2,    [PACKET_4] = 4,    [PACKET_SUNRM] = 4,
		[PACKET_CDR] = 12, [PACKET_FCGI] = 8, [PACKET_TPKT] = 4, [PACKET_SSL_TLS] = 5,
	};

	switch (type) {
	case PACKET_RAW: return (int64_t)n;
	case PACKET_ASN1: return asn1_size(bytes, n, limits);
	case PACKET_LINE: return line_size(bytes, n, limits);
	case PACKET_HTTP: return http_size(false, bytes, n, limits);
	case PACKET_HTTPH: return http_size(true, bytes, n, limits);
	default: return n < headers[type] ? PACKET_UNKNOWN : sum(headers[type], body_size(type, bytes), limits);
	}
}

struct packet_text packet_body(enum packet_type type, const uint8_t *packet, size_t n)
{
	size_t header = type == PACKET_1 ? 1 : type == PACKET_2 ? 2 : type == PACKET_4 ? 4 : 0;

	if (type == PACKET_FCGI)
		n -= packet[6];
	return (struct packet_text){ packet + header, n - header };
}

/* ---- a line of HTTP */

struct known { Term atom; uint8_t n; const char *text; };
static const struct known known_headers[] = {
#define HTTP_HEADER(name, text) { am_http_##name, sizeof(text) - 1, text },
#include "term/http_names.def"
};
static const struct known known_methods[] = {
#define HTTP_METHOD(name, text) { am_http_##name, sizeof(text) - 1, text },
#include "term/http_names.def"
};
#define COUNT_OF(a) (sizeof(a) / sizeof((a)[0]))

/* Its number, from 1 on; 0: unknown. */
static unsigned find_known(const struct known *table, size_t count, const uint8_t *name, size_t n)
{
	for (size_t i = 0; i < count; i++)
		if (table[i].n == n && (uint8_t)table[i].text[0] == name[0] && memcmp(table[i].text, name, n) == 0)
			return (unsigned)i + 1;
	return 0;
}

/* May it stand in the name of a method or header? */
static bool is_name_char(uint8_t c)
{
	switch (c) {
	case '(':
	case ')':
	case '<':
	case '>':
	case '@':
	case ',':
	case ';':
	case ':':
	case '\\':
	case '"':
	case '/':
	case '[':
	case ']':
	case '?': case '=': case '{': case '}':
		return false;
	default:
		return c > 32 && c < 128;
	}
}

static bool is_digit(uint8_t c) { return c >= '0' && c <= '9'; }

static bool skip_byte(struct packet_text *t)
{
	t->at++;
	t->n--;
	return true;
}

/* Fails: false when t does not begin with c. */
static bool skip_char(struct packet_text *t, uint8_t c)
{
	return t->n > 0 && t->at[0] == c && skip_byte(t);
}

static bool skip_spaces(struct packet_text *t)
{
	size_t before = t->n;

	while (t->n > 0 && is_space(t->at[0]))
		skip_byte(t);
	return t->n < before;
}

/* Fails: false without a digit. */
static bool take_number(struct packet_text *t, int32_t *number)
{
	size_t before = t->n;
	uint32_t v = 0;

	for (; t->n > 0 && is_digit(t->at[0]); skip_byte(t))
		v = 10 * v + (t->at[0] - (uint32_t)'0');
	*number = (int32_t)v;
	return t->n < before;
}

static bool take_version(struct packet_text *t, struct http_line *line)
{
	return take_number(t, &line->major) && skip_char(t, '.') && take_number(t, &line->minor);
}

static bool skip_http(struct packet_text *t)
{
	if (t->n < 5 || memcmp(t->at, "HTTP/", 5) != 0)
		return false;
	t->at += 5;
	t->n -= 5;
	return true;
}

/* What t holds before the first byte that is c, or all; t is then the rest, with c. */
static struct packet_text take_until(struct packet_text *t, uint8_t c)
{
	const uint8_t *end = t->n > 0 ? memchr(t->at, c, t->n) : NULL;
	struct packet_text before = { t->at, end != NULL ? (size_t)(end - t->at) : t->n };

	t->at += before.n;
	t->n -= before.n;
	return before;
}

/* The host before a port, or all; an address of IPv6 stands in brackets. */
static struct packet_text take_host(struct packet_text *t)
{
	const uint8_t *bracket = t->n > 0 && t->at[0] == '[' ? memchr(t->at, ']', t->n) : NULL;
	struct packet_text address = { t->at, 0 };

	if (bracket == NULL || !release_reads_ipv6_hosts())
		return take_until(t, ':');
	address.n = (size_t)(bracket + 1 - t->at);
	t->at += address.n;
	t->n -= address.n;
	return address;
}

static void read_absolute(struct packet_text t, struct http_uri *uri)
{
	static const uint8_t root[] = { '/' };
	struct packet_text where = take_until(&t, '/');
	int32_t port;

	uri->path = t.n > 0 ? t : (struct packet_text){ root, 1 };
	uri->host = take_host(&where);
	if (skip_char(&where, ':') && take_number(&where, &port) && where.n == 0)
		uri->port = port;
}

static bool skip_prefix(struct packet_text *t, const char *prefix)
{
	size_t n = strlen(prefix);

	if (t->n < n || strncasecmp((const char *)t->at, prefix, n) != 0)
		return false;
	t->at += n;
	t->n -= n;
	return true;
}

static void read_uri(struct packet_text t, struct http_uri *uri)
{
	*uri = (struct http_uri){ .kind = TERM_NONE, .path = t };
	if (t.n == 1 && t.at[0] == '*') {
		uri->kind = am_op_times;
	} else if (t.n == 1 || t.at[0] == '/') {
		uri->kind = am_abs_path;
	} else if (skip_prefix(&t, "http://")) {
		uri->kind = am_http;
		read_absolute(t, uri);
	} else if (skip_prefix(&t, "https://")) {
		uri->kind = am_https;
		read_absolute(t, uri);
	} else if (memchr(t.at, ':', t.n) != NULL) {
		uri->kind = am_scheme;
		uri->host = take_until(&t, ':');
		skip_byte(&t);
		uri->path = t;
	}
}

/* Fails: false. */
static bool read_response(struct packet_text t, struct http_line *line)
{
	line->kind = HTTP_RESPONSE;
	if (!take_version(&t, line) || !skip_spaces(&t))
		return false;
	take_number(&t, &line->status);
	if (!skip_spaces(&t) && t.n > 0)
		return false;
	line->value = t;
	return true;
}

static bool read_request(struct packet_text t, struct http_line *line)
{
	struct packet_text uri;
	unsigned known;

	line->kind = HTTP_REQUEST;
	line->text.at = t.at;
	while (t.n > 0 && is_name_char(t.at[0]))
		skip_byte(&t);
	line->text.n = (size_t)(t.at - line->text.at);
	if (line->text.n == 0 || !skip_spaces(&t))
		return false;
	known = find_known(known_methods, COUNT_OF(known_methods), line->text.at, line->text.n);
	line->name = known != 0 ? known_methods[known - 1].atom : TERM_NONE;
	for (uri = (struct packet_text){ t.at, 0 }; t.n > 0 && !is_space(t.at[0]); skip_byte(&t))
		uri.n++;
	if (uri.n == 0)
		return false;
	read_uri(uri, &line->uri);
	skip_spaces(&t);
	line->minor = 9; /* HTTP 0.9 told no version */
	return t.n == 0 || (t.n >= 8 && skip_http(&t) && take_version(&t, line));
}

/* Content-Type for cONTENT-type: capitals at the start and after a dash. */
static void fix_capitals(struct packet_text name, uint8_t *to)
{
	bool up = true;

	for (size_t i = 0; i < name.n; i++) {
		uint8_t c = name.at[i];

		if (up && c >= 'a' && c <= 'z')
			c -= 'a' - 'A';
		else if (!up && c >= 'A' && c <= 'Z')
			c += 'a' - 'A';
		up = !up && c == '-'; /* the second of two dashes does not count */
		to[i] = c;
	}
}

static bool read_field(struct packet_text t, struct http_line *line)
{
	unsigned known;

	line->kind = t.n > 0 ? HTTP_FIELD : HTTP_END;
	if (t.n == 0)
		return true;
	line->text.at = t.at;
	while (t.n > 0 && is_name_char(t.at[0]))
		skip_byte(&t);
	line->text.n = (size_t)(t.at - line->text.at);
	if (!skip_char(&t, ':'))
		return false;
	skip_spaces(&t);
	line->value = t;
	if (line->text.n > HTTP_NAME_BYTES)
		return true;
	line->fixed_bytes = line->text.n;
	fix_capitals(line->text, line->fixed);
	known = find_known(known_headers, COUNT_OF(known_headers), line->fixed, line->fixed_bytes);
	line->number = known;
	line->name = known != 0 ? known_headers[known - 1].atom : TERM_NONE;
	return true;
}

void packet_read_http(enum packet_type type, const uint8_t *packet, size_t n, struct http_line *line)
{
	struct packet_text t = { packet, n };
	bool ok;

	*line = (struct http_line){ .name = TERM_NONE };
	if (n >= 2 && packet[n - 2] == '\r')
		t.n -= 2;
	else if (n >= 1 && packet[n - 1] == '\n')
		t.n -= 1;
	if (type == PACKET_HTTPH)
		ok = read_field(t, line);
	else
		ok = skip_http(&t) ? read_response(t, line) : read_request(t, line);
	if (!ok) {
		line->kind = HTTP_ERROR;
		line->value = (struct packet_text){ packet, n };
	}
}

/* ---- TLS */

void packet_read_tls(const uint8_t *packet, size_t n, struct tls_record *r)
{
	if ((packet[0] & 0x80) == 0 || packet[2] != 1) {
		*r = (struct tls_record){ packet[0], packet[1], packet[2], .data = { packet + 5, n - 5 } };
		return;
	}
	n -= 3; /* length and 1 of a hello of SSL 2; in TLS it is a handshake, 22, with a header of its own */
	*r = (struct tls_record){ 22,        packet[3],
				  packet[4], { 1, (uint8_t)(n >> 16), (uint8_t)(n >> 8), (uint8_t)n },
				  4,         { packet + 3, n } };
}
