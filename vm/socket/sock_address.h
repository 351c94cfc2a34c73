/* SPDX-License-Identifier: Apache-2.0 */
/* Addresses of sockets as maps: #{family, port, addr, ...}, as socket.erl of OTP 25 has them. */
#ifndef VM_SOCKET_SOCK_ADDRESS_H
#define VM_SOCKET_SOCK_ADDRESS_H

#include <netinet/in.h>
#include <netpacket/packet.h>
#include <sys/socket.h>
#include <sys/un.h>

#include "heap/heap.h"

union sock_address {
	struct sockaddr any;
	struct sockaddr_in in;
	struct sockaddr_in6 in6;
	struct sockaddr_un un;
	struct sockaddr_ll ll;
	struct sockaddr_storage storage;
	uint8_t bytes[sizeof(struct sockaddr_storage)];
};

/* *n: its bytes in *a. Fails: false: map is no address. */
bool sock_address_read(Term map, union sock_address *a, socklen_t *n);
/* n: 0: unknown, that of the family. a holds at least n bytes. */
Term sock_address_put(struct heap *h, const union sock_address *a, socklen_t n);
/* Of a network interface's hardware: #{family, addr}. */
Term sock_address_put_hardware(struct heap *h, const struct sockaddr *a);

Term sock_in_put(struct heap *h, const struct in_addr *a);
Term sock_in6_put(struct heap *h, const struct in6_addr *a);
bool sock_in_read(Term t, struct in_addr *a);
bool sock_in6_read(Term t, struct in6_addr *a);

enum sock_named { SOCK_NO_NAME, SOCK_BY_NAME, SOCK_BY_NUMBER };
/* inet, inet6, local, unspec, or a number. */
enum sock_named sock_domain_read(Term t, int *domain);
Term sock_domain_put(int domain);
/* stream, dgram, raw, seqpacket, or a number. Fails: false. */
bool sock_type_read(Term t, int *type);
Term sock_type_put(int type);

#endif
