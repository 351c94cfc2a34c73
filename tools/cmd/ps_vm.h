/* SPDX-License-Identifier: Apache-2.0 */
/* A VM whose memory is read, by the command line of ps or diagnose: one that runs, or what it left in a core file. */
#ifndef TOOLS_PS_VM_H
#define TOOLS_PS_VM_H

#include "common/options.h"
#include "otp/snapshot.h"

struct names;
struct plan;

struct ps_vm {
    uint32_t pid;
    char name[256]; /* as list prints it, untrusted; of a core file "" */
    const struct otp_vm *from;
    struct names *names;
    struct snapshot *snapshot;
    struct plan *plan;   /* of one that runs */
    struct otp_vm *core; /* of a core file */
};

/* The VM that the options name. Owns: ps_vm_close frees, after a failure too. Fails: said. */
int ps_vm_open(const struct options *options, struct ps_vm *out);
/* emulator: the executable that left it; NULL: where the core says that it was. */
int ps_vm_open_core(const char *core, const char *emulator, struct ps_vm *out);
void ps_vm_close(struct ps_vm *vm);

#endif
