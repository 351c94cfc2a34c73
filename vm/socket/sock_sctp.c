/* SPDX-License-Identifier: Apache-2.0 */
/* Options of SCTP sockets that are structures: maps of their fields for processes. Source: RFC 6458, 8.1 and 8.2, and
 * types sctp_* of OTP 25's socket.erl. */
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/socket.h>

#include <linux/sctp.h> /* which needs stdint.h and sys/socket.h */

#include "data/map.h"
#include "socket/sock.h"

enum field_kind { NUMBER, ASSOC, TRUTH }; /* NUMBER: its low bits where it is longer than the field, as OTP takes it */
enum { FIELDS_MAX = 10 };

struct field {
	Term name;
	uint8_t kind, offset, size;
};
#define FIELD(kind, type, member, name) \
	{ am_##name, kind, offsetof(struct type, member), sizeof(((struct type *)0)->member) }

static const struct shape {
	int number;
	unsigned bytes, count;
	struct field fields[FIELDS_MAX];
} shapes[] = {
	{ SCTP_ASSOCINFO, sizeof(struct sctp_assocparams), 6, {
		FIELD(ASSOC, sctp_assocparams, sasoc_assoc_id, assoc_id),
		FIELD(NUMBER, sctp_assocparams, sasoc_asocmaxrxt, asocmaxrxt),
		FIELD(NUMBER, sctp_assocparams, sasoc_number_peer_destinations, number_peer_destinations),
		FIELD(NUMBER, sctp_assocparams, sasoc_peer_rwnd, peer_rwnd),
		FIELD(NUMBER, sctp_assocparams, sasoc_local_rwnd, local_rwnd),
		FIELD(NUMBER, sctp_assocparams, sasoc_cookie_life, cookie_life) } },
	{ SCTP_EVENTS, sizeof(struct sctp_event_subscribe), 10, {
		FIELD(TRUTH, sctp_event_subscribe, sctp_data_io_event, data_io),
		FIELD(TRUTH, sctp_event_subscribe, sctp_association_event, association),
		FIELD(TRUTH, sctp_event_subscribe, sctp_address_event, address),
		FIELD(TRUTH, sctp_event_subscribe, sctp_send_failure_event, send_failure),
		FIELD(TRUTH, sctp_event_subscribe, sctp_peer_error_event, peer_error),
		FIELD(TRUTH, sctp_event_subscribe, sctp_shutdown_event, shutdown),
		FIELD(TRUTH, sctp_event_subscribe, sctp_partial_delivery_event, partial_delivery),
		FIELD(TRUTH, sctp_event_subscribe, sctp_adaptation_layer_event, adaptation_layer),
		FIELD(TRUTH, sctp_event_subscribe, sctp_authentication_event, authentication),
		FIELD(TRUTH, sctp_event_subscribe, sctp_sender_dry_event, sender_dry) } },
	{ SCTP_INITMSG, sizeof(struct sctp_initmsg), 4, {
		FIELD(NUMBER, sctp_initmsg, sinit_num_ostreams, num_outstreams),
		FIELD(NUMBER, sctp_initmsg, sinit_max_instreams, max_instreams),
		FIELD(NUMBER, sctp_initmsg, sinit_max_attempts, max_attempts),
		FIELD(NUMBER, sctp_initmsg, sinit_max_init_timeo, max_init_timeo) } },
	{ SCTP_RTOINFO, sizeof(struct sctp_rtoinfo), 4, {
		FIELD(ASSOC, sctp_rtoinfo, srto_assoc_id, assoc_id),
		FIELD(NUMBER, sctp_rtoinfo, srto_initial, initial),
		FIELD(NUMBER, sctp_rtoinfo, srto_max, max),
		FIELD(NUMBER, sctp_rtoinfo, srto_min, min) } },
};

static const struct shape *find_shape(int number)
{
	for (size_t i = 0; i < sizeof(shapes) / sizeof(shapes[0]); i++)
		if (shapes[i].number == number)
			return &shapes[i];
	return NULL;
}

static bool read_field(struct nif_env *env, const struct field *f, Term value, uint8_t *to)
{
	unsigned n = 0;
	bool b;

	if (f->kind == TRUTH) {
		if (!sock_get_bool(value, &b))
			return false;
		n = b;
	} else if (!enif_get_uint(env, value, &n) && !(f->kind == ASSOC && enif_get_int(env, value, (int *)&n))) {
		return false;
	}
	memcpy(to, &n, f->size); /* the lowest byte comes first */
	return true;
}

size_t sock_sctp_read(struct nif_env *env, int number, Term map, void *to)
{
	const struct shape *s = find_shape(number);

	memset(to, 0, SOCK_SCTP_BYTES);
	for (unsigned i = 0; i < s->count; i++) {
		Term value = sock_map_get(map, s->fields[i].name);

		if (value == TERM_NONE || !read_field(env, &s->fields[i], value, (uint8_t *)to + s->fields[i].offset))
			return 0;
	}
	return s->bytes;
}

size_t sock_sctp_bytes(int number)
{
	return find_shape(number)->bytes;
}

Term sock_sctp_put(struct heap *h, int number, const void *bytes)
{
	const struct shape *s = find_shape(number);
	Term pairs[2 * FIELDS_MAX];

	for (unsigned i = 0; i < s->count; i++) {
		const struct field *f = &s->fields[i];
		unsigned n = 0;

		memcpy(&n, (const uint8_t *)bytes + f->offset, f->size);
		pairs[2 * i] = f->name;
		pairs[2 * i + 1] = f->kind == TRUTH ? sock_bool(n != 0) : heap_uint(h, n);
	}
	return map_from_pairs(h, pairs, s->count);
}
