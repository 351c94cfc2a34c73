/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What one process has: its links and monitors, the messages of its mailbox, its dictionary. The process goes on
 * meanwhile. What is told was there; when it changed, or there is more of it than is looked at, that is said.
 */
#ifndef TOOLS_SNAPSHOT_ONE_H
#define TOOLS_SNAPSHOT_ONE_H

#include "snapshot.h"

enum snapshot_tie { SNAPSHOT_LINK, SNAPSHOT_WATCHES, SNAPSHOT_WATCHED_BY };

enum snapshot_end { SNAPSHOT_END_PROCESS, SNAPSHOT_END_PORT, SNAPSHOT_END_CLOCK, SNAPSHOT_END_LIBRARY };

/* The other end of a link or a monitor. */
struct snapshot_peer {
    enum snapshot_tie tie;
    enum snapshot_end what;
    uint64_t term; /* a pid or port; 0: not known */
    ev_id id;      /* of a process of this node; else 0 */
    uint64_t name; /* the atom's index when it is watched by name, WIRE_NO_ATOM else */
    uint64_t node; /* of a name at another node: that node's; WIRE_NO_ATOM else */
    uint64_t ref;  /* of who watches: which reference, as snapshot_reference has it; 0: not known */
    bool alias;    /* it watches by a reference that is an alias, too: an answer is to come to that, as of a call */
};

/* How much of it was told. */
struct snapshot_seen {
    uint64_t read;
    bool more;  /* there is more */
    bool moved; /* the process changed it meanwhile */
};

/*
 * All fail: -ESRCH: the process has ended, or cannot be read; -ENOTSUP: an erlvm that is older than this; what `take`
 * answers, when that is nonzero. No message. *seen is filled in any case.
 */

/* At most SNAPSHOT_MOST_PEERS of each tie. */
enum { SNAPSHOT_MOST_PEERS = 100000 };
int snapshot_peers(struct snapshot *snapshot, const struct snapshot_process *process,
                   int (*take)(void *ctx, const struct snapshot_peer *peer), void *ctx,
                   struct snapshot_seen *seen);

/* The references by which it can be answered, of its monitors and aliases, as snapshot_reference has them. As many. */
int snapshot_references(struct snapshot *snapshot, const struct snapshot_process *process,
                        int (*take)(void *ctx, uint64_t ref), void *ctx, struct snapshot_seen *seen);

/* How many processes and ports it watches, links aside; as many. */
int snapshot_monitors(struct snapshot *snapshot, const struct snapshot_process *process, struct snapshot_seen *seen);

/*
 * The first `most` messages in the order of arrival. A term of 0: it came from another node, and is still as it came.
 * When the queue moved, the last that was told may have been overwritten while `take` looked at it.
 */
int snapshot_messages(struct snapshot *snapshot, const struct snapshot_process *process, uint64_t most,
                      int (*take)(void *ctx, uint64_t term), void *ctx, struct snapshot_seen *seen);

/* Keys and values, as terms. */
int snapshot_dictionary(struct snapshot *snapshot, const struct snapshot_process *process,
                        int (*take)(void *ctx, uint64_t key, uint64_t value), void *ctx, struct snapshot_seen *seen);

#endif
