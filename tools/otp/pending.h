/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What is under way in a VM now, read from its memory and from the kernel: what has begun and not ended, whoever saw it
 * begin. The VM is not stopped, so what comes and goes meanwhile may be told or not.
 */
#ifndef TOOLS_PENDING_H
#define TOOLS_PENDING_H

#include <stdbool.h>
#include <stdint.h>

#include "common/wire_user.h"

#include "../../bpf/event.h"

struct snapshot;

enum pending_kind {
    PENDING_NONE,
    PENDING_PORT,       /* a port is busy; key: the port; whose: who waits for it first, or else its owner */
    PENDING_PORT_WAIT,  /* a process waits for a busy socket; key: the process; what: the port */
    PENDING_NODE,       /* the connection to a node is busy; key: 0; whose: who waits first; what: the node */
    PENDING_NODE_WAIT,  /* a process waits for it; key: the process; what: the node */
    PENDING_SLICE,      /* a process has a scheduler; key: the process */
    PENDING_COLLECTION, /* it is in a collection; key: the process */
    PENDING_NATIVE,     /* a dirty scheduler runs its native function; key: the process; what: the function */
    PENDING_CALLBACK,   /* a scheduler works for a port; key: the port; what: its name */
    PENDING_FILE,       /* a thread sleeps in a system call of a file operation; key: the thread; what: the call */
    /* a process waits for a thread that does its file operation, and has none; key: the process; what: the function */
    PENDING_FILE_QUEUE,
    PENDING_ANSWER, /* a process waits for the answer to a call; key: its number in request__step; what: the server */
    PENDING_NKINDS
};

struct pending {
    enum pending_kind kind;
    uint64_t key;
    uint64_t mark;    /* it is another one of the same key when this is another */
    ev_id id;         /* whose it is; 0: nobody's */
    uint64_t address; /* of that process in the VM; 0: not known */
    uint64_t age_ns;  /* how long it lasts, of PENDING_NATIVE how long it sleeps; 0: not known */
    bool waits;       /* of PENDING_PORT: whose it is waits for it, and need not be its owner */
    char what[320];   /* untrusted; "": nothing */
    uint32_t command; /* of PENDING_FILE: which operation it is (EFILE_OP of vm/probes.def); 0: not known */
    /* Of PENDING_CALLBACK of an erlvm: the rows of tables that it will be counted in, untrusted; "": not known. */
    char port_row[96], callback_row[96];
};

/*
 * Whether a thread of an erlvm's async pool does something for the process now: 1, and when it began it
 * (CLOCK_MONOTONIC; began_ns may be NULL), or 0. Fails: -ENOTSUP it is not known. No message.
 */
int pending_file_runs(struct snapshot *s, ev_id id, uint64_t *began_ns);
/* Which kinds can be read of the VM. */
void pending_known(const struct snapshot *s, bool out[PENDING_NKINDS]);
/*
 * Tells `take` each of the kinds that are wanted, until it answers nonzero, which is returned. Fails: -ENOMEM. What
 * cannot be read is not told. No message.
 */
int pending_read(struct snapshot *s, const bool wanted[PENDING_NKINDS],
                 int (*take)(void *ctx, const struct pending *pending), void *ctx);

#endif
