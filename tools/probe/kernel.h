/* SPDX-License-Identifier: Apache-2.0 */
/* What the kernel that runs has of what programs need (kernel_needs.def): tried, whatever its version says. */
#ifndef TOOLS_KERNEL_H
#define TOOLS_KERNEL_H

#include <stdbool.h>

enum kernel_need {
#define NEED(need, name, since, who, probe) KERNEL_##need,
#include "kernel_needs.def"
    KERNEL_NNEEDS
};

struct kernel_need_row {
    const char *name, *since, *who;
};

extern const struct kernel_need_row kernel_needs[KERNEL_NNEEDS];

/* Without the right to ask it is said to have it: loading then says what is not permitted. */
bool kernel_has(enum kernel_need need);
/*
 * Whether programs may use hashes whose entries are allocated as they are made. Not before 6.1: programs of clocks are
 * refused, for those of probes the kernel warns and taints itself, and refuses them, too, where it is a real-time one.
 */
bool kernel_has_late_maps(void);
/* Whether /sys is mounted: it has the kernel's types, and what kinds of events there are. */
bool kernel_has_sysfs(void);
#define KERNEL_NO_SYSFS "/sys is not mounted: mount -t sysfs sysfs /sys"
/* Whether it has what every command needs, and `more` (a bit for each need). Fails: -ENOTSUP, said. */
int kernel_require(unsigned more);

#endif
