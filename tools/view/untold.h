/* SPDX-License-Identifier: Apache-2.0 */
/* Which events a VM does not tell: of what is counted of them 0 says nothing. VMs that tell all are not known here. */
#ifndef TOOLS_UNTOLD_H
#define TOOLS_UNTOLD_H

#include "probe/plan.h"
#include "wanted.h"

struct untold_vm;

/* Begins as zeros. */
struct untold {
    struct untold_vm *vms;
    size_t nvms;
    struct wanted some; /* that some VM did not tell; it may have ended */
};

/* Fails: -ENOMEM. */
int untold_learn(struct untold *u, uint32_t vm, const struct wanted *events);
/* What the plan has no source for. */
int untold_learn_plan(struct untold *u, uint32_t vm, const struct plan *plan);
/* Of a VM, or that some VM does not tell (vm 0). Good until the next untold_learn. */
const struct wanted *untold_of(const struct untold *u, uint32_t vm);
/* Another VM may have its process id. */
void untold_end_vm(struct untold *u, uint32_t vm);
void untold_free(struct untold *u);

#endif
