/* SPDX-License-Identifier: Apache-2.0 */
/* What ports tell their owners: data framed as the options say, ends, exit statuses. Who calls holds the port.
 * Invariant: the bytes of port->in are a line or packet that is not whole yet. */
#include <string.h>

#include "data/binary.h"
#include "io/port.h"
#include "io/io_probe.h"

#define TUPLE2_WORDS 3

void port_deliver(struct port *port, Term to, Term message, struct fragment *f)
{
	Process *p = process_find(to);

	port_tell_sent(port, to, tuple_get(message, 2) == am_closed ? am_closed : message);
	if (p == NULL) {
		fragment_free(f);
		return;
	}
	message_deliver(p, port->id, message, f);
	process_unref(p);
}

static Term put_tuple2(Term **top, Term a, Term b)
{
	Term *at = *top;

	at[0] = HEADER(2, SUB_TUPLE);
	at[1] = a;
	at[2] = b;
	*top += TUPLE2_WORDS;
	return term_from_boxed(at);
}

void port_deliver_atom(struct port *port, Term to, Term what)
{
	struct fragment *f = fragment_new(TUPLE2_WORDS);
	Term *top = f->words, message = put_tuple2(&top, port->id, what);

	f->used_words = TUPLE2_WORDS;
	port_deliver(port, to, message, f);
}

static Term put_bytes_list(Term **top, const uint8_t *bytes, size_t n, Term tail)
{
	Term list = tail, *at = *top;

	for (size_t k = n; k-- > 0; at += 2) {
		at[0] = SMALL((uint64_t)bytes[k]);
		at[1] = list;
		list = term_from_cons(at);
	}
	*top = at;
	return list;
}

static Term put_bytes_binary(Term **top, Term **off_heap, const uint8_t *bytes, size_t n)
{
	struct heapbin *bin = (struct heapbin *)*top;
	struct binary *b;

	if (n > HEAPBIN_LIMIT) {
		b = binary_new(n);
		ENSURE(b != NULL);
		memcpy(b->data, bytes, n);
		*top += REFBIN_WORDS;
		return refbin_put_at(*top - REFBIN_WORDS, off_heap, b, b->data, n);
	}
	bin->header = HEADER(1 + (n + 7) / 8, SUB_HEAPBIN);
	bin->size_bytes = n;
	memcpy(bin->data, bytes, n);
	*top += 2 + (n + 7) / 8;
	return term_from_boxed(&bin->header);
}

/* {Port, {data, Bytes}}, or {Port, {data, {Kind, Bytes}}} when kind is not TERM_NONE. */
static void deliver_data(struct port *port, Term kind, const uint8_t *bytes, size_t n)
{
	size_t words = 3 * TUPLE2_WORDS + (port->binary ? binary_words(n) : 2 * n);
	struct fragment *f = fragment_new(words);
	Term *top = f->words, data, message;

	data = port->binary ? put_bytes_binary(&top, &f->off_heap, bytes, n) : put_bytes_list(&top, bytes, n, NIL);
	if (kind != TERM_NONE)
		data = put_tuple2(&top, kind, data);
	message = put_tuple2(&top, port->id, put_tuple2(&top, am_data, data));
	f->used_words = (size_t)(top - f->words);
	port_deliver(port, port->owner, message, f);
}

void port_reply(struct port *port, const uint8_t *header, size_t header_bytes, const uint8_t *bytes, size_t n)
{
	bool binary = port->binary && bytes != NULL;
	struct fragment *f = fragment_new(2 * TUPLE2_WORDS + 2 * header_bytes + (binary ? binary_words(n) : 2 * n));
	Term *top = f->words, data;

	port_count_input(port, header_bytes + n);
	data = binary ? put_bytes_binary(&top, &f->off_heap, bytes, n) : put_bytes_list(&top, bytes, n, NIL);
	data = put_bytes_list(&top, header, header_bytes, data);
	data = put_tuple2(&top, port->id, put_tuple2(&top, am_data, data));
	f->used_words = (size_t)(top - f->words);
	port_deliver(port, port->owner, data, f);
}

bool port_message_fits(size_t words)
{
	enum { BLOCKS = 3 }; /* it stands a second time, in a block with room to spare, once its receiver collects */

	return heap_can_be_had(words * BLOCKS);
}

/* The first n bytes of port->in as one message. Fails: false, there is no memory for it, and the port ends. */
static bool deliver_gathered(struct port *port, Term kind, size_t skip, size_t n)
{
	uint8_t small[512], *bytes = small;
	struct binary *b = NULL;

	byte_queue_drop(&port->in, skip);
	if (n > sizeof(small)) {
		b = port_message_fits(port->binary ? n / sizeof(Term) : 2 * n) ? binary_new(n) : NULL;
		bytes = b != NULL ? b->data : NULL;
	}
	if (bytes == NULL) {
		byte_queue_clear(&port->in);
		port_exit(port, am_enomem);
		return false;
	}
	byte_queue_copy(&port->in, bytes, n);
	byte_queue_drop(&port->in, n);
	deliver_data(port, kind, bytes, n);
	if (b != NULL)
		binary_unref(b);
	return true;
}

/* A carriage return stands at the end of what is there, which may be followed by the end of the line. */
static bool may_end_line(const struct port *port)
{
	size_t n = port->in.size_bytes;

	return n == port->line_bytes + 1 && byte_queue_at(&port->in, n - 1) == '\r';
}

/* A line ends with LF or CR LF. */
static void input_lines(struct port *port)
{
	while (port->in.size_bytes > 0) {
		int64_t found = byte_queue_find(&port->in, '\n');
		size_t end = found >= 0 ? (size_t)found : 0, length = end;

		if (end > 0 && byte_queue_at(&port->in, end - 1) == '\r')
			length--;
		if (found >= 0 && length <= port->line_bytes) {
			if (!deliver_gathered(port, am_eol, 0, length))
				return;
			byte_queue_drop(&port->in, end + 1 - length);
		} else if (port->in.size_bytes > port->line_bytes && !may_end_line(port)) {
			if (!deliver_gathered(port, am_noeol, 0, port->line_bytes))
				return;
		} else {
			return;
		}
	}
}

/* What is left has no end of line. */
static void end_lines(struct port *port)
{
	while (port->in.size_bytes > 0) {
		size_t n = port->in.size_bytes < port->line_bytes ? port->in.size_bytes : port->line_bytes;

		if (!deliver_gathered(port, am_noeol, 0, n))
			return;
	}
}

static void input_packets(struct port *port)
{
	unsigned header_bytes = port->packet_bytes;

	while (port->in.size_bytes >= header_bytes) {
		uint8_t header[4];
		size_t n = 0;

		byte_queue_copy(&port->in, header, header_bytes);
		for (unsigned k = 0; k < header_bytes; k++)
			n = n << 8 | header[k];
		if (port->in.size_bytes - header_bytes < n)
			return;
		if (!deliver_gathered(port, TERM_NONE, header_bytes, n))
			return;
	}
}

void port_input(struct port *port, const uint8_t *bytes, size_t n)
{
	if (port->state != PORT_OPEN)
		return;
	port_count_input(port, n);
	if (port->line_bytes == 0 && port->packet_bytes == 0) {
		deliver_data(port, TERM_NONE, bytes, n);
		return;
	}
	if (!byte_queue_put(&port->in, bytes, n)) {
		port_exit(port, am_enomem);
		return;
	}
	if (port->line_bytes != 0)
		input_lines(port);
	else
		input_packets(port);
}

void port_input_end(struct port *port)
{
	if (port->state != PORT_OPEN)
		return;
	if (port->line_bytes != 0)
		end_lines(port);
	byte_queue_clear(&port->in);
	if (port->eof)
		port_deliver_atom(port, port->owner, am_eof);
	else
		port_exit(port, am_normal);
}

void port_send_exit_status(struct port *port, int status)
{
	struct fragment *f = fragment_new(2 * TUPLE2_WORDS);
	Term *top = f->words, what = put_tuple2(&top, am_exit_status, SMALL((int64_t)status));
	Term message = put_tuple2(&top, port->id, what);

	f->used_words = 2 * TUPLE2_WORDS;
	port_deliver(port, port->owner, message, f);
}
