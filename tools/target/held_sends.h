/* SPDX-License-Identifier: Apache-2.0 */
/*
 * TCP connections on which something that was written is not sent (Nagle's algorithm: it does not fill a segment)
 * before the peer has acknowledged what went before, and the peer is longer about that than a round trip takes: it
 * waits for something to answer with (a delayed acknowledgement). What the kernel says of the connections of a network
 * namespace. Source: sock_diag(7); tcp_nagle_check of Linux.
 */
#ifndef TOOLS_HELD_SENDS_H
#define TOOLS_HELD_SENDS_H

#include <stdbool.h>
#include <stdint.h>

struct held_send {
    uint32_t socket;   /* its number, as descriptors tell it */
    char text[96];     /* "to 10.0.0.7:5432"; of one that came in "from 10.0.0.9, at port 8080" */
    uint32_t bytes;    /* that wait */
    uint32_t since_ms; /* since the last was sent */
    uint32_t round_us; /* the shortest round trip that was seen */
};

enum { HELD_SENDS_WHY_BYTES = 160 };

/* Of the process's network namespace. Returns a descriptor that the caller closes. Fails: -errno, with the reason in
 * `why`. No message. */
int held_sends_open(int pid, char why[HELD_SENDS_WHY_BYTES]);
/* Tells `take` each that is held now, of whatever process, until it answers nonzero, which is returned. Fails: -errno.
 * No message. */
int held_sends_read(int from, int (*take)(void *ctx, const struct held_send *held), void *ctx);
/* Whether the process has the socket open. */
bool held_sends_is_of(int pid, uint32_t socket);

#endif
