/* SPDX-License-Identifier: Apache-2.0 */
/* What SCTP sockets tell processes. A message is made on a heap of its own, and copied: what a notification takes
 * depends on what the kernel and the other side say. Nothing is read behind the bytes that came. */
#include <string.h>

#include "base/alloc.h"
#include "data/binary.h"
#include "heap/copy.h"
#include "io/inet_sctp.h"

static void send_term(struct inet_socket *s, Term to, Term message)
{
	struct fragment *f = copy_to_fragment(message, &message);

	port_deliver(s->port, to, message, f);
}

void inet_sctp_reply(struct inet_socket *s, Term to, struct heap *h, Term value)
{
	Term ok = heap_tuple(h, am_ok, value);

	if (to != TERM_NONE && term_is_local_pid(to))
		send_term(s, to, heap_tuple(h, am_inet_reply, s->port->id, ok));
}

/* {inet_async, Port, Id, {tag, value}}; ends op. */
static void end_op(struct inet_socket *s, struct inet_op *op, struct heap *h, Term tag, Term value)
{
	Term result = heap_tuple(h, tag, value), to = op->caller;
	Term message = heap_tuple(h, am_inet_async, s->port->id, SMALL((int64_t)op->id), result);

	inet_end_op(s, op);
	send_term(s, to, message);
}

void inet_sctp_connected(struct inet_socket *s, struct inet_op *op, sctp_assoc_t association)
{
	struct heap h;

	heap_init(&h, HEAP_MIN_WORDS);
	end_op(s, op, &h, am_ok, SMALL((int64_t)association));
	heap_free(&h);
}

/* ---- notifications */

static const struct event {
	uint16_t type;
	bool error;              /* it is told as one */
	size_t bytes;            /* of the kernel's structure, without what follows it */
	const struct sctp_record *record;
} events[] = {
	{ SCTP_ASSOC_CHANGE, false, sizeof(struct sctp_assoc_change), &sctp_record_assoc_change },
	{ SCTP_PEER_ADDR_CHANGE, false, sizeof(struct sctp_paddr_change), &sctp_record_paddr_change },
	{ SCTP_SHUTDOWN_EVENT, false, sizeof(struct sctp_shutdown_event), &sctp_record_shutdown_event },
	{ SCTP_ADAPTATION_INDICATION, false, sizeof(struct sctp_adaptation_event), &sctp_record_adaptation_event },
	{ SCTP_REMOTE_ERROR, true, sizeof(struct sctp_remote_error), &sctp_record_remote_error },
	{ SCTP_SEND_FAILED, true, sizeof(struct sctp_send_failed), &sctp_record_send_failed },
	{ SCTP_PARTIAL_DELIVERY_EVENT, true, sizeof(struct sctp_pdapi_event), &sctp_record_pdapi_event },
};

/* Of a kind that is told, and whole. Fails: NULL. */
static const struct event *find_event(const uint8_t *bytes, size_t n)
{
	uint16_t type;

	if (n < sizeof(type))
		return NULL;
	memcpy(&type, bytes, sizeof(type));
	for (size_t k = 0; k < sizeof(events) / sizeof(events[0]); k++)
		if (events[k].type == type)
			return n >= events[k].bytes ? &events[k] : NULL;
	return NULL;
}

/* Codes of the causes in an error chunk of n bytes: a head of four bytes with its length, then causes, each with a code
 * and its length. */
static Term put_causes(struct heap *h, const uint8_t *chunk, size_t n)
{
	size_t all = n >= 4 ? inet_read16(chunk + 2) : 0, count = 0;
	Term *codes, list;

	if (all > n)
		all = n;
	codes = mem_alloc((all / 4 + 1) * sizeof(Term));
	for (size_t at = 4; at + 4 <= all && inet_read16(chunk + at + 2) >= 4; at += inet_read16(chunk + at + 2))
		codes[count++] = SMALL((uint64_t)inet_read16(chunk + at));
	list = heap_list_array(h, count, codes, NIL);
	mem_free(codes);
	return list;
}

Term sctp_put_event(struct heap *h, const uint8_t *bytes, size_t n, bool *error)
{
	const struct event *e = find_event(bytes, n);
	Term last = TERM_NONE;

	if (e == NULL)
		return TERM_NONE;
	*error = e->error;
	if (e->type == SCTP_REMOTE_ERROR)
		last = put_causes(h, bytes + e->bytes, n - e->bytes);
	else if (e->type == SCTP_SEND_FAILED)
		last = binary_put(h, bytes + e->bytes, n - e->bytes);
	return sctp_put_record(h, e->record, bytes, last);
}

/* ---- what came */

/* [#sctp_sndrcvinfo{} | {Name, Value}]; m's headers are the kernel's. */
static Term put_control(struct heap *h, struct msghdr *m)
{
	Term parts[8], name;
	unsigned n = 0;
	int value;

	for (struct cmsghdr *c = CMSG_FIRSTHDR(m); c != NULL && n < 8; c = CMSG_NXTHDR(m, c)) {
		if (inet_read_control_item(c, &name, &value))
			parts[n++] = heap_tuple(h, name, SMALL((int64_t)value));
		else if (c->cmsg_level == IPPROTO_SCTP && c->cmsg_type == SCTP_SNDRCV &&
			 c->cmsg_len >= CMSG_LEN(sizeof(struct sctp_sndrcvinfo)))
			parts[n++] = sctp_put_record(h, &sctp_record_sndrcvinfo, CMSG_DATA(c), TERM_NONE);
	}
	return heap_list_array(h, n, parts, NIL);
}

static Term put_data(const struct inet_socket *s, struct heap *h, struct binary *b, const uint8_t *bytes, size_t n)
{
	if (s->mode == INET_MODE_LIST)
		return heap_list_bytes(h, bytes, n, NIL);
	if (n <= HEAPBIN_LIMIT || bytes != b->data)
		return binary_put(h, bytes, n);
	binary_ref(b);
	return refbin_put(h, b, n);
}

/* {sctp, Port, Address, PortNumber, {Control, What}} */
static void tell_owner(struct inet_socket *s, struct heap *h, const struct inet_address *from, Term control, Term what,
		       bool error)
{
	Term address = sctp_put_address(h, from), pair = heap_tuple(h, control, what);
	int port = inet_address_port(from);

	send_term(s, s->port->owner,
		  heap_tuple(h, error ? am_sctp_error : am_sctp, s->port->id, address,
			     SMALL((int64_t)(port > 0 ? port : 0)), pair));
}

/* {ok, {EncodedAddress, Control, What}} to who receives. */
static void answer(struct inet_socket *s, struct heap *h, const struct inet_address *from, Term control, Term what,
		   bool error)
{
	struct port_answer encoded;
	Term address;

	answer_init(&encoded);
	inet_address_put(&encoded, from);
	address = heap_list_bytes(h, encoded.bytes, encoded.n, NIL);
	answer_free(&encoded);
	end_op(s, s->ops, h, error ? am_error : am_ok, heap_tuple(h, address, control, what));
}

void inet_sctp_deliver(struct inet_socket *s, const struct inet_address *from, struct msghdr *m, struct binary *b,
		       const uint8_t *bytes, size_t n, bool event)
{
	bool error = false;
	Term control, what;
	struct heap h;

	heap_init(&h, HEAP_MIN_WORDS);
	control = put_control(&h, m);
	what = event ? sctp_put_event(&h, bytes, n, &error) : put_data(s, &h, b, bytes, n);
	if (what != TERM_NONE) {
		port_count_input(s->port, n);
		if (s->active == INET_PASSIVE)
			answer(s, &h, from, control, what, error);
		else
			tell_owner(s, &h, from, control, what, error);
		inet_step_active(s);
	}
	heap_free(&h);
}
