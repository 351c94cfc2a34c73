/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The TCP connections of a process by peer, as the kernel knows them now. Source: Documentation/networking/proc_net_tcp
 * of Linux.
 */
#ifndef TOOLS_PEERS_H
#define TOOLS_PEERS_H

#include <stddef.h>
#include <stdint.h>

struct peer {
    /* "to 10.0.0.7:5432"; of those that came in, "from 10.0.0.9, at port 8080"; "(other)": all beyond 65,536 */
    char text[96];
    uint64_t connections, retrying; /* retrying: of them, those whose peer does not acknowledge what is sent again */
    uint64_t unsent, unread; /* bytes: not acknowledged by the peer, or not sent yet; received, and not read yet */
};

enum { PEERS_WHY_BYTES = 256 };

/* The most unsent bytes first, then the most unread ones, then the most connections. Owns: the caller frees *out.
 * Fails: -ESRCH the process has ended, -errno, with what could not be read in `why`. No message. */
int peers_read(int pid, struct peer **out, size_t *n, char why[PEERS_WHY_BYTES]);

#endif
