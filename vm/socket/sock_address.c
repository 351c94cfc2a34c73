/* SPDX-License-Identifier: Apache-2.0 */
#include "socket/sock_address.h"

#include <arpa/inet.h>
#include <net/if_arp.h>
#include <stddef.h>
#include <string.h>

#include "data/binary.h"
#include "data/iolist.h"
#include "data/map.h"
#include "nif/nif_api.h"
#include "term/atom.h"

struct name { int number; Term atom; };

static Term name_of(const struct name *names, size_t n, int number)
{
	for (size_t i = 0; i < n; i++)
		if (names[i].number == number)
			return names[i].atom;
	return term_from_small(number);
}

static bool number_of(const struct name *names, size_t n, Term atom, int *number)
{
	for (size_t i = 0; i < n; i++)
		if (names[i].atom == atom) {
			*number = names[i].number;
			return true;
		}
	return false;
}
#define NAME_OF(names, number) name_of(names, sizeof(names) / sizeof(names[0]), number)
#define NUMBER_OF(names, atom, to) number_of(names, sizeof(names) / sizeof(names[0]), atom, to)

static const struct name domains[] = {
	{ AF_INET, am_inet }, { AF_INET6, am_inet6 }, { AF_LOCAL, am_local }, { AF_UNSPEC, am_unspec },
};
static const struct name types[] = {
	{ SOCK_STREAM, am_stream }, { SOCK_DGRAM, am_dgram }, { SOCK_RAW, am_raw }, { SOCK_SEQPACKET, am_seqpacket },
	{ SOCK_RDM, am_rdm },
};
static const struct name packet_types[] = {
	{ PACKET_HOST, am_host }, { PACKET_BROADCAST, am_broadcast }, { PACKET_MULTICAST, am_multicast },
	{ PACKET_OTHERHOST, am_otherhost }, { PACKET_OUTGOING, am_outgoing }, { PACKET_LOOPBACK, am_loopback },
};
static const struct name hardware[] = {
	{ ARPHRD_NETROM, am_netrom },     { ARPHRD_ETHER, am_ether },     { ARPHRD_EETHER, am_eether },
	{ ARPHRD_AX25, am_ax25 },         { ARPHRD_PRONET, am_pronet },   { ARPHRD_CHAOS, am_chaos },
	{ ARPHRD_IEEE802, am_ieee802 },   { ARPHRD_ARCNET, am_arcnet },   { ARPHRD_APPLETLK, am_appletlk },
	{ ARPHRD_DLCI, am_dlci },         { ARPHRD_ATM, am_atm },         { ARPHRD_METRICOM, am_metricom },
	{ ARPHRD_IEEE1394, am_ieee1394 }, { ARPHRD_EUI64, am_eui64 },     { ARPHRD_INFINIBAND, am_infiniband },
	{ ARPHRD_TUNNEL, am_tunnel },     { ARPHRD_TUNNEL6, am_tunnel6 }, { ARPHRD_LOOPBACK, am_loopback },
	{ ARPHRD_LOCALTLK, am_localtlk }, { ARPHRD_NONE, am_none },       { ARPHRD_VOID, am_void },
};
/* Those that an ioctl names. */
static const struct name hardware_families[] = {
	{ ARPHRD_NETROM, am_netrom },     { ARPHRD_ETHER, am_ether }, { ARPHRD_IEEE802, am_ieee802 },
	{ ARPHRD_DLCI, am_dlci },         { ARPHRD_FRAD, am_frelay }, { ARPHRD_IEEE1394, am_ieee1394 },
	{ ARPHRD_LOOPBACK, am_loopback }, { ARPHRD_NONE, am_none },
};

enum sock_named sock_domain_read(Term t, int *domain)
{
	if (NUMBER_OF(domains, t, domain))
		return SOCK_BY_NAME;
	return enif_get_int(NULL, t, domain) ? SOCK_BY_NUMBER : SOCK_NO_NAME;
}

Term sock_domain_put(int domain)
{
	return NAME_OF(domains, domain);
}

bool sock_type_read(Term t, int *type)
{
	return (t != am_rdm && NUMBER_OF(types, t, type)) || enif_get_int(NULL, t, type);
}

Term sock_type_put(int type)
{
	return NAME_OF(types, type);
}

/* ---- numbers */

/* A tuple of n integers of at most `most`. Fails: NULL. */
static const Term *read_tuple(Term t, size_t n, int64_t most)
{
	const Term *e;

	if (!term_is_tuple(t) || tuple_arity(t) != n)
		return NULL;
	e = boxed_ptr(t) + 1;
	for (size_t i = 0; i < n; i++)
		if (!term_is_small(e[i]) || small_value(e[i]) < 0 || small_value(e[i]) > most)
			return NULL;
	return e;
}

bool sock_in_read(Term t, struct in_addr *a)
{
	static const struct { Term name; in_addr_t address; } named[] = {
		{ am_any, INADDR_ANY }, { am_loopback, INADDR_LOOPBACK }, { am_broadcast, INADDR_BROADCAST },
	};
	const Term *e = read_tuple(t, 4, UINT8_MAX);
	uint32_t n = 0;

	for (size_t i = 0; i < sizeof(named) / sizeof(named[0]); i++)
		if (named[i].name == t) {
			a->s_addr = htonl(named[i].address);
			return true;
		}
	for (size_t i = 0; e != NULL && i < 4; i++)
		n = n << 8 | (uint32_t)small_value(e[i]);
	a->s_addr = htonl(n);
	return e != NULL;
}

bool sock_in6_read(Term t, struct in6_addr *a)
{
	const Term *e = read_tuple(t, 8, UINT16_MAX);

	if (t == am_any || t == am_loopback) {
		*a = t == am_any ? in6addr_any : in6addr_loopback;
		return true;
	}
	for (size_t i = 0; e != NULL && i < 8; i++) {
		a->s6_addr[2 * i] = (uint8_t)(small_value(e[i]) >> 8);
		a->s6_addr[2 * i + 1] = (uint8_t)small_value(e[i]);
	}
	return e != NULL;
}

Term sock_in_put(struct heap *h, const struct in_addr *a)
{
	const uint8_t *b = (const uint8_t *)a;
	Term e[4];

	for (size_t i = 0; i < 4; i++)
		e[i] = term_from_small(b[i]);
	return heap_tuple_array(h, 4, e);
}

Term sock_in6_put(struct heap *h, const struct in6_addr *a)
{
	Term e[8];

	for (size_t i = 0; i < 8; i++)
		e[i] = term_from_small(a->s6_addr[2 * i] << 8 | a->s6_addr[2 * i + 1]);
	return heap_tuple_array(h, 8, e);
}

/* ---- read */

static Term get(Term map, Term key)
{
	Term t = map_get(map, key);

	return t != TERM_NONE ? t : NIL;
}

/* The bytes of a binary. Fails: false: it is none, or of more than room bytes. */
static bool get_bytes(Term t, void *to, size_t room, size_t *n)
{
	if (!term_is_binary(t) || binary_size_bytes(t) > room)
		return false;
	*n = binary_size_bytes(t);
	return iolist_copy(t, to, *n) == IOLIST_OK;
}

static bool read_in(Term map, struct sockaddr_in *a, socklen_t *n)
{
	int port;

	*n = sizeof(*a);
	a->sin_family = AF_INET;
	if (!enif_get_int(NULL, get(map, am_port), &port))
		return false;
	a->sin_port = htons((uint16_t)port);
	return sock_in_read(get(map, am_addr), &a->sin_addr);
}

static bool read_in6(Term map, struct sockaddr_in6 *a, socklen_t *n)
{
	int port;

	*n = sizeof(*a);
	a->sin6_family = AF_INET6;
	if (!enif_get_int(NULL, get(map, am_port), &port) ||
	    !enif_get_uint(NULL, get(map, am_flowinfo), &a->sin6_flowinfo) ||
	    !enif_get_uint(NULL, get(map, am_scope_id), &a->sin6_scope_id))
		return false;
	a->sin6_port = htons((uint16_t)port);
	return sock_in6_read(get(map, am_addr), &a->sin6_addr);
}

/* A path needs room for the zero behind it, but an abstract name, which begins with one. */
static bool read_un(Term map, struct sockaddr_un *a, socklen_t *n)
{
	size_t bytes;

	a->sun_family = AF_LOCAL;
	if (!get_bytes(get(map, am_path), a->sun_path, sizeof(a->sun_path), &bytes) ||
	    (bytes == sizeof(a->sun_path) && a->sun_path[0] != 0))
		return false;
	*n = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + bytes);
	return true;
}

static bool read_bytes(Term map, int family, union sock_address *a, socklen_t *n)
{
	size_t skip = offsetof(struct sockaddr, sa_data), bytes;

	a->any.sa_family = (sa_family_t)family;
	if (!get_bytes(get(map, am_addr), a->bytes + skip, sizeof(*a) - skip, &bytes))
		return false;
	*n = (socklen_t)(skip + bytes);
	return true;
}

bool sock_address_read(Term map, union sock_address *a, socklen_t *n)
{
	int family;
	enum sock_named named;

	memset(a, 0, sizeof(*a));
	if (!term_is_map(map))
		return false;
	named = sock_domain_read(get(map, am_family), &family);
	if (named == SOCK_NO_NAME)
		return false;
	if (named == SOCK_BY_NAME && family == AF_INET)
		return read_in(map, &a->in, n);
	if (named == SOCK_BY_NAME && family == AF_INET6)
		return read_in6(map, &a->in6, n);
	if (named == SOCK_BY_NAME && family == AF_LOCAL)
		return read_un(map, &a->un, n);
	return read_bytes(map, family, a, n);
}

/* ---- put */

#define MAP(h, ...) map_from_pairs(h, (Term[]){ __VA_ARGS__ }, sizeof((Term[]){ __VA_ARGS__ }) / sizeof(Term) / 2)

static Term put_bytes(struct heap *h, Term family, const union sock_address *a, socklen_t n)
{
	size_t skip = offsetof(struct sockaddr, sa_data);

	return MAP(h, am_family, family, am_addr, binary_put(h, a->bytes + skip, n > skip ? n - skip : 0));
}

static Term put_un(struct heap *h, const union sock_address *a, socklen_t n)
{
	size_t skip = offsetof(struct sockaddr_un, sun_path), room = n > skip ? n - skip : 0, length;

	if (n > 0 && n < skip)
		return put_bytes(h, am_local, a, n);
	if (n == 0)
		room = sizeof(a->un.sun_path);
	if (room > UINT8_MAX)
		return am_bad_data;
	length = strnlen(a->un.sun_path, room);
	if (length == 0 && n > 0) /* abstract, or none */
		length = room;
	return MAP(h, am_family, am_local, am_path, binary_put(h, a->un.sun_path, length));
}

static Term put_in6(struct heap *h, const struct sockaddr_in6 *a)
{
	return MAP(h, am_family, am_inet6, am_port, term_from_small(ntohs(a->sin6_port)), am_addr,
		   sock_in6_put(h, &a->sin6_addr), am_flowinfo, term_from_small((int32_t)a->sin6_flowinfo), am_scope_id,
		   term_from_small((int32_t)a->sin6_scope_id));
}

static Term put_ll(struct heap *h, const struct sockaddr_ll *a)
{
	size_t length = a->sll_halen < sizeof(a->sll_addr) ? a->sll_halen : sizeof(a->sll_addr);

	return MAP(h, am_family, am_packet, am_protocol, term_from_small(ntohs(a->sll_protocol)), am_ifindex,
		   term_from_small(a->sll_ifindex), am_hatype, NAME_OF(hardware, a->sll_hatype), am_pkttype,
		   NAME_OF(packet_types, a->sll_pkttype), am_addr, binary_put(h, a->sll_addr, length));
}

Term sock_address_put(struct heap *h, const union sock_address *a, socklen_t n)
{
	if (n > 0 && n < offsetof(struct sockaddr, sa_data)) /* not even a family */
		return binary_put(h, a, n);
	switch (a->any.sa_family) {
	case AF_INET:
		if (n > 0 && n < sizeof(a->in))
			return put_bytes(h, am_inet, a, n);
		return MAP(h, am_family, am_inet, am_port, term_from_small(ntohs(a->in.sin_port)), am_addr,
			   sock_in_put(h, &a->in.sin_addr));
	case AF_INET6:
		return n > 0 && n < sizeof(a->in6) ? put_bytes(h, am_inet6, a, n) : put_in6(h, &a->in6);
	case AF_LOCAL:
		return put_un(h, a, n);
	case AF_UNSPEC:
		return put_bytes(h, am_unspec, a, n);
	case AF_PACKET:
		return n > 0 && n < sizeof(a->ll) ? put_bytes(h, am_packet, a, n) : put_ll(h, &a->ll);
	default:
		return put_bytes(h, term_from_small(a->any.sa_family), a, n);
	}
}

Term sock_address_put_hardware(struct heap *h, const struct sockaddr *a)
{
	return put_bytes(h, NAME_OF(hardware_families, a->sa_family), (const union sock_address *)a, sizeof(*a));
}
