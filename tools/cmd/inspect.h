/* SPDX-License-Identifier: Apache-2.0 */
/* A VM whose memory is read, by the command line of ps or diagnose: one that runs, or what it left in a core file. */
#ifndef TOOLS_INSPECT_H
#define TOOLS_INSPECT_H

#include "common/options.h"
#include "otp/snapshot.h"

struct names;
struct plan;

struct inspected {
    uint32_t pid;
    char name[256]; /* as list prints it, untrusted; of a core file "" */
    const struct otp_vm *from;
    struct names *names;
    struct snapshot *snapshot;
    struct plan *plan;   /* of one that runs */
    struct otp_vm *core; /* of a core file */
};

/* The VM that the options name. Owns: inspect_close frees, after a failure too. Fails: said. */
int inspect_open(const struct options *options, struct inspected *out);
/* emulator: the executable that left it; NULL: where the core says that it was. */
int inspect_open_core(const char *core, const char *emulator, struct inspected *out);
void inspect_close(struct inspected *vm);

#endif
