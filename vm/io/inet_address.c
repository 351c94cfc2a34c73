/* SPDX-License-Identifier: Apache-2.0 */
/* Socket addresses as prim_inet encodes and decodes them. The bytes may be anybody's: nothing here reads behind
 * them. */
#include <stddef.h>
#include <string.h>

#include "io/inet.h"

static const char einval[] = "einval", eafnosupport[] = "eafnosupport";

static bool take(const uint8_t **at, size_t *n, void *to, size_t bytes)
{
	if (*n < bytes)
		return false;
	memcpy(to, *at, bytes);
	*at += bytes;
	*n -= bytes;
	return true;
}

static bool take_number(const uint8_t **at, size_t *n, uint32_t *number, unsigned bytes)
{
	uint8_t raw[4];

	if (!take(at, n, raw, bytes))
		return false;
	*number = 0;
	for (unsigned k = 0; k < bytes; k++)
		*number = *number << 8 | raw[k];
	return true;
}

static bool read_in(struct inet_address *a, const uint8_t **at, size_t *n)
{
	uint32_t port;

	a->in.sin_family = AF_INET;
	a->size = sizeof(a->in);
	if (!take_number(at, n, &port, 2) || !take(at, n, &a->in.sin_addr, 4))
		return false;
	a->in.sin_port = htons((uint16_t)port);
	return true;
}

static bool read_in6(struct inet_address *a, const uint8_t **at, size_t *n)
{
	uint32_t port, flow, scope;

	a->in6.sin6_family = AF_INET6;
	a->size = sizeof(a->in6);
	if (!take_number(at, n, &port, 2) || !take(at, n, &a->in6.sin6_addr, 16) || !take_number(at, n, &flow, 4) ||
	    !take_number(at, n, &scope, 4))
		return false;
	a->in6.sin6_port = htons((uint16_t)port);
	a->in6.sin6_flowinfo = flow;
	a->in6.sin6_scope_id = scope;
	return true;
}

/* A path ends with a 0 that is not counted; a name that begins with one (abstract) does not. */
static bool read_local(struct inet_address *a, const uint8_t **at, size_t *n)
{
	uint32_t length;
	bool abstract;

	if (!take_number(at, n, &length, 1) || length > *n)
		return false;
	abstract = length > 0 && (*at)[0] == 0;
	if (length + !abstract > sizeof(a->un.sun_path))
		return false;
	a->un.sun_family = AF_UNIX;
	a->size = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + length);
	return take(at, n, a->un.sun_path, length);
}

/* INET_AF_ANY, INET_AF_LOOPBACK. */
static const char *read_tag(struct inet_address *a, int family, enum inet_family tag, const uint8_t **at, size_t *n)
{
	uint32_t port;

	if (!take_number(at, n, &port, 2))
		return einval;
	a->any.sa_family = (sa_family_t)family;
	if (family == AF_INET) {
		a->in.sin_port = htons((uint16_t)port);
		a->in.sin_addr.s_addr = htonl(tag == INET_AF_ANY ? INADDR_ANY : INADDR_LOOPBACK);
		a->size = sizeof(a->in);
	} else if (family == AF_INET6) {
		a->in6.sin6_port = htons((uint16_t)port);
		a->in6.sin6_addr = tag == INET_AF_ANY ? in6addr_any : in6addr_loopback;
		a->size = sizeof(a->in6);
	} else {
		return einval;
	}
	return NULL;
}

const char *inet_address_read(struct inet_address *a, int family, const uint8_t **at, size_t *n)
{
	uint32_t tag;

	memset(a, 0, sizeof(*a));
	if (!take_number(at, n, &tag, 1))
		return einval;
	switch (tag) {
	case INET_AF_INET: return read_in(a, at, n) ? NULL : einval;
	case INET_AF_INET6: return read_in6(a, at, n) ? NULL : einval;
	case INET_AF_LOCAL: return read_local(a, at, n) ? NULL : einval;
	case INET_AF_ANY:
	case INET_AF_LOOPBACK: return read_tag(a, family, (enum inet_family)tag, at, n);
	default: return eafnosupport;
	}
}

int inet_address_port(const struct inet_address *a)
{
	switch (a->any.sa_family) {
	case AF_INET: return ntohs(a->in.sin_port);
	case AF_INET6: return ntohs(a->in6.sin6_port);
	default: return -1;
	}
}

static void put_port(struct port_answer *out, enum inet_family tag, const struct inet_address *a)
{
	int port = inet_address_port(a);

	answer_put(out, (uint8_t[]){ (uint8_t)tag, (uint8_t)(port >> 8), (uint8_t)port }, 3);
}

static void put_local(struct port_answer *out, const struct inet_address *a)
{
	size_t room =
		a->size > offsetof(struct sockaddr_un, sun_path) ? a->size - offsetof(struct sockaddr_un, sun_path) : 0;
	size_t n = strnlen(a->un.sun_path, room);

	if (n == 0) /* abstract, or none */
		n = room;
	answer_put_byte(out, INET_AF_LOCAL);
	answer_put_byte(out, (unsigned)n);
	answer_put(out, a->un.sun_path, n);
}

bool inet_address_put(struct port_answer *out, const struct inet_address *a)
{
	if (a->size < sizeof(sa_family_t)) {
		answer_put_byte(out, INET_AF_UNSPEC);
		return false;
	}
	switch (a->any.sa_family) {
	case AF_INET:
		put_port(out, INET_AF_INET, a);
		answer_put(out, &a->in.sin_addr, 4);
		return true;
	case AF_INET6:
		put_port(out, INET_AF_INET6, a);
		answer_put(out, &a->in6.sin6_addr, 16);
		return true;
	case AF_UNIX:
		put_local(out, a);
		return true;
	case AF_UNSPEC:
		answer_put_byte(out, INET_AF_UNSPEC);
		return false;
	default:
		answer_put_byte(out, INET_AF_UNDEFINED);
		return false;
	}
}
