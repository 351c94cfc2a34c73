/* SPDX-License-Identifier: Apache-2.0 */
/* The table of erlsnoop ps of the processes that matter most. */
#ifndef TOOLS_PS_PROCESSES_H
#define TOOLS_PS_PROCESSES_H

#include "inspect.h"
#include "sink/sink.h"

/* What the first rows have most of, in this order as PS_SORTS_TEXT names them. */
#define PS_SORTS_TEXT "mailbox|memory|binaries|reductions|cpu|age"
/* PS_CPU: reductions since the look before; PS_AGE: who was born first, first. */
enum ps_sort { PS_MAILBOX, PS_MEMORY, PS_BINARIES, PS_REDUCTIONS, PS_CPU, PS_AGE };

struct ps_processes;

/* The first `top` are kept of each look (0: all). Owns: ps_processes_free frees. NULL: out of memory. */
struct ps_processes *ps_processes_new(enum ps_sort sort, size_t top);
void ps_processes_free(struct ps_processes *processes);
/* Reads them. repeats: the next look tells what they did since this one. Fails: as snapshot_processes. */
int ps_processes_look(struct ps_processes *processes, const struct inspected *vm, bool repeats,
                      struct snapshot_count *count);
/* The table of the last look. */
void ps_processes_print(const struct ps_processes *processes, const struct inspected *vm, struct sink *sink);

/* How many are in that state now. */
uint64_t ps_processes_count(const struct ps_processes *processes, enum snapshot_status status);

#endif
