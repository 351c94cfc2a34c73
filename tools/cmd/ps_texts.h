/* SPDX-License-Identifier: Apache-2.0 */
/* A process in words, and the row of it that programs get: of the table of all, and of one. */
#ifndef TOOLS_PS_TEXTS_H
#define TOOLS_PS_TEXTS_H

#include "ps_known.h"
#include "sink/sink.h"

/* What is text of a process; "": it has none. */
struct ps_texts {
    char pid[SNAPSHOT_PID_BYTES], parent[SNAPSHOT_PID_BYTES];
    char owner[PS_NAME_BYTES], names[OTP_OWNER_NAMES][PS_NAME_BYTES], at[PS_NAME_BYTES];
};

void ps_texts_fill(const struct inspected *vm, const struct snapshot_process *is, struct ps_texts *out);
/* "waiting", ..., "hibernated" */
const char *ps_status_text(const struct snapshot_process *is);
/* The order in which it was born; absent when that is not known. limit: how many processes there may be. */
struct sink_value ps_born(const struct inspected *vm, const struct snapshot_process *is, uint64_t limit);
/* rate: its reductions a second, where they are known. born: as of ps_born. */
void ps_print_whole(const struct inspected *vm, const struct snapshot_process *is, const struct ps_texts *t,
                    struct sink_value rate, struct sink_value born, struct sink *sink);

#endif
