/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Lines of the kernel's tables of sockets: /proc/PID/net/tcp, tcp6, udp, udp6. Source:
 * Documentation/networking/proc_net_tcp and net/ipv4/tcp_ipv4.c of Linux.
 */
#ifndef TOOLS_NET_TABLE_H
#define TOOLS_NET_TABLE_H

#include <netinet/in.h>
#include <stdbool.h>
#include <stddef.h>

enum { NET_LISTEN = 10 /* the state of a TCP socket that accepts */, NET_ADDRESS_BYTES = INET6_ADDRSTRLEN + 2 };

struct net_line {
    struct in6_addr remote; /* of IPv4 in the first four bytes */
    bool is_6;
    unsigned local_port, remote_port; /* 0: none */
    unsigned state;
    unsigned unsent, unread; /* bytes: not acknowledged, or not sent yet; not read yet */
    unsigned timer, retries; /* which timer runs; how often it sent again */
    unsigned long number;    /* of the socket, as its descriptor tells it */
};

/* The socket's number alone, at a tenth of the cost of the whole line; 0: there is none. */
unsigned long net_line_number(const char *text);
/* False: it is no such line, as the head is none. */
bool net_line_read(const char *text, struct net_line *out);
/* "127.0.0.1", "[::1]". out: NET_ADDRESS_BYTES. */
void net_line_print_remote(const struct net_line *line, char *out);

#endif
