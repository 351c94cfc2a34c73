/* SPDX-License-Identifier: Apache-2.0 */
/* What sockets tell processes. Messages are built in place, in the fragment that carries them. */
#include <string.h>

#include "base/alloc.h"
#include "base/release.h"
#include "data/etf.h"
#include "data/packet_term.h"
#include "heap/copy.h"
#include "io/inet.h"

enum { TERMS_WORDS = 40 }; /* of tuples and small lists around data */

/* A message that is being built. */
struct building {
	struct fragment *f;
	Term *top;
};

static struct building begin(size_t words)
{
	struct building b = { .f = fragment_new(words) };

	b.top = b.f->words;
	return b;
}

static Term put_tuple(struct building *b, unsigned n, const Term *elements)
{
	Term *at = b->top;

	at[0] = HEADER(n, SUB_TUPLE);
	memcpy(at + 1, elements, n * sizeof(Term));
	b->top += n + 1;
	return term_from_boxed(at);
}
#define PUT_TUPLE(b, ...) put_tuple(b, sizeof((Term[]){ __VA_ARGS__ }) / sizeof(Term), (Term[]){ __VA_ARGS__ })

static Term put_list(struct building *b, const uint8_t *bytes, size_t n, Term tail)
{
	Term list = tail;

	for (size_t k = n; k-- > 0; b->top += 2) {
		b->top[0] = SMALL((uint64_t)bytes[k]);
		b->top[1] = list;
		list = term_from_cons(b->top);
	}
	return list;
}

/* source: the bytes are inside it, and it may be shared; NULL: they are copied. */
static Term put_binary(struct building *b, struct binary *source, const uint8_t *bytes, size_t n)
{
	struct heapbin *small = (struct heapbin *)b->top;

	if (n > HEAPBIN_LIMIT) {
		if (source != NULL) {
			binary_ref(source);
		} else {
			source = binary_new(n);
			ENSURE(source != NULL);
			memcpy(source->data, bytes, n);
			bytes = source->data;
		}
		b->top += REFBIN_WORDS;
		return refbin_put_at(b->top - REFBIN_WORDS, &b->f->off_heap, source, (uint8_t *)bytes, n);
	}
	small->header = HEADER(1 + (n + 7) / 8, SUB_HEAPBIN);
	small->size_bytes = n;
	memcpy(small->data, bytes, n);
	b->top += 2 + (n + 7) / 8;
	return term_from_boxed(&small->header);
}

static void send_built(struct inet_socket *s, Term to, struct building *b, Term message)
{
	b->f->used_words = (size_t)(b->top - b->f->words);
	port_deliver(s->port, to, message, b->f);
}

static bool is_process(Term t)
{
	return t != TERM_NONE && term_is_local_pid(t);
}

/* ---- answers to requests */

/* Takes op out; value: built in b. */
static void end_op(struct inet_socket *s, struct inet_op *op, struct building *b, Term value)
{
	Term message = PUT_TUPLE(b, am_inet_async, s->port->id, SMALL((int64_t)op->id), value), to = op->caller;

	inet_end_op(s, op);
	send_built(s, to, b, message);
}

void inet_op_ok(struct inet_socket *s, struct inet_op *op)
{
	struct building b = begin(TERMS_WORDS);

	end_op(s, op, &b, am_ok);
}

void inet_op_ok_port(struct inet_socket *s, struct inet_op *op, Term port)
{
	struct building b = begin(TERMS_WORDS);

	end_op(s, op, &b, PUT_TUPLE(&b, am_ok, port));
}

void inet_op_error(struct inet_socket *s, struct inet_op *op, Term why)
{
	struct building b = begin(TERMS_WORDS);

	end_op(s, op, &b, PUT_TUPLE(&b, am_error, why));
}

void inet_ops_error(struct inet_socket *s, Term why)
{
	while (s->ops != NULL)
		inet_op_error(s, s->ops, why);
}

/* Fails: false, it is no reference of this VM. */
static bool read_tag(struct inet_tag *tag, const uint8_t *bytes, size_t n)
{
	struct fragment *f;
	Term t;
	bool is_ref;

	if (etf_decode(bytes, n, &f, &t, ETF_SAFE) < 0)
		return false;
	is_ref = term_is_boxed(t) && *boxed_ptr(t) == HEADER(REF_WORDS - 1, SUB_REF);
	if (is_ref)
		*tag = (struct inet_tag){ boxed_ptr(t)[1], boxed_ptr(t)[2] };
	fragment_free(f);
	return is_ref;
}

bool inet_take_tag(struct inet_socket *s, struct byte_queue *data)
{
	enum { SIZE_BYTES = 2, TAG_MAX = 128 };
	uint8_t bytes[SIZE_BYTES + TAG_MAX];
	size_t n = data->size_bytes < sizeof(bytes) ? data->size_bytes : sizeof(bytes), size;

	s->tag = (struct inet_tag){ 0 };
	if (!release_sends_are_tagged() || !is_process(s->port->caller))
		return true;
	byte_queue_copy(data, bytes, n);
	size = n >= SIZE_BYTES ? inet_read16(bytes) : 0;
	if (n < SIZE_BYTES + size || !read_tag(&s->tag, bytes + SIZE_BYTES, size)) {
		port_exit(s->port, am_einval);
		return false;
	}
	byte_queue_drop(data, SIZE_BYTES + size);
	return true;
}

/* The tag is used up. */
static Term put_reply(struct inet_socket *s, struct building *b, Term result)
{
	struct inet_tag tag = s->tag;
	Term *at = b->top;

	s->tag = (struct inet_tag){ 0 };
	if (tag.number == 0)
		return PUT_TUPLE(b, am_inet_reply, s->port->id, result);
	memcpy(at, (Term[]){ HEADER(REF_WORDS - 1, SUB_REF), tag.number, tag.owner }, REF_WORDS * sizeof(Term));
	b->top += REF_WORDS;
	return PUT_TUPLE(b, am_inet_reply, s->port->id, result, term_from_boxed(at));
}

void inet_reply_ok(struct inet_socket *s, Term to)
{
	struct building b;

	if (!is_process(to))
		return;
	b = begin(TERMS_WORDS);
	send_built(s, to, &b, put_reply(s, &b, am_ok));
}

void inet_reply_error(struct inet_socket *s, Term to, Term why)
{
	struct building b;

	if (!is_process(to))
		return;
	b = begin(TERMS_WORDS);
	send_built(s, to, &b, put_reply(s, &b, PUT_TUPLE(&b, am_error, why)));
}

void inet_tell(struct inet_socket *s, Term to, Term what, Term why)
{
	struct building b = begin(TERMS_WORDS);

	send_built(s, to, &b,
		   why != TERM_NONE ? PUT_TUPLE(&b, what, s->port->id, why) : PUT_TUPLE(&b, what, s->port->id));
}

void inet_tell_owner(struct inet_socket *s, Term what, Term why)
{
	inet_tell(s, s->port->owner, what, why);
}

void inet_tell_file(struct inet_socket *s, int64_t sent, Term why)
{
	struct building b = begin(TERMS_WORDS);
	Term value;

	if (why != TERM_NONE)
		value = PUT_TUPLE(&b, am_error, why);
	else
		value = PUT_TUPLE(&b, am_ok, SMALL(sent & UINT32_MAX), SMALL(sent >> 32));
	send_built(s, s->port->owner, &b, PUT_TUPLE(&b, am_sendfile, s->port->id, value));
}

/* ---- data */

void inet_tell_passive(struct inet_socket *s)
{
	switch (s->protocol) {
	case IPPROTO_TCP: inet_tell_owner(s, am_tcp_passive, TERM_NONE); return;
	case IPPROTO_SCTP: inet_tell_owner(s, am_sctp_passive, TERM_NONE); return;
	default: inet_tell_owner(s, am_udp_passive, TERM_NONE); return;
	}
}

void inet_step_active(struct inet_socket *s)
{
	if (s->active == INET_ONCE) {
		s->active = INET_PASSIVE;
	} else if (s->active == INET_MULTI && --s->active_count == 0) {
		s->active = INET_PASSIVE;
		inet_tell_passive(s);
	}
}

/* A list, or as many bytes of a header as a list before a binary. */
static size_t data_words(const struct inet_socket *s, size_t n)
{
	return s->mode == INET_MODE_LIST || s->header_bytes > n
		       ? 2 * n
		       : 2 * s->header_bytes + binary_words(n - s->header_bytes);
}

static Term put_data(const struct inet_socket *s, struct building *b, struct binary *source, const uint8_t *bytes,
		     size_t n)
{
	size_t header = s->header_bytes;

	if (s->mode == INET_MODE_LIST || header > n)
		return put_list(b, bytes, n, NIL);
	return put_list(b, bytes, header, put_binary(b, source, bytes + header, n - header));
}

/* {tcp, Port, Data} and its like to the owner, or {ok, Data} to who receives. */
static void send_value(struct inet_socket *s, struct building *b, Term tag, Term value)
{
	if (s->active == INET_PASSIVE)
		end_op(s, s->ops, b, PUT_TUPLE(b, am_ok, value));
	else if (tag == am_ssl_tls)
		send_built(s, s->port->owner, b, value);
	else
		send_built(s, s->port->owner, b, PUT_TUPLE(b, tag, s->port->id, value));
}

static void deliver_to_port(struct inet_socket *s, struct packet_text body)
{
	if (s->port->carrier != NULL)
		port_carrier.input(s->port, body.at, body.n);
	else if (s->mode == INET_MODE_LIST || s->header_bytes > body.n)
		port_reply(s->port, body.at, body.n, NULL, 0);
	else
		port_reply(s->port, body.at, s->header_bytes, body.at + s->header_bytes, body.n - s->header_bytes);
}

static bool is_http(enum packet_type type)
{
	return type == PACKET_HTTP || type == PACKET_HTTPH;
}

/* HTTP and TLS: the term of a packet is made on a heap of its own, and copied. */
static void deliver_read(struct inet_socket *s, enum packet_type type, bool binaries, const uint8_t *bytes, size_t n)
{
	struct heap scratch;
	struct packet_source source = { .h = &scratch, .binaries = binaries };
	struct building b;
	size_t words;
	Term value;

	heap_init(&scratch, HEAP_MIN_WORDS);
	source.binary = binary_put(&scratch, bytes, n);
	source.bytes = binary_view(source.binary).base;
	value = packet_put_term(&source, type, n, s->port->id);
	ENSURE(value != TERM_NONE);
	if (value == am_http_eoh)
		s->http_headers = false;
	else if (is_http(type) && tuple_get(value, 1) != am_http_error)
		s->http_headers = true;
	words = copy_flat_size_words(value);
	b = begin(words + TERMS_WORDS);
	value = copy_term_whole(value, &b.top, &b.f->off_heap);
	send_value(s, &b, is_http(type) ? am_http : am_ssl_tls, value);
	heap_free(&scratch);
}

/* packet's numbers are inet_int.hrl's; http_bin and httph_bin follow the types of data/packet.h. */
static enum packet_type type_of(const struct inet_socket *s, bool *binaries)
{
	enum { HTTP_BIN = 13, HTTPH_BIN = 14 };

	*binaries = s->packet >= HTTP_BIN;
	if (s->packet == HTTPH_BIN || (s->http_headers && (s->packet == HTTP_BIN || s->packet == PACKET_HTTP)))
		return PACKET_HTTPH;
	return s->packet == HTTP_BIN ? PACKET_HTTP : (enum packet_type)s->packet;
}

enum packet_type inet_packet_type(const struct inet_socket *s)
{
	bool binaries;

	return type_of(s, &binaries);
}

bool inet_packet_fits(const struct inet_socket *s, size_t n)
{
	enum packet_type type = inet_packet_type(s);
	size_t words = data_words(s, n) + n / sizeof(Term); /* bytes that cannot be shared are copied */

	/* A term that is read stands twice, on a heap of its own and in the message; its texts are lists. */
	if (is_http(type) || type == PACKET_SSL_TLS)
		words = 4 * n;
	return s->deliver == INET_DELIVER_PORT || port_message_fits(words);
}

void inet_deliver_packet(struct inet_socket *s, struct binary *b, const uint8_t *bytes, size_t n, bool shared)
{
	bool binaries;
	enum packet_type type = type_of(s, &binaries);
	struct packet_text body = packet_body(type, bytes, n);
	struct building message;

	port_count_input(s->port, n);
	if (s->deliver == INET_DELIVER_PORT) {
		deliver_to_port(s, body);
	} else if (is_http(type) || type == PACKET_SSL_TLS) {
		deliver_read(s, type, binaries, bytes, n);
	} else {
		message = begin(data_words(s, body.n) + TERMS_WORDS);
		send_value(s, &message, am_tcp, put_data(s, &message, shared ? b : NULL, body.at, body.n));
	}
	inet_step_active(s);
}

/* ---- datagrams */

static int read_number(const struct cmsghdr *c)
{
	size_t n = c->cmsg_len - CMSG_LEN(0);
	int value = 0;

	if (n == 1)
		return *CMSG_DATA(c);
	memcpy(&value, CMSG_DATA(c), n < sizeof(value) ? n : sizeof(value));
	return value;
}

bool inet_read_control_item(const struct cmsghdr *c, Term *name, int *value)
{
	static const struct { int level, type; Term name; } kinds[] = {
		{ IPPROTO_IP, IP_TOS, am_tos }, { IPPROTO_IPV6, IPV6_TCLASS, am_tclass },
		{ IPPROTO_IP, IP_TTL, am_ttl },
	};

	for (size_t k = 0; k < sizeof(kinds) / sizeof(kinds[0]); k++)
		if (c->cmsg_level == kinds[k].level && c->cmsg_type == kinds[k].type) {
			*name = kinds[k].name;
			*value = read_number(c);
			return true;
		}
	return false;
}

void inet_read_control(struct msghdr *m, struct inet_control_data *to)
{
	to->count = 0;
	for (struct cmsghdr *c = CMSG_FIRSTHDR(m); c != NULL && to->count < 4; c = CMSG_NXTHDR(m, c))
		if (inet_read_control_item(c, &to->items[to->count].name, &to->items[to->count].value))
			to->count++;
}

/* [{Name, Value}] */
static Term put_control(struct building *b, const struct inet_control_data *c)
{
	Term list = NIL;

	for (unsigned k = c->count; k-- > 0; b->top += 2) {
		Term item = PUT_TUPLE(b, c->items[k].name, SMALL((int64_t)c->items[k].value));

		b->top[0] = item;
		b->top[1] = list;
		list = term_from_cons(b->top);
	}
	return list;
}

/* The two elements of the message that say whence. */
static void put_source(struct building *b, const struct inet_address *from, Term parts[2])
{
	Term numbers[8];
	const uint8_t *bytes = (const uint8_t *)&from->in6.sin6_addr;
	size_t n;

	parts[1] = SMALL((int64_t)(inet_address_port(from) > 0 ? inet_address_port(from) : 0));
	switch (from->size < sizeof(sa_family_t) ? AF_UNSPEC : from->any.sa_family) {
	case AF_INET:
		bytes = (const uint8_t *)&from->in.sin_addr;
		for (unsigned k = 0; k < 4; k++)
			numbers[k] = SMALL((uint64_t)bytes[k]);
		parts[0] = put_tuple(b, 4, numbers);
		return;
	case AF_INET6:
		for (unsigned k = 0; k < 8; k++)
			numbers[k] = SMALL((uint64_t)inet_read16(bytes + 2 * k));
		parts[0] = put_tuple(b, 8, numbers);
		return;
	case AF_UNIX:
		n = from->size > offsetof(struct sockaddr_un, sun_path)
			    ? from->size - offsetof(struct sockaddr_un, sun_path)
			    : 0;
		if (strnlen(from->un.sun_path, n) > 0)
			n = strnlen(from->un.sun_path, n);
		parts[0] = PUT_TUPLE(b, am_local, put_binary(b, NULL, (const uint8_t *)from->un.sun_path, n));
		parts[1] = SMALL(0);
		return;
	default:
		parts[0] = PUT_TUPLE(b, am_unspec, put_binary(b, NULL, (const uint8_t *)"", 0));
		parts[1] = SMALL(0);
	}
}

/* {udp, Port, IP, PortNumber, Data}, and control data before Data. */
static void send_datagram(struct inet_socket *s, const struct inet_address *from, struct binary *b, size_t n,
			  const struct inet_control_data *c)
{
	struct building m = begin(data_words(s, n) + 3 * TERMS_WORDS);
	Term parts[2], data = put_data(s, &m, b, b->data, n);

	put_source(&m, from, parts);
	if (c != NULL)
		send_built(s, s->port->owner, &m,
			   PUT_TUPLE(&m, am_udp, s->port->id, parts[0], parts[1], put_control(&m, c), data));
	else
		send_built(s, s->port->owner, &m, PUT_TUPLE(&m, am_udp, s->port->id, parts[0], parts[1], data));
}

/* To who receives: [Address... | Data], as prim_inet decodes it, with control data in a pair. */
static void answer_datagram(struct inet_socket *s, const struct inet_address *from, struct binary *b, size_t n,
			    const struct inet_control_data *c)
{
	struct port_answer address;
	struct building m;
	Term data;

	answer_init(&address);
	inet_address_put(&address, from);
	m = begin(data_words(s, n) + 2 * address.n + 3 * TERMS_WORDS);
	data = put_list(&m, address.bytes, address.n, put_data(s, &m, b, b->data, n));
	answer_free(&address);
	if (c != NULL)
		data = PUT_TUPLE(&m, data, put_control(&m, c));
	end_op(s, s->ops, &m, PUT_TUPLE(&m, am_ok, data));
}

void inet_deliver_datagram(struct inet_socket *s, const struct inet_address *from, struct binary *b, size_t n,
			   const struct inet_control_data *c)
{
	port_count_input(s->port, n);
	if (s->deliver == INET_DELIVER_PORT)
		deliver_to_port(s, (struct packet_text){ b->data, n });
	else if (s->active == INET_PASSIVE)
		answer_datagram(s, from, b, n, c);
	else
		send_datagram(s, from, b, n, c);
	inet_step_active(s);
}
