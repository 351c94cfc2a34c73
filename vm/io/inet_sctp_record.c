/* SPDX-License-Identifier: Apache-2.0 */
/* Structures of SCTP as records: one table of fields each, by which bytes of prim_inet become what the kernel is given,
 * and what the kernel gave becomes a tuple. Bytes may be anybody's; nothing is read behind them. */
#include <string.h>

#include "data/binary.h"
#include "io/inet_sctp.h"

#define FIELD(type, member, kind) { offsetof(struct type, member), sizeof(((struct type *)0)->member), kind }
#define RECORD_OF(name, text, bytes, ...) \
	const struct sctp_record sctp_record_##name = { \
		text, bytes, sizeof((struct sctp_field[]){ __VA_ARGS__ }) / sizeof(struct sctp_field), { __VA_ARGS__ } }
#define RECORD(name, ...) RECORD_OF(name, am_sctp_##name, sizeof(struct sctp_##name), __VA_ARGS__)
/* What the kernel's structure has had from the beginning: an older kernel refuses a longer one. */
#define EVENTS_BYTES offsetof(struct sctp_event_subscribe, sctp_sender_dry_event)
#define PATH_BYTES ((offsetof(struct sctp_paddrparams, spp_ipv6_flowlabel) + 3) & ~3u)

RECORD(rtoinfo, FIELD(sctp_rtoinfo, srto_assoc_id, SCTP_ASSOC), FIELD(sctp_rtoinfo, srto_initial, SCTP_NUMBER),
       FIELD(sctp_rtoinfo, srto_max, SCTP_NUMBER), FIELD(sctp_rtoinfo, srto_min, SCTP_NUMBER));
RECORD(assocparams, FIELD(sctp_assocparams, sasoc_assoc_id, SCTP_ASSOC),
       FIELD(sctp_assocparams, sasoc_asocmaxrxt, SCTP_NUMBER),
       FIELD(sctp_assocparams, sasoc_number_peer_destinations, SCTP_NUMBER),
       FIELD(sctp_assocparams, sasoc_peer_rwnd, SCTP_NUMBER), FIELD(sctp_assocparams, sasoc_local_rwnd, SCTP_NUMBER),
       FIELD(sctp_assocparams, sasoc_cookie_life, SCTP_NUMBER));
RECORD(initmsg, FIELD(sctp_initmsg, sinit_num_ostreams, SCTP_NUMBER),
       FIELD(sctp_initmsg, sinit_max_instreams, SCTP_NUMBER), FIELD(sctp_initmsg, sinit_max_attempts, SCTP_NUMBER),
       FIELD(sctp_initmsg, sinit_max_init_timeo, SCTP_NUMBER));
RECORD(prim, FIELD(sctp_prim, ssp_assoc_id, SCTP_ASSOC), FIELD(sctp_prim, ssp_addr, SCTP_ADDRESS));
RECORD(setpeerprim, FIELD(sctp_setpeerprim, sspp_assoc_id, SCTP_ASSOC),
       FIELD(sctp_setpeerprim, sspp_addr, SCTP_ADDRESS));
RECORD(setadaptation, FIELD(sctp_setadaptation, ssb_adaptation_ind, SCTP_NETWORK));
RECORD_OF(paddrparams, am_sctp_paddrparams, PATH_BYTES, FIELD(sctp_paddrparams, spp_assoc_id, SCTP_ASSOC),
	  FIELD(sctp_paddrparams, spp_address, SCTP_ADDRESS), FIELD(sctp_paddrparams, spp_hbinterval, SCTP_NUMBER),
	  FIELD(sctp_paddrparams, spp_pathmaxrxt, SCTP_NUMBER), FIELD(sctp_paddrparams, spp_pathmtu, SCTP_NUMBER),
	  FIELD(sctp_paddrparams, spp_sackdelay, SCTP_NUMBER), FIELD(sctp_paddrparams, spp_flags, SCTP_PATH_FLAGS));
RECORD(sndrcvinfo, FIELD(sctp_sndrcvinfo, sinfo_stream, SCTP_NUMBER), FIELD(sctp_sndrcvinfo, sinfo_ssn, SCTP_TOLD),
       FIELD(sctp_sndrcvinfo, sinfo_flags, SCTP_SEND_FLAGS), FIELD(sctp_sndrcvinfo, sinfo_ppid, SCTP_NETWORK),
       FIELD(sctp_sndrcvinfo, sinfo_context, SCTP_NUMBER), FIELD(sctp_sndrcvinfo, sinfo_timetolive, SCTP_NUMBER),
       FIELD(sctp_sndrcvinfo, sinfo_tsn, SCTP_TOLD), FIELD(sctp_sndrcvinfo, sinfo_cumtsn, SCTP_TOLD),
       FIELD(sctp_sndrcvinfo, sinfo_assoc_id, SCTP_ASSOC));
RECORD_OF(event_subscribe, am_sctp_event_subscribe, EVENTS_BYTES,
	  FIELD(sctp_event_subscribe, sctp_data_io_event, SCTP_TRUTH),
	  FIELD(sctp_event_subscribe, sctp_association_event, SCTP_TRUTH),
	  FIELD(sctp_event_subscribe, sctp_address_event, SCTP_TRUTH),
	  FIELD(sctp_event_subscribe, sctp_send_failure_event, SCTP_TRUTH),
	  FIELD(sctp_event_subscribe, sctp_peer_error_event, SCTP_TRUTH),
	  FIELD(sctp_event_subscribe, sctp_shutdown_event, SCTP_TRUTH),
	  FIELD(sctp_event_subscribe, sctp_partial_delivery_event, SCTP_TRUTH),
	  FIELD(sctp_event_subscribe, sctp_adaptation_layer_event, SCTP_TRUTH),
	  FIELD(sctp_event_subscribe, sctp_authentication_event, SCTP_NOT_THERE));
RECORD(assoc_value, FIELD(sctp_assoc_value, assoc_id, SCTP_ASSOC), FIELD(sctp_assoc_value, assoc_value, SCTP_NUMBER));
RECORD(status, FIELD(sctp_status, sstat_assoc_id, SCTP_ASSOC), FIELD(sctp_status, sstat_state, SCTP_STATUS_STATE),
       FIELD(sctp_status, sstat_rwnd, SCTP_TOLD), FIELD(sctp_status, sstat_unackdata, SCTP_TOLD),
       FIELD(sctp_status, sstat_penddata, SCTP_TOLD), FIELD(sctp_status, sstat_instrms, SCTP_TOLD),
       FIELD(sctp_status, sstat_outstrms, SCTP_TOLD), FIELD(sctp_status, sstat_fragmentation_point, SCTP_TOLD),
       FIELD(sctp_status, sstat_primary, SCTP_PATH));
RECORD(paddrinfo, FIELD(sctp_paddrinfo, spinfo_assoc_id, SCTP_ASSOC),
       FIELD(sctp_paddrinfo, spinfo_address, SCTP_ADDRESS), FIELD(sctp_paddrinfo, spinfo_state, SCTP_PATH_STATE),
       FIELD(sctp_paddrinfo, spinfo_cwnd, SCTP_TOLD), FIELD(sctp_paddrinfo, spinfo_srtt, SCTP_TOLD),
       FIELD(sctp_paddrinfo, spinfo_rto, SCTP_TOLD), FIELD(sctp_paddrinfo, spinfo_mtu, SCTP_TOLD));
/* Notifications. */
RECORD(assoc_change, FIELD(sctp_assoc_change, sac_state, SCTP_ASSOC_STATE),
       FIELD(sctp_assoc_change, sac_error, SCTP_TOLD), FIELD(sctp_assoc_change, sac_outbound_streams, SCTP_TOLD),
       FIELD(sctp_assoc_change, sac_inbound_streams, SCTP_TOLD), FIELD(sctp_assoc_change, sac_assoc_id, SCTP_ASSOC));
RECORD(paddr_change, FIELD(sctp_paddr_change, spc_aaddr, SCTP_ADDRESS),
       FIELD(sctp_paddr_change, spc_state, SCTP_PATH_CHANGE), FIELD(sctp_paddr_change, spc_error, SCTP_SIGNED),
       FIELD(sctp_paddr_change, spc_assoc_id, SCTP_ASSOC));
RECORD(remote_error, FIELD(sctp_remote_error, sre_error, SCTP_NETWORK),
       FIELD(sctp_remote_error, sre_assoc_id, SCTP_ASSOC));
RECORD(send_failed, FIELD(sctp_send_failed, ssf_flags, SCTP_TRUTH), FIELD(sctp_send_failed, ssf_error, SCTP_TOLD),
       FIELD(sctp_send_failed, ssf_info, SCTP_SENT), FIELD(sctp_send_failed, ssf_assoc_id, SCTP_ASSOC));
RECORD(shutdown_event, FIELD(sctp_shutdown_event, sse_assoc_id, SCTP_ASSOC));
RECORD(adaptation_event, FIELD(sctp_adaptation_event, sai_adaptation_ind, SCTP_NETWORK),
       FIELD(sctp_adaptation_event, sai_assoc_id, SCTP_ASSOC));
RECORD(pdapi_event, FIELD(sctp_pdapi_event, pdapi_indication, SCTP_DELIVERY),
       FIELD(sctp_pdapi_event, pdapi_assoc_id, SCTP_ASSOC));

/* Values that are atoms. */
static const struct {
	enum sctp_kind kind;
	uint32_t value;
	Term name;
} names[] = {
	{ SCTP_ASSOC_STATE, SCTP_COMM_UP, am_comm_up }, { SCTP_ASSOC_STATE, SCTP_COMM_LOST, am_comm_lost },
	{ SCTP_ASSOC_STATE, SCTP_RESTART, am_restart }, { SCTP_ASSOC_STATE, SCTP_SHUTDOWN_COMP, am_shutdown_comp },
	{ SCTP_ASSOC_STATE, SCTP_CANT_STR_ASSOC, am_cant_assoc },
	{ SCTP_PATH_CHANGE, SCTP_ADDR_AVAILABLE, am_addr_available },
	{ SCTP_PATH_CHANGE, SCTP_ADDR_UNREACHABLE, am_addr_unreachable },
	{ SCTP_PATH_CHANGE, SCTP_ADDR_REMOVED, am_addr_removed }, { SCTP_PATH_CHANGE, SCTP_ADDR_ADDED, am_addr_added },
	{ SCTP_PATH_CHANGE, SCTP_ADDR_MADE_PRIM, am_addr_made_prim },
	{ SCTP_PATH_CHANGE, SCTP_ADDR_CONFIRMED, am_addr_confirmed },
	{ SCTP_PATH_STATE, SCTP_ACTIVE, am_active }, { SCTP_PATH_STATE, SCTP_INACTIVE, am_inactive },
	{ SCTP_PATH_STATE, SCTP_UNCONFIRMED, am_unconfirmed },
	{ SCTP_STATUS_STATE, SCTP_EMPTY, am_empty }, { SCTP_STATUS_STATE, SCTP_CLOSED, am_closed },
	{ SCTP_STATUS_STATE, SCTP_COOKIE_WAIT, am_cookie_wait },
	{ SCTP_STATUS_STATE, SCTP_COOKIE_ECHOED, am_cookie_echoed },
	{ SCTP_STATUS_STATE, SCTP_ESTABLISHED, am_established },
	{ SCTP_STATUS_STATE, SCTP_SHUTDOWN_PENDING, am_shutdown_pending },
	{ SCTP_STATUS_STATE, SCTP_SHUTDOWN_SENT, am_shutdown_sent },
	{ SCTP_STATUS_STATE, SCTP_SHUTDOWN_RECEIVED, am_shutdown_received },
	{ SCTP_STATUS_STATE, SCTP_SHUTDOWN_ACK_SENT, am_shutdown_ack_sent },
	{ SCTP_DELIVERY, SCTP_PARTIAL_DELIVERY_ABORTED, am_partial_delivery_aborted },
};

/* Bits that are atoms, in the order in which they are told: `asked` is prim_inet's. */
static const struct {
	enum sctp_kind kind;
	uint32_t asked, bit;
	Term name;
} flags[] = {
	{ SCTP_SEND_FLAGS, 1, SCTP_UNORDERED, am_unordered }, { SCTP_SEND_FLAGS, 2, SCTP_ADDR_OVER, am_addr_over },
	{ SCTP_SEND_FLAGS, 4, SCTP_ABORT, am_abort }, { SCTP_SEND_FLAGS, 8, SCTP_EOF, am_eof },
	{ SCTP_PATH_FLAGS, 1, SPP_HB_ENABLE, am_hb_enable }, { SCTP_PATH_FLAGS, 2, SPP_HB_DISABLE, am_hb_disable },
	{ SCTP_PATH_FLAGS, 4, SPP_HB_DEMAND, am_hb_demand },
	{ SCTP_PATH_FLAGS, 8, SPP_PMTUD_ENABLE, am_pmtud_enable },
	{ SCTP_PATH_FLAGS, 16, SPP_PMTUD_DISABLE, am_pmtud_disable },
	{ SCTP_PATH_FLAGS, 32, SPP_SACKDELAY_ENABLE, am_sackdelay_enable },
	{ SCTP_PATH_FLAGS, 64, SPP_SACKDELAY_DISABLE, am_sackdelay_disable },
};
enum { FLAG_COUNT = sizeof(flags) / sizeof(flags[0]) };

/* ---- integers of the machine, of 1, 2 or 4 bytes, that need not be aligned */

static uint32_t load(const uint8_t *at, size_t size)
{
	uint16_t two;
	uint32_t four;

	switch (size) {
	case 1: return *at;
	case 2: memcpy(&two, at, 2); return two;
	default: memcpy(&four, at, 4); return four;
	}
}

static void store(uint8_t *at, size_t size, uint32_t value)
{
	uint16_t two = (uint16_t)value;

	switch (size) {
	case 1: *at = (uint8_t)value; return;
	case 2: memcpy(at, &two, 2); return;
	default: memcpy(at, &value, 4); return;
	}
}

static uint32_t swap(uint32_t value, size_t size)
{
	return size == 2 ? ntohs((uint16_t)value) : ntohl(value);
}

/* ---- reading */

/* Fails: false, both of a pair that exclude each other. */
static bool read_flags(enum sctp_kind kind, uint32_t asked, uint32_t *bits)
{
	static const uint32_t pairs[] = { SPP_HB, SPP_PMTUD, SPP_SACKDELAY };

	*bits = 0;
	for (size_t k = 0; k < FLAG_COUNT; k++)
		if (flags[k].kind == kind && (asked & flags[k].asked))
			*bits |= flags[k].bit;
	for (size_t k = 0; kind == SCTP_PATH_FLAGS && k < sizeof(pairs) / sizeof(pairs[0]); k++)
		if ((*bits & pairs[k]) == pairs[k])
			return false;
	return true;
}

static const char *read_address(int family, uint8_t *to, const uint8_t **at, size_t *n)
{
	struct inet_address a;
	const char *wrong = inet_address_read(&a, family, at, n);

	if (wrong == NULL)
		memcpy(to, &a, a.size);
	return wrong;
}

static const char *read_field(const struct sctp_field *f, int family, uint8_t *to, const uint8_t **at, size_t *n)
{
	uint32_t value = 0;

	if (f->kind == SCTP_ADDRESS)
		return read_address(family, to, at, n);
	if (*n < f->size)
		return "einval";
	for (unsigned k = 0; k < f->size; k++)
		value = value << 8 | (*at)[k];
	*at += f->size;
	*n -= f->size;
	if (f->kind == SCTP_NOT_THERE)
		value = 0;
	else if (f->kind == SCTP_NETWORK)
		value = swap(value, f->size);
	else if ((f->kind == SCTP_SEND_FLAGS || f->kind == SCTP_PATH_FLAGS) &&
		 !read_flags((enum sctp_kind)f->kind, value, &value))
		return "einval";
	store(to, f->size, value);
	return NULL;
}

const char *sctp_read_record(const struct sctp_record *r, unsigned which, int family, void *to, const uint8_t **at,
			     size_t *n)
{
	const char *wrong = NULL;

	memset(to, 0, r->bytes);
	for (unsigned k = 0; k < r->count && wrong == NULL; k++) {
		const struct sctp_field *f = &r->fields[k];

		if (f->kind < SCTP_TOLD && (which == SCTP_READ_ALL || (which & 1u << f->kind)))
			wrong = read_field(f, family, (uint8_t *)to + f->offset, at, n);
	}
	return wrong;
}

/* ---- telling */

static Term put_name(enum sctp_kind kind, uint32_t value)
{
	for (size_t k = 0; k < sizeof(names) / sizeof(names[0]); k++)
		if (names[k].kind == kind && names[k].value == value)
			return names[k].name;
	return am_undefined;
}

static Term put_flags(struct heap *h, enum sctp_kind kind, uint32_t bits)
{
	Term list = NIL;

	for (size_t k = FLAG_COUNT; k-- > 0;)
		if (flags[k].kind == kind && (bits & flags[k].bit))
			list = heap_cons(h, flags[k].name, list);
	return list;
}

Term sctp_put_address(struct heap *h, const struct inet_address *a)
{
	const uint8_t *four = (const uint8_t *)&a->in.sin_addr, *six = (const uint8_t *)&a->in6.sin6_addr;
	Term parts[8];

	switch (a->size < sizeof(sa_family_t) ? AF_UNSPEC : a->any.sa_family) {
	case AF_INET:
		for (unsigned k = 0; k < 4; k++)
			parts[k] = SMALL((uint64_t)four[k]);
		return heap_tuple_array(h, 4, parts);
	case AF_INET6:
		for (unsigned k = 0; k < 8; k++)
			parts[k] = SMALL((uint64_t)inet_read16(six + 2 * k));
		return heap_tuple_array(h, 8, parts);
	default: return heap_tuple(h, am_unspec, binary_put(h, "", 0));
	}
}

/* {Address, Port} of a sockaddr_storage. */
static Term put_sockaddr(struct heap *h, const uint8_t *bytes)
{
	struct inet_address a = { .size = sizeof(a.in6) };
	Term address;
	int port;

	memcpy(&a, bytes, sizeof(a.in6));
	address = sctp_put_address(h, &a);
	port = inet_address_port(&a);
	return heap_tuple(h, address, SMALL((int64_t)(port > 0 ? port : 0)));
}

static Term put_field(struct heap *h, const struct sctp_field *f, const uint8_t *at)
{
	uint32_t value = f->size <= 4 ? load(at, f->size) : 0;

	switch ((enum sctp_kind)f->kind) {
	case SCTP_NUMBER:
	case SCTP_TOLD: return SMALL((int64_t)value);
	case SCTP_SIGNED:
	case SCTP_ASSOC: return SMALL((int64_t)(int32_t)value);
	case SCTP_NETWORK: return SMALL((int64_t)swap(value, f->size));
	case SCTP_TRUTH: return term_from_bool(value != 0);
	case SCTP_NOT_THERE: return am_false;
	case SCTP_ADDRESS: return put_sockaddr(h, at);
	case SCTP_SEND_FLAGS:
	case SCTP_PATH_FLAGS: return put_flags(h, (enum sctp_kind)f->kind, value);
	case SCTP_PATH: return sctp_put_record(h, &sctp_record_paddrinfo, at, TERM_NONE);
	case SCTP_SENT: return sctp_put_record(h, &sctp_record_sndrcvinfo, at, TERM_NONE);
	default: return put_name((enum sctp_kind)f->kind, value);
	}
}

Term sctp_put_record(struct heap *h, const struct sctp_record *r, const void *bytes, Term last)
{
	Term parts[SCTP_RECORD_FIELDS + 2] = { r->name };
	unsigned n = 1;

	for (unsigned k = 0; k < r->count && k < SCTP_RECORD_FIELDS; k++)
		parts[n++] = put_field(h, &r->fields[k], (const uint8_t *)bytes + r->fields[k].offset);
	if (last != TERM_NONE)
		parts[n++] = last;
	return heap_tuple_array(h, n, parts);
}
