/* SPDX-License-Identifier: Apache-2.0 */
/* Control messages. What the kernel gives is looked at within the bounds that it says. */
#include "socket/sock_control.h"

#include <linux/errqueue.h>
#include <netinet/in.h>
#include <netinet/ip.h>
#include <string.h>
#include <sys/time.h>

#include "base/release.h"
#include "data/binary.h"
#include "data/iolist.h"
#include "data/map.h"
#include "io/posix.h"
#include "nif/nif_api.h"
#include "socket/sock_address.h"
#include "term/atom.h"

#define MAP(h, ...) map_from_pairs(h, (Term[]){ __VA_ARGS__ }, sizeof((Term[]){ __VA_ARGS__ }) / sizeof(Term) / 2)

/* ---- flags of messages */

enum { MSG_OF_NOTIFICATION = 0x8000 }; /* of SCTP, whose header names it */

static const struct { Term name; int bit; } flag_names[] = {
	{ am_cmsg_cloexec, MSG_CMSG_CLOEXEC }, { am_confirm, MSG_CONFIRM }, { am_ctrunc, MSG_CTRUNC },
	{ am_dontroute, MSG_DONTROUTE }, { am_eor, MSG_EOR }, { am_errqueue, MSG_ERRQUEUE }, { am_more, MSG_MORE },
	{ am_nosignal, MSG_NOSIGNAL }, { am_oob, MSG_OOB }, { am_peek, MSG_PEEK }, { am_trunc, MSG_TRUNC },
	{ am_notification, MSG_OF_NOTIFICATION }, /* last: not of all releases */
};
enum { FLAG_NAMES = sizeof(flag_names) / sizeof(flag_names[0]) };

static size_t count_flags(void)
{
	return release_names_notifications() ? FLAG_NAMES : FLAG_NAMES - 1;
}

Term sock_message_flags_put(struct heap *h, int flags)
{
	Term list[FLAG_NAMES + 1];
	size_t n = 0;

	for (size_t i = 0; i < count_flags(); i++)
		if ((flags & flag_names[i].bit) != 0) {
			flags &= ~flag_names[i].bit;
			list[n++] = flag_names[i].name;
		}
	if (flags != 0)
		list[n++] = term_from_small(flags);
	return heap_list_array(h, n, list, NIL);
}

Term sock_message_flags_list(struct heap *h)
{
	Term list = NIL;

	for (size_t i = 0; i < count_flags(); i++)
		list = heap_cons(h, heap_tuple(h, flag_names[i].name, term_from_small(flag_names[i].bit)), list);
	return list;
}

/* ---- type of service: a byte, of which RFC 1349 names four bits and the three above, RFC 2474 and its kin the upper
 * six */

struct tos_name {
	Term name;
	int tos;             /* the byte */
};
static const struct tos_name tos_names[] = {
	{ am_lowdelay, IPTOS_LOWDELAY }, { am_throughput, IPTOS_THROUGHPUT }, { am_reliability, IPTOS_RELIABILITY },
	{ am_mincost, IPTOS_MINCOST },
}, default_name[] = {
	{ am_default, 0 },
}, precedence_names[] = {
	{ am_routine, 0 << 5 }, { am_priority, 1 << 5 }, { am_immediate, 2 << 5 }, { am_flash, 3 << 5 },
	{ am_flashoverride, 4 << 5 }, { am_critical_ecp, 5 << 5 }, { am_internetcontrol, 6 << 5 },
	{ am_netcontrol, 7 << 5 },
}, dscp_names[] = {
	{ am_cs0, 0 << 2 }, { am_le, 1 << 2 }, { am_cs1, 8 << 2 }, { am_af11, 10 << 2 }, { am_af12, 12 << 2 },
	{ am_af13, 14 << 2 }, { am_cs2, 16 << 2 }, { am_af21, 18 << 2 }, { am_af22, 20 << 2 }, { am_af23, 22 << 2 },
	{ am_cs3, 24 << 2 }, { am_af31, 26 << 2 }, { am_af32, 28 << 2 }, { am_af33, 30 << 2 }, { am_cs4, 32 << 2 },
	{ am_af41, 34 << 2 }, { am_af42, 36 << 2 }, { am_af43, 38 << 2 }, { am_cs5, 40 << 2 },
	{ am_voice_admit, 44 << 2 }, { am_nqb, 45 << 2 }, { am_ef, 46 << 2 }, { am_cs6, 48 << 2 }, { am_cs7, 56 << 2 },
};
#define COUNT_OF(array) (sizeof(array) / sizeof((array)[0]))
enum { TOS_MASK = 0x1e, PRECEDENCE_MASK = 0xe0, DSCP_MASK = 0xfc };

static bool find_tos(const struct tos_name *names, size_t n, Term t, int *tos)
{
	for (size_t i = 0; i < n; i++)
		if (names[i].name == t) {
			*tos = names[i].tos;
			return true;
		}
	return false;
}

/* By its name, or a number that stands so far to the left. */
static bool read_part(const struct tos_name *names, size_t n, Term t, int mask, int shift, int *tos)
{
	if (t == TERM_NONE || find_tos(names, n, t, tos))
		return t != TERM_NONE;
	if (!enif_get_int(NULL, t, tos) || *tos < 0 || *tos > mask >> shift)
		return false;
	*tos <<= shift;
	return true;
}

static bool read_tos_map(Term t, int *tos)
{
	int precedence, type;
	Term value = map_get(t, am_tos);

	if (!read_part(precedence_names, COUNT_OF(precedence_names), map_get(t, am_precedence), PRECEDENCE_MASK, 5,
		       &precedence))
		return false;
	if (value == am_default)
		type = 0;
	else if (!read_part(tos_names, COUNT_OF(tos_names), value, TOS_MASK, 1, &type))
		return false;
	*tos = precedence | type;
	return true;
}

bool sock_tos_read(Term t, int *tos)
{
	if (find_tos(tos_names, COUNT_OF(tos_names), t, tos))
		return true;
	if (release_tells_all_of_tos() && (find_tos(default_name, COUNT_OF(default_name), t, tos) ||
					   find_tos(dscp_names, COUNT_OF(dscp_names), t, tos) ||
					   (term_is_map(t) && read_tos_map(t, tos))))
		return true;
	return enif_get_int(NULL, t, tos);
}

/* The name of a part of the byte; TERM_NONE: it has none. */
static Term name_tos(const struct tos_name *names, size_t n, int tos)
{
	for (size_t i = 0; i < n; i++)
		if (names[i].tos == tos)
			return names[i].name;
	return TERM_NONE;
}

static Term name_or_number(Term name, int number)
{
	return name != TERM_NONE ? name : term_from_small(number);
}

/* Of a precedence OTP names only the lowest. */
static Term put_all_of_tos(struct heap *h, int tos)
{
	int type = tos & TOS_MASK, precedence = tos & PRECEDENCE_MASK, dscp = tos & DSCP_MASK;
	Term type_name = type == 0 ? (Term)am_default : name_tos(tos_names, COUNT_OF(tos_names), type);

	return MAP(h, am_native, term_from_small(tos), am_tos,
		   MAP(h, am_tos, name_or_number(type_name, type >> 1), am_precedence,
		       precedence == 0 ? (Term)am_routine : term_from_small(precedence >> 5)),
		   am_dscp, name_or_number(name_tos(dscp_names, COUNT_OF(dscp_names), dscp), dscp >> 2));
}

Term sock_tos_put(struct heap *h, int tos)
{
	if (release_tells_all_of_tos())
		return put_all_of_tos(h, tos);
	return name_or_number(name_tos(tos_names, COUNT_OF(tos_names), IPTOS_TOS(tos)), tos);
}

/* ---- values that come. TERM_NONE: they are too short. */

#define READ(type, v) \
	type v; \
	if (n < sizeof(v)) \
		return TERM_NONE; \
	memcpy(&v, at, sizeof(v))

static Term put_time(struct heap *h, const uint8_t *at, size_t n)
{
	READ(struct timeval, t);
	return MAP(h, am_sec, heap_int(h, t.tv_sec), am_usec, heap_int(h, t.tv_usec));
}

static Term put_tos(struct heap *h, const uint8_t *at, size_t n)
{
	return n < 1 ? TERM_NONE : sock_tos_put(h, at[0]);
}

static Term put_byte(struct heap *h, const uint8_t *at, size_t n)
{
	(void)h;
	return n < 1 ? TERM_NONE : term_from_small(at[0]);
}

static Term put_int(struct heap *h, const uint8_t *at, size_t n)
{
	READ(int, i);
	(void)h;
	return term_from_small(i);
}

static Term put_packet(struct heap *h, const uint8_t *at, size_t n)
{
	READ(struct in_pktinfo, i);
	return MAP(h, am_ifindex, term_from_small((unsigned)i.ipi_ifindex), am_spec_dst,
		   sock_in_put(h, &i.ipi_spec_dst), am_addr,
		   sock_in_put(h, &i.ipi_addr));
}

static Term put_packet6(struct heap *h, const uint8_t *at, size_t n)
{
	READ(struct in6_pktinfo, i);
	return MAP(h, am_addr, sock_in6_put(h, &i.ipi6_addr), am_ifindex, term_from_small((int)i.ipi6_ifindex));
}

static Term put_address(struct heap *h, const uint8_t *at, size_t n)
{
	union sock_address a = { 0 };

	if (n == 0 || n > sizeof(a))
		return TERM_NONE;
	memcpy(&a, at, n);
	return sock_address_put(h, &a, (socklen_t)n);
}

static Term put_origin(uint8_t origin)
{
	static const Term names[] = {
		[SO_EE_ORIGIN_NONE] = am_none, [SO_EE_ORIGIN_LOCAL] = am_local, [SO_EE_ORIGIN_ICMP] = am_icmp,
		[SO_EE_ORIGIN_ICMP6] = am_icmp6, [SO_EE_ORIGIN_TXSTATUS] = am_txstatus,
		[SO_EE_ORIGIN_ZEROCOPY] = am_zerocopy, [SO_EE_ORIGIN_TXTIME] = am_txtime,
	};

	return origin < sizeof(names) / sizeof(names[0]) ? names[origin] : term_from_small(origin);
}

struct code { uint8_t number; Term name; };
static const struct code unreachable[] = {
	{ 0, am_net_unreach }, { 1, am_host_unreach }, { 3, am_port_unreach },
	{ 4, am_frag_needed }, { 6, am_net_unknown },  { 7, am_host_unknown },
};
static const struct code unreachable6[] = {
	{ 0, am_noroute },      { 1, am_adm_prohibited }, { 2, am_not_neighbour }, { 3, am_addr_unreach },
	{ 4, am_port_unreach }, { 5, am_policy_fail },    { 6, am_reject_route },
};

static Term code_name(const struct code *codes, size_t n, uint8_t code)
{
	for (size_t i = 0; i < n; i++)
		if (codes[i].number == code)
			return codes[i].name;
	return term_from_small(code);
}
#define CODE_NAME(codes, code) code_name(codes, sizeof(codes) / sizeof(codes[0]), code)

static void put_error_type(const struct sock_extended_err *e, Term *type, Term *code)
{
	enum { DEST_UNREACHABLE = 3, TIME_EXCEEDED = 11, UNREACHABLE6 = 1, TOO_BIG6 = 2, TIME_EXCEEDED6 = 3 };

	*type = term_from_small(e->ee_type);
	*code = term_from_small(e->ee_code);
	if (e->ee_origin == SO_EE_ORIGIN_ICMP && e->ee_type == DEST_UNREACHABLE) {
		*type = am_dest_unreach;
		*code = CODE_NAME(unreachable, e->ee_code);
	} else if (e->ee_origin == SO_EE_ORIGIN_ICMP && e->ee_type == TIME_EXCEEDED) {
		*type = am_time_exceeded;
	} else if (e->ee_origin == SO_EE_ORIGIN_ICMP6 && e->ee_type == UNREACHABLE6) {
		*type = am_dest_unreach;
		*code = CODE_NAME(unreachable6, e->ee_code);
	} else if (e->ee_origin == SO_EE_ORIGIN_ICMP6 && e->ee_type == TOO_BIG6) {
		*type = am_pkt_toobig;
	} else if (e->ee_origin == SO_EE_ORIGIN_ICMP6 && e->ee_type == TIME_EXCEEDED6) {
		*type = am_time_exceeded;
	}
}

static Term put_error(struct heap *h, const uint8_t *at, size_t n)
{
	Term type, code, offender;
	READ(struct sock_extended_err, e);

	put_error_type(&e, &type, &code);
	offender = n > sizeof(e) ? put_address(h, at + sizeof(e), n - sizeof(e)) : TERM_NONE;
	return map_from_pairs(h,
			      (Term[]){ am_error, posix_error_atom((int)e.ee_errno), am_origin, put_origin(e.ee_origin),
					am_type, type, am_code, code, am_info, term_from_small(e.ee_info), am_data,
					term_from_small(e.ee_data), am_offender, offender },
			      offender != TERM_NONE ? 7 : 6);
}

/* ---- values that go. Fails: -1; returns the bytes. */

enum { VALUE_MAX_BYTES = sizeof(struct timeval) };

static int read_int(Term t, void *to)
{
	int i;

	if (!enif_get_int(NULL, t, &i))
		return -1;
	memcpy(to, &i, sizeof(i));
	return sizeof(i);
}

static int read_tos(Term t, void *to)
{
	int tos;

	if (!sock_tos_read(t, &tos))
		return -1;
	memcpy(to, &tos, sizeof(tos));
	return sizeof(tos);
}

static int read_time(Term t, void *to)
{
	Term sec = term_is_map(t) ? map_get(t, am_sec) : TERM_NONE,
	     usec = sec != TERM_NONE ? map_get(t, am_usec) : TERM_NONE;
	struct timeval time;
	long s, us;

	if (usec == TERM_NONE || !enif_get_long(NULL, sec, &s) || !enif_get_long(NULL, usec, &us))
		return -1;
	time.tv_sec = s;
	time.tv_usec = us;
	memcpy(to, &time, sizeof(time));
	return sizeof(time);
}

/* ---- all that have a name */

static const struct kind {
	int level, type;
	Term name;
	Term (*put)(struct heap *h, const uint8_t *at, size_t n);
	int (*read)(Term t, void *to);
} kinds[] = {
	{ SOL_SOCKET, SCM_CREDENTIALS, am_credentials, NULL, NULL },
	{ SOL_SOCKET, SCM_RIGHTS, am_rights, NULL, NULL },
	{ SOL_SOCKET, SCM_TIMESTAMP, am_timestamp, put_time, read_time },
	{ IPPROTO_IP, IP_TOS, am_tos, put_tos, read_tos },
	{ IPPROTO_IP, IP_TTL, am_ttl, put_int, read_int },
	{ IPPROTO_IP, IP_RECVTTL, am_recvttl, put_byte, NULL },
	{ IPPROTO_IP, IP_PKTINFO, am_pktinfo, put_packet, NULL },
	{ IPPROTO_IP, IP_ORIGDSTADDR, am_origdstaddr, put_address, NULL },
	{ IPPROTO_IP, IP_RECVTOS, am_recvtos, put_tos, NULL },
	{ IPPROTO_IP, IP_RECVERR, am_recverr, put_error, NULL },
	{ IPPROTO_IPV6, IPV6_PKTINFO, am_pktinfo, put_packet6, NULL },
	{ IPPROTO_IPV6, IPV6_HOPLIMIT, am_hoplimit, put_int, read_int },
	{ IPPROTO_IPV6, IPV6_TCLASS, am_tclass, put_int, read_int },
	{ IPPROTO_IPV6, IPV6_RECVTCLASS, am_recvtclass, put_int, NULL },
	{ IPPROTO_IPV6, IPV6_RECVERR, am_recverr, put_error, NULL },
};

/* By its name unless TERM_NONE, else by its type. NULL: there is none. */
static const struct kind *find_kind(int level, Term name, int type)
{
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		if (kinds[i].level == level && (name != TERM_NONE ? kinds[i].name == name : kinds[i].type == type))
			return &kinds[i];
	return NULL;
}

/* ---- messages that come */

static Term put_message(struct heap *h, const struct cmsghdr *c, size_t bytes)
{
	const struct kind *k = find_kind(c->cmsg_level, TERM_NONE, c->cmsg_type);
	Term value = k != NULL && k->put != NULL ? k->put(h, CMSG_DATA(c), bytes) : TERM_NONE;

	Term level = c->cmsg_level == SOL_SOCKET ? (Term)am_socket : term_from_small(c->cmsg_level);

	return map_from_pairs(h,
			      (Term[]){ am_level, level, am_type, k != NULL ? k->name : term_from_small(c->cmsg_type),
					am_data, binary_put(h, CMSG_DATA(c), bytes), am_value, value },
			      value != TERM_NONE ? 4 : 3);
}

Term sock_control_put(struct heap *h, struct msghdr *from)
{
	const uint8_t *end = (const uint8_t *)from->msg_control + from->msg_controllen;
	Term list = NIL, reversed = NIL;

	for (struct cmsghdr *c = CMSG_FIRSTHDR(from); c != NULL; c = CMSG_NXTHDR(from, c)) {
		if (c->cmsg_len < CMSG_LEN(0) || c->cmsg_len > (size_t)(end - (const uint8_t *)c)) {
			reversed = heap_cons(h, am_bad_data, reversed);
			break;
		}
		reversed = heap_cons(h, put_message(h, c, c->cmsg_len - CMSG_LEN(0)), reversed);
	}
	for (; term_is_cons(reversed); reversed = cons_tail(reversed))
		list = heap_cons(h, cons_head(reversed), list);
	return list;
}

/* ---- messages that go */

/* A message of `bytes` bytes of data; where they go. Fails: NULL: no room. */
static uint8_t *begin_message(uint8_t *at, size_t room, int level, int type, size_t bytes)
{
	struct cmsghdr *c = (struct cmsghdr *)at;

	if (bytes > room || room < CMSG_SPACE(bytes))
		return NULL;
	memset(at, 0, CMSG_SPACE(bytes));
	c->cmsg_level = level;
	c->cmsg_type = type;
	c->cmsg_len = CMSG_LEN(bytes);
	return CMSG_DATA(c);
}

/* A binary, an integer or a boolean, of any type. Returns the bytes of the message; 0: it fails. */
static size_t read_data(Term data, int level, int type, uint8_t *at, size_t room)
{
	uint8_t *to;
	int i;
	size_t n = sizeof(i);

	if (term_is_binary(data)) {
		n = binary_size_bytes(data);
		to = begin_message(at, room, level, type, n);
		return to != NULL && iolist_copy(data, to, n) == IOLIST_OK ? CMSG_SPACE(n) : 0;
	}
	if (data == am_true || data == am_false)
		i = data == am_true;
	else if (!enif_get_int(NULL, data, &i))
		return 0;
	to = begin_message(at, room, level, type, n);
	if (to == NULL)
		return 0;
	memcpy(to, &i, n);
	return CMSG_SPACE(n);
}

static size_t read_value(Term value, const struct kind *k, uint8_t *at, size_t room)
{
	uint8_t bytes[VALUE_MAX_BYTES], *to;
	int n = k != NULL && k->read != NULL ? k->read(value, bytes) : -1;

	to = n >= 0 ? begin_message(at, room, k->level, k->type, (size_t)n) : NULL;
	if (to == NULL)
		return 0;
	memcpy(to, bytes, (size_t)n);
	return CMSG_SPACE((size_t)n);
}

static size_t read_message(Term m, uint8_t *at, size_t room)
{
	Term level, type, data, value;
	const struct kind *k = NULL;
	int level_number, type_number = 0;

	if (!term_is_map(m))
		return 0;
	level = map_get(m, am_level);
	type = map_get(m, am_type);
	data = map_get(m, am_data);
	value = map_get(m, am_value);
	if (level == TERM_NONE || type == TERM_NONE || (data == TERM_NONE) == (value == TERM_NONE))
		return 0;
	if (level == am_socket)
		level_number = SOL_SOCKET;
	else if (!enif_get_int(NULL, level, &level_number))
		return 0;
	if (term_is_atom(type)) {
		k = find_kind(level_number, type, 0);
		if (k == NULL)
			return 0;
		type_number = k->type;
	} else if (!enif_get_int(NULL, type, &type_number)) {
		return 0;
	}
	return value != TERM_NONE ? read_value(value, k, at, room)
				  : read_data(data, level_number, type_number, at, room);
}

bool sock_control_read(Term list, uint8_t *buffer, size_t room, size_t *used)
{
	size_t n;

	*used = 0;
	for (; term_is_cons(list); list = cons_tail(list)) {
		n = read_message(cons_head(list), buffer + *used, room - *used);
		if (n == 0)
			return false;
		*used += n;
	}
	return term_is_nil(list);
}
