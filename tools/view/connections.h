/* SPDX-License-Identifier: Apache-2.0 */
/* Which TCP connections watched VMs have, as the kernel knows them, in each result of inet. */
#ifndef TOOLS_CONNECTIONS_H
#define TOOLS_CONNECTIONS_H

#include "target/peers.h"
#include "views.h"

struct connections;

/* NULL: out of memory. Of views that are on: without inet no VM is kept. */
struct connections *connections_new(const bool on[VIEW_COUNT]);
void connections_free(struct connections *connections);
/* A VM is watched from now on. Fails: -ENOMEM. */
int connections_add(struct connections *connections, uint32_t vm);
void connections_drop(struct connections *connections, uint32_t vm);
/*
 * Calls `see` for peers that VMs have connections with now: those with the most bytes that wait, and one for all others
 * of a VM; with NULL for a VM whose connections cannot be read: why is said, once. To read them may take a good part of
 * a second: where they cannot be read for each result of so many seconds, some have none, which is said, once.
 */
void connections_tell(struct connections *connections, double seconds,
                      void (*see)(void *ctx, uint32_t vm, const struct peer *peer), void *ctx);

#endif
