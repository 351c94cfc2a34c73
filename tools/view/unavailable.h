/* SPDX-License-Identifier: Apache-2.0 */
/* Which events a VM cannot give: a count of them is not known, where it is 0. VMs that give all are not kept here. */
#ifndef TOOLS_UNAVAILABLE_H
#define TOOLS_UNAVAILABLE_H

#include "probe/plan.h"
#include "wanted.h"

struct unavailable_vm;

/* Begins as zeros. */
struct unavailable {
    struct unavailable_vm *vms;
    size_t nvms;
    struct wanted some; /* that some VM could not give; it may have ended */
};

/* Fails: -ENOMEM. */
int unavailable_learn(struct unavailable *u, uint32_t vm, const struct wanted *events);
/* What the plan has no source for. */
int unavailable_learn_plan(struct unavailable *u, uint32_t vm, const struct plan *plan);
/* Of a VM, or of any (vm 0): what it cannot give. Good until the next unavailable_learn. */
const struct wanted *unavailable_of(const struct unavailable *u, uint32_t vm);
/* Another VM may have its process id. */
void unavailable_end_vm(struct unavailable *u, uint32_t vm);
void unavailable_free(struct unavailable *u);

#endif
