/* SPDX-License-Identifier: Apache-2.0 */
/* What drivers tell processes: bytes as their port's options say, and terms. */
#include <string.h>

#include "base/alloc.h"
#include "data/binary.h"
#include "driver/driver_port.h"
#include "heap/copy.h"
#include "proc/message.h"

/* Only who runs a port's callbacks holds the port. */
static bool is_traced(const struct driver_port *dp)
{
	return dp != NULL && driver_current() == dp && port_tells_sent(dp->port);
}

bool driver_send(Term from, struct driver_port *dp, Term to, Term message, struct heap *h)
{
	Process *p = term_is_local_pid(to) ? process_find(to) : NULL;
	struct fragment *f;
	Term copy;

	if (is_traced(dp))
		port_tell_sent(dp->port, to, message);
	if (p == NULL) {
		heap_free(h);
		return false;
	}
	f = copy_to_fragment(message, &copy);
	heap_free(h);
	message_deliver(p, from, copy, f);
	process_unref(p);
	return true;
}

/* ---- bytes */

static bool is_open(const struct driver_port *dp)
{
	return atomic_load(&dp->port->state) == PORT_OPEN || dp->says_last;
}

/* {Port, {data, [H1, H2, ... | Data]}} to the owner. Takes: the heap. */
static void send_data(struct driver_port *dp, const void *header, size_t header_bytes, Term data, struct heap *h)
{
	struct port *port = dp->port;

	data = heap_list_bytes(h, header, header_bytes, data);
	data = heap_tuple(h, port->id, heap_tuple(h, am_data, data));
	driver_send(port->id, dp, port->owner, data, h);
}

int driver_output2(struct driver_port *dp, const char *header, size_t header_bytes, const char *bytes, size_t n)
{
	if (!driver_port_lives(dp))
		return -1;
	if (!is_open(dp))
		return 0;
	if (dp->port->line_bytes != 0 && header_bytes == 0)
		port_input(dp->port, (const uint8_t *)bytes, n);
	else
		port_reply(dp->port, (const uint8_t *)header, header_bytes, (const uint8_t *)bytes, n);
	return 0;
}

int driver_output(struct driver_port *dp, const char *bytes, size_t n)
{
	return driver_output2(dp, NULL, 0, bytes, n);
}

static Term put_part(struct heap *h, struct driver_binary *b, const void *bytes, size_t n)
{
	struct binary *counted;

	if (b == NULL || n <= HEAPBIN_LIMIT)
		return binary_put(h, bytes, n);
	counted = driver_binary_counted(b);
	binary_ref(counted);
	return refbin_put_at(heap_alloc(h, REFBIN_WORDS), &h->off_heap, counted, (uint8_t *)bytes, n);
}

int driver_output_binary(struct driver_port *dp, const char *header, size_t header_bytes, struct driver_binary *b,
			 size_t offset, size_t n)
{
	struct heap h = { 0 };

	if (!driver_port_lives(dp))
		return -1;
	if (!is_open(dp))
		return 0;
	port_count_input(dp->port, header_bytes + n);
	send_data(dp, header, header_bytes, dp->port->binary ? put_part(&h, b, b->bytes + offset, n)
							    : heap_list_bytes(&h, b->bytes + offset, n, NIL), &h);
	return 0;
}

/* The parts behind `skip` bytes, as bytes of one list, or as binaries: [B1, B2 | B3]. */
static Term put_parts(struct heap *h, const struct driver_iovec *v, size_t skip, bool binary)
{
	Term list = NIL;
	size_t before = v->size_bytes;

	for (int i = v->count; i-- > 0;) {
		size_t n = v->parts[i].iov_len, from;
		const uint8_t *bytes = v->parts[i].iov_base;

		before -= n;
		from = skip > before ? skip - before : 0;
		if (from >= n)
			continue;
		if (!binary)
			list = heap_list_bytes(h, bytes + from, n - from, list);
		else if (list == NIL)
			list = put_part(h, v->binaries[i], bytes + from, n - from);
		else
			list = heap_cons(h, put_part(h, v->binaries[i], bytes + from, n - from), list);
	}
	return list;
}

int driver_outputv(struct driver_port *dp, const char *header, size_t header_bytes, const struct driver_iovec *v,
		   size_t skip)
{
	struct heap h = { 0 };

	if (v->size_bytes <= skip)
		return driver_output2(dp, header, header_bytes, NULL, 0);
	if (!driver_port_lives(dp))
		return -1;
	if (!is_open(dp))
		return 0;
	port_count_input(dp->port, header_bytes + v->size_bytes - skip);
	send_data(dp, header, header_bytes, put_parts(&h, v, skip, dp->port->binary), &h);
	return 0;
}

/* ---- terms: -1 when the words say none, 0 when nobody gets it, else 1 */

static int send_words(Term from, struct driver_port *dp, Term to, const uint64_t *words, int n)
{
	struct heap h = { 0 };
	Term message;

	if (n < 0 || !driver_term_check(words, (size_t)n))
		return -1;
	if (!term_is_local_pid(to) || (!process_is_alive(to) && !is_traced(dp)))
		return 0;
	if (driver_term_build(words, (size_t)n, &h, &message))
		return driver_send(from, dp, to, message, &h);
	heap_free(&h);
	return -1;
}

/* Any thread. to TERM_NONE: the port's owner. */
static int send_by_id(Term id, Term to, const uint64_t *words, int n)
{
	struct port *port = term_is_local_port(id) ? port_find(id) : NULL;
	struct driver_port *dp = driver_current();
	int result;

	if (port == NULL)
		return -1;
	if (atomic_load(&port->state) != PORT_OPEN && !(dp != NULL && dp->port == port && dp->says_last))
		result = 0;
	else
		result = send_words(id, dp != NULL && dp->port == port ? dp : NULL, to != TERM_NONE ? to : port->owner,
				    words, n);
	port_unref(port);
	return result;
}

int erl_drv_output_term(Term port, const uint64_t *words, int n)
{
	return send_by_id(port, TERM_NONE, words, n);
}

int erl_drv_send_term(Term port, Term to, const uint64_t *words, int n)
{
	return send_by_id(port, to, words, n);
}

int driver_output_term(struct driver_port *dp, const uint64_t *words, int n)
{
	if (!driver_port_lives(dp))
		return -1;
	return is_open(dp) ? send_words(dp->port->id, dp, dp->port->owner, words, n) : 0;
}

int driver_send_term(struct driver_port *dp, Term to, const uint64_t *words, int n)
{
	if (!driver_port_lives(dp))
		return -1;
	return is_open(dp) ? send_words(dp->port->id, dp, to, words, n) : 0;
}

Term driver_mk_atom(const char *text)
{
	return atom_from_latin1(text, strlen(text), NULL);
}

const Term driver_term_nil = NIL;

Term driver_mk_term_nil(void)
{
	return NIL;
}
