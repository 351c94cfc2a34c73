/* SPDX-License-Identifier: Apache-2.0 */
/* What ioctl(2) tells and changes of network interfaces, by way of a socket. On dirty schedulers. */
#include <errno.h>
#include <net/if.h>
#include <stddef.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

#include "base/alloc.h"
#include "base/release.h"
#include "data/map.h"
#include "socket/sock.h"
#include "socket/sock_address.h"
#include "socket/sock_interface.h"

/* What a request of one interface has in struct ifreq. */
enum part { PART_NONE, PART_INT, PART_FLAGS, PART_ADDRESS, PART_HARDWARE, PART_MAP };
/* Of whom a request is: an interface that is named, or by its number; all; the socket, as a number or a boolean. */
enum whose { OF_NAME, OF_INDEX, OF_ALL, OF_SOCKET_COUNT, OF_SOCKET_MARK };

static const struct request {
	unsigned long number;
	Term name;
	bool sets;
	enum part part;
	Term what;           /* in {invalid, What}, of one that sets */
	enum whose whose;
	int since;           /* release */
} requests[] = {
	{ SIOCGIFNAME, am_gifname, false, PART_NONE, NIL, OF_INDEX, 0 },
	{ SIOCGIFINDEX, am_gifindex, false, PART_INT, NIL, OF_NAME, 0 },
	{ SIOCGIFFLAGS, am_gifflags, false, PART_FLAGS, NIL, OF_NAME, 0 },
	{ SIOCGIFADDR, am_gifaddr, false, PART_ADDRESS, NIL, OF_NAME, 0 },
	{ SIOCGIFDSTADDR, am_gifdstaddr, false, PART_ADDRESS, NIL, OF_NAME, 0 },
	{ SIOCGIFBRDADDR, am_gifbrdaddr, false, PART_ADDRESS, NIL, OF_NAME, 0 },
	{ SIOCGIFNETMASK, am_gifnetmask, false, PART_ADDRESS, NIL, OF_NAME, 0 },
	{ SIOCGIFMTU, am_gifmtu, false, PART_INT, NIL, OF_NAME, 0 },
	{ SIOCGIFHWADDR, am_gifhwaddr, false, PART_HARDWARE, NIL, OF_NAME, 0 },
	{ SIOCGIFMAP, am_gifmap, false, PART_MAP, NIL, OF_NAME, 0 },
	{ SIOCGIFTXQLEN, am_giftxqlen, false, PART_INT, NIL, OF_NAME, 0 },
	{ SIOCGIFCONF, am_gifconf, false, PART_NONE, NIL, OF_ALL, 0 },
	{ FIONREAD, am_nread, false, PART_NONE, NIL, OF_SOCKET_COUNT, 27 },
	{ SIOCATMARK, am_atmark, false, PART_NONE, NIL, OF_SOCKET_MARK, 27 },
	{ SIOCSIFFLAGS, am_sifflags, true, PART_FLAGS, NIL, OF_NAME, 0 },
	{ SIOCSIFADDR, am_sifaddr, true, PART_ADDRESS, am_sockaddr, OF_NAME, 0 },
	{ SIOCSIFDSTADDR, am_sifdstaddr, true, PART_ADDRESS, am_sockaddr, OF_NAME, 0 },
	{ SIOCSIFBRDADDR, am_sifbrdaddr, true, PART_ADDRESS, am_sockaddr, OF_NAME, 0 },
	{ SIOCSIFMTU, am_sifmtu, true, PART_INT, am_mtu, OF_NAME, 0 },
	{ SIOCSIFTXQLEN, am_siftxqlen, true, PART_INT, am_txqlen, OF_NAME, 0 },
};
enum { REQUESTS = sizeof(requests) / sizeof(requests[0]) };

/* IFF_* above 16 bits are of linux/if.h, which does not go with net/if.h. */
enum { IFF_LOWER_UP_BIT = 1 << 16, IFF_DORMANT_BIT = 1 << 17, IFF_ECHO_BIT = 1 << 18 };

const struct sock_interface_flag sock_interface_flags[] = {
	{ am_up, IFF_UP, true, 0 },
	{ am_broadcast, IFF_BROADCAST, true, 0 },
	{ am_debug, IFF_DEBUG, true, 0 },
	{ am_loopback, IFF_LOOPBACK, true, 0 },
	{ am_pointopoint, IFF_POINTOPOINT, true, 0 },
	{ am_notrailers, IFF_NOTRAILERS, true, 0 },
	{ am_knowsepoch, 0, false, 0 },
	{ am_running, IFF_RUNNING, true, 0 },
	{ am_noarp, IFF_NOARP, true, 0 },
	{ am_promisc, IFF_PROMISC, true, 0 },
	{ am_allmulti, IFF_ALLMULTI, false, 0 },
	{ am_master, IFF_MASTER, true, 0 },
	{ am_oactive, 0, false, 0 },
	{ am_slave, IFF_SLAVE, true, 0 },
	{ am_simplex, 0, false, 0 },
	{ am_multicast, IFF_MULTICAST, true, 0 },
	{ am_link0, 0, false, 0 },
	{ am_link1, 0, false, 0 },
	{ am_link2, 0, false, 0 },
	{ am_portsel, IFF_PORTSEL, true, 0 },
	{ am_automedia, IFF_AUTOMEDIA, true, 0 },
	{ am_dynamic, IFF_DYNAMIC, true, 0 },
	{ am_lower_up, IFF_LOWER_UP_BIT, false, 0 },
	{ am_dormant, IFF_DORMANT_BIT, false, 0 },
	{ am_echo, IFF_ECHO_BIT, false, 0 },
	{ am_monitor, 0, false, 0 },
	{ am_nogroup, 0, false, 0 },
	{ am_cantconfig, 0, false, 0 },
	{ am_ppromisc, 0, false, 0 },
	{ am_staticarp, 0, false, 0 },
	{ am_renaming, 0, false, 0 },
	{ am_dying, 0, false, 0 },
	{ am_dhcprunning, 0, false, 27 },
	{ am_private, 0, false, 27 },
};
const size_t sock_interface_flag_count = sizeof(sock_interface_flags) / sizeof(sock_interface_flags[0]);

/* ---- supports */

Term sock_put_ioctls(struct nif_env *env)
{
	Term list = NIL;

	for (size_t i = 0; i < REQUESTS; i++)
		if (release_is_from(requests[i].since))
			list = heap_cons(env->heap, heap_tuple(env->heap, requests[i].name,
							       term_from_small((int64_t)requests[i].number)), list);
	return list;
}

Term sock_put_ioctl_flags(struct nif_env *env)
{
	Term list = NIL;

	for (size_t i = 0; i < sock_interface_flag_count; i++)
		if (release_is_from(sock_interface_flags[i].since))
			list = heap_cons(env->heap, heap_tuple(env->heap, sock_interface_flags[i].name,
							       term_from_small(sock_interface_flags[i].bit)), list);
	return list;
}

/* ---- what comes */

static Term put_flags(struct heap *h, short flags)
{
	Term list = NIL, reversed = NIL;
	int left = flags;

	for (size_t i = 0; i < sock_interface_flag_count; i++) {
		int bit = sock_interface_flags[i].bit;

		if (bit == 0 || (left & bit) != bit || bit > SHRT_MAX + 1)
			continue;
		left &= ~bit;
		reversed = heap_cons(h, sock_interface_flags[i].name, reversed);
	}
	if ((left & UINT16_MAX) != 0)
		reversed = heap_cons(h, term_from_small((short)left), reversed);
	for (; term_is_cons(reversed); reversed = cons_tail(reversed))
		list = heap_cons(h, cons_head(reversed), list);
	return list;
}

static Term put_map(struct heap *h, const struct ifmap *m)
{
	return map_from_pairs(h,
			      (Term[]){ am_mem_start, heap_uint(h, m->mem_start), am_mem_end, heap_uint(h, m->mem_end),
					am_base_addr, term_from_small(m->base_addr), am_irq, term_from_small(m->irq),
					am_dma, term_from_small(m->dma), am_port, term_from_small(m->port) },
			      6);
}

static Term put_part(struct heap *h, const struct ifreq *r, enum part part)
{
	union sock_address a = { .any = r->ifr_addr };

	switch (part) {
	case PART_INT:
		return term_from_small(r->ifr_ifindex); /* mtu and qlen are in the same place */
	case PART_FLAGS:
		return put_flags(h, r->ifr_flags);
	case PART_ADDRESS:
		return sock_address_put(h, &a, 0);
	case PART_HARDWARE:
		return sock_address_put_hardware(h, &r->ifr_hwaddr);
	case PART_MAP:
		return put_map(h, &r->ifr_map);
	default:
		return NIL;
	}
}

static Term put_name(struct heap *h, const char *name)
{
	return heap_list_bytes(h, name, strnlen(name, IFNAMSIZ), NIL);
}

/* All interfaces with an address: [#{name, addr}]. */
static Term get_conf(struct nif_env *env, int fd)
{
	struct ifconf c = { .ifc_len = 0 };
	Term list = NIL;

	if (ioctl(fd, SIOCGIFCONF, &c) != 0)
		return sock_errno(env, errno);
	c.ifc_len += 8 * (int)sizeof(struct ifreq); /* some that come meanwhile */
	c.ifc_buf = mem_zalloc((size_t)c.ifc_len);
	if (ioctl(fd, SIOCGIFCONF, &c) != 0) {
		int error = errno;

		mem_free(c.ifc_buf);
		return sock_errno(env, error);
	}
	for (size_t i = (size_t)c.ifc_len / sizeof(struct ifreq); i-- > 0;) {
		const struct ifreq *r = &c.ifc_req[i];
		Term pairs[] = { am_name, put_name(env->heap, r->ifr_name), am_addr,
				 put_part(env->heap, r, PART_ADDRESS) };

		list = heap_cons(env->heap, map_from_pairs(env->heap, pairs, 2), list);
	}
	mem_free(c.ifc_buf);
	return sock_ok(env, list);
}

static Term get_name(struct nif_env *env, int fd, Term index)
{
	struct ifreq r = { 0 };

	if (!enif_get_int(env, index, &r.ifr_ifindex))
		return enif_make_badarg(env);
	if (ioctl(fd, SIOCGIFNAME, &r) != 0)
		return sock_errno(env, errno);
	return sock_ok(env, put_name(env->heap, r.ifr_name));
}

static Term get_of_socket(struct nif_env *env, int fd, const struct request *q)
{
	int n = 0;

	if (ioctl(fd, q->number, &n) != 0)
		return sock_errno(env, errno);
	return sock_ok(env, q->whose == OF_SOCKET_MARK ? term_from_bool(n != 0) : term_from_small(n));
}

/* ---- what goes */

/* A name that is too long is cut. Fails: false. */
static bool read_name(struct nif_env *env, Term t, struct ifreq *r)
{
	memset(r, 0, sizeof(*r));
	return enif_get_string(env, t, r->ifr_name, IFNAMSIZ, NIF_LATIN1) != 0;
}

/* The flags, by their bits, that are to be set (true) or not. */
static bool read_flags(Term map, struct ifreq *r)
{
	struct map_iter it;
	Term key, value;
	int bit, flags = r->ifr_flags;

	if (!term_is_map(map))
		return false;
	map_iter_init(&it, map);
	while (map_iter_next(&it, &key, &value)) {
		if (!enif_get_int(NULL, key, &bit))
			return false;
		flags = value == am_true ? flags | bit : flags & ~bit;
	}
	r->ifr_flags = (short)flags;
	return true;
}

static bool read_part(Term value, struct ifreq *r, enum part part)
{
	union sock_address a;
	socklen_t n;

	if (part == PART_INT)
		return enif_get_int(NULL, value, &r->ifr_mtu);
	if (!sock_address_read(value, &a, &n) || n > sizeof(r->ifr_addr))
		return false;
	memcpy(&r->ifr_addr, &a, n);
	return true;
}

static Term set(struct nif_env *env, int fd, const struct request *q, Term name, Term value)
{
	struct ifreq r;

	if (!read_name(env, name, &r))
		return enif_make_badarg(env);
	if (q->part == PART_FLAGS && ioctl(fd, SIOCGIFFLAGS, &r) != 0)
		return sock_errno(env, errno);
	if (q->part == PART_FLAGS && !read_flags(value, &r))
		return enif_make_badarg(env);
	if (q->part != PART_FLAGS && !read_part(value, &r, q->part))
		return sock_invalid(env, q->what);
	return ioctl(fd, q->number, &r) == 0 ? am_ok : sock_errno(env, errno);
}

static Term get(struct nif_env *env, int fd, const struct request *q, Term name)
{
	struct ifreq r;

	if (q->whose == OF_INDEX)
		return get_name(env, fd, name);
	if (!read_name(env, name, &r))
		return enif_make_badarg(env);
	if (ioctl(fd, q->number, &r) != 0)
		return sock_errno(env, errno);
	return sock_ok(env, put_part(env->heap, &r, q->part));
}

static Term run(struct nif_env *env, int fd, unsigned long number, int argc, const Term *argv)
{
	for (size_t i = 0; i < REQUESTS; i++) {
		const struct request *q = &requests[i];

		if (q->number != number || !release_is_from(q->since))
			continue;
		if (q->whose >= OF_ALL && argc == 2)
			return q->whose == OF_ALL ? get_conf(env, fd) : get_of_socket(env, fd, q);
		if (q->whose < OF_ALL && !q->sets && argc == 3)
			return get(env, fd, q, argv[2]);
		if (q->sets && argc == 4)
			return set(env, fd, q, argv[2], argv[3]);
	}
	return sock_errno(env, EOPNOTSUPP);
}

/* nif_ioctl(Socket, Request[, Name or Index[, Value]]) */
Term sock_ioctl(struct nif_env *env, int argc, const Term *argv)
{
	struct sock *s = sock_from_term(env, argv[0]);
	unsigned long number;
	Term answer;

	if (s == NULL || !enif_get_ulong(env, argv[1], &number))
		return enif_make_badarg(env);
	lock_acquire(&s->locks[SOCK_READ]);
	answer = sock_is_open(s, SOCK_READ) ? run(env, s->fd, number, argc, argv) : sock_error(env, am_closed);
	lock_release(&s->locks[SOCK_READ]);
	return answer;
}
