/* SPDX-License-Identifier: Apache-2.0 */
/* What the quotas of their control groups held watched VMs back for, in each result of sched. */
#ifndef TOOLS_QUOTAS_H
#define TOOLS_QUOTAS_H

#include "common/quota.h"
#include "views.h"

struct quotas;

/* NULL: out of memory. Of views that are on: without sched no VM is kept. */
struct quotas *quotas_new(const bool on[VIEW_COUNT]);
void quotas_free(struct quotas *quotas);
/* A VM is watched from now on. Fails: -ENOMEM. */
int quotas_add(struct quotas *quotas, uint32_t vm);
void quotas_drop(struct quotas *quotas, uint32_t vm);
/* Calls `see` for each VM whose group has a quota, with what came since the last call, or since it was added. A group
 * that a VM has come into since, or that got a quota, is told from the next call on. With NULL for a VM of which it is
 * not known: why is said, once. */
void quotas_tell(struct quotas *quotas, void (*see)(void *ctx, uint32_t vm, const struct quota *since), void *ctx);

#endif
