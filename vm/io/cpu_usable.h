/* SPDX-License-Identifier: Apache-2.0 */
/* How many processors the VM may use. */
#ifndef VM_IO_CPU_USABLE_H
#define VM_IO_CPU_USABLE_H

/* Of those online: as many as this thread may run on (taskset), and no more than the quota of its control group,
 * rounded down, gives the time of. At least 1. */
unsigned cpu_usable(unsigned online);

#endif
