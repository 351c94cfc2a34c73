/* SPDX-License-Identifier: Apache-2.0 */
/* Links and monitors of one process, of erlsnoop ps: whom it is linked to, whom it watches, who watches it. */
#ifndef TOOLS_PS_TIES_H
#define TOOLS_PS_TIES_H

#include "otp/snapshot_one.h"
#include "ps_texts.h"

struct ps_tie; /* one of them */

/* Empty when all 0. Owns: ps_ties_end frees. */
struct ps_ties {
    struct ps_tie *all;
    size_t n, room;
    uint64_t counts[SNAPSHOT_WATCHED_BY + 1]; /* by enum snapshot_tie */
    struct ps_known known;
    struct snapshot_seen seen;
    bool has; /* they could be read */
};

/* Fails: -ENOMEM, -ESRCH as snapshot_peers. What an older erlvm does not tell is no failure. */
int ps_ties_read(struct ps_ties *ties, const struct inspected *vm, const struct snapshot_process *process);
/* pid: of the process. */
void ps_ties_print(const struct ps_ties *ties, const struct inspected *vm, const char *pid, struct sink *sink);
void ps_ties_end(struct ps_ties *ties);

#endif
