/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A VM that runs: how its memory is read, verified on the process itself before anything is attached. Of a stock
 * emulator also where its functions are.
 */
#ifndef TOOLS_OTP_VM_H
#define TOOLS_OTP_VM_H

#include "erlvm_layout.h"
#include "otp_symbols.h"
#include "otp_user.h"
#include "target/target.h"

struct otp_vm {
    struct otp_symbols *symbols;
    struct otp_layout layout;
    char no_ports[160]; /* why ports of a stock emulator are not read, or "" */
    uint64_t nodes[2]; /* of a stock emulator: where its lists of connected nodes begin; 0: not known */
    struct erlvm_layout *ours; /* NULL: a stock emulator; else symbols is NULL */
};

/*
 * Owns: the caller frees *out with otp_vm_free. Fails, with the reason in `why` (one line):
 * -EAGAIN when the VM is not far enough yet; else it is refused.
 */
int otp_vm_new(const struct target *target, struct otp_vm **out, char *why, size_t size);
/*
 * One that left a core file, as the kernel writes it. `executable`: NULL: where the core says that it was. Debug files
 * are looked for on this machine. Owns: the caller frees *out, and closes *memory, which is the core's. Fails, with the
 * reason in `why`.
 */
int otp_vm_new_core(const char *core, const char *executable, struct otp_vm **out, struct memory **memory, char *why,
                    size_t size);
void otp_vm_free(struct otp_vm *vm);
/* How many processes it has now. Fails: -ESRCH. */
int otp_vm_processes(const struct otp_vm *vm, uint64_t *out);
/* How many it may have. Fails: -ESRCH. */
int otp_vm_limit(const struct otp_vm *vm, uint64_t *out);

#endif
