/* SPDX-License-Identifier: Apache-2.0 */
/* Options of SCTP sockets that are records, and what all options of such a socket look like when they are asked for:
 * terms, not bytes. What the kernel refuses to tell is left out. */
#include <errno.h>
#include <net/if.h>
#include <string.h>

#include "data/binary.h"
#include "io/inet_sctp.h"

enum { OPTIONS_MAX = 400 }; /* that are told at once */

static const struct record_option {
	unsigned number;         /* of inet_int.hrl */
	Term name;
	int option;              /* the kernel's */
	const struct sctp_record *record;
	unsigned asks;           /* SCTP_READ_*: what a process says of what it wants to know */
	bool told_only;
} record_options[] = {
	{ 100, am_sctp_rtoinfo, SCTP_RTOINFO, &sctp_record_rtoinfo, SCTP_READ_ASSOC, false },
	{ 101, am_sctp_associnfo, SCTP_ASSOCINFO, &sctp_record_assocparams, SCTP_READ_ASSOC, false },
	{ 102, am_sctp_initmsg, SCTP_INITMSG, &sctp_record_initmsg, SCTP_READ_ASSOC, false },
	{ 108, am_sctp_set_peer_primary_addr, SCTP_SET_PEER_PRIMARY_ADDR, &sctp_record_setpeerprim, SCTP_READ_ASSOC,
	  false },
	{ 109, am_sctp_primary_addr, SCTP_PRIMARY_ADDR, &sctp_record_prim, SCTP_READ_ASSOC, false },
	{ 110, am_sctp_adaptation_layer, SCTP_ADAPTATION_LAYER, &sctp_record_setadaptation, SCTP_READ_ASSOC, false },
	{ 111, am_sctp_peer_addr_params, SCTP_PEER_ADDR_PARAMS, &sctp_record_paddrparams,
	  SCTP_READ_ASSOC | SCTP_READ_ADDRESS, false },
	{ 112, am_sctp_default_send_param, SCTP_DEFAULT_SEND_PARAM, &sctp_record_sndrcvinfo, SCTP_READ_ASSOC, false },
	{ 113, am_sctp_events, SCTP_EVENTS, &sctp_record_event_subscribe, SCTP_READ_ASSOC, false },
	{ 114, am_sctp_delayed_ack_time, SCTP_DELAYED_ACK_TIME, &sctp_record_assoc_value, SCTP_READ_ASSOC, false },
	{ 115, am_sctp_status, SCTP_STATUS, &sctp_record_status, SCTP_READ_ASSOC, true },
	{ 116, am_sctp_get_peer_addr_info, SCTP_GET_PEER_ADDR_INFO, &sctp_record_paddrinfo,
	  SCTP_READ_ASSOC | SCTP_READ_ADDRESS, true },
};

/* A structure for the kernel; its first field may be of four bytes. */
union structure {
	uint32_t align;
	uint8_t bytes[SCTP_RECORD_BYTES];
};

static const struct record_option *find_record(unsigned number)
{
	for (size_t k = 0; k < sizeof(record_options) / sizeof(record_options[0]); k++)
		if (record_options[k].number == number)
			return &record_options[k];
	return NULL;
}

bool inet_sctp_set(struct inet_socket *s, unsigned number, const uint8_t **at, size_t *n, bool *known)
{
	const struct record_option *o = find_record(number);
	union structure value;

	*known = o != NULL;
	if (o == NULL || o->told_only)
		return false;
	if (sctp_read_record(o->record, SCTP_READ_ALL, s->family, value.bytes, at, n) != NULL)
		return false;
	return setsockopt(s->fd, IPPROTO_SCTP, o->option, value.bytes, o->record->bytes) == 0;
}

/* ---- getting */

/* What is told: {Name, Value}, in order. */
struct told {
	struct heap h;
	unsigned count;
	Term pairs[OPTIONS_MAX];
};

static void add(struct told *t, Term name, Term value)
{
	t->pairs[t->count++] = heap_tuple(&t->h, name, value);
}

/* Fails: an error number: what was said of what is wanted is wrong. */
static int get_record(const struct inet_socket *s, const struct record_option *o, struct told *t, const uint8_t **at,
		      size_t *n)
{
	union structure value = { 0 };
	socklen_t size = o->record->bytes;
	const char *wrong = sctp_read_record(o->record, o->asks, s->family, value.bytes, at, n);

	if (wrong != NULL)
		return strcmp(wrong, "einval") == 0 ? EINVAL : EAFNOSUPPORT;
	if (getsockopt(s->fd, IPPROTO_SCTP, o->option, value.bytes, &size) == 0)
		add(t, o->name, sctp_put_record(&t->h, o->record, value.bytes, TERM_NONE));
	return 0;
}

static void get_kernel_option(const struct inet_socket *s, const struct inet_kernel_option *o, struct told *t)
{
	int value = 0;
	socklen_t size = sizeof(value);

	if (getsockopt(s->fd, o->level, o->name, &value, &size) == 0)
		add(t, o->sctp_name, o->sctp == INET_SCTP_BOOL ? term_from_bool(value != 0) : SMALL((int64_t)value));
}

static void get_linger(const struct inet_socket *s, struct told *t)
{
	struct linger value = { 0 };
	socklen_t size = sizeof(value);

	if (getsockopt(s->fd, SOL_SOCKET, SO_LINGER, &value, &size) == 0)
		add(t, am_linger,
		    heap_tuple(&t->h, term_from_bool(value.l_onoff != 0), SMALL((int64_t)value.l_linger)));
}

static void get_device(const struct inet_socket *s, struct told *t)
{
	char name[IFNAMSIZ] = { 0 };
	socklen_t size = sizeof(name);

	if (getsockopt(s->fd, SOL_SOCKET, SO_BINDTODEVICE, name, &size) == 0)
		add(t, am_bind_to_device, binary_put(&t->h, name, strnlen(name, sizeof(name))));
}

static Term put_active(const struct inet_socket *s)
{
	switch (s->active) {
	case INET_ACTIVE: return am_true;
	case INET_ONCE: return am_once;
	case INET_MULTI: return SMALL((int64_t)s->active_count);
	default: return am_false;
	}
}

/* The driver's own, and those of their own form. Returns false when it is none of them. */
static bool get_own(const struct inet_socket *s, unsigned number, struct told *t)
{
	switch (number) {
	case LOPT_BUFFER: add(t, am_buffer, SMALL((int64_t)s->buffer_bytes)); return true;
	case LOPT_MODE: add(t, am_mode, s->mode == INET_MODE_LIST ? am_list : am_binary); return true;
	case LOPT_ACTIVE: add(t, am_active, put_active(s)); return true;
	case LOPT_NETNS:
		if (s->netns != NULL)
			add(t, am_netns, binary_put(&t->h, s->netns, strlen(s->netns)));
		return true;
	case OPT_EXCLUSIVEADDRUSE: return true;
	case LOPT_NON_BLOCK_SEND: add(t, am_non_block_send, term_from_bool(s->sends_or_fails)); return true;
	case OPT_LINGER: get_linger(s, t); return true;
	case OPT_BIND_TO_DEVICE: get_device(s, t); return true;
	default: return false;
	}
}

/* Fails: an error number. */
static int get_one(const struct inet_socket *s, unsigned number, struct told *t, const uint8_t **at, size_t *n)
{
	const struct inet_kernel_option *k = inet_find_option(number);
	const struct record_option *o = find_record(number);

	if (t->count == OPTIONS_MAX)
		return ENOMEM;
	if (o != NULL)
		return get_record(s, o, t, at, n);
	if (k == NULL || k->sctp == INET_SCTP_NONE)
		return get_own(s, number, t) ? 0 : EINVAL;
	get_kernel_option(s, k, t);
	return 0;
}

void inet_sctp_getopts(struct inet_socket *s, const uint8_t *data, size_t n, struct port_answer *a)
{
	struct told t = { .count = 0 };
	int error = 0;

	heap_init(&t.h, HEAP_MIN_WORDS);
	while (n > 0 && error == 0) {
		unsigned number = *data++;

		n--;
		error = get_one(s, number, &t, &data, &n);
	}
	if (error != 0) {
		inet_answer_error(a, error);
	} else {
		inet_sctp_reply(s, s->port->caller, &t.h, heap_list_array(&t.h, t.count, t.pairs, NIL));
		inet_answer_later(a);
	}
	heap_free(&t.h);
}
