/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Calls of servers that wait in mailboxes, and which of them nobody waits for any more, read from a VM's memory: the
 * caller has given up, so that the alias in the call leads nowhere, or has ended. The server does the work all the same
 * when it comes to it.
 */
#ifndef TOOLS_LETTERS_H
#define TOOLS_LETTERS_H

#include "snapshot.h"

enum { LETTERS_LOOKED_AT = 1000 /* messages of a mailbox, from its front */ };

/* Of a mailbox's first messages, those that stood there when its callers were looked at, and still afterwards. */
struct letters {
    uint64_t calls;     /* with a caller of this node */
    uint64_t gave_up;   /* of these: their callers live, and wait for no answer to them */
    uint64_t ended;     /* of these: their callers have ended */
    uint64_t elsewhere; /* calls of other nodes, whose callers cannot be looked at */
};

/*
 * Fills out[i] of the mailbox of processes[i], for each of the n; of one that has ended meanwhile with zeros. That a
 * caller has given up is told of those who call by an alias, as all do that may give up: not of others, who are taken
 * to wait as long as they live. Walks all processes once, if there is a call. Fails: as snapshot_processes;
 * -ENOTSUP: an erlvm that is older than this, or a stock emulator whose mailboxes are not known.
 */
int letters_read(struct snapshot *snapshot, const struct snapshot_process *const *processes, size_t n,
                 struct letters *out);

#endif
