/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which processes of a VM wait for another process, a port or a node, read from its memory. A process that waits for a
 * message is known to wait for somebody when it watches him by a reference that is an alias, too, as calls of
 * gen_server and its like, of erpc and of Elixir's tasks do; or when it stands in such a call and watches somebody (one
 * of this node without a timeout has no alias): of several the one whose reference stands on its stack. Who waits for a
 * message without watching is not told.
 */
#ifndef TOOLS_WAITS_H
#define TOOLS_WAITS_H

#include "pending.h"
#include "snapshot.h"

enum wait_kind {
    WAIT_ANSWER, /* it has asked, and stands still until the answer comes */
    WAIT_PORT,   /* it is suspended until a port takes what it sends */
    WAIT_NODE,   /* the same of the connection to a node */
};

struct wait {
    enum wait_kind kind;
    ev_id id;            /* who waits: a process */
    uint64_t reductions; /* that it had, without those of its time slice; 0: not known */
    ev_id whom;          /* a process of this node; 0: `what` says for what it waits */
    uint64_t term;       /* its pid in the VM */
    uint64_t ref;        /* of WAIT_ANSWER: by which it watches whom it asked (snapshot_reference); 0: not known */
    uint64_t address;    /* of WAIT_ANSWER: of who waits, in the VM */
    bool is_spawned;     /* of WAIT_ANSWER: by erpc, which asks a process that it has made for that */
    unsigned of;         /* how many it has asked: `whom` is one of them */
    char what[320];      /* untrusted */
};

/*
 * Tells `take` each, of a process the first that is found, until it answers nonzero, which is returned. *count, of all
 * processes, may be NULL. Fails: as snapshot_processes; -ENOTSUP: an erlvm that is older than this.
 */
int waits_read(struct snapshot *snapshot, int (*take)(void *ctx, const struct wait *wait), void *ctx,
               struct snapshot_count *count);

/* The same of those that wait for answers alone. Fails: as waits_read. */
int waits_read_answers(struct snapshot *snapshot, int (*take)(void *ctx, const struct wait *wait), void *ctx);

#endif
