/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Events of VMs that write no pages, by their notes or by hooks, as pages (trap_pages.h): what batch_source.h is for
 * erlvms. Only probes that views are told of.
 */
#ifndef TOOLS_TRAP_SOURCE_H
#define TOOLS_TRAP_SOURCE_H

#include "otp/owners.h"
#include "probe/watch.h"
#include "view/wanted.h"

#include "../../bpf/batch.h"

struct trap_source;

struct trap_source_ops {
    /* A page, behind `received`; good during the call. */
    void (*page)(void *ctx, const struct batch_received *received);
    void *ctx;
};

/*
 * Loads the programs, which `watch` then attaches; both are borrowed. Owns: trap_source_free frees, once the watch has
 * stopped. Fails: said.
 */
int trap_source_new(const struct trap_source_ops *ops, const struct wanted *wanted, struct watch *watch,
                    struct trap_source **out);
void trap_source_free(struct trap_source *source);
/*
 * Whether the target of the plan can tell something of what is wanted, as far as is known before it is attached to.
 * Fails: -ENOTSUP, said.
 */
int trap_source_require(const struct wanted *wanted, const struct target *target, const struct plan *plan);
/* As of struct watch_ops: what a VM that was hooked cannot tell of what was chosen is said. */
void trap_source_hooked(struct trap_source *source, const struct target *target, const struct plan *plan,
                        uint32_t slot);
/* Tells who the VM's processes are, with the atoms of its pages. Fails: as of `ops`; -ENOMEM. */
int trap_source_owners(struct trap_source *source, const struct target *target, const struct owners_ops *ops);
/* Becomes readable when much waits; who wants less of a delay reads every TRAP_RING_LOOK_MS. */
int trap_source_fd(const struct trap_source *source);
/* Hands over pages that were begun BATCH_PATIENCE_MS ago. Returns how many records were read. */
int trap_source_read(struct trap_source *source);
/* Hands over all that there is, gaps too. */
void trap_source_drain(struct trap_source *source);
/* The VM has ended. */
void trap_source_end(struct trap_source *source, uint32_t vm);
/* Calls `loss` with what was not told since the beginning, for each reason: of programs, and TRAP_LOSSES more. */
enum { TRAP_LOSSES = 4 };
void trap_source_each_loss(struct trap_source *source, void (*loss)(void *ctx, const char *why, uint64_t total),
                           void *ctx);

#endif
