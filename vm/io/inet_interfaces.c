/* SPDX-License-Identifier: Apache-2.0 */
/* The machine's network interfaces, their addresses and options. */
#include <errno.h>
#include <ifaddrs.h>
#include <linux/if_packet.h>
#include <net/if.h>
#include <string.h>
#include <sys/ioctl.h>

#include "base/alloc.h"
#include "io/inet.h"

enum { IFOPT_ADDR = 1, IFOPT_BROADADDR, IFOPT_DSTADDR, IFOPT_MTU, IFOPT_NETMASK, IFOPT_FLAGS, IFOPT_HWADDR };
/* Flags as prim_inet knows them; those of the second row take away. */
enum { FLAG_UP = 1, FLAG_BROADCAST = 2, FLAG_LOOPBACK = 4, FLAG_POINT = 8, FLAG_RUNNING = 0x10, FLAG_MULTICAST = 0x20,
       FLAG_DOWN = 0x100, FLAG_NO_BROADCAST = 0x200, FLAG_NO_POINT = 0x800 };

static void put16(struct port_answer *a, unsigned v)
{
	answer_put(a, (uint8_t[]){ (uint8_t)(v >> 8), (uint8_t)v }, 2);
}

static void put32(struct port_answer *a, uint32_t v)
{
	put16(a, v >> 16);
	put16(a, v & 0xffff);
}

static uint32_t flags_of(unsigned f)
{
	return (f & IFF_UP ? FLAG_UP | FLAG_RUNNING : 0) | (f & IFF_BROADCAST ? FLAG_BROADCAST : 0) |
	       (f & IFF_LOOPBACK ? FLAG_LOOPBACK : 0) | (f & IFF_POINTOPOINT ? FLAG_POINT : 0) |
	       (f & IFF_MULTICAST ? FLAG_MULTICAST : 0);
}

/* An address without a port, where it is of the internet. */
static void put_address(struct port_answer *a, unsigned option, const struct sockaddr *address)
{
	if (address->sa_family == AF_INET) {
		answer_put_byte(a, option);
		answer_put_byte(a, INET_AF_INET);
		answer_put(a, &((const struct sockaddr_in *)address)->sin_addr, 4);
	} else if (address->sa_family == AF_INET6) {
		answer_put_byte(a, option);
		answer_put_byte(a, INET_AF_INET6);
		answer_put(a, &((const struct sockaddr_in6 *)address)->sin6_addr, 16);
	}
}

static void put_hardware(struct port_answer *a, const uint8_t *bytes, unsigned n)
{
	answer_put_byte(a, IFOPT_HWADDR);
	put16(a, n);
	answer_put(a, bytes, n);
}

/* ---- lists */

void inet_list_interfaces(struct inet_socket *s, struct port_answer *a)
{
	struct ifconf list = { .ifc_len = 0 };
	int n;

	if (ioctl(s->fd, SIOCGIFCONF, &list) < 0) {
		inet_answer_error(a, errno);
		return;
	}
	n = list.ifc_len + 16 * (int)sizeof(struct ifreq);
	list.ifc_len = n;
	list.ifc_buf = mem_zalloc((size_t)n);
	if (ioctl(s->fd, SIOCGIFCONF, &list) < 0) {
		inet_answer_error(a, errno);
	} else {
		inet_answer_ok(a);
		for (int k = 0; k < list.ifc_len / (int)sizeof(struct ifreq); k++) {
			const char *name = list.ifc_req[k].ifr_name;

			answer_put(a, name, strnlen(name, IFNAMSIZ));
			answer_put_byte(a, 0);
		}
	}
	mem_free(list.ifc_buf);
}

static void put_addresses(struct port_answer *a, const struct ifaddrs *i)
{
	if (i->ifa_addr->sa_family == AF_PACKET) {
		const struct sockaddr_ll *link = (const struct sockaddr_ll *)i->ifa_addr;

		if (link->sll_halen > 0)
			put_hardware(a, link->sll_addr, link->sll_halen);
		return;
	}
	if (i->ifa_addr->sa_family != AF_INET && i->ifa_addr->sa_family != AF_INET6)
		return;
	put_address(a, IFOPT_ADDR, i->ifa_addr);
	if (i->ifa_netmask != NULL)
		put_address(a, IFOPT_NETMASK, i->ifa_netmask);
	if (i->ifa_dstaddr != NULL && (i->ifa_flags & IFF_POINTOPOINT))
		put_address(a, IFOPT_DSTADDR, i->ifa_dstaddr);
	else if (i->ifa_broadaddr != NULL && (i->ifa_flags & IFF_BROADCAST))
		put_address(a, IFOPT_BROADADDR, i->ifa_broadaddr);
}

/* The name is told as UTF-8, made of its bytes. */
static void put_name(struct port_answer *a, const char *name)
{
	for (; *name != 0; name++) {
		unsigned c = (unsigned char)*name;

		if (c < 0x80) {
			answer_put_byte(a, c);
		} else {
			answer_put_byte(a, 0xc0 | c >> 6);
			answer_put_byte(a, 0x80 | (c & 0x3f));
		}
	}
	answer_put_byte(a, 0);
}

void inet_list_addresses(struct inet_socket *s, struct port_answer *a)
{
	struct ifaddrs *list;

	(void)s;
	if (getifaddrs(&list) < 0) {
		inet_answer_error(a, errno);
		return;
	}
	inet_answer_ok(a);
	for (const struct ifaddrs *i = list; i != NULL; i = i->ifa_next) {
		put_name(a, i->ifa_name);
		answer_put_byte(a, IFOPT_FLAGS);
		put32(a, flags_of(i->ifa_flags));
		if (i->ifa_addr != NULL)
			put_addresses(a, i);
		answer_put_byte(a, 0);
	}
	freeifaddrs(list);
}

/* ---- one */

/* A length and a name. Fails: false. */
static bool take_name(const uint8_t **data, size_t *n, struct ifreq *r)
{
	size_t length = *n > 0 ? (*data)[0] : 1;

	memset(r, 0, sizeof(*r));
	if (length + 1 > *n)
		return false;
	memcpy(r->ifr_name, *data + 1, length < IFNAMSIZ ? length : IFNAMSIZ - 1);
	*data += length + 1;
	*n -= length + 1;
	return true;
}

static bool get_option(struct inet_socket *s, struct ifreq *r, unsigned option, struct port_answer *a)
{
	switch (option) {
	case IFOPT_ADDR:
		if (ioctl(s->fd, SIOCGIFADDR, r) == 0)
			put_address(a, option, &r->ifr_addr);
		return true;
	case IFOPT_BROADADDR:
		if (ioctl(s->fd, SIOCGIFBRDADDR, r) == 0)
			put_address(a, option, &r->ifr_broadaddr);
		return true;
	case IFOPT_DSTADDR:
		if (ioctl(s->fd, SIOCGIFDSTADDR, r) == 0)
			put_address(a, option, &r->ifr_dstaddr);
		return true;
	case IFOPT_NETMASK:
		if (ioctl(s->fd, SIOCGIFNETMASK, r) == 0)
			put_address(a, option, &r->ifr_netmask);
		return true;
	case IFOPT_HWADDR:
		if (ioctl(s->fd, SIOCGIFHWADDR, r) == 0)
			put_hardware(a, (const uint8_t *)r->ifr_hwaddr.sa_data, IFHWADDRLEN);
		return true;
	case IFOPT_MTU:
		if (ioctl(s->fd, SIOCGIFMTU, r) == 0) {
			answer_put_byte(a, option);
			put32(a, (uint32_t)r->ifr_mtu);
		}
		return true;
	case IFOPT_FLAGS:
		answer_put_byte(a, option);
		put32(a, ioctl(s->fd, SIOCGIFFLAGS, r) == 0 ? flags_of((unsigned short)r->ifr_flags) : 0);
		return true;
	default:
		return false;
	}
}

static void fail(struct port_answer *a)
{
	a->n = 0;
	inet_answer_error(a, EINVAL);
}

void inet_get_interface(struct inet_socket *s, const uint8_t *data, size_t n, struct port_answer *a)
{
	struct ifreq r;

	if (!take_name(&data, &n, &r)) {
		fail(a);
		return;
	}
	inet_answer_ok(a);
	for (size_t k = 0; k < n; k++)
		if (a->n > INET_ANSWER_MAX || !get_option(s, &r, data[k], a)) {
			fail(a);
			return;
		}
}

/* The family and the address. Fails: 0; else how many bytes they are. */
static size_t read_address(const uint8_t *data, size_t n, struct sockaddr *to)
{
	struct sockaddr_in *in = (struct sockaddr_in *)to;

	if (n < 5 || data[0] != INET_AF_INET)
		return 0;
	memset(to, 0, sizeof(*to));
	in->sin_family = AF_INET;
	memcpy(&in->sin_addr, data + 1, 4);
	return 5;
}

static unsigned short change_flags(unsigned short f, uint32_t wish)
{
	f |= (wish & FLAG_UP ? IFF_UP : 0) | (wish & FLAG_BROADCAST ? IFF_BROADCAST : 0) |
	     (wish & FLAG_POINT ? IFF_POINTOPOINT : 0);
	f &= (unsigned short)~((wish & FLAG_DOWN ? IFF_UP : 0) | (wish & FLAG_NO_BROADCAST ? IFF_BROADCAST : 0) |
			       (wish & FLAG_NO_POINT ? IFF_POINTOPOINT : 0));
	return f;
}

/* How many bytes it took; 0: wrong. What the kernel refuses is not told. */
static size_t set_option(struct inet_socket *s, struct ifreq *r, unsigned option, const uint8_t *data, size_t n)
{
	static const unsigned long requests[] = { [IFOPT_ADDR] = SIOCSIFADDR, [IFOPT_BROADADDR] = SIOCSIFBRDADDR,
						  [IFOPT_DSTADDR] = SIOCSIFDSTADDR,
						  [IFOPT_NETMASK] = SIOCSIFNETMASK };
	size_t used = 0;

	switch (option) {
	case IFOPT_ADDR: case IFOPT_BROADADDR: case IFOPT_DSTADDR: case IFOPT_NETMASK:
		used = read_address(data, n, &r->ifr_addr);
		if (used > 0)
			ioctl(s->fd, requests[option], r);
		return used;
	case IFOPT_MTU:
		if (n < 4)
			return 0;
		r->ifr_mtu = (int)inet_read32(data);
		ioctl(s->fd, SIOCSIFMTU, r);
		return 4;
	case IFOPT_FLAGS:
		if (n < 4)
			return 0;
		if (ioctl(s->fd, SIOCGIFFLAGS, r) == 0) {
			r->ifr_flags = (short)change_flags((unsigned short)r->ifr_flags, inet_read32(data));
			ioctl(s->fd, SIOCSIFFLAGS, r);
		}
		return 4;
	case IFOPT_HWADDR:
		if (n < 2 || inet_read16(data) > n - 2 || inet_read16(data) > sizeof(r->ifr_hwaddr.sa_data))
			return 0;
		memset(&r->ifr_hwaddr, 0, sizeof(r->ifr_hwaddr));
		memcpy(r->ifr_hwaddr.sa_data, data + 2, inet_read16(data));
		ioctl(s->fd, SIOCSIFHWADDR, r);
		return 2 + inet_read16(data);
	default:
		return 0;
	}
}

void inet_set_interface(struct inet_socket *s, const uint8_t *data, size_t n, struct port_answer *a)
{
	struct ifreq r;

	if (!take_name(&data, &n, &r)) {
		fail(a);
		return;
	}
	while (n > 0) {
		size_t used = set_option(s, &r, data[0], data + 1, n - 1);

		if (used == 0) {
			fail(a);
			return;
		}
		data += 1 + used;
		n -= 1 + used;
	}
	inet_answer_ok(a);
}
