/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What processes are called whose events may still come: those that were there before the recording, and those born
 * since, as its pages tell. Each file of a recording begins with them. A process that ended stays for a while: pages of
 * several threads come in no order, and what is kept in memory may be older than its end.
 */
#ifndef TOOLS_RECORDING_OWNERS_H
#define TOOLS_RECORDING_OWNERS_H

#include "recording.h"

struct recording_owners;

/* `most` processes at once; an ended one is kept for keep_ns, or until 65,536 others ended. Owns:
 * recording_owners_free frees. NULL: out of memory. */
struct recording_owners *recording_owners_new(size_t most, uint64_t keep_ns);
void recording_owners_free(struct recording_owners *owners);
/*
 * What it was to do, or (WIRE_LABEL) its label, or (WIRE_REASON) its registered name. Returns 1 when it is left out:
 * there is no room. Fails: -ENOMEM.
 */
int recording_owners_add(struct recording_owners *owners, const struct recording_owner *owner);
/* A process that is known is called so from now on, as event_name_of_record says. Nothing of another. */
void recording_owners_name(struct recording_owners *owners, const struct recording_owner *name);
/* Its end was told at this time; its birth may come later. Fails: -ENOMEM. */
int recording_owners_exit(struct recording_owners *owners, uint32_t vm, uint64_t id, uint64_t now_ns);
/* All processes of the VM ended. */
void recording_owners_exit_vm(struct recording_owners *owners, uint32_t vm, uint64_t now_ns);
/* Forgets those that ended so long ago that nothing of them may come. */
void recording_owners_pass(struct recording_owners *owners, uint64_t now_ns);
/* All of the VM, 0: of all VMs, in the order in which they came; of each what it was to do comes first. A nonzero
 * return of `visit` ends it and is returned. */
int recording_owners_each(const struct recording_owners *owners, uint32_t vm,
                          int (*visit)(void *ctx, const struct recording_owner *owner), void *ctx);

#endif
