/* SPDX-License-Identifier: Apache-2.0 */
/* The tables of a result of erlsnoop stacks. */
#ifndef TOOLS_STACKS_TABLES_H
#define TOOLS_STACKS_TABLES_H

#include <stdbool.h>
#include <stdint.h>

#include "profile/profile.h"
#include "sink/sink.h"

enum stacks_mode { MODE_CPU, MODE_OFF, MODE_EVENT };

/* A result. */
struct stacks_tables {
    const struct profile *profile;
    enum stacks_mode mode;
    bool lines;
    uint64_t frames, unnamed, idle; /* idle: samples without a process */
};

/* Fails: -ENOMEM. */
int stacks_print_tables(const struct stacks_tables *of, struct sink *sink);

#endif
