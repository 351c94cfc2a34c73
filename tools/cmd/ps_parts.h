/* SPDX-License-Identifier: Apache-2.0 */
/* The tables of erlsnoop ps but those of processes. All fail as the functions of snapshot.h that they read by. */
#ifndef TOOLS_PS_PARTS_H
#define TOOLS_PS_PARTS_H

#include "ps_processes.h"

/* How many processes, ports and atoms there are, and may be; who runs and who waits to. */
void ps_print_summary(const struct inspected *vm, const struct ps_processes *processes,
                      const struct snapshot_count *count, struct sink *sink);
int ps_ports_print(const struct inspected *vm, struct sink *sink);
/* Why there is no table of ports. */
const char *ps_ports_missing(const struct otp_vm *vm);
int ps_schedulers_print(const struct inspected *vm, struct sink *sink);

#endif
