/* SPDX-License-Identifier: Apache-2.0 */
/* Where the logical processors sit, as Linux tells it below /sys/devices/system/cpu (kernel:
 * Documentation/admin-guide/cputopology.rst). */
#ifndef VM_IO_CPU_TOPOLOGY_H
#define VM_IO_CPU_TOPOLOGY_H

#include <stdbool.h>
#include <stddef.h>

/* Numbers of the kernel's, threads counted from 0 in their core. A node is -1 where there is none; a processor that
 * spans several nodes stands above them: its cpus have a processor_node, and node is -1. */
struct cpu_place {
	int node, processor, processor_node, core, thread, logical;
};

/* Sorted by place, outermost first. Returns how many. Owns: *cpus, the caller (mem_free). 0: the system does not tell
 * of all. */
size_t cpu_topology_read(struct cpu_place **cpus);

#endif
